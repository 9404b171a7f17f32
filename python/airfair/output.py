"""Files and folders, written whole or not at all.

What is being written stands beside its target under a hidden name, with a lock file. The writer holds the
lock (`flock`) as long as it lives, and the system releases it with the process, however that ends. So a later
writer of the same target knows without a clock what is left over, and removes it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .ending import deferred

LOCK, OLD = ".lock", ".old"
"""Endings of hidden names: the lock of a writer, and a folder that is being replaced."""

_mine: set[str] = set()
"""Lock files of this process: over NFS its own locks would not stop it."""


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Make errors of the operating system name this file or folder instead of a temporary one."""
    try:
        yield
    except OSError as error:
        of_system = error.errno is not None
        if of_system and (error.filename is None or f".{path.name}." in os.fsdecode(error.filename)):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def check_writable(path: Path) -> None:
    """Make the folder of a file that will be written later. Raises `OSError`."""
    with named(path):
        file = _regular(path)
        if file is not None:
            _make_folder(file)
            tempfile.TemporaryFile(dir=file.parent, prefix=f".{file.name}.").close()
        elif not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def write_atomically(path: Path, content: bytes) -> None:
    """Replace `path` by `content` as a whole: a reader, or a crash, sees the old file or the new one.

    A symbolic link stays, and its target is replaced. A file that is not regular, such as a device or a
    named pipe, is written to, not replaced. Raises `OSError`, which names the path.
    """
    with named(path):
        file = _regular(path)
        if file is None:
            with path.open("wb", buffering=0) as there:
                view = memoryview(content)
                while view:
                    view = view[there.write(view) :]
        else:
            _write_atomically(file, content)


def _regular(path: Path) -> Path | None:
    """The regular file that a path leads to, there or not yet; None for a device, a pipe or a socket."""
    with suppress(FileNotFoundError, NotADirectoryError):
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            return None
    return Path(os.path.realpath(path))


def _make_folder(file: Path) -> None:
    """Make the parent folder of a file. Raises `OSError`, which names the path that is no folder."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(file.parent)) from None


def _write_atomically(path: Path, content: bytes) -> None:
    _make_folder(path)
    with _beside(path) as part:
        try:
            with part.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            part.chmod(0o644)
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A hidden name beside the target for what is being written. It is locked meanwhile; what others have
    left over there is removed."""
    remove_left_over(target)
    lock, handle = _locked(target)
    _mine.add(os.path.realpath(lock))
    try:
        yield lock.with_suffix("")
    finally:
        part = lock.with_suffix("")
        with deferred():
            # Where something could not be removed the lock file stays, by which the next writer finds it.
            if not part.exists() and not part.with_name(part.name + OLD).exists():
                lock.unlink(missing_ok=True)
            os.close(handle)
            _mine.discard(os.path.realpath(lock))


def _locked(target: Path) -> tuple[Path, int]:
    """A new lock file of a target, and its descriptor."""
    while True:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=LOCK)
        with suppress(OSError):  # a file system without locks: then nobody takes this for left over
            fcntl.flock(handle, fcntl.LOCK_EX)
        if _is_at(handle, Path(name)):
            return Path(name), handle
        os.close(handle)  # another writer took it for left over before it was locked


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except OSError:
        return False


def remove_left_over(target: Path) -> None:
    """Remove what writers of this target left when they were killed; what cannot be removed stays. A
    folder that was being replaced then stands at its place again."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.[a-z0-9_]{{8}}{re.escape(LOCK)}")
    locks: list[Path] = []
    with suppress(OSError):  # there is no such folder yet
        locks = [path for path in target.parent.iterdir() if pattern.fullmatch(path.name)]
    for lock in locks:
        if os.path.realpath(lock) in _mine:
            continue
        with suppress(OSError):
            _remove_of(lock, target)


def _remove_of(lock: Path, target: Path) -> None:
    """Remove what a writer has left, unless it lives: then its lock cannot be had (`OSError`)."""
    handle = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _is_at(handle, lock):
            return
        part = lock.with_suffix("")
        old = part.with_name(part.name + OLD)
        if old.is_dir():
            if target.exists():
                shutil.rmtree(old)
            else:  # killed between two renames: nothing is lost
                old.rename(target)
        if part.is_dir():
            shutil.rmtree(part)
        else:
            part.unlink(missing_ok=True)
        lock.unlink()
    finally:
        os.close(handle)


@contextmanager
def whole_folder(target: Path, *, replace: bool = False) -> Iterator[Path]:
    """A temporary folder that is renamed to `target` on success and removed on failure. With `replace` an
    older folder stays until then and is replaced. Raises `OSError`, which names the target.
    """
    with named(target), _whole_folder(target, replace) as part:
        yield part


@contextmanager
def _whole_folder(target: Path, replace: bool) -> Iterator[Path]:
    _make_folder(target)
    with _beside(target) as part:
        try:
            part.mkdir(0o700)
            yield part
            for file in part.iterdir():
                _flush(file)
            part.chmod(0o755)
            if replace and target.exists():
                old = part.with_name(part.name + OLD)
                with deferred():  # between the two renames the target has no content
                    target.rename(old)
                    try:
                        part.rename(target)
                    except BaseException:
                        old.rename(target)
                        raise
                shutil.rmtree(old, ignore_errors=True)
            else:
                part.rename(target)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise


def _flush(file: Path) -> None:
    """Flush the file to the disk, so that a full disk raises an error now."""
    handle = os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
