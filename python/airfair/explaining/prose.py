"""Prose on a terminal: folded between words, never between a number and its unit."""

from __future__ import annotations

import re
import textwrap

from rich.console import Console
from rich.text import Text

HELD = "\N{NO-BREAK SPACE}"
"""Stands for a space that holds two words together while a text is folded; printed as a space."""

UNITS = re.compile(r"(?<=\d) (?=(?:%|[kMG]?bit/s|[num]?s|dBm?|k?m|B|bytes?|packets?|segments?)(?!\w))")
"""Spaces between a number and its unit."""


def say(text: str, out: Console, *, style: str = "", hanging: int = 0) -> None:
    """Print a text that is no markup, in lines as wide as the console, further ones with an indent."""
    lines = folded(text, out.width, hanging) if getattr(out, "folds", True) else [text]
    for line in lines:
        out.print(Text(line, style=style), soft_wrap=True)


def folded(text: str, width: int, hanging: int = 0) -> list[str]:
    """The lines of a text; a word that is wider than a line has one of its own."""
    held = UNITS.sub(HELD, text)
    # A colon after "14 %" goes with it, as it is part of the word.
    lines = textwrap.wrap(
        held,
        max(width, 1),
        subsequent_indent=" " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(HELD, " ") for line in lines] or [""]
