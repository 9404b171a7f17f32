"""The output on a terminal of 80 columns: every identifier and every column, whole."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.support import CATEGORIES, ROOT, SCENARIOS, airfair

WIDTH = 80
IDS = ("access-point-of-the-cafe", "laptop-by-the-window", "phone-at-the-counter")

CAFE = f"""
name = "cafe"
duration = "2 s"
[radio]
standard = "802.11b"
propagation = {{ model = "two-ray", range = "250 m", carrier_sense = "550 m" }}
[[node]]
id = "{IDS[0]}"
position = ["0 m", "0 m"]
[[node]]
id = "{IDS[1]}"
position = ["100 m", "0 m"]
[[node]]
id = "{IDS[2]}"
position = ["-100 m", "0 m"]
[[flow]]
id = "download-of-the-laptop"
from = "{IDS[0]}"
to = "{IDS[1]}"
transport = "tcp"
traffic = {{ kind = "ftp" }}
[[flow]]
id = "upload-of-the-phone"
from = "{IDS[2]}"
to = "{IDS[0]}"
transport = "tcp"
traffic = {{ kind = "file", size = "100 kB" }}
"""
FLOWS = ("download-of-the-laptop", "upload-of-the-phone")


def in_terminal(*arguments: str | Path, cwd: Path, status: int = 0) -> str:
    """The output of the command on a terminal, without colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, WIDTH, 0, 0))
    command = [sys.executable, "-m", "airfair", *map(str, arguments)]
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    with subprocess.Popen(
        command, stdout=theirs, stderr=theirs, stdin=theirs, cwd=cwd, env=environment
    ) as done:
        os.close(theirs)
        told = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # nobody writes there any more
                break
            if not part:
                break
            told += part
    os.close(ours)
    assert done.returncode == status, told.decode()
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", told.decode()).replace("\r", "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cafe.toml").write_text(CAFE)
    (tmp_path / "categories.toml").write_text(CATEGORIES)
    (tmp_path / "study.toml").write_text(
        'name = "study"\nscenario = "cafe.toml"\nschemes = ["droptail", "red"]\nseeds = 2\n'
        '[parameters]\nradio.queue_packets = [10, 50]\nradio.rts_threshold = ["0 B", "3000 B"]\n'
    )
    return tmp_path


RUN_HEADS = ("goodput", "sent", "delivered", "loss", "mean delay", "99 % delay", "RTT", "completion", "hops")
COMPARED = ("Jain's index", "total", "minimum", "starved flows", "mean delay", "RTT", "loss", "completion")
SCHEMES = "droptail,nred,fq-codel,codel"
CASES: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
    (("run", "cafe.toml"), (*IDS, *FLOWS, *RUN_HEADS)),
    (("run", "categories.toml"), ("VO", "BE", "BK", "internal collisions", "given up", "mean wait")),
    (
        ("explain", "categories.toml", "--flow", "bulk"),
        ("other categories", "in BK", "VO", "TXOP", "after collision", "given up"),
    ),
    (("run", "cafe.toml", "--report", "cafe.html"), (*IDS, *FLOWS, *RUN_HEADS)),
    (
        ("compare", "cafe.toml", "--schemes", SCHEMES, "--seeds", "2", "--window", "1 s"),
        (*SCHEMES.split(","), *FLOWS, *COMPARED, "goodput of flow", "99 % delay of flow"),
    ),
    (
        ("explain", "cafe.toml", "--flow", FLOWS[0]),
        (*IDS[:2], "with packets", "CTS/ACK", "answers", "NAV", "EIFS", "back-off", "behind others"),
    ),
    (
        ("sweep", "study.toml", "--jobs", "1"),
        ("radio.queue_packets", "radio.rts_threshold", "3000 B", "droptail", "red", *COMPARED),
    ),
    (("schemes",), ("fq-codel", "nred", "lbm", "xcp-b", "airfair schemes NAME")),
    (("schemes", "nred", "xcp-b"), ("nred.max_p", "xcp-b")),
    (("paper",), ("nred/fig10", "qfcp/fig2", "lbm/table1")),
    (("check", "cafe.toml"), ()),
    (("check", "cafe.toml", "--resolved"), IDS),
    (("trace", "cafe.toml", "--until", "10 ms"), IDS[:1]),
    (("plot", "cafe.toml", "-o", "cafe.svg"), ()),
    (("reference",), ("queue_packets",)),
]


@pytest.mark.parametrize(("arguments", "expected"), CASES, ids=lambda part: part[0] if part else "")
def test_nothing_is_lost(folder: Path, arguments: tuple[str, ...], expected: tuple[str, ...]) -> None:
    told = in_terminal(*arguments, cwd=folder)
    assert "\N{HORIZONTAL ELLIPSIS}" not in told or arguments[0] in ("reference", "paper")
    for word in expected:
        assert word in told, f"{word} in\n{told}"


@pytest.mark.parametrize(("arguments", "_"), CASES[:7], ids=lambda part: part[0] if part else "")
def test_tables_fit(folder: Path, arguments: tuple[str, ...], _: object) -> None:
    """The terminal folds no line of a table."""
    told = in_terminal(*arguments, cwd=folder)
    ruled = [line for line in told.splitlines() if line.startswith("\N{BOX DRAWINGS LIGHT HORIZONTAL}")]
    assert all(len(line) <= WIDTH for line in ruled) or arguments[0] == "sweep"
    assert ruled


def test_messages_are_folded_at_spaces(folder: Path) -> None:
    compare = ("compare", "cafe.toml", "--schemes", "droptail,red", "--seeds", "2")
    cases = [
        (compare, 0, "warning: 2 seeds"),
        (("run", "cafe.toml", "--scheme", "unheard-of"), 2, "there is no scheme"),
    ]
    for arguments, status, start in cases:
        lines = in_terminal(*arguments, cwd=folder, status=status).splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith(start))
        further = [line for line in lines[at + 1 :] if line.startswith("    ")]
        assert further
        message = [lines[at], *further]
        assert max(map(len, message)) <= WIDTH
        whole = airfair(*arguments, cwd=folder).stderr.splitlines()
        assert " ".join(line.strip() for line in message) in whole, "a pipe has them in one line"


def test_an_experiment_of_a_paper(tmp_path: Path) -> None:
    told = in_terminal("paper", "nred/cost", "--seeds", "2", cwd=tmp_path)
    assert "Claims of" in told
    assert "holds" in told


def test_an_import(tmp_path: Path) -> None:
    map_ = ROOT / "scenarios" / "maps" / "example.json"
    told = in_terminal("import", map_, "-o", "map.toml", cwd=tmp_path)
    assert "nodes" in told


def test_columns_is_heeded_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = airfair("run", SCENARIOS / "chain.toml").stdout
    monkeypatch.setenv("COLUMNS", "60")
    narrow = airfair("run", SCENARIOS / "chain.toml").stdout
    assert max(map(len, wide.splitlines())) > 60 >= max(map(len, narrow.splitlines()[:-2]))
