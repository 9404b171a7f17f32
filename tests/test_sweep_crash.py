"""Sweeps that are disturbed: killed workers, killed drivers, full disks, folders that cannot be written.

In the end every run is there exactly once, equal to that of a sweep that nothing disturbed.
"""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import airfair
import pyarrow.parquet as pq
import pytest
from airfair import Study, Sweep
from airfair.sweeping import dataset, journal
from airfair.sweeping.pool import Processes

from tests.support import airfair as command
from tests.support import usual_signals
from tests.sweeps import as_toml_file, assert_once_each, study, sweep_here

KILLS = 20
LONG = "30 s"
"""Of simulated time: a run that takes some hundredths of a second, so that it can be hit."""
SEEDS = 20
RUNS = 8 * SEEDS


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    """The study of which the others are disturbed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    return airfair.sweep(as_toml_file(folder, seeds=SEEDS, duration=LONG), out=folder / "out")


def start(
    file: Path,
    out: Path,
    *options: str,
    moves_after: int = 1000,
    **keywords: Any,  # noqa: ANN401 - of Popen
) -> subprocess.Popen[str]:
    """`airfair sweep` in a process of its own; the journal is moved after so many runs."""
    program = (
        "from airfair.sweeping import dataset\n"
        f"dataset.JOURNAL_RUNS = {moves_after}; dataset.PART_RUNS = 40\n"
        "from airfair.cli import main; main()"
    )
    command = [sys.executable, "-c", program, "sweep", str(file), "--out", str(out), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **keywords)


def finished(out: Path) -> int:
    """How many runs a folder has so far."""
    return len(airfair.load_sweep(out).runs) if (out / "study.json").exists() else 0


def wait_for(out: Path, runs: int) -> float:
    """Until so many runs are finished; the seconds that it took."""
    began = time.monotonic()
    while True:
        there = {entry["run"] for entry in journal.read(out / "journal.jsonl")}
        for part in dataset.parts(out):  # their other columns would take longer
            there.update(dataset.run_ids(dataset.read_part(part, ["run"])))
        if len(there) >= runs:
            return time.monotonic() - began
        assert time.monotonic() < began + 120, "too slow"
        time.sleep(0.01)


def test_killed_workers(tmp_path: Path, undisturbed: Sweep) -> None:
    draws = random.Random(1)
    killed: set[int] = set()
    over = threading.Event()

    def kill() -> None:
        while len(killed) < KILLS and not over.is_set():
            time.sleep(draws.uniform(0.0, 0.08))
            workers = [p.pid for p in multiprocessing.active_children() if p.pid not in killed]
            if workers:
                victim = draws.choice(workers)
                assert victim is not None
                os.kill(victim, signal.SIGKILL)
                killed.add(victim)

    killer = threading.Thread(target=kill, daemon=True)

    def on_run(progress: Any) -> None:  # noqa: ANN401
        # Before the first run the driver finds out whether workers start at all, and gives up where they do
        # not.
        if progress.finished == 1:
            killer.start()
        elif progress.finished == RUNS * 9 // 10:
            # While the driver is here it replaces no worker: the killer must not wait for one.
            over.set()
            killer.join()

    file, out = as_toml_file(tmp_path, seeds=SEEDS, duration=LONG), tmp_path / "out"
    try:
        done = airfair.sweep(file, out=out, jobs=2, on_run=on_run)
    finally:
        over.set()  # or the workers of later tests would be killed
    assert len(killed) > KILLS // 2
    if done.failed:  # a run was hit three times
        done = airfair.sweep(file, out=out, jobs=2)
    assert_once_each(done, undisturbed)


DRIVERS = """
import os, sys
from airfair.cli import main
from airfair.sweeping import command, dataset

dataset.PART_RUNS = 40
for line in sys.stdin:
    dataset.JOURNAL_RUNS = int(line)
    driver = os.fork()
    if driver == 0:
        main()
    print(driver, flush=True)
    print(os.waitpid(driver, 0)[1], flush=True)
