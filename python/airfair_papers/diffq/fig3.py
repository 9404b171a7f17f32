"""Figure 3: levels by differential against levels by a node's own queue, where a next hop is congested
(section 4.1).

The paper's picture is an argument, not a measurement: by occupancy the node with the longest queue sends
first although its next hop cannot forward; by differential the congested node itself and those far from it
send. `fig3.toml` is such a chain; a saturating flow of one hop congests its far end. UDP, all else is DiffQ's
in both series. Neither claim may be true without levels. `occupancy.py` has the same comparison on the
testbed. Where queues wait they do so by their differential in all three series, so that only order and levels
differ.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from airfair.claims import MAIN, Claim, Measured
from airfair.paper import Experiment, Series

from airfair_papers.diffq.common.overflows import overflows
from airfair_papers.diffq.common.pictures import bars
from airfair_papers.diffq.common.testbed import OURS, READINGS, Protocol, beside

if TYPE_CHECKING:
    from airfair.recording import Recording
    from matplotlib.figure import Figure

WHERE = "section 4.1, figure 3"
CHAIN = "ABCDEFGH"
OWN, OTHER, NONE = "by differential", "by occupancy", "no levels"
SCHEMES = {OWN: "diffq", OTHER: "diffq-occupancy", NONE: "diffq-rc-sched"}

IN = tuple(reading for reading in OURS if not READINGS[reading].slow)

LONG = "long flow (kbit/s)"
NEAR = "near flow (kbit/s)"
BETWEEN = "overflows at intermediate nodes"


def at(node: str) -> str:
    """The number of overflows at a node of the chain."""
    return f"overflows at {node}"


def name(kind: str, reading: str = MAIN) -> str:
    """The name of a series."""
    return kind if reading == MAIN else f"{kind}, {reading}"


def read(recording: Recording) -> dict[str, float]:
    """Goodputs, and where packets are lost for want of room."""
    counted = overflows(recording)
    by_node = {node: float(counted[node, "long"]) for node in CHAIN}
    rates = {flow["id"]: flow["goodput_bps"] / 1e3 for flow in recording.result["flows"]}
    return {
        LONG: rates["long"],
        NEAR: rates["near"],
        BETWEEN: sum(count for node, count in by_node.items() if node != CHAIN[0]),
        **{at(node): by_node[node] for node in CHAIN[1:-1]},
        "packets given up by the MAC": float(recording.result["drops"].get("retry-limit", 0)),
    }


def claims(reading: str) -> list[Claim]:
    """The predictions of the argument."""

    def claim(text: str, statistic: str, comparison: Literal["above", "below"]) -> Claim:
        own, other = name(OWN, reading), name(OTHER, reading)
        return beside(
            text,
            own,
            other,
            statistic,
            comparison,
            where=WHERE,
            reading=reading,
            control=name(NONE, reading),
        )

    return [
        claim("The long flow gets more than with levels by occupancy", LONG, "above"),
        claim("Fewer packets overflow on its way", BETWEEN, "below"),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Overflows by node, and the goodputs; as printed, and with queues that wait."""
    figure.set_size_inches(9.0, 8.0)
    for (overflowing, rates), reading in zip(figure.subplots(2, 2), IN, strict=True):
        row = {kind: rows[name(kind, reading)]["numbers"] for kind in SCHEMES}
        groups = {kind: [numbers[at(node)] for node in CHAIN[1:-1]] for kind, numbers in row.items()}
        bars(overflowing, list(CHAIN[1:-1]), groups, along="node")
        overflowing.set_ylabel("overflows")
        overflowing.set_title(reading)
        overflowing.legend(fontsize="x-small")
        groups = {kind: [numbers[flow] for flow in (LONG, NEAR)] for kind, numbers in row.items()}
        bars(rates, ["long", "near"], groups, along="flow")
        rates.set_ylabel("goodput (kbit/s)")


EXPERIMENT = Experiment(
    title="Levels by differential or by queue before a congested next hop",
    scenario=Path(__file__).with_name("fig3.toml"),
    series=tuple(
        Series(name(kind, reading), scheme, READINGS[reading].changes(Protocol(scheme, own=True)))
        for reading in IN
        for kind, scheme in SCHEMES.items()
    ),
    claims=tuple(claim for reading in IN for claim in claims(reading)),
    draw=draw,
    quick_seeds=3,
    read=read,
    interval="60 s",
    small=('duration="9 s"', 'warmup="3 s"', 'flow.long.start="3 s"', 'flow.near.start="3 s"'),
)
