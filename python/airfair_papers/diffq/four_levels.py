"""Four levels instead of eight (ours), as many as a driver without changes has.

On a stock card levels 0 to 3 are the four categories of EDCA in rising priority, BK, BE, VI, VO, with their
AIFSNs, windows and TXOPs: a radio with `categories = "edca"`. The other series has the lowest four of the
paper's eight, of which three have the same AIFSN and least window. DiffQ-UDP in the scenes of figures 2 and
10. Flow 1 keeps four fifths of what eight levels give it, which one level must not leave it, and has more
than at one level.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured
from airfair.paper import Experiment

from airfair_papers.diffq.common import three, variants
from airfair_papers.diffq.common.testbed import beside

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NO_LEVELS = "level 0 only"
STOCK, LOWEST = "stock categories", "the lowest four"
CHANGES = {
    STOCK: variants.Change(("radio.categories=edca", "diffq.levels=4")),
    LOWEST: variants.Change(("diffq.levels=4",)),
    NO_LEVELS: variants.Change(("diffq.levels=1",)),
}


def claims(scene: str, reading: str, change: str) -> list[Claim]:
    """The gain that fewer levels leave."""
    own = variants.name(scene, reading, change)
    none = variants.name(scene, reading, NO_LEVELS)
    kept = beside(
        f"{scene}, {change}: flow 1 has four fifths of what eight levels give it, or more",
        own,
        variants.name(scene, reading),
        three.LONG,
        "above",
        0.8,
        where="ours",
        reading=reading,
        control=none,
    )
    return [
        replace(kept, about=("radio.categories",)),
        beside(
            f"{scene}, {change}: flow 1 has more than without levels",
            own,
            none,
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
        for reading in variants.READINGS
        for change in CHANGES
        if change != NO_LEVELS
        for claim in claims(scene, reading, change)
    ),
    draw=draw,
    quick_seeds=3,
    read=three.read,
    small=three.SMALL,
)
