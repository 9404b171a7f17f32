"""Experiments of papers: what they are made of, where they are found, how they run.

The files lie in `papers/` of a checkout, which is the package `airfair_papers` of an installed wheel.
"""

from __future__ import annotations

import importlib
import io
import json
import math
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict, cast

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from . import _core, tables
from ._core import InputError, Scenario
from .claims import Claim, ClaimRow, Measured, MeasuredRow, judge
from .experiment import each
from .output import write_atomically
from .results import CompareRow, Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .recording import Recording

SEEDS = 20
QUICK_SEEDS = 5
MOST_FLOWS = 8
"""So many flows have a column each."""
MOST_NUMBERS = 20
"""So many numbers of a run have a column each."""

PACKAGE = "airfair_papers"


@dataclass(frozen=True)
class Series:
    """One scheme in one form of the scenario, with all seeds."""

    name: str
    scheme: str
    overrides: tuple[str, ...] = ()
    """`path=value` texts put over the scenario."""
    against: str | None = None
    """The series that its paired differences are to."""
    scenario: Path | None = None
    """If not the experiment's."""


@dataclass(frozen=True)
class Experiment:
    """A figure or table of a paper: what runs, what is claimed, how it is drawn."""

    title: str
    scenario: Path
    series: tuple[Series, ...]
    claims: tuple[Claim, ...]
    draw: Callable[[Measured, Figure], None]
    seeds: int = SEEDS
    """As many as the paper's runs, where it says how many."""
    read: Callable[[Recording], Mapping[str, float]] | None = None
    """Numbers of a run that its result does not have, by name with unit; NaN where a run has none."""
    curves: Callable[[Recording], Mapping[str, Sequence[float]]] | None = None
    """What is drawn over time, of the first seed."""
    interval: str = "1 s"
    """Of the recordings that `read` and `curves` get."""
    by_seed: Callable[[int], Sequence[str]] | None = None
    """`path=value` texts that differ from seed to seed, such as the network."""
    small: tuple[str, ...] = ()
    """What makes a run so short that it shows only that it works, where 15 s of it would take long."""


class PaperResult(TypedDict):
    """`paper ID --json`."""

    id: str
    seeds: int
    claims: list[ClaimRow]
    numbers: dict[str, dict[str, Estimate]]
    """By series, what `Experiment.read` has read; without what no run of the series has."""


class Listed(TypedDict):
    """An experiment in `paper --json`."""

    id: str
    title: str
    paper: str


def identities() -> list[str]:
    """Every experiment, by name: the modules of a paper's folder. Packages in it hold what they share."""
    found = []
    for folder in pkgutil.iter_modules(importlib.import_module(PACKAGE).__path__):
        paper = importlib.import_module(f"{PACKAGE}.{folder.name}")
        files = [file for file in pkgutil.iter_modules(paper.__path__) if not file.ispkg]
        found += [f"{folder.name}/{file.name}" for file in files]
    return sorted(found)


def load(identity: str) -> Experiment:
    """The experiment of that id. Raises `InputError` with the nearest id if there is none."""
    known = identities()
    if identity not in known:
        near = get_close_matches(identity.lower(), known, n=1, cutoff=0.0)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"there is no experiment {identity!r}{hint}")
    module = importlib.import_module(f"{PACKAGE}.{identity.replace('/', '.')}")
    return cast(Experiment, module.EXPERIMENT)


def listed() -> list[Listed]:
    """Every experiment with its title and its paper."""
    return [
        {"id": identity, "title": load(identity).title, "paper": _about(identity)}
        for identity in identities()
    ]


def _about(identity: str) -> str:
    folder = identity.partition("/")[0]
    return " ".join((importlib.import_module(f"{PACKAGE}.{folder}").__doc__ or "").split())


class Seen(NamedTuple):
    """What is kept of a run."""

    result: str
    numbers: Mapping[str, float]
    curves: Mapping[str, Sequence[float]]


