"""Errors as a user sees them: names, paths and lines of the user's, no frames of ours."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import SHORT, THREE_PAIRS, airfair

SCHEME = '''
import airfair
{imported}
from airfair.scheme import Allowance, Source


def half(window):
    return window.hlaf


class Law(Source):
    def on_start(self, setup, context):
        self.window = setup.initial_window

    def on_acked(self, acked, context):
        {acked}

    def on_congestion(self, congestion, context):
        pass

    {allowance}(self, now):
        return Allowance(window=self.window)


@airfair.register
class Mine(airfair.Scheme):
    """A law with a mistake."""

    name = "mine"
    origin = "a test"

    def source(self):
        return Law()
'''


def scheme(
    folder: Path, acked: str = "half(self.window)", allowance: str = "def allowance", imported: str = ""
) -> Path:
    file = folder / "mine.py"
    file.write_text(SCHEME.format(acked=acked, allowance=allowance, imported=imported))
    return file


def run(file: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    return airfair("run", THREE_PAIRS, *SHORT, "--schemes-from", file, "--scheme", "mine", *options)


def own_frames(told: str, files: int) -> None:
    """Only frames of the user's file."""
    assert told.count("  File ") == files, told
    assert all("mine.py" in line for line in told.splitlines() if line.startswith("  File "))
    assert "click" not in told
    assert len(told.splitlines()) < 14


def test_a_mistake_in_a_hook_is_told_with_hook_time_and_seed(tmp_path: Path) -> None:
    done = run(scheme(tmp_path), "--seed", "7")
    assert (done.returncode, done.stdout) == (1, "")
    own_frames(done.stderr, 2)
    assert "in on_acked" in done.stderr
    assert "in half" in done.stderr
    assert "AttributeError: 'int' object has no attribute 'hlaf'" in done.stderr
    assert re.search(r"in scheme mine, flow (left|middle|right), at 0\.", done.stderr)
    assert done.stderr.rstrip().endswith("seed 7")


def wire(folder: Path, *flows: str) -> Path:
    """Two nodes, a wire, and transfers from one to the other; each starts a second after the one before."""
    flow = (
        '[[flow]]\nid = "{}"\nfrom = "a"\nto = "b"\ntransport = "tcp"\n'
        'traffic = {{ kind = "ftp", start = "{} s" }}\n'
    )
    file = folder / "two.toml"
    file.write_text(
        'name = "two"\nduration = "4 s"\n[[node]]\nid = "a"\n[[node]]\nid = "b"\n'
        '[[link]]\nends = ["a", "b"]\nrate = "1 Mbit/s"\n'
        + "".join(flow.format(name, i) for i, name in enumerate(flows))
    )
    return file


@pytest.mark.parametrize("flows", [["one-hop"], ["other", "one-hop", "third"]], ids=len)
def test_the_flow_is_named(flows: list[str], tmp_path: Path) -> None:
    """Of several the one whose law made the mistake: that which starts after the first second."""
    wrong = scheme(tmp_path, "half(self.window) if context.now >= self.least else None")
    least = 0 if len(flows) == 1 else 1_000_000_000
    wrong.write_text(
        wrong.read_text().replace("class Law(Source):", f"class Law(Source):\n    least = {least}")
    )
    text = wrong.read_text().replace(
        "self.window = setup.initial_window",
        "self.window = setup.initial_window\n        self.born = context.now",
    )
    wrong.write_text(text.replace("context.now >= self.least", "self.born >= self.least"))
    done = airfair("run", wire(tmp_path, *flows), "--schemes-from", wrong, "--scheme", "mine")
    assert done.returncode == 1
    at = 0 if len(flows) == 1 else 1
    assert f"in scheme mine, flow one-hop, at {at}." in done.stderr


@pytest.mark.parametrize("effect", ["drop(1, 'why')", "mark(1, 'why')"])
def test_an_effect_that_the_place_cannot_have(effect: str, tmp_path: Path) -> None:
    wrong = scheme(tmp_path, f"context.{effect}")
    done = airfair(
        "run", wire(tmp_path, "f", "g"), "--schemes-from", wrong, "--scheme", "mine", "--seed", "3"
    )
    assert (done.returncode, done.stdout) == (1, "")
    own_frames(done.stderr, 1)
    name = effect.partition("(")[0]
    assert f"Context.{name} goes with a Queue, not with a Source" in done.stderr
    assert "in scheme mine, flow f, at 0." in done.stderr
    assert done.stderr.rstrip().endswith("seed 3")


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"allowance": "def other"}, "abstract method allowance"),
        ({"acked": "1 +"}, "SyntaxError"),
        ({"imported": "import not_there"}, "No module named 'not_there'"),
    ],
)
def test_a_scheme_that_cannot_be_built(tmp_path: Path, wrong: dict[str, str], expected: str) -> None:
    done = run(scheme(tmp_path, **wrong))
    assert done.returncode == 1
    assert expected in done.stderr
    assert "mine.py" in done.stderr
    assert "click" not in done.stderr
    assert "importlib" not in done.stderr


