"""Parts that tests share: running the command line, short scenarios, results without `perf`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "scenarios"
THREE_PAIRS = SCENARIOS / "three-pairs.toml"
SHORT = ("--set", "duration=2 s", "--set", "warmup=200 ms")


CATEGORIES = """
name = "categories"
duration = "2 s"
[radio]
standard = "802.11b"
categories = "edca"
[[node]]
id = "a"
position = ["0 m", "0 m"]
[[node]]
id = "b"
position = ["80 m", "0 m"]
[[node]]
id = "c"
position = ["0 m", "80 m"]
[[flow]]
id = "voice"
from = "a"
to = "b"
dscp = "CS6"
traffic = { kind = "constant", packet = "200 B", rate = "800 kbit/s" }
[[flow]]
id = "web"
from = "a"
to = "b"
traffic = { kind = "saturating", packet = "1000 B" }
[[flow]]
id = "bulk"
from = "a"
to = "b"
dscp = "CS1"
traffic = { kind = "saturating", packet = "1000 B" }
[[flow]]
id = "other"
from = "c"
to = "b"
traffic = { kind = "saturating", packet = "1000 B" }
"""
"""A node with flows in VO, BE and BK beside another one with a flow in BE."""


def airfair(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command line, to its end."""
    command = [sys.executable, "-m", "airfair", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=180, cwd=cwd, check=False)


def json_of(*arguments: str | Path) -> Any:  # noqa: ANN401 - JSON
    """The output of a command with --json; it must succeed and print nothing else."""
    done = airfair(*arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def without_perf(text: str) -> str:
    """A result's bytes up to `perf`, its last key."""
    head, key, _ = text.partition(',"perf":')
    assert key
    return head


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
"""The signals that end a command."""


def usual_signals() -> None:
    """For a child, before its program begins: signals end it, whatever the tests' own caller has set. What a
    shell starts in the background ignores SIGINT."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
