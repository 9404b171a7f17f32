"""Computations of DiffQ's experiments: sets of flows, numbers of a run, phases, overflows by hops."""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING

import airfair
import numpy as np
import pytest
from airfair import Scenario, claims, paper
from airfair.claims import MAIN
from airfair_papers.diffq import alone, fig15, four_levels, half, liar, table3
from airfair_papers.diffq.common import testbed, three
from airfair_papers.diffq.common.best import best
from airfair_papers.diffq.common.parts import pairs

from tests.support import SCENARIOS
from tests.test_paper import row

if TYPE_CHECKING:
    from airfair.claims import MeasuredRow
    from airfair.recording import Recording

FOLDER = testbed.SCENE.parent


def test_the_testbed_is_the_building() -> None:
    """Nodes, propagation and radio; flows, routes, access and the rate of broadcasts are the paper's."""
    building = tomllib.loads((SCENARIOS / "building-46.toml").read_text())
    for name in ("testbed.toml", "listed.toml"):
        scene = tomllib.loads((FOLDER / name).read_text())
        assert scene["node"] == building["node"], name
        own = {key: value for key, value in scene["radio"].items() if building["radio"].get(key) != value}
        assert own == {"broadcast_rate": "11 Mbit/s", "categories": "diffq"}, name
        assert scene["tcp"] == building["tcp"], name


def test_readings_of_other_protocols_leave_diffq_as_it_is() -> None:
    name = testbed.name
    assert name(testbed.TCP, 32) == "TCP-SACK, 32"
    assert name(testbed.TCP, 32, "static routes, DCF") == "TCP-SACK, 32, static routes, DCF"
    for reading, routes in (
        ("DCF", MAIN),
        ("queue 100", MAIN),
        ("static routes, queue 100", "static routes"),
    ):
        assert name(testbed.DIFFQ_TCP, 32, reading) == name(testbed.DIFFQ_TCP, 32, routes)
    made = testbed.series({testbed.TCP: tuple(testbed.READINGS), testbed.DIFFQ_TCP: testbed.LEVELS}, [4])
    assert len(made) == len(testbed.BASELINES) + 2
    overrides = {one.name: one.overrides for one in made}
    assert overrides["TCP-SACK, 4, static routes, DCF"] == ("flows.count=4", "radio.categories=dcf")
    assert overrides["DiffQ-TCP, 4"] == ("flows.count=4", *testbed.OLSR)
    assert name(testbed.TFRC, 4, "slow") == name(testbed.TFRC, 4), "it has neither DiffQ's rates nor windows"
    slow = testbed.series(
        dict.fromkeys((testbed.TCP, testbed.DIFFQ_TCP, testbed.DIFFQ_UDP), ("static routes, slow",)), [4]
    )
    rates = ("diffq.alpha=100 bit/s", "diffq.rate_start=10 kbit/s")
    assert [one.overrides[1:] for one in slow] == [
        testbed.WINDOW,
        (*testbed.WINDOW, *rates),
        (*testbed.UDP, *rates),
    ]


def test_waiting_queues_leave_other_protocols_as_they_are() -> None:
    name = testbed.name
    assert name(testbed.TCP, 4, "static routes, waits, DCF") == "TCP-SACK, 4, static routes, DCF"
    assert name(testbed.TCP, 4, "waits, slow") == "TCP-SACK, 4, slow"
    assert name(testbed.TFRC, 4, "waits, slow") == "TFRC-ECN, 4"
    assert name(testbed.DIFFQ_TCP, 4, "static routes, waits, DCF") == "DiffQ-TCP, 4, static routes, waits"
    both = testbed.series(
        {testbed.TCP: testbed.WAITS, testbed.DIFFQ_UDP: ("static routes, waits, slow",)}, [4]
    )
    assert [one.overrides[1:] for one in both[1:]] == [
        (),
        (
            *testbed.UDP,
            "diffq.alpha=100 bit/s",
            "diffq.rate_start=10 kbit/s",
            "diffq.serve=positive",
            "diffq.threshold=5",
        ),
    ]


