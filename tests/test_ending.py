"""How commands end before their time: signals, streams that the caller has closed, what a killed writer
leaves."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from airfair import Scenario, ending, output
from airfair.ending import Terminated
from airfair.output import whole_folder, write_atomically

from tests.support import SCENARIOS, SHORT, SIGNALS, THREE_PAIRS, usual_signals


def child(program: str, *arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A program in Python with the arguments of a command, in a process of its own."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, preexec_fn=usual_signals, cwd=cwd
    )


WHILE_LOADING = """
import os, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "airfair.{module}":
            os.kill(os.getpid(), {number})

sys.meta_path.insert(0, Finder())
from airfair.start import main
main()
"""
"""The command line; the signal comes when it begins to load this module."""


@pytest.mark.parametrize("module", ["cli", "_core", "experiment", "tables", "optimal.show"])
def test_a_signal_while_the_command_line_is_loaded(module: str) -> None:
    """It comes before anything has been done: a line, the status, no traceback."""
    done = child(WHILE_LOADING.format(module=module, number=int(signal.SIGINT)), "check", THREE_PAIRS)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "airfair: interrupted\n")


def test_the_entry_loads_little() -> None:
    """Nothing that takes long stands between the start of the program and the handlers of its signals."""
    program = (
        "import sys; import airfair.start\n"
        "heavy = ('click', 'numpy', 'pandas', 'rich')\n"
        "print([name for name in sys.modules if name.startswith('airfair') or name in heavy])"
    )
    assert child(program).stdout == "['airfair', 'airfair.ending', 'airfair.start']\n"


WHILE_WRITING = """
import os, signal, sys
from airfair import output

flush = output._flush

def interrupted(file):
    flush(file)
    os.kill(os.getpid(), {number})

output._flush = interrupted
from airfair.start import main
main()
"""
"""The command line; the signal comes when a folder of a run has its first table."""


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_signal_while_a_folder_is_written(number: signal.Signals, tmp_path: Path) -> None:
    program = WHILE_WRITING.format(number=int(number))
    done = child(program, "run", THREE_PAIRS, *SHORT, "--out", tmp_path / "o", "--trace", "--pcap", "all")
    word = "interrupted" if number == signal.SIGINT else "terminated"
    assert (done.returncode, done.stdout) == (128 + number, "")
    assert done.stderr.strip() == f"airfair: {word}"
    assert list(tmp_path.iterdir()) == [], "nothing is left, not even under a hidden name"


DURING_A_RUN = """
import os, sys, threading
from airfair import cli

whole = cli.cli.main

def main(**keywords):
    threading.Timer(0.5, os.kill, (os.getpid(), {number})).start()
    return whole(**keywords)

cli.cli.main = main
cli.main()
"""
"""The command line; the signal comes when it has begun."""


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", THREE_PAIRS, "--set", "duration=10 h"),
        ("compare", THREE_PAIRS, "--seeds", "100", "--set", "duration=10 h"),
        ("trace", THREE_PAIRS, "--set", "duration=10 h", "--from", "9 h"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_sigterm_ends_a_run_that_would_take_minutes(arguments: tuple[str | Path, ...]) -> None:
    done = child(DURING_A_RUN.format(number=int(signal.SIGTERM)), *arguments)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (143, "", "airfair: terminated")


def test_the_optimum_looks_at_signals() -> None:
    """It takes seconds and returns nothing before; the handler of a timer is called again and again
    meanwhile."""
    scenario = Scenario.read(SCENARIOS / "building-46.toml")
    calls = 0
    returned: list[str] = []

    def third(_number: int, _frame: object) -> None:
        nonlocal calls
        if calls == 3:  # a signal that was on its way when the timer was stopped
            return
        calls += 1
        if calls == 3:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, third)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    try:
        with pytest.raises(KeyboardInterrupt):
            returned.append(scenario.optimum())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert (calls, returned) == (3, [])


def test_what_is_closed_is_opened(tmp_path: Path) -> None:
    """As a device: else the next file that is opened takes its place, and messages go into it."""
    script = f'''"{sys.executable}" -m airfair run "{THREE_PAIRS}" --set "duration=1 s" --set "warmup=0 s"'''
    for number, closed in enumerate((">&-", "2>&-", "<&-", ">&- 2>&- <&-")):
        done = subprocess.run(
            ["sh", "-c", f"{script} --out o-{number} {closed}"],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done
        assert "Traceback" not in done.stderr + done.stdout
        assert (tmp_path / f"o-{number}" / "run.json").read_text().startswith("{")


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("check {file}", 0),
        ("check {file} --resolved", 0),
        ("schemes", 0),
        ("compare {file} --seeds 1 --set 'duration=1 s' --set 'warmup=0 s' --json", 0),
        ("trace {file} --until '1 ms'", 0),
        ("--version", 0),
        ("--help", 0),
        ("check nofile.toml", 2),
        ("run {file} --seed x", 2),
        ("check - <&-", 2),
    ],
)
def test_commands_without_streams(command: str, status: int) -> None:
    """The exit status is that of the command with streams."""
    told = command.format(file=f'"{THREE_PAIRS}"')
    for closed in (">&-", "2>&-"):
        script = f'"{sys.executable}" -m airfair {told} {closed}'
        done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == status, (script, done)
        assert "Traceback" not in done.stderr + done.stdout


def test_a_signal_that_the_caller_ignores_stays_ignored() -> None:
    program = (
        "import signal\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from airfair import ending\n"
        "ending.leave_at_once(); ending.raise_signals()\n"
        "print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN)\n"
        "print(signal.getsignal(signal.SIGTERM) is ending._raise)"
    )
    assert child(program).stdout == "True\nTrue\n"


def test_the_status_is_that_of_the_signal() -> None:
    aborted = RuntimeError()
    aborted.__cause__ = Terminated(signal.SIGTERM)
    assert [ending.status(error) for error in (KeyboardInterrupt(), aborted, None)] == [130, 143, 130]
    assert isinstance(aborted.__cause__, KeyboardInterrupt), "what cleans up after Ctrl-C cleans up after it"


def test_a_deferred_signal_comes_afterwards() -> None:
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    done: list[str] = []

    def whole(parts: list[str]) -> None:
        with ending.deferred():
            signal.raise_signal(signal.SIGINT)
            parts.append("whole")

    try:
        with pytest.raises(KeyboardInterrupt):
            whole(done)
    finally:
        signal.signal(signal.SIGINT, before)
    assert done == ["whole"]


KILLED = """
import os, signal, sys
from pathlib import Path
from airfair import output

