"""Figure 13: the unreliable protocols, DiffQ-UDP against TFRC-ECN; fairer, and up to 20 % more in total.

"Much better fairness" is read as 1.5 times TFRC-ECN's index. "Up to 20 % higher" is judged at each number
of flows as a total that is not lower. UDP without any control is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import Measured
from airfair.paper import Experiment

from airfair_papers.diffq.common import SHORT
from airfair_papers.diffq.common.pictures import by_routes
from airfair_papers.diffq.common.testbed import (
    COUNTS,
    DIFFQ_UDP,
    JAIN,
    LEVELS,
    LOG_UDP,
    OF_TCP,
    OWN_UDP,
    PACKETS,
    ROUTES,
    SCENE,
    SLOW,
    TFRC,
    TOTAL,
    UTILITY,
    WAITS,
    WAITS_LEVELS,
    WAITS_SLOW,
    read,
    series,
    sets,
    times,
)

if TYPE_CHECKING:
    from airfair.claims import Claim
    from matplotlib.figure import Figure

WHERE = "section 6.3, figure 13"


def claims(count: int) -> list[Claim]:
    """The paper's two, the log utility of the figure, and ours of the log law and of UDP alone."""
    told = (*OF_TCP, *SLOW, *WAITS_LEVELS, *WAITS_SLOW, *PACKETS, "static routes, packets, DCF")
    return [
        *times(
            f"{count} flows: 1.5 times TFRC-ECN's Jain index",
            WHERE,
            DIFFQ_UDP,
            count,
            JAIN,
            1.5,
            than=TFRC,
            readings=told,
        ),
        *times(
            f"{count} flows: more in total than TFRC-ECN",
            WHERE,
            DIFFQ_UDP,
            count,
            TOTAL,
            1.0,
            than=TFRC,
            readings=told,
        ),
        *times(
            f"{count} flows: a larger log utility than TFRC-ECN",
            WHERE,
            DIFFQ_UDP,
            count,
            UTILITY,
            1.0,
            than=TFRC,
            readings=told,
        ),
        *(
            claim
            for statistic in (JAIN, UTILITY, TOTAL)
            for claim in times(
                f"{count} flows, log law: a larger {statistic} than TFRC-ECN",
                "section 4.1",
                LOG_UDP,
                count,
                statistic,
                1.0,
                than=TFRC,
                readings=LEVELS,
                source="ours",
            )
        ),
        *times(
            f"{count} flows: more in total than UDP alone",
            "ours",
            DIFFQ_UDP,
            count,
            TOTAL,
            1.0,
            than="UDP",
            readings=(*ROUTES, *WAITS, *PACKETS),
            source="ours",
        ),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    by_routes(rows, figure, ("UDP", TFRC, DIFFQ_UDP, LOG_UDP), counted=DIFFQ_UDP)


EXPERIMENT = Experiment(
    title="DiffQ-UDP beside TFRC-ECN: fairness, total, log utility",
    scenario=SCENE,
    series=series({"UDP": ROUTES, TFRC: OF_TCP, DIFFQ_UDP: OWN_UDP, LOG_UDP: ROUTES}),
    claims=tuple(claim for count in COUNTS for claim in claims(count)),
    draw=draw,
    quick_seeds=3,
    by_seed=sets,
    read=read,
    interval="60 s",
    small=SHORT,
)
