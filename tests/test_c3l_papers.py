"""C3L's experiments: the optimum that their shares are parts of, routes and readings, and what C3L does."""

from __future__ import annotations

from dataclasses import replace

import airfair
import pytest
from airfair import Scenario, claims, paper
from airfair_papers.c3l.common import scenes
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
