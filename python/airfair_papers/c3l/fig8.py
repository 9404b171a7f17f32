"""Figure 8: C3L in the three scenes of figure 1, and what decides there.

The paper: (a) "an almost equal allocation", "close to optimal", despite the inhibition; (b) fairness is
"end-to-end and does not depend upon the number of hops"; (c) a fair allocation of flows that share air but no
node. Almost equal is read as a Jain's index above 0.95; close to optimal: each flow has more than 0.85 of
what it has in the max-min optimum that was found by search. Both may not be true of TCP (NewReno) in the same
scene. That C3L is fairer than each of the TCPs, seed by seed, is ours.

Each scene in another form beside: the inhibitor out of reception range, the shared hop in the middle, one
receiver; (b) with DSDV and with static routes, with routes that DSDV keeps longer, and where all nodes sense
each other. CUBIC, NRED, `c3l-local` and C3L over TCP have no claims.
Nodes that keep their own flows' queues short are in `fig2.py` to `fig4.py`. Then each value that the text
leaves open, one changed at a time, and C3L's parts left out, in five of the scenes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, jain, number
from airfair.paper import Experiment

from airfair_papers.c3l.common.scenes import (
    BASE,
    BESIDE,
    C3L,
    COMMON,
    FAR,
    HELD,
    HIDDEN,
    HOPS,
    HOPS_WIDE,
    LOCAL,
    MIDDLE,
    NEWRENO,
    NS3,
    OTHERS,
    OVER_TCP,
    READINGS,
    SHARED,
    SMALL,
    STATIC,
    TCPS,
    UDP,
    VEGAS,
    name,
    series,
    told,
)
from airfair_papers.c3l.common.shares import LEAST, bars, read, shares

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "figure 8, section IV-A"
PROTOCOLS = (*OTHERS, *BESIDE, C3L, LOCAL, OVER_TCP)
"""ATP and EXACT are in figures 3 and 4."""
FORMS = {
    (HIDDEN, MAIN): "(a)",
    (FAR, MAIN): "(a)",
    (HOPS, MAIN): "(b)",
    (HOPS, STATIC): "(b)",
    (MIDDLE, MAIN): "(b)",
    (MIDDLE, STATIC): "(b)",
    (SHARED, MAIN): "(c)",
    (COMMON, MAIN): "(c)",
}
"""Scenes with their routes, and which of the paper's each is a form of."""
MORE = {
    (HOPS, HELD): "(b)",
    (HOPS, NS3): "(b)",
    (MIDDLE, HELD): "(b)",
    (MIDDLE, NS3): "(b)",
    (HOPS_WIDE, MAIN): "(b)",
    (HOPS_WIDE, STATIC): "(b)",
}
"""Other routes, and ns-2's sense range, by which nobody is hidden in (b): with the protocols `FEWER`."""
FEWER = (NEWRENO, VEGAS, UDP, C3L)
OTHER = {
    FAR: "inhibitor far",
    MIDDLE: "middle hop",
    COMMON: "common receiver",
    HOPS_WIDE: "sensed to 550 m",
}
VARIED = ((HIDDEN, MAIN), (FAR, MAIN), (HOPS, MAIN), (HOPS, STATIC), (SHARED, MAIN))
"""Those in which values are changed."""


def claims(place: str, route: str, reading: str = MAIN) -> list[Claim]:
    """Of C3L in a form of a scene and a reading of what the text leaves open."""
    own = name(place, C3L, told(route, reading))
    scene = (FORMS | MORE)[place, route]
    judged = told(OTHER.get(place, ""), route, reading)
    made = [
        Claim(
            text=f"{scene} Almost equal: Jain's index above 0.95",
            where=WHERE,
            source="paper",
            series=own,
            baseline=name(place, NEWRENO, route),
            statistic=jain,
            comparison="above",
            value=0.95,
            reading=judged,
            about=("flow",),
        ),
        Claim(
            text=f"{scene} Close to optimal: each flow has more than 0.85 of its optimum",
            where=WHERE,
            source="paper",
            series=own,
            baseline=name(place, NEWRENO, route),
            statistic=number(LEAST),
            comparison="above",
            value=0.85,
            reading=judged,
            about=("flow",),
        ),
    ]
    if reading == MAIN and (place, route) in FORMS:
        made.append(
            Claim(
                text=f"{scene} Fairer than each TCP",
                where=WHERE,
                source="ours",
                series=own,
                baseline=None,
                statistic=jain,
                comparison="above",
                bound=jain,
                bound_series=tuple(name(place, protocol, route) for protocol in TCPS),
                paired=True,
                reading=judged,
            )
        )
    return made


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs by protocol in three scenes; below, the least share of the optimum by reading."""
    figure.set_size_inches(13.0, 11.0)
    above, below = figure.subplots(2, 3, height_ratios=(1, 1.6))
    for axes, place in zip(above, (HIDDEN, HOPS, SHARED), strict=True):
        bars(axes, rows, place, {protocol: name(place, protocol) for protocol in PROTOCOLS})
    for axes, (place, route) in zip(below, (VARIED[0], VARIED[1], VARIED[2]), strict=True):
        readings = {"as it is": name(place, C3L, route)}
        readings |= {reading: name(place, C3L, told(route, reading)) for reading in READINGS}
        shares(axes, rows, readings, LEAST)
        axes.set_title(told(place, route), fontsize="small")


EXPERIMENT = Experiment(
    title="C3L in the three scenes, near the optimum; what decides",
    scenario=BASE,
    series=(
        *(series(place, protocol, route) for place, route in FORMS for protocol in PROTOCOLS),
        *(series(place, protocol, route) for place, route in MORE for protocol in FEWER),
        *(
            series(place, C3L, told(route, reading), changes)
            for place, route in VARIED
            for reading, changes in READINGS.items()
        ),
    ),
    claims=(
        *(claim for place, route in (*FORMS, *MORE) for claim in claims(place, route)),
        *(
            claim
            for place, route in VARIED
            for reading in READINGS
            for claim in claims(place, route, reading)
        ),
    ),
    draw=draw,
    read=read,
    interval="60 s",
    small=SMALL,
)
