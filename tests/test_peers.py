"""The races against other simulators: what is read, compared and printed. No peer is run."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest

from peers import bench, repeat
from peers.bench import Contender, Outcome, Race, Side, apart, measure, table
from peers.programs import PeerError, read_json, run
from tests.support import json_of
from validation import flow_list

GRID_SHORT = ("--set", "duration=2 s")


def side(name: str, net_s: float, packets: int, frames: int) -> Side:
    return Side(name, net_s + 0.25, 3.5, 0.25, 24.0, {"packets": packets, "frames": frames})


def outcome(ours: Side, peer: Side) -> Outcome:
    nobody = Contender("nobody", [], [], lambda _: {})
    race = Race("grid", "a grid", nobody, nobody, {"packets": 0.20, "frames": 0.25}, wanted=15, goal=20)
    return Outcome(race, ours, peer, [])


def test_a_command_is_charged_with_its_cpu_time_and_memory() -> None:
    done = run([sys.executable, "-c", "b = bytearray(100_000_000); print(sum(range(3_000_000)))"])
    assert done.output == "4499998500000\n"
    assert 0.01 < done.cpu_s < 30
    # Until it runs its own program a child has the memory of its parent: here that of all tests so far.
    own_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    assert 100 < done.peak_mb < max(250, own_mb + 10)


def test_what_a_command_complained_about_is_told() -> None:
    with pytest.raises(PeerError, match=r"exit status 3 from: .*\nno such grid"):
        run([sys.executable, "-c", "import sys; print('no such grid', file=sys.stderr); sys.exit(3)"])
    with pytest.raises(PeerError, match="cannot run no-such-simulator: No such file"):
        run(["no-such-simulator"])


def test_json_is_found_alone_or_among_other_lines() -> None:
    assert read_json('{\n "a": 1\n}\n', ["x"]) == {"a": 1}
    assert read_json('num_nodes is set 64\n{broken\n{"a": 1}\n{"a": 2}\nbye\n', ["x"]) == {"a": 2}
    with pytest.raises(PeerError, match="no JSON object on standard output of: x"):
        read_json("[1]\nnothing\n", ["x"])


@pytest.mark.parametrize(
    ("value", "reference", "expected"), [(110, 100, 0.1), (75, 100, -0.25), (0, 0, 0.0), (1, 0, float("inf"))]
)
def test_difference_is_relative_to_the_peer(value: int, reference: int, expected: float) -> None:
    assert apart(value, reference) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("packets", "frames", "counts"),
    [(1200, 12_500, True), (800, 7_500, True), (1201, 10_000, False), (1000, 7_499, False)],
)
def test_a_ratio_counts_for_the_same_work_only(packets: int, frames: int, counts: bool) -> None:
    found = outcome(side("Airfair", 0.1, packets, frames), side("ns-2", 2.0, 1000, 10_000))
    assert found.counts is counts
    assert found.verdict().startswith("20.0 times as fast" if counts else "the ratio does not count")


@pytest.mark.parametrize(
    ("net_s", "said"),
    [
        (2.1, "21.0 times as fast; at least 15 are wanted, the goal 20: reached"),
        (1.6, "16.0 times as fast; at least 15 are wanted, the goal 20: enough"),
        (1.4, "14.0 times as fast; at least 15 are wanted, the goal 20: NOT REACHED"),
    ],
)
def test_what_is_said_of_a_ratio(net_s: float, said: str) -> None:
    assert outcome(side("Airfair", 0.1, 10, 100), side("ns-2", net_s, 10, 100)).verdict() == said


def test_table_has_a_row_for_each_simulator() -> None:
    found = outcome(side("Airfair", 0.1, 1050, 9_900), side("ns-2.35", 2.0, 1000, 10_000))
    assert table(found).splitlines() == [
        "           CPU s  worst s   idle s    net s     MB    packets             frames",
        "Airfair    0.350    3.500    0.250    0.100     24       1050   +5.0%       9900   -1.0%",
        "ns-2.35    2.250    3.500    0.250    2.000     24       1000   +0.0%      10000   +0.0%",
    ]


def test_sides_run_in_turn_and_keep_their_best(tmp_path: Path) -> None:
    log = tmp_path / "log"

    def contender(name: str) -> Contender:
        code = (
            f"import sys; open({str(log)!r}, 'a').write('{name} ' + sys.argv[1] + ';'); print('{{\"n\": 7}}')"
        )
        command = [sys.executable, "-c", code]
        return Contender(
            name, [*command, "loaded"], [*command, "idle"], lambda result: {"packets": result["n"]}
        )

    one, other = measure([contender("one"), contender("other")], 2)
    assert log.read_text() == "one loaded;one idle;other loaded;other idle;" * 2
    assert (one.name, other.name, one.work) == ("one", "other", {"packets": 7})
    assert 0 < one.loaded_s < 30


def test_our_work_is_read_from_a_result() -> None:
    grid = json_of("run", bench.SCENARIOS / "grid-64.toml", *GRID_SHORT)
    work = bench.our_grid_work(grid)
    assert work["packets"] == sum(flow["delivered_bytes"] for flow in grid["flows"]) // 1460 > 100
    assert work["frames"] > 4 * work["packets"]


def test_the_flow_list_is_read_by_our_side(tmp_path: Path) -> None:
    path = tmp_path / "flows.csv"
    flow_list.write(path, flow_list.flows())
    lines = path.read_text().splitlines()
    assert lines[:2] == ["start_s,bytes", "0.000200895,7680"]
    assert (len(lines), lines[-1]) == (60_001, "95.467984767,9600")
    assert float(lines[-1].split(",")[0]) < flow_list.STOP_S
    sets = [part for text in flow_list.overrides(path, 1.0) for part in ("--set", text)]
    result = json_of("run", bench.SCENARIOS / "short-flows.toml", *sets)
    arrived = sum(float(line.split(",")[0]) < 1.0 for line in lines[1:])
    assert result["flows"][0]["files"]["started"] == arrived
    work = bench.our_short_flows_work(result)
    assert 0 < work["finished"] < arrived
    assert work["packets"] > 5 * work["finished"]


def test_means_over_seeds_have_intervals() -> None:
    results = [
        {"delivered_packets": 10 * n, "flows": [{"src": "0", "dst": "5", "goodput_bps": 1e3 * n}]}
        for n in (1, 3)
    ]
    # Two values, mean 2, standard deviation sqrt 2: half-width 12.706 (Student's t, 1 degree of freedom).
    assert repeat.table(results).splitlines() == [
        "0 -> 5, kbit/s           2.0 ± 12.7     1.0 to 3.0",
        "total, kbit/s            2.0 ± 12.7     1.0 to 3.0",
        "packets                 20.0 ± 127.1    10.0 to 30.0",
        "Jain's index           1.000 ± 0.000    1.000 to 1.000",
    ]
    assert repeat.jain([3.0, 1.0]) == pytest.approx(0.8)
