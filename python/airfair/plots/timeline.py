"""The air as a chart by station: transmissions, receptions, losses with their causes, states of the MAC."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.textpath import TextPath

from ..recording import Recording
from . import on_air, style
from .on_air import DATA, MESSAGE, Arrival, Part, Sent, Source, Station, moment
from .over_time import title

INCHES = 10.0
"""Width of a chart: a page or a slide across."""

KINDS: Mapping[str, tuple[str, str, str]] = {
    "RTS": ("RTS", "#e69f00", "////"),
    "CTS": ("CTS", "#56b4e9", "\\\\\\\\"),
    DATA: ("data", "#0072b2", ""),
    "ACK": ("ACK", "#009e73", "||||"),
    MESSAGE: ("messages", "#cc79a7", "----"),
    "CF-END": ("CF-End", "#7a4b12", "xxxx"),
}
"""The words, colour and hatch of each kind of frame: hatches differ in grey print, too."""

STATES: Mapping[str, tuple[str, str, str]] = {
    "backoff": ("back-off, with its slots", "#ffffff", ""),
    "nav": ("NAV", "#b5b5b5", ""),
    "eifs": ("EIFS", "#ffffff", "xxxxxx"),
}
"""The words, colour and hatch of each state of a station."""

CAUSES: Mapping[str, str] = {
    "out-of-reach": "out of reach",
    "transmitting": "receiver transmits",
    "locked-on-other": "receiver busy with another",
    "preamble-drowned": "preamble drowned",
    "lock-taken": "another took the receiver",
    "lock-aborted": "receiver began to transmit",
    "too-weak": "too weak",
    "interference": "interference",
    "noise": "noise",
}
"""The words for each cause of a loss."""

CONTENTS: Mapping[str, str] = {
    "ack": "TCP ACK",
    "syn": "SYN",
    "syn-ack": "SYN-ACK",
    "fin": "FIN",
    "arp-request": "ARP request",
    "arp-reply": "ARP reply",
}
"""The words for contents of data frames; the others are just data, or a message."""

ROUTING = ("aodv-", "dsdv-", "olsr-")
"""The beginnings of contents that are messages of routing protocols."""

SILENCES: Mapping[str, tuple[str, str]] = {
    "cts-withheld": ("CTS withheld", "s"),
    "no-cts": ("no CTS", "v"),
    "no-ack": ("no ACK", "^"),
    "internal-collision": ("internal collision", "D"),
}
"""The words and marker for each answer that was not sent or did not arrive."""

OPEN: Mapping[str, Any] = {"color": style.INK, "mfc": "white", "mew": 0.9, "ls": "none"}
"""The look of these markers."""

CROSS = "#b00020"
"""Losses: dark in grey print."""

MOST_LABELS = 1_500
"""Bars of a chart with more frames have no letters: they would not fit."""

LETTERS = 7.5
"""Points of the letters in bars."""

TRANSMITS, RECEIVES = (0.0, 0.42), (-0.28, -0.03)
"""Height of the bars in a lane, from -0.5 to 0.5."""

SHOWN = {"backoff": (0.0, 0.2), "eifs": (-0.38, -0.3), "nav": (-0.48, -0.4)}
"""Height of states in a lane. With access categories their back-offs share the height of transmissions."""


def timeline(
    frames: Source,
    start: str | None = None,
    until: str | None = None,
    *,
    stations: Sequence[str] | None = None,
    states: Source | bool = False,
    ax: Axes | None = None,
) -> Figure:
    """The air from `start` until `until` ("20 s", "20.03 s"), a lane for each station.

    `frames` is a recording with the table `frames` (`Capture(trace=True)`), or that table. A bar is a
    transmission. Below the line of a station are the frames that were addressed to it; those that it lost are
    crossed out, with the cause where there is room, and joined to the frame that caused the loss. A column
    `category`, where there is one, shades data. By default the window is the first 30 ms after the warm-up
    with frames, and the stations are all of the run; of more than 32 those that send or receive in it.
    `stations` are names of nodes, in the order of their lanes.

    With `states`, which is True for a recording with the table `states` (`Capture(states=True)`), or that
    table, the chart has back-offs with their slots, NAV and EIFS, too. Access categories have a back-off
    each, one above the other, the highest priority at the top, in a lighter shade of their data.

    Raises `InputError`: for a window without frames, and above 128 stations or 20,000 frames.
    """
    found = on_air.part(frames, start, until, stations, states)
    lanes = {station: len(found.stations) - 1 - at for at, station in enumerate(found.stations)}
    words = title(frames) if isinstance(frames, Recording) else "the air, station by station"
    with style.canvas(ax, words, 0.9 + _inches(found) * len(lanes), INCHES) as axes:
        unit = style.time_unit((found.end - found.start) / 2e9)
        chart = _Chart(axes, found, lanes, unit.factor / 1e9, _width(axes, found, own=ax is None))
        chart.draw()
        axes.set_xlim(0, chart.x(found.end))
        axes.set_ylim(-0.55, len(lanes) - 0.45)
        axes.set_yticks(list(lanes.values()), [found.label(station) for station in lanes], parse_math=False)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(f"{unit.name} after {moment(found.start)}")
        _legend(axes, found)
        return style.figure_of(axes)


def _inches(found: Part) -> float:
    """Height of a lane."""
    count = len(found.stations)
    most = 0.62 if found.states else 0.5
    # Slots of each category are written.
    most += 0.14 * max(0, len(_in_states(found)) - 2)
    return most if count <= 10 else max(0.2, most - 0.02 * (count - 10))


def _width(axes: Axes, found: Part, *, own: bool) -> float:
    """The width of the axes, points; that of a figure of ours is known before its layout but for a margin."""
    if not own:
        return 72 * style.figure_of(axes).get_figwidth() * axes.get_position().width
    return 72 * INCHES - 20 - max(_points(found.label(station), 9) for station in found.stations)


@dataclass(frozen=True)
class _Box:
    """A bar, in units of the axes."""

    left: float
    right: float
    low: float
    high: float

    def corners(self) -> list[tuple[float, float]]:
        left, right, low, high = self.left, self.right, self.low, self.high
        return [(left, low), (right, low), (right, high), (left, high)]

    @property
    def middle(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.low + self.high) / 2


class _Chart:
    """The contents of the axes."""

    def __init__(
        self, axes: Axes, found: Part, lanes: Mapping[Station, int], factor: float, points: float
    ) -> None:
        self.axes = axes
        self.found = found
        self.lanes = lanes
        self.factor = factor
        self.names = {station.node: found.label(station) for station in found.stations}
        self.sent = {frame.number: frame for frame in found.sent}
        self.shades = _shades(found)
        self.letter = self.x(found.end) / points
        """Width of a point, in units of the axes."""
        lane = _inches(found) * 72
        self.labelled = len(found.sent) <= MOST_LABELS and lane >= 20

    def x(self, ns: int) -> float:
        """The place of a time."""
        return (ns - self.found.start) * self.factor

    def box(self, start: int, end: int, station: Station, height: tuple[float, float]) -> _Box:
        """The visible part of an interval in the lane of a station."""
        lane = self.lanes[station]
        left, right = max(start, self.found.start), min(end, self.found.end)
        return _Box(self.x(left), self.x(right), lane + height[0], lane + height[1])

    def draw(self) -> None:
        ends = (0.0, self.x(self.found.end))
        lines = [[(ends[0], lane), (ends[1], lane)] for lane in self.lanes.values()]
        self.axes.add_collection(LineCollection(lines, colors=style.FAINT, linewidths=0.6, zorder=1))
        self._draw_states()
        self._draw_arrivals()
        self._draw_sent()
        self._draw_silences()

    def _draw_states(self) -> None:
        for (state, category), (_, colour, hatch, height) in _states(self.found).items():
            of = (state, category)
            intervals = [i for i in self.found.states if (i.state, i.category) == of]
            boxes = [self.box(i.start, i.end, i.station, height) for i in intervals]
            edge = style.INK if state == "backoff" else "#6d6d6d"
            self._bars(boxes, _gid("state", state, category), colour, hatch, edge, 0.5)
            if state == "backoff" and self.labelled:
                for interval, box in zip(intervals, boxes, strict=True):
                    texts = [] if interval.slots is None else [str(interval.slots)]
                    self._write(box, texts, style.INK, None, LETTERS - 1)

    def _draw_sent(self) -> None:
        for (kind, category), (colour, hatch) in self.shades.items():
            frames = [f for f in self.found.sent if f.kind == kind and _category(f) == category]
            boxes = [self.box(f.start, f.end, f.station, TRANSMITS) for f in frames]
            self._bars(boxes, _gid("sent", kind, category), colour, hatch, "white", 0.5)
            if self.labelled:
                for frame, box in zip(frames, boxes, strict=True):
                    self._write(box, self._texts(frame), _letters(colour), colour)

    def _draw_arrivals(self) -> None:
        visible = [a for a in self.found.arrivals if a.station in self.lanes]
        received = [a for a in visible if a.cause is None]
        for (kind, category), (colour, _) in self.shades.items():
            own = [a for a in received if a.frame.kind == kind and _category(a.frame) == category]
            boxes = [self.box(a.frame.start, a.frame.end, a.station, RECEIVES) for a in own]
            self._bars(boxes, _gid("received", kind, category), _mixed(colour, 0.25), "", colour, 0.6)
        lost = [a for a in visible if a.cause is not None]
        boxes = [self.box(a.frame.start, a.frame.end, a.station, RECEIVES) for a in lost]
        self._bars(boxes, "lost", "white", "", CROSS, 0.8)
        crosses, ties = [], []
        for arrival, box in zip(lost, boxes, strict=True):
            place, by = box.middle, self.sent.get(arrival.by if arrival.by is not None else -1)
            if by is not None and by.station in self.lanes:
                cause = self.box(by.start, by.end, by.station, TRANSMITS)
                left, right = max(box.left, cause.left), min(box.right, cause.right)
                if left < right:
                    place = ((left + right) / 2, place[1])
                    edge = cause.high if cause.high < place[1] else cause.low
                    ties.append([place, (place[0], edge)])
            crosses.append(place)
        self.axes.add_collection(
            LineCollection(ties, colors=CROSS, linewidths=0.9, linestyles=[(0, (1.5, 1.5))], zorder=5)
        )
        if crosses:
            across, up = zip(*crosses, strict=True)
            size = min(7.0, 0.2 * 72 * _inches(self.found))
            self.axes.plot(across, up, "x", color=CROSS, ms=size, mew=1.6, ls="none", gid="crosses", zorder=6)
        if self.labelled:
            self._write_causes(lost, boxes)

    def _draw_silences(self) -> None:
        for event, (_, marker) in SILENCES.items():
            own = [silence for silence in self.found.silences if silence.event == event]
            if own:
                across = [self.x(silence.time) for silence in own]
                up = [self.lanes[silence.station] + 0.1 for silence in own]
                size = min(4.5, 0.14 * 72 * _inches(self.found))
                self.axes.plot(across, up, marker, gid=event, zorder=6, ms=size, **OPEN)

    def _write_causes(self, lost: Sequence[Arrival], boxes: Sequence[_Box]) -> None:
        """The cause right of a cross, as far as nothing else is in the lane."""
        taken: dict[Station, list[float]] = {}
        for arrival in self.found.arrivals:
            taken.setdefault(arrival.station, []).append(self.x(arrival.frame.start))
        for arrival, box in zip(lost, boxes, strict=True):
            after = [left for left in taken[arrival.station] if left > box.left]
            room = _Box(box.right, min([*after, self.x(self.found.end)]), box.low, box.high)
            words = CAUSES.get(arrival.cause or "", arrival.cause or "")
            self._write(room, [words], CROSS, None, LETTERS - 0.5, left=True)

    def _bars(self, boxes: Sequence[_Box], gid: str, colour: str, hatch: str, edge: str, line: float) -> None:
        """Bars of one look, as one collection."""
        if not boxes:
            return
        dense = len(self.found.sent) > MOST_LABELS
        self.axes.add_collection(
            PolyCollection(
                [box.corners() for box in boxes],
                facecolors=colour,
                edgecolors=colour if dense and edge == "white" else edge,
                linewidths=0.1 if dense else line,
                hatch=None if dense else hatch or None,
                gid=gid,
                zorder=3,
            )
        )

    def _texts(self, frame: Sent) -> list[str]:
        """Labels of a bar, the longest first."""
        to = "all" if frame.to is None else self.names.get(frame.to, frame.to)
        content = frame.content or ""
        what = CONTENTS.get(content, "data" if frame.kind == DATA else "message")
        if content.startswith(ROUTING):
            what = content.partition("-")[2].upper()
        if frame.kind not in (DATA, MESSAGE):
            what = KINDS[frame.kind][0]
        short = what.split()[0] if frame.kind == MESSAGE else KINDS[frame.kind][0]
        return [f"{what} → {to}", what, short]

    def _write(
        self,
        box: _Box,
        texts: Iterable[str],
        colour: str,
        behind: str | None,
        size: float = LETTERS,
        *,
        left: bool = False,
    ) -> None:
        """The first text that fits into a box, if one does."""
        for text in texts:
            if (_points(text, size) + 4) * self.letter <= box.right - box.left:
                self.axes.text(
                    box.left + 2 * self.letter if left else box.middle[0],
                    box.middle[1],
                    text,
                    ha="left" if left else "center",
                    va="center_baseline",
                    fontsize=size,
                    color=colour,
                    bbox=None if behind is None else {"facecolor": behind, "edgecolor": "none", "pad": 0.6},
                    zorder=7,
                    clip_on=True,
                    parse_math=False,
                )
                return


@lru_cache(4096)
def _points(text: str, size: float) -> float:
    """The width of a text."""
    if not text:
        return 0.0
    return float(TextPath((0, 0), text, size=size, prop=FontProperties()).get_extents().width)


def _letters(colour: str) -> str:
    """The colour of letters that can be read on a bar."""
    red, green, blue = to_rgb(colour)
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else style.INK


def _mixed(colour: str, share: float) -> str:
    """So much of a colour in white."""
    red, green, blue = (1 - share * (1 - part) for part in to_rgb(colour))
    return to_hex((red, green, blue))


def _category(frame: Sent) -> str | None:
    """The category by which a frame is shaded: that of data."""
    return frame.category if frame.kind == DATA else None


def _gid(what: str, kind: str, category: str | None) -> str:
    return f"{what}:{kind}" if category is None else f"{what}:{kind}:{category}"


def _shades(found: Part) -> dict[tuple[str, str | None], tuple[str, str]]:
    """The colour and hatch of each kind, of data for each category that is in the window."""
    frames = [*found.sent, *(arrival.frame for arrival in found.arrivals)]
    order = [*found.categories, None]
    shades: dict[tuple[str, str | None], tuple[str, str]] = {}
    for kind, (_, colour, hatch) in KINDS.items():
        categories = sorted({_category(f) for f in frames if f.kind == kind}, key=order.index)
        for category in categories:
            shades[kind, category] = (colour if category is None else _shade(found, category), hatch)
    return shades


def _shade(found: Part, category: str) -> str:
    """The colour of a category's data: the darkest for the highest priority of the run, in every window."""
    rank = found.categories.index(category)
    return _mixed(KINDS[DATA][1], 1 - 0.7 * rank / max(1, len(found.categories) - 1))


