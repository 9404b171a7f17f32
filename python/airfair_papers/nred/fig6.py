"""Figures 5 and 6: under FTP the estimate of the neighbourhood's queue rises with it until the channel is
full, and then stays.

C is calibrated here, as the paper does it: the estimate of a full channel has to be 240. With 1030 B it is
(a share of 0.988 of the time is busy, times W/C of 243). These two claims hold by construction and are no
result.

That the estimate follows the queue until then is judged by the correlation where the estimate is below nine
tenths of 240; it must be false for an estimate from intervals of 1 ms, which the paper finds too rough.
Outcomes: `docs/papers/nred-networks.md`.

That a full channel's estimate is independent of the queue is a weak claim in the main reading: windows of
32 segments fill no queue, so that the truth is as flat as the estimate. In the other reading windows do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.nred.common import estimate
from airfair_papers.nred.common.readings import READINGS, SCENE, suffix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 6.1, figure 6"
ROUGH = 'nred.interval="1 ms"'
"""Section 6.1: "too rugged"."""


def draw(rows: Measured, figure: Figure) -> None:
    estimate.draw(rows, figure, "FTP")


EXPERIMENT = Experiment(
    title="Under FTP the estimated queue of a neighbourhood follows the real one until the channel is full",
    scenario=estimate.SCENARIO,
    series=(
        Series("FTP", "nred", estimate.ALONE),
        Series("FTP, T_interval 1 ms", "nred", (*estimate.ALONE, ROUGH)),
        Series(f"FTP{suffix(SCENE)}", "nred", (*READINGS[SCENE], *estimate.IDLE)),
        Series(f"FTP, T_interval 1 ms{suffix(SCENE)}", "nred", (*READINGS[SCENE], *estimate.IDLE, ROUGH)),
        Series("HTTP", "nred", (*estimate.ALONE, *estimate.HTTP)),
        Series(f"HTTP{suffix(SCENE)}", "nred", (*READINGS[SCENE], *estimate.IDLE, *estimate.HTTP)),
        Series("FTP, C 1000 B", "nred", (*estimate.ALONE, 'nred.mean_packet="1000 B"')),
    ),
    claims=(
        Claim(
            text="A full channel is estimated at about 240 packets: at more than 235",
            where="section 6.2",
            source="calibration",
            series="FTP",
            baseline="HTTP",
            about=("flow",),
            statistic=number("estimate_late"),
            comparison="above",
            value=235,
        ),
        Claim(
            text="... and at less than 245",
            where="section 6.2",
            source="calibration",
            series="FTP",
            baseline="FTP, C 1000 B",
            statistic=number("estimate_late"),
            comparison="below",
            value=245,
        ),
        *(
            Claim(
                text="Until the channel is full the estimate matches the real queue: a correlation above 0.8",
                where=WHERE,
                source="paper",
                series=f"FTP{suffix(reading)}",
                baseline=f"FTP, T_interval 1 ms{suffix(reading)}",
                statistic=number("correlation_unsaturated"),
                comparison="above",
                value=0.8,
                reading=reading,
            )
            for reading in (MAIN, SCENE)
        ),
        *(
            Claim(
                text="Then it says nothing about the queue: the correlation in the last 40 s is below 0.3",
                where=WHERE,
                source="paper",
                series=f"FTP{suffix(reading)}",
                baseline=f"HTTP{suffix(reading)}",
                about=("flow",),
                statistic=number("correlation_late"),
                comparison="below",
                value=0.3,
                reading=reading,
            )
            for reading in (MAIN, SCENE)
        ),
    ),
    draw=draw,
    read=estimate.read,
    curves=estimate.curves,
    interval=estimate.INTERVAL,
)
