"""The promise: the same scenario, scheme, seed and version give the same bytes, however the run is driven."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import airfair
import pytest
from airfair import Scenario, World, _core, experiment

from tests.support import SCENARIOS, SHORT, THREE_PAIRS, without_perf
from tests.support import airfair as command
from validation.order import SCENES, by_name, shuffled, with_idle_node

OVERRIDES = ["duration=2 s", "warmup=200 ms"]


@pytest.fixture
def pairs() -> Scenario:
    return Scenario.read(THREE_PAIRS, OVERRIDES)


@pytest.fixture
def grid() -> Scenario:
    return Scenario.read(SCENARIOS / "grid-64.toml", ["duration=3 s"])


def by_flow(text: str) -> dict[str, Any]:
    """The numbers that a user may compare between two files: flows by id, stations by node, the numbers of
    the whole.
    """
    result = json.loads(text)
    del result["perf"], result["scenario"]
    result["flows"] = {flow["id"]: flow for flow in result["flows"]}
    result["stations"] = {station["node"]: station for station in result["stations"]}
    result["queues"] = {(queue["node"], queue["towards"]): queue for queue in result["queues"]}
    return dict(result)


def test_the_same_seed_gives_the_same_bytes(grid: Scenario) -> None:
    first = grid.run(seed=7)
    assert without_perf(first) == without_perf(grid.run(seed=7))
    assert without_perf(first) == without_perf(
        command("run", SCENARIOS / "grid-64.toml", "--seed", "7", "--set", "duration=3 s", "--json").stdout
    )
    assert json.loads(first)["flows"] != json.loads(grid.run(seed=8))["flows"]


def test_the_largest_seed_is_a_seed_of_its_own(pairs: Scenario) -> None:
    largest = json.loads(pairs.run(seed=2**64 - 1))
    assert largest["seed"] == 2**64 - 1
    assert largest["flows"] != json.loads(pairs.run(seed=2**32 - 1))["flows"]


def test_jobs_change_nothing() -> None:
    def rows(jobs: str) -> list[dict[str, Any]]:
        done = command("compare", THREE_PAIRS, "--seeds", "6", *SHORT, "--jobs", jobs, "--json")
        rows: list[dict[str, Any]] = json.loads(done.stdout)
        for row in rows:
            assert row["perf"].pop("wall_s") > 0
            assert row["perf"].pop("peak_rss_bytes") > 0
        return rows

    assert json.dumps(rows("1")) == json.dumps(rows("2"))


@pytest.mark.parametrize("name", ["three-pairs", "wired", "grid-64"])
def test_stepping_by_deadline_gives_the_same_bytes(name: str) -> None:
    scenario = Scenario.read(SCENARIOS / f"{name}.toml", ["duration=500 ms", "warmup=100 ms"])
    world = World(scenario, seed=3)
    steps = 0
    while (at := world.next_deadline_ns()) is not None and at < world.end_ns:
        assert at >= world.now_ns
        world.advance(f"{at + 1} ns")
        steps += 1
    world.advance()
    assert steps > 100
    assert without_perf(world.result()) == without_perf(scenario.run(seed=3))


@pytest.mark.parametrize("step_ns", [1_000_003, 333_333_333])
def test_slices_of_any_length_give_the_same_bytes(grid: Scenario, step_ns: int) -> None:
    world = World(grid, "droptail", 3)
    while world.now_ns < world.end_ns:
        world.advance(f"{world.now_ns + step_ns} ns")
    assert without_perf(world.result()) == without_perf(grid.run("droptail", 3))


def test_a_paced_run_gives_the_same_bytes(pairs: Scenario) -> None:
    paced, lateness = _core.run_paced(pairs, "droptail", 5, 1000.0)
    assert without_perf(paced) == without_perf(pairs.run("droptail", 5))
    assert json.loads(paced)["perf"]["lateness"] == json.loads(lateness)


def test_the_order_of_blocks_means_nothing() -> None:
    """Nodes and flows in reverse order, as a user might write them."""
    for name, overrides in (("three-pairs", OVERRIDES), ("saturation", OVERRIDES), ("wired", OVERRIDES)):
        text = (SCENARIOS / f"{name}.toml").read_text()
        head, *blocks = re.split(r"^(?=\[\[)", text, flags=re.MULTILINE)
        assert len(blocks) > 4
        shuffled = "\n".join([head, *reversed(blocks)])
        one = Scenario.parse(text, overrides=overrides).run(seed=2)
        other = Scenario.parse(shuffled, overrides=overrides).run(seed=2)
        assert json.loads(one)["flows"] != json.loads(other)["flows"], "they do stand in another order"
        one_row, other_row = by_flow(one), by_flow(other)
        for sum_of_floats in ("jain_index", "log_utility", "aggregate_goodput_bps"):
            assert one_row.pop(sum_of_floats) == pytest.approx(other_row.pop(sum_of_floats), rel=1e-12)
        assert one_row == other_row


NODES = {"n10": (0, 0), "n9": (350, 0), "n2": (700, 0), "n1": (0, 340), "x1": (90_000, 0), "x10": (0, 90_000)}
FLOWS = {
    "f10": ("n1", "n2"),
    "f2": ("n9", "n2"),
    "f1": ("n10", "n2"),
    "g10": ("n1", "x1"),
    "g2": ("n9", "x10"),
}
WARNED = (
    'name = "warned"\nduration = "1 s"\n[radio]\nstandard = "802.11g"\ndata_rate = "54 Mbit/s"\n'
    'local_limit = "off"\n'
    'propagation = { model = "two-ray", range = "400 m", carrier_sense = "700 m" }\n'
    + "".join(f'[[node]]\nid = "{name}"\nposition = ["{x} m", "{y} m"]\n' for name, (x, y) in NODES.items())
    + "".join(
        f'[[flow]]\nid = "{name}"\nfrom = "{start}"\nto = "{end}"\ntransport = "tcp"\n'
        'traffic = { kind = "ftp" }\n'
        for name, (start, end) in FLOWS.items()
    )
)
"""Links that are too fast, flows without a route, own flows that crowd out others."""


@pytest.mark.parametrize("text", [WARNED, SCENES["relays on the air"], SCENES["wires"]])
def test_what_is_told_does_not_depend_on_the_order_of_blocks(text: str, tmp_path: Path) -> None:
    """Warnings and `explain`, as they are printed."""
    told = set()
    for seed in range(3):
        file = tmp_path / "scene.toml"
        file.write_text(text if seed == 0 else shuffled(text, seed))
        run = command("run", file, "--set", "duration=1 s")
        explained = command("explain", file, "--set", "duration=1 s")
        assert run.returncode == explained.returncode == 0, explained.stderr
        # Advice names a wired link by its place in the file, as overrides do.
        advice = re.sub(r"link\.\d+\.", "link.N.", explained.stdout)
        told.add((run.stderr, advice, explained.stderr))
        if text == WARNED:
            assert run.stderr.count("54 Mbit/s from n1 to n10 ") == 1
            assert [line.split(":")[1] for line in run.stderr.splitlines() if "no route" in line] == [
                " flow g2",
                " flow g10",
            ]
    assert len(told) == 1


RADIOS = ((0, "a", "b"), (150, "b", "a"), (300, "a", "b"), (450, "b"), (300, "a"))
"""Positions and radios of the nodes p0 to p4; "a" and "b" have different channels."""

WIRED = ("p0 h2", "h2 h10", "h10 h1", "h1 h2", "h1 p3", "h10 p4", "p2 h2")

BY_SEVERAL_INTERFACES = (
    'name = "several"\nduration = "6 s"\n'
    + "".join(
        f'[radios.{name}]\nstandard = "802.11b"\nchannel = {channel}\nframe_loss = 0.3\n'
        'propagation = { model = "two-ray", range = "250 m", carrier_sense = "250 m" }\n'
        for name, channel in (("a", 1), ("b", 6))
    )
    + "".join(
        f'[[node]]\nid = "p{i}"\nposition = ["{x} m", "{40 * i} m"]\nradios = {json.dumps(radios)}\n'
        for i, (x, *radios) in enumerate(RADIOS)
    )
    + "".join(f'[[node]]\nid = "h{i}"\nradios = []\n' for i in (1, 2, 10))
    + "".join(
        f'[[link]]\nends = ["{a}", "{b}"]\nrate = "2 Mbit/s"\ndelay = "2 ms"\nloss = 0.2\n'
        for a, b in (ends.split() for ends in WIRED)
    )
    + "".join(
        f'[[flow]]\nid = "{a}-{b}"\nfrom = "{a}"\nto = "{b}"\n'
        'traffic = { kind = "constant", rate = "200 kbit/s", packet = "500 B" }\n'
        for a, b in (("p0", "p3"), ("p4", "h1"), ("h10", "p1"), ("h2", "p4"))
    )
)
"""Nodes with several radios and several wires, all of which lose packets."""

SHORT_LIVED = {
    "olsr": '[routing]\nprotocol = "olsr"\n[olsr]\nhello_interval = "100 ms"\ntc_interval = "200 ms"\n'
    'neighbour_hold = "150 ms"\n',
    "dsdv": '[routing]\nprotocol = "dsdv"\n[dsdv]\nperiod = "100 ms"\nstart_jitter = "100 ms"\n'
    'period_jitter = "0 s"\nsettling_time = "50 ms"\nhold_periods = 2\ntrigger_on_new_number = false\n',
}
"""Protocols that often lose their routes there."""


@pytest.mark.parametrize("protocol", SHORT_LIVED)
def test_routes_found_by_several_interfaces_do_not_depend_on_the_order_of_blocks(protocol: str) -> None:
    text = BY_SEVERAL_INTERFACES + SHORT_LIVED[protocol]
    as_it_is = by_name(Scenario.parse(text).run(seed=1))
    assert sum(flow["lost"] for flow in as_it_is["routing"].values()) > 3
    for turn in range(1, 5):
        assert by_name(Scenario.parse(shuffled(text, turn)).run(seed=1)) == as_it_is


def test_an_idle_node_far_away_changes_no_row() -> None:
    far = '\n[[node]]\nid = "a0"\nposition = ["100000 m", "0 m"]\n'
    for name in ("three-pairs", "saturation"):
        text = (SCENARIOS / f"{name}.toml").read_text()
        one = by_flow(Scenario.parse(text, overrides=OVERRIDES).run(seed=2))
        other = by_flow(Scenario.parse(text + far, overrides=OVERRIDES).run(seed=2))
        assert other["stations"].pop("a0")["airtime_ns"]["idle"] == 2_000_000_000
        assert other["queues"].pop(("a0", "default"))["packets"] == 0
        assert other["channel_utilisation"].pop("a0") == 0
        assert one == other


@pytest.mark.parametrize("scheme", [info["name"] for info in airfair.schemes()])
@pytest.mark.parametrize("scene", list(SCENES))
def test_with_every_scheme_rows_are_those_of_names(scene: str, scheme: str) -> None:
    """Shuffled tables and ends of links, and an idle node far away that is written first, move no row."""
    short = ["duration=3 s"]
    info = next(info for info in airfair.schemes() if info["name"] == scheme)
    if any(param["name"] == "levels" for param in info["params"]):
        short.append('radio.categories="diffq"')
    text = SCENES[scene]
    as_it_is = by_name(Scenario.parse(text, overrides=short).run(scheme, 1))
    assert sum(flow["delivered_packets"] for flow in as_it_is["flows"].values()) > 100
    for turn in (1, 2):
        assert shuffled(text, turn) != text
        assert by_name(Scenario.parse(shuffled(text, turn), overrides=short).run(scheme, 1)) == as_it_is
    # The idle node has an agent, which makes itself known.
    apart = [
        unheard(found)
        for found in (as_it_is, by_name(Scenario.parse(with_idle_node(text), overrides=short).run(scheme, 1)))
    ]
    assert apart[0] == apart[1]


def unheard(found: dict[str, Any]) -> dict[str, Any]:
    """A result whose table of control packets has no broadcasts, and no parts of what all radios can send."""
    counts = ("kind", "packets", "frames", "ip_bytes", "mac_bytes")
    rows = [row for row in found.get("control", ()) if row["kind"] not in {"hello", "probe"}]
    control = [{count: row[count] for count in counts} for row in rows]
    return {**found, "control": control}


def test_a_trace_changes_nothing_and_is_the_same_in_parts(pairs: Scenario) -> None:
    whole = list(airfair.trace(pairs, seed=4))
    parts = [
        *airfair.trace(pairs, seed=4, until="700.000001 ms"),
        *airfair.trace(pairs, seed=4, start="700.000001 ms"),
    ]
    assert whole == parts
    sent = sum(" sends " in line for line in whole)
    assert sent == json.loads(pairs.run(seed=4))["perf"]["transmissions"]


def test_rows_do_not_depend_on_the_order_of_seeds(pairs: Scenario) -> None:
    def text(seeds: list[int]) -> str:
        return without_perf(experiment.repeat(pairs, schemes=["droptail"], seeds=seeds).rows)

    assert text([3, 1, 2]) == text([1, 2, 3])
