"""C3L's networks: how they are drawn, and what is read from their runs."""

from __future__ import annotations

import math

import airfair
import numpy as np
import pytest
from airfair import Scenario, _core, paper
from airfair.recording import record
from airfair_papers.c3l import fig14, gateways, half, liar
from airfair_papers.c3l.common import convergence, networks
from airfair_papers.c3l.common.scenes import BASE, C3L, SMALL, STATIC


@pytest.mark.parametrize("kind", networks.KINDS)
def test_a_network_has_an_inhibited_link_with_a_flow(kind: str) -> None:
    """By the model, in each network; the same seed draws the same one, and another seed another one."""
    drawn = [networks.network(kind, seed) for seed in (1, 2)]
    assert drawn[0].flows != drawn[1].flows
    for of in drawn:
        assert networks.connected(of.nodes)
        assert len(set(of.flows.values())) == len(of.flows)
        made = Scenario.read(BASE, networks.of_seed(kind, udp=True)(1 if of is drawn[0] else 2))
        best = airfair.optimum(made, proportional=False)
        assert len(best["inhibitions"]) == of.inhibited > 0
        assert best["complete"]
        assert {flow["id"] for flow in best["flows"]} == set(of.flows)


def test_flows_go_to_the_closest_gateway() -> None:
    of = networks.network(networks.GATEWAYS, 3)
    near = networks.neighbours(of.nodes)
    assert len(set(of.gateways)) == 4
    assert len({source for source, _ in of.flows.values()}) == 15
    for source, target in of.flows.values():
        away = networks.hops(near, source)
        assert source not in of.gateways
        assert away[target] == min(away[gateway] for gateway in of.gateways)


def test_a_sparse_network_is_as_sparse_as_it_says() -> None:
    degrees = [
        len(near)
        for seed in range(1, 21)
        for near in networks.neighbours(networks.network(networks.BERLIN, seed).nodes).values()
    ]
    assert sum(degrees) / len(degrees) == pytest.approx(2.8, abs=0.05)


def test_all_series_of_a_seed_have_the_same_network() -> None:
    loaded = paper.load("c3l/fig9")
    for seed in (1, 2):
        nodes = set()
        for one in loaded.series:
            assert one.by_seed is not None
            made = Scenario.read(loaded.scenario, (*one.overrides, *one.by_seed(seed)))
            tables = made.to_dict()
            nodes.add(str(tables["node"]) + str([(flow["from"], flow["to"]) for flow in tables["flow"]]))
        assert len(nodes) == 1


def test_numbers_of_a_run() -> None:
    one = networks.series(networks.RANDOM, C3L, STATIC)
    assert one.by_seed is not None
    made = Scenario.read(BASE, (*one.overrides, *SMALL, *one.by_seed(2)))
    recording = record(made, scheme="c3l", seed=2, interval="10 s")
    found = networks.read(recording)
    rates = [flow["goodput_bps"] / 1e3 for flow in recording.result["flows"]]
    of = networks.network(networks.RANDOM, 2)
    assert found[networks.LEAST] == min(rates)
    assert found[networks.MEAN] == pytest.approx(sum(rates) / 5)
    assert found[networks.JAIN] == pytest.approx(sum(rates) ** 2 / 5 / sum(r * r for r in rates))
    assert found[networks.STARVING] == sum(rate < 1 for rate in rates)
    assert found[networks.TOTAL_SHARE] == pytest.approx(sum(rates) / sum(of.best.values()))
    assert found[networks.DRAWS] == of.draws


def test_a_rate_is_reached_by_hand() -> None:
    """Ten flows: nine reach 9 of 10 in second k + 1, the tenth never; the third falls below once more."""
    rates = np.zeros((40, 10))
    for flow in range(9):
        rates[flow:, flow] = 9.0
    rates[20, 2] = 8.0
    eventual = np.full(10, 10.0)
    assert convergence.reached(rates, eventual, stays=False) == 9
    assert convergence.reached(rates, eventual, stays=True) == 22
    rates[:, 8] = 0.0
    assert math.isnan(convergence.reached(rates, eventual, stays=False))
    over = convergence.means(np.array([[1.0], [3.0], [5.0], [1.0]]), 2)
    assert over[:, 0].tolist() == [1.0, 2.0, 4.0, 3.0]


def test_the_second_profile_follows_the_first() -> None:
    one = paper.load("c3l/fig13").series[0]
    assert one.by_seed is not None
    tables = Scenario.read(BASE, (*one.overrides, *one.by_seed(1))).to_dict()
    first = [flow for flow in tables["flow"] if flow["id"].startswith("first")]
    second = [flow for flow in tables["flow"] if flow["id"].startswith("second")]
    assert len(first) == len(second) == 5
    assert {flow["stop"] for flow in first} == {flow["start"] for flow in second} == {"360 s"}


def test_cliques_of_a_grid() -> None:
    """A grid of 200 m, 250 m of reception, 375 m of sensing: one clique for each square of four nodes."""
    one = fig14.series(fig14.GRIDS, 16)
    assert one.by_seed is not None
    made = Scenario.read(BASE, (*one.overrides, *one.by_seed(1)))
    found = fig14.read(record(made, scheme=one.scheme, seed=1, interval="30 s"))
    assert found[fig14.CLIQUES] == 9
    assert fig14.places(fig14.ANYWHERE, 36, 5) == fig14.places(fig14.ANYWHERE, 36, 5)
    assert networks.connected(fig14.places(fig14.DENSE, 49, 1))


def test_half_of_the_nodes_have_no_agent() -> None:
    for one_of, least in ((2, 0.4), (4, 0.2)):
        of = networks.network(networks.GATEWAYS, 1)
        bare = half.without(one_of)(of)[1:]
        assert least < len(bare) / 64 <= 1 / one_of
        assert f'node.{of.gateways[0]}.scheme="droptail"' not in bare


def test_a_controller_fails_and_another_begins() -> None:
    of = networks.network(networks.BERLIN, 1)
    (text,) = gateways.failing(20)(of)
    (tables,) = [
        Scenario.read(BASE, (*networks.of_seed(networks.BERLIN, udp=True)(1), text)).to_dict()["controller"]
    ]
    assert [(one["node"], one.get("start"), one.get("stop")) for one in tables] == [
        (of.gateways[0], None, "240 s"),
        (of.gateways[1], "260 s", None),
    ]


def test_a_liar_takes_from_the_others() -> None:
    """With nine invented flows its links get more, and the others less than beside an honest one."""
    loaded = paper.load("c3l/liar")
    found = {}
    for one in loaded.series:
        if one.name not in (liar.HONEST, "ten times its flows"):
            continue
        assert one.by_seed is not None
        made = Scenario.read(BASE, (*one.overrides, 'duration="240 s"', 'warmup="120 s"', *one.by_seed(1)))
        found[one.name] = liar.read(record(made, scheme=one.scheme, seed=1, interval="240 s"))
    assert found["ten times its flows"][liar.OWN] >= found[liar.HONEST][liar.OWN]
    assert found["ten times its flows"][liar.OTHERS] < found[liar.HONEST][liar.OTHERS]


def test_random_draws_have_each_once() -> None:
    random = _core.Random(1, "test")
    drawn = networks.pick(random, [str(i) for i in range(10)], 10)
    assert sorted(drawn) == [str(i) for i in range(10)]
