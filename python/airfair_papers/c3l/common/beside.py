"""Parts that our own experiments share: claims about C3L in a worse world, and their pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from airfair.claims import Claim, Measured, number

from airfair_papers.c3l.common.networks import JAIN, LEAST, MEAN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure


def claim(
    text: str,
    series: str,
    than: str,
    statistic: str,
    comparison: Literal["above", "below"] = "above",
    factor: float = 1.0,
    *,
    gain: bool = True,
) -> Claim:
    """A series against another, network by network. A gain has what it is over as baseline."""
    return Claim(
        text=text,
        where="ours",
        source="ours",
        series=series,
        baseline=than if gain else None,
        statistic=number(statistic),
        comparison=comparison,
        bound=number(statistic),
        bound_series=than,
        factor=factor,
        paired=True,
        about=("node", "controller", "c3l-faulty"),
    )


def gains(series: Sequence[str], than: str) -> list[Claim]:
    """Each is fairer than that, and its least flow has more."""
    return [
        claim(f"{one}: {text} than {than}", one, than, statistic)
        for one in series
        for text, statistic in (("fairer", JAIN), ("the least flow has more", LEAST))
    ]


def pictures(
    series: Sequence[str], statistics: Sequence[str] = (JAIN, LEAST, MEAN)
) -> Callable[[Measured, Figure], None]:
    """A plot of bars for each number."""

    def draw(rows: Measured, figure: Figure) -> None:
        for axes, statistic in zip(figure.subplots(1, len(statistics)), statistics, strict=True):
            values = [number(statistic).of(rows[one]) for one in series]
            axes.bar(
                range(len(values)),
                [value["mean"] for value in values],
                yerr=[value["ci95"] or 0 for value in values],
                capsize=2,
            )
            axes.set_xticks(range(len(values)), list(series), rotation=60, ha="right", fontsize="x-small")
            axes.set_ylabel(statistic, fontsize="x-small")

    return draw
