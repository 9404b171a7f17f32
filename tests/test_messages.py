"""Commands that answer what was probably meant."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import airfair
import pytest
from airfair import Scenario, plots

from tests.support import SHORT, THREE_PAIRS, json_of
from tests.support import airfair as command

ONE = ("--set", "duration=1 s", "--set", "warmup=0 s")


def test_an_unknown_name_is_answered_with_those_there_are() -> None:
    done = command("explain", THREE_PAIRS, "--flow", "zz")
    assert (done.returncode, done.stderr) == (
        2,
        'there is no flow "zz"; expected one of left, middle, right\n',
    )
    done = command("trace", THREE_PAIRS, "--node", "zz")
    assert done.stderr == 'there is no node "zz"; expected one of a1, b1, a2, b2, a3, b3\n'


def test_schemes_by_name() -> None:
    shown = command("schemes", "red", "nred").stdout
    assert "red.max_p" in shown
    assert "nred.max_p" in shown
    assert "lbm" not in shown
    assert [scheme["name"] for scheme in json_of("schemes", "red")] == ["red"]
    shipped = json_of("schemes")
    assert shipped == airfair.schemes()[: len(shipped)]  # what other tests register follows
    done = command("schemes", "rde")
    assert (done.returncode, done.stderr) == (2, 'there is no scheme "rde"; did you mean "red"?\n')
    done = command("schemes", "RED", "unheard-of", "foo")
    assert done.stderr.splitlines() == [
        'there is no scheme "RED"; did you mean "red"?',
        'there is no scheme "unheard-of"',
        'there is no scheme "foo"',
    ]
    done = command("paper", "nope")
    assert done.stderr == 'there is no experiment "nope"; `airfair paper` lists all of them\n'


def test_a_scenario_is_no_study() -> None:
    done = command("sweep", THREE_PAIRS)
    assert done.returncode == 2
    assert done.stderr == (
        f"{THREE_PAIRS}: a scenario; expected a study, in which `scenario` names such a file\n"
    )


def test_a_scenario_from_standard_input() -> None:
    piped = [sys.executable, "-m", "airfair", "run", "-", *SHORT, "--json"]
    text = THREE_PAIRS.read_text()
    done = subprocess.run(piped, input=text, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    there, here = json.loads(done.stdout), json_of("run", THREE_PAIRS, *SHORT)
    assert there | {"perf": None} == here | {"perf": None}
    done = subprocess.run(piped, input="nmae = 3", capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("standard input:1: ")
    binary = subprocess.run(piped, input=b'name="x"\n\xff', capture_output=True, timeout=60, check=False)
    assert (binary.returncode, binary.stderr) == (2, b"standard input:2: not UTF-8; send it as UTF-8\n")


def test_an_older_run_is_replaced_only_if_that_is_asked(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert command("run", THREE_PAIRS, *ONE, "--out", folder).returncode == 0
    refused = command("run", THREE_PAIRS, *ONE, "--seed", "2", "--out", folder)
    assert refused.returncode == 2
    assert "--force" in refused.stderr
    assert json.loads((folder / "run.json").read_text())["seed"] == 1
    assert command("run", THREE_PAIRS, *ONE, "--seed", "2", "--out", folder, "--force").returncode == 0
    assert json.loads((folder / "run.json").read_text())["seed"] == 2
    (folder / "notes.txt").write_text("which seed was it?")
    refused = command("run", THREE_PAIRS, *ONE, "--out", folder, "--force")
    assert refused.stderr == f"{folder}: has notes.txt, which is not of a run; expected a new folder\n"
    assert (folder / "notes.txt").read_text() == "which seed was it?"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter.tex").write_text("years of work")
    refused = command("run", THREE_PAIRS, *ONE, "--out", other, "--force")
    assert refused.returncode == 2
    assert (other / "chapter.tex").read_text() == "years of work"
    assert command("run", THREE_PAIRS, *ONE, "--force").returncode == 2


def test_what_cannot_be_plotted_is_named(tmp_path: Path) -> None:
    (tmp_path / "sweep").mkdir()
    (tmp_path / "sweep" / "study.json").write_text("{}")
    (tmp_path / "page.html").write_text("<html></html>")
    for source, said in (("sweep", "the folder of a sweep"), ("page.html", "a page in HTML")):
        done = command("plot", tmp_path / source, "-o", tmp_path / "x.svg")
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
        assert said in done.stderr


def test_letters_that_the_font_has_not_are_no_warnings(tmp_path: Path) -> None:
    file = tmp_path / "pairs.toml"
    file.write_text(THREE_PAIRS.read_text().replace('"a2"', '"\u65e5\u672c"'))
    done = command("plot", file, "-o", tmp_path / "x.png")
    assert (done.returncode, done.stderr) == (0, "")
    done = command("run", file, *ONE, "--report", tmp_path / "x.html")
    assert "Glyph" not in done.stderr


def test_two_seeds_are_said_to_be_few() -> None:
    two = command("compare", THREE_PAIRS, *ONE, "--schemes", "droptail", "--seeds", "2").stderr
    assert "2 seeds are too few: a 95 % interval is 12.7 standard errors" in two
    assert "too few" not in command("compare", THREE_PAIRS, *ONE, "--seeds", "5").stderr


@pytest.mark.parametrize("quantity", ["goodput_bps", "flow.mean_delay_s", "rtt_s", "loss_ratio"])
def test_no_axis_of_a_number_that_cannot_be_negative_goes_below_zero(quantity: str) -> None:
    scenario = Scenario.read(THREE_PAIRS, ["duration=2 s", "warmup=200 ms"])
    rows = airfair.compare(scenario, schemes=["droptail", "red"], seeds=[1, 2])
    axes = plots.bars(rows, quantity).axes[0]
    # Where one flow dwarfs the others the axis has logarithms, and begins above zero.
    assert axes.get_xlim()[0] == 0 or (axes.get_xscale() == "log" and axes.get_xlim()[0] > 0)
    difference = plots.bars(rows, quantity, difference=True).axes[0]
    assert quantity != "goodput_bps" or difference.get_xlim()[0] < 0
    axes = plots.scatter(rows, x="rtt_s", y="retransmissions").axes[0]
    assert axes.get_xlim()[0] >= 0
    assert axes.get_ylim()[0] >= 0
