"""Results are those that are recorded: the cases of `make same`."""

from __future__ import annotations

import json
import tomllib
from collections import Counter

import pytest

from tests.same.__main__ import Recorded, difference, differing, main, recorded
from tests.same.content import REFUSED, Numbers, canonical, hashed
from tests.same.scenes import (
    LEVELS,
    SCENES_OF_A_SCHEME,
    SCHEMES_OF_A_SCENE,
    Case,
    cases,
    covering,
    scenario_of,
    scenes,
    schemes,
)

PARTS = 16


@pytest.mark.parametrize("part", range(PARTS))
def test_results_are_those_that_are_recorded(part: int) -> None:
    chosen = covering(cases())[part::PARTS]
    found = {one.name: Recorded(one.value, one.numbers) for one in map(hashed, chosen)}
    assert found
    known = recorded()
    changes = {name: difference(known.get(name), found[name]) for name in differing(found, known)}
    assert not changes, "python -m tests.same lists all of them"
    assert {name: one.numbers for name, one in found.items()} == {name: known[name].numbers for name in found}


def test_every_case_of_the_choice_is_recorded_and_no_other() -> None:
    assert sorted(map(str, covering(cases()))) == list(recorded())


def test_the_choice_covers_scenes_and_schemes() -> None:
    runs = [case for case in covering(cases()) if case.way == "run" and ":" not in case.scene]
    in_scene, by_scheme = Counter(case.scene for case in runs), Counter(case.scheme for case in runs)
    assert set(in_scene) == set(scenes())
    assert set(by_scheme) == set(schemes())
    assert min(in_scene.values()) >= SCHEMES_OF_A_SCENE
    assert min(by_scheme.values()) >= SCENES_OF_A_SCHEME


def test_the_choice_does_not_depend_on_the_order_of_cases() -> None:
    every = list(cases())
    assert covering(reversed(every)) == covering(every)


def test_numbers_show_by_how_much_a_case_differs() -> None:
    before = Recorded("a", Numbers("100", "10", "0.5", "1000", "0", ""))
    now = Recorded("b", Numbers("101", "10", "0.5", "990", "3", "2.5"))
    expected = "total_kbps 100 -> 101 (+1.00%), frames 1000 -> 990 (-1.00%), drops 0 -> 3, delay_ms - -> 2.5"
    assert difference(before, now) == expected


def test_what_is_told_is_no_word() -> None:
    result = json.loads(
        canonical('{"b": 1, "perf": {"events": 3}, "a": 0.5, "version": "9", "warnings": ["x"]}')
    )
    assert list(result.items()) == [("a", 0.5), ("b", 1)]


def test_another_seed_is_another_hash_and_a_refusal_is_one() -> None:
    one, other = (hashed(Case("same/partly", "xcp", seed, "run")).value for seed in (1, 2))
    assert one != other
    assert hashed(Case("three-pairs", "there-is-none", 1, "run")).value == REFUSED


def test_nothing_is_refused_but_what_is_known() -> None:
    """A scene that cannot be read would be the same for ever."""
    values = {name: one.value for name, one in recorded().items()}
    assert not [name for name, value in values.items() if value.startswith("failed")]
    over = ("diffq-more", "diffq-exor", "more", "exor", "c3l", "c3l-faulty")
    refused = {name for name, value in values.items() if value == REFUSED}
    assert refused <= {f"same/mixture {scheme} 1 {way}" for scheme in over for way in ("run", "wire-check")}


def test_something_happens_in_every_recorded_run() -> None:
    """A run of which nothing is sent is the same for ever."""
    idle = {
        name
        for name, one in recorded().items()
        if one.value != REFUSED and name.split()[-1] != "network" and one.numbers.total_kbps == "0"
    }
    sending = {name for name in idle if recorded()[name].numbers.frames != "0"}
    # Forwarders that close no batch in seconds; a round-trip time above the run's length, over wires.
    assert {name.partition(":")[0] for name in sending} <= {
        "diffq/batch_delay",
        "diffq/etx_gain",
        "diffq/fig6",
        "diffq/fig7",
        "diffq/fig8",
    }
    assert {name.partition(":")[0] for name in idle - sending} <= {"qfcp/stability"}


def test_diffq_runs_wherever_there_are_radios() -> None:
    """A refusal is the same however its levels change: radios without eight categories get them.

    A forwarder takes one radio of a node: nodes with two are refused.
    """
    mixed = [Case("same/mixture", scheme, 1, "run") for scheme in LEVELS]
    assert {case.scheme for case in mixed if hashed(case).value == REFUSED} == {"diffq-more", "diffq-exor"}
    refused = {name for name, one in recorded().items() if one.value == REFUSED and name.split()[1] in LEVELS}
    assert refused <= set(map(str, mixed))
    for scene, own in [("three-pairs", "dcf"), ("voice-beside-bulk", "edca")]:
        for scheme, expected in [("diffq", "diffq"), ("diffq-rc", own)]:
            resolved = tomllib.loads(scenario_of(Case(scene, scheme, 1, "run")).resolved)
            assert resolved["radio"]["categories"] == expected


def test_a_case_that_differs_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "wired droptail 1 network"
    monkeypatch.setattr("tests.same.__main__.recorded", lambda: {name: Recorded("0" * 12, Numbers())})
    monkeypatch.setattr("sys.argv", ["same", "--only", name, "--jobs", "1"])
    assert main() == 1
    assert f"--show '{name}'" in capsys.readouterr().out
