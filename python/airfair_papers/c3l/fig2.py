"""Figure 2: TCP is unfair in the three scenes of figure 1.

(a) "TCP amplifies the MAC-layer unfairness due to the hidden node problem": F1 starves, read as less than a
tenth of the mean; and has less than with saturating UDP, which is the MAC's unfairness alone (`fig3.py` has
more on it). (b) "a much higher than fair share" for the flow of one hop: at least twice the other's rate.
The paper does not say which hop both flows share: it is the first hop (the main reading), or the middle one.
(c) F4 has more than each of the flows that leave one node: 1.3 times the mean (ours).

TCP is NewReno in the main reading; Reno, SACK and Vegas are others, as are static routes in (b), the far form
of (a), and nodes that keep their own flows' queues short (`local_limit`, as Linux does).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from airfair.claims import MAIN, Claim, Measured, Statistic, share_of_mean
from airfair.paper import Experiment

from airfair_papers.c3l.common.scenes import (
    BASE,
    BESIDE,
    FAR,
    HIDDEN,
    HOPS,
    LIMIT,
    LIMITED,
    MIDDLE,
    NEWRENO,
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
from airfair_papers.c3l.common.shares import bars, read

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from matplotlib.figure import Figure

WHERE = "figure 2"
PLACES = {HIDDEN: MAIN, FAR: "inhibitor far", HOPS: MAIN, MIDDLE: "middle hop", SHARED: MAIN}
"""With their readings."""
SEVERAL = (HOPS, MIDDLE)


class Stated(NamedTuple):
    """The paper's statements about a scene."""

    text: str
    statistic: Statistic
    comparison: Literal["above", "below"]
    value: float


STARVES = Stated("(a) F1 starves: less than a tenth of the mean", share_of_mean("F1"), "below", 0.1)
SHORTER = Stated(
    "(b) The flow of one hop has at least twice the other's rate", share_of_mean("F2"), "above", 4 / 3
)
FEWER = Stated("(c) F4 has at least 1.3 times the mean", share_of_mean("F4"), "above", 1.3)
STATED = {HIDDEN: STARVES, FAR: STARVES, HOPS: SHORTER, MIDDLE: SHORTER, SHARED: FEWER}


def routes(place: str) -> Sequence[str]:
    """Readings of the routing at a place."""
    return (MAIN, STATIC) if place in SEVERAL else (MAIN,)


SHOWN = [
    (place, protocol, route)
    for place in PLACES
    for protocol in (*TCPS, UDP, *BESIDE)
    for route in routes(place)
]
SHORT_QUEUES = [
    (place, protocol, told(route, LIMIT))
    for place in PLACES
    for protocol in (NEWRENO, VEGAS, UDP)
    for route in routes(place)
]


def claim(place: str, protocol: str, route: str) -> Claim:
    """The claim about the scene, for this protocol."""
    stated = STATED[place]
    return Claim(
        text=stated.text,
        where=WHERE,
        source="paper",
        series=name(place, protocol, route),
        baseline=None,
        statistic=stated.statistic,
        comparison=stated.comparison,
        value=stated.value,
        reading=told("" if protocol == NEWRENO else protocol, PLACES[place], route),
    )


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs of each protocol in the three scenes, and in the other forms of two of them."""
    figure.set_size_inches(13.0, 8.0)
    panels = list(figure.subplots(2, 3).flat)
    kinds = [(place, MAIN) for place in PLACES] + [(HOPS, STATIC)]
    for axes, (place, route) in zip(panels, kinds, strict=True):
        bars(axes, rows, place, {p: name(place, p, route) for p in (*TCPS, UDP, *BESIDE)})
        axes.set_title(told(place, route), fontsize="small")


EXPERIMENT = Experiment(
    title="TCP is unfair: a hidden node, flows of one and three hops, nodes with one and three flows",
    scenario=BASE,
    series=(
        *(series(*shown) for shown in SHOWN),
        *(series(*shown, changes=LIMITED[LIMIT]) for shown in SHORT_QUEUES),
    ),
    claims=tuple(
        claim(place, protocol, route)
        for place, protocol, route in (*SHOWN, *SHORT_QUEUES)
        if protocol in TCPS
    ),
    draw=draw,
    read=read,
    interval="60 s",
    small=SMALL,
)
