"""Four levels instead of eight (ours), as many as a driver without changes has.

The radio keeps the paper's windows; four levels are its lowest four, of which three have the same AIFSN and
least window. DiffQ-UDP in the scenes of figures 2 and 10. Flow 1 keeps half of what eight levels give it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment

from airfair_papers.diffq.common import three, variants
from airfair_papers.diffq.common.testbed import ROUTES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NO_LEVELS = "level 0 only"
CHANGES = {
    "four of the levels": variants.Change(("diffq.levels=4",)),
    NO_LEVELS: variants.Change(("diffq.levels=1",)),
}


def claims(scene: str, reading: str, change: str) -> list[Claim]:
    """What fewer levels leave."""
    own = variants.name(scene, reading, change)
    flow = number(three.LONG)
    return [
        Claim(
            text=f"{scene}, {change}: flow 1 has half of what eight levels give it, or more",
            where="ours",
            source="ours",
            series=own,
            baseline=None,
            statistic=flow,
            comparison="above",
            bound=flow,
            bound_series=variants.name(scene, reading),
            factor=0.5,
            reading=reading,
        ),
        Claim(
            text=f"{scene}, {change}: flow 1 has more than without levels",
            where="ours",
            source="ours",
            series=own,
            baseline=variants.name(scene, reading, NO_LEVELS),
            statistic=flow,
            comparison="above",
            bound=flow,
            bound_series=variants.name(scene, reading, NO_LEVELS),
            reading=reading,
        ),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    variants.draw(rows, figure, tuple(CHANGES))


EXPERIMENT = Experiment(
    title="DiffQ over four levels, and over the categories of a stock card",
    scenario=variants.FIRST,
    series=variants.series(CHANGES),
    claims=tuple(
        claim
        for scene in variants.SCENES
        for reading in ROUTES
        for change in CHANGES
        if change != NO_LEVELS
        for claim in claims(scene, reading, change)
    ),
    draw=draw,
    quick_seeds=3,
    read=three.read,
    small=three.SMALL,
)
