"""Four levels instead of eight (ours), as many as a driver without changes has.

The radio keeps the paper's windows; four levels are its lowest four, of which three have the same AIFSN and
least window. DiffQ-UDP in the scenes of figures 2 and 10. Flow 1 keeps half of what eight levels give it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured
from airfair.paper import Experiment

from airfair_papers.diffq.common import three, variants
from airfair_papers.diffq.common.testbed import ROUTES, beside

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
    return [
        beside(
            f"{scene}, {change}: flow 1 has half of what eight levels give it, or more",
            own,
            variants.name(scene, reading),
            three.LONG,
            "above",
            0.5,
            where="ours",
            reading=reading,
            judged=False,
        ),
        beside(
            f"{scene}, {change}: flow 1 has more than without levels",
            own,
            variants.name(scene, reading, NO_LEVELS),
            three.LONG,
            "above",
            where="ours",
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
