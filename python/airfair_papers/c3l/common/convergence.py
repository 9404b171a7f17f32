"""Figure 13 and table I: another set of flows at half time, and how long C3L takes to give them their rates.

A grid of 64 nodes; flows of the first profile from 60 s to 360 s, of the second, other pairs, from then to
660 s. **Eventual rate**: a flow's mean goodput over the last 96 s, six cycles of 16 s. **Converged**: 90 % of
the flows have reached 90 % of their eventual rate. Nothing says over how long a rate is taken. Main: over a
second, the time between two words of a receiver; *cycle*: over the cycle that has passed. Another number, of
which nothing is claimed, is when they have it for good, over a cycle. *Most flows*: the caption of the figure
says that most flows converge within two rounds, of which the part of the flows that have done it is the
number.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np
from airfair import _core
from airfair.claims import MAIN
from airfair.paper import Series

from airfair_papers.c3l.common.networks import KINDS, Drawn, grid, network, pairs
from airfair_papers.c3l.common.scenes import PROTOCOLS, ROUTES, START, nodes

if TYPE_CHECKING:
    from collections.abc import Callable

    from airfair.recording import Recording
    from numpy.typing import NDArray

HALF, END, LAST = 360, 660, 96
SHORT = (f'duration="{START + 6} s"', f'warmup="{START + 2} s"')
"""A run that only shows that it works: it ends within the first profile."""
COUNTS = (5, 10, 20, 30)
CYCLES = (2, 4, 8, 16)
COUNT, CYCLE = 20, 8

ROUNDS, SECONDS = "rounds", "seconds"
BY_CYCLE, STAYS = "cycle", "stays"
HOW = {MAIN: "", BY_CYCLE: ", over a cycle", STAYS: ", and stays"}
"""Readings of what it is to reach a rate, as ends of the numbers' names."""
MOST, PART = "most flows", "part of the flows within two rounds"
EVENTUAL = ("eventual Jain's index", "eventual mean (kbit/s)")
NUMBERS = (*(f"{unit}{end}" for unit in (ROUNDS, SECONDS) for end in HOW.values()), PART, *EVENTUAL)


def kind(count: int) -> str:
    """The kind of network with two profiles of so many flows."""
    return f"64 nodes, two profiles of {count} flows"


def profiles(count: int) -> Callable[[_core.Random], Drawn]:
    """Two profiles in a grid. The network is one with an inhibited link in the second."""

    def draw(random: _core.Random) -> Drawn:
        places = grid(8)
        return Drawn(places, pairs(random, list(places), count, "second "))

    return draw


def first_profile(count: int, seed: int) -> dict[str, tuple[str, str]]:
    """The flows before."""
    return pairs(_core.Random(seed, f"first profile, {count}"), list(grid(8)), count, "first ")


KINDS.update({kind(count): profiles(count) for count in COUNTS})


def of_seed(count: int, *, udp: bool) -> Callable[[int], tuple[str, ...]]:
    """Nodes and both profiles."""
    sent = (
        'transport="udp", traffic={kind="saturating", packet="1000 B"}'
        if udp
        else 'transport="tcp-newreno", traffic={kind="ftp"}'
    )

    def overrides(seed: int) -> tuple[str, ...]:
        of = network(kind(count), seed)
        before = (
            f'{{id="{flow}", from="{a}", to="{b}", start="{START} s", stop="{HALF} s", {sent}}}'
            for flow, (a, b) in first_profile(count, seed).items()
        )
        after = (
            f'{{id="{flow}", from="{a}", to="{b}", start="{HALF} s", {sent}}}'
            for flow, (a, b) in of.flows.items()
        )
        return (f'name="{kind(count)}"', nodes(of.nodes), f"flow=[{', '.join((*before, *after))}]")

    return overrides


def name(count: int, cycle: int, routes: str = MAIN, protocol: str = "") -> str:
    """The name of a series."""
    made = f"{protocol}{', ' * bool(protocol)}{count} flows, cycle {cycle} s"
    return made if routes == MAIN else f"{made}, {routes}"


def series(protocol: str, count: int, cycle: int, routes: str, *, own: bool = True) -> Series:
    """A protocol; not C3L is named so, and has no cycle but the one in which its rounds are counted."""
    spoken = PROTOCOLS[protocol]
    cycles = (f'c3l.cycle="{cycle} s"',) if own else ()
    return Series(
        name(count, cycle, routes, "" if own else protocol),
        spoken.scheme,
        (
            f'duration="{END} s"',
            f'warmup="{HALF} s"',
            *ROUTES[routes],
            *spoken.overrides,
            *cycles,
        ),
        by_seed=of_seed(count, udp=spoken.udp),
    )


def means(rates: NDArray[np.float64], over: int) -> NDArray[np.float64]:
    """Of each column the means over so many rows that end at each row; the first rows have fewer."""
    sums = np.cumsum(rates, axis=0)
    sums[over:] -= sums[:-over].copy()
    return sums / np.minimum(np.arange(1, len(rates) + 1), over)[:, None]


def first(enough: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The second at which each flow has enough for the first time. Rows are seconds, columns are flows."""
    return np.where(enough.any(axis=0), enough.argmax(axis=0) + 1.0, math.inf)


def reached(rates: NDArray[np.float64], eventual: NDArray[np.float64], *, stays: bool) -> float:
    """The second at which nine tenths of the flows have nine tenths of their eventual rate: for the first
    time, or for good."""
    enough = rates >= 0.9 * eventual
    if stays:
        enough = np.flip(np.logical_and.accumulate(np.flip(enough, axis=0), axis=0), axis=0)
    times = np.sort(first(enough))
    at = float(times[math.ceil(0.9 * len(times)) - 1])
    return at if math.isfinite(at) else math.nan


def read(recording: Recording) -> dict[str, float]:
    """Rounds and seconds in each reading; NaN where a run does not converge."""
    table = recording.pandas("flow_series")
    wide = table.pivot_table(index="end_s", columns="flow", values="goodput_bps", observed=True)
    of = [flow for flow in wide.columns if str(flow).startswith("second ")]
    after = wide.loc[wide.index > HALF, of].to_numpy(dtype=float)
    if len(after) <= LAST:
        return dict.fromkeys(NUMBERS, math.nan)
    eventual = after[-LAST:].mean(axis=0)
    told = re.search(r"^cycle = \"(\d+) s\"", recording.scenario, re.MULTILINE)
    cycle = int(told[1]) if told else CYCLE
    means_ = means(after, cycle)
    seconds = {
        MAIN: reached(after, eventual, stays=False),
        BY_CYCLE: reached(means_, eventual, stays=False),
        STAYS: reached(means_[:-LAST], eventual, stays=True),
    }
    squares = float((eventual**2).sum())
    return {
        **{f"{ROUNDS}{HOW[how]}": value / cycle for how, value in seconds.items()},
        **{f"{SECONDS}{HOW[how]}": value for how, value in seconds.items()},
        PART: float((first(after >= 0.9 * eventual) <= 2 * cycle).mean()),
        EVENTUAL[0]: float(eventual.sum()) ** 2 / (len(eventual) * squares) if squares else math.nan,
        EVENTUAL[1]: float(eventual.mean()) / 1e3,
    }
