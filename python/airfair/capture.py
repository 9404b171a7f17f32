"""Captures of interfaces and the table of frames, which are written during a run."""

from __future__ import annotations

from collections.abc import Sequence
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
"""Columns of the table of frames."""


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
    """Whether captures have frames that arrived with errors, too."""
    trace: bool = False
    """Whether the recording has the table `frames`: a row for each transmission, reception, loss with its
    cause, drop and delivery."""
    node: str | None = None
    """The only node of which the table `frames` has rows."""
    start: str = "0 s"
    """The time from which on packets and frames are captured."""
    until: str | None = None
    """The time before which they are; by default the end of the run."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "pcap", tuple(as_texts("pcap", self.pcap)))
        as_flag("errors", self.errors)
        as_flag("trace", self.trace)
        if as_whole("snaplen", self.snaplen, 0, MOST_SNAPLEN) in range(1, LEAST_SNAPLEN):
            raise unsuitable("snaplen", self.snaplen, f"0 (all), or {LEAST_SNAPLEN} to {MOST_SNAPLEN} bytes")
        if self.node is not None and not self.trace:
            raise unsuitable("node", self.node, "a trace that it limits")
        _core.parse_time(self.start, "start")
        if self.until is not None:
            _core.parse_time(self.until, "until")


class Spool:
    """The files and rows that a run fills. Captures need a folder; without a folder the rows stay in
    memory."""

    def __init__(self, folder: Path | None, *, trace: bool) -> None:
        self.captures: dict[str, str] = {}
        """Node and name of the file."""
        self._folder = folder
        self._frames = Rows(FRAMES, SCHEMA, folder) if trace else None

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

    def on_frames(self, columns: Columns) -> None:
        """Append rows of the table of frames."""
        assert self._frames is not None
        self._frames.append(columns)

    def close(self) -> None:
        """Close the files; to be called also after a failure."""
        if self._frames is not None:
            self._frames.close()

    def table(self) -> pa.Table | None:
        """The table of frames, if it was requested and is in memory."""
        return None if self._frames is None or self._folder is not None else self._frames.table()


def watch(spool: Spool, capture: Capture) -> _core.Watch | None:
    """The observer that fills a spool, or None where nothing is captured. Raises `InputError`."""
    if not (capture.pcap or capture.trace):
        return None
    return _core.Watch(
        spool.on_capture,
        capture.pcap,
        capture.snaplen,
        capture.errors,
        spool.on_frames if capture.trace else None,
        capture.node,
        capture.start,
        capture.until,
    )


def _file_name(node: str, taken: set[str]) -> str:
    """The name of a node's file: that of the node without characters that a file name cannot have."""
    stem = node.replace("/", "_").encode()[:LONGEST_NAME].decode(errors="ignore")
    names = [stem, *(f"{stem}-{number}" for number in range(2, len(taken) + 3))]
    return next(f"{name}.pcapng" for name in names if f"{name}.pcapng" not in taken)