EXITS = ["sys.exit(0)", "sys.exit('enough')", "raise SystemExit", "quit()"]


@pytest.mark.parametrize("call", EXITS)
def test_a_hook_does_not_end_the_program(call: str, tmp_path: Path) -> None:
    wrong = scheme(tmp_path, f"import sys; {call}")
    for command in (("run",), ("compare", "--schemes", "droptail,mine", "--seeds", "1"), ("explain",)):
        scheme_of = ("--scheme", "mine") if command[0] != "compare" else ()
        done = airfair(
            command[0], THREE_PAIRS, *command[1:], *SHORT, "--schemes-from", wrong, *scheme_of, cwd=tmp_path
        )
        assert (done.returncode, done.stdout) == (1, ""), done
        own_frames(done.stderr, 1)
        assert "in on_acked" in done.stderr
        assert "SchemeError: sys.exit(" in done.stderr
        assert "in scheme mine, flow " in done.stderr


@pytest.mark.parametrize("place", ["allowance", "start", "factory", "check"])
def test_no_other_part_of_a_scheme_ends_the_program(place: str, tmp_path: Path) -> None:
    wrong = scheme(tmp_path)
    text = wrong.read_text()
    before = {
        "allowance": "        return Allowance(",
        "start": "        self.window = setup",
        "factory": "        return Law()",
        "check": "    def source(self):",
    }[place]
    call = "        raise SystemExit(3)\n"
    if place == "check":
        once = (
            "        type(self).checked = getattr(self, 'checked', 0) + 1\n        if self.checked > 1:\n    "
        )
        call = f"    def check(self):\n{once}{call}\n"
    wrong.write_text(text.replace(before, f"{call}{before}"))
    done = run(wrong)
    assert (done.returncode, done.stdout) == (1, ""), done
    assert "sys.exit(3)" in done.stderr


@pytest.mark.parametrize("call", EXITS[:3])
def test_a_file_of_schemes_does_not_end_the_program(call: str, tmp_path: Path) -> None:
    done = run(scheme(tmp_path, imported=f"import sys; {call}"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "in a file of schemes; expected that it only registers them" in done.stderr
    own_frames(done.stderr, 1)


def test_a_file_name_need_not_be_utf_8(tmp_path: Path) -> None:
    odd = os.fsdecode(b"pairs-\xe9")
    file = tmp_path / f"{odd}.toml"
    file.write_bytes(THREE_PAIRS.read_bytes())
    page = tmp_path / f"{odd}.html"
    for command in (["run"], ["compare", "--schemes", "droptail", "--seeds", "1"]):
        done = airfair_bytes(*command, file, "--set", "duration=1 s", "--set", "warmup=0 s", "--report", page)
        assert done.returncode == 0, done.stderr
        assert b"Traceback" not in done.stderr
        assert os.fsencode(page) in done.stdout
        assert page.read_text(encoding="utf-8").count("<html") == 1
        page.unlink()
    folder = tmp_path / f"out-{odd}"
    done = airfair_bytes("run", file, "--set", "duration=1 s", "--set", "warmup=0 s", "--out", folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "run.json").exists()


def airfair_bytes(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "airfair", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("options", "path"),
    [
        (("run", THREE_PAIRS, *SHORT, "--out", "/proc/x"), "/proc/x"),
        (("run", THREE_PAIRS, *SHORT, "--report", "/proc/x.html"), "/proc/x.html"),
        (("compare", THREE_PAIRS, *SHORT, "--seeds", "1", "--report", "/proc/x.html"), "/proc/x.html"),
        (("plot", THREE_PAIRS, "-o", "/proc/x.svg"), "/proc/x.svg"),
    ],
)
def test_what_cannot_be_written_is_named(options: tuple[str | Path, ...], path: str) -> None:
    done = airfair(*options)
    assert done.returncode == 1
    assert done.stderr.startswith(f"airfair: {path}: "), done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_full_standard_output_is_named() -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "airfair", "run", str(THREE_PAIRS), *SHORT, "--json"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "airfair: standard output: No space left on device\n")


def test_a_broken_pipe_loses_no_report(tmp_path: Path) -> None:
    """A reader that takes nothing: the page is there all the same."""
    page = tmp_path / "pairs.html"
    command = [sys.executable, "-m", "airfair", "compare", str(THREE_PAIRS), *SHORT, "--seeds", "1"]
    with subprocess.Popen([*command, "--report", str(page)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        process.wait(60)
    assert page.exists()


@pytest.mark.parametrize("command", [["run", "--json"], ["run"], ["trace"], ["check"]], ids=" ".join)
def test_a_reader_that_leaves_is_told_nothing(command: list[str]) -> None:
    """As `airfair trace FILE | head -1`."""
    name, *options = command
    short = [] if name == "check" else SHORT
    program = [sys.executable, "-m", "airfair", name, str(THREE_PAIRS), *options, *short]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.close()
        _, errors = process.communicate(timeout=60)
    assert errors == ""
