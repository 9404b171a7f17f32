"""Fair shares, computed: processor sharing of one server, and max-min shares of a network."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from airfair import _core
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
    """A claimant of a share: the links that it takes, the most that it can use, and how many shares it counts
    for."""

    links: Sequence[str]
    limit: float = math.inf
    weight: float = 1.0


def max_min(capacities: Mapping[str, float], wishes: Mapping[str, Wish]) -> dict[str, float]:
    """The max-min fair shares: nobody can get more unless somebody who has as little or less gets less.

    Rates are in the unit of the capacities.
    """
    place = {link: i for i, link in enumerate(capacities)}
    flows = [
        (wish.weight, wish.limit, [(place[link], 1.0) for link in dict.fromkeys(wish.links)])
        for wish in wishes.values()
    ]
    rates, _ = _core.max_min_rates(list(capacities.values()), flows)
    return dict(zip(wishes, rates, strict=True))