target, how = Path(sys.argv[1]), sys.argv[2]
if how == "file":
    write = os.fsync
    os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
    output.write_atomically(target, b"half")
elif how == "folder":
    with output.whole_folder(target) as part:
        (part / "half").write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)
else:
    rename = Path.rename
    def once(self, to):
        done = rename(self, to)
        os.kill(os.getpid(), signal.SIGKILL)
        return done
    Path.rename = once
    with output.whole_folder(target, replace=True) as part:
        (part / "new").write_text("new")
"""


def hidden(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


@pytest.mark.parametrize("how", ["file", "folder"])
def test_what_a_killed_writer_left_is_removed_by_the_next_one(how: str, tmp_path: Path) -> None:
    target, other = tmp_path / "o", tmp_path / "o.b"
    assert child(KILLED, target, how).returncode == -signal.SIGKILL
    assert len(hidden(tmp_path)) == 2, "what was being written, and its lock"
    write_atomically(other, b"another target")
    assert len(hidden(tmp_path)) == 2
    if how == "file":
        write_atomically(target, b"whole")
        assert target.read_bytes() == b"whole"
    else:
        with whole_folder(target) as part:
            (part / "new").write_text("new")
        assert [path.name for path in target.iterdir()] == ["new"]
    assert hidden(tmp_path) == []


def test_a_folder_that_was_being_replaced_comes_back(tmp_path: Path) -> None:
    """Killed after the old folder has left its place: it stands there again, and counts as there."""
    target = tmp_path / "o"
    target.mkdir()
    (target / "old").write_text("old")
    assert child(KILLED, target, "replace").returncode == -signal.SIGKILL
    assert not target.exists()
    output.remove_left_over(target)
    assert (target / "old").read_text() == "old"
    assert hidden(tmp_path) == []


def test_what_a_living_writer_writes_stays(tmp_path: Path) -> None:
    """In another thread, or in another process: both hold the locks of their names."""
    target = tmp_path / "o"
    with whole_folder(target) as part:
        (part / "half").write_text("half")
        threads = [threading.Thread(target=output.remove_left_over, args=(target,)) for _ in range(2)]
        for thread in threads:
            thread.start()
            thread.join()
        program = (
            "import sys; from pathlib import Path; from airfair import output; "
            "output.remove_left_over(Path(sys.argv[1]))"
        )
        assert child(program, target).returncode == 0
        assert (part / "half").read_text() == "half"
    assert (target / "half").read_text() == "half"
    assert hidden(tmp_path) == []


def test_without_locks_nothing_counts_as_left_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that has none: what stands there may be another writer's."""

    def refuse(*_: object) -> None:
        raise OSError(38, os.strerror(38))

    monkeypatch.setattr(fcntl, "flock", refuse)
    (tmp_path / ".o.abcdefgh.lock").touch()
    (tmp_path / ".o.abcdefgh").mkdir()
    write_atomically(tmp_path / "o", b"whole")
    assert (tmp_path / "o").read_bytes() == b"whole"
    assert hidden(tmp_path) == [".o.abcdefgh", ".o.abcdefgh.lock"]
