"""Draw the pictures of pages: `make docs` runs this program.

Pictures of a page that a newcomer reads in the first hour are stored beside it; all others are drawn when the
site is made: of runs of the shipped scenarios, and of the numbers that the last `make validate` has left.
"""

from __future__ import annotations

from pathlib import Path

import airfair
import numpy as np
from airfair import Capture, Scenario, plots
from airfair.output import write_atomically
from airfair.results import Network
from matplotlib.figure import Figure

from validation.report import draw, read_figures

DOCS = Path(__file__).resolve().parent
SCENARIOS = DOCS.parent / "scenarios"
KINDS = (
    "network",
    "network-grid",
    "throughput",
    "queues",
    "windows",
    "differentials",
    "batches",
    "channel",
    "channel-node",
    "timeline",
    "timeline-states",
    "bars",
    "difference",
    "scatter",
    "cdf",
)
"""Pictures of `how-to/plots.md`."""

STORED = {"how-to/plots/bars.svg"}
"""Pictures of the first hour, which a forge shows beside the text."""


def names() -> list[str]:
    """The files of all drawn pictures, in the documentation."""
    plots = [f"how-to/plots/{kind}.svg" for kind in KINDS]
    return [*plots, "building-46.svg", *(f"validation/{figure.file}" for figure in read_figures(DOCS))]


def main() -> None:
    """Draw all of them."""
    figures = kinds()
    for kind in KINDS:
        print(plots.save(figures[kind], DOCS / "how-to" / "plots" / f"{kind}.svg"))
    print(plots.save(building(), DOCS / "building-46.svg"))
    for figure in read_figures(DOCS):
        path = DOCS / "validation" / figure.file
        write_atomically(path, draw(figure))
        print(path)


def kinds() -> dict[str, Figure]:
    """One picture of each kind that `airfair.plots` draws, by name."""
    scenario = Scenario.read(SCENARIOS / "three-pairs.toml")
    recording = airfair.record(scenario, interval="1 s")
    rows = airfair.compare(scenario, schemes=["droptail", "red"], seeds=range(1, 11))
    short = Scenario.read(SCENARIOS / "grid-64.toml", ["duration=20 s"])
    runs = [airfair.run(short, scheme=scheme) for scheme in ("droptail", "codel")]
    capture = Capture(trace=True, states=True, start="19.9 s", until="20.7 s")
    traced = airfair.record(scenario.edited({"duration": "20.7 s"}), capture=capture)
    chain = Scenario.read(SCENARIOS / "chain.toml", ['radio.categories="diffq"'])
    announced = airfair.record(chain, scheme="diffq", capture=Capture(trace=True))
    diamond = Scenario.read(SCENARIOS / "lossy-diamond.toml", ["duration=1 s"])
    carried = airfair.record(diamond, scheme="more", capture=Capture(trace=True))
    return {
        "network": plots.network(scenario),
        "network-grid": plots.network(Scenario.read(SCENARIOS / "grid-64.toml")),
        "throughput": plots.throughput(recording),
        "queues": plots.queues(recording),
        "windows": plots.windows(recording),
        "differentials": plots.differentials(announced),
        "batches": plots.batches(carried),
        "channel": plots.channel(recording),
        "channel-node": plots.channel(recording, node="a2"),
        "timeline": plots.timeline(traced, "20 s", "20.03 s"),
        "timeline-states": plots.timeline(traced, "20.65 s", "20.66 s", states=True),
        "bars": plots.bars(rows),
        "difference": plots.bars(rows, difference=True),
        "scatter": plots.scatter(rows),
        "cdf": plots.cdf(runs),
    }


def building() -> Figure:
    """Delivery ratios of all links of the building and hops of all its pairs, sender by sender."""
    network = airfair.network(SCENARIOS / "building-46.toml", routes=True)
    number = {node["id"]: i for i, node in enumerate(network["nodes"])}
    of_radio = [number[radio["node"]] for radio in network["radios"]]
    ratios, hops = (np.full((len(number), len(number)), np.nan) for _ in range(2))
    for pair in network["pairs"]:
        if pair["delivery_ratio"] > 0.001:
            ratios[of_radio[pair["sender"]], of_radio[pair["hearer"]]] = pair["delivery_ratio"]
    for route in network.get("routes", []):
        hops[number[route["src"]], number[route["dst"]]] = len(route["path"]) - 1
    figure = Figure(figsize=(10, 5), layout="constrained")
    panels = (
        ("Delivery ratio of 1500 B", ratios, "viridis", (0, 1)),
        ("Hops of the route", hops, "YlOrBr", (1, 8)),
    )
    floors = [i for i in range(1, len(number)) if _height(network, i) != _height(network, i - 1)]
    for axes, (title, values, colours, (low, high)) in zip(figure.subplots(1, 2), panels, strict=True):
        picture = axes.imshow(values, cmap=colours, vmin=low, vmax=high, interpolation="nearest")
        for edge in floors:
            axes.axhline(edge - 0.5, color="#808080", linewidth=0.6)
            axes.axvline(edge - 0.5, color="#808080", linewidth=0.6)
        axes.set(title=title, xlabel="to node", ylabel="from node")
        figure.colorbar(picture, ax=axes, shrink=0.8)
    return figure


def _height(network: Network, node: int) -> float:
    position = network["nodes"][node]["position_m"]
    return position[2] if position else 0.0


if __name__ == "__main__":
    main()
