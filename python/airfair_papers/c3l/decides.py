"""Effects of the values that the paper leaves open, one changed at a time (ours).

C3L in the networks of figures 9 and 10, over static routes but where DSDV is named: what discovery takes for
an inhibited link or a conflict, when a link is overloaded and what its clique loses, when capacities grow,
the node's own reaction, epochs and cycles, what flows get before the first allocation, delta and what a flow
sends (section III-E); and parts of C3L off. Claims: whatever the value is, C3L is fairer than TCP NewReno,
and its least flow has more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, number
from airfair.paper import Experiment

from airfair_papers.c3l.common import networks
from airfair_papers.c3l.common.networks import GATEWAYS, GRID, JAIN, LEAST, MEAN, STARVING, read
from airfair_papers.c3l.common.scenes import BASE, C3L, DSDV, NEWRENO, READINGS, STATIC

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airfair.paper import Series
    from matplotlib.figure import Figure

KINDS = (GRID, GATEWAYS)
AS_IT_IS = "as it is"
CHANGES: Mapping[str, tuple[str, ...]] = {
    AS_IT_IS: (),
    **READINGS,
    "overload though the queue falls": ("c3l.overload_falls=0",),
    "each overloaded link takes its part": ("c3l.several=each",),
    "delta 0.05": ("c3l.delta=0.05",),
    "delta 0.2": ("c3l.delta=0.2",),
    "delta 1": ("c3l.delta=1",),
    "all of delta makes finite": ("c3l.consumed=0",),
    "floor 0.02": ("c3l.floor=0.02",),
    "floor 0.2": ("c3l.floor=0.2",),
    "cliques of all usable links": ("c3l.vertices=usable",),
    "all cliques lose, W in the allocation": (
        *READINGS["all cliques lose"],
        *READINGS["W in the allocation"],
    ),
    "Algorithm 1 to the letter": ("c3l.used=0", "c3l.overload_falls=0"),
    "50 attempts": ("radio.short_retry_limit=50",),
    "DSDV": DSDV,
    "DSDV, arrivals": (*DSDV, *READINGS["arrivals"]),
    "DSDV, delta 1": (*DSDV, "c3l.delta=1"),
}


def name(kind: str, change: str) -> str:
    """The name of a series."""
    return f"{kind}: {change}"


def series(kind: str, change: str) -> Series:
    """C3L with a change, or NewReno."""
    protocol = NEWRENO if change == NEWRENO else C3L
    made = networks.series(kind, protocol, change, CHANGES.get(change, ()), routes=STATIC)
    return replace(
        made, name=name(kind, change), against=None if change == AS_IT_IS else name(kind, AS_IT_IS)
    )


def claim(kind: str, change: str, statistic: str) -> Claim:
    """C3L with the change against NewReno, network by network."""
    than = (
        "is fairer than TCP NewReno" if statistic == JAIN else "leaves its least flow more than TCP NewReno"
    )
    return Claim(
        text=f"{kind}, {change}: C3L {than}",
        where="ours",
        source="ours",
        series=name(kind, change),
        baseline=name(kind, NEWRENO),
        statistic=number(statistic),
        comparison="above",
        bound=number(statistic),
        bound_series=name(kind, NEWRENO),
        paired=True,
        reading=MAIN,
        about=("routing", "dsdv", "radio.short_retry_limit"),
    )


def draw(rows: Measured, figure: Figure) -> None:
    """Index, least flow, mean and starved flows with each change; lines are those without."""
    statistics = (JAIN, LEAST, MEAN, STARVING)
    figure.set_size_inches(13.0, 4.0 + 0.3 * len(KINDS) * len(CHANGES))
    plots = figure.subplots(len(KINDS), len(statistics), sharey="row")
    labels = [NEWRENO, *CHANGES]
    for line, kind in zip(plots, KINDS, strict=True):
        for axes, statistic in zip(line, statistics, strict=True):
            values = [number(statistic).of(rows[name(kind, change)]) for change in labels]
            axes.errorbar(
                [value["mean"] for value in values],
                range(len(values)),
                xerr=[value["ci95"] or 0 for value in values],
                fmt="o",
                capsize=2,
            )
            axes.axvline(values[1]["mean"], linewidth=1)
            axes.set_yticks(range(len(values)), labels, fontsize="x-small")
            axes.set_xlabel(f"{kind}: {statistic}", fontsize="x-small")
        line[0].invert_yaxis()


EXPERIMENT = Experiment(
    title="What decides: C3L's open values one by one, in the networks of figures 9 and 10",
    scenario=BASE,
    series=tuple(series(kind, change) for kind in KINDS for change in (NEWRENO, *CHANGES)),
    claims=tuple(
        claim(kind, change, statistic) for kind in KINDS for change in CHANGES for statistic in (JAIN, LEAST)
    ),
    draw=draw,
    read=read,
    quick_seeds=3,
    interval="480 s",
    small=('duration="20 s"', 'warmup="10 s"'),
)
