"""The network that the simulator builds, as Python gets it: relations, routes, places."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations, pairwise, permutations

import airfair
import pytest
from airfair import InputError, Scenario, plots
from airfair.results import Network

from tests.support import SCENARIOS, THREE_PAIRS


def relations(network: Network) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Ordered pairs of nodes that receive, and that only sense."""
    node = [radio["node"] for radio in network["radios"]]
    found: tuple[set[tuple[str, str]], set[tuple[str, str]]] = (set(), set())
    for pair in network["pairs"]:
        found[not pair["receives"]].add((node[pair["sender"]], node[pair["hearer"]]))
    return found


def both(*pairs: str) -> set[tuple[str, str]]:
    """`a1 b1` is a pair in both directions."""
    named = [pair.split() for pair in pairs]
    return {(a, b) for a, b in named} | {(b, a) for a, b in named}


def test_three_pairs() -> None:
    """200 m and 350 m are within 367 m; the diagonal, 403 m, is within 670 m; 700 m is not."""
    network = airfair.network(THREE_PAIRS)
    receives, senses = relations(network)
    assert receives == both("a1 b1", "a2 b2", "a3 b3", "a1 a2", "a2 a3", "b1 b2", "b2 b3")
    assert senses == both("a1 b2", "b1 a2", "a2 b3", "b2 a3")
    assert {radio["data_rate_bps"] for radio in network["radios"]} == {2_000_000}
    assert [(flow["id"], flow["path"]) for flow in network["flows"]] == [
        ("left", ["a1", "b1"]),
        ("middle", ["a2", "b2"]),
        ("right", ["a3", "b3"]),
    ]
    stays = {"id": "a1", "position_m": [0, 0, 0], "path": [], "path_repeats_from": None}
    assert dict(network["nodes"][0]) == stays


@pytest.mark.parametrize("name", ["hidden-terminal", "exposed-terminal"])
def test_four_in_a_row(name: str) -> None:
    """350 m apart: neighbours decode each other, 700 m and more is not even sensed."""
    receives, senses = relations(airfair.network(SCENARIOS / f"{name}.toml"))
    assert receives == both("1 2", "2 3", "3 4")
    assert senses == set()


def test_a_range_ends_at_its_last_metre() -> None:
    """By hand: 367 m receives, 368 m senses; 670 m senses, 671 m does not."""
    for metres, expected in [(367, (2, 0)), (368, (0, 2)), (670, (0, 2)), (671, (0, 0))]:
        there = f'node.b1.position=["0 m", "{metres} m"]'
        scenario = Scenario.read(
            THREE_PAIRS,
            [there, *(f'node.{node}.position=["9 km", "0 m"]' for node in ("a2", "b2", "a3", "b3"))],
        )
        receives, senses = relations(airfair.network(scenario))
        assert (
            len([pair for pair in receives if "a1" in pair]),
            len([pair for pair in senses if "a1" in pair]),
        ) == expected


def test_wires_routes_and_places() -> None:
    network = airfair.network(SCENARIOS / "wired.toml")
    assert network["links"] == [{"ends": ["server", "ap"], "rate_bps": 100_000_000, "delay_s": 0.01}]
    assert [flow["path"] for flow in network["flows"]] == [
        ["server", "ap", "laptop"],
        ["server", "ap", "phone"],
        ["phone", "ap", "server"],
    ]
    assert {node["id"]: node["position_m"] for node in network["nodes"]} == {
        "server": None,
        "ap": [0, 0, 0],
        "laptop": [8, 0, 0],
        "phone": [0, 12, 0],
    }
    # The complete scenario in a folder does not invent places either.
    scenario = Scenario.read(SCENARIOS / "wired.toml")
    assert Scenario.parse(scenario.resolved).network() == scenario.network()


def test_without_a_route() -> None:
    scenario = Scenario.read(THREE_PAIRS, ['node.b1.position=["5 km", "0 m"]'])
    assert [flow["path"] for flow in airfair.network(scenario)["flows"]][:2] == [None, ["a2", "b2"]]


def test_a_measured_matrix_has_directions_and_no_places() -> None:
    """A gain that is given one way is heard one way."""
    text = """
    name = "matrix"
    duration = "1 s"
    [radio]
    standard = "802.11b"
    data_rate = "2 Mbit/s"
    tx_power = "20 dBm"
    propagation = { model = "matrix" }
    [[node]]
    id = "a"
    [[node]]
    id = "b"
    [[node]]
    id = "c"
    [[gain]]
    from = "a"
    to = "b"
    gain = "-60 dB"
    [[gain]]
    from = "b"
    to = "c"
    gain = "-60 dB"
    both = true
    [[flow]]
    id = "f"
    from = "c"
    to = "b"
    traffic = { kind = "saturating" }
    """
    network = airfair.network(Scenario.parse(text))
    assert relations(network)[0] == {("a", "b"), *both("b c")}
    assert [node["position_m"] for node in network["nodes"]] == [None] * 3
    power = {(pair["sender"], pair["hearer"]): pair["power_dbm"] for pair in network["pairs"]}
    assert power[0, 1] == pytest.approx(20 - 60)


