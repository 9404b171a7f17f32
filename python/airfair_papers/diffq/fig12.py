"""Figure 12: goodput of each of 32 flows with DiffQ-TCP over that of the same flow with TCP, 20 sets.

The paper: flows that TCP starves get "about 10 to 100 kbps", read as the median of these flows in a set;
TCP has a small fraction of flows at 1 to 5 Mbit/s (one flow in 100 and more is above 1 Mbit/s, DiffQ-TCP
has half of that and less); DiffQ-TCP has more flows "around 50 to 500 kbps", read as 1.5 times TCP's share
of flows there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from airfair.claims import MAIN, Claim, Measured, number
from airfair.paper import Experiment

from airfair_papers.diffq.common import SHORT
from airfair_papers.diffq.common.pictures import FLOOR_BPS
from airfair_papers.diffq.common.testbed import (
    ABOUT,
    BASELINES,
    BUFFER,
    DIFFQ_TCP,
    GREEDY,
    JUDGED,
    MIDDLE,
    OWN,
    PACKETS,
    ROUTES,
    SCENE,
    TCP,
    TCP_8,
    name,
    of_starved,
    pooled,
    read,
    series,
    sets,
    times,
)

if TYPE_CHECKING:
    from airfair.paper import Series
    from matplotlib.figure import Figure

WHERE = "section 6.3, figure 12"
MANY = 32


def against(reading: str, other: str = TCP) -> str:
    """The series of DiffQ-TCP that is compared with TCP in a reading."""
    return f"{name(DIFFQ_TCP, MANY, reading)}, against {name(other, MANY, reading)}"


def compared() -> list[Series]:
    """The same runs of DiffQ-TCP beside those of TCP in each reading."""
    own = {one.name: one for one in series({DIFFQ_TCP: OWN}, [MANY])}
    return [
        replace(
            own[name(DIFFQ_TCP, MANY, reading)],
            name=against(reading, other),
            against=name(other, MANY, reading),
        )
        for other, readings in ((TCP, JUDGED), (TCP_8, (*BUFFER, *PACKETS)))
        for reading in readings
    ]


def claims(reading: str) -> list[Claim]:
    """Claims that are read off the figure."""

    def starved(other: str) -> Claim:
        windows = "" if other == TCP else " with windows of 8 segments"
        return Claim(
            text=f"The median of the flows that TCP{windows} starves gets 10 kbit/s and more",
            where=WHERE,
            source="ours" if windows else "paper",
            series=against(reading, other),
            baseline=name(other, MANY, reading),
            statistic=of_starved(),
            comparison="above",
            value=10.0,
            reading=reading,
            about=ABOUT,
        )

    return [
        starved(TCP),
        *([starved(TCP_8)] if reading in (*BUFFER, *PACKETS) else []),
        *times(
            "At most half as many flows above 1 Mbit/s as with TCP",
            WHERE,
            DIFFQ_TCP,
            MANY,
            GREEDY,
            0.5,
            below=True,
            readings=(reading,),
        ),
        *times(
            "1.5 times as many flows between 50 and 500 kbit/s as with TCP",
            WHERE,
            DIFFQ_TCP,
            MANY,
            MIDDLE,
            1.5,
            readings=(reading,),
        ),
    ]


def of_tcp(reading: str) -> Claim:
    """The claim that is read off the figure about TCP alone."""
    return Claim(
        text="With TCP one flow in a hundred and more is above 1 Mbit/s",
        where=WHERE,
        source="paper",
        series=name(TCP, MANY, reading),
        baseline=None,
        statistic=number(GREEDY),
        comparison="above",
        value=0.01,
        reading=reading,
    )


def draw(rows: Measured, figure: Figure) -> None:
    """A point a flow of each set, what is below 100 bit/s at that; as printed, and by packets."""
    figure.set_size_inches(9.0, 8.0)
    for axes, reading in zip(figure.subplots(2, 2).flat, (*ROUTES, *PACKETS), strict=True):
        tcp, diffq = (
            np.maximum(pooled(rows[name(protocol, MANY, reading)]), FLOOR_BPS) / 1e3
            for protocol in (TCP, DIFFQ_TCP)
        )
        axes.loglog(tcp, diffq, ".", markersize=3)
        axes.plot((FLOOR_BPS / 1e3, 6e3), (FLOOR_BPS / 1e3, 6e3), color="0.7", linewidth=1)
        axes.set_xlabel("TCP-SACK (kbit/s)")
        axes.set_ylabel("DiffQ-TCP (kbit/s)")
        axes.set_title("OLSR" if reading == MAIN else reading)


EXPERIMENT = Experiment(
    title="Flow by flow: DiffQ-TCP over TCP, 32 flows",
    scenario=SCENE,
    series=(*series({TCP: JUDGED, TCP_8: ROUTES, DIFFQ_TCP: OWN}, [MANY]), *compared()),
    claims=(
        *(claim for reading in JUDGED for claim in claims(reading)),
        *(of_tcp(reading) for reading in JUDGED if reading in BASELINES),
    ),
    draw=draw,
    quick_seeds=3,
    by_seed=sets,
    read=read,
    interval="60 s",
    small=SHORT,
)
