"""Figure 17: flows that share air but no node, on the testbed of 802.11a. Without RTS.

The paper: "existing transport protocols allocate less bandwidth to flows F1, F2 and F3 than flow F4" (F4 has
at least 1.3 times the mean, ours), C3L is fair (Jain's index above 0.95) and "close to optimum" (each flow
above 0.85 of it). The optimum is C/4 by hand: all links are in one clique, and a quarter of what a lone link
delivers (9.62 Mbit/s) is what four flows can have.

ATP, EXACT and C3L have a reliable and an unreliable series each (`common.rivals`); the words about existing
protocols are claimed of ATP and EXACT as of TCP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, share_of_mean
from airfair.paper import Experiment

from airfair_papers.c3l.common import rivals
from airfair_papers.c3l.common.scenes import (
    CARDS,
    LIMIT,
    NEWRENO,
    RENO,
    RIVALS,
    SACK,
    SMALL,
    TESTBED,
    VEGAS,
    name,
)
from airfair_papers.c3l.common.shares import bars, read
from airfair_papers.c3l.common.testbed import PROTOCOLS, all_of_own, all_series

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "figure 17, section IV-E"
READINGS: dict[str, tuple[str, ...]] = {
    "with RTS": ('radio.rts_threshold="0 B"',),
    "standard window": ("radio.cw_max=1023",),
}
OWN_READINGS: dict[str, tuple[str, ...]] = {
    "probes 3 dB": ("c3l.probe_power=3",),
    "conflict by receivers": ("c3l.conflict=receivers",),
}


def of_tcp(protocol: str, reading: str = MAIN) -> Claim:
    """Of a protocol of today."""
    return Claim(
        text=f"{protocol}: F4 has at least 1.3 times the mean",
        where=WHERE,
        source="paper",
        series=name(CARDS, protocol, reading),
        baseline=None,
        statistic=share_of_mean("F4"),
        comparison="above",
        value=1.3,
        reading=reading,
    )


def of_rival(rival: str, law: str = MAIN, scene: str = MAIN) -> Claim:
    """Of ATP or EXACT, in a reading of its law and of the cards."""
    text = "F4 has at least 1.3 times the mean"
    return rivals.of_rival(CARDS, rival, text, WHERE, share_of_mean("F4"), "above", 1.3, law=law, scene=scene)


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs by protocol."""
    figure.set_size_inches(11.0, 5.0)
    bars(figure.subplots(), rows, CARDS, {protocol: name(CARDS, protocol) for protocol in PROTOCOLS})


EXPERIMENT = Experiment(
    title="Flows that share air but no node, on a testbed of 802.11a",
    scenario=TESTBED,
    series=all_series(CARDS, READINGS, OWN_READINGS),
    claims=(
        *(of_tcp(protocol) for protocol in (RENO, NEWRENO, SACK, VEGAS)),
        *(of_tcp(protocol, reading) for protocol in (NEWRENO, VEGAS) for reading in (*READINGS, LIMIT)),
        *(of_rival(rival, MAIN, scene) for rival in RIVALS for scene in (MAIN, *READINGS)),
        *(of_rival(*shown) for shown in rivals.CHANGED),
        *all_of_own(CARDS, WHERE, READINGS, OWN_READINGS),
    ),
    draw=draw,
    read=read,
    interval="60 s",
    small=SMALL,
)
