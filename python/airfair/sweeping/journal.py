"""The journal of finished runs that are not in the tables yet: a line a run with a checksum, append-only."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any


class Journal:
    """A file of lines `CRC32 JSON`. Its lines are finished runs; a torn last line is not read.

    A crash of the process loses nothing that was appended; neither does one of the machine, as far as its
    disk keeps what it says it has.
    """

    def __init__(self, path: Path) -> None:
        """Open it to append, and cut off a torn end."""
        self.path = path
        self.lines = 0
        self.length = 0
        for _, end in _valid(path):
            self.lines += 1
            self.length = end
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            os.ftruncate(self._file, self.length)
            sync_folder(path.parent)
        except BaseException:
            os.close(self._file)
            raise

    def append(self, entries: Sequence[str]) -> None:
        """Add lines of JSON: all of them, or none and `OSError`."""
        data = b"".join(_line(entry) for entry in entries)
        try:
            done = 0
            while done < len(data):
                done += os.pwrite(self._file, data[done:], self.length + done)
            os.fsync(self._file)
        except BaseException:
            os.ftruncate(self._file, self.length)
            raise
        self.length += len(data)
        self.lines += len(entries)

    def clear(self) -> None:
        """Remove all lines, which are in the tables now."""
        os.ftruncate(self._file, 0)
        os.fsync(self._file)
        self.lines = self.length = 0

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def read(path: Path) -> Iterator[dict[str, Any]]:
    """The entries of a journal that may be growing; none if there is no such file."""
    for entry, _ in _valid(path):
        yield json.loads(entry)


def _line(entry: str) -> bytes:
    data = entry.encode()
    return b"%08x %b\n" % (zlib.crc32(data), data)


def _valid(path: Path) -> Iterator[tuple[bytes, int]]:
    """Every whole line up to the first that is not, and where it ends."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        end = 0
        for line in file:
            entry = line[9:-1]
            if line != b"%08x %b\n" % (zlib.crc32(entry), entry):
                return
            end += len(line)
            yield entry, end


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
