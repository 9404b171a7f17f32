"""Draw the pictures of docs/how-to/plots.md: `.venv/bin/python docs/pictures.py`."""

from __future__ import annotations

from pathlib import Path

import airfair
from airfair import Capture, Scenario, plots

DOCS = Path(__file__).resolve().parent
SCENARIOS = DOCS.parent / "scenarios"
TARGET = DOCS / "how-to" / "plots"


def main() -> None:
    """Draw one picture of each kind."""
    scenario = Scenario.read(SCENARIOS / "three-pairs.toml")
    recording = airfair.record(scenario, interval="1 s")
    rows = airfair.compare(scenario, schemes=["droptail", "red"], seeds=range(1, 11))
    short = Scenario.read(SCENARIOS / "grid-64.toml", ["duration=20 s"])
    runs = [airfair.run(short, scheme=scheme) for scheme in ("droptail", "codel")]
    capture = Capture(trace=True, states=True, start="19.9 s", until="20.7 s")
    traced = airfair.record(scenario.edited({"duration": "20.7 s"}), capture=capture)
    figures = {
        "network": plots.network(scenario),
        "network-grid": plots.network(Scenario.read(SCENARIOS / "grid-64.toml")),
        "throughput": plots.throughput(recording),
        "queues": plots.queues(recording),
        "windows": plots.windows(recording),
        "channel": plots.channel(recording),
        "channel-node": plots.channel(recording, node="a2"),
        "timeline": plots.timeline(traced, "20 s", "20.03 s"),
        "timeline-states": plots.timeline(traced, "20.65 s", "20.66 s", states=True),
        "bars": plots.bars(rows),
        "difference": plots.bars(rows, difference=True),
        "scatter": plots.scatter(rows),
        "cdf": plots.cdf(runs),
    }
    for name, figure in figures.items():
        print(plots.save(figure, TARGET / f"{name}.svg"))


if __name__ == "__main__":
    main()
