"""Figure 3: existing transport protocols amplify the hidden node's unfairness.

What the MAC alone does is what saturating UDP shows; TCP's sender "further backs off". Claimed of each TCP:
F1 has less than a tenth of the mean ("extremely unfair", section IV-A), and less than half of what UDP leaves
it, seed by seed. Where the inhibitor is far, UDP leaves F1 nothing either, so only the first can be claimed.
Vegas, CUBIC and NRED are beside; the paper's own words name TCP, ATP and EXACT, of which the same is claimed,
and that C3L is not so. Ours: neither law slows the inhibitor, F2 has nine tenths of what it has alone. ATP,
EXACT and C3L have a reliable and an unreliable series each (`common.rivals`).

The scene, and what its effect hangs on: the inhibitor in reception range of node 2 (the main reading: the
paper's definition of an inhibited link), out of it, ns-2's sense range of 550 m, the rules of 802.11 instead
of ns-2's, short queues of a node's own flows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from airfair.claims import MAIN, Claim, Measured, Statistic, goodput, share_of_mean
from airfair.paper import Experiment

from airfair_papers.c3l.common import rivals
from airfair_papers.c3l.common.scenes import (
    ALONE,
    BASE,
    BESIDE,
    FAR,
    HIDDEN,
    LIMIT,
    LIMITED,
    NEWRENO,
    RENO,
    RIVALS,
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
CONNECTED = tuple(place for place in READINGS if place != WIDE)
"""Where a controller can tell both sources; with ns-2's ranges nodes 2 and 3 do not hear each other."""
LAWS = [
    *((place, rival, MAIN) for place in READINGS for rival in RIVALS),
    *((place, rival, law) for place in (HIDDEN, FAR) for rival, law in rivals.CHANGED),
]
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


def of_rival(place: str, rival: str, law: str) -> list[Claim]:
    """Of ATP or EXACT in a form of the scene."""
    at = {"law": law, "also": READINGS[place]}

    def of(text: str, statistic: Statistic, comparison: Literal["above", "below"], **rest: object) -> Claim:
        return rivals.of_rival(place, rival, text, WHERE, statistic, comparison, **at, **rest)  # type: ignore[arg-type]

    made = [of("F1 has less than a tenth of the mean", share_of_mean("F1"), "below", value=0.1)]
    if place in (HIDDEN, SENSED):
        less = {"bound": goodput("F1"), "bound_series": name(place, UDP), "factor": 0.5, "paired": True}
        made.append(of("F1 has less than half of what UDP leaves it", goodput("F1"), "below", **less))
    if place in (HIDDEN, FAR):
        alone = {"bound": goodput("F2"), "bound_series": name(ALONE, rival), "factor": 0.9, "paired": True}
        text = "F2 has nine tenths of what it has alone"
        made.append(of(text, goodput("F2"), "above", source="ours", **alone))
    return made


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs by protocol in each form of the scene."""
    figure.set_size_inches(13.0, 9.0)
    for axes, place in zip(figure.subplots(2, 2).flat, READINGS, strict=True):
        bars(axes, rows, place, {one: name(place, one) for one in (*PROTOCOLS, *rivals.LAWS)})


EXPERIMENT = Experiment(
    title="TCP amplifies the hidden node's unfairness",
    scenario=BASE,
    series=(
        *(series(*shown) for shown in SHOWN),
        *(series(*shown, changes=LIMITED[LIMIT]) for shown in SHORT_QUEUES),
        *(one for place in (*READINGS, ALONE) for one in rivals.laws(place)),
        *(one for place in (HIDDEN, FAR) for one in rivals.changed(place)),
    ),
    claims=(
        *(
            claim
            for place, protocol, reading in (*SHOWN, *SHORT_QUEUES)
            if protocol in TCPS
            for claim in claims(place, protocol, reading)
        ),
        *(claim for shown in LAWS for claim in of_rival(*shown)),
        *(claim for place in CONNECTED for claim in rivals.even(place, WHERE, also=READINGS[place])),
    ),
    draw=draw,
    read=read,
    interval="60 s",
    small=SMALL,
)
