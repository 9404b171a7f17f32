"""Completion times of 60,000 finite TCP flows over a wired bottleneck, against ns-2."""

from __future__ import annotations

import json
import math
import statistics
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from airfair import RunResult, Scenario, World

from .. import flow_list, reference
from ..report import Context, Figure, Row, Series, holds, inside, within
from ..runs import SCENARIOS

TITLE = "Short flows"
ABOUT = """
The 60,000 flows of `validation/data/short-flows.csv.xz` (made for this project, November 2026: Pareto sizes
of 27.9 packets in the mean, Poisson arrivals, load 0.94) over the wires of `scenarios/short-flows.toml`,
TCP Reno with ns-2's settings, stopped at the last arrival. Means of each class of sizes: 10 % up to 39
packets, 15 % up to 199; above, median and 95th percentile, 15 %. Classes of less than 50 flows are in the
figure only. A second run goes on until every flow is done.
"""

SECTION = "short_flows"
DRAINED_S = 600.0


def scenario(duration_s: float) -> Scenario:
    """The scenario of the repository with this list and length."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "flows.csv"
        flow_list.write(path)
        return Scenario.read(SCENARIOS / "short-flows.toml", flow_list.overrides(path, duration_s))


def run(duration_s: float, seed: int) -> tuple[RunResult, list[tuple[int, float]]]:
    """The result, and size in packets and time in seconds of each flow that was done."""
    world = World(scenario(duration_s), seed=seed)
    world.keep_completions()
    world.advance(world.end_ns)
    done = [(size // flow_list.PAYLOAD, took / 1e9) for _, _, size, took in world.take_completions()]
    result: RunResult = json.loads(world.result())
    return result, done


def quantile(values: Sequence[float], share: float) -> float:
    """The least value that at least this share of the values does not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def rows(context: Context) -> Iterable[Row]:
    """By size, then the whole, then the run to the end."""
    result, done = run(flow_list.STOP_S, context.seed)
    means = []
    for c in reference.COMPLETION_CLASSES:
        times = [took for size, took in done if c.least <= size <= c.most]
        means.append(statistics.fmean(times))
        yield from _class(c, times)
    yield within(
        SECTION,
        "mean of all",
        reference.PEERS,
        expected=reference.SHORT_FLOWS_MEAN_S,
        measured=statistics.fmean(took for _, took in done),
        unit="s",
        relative=0.10,
    )
    started = result["flows"][0].get("files", {"started": 0})["started"]
    yield holds(
        SECTION,
        "every flow of the list begins",
        "the list",
        expected="60000",
        measured=str(started),
        ok=started == 60_000,
    )
    _, drained = run(DRAINED_S, context.seed)
    yield inside(
        SECTION,
        "run to the end: flows done",
        "the list",
        low=60_000,
        high=60_000,
        measured=len(drained),
    )
    x = [
        statistics.fmean(size for size, _ in done if c.least <= size <= c.most)
        for c in reference.COMPLETION_CLASSES
    ]
    context.figure(
        Figure(
            SECTION,
            "times",
            "Mean completion time by size",
            "log10 of the packets",
            "mean completion time, s",
            [
                Series(
                    "ns-2",
                    [math.log10(v) for v in x],
                    [c.mean_s for c in reference.COMPLETION_CLASSES],
                    "dashed",
                ),
                Series("here", [math.log10(v) for v in x], means, "points"),
            ],
        )
    )


def _class(c: reference.CompletionClass, times: Sequence[float]) -> Iterator[Row]:
    name = f"{c.least} to {c.most} packets"
    if c.most <= 199:
        checks = [("mean", c.mean_s, statistics.fmean(times), 0.10 if c.most <= 39 else 0.15)]
    elif c.flows >= 50:
        checks = [
            ("median", c.median_s, statistics.median(times), 0.15),
            ("95th percentile", c.p95_s, quantile(times, 0.95), 0.15),
        ]
    else:
        checks = []
    for what, expected, measured, relative in checks:
        yield within(
            SECTION,
            f"{name}: {what}",
            reference.PEERS,
            expected=expected,
            measured=measured,
            unit="s",
            relative=relative,
        )
