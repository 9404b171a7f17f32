"""Figure 11: the distribution over the flows of figure 10's networks.

"Much higher bandwidth to some flows" is the largest flow by the mean of its run, and in another reading in
kbit/s; "starvation" are flows with less than a tenth of that mean. The figure has the flows of each run by
rank, means over the networks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from airfair_papers.c3l import fig10
from airfair_papers.c3l.common import fairness, rivals
from airfair_papers.c3l.common.networks import name
from airfair_papers.c3l.common.scenes import BESIDE, OTHERS, STATIC

if TYPE_CHECKING:
    from airfair.claims import Measured
    from matplotlib.figure import Figure


FLOWS = 15
CLAIMS = tuple(
    claim for reading in fairness.BY_READING for claim in fairness.distribution("figure 11", reading)
)


def draw(rows: Measured, figure: Figure) -> None:
    """The flows by rank, over DSDV and over static routes."""
    plots = figure.subplots(1, 2, sharey=True)
    for axes, routes in zip(plots, ("main", STATIC), strict=True):
        for protocol in (*OTHERS, *BESIDE, *rivals.LAWS):
            values = rows[name(protocol, routes)]["run_values"]
            runs = np.array([values[flow] for flow in values if flow.startswith("flow.")]) / 1e3
            axes.plot(
                range(1, len(runs) + 1),
                np.sort(runs, axis=0).mean(axis=1),
                label=protocol,
                linewidth=2.5 if protocol in rivals.OF_C3L else 1,
                linestyle="--" if protocol in rivals.PARTNER else "-",
            )
        axes.set_title("DSDV" if routes == "main" else routes)
        axes.set_xlabel("flow, by rank")
    plots[0].set_ylabel("goodput (kbit/s)")
    plots[0].legend(fontsize="x-small")


EXPERIMENT = replace(
    fig10.EXPERIMENT,
    title="The distribution over the flows of figure 10",
    claims=(
        *CLAIMS,
        *fairness.reliable(CLAIMS),
        *fairness.distribution_beside_rivals("figure 11", FLOWS),
    ),
    draw=draw,
)
