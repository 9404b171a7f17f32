"""Queue differentials along the path of a flow over time, from the sizes that frames announce."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .._core import InputError
from ..arguments import as_type, hint
from ..results import FlowResult
from . import style
from .over_time import as_recording, draw_lines, interval_ends, title

if TYPE_CHECKING:
    import pandas as pd

    from ..recording import Recording

COLUMNS = ("time_ns", "event", "from", "to", "flow", "retry", "announced_packets", "announced_for")
"""Columns that are read of the table of frames."""


def differentials(recording: Recording, flow: str | None = None, *, ax: Axes | None = None) -> Figure:
    """Queue differentials along the path of a flow over time: a line for each hop, the mean of each interval.

    A differential is the number of packets for the flow's destination that wait at the sender of the hop,
    less those that wait at its receiver, as their frames announce them: a size counts until the next one is
    announced, and the destination itself has none. By default the flow is the one with the least goodput of
    those whose packets announce sizes. The path is the one that most packets took.

    The recording needs the table `frames` (`Capture(trace=True)`) of a run with a scheme whose frames
    announce the sizes of queues (DiffQ). Raises `InputError`.
    """
    frames = _announcing(as_recording(recording))
    chosen = _flow(recording, frames, flow)
    hops = _path(frames, chosen)
    ends = interval_ends(recording)
    edges = np.concatenate([[0.0], ends])
    seen = _seen(recording)
    sizes = {node: _mean_sizes(frames, node, chosen["dst"], edges, seen) for hop in hops for node in hop}
    of_hops = {f"{src} → {dst}": sizes[src] - sizes[dst] for src, dst in hops}
    # A table of one node's frames does not say what waits at the others.
    of_hops = {name: column for name, column in of_hops.items() if not np.isnan(column).all()}
    if not of_hops:
        raise InputError(f'differentials: no hop of flow "{chosen["id"]}" has frames of both of its nodes')
    names, values = list(of_hops), np.column_stack(list(of_hops.values()))
    with style.canvas(ax, f"{title(recording)}: flow {chosen['id']}") as axes:
        middles = ends - np.diff(ends, prepend=0.0) / 2
        means = [float(np.nanmean(column)) for column in of_hops.values()]
        draw_lines(axes, recording, middles, values, names, style.choose(means))
        axes.autoscale(axis="y")
        axes.axhline(0, color=style.INK, linewidth=0.6, zorder=1)
        axes.set_ylabel("queue differential (packets)")
        return style.figure_of(axes)


def _announcing(recording: Recording) -> pd.DataFrame:
    """First transmissions that announce a size. Raises `InputError`."""
    table = recording.arrow("frames")
    if not set(COLUMNS) <= set(table.column_names):
        raise InputError(
            "differentials: no frame announces a queue; expected a run with a scheme such as diffq"
        )
    frames = table.select(list(COLUMNS)).to_pandas(ignore_metadata=True)
    first = (frames["event"] == "sent") & (frames["retry"] == False)  # noqa: E712 - a column
    found: pd.DataFrame = frames[first & frames["announced_packets"].notna()]
    return found.astype(dict.fromkeys(("from", "to", "flow", "announced_for"), str))


def _flow(recording: Recording, frames: pd.DataFrame, flow: str | None) -> FlowResult:
    """The flow to draw. Raises `InputError`."""
    if flow is not None:
        as_type("flow", flow, str, "the id of a flow")
    known = {of["id"]: of for of in recording.result["flows"]}
    if flow is not None and flow not in known:
        raise InputError(f'flow: there is no "{flow}"{hint(flow, list(known))}')
    sending = [known[name] for name in known if _ahead(frames, known[name]).any()]
    if flow is None and sending:
        return min(sending, key=lambda of: (of["goodput_bps"], of["id"]))
    if flow is None or known[flow] not in sending:
        which = "any flow" if flow is None else f'flow "{flow}"'
        raise InputError(f"differentials: no frame with a packet of {which} announces a queue")
    return known[flow]


def _ahead(frames: pd.DataFrame, flow: FlowResult) -> pd.Series:
    """Which of the frames carry a packet of the flow towards its destination."""
    return (frames["flow"] == flow["id"]) & (frames["announced_for"] == flow["dst"])


def _path(frames: pd.DataFrame, flow: FlowResult) -> list[tuple[str, str]]:
    """The hops from the source on, each to the node to which most packets went."""
    ahead = frames[_ahead(frames, flow)]
    counts = Counter(zip(ahead["from"], ahead["to"], strict=True))
    # The last one of a sender stays: that with most packets.
    most = dict(sorted(counts, key=lambda hop: (counts[hop], hop)))
    hops: dict[str, str] = {}
    at = flow["src"]
    while at != flow["dst"] and at in most and at not in hops:
        hops[at] = most[at]
        at = hops[at]
    return list(hops.items())


def _seen(recording: Recording) -> tuple[float, float]:
    """The time of which the table has frames, seconds."""
    times = recording.arrow("frames")["time_ns"].to_numpy()
    return float(times.min()) / 1e9, float(times.max()) / 1e9


def _mean_sizes(
    frames: pd.DataFrame, node: str, destination: str, edges: np.ndarray, seen: tuple[float, float]
) -> np.ndarray:
    """The mean of a node's queue for a destination between each two edges; NaN where no frames are there."""
    inside = np.clip(edges, *seen)
    lengths = np.diff(inside)
    if node == destination:
        return np.where(lengths > 0, 0.0, np.nan)
    of = frames[(frames["from"] == node) & (frames["announced_for"] == destination)]
    if of.empty:
        return np.full(len(lengths), np.nan)
    times = np.concatenate([[seen[0]], of["time_ns"].to_numpy() / 1e9])
    sizes = np.concatenate([[0.0], of["announced_packets"].to_numpy(float)])
    whole = np.concatenate([[0.0], np.cumsum(sizes[:-1] * np.diff(times))])
    at = np.searchsorted(times, inside, "right") - 1
    until = whole[at] + sizes[at] * (inside - times[at])
    means = np.full(len(lengths), np.nan)
    np.divide(np.diff(until), lengths, out=means, where=lengths > 0)
    return means