def test_send_buffers_are_of_diffq_tcp_alone() -> None:
    """DiffQ-UDP has none, and TCP with such windows is another baseline, of which no claim is the paper's."""
    name = testbed.name
    assert name(testbed.TCP_8, 4, "static routes, packets") == "TCP-SACK, 8 segments, 4, static routes"
    assert name(testbed.TCP, 4, "static routes, buffer, DCF") == "TCP-SACK, 4, static routes, DCF"
    assert name(testbed.DIFFQ_UDP, 4, "buffer") == "DiffQ-UDP, 4"
    assert name(testbed.DIFFQ_UDP, 4, "packets") == "DiffQ-UDP, 4, packets"
    made = testbed.series(
        dict.fromkeys((testbed.TCP_8, testbed.DIFFQ_TCP, testbed.DIFFQ_UDP), testbed.PACKETS[1:]), [4]
    )
    counted = ("diffq.serve=positive", "diffq.threshold=5", "diffq.steps=packets")
    assert [one.overrides[1:] for one in made] == [
        testbed.SEND_BUFFER,
        (*testbed.SEND_BUFFER, *counted),
        (*testbed.UDP, *counted),
    ]
    stated = testbed.times("faster", "figure", testbed.DIFFQ_TCP, 4, testbed.TOTAL, 1.0)
    over = {claim.bound_series: claim.source for claim in stated if claim.reading == "packets"}
    assert over == {"TCP-SACK, 4": "paper", "TCP-SACK, 8 segments, 4": "ours"}
    assert {claim.baseline for claim in stated} == {None}


def test_a_ratio_of_mean_medians_by_hand() -> None:
    of = row()
    of["number_values"] = {testbed.MEDIAN: [4.0, 8.0, 6.0]}
    of["number_difference_values"] = {testbed.MEDIAN: [2.0, 6.0, 1.0]}
    ratio = table3.of_means().of(of)
    assert ratio["mean"] == pytest.approx(18 / 9)
    residuals = [4 - 2 * 2, 8 - 2 * 2, 6 - 2 * 5]
    interval = claims.estimate(residuals)["ci95"]
    assert interval is not None
    assert ratio["ci95"] == pytest.approx(interval / 3)
    of["number_difference_values"] = {testbed.MEDIAN: [4.0, 8.0, 6.0]}
    assert math.isnan(table3.of_means().of(of)["mean"]), "over nothing"


def test_a_lying_relay_waits_as_the_others_do() -> None:
    assert liar.changes("F", liar.HONEST, "static routes") == (
        "node.F.scheme=diffq-liar",
        "diffq-liar.size_factor=1",
    )
    waiting = liar.changes("C", liar.NOTHING, "static routes, waits")
    assert {"diffq.serve=positive", "diffq-liar.serve=positive", "diffq-liar.threshold=5"} < set(waiting)


