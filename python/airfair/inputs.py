"""Files that are read: regular ones, and never those that are written."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

from . import _core
from ._core import InputError, Scenario


def read_regular(path: Path) -> str:
    """The text of a regular file; what is none, such as a named pipe, could block for ever. Raises `OSError`,
    `UnicodeDecodeError`."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(None, "a pipe, a device or a socket; expected a regular file", str(path))
    return path.read_text(encoding="utf-8")


def refuse_inputs(target: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Raise `InputError` for a target that is one of the files that are read, under whatever name."""
    for read in [*inputs, *_schemes()]:
        try:
            same = Path(target).samefile(read)
        except (OSError, ValueError):  # one of them is not there
            continue
        if same:
            raise InputError(
                f"{os.fspath(target)}: is one of the files that are read; expected another one to write"
            )


def refuse_folder(folder: Path, scenario: Scenario) -> None:
    """Raise `InputError` for a folder that is to be replaced, and with it a file of the scenario."""
    for read in (*map(str, scenario.files), *_schemes()):
        if folder.resolve() in Path(read).resolve().parents:
            raise InputError(f"{folder}: holds {read}, which is read; expected another folder")


def refuse_page(target: str | os.PathLike[str], scenario: Scenario) -> None:
    """Raise `InputError` unless the report of a scenario may be written there: a name that ends in .html
    and is no file that is read, or a device or a pipe, of which nothing is lost."""
    path = Path(target)
    refuse_inputs(path, scenario.files)
    try:
        mode = path.stat().st_mode
    except OSError:
        mode = stat.S_IFREG
    if stat.S_ISREG(mode) and path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{path}: a report is a page; expected a name that ends in .html")


def of_map(path: Path) -> list[Path]:
    """The files that may be read with the map at a path."""
    folder = path if path.is_dir() else path.parent
    return [path, *(folder / name for name in _core.parts_of_maps())]


def _schemes() -> list[str]:
    """The files of schemes in Python that this process has loaded."""
    if "airfair.scheme.files" not in sys.modules:
        return []
    from .scheme.files import loaded

    return [name for name in loaded() if os.sep in name]
