"""Figure 4: flows that share air but no node. F1 to F3 leave one node, F4 another.

The caption: protocols "fail to allocate bandwidth fairly when flows share a common radio channel": F4 has at
least 1.3 times the mean (ours). Vegas "allocates bandwidth fairly" (Jain's index above 0.9, ours), but "its
overall channel utilization is much lower than the optimum" (below 0.85 of it, ours; the optimum was searched,
as the paper's). Where flows "share some common intermediate node" they work: Jain's index above 0.9.

Receivers of their own are the main reading: C3L is said to be fair "even when they do not share a common
node" (section IV-A). With a common receiver Vegas is fair, as the paper has it: that is the other reading.

ATP, EXACT and C3L have a reliable and an unreliable series each (`common.rivals`); the caption's words are
claimed of ATP and EXACT as of TCP, and of C3L that all four flows are about equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, jain, number, share_of_mean
from airfair.paper import Experiment

from airfair_papers.c3l.common import rivals
from airfair_papers.c3l.common.scenes import (
    BASE,
    BESIDE,
    COMMON,
    LIMIT,
    LIMITED,
    NEWRENO,
    RELAY,
    RENO,
    RIVALS,
    ROUTES,
    SACK,
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
from airfair_papers.c3l.common.shares import WHOLE, bars, read

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "figure 4"
READINGS = {SHARED: MAIN, COMMON: "common receiver"}
PROTOCOLS = (*TCPS, UDP, *BESIDE)
SHOWN = [
    *((place, protocol, MAIN) for place in (*READINGS, RELAY) for protocol in PROTOCOLS),
    *((RELAY, protocol, STATIC) for protocol in PROTOCOLS),
]
LAWS = [
    *((place, rival, MAIN) for place in (*READINGS, RELAY) for rival in RIVALS),
    *((RELAY, rival, STATIC) for rival in RIVALS),
    *((SHARED, rival, law) for rival, law in rivals.CHANGED),
]
SHORT_QUEUES = [(place, protocol, LIMIT) for place in READINGS for protocol in PROTOCOLS]


def claims(place: str, protocol: str, reading: str) -> list[Claim]:
    """Of a TCP in a form of the scene."""

    def of(text: str, **rest: object) -> Claim:
        return Claim(
            text=f"{protocol}: {text}",
            where=WHERE,
            source="paper",
            series=name(place, protocol, reading),
            baseline=None,
            reading=told(READINGS.get(place, ""), reading),
            **rest,  # type: ignore[arg-type]
        )

    if place == RELAY:
        return [of("fair through a common relay", statistic=jain, comparison="above", value=0.9)]
    if protocol == VEGAS:
        return [
            of("fair: Jain's index above 0.9", statistic=jain, comparison="above", value=0.9),
            of("total below 0.85 of the optimum", statistic=number(WHOLE), comparison="below", value=0.85),
        ]
    if protocol in (RENO, NEWRENO, SACK):
        text = "F4 has at least 1.3 times the mean"
        return [of(text, statistic=share_of_mean("F4"), comparison="above", value=1.3)]
    return []


def of_rival(place: str, rival: str, reading: str) -> Claim:
    """Of ATP or EXACT in a form of the scene. Through a relay C3L is fair as well, so that nothing is false
    of it there."""
    if place == RELAY:
        text = "fair through a common relay"
        return rivals.of_rival(
            place, rival, text, WHERE, jain, "above", 0.9, scene=reading, false_of_c3l=False
        )
    text, also = "F4 has at least 1.3 times the mean", READINGS[place]
    return rivals.of_rival(
        place, rival, text, WHERE, share_of_mean("F4"), "above", 1.3, law=reading, also=also
    )


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs by protocol, with receivers of their own, with a common one, and through a relay."""
    figure.set_size_inches(16.0, 5.0)
    for axes, place in zip(figure.subplots(1, 3), (*READINGS, RELAY), strict=True):
        bars(axes, rows, place, {one: name(place, one) for one in (*PROTOCOLS, *rivals.LAWS)})


EXPERIMENT = Experiment(
    title="Flows that share air but no node: most TCPs favour the lone flow, Vegas wastes air",
    scenario=BASE,
    series=(
        *(series(*shown) for shown in SHOWN),
        *(series(*shown, changes=LIMITED[LIMIT]) for shown in SHORT_QUEUES),
        *(one for place in (*READINGS, RELAY) for one in rivals.laws(place)),
        *rivals.laws(RELAY, ((STATIC, ROUTES[STATIC]),)),
        *rivals.changed(SHARED),
    ),
    claims=(
        *(
            claim
            for place, protocol, reading in (*SHOWN, *SHORT_QUEUES)
            if protocol in TCPS
            for claim in claims(place, protocol, reading)
        ),
        *(of_rival(*shown) for shown in LAWS),
        *(claim for place, told_as in READINGS.items() for claim in rivals.even(place, WHERE, also=told_as)),
    ),
    draw=draw,
    read=read,
    interval="60 s",
    small=SMALL,
)
