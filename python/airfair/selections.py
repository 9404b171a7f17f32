"""Selections: a scheme, or several together, with presets and with changes of the scenario.

`cubic+fq-codel` is a window law and a queue; `diffq:paper` a scheme with one of its presets;
`c3l[rts; radio.queue_packets=100]` a scheme with changes of the scenario for its runs alone. The text of a
selection is the name of its runs in results.
"""

from __future__ import annotations

import json
from typing import NamedTuple, cast

from . import _core
from ._core import InputError
from .results import ShortChange


class Selection(NamedTuple):
    """A selection that was read."""

    name: str
    """Text, in the form that results have."""
    schemes: list[str]
    """The names of its schemes."""


def read_all(text: str) -> list[Selection]:
    """The selections in a text, with commas between them. Raises `InputError`."""
    return [Selection(name, schemes) for name, schemes in _core.selections(text)]


def read(text: str) -> Selection:
    """One selection. Raises `InputError`, also for several."""
    found = read_all(text)
    if len(found) != 1:
        names = json.dumps([selection.name for selection in found], ensure_ascii=False)
        raise InputError(f'"{text}": several in one text; expected a list: {names}')
    return found[0]


def scheme_names(selection: str) -> list[str]:
    """Names of the schemes in the name of runs: `["cubic", "diffq"]` of `cubic+diffq:paper[rts]`."""
    return [scheme.partition(":")[0].strip() for scheme in selection.partition("[")[0].split("+")]


def short_changes() -> list[ShortChange]:
    """Short names for changes in the brackets of a selection."""
    return cast(list[ShortChange], json.loads(_core.short_changes()))
