"""Section 6.1: T_interval from 1 ms to 1 s and w_q from 0.02 to 0.8, each with 20 seeds: which estimate is
best.

The paper judges by eye and shows no figure: T_interval is best between 100 ms and 1 s, w_q between 0.1 and
0.4, and the result is "not very sensitive" to w_q. Here the measure is the correlation under HTTP with the
true mean queue of the last second. This truth is independent of T_interval and w_q: an estimate that
changes with every frame and one that is late both lose.

The time over which the estimate averages, T_interval / w_q, decides. Outcomes:
`docs/papers/nred-networks.md`.

"Not very sensitive" has no number. Here: between 0.1 and 0.4 the correlation changes by less than 0.05.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from airfair.claims import Claim, Measured, number, number_gain
from airfair.paper import Experiment, Series
from airfair.recording import Recording

from airfair_papers.nred.common import estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 6.1"
INTERVALS = ("1 ms", "10 ms", "100 ms", "300 ms", "1 s")
WEIGHTS = (0.02, 0.1, 0.2, 0.4, 0.8)
BEST = "100 ms, 0.2"
SECOND = 10
"""Intervals of 100 ms."""


def name(interval: str, weight: float) -> str:
    return f"{interval}, {weight:g}"


def better(other: str, text: str) -> Claim:
    """That the paper's choice follows the truth better than another."""
    return Claim(
        text=text,
        where=WHERE,
        source="paper",
        series=f"{BEST} against {other}",
        baseline=BEST,
        statistic=number_gain("correlation"),
        comparison="above",
    )


OTHERS = {
    name("1 ms", 0.2): "T_interval 100 ms is better than 1 ms",
    name("10 ms", 0.2): "T_interval 100 ms is better than 10 ms",
    name("100 ms", 0.02): "w_q 0.2 is better than 0.02",
    name("100 ms", 0.8): "w_q 0.2 is better than 0.8",
}


def read(recording: Recording) -> dict[str, float]:
    """The correlation with the mean of what waited in the second before."""
    waiting = estimate.waiting_packets(recording)
    second = np.convolve(waiting, np.ones(SECOND) / SECOND)[: len(waiting)]
    ends = np.arange(1, len(waiting) + 1) / SECOND
    running = (ends > 20) & (ends <= 120)
    told = estimate.estimates(recording)
    return {"correlation": estimate.correlation(second[running], told[running])}


def overrides(interval: str, weight: float) -> tuple[str, ...]:
    return (*estimate.ALONE, *estimate.HTTP, f'nred.interval="{interval}"', f"nred.weight={weight}")


def draw(rows: Measured, figure: Figure) -> None:
    """The correlation over w_q, a curve for each T_interval."""
    axes = figure.subplots()
    for interval in INTERVALS:
        values = [rows[name(interval, weight)]["numbers"]["correlation"] for weight in WEIGHTS]
        axes.errorbar(
            WEIGHTS,
            [v["mean"] for v in values],
            yerr=[v["ci95"] or 0 for v in values],
            fmt="o-",
            capsize=3,
            label=interval,
        )
    axes.set_xlabel("w_q")
    axes.set_ylabel("correlation with the real average queue")
    axes.legend(title="T_interval")


EXPERIMENT = Experiment(
    title="Which T_interval and w_q make the estimate follow the real queue",
    scenario=estimate.SCENARIO,
    series=(
        *(Series(name(i, w), "nred", overrides(i, w), against=BEST) for i in INTERVALS for w in WEIGHTS),
        *(
            Series(f"{BEST} against {other}", "nred", overrides("100 ms", 0.2), against=other)
            for other in OTHERS
        ),
    ),
    claims=(
        *(better(other, text) for other, text in OTHERS.items()),
        *(
            Claim(
                text=f"w_q {weight:g} is as good as 0.2, within 0.05",
                where=WHERE,
                source="paper",
                series=name("100 ms", weight),
                baseline=name("1 ms", 0.02),
                statistic=number_gain("correlation"),
                comparison="above",
                value=-0.05,
            )
            for weight in (0.1, 0.4)
        ),
        Claim(
            text="The paper's choice follows the truth: a correlation of 0.8 or more",
            where=WHERE,
            source="paper",
            series=BEST,
            baseline=name("1 ms", 0.2),
            statistic=number("correlation"),
            comparison="above",
            value=0.8,
        ),
    ),
    draw=draw,
    read=read,
    interval=estimate.INTERVAL,
)
