"""Table I: rounds until another set of 20 flows has its rates, by the cycle of the controller.

The paper: 3.31, 3.70, 1.34 and 1.49 rounds with cycles of 2, 4, 8 and 16 s, which is 6.6, 14.8, 10.7 and
23.8 s: by time the shortest cycle is quickest. "Optimizes" is said of rounds and overhead, and so is what is
claimed here. Readings are those of `common.convergence`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment

from airfair_papers.c3l.common.convergence import (
    COUNT,
    CYCLES,
    HOW,
    ROUNDS,
    SECONDS,
    SHORT,
    name,
    read,
    series,
)
from airfair_papers.c3l.common.scenes import BASE, C3L, DRAWN_ROUTES
from airfair_papers.c3l.fig13 import SHOWN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONG, QUICK = (8, 16), (2, 4)


def draw(rows: Measured, figure: Figure) -> None:
    """Rounds and seconds over the cycle."""
    plots = figure.subplots(1, 2)
    for axes, statistic in zip(plots, (ROUNDS, SECONDS), strict=True):
        for (routes, how), reading in SHOWN.items():
            values = [number(f"{statistic}{HOW[how]}").of(rows[name(COUNT, c, routes)]) for c in CYCLES]
            axes.errorbar(
                CYCLES,
                [value["mean"] for value in values],
                yerr=[value["ci95"] or 0 for value in values],
                capsize=2,
                marker="o",
                label=reading,
            )
        axes.set_xlabel("cycle (s)")
        axes.set_ylabel(statistic)
        axes.set_ylim(bottom=0)
    plots[0].legend(fontsize="x-small")


EXPERIMENT = Experiment(
    title="Rounds until another set of flows has its rates, by the cycle",
    scenario=BASE,
    series=tuple(series(C3L, COUNT, cycle, routes) for routes in DRAWN_ROUTES for cycle in CYCLES),
    claims=(
        *(
            Claim(
                text=f"a cycle of {cycle} s takes fewer rounds than one of {other} s",
                where="table I",
                source="paper",
                series=name(COUNT, cycle, routes),
                baseline=name(COUNT, other, routes),
                statistic=number(f"{ROUNDS}{HOW[how]}"),
                comparison="below",
                bound=number(f"{ROUNDS}{HOW[how]}"),
                bound_series=name(COUNT, other, routes),
                paired=True,
                reading=reading,
            )
            for (routes, how), reading in SHOWN.items()
            for cycle in LONG
            for other in QUICK
        ),
        *(
            Claim(
                text="a cycle of 2 s takes less time than one of 16 s",
                where="table I, its numbers by time",
                source="paper",
                series=name(COUNT, 2, routes),
                baseline=name(COUNT, 16, routes),
                statistic=number(f"{SECONDS}{HOW[how]}"),
                comparison="below",
                bound=number(f"{SECONDS}{HOW[how]}"),
                bound_series=name(COUNT, 16, routes),
                paired=True,
                reading=reading,
            )
            for (routes, how), reading in SHOWN.items()
        ),
    ),
    draw=draw,
    read=read,
    interval="1 s",
    small=SHORT,
)
