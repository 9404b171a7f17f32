"""Section 8: nodes without NRED beside nodes with it, in the grid of figure 16 (ours as an experiment; the
paper only says that such a node drops notifications silently).

"Without the middle" leaves out node 12, which two transfers pass. It does no harm: these transfers gain
even more, since nobody drops their packets there. "Every second" has NRED at every other node, as on a
chess board. The nodes that decode each other are those of the other colour, so no notification reaches one
that would follow it. But notifications take air: the total falls all the same. The index grows there too, so
that the third claim is true on its baseline and shows nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, goodput_gain, jain_gain
from airfair.paper import Experiment, Series

from airfair_papers.nred.common import pictures
from airfair_papers.nred.common.readings import READINGS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 8"


def without(*nodes: int) -> tuple[str, ...]:
    return tuple(f'node.{node}.scheme="droptail"' for node in nodes)


PARTS: dict[str, tuple[str, ...]] = {
    "everywhere": (),
    "without the middle": without(12),
    "every second": without(*range(1, 25, 2)),
    "the middle only": without(*(node for node in range(25) if node != 12)),
}


def draw(rows: Measured, figure: Figure) -> None:
    """Goodput of each flow by how far NRED has come."""
    series = {"droptail": "droptail", **{name: f"NRED {name}" for name in PARTS}}
    pictures.goodputs(figure.subplots(), rows, series)


EXPERIMENT = Experiment(
    title="A mesh in which some nodes have NRED and some have not",
    scenario=Path(__file__).with_suffix(".toml"),
    series=(
        Series("droptail", "droptail", READINGS[MAIN]),
        *(
            Series(name, "nred", (*READINGS[MAIN], *overrides), against="droptail")
            for name, overrides in PARTS.items()
        ),
    ),
    claims=(
        *(
            Claim(
                text=f"Transfer {flow}, which passes the node without NRED, still gains",
                where=WHERE,
                source="ours",
                series="without the middle",
                baseline="droptail",
                about=("node",),
                statistic=goodput_gain(flow),
                comparison="above",
            )
            for flow in ("2", "5")
        ),
        Claim(
            text="Without the middle the grid is still fairer than with drop-tail",
            where=WHERE,
            source="ours",
            series="without the middle",
            baseline="every second",
            about=("node",),
            statistic=jain_gain,
            comparison="above",
        ),
    ),
    draw=draw,
)
