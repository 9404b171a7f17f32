"""What would be fair, computed: processor sharing of one server, and max-min shares of a network."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def processor_sharing(arrivals: Floats, work: Floats) -> Floats:
    """How long each job takes at a server that gives all jobs which are there equal parts of its rate.

    `arrivals` in s, ascending; `work` in s of the whole server. A job's end is known from the service that
    each job present has had up to its arrival: those that arrived together end in the order of their work.
    """
    ends = np.zeros(len(arrivals))
    present: list[tuple[float, int]] = []
    served = now = 0.0
    for job, (arrival, own) in enumerate(zip(arrivals.tolist(), work.tolist(), strict=True)):
        served, now = _serve(present, served, now, arrival, ends)
        heapq.heappush(present, (served + own, job))
    _serve(present, served, now, math.inf, ends)
    return ends - arrivals


def _serve(
    present: list[tuple[float, int]], served: float, now: float, until: float, ends: Floats
) -> tuple[float, float]:
    """Serve until then: what each job that is still there has had since the start, and the moment."""
    while present:
        due, job = present[0]
        end = now + (due - served) * len(present)
        if end > until:
            return served + (until - now) / len(present), until
        heapq.heappop(present)
        ends[job], served, now = end, due, end
    return served, until


@dataclass(frozen=True)
class Wish:
    """What wants a share: the links that it takes, the most that it can use, and how many shares it counts
    for."""

    links: Sequence[str]
    limit: float = math.inf
    weight: float = 1.0


def max_min(capacities: Mapping[str, float], wishes: Mapping[str, Wish]) -> dict[str, float]:
    """The max-min fair shares: nobody can get more unless somebody who has as little or less gets less.

    Progressive filling: all rates grow together, in proportion to the weights; a flow stops at its limit, or
    when a link of its path is full. Rates are in the unit of the capacities.
    """
    filling = _Filling(dict(capacities), dict(wishes))
    while filling.growing:
        filling.step()
    return {name: filling.rates[name] for name in wishes}


@dataclass
class _Filling:
    left: dict[str, float]
    growing: dict[str, Wish]
    level: float = 0.0
    rates: dict[str, float] = field(default_factory=dict)

    def step(self) -> None:
        """Grow to where the next flow stops."""
        weights = {
            link: sum(wish.weight for wish in self.growing.values() if link in wish.links)
            for link in self.left
        }
        rooms = {link: self.left[link] / weight for link, weight in weights.items() if weight > 0}
        caps = {name: wish.limit / wish.weight - self.level for name, wish in self.growing.items()}
        grown = min(*rooms.values(), *caps.values())
        self.level += grown
        for link in rooms:
            self.left[link] -= grown * weights[link]
        full = {link for link, room in rooms.items() if room <= grown * (1 + 1e-12)}
        for name, wish in list(self.growing.items()):
            limited = caps[name] <= grown * (1 + 1e-12)
            if limited or not full.isdisjoint(wish.links):
                self.rates[name] = wish.limit if limited else self.level * wish.weight
                del self.growing[name]
