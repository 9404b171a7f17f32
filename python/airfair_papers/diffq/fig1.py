"""Figure 1, TCP's part: many flows over TCP-SACK share unfairly.

Section 2 gives two statements of totals: that of figure 1 (c) is drawn, and in words "the maximum
throughput that TCP flows achieve is almost invariant of the number of concurrent flows". Of these the
goodput of the largest flow is flat here; the total grows, since 46 nodes have room for parallel
transmissions. Both are judged.

The share of starved flows is that of static routes; with OLSR fewer starve (docs/building-46.md has the
reason).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment

from airfair_papers.diffq.common import SHORT
from airfair_papers.diffq.common.pictures import bars, distributions
from airfair_papers.diffq.common.testbed import (
    BASELINES,
    COUNTS,
    LARGEST,
    SCENE,
    STARVED,
    TCP,
    TOTAL,
    name,
    read,
    series,
    sets,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 2, figure 1 (b), (c)"
FEW, MANY = COUNTS[0], COUNTS[-1]


def claims(reading: str) -> list[Claim]:
    """The paper's words; "about" 30 to 40 % is read as 25 to 45 %, "almost invariant" as within a third."""
    many, few = name(TCP, MANY, reading), name(TCP, FEW, reading)

    def claim(text: str, statistic: str, comparison: str, value: float = 0.0, factor: float = 0.0) -> Claim:
        of = number(statistic)
        return Claim(
            text=text,
            where=WHERE,
            source="paper",
            series=many,
            baseline=None,
            statistic=of,
            comparison="above" if comparison == "above" else "below",
            value=value,
            bound=of if factor else None,
            bound_series=few if factor else None,
            factor=factor or 1.0,
            reading=reading,
        )

    return [
        claim("Of 32 flows 25 % and more starve", STARVED, "above", 0.25),
        claim("Of 32 flows 45 % and less starve", STARVED, "below", 0.45),
        claim(
            "The largest of 32 flows has at least two thirds of the largest of 4", LARGEST, "above", 0, 2 / 3
        ),
        claim("The largest of 32 flows has at most a third more than that of 4", LARGEST, "below", 0, 4 / 3),
        claim("The total of 32 flows is not below that of 4", TOTAL, "above", 0, 1.0),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs and totals, with the paper's routes and with static ones."""
    olsr, static, totals = figure.subplots(1, 3)
    for axes, reading in ((olsr, "main"), (static, "static routes")):
        distributions(axes, rows, {f"{count} flows": name(TCP, count, reading) for count in COUNTS})
        axes.set_title("OLSR" if reading == "main" else reading)
    groups = {
        "OLSR" if reading == "main" else reading: [
            number(TOTAL).of(rows[name(TCP, count, reading)]) for count in COUNTS
        ]
        for reading in BASELINES
    }
    bars(totals, [str(count) for count in COUNTS], groups)
    totals.set_ylabel("total (Mbit/s)")
    totals.legend(fontsize="x-small")


EXPERIMENT = Experiment(
    title="TCP by the number of flows on a testbed of 46 nodes: who starves",
    scenario=SCENE,
    series=series({TCP: BASELINES}),
    claims=tuple(claim for reading in BASELINES for claim in claims(reading)),
    draw=draw,
    quick_seeds=3,
    by_seed=sets,
    read=read,
    interval="60 s",
    small=SHORT,
)
