"""The report of a comparison: one HTML file with pictures, tables and the scenario.

The page asks nothing of the network and runs no script, so it can be mailed, archived and opened anywhere.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import jinja2
import matplotlib as mpl

from .. import _core, experiment, quantities, tables, verdict_tables
from .._core import Scenario
from ..experiment import Repeated, Run
from ..inputs import refuse_page
from ..optimal.model import Optimum, binding_cliques
from ..optimal.show import bound_in_words, caution, clique_in_words
from ..optimal.yardstick import source
from ..output import check_writable, write_atomically
from ..plots import world
from ..plots.seeds import shown_radios
from ..results import CompareRow, Estimate, Network, RunResult
from ..verdicts import RunJudged, comparison_lines, judge
from . import allocations, differentials
from .pictures import Picture, draw

MOST_FLOWS = 50
"""Most rows of the table of flows: those with the least goodput under the first scheme."""

MOST_CATEGORIES = 50
"""Most access categories of radios: those with most frames."""

MOST_DIFFERENTIALS = 50
"""Most hops with queue differentials: those with most packets."""

MOST_CLIQUES = 20
"""Most cliques whose links are listed: those of the flows with the least max-min rates."""

ARROW = "\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}"
"""Keeps the two ends of a link in one line."""

MOST_SHARES = 10_000_000
"""Most windows times flows of a run that are evaluated by default."""

MOST_INTERVALS = 300
FEWEST_INTERVALS = 20


def prepare(
    path: str | os.PathLike[str], scenario: Scenario, windows: Sequence[str] = ()
) -> tuple[Sequence[str], str]:
    """The windows and the interval of the runs of a report; by default those of the page.

    Makes the folder of the file, so that it does not fail after hours of runs. Raises `InputError` for a
    file that is read or does not end in .html, `OSError`.
    """
    refuse_page(path, scenario)
    check_writable(Path(path))
    return windows or default_windows(scenario), default_interval(scenario)


def write(
    path: str | os.PathLike[str], scenario: Scenario, repeated: Repeated, command: Sequence[str] = ()
) -> Path:
    """Write the report of runs, whole or not at all. Raises `OSError`.

    The runs were read over time (`interval` of `airfair.experiment.repeat`). `command` is what was called.
    """
    target = Path(path)
    write_atomically(target, page(scenario, repeated, command).encode())
    return target


def of_run(repeated: Repeated, judged: RunJudged) -> Repeated:
    """A single run with the verdict on it. The page has max-min rates where they were asked for."""
    repeated = repeated._replace(verdict=judged.lines)
    if judged.verdict is None or judged.by is None:
        return repeated
    rows = judge([[run.result for run in runs] for runs in repeated.runs], judged.by).rows
    return repeated._replace(rows=json.dumps(rows), optimum=judged.by.optimum, assumed=judged.by.assumed)


def page(
    scenario: Scenario,
    repeated: Repeated,
    command: Sequence[str] = (),
    written: datetime.datetime | None = None,
    *,
    network_of: Scenario | None = None,
) -> str:
    """The report as HTML; `written` is the time that it tells, now by default. `network_of` has the flows of
    the runs, where these are not the scenario's."""
    rows = cast(list[CompareRow], json.loads(repeated.rows))
    first = cast(RunResult, json.loads(repeated.runs[0][0].result))
    network = experiment.network(network_of or scenario, seed=rows[0]["seeds"][0])
    study = Study(scenario, network, rows, first, repeated)
    if repeated.optimum is not None:
        study.add_optimum(repeated.optimum, rows)
    if any(tables.has_categories(json.loads(runs[0].result)) for runs in repeated.runs):
        study.add_categories(repeated.runs)
    study.add_differentials(repeated.runs)
    study.allocations = allocations.of(study.schemes, repeated.runs, MOST_FLOWS)
    now = datetime.datetime.now(datetime.UTC) if written is None else written
    versions = {
        "Airfair": _core.__version__,
        "Python": platform.python_version(),
        "matplotlib": mpl.__version__,
    }
    return (
        _environment()
        .get_template("page.html")
        .render(
            study=study,
            rows=rows,
            first=first,
            pictures={picture.id: picture for picture in draw(network, rows, first, repeated)},
            command=_readable(shlex.join(command)),
            versions=", ".join(f"{name} {version}" for name, version in versions.items()),
            written=now.strftime("%Y-%m-%d %H:%M UTC"),
        )
    )


