"""Three flows of which the long one starves: figures 2 and 10. Starts at 30, 75 and 100 s; the first 30 s are
OLSR's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from airfair.claims import MAIN
from airfair.paper import Series

from airfair_papers.diffq.common.pictures import bars
from airfair_papers.diffq.common.testbed import PROTOCOLS, READINGS, told

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from airfair.claims import Measured
    from airfair.recording import Recording
    from matplotlib.axes import Axes

PHASES = {"alone": (32.0, 75.0), "with flow 2": (80.0, 100.0), "with both": (105.0, 140.0)}
"""Seconds, without those in which rates change."""
FLOWS = ("1", "2", "3")

LONG = "flow 1, with both (kbit/s)"
ALONE = "flow 1, alone (kbit/s)"
SECOND = "flow 1, with flow 2 (kbit/s)"
ZERO = "flow 1, seconds without data, with both (share)"
LEAST = "least flow of the mean, with both"
JAIN = "Jain's index, with both"
SMALL = (
    'duration="9 s"',
    'flow.1.start="3 s"',
    'flow.2.start="4 s"',
    'flow.3.start="5 s"',
)


def name(protocol: str, reading: str = MAIN, scene: str = "") -> str:
    """The name of a series."""
    text = told(protocol, reading)
    return ", ".join(part for part in (protocol, scene, "" if text == MAIN else text) if part)


def of_each(changes: Sequence[str]) -> tuple[str, ...]:
    """Overrides of drawn flows as those of the three."""
    return tuple(
        f"flow.{flow}.{change.removeprefix('flows.')}" if change.startswith("flows.") else change
        for change in changes
        for flow in (FLOWS if change.startswith("flows.") else FLOWS[:1])
    )


def series(
    protocols: Sequence[str], readings: Sequence[str], scenes: Mapping[str, Path | None]
) -> list[Series]:
    """Each protocol in each reading and scene."""
    found = {}
    for scene, path in scenes.items():
        for reading in readings:
            for each in protocols:
                protocol = PROTOCOLS[each]
                of = name(each, reading, scene)
                found[of] = Series(
                    of, protocol.scheme, of_each(READINGS[reading].changes(protocol)), scenario=path
                )
    return list(found.values())


def read(recording: Recording) -> dict[str, float]:
    """Goodputs of the phases, and how the three share in the last one."""
    table = recording.pandas("flow_series").pivot(index="end_s", columns="flow", values="goodput_bps")
    ends, rates = table.index.to_numpy(), table[list(FLOWS)].to_numpy() / 1e3
    numbers = {"queue drops": float(recording.result["drops"].get("queue-full", 0))}
    for phase, (start, end) in PHASES.items():
        during = rates[(ends > start) & (ends <= end)]
        if not len(during):
            during = rates[-1:]
        for i, flow in enumerate(FLOWS):
            if phase == "with both" or i == 0 or (phase == "with flow 2" and i == 1):
                numbers[f"flow {flow}, {phase} (kbit/s)"] = float(during[:, i].mean())
    last = rates[ends > PHASES["with both"][0]]
    last = last if len(last) else rates[-1:]
    means = last.mean(axis=0)
    squares = float((means**2).sum())
    numbers[ZERO] = float((last[:, 0] == 0).mean())
    numbers[LEAST] = float(means.min() / means.mean()) if squares else math.nan
    numbers[JAIN] = float(means.sum()) ** 2 / (len(means) * squares) if squares else math.nan
    return numbers


def curves(recording: Recording) -> dict[str, list[float]]:
    """Goodputs over time, kbit/s."""
    table = recording.pandas("flow_series").pivot(index="end_s", columns="flow", values="goodput_bps")
    found = {flow: list(map(float, table[flow] / 1e3)) for flow in FLOWS}
    return {"end_s": list(map(float, table.index)), **found}


def plot(axes: Axes, rows: Measured, series: str) -> None:
    """Goodputs of the first seed over the time since flow 1 began."""
    curves = rows[series]["curves"]
    for flow in FLOWS:
        axes.plot(np.array(curves["end_s"]) - 30, np.array(curves[flow]) / 1e3, label=f"flow {flow}")
    axes.set_title(series, fontsize="small")
    axes.set_xlim(left=0)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("goodput (Mbit/s)")
    axes.legend(fontsize="x-small")


def goodputs(axes: Axes, rows: Measured, series: Mapping[str, str]) -> None:
    """Goodputs of the three flows while all are there, for series given by their labels."""
    flows = [f"flow {flow}" for flow in FLOWS]
    groups = {
        label: [rows[of]["numbers"][f"{flow}, with both (kbit/s)"] for flow in flows]
        for label, of in series.items()
    }
    bars(axes, flows, groups, along=None)
    axes.set_ylabel("goodput with all three (kbit/s)")
    axes.legend(fontsize="x-small")
