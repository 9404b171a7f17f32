"""ATP and EXACT beside C3L: the series of figures 3, 4, 16 and 17, and what is claimed of them there.

Each of the three has two series: *reliable* over the transport with a rate, and *unreliable* over UDP, where
nothing is sent again and the goodput is what arrived once. So laws are compared, not repetitions. ATP and
EXACT are reliable in their papers; C3L's paper leaves reliability apart (section V).

**Readings of the laws**, one changed at a time (docs/schemes): ATP's report of the largest delay of an epoch
instead of the mean one, and slower means at its nodes (`alpha` 0.9 instead of 0.75); EXACT's division into
equal rates instead of equal times, and of 0.95 of a node's time instead of all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from airfair.claims import MAIN, Claim, jain

from airfair_papers.c3l.common.scenes import (
    ATP,
    ATP_UDP,
    C3L,
    EXACT,
    EXACT_UDP,
    RELIABLE,
    RIVALS,
    name,
    series,
    told,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from airfair.claims import Statistic
    from airfair.paper import Series

OF_C3L = (RELIABLE, C3L)
LAWS = (*RIVALS, *OF_C3L)
"""All that are paced by a rate."""
PARTNER: Mapping[str, str] = {ATP: RELIABLE, EXACT: RELIABLE, ATP_UDP: C3L, EXACT_UDP: C3L}
"""C3L of the same reliability: of the flaws of a rival the series that must be without."""

LARGEST, SLOW = "ATP's largest delay", "ATP's alpha 0.9"
RATES, PART = "EXACT's equal rates", "EXACT's 0.95 of the time"
OF_ATP: Mapping[str, tuple[str, ...]] = {LARGEST: ("atp.collate=largest",), SLOW: ("atp.alpha=0.9",)}
OF_EXACT: Mapping[str, tuple[str, ...]] = {
    RATES: ("exact.share=rate",),
    PART: ("exact.utilisation=0.95",),
}
READINGS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    ATP: OF_ATP,
    ATP_UDP: OF_ATP,
    EXACT: OF_EXACT,
    EXACT_UDP: OF_EXACT,
}
CHANGED = [(rival, reading) for rival, readings in READINGS.items() for reading in readings]
"""Each rival in each reading of its law."""


def changed(place: str) -> tuple[Series, ...]:
    """The rivals at a place in the readings of their laws."""
    return tuple(series(place, rival, reading, READINGS[rival][reading]) for rival, reading in CHANGED)


def of_rival(
    place: str,
    rival: str,
    text: str,
    where: str,
    statistic: Statistic,
    comparison: Literal["above", "below"],
    value: float = 0.0,
    *,
    law: str = MAIN,
    scene: str = MAIN,
    also: str = MAIN,
    false_of_c3l: bool = True,
    **rest: object,
) -> Claim:
    """A claim about ATP or EXACT, false of C3L if it is about a flaw. `law`: a reading of the law; `scene`:
    one that is part of the names of all series; `also`: one that is told only, that of the place."""
    return Claim(
        text=f"{rival}: {text}",
        where=where,
        series=name(place, rival, told(scene, law)),
        baseline=name(place, PARTNER[rival], scene) if false_of_c3l else None,
        statistic=statistic,
        comparison=comparison,
        value=value,
        reading=told(also, scene, law),
        about=("flow",),
        **{"source": "paper", **rest},  # type: ignore[arg-type]
    )


def even(place: str, where: str, *, scene: str = MAIN, also: str = MAIN) -> list[Claim]:
    """Of C3L beside each rival of the same reliability, which must not be so."""
    return [
        Claim(
            text=f"{own}: almost equal, Jain's index above 0.95, and {rival} is not",
            where=where,
            source="paper",
            series=name(place, own, scene),
            baseline=name(place, rival, scene),
            statistic=jain,
            comparison="above",
            value=0.95,
            reading=told(also, scene),
            about=("flow",),
        )
        for rival, own in PARTNER.items()
    ]


def laws(place: str, scenes: Iterable[tuple[str, tuple[str, ...]]] = ((MAIN, ()),)) -> tuple[Series, ...]:
    """Everything that is paced by a rate at a place, in these readings."""
    return tuple(series(place, law, reading, changes) for reading, changes in scenes for law in LAWS)