def default_windows(scenario: Scenario) -> list[str]:
    """Lengths of windows that show how fairness depends on them: 1, 2 and 5 times powers of ten."""
    measured = (scenario.duration_ns - scenario.warmup_ns) / 1e9
    least = max(min(0.1, measured / 30), measured * len(scenario.flows) / MOST_SHARES)
    return [_seconds(length) for length in _nice() if least <= length <= measured / 3]


def default_interval(scenario: Scenario) -> str:
    """A second, or what makes a readable number of intervals of a short or a long run."""
    duration = scenario.duration_ns / 1e9
    fitting = [x for x in _nice() if FEWEST_INTERVALS <= duration / x <= MOST_INTERVALS]
    return _seconds(min(fitting, key=lambda x: abs(x - 1), default=duration))


def _nice() -> list[float]:
    """1, 2 and 5 times powers of ten, from a nanosecond on."""
    return [float(f"{digit}e{power}") for power in range(-9, 10) for digit in (1, 2, 5)]


def _seconds(length: float) -> str:
    return f"{length:.9f}".rstrip("0").rstrip(".") + " s"


@dataclass(frozen=True)
class FlowLine:
    """A flow in a table of flows: its number under each scheme, and the differences to the first."""

    id: str
    numbers: list[str]
    differences: list[tuple[Estimate | None, str]]


@dataclass(frozen=True)
class OptimumLine(FlowLine):
    """A flow in the table of the optimum: its shares, its max-min rate, and what binds it."""

    max_min: str
    bound: str


@dataclass(frozen=True)
class CategoryRow:
    """An access category of a radio with one scheme."""

    radio: str
    category: str
    scheme: str
    numbers: list[str]


@dataclass(frozen=True)
class DifferentialRow:
    """A hop, or all together, with one scheme; a level that the scheme does not give has no share."""

    hop: str
    scheme: str
    packets: str
    mean: str
    levels: list[str]


