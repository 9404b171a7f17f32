"""TCP beside flows by forwarders in one cell: who gets how much of the air (ours).

One or four transfers over TCP-SACK, and as many other flows: TCP's too (the control), saturating UDP, MORE,
DiffQ-MORE or ExOR. A broadcast is sent once, and its window never grows; the MAC's data frames are sent again
with a growing window. So losses decide: in one scene there are none but collisions, in the other each frame
is lost with a probability of 0.3. All at level 0, or with the DCF's values; DiffQ-MORE has its levels, and is
compared with TCP at level 0.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.diffq.common.multipath import DIFFQ_MORE, EXOR, MORE
from airfair_papers.diffq.common.pictures import bars
from airfair_papers.diffq.common.single import SATURATING, TCP

if TYPE_CHECKING:
    from airfair.recording import Recording
    from matplotlib.figure import Figure

SACK, UDP = "TCP", "UDP"
OTHERS = {
    SACK: ("droptail", f'{TCP}, scheme="newreno"'),
    UDP: ("droptail", SATURATING),
    MORE: ("more", SATURATING),
    DIFFQ_MORE: ("diffq-more", SATURATING),
    EXOR: ("exor", SATURATING),
}
FORWARDING = (MORE, DIFFQ_MORE, EXOR)
COUNTS = (1, 4)
SCENES: dict[str, tuple[str, ...]] = {"no losses": (), "loss 0.3": ("radio.frame_loss=0.3",)}
LEVELS: dict[str, tuple[str, ...]] = {"level 0": (), "DCF": ("radio.categories=dcf",)}
ONLY_LEVELS = (DIFFQ_MORE,)
"""Those that need DiffQ's categories."""

OF_TCP, OF_OTHER = "TCP (Mbit/s)", "the others (Mbit/s)"
SHARE = "TCP's share of the total"
KEPT = 0.8


def name(other: str, count: int, scene: str, level: str) -> str:
    """The name of a series."""
    return f"{count} TCP, {count} {other}, {scene}, {level}"


def flows(seed: int, *, other: str, count: int) -> tuple[str, ...]:
    """TCP's flows t and the others o, between drawn pairs of nodes."""
    nodes = np.random.default_rng(seed).permutation(16)
    listed = []
    for i in range(2 * count):
        source, target = nodes[2 * i], nodes[2 * i + 1]
        letter, keys = ("t", OTHERS[SACK][1]) if i < count else ("o", OTHERS[other][1])
        listed.append(f'{{ id="{letter}{i % count}", from="{source}", to="{target}", {keys} }}')
    return (f"flow=[{', '.join(listed)}]",)


def series() -> list[Series]:
    """Each other in each scene and level."""
    return [
        Series(
            name(other, count, scene, level),
            scheme,
            (*changes, *access),
            by_seed=partial(flows, other=other, count=count),
        )
        for scene, changes in SCENES.items()
        for level, access in LEVELS.items()
        for count in COUNTS
        for other, (scheme, _) in OTHERS.items()
        if not (access and other in ONLY_LEVELS)
    ]


def read(recording: Recording) -> dict[str, float]:
    """Totals of both kinds."""
    rates = {
        letter: sum(
            flow["goodput_bps"] / 1e6 for flow in recording.result["flows"] if flow["id"].startswith(letter)
        )
        for letter in "to"
    }
    total = rates["t"] + rates["o"]
    return {OF_TCP: rates["t"], OF_OTHER: rates["o"], SHARE: rates["t"] / total if total else float("nan")}


def claim(other: str, count: int, scene: str, level: str) -> Claim:
    """The part of its goodput beside TCP that TCP keeps."""
    own = number(OF_TCP)
    return Claim(
        text=f"{count} TCP beside {count} {other}, {scene}: four fifths of what it has beside TCP",
        where="ours",
        source="ours",
        series=name(other, count, scene, level),
        baseline=None,
        statistic=own,
        comparison="above",
        bound=own,
        bound_series=name(SACK, count, scene, level),
        factor=KEPT,
        paired=True,
        reading=level,
    )


def draw(rows: Measured, figure: Figure) -> None:
    """Totals of both kinds, level 0."""
    figure.set_size_inches(11.0, 7.0)
    for line, scene in zip(figure.subplots(2, 2), SCENES, strict=True):
        for axes, count in zip(line, COUNTS, strict=True):
            groups = {
                told: [rows[name(other, count, scene, "level 0")]["numbers"][told] for other in OTHERS]
                for told in (OF_TCP, OF_OTHER)
            }
            bars(axes, list(OTHERS), groups, along=None)
            axes.set_title(f"{count} and {count}, {scene}")
            axes.set_ylabel("total goodput (Mbit/s)")
    figure.axes[0].legend(fontsize="x-small")


EXPERIMENT = Experiment(
    title="TCP beside MORE in one cell",
    scenario=Path(__file__).with_name("beside.toml"),
    series=tuple(series()),
    claims=tuple(
        claim(other, count, scene, level)
        for other in FORWARDING
        for count in COUNTS
        for scene in SCENES
        for level, access in LEVELS.items()
        if not (access and other in ONLY_LEVELS)
    ),
    draw=draw,
    read=read,
    interval="30 s",
    small=('duration="7 s"',),
)
