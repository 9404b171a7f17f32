"""The batches of a flow over time: what each node holds of the batch at hand, and when it sends."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from .. import _core
from .._core import InputError
from ..arguments import as_type, hint
from ..results import FlowResult
from . import style
from .on_air import moment
from .over_time import as_recording, title

if TYPE_CHECKING:
    import pandas as pd

    from ..recording import Recording

INCHES = 10.0
"""Width of a chart: a page or a slide across."""

COLUMNS = ("time_ns", "event", "node", "flow", "content", "sequence", "held_packets", "batch_packets")
"""Columns that are read of the table of frames."""

BATCHES = 3
"""Batches that are shown by default."""

MOST_NODES = 32
"""Most lanes: those of the nodes that send most."""

FILLS = ("#56b4e9", "#e69f00")
"""Batches in turn."""

SENDS = (0.0, 0.28)
"""Height of the strokes in a lane; above them, up to 0.9, is what the node holds."""


def batches(
    recording: Recording,
    flow: str | None = None,
    start: str | None = None,
    until: str | None = None,
    *,
    ax: Axes | None = None,
) -> Figure:
    """The packets that each node holds of a flow's batches over time, and its transmissions: a lane for each
    node.

    Strokes are broadcasts. The height above them is the part of the batch at hand that the node holds, up to
    a line where it holds all; a dotted line marks the source's first broadcast of a batch, at which what was
    held of the one before is forgotten. The source is at the top, the destination at the bottom, between them
    the nodes that have held or sent something, in the order in which they began; of more than 32 those that
    send most. By default the flow is the first that forwarders carry, from the first frame after the warm-up
    on, and the window has three batches.

    The recording needs the table `frames` (`Capture(trace=True)`) of a run with a scheme whose flows go by
    forwarders (MORE, ExOR). Raises `InputError`.
    """
    chosen = _flow(as_recording(recording), flow)
    frames = _of_flow(recording, chosen)
    first, last = _window(recording, frames, chosen["src"], start, until)
    nodes = _lanes(frames, chosen, first, last)
    begins = _begins(frames, chosen["src"], last)
    words = f"{title(recording)}: flow {chosen['id']}"
    with style.canvas(ax, words, 0.9 + _inches(len(nodes)) * len(nodes), INCHES) as axes:
        unit = style.time_unit((last - first) / 2e9)
        scale = unit.factor / 1e9
        for lane, node in zip(reversed(range(len(nodes))), nodes, strict=True):
            here = frames[frames["node"] == node]
            _draw_held(axes, here, begins, (first, last), lane, scale, whole=node == chosen["src"])
            sent = here.loc[(here["event"] == "sent") & here["time_ns"].between(first, last), "time_ns"]
            low, high = lane + SENDS[0], lane + SENDS[1]
            strokes = [[(x, low), (x, high)] for x in (sent.to_numpy() - first) * scale]
            axes.add_collection(LineCollection(strokes, colors=style.INK, linewidths=0.7))
            axes.axhline(lane, color=style.FAINT, linewidth=0.5, zorder=1)
        for at in begins["time_ns"]:
            if first <= at <= last:
                axes.axvline((at - first) * scale, color=style.INK, linestyle=":", linewidth=0.8, zorder=1)
        axes.set_xlim(0, (last - first) * scale)
        axes.set_ylim(-0.1, len(nodes))
        axes.set_yticks([lane + 0.45 for lane in reversed(range(len(nodes)))], nodes, parse_math=False)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(f"{unit.name} after {moment(first)}")
        _legend(axes)
        return style.figure_of(axes)


def _inches(nodes: int) -> float:
    """Height of a lane."""
    return 0.5 if nodes <= 10 else max(0.25, 0.5 - 0.02 * (nodes - 10))


def _flow(recording: Recording, flow: str | None) -> FlowResult:
    """The flow to draw. Raises `InputError`."""
    if flow is not None:
        as_type("flow", flow, str, "the id of a flow")
    known = {of["id"]: of for of in recording.result["flows"]}
    if flow is not None and flow not in known:
        raise InputError(f'flow: there is no "{flow}"{hint(flow, list(known))}')
    carried = [of for of in known.values() if of.get("forwarding") is not None]
    if flow is None and carried:
        return carried[0]
    if flow is None or known[flow] not in carried:
        which = "no flow goes" if flow is None else f'flow "{flow}" does not go'
        raise InputError(f"batches: {which} by forwarders; expected a run with a scheme such as more")
    return known[flow]


def _of_flow(recording: Recording, flow: FlowResult) -> pd.DataFrame:
    """Broadcasts of a flow, and what nodes hold of it. Raises `InputError`."""
    table = recording.arrow("frames")
    if not set(COLUMNS) <= set(table.column_names):
        raise InputError("batches: the table of frames has no batches; expected one of this version")
    frames = table.select(list(COLUMNS)).to_pandas(ignore_metadata=True)
    sent = (frames["event"] == "sent") & (frames["content"] == "forwarded")
    found: pd.DataFrame = frames[(frames["flow"] == flow["id"]) & (sent | (frames["event"] == "holds"))]
    if found.empty:
        raise InputError(f'batches: the table has no broadcast of flow "{flow["id"]}"')
    return found.astype({"node": str, "event": str}).sort_values("time_ns", kind="stable")


def _begins(frames: pd.DataFrame, source: str, last: int) -> pd.DataFrame:
    """The source's first broadcast of each batch until a time: `time_ns` and `sequence`."""
    own = frames[(frames["event"] == "sent") & (frames["node"] == source) & (frames["time_ns"] <= last)]
    return own.drop_duplicates("sequence")[["time_ns", "sequence"]]


