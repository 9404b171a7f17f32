"""The load of the emulator: pairs of nodes that saturate their air with UDP, on real Linux stacks.

    python -m benches.emulate LOAD                          the scenes and the ladder of pairs
    python -m benches.emulate LOAD --soak 20m               one scene for long: memory, descriptors, faults
    python -m benches.emulate LOAD --pairs 25 --seconds 10  one scene, a line of JSON
    python -m benches.emulate --frames 1000000              random and damaged frames by a program in a node

LOAD is the path of `airfair-load`. Numbers are kept in `docs/bench-emulate.json`; the page
`docs/bench-emulate.md` is written from them anew.

Five pairs are a group, in a row: each senses its two neighbours on either side, so that about two of five
senders are on the air at once; the next group is out of reach. Needs root on Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from airfair import _core

from .emulate_page import write_page

ROOT = Path(__file__).parent.parent
STORED = ROOT / "docs" / "bench-emulate.json"

GROUP = 5
"""Pairs that share the air."""

RADIOS = {
    11: 'standard = "802.11b"\ndata_rate = "11 Mbit/s"\n',
    54: 'standard = "802.11g"\ndata_rate = "54 Mbit/s"\nshort_slot = true\n',
}
OFFERED = {11: 5, 54: 15}
"""Mbit/s that a sender offers: nearly twice, and a third more than, the mean share of a pair."""

PAYLOAD = 1472
"""Bytes of a datagram, which is an IP packet of 1500 bytes."""

SECONDS = 10
LADDER = (5, 10, 25, 50, 75, 100, 150, 200)

START, A_PAIR = 3, 0.08
"""Seconds until all senders start at once, and those more for each pair: their processes wait for that."""

Json = dict[str, Any]


END = 1.0
"""Seconds in which a sender announces its end."""


def name(kind: str, number: int) -> str:
    """A node; names in their natural order are receivers, then senders."""
    return f"{kind}{number:03}"


def scene(pairs: int, rate: int) -> str:
    """The scenario of some pairs."""
    text = (
        f'name = "pairs-{pairs}-{rate}"\nduration = "24 h"\nwarmup = "0 s"\n\n[radio]\n{RADIOS[rate]}'
        'propagation = { model = "two-ray", range = "250 m", carrier_sense = "550 m" }\n'
    )
    columns = 5
    for pair in range(pairs):
        group, place = divmod(pair, GROUP)
        x, y = group % columns * 4000 + place * 200, group // columns * 4000
        text += f'\n[[node]]\nid = "{name("r", pair)}"\nposition = ["{x} m", "{y + 10} m"]\n'
        text += f'\n[[node]]\nid = "{name("s", pair)}"\nposition = ["{x} m", "{y} m"]\n'
    return text


def script(load: Path, pairs: int, rate: int, seconds: float) -> str:
    """The programs: a receiver and a sender a pair."""
    words = []
    start = int(time.time() + START + A_PAIR * pairs)
    for pair in range(pairs):
        address = f"10.0.{(pair + 1) // 250}.{(pair + 1) % 250}"
        send = (
            f'sh -c "sleep $(({start} - $(date +%s))); exec {load} send {address} --udp '
            f"--rate '{OFFERED[rate]} Mbit/s' --size '{PAYLOAD} B' --for '{seconds} s' --wait '2 s'\""
        )
        receive = f'{load} receive --for "1 h"'
        words.append(f"[[program]]\nnode = \"{name('r', pair)}\"\ncommand = '{receive}'\n")
        words.append(f"[[program]]\nnode = \"{name('s', pair)}\"\ncommand = '''{send}'''\nends_run = true\n")
    return "\n".join(words)


WIRE = f"""
name = "wire"
duration = "24 h"
warmup = "0 s"
node = [{{ id = "{name("r", 0)}", radios = [] }}, {{ id = "{name("s", 0)}", radios = [] }}]
link = [{{ ends = ["{name("r", 0)}", "{name("s", 0)}"], rate = "1 Gbit/s", delay = "1 ms" }}]
"""
"""Two nodes and a wire."""


def status(pid: int, key: str) -> int:
    """A number of `/proc/PID/status`; 0 for a process that has ended."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    found = re.search(rf"^{key}:\s+(\d+)", text, re.MULTILINE)
    return int(found[1]) if found else 0


