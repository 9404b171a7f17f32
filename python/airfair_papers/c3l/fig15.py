"""Figure 15: what an allocation costs over the number of flows, on a grid of 64 nodes.

The paper measures times, and says that they grow linearly. Times are not reproducible, so this counts what
the controller's last allocation has gone through: pairs of a hop and a clique of its link, looks at the
clique that comes first, and flows of a clique that were added up anew. (Times are in `make bench`.)
**Linear** is read as two thirds to one and a half times as many steps a flow with 400 flows as with 20; a
quadratic growth would have 20 times as many.

Flows between drawn nodes send a small packet now and then, so that the controller knows them. **Main**: the
cliques of all usable links, as in figure 14; *links in use*: of those that carry flows, as C3L has them here
otherwise, of which there are more with more flows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from airfair import _core
from airfair.claims import MAIN, Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.c3l.common.networks import grid, pairs
from airfair_papers.c3l.common.scenes import BASE, C3L, PROTOCOLS, nodes

if TYPE_CHECKING:
    from collections.abc import Callable

    from airfair.recording import Recording
    from matplotlib.figure import Figure

COUNTS = (20, 50, 100, 200, 400)
IN_USE = "links in use"
VERTICES = {MAIN: ("c3l.vertices=usable",), IN_USE: ()}
STEPS, EACH = "steps", "steps a flow"
MOST = 1.5


def of_seed(count: int) -> Callable[[int], tuple[str, ...]]:
    """A grid and so many flows that hardly send."""

    def overrides(seed: int) -> tuple[str, ...]:
        places = grid(8)
        drawn = pairs(_core.Random(seed, f"{count} flows"), list(places), count)
        traffic = 'traffic={kind="constant", rate="200 bit/s", packet="100 B"}'
        flows = ", ".join(f'{{id="{f}", from="{a}", to="{b}", {traffic}}}' for f, (a, b) in drawn.items())
        return (nodes(places), f"flow=[{flows}]")

    return overrides


def name(count: int, reading: str) -> str:
    """The name of a series."""
    return f"{count} flows" if reading == MAIN else f"{count} flows, {reading}"


def series(count: int, reading: str) -> Series:
    """A number of flows."""
    spoken = PROTOCOLS[C3L]
    changes = (*VERTICES[reading], 'duration="90 s"', 'warmup="1 s"')
    return Series(name(count, reading), spoken.scheme, (*spoken.overrides, *changes), by_seed=of_seed(count))


def read(recording: Recording) -> dict[str, float]:
    """The controller's last allocation."""
    last = recording.pandas("controllers").iloc[-1]
    steps, count = float(last[STEPS]), len(recording.result["flows"])
    return {
        STEPS: steps,
        EACH: steps / count,
        "cliques": float(last["cliques"]),
        "links": float(last["links"]),
    }


def claim(reading: str, comparison: Literal["above", "below"], factor: float) -> Claim:
    """Steps a flow with the most flows against those with the fewest."""
    return Claim(
        text=f"steps grow {'no more' if comparison == 'below' else 'no less'} than linearly with flows",
        where="figure 15",
        source="paper",
        series=name(COUNTS[-1], reading),
        baseline=None,
        statistic=number(EACH),
        comparison=comparison,
        bound=number(EACH),
        bound_series=name(COUNTS[0], reading),
        factor=factor,
        reading=reading,
    )


def draw(rows: Measured, figure: Figure) -> None:
    """Steps over flows."""
    axes = figure.subplots()
    for reading in VERTICES:
        values = [number(STEPS).of(rows[name(count, reading)]) for count in COUNTS]
        axes.errorbar(
            COUNTS,
            [value["mean"] for value in values],
            yerr=[value["ci95"] or 0 for value in values],
            capsize=2,
            marker="o",
            label="all usable links" if reading == MAIN else reading,
        )
    axes.set_xlabel("flows")
    axes.set_ylabel("steps of an allocation")
    axes.set_ylim(bottom=0)
    axes.legend()


EXPERIMENT = Experiment(
    title="Cost of an allocation over the number of flows",
    scenario=BASE,
    series=tuple(series(count, reading) for reading in VERTICES for count in COUNTS),
    claims=tuple(
        made
        for reading in VERTICES
        for made in (claim(reading, "below", MOST), claim(reading, "above", 1 / MOST))
    ),
    draw=draw,
    read=read,
    interval="30 s",
    quick_seeds=3,
    small=('duration="10 s"', 'warmup="1 s"'),
)
