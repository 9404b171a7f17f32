"""Figure 6: fairness, total and log utility of MORE and DiffQ-MORE by the number of flows.

The paper: with 1 and 4 flows both "show similar performance", read as a total of DiffQ-MORE within a fifth of
MORE's, and alone MORE is "slightly better"; with more flows MORE loses "both average throughput as well as
fairness", and DiffQ-MORE is "able to maintain consistent performance", read as at least 0.8 times the total
of 4 flows. With 32 flows DiffQ "improves the performance of MORE by 2 to 3 times": which number is meant is
not said, and the total, Jain's index and the median are judged. Numbers are compared set by set.

Ours: the share of the max-min rates of single paths. It may be above 1: a broadcast that several hear skips
hops, and max-min rates give long flows as much as short ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from airfair.claims import MAIN, Claim, Measured, number
from airfair.paper import Experiment

from airfair_papers.diffq.common import SHORT
from airfair_papers.diffq.common.multipath import (
    COUNTS,
    PAIRS,
    PAPERS,
    READINGS,
    STATIC,
    claims,
    counted,
    judged,
    name,
    pairs_series,
)
from airfair_papers.diffq.common.pictures import bars
from airfair_papers.diffq.common.testbed import JAIN, MEDIAN, SCENE, TOTAL, UTILITY, UTILITY_BIT, read, sets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 6.2, figure 6"
ALONE, FEW, MANY = 1, 4, COUNTS[-1]
GAINS = {TOTAL: "total", JAIN: "Jain index", MEDIAN: "median"}


def stated(plain: str, own: str) -> list[Claim]:
    """Of DiffQ over one way of forwarding. A ratio to the baseline itself has no other baseline."""
    ours = plain not in PAPERS
    found = []

    def add(
        text: str,
        series: tuple[str, int],
        statistic: str,
        comparison: Literal["above", "below"],
        factor: float,
        *,
        than: tuple[str, int],
    ) -> None:
        found.extend(
            claims(
                text,
                WHERE,
                series,
                statistic,
                comparison,
                than=than,
                factor=factor,
                readings=judged(plain),
                ours=ours or statistic in OURS,
            )
        )

    for count in (ALONE, FEW):
        told = f"{count} flow{'s' if count > 1 else ''}"
        add(f"{told}: 0.8 times {plain}'s total", (own, count), TOTAL, "above", 0.8, than=(plain, count))
        add(
            f"{told}: below 1.2 times {plain}'s total", (own, count), TOTAL, "below", 1.2, than=(plain, count)
        )
    add(f"1 flow: less than {plain}'s total", (own, ALONE), TOTAL, "below", 1.0, than=(plain, ALONE))
    for statistic, word in GAINS.items():
        add(f"32 flows: twice {plain}'s {word}", (own, MANY), statistic, "above", 2.0, than=(plain, MANY))
    for statistic in OURS:
        add(
            f"32 flows: above {plain}'s {statistic}", (own, MANY), statistic, "above", 1.0, than=(plain, MANY)
        )
    add(
        f"{plain}: a smaller total with 32 flows than with 4",
        (plain, MANY),
        TOTAL,
        "below",
        1.0,
        than=(plain, FEW),
    )
    add(
        f"{plain}: a smaller Jain index with 32 flows than with 4",
        (plain, MANY),
        JAIN,
        "below",
        1.0,
        than=(plain, FEW),
    )
    add(f"{own}: with 32 flows 0.8 times the total of 4", (own, MANY), TOTAL, "above", 0.8, than=(own, FEW))
    return found


OURS = (UTILITY, UTILITY_BIT)
"""Drawn in figure 6, without a sentence about them."""


def draw(rows: Measured, figure: Figure) -> None:
    """Index, total and log utility; OLSR above, static routes below, with three thresholds."""
    figure.set_size_inches(12.0, 7.0)
    for line, routes in zip(figure.subplots(2, 3), ("", STATIC), strict=True):
        for axes, statistic in zip(line, (JAIN, TOTAL, UTILITY), strict=True):
            groups = {}
            for plain, own in PAIRS.items():
                for protocol, values in ((plain, ""), (own, ""), (own, "threshold 0"), (own, "waits, slow")):
                    reading = ", ".join(filter(None, (routes, values))) or MAIN
                    if reading not in READINGS or name(protocol, MANY, reading) not in rows:
                        continue
                    groups[f"{protocol}{f', {values}' if values else ''}"] = [
                        number(counted(statistic, innovative=False)).of(rows[name(protocol, count, reading)])
                        for count in COUNTS
                    ]
            bars(axes, list(map(str, COUNTS)), groups)
            axes.set_ylabel(statistic)
            axes.set_title(routes or "OLSR")
        line[0].legend(fontsize="xx-small")


EXPERIMENT = Experiment(
    title="MORE and DiffQ-MORE by the number of flows: fairness, total, log utility",
    scenario=SCENE,
    series=pairs_series(),
    claims=tuple(claim for plain, own in PAIRS.items() for claim in stated(plain, own)),
    draw=draw,
    quick_seeds=3,
    by_seed=sets,
    read=read,
    interval="60 s",
    small=SHORT,
)
