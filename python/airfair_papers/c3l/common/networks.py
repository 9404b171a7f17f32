"""Networks of many nodes that are drawn for each seed, and what is read from their runs.

The paper gives no coordinates, area, or pairs of nodes. **A network is drawn until at least one inhibited
link carries a flow and its inhibitor carries one too** (by the model of `airfair optimum`, over static
routes); how often is a number of each run. All series of a seed have the same network.

Neighbours are nodes within the reception range of 250 m; every network is connected.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field, replace
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

import airfair
import numpy as np
from airfair import _core
from airfair.claims import MAIN
from airfair.paper import Series

from airfair_papers.c3l.common.scenes import BASE, PROTOCOLS, ROUTES, Protocol, flows, nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from airfair.recording import Recording

RANGE = 250.0
"""Of reception, metres."""
STARVED = 1.0
"""A flow below this rate starves, kbit/s."""
MOST_DRAWS = 10_000

Nodes = dict[str, tuple[float, float]]
Flows = dict[str, tuple[str, str]]


@dataclass(frozen=True)
class Drawn:
    """Nodes and flows of a draw."""

    nodes: Nodes
    flows: Flows
    gateways: tuple[str, ...] = ()


@dataclass(frozen=True)
class Network(Drawn):
    """A network, and what is known of it."""

    draws: int = 0
    """As many connected ones were drawn as this, the last one included."""
    inhibited: int = 0
    """Pairs of a link that carries a flow and an inhibitor of it that does."""
    best: Mapping[str, float] = field(default_factory=dict)
    """Max-min rate of each flow by the model of cliques, over UDP and static routes, kbit/s."""


def neighbours(places: Nodes) -> dict[str, list[str]]:
    """The nodes in reception range of each."""
    return {
        a: [b for b, there in places.items() if b != a and math.dist(here, there) <= RANGE]
        for a, here in places.items()
    }


def hops(near: Mapping[str, Sequence[str]], start: str) -> dict[str, int]:
    """Hops from a node to each that it can reach."""
    found = {start: 0}
    waiting = deque([start])
    while waiting:
        at = waiting.popleft()
        for other in near[at]:
            if other not in found:
                found[other] = found[at] + 1
                waiting.append(other)
    return found


def connected(places: Nodes) -> bool:
    """True if each node can reach each other one."""
    return len(hops(neighbours(places), next(iter(places)))) == len(places)


def square(random: _core.Random, count: int, side: float) -> Nodes:
    """Nodes anywhere in a square with sides of so many metres; to a tenth of a metre."""
    return {
        str(node): (round(side * random.uniform(), 1), round(side * random.uniform(), 1))
        for node in range(count)
    }


def grid(side: int, spacing: float = 200.0) -> Nodes:
    """A grid of side by side nodes. 200 m: reception of the four nearest ones; sensed are the diagonal ones
    too, so that a chain of three links has an inhibited one."""
    return {str(side * y + x): (spacing * x, spacing * y) for y in range(side) for x in range(side)}


def pick(random: _core.Random, of: Sequence[str], count: int) -> list[str]:
    """As many of them, each once."""
    left = list(of)
    return [left.pop(random.below(len(left))) for _ in range(count)]


def pairs(random: _core.Random, of: Sequence[str], count: int, name: str = "f") -> Flows:
    """Flows between nodes; no two have the same source and destination."""
    drawn: dict[tuple[str, str], None] = {}
    while len(drawn) < count:
        a, b = pick(random, of, 2)
        drawn[a, b] = None
    return {f"{name}{i}": pair for i, pair in enumerate(drawn)}


def to_gateways(random: _core.Random, places: Nodes, gateways: Sequence[str], count: int) -> Flows:
    """Flows of drawn nodes, each to the gateway with the fewest hops; of several to the first."""
    away = {gateway: hops(neighbours(places), gateway) for gateway in gateways}
    sources = pick(random, [node for node in places if node not in gateways], count)
    return {
        f"f{i}": (source, min(gateways, key=lambda gateway: away[gateway][source]))
        for i, source in enumerate(sources)
    }


def quadrants(places: Nodes, side: float) -> tuple[str, ...]:
    """The nodes nearest to the centres of the four quarters of a square."""
    centres = [(side * x, side * y) for x in (0.25, 0.75) for y in (0.25, 0.75)]
    found: list[str] = []
    for centre in centres:
        free = (node for node in places if node not in found)
        found.append(min(free, key=lambda node: math.dist(places[node], centre)))
    return tuple(found)


def grid_64(random: _core.Random) -> Drawn:
    """Figure 9: 8 x 8 nodes, 20 flows between drawn nodes."""
    places = grid(8)
    return Drawn(places, pairs(random, list(places), 20))


def gateways_64(random: _core.Random) -> Drawn | None:
    """Figure 10: 64 nodes in 1500 m x 1500 m, 15 flows to the closest of 4 gateways."""
    places = square(random, 64, 1500.0)
    if not connected(places):
        return None
    gateways = quadrants(places, 1500.0)
    return Drawn(places, to_gateways(random, places, gateways, 15), gateways)


def random_28(random: _core.Random) -> Drawn | None:
    """Figure 12: 28 nodes in 900 m x 900 m, 5 flows between drawn nodes."""
    places = square(random, 28, 900.0)
    return Drawn(places, pairs(random, list(places), 5)) if connected(places) else None


def berlin(random: _core.Random) -> Drawn:
    """Ours: 64 nodes of which few hear each other, as in a town; 15 flows to the closest of 4 gateways.

    Each node but the first is placed in 2500 m x 2500 m where it hears one or two of those that there are.
    So nodes have BERLIN neighbours in the mean, and every network is connected.
    """
    side = 2500.0
    places: Nodes = {"0": (side / 2, side / 2)}
    while len(places) < 64:
        here = (round(side * random.uniform(), 1), round(side * random.uniform(), 1))
        if 1 <= sum(math.dist(here, there) <= RANGE for there in places.values()) <= 2:
            places[str(len(places))] = here
    gateways = quadrants(places, side)
    return Drawn(places, to_gateways(random, places, gateways, 15), gateways)


def random_20(random: _core.Random) -> Drawn | None:
    """Ours: 20 nodes in 800 m x 800 m, 8 flows between drawn nodes."""
    places = square(random, 20, 800.0)
    return Drawn(places, pairs(random, list(places), 8)) if connected(places) else None


GRID, GATEWAYS, RANDOM, BERLIN = "64 nodes, grid", "64 nodes, gateways", "28 nodes", "64 nodes, sparse"
TWENTY = "20 nodes"
KINDS: dict[str, Callable[[_core.Random], Drawn | None]] = {
    GRID: grid_64,
    GATEWAYS: gateways_64,
    RANDOM: random_28,
    BERLIN: berlin,
    TWENTY: random_20,
}

LOCK = Lock()
"""Runs in several threads want the same network at once."""


def network(kind: str, seed: int) -> Network:
    """The network of a seed."""
    with LOCK:
        return _network(kind, seed)


@lru_cache(maxsize=4096)
def _network(kind: str, seed: int) -> Network:
    draws = 0
    for number in range(MOST_DRAWS):
        drawn = KINDS[kind](_core.Random(seed, f"{kind}, {number}"))
        if drawn is None:
            continue
        draws += 1
        made = airfair.Scenario.read(BASE, (nodes(drawn.nodes), flows(drawn.flows, udp=True)))
        best = airfair.optimum(made, proportional=False)
        if best["inhibitions"]:
            rates = {flow["id"]: flow["max_min_bps"] / 1e3 for flow in best["flows"]}
            return Network(drawn.nodes, drawn.flows, drawn.gateways, draws, len(best["inhibitions"]), rates)
    raise ValueError(f"{kind}: {MOST_DRAWS} draws have no inhibited link with a flow")


def of_seed(
    kind: str, *, udp: bool, rate: str = "", more: Callable[[Network], Iterable[str]] = lambda _: ()
) -> Callable[[int], tuple[str, ...]]:
    """The network of each seed as overrides of the base scene. `more`: further ones."""

    def overrides(seed: int) -> tuple[str, ...]:
        of = network(kind, seed)
        return (f'name="{kind}"', nodes(of.nodes), flows(of.flows, udp=udp, rate=rate), *more(of))

    return overrides


def controllers(of: Network) -> tuple[str, ...]:
    """A controller at each gateway."""
    each = ", ".join(f'{{node="{gateway}"}}' for gateway in of.gateways)
    return (f"controller=[{each}]",)


def one_controller(of: Network) -> tuple[str, ...]:
    """A controller at the first gateway."""
    return (f'controller=[{{node="{of.gateways[0]}"}}]',)


def name(protocol: str, reading: str = MAIN) -> str:
    """The name of a series."""
    return protocol if reading == MAIN else f"{protocol}, {reading}"


def series(
    kind: str,
    protocol: str,
    reading: str = MAIN,
    changes: Iterable[str] = (),
    *,
    routes: str = MAIN,
    more: Callable[[Network], Iterable[str]] = lambda _: (),
    spoken: Protocol | None = None,
) -> Series:
    """A protocol in networks of a kind, in a reading that consists of these changes; a reading may also be
    that of the routes. `spoken`: the protocol, if none that has a name."""
    spoken = spoken or PROTOCOLS[protocol]
    routed = ROUTES[reading if routes == MAIN and reading in ROUTES else routes]
    return Series(
        name(protocol, reading),
        spoken.scheme,
        (*routed, *spoken.overrides, *changes),
        by_seed=of_seed(kind, udp=spoken.udp, rate=spoken.rate, more=more),
    )


def replaced(series: Series, name: str) -> Series:
    """The same under another name."""
    return replace(series, name=name)


JAIN = "Jain's index"
LEAST = "least flow (kbit/s)"
MEAN = "mean flow (kbit/s)"
STARVING = "flows below 1 kbit/s"
BELOW_TENTH = "share below a tenth of the mean"
LARGEST = "largest flow by the mean"
MOST = "largest flow (kbit/s)"
BY_HOPS = "mean of rate times hops (kbit/s)"
LEAST_SHARE = "of the max-min optimum, least flow"
TOTAL_SHARE = "of the max-min optimum, total"
BEST_JAIN = "Jain's index of the optimum"
BEST_LEAST = "least flow of the optimum (kbit/s)"
DRAWS = "draws"
INHIBITED = "inhibited links with a loaded inhibitor"


def jain(rates: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Jain's index."""
    squares = float((rates**2).sum())
    return float(rates.sum()) ** 2 / (len(rates) * squares) if squares else math.nan


