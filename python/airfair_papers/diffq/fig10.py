"""Figure 10: flows of five, two and one hop share with DiffQ-TCP, where TCP starves the long one.

The paper calls this the scenario of figure 2, whose flows have three, one and one hop; both are run. The
floor plan of figure 5 is not readable; `fig10.toml` and `fig10-b.toml` are two placements of twenty nodes in
which the flows have the paper's routes and no node of flows 2 and 3 is hidden from a link of flow 1: there
access to the channel decides. In `fig10-hidden.toml` node 18 is heard at 7 and not at 12: there only slower
sources help.

"Co-exist and share the medium fairly without starving any one flow" while all three are there: no flow has
less than a tenth of their mean; Jain's index is above 0.8; flow 1 has twice what TCP leaves it, which alone
says little where that is nothing, and a tenth of what it has alone.

In the slow reading rates are still rising when the run ends, whatever the others do: it shows sources that
are too slow to collide. DiffQ-UDP against UDP without control is ours: DiffQ-TCP also depends on the level of
its acknowledgements, which the paper does not give ("ACKs first": at the highest level). Where queues wait
those of acknowledgements do too. With its send buffer it is, as ours, beside TCP with such windows as well.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, number
from airfair.paper import Experiment

from airfair_papers.diffq.common import three
from airfair_papers.diffq.common.testbed import (
    ABOUT,
    BUFFER,
    DIFFQ_TCP,
    DIFFQ_UDP,
    JUDGED,
    LOG_TCP,
    OWN,
    PACKETS,
    READINGS,
    ROUTES,
    TCP,
    TCP_8,
    WAITS,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from airfair.paper import Series
    from matplotlib.figure import Figure

WHERE = "section 6.3, figure 10"
FOLDER = Path(__file__).parent
SCENES = {
    "fig10": None,
    "fig10-b": FOLDER / "fig10-b.toml",
    "fig10-hidden": FOLDER / "fig10-hidden.toml",
    "fig2": FOLDER / "fig2.toml",
}


ON_AIR = (MAIN, "slow", PACKETS[0])
"""Readings with OLSR; in all the others routes are static."""


def of(readings: Iterable[str]) -> tuple[str, ...]:
    """Those of the readings that these scenes have."""
    return tuple(reading for reading in readings if READINGS[reading].static or reading in ON_AIR)


UNTIMED = of((*ROUTES, *WAITS, *PACKETS))
"""Readings in which rates are no ramp."""

ACKS = "diffq.acks=highest"


def first(reading: str) -> str:
    """The name of a reading with acknowledgements at the highest level."""
    return "ACKs first" if reading == MAIN else f"{reading}, ACKs first"


def with_acks_first() -> list[Series]:
    """DiffQ-TCP so."""
    return [
        replace(one, name=f"{one.name}, ACKs first", overrides=(*one.overrides, ACKS))
        for one in three.series([DIFFQ_TCP], UNTIMED, SCENES)
    ]


def claims(
    scene: str, reading: str, *, acks: bool = False, udp: bool = False, windows: bool = False
) -> list[Claim]:
    """All three share, and without DiffQ they do not. `windows`: beside TCP with windows of 8 segments."""
    own = three.name(DIFFQ_UDP if udp else DIFFQ_TCP, reading, scene) + (", ACKs first" if acks else "")
    other = three.name("UDP" if udp else TCP_8 if windows else TCP, reading, scene)
    before = f"{scene}, DiffQ-UDP" if udp else scene
    after = ", beside TCP with windows of 8 segments" if windows else ""

    def claim(text: str, statistic: str, value: float, *, of_alone: float | None = None) -> Claim:
        return Claim(
            text=f"{before}: {text}{after}",
            where=WHERE,
            source="ours" if udp or windows else "paper",
            series=own,
            baseline=other,
            statistic=number(statistic),
            comparison="above",
            value=value,
            bound=None if of_alone is None else number(three.ALONE),
            factor=1.0 if of_alone is None else of_alone,
            reading=first(reading) if acks else reading,
            about=ABOUT,
        )

    twice = replace(
        claim(f"flow 1 has twice what {'UDP' if udp else 'TCP'} leaves it", three.LONG, 0.0),
        baseline=None,
        bound=number(three.LONG),
        bound_series=other,
        factor=2.0,
    )
    return [
        claim("no flow has less than a tenth of the mean", three.LEAST, 0.1),
        claim("Jain's index of the three is above 0.8", three.JAIN, 0.8),
        twice,
        claim("flow 1 has a tenth of what it has alone", three.LONG, 0.0, of_alone=0.1),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs over time of the first seed: TCP, DiffQ-TCP, DiffQ-UDP, these by packets too."""
    figure.set_size_inches(14.0, 15.0)
    drawn = (
        (TCP, MAIN),
        *((own, reading) for reading in (MAIN, PACKETS[0]) for own in (DIFFQ_TCP, DIFFQ_UDP)),
    )
    for line, (protocol, reading) in zip(figure.subplots(len(drawn), len(SCENES)), drawn, strict=True):
        for axes, scene in zip(line, SCENES, strict=True):
            three.plot(axes, rows, three.name(protocol, reading, scene))


EXPERIMENT = Experiment(
    title="A long flow and two short ones: with DiffQ-TCP all three share",
    scenario=FOLDER / "fig10.toml",
    series=(
        *three.series([TCP], of(JUDGED), SCENES),
        *three.series([TCP_8], ROUTES, SCENES),
        *three.series([DIFFQ_TCP], of(OWN), SCENES),
        *three.series([LOG_TCP, "UDP"], ROUTES, SCENES),
        *three.series([DIFFQ_UDP], UNTIMED, SCENES),
        *with_acks_first(),
    ),
    claims=tuple(
        claim
        for scene in SCENES
        for some in (
            *(claims(scene, reading) for reading in of(JUDGED)),
            *(claims(scene, reading, acks=True) for reading in UNTIMED),
            *(claims(scene, reading, udp=True) for reading in UNTIMED),
            *(claims(scene, reading, windows=True) for reading in of((*BUFFER, *PACKETS))),
        )
        for claim in some
    ),
    draw=draw,
    quick_seeds=3,
    read=three.read,
    curves=three.curves,
    small=three.SMALL,
)
