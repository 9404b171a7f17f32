"""A relay that lies about its queue (ours). Nothing in the paper checks what a trailer says.

Node C of figure 2, the last relay of flow 1, announces nothing, which attracts packets: B sends more than C
can forward. Or it announces ten times its queue, so that B sends at level 0 and C has the air for others.
DiffQ-UDP; C runs `diffq-liar`, with a factor of 1 in the series that the lies are compared with. Where queues
wait a size is more than a level: B holds its packets while C says to have more.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from airfair.claims import Claim, Measured
from airfair.paper import Experiment, Series

from airfair_papers.diffq.common import three
from airfair_papers.diffq.common.testbed import (
    DIFFQ_UDP,
    PROTOCOLS,
    READINGS,
    ROUTES,
    WAITS,
    beside,
    waits,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RELAY = "node.C.scheme=diffq-liar"
HONEST, MORE, NOTHING = "C is honest", "C announces ten times its queue", "C announces nothing"
KINDS = {
    HONEST: (RELAY, "diffq-liar.size_factor=1"),
    MORE: (RELAY, "diffq-liar.size_factor=10"),
    NOTHING: (RELAY, "diffq-liar.size_factor=0"),
}


IN = (*ROUTES, *WAITS)


def changes(kind: str, reading: str) -> tuple[str, ...]:
    """Of a kind of relay in a reading, which is the relay's too."""
    own = waits("diffq-liar") if READINGS[reading].waits else ()
    return (*three.of_each(READINGS[reading].changes(PROTOCOLS[DIFFQ_UDP])), *own, *KINDS[kind])


def name(kind: str, reading: str) -> str:
    """The name of a series."""
    return f"{three.name(DIFFQ_UDP, reading)}, {kind}"


def claims(reading: str) -> list[Claim]:
    """What a lie costs the flow, and who gains."""

    def claim(text: str, kind: str, comparison: Literal["above", "below"], factor: float) -> Claim:
        lying, honest = name(kind, reading), name(HONEST, reading)
        return beside(
            text,
            lying,
            honest,
            three.LONG,
            comparison,
            factor,
            where="ours",
            reading=reading,
            judged=False,
        )

    return [
        claim("Ten times the queue costs flow 1 a tenth of its rate and more", MORE, "below", 0.9),
        claim("Ten times the queue leaves flow 1 half of its rate and more", MORE, "above", 0.5),
        claim("No announcements leave flow 1 half of its rate and more", NOTHING, "above", 0.5),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs of the three flows while all are there."""
    figure.set_size_inches(9.0, 7.0)
    for axes, reading in zip(figure.subplots(2, 2).flat, IN, strict=True):
        three.goodputs(axes, rows, {kind: name(kind, reading) for kind in KINDS})
        axes.set_title(reading)


EXPERIMENT = Experiment(
    title="A relay that lies about its queue",
    scenario=Path(__file__).with_name("fig2.toml"),
    series=tuple(
        Series(name(kind, reading), "diffq", changes(kind, reading)) for reading in IN for kind in KINDS
    ),
    claims=tuple(claim for reading in IN for claim in claims(reading)),
    draw=draw,
    quick_seeds=3,
    read=three.read,
    small=three.SMALL,
)
