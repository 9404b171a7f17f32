"""Figure 12: what each part of C3L adds in networks of 28 nodes with 5 flows.

The paper's bars: local estimates (`c3l-local`), max-min shares without re-estimation, re-estimation with
W_FACTOR 1, and with 1.7. It shows one network and no area; here they are drawn in 900 m x 900 m.

W_FACTOR as printed is used only to find the clique that loses capacity. Two variants let more follow from it,
each alone and together: it also counts in the allocation; every clique of an overloaded link loses.

**Does not help much** is read as less than 0.05 of Jain's index, **substantial** as more than that; **some
flows starve** as more than one in four networks with such a flow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, number
from airfair.paper import Experiment

from airfair_papers.c3l.common import networks
from airfair_papers.c3l.common.networks import BEST_JAIN, JAIN, LEAST, RANDOM, STARVING, read
from airfair_papers.c3l.common.scenes import BASE, C3L, LOCAL, NEWRENO, READINGS, ROUTES, SMALL, STATIC

if TYPE_CHECKING:
    from airfair.paper import Series
    from matplotlib.figure import Figure

SUBSTANTIAL = 0.05
SHARES, ESTIMATION, FACTOR = "max-min", "and re-estimation", "and W"
ALLOCATED, ALL = "W in the allocation", "all cliques lose"
BOTH = f"{ALLOCATED}, {ALL}"
STEPS: dict[str, tuple[str, tuple[str, ...]]] = {
    NEWRENO: (NEWRENO, ()),
    LOCAL: (LOCAL, ()),
    SHARES: (C3L, READINGS["no re-estimation"]),
    ESTIMATION: (C3L, READINGS["W 1"]),
    FACTOR: (C3L, ()),
    ALLOCATED: (C3L, READINGS[ALLOCATED]),
    ALL: (C3L, READINGS[ALL]),
    BOTH: (C3L, (*READINGS[ALLOCATED], *READINGS[ALL])),
}
VARIANTS = (ALLOCATED, ALL, BOTH)


def name(step: str, routes: str = MAIN) -> str:
    """The name of a series."""
    return step if routes == MAIN else f"{step}, {routes}"


def series(step: str, routes: str) -> Series:
    """A bar."""
    protocol, changes = STEPS[step]
    made = networks.series(RANDOM, protocol, step, changes, routes=routes)
    return networks.replaced(made, name(step, routes))


def above(text: str, step: str, before: str, routes: str, reading: str, least: float = 0.0) -> Claim:
    """A step gains over the one before, network by network."""
    return Claim(
        text=text,
        where="figure 12",
        source="paper",
        series=name(step, routes),
        baseline=name(before, routes),
        statistic=number(JAIN),
        comparison="above",
        bound=number(JAIN),
        bound_series=name(before, routes),
        paired=True,
        least=least,
        reading=reading,
    )


def claims(routes: str) -> list[Claim]:
    """Of the four bars, and of the variants of the last."""
    own = "DSDV" if routes == MAIN else routes
    return [
        Claim(
            text="local estimates starve some flows",
            where="figure 12",
            source="paper",
            series=name(LOCAL, routes),
            baseline=None,
            statistic=number(STARVING),
            comparison="above",
            value=0.25,
            reading=routes,
        ),
        above("max-min shares are fairer than local estimates", SHARES, LOCAL, routes, routes),
        Claim(
            text="re-estimation alone does not help much",
            where="figure 12",
            source="paper",
            series=name(ESTIMATION, routes),
            baseline=None,
            statistic=number(JAIN),
            comparison="below",
            bound=number(JAIN),
            bound_series=name(SHARES, routes),
            paired=True,
            least=-SUBSTANTIAL,
            reading=routes,
        ),
        *(
            above(
                "re-estimation with W_FACTOR is substantially fairer than without",
                step,
                ESTIMATION,
                routes,
                routes if step == FACTOR else f"{step}, {own}",
                SUBSTANTIAL,
            )
            for step in (FACTOR, *VARIANTS)
        ),
        *(
            above(
                "all parts together are substantially fairer than max-min shares alone",
                step,
                SHARES,
                routes,
                routes if step == FACTOR else f"{step}, {own}",
                SUBSTANTIAL,
            )
            for step in (FACTOR, *VARIANTS)
        ),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Jain's index and the least flow, a bar for each step; the line is the optimum's."""
    plots = figure.subplots(1, 2)
    for axes, statistic in zip(plots, (JAIN, LEAST), strict=True):
        for i, routes in enumerate(ROUTES):
            values = [number(statistic).of(rows[name(step, routes)]) for step in STEPS]
            axes.bar(
                [k + 0.4 * (i - 0.5) for k in range(len(STEPS))],
                [value["mean"] for value in values],
                width=0.38,
                yerr=[value["ci95"] or 0 for value in values],
                capsize=2,
                label="DSDV" if routes == MAIN else STATIC,
            )
        axes.set_xticks(range(len(STEPS)), list(STEPS), rotation=40, ha="right", fontsize="x-small")
        axes.set_ylabel(statistic)
    plots[0].axhline(number(BEST_JAIN).of(rows[FACTOR])["mean"], color="black", linestyle=":", linewidth=1)
    plots[0].legend(fontsize="x-small")


EXPERIMENT = Experiment(
    title="What each part of C3L adds: 28 random nodes with 5 flows",
    scenario=BASE,
    series=tuple(series(step, routes) for routes in ROUTES for step in STEPS),
    claims=tuple(claim for routes in ROUTES for claim in claims(routes)),
    draw=draw,
    read=read,
    interval="480 s",
    small=SMALL,
)
