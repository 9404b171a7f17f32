"""Figures 5 and 6: under FTP the estimate of the neighbourhood's queue rises with it until the channel is
full, and then stays.

C is calibrated here, as the paper does it: the estimate of a full channel is to be 240. With 1030 B it is
(a share of 0.988 of the time is busy, times W/C of 243); the claim holds the default to that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.nred.common import estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 6.1, figure 6"


def draw(rows: Measured, figure: Figure) -> None:
    estimate.draw(rows, figure, "FTP")


EXPERIMENT = Experiment(
    title="Under FTP the estimated queue of a neighbourhood follows the real one until the channel is full",
    scenario=estimate.SCENARIO,
    series=(
        Series("FTP", "nred", estimate.ALONE),
        Series("HTTP", "nred", (*estimate.ALONE, *estimate.HTTP)),
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
        Claim(
            text="Then it says nothing about the queue: the correlation in the last 40 s is below 0.3",
            where=WHERE,
            source="paper",
            series="FTP",
            baseline="HTTP",
            about=("flow",),
            statistic=number("correlation_late"),
            comparison="below",
            value=0.3,
        ),
    ),
    draw=draw,
    read=estimate.read,
    curves=estimate.curves,
    interval=estimate.INTERVAL,
)
