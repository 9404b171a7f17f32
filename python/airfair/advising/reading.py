"""The network that advice is about: a scenario, or a map of a real network, on which flows are drawn if the
map has none.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from .. import _core
from .._core import InputError, Scenario
from ..arguments import Overrides

FLOWS = 12
"""Flows that are drawn on a map."""


class Read(NamedTuple):
    """A scenario, and what was drawn or assumed to have it."""

    scenario: Scenario
    drawn: list[str]
    """Flows that were drawn."""


def read(file: Path, overrides: Overrides = ()) -> Read:
    """The scenario in a file (`.toml`), or of the largest component of a map: with twelve flows over TCP,
    each from a node drawn at random to its nearest gateway, if the map has no flows. Raises `InputError`."""
    if file.suffix == ".toml":
        scenario = Scenario.read(file, overrides)
        if not scenario.flows:
            raise InputError(
                f"{file}: no flow, and so nothing to make better; expected [[flow]] blocks, or the map "
                "itself, on which flows are drawn"
            )
        return Read(scenario, [])
    scenario = _of_map(file, [], overrides)
    if scenario.flows:
        return Read(scenario, [])
    scenario = _of_map(file, [("flows", str(FLOWS))], overrides)
    return Read(scenario, scenario.flows)


def _of_map(file: Path, more: list[tuple[str, str]], overrides: Overrides) -> Scenario:
    toml, _, _ = _core.import_network(file, [("largest", "true"), *more])
    return Scenario.parse(toml, str(file), overrides)