"""
"""Starts a driver for each line, one after the other; what takes time to import is there already."""


def test_killed_drivers(tmp_path: Path, undisturbed: Sweep) -> None:
    file, out = as_toml_file(tmp_path, seeds=SEEDS, duration=LONG), tmp_path / "out"
    draws = random.Random(2)
    before = grown = 0
    to_first = 0.3
    drivers = subprocess.Popen(
        [sys.executable, "-c", DRIVERS, "sweep", str(file), "--out", str(out), "--jobs", "2"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert drivers.stdin is not None
    assert drivers.stdout is not None
    for kill in range(KILLS):
        print(draws.randrange(1, 8), file=drivers.stdin, flush=True)
        driver = int(drivers.stdout.readline())
        if kill % 2:  # at any moment from its start on, or soon after a run was finished
            time.sleep(draws.uniform(0, to_first))
        else:
            to_first = wait_for(out, before + 1)
            time.sleep(draws.uniform(0, 0.1))
        os.kill(driver, signal.SIGKILL)
        assert drivers.stdout.readline() == "9\n"
        now = finished(out)
        assert now >= before
        grown += now > before
        before = now
    drivers.stdin.close()
    assert drivers.wait(timeout=10) == 0
    assert KILLS // 2 <= grown <= before < RUNS, "the sweep went on between the kills, and is not over"
    last = start(file, out, "--jobs", "2", "--json")
    told, errors = last.communicate(timeout=60)
    assert (last.returncode, errors) == (0, "")
    assert json.loads(told)["finished"] == RUNS
    assert_once_each(airfair.load_sweep(out), undisturbed)
    # Readers that know nothing of us see the same.
    runs = pq.read_table(out / "runs")["run"].to_pylist()
    flows = pq.read_table(out / "flows")["run"].to_pylist()
    assert sorted(runs) == sorted(undisturbed.runs["run"])
    assert sorted(flows) == sorted([*runs, *runs])


class Crash(BaseException):
    """The process ends here."""


def test_a_crash_at_any_write_loses_and_repeats_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each file that is written, renamed or emptied, one after the other, in each state of the folder."""
    steps = [
        (dataset, "write_atomically"),
        (dataset, "_write_part"),
        (journal.Journal, "append"),
        (journal.Journal, "clear"),
    ]
    monkeypatch.setattr(dataset, "JOURNAL_RUNS", 3)
    monkeypatch.setattr(dataset, "PART_RUNS", 6)
    editions: list[dict[str, Any]] = [
        {"parameters": {"radio.queue_packets": [2]}},
        {"parameters": {"radio.queue_packets": [2, "20"], "duration": ["50 ms"]}},
    ]
    left = 0
    dead = False

    def crashing(real: Any, after: bool) -> Any:  # noqa: ANN401
        def step(*arguments: Any) -> None:  # noqa: ANN401
            nonlocal left, dead
            left -= 1
            if dead or (left == 0 and not after):
                dead = True
                raise Crash
            real(*arguments)
            if left == 0:
                dead = True
                raise Crash

        return step

    whole = [
        sweep_here(study(tmp_path, **edition), tmp_path / f"whole-{i}")[0]
        for i, edition in enumerate(editions)
    ]
    crashes = 0
    for after in (False, True):
        for place, name in steps:
            monkeypatch.setattr(place, name, crashing(getattr(place, name), after))
        for at in range(1, 100):
            out = tmp_path / f"out-{after}-{at}"
            left = at
            crashed = False
            for edition, undisturbed in zip(editions, whole, strict=True):
                asked = study(tmp_path, **edition)
                try:
                    sweep_here(asked, out)
                except Crash:
                    crashed, dead = True, False
                    if (out / "study.json").exists():
                        seen = airfair.load_sweep(out, earlier=True).runs
                        assert seen["run"].is_unique
                    sweep_here(asked, out)
                assert_once_each(airfair.load_sweep(out), undisturbed)
            assert pq.read_table(out / "runs").num_rows == 8
            assert pq.read_table(out / "flows").num_rows == 16
            if not crashed:
                break
            crashes += 1
        monkeypatch.undo()
        monkeypatch.setattr(dataset, "JOURNAL_RUNS", 3)
        monkeypatch.setattr(dataset, "PART_RUNS", 6)
    assert crashes > 20


