"""Captures of interfaces and the tables of frames and states, which are written during a run."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from . import _core
from .arguments import as_flag, as_texts, as_whole, unsuitable
from .rows import NAMES, Columns, Rows

SNAPLEN = 160
"""Bytes that are kept of a packet: every header fits, radiotap's and all options of TCP included."""

LEAST_SNAPLEN, MOST_SNAPLEN = 64, 262_144
"""Limits of `snaplen`: the least holds radiotap and an 802.11 header."""

LONGEST_NAME = 240
"""Bytes of a file's name without its ending, below what file systems take."""

FRAMES = "frames"
"""The table of frames."""

SCHEMA = pa.schema(
    [
        ("time_ns", pa.int64()),
        ("event", NAMES),
        ("node", NAMES),
        ("radio", NAMES),
        ("frame", pa.int64()),
        ("kind", NAMES),
        ("from", NAMES),
        ("to", NAMES),
        ("flow", NAMES),
        ("content", NAMES),
        ("sequence", pa.int64()),
        ("mac_sequence", pa.int64()),
        ("retry", pa.bool_()),
        ("bytes", pa.int64()),
        ("rate_bps", pa.int64()),
        ("duration_ns", pa.int64()),
        ("nav_ns", pa.int64()),
        ("power_dbm", pa.float64()),
        ("sinr_db", pa.float64()),
        ("cause", NAMES),
        ("by_frame", pa.int64()),
        ("attempts", pa.int64()),
        ("cw_slots", pa.int64()),
        ("delay_ns", pa.int64()),
    ]
)
"""Columns of the table of frames; with access categories also `category`, and `ANNOUNCED`
and `HELD`."""

ANNOUNCED = pa.schema([("announced_packets", pa.int64()), ("announced_for", NAMES)])
"""Further columns of the table of frames, where headers of packets announce the sizes of queues (DiffQ)."""

HELD = pa.schema([("held_packets", pa.int64()), ("batch_packets", pa.int64())])
"""Further columns of the table of frames, where forwarders carry flows (MORE, ExOR)."""

STATES = "states"
"""The table of states."""

STATE_SCHEMA = pa.schema(
    [
        ("node", NAMES),
        ("radio", NAMES),
        ("state", NAMES),
        ("from_ns", pa.int64()),
        ("until_ns", pa.int64()),
        ("slots", pa.int64()),
    ]
)
"""Columns of the table of states; with access categories also `category`."""


@dataclass(frozen=True)
class Capture:
    """The traffic of a run that is captured, for `airfair.record`. Raises `InputError`."""

    pcap: str | Sequence[str] = ()
    """Interfaces whose packets are captured, one file (`NODE.pcapng`) a node: "all", a node, or a node and
    one of its queues ("ap:default" the radio, "ap:server" the wire to that node). It needs a folder (`out`).
    """
    snaplen: int = SNAPLEN
    """Bytes that are kept of a packet; 0 keeps all."""
    errors: bool = False
    """True if captures have frames that arrived with errors, too."""
    trace: bool = False
    """True if the recording has the table `frames`: a row for each transmission, reception, loss with its
    cause, drop and delivery."""
    node: str | None = None
    """The only node of which the tables `frames` and `states` have rows."""
    start: str = "0 s"
    """The time from which on packets, frames and states are captured."""
    until: str | None = None
    """The time before which they are; by default the end of the run."""
    states: bool = False
    """True if the recording has the table `states`: a row for each back-off, NAV and EIFS of a station."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "pcap", tuple(as_texts("pcap", self.pcap)))
        as_flag("errors", self.errors)
        as_flag("trace", self.trace)
        as_flag("states", self.states)
        if as_whole("snaplen", self.snaplen, 0, MOST_SNAPLEN) in range(1, LEAST_SNAPLEN):
            raise unsuitable("snaplen", self.snaplen, f"0 (all), or {LEAST_SNAPLEN} to {MOST_SNAPLEN} bytes")
        if self.node is not None and not (self.trace or self.states):
            raise unsuitable("node", self.node, "a trace or states that it limits")
        _core.parse_time(self.start, "start")
        if self.until is not None:
            _core.parse_time(self.until, "until")


class Spool:
    """The files and rows that a run fills. Captures need a folder; without a folder the rows stay in
    memory."""

    def __init__(
        self, folder: Path | None, *, trace: bool, states: bool = False, categories: bool = False
    ) -> None:
        self.captures: dict[str, str] = {}
        """Node and name of the file, by the names of nodes: in that order the simulator begins files."""
        self._folder = folder
        schemas = {FRAMES: SCHEMA} if trace else {}
        schemas |= {STATES: STATE_SCHEMA} if states else {}
        if categories:
            column = pa.field("category", NAMES)
            schemas = {name: schema.append(column) for name, schema in schemas.items()}
        optional = {FRAMES: pa.unify_schemas([ANNOUNCED, HELD])}
        self._rows = {
            name: Rows(name, schema, folder, optional.get(name)) for name, schema in schemas.items()
        }

    def on_capture(self, node: str, data: bytes) -> None:
        """Append to the file of a node."""
        assert self._folder is not None
        name = self.captures.get(node)
        if name is None:
            name = _file_name(node, set(self.captures.values()))
            self.captures[node] = name
        # Opened each time: there may be more nodes than a process may have files.
        with (self._folder / name).open("ab") as file:
            file.write(data)

    def on_rows(self, name: str) -> Callable[[Columns], None] | None:
        """The function that appends rows to a table, if the table was requested."""
        return self._rows[name].append if name in self._rows else None

    def close(self) -> None:
        """Close the files; to be called also after a failure."""
        for rows in self._rows.values():
            rows.close()

    def tables(self) -> dict[str, pa.Table]:
        """The tables that were requested and are in memory."""
        return {} if self._folder is not None else {name: rows.table() for name, rows in self._rows.items()}


def has_categories(resolved: str) -> bool:
    """True if a radio of a resolved scenario has access categories."""
    scenario = tomllib.loads(resolved)
    radios = [scenario.get("radio", {}), *scenario.get("radios", {}).values()]
    return any(radio.get("categories", "dcf") != "dcf" for radio in radios)


def watch(spool: Spool, capture: Capture) -> _core.Watch | None:
    """The observer that fills a spool, or None where nothing is captured. Raises `InputError`."""
    if not (capture.pcap or capture.trace or capture.states):
        return None
    return _core.Watch(
        spool.on_capture,
        capture.pcap,
        capture.snaplen,
        capture.errors,
        spool.on_rows(FRAMES),
        capture.node,
        capture.start,
        capture.until,
        spool.on_rows(STATES),
    )


def _file_name(node: str, taken: set[str]) -> str:
    """The name of a node's file: that of the node without characters that a file name cannot have."""
    stem = node.replace("/", "_").encode()[:LONGEST_NAME].decode(errors="ignore")
    names = [stem, *(f"{stem}-{number}" for number in range(2, len(taken) + 3))]
    return next(f"{name}.pcapng" for name in names if f"{name}.pcapng" not in taken)