class Study:
    """The texts and tables of the page."""

    def __init__(
        self,
        scenario: Scenario,
        network: Network,
        rows: Sequence[CompareRow],
        first: RunResult,
        repeated: Repeated,
    ) -> None:
        self.scenario = scenario
        self.schemes = [row["scheme"] for row in rows]
        self.baseline = rows[0]["scheme"]
        self.seeds = rows[0]["seeds"]
        self.warnings = tables.warnings_of(rows)
        self.wall_s = sum(row["perf"]["wall_s"] for row in rows)
        self.frames = sum(row["perf"]["transmissions"] for row in rows)
        self.events = sum(row["perf"]["events"] for row in rows)
        order = sorted(range(len(first["flows"])), key=lambda i: rows[0]["flows"][i]["goodput_bps"]["mean"])
        self.shown = shown = sorted(order[:MOST_FLOWS])
        self.left_out = len(order) - len(shown)
        self.fairness = [*tables.FAIRNESS, *tables.columns_of(rows, tables.OF_OPTIMUM), tables.LOG_UTILITY]
        self.delays = tables.columns_of(rows, tables.DELAYS)
        self.settings = [
            (row["scheme"], settings) for row in rows if (settings := tables.hidden_settings(row))
        ]
        self.is_run = repeated.verdict is not None
        self.emulation = first.get("emulation")
        self.verdict = verdict_tables.table_of(rows, repeated.judged)
        self.verdict_title = verdict_tables.title(rows, repeated.judged)
        self.verdict_lines = repeated.verdict or comparison_lines(rows, repeated.judged)
        self.flows = _flow_lines(tables.GOODPUT, rows, shown)
        forwarding = (
            column for column in tables.OF_FORWARDING if any(column.key in flow for flow in rows[0]["flows"])
        )
        of_flows = (*tables.OF_FLOWS, *forwarding)
        more = ((column.head, _flow_lines(column, rows, shown)) for column in of_flows)
        self.more_of_flows = [
            (head, lines) for head, lines in more if any(set(line.numbers) != {"-"} for line in lines)
        ]
        routes = world.with_routes(network, first)["flows"]
        self.routes = [routes[i] for i in shown]
        self.no_route = world.without_route(network, first)
        end = f" at the end of the run with {self.baseline}, seed {first['seed']}"
        self.when_found = end if "routing" in first else ""
        self.radios = shown_radios(rows)
        nodes = [station["node"] for station in rows[0]["channel"]]
        self.several_radios = len(set(nodes)) < len(nodes)
        self.categories: list[CategoryRow] = []
        self.left_out_categories = 0
        self.category_heads: list[str] = []
        self.differentials: list[DifferentialRow] = []
        self.left_out_differentials = 0
        self.levels: list[int] = []
        self.allocations: allocations.Allocations | None = None
        self.optimum: list[OptimumLine] = []
        self.optimum_source = source(repeated.assumed)
        self.cliques: list[str] = []
        self.caution: str | None = None
        self.reasons = sorted({reason for row in rows for reason in row["drops"]})

    def add_optimum(self, optimum: Optimum, rows: Sequence[CompareRow]) -> None:
        """Read the optimum: a line for each flow of the table of flows that has a route, and the cliques that
        bind flows."""
        best = {flow["id"]: flow for flow in optimum["flows"]}
        self.optimum = [
            OptimumLine(
                **vars(line),
                max_min=quantities.rate(best[line.id]["max_min_bps"]),
                bound=bound_in_words(optimum, best[line.id]["bound"]),
            )
            for line in _flow_lines(tables.OPTIMUM_SHARE, rows, self.shown)
            if line.id in best
        ]
        binding = binding_cliques(optimum)[:MOST_CLIQUES]
        self.caution = caution(optimum)
        self.cliques = [clique_in_words(optimum, clique).replace(" → ", ARROW) for clique in binding]

    def add_categories(self, runs: Sequence[Sequence[Run]]) -> None:
        """Read the access categories of the runs: a row for each category that has sent and each scheme."""
        found: dict[tuple[str, str], dict[str, list[tables.CategoryLine]]] = {}
        for scheme, of_scheme in zip(self.schemes, runs, strict=True):
            for run in of_scheme:
                for line in tables.category_lines(cast(RunResult, json.loads(run.result)), silent=True):
                    found.setdefault((line.radio, line.category), {}).setdefault(scheme, []).append(line)
        used = [key for key in found if _frames(found[key])]
        shown = sorted(used, key=lambda key: -_frames(found[key]))[:MOST_CATEGORIES]
        self.left_out_categories = len(used) - len(shown)
        lines = (line for key in shown for lines in found[key].values() for line in lines)
        self.category_heads = tables.category_heads(lines)
        self.categories = [
            CategoryRow(*key, scheme, _category_numbers(self.category_heads, found[key][scheme]))
            for key in found
            if key in shown
            for scheme in self.schemes
            if scheme in found[key]  # others may have radios without categories
        ]

    def add_differentials(self, runs: Sequence[Sequence[Run]]) -> None:
        """Read the queue differentials of schemes that have them: rows of all hops together, then of each."""
        found = {
            scheme: [differentials.hops(cast(RunResult, json.loads(run.result))) for run in of_scheme]
            for scheme, of_scheme in zip(self.schemes, runs, strict=True)
            if any(differentials.KEY in run.result for run in of_scheme)
        }
        found = {scheme: of_runs for scheme, of_runs in found.items() if any(of_runs)}
        every = [counts for of_runs in found.values() for of_run in of_runs for counts in of_run.items()]
        packets: dict[str, int] = {}
        for hop, counts in every:
            packets[hop] = packets.get(hop, 0) + counts.packets
        shown = sorted(packets, key=lambda hop: -packets[hop])[:MOST_DIFFERENTIALS]
        self.left_out_differentials = len(packets) - len(shown)
        used = {level for _, counts in every for level, n in enumerate(counts.levels) if n}
        self.levels = sorted(used, reverse=True)
        for scheme, of_runs in found.items():
            of_all = [differentials.together(of_run.values()) for of_run in of_runs]
            self.differentials.append(_differential_row("all", scheme, of_all, self.levels))
        for hop in (hop for hop in packets if hop in shown):
            for scheme, of_runs in found.items():
                of_hop = [of_run.get(hop, differentials.NONE) for of_run in of_runs]
                self.differentials.append(_differential_row(hop, scheme, of_hop, self.levels))

    @property
    def seeds_text(self) -> str:
        """The seeds in words."""
        if len(self.seeds) == 1:
            return f"seed {self.seeds[0]}"
        if self._in_a_row:
            return f"{len(self.seeds)} seeds, {self.seeds[0]} to {self.seeds[-1]}"
        return f"{len(self.seeds)} seeds: {', '.join(map(str, self.seeds))}"

    @property
    def _in_a_row(self) -> bool:
        return self.seeds[-1] - self.seeds[0] == len(self.seeds) - 1

    @property
    def file(self) -> str:
        """A name for the scenario's file."""
        safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in self.scenario.name).strip("-.")
        return f"{safe or 'scenario'}.toml"

    @property
    def repeat(self) -> str:
        """The command that repeats the runs, from the scenario on the page."""
        if self.is_run:
            more = ["--optimum"] if self.optimum else []
            seed = str(self.seeds[0])
            return shlex.join(["airfair", "run", self.file, "--scheme", self.baseline, "--seed", seed, *more])
        if not self._in_a_row:
            also = ", optimum=True" if self.optimum else ""
            return f"airfair.compare({self.file!r}, schemes={self.schemes!r}, seeds={self.seeds!r}{also})"
        more = ["--seeds", str(len(self.seeds)), "--seed-from", str(self.seeds[0])]
        more += ["--optimum"] if self.optimum else []
        return shlex.join(["airfair", "compare", self.file, "--schemes", ",".join(self.schemes), *more])


