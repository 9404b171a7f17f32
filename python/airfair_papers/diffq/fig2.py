"""Figure 2: a flow of three hops dies as two flows of one hop join.

Node B of flow 1 senses A, C, E and G; E and G sense neither each other nor what else disturbs their flows.
Flow 1 dies by waiting, not by loss: so this is a test of access to the channel. DiffQ runs in the same
scene (ours; the paper's picture of it is figure 10).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment

from airfair_papers.diffq.common import three
from airfair_papers.diffq.common.testbed import LEVELS, TCP

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 2, figure 2"


def claims(reading: str) -> list[Claim]:
    """As the third flow joins, the first "quickly starves off"."""

    def claim(text: str, statistic: str, comparison: str, factor: float = 0.0, value: float = 0.0) -> Claim:
        return Claim(
            text=text,
            where=WHERE,
            source="paper",
            series=three.name(TCP, reading),
            baseline=None,
            statistic=number(statistic),
            comparison="above" if comparison == "above" else "below",
            bound=number(three.ALONE) if factor else None,
            factor=factor or 1.0,
            value=value,
            reading=reading,
        )

    return [
        claim("TCP: flow 1 shrinks when flow 2 joins", three.SECOND, "below", 0.8),
        claim(
            "TCP: it starves when flow 3 joins: less than a twentieth of its rate", three.LONG, "below", 0.05
        ),
        claim("TCP: it is silent in most seconds then", three.ZERO, "above", 0.0, 0.5),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs over time in the readings of routes."""
    for axes, reading in zip(figure.subplots(1, 2), ("main", "static routes"), strict=True):
        three.plot(axes, rows, three.name(TCP, reading))


EXPERIMENT = Experiment(
    title="A flow of three hops starves under TCP as two flows of one hop join",
    scenario=Path(__file__).with_name("fig2.toml"),
    series=tuple(three.series([TCP], LEVELS, {"": None})),
    claims=tuple(claim for reading in LEVELS for claim in claims(reading)),
    draw=draw,
    quick_seeds=3,
    read=three.read,
    curves=three.curves,
    small=three.SMALL,
)
