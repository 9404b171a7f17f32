"""Figure 11: Jain's index, total and log utility of the reliable protocols.

The paper: the index is "about two times higher", read as at least 1.5 times; the log utility "about 20 %
better", at least 1.1 times, for which the unit of the rates is not given (both kbit/s and bit/s are judged,
each rate at least one unit); the total is "slightly less" and "comparable", at least 0.8 times. TCP-FeW has
"about similar performance as TCP": its index is within a third of TCP's. Numbers are compared seed by seed.

Ours: CUBIC, BBR and FQ-CoDel at each node (with TCP-SACK), at level 0 and with the DCF; TCP-SACK with windows
of 8 segments, as the hosts of DiffQ-TCP have; and the distance from the max-min optimum, which is that of
static routes and the DCF in all series.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import Measured
from airfair.paper import Experiment

from airfair_papers.diffq.common import SHORT
from airfair_papers.diffq.common.pictures import by_routes
from airfair_papers.diffq.common.testbed import (
    BASELINES,
    BUFFER,
    COUNTS,
    DIFFQ_TCP,
    FEW,
    JAIN,
    LEVELS,
    LOG_TCP,
    OF_BEST,
    OTHERS,
    OWN,
    PACKETS,
    ROUTES,
    SCENE,
    TCP,
    TCP_8,
    TOTAL,
    UTILITY,
    UTILITY_BIT,
    WAITS_LEVELS,
    read,
    series,
    sets,
    times,
)

if TYPE_CHECKING:
    from airfair.claims import Claim
    from matplotlib.figure import Figure

WHERE = "section 6.3, figure 11"
FEWS = (*LEVELS, "static routes, slow")
WITH_FEW = (*FEWS, *WAITS_LEVELS, "static routes, waits, slow", *BUFFER, *PACKETS)


def claims(count: int) -> list[Claim]:
    """The paper's, and ours about the protocols of today and the optimum."""
    found = [
        *times(f"{count} flows: 1.5 times TCP's Jain index", WHERE, DIFFQ_TCP, count, JAIN, 1.5),
        *times(f"{count} flows: 1.1 times TCP's log utility (kbit/s)", WHERE, DIFFQ_TCP, count, UTILITY, 1.1),
        *times(
            f"{count} flows: 1.1 times TCP's log utility (bit/s)", WHERE, DIFFQ_TCP, count, UTILITY_BIT, 1.1
        ),
        *times(f"{count} flows: at least 0.8 times TCP's total", WHERE, DIFFQ_TCP, count, TOTAL, 0.8),
        *times(
            f"{count} flows: 1.5 times FeW's Jain index",
            WHERE,
            DIFFQ_TCP,
            count,
            JAIN,
            1.5,
            than=FEW,
            readings=WITH_FEW,
        ),
        *times(
            f"{count} flows: FeW's Jain index is below 4/3 of TCP's",
            WHERE,
            FEW,
            count,
            JAIN,
            4 / 3,
            below=True,
            readings=FEWS,
        ),
    ]
    for other in (*OTHERS, TCP):
        found += times(
            f"{count} flows: the least flow is nearer to its max-min rate than with {other}",
            "ours",
            DIFFQ_TCP,
            count,
            OF_BEST,
            1.0,
            than=other,
            readings=(*LEVELS, *WAITS_LEVELS, *BUFFER, *PACKETS),
            source="ours",
        )
        if other != TCP:
            found += times(
                f"{count} flows: a larger Jain index than {other}",
                "ours",
                DIFFQ_TCP,
                count,
                JAIN,
                1.0,
                than=other,
                readings=(*LEVELS, *WAITS_LEVELS, *BUFFER, *PACKETS),
                source="ours",
            )
    for statistic in (JAIN, UTILITY):
        found += times(
            f"{count} flows, log law: a larger {statistic} than TCP",
            "section 4.1",
            LOG_TCP,
            count,
            statistic,
            1.0,
            readings=LEVELS,
            source="ours",
        )
    return found


def draw(rows: Measured, figure: Figure) -> None:
    by_routes(rows, figure, (TCP, TCP_8, FEW, *OTHERS, DIFFQ_TCP, LOG_TCP), counted=DIFFQ_TCP)


EXPERIMENT = Experiment(
    title="DiffQ-TCP beside TCP, TCP-FeW and others: fairness, total, log utility",
    scenario=SCENE,
    series=series(
        {
            TCP: BASELINES,
            TCP_8: ROUTES,
            FEW: FEWS,
            **dict.fromkeys(OTHERS, LEVELS),
            DIFFQ_TCP: OWN,
            LOG_TCP: ROUTES,
        }
    ),
    claims=tuple(claim for count in COUNTS for claim in claims(count)),
    draw=draw,
    quick_seeds=3,
    by_seed=sets,
    read=read,
    interval="60 s",
    small=SHORT,
)