def test_a_torn_line_is_not_read(tmp_path: Path) -> None:
    out = tmp_path / "out"
    whole, _ = sweep_here(study(tmp_path), tmp_path / "whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataset.Dataset, "move", lambda _: None)
        sweep_here(study(tmp_path), out)
    assert_once_each(airfair.load_sweep(out), whole)
    lines = out / "journal.jsonl"
    text = lines.read_bytes()
    assert text.count(b"\n") == 16
    lines.write_bytes(text[:-100])
    assert finished(out) == 15
    lines.write_bytes(text[:-100] + b"\0" * 99 + b"\n")
    assert finished(out) == 15
    done, runs = sweep_here(study(tmp_path), out)
    assert runs == 1
    assert_once_each(done, whole)


def test_a_run_that_kills_its_worker_is_given_up(tmp_path: Path) -> None:
    class Poisoned(Processes):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401
            if args[1:3] == ("red", 2) and "queue_packets = 2\n" in args[0]:
                return super().submit(signal.raise_signal, signal.SIGKILL)
            return super().submit(fn, *args, **kwargs)

    asked = study(tmp_path, parameters={"radio.queue_packets": [2, 20]})
    with Poisoned(2) as executor:
        done = airfair.sweep(asked, out=tmp_path / "out", executor=executor)
    (failure,) = done.failed
    assert (failure.cell, failure.scheme, failure.seed) == ("radio.queue_packets=2", "red", 2)
    assert failure.error == "its worker process died 3 times (killed, or out of memory)"
    assert len(done.runs) == 7


def test_failures_make_the_status_1(tmp_path: Path) -> None:
    """Runs whose processes are killed again and again."""
    file = as_toml_file(tmp_path, seeds=1)
    program = (
        "import sys; from airfair.sweeping import pool\n"
        "import signal; real = pool.Processes.submit\n"
        "def submit(self, fn, /, *args):\n"
        "    if args[1:3] == ('red', 1): return real(self, signal.raise_signal, signal.SIGKILL)\n"
        "    return real(self, fn, *args)\n"
        "pool.Processes.submit = submit\n"
        "from airfair.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "sweep", str(file), "--out", str(tmp_path / "out"), "--jobs", "2"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "4 of 8 runs" in done.stdout
    failed = done.stderr.splitlines()
    assert len(failed) == 4
    first = "radio.queue_packets=2, flow.ab.traffic.rate=500 kbit/s, duration=50 ms, red, seed 1"
    assert f"airfair: failed: {first}: its worker process died 3 times" in done.stderr


@pytest.mark.parametrize(
    ("number", "word"),
    [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated"), (signal.SIGHUP, "terminated")],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_signal_keeps_what_is_finished(number: signal.Signals, word: str, tmp_path: Path) -> None:
    """All processes get it: from a terminal (Ctrl-C, or when it closes), or from a batch system."""
    file, out = as_toml_file(tmp_path, seeds=SEEDS, duration=LONG), tmp_path / "out"
    driver = start(file, out, "--jobs", "2", start_new_session=True, preexec_fn=usual_signals)
    try:
        wait_for(out, 3)
        os.killpg(driver.pid, number)
        output, errors = driver.communicate(timeout=30)
    finally:
        driver.kill()
    assert (driver.returncode, output) == (128 + number, "")
    kept = finished(out)
    assert kept < RUNS, "it does not go on to the end"
    assert errors == (
        f"airfair: {word}; {kept} of {RUNS} runs are finished and kept in {out}; "
        "the same command does the rest\n"
    )
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    assert [path.name for path in out.iterdir() if path.name.startswith(".")] == [".lock"]
    assert pq.read_table(out / "runs").num_rows == kept >= 3, "in the tables, not only in the journal"


def test_a_worker_that_ended_first_does_not_end_its_driver(tmp_path: Path) -> None:
    """The last write of a pool to a worker may meet a closed pipe: the driver has yet to tell what is
    kept.
    """
    file, out = as_toml_file(tmp_path, seeds=1), tmp_path / "out"
    program = (
        "import os; from airfair.sweeping import pool; real = pool.Processes.shutdown\n"
        "def shutdown(self, *args, **options):\n"
        "    reader, writer = os.pipe(); os.close(reader)\n"
        "    try: os.write(writer, b'end')\n"
        "    except BrokenPipeError: pass\n"
        "    real(self, *args, **options)\n"
        "pool.Processes.shutdown = shutdown\n"
        "from airfair.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "sweep", str(file), "--out", str(out), "--jobs", "2"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "8 of 8 runs" in done.stdout


def test_no_worker_outlives_its_driver(tmp_path: Path) -> None:
    file, out = as_toml_file(tmp_path, seeds=1, duration="9 h"), tmp_path / "out"
    driver = start(file, out, "--jobs", "2", start_new_session=True)
    end = time.monotonic() + 30
    while len(in_session(driver.pid)) < 4:  # the driver, the fork server (and its tracker), two workers
        assert time.monotonic() < end
        time.sleep(0.05)
    time.sleep(0.5)
    driver.kill()
    driver.communicate()
    while in_session(driver.pid):
        assert time.monotonic() < end
        time.sleep(0.05)


def in_session(session: int) -> list[int]:
    """The processes of a session that are alive."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def test_a_second_driver_is_refused(tmp_path: Path) -> None:
    file, out = as_toml_file(tmp_path, seeds=SEEDS, duration=LONG), tmp_path / "out"
    first = start(file, out, "--jobs", "1")
    try:
        wait_for(out, 1)
        second = command("sweep", file, "--out", out)
        assert (second.returncode, second.stdout) == (2, "")
        assert f"{out}: another sweep writes there (process {first.pid} on " in second.stderr
        with pytest.raises(airfair.InputError, match="another sweep writes there"):
            sweep_here(Study.read(file), out)
    finally:
        first.kill()
        first.communicate()
    asked = Study.read(file)

    def again(_: Any) -> None:  # noqa: ANN401
        with pytest.raises(airfair.InputError, match="another sweep of this program writes there"):
            sweep_here(asked, out)
        raise Crash

    with pytest.raises(Crash):  # the lock died with the first, and dies with this one
        airfair.sweep(asked, out=out, jobs=1, on_run=again)
    assert finished(out) >= 1


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[Path]:
    """A small file system of its own."""
    folder.mkdir(exist_ok=True)
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, check=False
    ).returncode:
        pytest.skip("mounting a file system takes root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def assert_goes_on(file: Path, out: Path) -> None:
    """The same command, with nothing in its way."""
    done = start(file, out, "--jobs", "2")
    _, errors = done.communicate(timeout=60)
    assert (done.returncode, errors) == (0, "")
    assert_once_each(airfair.load_sweep(out), sweep_here(Study.read(file), file.parent / "undisturbed")[0])


def test_a_full_disk(tmp_path: Path) -> None:
    file = as_toml_file(tmp_path, seeds=12)
    with mounted(tmp_path / "disk", "size=80k") as disk:
        out = disk / "out"
        failed = start(file, out, "--jobs", "2")
        told, errors = failed.communicate(timeout=60)
        assert (failed.returncode, told) == (1, "")
        kept = finished(out)
        assert 0 < kept < 96
        assert errors == (
            f"airfair: {out}: No space left on device; {kept} of 96 runs are finished and kept in {out}; "
            "the same command does the rest\n"
        )
        subprocess.run(["mount", "-o", "remount,size=10m", disk], check=True)
        assert_goes_on(file, out)


def test_a_file_that_must_not_grow(tmp_path: Path) -> None:
    """As a full disk, for everyone: files of at most 16 KiB."""
    file, out = as_toml_file(tmp_path, seeds=12), tmp_path / "out"
    failed = start(
        file, out, "--jobs", "2", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))
    )
    told, errors = failed.communicate(timeout=60)
    assert (failed.returncode, told) == (1, "")
    kept = finished(out)
    assert 0 < kept < 96
    assert errors.startswith(f"airfair: {out}: File too large; {kept} of 96 runs are finished and kept")
    assert_goes_on(file, out)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    file = as_toml_file(tmp_path, seeds=1)
    (tmp_path / "file").write_text("")
    failed = command("sweep", file, "--out", tmp_path / "file" / "out")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr == f"airfair: {tmp_path}/file/out: Not a directory; nothing was run\n"
    with mounted(tmp_path / "disk", "size=1m") as disk:
        out = disk / "out"
        kept = sweep_here(Study.read(file), out)[0]
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        (tmp_path / "study.toml").write_text(file.read_text().replace("seeds = 1", "seeds = 2"))
        failed = command("sweep", file, "--out", out)
        assert (failed.returncode, failed.stdout) == (1, "")
        assert failed.stderr == f"airfair: {out}: Read-only file system; nothing was run\n"
        assert len(airfair.load_sweep(out).runs) == len(kept.runs) == 8
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
        assert_goes_on(file, out)


def test_a_pool_whose_pipe_closes_is_a_dead_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker's process has died, and the pool closes the pipe while a run is handed to it, or at the
    end.
    """
    real = ProcessPoolExecutor.submit
    closed = iter([True, False, True, True])

    def submit(pool: ProcessPoolExecutor, *args: Any) -> Future[Any]:  # noqa: ANN401 - of any run
        if next(closed):
            raise OSError(errno.EBADF, "Bad file descriptor")
        return real(pool, *args)

    def shutdown(pool: ProcessPoolExecutor, **_: object) -> None:
        ended.append(pool)
        raise OSError(errno.EBADF, "Bad file descriptor")

    ended: list[ProcessPoolExecutor] = []
    processes = Processes(1)
    monkeypatch.setattr(ProcessPoolExecutor, "submit", submit)
    assert processes.submit(len, "abc").result(timeout=60) == 3, "by another process"
    lost = processes.submit(len, "abc")
    with pytest.raises(BrokenExecutor, match=r"cannot be started: .*Bad file descriptor"):
        lost.result(timeout=60)
    monkeypatch.undo()
    assert processes.submit(len, "abcd").result(timeout=60) == 4
    with monkeypatch.context() as patch:
        patch.setattr(ProcessPoolExecutor, "shutdown", shutdown)
        processes.shutdown()
    assert len(ended) == 1
