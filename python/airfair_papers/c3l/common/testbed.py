"""Figures 16 and 17: four nodes of 802.11a; what is compared at both places, and what is claimed of C3L."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, jain, number

from airfair_papers.c3l.common import rivals
from airfair_papers.c3l.common.scenes import (
    C3L,
    CUBIC,
    LIMIT,
    LOCAL,
    NEWRENO,
    RELIABLE,
    TCPS,
    UDP,
    VEGAS,
    name,
    series,
)
from airfair_papers.c3l.common.shares import LEAST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airfair.paper import Series

PROTOCOLS = (*TCPS, UDP, CUBIC, *rivals.LAWS, LOCAL)
VARIED = (NEWRENO, VEGAS, UDP, *rivals.LAWS)
SHORT_QUEUES = ('radio.local_limit="8 ms"',)


def all_series(
    place: str, readings: Mapping[str, tuple[str, ...]], own: Mapping[str, tuple[str, ...]]
) -> tuple[Series, ...]:
    """Every protocol; some in other readings and with short local queues; C3L, ATP and EXACT in readings of
    their own."""
    return (
        *(series(place, protocol) for protocol in PROTOCOLS),
        *(
            series(place, protocol, reading, changes)
            for protocol in VARIED
            for reading, changes in readings.items()
        ),
        *(series(place, protocol, LIMIT, SHORT_QUEUES) for protocol in (NEWRENO, VEGAS, UDP)),
        *(series(place, C3L, reading, changes) for reading, changes in own.items()),
        *rivals.changed(place),
    )


def of_own(place: str, own: str, where: str, reading: str, stack: str = MAIN) -> list[Claim]:
    """Of C3L, reliable or not, and not of TCP in the reading `stack`."""
    return [
        Claim(
            text=f"{own}: {text}",
            where=where,
            source="paper",
            series=name(place, own, reading),
            baseline=name(place, NEWRENO, stack),
            statistic=statistic,
            comparison="above",
            value=value,
            reading=reading,
            about=("flow",),
        )
        for text, statistic, value in (
            ("fair, Jain's index above 0.95", jain, 0.95),
            ("close to optimal, each flow above 0.85 of its optimum", number(LEAST), 0.85),
        )
    ]


def all_of_own(
    place: str, where: str, readings: Mapping[str, tuple[str, ...]], own: Mapping[str, tuple[str, ...]]
) -> list[Claim]:
    """Of C3L in every reading, and not of TCP in the same one where TCP has it; nor of ATP and EXACT. The
    reliable C3L has the stack's readings only."""
    stacks = {MAIN: MAIN, **{reading: reading for reading in readings}, **dict.fromkeys(own, MAIN)}
    return [
        *(claim for reading, stack in stacks.items() for claim in of_own(place, C3L, where, reading, stack)),
        *(
            claim
            for reading in (MAIN, *readings)
            for claim in of_own(place, RELIABLE, where, reading, reading)
        ),
        *(claim for reading in (MAIN, *readings) for claim in rivals.even(place, where, scene=reading)),
    ]
