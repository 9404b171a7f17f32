"""Rules for sources that no formatter checks."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.support import ROOT

WIDEST = 140
"""Columns of a comment in Rust: rustfmt folds code at fewer, and leaves comments alone."""


def test_comments_are_folded() -> None:
    folders = [ROOT / name for name in ("crates", "benches", "examples", "fuzz", "no_std")]
    files = [file for folder in folders for file in folder.rglob("*.rs") if "target" not in file.parts]
    assert len(files) > 100
    wide = [
        f"{file.relative_to(ROOT)}:{number}: {len(line)} columns"
        for file in sorted(files)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > WIDEST and line.lstrip().startswith("//")
    ]
    assert wide == []


@pytest.mark.parametrize("crate", ["sim", "scenario"])
def test_every_file_of_a_test_program_is_run(crate: str) -> None:
    """A file that nobody names in `main.rs` would never be compiled."""
    folder = ROOT / "crates" / crate / "tests"
    named = re.findall(r"^mod (\w+);$", (folder / "main.rs").read_text(encoding="utf-8"), re.MULTILINE)
    files = [file.stem for file in folder.glob("*.rs") if file.stem != "main"]
    assert sorted(named) == sorted(files + [module.parent.name for module in folder.glob("*/mod.rs")])


DIALECT = re.compile(r'^\s*(?://[/!]|r?"""|#) ?(?:What|Whether|Its)\b')
"""How no line of documentation begins: such a line is a clause, and a reader looks for the noun."""

NAMES = re.compile(r"\b(?:fn|def) _*(?:tells?|knows?|go|asks?|came)(?:_\w+)?\s*[(<]")
"""Names of functions for which the field has verbs: notify, announce, find, continue, query."""


def test_documentation_and_names_are_plain_english() -> None:
    suffixes = {".rs", ".py", ".pyi"}
    found = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [name for name in found.stdout.splitlines() if Path(name).suffix in suffixes]
    assert len(files) > 500
    dialect = [
        f"{name}:{number}: {line.strip()}"
        for name in files
        if (ROOT / name).is_file()
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1)
        if DIALECT.match(line) or (NAMES.search(line) and Path(name).name != Path(__file__).name)
    ]
    assert dialect == []


@pytest.mark.parametrize("line", ["fn tell(", "def _tell(text", "    def __ask_twice(self", "fn knows<T>("])
def test_names_are_found_with_and_without_underscores(line: str) -> None:
    assert NAMES.search(line)
    assert not any(NAMES.search(other) for other in ("def intelligence(", "fn _request(", "fn gone("))
