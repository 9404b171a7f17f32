"""Gateways of a town, and one that fails (ours).

64 nodes of which each hears 2.8 others in the mean; Berlin's open map of March 2020 has 2.2 directed links a
node (388 of the 177 nodes of its largest component). 15 flows to the closest of 4 gateways, static routes.
The controller at the first gateway stops at 240 s; another one starts at the second gateway at once, or 20 s
later, or never. *Before* is 180 to 240 s, *outage* the minute after, *after* from 300 s on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from airfair.claims import Claim, number
from airfair.paper import Experiment

from airfair_papers.c3l.common import networks
from airfair_papers.c3l.common.beside import claim, gains, pictures
from airfair_papers.c3l.common.networks import BERLIN, JAIN, LEAST, Network, jain, name, one_controller
from airfair_papers.c3l.common.scenes import BASE, C3L, NEWRENO, SMALL, STATIC

if TYPE_CHECKING:
    from collections.abc import Callable

    from airfair.recording import Recording

FAILS = 240
WINDOWS = {"before": (180, FAILS), "outage": (FAILS, 300), "after": (300, 480)}
EACH = "a controller at each gateway"
LATER = {"fails, another at once": 0, "fails, another after 20 s": 20, "fails, no other": None}


def failing(after: int | None) -> Callable[[Network], tuple[str, ...]]:
    """A controller that stops, and one at another gateway so many seconds later."""

    def more(of: Network) -> tuple[str, ...]:
        first = f'{{node="{of.gateways[0]}", stop="{FAILS} s"}}'
        second = "" if after is None else f', {{node="{of.gateways[1]}", start="{FAILS + after} s"}}'
        return (f"controller=[{first}{second}]",)

    return more


def within(window: str, statistic: str) -> str:
    """The name of a number of a window."""
    return f"{statistic}, {window}"


def read(recording: Recording) -> dict[str, float]:
    """The numbers of a network, and index and least flow within the windows."""
    table = recording.pandas("flow_series")
    wide = table.pivot_table(index="end_s", columns="flow", values="goodput_bps", observed=True) / 1e3
    found = networks.read(recording)
    for window, (start, stop) in WINDOWS.items():
        rows = wide.loc[(wide.index > start) & (wide.index <= stop)]
        rates = rows.mean().to_numpy(dtype=float) if len(rows) else np.zeros(1)
        found[within(window, JAIN)] = jain(rates)
        found[within(window, LEAST)] = float(rates.min())
    return found


FAILING = [name(C3L, reading) for reading in LATER]

EXPERIMENT = Experiment(
    title="Gateways of a sparse network, and a controller that fails",
    scenario=BASE,
    series=(
        networks.series(BERLIN, NEWRENO, routes=STATIC),
        networks.series(BERLIN, C3L, routes=STATIC, more=one_controller),
        networks.series(BERLIN, C3L, EACH, routes=STATIC, more=networks.controllers),
        *(
            networks.series(BERLIN, C3L, reading, routes=STATIC, more=failing(after))
            for reading, after in LATER.items()
        ),
    ),
    claims=(
        *gains([C3L, name(C3L, EACH)], NEWRENO),
        *(
            Claim(
                text=f"{one}: no flow is starved in the minute after",
                where="ours",
                source="ours",
                series=one,
                baseline=NEWRENO,
                statistic=number(within("outage", LEAST)),
                comparison="above",
                value=networks.STARVED,
                about=("controller", "c3l"),
            )
            for one in FAILING
        ),
        *(
            claim(
                f"{one}: {statistic} afterwards is nine tenths of what it is without failure and more",
                one,
                C3L,
                within("after", statistic),
                factor=0.9,
                gain=False,
            )
            for one in FAILING[:2]
            for statistic in (JAIN, LEAST)
        ),
    ),
    draw=pictures(
        (NEWRENO, C3L, name(C3L, EACH), *FAILING),
        (within("before", LEAST), within("outage", LEAST), within("after", LEAST)),
    ),
    read=read,
    interval="20 s",
    small=SMALL,
)
