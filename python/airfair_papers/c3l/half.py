"""Nodes without agents (ours): C3L at some of the nodes of figure 10's networks, static routes.

The paper has C3L everywhere. Here nodes with even numbers, or three of four, have it; the others forward with
drop-tail queues. Where a node has none nobody stamps, reports or keeps to a share, and its links are in no
clique. The controller is at the first gateway, which always has an agent. Numbers of nodes say nothing of
their places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.paper import Experiment

from airfair_papers.c3l.common import networks
from airfair_papers.c3l.common.beside import claim, gains, pictures
from airfair_papers.c3l.common.networks import GATEWAYS, LEAST, Network, name, one_controller, read
from airfair_papers.c3l.common.scenes import BASE, C3L, NEWRENO, SMALL, STATIC, UDP

if TYPE_CHECKING:
    from collections.abc import Callable

PARTS = {"three of four nodes": 4, "every second node": 2}
"""One of so many nodes has no agent."""


def without(one_of: int) -> Callable[[Network], tuple[str, ...]]:
    """One of so many nodes without agent."""

    def more(of: Network) -> tuple[str, ...]:
        bare = [node for node in of.nodes if int(node) % one_of == 1 and node != of.gateways[0]]
        return (*one_controller(of), *(f'node.{node}.scheme="droptail"' for node in bare))

    return more


ALL = C3L
SHOWN = (UDP, NEWRENO, *(name(C3L, part) for part in PARTS), ALL)

EXPERIMENT = Experiment(
    title="C3L at some of the nodes of figure 10's networks",
    scenario=BASE,
    series=(
        *(networks.series(GATEWAYS, one, routes=STATIC) for one in (UDP, NEWRENO)),
        networks.series(GATEWAYS, C3L, routes=STATIC, more=one_controller),
        *(
            networks.series(GATEWAYS, C3L, part, routes=STATIC, more=without(one_of))
            for part, one_of in PARTS.items()
        ),
    ),
    claims=(
        *gains([name(C3L, part) for part in PARTS], NEWRENO),
        *(
            claim(
                f"{part}: the least flow has half of what it has with C3L everywhere",
                name(C3L, part),
                ALL,
                LEAST,
                factor=0.5,
                gain=False,
            )
            for part in PARTS
        ),
    ),
    draw=pictures(SHOWN),
    read=read,
    interval="480 s",
    small=SMALL,
)
