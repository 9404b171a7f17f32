"""Experiments of papers: their parts, their files, their runs.

The files lie in `papers/` of a checkout, which is the package `airfair_papers` of an installed wheel.
"""

from __future__ import annotations

import importlib
import io
import json
import math
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict, cast

from rich.console import Console
from rich.markup import escape

from . import _core, quantities, terminal
from ._core import InputError, Scenario
from .arguments import hint
from .claims import (
    Claim,
    ClaimRow,
    Count,
    Measured,
    MeasuredRow,
    Source,
    count,
    estimate,
    judge,
    main_reading,
)
from .experiment import each, schemes
from .output import write_atomically
from .results import CompareRow, Estimate, RunResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .recording import Recording

SEEDS = 20
QUICK_SEEDS = 5
MOST_FLOWS = 8
"""Most flows with a column of their own."""
TOTAL = "aggregate_goodput_bps"

PACKAGE = "airfair_papers"

PAPER = "paper"
"""The preset by which papers are judged."""


@dataclass(frozen=True)
class Series:
    """One scheme in one form of the scenario, with all seeds."""

    name: str
    scheme: str
    overrides: tuple[str, ...] = ()
    """`path=value` texts that replace values of the scenario."""
    against: str | None = None
    """The series that its paired differences are to."""
    scenario: Path | None = None
    """If not the experiment's."""
    by_seed: Callable[[int], Sequence[str]] | None = None
    """If not the experiment's: its network, where series of one network differ in its flows."""
    preset: str = PAPER
    """The preset of every scheme that has one of this name: a figure is judged by the readings of its paper,
    also after the defaults have moved."""


@dataclass(frozen=True)
class Experiment:
    """A figure or table of a paper: what runs, what is claimed, how it is drawn."""

    title: str
    scenario: Path
    series: tuple[Series, ...]
    claims: tuple[Claim, ...]
    draw: Callable[[Measured, Figure], None]
    seeds: int = SEEDS
    """As many as the paper's runs, where it says how many; 100 where runs are of two kinds."""
    quick_seeds: int = QUICK_SEEDS
    """With `--quick`; 20 to 40 where claims are about shares of runs or medians."""
    first_seed: int = 1
    """Later where parameters were chosen by runs with the first ones."""
    read: Callable[[Recording], Mapping[str, float]] | None = None
    """Numbers of a run that its result does not have, by name with unit; NaN where a run has none."""
    curves: Callable[[Recording], Mapping[str, Sequence[float]]] | None = None
    """Curves over time, of the first seed."""
    interval: str = "1 s"
    """Interval of the recordings for `read` and `curves`."""
    by_seed: Callable[[int], Sequence[str]] | None = None
    """`path=value` texts that differ from seed to seed, such as the network."""
    small: tuple[str, ...] = ()
    """Overrides that make a run so short that it shows only that it works, where 15 s would take long."""


class PaperResult(TypedDict):
    """`paper ID --json`."""

    id: str
    first_seed: int
    seeds: int
    counts: dict[Source, Count]
    claims: list[ClaimRow]
    numbers: dict[str, dict[str, Estimate]]
    """Numbers of `Experiment.read` by series, without those that no run of the series has."""


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
        expected = hint(identity, known) or "; `airfair paper` lists all of them"
        raise InputError(f'there is no experiment "{identity}"{expected}')
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
    """The part of a run that is kept."""

    result: str
    numbers: Mapping[str, float]
    curves: Mapping[str, Sequence[float]]


class Cell(NamedTuple):
    """A planned run."""

    scenario: Scenario
    scheme: str
    seed: int
    first: bool


Kept = dict[tuple[object, ...], Seen]
"""Runs by all that decides what is seen of them."""


def planned(experiment: Experiment, seeds: Sequence[int]) -> list[Cell]:
    """Every run of an experiment, none of which has begun. Raises `InputError` if any cannot be done."""

    def scenario(series: Series, seed: int) -> Scenario:
        by_seed = series.by_seed or experiment.by_seed
        own = () if by_seed is None else by_seed(seed)
        overrides = (*of_preset(series.preset), *series.overrides, *own)
        made = Scenario.read(series.scenario or experiment.scenario, overrides)
        made.check_scheme(series.scheme)
        return made

    return [
        Cell(scenario(series, seed), series.scheme, seed, seed == seeds[0])
        for series in experiment.series
        for seed in seeds
    ]


@cache
def of_preset(preset: str) -> tuple[str, ...]:
    """Overrides that set this preset of all schemes that have it."""
    with_preset = (
        scheme["name"] for scheme in schemes() if any(own["name"] == preset for own in scheme["presets"])
    )
    return tuple(f"schemes.{name}.preset={preset}" for name in with_preset)


