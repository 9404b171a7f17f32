"""C3L's experiments: the optimum of their shares, routes, readings, numbers, and what C3L does."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import airfair
import numpy as np
import pytest
from airfair import Scenario, claims, paper
from airfair.claims import MeasuredRow
from airfair.recording import Recording, record
from airfair_papers.c3l import fig13, fig15
from airfair_papers.c3l.common import convergence, networks, rivals, scenes
from airfair_papers.c3l.common.shares import model

SHORT = ('duration="100 s"', 'warmup="70 s"')


@pytest.mark.parametrize("place", [scenes.HIDDEN, scenes.HOPS, scenes.SHARED, scenes.CARDS])
def test_the_stated_optimum_is_that_of_a_search(place: str) -> None:
    """A few runs of half a minute and steps of 2 %: within a twentieth."""
    made = Scenario.read(scenes.PLACES[place].file, scenes.overrides(place, scenes.UDP, SHORT))
    found = [flow["max_min_bps"] / 1e3 for flow in airfair.search_optimum(made)["flows"]]
    assert found == pytest.approx(list(scenes.PLACES[place].best), rel=0.05)


@pytest.mark.parametrize("place", [p for p, where in scenes.PLACES.items() if where.best])
def test_the_model_is_near_the_stated_optimum(place: str) -> None:
    """But for windows and attempts: the model knows one value of W."""
    rates = list(model(place, udp=True).values())
    within = 0.16 if place.startswith(f"{scenes.ROUTERS},") else 0.05
    assert rates == pytest.approx(list(scenes.PLACES[place].best), rel=within)
    assert min(model(place, udp=False).values()) < min(rates), "acknowledgements take air"


def test_readings_name_their_routes() -> None:
    """DSDV where flows have several hops, unless a reading names others; nothing where they have one."""

    def routing(place: str, reading: str) -> set[str]:
        made = scenes.series(place, scenes.C3L, reading)
        return {text for text in made.overrides if text.startswith(("routing.", "dsdv.hold"))}

    dsdv = 'routing.protocol="dsdv"'
    assert routing(scenes.HOPS, "main") == {dsdv, "dsdv.hold_periods=4"}
    assert routing(scenes.HOPS, "epoch 2 s") == {dsdv, "dsdv.hold_periods=4"}
    assert routing(scenes.HOPS, scenes.HELD) == {dsdv, "dsdv.hold_periods=12"}
    assert routing(scenes.HOPS, scenes.NS3) == {dsdv}
    assert routing(scenes.HOPS, scenes.told(scenes.STATIC, "epoch 2 s")) == set()
    assert routing(scenes.HIDDEN, "main") == set()


def test_c3l_is_fair_and_near_the_optimum_where_tcp_is_not() -> None:
    """`c3l/fig8`'s claims of (a), near and far, and of (c), with three seeds."""
    loaded = paper.load("c3l/fig8")
    asked = {
        scenes.name(place, protocol)
        for place in (scenes.HIDDEN, scenes.FAR, scenes.SHARED)
        for protocol in (scenes.C3L, scenes.NEWRENO)
    }
    series = tuple(one for one in loaded.series if one.name in asked)
    rows = paper.measure(replace(loaded, series=series), seeds=[1, 2, 3])
    judged = [claims.judge(one, rows) for one in loaded.claims if {one.series, one.baseline} <= asked]
    assert len(judged) == 6
    for claim in judged:
        assert claim["holds"], claim
        assert not claim["baseline_holds"], claim


@pytest.mark.parametrize("figure", ["fig3", "fig4", "fig9", "fig10", "fig11", "fig16", "fig17"])
def test_atp_exact_and_c3l_have_a_reliable_and_an_unreliable_series(figure: str) -> None:
    """And what a series is called is what carries its flows."""
    loaded = paper.load(f"c3l/{figure}")
    kinds = dict.fromkeys(rivals.LAWS, 0)
    for one in loaded.series:
        law = next((law for law in rivals.LAWS if law in one.name), None)
        if law is None:
            continue
        kinds[law] += 1
        drawn = one.by_seed(1) if one.by_seed else ()
        made = Scenario.read(one.scenario or loaded.scenario, (*one.overrides, *drawn))
        carried = {flow["transport"] for flow in made.to_dict()["flow"]}
        assert carried == {f"rate-{one.scheme}" if ", reliable" in law else "udp"}, one.name
        assert one.scheme == law.split(",")[0].lower()
    assert all(kinds.values()), kinds


def test_atp_and_exact_starve_whom_c3l_does_not() -> None:
    """`c3l/fig3`'s claims with the inhibitor far, with three seeds."""
    loaded = paper.load("c3l/fig3")
    asked = {scenes.name(scenes.FAR, law) for law in rivals.LAWS}
    series = tuple(one for one in loaded.series if one.name in asked)
    rows = paper.measure(replace(loaded, series=series), seeds=[1, 2, 3])
    judged = [
        claims.judge(one, rows)
        for one in loaded.claims
        if {one.series, one.baseline, *one.others(one.series)} <= asked
    ]
    assert len(judged) == 8
    for claim in judged:
        assert claim["holds"], claim
        assert not claim["baseline_holds"], claim


def test_rates_count_by_the_hops_of_a_grid() -> None:
    """In a grid a flow has as many hops as its ends are rows and columns apart."""
    of = networks.network(networks.GRID, 1)
    apart = [
        sum(abs(a - b) for a, b in zip(of.nodes[source], of.nodes[target], strict=True)) / 200
        for source, target in of.flows.values()
    ]
    flows = [{"id": flow, "goodput_bps": 1e3 * (i + 1)} for i, flow in enumerate(of.flows)]
    result = {"scenario": networks.GRID, "seed": 1, "flows": flows}
    found = networks.read(cast(Recording, SimpleNamespace(result=result)))
    assert found[networks.BY_HOPS] == pytest.approx(sum((i + 1) * n for i, n in enumerate(apart)) / 20)
    assert found[networks.MOST] == 20


def test_when_each_flow_has_enough() -> None:
    enough = np.array([[False, True, False], [True, False, False]])
    assert convergence.first(enough).tolist() == [2, 1, np.inf]


def test_rounds_that_have_been_run() -> None:
    row = cast(MeasuredRow, {"number_values": {convergence.ROUNDS: [1.9, 2.0, math.nan]}})
    assert fig13.rounds_run(row)[:2] == [1, 2]
    assert math.isnan(fig13.rounds_run(row)[2])


def test_an_allocation_goes_through_as_much_a_flow() -> None:
    """Five times as many flows: about five times as many steps, and the same cliques, those of all links."""
    found = {}
    for count in (20, 100):
        one = fig15.series(count, claims.MAIN)
        assert one.by_seed is not None
        made = Scenario.read(scenes.BASE, (*one.overrides, *one.by_seed(1)))
        found[count] = fig15.read(record(made, scheme=one.scheme, seed=1, interval="30 s"))
    assert found[20]["cliques"] == found[100]["cliques"] == 49
    assert found[100][fig15.STEPS] == pytest.approx(5 * found[20][fig15.STEPS], rel=0.2)
