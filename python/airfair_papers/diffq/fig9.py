"""Figure 9: goodputs of DiffQ-TCP by the number of flows; far fewer flows starve than with TCP (figure 1).

"A far less number" is read as at most half of TCP's share, on the same sets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import MAIN, Measured
from airfair.paper import Experiment

from airfair_papers.diffq.common import SHORT
from airfair_papers.diffq.common.pictures import distributions
from airfair_papers.diffq.common.testbed import (
    BASELINES,
    COUNTS,
    DIFFQ_TCP,
    LOG_TCP,
    OWN,
    PACKETS,
    ROUTES,
    SCENE,
    STARVED,
    TCP,
    TCP_8,
    name,
    read,
    series,
    sets,
    times,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 6.3, figure 9"


def draw(rows: Measured, figure: Figure) -> None:
    """TCP, DiffQ-TCP, and this by packets; with the paper's routes and with static ones."""
    figure.set_size_inches(13.0, 7.0)
    for line, reading, counted in zip(figure.subplots(2, 3), ROUTES, PACKETS, strict=True):
        for axes, (protocol, of) in zip(
            line, ((TCP, reading), (DIFFQ_TCP, reading), (DIFFQ_TCP, counted)), strict=True
        ):
            distributions(axes, rows, {f"{count} flows": name(protocol, count, of) for count in COUNTS})
            axes.set_title(f"{protocol}, {'OLSR' if of == MAIN else of}")


EXPERIMENT = Experiment(
    title="Goodputs of DiffQ-TCP by the number of flows",
    scenario=SCENE,
    series=series({TCP: BASELINES, TCP_8: ROUTES, DIFFQ_TCP: OWN, LOG_TCP: ROUTES}),
    claims=tuple(
        claim
        for count in COUNTS
        for claim in times(
            f"Of {count} flows at most half as many starve as with TCP",
            WHERE,
            DIFFQ_TCP,
            count,
            STARVED,
            0.5,
            below=True,
        )
    ),
    draw=draw,
    quick_seeds=3,
    by_seed=sets,
    read=read,
    interval="60 s",
    small=SHORT,
)
