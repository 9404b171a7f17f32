"""Paths whose flows starve under TCP carry more than 500 kbit/s alone (section 6.3).

For each set of 32 flows those that starve over TCP-SACK are found by that run itself, with OLSR and with
static routes; the slowest three run alone one after another, ten seconds each. Those of them that starve are
judged, by their mean over sets; the least of a set is shown.
"""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import airfair
import numpy as np
from airfair.claims import MAIN, Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.diffq.common import STARVED_BPS
from airfair_papers.diffq.common.testbed import COUNTS, READINGS, SCENE, sets

if TYPE_CHECKING:
    from airfair.recording import Recording
    from matplotlib.figure import Figure

WHERE = "section 6.3"
ROUTES = {MAIN: "o", "static routes": "s"}
"""First letters of the names of the flows that starve with these routes."""
PATHS = 3
SECONDS = 10
GAP = 12
FIRST = 30
LOCK = Lock()
"""A set's run with 32 flows is wanted by all series."""

MEAN = "paths that starve among 32, each alone: mean (kbit/s)"
LEAST = "the least of them (kbit/s)"
ENOUGH = "share of them above 500 kbit/s"


@lru_cache(maxsize=1000)
def slowest(seed: int, reading: str) -> tuple[tuple[tuple[str, str], ...], int]:
    """The ends of the slowest flows of a set, and how many of them starve."""
    changes = (f"flows.count={COUNTS[-1]}", *READINGS[reading].overrides, *sets(seed))
    flows = airfair.run(airfair.Scenario.read(SCENE, changes), scheme="droptail", seed=seed)["flows"]
    first = sorted(flows, key=lambda flow: flow["goodput_bps"])[:PATHS]
    starving = sum(flow["goodput_bps"] < STARVED_BPS for flow in first)
    return tuple((flow["src"], flow["dst"]) for flow in first), starving


def one_by_one(seed: int) -> tuple[str, ...]:
    """One flow after another."""
    with LOCK:
        found = [
            (f"{letter}{i}", pair)
            for reading, letter in ROUTES.items()
            for i, pair in enumerate(slowest(seed, reading)[0])
        ]
    told = []
    for i, (name, (source, target)) in enumerate(found):
        start = FIRST + i * GAP
        told.append(
            f'{{ id="{name}", from="{source}", to="{target}", start="{start} s", stop="{start + SECONDS} s", '
            f'transport="tcp", traffic={{ kind="ftp", start_jitter="0 s" }} }}'
        )
    return (f"flow=[{', '.join(told)}]",)


def read(recording: Recording) -> dict[str, float]:
    """Goodputs while a flow is there; NaN for a set in which none starves."""
    reading = "static routes" if 'protocol = "static"' in recording.scenario else MAIN
    with LOCK:
        _, starving = slowest(recording.result["seed"], reading)
    judged = [f"{ROUTES[reading]}{i}" for i in range(starving)]
    flows = [flow for flow in recording.result["flows"] if flow["id"] in judged]
    rates = np.array([flow["delivered_bytes"] * 8e-3 / SECONDS for flow in flows])
    if not len(rates):
        return {MEAN: math.nan, LEAST: math.nan, ENOUGH: math.nan}
    return {MEAN: float(rates.mean()), LEAST: float(rates.min()), ENOUGH: float((rates > 500).mean())}


def claims(reading: str) -> list[Claim]:
    """More than 500 kbit/s in the mean, and for most paths."""
    texts = ((MEAN, 500.0, "in the mean"), (ENOUGH, 0.8, "at least four of five"))
    return [
        Claim(
            text=f"Paths that starve under TCP carry more than 500 kbit/s alone, {text}",
            where=WHERE,
            source="paper",
            series=reading,
            baseline=None,
            statistic=number(statistic),
            comparison="above",
            value=value,
            reading=reading,
        )
        for statistic, value, text in texts
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Mean and least path of each set."""
    axes = figure.subplots()
    for reading in ROUTES:
        values = rows[reading]["number_values"]
        label = "OLSR" if reading == MAIN else reading
        axes.plot(rows[reading]["seeds"], values[MEAN], "o", label=f"{label}: mean")
        axes.plot(rows[reading]["seeds"], values[LEAST], "x", label=f"{label}: least")
    axes.axhline(500, color="0.7", linestyle=":")
    axes.set_xlabel("set of flows")
    axes.set_ylabel("goodput alone (kbit/s)")
    axes.legend()


EXPERIMENT = Experiment(
    title="The paths of flows that starve under TCP, each alone",
    scenario=Path(__file__).with_name("listed.toml"),
    series=tuple(Series(reading, "droptail", READINGS[reading].overrides) for reading in ROUTES),
    claims=tuple(claim for reading in ROUTES for claim in claims(reading)),
    draw=draw,
    quick_seeds=3,
    by_seed=one_by_one,
    read=read,
    interval="60 s",
    small=('duration="32 s"',),
)
