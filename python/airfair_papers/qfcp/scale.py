"""A million files over 10 Gbit/s under four protocols: completion times, wall time, memory. Ours.

Figure 1's traffic at a load of 0.9 of a link 67 times as fast: 37,500 files arrive a second, ten thousand
are under way. Round trip 100 ms, a queue of a bandwidth-delay product. Each run is made a second time in a
process of its own, which tells its wall time and its peak memory (the interpreter's 30 MB included) and
must give the same bytes. Its events are those of the simulator: a packet's departure or arrival, a timer.

Judged: QFCP's files up to 99 packets take less time than TCP's and XCP's, as in figure 1. All of it holds
with five lists. The first window is what is granted: profile "ns-2" knows no limit of the window that a
SYN/ACK announces, which elsewhere is 65,535 B (RFC 7323, section 2.2).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.qfcp.common import completions
from airfair_papers.qfcp.common.completions import FINE, GROUPS
from airfair_papers.qfcp.common.protocols import COLOURS, FOUR

if TYPE_CHECKING:
    from airfair.recording import Recording
    from airfair.results import Perf
    from matplotlib.figure import Figure

RATE_BPS = 10e9
LOAD = 0.9
FLOWS = 1_000_000
PER_SECOND = LOAD * 625 * RATE_BPS / 150e6
QUEUE = 125_000
"""Packets of 1000 B in 100 ms."""
LINKS = ", ".join(
    [
        f'{{ends=["source", "left"], rate="100 Gbit/s", queue_packets={8 * QUEUE}}}',
        f'{{ends=["left", "right"], rate="{RATE_BPS / 1e9:g} Gbit/s", delay="50 ms", queue_packets={QUEUE}}}',
        f'{{ends=["right", "sink"], rate="100 Gbit/s", queue_packets={8 * QUEUE}}}',
    ]
)
FAST = (
    f"link=[{LINKS}]",
    f"flow.files.traffic.per_second={PER_SECOND}",
    f"flow.files.traffic.count={FLOWS}",
    f'duration="{FLOWS / PER_SECOND + 33:.0f} s"',
)


def alone(recording: Recording) -> Perf:
    """The cost of the same run in a process of its own. Raises `ValueError` if it gives something else."""
    result = recording.result
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.toml"
        path.write_text(recording.scenario, encoding="utf-8")
        run = ["run", str(path), "--scheme", result["scheme"], "--seed", str(result["seed"]), "--json"]
        done = subprocess.run([sys.executable, "-m", "airfair", *run], capture_output=True, check=True)
    again = json.loads(done.stdout)
    perf: Perf = again.pop("perf")
    if again != {key: value for key, value in result.items() if key != "perf"}:
        raise ValueError("a second run of the same scenario and seed gave something else")
    return perf


def read(recording: Recording) -> dict[str, float]:
    """The numbers of a run."""
    files = completions.files(recording)
    result = recording.result
    header = next(p.header for p in FOUR.values() if p.scheme == result["scheme"])
    perf = alone(recording)
    return {
        "offered load": files.load(RATE_BPS, header),
        "files done": float(len(files.start_s)),
        "wall time (s)": perf["wall_s"],
        "peak memory (MB)": perf["peak_rss_bytes"] / 1e6,
        "million events": perf["events"] / 1e6,
        "queue-full drops": float(result["drops"].get("queue-full", 0)),
        **completions.means(files, tuple(dict.fromkeys((*GROUPS, *FINE)))),
        **completions.unfinished(files, result["flows"][0]["files"]["started"], GROUPS),
    }


def draw(rows: Measured, figure: Figure) -> None:
    """Mean completion time by size."""
    axes = figure.subplots()
    for name in FOUR:
        completions.curve(axes, rows[name]["numbers"], name, COLOURS[name])
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("size (packets of 960 B)")
    axes.set_ylabel("mean completion time (s)")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(loc="upper left")


EXPERIMENT = Experiment(
    title="A million files over 10 Gbit/s: completion times, wall time, memory",
    scenario=Path(__file__).with_name("fig1.toml"),
    series=tuple(
        Series(name, p.scheme, (*FAST, *p.overrides), None if name == "TCP Reno" else "TCP Reno")
        for name, p in FOUR.items()
    ),
    claims=(
        *(
            Claim(
                text=f"QFCP's mean is below TCP's and XCP's, {group.name}",
                where="figure 1 at another scale",
                source="ours",
                series="QFCP",
                baseline="XCP",
                statistic=number(f"{group.name} (s)"),
                comparison="below",
                bound=number(f"{group.name} (s)"),
                bound_series=("TCP Reno", "XCP"),
                paired=True,
            )
            for group in GROUPS[:3]
        ),
    ),
    draw=draw,
    seeds=5,
    read=read,
    interval="1 s",
    small=("flow.files.traffic.count=3000", "flow.files.traffic.per_second=1000", 'duration="6 s"'),
)
