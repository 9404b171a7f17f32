"""Figure 4: flows that share air but no node. F1 to F3 leave one node, F4 another. ATP and EXACT are missing.

The caption: protocols "fail to allocate bandwidth fairly when flows share a common radio channel": F4 has at
least 1.3 times the mean (ours). Vegas "allocates bandwidth fairly" (Jain's index above 0.9, ours), but "its
overall channel utilization is much lower than the optimum" (below 0.85 of it, ours; the optimum was searched,
as the paper's). Where flows "share some common intermediate node" they work: Jain's index above 0.9.

Receivers of their own are the main reading: C3L is said to be fair "even when they do not share a common
node" (section IV-A). With a common receiver Vegas is fair, as the paper has it: that is the other reading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, jain, number, share_of_mean
from airfair.paper import Experiment

from airfair_papers.c3l.common.scenes import (
    BASE,
    BESIDE,
    COMMON,
    LIMIT,
    LIMITED,
    NEWRENO,
    RELAY,
    RENO,
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


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs by protocol, with receivers of their own, with a common one, and through a relay."""
    figure.set_size_inches(13.0, 4.5)
    for axes, place in zip(figure.subplots(1, 3), (*READINGS, RELAY), strict=True):
        bars(axes, rows, place, {protocol: name(place, protocol) for protocol in PROTOCOLS})


EXPERIMENT = Experiment(
    title="Flows that share air but no node: most TCPs favour the lone flow, Vegas wastes air",
    scenario=BASE,
    series=(
        *(series(*shown) for shown in SHOWN),
        *(series(*shown, changes=LIMITED[LIMIT]) for shown in SHORT_QUEUES),
    ),
    claims=tuple(
        claim
        for place, protocol, reading in (*SHOWN, *SHORT_QUEUES)
        if protocol in TCPS
        for claim in claims(place, protocol, reading)
    ),
    draw=draw,
    read=read,
    interval="60 s",
    small=SMALL,
)
