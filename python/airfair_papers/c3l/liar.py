"""A node that lies among 20 (ours): nothing in the paper checks what a report says.

20 nodes in 800 m x 800 m, 8 flows, static routes. The liar is the source of the first flow. It reports nine
invented flows beside each of its own, so that the controller gives its links ten times as much as they should
have of their cliques; or it says that each of its links is overloaded, so that their cliques lose capacity
round by round; or both. It runs `c3l-faulty`, without faults in the series that the lies are compared with.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from airfair.paper import Experiment

from airfair_papers.c3l.common import networks
from airfair_papers.c3l.common.beside import claim, pictures
from airfair_papers.c3l.common.networks import JAIN, LEAST, TWENTY, Network
from airfair_papers.c3l.common.scenes import BASE, C3L, NEWRENO, SMALL, STATIC

if TYPE_CHECKING:
    from airfair.recording import Recording

HONEST = "honest"
LIES: dict[str, tuple[str, ...]] = {
    HONEST: (),
    "ten times its flows": ("c3l-faulty.more_flows=9",),
    "always overloaded": ("c3l-faulty.overloaded=true",),
    "both": ("c3l-faulty.more_flows=9", "c3l-faulty.overloaded=true"),
}
OWN, OTHERS = "the liar's flow (kbit/s)", "others, mean (kbit/s)"
LEAST_SHARE = "others, least share of the max-min optimum"


def liar(of: Network) -> str:
    """The source of the first flow."""
    return of.flows["f0"][0]


def lying(of: Network) -> tuple[str, ...]:
    """The liar's scheme."""
    return (f'node.{liar(of)}.scheme="c3l-faulty"',)


def read(recording: Recording) -> dict[str, float]:
    """The numbers of a network, and those of the liar's flow and of flows that begin elsewhere."""
    result = recording.result
    of = networks.network(result["scenario"], result["seed"])
    rates = {flow["id"]: flow["goodput_bps"] / 1e3 for flow in result["flows"]}
    others = [flow for flow in rates if of.flows[flow][0] != liar(of)]
    shares = [rates[flow] / of.best[flow] for flow in others]
    return {
        **networks.read(recording),
        OWN: rates["f0"],
        OTHERS: sum(rates[flow] for flow in others) / len(others) if others else math.nan,
        LEAST_SHARE: min(shares, default=math.nan),
    }


TOLD = [lie for lie in LIES if lie != HONEST]

EXPERIMENT = Experiment(
    title="A node that lies to the controller, among 20",
    scenario=BASE,
    series=(
        networks.series(TWENTY, NEWRENO, routes=STATIC),
        *(
            networks.replaced(
                networks.series(
                    TWENTY,
                    C3L,
                    lie,
                    (*changes, "c3l-faulty.probe_power=7"),
                    routes=STATIC,
                    more=lying,
                ),
                lie,
            )
            for lie, changes in LIES.items()
        ),
    ),
    claims=(
        *(
            claim(f"{lie}: the others keep half of their mean", lie, HONEST, OTHERS, factor=0.5, gain=False)
            for lie in TOLD
        ),
        *(
            claim(
                f"{lie}: the least flow keeps half of what it has", lie, HONEST, LEAST, factor=0.5, gain=False
            )
            for lie in TOLD
        ),
        *(claim(f"{lie}: the liar's flow gains", lie, HONEST, OWN) for lie in TOLD),
        *(claim(f"{lie}: still fairer than {NEWRENO}", lie, NEWRENO, JAIN) for lie in TOLD),
    ),
    draw=pictures((NEWRENO, *LIES), (OWN, OTHERS, LEAST, JAIN)),
    read=read,
    interval="480 s",
    small=SMALL,
)
