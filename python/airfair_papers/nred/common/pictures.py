"""Pictures that several figures of the paper have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from airfair.claims import Measured
    from airfair.results import Estimate
    from matplotlib.axes import Axes

WIDTH = 0.8
"""Of all bars of a place together, of the distance between places."""


def bars(
    axes: Axes, places: Sequence[str], groups: Mapping[str, Sequence[Estimate]], *, unit: float = 1.0
) -> None:
    """Bars with intervals, side by side at each place: a group, by its label, has a value for each.

    Values are divided by `unit`.
    """
    width = WIDTH / len(groups)
    for i, (label, values) in enumerate(groups.items()):
        axes.bar(
            [place + width * (i - (len(groups) - 1) / 2) for place in range(len(places))],
            [value["mean"] / unit for value in values],
            width=width,
            yerr=[(value["ci95"] or 0) / unit for value in values],
            capsize=2,
            label=label,
        )
    axes.set_xticks(range(len(places)), places)
    axes.legend()


def goodputs(axes: Axes, rows: Measured, series: Mapping[str, str]) -> None:
    """Goodput of each flow in several series, given with their labels."""
    groups = {label: [f["goodput_bps"] for f in rows[name]["flows"]] for name, label in series.items()}
    flows = [flow["id"] for flow in rows[next(iter(series))]["flows"]]
    bars(axes, flows, groups, unit=1000)
    axes.set_xlabel("flow")
    axes.set_ylabel("goodput (kbit/s)")
