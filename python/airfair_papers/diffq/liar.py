"""A relay that lies about its queue (ours). Nothing in the paper checks what a trailer says.

The chain of figure 3, DiffQ-UDP, and two liars: F, the relay before the bottleneck, which shares the air with
another flow; and C, where packets pile up behind it. A liar announces nothing, which attracts packets: the
node before it sends more than it can forward, and it overflows. Or it announces ten times its queue, so that
the node before it sends at level 0, and where queues wait not at all. It runs `diffq-liar`, with a factor of
1 in the series that the lies are compared with. Who gains: the flow near F.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from airfair.claims import MAIN, Claim, Measured
from airfair.paper import Experiment, Series

from airfair_papers.diffq import fig3
from airfair_papers.diffq.common.pictures import bars
from airfair_papers.diffq.common.testbed import READINGS, Protocol, beside, waits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RELAYS = {"C": "B", "F": "E"}
"""Liars, and the node before each."""
HONEST, MORE, NOTHING = "is honest", "announces ten times its queue", "announces nothing"
FACTORS = {HONEST: 1, MORE: 10, NOTHING: 0}

IN = fig3.IN


def changes(relay: str, kind: str, reading: str) -> tuple[str, ...]:
    """Of a kind of relay in a reading, which is the relay's too."""
    return (
        *READINGS[reading].changes(Protocol("diffq", own=True)),
        *(waits("diffq-liar") if READINGS[reading].waits else ()),
        f"node.{relay}.scheme=diffq-liar",
        f"diffq-liar.size_factor={FACTORS[kind]}",
    )


def name(relay: str, kind: str, reading: str) -> str:
    """The name of a series."""
    return f"{relay} {kind}" if reading == MAIN else f"{relay} {kind}, {reading}"


def claims(relay: str, reading: str) -> list[Claim]:
    """The cost of a lie for the flow through the relay, and the place of the losses."""

    def claim(
        text: str, kind: str, comparison: Literal["above", "below"], factor: float, statistic: str = fig3.LONG
    ) -> Claim:
        lying, honest = name(relay, kind, reading), name(relay, HONEST, reading)
        return beside(
            f"{relay} {kind}: {text}",
            lying,
            honest,
            statistic,
            comparison,
            factor,
            where="ours",
            reading=reading,
        )

    before = RELAYS[relay]
    return [
        *(
            one
            for kind in (MORE, NOTHING)
            for one in (
                claim("the long flow loses a tenth of its rate and more", kind, "below", 0.9),
                claim("the long flow keeps half of its rate and more", kind, "above", 0.5),
                claim("the near flow gains", kind, "above", 1.0, fig3.NEAR),
            )
        ),
        claim("it overflows more", NOTHING, "above", 1.0, fig3.at(relay)),
        claim(f"{before} overflows more", MORE, "above", 1.0, fig3.at(before)),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs of both flows, and overflows by node; as printed, and with queues that wait."""
    figure.set_size_inches(11.0, 12.0)
    nodes = fig3.CHAIN[1:-1]
    lines = [(relay, reading) for relay in RELAYS for reading in IN]
    for (rates, overflowing), (relay, reading) in zip(figure.subplots(4, 2), lines, strict=True):
        row = {f"{relay} {kind}": rows[name(relay, kind, reading)]["numbers"] for kind in FACTORS}
        groups = {told: [numbers[flow] for flow in (fig3.LONG, fig3.NEAR)] for told, numbers in row.items()}
        bars(rates, ["long", "near"], groups, along="flow")
        rates.set_ylabel("goodput (kbit/s)")
        rates.set_title(reading)
        groups = {told: [numbers[fig3.at(node)] for node in nodes] for told, numbers in row.items()}
        bars(overflowing, list(nodes), groups, along="node")
        overflowing.set_ylabel("overflows")
        overflowing.legend(fontsize="x-small")


EXPERIMENT = Experiment(
    title="A relay that lies about its queue",
    scenario=Path(__file__).with_name("fig3.toml"),
    series=tuple(
        Series(name(relay, kind, reading), "diffq", changes(relay, kind, reading))
        for relay in RELAYS
        for reading in IN
        for kind in FACTORS
    ),
    claims=tuple(claim for relay in RELAYS for reading in IN for claim in claims(relay, reading)),
    draw=draw,
    quick_seeds=3,
    read=fig3.read,
    interval="60 s",
    small=fig3.EXPERIMENT.small,
)
