"""Figure 9: a grid of 8 x 8 nodes with 20 flows between drawn nodes: Jain's index, the least flow, the mean.

The paper shows one network; here each seed has flows of its own. Nodes are 200 m apart. Readings are those of
`common.fairness`.
"""

from __future__ import annotations

from airfair.paper import Experiment

from airfair_papers.c3l.common import fairness
from airfair_papers.c3l.common.networks import GRID, read
from airfair_papers.c3l.common.scenes import BASE, SMALL

CLAIMS = tuple(claim for reading in fairness.BY_READING for claim in fairness.fairness("figure 9", reading))

EXPERIMENT = Experiment(
    title="A grid of 64 nodes with 20 flows: fairness, least flow, mean",
    scenario=BASE,
    series=fairness.all_series(GRID),
    claims=(*CLAIMS, *fairness.reliable(CLAIMS), *fairness.beside_rivals("figure 9")),
    draw=fairness.draw,
    read=read,
    interval="480 s",
    small=SMALL,
)
