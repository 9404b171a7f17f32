"""Figure 3: existing transport protocols amplify the hidden node's unfairness. ATP and EXACT are missing.

What the MAC alone does is what saturating UDP shows; TCP's sender "further backs off". Claimed of each TCP:
F1 has less than a tenth of the mean ("extremely unfair", section IV-A), and less than half of what UDP leaves
it, seed by seed. Where the inhibitor is far, UDP leaves F1 nothing either, so only the first can be claimed.
Vegas, CUBIC and NRED are beside; the paper's own words name TCP, ATP and EXACT.

The scene, and what its effect hangs on: the inhibitor in reception range of node 2 (the main reading: the
paper's definition of an inhibited link), out of it, ns-2's sense range of 550 m, the rules of 802.11 instead
of ns-2's, short queues of a node's own flows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, goodput, share_of_mean
from airfair.paper import Experiment

from airfair_papers.c3l.common.scenes import (
    BASE,
    BESIDE,
    FAR,
    HIDDEN,
    LIMIT,
    LIMITED,
    NEWRENO,
    RENO,
    SACK,
    SENSED,
    SMALL,
    TCPS,
    UDP,
    WIDE,
    name,
    series,
    told,
)
from airfair_papers.c3l.common.shares import bars, read

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "figure 3, section IV-A"
READINGS = {HIDDEN: MAIN, FAR: "inhibitor far", WIDE: "sensed to 550 m", SENSED: "standard radio"}
PROTOCOLS = (*TCPS, UDP, *BESIDE)
SHOWN = [(place, protocol, MAIN) for place in READINGS for protocol in PROTOCOLS]
SHORT_QUEUES = [(HIDDEN, protocol, LIMIT) for protocol in PROTOCOLS]


def claims(place: str, protocol: str, reading: str) -> list[Claim]:
    """Of a TCP in a form of the scene."""

    def of(text: str, **rest: object) -> Claim:
        return Claim(
            text=f"{protocol}: {text}",
            where=WHERE,
            source="paper" if protocol in (RENO, NEWRENO, SACK) else "ours",
            series=name(place, protocol, reading),
            baseline=None,
            comparison="below",
            reading=told(READINGS[place], reading),
            **rest,  # type: ignore[arg-type]
        )

    made = [of("F1 has less than a tenth of the mean", statistic=share_of_mean("F1"), value=0.1)]
    if place in (HIDDEN, SENSED):
        less = {"bound": goodput("F1"), "bound_series": name(place, UDP, reading), "factor": 0.5}
        made.append(
            of("F1 has less than half of what UDP leaves it", statistic=goodput("F1"), paired=True, **less)
        )
    return made


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs by protocol in each form of the scene."""
    figure.set_size_inches(11.0, 7.0)
    for axes, place in zip(figure.subplots(2, 2).flat, READINGS, strict=True):
        bars(axes, rows, place, {protocol: name(place, protocol) for protocol in PROTOCOLS})


EXPERIMENT = Experiment(
    title="TCP amplifies the hidden node's unfairness",
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