class Cell(NamedTuple):
    """A run that is to be."""

    scenario: Scenario
    scheme: str
    seed: int
    first: bool


def measure(
    experiment: Experiment, *, seeds: Sequence[int], on_run: Callable[[], object] | None = None
) -> Measured:
    """Run every series with every seed on all cores; `on_run` is called in this thread after each run."""

    def scenario(series: Series, seed: int) -> Scenario:
        own = () if experiment.by_seed is None else experiment.by_seed(seed)
        made = Scenario.read(series.scenario or experiment.scenario, (*series.overrides, *own))
        made.check_scheme(series.scheme)
        return made

    def one(cell: Cell, stop: _core.Stop) -> Seen:
        if experiment.read is None and experiment.curves is None:
            return Seen(cell.scenario.run(cell.scheme, cell.seed, stop), {}, {})
        from .recording import record  # it loads pandas

        recording = record(
            cell.scenario, scheme=cell.scheme, seed=cell.seed, interval=experiment.interval, stop=stop
        )
        numbers = {} if experiment.read is None else experiment.read(recording)
        curves = experiment.curves(recording) if experiment.curves is not None and cell.first else {}
        return Seen(json.dumps(recording.result), numbers, curves)

    cells = [
        Cell(scenario(series, seed), series.scheme, seed, seed == seeds[0])
        for series in experiment.series
        for seed in seeds
    ]
    done = iter(each(cells, one, on_run=on_run))
    seen = {series.name: [next(done) for _ in seeds] for series in experiment.series}
    return {series.name: _row(series, seen) for series in experiment.series}


def _row(series: Series, seen: Mapping[str, Sequence[Seen]]) -> MeasuredRow:
    """A series over its seeds, against the one that its differences are to."""
    own, other = seen[series.name], seen[series.against or series.name]
    text = _core.summarise([[run.result for run in runs] for runs in (other, own)])
    row = cast(list[CompareRow], json.loads(text))[-1]
    totals = [[json.loads(run.result)["aggregate_goodput_bps"] for run in runs] for runs in (own, other)]
    pairs = {
        name: [(a.numbers[name], b.numbers.get(name, math.nan)) for a, b in zip(own, other, strict=True)]
        for name in own[0].numbers
    }
    return {
        **row,
        "total_share": _estimate([_ratio(a, b) for a, b in zip(*totals, strict=True)]),
        "numbers": {name: _estimate([a for a, _ in values]) for name, values in pairs.items()},
        "number_differences": {name: _estimate([a - b for a, b in values]) for name, values in pairs.items()},
        "number_ratios": {
            name: _estimate([_ratio(a, b) for a, b in values]) for name, values in pairs.items()
        },
        "number_values": {name: [a for a, _ in values] for name, values in pairs.items()},
        "curves": own[0].curves,
    }


def _ratio(a: float, b: float) -> float:
    return a / b if b else math.nan


def _estimate(values: Sequence[float]) -> Estimate:
    """Over the runs that have such a number."""
    there = [value for value in values if not math.isnan(value)]
    if not there:
        return {"mean": math.nan, "ci95": None}
    mean, ci95 = _core.estimate(there)
    return {"mean": mean, "ci95": ci95}


def result(identity: str, experiment: Experiment, rows: Measured) -> PaperResult:
    """The contract of `paper ID --json`."""
    seeds = rows[experiment.series[0].name]["runs"]
    return {
        "id": identity,
        "seeds": seeds,
        "claims": [judge(claim, rows) for claim in experiment.claims],
        "numbers": {name: _there(row["numbers"]) for name, row in rows.items()},
    }