def _flow_lines(column: tables.Column, rows: Sequence[CompareRow], shown: Sequence[int]) -> list[FlowLine]:
    """A number of the flows at these places, under each scheme."""
    lines = []
    for i in shown:
        flows = [row["flows"][i] for row in rows]
        differences = [flow["difference"] for flow in flows[1:]]
        found = [
            (
                cast("Estimate | None", cast(dict[str, object], d)[column.key]),
                _minus(column.cell(d, sign=True)),
            )
            for d in differences
        ]
        lines.append(FlowLine(flows[0]["id"], [_minus(column.cell(flow)) for flow in flows], found))
    return lines


def _frames(of_schemes: dict[str, list[tables.CategoryLine]]) -> float:
    return sum(line.numbers["frames"] or 0 for lines in of_schemes.values() for line in lines)


def _category_numbers(heads: Sequence[str], lines: Sequence[tables.CategoryLine]) -> list[str]:
    """Means over the runs; a wait over those in which packets have left the queue."""
    texts = []
    for head in heads:
        values = [value for line in lines if (value := line.numbers.get(head)) is not None]
        if not values:
            texts.append("-")
            continue
        mean, ci95 = _core.estimate(values)
        estimate: Estimate = {"mean": mean, "ci95": ci95}
        texts.append(
            quantities.time_of(estimate) if head == "mean wait" else quantities.number_of(estimate, 0)
        )
    return texts


def _differential_row(
    hop: str, scheme: str, of_runs: Sequence[differentials.Counts], levels: Sequence[int]
) -> DifferentialRow:
    """Means over the runs; a differential and shares of levels over those with packets."""

    def mean(values: Sequence[float], decimals: int) -> str:
        if not values:
            return "-"
        of_all, ci95 = _core.estimate(list(values))
        return _minus(quantities.number_of({"mean": of_all, "ci95": ci95}, decimals))

    sent = [counts for counts in of_runs if counts.packets]
    shares = [[counts.share(level) for counts in sent if counts.levels] for level in levels]
    return DifferentialRow(
        hop,
        scheme,
        mean([counts.packets for counts in of_runs], 0),
        mean([counts.sum / counts.packets for counts in sent], 1),
        [_part(sum(each) / len(each)) if each else "-" for each in shares],
    )


def _part(share: float) -> str:
    return "0" if share == 0 else "<0.1 %" if share < 0.0005 else f"{100 * share:.1f} %"


def _readable(text: str) -> str:
    """A text whose names of files need not be UTF-8: what is not stands as a question mark in a box."""
    return os.fsencode(text).decode(errors="replace")


def _verdict(difference: Estimate) -> str:
    """The meaning of a difference, in words."""
    if difference["ci95"] is None:
        return "one"
    if abs(difference["mean"]) <= difference["ci95"]:
        return "unclear"
    return "more" if difference["mean"] > 0 else "less"


def _minus(text: str) -> str:
    return text if text == "-" else text.replace("-", "\N{MINUS SIGN}")


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("airfair.report", ""),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {
        "cell": lambda column, numbers, sign=False: _minus(column.cell(numbers, sign=sign)),
        "number": lambda e, decimals, sign=False: _minus(quantities.number_of(e, decimals, sign=sign)),
        "percent": lambda e: f"{100 * e['mean']:.1f} %",
        "verdict": _verdict,
        "thousands": lambda value: f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}"),
    }
    environment.filters.update(filters)
    return environment


__all__ = ["Picture", "default_interval", "default_windows", "page", "prepare", "write"]
