"""The framework: what passes, what fails, what is written, and the exit status."""

from __future__ import annotations

import errno
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from airfair.output import write_atomically

from validation import __main__ as command
from validation import sections
from validation.report import Context, Figure, Report, Row, Series, draw, holds, inside, read_figures, within

GOOD = within("s", "close", "a table", expected=10.0, measured=10.3, relative=0.05, unit="us")
BAD = within("s", "far | off", "a table", expected=10.0, measured=11.0, absolute=0.5)


def test_tolerances() -> None:
    assert (GOOD.ok, BAD.ok) == (True, False)
    assert GOOD.tolerance == "± 5 %"
    assert within("s", "same", "", expected=0, measured=0, absolute=0).tolerance == "exact"
    assert not within("s", "nothing", "", expected=1, measured=math.nan, relative=1).ok
    assert inside("s", "range", "", low=1, high=math.inf, measured=2).expected == "≥ 1"
    assert not inside("s", "range", "", low=1, high=2, measured=3).ok
    with pytest.raises(ValueError, match="either"):
        within("s", "both", "", expected=1, measured=1)


def test_report_is_written_whole(tmp_path: Path) -> None:
    made = Report()
    assert not made.ok, "no rows is no success"
    plot = Figure(
        "s",
        "curve",
        "A curve.",
        "x",
        "y",
        [Series("l", [0, 1], [0, 1]), Series("p", [0], [1], "points", [0.1])],
    )
    made.add("s", "Section", "About it.", [GOOD, BAD], [plot])
    assert not made.ok
    path = made.write(tmp_path)
    text = path.read_text()
    assert "**1 of 2 checks pass.**" in text
    assert "- close: 10.3 us (expected 10 ± 5 %)\n- **FAILS** far | off: 11 (expected 10 ± 0.5)\n" in text
    assert "![A curve.](validation/s-curve.svg)" in text
    assert read_figures(tmp_path) == [plot]
    drawn = draw(plot)
    assert b"<svg" in drawn
    assert draw(plot) == drawn
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["validation", "validation.md"]


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "file"
    write_atomically(target, b"old")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_rows_of_another_section_are_refused() -> None:
    with pytest.raises(ValueError, match="yielded a row"):
        Report().add("other", "Other", "", [GOOD])


def _use(monkeypatch: pytest.MonkeyPatch, *results: Row | Exception) -> None:
    def rows(_context: Context) -> Iterator[Row]:
        for result in results:
            if isinstance(result, Exception):
                raise result
            yield result

    monkeypatch.setattr(sections, "names", lambda: ["s"])
    monkeypatch.setattr(sections, "load", lambda name: sections.Section(name, "Section", "About.", rows))


def test_exit_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _use(monkeypatch, GOOD)
    assert command.main(["s", "--output", str(tmp_path)]) == 0
    _use(monkeypatch, GOOD, BAD)
    assert command.main(["s", "--output", str(tmp_path)]) == 1
    assert "**1 of 2 checks pass.**" in (tmp_path / "validation.md").read_text()
    assert command.main(["ss"]) == 2
    assert "did you mean 's'" in capsys.readouterr().err
    assert command.main(["s", "--workers", "0"]) == 2


def test_a_section_that_breaks_fails_and_keeps_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _use(monkeypatch, GOOD, RuntimeError("lost"))
    assert command.main(["--output", str(tmp_path)]) == 1
    text = (tmp_path / "validation.md").read_text()
    assert "close" in text
    assert "RuntimeError('lost')" in text


def test_a_look_does_not_replace_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _use(monkeypatch, GOOD)
    monkeypatch.setattr(command, "DOCS", tmp_path)
    assert command.main(["--quick"]) == 0
    assert list(tmp_path.iterdir()) == []
    assert command.main([]) == 0
    assert (tmp_path / "validation.md").exists()


def test_sections_are_found_by_their_files() -> None:
    assert "models" in sections.names()
    assert sections.load("models").title


def test_claims_without_numbers() -> None:
    assert holds("s", "bytes", "", expected="equal", measured="differ", ok=False).ok is False
