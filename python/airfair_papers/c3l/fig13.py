"""Figure 13: how many rounds the controller takes until a new set of flows has its rates, by their number.

Readings are those of `common.convergence`, and two more. *Rounds run*: those that the controller has run by
then, the first of them a cycle after the change; otherwise parts of a cycle count too. *Most flows*: more
than half of them have converged by then.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, Statistic, estimate, number
from airfair.paper import Experiment

from airfair_papers.c3l.common.convergence import (
    BY_CYCLE,
    COUNTS,
    CYCLE,
    HOW,
    MOST,
    PART,
    ROUNDS,
    SHORT,
    name,
    read,
    series,
)
from airfair_papers.c3l.common.scenes import BASE, C3L, DRAWN_ROUTES, NEWRENO, STATIC, told

if TYPE_CHECKING:
    from airfair.claims import MeasuredRow
    from matplotlib.figure import Figure

SHOWN = {
    **{(routes, MAIN): routes for routes in DRAWN_ROUTES},
    (MAIN, BY_CYCLE): BY_CYCLE,
}
"""Routes and what it is to reach a rate, and the reading that they are."""
RUN = "rounds run"


def rounds_run(row: MeasuredRow) -> list[float]:
    """Whole rounds of each seed; NaN where a run does not converge."""
    return [math.floor(value) if math.isfinite(value) else value for value in row["number_values"][ROUNDS]]


def claim(count: int, routes: str, statistic: Statistic, reading: str) -> Claim:
    """So many flows converge within two rounds, or most of them do."""
    part = statistic.name == PART
    return Claim(
        text=f"{count} flows converge within two rounds",
        where="figure 13",
        source="paper",
        series=name(count, CYCLE, routes),
        baseline=name(count, CYCLE, MAIN, NEWRENO),
        statistic=statistic,
        comparison="above" if part else "below",
        value=0.5 if part else 2.0,
        reading=reading,
        about=("routing", "dsdv"),
    )


def draw(rows: Measured, figure: Figure) -> None:
    """Rounds over the number of flows."""
    axes = figure.subplots()
    for (routes, how), reading in SHOWN.items():
        values = [number(f"{ROUNDS}{HOW[how]}").of(rows[name(count, CYCLE, routes)]) for count in COUNTS]
        axes.errorbar(
            COUNTS,
            [value["mean"] for value in values],
            yerr=[value["ci95"] or 0 for value in values],
            capsize=2,
            marker="o",
            label="DSDV, over a second" if reading == MAIN else reading,
        )
    axes.axhline(2.0, color="black", linestyle=":", linewidth=1)
    axes.set_xlabel("flows")
    axes.set_ylabel("rounds until 90 % of the flows have 90 % of their rate")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize="x-small")


EXPERIMENT = Experiment(
    title="Rounds until another set of flows has its rates, by the number of flows",
    scenario=BASE,
    series=tuple(
        series(protocol, count, CYCLE, routes, own=protocol == C3L)
        for protocol, routes in ((C3L, MAIN), (C3L, STATIC), (NEWRENO, MAIN))
        for count in COUNTS
    ),
    claims=(
        *(
            claim(count, routes, number(f"{ROUNDS}{HOW[how]}"), reading)
            for (routes, how), reading in SHOWN.items()
            for count in COUNTS
        ),
        *(
            claim(count, routes, statistic, told(routes, reading))
            for routes in DRAWN_ROUTES
            for statistic, reading in (
                (Statistic(RUN, lambda row: estimate(rounds_run(row)), rate=False, each=rounds_run), RUN),
                (number(PART), MOST),
            )
            for count in COUNTS
        ),
    ),
    draw=draw,
    read=read,
    interval="1 s",
    small=SHORT,
)