def measure(
    experiment: Experiment,
    *,
    seeds: Sequence[int],
    kept: Kept | None = None,
    on_run: Callable[[], object] | None = None,
) -> Measured:
    """Run every series with every seed on all cores; `on_run` is called in this thread after each run.

    Runs that are in `kept` are not done again, and new ones are put there: experiments about the same runs
    share them. Series that are the same run under two names share it in any case.
    """

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

    def key(cell: Cell) -> tuple[object, ...]:
        drawn = experiment.curves if cell.first else None
        reading = (experiment.read, drawn, experiment.interval)
        return (cell.scenario.resolved, cell.scheme, cell.seed, *reading)

    cells = planned(experiment, seeds)
    kept = {} if kept is None else kept
    keys = list(map(key, cells))
    todo = {k: cell for k, cell in zip(keys, cells, strict=True) if k not in kept}
    kept.update(zip(todo, each(todo.values(), one, on_run=on_run), strict=True))
    if on_run is not None:
        for _ in range(len(cells) - len(todo)):
            on_run()
    done = (kept[k] for k in keys)
    seen = {series.name: [next(done) for _ in seeds] for series in experiment.series}
    return {series.name: _row(series, seen) for series in experiment.series}


def _row(series: Series, seen: Mapping[str, Sequence[Seen]]) -> MeasuredRow:
    """A series over its seeds, against the one that its differences are to."""
    own, other = seen[series.name], seen[series.against or series.name]
    text = _core.summarise([[run.result for run in runs] for runs in (other, own)])
    row = cast(list[CompareRow], json.loads(text))[-1]
    values, others = (_run_values([json.loads(run.result) for run in runs]) for runs in (own, other))
    totals = zip(values[TOTAL], others[TOTAL], strict=True)
    pairs = {
        name: [(a.numbers[name], b.numbers.get(name, math.nan)) for a, b in zip(own, other, strict=True)]
        for name in own[0].numbers
    }
    return {
        **row,
        "against": series.against,
        "run_values": values,
        "against_values": others,
        "total_share": estimate(_ratio(a, b) for a, b in totals),
        "numbers": {name: estimate(a for a, _ in each) for name, each in pairs.items()},
        "number_differences": {name: estimate(a - b for a, b in each) for name, each in pairs.items()},
        "number_difference_values": {name: [a - b for a, b in each] for name, each in pairs.items()},
        "number_ratios": {name: estimate(_ratio(a, b) for a, b in each) for name, each in pairs.items()},
        "number_values": {name: [a for a, _ in each] for name, each in pairs.items()},
        "curves": own[0].curves,
    }


def _ratio(a: float, b: float) -> float:
    return a / b if b else math.nan


