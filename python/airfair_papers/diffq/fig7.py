"""Figure 7: goodputs of DiffQ-MORE by the number of flows; fewer flows starve than with MORE (figure 1).

"Starving only 18% of the flows in the 32 flow scenario" is read as 25 % at most, and, as MORE starves about
half of them, as at most half of MORE's share, on the same sets. The controls (ours) have the rate alone, the
levels alone, and MORE with slow sources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured
from airfair.paper import Experiment

from airfair_papers.diffq.common import SHORT
from airfair_papers.diffq.common.multipath import (
    CONTROLS,
    COUNTS,
    LIMITED,
    MORE,
    PAIRS,
    PAPERS,
    STATIC,
    claims,
    judged,
    name,
    pairs_series,
    series,
)
from airfair_papers.diffq.common.pictures import distributions
from airfair_papers.diffq.common.testbed import SCENE, STARVED, read, sets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 6.2, figure 7"
MANY = COUNTS[-1]
GIVEN = (STATIC, f"{STATIC}, probes")


def stated(plain: str, own: str) -> list[Claim]:
    """Of DiffQ over one way of forwarding."""
    ours = plain not in PAPERS
    return [
        *claims(
            f"{own}: of 32 flows 25 % and less starve",
            WHERE,
            (own, MANY),
            STARVED,
            "below",
            value=0.25,
            baseline=plain,
            readings=judged(plain),
            ours=ours,
        ),
        *claims(
            f"{own}: of 32 flows at most half as many starve as with {plain}",
            WHERE,
            (own, MANY),
            STARVED,
            "below",
            than=(plain, MANY),
            factor=0.5,
            readings=judged(plain),
            ours=ours,
        ),
        *claims(
            f"{own}: a part of it does it alone, of 32 flows at most half as many starve as with {plain}",
            WHERE,
            (own, MANY),
            STARVED,
            "below",
            than=(plain, MANY),
            factor=0.5,
            readings=CONTROLS if plain in PAPERS else (),
            ours=True,
        ),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Each forwarding, DiffQ over it in some readings, and the controls with 32 flows; static routes."""
    figure.set_size_inches(13.0, 3.5 * 2 * len(PAIRS))
    lines = figure.subplots(2 * len(PAIRS), 3).reshape(len(PAIRS), 2, 3)
    for block, (plain, own) in zip(lines, PAIRS.items(), strict=True):
        panels = (
            (plain, STATIC),
            (own, STATIC),
            (own, f"{STATIC}, threshold 0"),
            (own, f"{STATIC}, waits, slow"),
        )
        for axes, (protocol, reading) in zip(block.flat, panels, strict=False):
            distributions(axes, rows, {f"{count} flows": name(protocol, count, reading) for count in COUNTS})
            axes.set_title(f"{protocol}, {reading}", fontsize="small")
        if plain not in PAPERS:
            continue
        last = block[-1, -1]
        shown = {"whole": STATIC, **{each.removeprefix(f"{STATIC}, "): each for each in CONTROLS}}
        distributions(
            last,
            rows,
            {plain: name(plain, MANY, STATIC), **{t: name(own, MANY, r) for t, r in shown.items()}},
        )
        last.set_title(f"{own}, 32 flows, {STATIC}: parts", fontsize="small")


EXPERIMENT = Experiment(
    title="Goodputs of DiffQ-MORE by the number of flows",
    scenario=SCENE,
    series=(*pairs_series(), *series({LIMITED: GIVEN}, (MANY,))),
    claims=(
        *(claim for plain, own in PAIRS.items() for claim in stated(plain, own)),
        *claims(
            "MORE with sources of 100 kbit/s does it without DiffQ, at most half as many starve as with MORE",
            WHERE,
            (LIMITED, MANY),
            STARVED,
            "below",
            than=(MORE, MANY),
            factor=0.5,
            readings=GIVEN,
            ours=True,
        ),
    ),
    draw=draw,
    quick_seeds=3,
    by_seed=sets,
    read=read,
    interval="60 s",
    small=SHORT,
)
