"""Levels by differential against levels by a node's own queue, on the testbed (section 4.1; ours).

The paper argues against queue occupancy: a node with a long queue before a congested next hop only adds to
the congestion there (figure 3, `fig3.py`). It measures neither. Here all else is DiffQ's: destination queues,
source rates, scheduling. UDP, so that losses stay lost. Where queues wait, both wait by their differential.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment

from airfair_papers.diffq.common import SHORT
from airfair_papers.diffq.common.pictures import bars
from airfair_papers.diffq.common.testbed import (
    DIFFQ_UDP,
    JAIN,
    OURS,
    SCENE,
    TOTAL,
    UTILITY,
    beside,
    name,
    read,
    series,
    sets,
)

if TYPE_CHECKING:
    from airfair.paper import Series
    from matplotlib.figure import Figure

COUNTS = (16, 32)
DROPS = "queue drops"


def occupancy(count: int, reading: str) -> str:
    """The name of the series with levels by a node's own queue."""
    return f"by occupancy, {name(DIFFQ_UDP, count, reading)}"


def compared() -> list[Series]:
    """The series of DiffQ-UDP with the other scheme."""
    own = {one.name: one for one in series({DIFFQ_UDP: OURS}, COUNTS)}
    return [
        replace(
            own[name(DIFFQ_UDP, count, reading)],
            name=occupancy(count, reading),
            scheme="diffq-occupancy",
            overrides=tuple(
                change.replace("diffq.", "diffq-occupancy.")
                for change in own[name(DIFFQ_UDP, count, reading)].overrides
            ),
        )
        for reading in OURS
        for count in COUNTS
    ]


def claims(count: int, reading: str) -> list[Claim]:
    """Fewer overflows, a larger log utility, a larger index, no smaller total."""

    def claim(text: str, statistic: str, comparison: Literal["above", "below"], factor: float = 1.0) -> Claim:
        return beside(
            f"{count} flows: {text} than with levels by occupancy",
            name(DIFFQ_UDP, count, reading),
            occupancy(count, reading),
            statistic,
            comparison,
            factor,
            where="section 4.1",
            reading=reading,
            paired=True,
        )

    return [
        claim("fewer overflows", DROPS, "below"),
        claim("a larger log utility", UTILITY, "above"),
        claim("a larger Jain index", JAIN, "above"),
        claim("a larger total", TOTAL, "above"),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Index, log utility and overflows."""
    for axes, statistic in zip(figure.subplots(1, 3), (JAIN, UTILITY, DROPS), strict=True):
        groups = {
            f"{kind}, {reading}": [number(statistic).of(rows[of(count, reading)]) for count in COUNTS]
            for reading in OURS
            for kind, of in (
                ("by differential", lambda count, reading: name(DIFFQ_UDP, count, reading)),
                ("by occupancy", occupancy),
            )
        }
        bars(axes, list(map(str, COUNTS)), groups)
        axes.set_ylabel(statistic)
        axes.legend(fontsize="xx-small")


EXPERIMENT = Experiment(
    title="Levels by differential or by a node's own queue",
    scenario=SCENE,
    series=(*series({DIFFQ_UDP: OURS}, COUNTS), *compared()),
    claims=tuple(claim for count in COUNTS for reading in OURS for claim in claims(count, reading)),
    draw=draw,
    quick_seeds=3,
    by_seed=sets,
    read=read,
    interval="60 s",
    small=SHORT,
)
