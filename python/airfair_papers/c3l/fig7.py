"""Figure 7: W_FACTOR, what an inhibited link perceives of its inhibitor's use by what it is.

Read as (C - inhibited) / inhibitor, C the goodput of a lone saturated link, the inhibited link saturated. The
paper: it "varies mostly between 1 and 2, with a typical value around 1.7": above 1 and below 2 at each load
below saturation, and 1.6 to 1.8 at each load up to half of C (where it is flat).

Two forms of the scene. Where the inhibitor hears the inhibited receiver's CTS, W is 1.35 to 1.4: that is the
paper's definition of an inhibited link. Where it is out of reception range, and still near enough to spoil
receptions, W is what the paper prints: this is the main reading, the other is beside it. W depends on the
inhibitor's traffic too: Poisson arrivals, and an inhibitor whose receiver is what is near.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, number
from airfair.paper import Experiment

from airfair_papers.c3l.common.inhibitor import BELOW, HALF, LOADS, READINGS, W, all_series, name, read
from airfair_papers.c3l.common.scenes import BASE, SMALL

if TYPE_CHECKING:
    from typing import Literal

    from matplotlib.figure import Figure

WHERE = "figure 7, section III-D"


def claim(text: str, load: float, comparison: Literal["above", "below"], value: float, reading: str) -> Claim:
    """Of W at a load."""
    return Claim(
        text=f"W at {load:g} C is {text}",
        where=WHERE,
        source="paper",
        series=name(load, reading),
        baseline=None,
        statistic=number(W),
        comparison=comparison,
        value=value,
        reading=reading,
    )


def claims(reading: str) -> list[Claim]:
    """Claims about the range and the typical value."""
    return [
        *(claim("above 1", load, "above", 1.0, reading) for load in BELOW),
        *(claim("below 2", load, "below", 2.0, reading) for load in BELOW),
        *(claim("at least 1.6", load, "above", 1.6, reading) for load in HALF),
        *(claim("at most 1.8", load, "below", 1.8, reading) for load in HALF),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """W over the load, in each reading."""
    axes = figure.subplots()
    for reading in READINGS:
        values = [rows[name(load, reading)]["numbers"][W] for load in LOADS]
        axes.errorbar(
            LOADS,
            [value["mean"] for value in values],
            yerr=[value["ci95"] or 0 for value in values],
            capsize=2,
            label="inhibitor far" if reading == MAIN else reading,
        )
    axes.axhspan(1.6, 1.8, color="0.9")
    axes.set_xlabel("load of the inhibitor (of C)")
    axes.set_ylabel("W")
    axes.legend(fontsize="x-small")


EXPERIMENT = Experiment(
    title="W_FACTOR: the perceived use of an inhibitor by its actual use",
    scenario=BASE,
    series=all_series(),
    claims=tuple(one for reading in READINGS for one in claims(reading)),
    draw=draw,
    read=read,
    interval="60 s",
    small=SMALL,
)
