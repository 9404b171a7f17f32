"""Our simulator side by side with ns-2 (and ns-3) on the 64-node grid: CPU time for the same work.

    python peers/bench.py --ours 'airfair run grid.toml --json' --ours-idle 'airfair run idle.toml --json'

Both sides run in turn, `--repeats` times each, with their traffic and without. What is compared is user and
system CPU seconds of the child process: the best run with traffic minus the best run without, so that
start-up, reading and routes count for nobody. A ratio counts only if both sides did the same work:
delivered packets within 20 %, frames on the air within 25 % of ns-2's.

Our command prints the JSON object of `run --json`, of which `flows[].delivered_bytes` and
`perf.transmissions` are read.
Exit status: 0 done, 1 the two sides did different work, 2 bad input or a peer that is not installed.
"""

# SPDX-License-Identifier: MIT OR Apache-2.0

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAYLOAD_BYTES = 1460
MAX_PACKETS_APART = 0.20
MAX_FRAMES_APART = 0.25


class BenchError(Exception):
    """Something that the user can put right."""


@dataclass(frozen=True)
class Work:
    """What a run did: packets that arrived, frames on the air."""

    packets: int
    frames: int


@dataclass(frozen=True)
class Side:
    """One simulator's best runs, CPU seconds with traffic and without."""

    name: str
    loaded_s: float
    idle_s: float
    work: Work

    @property
    def cpu_s(self) -> float:
        return self.loaded_s - self.idle_s


@dataclass(frozen=True)
class Contender:
    """How to run one simulator, and how to read what it did."""

    name: str
    loaded: Sequence[str]
    idle: Sequence[str] | None
    work: Callable[[dict[str, Any]], Work]


def run(command: Sequence[str]) -> tuple[float, str]:
    """CPU seconds (user + system, children included) and standard output of a command."""
    with tempfile.TemporaryFile("w+") as complaints:
        try:
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=complaints, text=True)
        except OSError as error:
            raise BenchError(f"cannot run {command[0]}: {error.strerror}") from error
        assert child.stdout is not None
        with child.stdout:
            output = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)  # wait4 took it, so Popen must not ask again
        if child.returncode != 0:
            complaints.seek(0)
            said = complaints.read().strip()[-500:] or "nothing on standard error"
            raise BenchError(f"exit status {child.returncode} from: {shlex.join(command)}\n{said}")
    return usage.ru_utime + usage.ru_stime, output


def read_json(output: str, command: Sequence[str]) -> dict[str, Any]:
    """The JSON object in a program's output: all of it, or one line among others."""
    for text in (output, *reversed([line for line in output.splitlines() if line.startswith("{")])):
        try:
            found = json.loads(text)
        except json.JSONDecodeError:
            continue
        if isinstance(found, dict):
            return found
    raise BenchError(f"no JSON object on standard output of: {shlex.join(command)}")


