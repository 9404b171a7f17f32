"""Plots over time: goodput, congestion windows, queues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .._core import InputError
from ..arguments import as_type
from ..results import QueueResult
from . import style

if TYPE_CHECKING:
    from ..recording import Recording

MARKS = 12
"""Markers on a line, at places of its own, so that lines differ without colour, too."""


def throughput(recording: Recording, *, ax: Axes | None = None) -> Figure:
    """Goodput of each flow in each interval, bit/s; the warm-up is shaded.

    Of more than eight flows the three with the least goodput and the three with the most have names.
    """
    names = [flow["id"] for flow in as_recording(recording).result["flows"]]
    if not names:
        raise InputError("throughput: the scenario has no flows")
    values = columns(recording, "flow_series", "goodput_bps", len(names))
    sizes = [flow["goodput_bps"] for flow in recording.result["flows"]]
    unit = style.rate_unit(float(values.max(initial=0.0)))
    with style.canvas(ax, title(recording)) as axes:
        ends = interval_ends(recording)
        middles = ends - np.diff(ends, prepend=0.0) / 2
        draw_lines(axes, recording, middles, values * unit.factor, names, style.choose(sizes))
        axes.set_ylabel(f"goodput ({unit.name})")
        return style.figure_of(axes)


def windows(recording: Recording, *, ax: Axes | None = None) -> Figure:
    """Congestion window of each flow over TCP at the end of each interval, bytes.

    Raises `InputError` where no flow has one: UDP has none, nor have flows of many files.
    """
    names = [flow["id"] for flow in as_recording(recording).result["flows"]]
    values = columns(recording, "flow_series", "window_bytes", len(names)) if names else np.zeros((0, 0))
    if np.isnan(values).all():
        raise InputError(
            "windows: no flow has a congestion window; expected a flow over TCP with one connection"
        )
    unit = style.bytes_unit(float(np.nanmax(values)))
    sizes = [flow["goodput_bps"] for flow in recording.result["flows"]]
    chosen = style.choose(sizes)
    with style.canvas(ax, title(recording)) as axes:
        draw_lines(axes, recording, interval_ends(recording), values * unit.factor, names, chosen)
        axes.set_ylabel(f"congestion window ({unit.name})")
        return style.figure_of(axes)


def queues(recording: Recording, *, ax: Axes | None = None) -> Figure:
    """Packets in each queue at the end of each interval.

    Queues that were always empty are left out; of more than eight others the six fullest have names.
    """
    count = len(as_recording(recording).result["queues"])
    if not count:
        raise InputError("queues: the scenario has none")
    values = columns(recording, "queues", "packets", count)
    names = _queue_names(recording)
    used = [i for i in range(count) if values[:, i].any()]
    with style.canvas(ax, title(recording)) as axes:
        fullest = style.choose([float(values[:, i].mean()) for i in used], 0, 2 * style.ENDS)
        draw_lines(
            axes,
            recording,
            interval_ends(recording),
            values[:, used],
            [names[i] for i in used],
            fullest,
            used,
        )
        axes.set_ylabel("packets that wait")
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        if not used:
            axes.text(
                0.5, 0.5, "no packet waited at the end of an interval", ha="center", transform=axes.transAxes
            )
        return style.figure_of(axes)


def as_recording(recording: Recording) -> Recording:
    """A recording. Raises `InputError` for anything else."""
    from ..recording import Recording  # the network's map needs no pyarrow

    return as_type("recording", recording, Recording, "what airfair.record gives")


def _queue_names(recording: Recording) -> list[str]:
    """Names of queues: the node, and the target where a node has several queues."""
    queues = recording.result["queues"]
    radios = Counter(queue["node"] for queue in queues if not queue["wired"])

    def name(queue: QueueResult) -> str:
        if queue["wired"]:
            return f"{queue['node']} → {queue['towards']}"
        return queue["node"] if radios[queue["node"]] == 1 else f"{queue['node']} ({queue['towards']})"

    return [name(queue) for queue in queues]


def draw_lines(
    axes: Axes,
    recording: Recording,
    times: np.ndarray,
    values: np.ndarray,
    names: Sequence[str],
    chosen: style.Chosen,
    places: Sequence[int] | None = None,
) -> None:
    """A line for each column: those with a name in their looks, the others grey behind them."""
    end = float(recording.result["duration_s"])
    warmup = recording.result["warmup_s"]
    if chosen.others:
        lines = [np.column_stack([times, values[:, i]]) for i in chosen.others]
        axes.add_collection(
            LineCollection(
                lines,
                colors=style.FAINT,
                linewidths=0.5,
                alpha=0.5,
                rasterized=len(lines) > style.MOST_DRAWN,
                label=f"{len(lines):,} others",
            )
        )
    looks = style.looks([i if places is None else places[i] for i in chosen.named])
    every = max(1, len(times) // MARKS)
    for number, (i, look) in enumerate(zip(chosen.named, looks, strict=True)):
        axes.plot(
            times,
            values[:, i],
            color=look.colour,
            linestyle=look.dash,
            marker=look.marker,
            markevery=(number * every // max(1, len(looks)), every),
            label=names[i],
        )
    if warmup > 0:
        axes.axvspan(0, warmup, color="#ececec", zorder=0, linewidth=0, label="warm-up")
    axes.set_xlim(0, end)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("time (s)")
    style.legend(axes)


def title(recording: Recording) -> str:
    """The scenario, scheme and seed of a recording."""
    result = recording.result
    return f"{result['scenario']}, {result['scheme']}, seed {result['seed']}"


def interval_ends(recording: Recording) -> np.ndarray:
    """When each interval ends, seconds."""
    tables = (recording.arrow(name)["end_s"] for name in ("flow_series", "queues", "channel"))
    return np.unique(next(column for column in tables if len(column)).to_numpy())


def columns(recording: Recording, table: str, column: str, count: int) -> np.ndarray:
    """A column as a matrix: a row an interval, a column each of `count` flows, queues or radios."""
    values: np.ndarray = recording.arrow(table)[column].to_numpy()
    return values.reshape(-1, count)
