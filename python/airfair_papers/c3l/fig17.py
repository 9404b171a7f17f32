"""Figure 17: flows that share air but no node, on the testbed of 802.11a. Without RTS.

The paper: "existing transport protocols allocate less bandwidth to flows F1, F2 and F3 than flow F4" (F4 has
at least 1.3 times the mean, ours), C3L is fair (Jain's index above 0.95) and "close to optimum" (each flow
above 0.85 of it). The optimum is C/4 by hand: all links are in one clique, and a quarter of what a lone link
delivers (9.62 Mbit/s) is what four flows can have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, jain, number, share_of_mean
from airfair.paper import Experiment

from airfair_papers.c3l.common.scenes import (
    C3L,
    CARDS,
    CUBIC,
    LIMIT,
    LOCAL,
    NEWRENO,
    RENO,
    SACK,
    SMALL,
    TCPS,
    TESTBED,
    UDP,
    VEGAS,
    name,
    series,
)
from airfair_papers.c3l.common.shares import LEAST, bars, read

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "figure 17, section IV-E"
PROTOCOLS = (*TCPS, UDP, CUBIC, C3L, LOCAL)
VARIED = (NEWRENO, VEGAS, UDP, C3L)
READINGS: dict[str, tuple[str, ...]] = {
    "with RTS": ('radio.rts_threshold="0 B"',),
    "standard window": ("radio.cw_max=1023",),
}
SHORT_QUEUES = ('radio.local_limit="8 ms"',)
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


def of_own(reading: str = MAIN) -> list[Claim]:
    """Of C3L, and not of TCP."""
    stack = reading if reading in READINGS else MAIN
    return [
        Claim(
            text=text,
            where=WHERE,
            source="paper",
            series=name(CARDS, C3L, reading),
            baseline=name(CARDS, NEWRENO, stack),
            statistic=statistic,
            comparison="above",
            value=value,
            reading=reading,
            about=("flow",),
        )
        for text, statistic, value in (
            ("C3L is fair: Jain's index above 0.95", jain, 0.95),
            ("C3L is close to optimal: each flow above 0.85 of its optimum", number(LEAST), 0.85),
        )
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs by protocol."""
    bars(figure.subplots(), rows, CARDS, {protocol: name(CARDS, protocol) for protocol in PROTOCOLS})


EXPERIMENT = Experiment(
    title="Flows that share air but no node, on a testbed of 802.11a",
    scenario=TESTBED,
    series=(
        *(series(CARDS, protocol) for protocol in PROTOCOLS),
        *(
            series(CARDS, protocol, reading, changes)
            for protocol in VARIED
            for reading, changes in READINGS.items()
        ),
        *(series(CARDS, protocol, LIMIT, SHORT_QUEUES) for protocol in (NEWRENO, VEGAS, UDP)),
        *(series(CARDS, C3L, reading, changes) for reading, changes in OWN_READINGS.items()),
    ),
    claims=(
        *(of_tcp(protocol) for protocol in (RENO, NEWRENO, SACK, VEGAS)),
        *(of_tcp(protocol, reading) for protocol in (NEWRENO, VEGAS) for reading in (*READINGS, LIMIT)),
        *(claim for reading in (MAIN, *READINGS, *OWN_READINGS) for claim in of_own(reading)),
    ),
    draw=draw,
    read=read,
    interval="60 s",
    small=SMALL,
)