def our_work(result: dict[str, Any]) -> Work:
    """Reads the result contract of `run --json`."""
    try:
        delivered = sum(flow["delivered_bytes"] for flow in result["flows"])
        return Work(delivered // PAYLOAD_BYTES, result["perf"]["transmissions"])
    except (KeyError, TypeError) as error:
        raise BenchError(f"our result lacks {error}") from error


def ours(loaded: str, idle: str) -> Contender:
    return Contender("ours", shlex.split(loaded), shlex.split(idle), our_work)


def ns2(seed: int, routes: str) -> Contender:
    if shutil.which("ns") is None:
        raise BenchError("ns-2 is not installed; on Debian: apt-get install ns2")
    base = ["ns", str(HERE / "ns2" / "grid64.tcl"), "-seed", str(seed), "-routes", routes]
    frames = count_ns2_frames(base)
    return Contender(
        "ns-2.35", base, [*base, "-traffic", "0"], lambda result: Work(result["delivered_packets"], frames)
    )


def count_ns2_frames(base: Sequence[str]) -> int:
    """Frames that the flows cost: the run once more with counting, less what it sends without traffic."""

    def frames(*more: str) -> int:
        with tempfile.TemporaryDirectory() as folder:
            command = [*base, *more, "-counts", str(Path(folder) / "frames")]
            counted: int = read_json(run(command)[1], command)["frames"]["total"]
            return counted

    return frames() - frames("-traffic", "0")


def ns3(seed: int) -> Contender:
    program = HERE / "ns3" / "build" / "mesh"
    if not program.exists():
        raise BenchError("the ns-3 peer is not built: apt-get install libns3-dev, then make -C peers/ns3")
    flows = HERE / "grid-64-flows.csv"
    base = [str(program), "--scenario=grid64", f"--flows={flows}", f"--seed={seed}", "--count=1"]
    return Contender(
        "ns-3.37",
        base,
        [*base, "--traffic=0"],
        lambda result: Work(result["delivered_packets"], result["frames"]["total"]),
    )


def measure(contenders: Sequence[Contender], repeats: int) -> list[Side]:
    """Runs all in turn, so that a slow moment of the machine meets everyone; keeps each one's best."""
    loaded: dict[str, list[float]] = {c.name: [] for c in contenders}
    idle: dict[str, list[float]] = {c.name: [] for c in contenders}
    work: dict[str, Work] = {}
    for repeat in range(repeats):
        for c in contenders:
            print(f"{c.name}: run {repeat + 1} of {repeats}", file=sys.stderr)
            cpu, output = run(c.loaded)
            loaded[c.name].append(cpu)
            work[c.name] = c.work(read_json(output, c.loaded))
            if c.idle is not None:
                idle[c.name].append(run(c.idle)[0])
    return [
        Side(c.name, min(loaded[c.name]), min(idle[c.name], default=0.0), work[c.name]) for c in contenders
    ]


def apart(value: int, reference: int) -> float:
    """Signed relative difference; infinite when only the reference is zero."""
    if reference == 0:
        return 0.0 if value == 0 else float("inf")
    return value / reference - 1


def table(sides: Sequence[Side], reference: Side) -> str:
    """One row a simulator; differences and ratios against the reference."""
    lines = [
        (
            f"{'':8} {'CPU s':>8} {'idle s':>8} {'net s':>8} "
            f"{'x faster':>9} {'packets':>9} {'':>7} {'frames':>9} {'':>7}"
        )
    ]
    for side in sides:
        lines.append(
            f"{side.name:8} {side.loaded_s:8.3f} {side.idle_s:8.3f} {side.cpu_s:8.3f} "
            f"{reference.cpu_s / side.cpu_s:9.2f} "
            f"{side.work.packets:9d} {apart(side.work.packets, reference.work.packets):+7.1%} "
            f"{side.work.frames:9d} {apart(side.work.frames, reference.work.frames):+7.1%}"
        )
    return "\n".join(lines)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument(
        "--ours", required=True, help="command that runs our side and prints the JSON of `run --json`"
    )
    parser.add_argument("--ours-idle", required=True, help="the same without traffic")
    parser.add_argument("--repeats", type=int, default=7, help="runs of each side (default 7)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the peers (default 1)")
    parser.add_argument(
        "--routes", choices=("static", "dsdv"), default="static", help="how ns-2 finds its routes"
    )
    parser.add_argument("--ns3", action="store_true", help="run ns-3 too, once: it takes over half a minute")
    return parser.parse_args()


def main() -> int:
    args = arguments()
    try:
        if args.repeats < 1:
            raise BenchError("--repeats is at least 1")
        extra = measure([ns3(args.seed)], 1) if args.ns3 else []
        mine, theirs = measure([ours(args.ours, args.ours_idle), ns2(args.seed, args.routes)], args.repeats)
        if mine.cpu_s <= 0 or theirs.cpu_s <= 0:
            raise BenchError("a run with traffic took no more CPU than the one without: nothing to compare")
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2

    packets_apart = apart(mine.work.packets, theirs.work.packets)
    frames_apart = apart(mine.work.frames, theirs.work.frames)
    counts = abs(packets_apart) <= MAX_PACKETS_APART and abs(frames_apart) <= MAX_FRAMES_APART
    print(table([mine, theirs, *extra], theirs))
    if not counts:
        print(
            "the ratio does not count: the two sides did different work"
            " (packets within 20 %, frames within 25 %)"
        )
    print(
        json.dumps(
            {
                "sides": [asdict(side) | {"cpu_s": side.cpu_s} for side in (mine, theirs, *extra)],
                "times_faster": theirs.cpu_s / mine.cpu_s,
                "packets_apart": packets_apart,
                "frames_apart": frames_apart,
                "counts": counts,
                "repeats": args.repeats,
            }
        )
    )
    return 0 if counts else 1


if __name__ == "__main__":
    sys.exit(main())
