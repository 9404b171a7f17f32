"""Common parts of figures 6 and 7 and the tuning of the estimate: the estimate of a neighbourhood's
queue against the truth.

The estimate is `avg` of node "4", as its agent has it. The truth is what waits at the nine nodes, taken
every 10 ms, averaged over 100 ms and then smoothed with weight 0.2, as the estimate is (section 6.1
compares averages). A packet that a MAC has taken from its queue and not yet sent waits for the channel too,
and counts.

The estimate is measured alone: thresholds that nothing reaches keep NRED from acting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from airfair.claims import MAIN, Measured
from airfair.recording import Recording
from numpy.typing import NDArray

from airfair_papers.nred.common.readings import READINGS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCENARIO = Path(__file__).parent.with_name("fig6.toml")
IDLE = ("nred.max_p=0", "nred.max_th=100000")
ALONE = (*READINGS[MAIN], *IDLE)
WEB = '{ kind = "web", size = "10 kB", distribution = "pareto", pause = "3 s" }'
"""Pages of ten kilobytes on average, as pages of those years were, and a reader who looks at each for 3 s."""

HTTP = tuple(f"flow.{i}.traffic={WEB}" for i in range(1, 7))
INTERVAL = "10 ms"
STEPS = 10
WEIGHT = 0.2
CENTRE = "4"
FULL = 240.0
"""The paper's level of a saturated channel."""

SATURATED = 0.9 * FULL
"""From here on the estimate has nowhere to go."""


def waiting_packets(recording: Recording) -> NDArray[np.float64]:
    """Packets that wait in the neighbourhood, a mean for each 100 ms."""
    queued = recording.pandas("queues").groupby("end_s")["packets"].sum().to_numpy(dtype=np.float64)
    held = recording.pandas("channel").groupby("end_s")["held_packets"].sum().to_numpy(dtype=np.float64)
    whole = len(queued) // STEPS * STEPS
    means: NDArray[np.float64] = (queued + held)[:whole].reshape(-1, STEPS).mean(axis=1)
    return means


def estimates(recording: Recording) -> NDArray[np.float64]:
    """The estimate at the end of each 100 ms."""
    agents = recording.pandas("agents")
    return agents[agents["node"] == CENTRE]["avg"].to_numpy(dtype=np.float64)[STEPS - 1 :: STEPS]


def averages(recording: Recording) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Ends of intervals of 100 ms (s), the true average queue and the estimate (packets) at each."""
    waiting = waiting_packets(recording)
    truth = np.empty_like(waiting)
    average = 0.0
    for i, packets in enumerate(waiting):
        average += WEIGHT * (packets - average)
        truth[i] = average
    return np.arange(1, len(truth) + 1, dtype=np.float64) * 0.1, truth, estimates(recording)


def read(recording: Recording) -> dict[str, float]:
    """How the estimate follows the truth while transfers run, and before the channel is full."""
    ends, truth, estimate = averages(recording)
    running = (ends > 20) & (ends <= 120)
    late = (ends > 80) & (ends <= 120)
    free = running & (estimate < SATURATED)
    slope, bias = _line(truth[free], estimate[free])
    return {
        "correlation": correlation(truth[running], estimate[running]),
        "correlation_unsaturated": correlation(truth[free], estimate[free]),
        "rank_correlation_unsaturated": correlation(_ranks(truth[free]), _ranks(estimate[free])),
        "correlation_late": correlation(truth[late], estimate[late]),
        "slope": slope,
        "bias_packets": bias,
        "estimate_late": _mean(estimate[late]),
        "truth_late": _mean(truth[late]),
    }


def curves(recording: Recording) -> Mapping[str, Sequence[float]]:
    ends, truth, estimate = averages(recording)
    return {"end_s": ends.tolist(), "truth": truth.tolist(), "estimate": estimate.tolist()}


def draw(rows: Measured, figure: Figure, series: str) -> None:
    """Truth and estimate over time, and one over the other."""
    over_time, scatter = figure.subplots(1, 2, width_ratios=(2, 1))
    drawn = rows[series]["curves"]
    over_time.plot(drawn["end_s"], drawn["truth"], color="C1", label="real average queue")
    over_time.plot(drawn["end_s"], drawn["estimate"], color="C0", label="estimate")
    over_time.set_xlabel("time (s)")
    over_time.set_ylabel("packets")
    over_time.legend()
    scatter.plot(drawn["truth"], drawn["estimate"], ".", markersize=2)
    scatter.set_xlabel("real average queue (packets)")
    scatter.set_ylabel("estimate (packets)")


def correlation(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Pearson's; not a number where one of them does not change."""
    if len(x) < 2 or x.std() == 0 or y.std() == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(np.float64)


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Slope of the least squares' line, and the mean of y - x."""
    if len(x) < 2 or x.std() == 0:
        return float("nan"), float("nan")
    return float(np.polyfit(x, y, 1)[0]), float((y - x).mean())
