"""Delay of packets by the size of a batch and the number of flows (ours).

A batch's packets arrive all at once, when it is decoded. On the testbed with static routes, MORE and
DiffQ-MORE with a threshold of 0: larger batches need fewer transmissions, and wait longer; a batch that is
not decoded within the run counts for nothing, so that small ones let more of many flows through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.diffq.common import SHORT
from airfair_papers.diffq.common.multipath import DIFFQ_MORE, MORE, PROTOCOLS, VALUES
from airfair_papers.diffq.common.testbed import SCENE, STARVED, TOTAL, innovative, read, sets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BATCHES = (8, 16, 32, 64, 128, 255)
COUNTS = (1, 4, 32)
FORWARDING = {MORE: (), DIFFQ_MORE: VALUES["threshold 0"]}
DELAY = "mean delay (ms)"


def name(protocol: str, count: int, batch: int) -> str:
    """The name of a series."""
    return f"{protocol}, {count} flow{'s' if count > 1 else ''}, batch {batch}"


def series() -> list[Series]:
    """Each forwarding with each batch and number of flows."""
    found = []
    for each, values in FORWARDING.items():
        protocol = PROTOCOLS[each]
        for count in COUNTS:
            for batch in BATCHES:
                own = (f"{protocol.scheme}.{value}" for value in (*values, f"batch={batch}"))
                changes = (f"flows.count={count}", *protocol.overrides, *own)
                found.append(Series(name(each, count, batch), protocol.scheme, changes))
    return found


def claims(protocol: str) -> list[Claim]:
    """Of the batch of 8 and that of 128, beside 32; a ratio has no other baseline."""
    found = []
    told: tuple[tuple[str, int, int, str, Literal["above", "below"], float], ...] = (
        ("1 flow: batches of 128 have twice the delay of 32", 1, 128, DELAY, "above", 2.0),
        ("1 flow: batches of 8 have half the delay of 32", 1, 8, DELAY, "below", 0.5),
        ("1 flow: batches of 8 carry less than 32", 1, 8, TOTAL, "below", 1.0),
        ("32 flows: with batches of 8 fewer starve than with 32", 32, 8, STARVED, "below", 1.0),
        ("32 flows: with batches of 128 more starve than with 32", 32, 128, STARVED, "above", 1.0),
    )
    for text, count, batch, statistic, comparison, factor in told:
        of = number(statistic)
        found.append(
            Claim(
                text=f"{protocol}, {text}",
                where="ours",
                source="ours",
                series=name(protocol, count, batch),
                baseline=None,
                statistic=of,
                comparison=comparison,
                bound=of,
                bound_series=name(protocol, count, 32),
                factor=factor,
                paired=True,
                reading="static routes",
            )
        )
    return found


def draw(rows: Measured, figure: Figure) -> None:
    """Delay, total and starved flows by the batch."""
    figure.set_size_inches(13.0, 4.0)
    for axes, statistic in zip(figure.subplots(1, 3), (DELAY, TOTAL, STARVED), strict=True):
        for protocol in FORWARDING:
            for count in COUNTS:
                values = [
                    rows[name(protocol, count, batch)]["numbers"][statistic]["mean"] for batch in BATCHES
                ]
                label = f"{protocol}, {count} flow{'s' if count > 1 else ''}"
                axes.plot(BATCHES, values, "o-", markersize=3, label=label)
        axes.set_xscale("log", base=2)
        axes.set_xticks(BATCHES, list(map(str, BATCHES)))
        axes.set_xlabel("packets of a batch")
        axes.set_ylabel(statistic)
    figure.axes[0].set_yscale("log")
    figure.axes[0].legend(fontsize="x-small")


SHOWN = (DELAY, TOTAL, STARVED, innovative(STARVED))

EXPERIMENT = Experiment(
    title="Delay by the size of a batch and the number of flows",
    scenario=SCENE,
    series=tuple(series()),
    claims=tuple(claim for protocol in FORWARDING for claim in claims(protocol)),
    draw=draw,
    quick_seeds=3,
    by_seed=sets,
    read=read,
    interval="60 s",
    small=SHORT,
)
