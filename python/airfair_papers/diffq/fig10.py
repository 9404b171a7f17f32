"""Figure 10: flows of five, two and one hop share with DiffQ-TCP, where TCP starves the long one.

The paper calls this the scenario of figure 2, whose flows have three, one and one hop; both are run. The
floor plan of figure 5 is not readable; `fig10.toml` and `fig10-b.toml` are two placements of twenty nodes in
which the flows have the paper's routes and no node of flows 2 and 3 is hidden from a link of flow 1: there
access to the channel decides. In `fig10-hidden.toml` node 18 is heard at 7 and not at 12: there only slower
sources help.

"Co-exist and share the medium fairly without starving any one flow" while all three are there: no flow has
less than a tenth of their mean; Jain's index is above 0.8; flow 1 has twice what TCP leaves it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from airfair.claims import MAIN, Claim, Measured, number
from airfair.paper import Experiment

from airfair_papers.diffq.common import three
from airfair_papers.diffq.common.testbed import ABOUT, DIFFQ_TCP, JUDGED, LOG_TCP, OWN, ROUTES, TCP

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 6.3, figure 10"
FOLDER = Path(__file__).parent
SCENES = {
    "fig10": None,
    "fig10-b": FOLDER / "fig10-b.toml",
    "fig10-hidden": FOLDER / "fig10-hidden.toml",
    "fig2": FOLDER / "fig2.toml",
}


def claims(scene: str, reading: str) -> list[Claim]:
    """All three share, and with TCP they do not."""

    def claim(
        text: str,
        statistic: str,
        value: float,
        *,
        twice: bool = False,
        comparison: Literal["above"] = "above",
    ) -> Claim:
        return Claim(
            text=f"{scene}: {text}",
            where=WHERE,
            source="paper",
            series=three.name(DIFFQ_TCP, reading, scene),
            baseline=three.name(TCP, reading, scene),
            statistic=number(statistic),
            comparison=comparison,
            value=value,
            bound=number(statistic) if twice else None,
            bound_series=three.name(TCP, reading, scene) if twice else None,
            factor=2.0 if twice else 1.0,
            reading=reading,
            about=ABOUT,
        )

    return [
        claim("no flow has less than a tenth of the mean", three.LEAST, 0.1),
        claim("Jain's index of the three is above 0.8", three.JAIN, 0.8),
        claim("flow 1 has twice what TCP leaves it", three.LONG, 0.0, twice=True),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs over time of the first seed: TCP above, DiffQ-TCP below."""
    figure.set_size_inches(14.0, 6.0)
    for line, protocol in zip(figure.subplots(2, len(SCENES)), (TCP, DIFFQ_TCP), strict=True):
        for axes, scene in zip(line, SCENES, strict=True):
            three.plot(axes, rows, three.name(protocol, MAIN, scene))


EXPERIMENT = Experiment(
    title="A long flow and two short ones: with DiffQ-TCP all three share",
    scenario=FOLDER / "fig10.toml",
    series=(
        *three.series([TCP], JUDGED, SCENES),
        *three.series([DIFFQ_TCP], OWN, SCENES),
        *three.series([LOG_TCP], ROUTES, SCENES),
    ),
    claims=tuple(claim for scene in SCENES for reading in JUDGED for claim in claims(scene, reading)),
    draw=draw,
    quick_seeds=3,
    read=three.read,
    curves=three.curves,
    small=three.SMALL,
)
