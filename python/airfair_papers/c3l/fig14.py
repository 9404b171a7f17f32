"""Figure 14: collision domains over the size of the network.

What the controller lists after 90 s of HELLOs: the maximal cliques of all usable directed links (section
III-B), whether flows use them or not. Grids of 200 m, and nodes anywhere at the density of figure 10, whose
draws are connected and otherwise as they come. *Constant area*: nodes anywhere in the area of 36, which is
where a number of cliques that is linear must not be expected. **Linear** is read as at most 1.5 times as many
cliques a node with 100 nodes as with 36: nodes at the border have fewer, a quadratic growth would have 2.8.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from airfair import _core
from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.c3l.common.networks import Nodes, connected, grid, square
from airfair_papers.c3l.common.scenes import BASE, C3L, PROTOCOLS, nodes

if TYPE_CHECKING:
    from collections.abc import Callable

    from airfair.recording import Recording
    from matplotlib.figure import Figure

SIDES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12)
GRIDS, ANYWHERE, DENSE = "grid", "anywhere", "constant area"
DENSITY = 64 / 1500.0**2
"""Nodes a square metre."""
DENSE_COUNTS = (36, 49, 64, 81, 100)
CLIQUES, EACH = "cliques", "cliques a node"


def places(kind: str, count: int, seed: int) -> Nodes:
    """Nodes of a network of so many."""
    if kind == GRIDS:
        return grid(math.isqrt(count))
    side = math.sqrt((36 if kind == DENSE else count) / DENSITY)
    draw = 0
    while True:
        drawn = square(_core.Random(seed, f"{kind}, {count}, {draw}"), count, side)
        if connected(drawn):
            return drawn
        draw += 1


def of_seed(kind: str, count: int) -> Callable[[int], tuple[str, ...]]:
    """The nodes of a seed, and a flow that hardly sends: a scenario has one."""

    def overrides(seed: int) -> tuple[str, ...]:
        made = places(kind, count, seed)
        flow = 'traffic={kind="constant", rate="1 kbit/s", packet="100 B"}'
        return (nodes(made), f'flow=[{{id="f", from="0", to="1", {flow}}}]')

    return overrides


def name(kind: str, count: int) -> str:
    """The name of a series."""
    return f"{kind}, {count} nodes"


def series(kind: str, count: int) -> Series:
    """A size of network."""
    changes = ("c3l.vertices=usable", 'duration="90 s"', 'warmup="1 s"')
    spoken = PROTOCOLS[C3L]
    return Series(
        name(kind, count),
        spoken.scheme,
        (*spoken.overrides, *changes),
        by_seed=of_seed(kind, count),
    )


def read(recording: Recording) -> dict[str, float]:
    """Links that the controller has listed at the end."""
    last = recording.pandas("controllers").iloc[-1]
    (controller,) = recording.result["controllers"]
    assert controller["stop_s"] is None
    count = len(recording.result["stations"])
    return {CLIQUES: float(last["cliques"]), EACH: float(last["cliques"]) / count, "nodes": float(count)}


def draw(rows: Measured, figure: Figure) -> None:
    """Cliques over nodes."""
    axes = figure.subplots()
    for kind in (GRIDS, ANYWHERE, DENSE):
        counts = [side * side for side in SIDES] if kind != DENSE else list(DENSE_COUNTS)
        values = [number(CLIQUES).of(rows[name(kind, count)]) for count in counts]
        axes.errorbar(
            counts,
            [value["mean"] for value in values],
            yerr=[value["ci95"] or 0 for value in values],
            capsize=2,
            marker="o",
            label=kind,
        )
    axes.set_xlabel("nodes")
    axes.set_ylabel("maximal cliques of usable links")
    axes.set_yscale("symlog")
    axes.legend()


EXPERIMENT = Experiment(
    title="Cliques over the size of the network",
    scenario=BASE,
    series=(
        *(series(kind, side * side) for kind in (GRIDS, ANYWHERE) for side in SIDES),
        *(series(DENSE, count) for count in DENSE_COUNTS),
    ),
    claims=tuple(
        Claim(
            text="the number of cliques is linear in that of nodes",
            where="figure 14",
            source="paper",
            series=name(kind, 100),
            baseline=name(DENSE, 100),
            statistic=number(EACH),
            comparison="below",
            bound=number(EACH),
            bound_series=name(kind, 36),
            factor=1.5,
            reading="main" if kind == GRIDS else kind,
        )
        for kind in (GRIDS, ANYWHERE)
    ),
    draw=draw,
    read=read,
    interval="30 s",
    quick_seeds=3,
    small=('duration="6 s"', 'warmup="1 s"'),
)
