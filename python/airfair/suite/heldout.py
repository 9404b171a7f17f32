"""Worlds drawn at random that nobody tunes on: meshes, cells and chains, ten of each.

A world is a function of its number alone: the draws come from `random.Random` seeded with its name, whose
`random()` is the same in every version of Python. Distances are parts of the reach of the radio that was
drawn, so that neighbours hear each other and every flow has a route.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from .._core import Scenario

WORLDS = 30

T = TypeVar("T")
Tables = dict[str, Any]


class Radio(NamedTuple):
    """A radio, and how far its data frames arrive at 20 dBm with the exponent 3, metres."""

    standard: str
    data_rate: str
    reach: float


RADIOS = (
    Radio("802.11b", "11 Mbit/s", 131),
    Radio("802.11g", "12 Mbit/s", 135),
    Radio("802.11g", "24 Mbit/s", 106),
    Radio("802.11a", "12 Mbit/s", 81),
    Radio("802.11a", "24 Mbit/s", 63),
)

JITTER = 0.25
"""Share of the spacing by which a node is moved at most in each direction: neighbours of a grid, and one of
them moved away from the other, are at most 1.6 spacings apart."""

SPACINGS = (0.45, 0.6)
"""Spacing of meshes and chains as a part of the reach: so that 1.6 of them are within the reach."""


class Draw:
    """Random choices of one world."""

    def __init__(self, name: str) -> None:
        self._random = random.Random(name)

    def real(self, low: float, high: float) -> float:
        """A number between these."""
        return low + (high - low) * self._random.random()

    def whole(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`."""
        return low + int((high - low + 1) * self._random.random())

    def one(self, of: tuple[T, ...]) -> T:
        """One of several."""
        return of[self.whole(0, len(of) - 1)]

    def some(self, count: int, of: list[T]) -> list[T]:
        """So many of a list, each once, in the order of the draws."""
        left = list(of)
        return [left.pop(self.whole(0, len(left) - 1)) for _ in range(count)]

    def happens(self, probability: float) -> bool:
        """True with this probability."""
        return self._random.random() < probability


Kind = Callable[[Draw, Radio], Tables]
"""A function that draws the nodes, links and flows of a world."""


def names() -> list[str]:
    """The names of the worlds, `heldout-01` to `heldout-30`."""
    return [f"heldout-{number:02d}" for number in range(1, WORLDS + 1)]


def world(number: int) -> Scenario:
    """The world of a number, 1 to 30."""
    kinds: tuple[Kind, ...] = (_mesh, _cell, _chain)
    return _drawn(names()[number - 1], kinds[(number - 1) % len(kinds)])


def mesh(name: str) -> Scenario:
    """A mesh drawn by a name of another kind than those of the held-out worlds."""
    if name in names():
        raise ValueError(f"{name} is a held-out world")
    return _drawn(name, _mesh)


def _drawn(name: str, kind: Kind) -> Scenario:
    draw = Draw(name)
    radio = draw.one(RADIOS)
    tables: Tables = {
        "name": name,
        "description": f"A {kind.__name__.strip('_')} drawn at random",
        "duration": "40 s",
        "warmup": "10 s",
        "radio": {
            "standard": radio.standard,
            "data_rate": radio.data_rate,
            "tx_power": "20 dBm",
            "queue_packets": draw.one((50, 100, 200)),
            "rts_threshold": draw.one(("2347 B", "0 B")),
            "propagation": {"model": "log-distance", "exponent": 3.0},
        },
        "tcp": {"profile": draw.one(("rfc", "linux"))},
        "routing": {"metric": "etx"},
    }
    return Scenario.from_dict(tables | kind(draw, radio))


def _mesh(draw: Draw, radio: Radio) -> Tables:
    """A jittered grid with gateways to a server, or with transfers among its nodes."""
    rows, columns = draw.whole(3, 6), draw.whole(3, 6)
    spacing = radio.reach * draw.real(*SPACINGS)
    moved = JITTER * spacing
    nodes = [
        _node(
            f"n{row * columns + column}",
            column * spacing + draw.real(-moved, moved),
            row * spacing + draw.real(-moved, moved),
        )
        for row in range(rows)
        for column in range(columns)
    ]
    ids = [node["id"] for node in nodes]
    flows = draw.whole(4, 12)
    if draw.happens(0.3):
        pairs = [draw.some(2, ids) for _ in range(flows)]
        return {"node": nodes, "flow": [_flow(k, a, b) for k, (a, b) in enumerate(pairs)]}
    gateways = draw.some(draw.whole(1, 3), ids)
    houses = [node for node in ids if node not in gateways]
    chosen = draw.some(min(flows, len(houses)), houses)
    links = [_wire(draw, "server", gateway) for gateway in gateways]
    return {"node": [*nodes, _wired("server")], "link": links, "flow": _both_ways(draw, chosen)}


def _cell(draw: Draw, radio: Radio) -> Tables:
    """Stations around an access point, and servers beyond wires."""
    stations = [
        _node(f"sta{k}", *(draw.real(-0.6, 0.6) * radio.reach for _ in range(2)))
        for k in range(draw.whole(2, 10))
    ]
    servers = [f"server{k}" for k in range(draw.whole(1, 3))]
    flows = []
    for k in range(draw.whole(max(3, len(stations)), 2 * len(stations) + 1)):
        ends = [stations[k % len(stations)]["id"], draw.one(tuple(servers))]
        flows.append(_flow(k, *(ends if draw.happens(0.5) else reversed(ends))))
    return {
        "node": [_node("ap", 0.0, 0.0), *stations, *map(_wired, servers)],
        "link": [_wire(draw, server, "ap") for server in servers],
        "flow": flows,
    }


def _chain(draw: Draw, radio: Radio) -> Tables:
    """A chain of nodes; most transfers go to or from one end, with a server beyond it or without."""
    count = draw.whole(3, 8)
    spacing = radio.reach * draw.real(0.6, 0.95)
    nodes = [_node(f"n{k}", k * spacing, 0.0) for k in range(count)]
    houses = [node["id"] for node in nodes[1:]]
    chosen = draw.some(draw.whole(2, len(houses)), houses)
    if draw.happens(0.5):
        links = [_wire(draw, "server", "n0")]
        return {"node": [*nodes, _wired("server")], "link": links, "flow": _both_ways(draw, chosen)}
    return {"node": nodes, "flow": _both_ways(draw, chosen, "n0")}


def _both_ways(draw: Draw, houses: list[str], far: str = "server") -> list[Tables]:
    """A transfer of each house, up or down."""
    return [
        _flow(k, *((house, far) if draw.happens(0.5) else (far, house))) for k, house in enumerate(houses)
    ]


def _node(name: str, x: float, y: float) -> Tables:
    return {"id": name, "position": [f"{x:.1f} m", f"{y:.1f} m"]}


def _wired(name: str) -> Tables:
    return {"id": name, "radios": []}


def _wire(draw: Draw, server: str, node: str) -> Tables:
    return {
        "ends": [server, node],
        "rate": draw.one(("20 Mbit/s", "50 Mbit/s", "100 Mbit/s")),
        "delay": f"{draw.whole(1, 60)} ms",
        "queue_packets": draw.one((200, 1000)),
    }


def _flow(number: int, source: str, target: str) -> Tables:
    return {
        "id": f"flow-{number}",
        "from": source,
        "to": target,
        "transport": "tcp",
        "traffic": {"kind": "ftp"},
    }
