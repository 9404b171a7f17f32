"""A relay that lies about its queue (ours). Nothing in the paper checks what a trailer says.

The chain of figure 3, DiffQ-UDP. F is the relay whose queue does not empty: it shares the air with another
flow. It announces nothing, which attracts packets: E sends more than F can forward, and F overflows. Or it
announces ten times its queue, so that E sends at level 0, and where queues wait not at all. F runs
`diffq-liar`, with a factor of 1 in the series that the lies are compared with. Who gains: the flow near F.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from airfair.claims import MAIN, Claim, Measured
from airfair.paper import Experiment, Series

from airfair_papers.diffq import fig3
from airfair_papers.diffq.common.pictures import bars
from airfair_papers.diffq.common.testbed import READINGS, ROUTES, WAITS, Protocol, beside, waits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RELAY = "node.F.scheme=diffq-liar"
HONEST, MORE, NOTHING = "F is honest", "F announces ten times its queue", "F announces nothing"
KINDS = {
    HONEST: (RELAY, "diffq-liar.size_factor=1"),
    MORE: (RELAY, "diffq-liar.size_factor=10"),
    NOTHING: (RELAY, "diffq-liar.size_factor=0"),
}
AT_LIAR, BEFORE = fig3.at("F"), fig3.at("E")

IN = (*ROUTES, *WAITS)


def changes(kind: str, reading: str) -> tuple[str, ...]:
    """Of a kind of relay in a reading, which is the relay's too."""
    own = waits("diffq-liar") if READINGS[reading].waits else ()
    return (*READINGS[reading].changes(Protocol("diffq", own=True)), *own, *KINDS[kind])


def name(kind: str, reading: str) -> str:
    """The name of a series."""
    return kind if reading == MAIN else f"{kind}, {reading}"


def claims(reading: str) -> list[Claim]:
    """What a lie costs the flow through the relay, and where packets are lost for it."""

    def claim(
        text: str, kind: str, comparison: Literal["above", "below"], factor: float, statistic: str = fig3.LONG
    ) -> Claim:
        lying, honest = name(kind, reading), name(HONEST, reading)
        return beside(text, lying, honest, statistic, comparison, factor, where="ours", reading=reading)

    return [
        claim("Ten times the queue costs the long flow a tenth of its rate and more", MORE, "below", 0.9),
        claim("Ten times the queue leaves the long flow half of its rate and more", MORE, "above", 0.5),
        claim("No announcements cost the long flow a tenth of its rate and more", NOTHING, "below", 0.9),
        claim("No announcements leave the long flow half of its rate and more", NOTHING, "above", 0.5),
        claim("No announcements: the relay overflows more", NOTHING, "above", 1.0, AT_LIAR),
        claim("Ten times the queue: the node before the relay overflows more", MORE, "above", 1.0, BEFORE),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs of both flows, and overflows by node; as printed, and with queues that wait."""
    figure.set_size_inches(9.0, 8.0)
    nodes = fig3.CHAIN[1:-1]
    for (rates, overflowing), reading in zip(figure.subplots(2, 2), (MAIN, WAITS[0]), strict=True):
        row = {kind: rows[name(kind, reading)]["numbers"] for kind in KINDS}
        groups = {kind: [numbers[flow] for flow in (fig3.LONG, fig3.NEAR)] for kind, numbers in row.items()}
        bars(rates, ["long", "near"], groups, along="flow")
        rates.set_ylabel("goodput (kbit/s)")
        rates.set_title("as printed" if reading == MAIN else reading)
        groups = {kind: [numbers[fig3.at(node)] for node in nodes] for kind, numbers in row.items()}
        bars(overflowing, list(nodes), groups, along="node")
        overflowing.set_ylabel("overflows")
        overflowing.legend(fontsize="x-small")


EXPERIMENT = Experiment(
    title="A relay that lies about its queue",
    scenario=Path(__file__).with_name("fig3.toml"),
    series=tuple(
        Series(name(kind, reading), "diffq", changes(kind, reading)) for reading in IN for kind in KINDS
    ),
    claims=tuple(claim for reading in IN for claim in claims(reading)),
    draw=draw,
    quick_seeds=3,
    read=fig3.read,
    interval="60 s",
    small=fig3.EXPERIMENT.small,
)
