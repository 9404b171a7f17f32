"""Plots of the five radio states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from .._core import InputError
from ..dataframes import is_run
from ..results import RunResult, StationResult
from . import style
from .over_time import as_recording, columns, interval_ends, title

if TYPE_CHECKING:
    from ..recording import Recording

STATES: Mapping[str, tuple[str, str, str]] = {
    "transmit": ("transmits", "#0072b2", ""),
    "receive": ("receives", "#56b4e9", "\\\\\\\\"),
    "busy": ("busy", "#d55e00", "////"),
    "nav": ("NAV", "#e69f00", "xxxx"),
    "idle": ("idle", "#e2e2e2", ""),
}
"""The label, colour and hatch of each state. Busy: energy that is not received. NAV: others hold it."""

NAMED = 32
"""More radios than these have no names: they stand side by side, those with the least idle time first."""


def channel(source: Recording | RunResult, *, node: str | None = None, ax: Axes | None = None) -> Figure:
    """Share of time that each radio spent in each of the five radio states.

    Of a recording it is the time after the warm-up, of a result of `airfair.run` the whole run. With `node`,
    which takes a recording, it is that node's share in each interval instead.
    """
    if is_run(source):
        if node is not None:
            raise InputError("channel: over time needs a recording; expected what airfair.record gives")
        stations = source["stations"]
        shares = _shares([list(_airtime(station)) for station in stations])
        words = f"{source['scenario']}, {source['scheme']}, seed {source['seed']}"
        return _radios(names(stations), shares, words, "share of time", ax)
    source = as_recording(cast("Recording", source))
    stations = source.result["stations"]
    if not stations:
        raise InputError("channel: the scenario has no radio")
    times = np.stack([columns(source, "channel", f"{state}_s", len(stations)) for state in STATES], axis=-1)
    if node is not None:
        return _over_time(source, times, node, ax)
    counted = interval_ends(source) > source.result["warmup_s"]
    shares = _shares(times[counted].sum(axis=0))
    words = "share of time after the warm-up" if source.result["warmup_s"] > 0 else "share of time"
    return _radios(names(stations), shares, title(source), words, ax)


def names(stations: Sequence[StationResult]) -> list[str]:
    """Names of radios: the node, and the radio where a node has several."""
    several = Counter(station["node"] for station in stations)
    return [s["node"] if several[s["node"]] == 1 else f"{s['node']} ({s['radio']})" for s in stations]


def _airtime(station: StationResult) -> Iterator[int]:
    """Nanoseconds in the order of the states."""
    of = station["airtime_ns"]
    return iter((of["transmit"], of["receive"], of["busy"], of["nav"], of["idle"]))


def _shares(times: Any) -> np.ndarray:  # noqa: ANN401 - numbers in rows
    """A row a radio, each adding up to one."""
    rows = np.asarray(times, float).reshape(-1, len(STATES))
    shares: np.ndarray = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-300)
    return shares


def _radios(labels: Sequence[str], shares: np.ndarray, heading: str, words: str, ax: Axes | None) -> Figure:
    count = len(labels)
    if not count:
        raise InputError("channel: the scenario has no radio")
    if count > NAMED:
        return _sorted(shares, heading, ax)
    with style.canvas(ax, heading, height=0.9 + 0.24 * count) as axes:
        left = np.zeros(count)
        for (word, colour, hatch), share in zip(STATES.values(), shares.T, strict=True):
            axes.barh(
                range(count),
                share,
                left=left,
                height=0.8,
                color=colour,
                hatch=hatch,
                edgecolor="white",
                linewidth=0.3,
                label=word,
            )
            left += share
        axes.set_yticks(range(count), labels)
        axes.set_ylim(count - 0.5, -0.5)
        axes.grid(visible=False)
        axes.set_xlim(0, 1)
        axes.xaxis.set_major_formatter(PercentFormatter(1.0))
        axes.set_xlabel(words)
        style.legend(axes)
        return style.figure_of(axes)


def _sorted(shares: np.ndarray, heading: str, ax: Axes | None) -> Figure:
    order = np.argsort(shares[:, list(STATES).index("idle")], kind="stable")
    with style.canvas(ax, heading) as axes:
        _stack(axes, np.arange(len(shares) + 1), shares[order])
        axes.set_xlabel("radios, those with the least idle time first")
        axes.set_ylabel("share of time")
        style.legend(axes)
        return style.figure_of(axes)


def _over_time(source: Recording, times: np.ndarray, node: str, ax: Axes | None) -> Figure:
    nodes = [station["node"] for station in source.result["stations"]]
    if node not in nodes:
        raise InputError(f'channel: node "{node}" has no radio; expected one of {_some(nodes)}')
    shares = _shares(times[:, [i for i, n in enumerate(nodes) if n == node]].sum(axis=1))
    with style.canvas(ax, f"node {node}: {title(source)}") as axes:
        _stack(axes, np.concatenate([[0.0], interval_ends(source)]), shares)
        axes.set_xlabel("time (s)")
        axes.set_ylabel("share of time")
        style.legend(axes)
        return style.figure_of(axes)


def _stack(axes: Axes, edges: np.ndarray, shares: np.ndarray) -> None:
    """The states over each other, a step for each row of shares."""
    floor = np.zeros(len(shares))
    for (word, colour, hatch), share in zip(STATES.values(), shares.T, strict=True):
        axes.stairs(
            floor + share,
            edges,
            baseline=floor,
            fill=True,
            facecolor=colour,
            hatch=hatch,
            edgecolor="white",
            linewidth=0.0,
            label=word,
        )
        floor = floor + share
    axes.grid(visible=False)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))


def _some(known: Sequence[str], most: int = 8) -> str:
    names = list(dict.fromkeys(known))
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
