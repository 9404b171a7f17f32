"""Effects of the values that the paper leaves open, one changed at a time (ours).

DiffQ-TCP with 32 flows, each value against TCP-SACK at level 0 on the same sets. Depth D of a destination's
queue, by which differentials become levels; the threshold of the source's law, as a part of D; how long a
decrease keeps the next one from following; how many packets the radio holds, whose order and level are
settled long before they are sent; whether the packet of the largest differential goes first or one of the
highest level; the countdown of the back-off.

From the reading in which queues wait the same for DiffQ-TCP and for DiffQ-UDP, this against TFRC-ECN: the
threshold, which is 5 there, packets in the radio, levels, how often the law runs (0.1 Mbit/s in a second
instead of 1; or each packet calls it), the logarithmic law with a rate that many flows can have, small D,
the retry limit, levels rounded down, the categories of a stock card, and sizes that are never forgotten.

A change that others can have too, windows and the retry limit, they have in the claims. Routes are static:
what routing on the air changes is in the other experiments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.diffq.common import SHORT
from airfair_papers.diffq.common.testbed import (
    DIFFQ_TCP,
    DIFFQ_UDP,
    JAIN,
    MEDIAN,
    PROTOCOLS,
    READINGS,
    SCENE,
    TCP,
    TFRC,
    TOTAL,
    UTILITY,
    WINDOW,
    packets,
    read,
    series,
    sets,
    slow,
)
from airfair_papers.diffq.common.testbed import name as name_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

COUNT = 32
PRINTED = "static routes"
WAITS = "static routes, waits"
PACKETS = "static routes, packets"
TITLES = {PRINTED: "as printed", WAITS: "waits", PACKETS: "packets"}
"""The readings, which all have static routes."""
WINDOWS = {f"windows of {n} segments": (f'tcp.window_limit="{n} segments"',) for n in (4, 8, 16)}
"""For TCP too: small windows alone make it fairer."""
RETRIES = {"11 attempts": ("radio.short_retry_limit=11",)}
"""For TCP and TFRC-ECN too."""
DEPTHS = {
    f"D {depth}, threshold {threshold}": (f"diffq.depth={depth}", f"diffq.threshold={threshold}")
    for depth, threshold in ((32, 8), (16, 4), (8, 2))
}
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
    **DEPTHS,
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

WAITING = {
    "threshold 2": ("diffq.threshold=2",),
    "threshold 12": ("diffq.threshold=12",),
    "threshold D/4": ("diffq.threshold=25",),
    "a step each 100 ms": ("diffq.hold=0 s", "diffq.interval=100 ms"),
    "law log, 100 kbit/s": ("diffq.law=log", "diffq.log_rate=100 kbit/s"),
    "2 packets in the radio": ("diffq.in_radio=2",),
    "level 0 only": ("diffq.levels=1",),
    "a step a packet": packets("diffq"),
    **DEPTHS,
    **RETRIES,
    "sizes kept for an hour": ("diffq.expiry=3600 s",),
    "levels rounded down": ("diffq.rounding=down",),
    "a stock card's categories": ("radio.categories=edca", "diffq.levels=4"),
}
WAITING_TCP = {
    **WAITING,
    "ACKs at the highest level": ("diffq.acks=highest",),
    **WINDOWS,
    "slow, threshold 2, windows of 4 segments": (
        *slow("diffq"),
        "diffq.threshold=2",
        *WINDOWS["windows of 4 segments"],
    ),
}


class Group(NamedTuple):
    """Changes of a protocol in a reading, against another in the same."""

    protocol: str
    reading: str
    changes: Mapping[str, tuple[str, ...]]
    than: str


UNCHANGED_UDP = {**DEPTHS, "level 0 only": ("diffq.levels=1",)}
COUNTED = {
    **DEPTHS,
    **RETRIES,
    "level 0 only": ("diffq.levels=1",),
    "a stock card's categories": ("radio.categories=edca", "diffq.levels=4"),
}
COUNTED_TCP = {
    **COUNTED,
    "windows of 4 segments": WINDOWS["windows of 4 segments"],
    "windows of 16 segments": WINDOWS["windows of 16 segments"],
    "ACKs at the highest level": ("diffq.acks=highest",),
}
GROUPS = (
    Group(DIFFQ_TCP, PRINTED, CHANGES, TCP),
    Group(DIFFQ_TCP, WAITS, WAITING_TCP, TCP),
    Group(DIFFQ_UDP, WAITS, WAITING, TFRC),
    Group(DIFFQ_UDP, PRINTED, UNCHANGED_UDP, TFRC),
    Group(DIFFQ_TCP, PACKETS, COUNTED_TCP, TCP),
    Group(DIFFQ_UDP, PACKETS, COUNTED, TFRC),
)


def name(change: str, reading: str, protocol: str) -> str:
    """The name of a series with a change."""
    return f"{name_of(protocol, COUNT, reading)}, {change}"


def variants(group: Group) -> list[Series]:
    """A group's protocol with each change."""
    protocol = PROTOCOLS[group.protocol]
    return [
        Series(
            name(change, group.reading, group.protocol),
            protocol.scheme,
            (f"flows.count={COUNT}", *READINGS[group.reading].changes(protocol), *overrides),
        )
        for change, overrides in group.changes.items()
    ]


