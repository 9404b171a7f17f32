"""One driver at a time: a lock on a folder that dies with its process."""

from __future__ import annotations

import fcntl
import os
import socket
import threading
from pathlib import Path

from .._core import InputError

_mine: set[tuple[int, int]] = set()
"""Folders that this process has locked: locks of `fcntl` are between processes."""
_guard = threading.Lock()


class Lock:
    """Holds a folder until it is released or the process ends.

    A lock of `fcntl.lockf`: it also works on NFS, and a child process does not inherit it.
    """

    def __init__(self, folder: Path) -> None:
        """Raise `InputError` if another process, or another sweep of this one, holds the folder."""
        about = folder.stat()
        self._key = (about.st_dev, about.st_ino)
        with _guard:
            if self._key in _mine:
                raise InputError(f"{folder}: another sweep of this program writes there; {_WAIT}")
            _mine.add(self._key)
        try:
            self._file = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
            try:
                self._take(folder)
            except BaseException:
                os.close(self._file)
                raise
        except BaseException:
            _mine.discard(self._key)
            raise

    def _take(self, folder: Path) -> None:
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError) as error:
            holder = os.pread(self._file, 200, 0).decode(errors="replace").strip()
            raise InputError(f"{folder}: another sweep writes there ({holder}); {_WAIT}") from error
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)

    def release(self) -> None:
        """Release the lock."""
        os.close(self._file)
        _mine.discard(self._key)


_WAIT = "wait for its end, or choose another folder"
