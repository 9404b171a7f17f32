"""Table 3: the mean of the sets' medians with DiffQ-TCP over that with TCP.

A ratio of means, as the paper prints it ("average median"), so that a set in which TCP's median is zero
counts. Judged are that the ratio is above 1, seed by seed, that it grows with the number of flows, and the
printed values. At 4 flows the printed 1.96 would need more than equal shares of TCP's total.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import MAIN, Measured, number
from airfair.paper import Experiment

from airfair_papers.diffq.common import SHORT
from airfair_papers.diffq.common.testbed import (
    BASELINES,
    COUNTS,
    DIFFQ_TCP,
    LEVELS,
    LOG_TCP,
    MEDIAN,
    OWN,
    READINGS,
    ROUTES,
    SCENE,
    TCP,
    name,
    read,
    series,
    sets,
    times,
)

if TYPE_CHECKING:
    from airfair.claims import Claim
    from matplotlib.figure import Figure

WHERE = "table 3"
PRINTED = {4: 1.96, 8: 3.45, 16: 4.35, 32: 8.18}


def claims(count: int) -> list[Claim]:
    """Above TCP's, and as much as printed."""
    return [
        *times(f"{count} flows: the median is above TCP's", WHERE, DIFFQ_TCP, count, MEDIAN, 1.0),
        *times(
            f"{count} flows: it is {PRINTED[count]} times TCP's and more",
            WHERE,
            DIFFQ_TCP,
            count,
            MEDIAN,
            PRINTED[count],
        ),
        *times(
            f"{count} flows, log law: the median is above TCP's",
            "section 4.1",
            LOG_TCP,
            count,
            MEDIAN,
            1.0,
            readings=LEVELS,
            source="ours",
        ),
    ]


def ratio(rows: Measured, count: int, reading: str) -> float:
    """The table's value."""
    own, other = (number(MEDIAN).of(rows[name(of, count, reading)])["mean"] for of in (DIFFQ_TCP, TCP))
    return own / other if other else float("nan")


def draw(rows: Measured, figure: Figure) -> None:
    """Ratios by the number of flows beside the printed ones."""
    axes = figure.subplots()
    for reading in READINGS:
        label = "OLSR, level 0" if reading == MAIN else reading
        axes.plot(COUNTS, [ratio(rows, count, reading) for count in COUNTS], "o-", label=label)
    axes.plot(COUNTS, list(PRINTED.values()), "k*--", label="printed")
    axes.set_xscale("log", base=2)
    axes.set_xticks(COUNTS, list(map(str, COUNTS)))
    axes.axhline(1, color="0.7", linestyle=":")
    axes.set_xlabel("flows")
    axes.set_ylabel("ratio of the mean medians")
    axes.legend(fontsize="x-small")


EXPERIMENT = Experiment(
    title="The median flow with DiffQ-TCP over that with TCP",
    scenario=SCENE,
    series=series({TCP: BASELINES, DIFFQ_TCP: OWN, LOG_TCP: ROUTES}),
    claims=tuple(claim for count in COUNTS for claim in claims(count)),
    draw=draw,
    quick_seeds=3,
    by_seed=sets,
    read=read,
    interval="60 s",
    small=SHORT,
)
