"""One run, and many runs side by side."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

from . import _core, selections
from ._core import InputError, Scenario, Trace
from .arguments import (
    Overrides,
    Texts,
    as_flag,
    as_function,
    as_ordered,
    as_path,
    as_scenario,
    as_schemes,
    as_seed,
    as_texts,
    as_whole,
    unsuitable,
)
from .optimal.model import Optimum
from .optimal.model import optimum as optimum_of
from .results import CompareRow, Network, RunResult, SchemeInfo
from .sequential import MAX_SEEDS, STATISTICS, Until
from .verdicts import Judged, Unjudged, judge_if_cheap, judge_run

MOST_RUNS = 100_000
"""Most runs of a comparison, which keeps their results in memory."""

T = TypeVar("T")
R = TypeVar("R")

Cell = tuple[Scenario, str, int]
"""Scenario, scheme, seed."""


def run(
    scenario: Scenario | str | os.PathLike[str],
    *,
    scheme: str | None = None,
    seed: int = 1,
    overrides: Overrides = (),
    windows: Texts = (),
    optimum: bool = False,
) -> RunResult:
    """Run a scenario, or the file of one with overrides, to its end.

    `overrides` are `path=value` texts, as of `--set`, one such text, or a dict of paths and values.
    `windows` are lengths of time, such as "1 s", over which fairness is measured, too (`window_jain`). With
    `optimum` the result has a `verdict`: its goodputs beside the max-min rates of `airfair.optimum`, or
    beside a run with drop-tail where there are none. Raises `InputError`.
    """
    as_flag("optimum", optimum)
    as_ordered("windows", windows)
    scenario = as_scenario(scenario, overrides)
    if scheme is not None:
        if isinstance(scheme, str) and len(selections.read_all(scheme)) > 1:
            raise unsuitable("scheme", scheme, "one scheme; airfair.compare runs several")
        scenario = scenario.selected(scheme)
    result = cast(RunResult, json.loads(scenario.run(scheme, seed, windows=windows)))
    if optimum and (found := judge_run(scenario, result).verdict) is not None:
        result["verdict"] = found
    return result


def compare(
    scenario: Scenario | str | os.PathLike[str],
    *,
    schemes: Texts | None = None,
    seeds: Iterable[int] = range(1, 11),
    overrides: Overrides = (),
    windows: Texts = (),
    until_halfwidth: float | None = None,
    statistics: Texts = STATISTICS,
    max_seeds: int = MAX_SEEDS,
    optimum: bool = False,
    report: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    on_run: Callable[[], object] | None = None,
) -> list[CompareRow]:
    """Run every scheme with every seed; one row a scheme, differences to the first, paired by seed.

    `schemes` are names, by default the scenario's own scheme. A single text is a list of one. Several schemes
    that act together have a `+` between them, such as `cubic+fq-codel`; `diffq:paper` is a scheme with one of
    its presets; and in brackets stand changes of the scenario for the runs of one row, such as
    `c3l[rts; radio.queue_packets=100]` (`settings` of a row). `seeds` are several seeds, each once.
    `overrides` need a file, as in `run`.

    `windows` are lengths of time, such as "1 s", over which fairness is measured, too (`window_jain`).

    With `until_halfwidth`, such as 0.05, seeds are added, those that follow the largest of `seeds`, until the
    half-width of the 95 % interval of each of the `statistics` of every scheme is at most that share of its
    mean, or until there are `max_seeds`; at least ten `seeds` are needed. `precision` and `warnings` of a row
    report the widths that were reached.

    Statistics: `jain_index`, `log_utility`, `aggregate_goodput_bps`, `min_goodput_bps`,
    `starved_flows`, `mean_flow_delay_s`, `p99_flow_delay_s`, `mean_flow_loss_ratio`, `mean_delay_s`,
    `p99_delay_s`, `rtt_s`, `retransmissions`, `loss_ratio`, `completion_s`,
    `flow.ID` (goodput of a flow), `window_jain`.

    With `optimum` each row has shares of the max-min rates of `airfair.optimum`: `optimum_share_min`, the
    least of a flow, and `optimum_share_total`, that of the sum of the goodputs; and each of its flows has
    `optimum_share`. Both of the row are statistics, too. Flows that send files have no share: often they have
    nothing to send.

    A `report` is a page with pictures, tables and the scenario: one HTML file, written whole or not at all.
    Missing folders of its path are created.

    `jobs` runs are done at a time (by default as many as there are cores); `on_run` is called in this
    thread after each, without an argument. The rows do not depend on `jobs`. Raises `InputError`, also for an
    `optimum` of a network that its model cannot describe, and `OSError` if the report cannot be written.
    """
    scenario = as_scenario(scenario, overrides)
    schemes = [scenario.scheme] if schemes is None else as_schemes(schemes)
    windows = as_texts("windows", windows)
    statistics = tuple(as_texts("statistics", statistics))
    until = None
    if until_halfwidth is not None:
        until = Until(until_halfwidth, statistics, max_seeds)
    elif statistics != STATISTICS:
        raise InputError("statistics: expected until_halfwidth with it, the half-width that they reach")
    elif as_whole("max_seeds", max_seeds, 1) != MAX_SEEDS:
        raise InputError("max_seeds: expected until_halfwidth with it, the half-width that they reach")
    as_flag("optimum", optimum)
    interval = None
    if report is not None:
        report = as_path("report", report)
        if Path(report).is_dir():
            raise unsuitable("report", report, "the path of a file, and this is a folder")
        from . import report as reports  # loading matplotlib takes longer than most runs take

        windows, interval = reports.prepare(report, scenario, windows)
    done = repeat(
        scenario,
        schemes=schemes,
        seeds=seeds,
        windows=windows,
        until=until,
        optimum=optimum,
        interval=interval,
        judged=report is not None,
        jobs=jobs,
        on_run=on_run,
    )
    if report is not None:
        reports.write(report, scenario, done)
    return cast(list[CompareRow], json.loads(done.rows))


class Run(NamedTuple):
    """A finished run."""

    result: str
    """The result as JSON."""
    over_time: tuple[bytes, bytes] | None = None
    """With an interval: the end of each interval (float64, seconds), and the bytes delivered to each flow
    in it (int64; all flows of the first interval, then all of the second)."""


def _settings(scenario: Scenario, schemes: Sequence[str]) -> list[list[str]]:
    """By scheme the values in which its runs differ from the scenario: those of a selection's changes, and
    those that the scheme brings. Raises `InputError` for changes after which runs cannot be compared."""
    common = _compared(scenario)
    for scheme in schemes:
        own = _compared(scenario.selected(scheme))
        other = next((what for what, value in own.items() if value != common[what]), None)
        if other is not None:
            raise InputError(
                f'scheme "{scheme}": changes {other}; expected the same in all runs that are compared'
            )
    return [scenario.settings(scheme) for scheme in schemes]


def _compared(scenario: Scenario) -> dict[str, object]:
    """The parts of a scenario that runs must have in common, or nothing can be compared, by their names."""
    return {
        "the flows": scenario.flows,
        "the nodes": scenario.nodes,
        "the duration": scenario.duration_ns,
        "the warm-up": scenario.warmup_ns,
    }


class Repeated(NamedTuple):
    """Schemes with their runs, seed by seed."""

    rows: str
    """Rows of `compare --json`."""
    runs: list[list[Run]]
    optimum: Optimum | None = None
    judged: Judged | Unjudged | None = None
    """Shares of what the air allows, if they take less work than the runs, or the reason why there are none;
    None if they were asked for."""
    verdict: Sequence[str] | None = None
    """Lines of the verdict on a single run, which say what `judged` says of a comparison."""
    assumed: Sequence[str] = ()
    """Assumptions of the `optimum`, such as "static routes"."""


def repeat(
    scenario: Scenario,
    *,
    schemes: Sequence[str],
    seeds: Iterable[int],
    windows: Sequence[str] = (),
    until: Until | None = None,
    optimum: bool = False,
    interval: str | None = None,
    judged: bool = False,
    jobs: int | None = None,
    on_run: Callable[[], object] | None = None,
    on_plan: Callable[[int], object] | None = None,
) -> Repeated:
    """Like `compare`, but with the rows as the simulator wrote them, and with the runs.

    With an `interval` the runs have series. With `judged` there are shares of what the air allows, if they
    are cheap. `on_plan` is called with the number of runs, again whenever runs are added.
    """
    if not isinstance(seeds, Iterable) or isinstance(seeds, str):
        count = seeds if isinstance(seeds, int) and 0 < seeds < MOST_RUNS else 10
        raise unsuitable("seeds", seeds, f"a list of seeds, such as range(1, {count + 1})")
    first = sorted(as_seed(seed) for seed in islice(seeds, MOST_RUNS + 1))
    if not first:
        raise InputError("seeds: none; expected at least one")
    for one, next_one in pairwise(first):
        if one == next_one:
            raise InputError(f"seeds: {one} stands twice; expected each seed once")
    schemes = as_schemes(schemes)
    if jobs is not None:
        jobs = as_whole("jobs", jobs, 1)
    as_function("on_run", on_run)
    if until is not None:
        until.check(scenario.flows, len(first), bool(windows), optimum)
    most = len(first) if until is None else max(len(first), until.max_seeds)
    if most * len(schemes) > MOST_RUNS:
        raise InputError(
            f"{len(schemes)} schemes and {_at_least(most)} seeds: expected at most {MOST_RUNS} runs, "
            "whose results are kept in memory; a sweep keeps them on disk"
        )
    refused = list(dict.fromkeys(filter(None, (_refusal(scenario, scheme) for scheme in schemes))))
    if refused:  # before hours of runs with other schemes
        raise InputError("\n".join(refused))
    settings = _settings(scenario, schemes)
    looks: Iterable[int] = [len(first)]
    if until is not None:
        as_seed(first[-1] + until.max_seeds - len(first))
        looks = until.looks(len(first))
    for window in windows:
        _core.parse_time(window, "windows")
    best = _whole_optimum(scenario) if optimum else None
    max_min = None if best is None else _comparable(best)
    runs: list[list[Run]] = [[] for _ in schemes]
    rows, results = "", [[""]]
    for look in looks:
        have = len(runs[0])
        more = [first[i] if i < len(first) else first[-1] + 1 + i - len(first) for i in range(have, look)]
        if on_plan is not None:
            on_plan(len(schemes) * look)
        cells = [(scenario, scheme, seed) for scheme in schemes for seed in more]
        done = iter(_all(cells, windows, interval, jobs, on_run))
        for of_scheme in runs:
            of_scheme += [next(done) for _ in more]
        results = [[run.result for run in of_scheme] for of_scheme in runs]
        if until is None:
            rows = _core.summarise(results, max_min_bps=max_min, settings=settings)
            break
        rows = _core.summarise(results, until.halfwidth, until.statistics, max_min, settings)
        if all(row["precision"]["met"] for row in json.loads(rows)):
            break
    beside: Judged | Unjudged | None = None
    if judged and best is None:
        beside = judge_if_cheap(results, scenario)
    return Repeated(rows, runs, best, beside)


def _refusal(scenario: Scenario, scheme: str) -> str | None:
    """Why the scheme cannot run; None if it can."""
    try:
        scenario.check_scheme(scheme)
    except InputError as error:
        return str(error)
    return None


def _whole_optimum(scenario: Scenario) -> Optimum:
    """The optimum under all cliques: under some of them most max-min rates are nothing that is known."""
    best = optimum_of(scenario, proportional=False)
    if not best["complete"]:
        raise InputError(
            "there is no optimum: too many cliques of conflicting links to list them all "
            f"({len(best['cliques']):,} were), and under some of them a flow's rate is no bound"
        )
    return best


def _comparable(best: Optimum) -> dict[str, float]:
    """The max-min rates of the flows that can reach them: not of those that send files, which may have
    nothing to send."""
    return {flow["id"]: flow["max_min_bps"] for flow in best["flows"] if not flow["sends_files"]}


def _all(
    cells: Sequence[Cell],
    windows: Sequence[str],
    interval: str | None,
    jobs: int | None,
    on_run: Callable[[], object] | None,
) -> list[Run]:
    def one(cell: Cell, stop: _core.Stop) -> Run:
        scenario, scheme, seed = cell
        if interval is None:
            return Run(scenario.run(scheme, seed, stop, windows))
        recorded = scenario.record(interval, scheme, seed, stop, windows)
        tables = recorded.tables()
        over_time = tables["time"]["end_s"][1], tables["flow_series"]["delivered_bytes"][1]
        return Run(recorded.result, over_time)

    return each(cells, one, jobs=jobs, on_run=on_run)


def each(
    cells: Iterable[T],
    one: Callable[[T, _core.Stop], R],
    *,
    jobs: int | None = None,
    on_run: Callable[[], object] | None = None,
) -> list[R]:
    """`one` of each cell, in their order; `on_run` is called in this thread after each. If one fails, or the
    caller is interrupted, the others are stopped."""
    stop = _core.Stop()
    # The simulator releases the interpreter while it runs, so threads use every core.
    pool = ThreadPoolExecutor(jobs or len(os.sched_getaffinity(0)))
    try:
        runs = [pool.submit(one, cell, stop) for cell in cells]
        for done in as_completed(runs):
            done.result()
            if on_run is not None:
                on_run()
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)
    return [run.result() for run in runs]


def schemes() -> list[SchemeInfo]:
    """Every scheme with its parameters."""
    return cast(list[SchemeInfo], json.loads(_core.schemes()))


def network(scenario: Scenario | str | os.PathLike[str], *, seed: int = 1, routes: bool = False) -> Network:
    """The network that the simulator builds from a scenario: nodes, radios, pairs of radios that decode or
    sense each other, wired links, routes of the flows.

    With `routes` it has the static routes between all nodes too (n (n - 1) of n nodes; none where a protocol
    finds routes during the run). Raises `InputError`.
    """
    return cast(Network, json.loads(as_scenario(scenario).network(seed, routes)))


def trace(
    scenario: Scenario | str | os.PathLike[str],
    *,
    scheme: str | None = None,
    seed: int = 1,
    overrides: Overrides = (),
    node: str | None = None,
    start: str = "0 s",
    until: str | None = None,
) -> Trace:
    """An iterator of lines about the events of a run: frames, losses with causes, drops, deliveries.

    `node` selects one node; `start` (inclusive) and `until` (exclusive) are times such as "10.05 s", by
    default the whole run. `overrides` need a file, as in `run`. Raises `InputError`.
    """
    return _core.trace(as_scenario(scenario, overrides), scheme, seed, node, start, until)


def _at_least(seeds: int) -> str:
    return f"more than {MOST_RUNS}" if seeds > MOST_RUNS else str(seeds)
