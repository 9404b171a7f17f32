"""Without overhearing (ours): what sizes of neighbours' queues are worth, and another way to learn them.

All that a node knows of the next hop's queue comes from overheard trailers. Cards that do not pass frames for
others up can tell the sizes by broadcasts. And no knowledge at all: levels and order by the node's own queue
(`diffq-occupancy`). DiffQ-UDP in the scenes of figures 2 and 10.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from airfair.claims import Claim, Measured
from airfair.paper import Experiment

from airfair_papers.diffq.common import three, variants
from airfair_papers.diffq.common.testbed import beside

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOTHING, BROADCAST = "no sizes", "sizes by broadcast"
CHANGES = {
    BROADCAST: variants.Change(("diffq.sizes_by=broadcast",)),
    "sizes by broadcast each second": variants.Change(
        ("diffq.sizes_by=broadcast", "diffq.announcement_interval=1 s", "diffq.expiry=3 s")
    ),
    "forgotten after 10 ms": variants.Change(("diffq.expiry=10 ms",)),
    NOTHING: variants.Change((), "diffq-occupancy"),
}


def claims(scene: str, reading: str) -> list[Claim]:
    """The gain by known sizes, by overhearing or by broadcasts."""

    def claim(
        text: str, change: str, statistic: str, comparison: Literal["above", "below"], factor: float = 1.0
    ) -> Claim:
        return beside(
            f"{scene}: {text}",
            variants.name(scene, reading, change),
            variants.name(scene, reading, "" if change else NOTHING),
            statistic,
            comparison,
            factor,
            where="section 4.1",
            reading=reading,
            control=variants.name(scene, reading, NOTHING) if change else None,
        )

    return [
        claim("with sizes flow 1 has more than without", "", three.LONG, "above"),
        claim("with sizes Jain's index of the three is larger than without", "", three.JAIN, "above"),
        claim("with sizes there are fewer queue drops than without", "", "queue drops", "below"),
        claim(
            "by broadcast flow 1 has 0.9 of what it has by overhearing", BROADCAST, three.LONG, "above", 0.9
        ),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    variants.draw(rows, figure, tuple(CHANGES))


EXPERIMENT = Experiment(
    title="DiffQ without overhearing, and without the sizes of neighbours' queues",
    scenario=variants.FIRST,
    series=variants.series(CHANGES),
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
