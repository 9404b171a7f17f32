"""Costs of the live daemon: time a packet in the kernel, memory, processor time, size of the program.

`live.py AIRFAIRD [--scheme NAME] [--seconds S] [--soak S]`, as root, with `ip` and `unshare`: a pair of
devices in a network namespace of its own, a daemon at one of them, datagrams of 50 flows through it. The
allocator has a daemon at the other end, too, and rates. With `--soak` the daemon runs for so long, and
memory, descriptors, programs and maps at the end are compared with those after the first minute. Exit
status: 0 within the limits, 1 beyond them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

MOST_NS = 150
MOST_MEMORY_MB = 8
MOST_CPU = 0.002
"""Of a core, at LBM's 200 ms."""
STATUS = """
[status]
socket = "{folder}/{node}.sock"
"""
ONE_FOR_ALL = """
scheme = "lbm"
[radio.wl0]
rate = "11 Mbit/s"
[schemes.lbm]
evenness = 0.0
"""
BY_FLOW = ONE_FOR_ALL.replace("evenness = 0.0", "evenness = 4.0")
AIRTIME = """
scheme = "airtime"
node = "{node}"
[radio.{device}]
rate = "11 Mbit/s"
load = "file:{folder}/counters"
[messages]
keys = "{folder}/keys"
"""
SCHEMES = {"lbm": ONE_FOR_ALL, "lbm-by-flow": BY_FLOW, "airtime": AIRTIME}
FLOWS = 50
STATION = "02:00:00:00:00:02"
IN_NAMESPACE = "AIRFAIR_BENCH_LIVE"


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("--scheme", choices=SCHEMES, default="lbm")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--soak", type=float, help="seconds of a long run")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("SKIPPED: it needs root")
        return 0
    if IN_NAMESPACE not in os.environ:
        command = ["unshare", "--net", sys.executable, *sys.argv]
        return subprocess.run(command, env=os.environ | {IN_NAMESPACE: "1"}, check=False).returncode
    for words in (
        f"ip link add wl0 type veth peer name st0 address {STATION}",
        "ip link set wl0 up",
        "ip link set st0 up",
        "ip addr add 10.9.0.1/24 dev wl0",
        f"ip neigh add 10.9.0.2 lladdr {STATION} dev wl0",
    ):
        subprocess.run(words.split(), check=True)
    statistics = Path("/proc/sys/kernel/bpf_stats_enabled")
    before = statistics.read_text()
    statistics.write_text("1")
    try:
        with tempfile.TemporaryDirectory() as folder:
            return measure(options.program, options.scheme, Path(folder), (options.seconds, options.soak))
    finally:
        statistics.write_text(before)


def measure(program: Path, scheme: str, folder: Path, lengths: tuple[float, float | None]) -> int:
    """Run the daemon, send through its device, and judge."""
    seconds, soak = lengths
    (folder / "keys").write_text(f"one {secrets.token_hex(32)}\n")
    (folder / "keys").chmod(0o600)
    ends = threading.Event()
    writer = threading.Thread(target=write_counters, args=(folder, ends))
    with contextlib.ExitStack() as stack:
        stack.callback(writer.join)
        stack.callback(ends.set)
        writer.start()
        daemon = start(stack, program, SCHEMES[scheme], folder, ("one", "wl0"))
        if scheme == "airtime":
            start(stack, program, SCHEMES[scheme], folder, ("two", "st0"))
            # Until they have met, and the link has a rate.
            for _ in range(15):
                send(1, 1e-3)
            if not limits(program, folder):
                sys.exit("no link has a rate")
        return soaked(daemon, soak) if soak else costs(program, daemon, seconds)


def start(stack: contextlib.ExitStack, program: Path, text: str, folder: Path, at: tuple[str, str]) -> int:
    """Start a daemon, and wait until it answers. Returns its process."""
    node, device = at
    config, socket_path = folder / f"{node}.toml", folder / f"{node}.sock"
    config.write_text((text + STATUS).format(folder=folder, node=node, device=device))
    daemon = stack.enter_context(subprocess.Popen([program, "run", config], stderr=subprocess.DEVNULL))
    stack.callback(daemon.terminate)
    while not socket_path.exists():
        if daemon.poll() is not None:
            sys.exit("the daemon has ended")
        time.sleep(0.01)
    time.sleep(1)
    return daemon.pid


