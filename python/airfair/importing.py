"""Maps of real networks as scenarios."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import cast

from . import _core
from ._core import InputError, ScenarioError
from .arguments import as_path, is_encodable, unsuitable
from .results import ImportReport

Option = str | int | bool | Sequence[str]
"""An option of an import: a text, a number, a flag, or several texts where the option may be repeated."""


def import_network(path: str | os.PathLike[str], **options: Option) -> tuple[str, ImportReport]:
    """Make a scenario from a map, or from a folder that holds the parts of one: its TOML, and the report.

    `options` are those of `airfair import`, with underscores for hyphens and quantities with their units:
    `link_model="probe", flows=10, longest="30 km", planned=True`, and a list where an option may be repeated:
    `gateway=["a", "b"]`. Raises `InputError`.
    """
    try:
        toml, report, _ = _core.import_network(as_path("path", path), texts(options))
    except ScenarioError as error:  # a map is no scenario yet
        raise InputError(str(error)) from None
    return toml, cast(ImportReport, json.loads(report))


def texts(options: Mapping[str, Option]) -> list[tuple[str, str]]:
    """Options as pairs of names and texts, for the core. Raises `InputError`."""
    pairs: list[tuple[str, str]] = []
    for name, value in options.items():
        values = value if isinstance(value, list | tuple) else [value]
        for one in values:
            pairs.append((name.replace("_", "-"), str(one).lower() if isinstance(one, bool) else str(one)))
    for name, text in pairs:
        if not is_encodable(name + text):
            raise unsuitable(name.encode(errors="replace").decode(), text, "a text that can be written")
    return pairs
