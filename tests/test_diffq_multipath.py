"""Computations of the experiments of DiffQ over MORE: predictions from delivery ratios, pairs of nodes,
gains by path, countings."""

from __future__ import annotations

import math
import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING

import airfair
import numpy as np
import pytest
from airfair import Scenario, claims, paper
from airfair.claims import MAIN
from airfair_papers.diffq import batch_delay, beside, etx_gain, fig8, lost_acks, table2
from airfair_papers.diffq.common import deliveries, multipath, single, testbed
from airfair_papers.diffq.common.parts import LISTED, pairs

from tests.test_paper import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airfair.claims import MeasuredRow

LINE = {("2", "1"): 0.8, ("2", "0"): 0.2, ("1", "0"): 0.5}
DIAMOND = {("s", "a"): 0.5, ("s", "b"): 0.5, ("a", "d"): 0.8, ("b", "d"): 0.8}


def network(ratios: Mapping[tuple[str, str], float], order: str) -> deliveries.Deliveries:
    values = np.zeros((len(order), len(order)))
    for (source, target), ratio in ratios.items():
        values[order.index(source), order.index(target)] = ratio
    return deliveries.Deliveries(tuple(order), values)


def test_what_a_line_of_three_promises() -> None:
    """The source until one of two hears it, 1 / (1 - 0.2 * 0.8); the relay twice for what it alone has."""
    line = network(LINE, "012")
    assert line.distances("0") == pytest.approx({"0": 0.0, "1": 2.0, "2": 3.25})
    shares = line.forwarders("2", "0")
    assert shares == pytest.approx({"0": 0.0, "1": 32 / 21, "2": 25 / 21})
    assert line.forwarders("0", "2") == {}, "no path"
    assert line.both_ways().distances("0")["1"] == math.inf, "no acknowledgement arrives"


def test_what_a_diamond_promises() -> None:
    """Of two relays that are as good the first has two thirds; without the second the sum would rise from
    2.58 to 3.25, so that it stays."""
    shares = network(DIAMOND, "dabs").forwarders("s", "d")
    assert shares == pytest.approx({"d": 0.0, "a": 5 / 6, "b": 5 / 12, "s": 4 / 3})
    allowed = network(DIAMOND, "dabs").forwarders("s", "d", part=0.2, rise=1.0)
    assert allowed == pytest.approx({"d": 0.0, "a": 1.25, "s": 2.0})


def test_one_flow_sends_what_is_promised() -> None:
    """Without collisions and with large batches, over a path with several forwarders: about as much, and
    never less."""
    source, target = next(
        pair for pair in etx_gain.ordered() if len(deliveries.testbed().forwarders(*pair)) >= 5
    )
    etx, z = etx_gain.promise(source, target)
    assert z <= etx_gain.PROMISED * etx
    changes = (*single.RUN, *etx_gain.BUILDINGS["no collisions"], "more.batch=128")
    scenario = Scenario.read(LISTED, (*changes, *single.flow((source, target), single.SATURATING)))
    numbers = single.read(airfair.record(scenario, scheme="more", interval="60 s"))
    assert 0.98 * z < numbers[single.TRANSMISSIONS] < 1.15 * z
    assert numbers[single.INNOVATIVE] >= numbers[single.GOODPUT] > 0


def test_attempts_of_a_lone_packet_are_path_etx() -> None:
    pair = next(pair for pair in single.drawn() if single.hops()[pair] == 3)
    scenario = Scenario.read(LISTED, (*single.RUN, *single.flow(pair, single.SLOW)))
    numbers = single.read(airfair.record(scenario, scheme="droptail", interval="20 s"))
    assert numbers[single.TRANSMISSIONS] == pytest.approx(deliveries.path_etx(*pair), rel=0.1)
    assert single.INNOVATIVE not in numbers


def test_pairs_are_all_there_once() -> None:
    ordered = etx_gain.ordered()
    assert len(set(ordered)) == len(ordered) == 46 * 45
    promised = [z <= 0.9 * etx for etx, z in (etx_gain.promise(*pair) for pair in ordered)]
    assert promised[:366] == [True, False] * 183
    assert not any(promised[366:])
    for hops in table2.HOPS:
        of_hops = {single.pair(seed, hops) for seed in range(1, 21)}
        assert {single.hops()[pair] for pair in of_hops} == {hops}
        assert len(of_hops) == 20
    (told,) = table2.path(3, hops=2, keys=single.TCP)
    (flow,) = tomllib.loads(told)["flow"]
    assert (flow["from"], flow["to"], flow["transport"]) == (*single.pair(3, 2), "tcp")


