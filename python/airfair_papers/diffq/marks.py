"""Marks (ours): destination queues mark what could be marked, and plain TCP beside DiffQ slows down before
they overflow.

The paper's queues drop at D, and only DiffQ's sources follow a queue, their own. With `mark_above` a
destination queue marks from that many packets on. DiffQ-TCP with ECN in the scenes of figures 2 and 10: a
mark from a relay then reaches the source, which the queues between do not. Judged is whether relays overflow
less, and what flow 1 gets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from airfair.claims import Claim, Measured
from airfair.paper import Experiment

from airfair_papers.diffq.common import three, variants
from airfair_papers.diffq.common.testbed import beside

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ECN, MARKS = "ECN", "marks above D/4"
CHANGES = {
    ECN: variants.Change(("tcp.ecn=true",)),
    MARKS: variants.Change(("tcp.ecn=true", "diffq.mark_above=25")),
    "marks above D/2": variants.Change(("tcp.ecn=true", "diffq.mark_above=50")),
}


def claims(scene: str, reading: str) -> list[Claim]:
    """Over ECN without marks."""

    def claim(text: str, statistic: str, comparison: Literal["above", "below"], factor: float) -> Claim:
        own, other = (variants.name(scene, reading, kind, tcp=True) for kind in (MARKS, ECN))
        text = f"{scene}: {text}"
        return beside(text, own, other, statistic, comparison, factor, where="ours", reading=reading)

    return [
        claim("marks halve the queue drops", "queue drops", "below", 0.5),
        claim("flow 1 has more with marks", three.LONG, "above", 1.0),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    variants.draw(rows, figure, tuple(CHANGES), tcp=True)


EXPERIMENT = Experiment(
    title="Destination queues that mark",
    scenario=variants.FIRST,
    series=variants.series(CHANGES, tcp=True),
    claims=tuple(
        claim
        for scene in variants.SCENES
        for reading in variants.READINGS
        for claim in claims(scene, reading)
    ),
    draw=draw,
    quick_seeds=3,
    read=three.read,
    small=three.SMALL,
)
