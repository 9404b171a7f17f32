"""`make instructions`: what is said of counts. Nothing is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from benches import speed

TEXT = """tolerance = 0.02
[limits]
grid = 2570
wired = 5400
[rustc."1.0.0"]
grid = 2500
wired = 5000
"""


def checked(
    monkeypatch: pytest.MonkeyPatch, folder: Path, grid: float, wired: float, version: str = "1.0.0"
) -> int:
    file = folder / "instructions.toml"
    file.write_text(TEXT)
    monkeypatch.setattr(speed, "STORED", file)
    monkeypatch.setattr(speed, "there", lambda: True)
    monkeypatch.setattr(speed, "compiler", lambda: version)
    counts = {"grid": ("a frame", lambda _: grid), "wired": ("a packet", lambda _: wired)}
    monkeypatch.setattr(speed, "SCENES", counts)
    return speed.check(["nothing"])


@pytest.mark.parametrize(
    ("grid", "wired", "status", "told"),
    [
        (2549.0, 5099.0, 0, "2500 stored, +2.0%"),
        (2551.0, 5000.0, 1, "grid: 2551 instructions, +2.0% on what is stored"),
        (2571.0, 5000.0, 1, "grid: 2571 instructions are more than the limit 2570"),
        (2500.0, 5401.0, 1, "wired: 5401 instructions are more than the limit 5400"),
        (2500.0, 4800.0, 0, "Cheaper than what is stored"),
    ],
)
def test_counts_are_compared_with_what_is_stored_and_with_limits(
    grid: float,
    wired: float,
    status: int,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    assert checked(monkeypatch, tmp_path, grid, wired) == status
    printed = capsys.readouterr()
    assert told in printed.out + printed.err


def test_an_unknown_compiler_fails_nothing_and_is_told_what_to_store(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert checked(monkeypatch, tmp_path, 9000.4, 9000.0, "2.0.0") == 0
    assert '[rustc."2.0.0"]\ngrid = 9000\nwired = 9000\n' in capsys.readouterr().out


def test_every_scene_has_a_limit_and_values() -> None:
    stored = speed.read_stored()
    assert stored["limits"].keys() == speed.SCENES.keys()
    for values in stored["rustc"].values():
        assert values.keys() == speed.SCENES.keys()
        assert all(values[name] <= stored["limits"][name] for name in values)
