"""Shares that controllers gave the flows of a run, and nodes that inhibit their links, for the report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from .. import quantities
from ..experiment import Run
from ..explaining.words import inhibition, listed
from ..results import AllocatedLink, RunResult

KEY = '"allocations"'
"""In the text of a result that has any."""

MOST_LINKS = 4
"""Most links of a clique that a row names."""

MOST_INHIBITED = 8
"""Most inhibited links that are listed."""


@dataclass(frozen=True)
class AllocationRow:
    """A flow with one scheme: what the controller gave it, and the clique that this came from."""

    flow: str
    scheme: str
    rate: str
    goodput: str
    capacity: str
    links: str
    overloaded: str


@dataclass(frozen=True)
class Allocations:
    """Those of the first seed, the flows with the least first; `inhibited`: sentences."""

    seed: int
    rows: list[AllocationRow]
    left_out: int
    inhibited: list[str]


def of(schemes: Sequence[str], runs: Sequence[Sequence[Run]], most: int) -> Allocations | None:
    """The first run of each scheme; None if there is none with an allocation."""
    rows: list[tuple[float, AllocationRow]] = []
    inhibited: list[str] = []
    seed = 0
    for scheme, of_scheme in zip(schemes, runs, strict=True):
        if KEY not in of_scheme[0].result:
            continue
        result = cast(RunResult, json.loads(of_scheme[0].result))
        seed = result["seed"]
        goodputs = {flow["id"]: flow["goodput_bps"] for flow in result["flows"]}
        for given in result.get("allocations", []):
            row = AllocationRow(
                flow=given["flow"],
                scheme=scheme,
                rate=quantities.rate(given["rate_bps"]),
                goodput=quantities.rate(goodputs[given["flow"]]),
                capacity=f"{given['capacity']:.2f}",
                links=_named(given["links"]) or "what it asks for",
                overloaded=_named(given["overloaded"]) or "-",
            )
            rows.append((given["rate_bps"], row))
        several = f"{scheme}: " if len(schemes) > 1 else ""
        inhibited += [several + inhibition(link, "Link") for link in result.get("inhibited_links", [])]
    if not rows:
        return None
    rows.sort(key=lambda pair: pair[0])
    shown = [row for _, row in rows[:most]]
    left_out = len(inhibited) - MOST_INHIBITED
    inhibited[MOST_INHIBITED:] = [f"{left_out} more"] if left_out > 0 else []
    return Allocations(seed, shown, len(rows) - len(shown), inhibited)


def _named(links: Sequence[AllocatedLink]) -> str:
    return listed((f"{link['src']} → {link['dst']}" for link in links), MOST_LINKS) if links else ""
