"""What is written while a run goes on: captures of interfaces and the table of frames."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from . import _core
from .arguments import as_whole, unsuitable
from .rows import NAMES, Columns, Rows

SNAPLEN = 160
"""Bytes that are kept of a packet: every header fits, radiotap's and all options of TCP included."""

LEAST_SNAPLEN, MOST_SNAPLEN = 64, 262_144
"""Less does not hold radiotap and an 802.11 header."""

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


class Spool:
    """Takes what a run hands over. Captures need a folder; without one the rows stay in memory."""

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
        """All is there. To be called also after a failure."""
        if self._frames is not None:
            self._frames.close()

    def table(self) -> pa.Table | None:
        """The frames, if they were asked for and stay in memory."""
        return None if self._frames is None or self._folder is not None else self._frames.table()


def watch(
    spool: Spool,
    *,
    pcap: Sequence[str],
    snaplen: int,
    pcap_errors: bool,
    trace: bool,
    node: str | None,
    start: str,
    until: str | None,
) -> _core.Watch:
    """What the simulator is to look at. Raises `InputError`."""
    if as_whole("snaplen", snaplen, 0, MOST_SNAPLEN) in range(1, LEAST_SNAPLEN):
        raise unsuitable("snaplen", snaplen, f"0 (all), or {LEAST_SNAPLEN} to {MOST_SNAPLEN} bytes")
    return _core.Watch(
        spool.on_capture,
        pcap,
        snaplen,
        pcap_errors,
        spool.on_frames if trace else None,
        node,
        start,
        until,
    )


def _file_name(node: str, taken: set[str]) -> str:
    """The file of a node: its name, but for what cannot stand in a file's name."""
    stem = node.replace("/", "_").encode()[:LONGEST_NAME].decode(errors="ignore")
    names = [stem, *(f"{stem}-{number}" for number in range(2, len(taken) + 3))]
    return next(f"{name}.pcapng" for name in names if f"{name}.pcapng" not in taken)
