"""Figure 7: under HTTP, where queues are short and change often, the estimate follows the real queue
throughout.

The page sizes and pauses are ours. Other loads are measured too: the busier, the more often the channel is
full, and the more the relation is a curve and not a line (a queue grows without bound as the busy share of
time goes to one). Ranks show that: their correlation hardly changes.

Before the channel is full FTP is followed as well. So the claims about that time must be false for an
estimate from intervals of 1 ms, as in figure 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.nred.common import estimate

from .fig6 import ROUGH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 6.1, figure 7"
LOADS = {
    "HTTP, pages of 10 kB each 1 s": ("10 kB", "1 s"),
    "HTTP, pages of 20 kB each 5 s": ("20 kB", "5 s"),
    "HTTP, pages of 6 kB each 3 s": ("6 kB", "3 s"),
}


def web(size: str, pause: str) -> tuple[str, ...]:
    return tuple(text.replace("10 kB", size).replace("3 s", pause) for text in estimate.HTTP)


def draw(rows: Measured, figure: Figure) -> None:
    estimate.draw(rows, figure, "HTTP")


EXPERIMENT = Experiment(
    title="Under HTTP the estimated queue of a neighbourhood follows the real one throughout",
    scenario=estimate.SCENARIO,
    series=(
        Series("HTTP", "nred", (*estimate.ALONE, *estimate.HTTP)),
        Series("HTTP, T_interval 1 ms", "nred", (*estimate.ALONE, *estimate.HTTP, ROUGH)),
        Series("FTP", "nred", estimate.ALONE),
        *(Series(name, "nred", (*estimate.ALONE, *web(*load))) for name, load in LOADS.items()),
    ),
    claims=(
        Claim(
            text="The estimate matches the real queue: a correlation of 0.8 or more",
            where=WHERE,
            source="paper",
            series="HTTP",
            baseline="FTP",
            about=("flow",),
            statistic=number("correlation"),
            comparison="above",
            value=0.8,
        ),
        Claim(
            text="Before the channel is full it does so too",
            where=WHERE,
            source="paper",
            series="HTTP",
            baseline="HTTP, T_interval 1 ms",
            statistic=number("correlation_unsaturated"),
            comparison="above",
            value=0.8,
        ),
        Claim(
            text="... and by ranks, since the relation is a curve",
            where=WHERE,
            source="ours",
            series="HTTP",
            baseline="HTTP, T_interval 1 ms",
            statistic=number("rank_correlation_unsaturated"),
            comparison="above",
            value=0.8,
        ),
    ),
    draw=draw,
    read=estimate.read,
    curves=estimate.curves,
    interval=estimate.INTERVAL,
)
