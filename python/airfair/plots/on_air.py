"""Frames on the air in a window of time, from the tables `frames` and `states` of a recording."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from .. import _core
from .._core import InputError
from ..arguments import as_texts, hint, unsuitable

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from ..recording import Recording

Source: TypeAlias = "Recording | pd.DataFrame | pa.Table"

WINDOW_NS = 30_000_000
"""Length of the window that is drawn by default."""

PROPAGATION_NS = 1_000_000
"""No signal travels as long: 300 km."""

FEW_STATIONS = 32
"""Most stations of which the silent ones have lanes, too."""

MOST_STATIONS = 128
"""Most lanes of a chart."""

MOST_FRAMES = 20_000
"""Most frames of a chart: more are thinner than print, and viewers do not open the file."""

DATA, MESSAGE = "DATA", "message"
"""Kinds of frames beside RTS, CTS, ACK and CF-End: packets of flows; ARP, routing and agents."""

SILENCES = ("cts-withheld", "no-cts", "no-ack", "internal-collision")
"""Events of frames that were not sent or did not arrive."""

STATES = ("backoff", "nav", "eifs")
"""States of a station in the table of states."""

COLUMNS = (
    "time_ns",
    "event",
    "node",
    "radio",
    "frame",
    "kind",
    "from",
    "to",
    "flow",
    "content",
    "duration_ns",
    "cause",
    "by_frame",
)
"""Columns that are read of the table of frames; `category`, where there is one, too."""

STATE_COLUMNS = ("node", "radio", "state", "from_ns", "until_ns", "slots")
"""Columns of the table of states; `category`, where there is one, is read too."""


@dataclass(frozen=True)
class Station:
    """A radio of a node."""

    node: str
    radio: str


@dataclass(frozen=True)
class Sent:
    """A transmission; times in ns since the start of the run."""

    number: int
    kind: str
    station: Station
    to: str | None
    start: int
    end: int
    content: str | None
    category: str | None


@dataclass(frozen=True)
class Arrival:
    """A frame's end at a station to which it was addressed. A lost frame has the cause, and the number of the
    frame by which it was lost, if a frame was the cause."""

    frame: Sent
    station: Station
    cause: str | None
    by: int | None


@dataclass(frozen=True)
class Silence:
    """A frame that was not sent or did not arrive, by its event: one of `SILENCES`."""

    event: str
    station: Station
    time: int


@dataclass(frozen=True)
class Interval:
    """A state of a station; a back-off has the slots that it counted, and its access category if the station
    has several."""

    station: Station
    state: str
    start: int
    end: int
    slots: int | None
    category: str | None = None


@dataclass(frozen=True)
class Part:
    """A window of time: the frames on the air in it, in the order of their starts, and their arrivals."""

    start: int
    end: int
    stations: list[Station]
    sent: list[Sent]
    arrivals: list[Arrival]
    silences: list[Silence]
    states: list[Interval]
    categories: list[str]
    """Categories of the run, whichever of them are in the window; the first has the highest priority."""

    def label(self, station: Station) -> str:
        """The name of a lane: the node, and the radio where a node has several."""
        several = sum(other.node == station.node for other in self.stations) > 1
        return f"{station.node} ({station.radio})" if several else station.node


def part(
    source: Source,
    start: str | None,
    until: str | None,
    stations: Sequence[str] | None,
    states: Source | bool,
) -> Part:
    """The window from `start` until `until`. Raises `InputError`."""
    table, warmup, known = _frames(source)
    window = _window(table, start, until, warmup)
    margin = _longest(table) + PROPAGATION_NS
    near = table[(table["time_ns"] >= window[0] - margin) & (table["time_ns"] < window[1] + margin)]
    order = known or _in_order(table)
    sent = _sent(near, window, order)
    arrivals = list(_arrivals(near, {frame.number: frame for frame in sent}))
    if stations is not None:
        order = _chosen(order, stations)
    elif len(order) > FEW_STATIONS:
        busy = {frame.station for frame in sent} | {arrival.station for arrival in arrivals}
        order = [station for station in order if station in busy]
    here = set(order)
    intervals = _states(source, states, window)
    found = Part(
        *window,
        order,
        [frame for frame in sent if frame.station in here],
        [arrival for arrival in arrivals if arrival.station in here],
        [silence for silence in _silences(near, window) if silence.station in here],
        [interval for interval in intervals if interval.station in here],
        _categories(table, {i.category for i in intervals if i.category is not None}, source),
    )
    _check(found, table, stations)
    return found


def moment(ns: int) -> str:
    """A time as the shortest text that is exact, such as "20.0305 s"."""
    whole, fraction = divmod(ns, 10**9)
    text = f"{fraction:09}".rstrip("0")
    return f"{whole}.{text} s" if text else f"{whole} s"


def _frames(source: Source) -> tuple[pd.DataFrame, int, list[Station]]:
    """The table of frames, the end of the warm-up, and the stations of the run, if they are known."""
    from ..recording import Recording

    table = _table("frames", source.arrow("frames") if isinstance(source, Recording) else source, COLUMNS)
    if not isinstance(source, Recording):
        return table, 0, []
    stations = [Station(station["node"], station["radio"]) for station in source.result["stations"]]
    return table, round(source.result["warmup_s"] * 1e9), stations


def _table(name: str, value: object, columns: Sequence[str]) -> pd.DataFrame:
    """A table as a data frame with these columns, at least. Raises `InputError`."""
    import pandas as pd
    import pyarrow as pa

    if isinstance(value, pa.Table):
        read = [column for column in value.column_names if column in {*columns, "category"}]
        value = value.select(read).to_pandas(ignore_metadata=True)
    if not isinstance(value, pd.DataFrame):
        raise unsuitable(name, value, f"a recording, or its table {name}: recording.pandas({name!r})")
    missing = [column for column in columns if column not in value.columns]
    if missing:
        raise InputError(f"{name}: there is no column {missing[0]}; expected recording.pandas({name!r})")
    return value


def _window(table: pd.DataFrame, start: str | None, until: str | None, warmup: int) -> tuple[int, int]:
    """The times of the window. Without `start` it begins with the first frame after the warm-up."""
    from_ns = None if start is None else _core.parse_time(start, "start")
    until_ns = None if until is None else _core.parse_time(until, "until")
    if from_ns is None:
        if until_ns is not None:
            from_ns = max(0, until_ns - WINDOW_NS)
        else:
            times = table.loc[table["event"] == "sent", "time_ns"]
            counted = times[times >= warmup]
            first = int((counted if len(counted) else times).min()) if len(times) else 0
            # A round time, if there is one before the frame.
            from_ns = warmup if 0 <= first - warmup < WINDOW_NS // 2 else first // 10**6 * 10**6
    if until_ns is None:
        until_ns = from_ns + WINDOW_NS
    if from_ns >= until_ns:
        raise InputError(f"until: {moment(until_ns)}; expected a time after the start, {moment(from_ns)}")
    return from_ns, until_ns


def _longest(table: pd.DataFrame) -> int:
    """Duration of the longest frame, ns."""
    lengths = table.loc[table["event"].isin(["sent", "received", "lost"]), "duration_ns"]
    return int(lengths.max()) if len(lengths) else 0


def _in_order(table: pd.DataFrame) -> list[Station]:
    """Stations in the order of the scenario, which a column of names knows; otherwise in natural order."""
    pairs = table[["node", "radio"]].dropna().drop_duplicates()
    seen = [Station(node, radio) for node, radio in zip(pairs["node"], pairs["radio"], strict=True)]
    categories = getattr(table["node"].dtype, "categories", None)
    place = {} if categories is None else {name: at for at, name in enumerate(categories)}

    def key(station: Station) -> tuple[Any, ...]:
        parts = re.split(r"(\d+)", station.node)
        natural = [(int(part), "") if part.isdigit() else (-1, part) for part in parts]
        return place.get(station.node, len(place)), natural, station.radio

    return sorted(seen, key=key)


def _categories(table: pd.DataFrame, of_states: set[str], source: Source) -> list[str]:
    """Categories of frames and back-offs, the highest priority first: as a run lists them, else as the column
    of frames does."""
    from ..recording import Recording

    known = sorted(of_states)
    if "category" in table:
        column = table["category"].dropna()
        known = [*map(str, getattr(column.dtype, "categories", sorted(set(column)))), *known]
    if isinstance(source, Recording):
        tables = [station.get("categories", []) for station in source.result["stations"]]
        listed = [category["name"] for table in tables for category in reversed(table)]
        known = [*listed, *known]
    return list(dict.fromkeys(known))


def _chosen(order: Sequence[Station], stations: Sequence[str]) -> list[Station]:
    """The stations of these nodes, in the order that was given."""
    wanted = as_texts("stations", stations, "names of nodes")
    nodes = list(dict.fromkeys(station.node for station in order))
    for at, name in enumerate(wanted):
        if name not in nodes:
            raise InputError(f'stations: no station of a node "{name}" is in the table{hint(name, nodes)}')
        if name in wanted[:at]:
            raise InputError(f'stations: "{name}" stands twice; expected each node once')
    return [station for name in wanted for station in order if station.node == name]


def _sent(near: pd.DataFrame, window: tuple[int, int], order: Sequence[Station]) -> list[Sent]:
    """The frames on the air in the window.

    A frame that began before the table does is known by its ends: a reception has its length, and is later
    than the end of the transmission by the propagation, which is a few microseconds at most.
    """
    first = {station.node: station for station in reversed(order)}
    found: dict[int, Sent] = {}
    rows = near[near["event"].isin(["sent", "received", "lost"])]
    for row in _rows(rows):
        number = int(row["frame"])
        ended = row["event"] != "sent"
        if ended and number in found:
            continue
        length = int(row["duration_ns"])
        start = int(row["time_ns"]) - (length if ended else 0)
        here = Station(row["node"], row["radio"])
        station = first.get(row["from"], Station(row["from"], row["radio"])) if ended else here
        found[number] = Sent(
            number,
            _kind(row),
            station,
            _text(row["to"]),
            start,
            start + length,
            _text(row["content"]),
            _text(row.get("category")),
        )
    on_air = [frame for frame in found.values() if frame.start < window[1] and frame.end > window[0]]
    return sorted(on_air, key=lambda frame: (frame.start, frame.number))


def _arrivals(near: pd.DataFrame, sent: dict[int, Sent]) -> Iterator[Arrival]:
    for row in _rows(near[near["event"].isin(["received", "lost"])]):
        frame = sent.get(int(row["frame"]))
        if frame is not None:
            here = Station(row["node"], row["radio"])
            yield Arrival(frame, here, _text(row["cause"]), _whole(row["by_frame"]))


def _silences(near: pd.DataFrame, window: tuple[int, int]) -> Iterator[Silence]:
    for row in _rows(near[near["event"].isin(SILENCES)]):
        if window[0] <= row["time_ns"] < window[1]:
            yield Silence(row["event"], Station(row["node"], row["radio"]), int(row["time_ns"]))


def _rows(table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Rows with the columns that are read, in the order of time."""
    columns = [*COLUMNS, *(["category"] if "category" in table else [])]
    yield from cast(Any, table[columns].sort_values("time_ns", kind="stable").to_dict("records"))


