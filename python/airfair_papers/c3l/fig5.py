"""Figure 5: a lower rate of the inhibitor gives the inhibited sender a fairer ground.

F1's link is saturated, F2's load is swept. The text (section III-A): an inhibitor "can transmit data at a
rate up to C_max without experiencing any queue build-up": saturated it has more than 0.9 of C; "simply
decreasing the inhibitor's rate to C_max/2 does not help": F1 has less than 0.45 of C then; and F1 gains with
each step down. The far form is the main reading, as in figure 7; `common/inhibitor.py` has the others.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, number
from airfair.paper import Experiment

from airfair_papers.c3l.common.inhibitor import (
    ALONE,
    INHIBITED,
    INHIBITOR,
    LOADS,
    NEAR,
    READINGS,
    all_series,
    name,
    read,
)
from airfair_papers.c3l.common.scenes import BASE, SMALL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "figure 5, section III-A"
STEPS = (0.2, 0.4, 0.6, 0.8, 1.0)


def claims(reading: str) -> list[Claim]:
    """Of both flows."""
    return [
        Claim(
            text="A saturated inhibitor has more than 0.9 of C",
            where=WHERE,
            source="paper",
            series=name(1.0, reading),
            baseline=None,
            statistic=number(INHIBITOR),
            comparison="above",
            value=0.9,
            reading=reading,
        ),
        Claim(
            text="Beside an inhibitor with C/2 the inhibited link has less than 0.45 of C",
            where=WHERE,
            source="paper",
            series=name(0.5, reading),
            baseline=None,
            statistic=number(INHIBITED),
            comparison="below",
            value=0.45,
            reading=reading,
        ),
        *(
            Claim(
                text=f"The inhibited link gains when the inhibitor goes from {more:g} to {less:g} C",
                where=WHERE,
                source="paper",
                series=name(less, reading),
                baseline=None,
                statistic=number(INHIBITED),
                comparison="above",
                bound=number(INHIBITED),
                bound_series=name(more, reading),
                reading=reading,
            )
            for less, more in pairwise(STEPS)
        ),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Both goodputs over the load, far and near."""
    for axes, reading in zip(figure.subplots(1, 2), (MAIN, NEAR), strict=True):
        for statistic in (INHIBITED, INHIBITOR):
            values = [rows[name(load, reading)]["numbers"][statistic] for load in LOADS]
            axes.errorbar(
                LOADS,
                [value["mean"] for value in values],
                yerr=[value["ci95"] or 0 for value in values],
                label=statistic,
            )
        axes.axhline(rows[ALONE]["numbers"][INHIBITED]["mean"], color="0.6", linestyle=":")
        axes.plot([0, 1], [1, 0], color="0.6", linestyle="--", linewidth=1)
        axes.set_title("inhibitor far" if reading == MAIN else reading)
        axes.set_xlabel("load of the inhibitor (of C)")
        axes.legend(fontsize="x-small")


EXPERIMENT = Experiment(
    title="Goodput of an inhibited link over the load of its inhibitor",
    scenario=BASE,
    series=all_series(),
    claims=tuple(claim for reading in READINGS for claim in claims(reading)),
    draw=draw,
    read=read,
    interval="60 s",
    small=SMALL,
)
