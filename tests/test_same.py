"""Some of the cases of `make same`: results are those that are recorded."""

from __future__ import annotations

import json
import tomllib

import pytest

from tests.same.__main__ import differing, main, recorded
from tests.same.content import REFUSED, canonical, hashed
from tests.same.scenes import LEVELS, Case, cases, scenario_of, subset

PARTS = 12


@pytest.mark.parametrize("part", range(PARTS))
def test_results_are_those_that_are_recorded(part: int) -> None:
    found = {str(case): hashed(case).value for case in subset(list(cases()))[part::PARTS]}
    assert found
    assert not differing(found, recorded()), "python -m tests.same tells more"


def test_every_case_is_recorded_and_none_twice() -> None:
    names = [str(case) for case in cases()]
    assert sorted(names) == list(recorded())


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
    values = recorded()
    assert not [name for name, value in values.items() if value.startswith("failed")]
    done = {name.split()[0] for name, value in values.items() if value != REFUSED}
    assert {name.split()[0] for name in values} - done <= {"access-point/aodv"}  # AODV knows no wires yet


def test_diffq_runs_wherever_there_are_radios() -> None:
    """A refusal is the same however its levels change: radios without eight categories get them.

    A forwarder takes one radio of a node: nodes with two are refused.
    """
    refused = {name for name, value in recorded().items() if value == REFUSED and name.split()[1] in LEVELS}
    over = ("diffq-more", "diffq-exor")
    assert refused == {f"same/mixture {scheme} {seed} run" for scheme in over for seed in (1, 2, 3)}
    for scene, own in [("three-pairs", "dcf"), ("voice-beside-bulk", "edca")]:
        for scheme, expected in [("diffq", "diffq"), ("diffq-rc", own)]:
            resolved = tomllib.loads(scenario_of(Case(scene, scheme, 1, "run")).resolved)
            assert resolved["radio"]["categories"] == expected


def test_a_case_that_differs_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "wired droptail 1 network"
    monkeypatch.setattr("tests.same.__main__.recorded", lambda: {name: "0" * 12})
    monkeypatch.setattr("sys.argv", ["same", "--only", name, "--jobs", "1"])
    assert main() == 1
    assert f"--show '{name}'" in capsys.readouterr().out