def _kind(row: dict[str, Any]) -> str:
    """True if a packet belongs to a flow; a message of ARP, routing or an agent belongs to none."""
    kind = str(row["kind"])
    if kind not in (DATA, "BROADCAST"):
        return kind
    return DATA if _text(row["flow"]) is not None else MESSAGE


def _text(value: object) -> str | None:
    """A text, or None for a missing value."""
    return value if isinstance(value, str) else None


def _whole(value: float | None) -> int | None:
    """A whole number, or None for a missing value."""
    return None if value is None or value != value else int(value)


def _states(source: Source, states: Source | bool, window: tuple[int, int]) -> list[Interval]:
    """Intervals in the window. Raises `InputError`."""
    from ..recording import Recording

    if states is False:
        return []
    given = source if states is True else states
    if not isinstance(given, Recording) and states is True:
        raise InputError('states: True goes with a recording; expected recording.pandas("states")')
    table = _table("states", given.arrow("states") if isinstance(given, Recording) else given, STATE_COLUMNS)
    near = table[(table["from_ns"] < window[1]) & (table["until_ns"] > window[0])]
    columns = [*STATE_COLUMNS, *(["category"] if "category" in table else [])]
    return [
        Interval(
            Station(row["node"], row["radio"]),
            str(row["state"]),
            int(row["from_ns"]),
            int(row["until_ns"]),
            _whole(row["slots"]),
            _text(row.get("category")),
        )
        for row in cast(Any, near[columns].to_dict("records"))
    ]


def _check(found: Part, table: pd.DataFrame, stations: Sequence[str] | None) -> None:
    """Raise `InputError` for a window without frames, and for one with too much in it."""
    span = f"from {moment(found.start)} until {moment(found.end)}"
    if not found.sent and not found.arrivals:
        who = "" if stations is None else " of these stations"
        raise InputError(f"timeline: no frame{who} is on the air {span}{_where(table, found)}")
    if len(found.stations) > MOST_STATIONS:
        raise InputError(
            f"timeline: {len(found.stations)} stations {span}; expected at most {MOST_STATIONS}: choose some"
        )
    if len(found.sent) > MOST_FRAMES:
        raise InputError(
            f"timeline: {len(found.sent)} frames {span}; expected at most {MOST_FRAMES}: a shorter window, "
            "or fewer stations"
        )


def _where(table: pd.DataFrame, found: Part) -> str:
    """Where the table has frames."""
    times = table.loc[table["event"] == "sent", "time_ns"]
    if not len(times):
        return "; the table has no frame"
    first, last = int(times.min()), int(times.max())
    text = f"; the table has frames from {moment(first)} to {moment(last)}"
    later = times[times >= found.end]
    if first < found.start and len(later):
        text += f", the next at {moment(int(later.min()))}"
    return text
