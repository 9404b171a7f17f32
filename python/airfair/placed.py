"""Values of a TOML file with their lines, and the list of everything that is wrong in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ._core import InputError
from .arguments import hint

Value = tuple[int, object]
"""A line and what stands there, as `_core.read_toml` gives them."""


class Placed:
    """A file that is read, and its mistakes so far."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.errors: list[tuple[int, str]] = []

    def error(self, line: int, key: str, problem: str) -> None:
        """Take note of a mistake."""
        self.errors.append((line, f"{self.file}:{line}: {key}: {problem}"))

    def unknown(self, table: Mapping[str, Value], known: Sequence[str], above: str) -> None:
        """Take note of the keys that are none; `above` stands before them."""
        for key, (line, _) in table.items():
            if key not in known:
                self.error(line, f"{above}{key}", f"unknown key{hint(key, known)}")

    def finish(self) -> None:
        """Raise `InputError` with all mistakes, a line each, in the order of the file."""
        if self.errors:
            raise InputError("\n".join(text for _, text in sorted(self.errors)))