def test_levels_of_a_stock_card() -> None:
    """Levels 0 to 3 are BK, BE, VI, VO. The next hop of E and G is the destination, so that their own queue
    with the packet itself is the differential: a level for each 25 packets."""
    loaded = paper.load("diffq/four_levels")
    named = f"DiffQ-UDP, fig2, static routes, {four_levels.STOCK}"
    (one,) = (series for series in loaded.series if series.name == named)
    assert one.scenario is not None
    scenario = Scenario.read(one.scenario, (*one.overrides, *loaded.small))
    seen = set()
    for line in airfair.trace(scenario, scheme=one.scheme):
        sent = re.search(r"([EG])  +sends DATA #\d+ in (\w\w) \(queue (\d+) of", line)
        if sent is not None:
            differential = int(sent[3]) + 1
            assert sent[2] == ("BK", "BE", "VI", "VO")[min(-(-differential * 4 // 100), 3)], line
            seen.add(sent[2])
    assert {"BE", "VI"} <= seen


def test_log_utility_by_hand() -> None:
    rates = np.array([0.0, 500.0, 1e3, math.e * 1e3])
    assert testbed.log_utility(rates, 1e3) == pytest.approx(1.0)
    assert testbed.log_utility(rates, 1.0) == pytest.approx(math.log(500) + 2 * math.log(1e3) + 1)


def starved_row(own: dict[str, list[float]], other: dict[str, list[float]]) -> MeasuredRow:
    made = row()
    made["seeds"] = list(range(len(next(iter(own.values())))))
    made["run_values"] = {f"flow.{name}": values for name, values in own.items()}
    made["against_values"] = {f"flow.{name}": values for name, values in other.items()}
    return made


def test_flows_that_starve_in_the_other_series() -> None:
    """In the first set a and b starve there, in the second c, in the third none."""
    of = starved_row(
        {"a": [10.0, 1.0, 1.0], "b": [30.0, 1.0, 1.0], "c": [99.0, 7.0, 1.0]},
        {"a": [0.0, 2e3, 2e3], "b": [999.0, 2e3, 2e3], "c": [1e3, 0.0, 2e3]},
    )
    statistic = testbed.of_starved()
    assert statistic.each is not None
    assert list(statistic.each(of))[:2] == [0.02, 0.007]
    assert math.isnan(list(statistic.each(of))[2])
    assert statistic.of(of)["mean"] == pytest.approx(0.0135)
    assert testbed.pooled(of) == [10.0, 1.0, 1.0, 30.0, 1.0, 1.0, 99.0, 7.0, 1.0]


def test_numbers_of_a_run() -> None:
    """Against the result's own, and against the max-min rates of its flows."""
    scenario = Scenario.read(testbed.SCENE, ("flows.count=4", "flows.seed=2", *testbed.OLSR))
    recording = airfair.record(scenario, scheme="droptail", interval="60 s")
    numbers = testbed.read(recording)
    result = recording.result
    assert numbers[testbed.JAIN] == pytest.approx(result["jain_index"])
    assert numbers[testbed.STARVED] == result["flows_below_1kbps"] / 4
    assert numbers[testbed.TOTAL] == pytest.approx(result["aggregate_goodput_bps"] / 1e6)
    optimum = airfair.optimum(
        Scenario.read(testbed.SCENE, ("flows.count=4", "flows.seed=2", "radio.categories=dcf")),
        proportional=False,
    )
    assert best(recording) == pytest.approx([flow["max_min_bps"] for flow in optimum["flows"]])
    least = min(
        flow["goodput_bps"] / of["max_min_bps"]
        for flow, of in zip(result["flows"], optimum["flows"], strict=True)
    )
    assert numbers[testbed.OF_BEST] == pytest.approx(least)


def test_the_sets_are_the_first_with_a_path_of_eight_hops() -> None:
    longest = {}
    for seed in range(1, fig15.SETS[2] + 1):
        changes = (f"flows.count={fig15.COUNT}", f"flows.seed={seed}")
        network = airfair.network(Scenario.read(testbed.SCENE, changes))
        longest[seed] = max(len(flow["path"] or "") - 1 for flow in network["flows"])
    assert tuple(seed for seed, hops in longest.items() if hops == fig15.LONGEST) == fig15.SETS[:3]
    assert sorted(fig15.lengths(1).values()) == [1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 5, 5, 8]
    assert len(set(fig15.SETS)) == 20


def test_overflows_are_counted_where_they_happen() -> None:
    """Without control every overflow of the result is at some node; sources are stopped by full queues. Where
    queues wait there is none."""
    loaded = paper.load("diffq/fig15")

    def recorded(name: str) -> tuple[Recording, dict[str, float]]:
        (one,) = (series for series in loaded.series if series.name == name)
        changes = (
            *paper.of_preset(one.preset),
            *one.overrides,
            'duration="10 s"',
            'warmup="0 s"',
            *fig15.sets(1),
            "flows.start=0 s",
        )
        scenario = Scenario.read(loaded.scenario, changes)
        recording = airfair.record(scenario, scheme=one.scheme, interval="60 s")
        return recording, fig15.read(recording)

    recording, numbers = recorded("UDP, static routes")
    there = numbers[fig15.OVERFLOWS] + numbers[fig15.AT_SOURCES]
    assert there == recording.result["drops"]["queue-full"] > 1000
    assert numbers[fig15.AT_SOURCES] == 0
    assert numbers[fig15.by_length(1)] == 0
    assert numbers[fig15.OVERFLOWS] == sum(numbers[fig15.by_length(n)] for n in range(1, 9))
    recording, numbers = recorded("DiffQ-UDP, static routes, waits")
    assert "queue-full" not in recording.result["drops"]
    assert numbers[fig15.OVERFLOWS] == numbers[fig15.AT_SOURCES] == 0


def test_paths_are_alone_one_after_another() -> None:
    (told,) = alone.one_by_one(1)
    flows = tomllib.loads(told)["flow"]
    starts = [int(flow["start"].removesuffix(" s")) for flow in flows]
    stops = [int(flow["stop"].removesuffix(" s")) for flow in flows]
    assert starts[0] == 30
    assert all(stop < start for stop, start in zip(stops, starts[1:], strict=False))
    assert stops[-1] <= 102
    for letter, reading in (("o", MAIN), ("s", "static routes")):
        ends = [(flow["from"], flow["to"]) for flow in flows if flow["id"].startswith(letter)]
        slowest, starving = alone.slowest(1, reading)
        assert ends == list(slowest)
        assert 0 <= starving <= alone.PATHS == len(ends)


def test_overrides_of_drawn_flows_become_those_of_the_three() -> None:
    assert three.of_each(("radio.categories=dcf", "flows.transport=udp")) == (
        "radio.categories=dcf",
        *(f"flow.{flow}.transport=udp" for flow in three.FLOWS),
    )


def test_every_second_flow_is_tcp() -> None:
    (told,) = half.mixed(2)
    flows = tomllib.loads(told)["flow"]
    assert [(flow["from"], flow["to"]) for flow in flows] == list(pairs(half.COUNT, 2))
    assert [flow.get("scheme") for flow in flows] == [None, "newreno"] * 16
    assert [flow["id"] for flow in flows[:3]] == ["a-0", "b-1", "a-2"]


def test_diffq_rescues_the_long_flow_of_figure_2() -> None:
    """DiffQ-UDP with static routes, three seeds: all three flows share; without control they do not."""
    loaded = paper.load("diffq/fig10")
    reading = "static routes"
    named = {three.name(protocol, reading, "fig2") for protocol in ("UDP", testbed.DIFFQ_UDP)}
    rows = paper.measure(
        replace(loaded, series=tuple(one for one in loaded.series if one.name in named)), seeds=[1, 2, 3]
    )
    (stated,) = (
        claim
        for claim in loaded.claims
        if {claim.series, claim.baseline} == named and claim.statistic.name == three.JAIN
    )
    judged = claims.judge(stated, rows)
    assert judged["holds"], judged
    assert not judged["baseline_holds"], judged


def test_tcp_starves_the_long_flow_of_figure_2() -> None:
    """Static routes and the DCF's access, five seeds: it shrinks, then dies."""
    loaded = paper.load("diffq/fig2")
    reading = "static routes, DCF"
    chosen = [one for one in loaded.series if one.name == three.name(testbed.TCP, reading)]
    rows = paper.measure(replace(loaded, series=tuple(chosen)), seeds=range(1, 6))
    for claim in loaded.claims:
        if claim.series in rows and claim.statistic.name != three.ZERO:
            judged = claims.judge(claim, rows)
            assert judged["holds"], judged
    numbers = rows[chosen[0].name]["numbers"]
    assert numbers[three.ALONE]["mean"] > 1500 > 700 > numbers[three.SECOND]["mean"]