SHARED = {TCP: {**WINDOWS, **RETRIES}, TFRC: RETRIES}
"""Changes that the others can have as well."""


def without() -> list[Series]:
    """TCP and TFRC-ECN with the changes that they can have."""
    return [
        Series(
            name(change, PRINTED, protocol),
            PROTOCOLS[protocol].scheme,
            (f"flows.count={COUNT}", *READINGS[PRINTED].changes(PROTOCOLS[protocol]), *overrides),
        )
        for protocol, changes in SHARED.items()
        for change, overrides in changes.items()
    ]


def same(change: str, protocol: str) -> str | None:
    """The part of a change that the other has been measured with."""
    return next((shared for shared in SHARED[protocol] if shared in change), None)


def claims(group: Group, change: str) -> list[Claim]:
    """The gains hold with the change too; over the other with the same change where it can have it."""
    shared = same(change, group.than)
    own = name(change, group.reading, group.protocol)
    other = name_of(group.than, COUNT, PRINTED) if shared is None else name(shared, PRINTED, group.than)
    return [
        Claim(
            text=f"{change}: a larger {statistic} than {group.than}",
            where="ours",
            source="ours",
            series=own,
            baseline=None,
            statistic=number(statistic),
            comparison="above",
            bound=number(statistic),
            bound_series=other,
            paired=True,
            reading=group.reading,
        )
        for statistic in (JAIN, UTILITY)
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Index, log utility, total and median with each change, over those without."""
    heights = [len(group.changes) for group in GROUPS]
    figure.set_size_inches(12.0, 3.0 + 0.25 * sum(heights))
    lines = figure.subplots(len(GROUPS), 4, sharey="row", height_ratios=heights)
    for line, group in zip(lines, GROUPS, strict=True):
        series = [name(change, group.reading, group.protocol) for change in group.changes]
        for axes, statistic in zip(line, (JAIN, UTILITY, TOTAL, MEDIAN), strict=True):
            values = [number(statistic).of(rows[of]) for of in series]
            axes.errorbar(
                [value["mean"] for value in values],
                range(len(series)),
                xerr=[value["ci95"] or 0 for value in values],
                fmt="o",
                capsize=2,
            )
            unchanged = name_of(group.protocol, COUNT, group.reading), name_of(group.than, COUNT, PRINTED)
            for of, style in zip(unchanged, ("-", ":"), strict=True):
                axes.axvline(number(statistic).of(rows[of])["mean"], linestyle=style)
            axes.set_xlabel(f"{statistic}; line: unchanged, dotted: {group.than}", fontsize="x-small")
            axes.set_yticks(range(len(group.changes)), list(group.changes))
        line[0].set_title(f"{group.protocol}, {TITLES[group.reading]}")


EXPERIMENT = Experiment(
    title="What decides: DiffQ's open values one by one",
    scenario=SCENE,
    series=(
        *series(
            {
                TCP: (PRINTED,),
                TFRC: (PRINTED,),
                DIFFQ_TCP: (PRINTED, WAITS, PACKETS),
                DIFFQ_UDP: (PRINTED, WAITS, PACKETS),
            },
            [COUNT],
        ),
        *(one for group in GROUPS for one in variants(group)),
        *without(),
    ),
    claims=tuple(claim for group in GROUPS for change in group.changes for claim in claims(group, change)),
    draw=draw,
    quick_seeds=3,
    by_seed=sets,
    read=read,
    interval="60 s",
    small=SHORT,
)
