"""The files that are made from the stored results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .page import inserted, page
from .table import read

DOCS = Path(__file__).resolve().parent.parent
README = "../README.md"
"""The page with what to try first between two marks, from the folder of the documentation."""


def files() -> dict[str, Callable[[], str]]:
    """Every file: its path in the documentation, and the function that makes its text."""
    return {
        "which-scheme.md": lambda: page(read()),
        "which-scheme.svg": _picture,
        README: lambda: inserted((DOCS / README).read_text(encoding="utf-8"), read()),
    }


def _picture() -> str:
    from airfair.plots.style import encoded  # matplotlib takes longer than all other pages

    from .picture import picture

    return encoded(picture(read()), "svg").decode()
