"""Figure 8: the gain of DiffQ-MORE over MORE by path ETX, 32 flows.

A flow's gain is the difference of its goodputs over that with MORE. MORE's is zero for about half of the
flows (and more here), of which the paper does not say what became: their goodputs count as at least 1 kbit/s,
or, in a second reading, they are left out. "As the path ETX increases, the throughput difference also
increases" is read as a rank correlation above 0, set by set, and as a positive mean gain on the half of a
set's paths with the larger ETX. ETX is that of the silent network, at the data rate, both ways.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from airfair.claims import Claim, Measured, Statistic, estimate
from airfair.paper import Experiment

from airfair_papers.diffq.common import SHORT
from airfair_papers.diffq.common.deliveries import path_etx
from airfair_papers.diffq.common.multipath import (
    COUNTS,
    PAIRS,
    PAPERS,
    STATIC,
    judged,
    name,
    of_plain,
    series,
)
from airfair_papers.diffq.common.parts import pairs
from airfair_papers.diffq.common.testbed import SCENE, read, sets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from airfair.claims import MeasuredRow
    from airfair.paper import Series
    from airfair.results import Estimate
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

WHERE = "section 6.2, figure 8"
MANY = COUNTS[-1]
FLOOR_BPS = 1000.0
LEFT_OUT = "without zeros"


def against(own: str, reading: str) -> str:
    """The series of DiffQ that is compared with the forwarding without it."""
    return f"{name(own, MANY, reading)}, by flow"


def compared(plain: str, own: str) -> list[Series]:
    """The same runs, flow by flow. Where DiffQ is the same, the first reading of the other is taken."""
    made = {one.name: one for one in series({own: judged(plain)}, (MANY,))}
    found = {}
    for reading in judged(plain):
        one = against(own, reading)
        if one not in found:
            found[one] = replace(made[name(own, MANY, reading)], name=one, against=name(plain, MANY, reading))
    return list(found.values())


def points(row: MeasuredRow, run: int, *, left_out: bool) -> tuple[Values, Values]:
    """Path ETX and gain of the flows of one run."""
    count = sum(key.startswith("flow.") for key in row["run_values"])
    ends = pairs(count, row["seeds"][run])
    found = []
    for i, (source, destination) in enumerate(ends):
        flow = f"flow.flow-{i}"
        own, other = (row[values][flow][run] for values in ("run_values", "against_values"))
        if left_out and other == 0:
            continue
        if not left_out:
            own, other = max(own, FLOOR_BPS), max(other, FLOOR_BPS)
        found.append((path_etx(source, destination), (own - other) / other))
    etx, gains = np.array(found, dtype=float).reshape(-1, 2).T
    return etx, gains


def ranks(values: Values) -> Values:
    """From 0; equal values have their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return ((2 * ends - counts - 1) / 2)[place]


def correlation(etx: Values, gains: Values) -> float:
    """Spearman's; 0 where no flow differs from another."""
    if len(etx) < 2:
        return math.nan
    a, b = ranks(etx), ranks(gains)
    if not a.std() or not b.std():
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def on_long_paths(etx: Values, gains: Values) -> float:
    """Mean gain of the half with the larger ETX."""
    long = gains[etx > np.median(etx)] if len(etx) else gains
    return float(long.mean()) if len(long) else math.nan


def by_flow(told: str, of: Callable[[Values, Values], float], *, left_out: bool) -> Statistic:
    """A number of a run's flows."""

    def each(row: MeasuredRow) -> Sequence[float]:
        return [of(*points(row, run, left_out=left_out)) for run in range(len(row["seeds"]))]

    def mean(row: MeasuredRow) -> Estimate:
        return estimate(each(row))

    return Statistic(told, mean, rate=False, each=each)


def stated(plain: str, own: str) -> list[Claim]:
    """Both sentences; a gain over itself is zero."""
    return [
        Claim(
            text=text,
            where=WHERE,
            source="paper" if plain in PAPERS else "ours",
            series=against(own, reading),
            baseline=name(plain, MANY, reading),
            statistic=by_flow(told, of, left_out=left_out),
            comparison="above",
            value=0.0,
            reading=f"{reading}, {LEFT_OUT}" if left_out else reading,
            about=("radio.categories",),
        )
        for text, told, of in (
            (f"The gain of {own} grows with path ETX", "rank correlation of gain and path ETX", correlation),
            (f"{own} gains on long paths", "mean gain of the half with the larger path ETX", on_long_paths),
        )
        for reading in distinct(plain, own)
        for left_out in (False, True)
    ]


def distinct(plain: str, own: str) -> list[str]:
    """One reading for each series of DiffQ."""
    found: dict[str, str] = {}
    for reading in judged(plain):
        found.setdefault(against(own, reading), reading)
    return list(found.values())


def draw(rows: Measured, figure: Figure) -> None:
    """Gains of all flows of all sets by path ETX: static routes, in some readings."""
    shown = ("", ", threshold 0", ", waits, slow")
    figure.set_size_inches(12.0, 4.0 * len(PAIRS))
    lines = figure.subplots(len(PAIRS), len(shown), sharey=True).reshape(len(PAIRS), len(shown))
    for line, own in zip(lines, PAIRS.values(), strict=True):
        for axes, values in zip(line, shown, strict=True):
            row = rows[against(own, f"{STATIC}{values}")]
            found = [points(row, run, left_out=False) for run in range(len(row["seeds"]))]
            etx, gains = (np.concatenate(each) for each in zip(*found, strict=True))
            axes.plot(etx, gains, ".", markersize=3)
            edges = np.quantile(etx, np.linspace(0, 1, 6))
            places = np.clip(np.searchsorted(edges, etx, side="right") - 1, 0, 4)
            middle = [float(np.median(gains[places == i])) for i in range(5) if (places == i).any()]
            at = [float(etx[places == i].mean()) for i in range(5) if (places == i).any()]
            axes.plot(at, middle, "k-", label="medians of fifths")
            axes.set_yscale("symlog", linthresh=1.0)
            axes.axhline(0, color="0.7", linestyle=":")
            axes.set_xlabel("path ETX")
            axes.set_title(f"{own}, {STATIC}{values}", fontsize="small")
        line[0].set_ylabel("gain (goodputs of at least 1 kbit/s)")
        line[0].legend(fontsize="x-small")


EXPERIMENT = Experiment(
    title="The gain of DiffQ-MORE over MORE by path ETX",
    scenario=SCENE,
    series=tuple(
        one
        for plain, own in PAIRS.items()
        for one in (*series({plain: of_plain(plain)}, (MANY,)), *compared(plain, own))
    ),
    claims=tuple(claim for plain, own in PAIRS.items() for claim in stated(plain, own)),
    draw=draw,
    quick_seeds=3,
    by_seed=sets,
    read=read,
    interval="60 s",
    small=SHORT,
)
