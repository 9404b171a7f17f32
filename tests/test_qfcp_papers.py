"""Computations of QFCP's experiments: max-min shares, processor sharing, the lists of files."""

from __future__ import annotations

import math
from dataclasses import replace

import airfair
import numpy as np
import pytest
from airfair import Scenario, paper
from airfair_papers.qfcp import mixed
from airfair_papers.qfcp.common import completions, over_time
from airfair_papers.qfcp.common.protocols import FOUR
from airfair_papers.qfcp.common.sharing import Wish, max_min, processor_sharing
from airfair_papers.qfcp.parking import NETWORKS


@pytest.mark.parametrize(
    ("network", "expected"),
    [
        # FloodNS's hand-made cases (S. Kassing, MIT licence); bundles of connections stand for weights.
        ("single, limits", [2.0, 2.6, 2.7, 2.7]),
        ("double, limits", [1.0, 1.0, 5.0, 5.0]),
        ("three split", [100 / 3] * 3),
        ("three split, four", [17.5, 17.5, 32.5, 32.5]),
        ("single, weights", [4.0, 2.0, 6.0, 4.0]),
        ("double, weights", [4.0, 2.0, 6.0, 4.0] * 2),
        ("weights, no limits", [20.0, 26.0, 27.0, 27.0]),
        # By hand: b-c gives 5 to each of four, a-b the rest of 30 to two, c-d the rest of 40 to one.
        ("lot, uneven", [5.0, 12.5, 12.5, 5.0, 5.0, 5.0, 35.0]),
    ],
)
def test_max_min_shares_are_those_known(network: str, expected: list[float]) -> None:
    assert list(NETWORKS[network].shares().values()) == pytest.approx(expected)


def test_a_flow_that_nothing_holds_back_gets_its_limit() -> None:
    wishes = {"a": Wish(["x"], limit=3.0), "b": Wish(["x", "y"]), "c": Wish(["y"], weight=2.0)}
    shares = max_min({"x": 100.0, "y": 9.0}, wishes)
    assert shares == pytest.approx({"a": 3.0, "b": 3.0, "c": 6.0})


def test_processor_sharing_by_hand() -> None:
    """The second comes when the first has half of its work left: both share for two seconds. The third is
    alone."""
    took = processor_sharing(np.array([0.0, 1.0, 10.0]), np.array([2.0, 1.0, 0.5]))
    assert took.tolist() == pytest.approx([3.0, 2.0, 0.5])


def test_processor_sharing_has_the_mean_of_theory() -> None:
    """The mean is x / (1 - load) whatever the distribution of x (Kleinrock, vol. 2, section 4.4)."""
    draw = np.random.default_rng(1)
    arrivals = draw.exponential(1.0, 200_000).cumsum()
    work = draw.choice([0.1, 1.3], len(arrivals))
    took = processor_sharing(arrivals, work)
    for size in (0.1, 1.3):
        assert took[work == size].mean() == pytest.approx(size / 0.3, rel=0.05)


def test_all_protocols_of_a_seed_get_the_same_files() -> None:
    loaded = paper.load("qfcp/fig1")
    lists = {}
    for series in loaded.series:
        if series.name.endswith("load 0.9"):
            few = (*series.overrides, "flow.files.traffic.count=400", 'duration="60 s"')
            for seed in (1, 2):
                recording = airfair.record(
                    Scenario.read(loaded.scenario, few), scheme=series.scheme, seed=seed, interval="60 s"
                )
                done = recording.pandas("completions").sort_values("file")
                lists[series.name, seed] = done[["file", "start_s", "bytes"]].to_numpy().tolist()
    assert {f"{name}, load 0.9" for name in FOUR} <= {name for name, _ in lists}
    for (_, seed), files in lists.items():
        assert len(files) == 400
        assert files == lists["TCP Reno, load 0.9", seed]
    assert lists["QFCP, load 0.9", 1] != lists["QFCP, load 0.9", 2]