def descriptors(pid: int) -> int:
    """Open descriptors of a process."""
    try:
        return len(list(Path(f"/proc/{pid}/fd").iterdir()))
    except OSError:
        return 0


def cpu_of(program: str) -> float:
    """Processor seconds of all processes that run a program now."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, rest = stat.read_text(encoding="ascii", errors="replace").rpartition(")")
        except OSError:
            continue
        if head.partition("(")[2] == program[:15]:
            fields = rest.split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def machine_times() -> tuple[float, float, float]:
    """Seconds of all processors in all, idle, and taken by the host of a virtual machine."""
    first = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0]
    numbers = [int(field) / os.sysconf("SC_CLK_TCK") for field in first.split()[1:9]]
    return sum(numbers), numbers[3] + numbers[4], numbers[7]


@dataclass
class Watched:
    """A process while it runs: resident memory in KiB, and descriptors, by the second."""

    memory: list[int] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)
    load_cpu_s: float = 0.0

    def follow(self, pid: int, ended: threading.Event, every: float) -> None:
        while not ended.wait(every):
            memory = status(pid, "VmRSS")
            if memory:
                self.memory.append(memory)
                self.descriptors.append(descriptors(pid))
                self.load_cpu_s = max(self.load_cpu_s, cpu_of("airfair-load"))


def followed(command: Sequence[str], every: float, limit: float) -> tuple[list[Json], Watched]:
    """Run the command, and follow it; the lines of JSON that it has printed."""
    watched, ended = Watched(), threading.Event()
    with tempfile.TemporaryFile("w+") as output:
        with subprocess.Popen(
            [sys.executable, "-m", "airfair", "emulate", "--json", *command],
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            follower = threading.Thread(target=watched.follow, args=(process.pid, ended, every))
            follower.start()
            try:
                _, errors = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                process.kill()
                raise SystemExit(f"the run has not ended after {limit} s") from None
            finally:
                ended.set()
                follower.join()
        output.seek(0)
        lines = output.read().splitlines()
    if process.returncode:
        raise SystemExit(errors)
    return [json.loads(line) for line in lines if line.startswith("{")], watched


def measured(load: Path, pairs: int, rate: int, seconds: float, every: float = 0.5) -> Json:
    """A run of a scene."""
    before, started = machine_times(), time.monotonic()
    load_average = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        scenario, programs = Path(folder) / "scene.toml", Path(folder) / "script.toml"
        scenario.write_text(scene(pairs, rate), encoding="utf-8")
        programs.write_text(script(load, pairs, rate, seconds), encoding="utf-8")
        lines, watched = followed(
            [str(scenario), "--script", str(programs), "--interval", "10 s"], every, seconds + 60
        )
    run = lines[-1]["emulation"]
    senders = [line for line in lines[:-1] if line.get("skipped") is not None]
    after = machine_times()
    spent = [b - a for a, b in zip(before, after, strict=True)]
    late, frames = run["lateness"], run["frames"]
    flows = [flow for flow in run["flows"] if flow["protocol"] == "udp" and flow["dst"].startswith("r")]
    window = max(flow["last_s"] or 0 for flow in flows) - min(flow["first_s"] for flow in flows) - END
    return {
        "pairs": pairs,
        "rate": rate,
        "load_average": load_average,
        "elapsed_s": time.monotonic() - started,
        "wall_s": run["wall_s"],
        "set_up_s": run["set_up_s"],
        "window_s": window,
        "deliveries_per_s": late["deliveries"] / window,
        "read_per_s": frames["read"] / window,
        "late_us": [late[key] * 1e6 for key in ("p50_s", "p99_s", "p999_s", "worst_s")],
        "cpu": run["cpu_s"] / window,
        "cpu_us": run["cpu_s"] * 1e6 / max(late["deliveries"], 1),
        "wake_ups_per_s": run["wake_ups"] / window,
        "verdict": run["verdict"],
        "behind_from_s": run["behind_from_s"],
        "pauses": run["pauses"],
        "refused_looks": run["refused_looks"],
        "faults": run["faults"],
        "device_drops": run["device_drops"],
        "frames": frames,
        "no_priority": run["no_priority"],
        "skipped": sum(line["skipped"] for line in senders) / (pairs * seconds),
        "senders": len(senders),
        "load_cpu": watched.load_cpu_s / window,
        "memory_mb": max(watched.memory, default=0) / 1024,
        "memory": watched.memory,
        "descriptors": watched.descriptors,
        "idle": spent[1] / spent[0],
        "stolen": spent[2] / spent[0],
    }


def line(of: Json) -> str:
    """A run in a line for the terminal."""
    p50, p99, p999, worst = of["late_us"]
    return (
        f"{of['pairs']} pairs, {of['rate']} Mbit/s: {of['deliveries_per_s']:.0f} deliveries/s, late "
        f"{p50:.0f}/{p99:.0f}/{p999:.0f}/{worst:.0f} us, {of['cpu']:.0%} of a core, {of['cpu_us']:.1f} us a "
        f"delivery, {of['wake_ups_per_s']:.0f} wake-ups/s, {of['verdict']}, {of['faults']} faults, "
        f"{of['memory_mb']:.0f} MB, load {of['load_average']:.1f}, idle {of['idle']:.0%}"
    )


def machine() -> Json:
    """The machine, for those who compare."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"model name\s*: (.*)", text)
    return {
        "cpu": model[1] if model else platform.machine(),
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "date": time.strftime("%Y-%m-%d"),
    }


