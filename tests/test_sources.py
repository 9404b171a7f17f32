"""What no formatter sees."""

from __future__ import annotations

from tests.support import ROOT

WIDEST = 140
"""Columns of a comment in Rust: rustfmt folds code at fewer, and leaves comments alone."""


def test_comments_are_folded() -> None:
    folders = [ROOT / name for name in ("crates", "benches", "examples", "fuzz")]
    files = [file for folder in folders for file in folder.rglob("*.rs") if "target" not in file.parts]
    assert len(files) > 100
    wide = [
        f"{file.relative_to(ROOT)}:{number}: {len(line)} columns"
        for file in sorted(files)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > WIDEST and line.lstrip().startswith("//")
    ]
    assert wide == []
