"""Files and folders, written whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


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
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


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
    part = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        yield part
        for file in part.iterdir():
            _flush(file)
        part.chmod(0o755)
        if replace and target.exists():
            old = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
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