def store(part: str, value: object) -> None:
    """Put a part of the numbers in the place of the last one, and write the page."""
    stored: Json = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    stored[part] = value
    STORED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    print(write_page(stored))


def bench(load: Path) -> None:
    """The scenes and the ladder."""
    runs, offered = [], {str(rate): value for rate, value in OFFERED.items()}
    for rate, pairs in [(11, 25), *((54, pairs) for pairs in LADDER)]:
        of = measured(load, pairs, rate, SECONDS)
        print(line(of), flush=True)
        runs.append({key: value for key, value in of.items() if key not in ("memory", "descriptors")})
    store("scenes", {"machine": machine(), "seconds": SECONDS, "offered": offered, "runs": runs})


def soak(load: Path, seconds: float) -> None:
    """One scene for long, with a sample a minute, or ten in a shorter one."""
    every = min(60.0, seconds / 10)
    of = measured(load, 25, 54, seconds, every)
    print(line(of))
    print("memory, KiB:", *of["memory"])
    print("descriptors:", *of["descriptors"])
    store("soak", {"machine": machine(), "seconds": seconds, "every": every, "run": of})


def frames(count: int) -> None:
    """Random and damaged frames by a program in a node, over a wire, which carries all, and the air."""
    results = []
    marking = "red[red.ecn=true]"
    parts: list[tuple[str, float, str, str, Sequence[str]]] = [
        ("a wire", 0.5, WIRE, "eth0", ()),
        ("the air, RED that marks", 0.4, scene(GROUP, 54), "wl0", ("--scheme", marking)),
        ("a wire, with captures", 0.1, WIRE, "eth0", ("--pcap", "all")),
    ]
    for way, part, text, device, options in parts:
        of = hostile(int(count * part), text, device, options)
        print(way, json.dumps(of), flush=True)
        results.append({"way": way, **of})
        problems = wrong(of)
        if problems:
            raise SystemExit(f"{way}: " + "; ".join(problems))
    store("frames", {"machine": machine(), "runs": results})


