"""Files that are read: only regular ones, never those that are written; texts that no file can hold."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import airfair
import pytest
from airfair import InputError, Scenario

from tests.support import SCENARIOS, SHORT, THREE_PAIRS
from tests.support import airfair as command

MAP = SCENARIOS / "maps" / "example.json"

SCHEME = """
import airfair
from airfair.scheme import Aqm, Scheme

class Idle(Aqm):
    def on_enqueue(self, packet, queue, context):
        return None

@airfair.register
class Nothing(Scheme):
    "does nothing"
    name = "test-nothing"
    origin = "a test"
    def aqm(self):
        return Idle()
"""


def copies(folder: Path) -> dict[str, bytes]:
    """A scenario that names a file, under a name that a page or a picture may have, and a map; their
    content."""
    (folder / "moves.svg").write_text('$node_(0) set X_ 0\n$ns_ at 1.0 "$node_(0) setdest 10 0 5"\n')
    text = THREE_PAIRS.read_text()
    for name in ("t.toml", "t.html", "t.svg"):
        (folder / name).write_text(text)
    (folder / "link.html").symlink_to("t.toml")
    (folder / "map.json").write_bytes(MAP.read_bytes())
    (folder / "mine.py").write_text(SCHEME)
    os.link(folder / "mine.py", folder / "mine.html")
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("run", "t.html", *SHORT, "--report", "t.html"), "t.html: is one of the files that are read"),
        (("run", "t.toml", *SHORT, "--report", "link.html"), "link.html: is one of the files that are read"),
        (("run", "t.toml", *SHORT, "--report", "t.toml"), "t.toml: is one of the files that are read"),
        (("run", "t.toml", *SHORT, "--report", "map.json"), "expected a name that ends in .html"),
        (("run", "t.toml", *SHORT, "--report", "new.txt"), "expected a name that ends in .html"),
        (
            ("run", "t.toml", *SHORT, "--schemes-from", "mine.py", "--report", "mine.html"),
            "mine.html: is one of the files that are read",
        ),
        (("compare", "t.toml", *SHORT, "--seeds", "1", "--report", "t.toml"), "t.toml: is one of"),
        (("compare", "t.toml", *SHORT, "--seeds", "1", "--report", "new.toml"), "ends in .html"),
        (("explain", "t.svg", *SHORT, "--out", "t.svg"), "t.svg: is one of the files that are read"),
        (("plot", "t.svg", "-o", "t.svg"), "t.svg: is one of the files that are read"),
        (("import", "map.json", "-o", "map.json"), "map.json: is one of the files that are read"),
        (("import", "map.json", "-o", "m.toml", "--report", "map.json"), "map.json: is one of"),
        (("import", "map.json", "-o", "m.toml", "--report", "m.toml"), "name the same file"),
        (("import", "map.json", "-o", "t.toml"), "t.toml: exists already; expected a new file, or --force"),
        (("sweep", "t.toml", "--out", "t.toml"), "t.toml"),
    ],
    ids=lambda part: " ".join(map(str, part[:2])) if isinstance(part, tuple) else "",
)
def test_no_target_is_an_input(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    before = copies(tmp_path)
    done = command(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done
    assert told in done.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def moving(folder: Path) -> Path:
    """A scenario that names a file of movements."""
    (folder / "moves.html").write_text("$node_(0) set X_ 0\n$node_(0) set Y_ 0\n")
    file = folder / "moving.toml"
    file.write_text(
        'name = "moving"\nduration = "1 s"\n[movement]\nfile = "moves.html"\n'
        '[[node]]\nid = "0"\n[[node]]\nid = "1"\nposition = ["10 m", "0 m"]\n'
        '[[flow]]\nid = "f"\nfrom = "0"\nto = "1"\ntraffic = { kind = "saturating" }\n'
    )
    return file


def test_a_file_that_a_scenario_names_is_an_input(tmp_path: Path) -> None:
    scenario = Scenario.read(moving(tmp_path))
    assert scenario.files == [tmp_path / "moving.toml", tmp_path / "moves.html"]
    assert Scenario.parse(THREE_PAIRS.read_text()).files == []
    before = (tmp_path / "moves.html").read_bytes()
    with pytest.raises(InputError, match=r"moves\.html: is one of the files that are read"):
        airfair.compare(scenario, seeds=[1], report=tmp_path / "moves.html")
    with pytest.raises(InputError, match=r"moves\.html: is one of the files that are read"):
        scenario.save(tmp_path / "moves.html")
    assert (tmp_path / "moves.html").read_bytes() == before
    scenario.edited({"duration": "2 s"}).save(tmp_path / "moving.toml")
    assert Scenario.read(tmp_path / "moving.toml").duration_ns == 2_000_000_000, (
        "its own file may be replaced"
    )


def test_a_folder_that_is_replaced_holds_no_input(tmp_path: Path) -> None:
    run = tmp_path / "run"
    airfair.record(THREE_PAIRS, overrides=list(SHORT[1::2]), out=run)
    inside = run / "runs.pcapng"
    inside.write_bytes(THREE_PAIRS.read_bytes())
    with pytest.raises(InputError, match=r"holds .*, which is read; expected another folder"):
        airfair.record(inside, overrides=list(SHORT[1::2]), out=run, force=True)
    assert inside.read_bytes() == THREE_PAIRS.read_bytes()


def test_python_refuses_what_the_command_line_refuses(tmp_path: Path) -> None:
    before = copies(tmp_path)
    for report, told in (("t.toml", "is one of"), ("link.html", "is one of"), ("x.txt", r"ends in \.html")):
        with pytest.raises(InputError, match=told):
            airfair.compare(tmp_path / "t.toml", seeds=[1], report=tmp_path / report)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


LIST = """
name = "list"
duration = "1 s"
[[node]]
id = "a"
[[node]]
id = "b"
[[link]]
ends = ["a", "b"]
rate = "1 Mbit/s"
[[flow]]
id = "f"
from = "a"
to = "b"
transport = "tcp"
traffic = { kind = "list", file = "pipe" }
"""


@pytest.mark.parametrize(
    ("arguments", "content"),
    [
        (("check", "pipe"), ""),
        (("check", "s.toml"), LIST),
        (("check", "s.toml"), moving),
        (("import", "pipe"), ""),
        (("sweep", "pipe"), ""),
        (("plot", "pipe.json", "-o", "x.svg"), ""),
        (("run", THREE_PAIRS, "--schemes-from", "./pipe"), ""),
    ],
    ids=["scenario", "list", "movements", "map", "study", "result", "schemes"],
)
def test_pipes_are_refused(
    tmp_path: Path, arguments: tuple[str, ...], content: str | Callable[[Path], Path]
) -> None:
    """They block, or never end: nobody writes into this one."""
    if callable(content):
        text = content(tmp_path).read_text()
        (tmp_path / "moves.html").unlink()
        os.mkfifo(tmp_path / "moves.html")
        (tmp_path / "s.toml").write_text(text)
    elif content:
        (tmp_path / "s.toml").write_text(content)
    for name in ("pipe", "pipe.json"):
        os.mkfifo(tmp_path / name)
    done = command(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done
    assert "expected a regular file" in done.stderr or "no such file" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_device_is_refused() -> None:
    with pytest.raises(
        InputError, match="cannot be read: a pipe, a device or a socket; expected a regular file"
    ):
        Scenario.read("/dev/zero")


BROKEN = ["a\0b", "\ud800", "x\udfff.toml\ud800"]
"""Texts that are no path, and of which two are in no encoding."""

CALLS: dict[str, Callable[[str], Any]] = {
    "run": lambda text: airfair.run(text),
    "run scheme": lambda text: airfair.run(THREE_PAIRS, scheme=text),
    "run overrides": lambda text: airfair.run(THREE_PAIRS, overrides=text),
    "run override": lambda text: airfair.run(THREE_PAIRS, overrides={"description": text, "duration": "1 x"}),
    "run path": lambda text: airfair.run(THREE_PAIRS, overrides={text: 1}),
    "run windows": lambda text: airfair.run(THREE_PAIRS, windows=text),
    "compare schemes": lambda text: airfair.compare(THREE_PAIRS, schemes=text),
    "compare report": lambda text: airfair.compare(THREE_PAIRS, report=text),
    "compare windows": lambda text: airfair.compare(THREE_PAIRS, windows=text),
    "compare statistics": lambda text: airfair.compare(THREE_PAIRS, statistics=text, until_halfwidth=0.1),
    "record out": lambda text: airfair.record(THREE_PAIRS, out=text),
    "record interval": lambda text: airfair.record(THREE_PAIRS, interval=text),
    "record pcap": lambda text: airfair.record(THREE_PAIRS, out="x", capture=airfair.Capture(pcap=text)),
    "record node": lambda text: airfair.record(THREE_PAIRS, capture=airfair.Capture(trace=True, node=text)),
    "record from": lambda text: airfair.record(THREE_PAIRS, capture=airfair.Capture(trace=True, start=text)),
    "load": lambda text: airfair.Recording.load(text),
    "explain": lambda text: airfair.explain(text),
    "explain flow": lambda text: airfair.explain(THREE_PAIRS, flow=text),
    "optimum": lambda text: airfair.optimum(text),
    "network": lambda text: airfair.network(text),
    "trace": lambda text: airfair.trace(THREE_PAIRS, node=text),
    "trace start": lambda text: airfair.trace(THREE_PAIRS, start=text),
    "import": lambda text: airfair.import_network(text),
    "import option": lambda text: airfair.import_network(MAP, name=text, format=text),
    "sweep": lambda text: airfair.sweep(text),
    "sweep out": lambda text: airfair.sweep(SCENARIOS / "studies" / "queue.toml", out=text),
    "load sweep": lambda text: airfair.load_sweep(text),
    "study": lambda text: airfair.Study(name=text, scenario=THREE_PAIRS),
    "study scenario": lambda text: airfair.Study(name="s", scenario=text),
    "study parameters": lambda text: airfair.sweep(
        airfair.Study(name="s", scenario=THREE_PAIRS, parameters={text: [1]})
    ),
    "load schemes": lambda text: airfair.load_schemes(text),
    "scenario": lambda text: Scenario.read(text),
    "scenario text": lambda text: Scenario.parse(text),
    "scenario tables": lambda text: Scenario.from_dict({"name": "x", "description": text, "duration": 1}),
    "edited": lambda text: Scenario.read(THREE_PAIRS).edited({"description": text, "duration": text}),
    "save": lambda text: Scenario.read(THREE_PAIRS).save(text),
    "check scheme": lambda text: Scenario.read(THREE_PAIRS).check(text),
    "plot": lambda text: airfair.plots.save(airfair.plots.network(Scenario.read(THREE_PAIRS)), text),
    "bars": lambda text: airfair.plots.bars(
        airfair.compare(THREE_PAIRS, seeds=[1], overrides=list(SHORT[1::2])), text
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_texts_that_no_file_can_hold(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for text in BROKEN:
        with pytest.raises(InputError):
            CALLS[name](text)
    assert list(tmp_path.iterdir()) == []


def test_max_seeds_is_checked_where_it_has_no_effect() -> None:
    for value in (0, -1, 1.5, "20", None, [20], float("nan")):
        with pytest.raises(InputError, match="max_seeds"):
            airfair.compare(THREE_PAIRS, seeds=[1], max_seeds=value)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="max_seeds: expected until_halfwidth with it"):
        airfair.compare(THREE_PAIRS, seeds=[1], max_seeds=20)


@pytest.mark.parametrize("speed", ["1e-300", "0", "-1", "nan", "inf", "1e7", "9.9e-7"])
def test_a_speed_that_never_ends_is_refused(speed: str) -> None:
    done = command("run", THREE_PAIRS, *SHORT, "--realtime", "--speed", speed)
    assert done.returncode == 2
    assert "expected a number from 0.000001 to 1000000" in done.stderr