def test_shadowing_has_a_seed_of_its_own() -> None:
    def scenario(seed: int) -> Scenario:
        return Scenario.read(SCENARIOS / "wired.toml", [f"radio.propagation.shadowing_seed={seed}"])

    assert scenario(1).network(1) == scenario(1).network(2), "the run's seed builds no other house"
    assert scenario(1).network(1) != scenario(2).network(1)
    assert scenario(1).network(1) == Scenario.read(SCENARIOS / "wired.toml").network(1)


def test_lossy_links_say_how_much_arrives() -> None:
    network = airfair.network(SCENARIOS / "building.toml")
    ratios = [pair["delivery_ratio"] for pair in network["pairs"]]
    assert all(0 <= ratio <= 1 for ratio in ratios)
    assert all(pair["receives"] == (pair["delivery_ratio"] > 0.1) for pair in network["pairs"])
    assert len(ratios) <= 2 * len(list(combinations(network["nodes"], 2)))


def test_wrong_seeds_are_refused() -> None:
    with pytest.raises(InputError, match="seed: -1"):
        airfair.network(THREE_PAIRS, seed=-1)


def test_json_is_what_the_dict_is() -> None:
    assert airfair.network(THREE_PAIRS) == json.loads(Scenario.read(THREE_PAIRS).network())


TWO_RADIOS = """
name = "two-radios"
duration = "6 s"
[routing]
protocol = "aodv"
[radio]
standard = "802.11g"
data_rate = "24 Mbit/s"
queue_packets = 20
propagation = { model = "two-ray", range = "250 m", carrier_sense = "550 m" }
[radios.two]
channel = 6
data_rate = "6 Mbit/s"
[[node]]
id = "a"
radios = ["default"]
position = ["-200 m", "0 m"]
[[node]]
id = "b"
radios = ["default", "two"]
position = ["0 m", "0 m"]
[[node]]
id = "c"
radios = ["two"]
position = ["200 m", "0 m"]
[[node]]
id = "d"
radios = ["two"]
position = ["150 m", "0 m"]
[[flow]]
id = "through"
from = "a"
to = "d"
traffic = { kind = "saturating" }
[[flow]]
id = "own"
from = "b"
to = "c"
start = "3 s"
traffic = { kind = "saturating" }
"""


@pytest.mark.parametrize("seed", [3, 12])
def test_a_source_survives_the_drop_of_its_first_packet(seed: int) -> None:
    """It found the route, by a radio whose queue was full: no departure there was told to the source."""
    flows = json.loads(Scenario.parse(TWO_RADIOS).run(seed=seed))["flows"]
    (own,) = (flow for flow in flows if flow["id"] == "own")
    assert own["delivered_packets"] > 100


def test_routes_between_all_nodes() -> None:
    """Four nodes in a row; a protocol finds its routes later."""
    row = SCENARIOS / "hidden-terminal.toml"
    assert "routes" not in airfair.network(row)
    routes = airfair.network(row, routes=True).get("routes", [])
    hops = {(route["src"], route["dst"]): len(route["path"]) - 1 for route in routes}
    assert hops == {(str(a), str(b)): abs(a - b) for a, b in permutations(range(1, 5), 2)}
    assert next(route["path"] for route in routes if route["src"] == "4") == ["4", "3", "2", "1"]
    found = airfair.network(Scenario.read(row, ['routing={protocol="aodv"}']), routes=True)
    assert found.get("routes") == []
    assert "routing" not in airfair.network(row)
    assert found.get("routing") == "AODV"
    for asked in (True, False):
        assert plots.network(airfair.network(row, routes=asked)).axes
    with pytest.raises(InputError, match="routes"):
        airfair.network(row, routes="all")  # type: ignore[arg-type]


def test_links_of_the_building_and_its_routes() -> None:
    """The testbed's numbers, as measured before: hops of all pairs, most losses of links that routes use."""
    network = airfair.network(SCENARIOS / "building-46.toml", routes=True)
    routes = network.get("routes", [])
    hops = Counter(len(route["path"]) - 1 for route in routes)
    assert [hops[n] for n in range(1, 10)] == [228, 476, 522, 410, 242, 130, 54, 8, 0]
    name = [radio["node"] for radio in network["radios"]]
    ratio = {(name[p["sender"]], name[p["hearer"]]): p["delivery_ratio"] for p in network["pairs"]}
    used = {link for route in routes for link in pairwise(route["path"])}
    assert sum(1 - ratio[link] > 0.3 for link in used) == 2
    heard = [1 - one for one in ratio.values() if one > 0]
    assert sum(0.1 < loss < 0.9 for loss in heard) > 80
