"""Costs of the live daemon: time a packet in the kernel, memory, processor time, size of the program.

`live.py AIRFAIRD [--seconds S] [--soak S]`, as root, with `ip` and `unshare`: a pair of devices in a network
namespace of its own, LBM at one of them, datagrams through it. With `--soak` the daemon runs for so long, and
memory, descriptors, programs and maps at the end are compared with those after the first minute. Exit status:
0 within the limits, 1 beyond them.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MOST_NS = 150
MOST_MEMORY_MB = 8
MOST_CPU = 0.002
"""Of a core, at LBM's 200 ms."""
CONFIG = """
scheme = "lbm"
[radio.wl0]
rate = "11 Mbit/s"
[status]
socket = "{folder}/airfaird.sock"
"""
IN_NAMESPACE = "AIRFAIR_BENCH_LIVE"


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
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
        "ip link add wl0 type veth peer name st0",
        "ip link set wl0 up",
        "ip link set st0 up",
        "ip addr add 10.9.0.1/24 dev wl0",
        "ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev wl0",
    ):
        subprocess.run(words.split(), check=True)
    statistics = Path("/proc/sys/kernel/bpf_stats_enabled")
    before = statistics.read_text()
    statistics.write_text("1")
    try:
        with tempfile.TemporaryDirectory() as folder:
            return measure(options.program, Path(folder), options.seconds, options.soak)
    finally:
        statistics.write_text(before)


def measure(program: Path, folder: Path, seconds: float, soak: float | None) -> int:
    """Run the daemon, send through its device, and judge."""
    config = folder / "airfaird.toml"
    config.write_text(CONFIG.format(folder=folder))
    with subprocess.Popen([program, "run", config], stderr=subprocess.DEVNULL) as daemon:
        try:
            while not (folder / "airfaird.sock").exists():
                if daemon.poll() is not None:
                    sys.exit("the daemon has ended")
                time.sleep(0.01)
            time.sleep(1)
            return soaked(daemon.pid, soak) if soak else costs(program, daemon.pid, seconds)
        finally:
            daemon.terminate()


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
    print(f"{program.stat().st_size / 1e6:.1f} MB of program as it was built here (make airfaird strips it)")
    return 0 if all(holds for _, holds in judged) else 1


def soaked(pid: int, seconds: float) -> int:
    """A long run with little traffic: nothing grows."""
    end, states = time.monotonic() + seconds, []
    due = time.monotonic() + 60
    while time.monotonic() < end:
        send(1)
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


def send(seconds: float) -> int:
    """Send datagrams that can carry a mark, as many as this program can. Returns their number."""
    sent, end = 0, time.monotonic() + seconds
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 2)
        payload = bytes(1000)
        while time.monotonic() < end:
            for _ in range(100):
                sender.sendto(payload, ("10.9.0.2", 7000))
            sent += 100
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
