"""Figure 16: the hidden node on the testbed: four nodes of 802.11a with a small largest back-off window.

The paper: the inhibited flow "does not suffer from starvation with any congestion mechanism" (more than a
twentieth of the mean, ours; in figure 3 it has less than a thousandth), existing ones "demonstrate
substantial unfairness" (Jain's index below 0.8, ours), and C3L "not only remedies this" (above 0.95) "but
also achieves a performance close to optimal" (each flow above 0.85 of the optimum that was searched).

The paper's reason is the largest window alone. Here a window of at most 63 does not end starvation: with the
standard's 7 attempts an RTS fails 7 times in a row, the packet is lost, and TCP's timer does the rest. It
takes a MAC that does not give up as well, as cards' firmware may be: the main reading. 7 and 50 attempts,
and the standard's window, are the others.

ATP, EXACT and C3L have a reliable and an unreliable series each (`common.rivals`); what is said of existing
protocols is claimed of ATP and EXACT as of TCP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from airfair.claims import MAIN, Claim, Measured, Statistic, jain, share_of_mean
from airfair.paper import Experiment

from airfair_papers.c3l.common import rivals
from airfair_papers.c3l.common.scenes import (
    LIMIT,
    MACS,
    NEWRENO,
    RIVALS,
    ROUTERS,
    SMALL,
    TCPS,
    TESTBED,
    VEGAS,
    name,
    told,
)
from airfair_papers.c3l.common.shares import bars, read
from airfair_papers.c3l.common.testbed import PROTOCOLS, all_of_own, all_series

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "figure 16, section IV-E"
READINGS = {mac: (f'name="{ROUTERS}, {mac}"', *own) for mac, (_, own) in MACS.items()}
"""Other MACs; each has an optimum of its own."""
OWN_READINGS: dict[str, tuple[str, ...]] = {"probes 3 dB": ("c3l.probe_power=3",)}


def of_tcp(protocol: str, reading: str = MAIN) -> list[Claim]:
    """Of a protocol of today."""
    own = name(ROUTERS, protocol, reading)
    text = f"{protocol}: F1 does not starve: more than a twentieth of the mean"
    starves = Claim(
        text=text,
        where=WHERE,
        source="paper",
        series=own,
        baseline=None,
        statistic=share_of_mean("F1"),
        comparison="above",
        value=0.05,
        reading=reading,
    )
    unfair = Claim(
        text=f"{protocol}: unfair: Jain's index below 0.8",
        where=WHERE,
        source="paper",
        series=own,
        baseline=None,
        statistic=jain,
        comparison="below",
        value=0.8,
        reading=reading,
    )
    return [starves, unfair]


def of_rival(rival: str, law: str, scene: str = MAIN) -> list[Claim]:
    """Of ATP or EXACT, in a reading of its law and with a MAC."""

    def of(text: str, statistic: Statistic, comparison: Literal["above", "below"], value: float) -> Claim:
        flaw = comparison == "below"
        return rivals.of_rival(
            ROUTERS,
            rival,
            text,
            WHERE,
            statistic,
            comparison,
            value,
            law=law,
            scene=scene,
            false_of_c3l=flaw,
        )

    return [
        of("F1 does not starve: more than a twentieth of the mean", share_of_mean("F1"), "above", 0.05),
        of("unfair: Jain's index below 0.8", jain, "below", 0.8),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs by protocol, and with other MACs."""
    figure.set_size_inches(15.0, 5.5)
    left, right = figure.subplots(1, 2)
    bars(left, rows, ROUTERS, {protocol: name(ROUTERS, protocol) for protocol in PROTOCOLS})
    varied = {
        told(protocol, reading): name(ROUTERS, protocol, reading)
        for protocol in (NEWRENO, *rivals.LAWS)
        for reading in READINGS
    }
    bars(right, rows, ROUTERS, varied)


EXPERIMENT = Experiment(
    title="The hidden node on a testbed of 802.11a with small windows",
    scenario=TESTBED,
    series=all_series(ROUTERS, READINGS, OWN_READINGS),
    claims=(
        *(claim for protocol in TCPS for claim in of_tcp(protocol)),
        *(
            claim
            for protocol in (NEWRENO, VEGAS)
            for reading in (*READINGS, LIMIT)
            for claim in of_tcp(protocol, reading)
        ),
        *(claim for rival in RIVALS for mac in (MAIN, *READINGS) for claim in of_rival(rival, MAIN, mac)),
        *(claim for shown in rivals.CHANGED for claim in of_rival(*shown)),
        *all_of_own(ROUTERS, WHERE, READINGS, OWN_READINGS),
    ),
    draw=draw,
    read=read,
    interval="60 s",
    small=SMALL,
)
