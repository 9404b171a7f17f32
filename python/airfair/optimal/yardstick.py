"""The yardstick of a result: the max-min rates of the scenario, or of the nearest scenario that the model of
`airfair optimum` can describe."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from .._core import InputError, LimitError, Scenario
from .model import Optimum

MOST_CLIQUES = 1000
"""Most cliques of conflicting links, where nobody has asked for the optimum: the work grows with their
number."""

EVENTS_PER_PAIR = 10
"""Events of a run whose computing takes as long as a pair of links of the model does, at least: with so many
events for each pair the model takes less time than the run, on any machine."""


@dataclass(frozen=True)
class Yardstick:
    """The best rates that the air allows, and what was assumed to have some."""

    optimum: Optimum
    assumed: tuple[str, ...] = ()
    """Words such as "static routes", where the scenario has something that the model cannot describe."""

    @property
    def max_min_bps(self) -> dict[str, float]:
        """The rates of the flows that can reach them: not of those that send files, which may have nothing to
        send."""
        return {flow["id"]: flow["max_min_bps"] for flow in self.optimum["flows"] if not flow["sends_files"]}

    @property
    def words(self) -> str:
        """The source of the rates, and what was assumed."""
        return source(self.assumed)


def source(assumed: Sequence[str]) -> str:
    """The source of max-min rates, and what was assumed to have some, in words."""
    return f"airfair optimum{''.join(f', with {what}' for what in assumed)}"


def most_links(events: int) -> int:
    """The most radio links for which the model takes less work than runs with so many events."""
    return math.isqrt(events // EVENTS_PER_PAIR)


def yardstick(
    scenario: Scenario, *, clique_limit: int | None = None, link_limit: int | None = None
) -> Yardstick:
    """The max-min rates of a scenario. Raises `InputError`, with the reason that the scenario itself gives,
    where the model does not apply, and `LimitError` where there are more cliques or links than these."""
    refused: InputError | None = None
    for assumed, changed in _forms(scenario):
        try:
            text = changed().optimum(None, clique_limit, False, True, link_limit)
        except LimitError:  # more than this scenario's rates: those of the nearest one take no less
            raise
        except InputError as error:
            refused = refused or error
            continue
        return Yardstick(cast(Optimum, json.loads(text)), assumed)
    raise refused or InputError("there is no optimum")


def affordable(scenario: Scenario, events: int) -> Yardstick:
    """The max-min rates, if they take less work than runs with so many events. Raises `LimitError` if they
    take more, `InputError` if the model does not apply. Work is counted in links and cliques, so that the
    answer is the same on every machine."""
    return yardstick(scenario, clique_limit=MOST_CLIQUES, link_limit=most_links(events))


def _forms(scenario: Scenario) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The scenario, and after it the nearest one without what the model cannot describe."""
    yield (), lambda: scenario
    tables = scenario.to_dict()
    changes: dict[str, object] = {}
    assumed = []
    if _has(tables.get("routing"), "protocol") not in (None, "static"):
        changes["routing.protocol"] = "static"
        assumed.append("static routes")
    radios = {"radio": tables.get("radio")}
    radios |= {f"radios.{name}": radio for name, radio in (tables.get("radios") or {}).items()}
    sorted_by = [path for path, radio in radios.items() if _has(radio, "categories") not in (None, "dcf")]
    if sorted_by:
        changes |= {f"{path}.categories": "dcf" for path in sorted_by}
        assumed.append("one access category")
    if changes:
        yield tuple(assumed), lambda: scenario.edited(changes)


def _has(table: object, key: str) -> object:
    return table.get(key) if isinstance(table, Mapping) else None