def hostile(count: int, text: str, device: str, options: Sequence[str]) -> Json:
    """A run with frames that no stack would send. The first node writes them, the others only listen."""
    driver = [sys.executable, "-B", str(Path(__file__).with_name("hostile.py")), str(count), device]
    with tempfile.TemporaryDirectory() as folder:
        scenario, out = Path(folder) / "scene.toml", list[str]()
        scenario.write_text(text, encoding="utf-8")
        if "--pcap" in options:
            out = ["--out", str(Path(folder) / "run")]
        command = [str(scenario), *options, *out, "--for", "1 h", "--node", name("r", 0), "--", *driver]
        lines, watched = followed(command, 0.5, count / 1000 + 120)
    run, own = lines[-1]["emulation"], lines[0]
    counts = run["frames"]
    half = len(watched.memory) // 2
    return {
        "written": own["written"],
        "refused_by_kernel": own["refused"],
        "seconds": own["seconds"],
        "per_s": own["written"] / own["seconds"],
        "sent_by_device": own["tx_packets"],
        "verdict": run["verdict"],
        "faults": run["faults"],
        "device_drops": run["device_drops"],
        "frames": counts,
        "flows": len(run["flows"]),
        "packets_of_other_flows": run["packets_of_other_flows"],
        "cpu": run["cpu_s"] / run["wall_s"],
        "late_us": [run["lateness"][key] * 1e6 for key in ("p50_s", "p99_s", "p999_s", "worst_s")],
        "memory": [watched.memory[half // 2], watched.memory[half], watched.memory[-1]],
    }


def wrong(of: Json) -> list[str]:
    """Counts that do not add up, or memory that grows."""
    counts, problems = of["frames"], []
    if counts["read"] < of["sent_by_device"]:
        problems.append(f"{of['sent_by_device']} frames sent by the device, {counts['read']} read")
    left_over = counts["read"] - counts["refused"] - counts["unknown_station"] - counts["too_many"]
    ended = counts["written"] + sum(counts["dropped"].values())
    if ended < left_over - IN_QUEUES:
        problems.append(f"{left_over} frames entered, {ended} copies were written or dropped")
    if counts["refused"] == 0 or counts["unknown_station"] == 0:
        problems.append("no frame was refused")
    if of["memory"][2] > of["memory"][0] * 1.05:
        problems.append(f"memory grew: {of['memory']} KiB")
    return problems


IN_QUEUES = 2000
"""Most frames that may be in the scenario at the end of the run."""

UNITS: dict[str, Callable[[float], float]] = {
    "s": lambda of: of,
    "m": lambda of: of * 60,
    "h": lambda of: of * 3600,
}


def length(text: str) -> float:
    """Seconds of a text such as 20m."""
    found = re.fullmatch(r"(\d+)([smh])", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text}: expected a time such as 20m")
    return UNITS[found[2]](float(found[1]))


def main() -> None:
    parser = argparse.ArgumentParser(prog="benches.emulate")
    parser.add_argument("load", type=Path, nargs="?", help="airfair-load, compiled")
    parser.add_argument("--soak", type=length, metavar="TIME")
    parser.add_argument("--frames", type=int, metavar="NUMBER")
    parser.add_argument("--pairs", type=int, metavar="NUMBER")
    parser.add_argument("--rate", type=int, choices=RADIOS, default=54)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    given = parser.parse_args()
    lacks = _core.emulation_lacks()
    if lacks is not None:
        raise SystemExit(f"no emulation here: {lacks}")
    if given.frames is not None:
        frames(given.frames)
        return
    if given.load is None:
        parser.error("the path of airfair-load is missing")
    load = given.load.resolve()
    if given.soak is not None:
        soak(load, given.soak)
    elif given.pairs is not None:
        print(json.dumps(measured(load, given.pairs, given.rate, given.seconds)))
    else:
        bench(load)


if __name__ == "__main__":
    main()