def test_readings_are_of_diffq_or_of_more() -> None:
    name = multipath.name
    assert name(multipath.MORE, 32) == "MORE, 32"
    assert name(multipath.MORE, 32, "static routes, threshold 0, DCF") == "MORE, 32, static routes, DCF"
    assert name(multipath.DIFFQ_MORE, 1, "static routes, DCF") == "DiffQ-MORE, 1, static routes"
    made = {one.name: one for one in multipath.pairs_series([4])}
    assert sum(one.scheme == "more" for one in made.values()) == len(multipath.OF_MORE) == 4
    assert [one.scheme for one in made.values()].count("diffq-exor") == len(multipath.FEWER)
    static = made["DiffQ-MORE, 4, static routes, threshold 0, rate only"]
    assert static.scheme == "diffq-more"
    assert static.overrides == (
        "flows.count=4",
        *testbed.UDP,
        "diffq-more.threshold=0",
        "diffq-more.levels=1",
    )
    assert made["MORE, 4"].overrides == ("flows.count=4", *testbed.OLSR, *testbed.UDP)


def test_claims_count_batches_and_innovative_packets() -> None:
    own, plain = multipath.DIFFQ_MORE, multipath.MORE
    stated = multipath.claims(
        "fewer starve", "figure", (own, 32), testbed.STARVED, "below", than=(plain, 32), readings=[MAIN]
    )
    assert [claim.reading for claim in stated] == [MAIN, f"{MAIN}, innovative"]
    assert [claim.statistic.name for claim in stated] == [
        testbed.STARVED,
        f"{testbed.STARVED}, innovative",
    ]
    assert {(claim.paired, claim.baseline, claim.bound_series) for claim in stated} == {
        (True, None, "MORE, 32")
    }
    (fewer, _) = multipath.claims(
        "less", "figure", (plain, 32), testbed.TOTAL, "below", than=(plain, 4), readings=[MAIN]
    )
    assert not fewer.paired, "other sets of flows"
    (few, _) = multipath.claims(
        "few", "figure", (own, 32), testbed.STARVED, "below", value=0.25, baseline=plain, readings=[MAIN]
    )
    assert (few.baseline, few.value, few.bound) == ("MORE, 32", 0.25, None)


def test_innovative_packets_of_a_run() -> None:
    """At least those of decoded batches, at most a batch more for each flow."""
    changes = ("flows.count=8", "flows.seed=2", *testbed.UDP, 'duration="40 s"')
    recording = airfair.record(Scenario.read(testbed.SCENE, changes), scheme="more", interval="60 s")
    decoded = np.array([flow["goodput_bps"] for flow in recording.result["flows"]])
    innovative = testbed.rates_innovative(recording.result)
    batch = 32 * testbed.PACKET_BITS / 10
    assert ((innovative >= decoded - 1) & (innovative < decoded + batch)).all()
    numbers = testbed.read(recording)
    assert numbers[testbed.TOTAL] == pytest.approx(decoded.sum() / 1e6)
    assert numbers[testbed.innovative(testbed.TOTAL)] == pytest.approx(innovative.sum() / 1e6)
    assert numbers[testbed.innovative(testbed.STARVED)] == (innovative < 1000).mean()
    assert numbers[testbed.innovative(testbed.STARVED)] <= numbers[testbed.STARVED]


def flows_row(own: list[float], other: list[float]) -> MeasuredRow:
    made = row()
    made["seeds"] = [1]
    made["run_values"] = {f"flow.flow-{i}": [value] for i, value in enumerate(own)}
    made["against_values"] = {f"flow.flow-{i}": [value] for i, value in enumerate(other)}
    return made


def test_gains_by_path() -> None:
    """A flow that starves in both series has no gain, or is left out."""
    made = flows_row([0.0, 30e3, 20e3], [0.0, 0.0, 40e3])
    etx, gains = fig8.points(made, 0, left_out=False)
    assert list(etx) == [deliveries.path_etx(*pair) for pair in pairs(3, 1)]
    assert list(gains) == [0.0, 29.0, -0.5]
    etx, gains = fig8.points(made, 0, left_out=True)
    assert (list(gains), len(etx)) == ([-0.5], 1)
    assert list(fig8.ranks(np.array([5.0, 1.0, 5.0, 2.0]))) == [2.5, 0.0, 2.5, 1.0]
    grows = fig8.correlation(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 9.0]))
    assert grows == pytest.approx(1.0)
    assert fig8.correlation(np.array([1.0, 2.0, 3.0]), np.zeros(3)) == 0.0, "of MORE with itself"
    assert math.isnan(fig8.correlation(np.array([1.0]), np.array([1.0])))
    assert fig8.on_long_paths(np.array([1.0, 2.0, 3.0]), np.array([5.0, 7.0, 9.0])) == 9.0
    assert math.isnan(fig8.on_long_paths(np.array([]), np.array([])))


