"""Runs of both worlds, each kept as a file of JSON: what has been run is not run again."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import airfair
from airfair import RunResult
from airfair.emulating.verdict import lines
from airfair.output import write_atomically
from airfair.results import Emulation, StackFlow

from .worlds import FIRST_PORT, PING_GAP_S, START_S, World

FELL_BEHIND = "fell behind"
STARTED_LATE = "started late"
"""A program began after half of the warm-up: the machine was busy."""

PARTS = 4
"""Parts of a run after its warm-up, for which a receiver's goodput is a measure of its own."""

TRIES = 3
"""A run that fell behind is repeated twice."""


@dataclass(frozen=True)
class Kept:
    """A run as it is kept."""

    measures: dict[str, float]
    verdicts: list[str] = field(default_factory=list)
    """Verdicts of all tries; the measures are those of the last one."""
    late_p99_ms: float = math.nan
    load: float = math.nan
    """Load average of the machine at its end."""
    notes: list[str] = field(default_factory=list)
    scenario: str = ""

    @property
    def counts(self) -> bool:
        """False for a run that fell behind, or started late, each time."""
        return not self.verdicts or self.verdicts[-1] not in (FELL_BEHIND, STARTED_LATE)

    def write(self, file: Path) -> None:
        """Keep it."""
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, (json.dumps(self.__dict__, indent=1) + "\n").encode())


def kept(file: Path, run: Callable[[], Kept]) -> Kept:
    """The run in a file, or a new one, which is written there."""
    if file.exists():
        return Kept(**json.loads(file.read_text()))
    made = run()
    made.write(file)
    return made


def digests(world: World, seconds: int) -> tuple[str, str]:
    """Texts that change with the simulated and the emulated world, their traffic and the length of runs."""
    # Not the folder in which the load generator was built.
    words = [[Path(word).name for word in program.words()] for program in world.programs(seconds)]
    programs = [(of.node, said, of.at) for of, said in zip(world.programs(seconds), words, strict=True)]
    both = [world.scheme, world.ecn, airfair.__version__]
    simulated = [world.simulated(seconds).resolved, *both]
    emulated = [world.emulated(seconds).resolved, programs, *both]
    return _digest(simulated), _digest(emulated)


def _digest(what: object) -> str:
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:8]


def simulate(world: World, seconds: int, seed: int) -> Kept:
    """One run of the simulator."""
    scheme = world.scheme
    result = airfair.run(world.simulated(seconds), scheme=scheme, seed=seed)
    return Kept(measures_of_simulation(result))


def measures_of_simulation(result: RunResult) -> dict[str, float]:
    """The numbers that rows look at."""
    found: dict[str, float] = {}
    delays = {}
    for flow in result["flows"]:
        name = flow["id"]
        found[f"goodput {name}"] = flow["goodput_bps"] / 1e3
        delays[name] = math.nan if flow["mean_delay_s"] is None else 1e3 * flow["mean_delay_s"]
        p99 = flow["p99_delay_s"]
        found[f"p99 {name}"] = math.nan if p99 is None else 1e3 * p99
        if name == "ping":
            found["ping"] = math.nan if flow["rtt_s"] is None else 1e3 * flow["rtt_s"]
    if "ping-there" in delays:
        found["ping"] = delays["ping-there"] + delays["ping-back"]
    return found


def emulate(world: World, seconds: int, seed: int, tell: Callable[[str], None]) -> Kept:
    """One run between real stacks; up to `TRIES` of them if they fall behind."""
    verdicts: list[str] = []
    while True:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "run"
            recording = airfair.emulate(
                world.emulated(seconds),
                world.programs(seconds),
                scheme=world.scheme,
                seed=seed,
                congestion_control="cubic",
                ecn=world.ecn,
                duration=f"{seconds + world.warmup_s} s",
                out=out,
            )
            ended = time.monotonic()
            outputs = {file.stem: file.read_text() for file in (out / "programs").glob("*.txt")}
        run = recording.result["emulation"]
        verdicts.append(run["verdict"])
        if run["interrupted"]:
            raise KeyboardInterrupt
        if run["verdict"] != FELL_BEHIND:
            if last_start(outputs) - ended + run["wall_s"] < world.warmup_s / 2:
                break
            verdicts[-1] = STARTED_LATE
        for line in [*lines(run), *verdicts[-1:]]:
            tell(line)
        if len(verdicts) == TRIES:
            break
    measures, notes = measures_of_emulation(world, seconds, run, outputs)
    late = 1e3 * run["lateness"]["p99_s"]
    return Kept(measures, verdicts, late, os.getloadavg()[0], notes, world.emulated(seconds).name)


