"""Files and folders, written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Let an error of the system name this file or folder, not what becomes it, or nothing."""
    try:
        yield
    except OSError as error:
        of_system = error.errno is not None
        if of_system and (error.filename is None or f".{path.name}." in os.fsdecode(error.filename)):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def check_writable(path: Path) -> None:
    """Make the folder of a file that is to be written later. Raises `OSError` if that cannot be."""
    with named(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path.parent, prefix=f".{path.name}.").close()


def write_atomically(path: Path, content: bytes) -> None:
    """Replace `path` by `content` as a whole: a reader, or a crash, sees the old file or the new one.

    Raises `OSError`, which names the path.
    """
    with named(path):
        _write_atomically(path, content)


def _write_atomically(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
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
    """A folder to write into, which becomes `target` when all went well and leaves nothing otherwise.

    With `replace` an older folder stays until then, and makes room.

    Raises `OSError`, which names the target.
    """
    with named(target), _whole_folder(target, replace) as part:
        yield part


@contextmanager
def _whole_folder(target: Path, replace: bool) -> Iterator[Path]:
    target.parent.mkdir(parents=True, exist_ok=True)
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
    """Let the disk say now that it is full."""
    handle = os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
