"""Numbers of runs of small scenes: shares of the optimum; and how such scenes are drawn."""

from __future__ import annotations

import math
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

import airfair
from airfair.claims import goodput, number

from airfair_papers.c3l.common.scenes import NEWRENO, PLACES, UDP, overrides

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airfair.claims import Measured
    from airfair.recording import Recording
    from matplotlib.axes import Axes

LOCK = Lock()

LEAST = "least share of the optimum"
"""Of the flows of a run, each by its own optimum."""
WHOLE = "total, of the optimum's"
LEAST_MODEL = "least share of the model's optimum"
JAIN = "Jain's index"
WITHOUT = "without a route (s)"
"""Of the flow that is so longest; DSDV only."""


@lru_cache
def model(place: str, *, udp: bool) -> dict[str, float]:
    """The max-min rates of the flows by the model of cliques (`airfair optimum`), kbit/s: over UDP, or over
    TCP with its acknowledgements; static routes."""
    with LOCK:
        made = airfair.Scenario.read(PLACES[place].file, overrides(place, UDP if udp else NEWRENO))
        return {flow["id"]: flow["max_min_bps"] / 1e3 for flow in airfair.optimum(made)["flows"]}


def kbps(flow: str) -> str:
    """The number that is a flow's goodput."""
    return f"{flow} (kbit/s)"


def read(recording: Recording) -> dict[str, float]:
    """Goodputs, how even they are, and their shares of the optimum: of the one that was searched, over UDP
    for all protocols as the paper has it, and of the model's, over the flows' own transport, where a rate
    counts as UDP."""
    result = recording.result
    place = PLACES[result["scenario"]]
    rates = {flow["id"]: flow["goodput_bps"] / 1e3 for flow in result["flows"]}
    values = list(rates.values())
    udp = 'transport = "tcp' not in recording.scenario
    by_model = model(result["scenario"], udp=udp)
    squares = sum(rate**2 for rate in values)
    numbers = {
        **{kbps(flow): rate for flow, rate in rates.items()},
        JAIN: sum(values) ** 2 / (len(values) * squares) if squares else math.nan,
        LEAST_MODEL: min(rates[flow] / by_model[flow] for flow in rates),
    }
    if "routing" in result:
        numbers[WITHOUT] = max(flow["without_s"] for flow in result["routing"]["flows"])
    if place.best:
        numbers[LEAST] = min(rate / best for rate, best in zip(values, place.best, strict=True))
        numbers[WHOLE] = sum(values) / sum(place.best)
    return numbers


def bars(axes: Axes, rows: Measured, place: str, series: Mapping[str, str]) -> None:
    """Goodputs of the flows of a place, a group of bars for each series, given by its label; lines are the
    searched optimum."""
    where = PLACES[place]
    width = 0.8 / len(where.flows)
    for i, flow in enumerate(where.flows):
        values = [goodput(flow).of(rows[of]) for of in series.values()]
        axes.bar(
            [k + width * (i - (len(where.flows) - 1) / 2) for k in range(len(series))],
            [value["mean"] / 1e3 for value in values],
            width=width,
            yerr=[(value["ci95"] or 0) / 1e3 for value in values],
            capsize=2,
            label=flow,
        )
    for best in set(where.best):
        axes.axhline(best, color="black", linestyle=":", linewidth=1)
    axes.set_xticks(range(len(series)), list(series), rotation=40, ha="right", fontsize="x-small")
    axes.set_ylabel("goodput (kbit/s)")
    axes.set_ylim(bottom=0)
    axes.set_title(place, fontsize="small")
    axes.legend(fontsize="x-small")


def shares(axes: Axes, rows: Measured, series: Mapping[str, str], statistic: str) -> None:
    """A number of each series, one below the other."""
    values = [number(statistic).of(rows[of]) for of in series.values()]
    axes.errorbar(
        [value["mean"] for value in values],
        range(len(values)),
        xerr=[value["ci95"] or 0 for value in values],
        fmt="o",
        capsize=2,
    )
    axes.set_yticks(range(len(values)), list(series), fontsize="x-small")
    axes.invert_yaxis()
    axes.set_xlabel(statistic)