def _window(
    recording: Recording, frames: pd.DataFrame, source: str, start: str | None, until: str | None
) -> tuple[int, int]:
    """The window, ns. Raises `InputError`."""
    times = frames["time_ns"]
    first = _core.parse_time(start, "start") if start is not None else None
    if first is None:
        warmup = int(recording.result["warmup_s"] * 1e9)
        later = times[times >= warmup]
        first = int(later.min()) if len(later) else int(times.min())
    last = _core.parse_time(until, "until") if until is not None else None
    if last is None:
        begins = _begins(frames, source, int(times.max()))["time_ns"]
        after = begins[begins > first]
        last = int(after.iloc[BATCHES - 1]) if len(after) >= BATCHES else int(times.max()) + 1
    if last <= first or not times.between(first, last).any():
        raise InputError(
            f"batches: no broadcast from {moment(first)} until {moment(last)}; the table has some from "
            f"{moment(int(times.min()))} to {moment(int(times.max()))}"
        )
    return first, last


def _lanes(frames: pd.DataFrame, flow: FlowResult, first: int, last: int) -> list[str]:
    """The nodes, from the source to the destination."""
    seen = frames[frames["time_ns"].between(first, last)]
    between = [node for node in dict.fromkeys(seen["node"]) if node not in (flow["src"], flow["dst"])]
    if len(between) > MOST_NODES - 2:
        sent = Counter(seen.loc[seen["event"] == "sent", "node"])
        most = set(sorted(between, key=lambda node: (-sent[node], node))[: MOST_NODES - 2])
        between = [node for node in between if node in most]
    return [flow["src"], *between, flow["dst"]]


def _draw_held(
    axes: Axes,
    here: pd.DataFrame,
    begins: pd.DataFrame,
    window: tuple[int, int],
    lane: int,
    scale: float,
    *,
    whole: bool,
) -> None:
    """The part of each batch that a node holds over time; a source holds the whole."""
    first, last = window
    ends = [*begins["time_ns"].iloc[1:], last]
    holds = here[here["event"] == "holds"]
    low, high = lane + SENDS[1], lane + 0.9
    for number, ((begin, batch), end) in enumerate(
        zip(begins[["time_ns", "sequence"]].itertuples(index=False), ends, strict=True)
    ):
        if end <= first or begin >= last:
            continue
        own = holds[(holds["sequence"] == batch) & (holds["time_ns"] < end)]
        times = np.concatenate([[begin], own["time_ns"], [end]])
        parts = np.concatenate([[0.0], (own["held_packets"] / own["batch_packets"]).to_numpy(float)])
        if whole:
            times, parts = np.array([begin, end]), np.array([1.0])
        axes.stairs(
            low + parts * (high - low),
            (np.clip(times, first, last) - first) * scale,
            baseline=low,
            fill=True,
            color=FILLS[number % len(FILLS)],
            linewidth=0,
        )
        left, right = (np.clip([begin, end], first, last) - first) * scale
        axes.plot([left, right], [high, high], color=style.FAINT, linewidth=0.5)


def _legend(axes: Axes) -> None:
    """The looks of the chart."""
    stroke = Line2D([], [], color=style.INK, linestyle="none", marker="|", markersize=7)
    fills = zip(FILLS, ("held of a batch", "held of the next"), strict=True)
    begin = Line2D([], [], color=style.INK, linestyle=":", linewidth=0.8)
    entries = [
        (stroke, "broadcast"),
        *((Patch(color=fill), words) for fill, words in fills),
        (begin, "first broadcast of a batch at its source"),
    ]
    style.legend(axes, entries=entries, most=140)
