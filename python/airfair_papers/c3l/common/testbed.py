"""Figures 16 and 17: four nodes of 802.11a; what is compared at both places, and what is claimed of C3L."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, jain, number

from airfair_papers.c3l.common.scenes import (
    C3L,
    CUBIC,
    LIMIT,
    LOCAL,
    NEWRENO,
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

PROTOCOLS = (*TCPS, UDP, CUBIC, C3L, LOCAL)
VARIED = (NEWRENO, VEGAS, UDP, C3L)
SHORT_QUEUES = ('radio.local_limit="8 ms"',)


def all_series(
    place: str, readings: Mapping[str, tuple[str, ...]], own: Mapping[str, tuple[str, ...]]
) -> tuple[Series, ...]:
    """Every protocol; some in other readings and with short local queues; C3L in readings of its own."""
    return (
        *(series(place, protocol) for protocol in PROTOCOLS),
        *(
            series(place, protocol, reading, changes)
            for protocol in VARIED
            for reading, changes in readings.items()
        ),
        *(series(place, protocol, LIMIT, SHORT_QUEUES) for protocol in (NEWRENO, VEGAS, UDP)),
        *(series(place, C3L, reading, changes) for reading, changes in own.items()),
    )


def of_own(place: str, where: str, reading: str, stack: str = MAIN) -> list[Claim]:
    """Of C3L, and not of TCP in the reading `stack`."""
    return [
        Claim(
            text=text,
            where=where,
            source="paper",
            series=name(place, C3L, reading),
            baseline=name(place, NEWRENO, stack),
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


def all_of_own(
    place: str, where: str, readings: Mapping[str, tuple[str, ...]], own: Mapping[str, tuple[str, ...]]
) -> list[Claim]:
    """Of C3L in every reading, and not of TCP in the same one where TCP has it."""
    stacks = {MAIN: MAIN, **{reading: reading for reading in readings}, **dict.fromkeys(own, MAIN)}
    return [claim for reading, stack in stacks.items() for claim in of_own(place, where, reading, stack)]