def _there(numbers: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Those that some run has: JSON knows no NaN."""
    return {name: estimate for name, estimate in numbers.items() if not math.isnan(estimate["mean"])}


def draw(experiment: Experiment, rows: Measured, path: Path) -> None:
    """Write the figure as SVG, whole or not at all; the same measurements give the same bytes."""
    import matplotlib  # loading it takes longer than most commands take
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.hashsalt": "airfair", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(9.0, 4.0), layout="constrained")
        experiment.draw(rows, figure)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    write_atomically(path, buffer.getvalue())


def show_list(out: Console) -> None:
    """The table of experiments."""
    table = tables.plain_table("experiment", "what it shows", "paper")
    for entry in listed():
        table.add_row(*map(escape, (entry["id"], entry["title"], entry["paper"])))
    out.print(table)


def show(identity: str, experiment: Experiment, rows: Measured, out: Console) -> None:
    """The claims, then what was measured."""
    claims = result(identity, experiment, rows)
    out.print(f"[bold]{escape(identity)}[/bold]: {escape(experiment.title)}; {claims['seeds']} seeds")
    out.print("Claims; a value is a mean ± half the width of its 95 % confidence interval")
    table = tables.plain_table("claim", "where", "measured", "holds", "on the baseline", "holds there")
    for claim, row in zip(experiment.claims, claims["claims"], strict=True):
        table.add_row(
            *map(escape, (row["text"], row["where"], row["measured"], _yes(row["holds"]))),
            escape(claim.measured(rows, claim.baseline)),
            _yes(row["baseline_holds"]),
        )
    out.print(table)
    out.print("\nMeasured; the change of the total is paired by seed")
    table = _of_series("total", "change of the total", "share of it", "least flow", "Jain's index")
    for series in experiment.series:
        row_ = rows[series.name]
        compared = series.against is not None
        difference = tables.rate_of(row_["difference"]["aggregate_goodput_bps"], sign=True)
        table.add_row(
            escape(series.name),
            tables.rate_of(row_["aggregate_goodput_bps"]),
            difference if compared else "",
            tables.number(row_["total_share"], 3) if compared else "",
            tables.rate_of(row_["min_goodput_bps"]),
            tables.number(row_["jain_index"], 3),
        )
    out.print(table)
    goodputs = [[flow["goodput_bps"] for flow in row["flows"]] for row in rows.values()]
    flows = list(dict.fromkeys(flow["id"] for row in rows.values() for flow in row["flows"]))
    if len(flows) <= MOST_FLOWS and any(other != goodputs[0] for other in goodputs):
        out.print("\nGoodput of each flow (kbit/s)")
        table = _of_series(*flows)
        for series in experiment.series:
            of = {flow["id"]: _kbps(flow["goodput_bps"]) for flow in rows[series.name]["flows"]}
            table.add_row(escape(series.name), *(of.get(flow, "") for flow in flows))
        out.print(table)
    names = list(dict.fromkeys(name for row in rows.values() for name in row["numbers"]))
    if names:
        out.print("\nNumbers of each run")
        out.print(_numbers(experiment, rows, names))


def _numbers(experiment: Experiment, rows: Measured, names: Sequence[str]) -> Table:
    """What was read, a row a series; a row a number where there are many of them."""

    def shown(series: Series, name: str) -> str:
        numbers = rows[series.name]["numbers"]
        return tables.significant(numbers[name]) if name in numbers else ""

    if len(names) <= MOST_NUMBERS:
        table = _of_series(*names)
        for series in experiment.series:
            table.add_row(escape(series.name), *(shown(series, name) for name in names))
        return table
    table = _of_series(*(series.name for series in experiment.series), first="number")
    for name in names:
        table.add_row(escape(name), *(shown(series, name) for series in experiment.series))
    return table


def _of_series(*columns: str, first: str = "series") -> Table:
    """A table with a row for each series, whose names are not cut; names of columns break at underscores."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0))
    table.add_column(first, no_wrap=True)
    for name in columns:
        table.add_column(escape(name.replace("_", " ")), justify="right")
    return table


def _kbps(goodput: Estimate) -> str:
    return tables.rate_of(goodput).removesuffix(" kbit/s")


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"