def test_files_that_are_late_are_left_out_and_counted() -> None:
    """Sizes of 6, 6 and 1500 packets; the second is not done when the third arrives."""
    some = completions.Files(
        np.array([0.0, 1.0, 2.0]), np.array([5760, 4801, 1_440_000]), np.array([0.5, 1.5, 3.0])
    )
    assert some.packets.tolist() == [6, 6, 1500]
    means = completions.means(some, completions.GROUPS)
    assert means["6-12 packets (s)"] == 0.5
    assert math.isnan(means["1000+ packets (s)"])
    assert completions.drained(some, completions.GROUPS)["drained, 6-12 packets (s)"] == 1.0
    late = completions.unfinished(some, 4, completions.GROUPS)
    assert (late["unfinished, 6-12 packets"], late["unfinished, 1000+ packets"]) == (1.0, 1.0)
    assert late["unfinished at the end"] == 1.0
    # 40 B for each packet; with a header of 16 B segments are of 944 B: 7, 6, 1526 of them.
    assert some.wire_bytes().sum() == 5760 + 4801 + 1_440_000 + 1512 * 40
    assert some.wire_bytes(16).sum() == 5760 + 4801 + 1_440_000 + (7 + 6 + 1526) * 56


def test_unevenness_is_that_of_the_means() -> None:
    draw = np.random.default_rng(1)
    packets = draw.integers(6, 1000, 50_000)
    smooth = completions.Files(np.zeros(50_000), packets * 960, 0.2 * packets.astype(np.float64) ** 0.3)
    last = np.append(np.zeros(49_999), 1e3)
    assert completions.unevenness(smooth._replace(start_s=last)) < 1e-6
    rough = smooth.took_s * np.where(packets % 2, 1.1, 1 / 1.1).astype(np.float64)
    assert completions.unevenness(smooth._replace(start_s=last, took_s=rough)) == pytest.approx(
        math.log(1.1), rel=0.02
    )


def test_when_something_has_settled() -> None:
    good = np.array([True, True, False, True, True, True, False])
    assert over_time.settled(good, 0.1, 3) == pytest.approx(0.3)
    assert over_time.settled(good, 0.1, 2) == 0.0
    assert over_time.settled(good, 0.1, 4) == pytest.approx(0.7), "never: all the time there is"
    assert over_time.for_good(good, 0.1) is None, "not in the last row"
    assert over_time.for_good(good[:5], 0.1) == pytest.approx(0.3), "though two rows before are as many"
    assert over_time.for_good(good[:2], 0.1) == 0.0
    assert over_time.for_good(good[:0], 0.1) is None
    assert over_time.smoothed(np.array([1.0, 3.0, 5.0]), 2).tolist() == [2.0, 4.0]
    assert over_time.smoothed(np.array([[1.0, 0.0], [3.0, 2.0]]), 2).tolist() == [[2.0, 1.0]]
    assert len(over_time.smoothed(np.array([1.0]), 2)) == 0


@pytest.mark.parametrize("protocol", mixed.SPEAKING)
def test_a_flow_falls_back_within_a_round_trip(protocol: str) -> None:
    """The paths of `qfcp/mixed` from a start at time 0: round trips of 52 and 92 ms without queues."""
    scheme = mixed.PROTOCOLS[protocol]
    for name, falls in (("all speak", False), ("b silent, bottleneck b-c", True)):
        network = mixed.NETWORKS[name]
        bundles = {flow: replace(bundle, jitter_s=0.0) for flow, bundle in network.bundles.items()}
        overrides = (*replace(network, bundles=bundles).overrides(scheme.header), *scheme.overrides)
        scenario = Scenario.read(
            paper.load("qfcp/mixed").scenario, (*overrides, 'duration="1 s"', "warmup=0 s")
        )
        lines = [line for line in airfair.trace(scenario, scheme=scheme.scheme) if "FALLBACK" in line]
        times = [float(line.split()[0]) for line in lines]
        assert times == (pytest.approx([0.052, 0.092], abs=0.002) if falls else [])