def _run_values(results: Sequence[RunResult]) -> dict[str, list[float]]:
    """A number of each run, seed by seed; NaN where a run has no such number."""
    found = {
        TOTAL: [result["aggregate_goodput_bps"] for result in results],
        "jain_index": [_number(result["jain_index"]) for result in results],
    }
    for result in results:
        for flow in result["flows"]:
            found.setdefault(f"flow.{flow['id']}", []).append(flow["goodput_bps"])
    return found


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def result(identity: str, experiment: Experiment, rows: Measured) -> PaperResult:
    """The contract of `paper ID --json`."""
    seeds = rows[experiment.series[0].name]["seeds"]
    judged = [judge(claim, rows) for claim in experiment.claims]
    return {
        "id": identity,
        "first_seed": seeds[0],
        "seeds": len(seeds),
        "counts": count(judged),
        "claims": judged,
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
    """The experiments of each paper."""
    for number, (paper, entries) in enumerate(groupby(listed(), key=lambda entry: entry["paper"])):
        out.print(("\n" if number else "") + escape(paper))
        table = terminal.plain_table("experiment", "what it shows", prose=["what it shows"])
        for entry in entries:
            table.add_row(escape(entry["id"]), escape(entry["title"]))
        out.print(table)


def show(
    identity: str, experiment: Experiment, rows: Measured, out: Console, *, readings: bool = True
) -> None:
    """The claims, then what was measured; without `readings` those of the main one, and no series that only
    the others are about."""
    told = result(identity, experiment, rows)
    last = told["first_seed"] + told["seeds"] - 1
    out.print(f"[bold]{escape(identity)}[/bold]: {escape(experiment.title)}")
    out.print(f"Claims, seeds {told['first_seed']} to {last}; a value is a mean with its 95 % interval")
    heads = ("claim", "measured", "holds", "on its baseline", "of")
    table = terminal.plain_table(*heads, prose=["claim", "measured", "on its baseline"])
    # The same claim in other readings follows the first, and its text is not said again.
    every = list(zip(experiment.claims, told["claims"], strict=True))
    main = main_reading(claim.reading for claim, _ in every)
    judged = [pair for pair in every if readings or pair[0].reading == main]
    left = _series_of(claim for claim, _ in every) - _series_of(claim for claim, _ in judged)
    shown = [series for series in experiment.series if series.name not in left]
    texts = list(dict.fromkeys((row["text"], row["where"]) for _, row in judged))
    judged.sort(key=lambda pair: texts.index((pair[1]["text"], pair[1]["where"])))
    said = None
    for claim, row in judged:
        there = "-"
        if claim.baseline is not None and row["baseline_holds"] is not None:
            there = f"{_yes(row['baseline_holds'])}: {claim.measured(rows, claim.baseline)}"
        reading = "" if claim.reading == main else f"; {claim.reading}"
        again = (row["text"], row["where"]) == said and reading
        text = f"the same{reading}" if again else f"{row['text']} ({row['where']}{reading})"
        said = (row["text"], row["where"])
        table.add_row(*map(escape, (text, row["measured"], _yes(row["holds"]), there, row["source"])))
    out.print(table)
    for source, counted in told["counts"].items():
        out.print(_count(source, counted))
    if len(judged) < len(every):
        claims, of_them = len(every) - len(judged), len(experiment.series) - len(shown)
        also = f", {of_them} series" if of_them else ""
        out.print(
            f"[dim]{claims} {quantities.plural(claims, 'claim')} in other readings{also}: --readings[/dim]"
        )
    found = [rows[series.name] for series in shown]
    out.print("\nMeasured; the change of the total is paired by seed")
    cells: dict[str, Sequence[str]] = {}
    for series in shown:
        row_ = rows[series.name]
        compared = series.against is not None
        difference = quantities.rate_of(row_["difference"]["aggregate_goodput_bps"], sign=True)
        cells[series.name] = (
            quantities.rate_of(row_["aggregate_goodput_bps"]),
            difference if compared else "",
            quantities.number_of(row_["total_share"], 3) if compared else "",
            quantities.rate_of(row_["min_goodput_bps"]),
            quantities.dash_or(row_["jain_index"], lambda e: quantities.number_of(e, 3)),
        )
    _show_cells(("total", "change of the total", "share of it", "least flow", "Jain's index"), cells, out)
    goodputs = [[flow["goodput_bps"] for flow in row["flows"]] for row in found]
    flows = list(dict.fromkeys(flow["id"] for row in found for flow in row["flows"]))
    if len(flows) <= MOST_FLOWS and any(other != goodputs[0] for other in goodputs):
        out.print("\nGoodput of each flow (kbit/s)")
        cells = {}
        for series in shown:
            of = {flow["id"]: _kbps(flow["goodput_bps"]) for flow in rows[series.name]["flows"]}
            cells[series.name] = tuple(of.get(flow, "") for flow in flows)
        _show_cells(flows, cells, out)
    names = list(dict.fromkeys(name for row in found for name in row["numbers"]))
    if names:
        out.print("\nNumbers of each run")
        cells = {
            series.name: tuple(_shown(rows[series.name]["numbers"], name) for name in names)
            for series in shown
        }
        _show_cells(names, cells, out)


def _series_of(claims: Iterable[Claim]) -> set[str]:
    """The series that claims are about, with their baselines and what they are compared with."""
    names: set[str | None] = set()
    for claim in claims:
        bound = claim.bound_series
        names |= {claim.series, claim.baseline, *(bound if isinstance(bound, tuple) else (bound,))}
    return {name for name in names if name is not None}


def _count(source: Source, counted: Count) -> str:
    """The number of claims of a source that hold."""
    of = {"paper": "of the paper", "ours": "of ours", "calibration": "calibrated here"}[source]
    more = counted["hold_in_a_reading"]
    some = "" if more == counted["hold"] else f", {more} in at least one reading"
    return f"Claims {of}: {counted['hold']} of {counted['claims']} hold{some}"


def _shown(numbers: Mapping[str, Estimate], name: str) -> str:
    return quantities.significant(numbers[name]) if name in numbers else ""


def _show_cells(columns: Sequence[str], cells: Mapping[str, Sequence[str]], out: Console) -> None:
    """A row for each series."""
    table = terminal.plain_table("series", right=[name.replace("_", " ") for name in columns])
    for name, row in cells.items():
        table.add_row(escape(name), *map(escape, row))
    out.print(table)


def _kbps(goodput: Estimate) -> str:
    return quantities.rate_of(goodput).removesuffix(" kbit/s")


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"
