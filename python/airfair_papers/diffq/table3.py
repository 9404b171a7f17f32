"""Table 3: the mean of the sets' medians with DiffQ-TCP over that with TCP.

A ratio of means, as the paper prints it ("average median"), so that a set in which TCP's median is zero
counts. Judged are that the ratio is above 1, seed by seed, that it grows with the number of flows (of 32
above that of 4, by the intervals of both), and the printed values. At 4 flows the printed 1.96 would need
more than equal shares of TCP's total.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from airfair.claims import MAIN, Claim, Measured, Statistic, estimate, number
from airfair.paper import Experiment

from airfair_papers.diffq.common import SHORT
from airfair_papers.diffq.common.testbed import (
    BASELINES,
    BUFFER,
    COUNTS,
    DIFFQ_TCP,
    LEVELS,
    LOG_TCP,
    MEDIAN,
    OWN,
    PACKETS,
    READINGS,
    ROUTES,
    SCENE,
    TCP,
    TCP_8,
    name,
    read,
    series,
    sets,
    times,
)

if TYPE_CHECKING:
    from airfair.claims import MeasuredRow
    from airfair.paper import Series
    from airfair.results import Estimate
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


def against(count: int, reading: str, other: str = TCP) -> str:
    """The series of DiffQ-TCP that is compared with TCP."""
    return f"{name(DIFFQ_TCP, count, reading)}, against {name(other, count, reading)}"


ENDS = (COUNTS[0], COUNTS[-1])
PAIRS = (*((TCP, reading) for reading in READINGS), *((TCP_8, reading) for reading in (*BUFFER, *PACKETS)))
"""The other and the reading in which growth is judged."""


def compared() -> list[Series]:
    """The same runs of DiffQ-TCP beside TCP's, with the least and the largest number of flows."""
    own = {one.name: one for one in series({DIFFQ_TCP: OWN}, ENDS)}
    found = {
        against(count, reading, other): replace(
            own[name(DIFFQ_TCP, count, reading)],
            name=against(count, reading, other),
            against=name(other, count, reading),
        )
        for other, reading in PAIRS
        for count in ENDS
    }
    return list(found.values())


def of_means() -> Statistic:
    """The mean median over the other's, and its interval from the residuals of the ratio, set by set."""

    def of(row: MeasuredRow) -> Estimate:
        own = np.array(row["number_values"][MEDIAN])
        other = own - np.array(row["number_difference_values"][MEDIAN])
        mean = float(other.mean())
        if not mean:
            return {"mean": math.nan, "ci95": None}
        ratio = float(own.mean()) / mean
        interval = estimate((own - ratio * other) / mean)["ci95"]
        return {"mean": ratio, "ci95": interval}

    return Statistic("ratio of the mean medians", of, rate=False)


def growth(other: str, reading: str) -> Claim:
    """The ratio at 32 flows is above that at 4."""
    few, many = (against(count, reading, other) for count in ENDS)
    windows = "" if other == TCP else ", TCP with windows of 8 segments"
    return Claim(
        text=f"The ratio at {ENDS[1]} flows is above that at {ENDS[0]}{windows}",
        where=WHERE,
        source="ours" if windows else "paper",
        series=many,
        baseline=None,
        statistic=of_means(),
        comparison="above",
        bound=of_means(),
        bound_series=few,
        reading=reading,
    )


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
    series=(*series({TCP: BASELINES, TCP_8: ROUTES, DIFFQ_TCP: OWN, LOG_TCP: ROUTES}), *compared()),
    claims=(
        *(claim for count in COUNTS for claim in claims(count)),
        *(growth(other, reading) for other, reading in PAIRS),
    ),
    draw=draw,
    quick_seeds=3,
    by_seed=sets,
    read=read,
    interval="60 s",
    small=SHORT,
)