def test_ratios_of_pairs() -> None:
    """Where nothing arrived there is no number, and MORE has failed; what is compared with itself is 1."""
    made = row()
    made["seeds"] = [1, 2, 3, 4]
    name = single.TRANSMISSIONS
    made["number_values"] = {name: [2.0, 3.0, 4.0, math.nan]}
    made["number_difference_values"] = {name: [-0.5, 1.0, 0.0, math.nan]}
    assert list(etx_gain.ratios(made, name)) == [0.8, 1.5, 1.0, math.inf]
    assert etx_gain.LARGEST_PROMISED.of(made) == {"mean": 1.0, "ci95": 0.0}, "seeds 1 and 3"
    assert etx_gain.FEWER.of(made)["mean"] == 0.5
    assert etx_gain.LARGEST_ELSEWHERE.of(made)["mean"] == math.inf
    assert etx_gain.WITHIN.of(made)["mean"] == 0.0
    made["number_difference_values"] = {name: [0.0] * 3 + [math.nan]}
    assert etx_gain.LARGEST_PROMISED.of(made)["mean"] == 1.0
    assert etx_gain.FEWER.of(made)["mean"] == 0.0, "the claim is false of ETX routing itself"


def test_only_acknowledgements_are_lost() -> None:
    """All that is sent to the source is acknowledgements: its losses cost `late` broadcasts and time."""
    loaded = paper.load("diffq/lost_acks")
    found = {}
    for loss in (0.0, 0.5):
        named = lost_acks.name(multipath.MORE, lost_acks.AS_IT_IS, loss)
        (one,) = (series for series in loaded.series if series.name == named)
        scenario = Scenario.read(loaded.scenario, (*one.overrides, 'duration="10 s"'))
        found[loss] = airfair.record(scenario, scheme=one.scheme, interval="10 s")
    (none, half) = (single.read(found[loss]) for loss in (0.0, 0.5))
    assert half[single.GOODPUT] < none[single.GOODPUT]
    assert half[single.LATE] > 2 * none[single.LATE]
    assert half[single.TRANSMISSIONS] == pytest.approx(none[single.TRANSMISSIONS], rel=0.15)
    (source,) = (one for one in found[0.0].result["stations"] if one["node"] == "s")
    assert source["sent"]["DATA"] == 0
    assert source["received"]["DATA"] > 0


def test_a_cell_has_the_same_pairs_whatever_the_others_are() -> None:
    ends = {}
    for other in beside.OTHERS:
        (told,) = beside.flows(3, other=other, count=4)
        listed = tomllib.loads(told)["flow"]
        ends[other] = [(flow["id"], flow["from"], flow["to"]) for flow in listed]
        assert [flow["transport"] for flow in listed[:4]] == ["tcp"] * 4
    assert len(set(map(tuple, ends.values()))) == 1
    nodes = [node for _, *both in ends[multipath.MORE] for node in both]
    assert len(set(nodes)) == 16
    cell = airfair.network(Scenario.read(paper.load("diffq/beside").scenario))
    assert len(cell["pairs"]) == 16 * 15
    assert all(pair["delivery_ratio"] > 0.999 for pair in cell["pairs"])


def test_batches_differ_in_their_size_alone() -> None:
    loaded = paper.load("diffq/batch_delay")
    by_name = {one.name: one for one in loaded.series}
    few, many = (by_name[batch_delay.name(multipath.MORE, 4, batch)] for batch in (8, 255))
    assert set(few.overrides) ^ set(many.overrides) == {"more.batch=8", "more.batch=255"}


def test_slow_sources_whose_flows_wait_starve_fewer_flows() -> None:
    """Figure 7's claim of 32 flows with static routes, slow sources and flows that wait, three sets; levels
    alone do not do it."""
    loaded = paper.load("diffq/fig7")
    reading = f"{multipath.STATIC}, waits, slow"
    levels = f"{multipath.STATIC}, levels only"
    wanted = {
        multipath.name(multipath.MORE, 32, multipath.STATIC),
        *(multipath.name(multipath.DIFFQ_MORE, 32, each) for each in (reading, levels)),
    }
    chosen = tuple(one for one in loaded.series if one.name in wanted)
    rows = paper.measure(replace(loaded, series=chosen), seeds=[1, 2, 3])
    judged = {
        claim.reading: claims.judge(claim, rows)["holds"]
        for claim in loaded.claims
        if claim.series in wanted and claim.reading in (reading, levels) and "half as many" in claim.text
    }
    assert judged[reading], judged
    assert not judged[levels], judged
