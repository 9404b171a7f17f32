"""Figure 2(a): fairness of file transfers by their number, RTT 50 ms, loss 0.01.

The figure's values are not printed; the claims are those of the text: LBM is fairer than drop-tail, and the
more so the more flows there are. The first is evaluated on drop-tail itself, where nothing can be gained,
the second on 5 flows. All readings of the traffic (`common.cell`) are measured and judged. A gain is 0.01
at least: near an index of 1 smaller gains are certain and irrelevant.

**What is unfair.** With single files the index is that of sizes as much as of queues: a small file ends in
slow start, a large one has the cell alone in the end. Draws of the sizes differ so much that even 40 seeds
leave wide intervals. Outcomes: `docs/papers/lbm.md`. At 5 flows windows of 20 segments hardly overflow the
queue, so that there is nothing to gain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, number_gain
from airfair.paper import Experiment

from airfair_papers.lbm.common import cell
from airfair_papers.lbm.common.cell import (
    CELL,
    FLOWS,
    INTERVAL,
    SCHEMES,
    WINDOWS,
    changed,
    lines,
    one_file,
    point,
    read,
    reading,
    together,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 3.1, figure 2(a)"
FORMS = {
    **cell.FORMS,
    "one file each, marks on acknowledgements": changed(one_file, "lbm.mark_acks=true"),
    "one file each, windows up to 1000": changed(one_file, WINDOWS),
}
SEEDS = 40
"""The gain of single files from 10 flows on is 0.02 to 0.08, with a standard deviation of 0.04 to 0.11 from
draw to draw of their sizes: the paper's ten runs hardly show it."""
LEAST = 0.01
"""Of the index: what is less is no gain, however sure."""


def fairer(form: str, scheme: str, count: int) -> Claim:
    """That a scheme is fairer than drop-tail."""
    return Claim(
        text=f"{scheme} is fairer than drop-tail at {count} flows",
        where=WHERE,
        source="paper",
        series=f"{scheme}, {point(form, count)}",
        baseline=f"drop-tail, {point(form, count)}",
        statistic=number_gain("fairness"),
        comparison="above",
        least=LEAST,
        reading=reading(form),
    )


def grows(form: str, scheme: str) -> Claim:
    """That the gain at 20 flows is larger than at 5."""
    few = f"{scheme}, {point(form, FLOWS[0])}"
    return Claim(
        text=f"The gain of {scheme} is larger at 20 flows than at 5",
        where=WHERE,
        source="paper",
        series=f"{scheme}, {point(form, FLOWS[-1])}",
        baseline=few,
        about=("flow",),
        statistic=number_gain("fairness"),
        comparison="above",
        bound=number_gain("fairness"),
        bound_series=few,
        paired=True,
        least=LEAST,
        reading=reading(form),
    )


def draw(rows: Measured, figure: Figure) -> None:
    """The index by the number of flows; one panel a reading of the traffic."""
    for form, axes in zip(FORMS, figure.subplots(1, len(FORMS)), strict=True):
        series = {scheme: [f"{scheme}, {point(form, n)}" for n in FLOWS] for scheme in SCHEMES}
        lines(axes, rows, series, FLOWS, "fairness")
        axes.set_title(form)
        axes.set_xlabel("flows")
        axes.set_ylabel("fairness index")
        axes.legend()


EXPERIMENT = Experiment(
    title="LBM shares an access point's air more fairly than drop-tail, the more so with many flows",
    scenario=CELL,
    series=tuple(
        series
        for form, overrides in FORMS.items()
        for n in FLOWS
        for series in together(point(form, n), overrides(n))
    ),
    claims=tuple(
        claim
        for form in FORMS
        for scheme in ("LBM 0.15", "LBM 0.2")
        for claim in (*(fairer(form, scheme, n) for n in FLOWS), grows(form, scheme))
    ),
    draw=draw,
    seeds=SEEDS,
    read=read,
    interval=INTERVAL,
    small=('duration="3 s"', 'warmup="1 s"'),
)
