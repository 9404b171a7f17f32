"""Without the sizes of neighbours' queues (ours): what they are worth.

All that a node knows of the next hop's queue comes from overheard trailers. Nodes that announce nothing (a
factor of 0) have levels and order by their own queue alone, but with the rest of DiffQ. And what comes late:
sizes that are forgotten after 10 ms. DiffQ-UDP in the scenes of figures 2 and 10.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment

from airfair_papers.diffq.common import three, variants
from airfair_papers.diffq.common.testbed import ROUTES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOTHING = "no sizes"
CHANGES = {
    NOTHING: ("diffq.size_factor=0",),
    "forgotten after 10 ms": ("diffq.expiry=10 ms",),
    "kept for 10 s": ("diffq.expiry=10 s",),
}


def claims(scene: str, reading: str) -> list[Claim]:
    """What is better with them."""

    def claim(text: str, statistic: str, comparison: Literal["above", "below"]) -> Claim:
        of = number(statistic)
        return Claim(
            text=f"{scene}: {text} than without the sizes of neighbours' queues",
            where="section 4.1",
            source="ours",
            series=variants.name(scene, reading),
            baseline=variants.name(scene, reading, NOTHING),
            statistic=of,
            comparison=comparison,
            bound=of,
            bound_series=variants.name(scene, reading, NOTHING),
            reading=reading,
        )

    return [
        claim("flow 1 has more, with all three there,", three.LONG, "above"),
        claim("a larger Jain index of the three", three.JAIN, "above"),
        claim("fewer queue drops", "queue drops", "below"),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    variants.draw(rows, figure, tuple(CHANGES))


EXPERIMENT = Experiment(
    title="DiffQ without the sizes of neighbours' queues",
    scenario=variants.FIRST,
    series=variants.series(CHANGES),
    claims=tuple(
        claim for scene in variants.SCENES for reading in ROUTES for claim in claims(scene, reading)
    ),
    draw=draw,
    quick_seeds=3,
    read=three.read,
    small=three.SMALL,
)
