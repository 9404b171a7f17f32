"""Reports that are late or lost (ours): `c3l-faulty` at all nodes of figure 10's networks, static routes.

A report is lost before it is sent, or waits a drawn part of a time: up to a cycle (8 s) it tells of the round
before, up to two cycles it is overtaken by the next one. What the air loses comes on top.
"""

from __future__ import annotations

from airfair.paper import Experiment

from airfair_papers.c3l.common import networks
from airfair_papers.c3l.common.beside import claim, gains, pictures
from airfair_papers.c3l.common.networks import GATEWAYS, JAIN, LEAST, one_controller, read
from airfair_papers.c3l.common.scenes import BASE, NEWRENO, SMALL, STATIC, Protocol

FAULTY = Protocol("c3l-faulty", ("c3l-faulty.probe_power=7",), udp=True)
WHOLE = "all reports"
KINDS: dict[str, tuple[str, ...]] = {
    WHOLE: (),
    "10 % lost": ("c3l-faulty.lost=0.1",),
    "25 % lost": ("c3l-faulty.lost=0.25",),
    "50 % lost": ("c3l-faulty.lost=0.5",),
    "up to 4 s late": ('c3l-faulty.late="4 s"',),
    "up to 8 s late": ('c3l-faulty.late="8 s"',),
    "up to 16 s late": ('c3l-faulty.late="16 s"',),
    "50 % lost, up to 8 s late": ("c3l-faulty.lost=0.5", 'c3l-faulty.late="8 s"'),
}
WORSE = [kind for kind in KINDS if kind != WHOLE]

EXPERIMENT = Experiment(
    title="Reports that are late or lost, in figure 10's networks",
    scenario=BASE,
    series=(
        networks.series(GATEWAYS, NEWRENO, routes=STATIC),
        *(
            networks.replaced(
                networks.series(
                    GATEWAYS, "C3L", kind, changes, routes=STATIC, more=one_controller, spoken=FAULTY
                ),
                kind,
            )
            for kind, changes in KINDS.items()
        ),
    ),
    claims=(
        *gains(WORSE, NEWRENO),
        *(
            claim(
                f"{kind}: nine tenths of the index with all reports",
                kind,
                WHOLE,
                JAIN,
                factor=0.9,
                gain=False,
            )
            for kind in WORSE
        ),
        *(
            claim(
                f"{kind}: the least flow has half of what it has with all reports",
                kind,
                WHOLE,
                LEAST,
                factor=0.5,
                gain=False,
            )
            for kind in WORSE
        ),
    ),
    draw=pictures((NEWRENO, *KINDS)),
    read=read,
    interval="480 s",
    small=SMALL,
)