def _in_states(found: Part) -> list[str]:
    """Categories of back-offs, the highest priority first."""
    present = {interval.category for interval in found.states}
    return [category for category in found.categories if category in present]


def _states(found: Part) -> dict[tuple[str, str | None], tuple[str, str, str, tuple[float, float]]]:
    """The words, colour, hatch and height in a lane of each state, of back-offs for each category."""
    looks: dict[tuple[str, str | None], tuple[str, str, str, tuple[float, float]]] = {}
    categories = _in_states(found)
    low, high = TRANSMITS if len(categories) > 1 else SHOWN["backoff"]
    part = (high - low) / max(1, len(categories))
    for state, (words, colour, hatch) in STATES.items():
        looks[state, None] = (words, colour, hatch, SHOWN[state])
        if state != "backoff":
            continue
        for at, category in enumerate(categories):
            shade, top = _mixed(_shade(found, category), 0.4), high - part * at
            looks[state, category] = (f"back-off, {category}", shade, hatch, (top - part, top))
    return looks


def _legend(axes: Axes, found: Part) -> None:
    """The looks that are in the chart, and how many frames were lost by which cause."""
    entries: list[tuple[Patch | Line2D, str]] = []
    kinds = {frame.kind for frame in found.sent}
    for (kind, category), (colour, hatch) in _shades(found).items():
        if kind in kinds:
            words = KINDS[kind][0] if category is None else f"{KINDS[kind][0]}, {category}"
            entries.append((Patch(facecolor=colour, hatch=hatch, edgecolor="white"), words))
    if any(arrival.cause is None for arrival in found.arrivals):
        blue = KINDS[DATA][1]
        entries.append((Patch(facecolor=_mixed(blue, 0.25), edgecolor=blue, linewidth=0.6), "received"))
    lost = Counter(arrival.cause for arrival in found.arrivals if arrival.cause is not None)
    for cause, count in sorted(lost.items()):
        mark = Line2D([], [], color=CROSS, marker="x", mew=1.6, ls="none")
        entries.append((mark, f"lost, {CAUSES.get(cause, cause)}: {count}"))
    events = {silence.event for silence in found.silences}
    for event, (words, marker) in SILENCES.items():
        if event in events:
            entries.append((Line2D([], [], marker=marker, ms=4.5, **OPEN), words))
    present = {(interval.state, interval.category) for interval in found.states}
    for state, (words, colour, hatch, _) in _states(found).items():
        if state in present:
            entries.append((Patch(facecolor=colour, hatch=hatch, edgecolor="#6d6d6d", linewidth=0.5), words))
    style.legend(axes, entries=entries, most=140)
