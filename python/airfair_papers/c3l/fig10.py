"""Figure 10: 64 nodes anywhere in 1500 m x 1500 m, 15 flows to the closest of 4 gateways.

The paper shows one network and says neither its area nor where its gateways are; here each seed has one of
its own, gateways are the nodes nearest to the centres of the quarters. "Closest" is by hops. Readings are
those of `common.fairness`, and one more: "deployed on each WMN gateway" (section I), a controller at each
gateway, where the main one has a single controller.
"""

from __future__ import annotations

from dataclasses import replace

from airfair.paper import Experiment

from airfair_papers.c3l.common import fairness, networks
from airfair_papers.c3l.common.networks import GATEWAYS, read
from airfair_papers.c3l.common.scenes import BASE, C3L, SMALL, told

EACH = "a controller at each gateway"
SERIES = (
    *fairness.all_series(GATEWAYS),
    networks.series(GATEWAYS, C3L, EACH, more=networks.controllers),
)
CLAIMS = tuple(claim for reading in fairness.BY_READING for claim in fairness.fairness("figure 10", reading))
AT_EACH = tuple(
    replace(claim, series=networks.name(C3L, EACH), reading=told(EACH, claim.reading))
    for claim in fairness.fairness("figure 10", "main")
    if claim.series == C3L
)

EXPERIMENT = Experiment(
    title="64 random nodes with 15 flows to 4 gateways: fairness, least flow, mean",
    scenario=BASE,
    series=SERIES,
    claims=(*CLAIMS, *fairness.reliable(CLAIMS), *AT_EACH, *fairness.beside_rivals("figure 10")),
    draw=fairness.draw,
    read=read,
    interval="480 s",
    small=SMALL,
)