def limits(program: Path, folder: Path) -> bool:
    """True if the allocator has given a link a rate."""
    words = [str(program), "status", "--json", "--socket", str(folder / "one.sock")]
    state = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    return any(link["rate_bps"] for radio in state["radios"] for link in radio["links"])


def write_counters(folder: Path, ends: threading.Event) -> None:
    """Counters of a radio that sends for a quarter of the time, to the station, until the event."""
    began = time.monotonic() - 1
    while not ends.wait(0.2):
        now = int(1e9 * (time.monotonic() - began))
        packets = now // 10_000_000
        rows = {"at": now, "transmit": now // 4, "receive": 0, "busy": 0, "idle": now - now // 4}
        rows |= {"sent_packets": packets, "sent_bytes": 1000 * packets}
        rows |= {"received_packets": 0, "received_bytes": 0}
        text = "".join(f"{name} {value}\n" for name, value in rows.items())
        new = folder / "new"
        new.write_text(f"{text}link {STATION} {packets} 0 {packets} {1000 * packets}\n")
        new.rename(folder / "counters")


def costs(program: Path, pid: int, seconds: float) -> int:
    """The numbers of a daemon under load, and whether they are within the limits."""
    first, used, began = counted(pid), cpu(pid), time.monotonic()
    sent = send(seconds)
    length = time.monotonic() - began
    last, used = counted(pid), cpu(pid) - used
    runs, took = last[0] - first[0], last[1] - first[1]
    nanoseconds = took / max(runs, 1)
    memory = resident(pid) / 1e6
    judged = [
        (
            f"{nanoseconds:.0f} ns a packet ({runs} of {sent} packets)",
            nanoseconds <= MOST_NS and runs >= sent,
        ),
        (f"{memory:.1f} MB resident", memory <= MOST_MEMORY_MB),
        (f"{100 * used / length:.3f} % of a core", used / length <= MOST_CPU),
    ]
    for text, holds in judged:
        print(text if holds else f"{text}: beyond the limit")
    print(f"{program.stat().st_size / 1e6:.1f} MB of program")
    return 0 if all(holds for _, holds in judged) else 1


def soaked(pid: int, seconds: float) -> int:
    """A long run with little traffic: nothing grows."""
    end, states = time.monotonic() + seconds, []
    due = time.monotonic() + 60
    while time.monotonic() < end:
        send(1, 0.01)
        time.sleep(1)
        if time.monotonic() >= due:
            due += 60
            descriptors = len(list(Path(f"/proc/{pid}/fd").iterdir()))
            states.append({"resident": resident(pid), "descriptors": descriptors, "cpu": round(cpu(pid), 2)})
            print(json.dumps(states[-1]), flush=True)
    grows = states[-1]["resident"] > 1.05 * states[0]["resident"] + 100_000
    more = states[-1]["descriptors"] > states[0]["descriptors"]
    print("grows" if grows or more else "flat")
    return 1 if grows or more else 0


def send(seconds: float, pause: float = 0.0) -> int:
    """Send datagrams of several flows that can carry a mark. Returns their number."""
    sent, end = 0, time.monotonic() + seconds
    with contextlib.ExitStack() as stack:
        flows = [stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(FLOWS)]
        for flow in flows:
            flow.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 2)
        payload = bytes(1000)
        while time.monotonic() < end:
            for flow in flows:
                # A class that is full refuses packets.
                with contextlib.suppress(OSError):
                    flow.sendto(payload, ("10.9.0.2", 7000))
            sent += FLOWS
            time.sleep(pause)
    return sent


def counted(pid: int) -> tuple[int, int]:
    """Runs of the daemon's programs in the kernel, and their time in ns."""
    runs, took = 0, 0
    for file in Path(f"/proc/{pid}/fdinfo").iterdir():
        fields = dict(line.split(":", 1) for line in file.read_text().splitlines() if ":" in line)
        if "prog_tag" in fields:
            runs += int(fields.get("run_cnt", "0"))
            took += int(fields.get("run_time_ns", "0"))
    return runs, took


def cpu(pid: int) -> float:
    """Seconds of processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> int:
    """Bytes of a process in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    sys.exit(main())
