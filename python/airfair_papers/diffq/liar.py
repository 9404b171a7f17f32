"""A relay that lies about its queue (ours). Nothing in the paper checks what a trailer says.

Node C of figure 2, the last relay of flow 1, announces nothing, which attracts packets: B sends more than C
can forward. Or it announces ten times its queue, so that B sends at level 0 and C has the air for others.
DiffQ-UDP; C runs `diffq-liar`, with a factor of 1 in the series that the lies are compared with.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from airfair.claims import Claim, Measured
from airfair.paper import Experiment, Series

from airfair_papers.diffq.common import three
from airfair_papers.diffq.common.testbed import DIFFQ_UDP, PROTOCOLS, READINGS, ROUTES, beside

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RELAY = "node.C.scheme=diffq-liar"
HONEST, MORE, NOTHING = "C is honest", "C announces ten times its queue", "C announces nothing"
KINDS = {
    HONEST: (RELAY, "diffq-liar.size_factor=1"),
    MORE: (RELAY, "diffq-liar.size_factor=10"),
    NOTHING: (RELAY, "diffq-liar.size_factor=0"),
}


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
    for axes, reading in zip(figure.subplots(1, 2), ROUTES, strict=True):
        three.goodputs(axes, rows, {kind: name(kind, reading) for kind in KINDS})
        axes.set_title(reading)


EXPERIMENT = Experiment(
    title="A relay that lies about its queue",
    scenario=Path(__file__).with_name("fig2.toml"),
    series=tuple(
        Series(
            name(kind, reading),
            "diffq",
            (*three.of_each(READINGS[reading].changes(PROTOCOLS[DIFFQ_UDP])), *changes),
        )
        for reading in ROUTES
        for kind, changes in KINDS.items()
    ),
    claims=tuple(claim for reading in ROUTES for claim in claims(reading)),
    draw=draw,
    quick_seeds=3,
    read=three.read,
    small=three.SMALL,
)
