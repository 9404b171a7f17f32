"""Pictures that several figures of the paper have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from airfair.claims import MAIN, number

from airfair_papers.diffq.common.testbed import COUNTS, JAIN, PACKETS, ROUTES, TOTAL, UTILITY, name, pooled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from airfair.claims import Measured
    from airfair.results import Estimate
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FLOOR_BPS = 100.0
"""Least rate drawn on a logarithmic axis; what is less lies at it."""


def bars(
    axes: Axes, places: Sequence[str], groups: Mapping[str, Sequence[Estimate]], along: str | None = "flows"
) -> None:
    """Bars with intervals, side by side at each place: a group, by its label, has a value for each. `along`:
    what the places are, None if their names say it."""
    width = 0.8 / len(groups)
    for i, (label, values) in enumerate(groups.items()):
        axes.bar(
            [place + width * (i - (len(groups) - 1) / 2) for place in range(len(places))],
            [value["mean"] for value in values],
            width=width,
            yerr=[value["ci95"] or 0 for value in values],
            capsize=2,
            label=label,
        )
    axes.set_xticks(range(len(places)), places)
    if along is not None:
        axes.set_xlabel(along)


def by_routes(rows: Measured, figure: Figure, protocols: Sequence[str], *, counted: str) -> None:
    """Index, total and log utility by the number of flows, with the paper's routes above and static ones
    below. `counted`: the protocol that is drawn in the reading "packets" too."""
    figure.set_size_inches(11.0, 7.0)
    for line, reading, packets in zip(figure.subplots(2, 3), ROUTES, PACKETS, strict=True):
        for axes, statistic in zip(line, (JAIN, TOTAL, UTILITY), strict=True):
            series = {
                **{protocol: (protocol, reading) for protocol in protocols},
                f"{counted}, packets": (counted, packets),
            }
            groups = {
                label: [number(statistic).of(rows[name(protocol, count, of)]) for count in COUNTS]
                for label, (protocol, of) in series.items()
            }
            bars(axes, list(map(str, COUNTS)), groups)
            axes.set_ylabel(statistic)
            axes.set_title("OLSR" if reading == MAIN else reading)
        line[0].legend(fontsize="xx-small")


def distribution(axes: Axes, label: str, rates_bps: Sequence[float]) -> None:
    """The share of flows with at most a rate."""
    rates = np.sort(np.maximum(rates_bps, FLOOR_BPS)) / 1e3
    axes.plot(rates, np.arange(1, len(rates) + 1) / len(rates), drawstyle="steps-post", label=label)
    axes.set_xscale("log")
    axes.set_xlim(FLOOR_BPS / 1e3, 6e3)
    axes.set_ylim(0, 1)
    axes.set_xlabel("goodput (kbit/s)")
    axes.set_ylabel("share of flows")


def distributions(axes: Axes, rows: Measured, series: Mapping[str, str]) -> None:
    """Of all flows of all sets, for series given by their labels."""
    for label, of in series.items():
        distribution(axes, label, pooled(rows[of]))
    axes.axvline(1.0, color="0.7", linestyle=":", linewidth=1)
    axes.legend(fontsize="x-small")
