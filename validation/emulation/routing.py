"""Routing daemons on a grid: time to all routes, and to another next hop after a relay's end."""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import airfair
from airfair import Scenario
from airfair.emulating.verdict import lines

from .runs import FELL_BEHIND, TRIES, Kept
from .worlds import FIRST, addresses, grid

START_S = 2
CUT_S = 28
LENGTH_S = 55

Event = tuple[float, bool, str, str]
"""A time in seconds, true for a route that was deleted, its destination, and its next hop."""


def emulate(daemon: str, folder: Path, seed: int, tell: Callable[[str], None]) -> Kept:
    """One run with `babeld` or `bird` in each node; up to `TRIES` of them if they fall behind."""
    tables = {**grid(), "duration": f"{LENGTH_S} s"}
    scenario = Scenario.from_dict(tables)
    names = addresses(scenario)
    verdicts: list[str] = []
    while True:
        # Nodes have a /tmp of their own, but see this folder.
        with tempfile.TemporaryDirectory(dir=folder) as made:
            out = Path(made) / "run"
            recording = airfair.emulate(
                scenario,
                programs(daemon, names, Path(made)),
                seed=seed,
                own_routing=True,
                duration=f"{LENGTH_S} s",
                out=out,
            )
            outputs = {file.stem: file.read_text() for file in (out / "programs").glob("*.txt")}
        run = recording.result["emulation"]
        verdicts.append(run["verdict"])
        if run["interrupted"]:
            raise KeyboardInterrupt
        if run["verdict"] != FELL_BEHIND:
            break
        for line in lines(run):
            tell(line)
        if len(verdicts) == TRIES:
            break
    measures, notes = measured(outputs, list(names.values()))
    return Kept(measures, verdicts, 1e3 * run["lateness"]["p99_s"], os.getloadavg()[0], notes, scenario.name)


def programs(daemon: str, names: Mapping[str, str], folder: Path) -> list[airfair.Program]:
    """In each node a list of changes of routes and the daemon; in the first one a ping to the last, and the
    order to the relay that it uses then to take its device down, by a pipe in the folder."""
    found = []
    for name, address in names.items():
        monitor = ["env", "TZ=UTC0", "ip", "-4", "-ts", "monitor", "route"]
        found.append(airfair.Program(name, monitor, name=f"routes-{address}"))
        command = [*FIRST, *(babeld() if daemon == "babeld" else bird(address))]
        found.append(airfair.Program(name, command, at=f"{START_S} s", name=f"daemon-{address}"))
        os.mkfifo(folder / address)
        words = 'read order <"$1"; date +%s.%N; ip link set wl0 down'
        relay = [*FIRST, "sh", "-c", words, "sh", str(folder.absolute() / address)]
        found.append(airfair.Program(name, relay, name=f"relay-{address}"))
    first, *_, last = names
    words = 'until hop=$(ip -4 route get "$2" 2>/dev/null | grep -o "via [0-9.]*"); do sleep 0.2; done; '
    words += 'hop=${hop#via }; echo "$hop"; echo down >"$1/$hop"'
    order = [*FIRST, "sh", "-c", words, "sh", str(folder.absolute()), names[last]]
    found.append(airfair.Program(first, order, at=f"{CUT_S} s", name="order"))
    ping = f"ping -n -i 0.1 -c {10 * (LENGTH_S - CUT_S)} -w {LENGTH_S - CUT_S} {names[last]}"
    found.append(airfair.Program(first, ping, at=f"{CUT_S - 2} s", name="ping"))
    return found


def babeld() -> list[str]:
    """The command of babeld, with hellos each second. A node has a /run of its own."""
    words = "exec babeld -I /run/babeld.pid -S /run/babeld.state -h 1 -H 1 -C 'default type wireless' "
    words += "-C 'redistribute local ip 10.0.0.0/8 allow' -C 'redistribute local deny' wl0"
    return ["sh", "-c", f"date +%s.%N; {words}"]


def bird(address: str) -> list[str]:
    """The command of bird with Babel, with hellos each second."""
    config = f"""router id {address};
protocol device {{ scan time 2; }}
protocol direct {{ ipv4; interface "wl0"; }}
protocol kernel {{ ipv4 {{ export where source = RTS_BABEL; }}; }}
protocol babel {{
  ipv4 {{ import all; export where source = RTS_DEVICE || source = RTS_BABEL; }};
  interface "wl0" {{ type wireless; hello interval 1 s; update interval 4 s; next hop ipv4 {address}; }};
}}
"""
    words = 'printf %s "$1" >/run/bird.conf; date +%s.%N; '
    words += "exec bird -f -c /run/bird.conf -s /run/bird.ctl -P /run/bird.pid"
    return ["sh", "-c", words, "sh", config]


def measured(outputs: Mapping[str, str], every: Sequence[str]) -> tuple[dict[str, float], list[str]]:
    """The numbers of a run, and what went wrong."""
    starts = [float(text.split()[0]) for name, text in outputs.items() if name.startswith("daemon-") and text]
    events = {address: events_of(outputs.get(f"routes-{address}", "")) for address in every}
    found = {"all routes": settled(events, every) - min(starts, default=math.nan), "other next hop": math.nan}
    hop = outputs.get("order", "").strip()
    ended = outputs.get(f"relay-{hop}", "").split()
    if not ended:
        return found, [f"no relay was taken down after {CUT_S} s: {hop or 'no route to the last node'}"]
    at = float(ended[0])
    found["other next hop"] = rerouted(events[every[0]], every[-1], hop, at) - at
    sequence = [int(number) for number in re.findall(r"icmp_seq=(\d+) .*time=", outputs.get("ping", ""))]
    gaps = [later - earlier for earlier, later in pairwise(sequence)]
    found["longest gap"] = 0.1 * max(gaps, default=math.nan)
    return found, []


def events_of(text: str) -> list[Event]:
    """The changes of routes to nodes, of the lines of `ip -ts monitor route`."""
    found = []
    line = r"^\[(\S+)\] (Deleted )?(10\.0\.\d+\.\d+)(?:/32)? (.*)$"
    for stamp, deleted, target, rest in re.findall(line, text, re.MULTILINE):
        at = datetime.fromisoformat(stamp).replace(tzinfo=UTC).timestamp()
        hop = re.search(r"via (\S+)", rest)
        found.append((at, bool(deleted), target, target if hop is None else hop[1]))
    return found


def settled(events: Mapping[str, Sequence[Event]], every: Sequence[str]) -> float:
    """The first time at which each node has a route to each other one; NaN if there is none."""
    ordered = sorted((event[0], node, event) for node, of in events.items() for event in of)
    routes: set[tuple[str, str]] = set()
    for at, node, (_, deleted, target, _) in ordered:
        if target == node or target not in events:
            continue
        if deleted:
            routes.discard((node, target))
        else:
            routes.add((node, target))
        if len(routes) == len(every) * (len(every) - 1):
            return at
    return math.nan


def rerouted(events: Sequence[Event], target: str, old: str, after: float) -> float:
    """The first time after `after` at which the next hop to a node is another one than `old`; NaN if none."""
    return min(
        (at for at, deleted, to, hop in events if at > after and to == target and hop != old and not deleted),
        default=math.nan,
    )
