"""Scenarios that are built, edited and saved in code."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import airfair
import numpy as np
import pytest
from airfair import InputError, Scenario, ScenarioError

from tests.support import SCENARIOS, THREE_PAIRS


def pair() -> dict[str, Any]:
    """The tables of a small scenario."""
    return {
        "name": "pair",
        "duration": "1 s",
        "radio": {"data_rate": "2 Mbit/s", "propagation": {"model": "two-ray", "range": "250 m"}},
        "node": [{"id": "a", "position": ["0 m", "0 m"]}, {"id": "b", "position": ["100 m", "0 m"]}],
        "flow": [
            {"id": "only", "from": "a", "to": "b", "traffic": {"kind": "saturating", "packet": "1000 B"}}
        ],
    }


def test_a_scenario_is_built_from_dicts() -> None:
    built = Scenario.from_dict(pair())
    assert built == Scenario.parse(
        """
        name = "pair"
        duration = "1 s"
        [radio]
        data_rate = "2 Mbit/s"
        propagation = { model = "two-ray", range = "250 m" }
        [[node]]
        id = "a"
        position = ["0 m", "0 m"]
        [[node]]
        id = "b"
        position = ["100 m", "0 m"]
        [[flow]]
        id = "only"
        from = "a"
        to = "b"
        traffic = { kind = "saturating", packet = "1000 B" }
        """
    )
    assert built.to_dict() == pair()
    # Blocks and tables have headers, as people write them.
    assert built.text.count("[[node]]") == 2
    assert "\n[radio]\n" in built.text
    assert airfair.run(built)["flows"][0]["goodput_bps"] > 1e6


def test_dicts_meet_the_checks_of_files() -> None:
    tables = pair()
    tables["radio"]["data_rate"] = "2 Mbps"
    tables["flow"][0]["too"] = "b"
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_dict(tables, "mine")
    assert any("radio.data_rate" in line and "Mbps" in line for line in caught.value.errors)
    assert any('flow.only.too: unknown key; did you mean "to"?' in line for line in caught.value.errors)
    assert all(line.startswith("mine:") for line in caught.value.errors)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "radio.queue_packets: None; expected a text"),
        (2**70, "expected a whole number of 64 bits"),
        ({1: 2}, "radio.queue_packets: 1; expected texts as keys"),
        ([object()], r"radio.queue_packets\[0\]: <object"),
    ],
)
def test_what_a_file_cannot_hold(value: object, message: str) -> None:
    tables = pair()
    tables["radio"]["queue_packets"] = value
    with pytest.raises(InputError, match=message):
        Scenario.from_dict(tables)


def test_a_value_within_itself() -> None:
    tables = pair()
    tables["radio"]["radio"] = tables["radio"]
    with pytest.raises(InputError, match="nested too deep"):
        Scenario.from_dict(tables)


def test_an_edited_scenario_is_another_one() -> None:
    first = Scenario.read(THREE_PAIRS, ["duration=1 s", "warmup=0 s"])
    changes = {"radio.queue_packets": np.int64(5), "flow.middle.start": "100 ms", "red.max_p": 0.2}
    second = first.edited(changes)
    overrides = ["radio.queue_packets=5", "flow.middle.start=100 ms", "red.max_p=0.2"]
    assert second == Scenario.read(THREE_PAIRS, ["duration=1 s", "warmup=0 s", *overrides])
    assert hash(second) != hash(first)
    assert first == Scenario.read(THREE_PAIRS, ["duration=1 s", "warmup=0 s"])
    # A text stays a text: "5" is no number of packets.
    with pytest.raises(ScenarioError, match=r"radio\.queue_packets"):
        first.edited({"radio.queue_packets": "5"})
    with pytest.raises(ScenarioError, match='did you mean "middle"'):
        first.edited({"flow.midle.start": "1 s"})


def test_what_is_saved_reads_back(tmp_path: Path) -> None:
    original = Scenario.read(THREE_PAIRS)
    original.save(tmp_path / "same.toml")
    assert (tmp_path / "same.toml").read_text() == THREE_PAIRS.read_text()
    edited = original.edited({"duration": "15 s"})
    edited.save(tmp_path / "sub" / "edited.toml")
    assert Scenario.read(tmp_path / "sub" / "edited.toml") == edited
    # Comments stay.
    saved = (tmp_path / "sub" / "edited.toml").read_text()
    assert saved == THREE_PAIRS.read_text().replace('duration = "60 s"', 'duration = "15 s"')
    with pytest.raises(OSError, match=r"same\.toml"):
        edited.save(tmp_path / "same.toml" / "x.toml")


@pytest.mark.parametrize("file", sorted(SCENARIOS.glob("*.toml")), ids=lambda file: file.stem)
def test_every_example_survives(file: Path, tmp_path: Path) -> None:
    scenario = Scenario.read(file)
    assert Scenario.from_dict(scenario.to_dict()) == scenario
    assert Scenario.parse(scenario.text) == scenario
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    scenario.save(tmp_path / file.name)
    assert Scenario.read(tmp_path / file.name) == scenario
