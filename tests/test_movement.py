"""Nodes that move: in scenarios, maps, files of other programs, and in what a run records."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import airfair
import matplotlib.pyplot as plt
import numpy as np
import pytest
from airfair import InputError, Scenario, plots
from airfair.results import RunResult

WALK = """
name = "walk"
duration = "30 s"

[radio]
standard = "802.11b"
propagation = { model = "two-ray", range = "250 m", carrier_sense = "550 m" }

[[node]]
id = "0"
position = ["0 m", "0 m"]

[[node]]
id = "1"
position = ["200 m", "0 m"]
MOVEMENT

[[flow]]
id = "steady"
from = "0"
to = "1"
traffic = { kind = "constant", rate = "100 kbit/s", packet = "500 B" }
"""

AWAY = """movement = { waypoints = [
  { at = "5 s", to = ["300 m", "0 m"], speed = "20 m/s", pause = "10 s" },
  { to = ["200 m", "0 m"], speed = "20 m/s" },
] }"""

TCL = """# BonnMotion writes coordinates with many digits.
$node_(1) set X_ 200.0
$node_(1) set Y_ 0.0
$ns_ at 5.0 "$node_(1) setdest 300.0 0.0 20.0"
$ns_ at 20.0 "$node_(1) setdest 200.0 0.0 20.0"
"""


def walk(movement: str = AWAY, more: str = "") -> str:
    return WALK.replace("MOVEMENT", movement) + more


def numbers(result: RunResult) -> dict[str, object]:
    """All but time and memory."""
    return {key: value for key, value in result.items() if key != "perf"}


def test_the_goodput_ends_and_begins_with_the_range() -> None:
    """250 m are passed after 7.5 s and again after 22.5 s: 100 kbit/s before and after, nothing between."""
    recorded = airfair.record(Scenario.parse(walk()), interval="0.5 s")
    series = recorded.pandas("flow_series")
    goodput = dict(zip(series["end_s"], series["goodput_bps"], strict=True))
    assert all(abs(goodput[t] - 100e3) < 10e3 for t in np.arange(1, 7.6, 0.5))
    assert all(goodput[t] == 0 for t in np.arange(8.5, 22.6, 0.5))
    assert all(abs(goodput[t] - 100e3) < 10e3 for t in np.arange(23.5, 30.1, 0.5))
    assert recorded.result["drops"].keys() == {"retry-limit"}


def test_a_movement_file_of_ns2_is_the_same_run(tmp_path: Path) -> None:
    (tmp_path / "walk.tcl").write_text(TCL)
    (tmp_path / "walk.toml").write_text(walk("", '[movement]\nfile = "walk.tcl"\n'))
    read = Scenario.read(tmp_path / "walk.toml")
    ours = numbers(airfair.run(Scenario.parse(walk())))
    assert numbers(airfair.run(read)) == ours
    # The complete form stands alone; so does a study that is kept somewhere else.
    assert numbers(airfair.run(Scenario.parse(read.resolved))) == ours


def test_an_import_carries_movements_over(tmp_path: Path) -> None:
    (tmp_path / "walk.tcl").write_text(TCL + '$node_(0) set X_ 0\n$ns_ at 1 "$node_(0) setdest 0 1 -1"\n')
    toml, report = airfair.import_network(tmp_path / "walk.tcl")
    assert report["written"]["movements"] == 2
    (rejected,) = report["rejected"]
    assert rejected["reason"] == "movement"
    assert "-1 m/s" in rejected["records"][0]["detail"]
    network = airfair.network(Scenario.parse(toml))
    ways = {node["id"]: node["path"] for node in network["nodes"]}
    there_and_back = [[5, 200, 0, 0], [10, 300, 0, 0], [20, 300, 0, 0], [25, 200, 0, 0]]
    assert ways == {"0": [], "1": there_and_back}


def test_movement_goes_through_a_dictionary() -> None:
    scenario = Scenario.parse(walk(more='\n[movement]\nrefresh_interval = "50 ms"\n'))
    again = Scenario.from_dict(scenario.to_dict())
    assert again.resolved == scenario.resolved
    assert scenario.to_dict()["node"][1]["movement"]["waypoints"][1]["speed"] == "20 m/s"
    faster = scenario.edited({"node.1.movement.repeat": True})
    assert airfair.network(faster)["nodes"][1]["path_repeats_from"] is not None


def test_a_map_shows_the_way() -> None:
    figure = plots.network(Scenario.parse(walk()))
    (axes,) = figure.axes
    shown = [*figure.legends, *filter(None, [axes.get_legend()])]
    assert "moves" in [text.get_text() for legend in shown for text in legend.get_texts()]
    assert axes.get_xlim()[1] > 300, "the way is inside"
    plt.close(figure)


def test_explain_follows_a_node() -> None:
    told = airfair.explain(Scenario.parse(walk()), flow="steady")
    assert told["drops"], "what was given up out of range"


@pytest.mark.parametrize(
    ("movement", "words"),
    [
        ('movement = { waypoints = [{ to = ["1 m", "0 m"], speed = "10 m" }] }', "is not a unit for this"),
        ("movement = { waypoints = [] }", "expected at least one waypoint"),
    ],
)
def test_a_wrong_movement_is_told_where_it_stands(movement: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        Scenario.parse(walk(movement))
    assert "node.1.movement.waypoints" in str(error.value)


def test_a_run_in_steps_and_by_the_clock_is_the_same(tmp_path: Path) -> None:
    """The command line, a run in pieces and a recorded run give the same numbers."""
    scenario = Scenario.parse(walk())
    whole = airfair.run(scenario)
    (tmp_path / "walk.toml").write_text(walk())
    done = subprocess.run(
        [sys.executable, "-m", "airfair", "run", str(tmp_path / "walk.toml"), "--json"],
        check=True,
        capture_output=True,
        text=True,
    )
    command = json.loads(done.stdout)
    recorded = dict(airfair.record(scenario, interval="0.3 s").result)
    for other in (command, recorded):
        assert other["flows"] == whole["flows"]
        assert other["channel_utilisation"] == whole["channel_utilisation"]