def read(recording: Recording) -> dict[str, float]:
    """The numbers of a run. Shares of the optimum: each flow's own, by the model of cliques over static
    routes and UDP, whatever routes and transport the run has; hops are the fewest."""
    result = recording.result
    of = network(result["scenario"], result["seed"])
    rates = np.array([flow["goodput_bps"] / 1e3 for flow in result["flows"]])
    best = np.array([of.best[flow["id"]] for flow in result["flows"]])
    near = neighbours(of.nodes)
    ends = (of.flows[flow["id"]] for flow in result["flows"])
    length = np.array([hops(near, source)[target] for source, target in ends])
    mean = float(rates.mean())
    return {
        JAIN: jain(rates),
        LEAST: float(rates.min()),
        MEAN: mean,
        "median flow (kbit/s)": float(np.median(rates)),
        STARVING: float((rates < STARVED).sum()),
        BELOW_TENTH: float((rates < mean / 10).mean()) if mean else math.nan,
        LARGEST: float(rates.max()) / mean if mean else math.nan,
        MOST: float(rates.max()),
        BY_HOPS: float((rates * length).mean()),
        LEAST_SHARE: float((rates / best).min()),
        TOTAL_SHARE: float(rates.sum() / best.sum()),
        BEST_JAIN: jain(best),
        BEST_LEAST: float(best.min()),
        INHIBITED: float(of.inhibited),
        DRAWS: float(of.draws),
    }
