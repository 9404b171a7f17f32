"""Figure 12: what each part of C3L adds in networks of 28 nodes with 5 flows.

The paper's bars: local estimates (`c3l-local`), max-min shares without re-estimation, re-estimation with
W_FACTOR 1, and with 1.7. It shows one network and no area; here they are drawn in 900 m x 900 m.

Readings are the routes, and *arrivals*: as in `common.fairness`, nodes take what arrives for what sources
send, so that sources slow down with their losses and overload hardly shows; without the variants. So are what
C_max is, and what r counts, which changes what re-estimation does.

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
from airfair_papers.c3l.common.scenes import BASE, C3L, LOCAL, NEWRENO, READINGS, SMALL, STATIC, told

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
ARRIVALS, RATE, REPEATS = "arrivals", "C_max is the rate of frames", "r counts retransmissions"
IN: dict[str, tuple[str, tuple[str, ...]]] = {
    MAIN: (MAIN, ()),
    STATIC: (STATIC, ()),
    ARRIVALS: (MAIN, READINGS[ARRIVALS]),
    f"{ARRIVALS}, {STATIC}": (STATIC, READINGS[ARRIVALS]),
    **{
        told(reading, routes): (routes, READINGS[reading])
        for reading in (RATE, REPEATS)
        for routes in (MAIN, STATIC)
    },
}
"""Of each reading the routes and what else it changes."""


def name(step: str, reading: str = MAIN) -> str:
    """The name of a series."""
    return step if reading == MAIN else f"{step}, {reading}"


def steps(reading: str) -> list[str]:
    """The bars of a reading: one that changes C3L has those of C3L as the paper has them."""
    _, more = IN[reading]
    return [SHARES, ESTIMATION, FACTOR] if more else list(STEPS)


def series(step: str, reading: str) -> Series:
    """A bar."""
    protocol, changes = STEPS[step]
    routes, more = IN[reading]
    made = networks.series(RANDOM, protocol, step, (*changes, *more), routes=routes)
    return networks.replaced(made, name(step, reading))


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


def claims(reading: str) -> list[Claim]:
    """Of the four bars, and of the variants of the last."""
    own = "DSDV" if reading == MAIN else reading
    last = [
        above(text, step, before, reading, reading if step == FACTOR else f"{step}, {own}", SUBSTANTIAL)
        for text, before in (
            ("re-estimation with W_FACTOR is substantially fairer than without", ESTIMATION),
            ("all parts together are substantially fairer than max-min shares alone", SHARES),
        )
        for step in (FACTOR, *VARIANTS)
        if step in steps(reading)
    ]
    little = Claim(
        text="re-estimation alone does not help much",
        where="figure 12",
        source="paper",
        series=name(ESTIMATION, reading),
        baseline=None,
        statistic=number(JAIN),
        comparison="below",
        bound=number(JAIN),
        bound_series=name(SHARES, reading),
        paired=True,
        least=-SUBSTANTIAL,
        reading=reading,
    )
    if LOCAL not in steps(reading):
        return [little, *last]
    starves = Claim(
        text="local estimates starve some flows",
        where="figure 12",
        source="paper",
        series=name(LOCAL, reading),
        baseline=None,
        statistic=number(STARVING),
        comparison="above",
        value=0.25,
        reading=reading,
    )
    fairer = above("max-min shares are fairer than local estimates", SHARES, LOCAL, reading, reading)
    return [starves, fairer, little, *last]


def draw(rows: Measured, figure: Figure) -> None:
    """Jain's index and the least flow, a bar for each step; the line is the optimum's."""
    figure.set_size_inches(13.0, 5.5)
    plots = figure.subplots(1, 2)
    for axes, statistic in zip(plots, (JAIN, LEAST), strict=True):
        for i, reading in enumerate(IN):
            there = steps(reading)
            values = [number(statistic).of(rows[name(step, reading)]) for step in there]
            axes.bar(
                [list(STEPS).index(step) + 0.1 * (i - len(IN) / 2 + 0.5) for step in there],
                [value["mean"] for value in values],
                width=0.095,
                yerr=[value["ci95"] or 0 for value in values],
                capsize=2,
                label="DSDV" if reading == MAIN else reading,
            )
        axes.set_xticks(range(len(STEPS)), list(STEPS), rotation=40, ha="right", fontsize="x-small")
        axes.set_ylabel(statistic)
    plots[0].axhline(number(BEST_JAIN).of(rows[FACTOR])["mean"], color="black", linestyle=":", linewidth=1)
    plots[1].set_ylim(0.0, 1.3 * plots[1].get_ylim()[1])
    plots[1].legend(loc="upper left", fontsize="xx-small")


EXPERIMENT = Experiment(
    title="What each part of C3L adds: 28 random nodes with 5 flows",
    scenario=BASE,
    series=tuple(series(step, reading) for reading in IN for step in steps(reading)),
    claims=tuple(claim for reading in IN for claim in claims(reading)),
    draw=draw,
    read=read,
    interval="480 s",
    small=SMALL,
)
