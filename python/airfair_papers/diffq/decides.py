"""What decides: the values that the paper leaves open, one changed at a time (ours).

DiffQ-TCP with 32 flows, each value against TCP-SACK at level 0 on the same sets. Depth D of a destination's
queue, by which differentials become levels; the threshold of the source's law, as a part of D; how long a
decrease keeps the next one from following; how many packets the radio holds, whose order and level are
settled long before they are sent; whether the packet of the largest differential goes first or one of the
highest level; the countdown of the back-off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.diffq.common import SHORT
from airfair_papers.diffq.common.testbed import (
    ABOUT,
    DIFFQ_TCP,
    JAIN,
    MEDIAN,
    READINGS,
    ROUTES,
    SCENE,
    TCP,
    TOTAL,
    UTILITY,
    WINDOW,
    read,
    series,
    sets,
    slow,
)
from airfair_papers.diffq.common.testbed import name as name_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COUNT = 32
WINDOWS = {
    "windows of 4 segments": ('tcp.window_limit="4 segments"',),
    "windows of 16 segments": ('tcp.window_limit="16 segments"',),
}
"""For TCP too: small windows alone make it fairer."""
CHANGES = {
    "alpha 0.01 Mbit/s a second": slow("diffq"),
    "windows of 64 KiB": WINDOW,
    **WINDOWS,
    "both (slow)": (*slow("diffq"), *WINDOW),
    "slow, windows of 4 segments": (*slow("diffq"), *WINDOWS["windows of 4 segments"]),
    "slow, level 0 only": (*slow("diffq"), *WINDOW, "diffq.levels=1"),
    "slow, threshold D/20": (*slow("diffq"), *WINDOW, "diffq.threshold=5"),
    "threshold D/2": ("diffq.threshold=50",),
    "threshold D/8": ("diffq.threshold=12",),
    "D 50, threshold 12": ("diffq.depth=50", "diffq.threshold=12"),
    "D 200, threshold 50": ("diffq.depth=200", "diffq.threshold=50"),
    "hold 10 ms": ("diffq.hold=10 ms",),
    "hold 1 s": ("diffq.hold=1 s",),
    "2 packets in the radio": ("diffq.in_radio=2",),
    "4 packets in the radio": ("diffq.in_radio=4",),
    "order by level": ("diffq.order=priority",),
    "size before the packet leaves": ("diffq.announced=before",),
    "ACKs at the highest level": ("diffq.acks=highest",),
    "ACKs at level 0": ("diffq.acks=lowest",),
    "four levels": ("diffq.levels=4",),
    "level 0 only": ("diffq.levels=1",),
    "DCF's countdown": ("radio.edca_countdown=dcf",),
}


def name(change: str, reading: str) -> str:
    """The name of a series with a change."""
    return f"{name_of(DIFFQ_TCP, COUNT, reading)}, {change}"


def variants() -> list[Series]:
    """DiffQ-TCP with each change."""
    return [
        Series(
            name(change, reading), "diffq", (f"flows.count={COUNT}", *READINGS[reading].overrides, *overrides)
        )
        for reading in ROUTES
        for change, overrides in CHANGES.items()
    ]


def of_tcp(change: str, reading: str) -> str:
    """The name of the series of TCP with a change."""
    return f"{name_of(TCP, COUNT, reading)}, {change}"


def without() -> list[Series]:
    """TCP with the windows that it can have as well."""
    return [
        Series(
            of_tcp(change, reading),
            "droptail",
            (f"flows.count={COUNT}", *READINGS[reading].overrides, *overrides),
        )
        for reading in ROUTES
        for change, overrides in WINDOWS.items()
    ]


def same_windows(change: str) -> str | None:
    """The windows of a change that TCP has been measured with."""
    return next((windows for windows in WINDOWS if windows in change), None)


def claims(change: str, reading: str) -> list[Claim]:
    """DiffQ-TCP's gains hold with the change too; over TCP with the same windows where these are small."""
    windows = same_windows(change)
    own = name(change, reading)
    other = name_of(TCP, COUNT, reading) if windows is None else of_tcp(windows, reading)
    return [
        Claim(
            text=f"{change}: a larger {statistic} than TCP",
            where="ours",
            source="ours",
            series=own,
            baseline=other,
            statistic=number(statistic),
            comparison="above",
            bound=number(statistic),
            bound_series=other,
            paired=True,
            reading=reading,
            about=(*ABOUT, "radio.edca_countdown", "tcp.window_limit"),
        )
        for statistic in (JAIN, UTILITY)
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Index, log utility, total and median with each change, over those without."""
    figure.set_size_inches(12.0, 7.0)
    for axes, statistic in zip(
        figure.subplots(1, 4, sharey=True), (JAIN, UTILITY, TOTAL, MEDIAN), strict=True
    ):
        for reading in ROUTES:
            values = [number(statistic).of(rows[name(change, reading)]) for change in CHANGES]
            axes.errorbar(
                [value["mean"] for value in values],
                range(len(CHANGES)),
                xerr=[value["ci95"] or 0 for value in values],
                fmt="o",
                capsize=2,
                color=f"C{ROUTES.index(reading)}",
                label="OLSR" if reading == MAIN else reading,
            )
            for protocol, line in ((DIFFQ_TCP, "-"), (TCP, ":")):
                mean = number(statistic).of(rows[name_of(protocol, COUNT, reading)])["mean"]
                axes.axvline(mean, color=f"C{ROUTES.index(reading)}", linestyle=line)
        axes.set_xlabel(f"{statistic}; line: defaults, dotted: TCP", fontsize="x-small")
        axes.set_yticks(range(len(CHANGES)), list(CHANGES))
    axes.legend(fontsize="x-small")


EXPERIMENT = Experiment(
    title="What decides: DiffQ's open values one by one",
    scenario=SCENE,
    series=(*series({TCP: ROUTES, DIFFQ_TCP: ROUTES}, [COUNT]), *variants(), *without()),
    claims=tuple(claim for reading in ROUTES for change in CHANGES for claim in claims(change, reading)),
    draw=draw,
    quick_seeds=3,
    by_seed=sets,
    read=read,
    interval="60 s",
    small=SHORT,
)
