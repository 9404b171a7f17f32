"""Predictions from delivery ratios: path ETX, and z, the transmissions of opportunistic forwarding.

Computed apart from the simulator's own, from `airfair.network`: probabilities that a frame of 1500 B arrives
at the data rate on a silent air.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import airfair
import numpy as np

from airfair_papers.diffq.common.testbed import SCENE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

PART, RISE = 0.1, 0.05
"""MORE's pruning: a forwarder that sends less than this part is left out, unless the sum rises by more."""


@dataclass(frozen=True)
class Deliveries:
    """Ratios from each node to each, by their places."""

    nodes: tuple[str, ...]
    ratios: NDArray[np.float64]

    def both_ways(self) -> Deliveries:
        """A frame and its acknowledgement arrive, as ETX of unicast has it."""
        return Deliveries(self.nodes, self.ratios * self.ratios.T)

    def distances(self, destination: str) -> dict[str, float]:
        """Path ETX of each node to a destination; infinite where there is no path."""
        count = len(self.nodes)
        etx = np.full(count, math.inf)
        etx[self.nodes.index(destination)] = 0.0
        for _ in range(count):
            with np.errstate(divide="ignore"):
                shorter = np.minimum(etx, (1 / self.ratios + etx[np.newaxis, :]).min(axis=1))
            if (shorter == etx).all():
                break
            etx = shorter
        return dict(zip(self.nodes, map(float, etx), strict=True))

    def shares(self, order: Sequence[str]) -> dict[str, float] | None:
        """Transmissions z of nodes in this order, the destination first, the source last; without those that
        have nothing to forward. None if one of them reaches none that is nearer."""
        places = [self.nodes.index(node) for node in order]
        load = dict.fromkeys(order, 0.0)
        load[order[-1]] = 1.0
        sends = dict.fromkeys(order, 0.0)
        for at in range(len(order) - 1, 0, -1):
            if load[order[at]] == 0.0:
                continue
            losses = 1 - self.ratios[places[at], places[:at]]
            unheard = float(losses.prod())
            if unheard == 1.0:
                return None
            sends[order[at]] = load[order[at]] / (1 - unheard)
            nobody = 1.0
            for nearer, loss in zip(order[:at], losses, strict=True):
                load[nearer] += sends[order[at]] * float(1 - loss) * nobody
                nobody *= float(loss)
        return {node: sends[node] for node in order if load[node] > 0.0}

    def forwarders(
        self, source: str, destination: str, *, part: float = PART, rise: float = RISE
    ) -> dict[str, float]:
        """Transmissions z of the nodes of a flow after pruning, the destination first: its own are 0."""
        etx = self.distances(destination)
        nearer = [node for node in self.nodes if etx[node] < etx[source]]
        shares = self.shares([*sorted(nearer, key=lambda node: etx[node]), source])
        if shares is None:
            return {}
        limit = sum(shares.values()) * (1 + rise)
        kept: set[str] = set()
        while True:
            least = part * sum(shares.values())
            few = [node for node in list(shares)[1:-1] if shares[node] < least and node not in kept]
            if not few:
                return shares
            node = min(reversed(few), key=shares.__getitem__)
            without = self.shares([other for other in shares if other != node])
            if without is not None and sum(without.values()) <= limit:
                shares = without
                kept.clear()
            else:
                kept.add(node)


@lru_cache(maxsize=1)
def testbed() -> Deliveries:
    """Of the testbed's building, whose flows do not matter."""
    network = airfair.network(airfair.Scenario.read(SCENE))
    nodes = tuple(node["id"] for node in network["nodes"])
    ratios = np.zeros((len(nodes), len(nodes)))
    for pair in network["pairs"]:
        ratios[pair["sender"], pair["hearer"]] = pair["delivery_ratio"]
    return Deliveries(nodes, ratios)


@lru_cache(maxsize=10_000)
def path_etx(source: str, destination: str) -> float:
    """Of the testbed's best path, with acknowledgements, as its routes have it."""
    return testbed().both_ways().distances(destination)[source]