def measures_of_emulation(
    world: World, seconds: int, run: Emulation, outputs: dict[str, str]
) -> tuple[dict[str, float], list[str]]:
    """The numbers that rows look at, and what went wrong."""
    found: dict[str, float] = {"marks": run["frames"]["marked"]}
    notes: list[str] = []
    for port, flow in enumerate(world.flows, FIRST_PORT):
        rows = flows_of(run, world, port)
        found[f"goodput {flow.id}"] = sum(row["goodput_bps"] for row in rows) / 1e3
        first = min((row["first_s"] for row in rows), default=math.inf)
        report = outputs.get(f"receive-{flow.id}", "")
        found |= of_receiver(flow.id, report, first, world.warmup_s, seconds + world.warmup_s)
        if f"received {flow.id}" not in found and not rows:
            notes.append(f"{flow.id}: nothing sent: {outputs.get(f'send-{flow.id}', '').strip()[-200:]}")
    if world.ping is not None:
        found["ping"] = mean_ping(outputs.get("ping", ""), world.warmup_s)
    if world.counters_of is not None:
        found["CE"] = counter(outputs.get("counters", ""), "IpExt", "InCEPkts")
        found["bad checksums"] = counter(outputs.get("counters", ""), "Tcp", "InCsumErrors")
    for program in run["programs"]:
        if program["error"] is not None:
            notes.append(f"node {program['node']}: {program['error']}")
    return found, notes


def last_start(outputs: dict[str, str]) -> float:
    """The last start of a sender, by the clock of `time.monotonic`."""
    pattern = re.compile(r'"start_monotonic_s":([\d.]+)')
    found = [pattern.search(text) for name, text in outputs.items() if name.startswith("send-")]
    return max((float(of[1]) for of in found if of is not None), default=-math.inf)


def flows_of(run: Emulation, world: World, only: int | None = None) -> list[StackFlow]:
    """The emulator's rows of the flows of a world, or of the one to a port."""
    wanted = {
        (flow.source, flow.target, "tcp" if flow.udp_rate is None else "udp", port)
        for port, flow in enumerate(world.flows, FIRST_PORT)
        if only in (None, port)
    }
    return [
        row for row in run["flows"] if (row["src"], row["dst"], row["protocol"], row["dst_port"]) in wanted
    ]


def of_receiver(flow: str, text: str, first_s: float, from_s: int, until_s: int) -> dict[str, float]:
    """The numbers of a receiver's report: goodput in the whole seconds of a part of the run; the flow's first
    packet was sent at `first_s`."""
    lines = [line for line in text.splitlines() if line.startswith("{")]
    report = json.loads(lines[-1]) if lines else {"flows": []}
    if not report["flows"]:
        return {}
    of = report["flows"][0]
    found: dict[str, float] = {}
    if first_s < until_s - 2:
        first, end = max(math.ceil(from_s - first_s), 0), math.floor(until_s - first_s)
        seconds = (of["intervals"] or [])[first:end]
        found[f"received goodput {flow}"] = 8e-3 * sum(seconds) / (end - first)
        for part in range(PARTS):
            of_part = seconds[part * len(seconds) // PARTS : (part + 1) * len(seconds) // PARTS]
            if of_part:
                found[f"part {part + 1} goodput {flow}"] = 8e-3 * sum(of_part) / len(of_part)
    packets = of["packets"]
    if packets is not None and packets["delay_p99_s"] is not None:
        found[f"p99 {flow}"] = 1e3 * packets["delay_p99_s"]
        found[f"lost {flow}"] = 100 * packets["lost"] / max(packets["received"] + packets["lost"], 1)
    return found


def mean_ping(text: str, warmup_s: int) -> float:
    """The mean round-trip time of the answers after the warm-up, ms."""
    first = (warmup_s - START_S) / PING_GAP_S
    answers = re.findall(r"icmp_seq=(\d+) .*time=([\d.]+) ms", text)
    times = [float(taken) for number, taken in answers if int(number) >= first]
    return math.fsum(times) / len(times) if times else math.nan


def counter(text: str, group: str, name: str) -> float:
    """A counter of /proc/net/netstat or /proc/net/snmp: two lines a group, of names and of values."""
    lines = [line.split() for line in text.splitlines() if line.startswith(f"{group}:")]
    for names, values in zip(lines[::2], lines[1::2], strict=False):
        if name in names:
            return float(values[names.index(name)])
    return math.nan
