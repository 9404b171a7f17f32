"""Half of the flows are DiffQ's, the others plain TCP through the same nodes (ours).

Section 5.2: a node returns packets without DiffQ's header to the stack, and "all non-DiffQ traffic is always
sent at priority 0". No experiment of the paper has both. Every second flow of 32 is TCP-SACK; compared with
runs in which all 32 are, set by set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from airfair.claims import MAIN, Claim, Measured
from airfair.paper import Experiment, Series

from airfair_papers.diffq.common import STARVED_BPS
from airfair_papers.diffq.common.parts import LISTED, listed
from airfair_papers.diffq.common.pictures import distribution
from airfair_papers.diffq.common.testbed import OURS, READINGS, Protocol, beside

if TYPE_CHECKING:
    from airfair.recording import Recording
    from matplotlib.figure import Figure

COUNT = 32
HALF, NONE = "half DiffQ", "TCP-SACK"
LONG = ('duration="90 s"',)
DIFFQ, TCP = 'transport="tcp"', 'transport="tcp", scheme="newreno"'

STARVED_TCP = "TCP's half: share below 1 kbit/s"
MEDIAN_TCP = "TCP's half: median (kbit/s)"
STARVED_OTHER = "the other half: share below 1 kbit/s"
MEDIAN_OTHER = "the other half: median (kbit/s)"
TOTAL_TCP = "TCP's half: total (Mbit/s)"
TOTAL_OTHER = "the other half: total (Mbit/s)"


def name(kind: str, reading: str = MAIN) -> str:
    """The name of a series."""
    return kind if reading == MAIN else f"{kind}, {reading}"


def mixed(seed: int) -> tuple[str, ...]:
    """Flows b are TCP's in every series; flows a take the law of the run's scheme."""
    return (listed(COUNT, seed, (DIFFQ, TCP)),)


def read(recording: Recording) -> dict[str, float]:
    """Both halves apart."""
    halves = {
        letter: np.array(
            [flow["goodput_bps"] for flow in recording.result["flows"] if flow["id"].startswith(letter)]
        )
        for letter in "ab"
    }
    other, tcp = halves["a"], halves["b"]
    return {
        STARVED_TCP: float((tcp < STARVED_BPS).mean()),
        MEDIAN_TCP: float(np.median(tcp)) / 1e3,
        TOTAL_TCP: float(tcp.sum()) / 1e6,
        STARVED_OTHER: float((other < STARVED_BPS).mean()),
        MEDIAN_OTHER: float(np.median(other)) / 1e3,
        TOTAL_OTHER: float(other.sum()) / 1e6,
    }


def claims(reading: str) -> list[Claim]:
    """Gains or losses of each half beside runs without DiffQ."""

    def claim(text: str, statistic: str, comparison: Literal["above", "below"], factor: float) -> Claim:
        own, other = name(HALF, reading), name(NONE, reading)
        where = "section 5.2"
        return beside(
            text, own, other, statistic, comparison, factor, where=where, reading=reading, paired=True
        )

    return [
        claim("DiffQ's half has a larger median than with TCP", MEDIAN_OTHER, "above", 1.0),
        claim("Of DiffQ's half at most half as many starve as with TCP", STARVED_OTHER, "below", 0.5),
        claim("TCP's half starves no more than 1.5 times as often", STARVED_TCP, "below", 1.5),
        claim("TCP's half keeps half of its total", TOTAL_TCP, "above", 0.5),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs of the halves, beside those without DiffQ."""
    for axes, reading in zip(figure.subplots(1, len(OURS)), OURS, strict=True):
        for kind, letter, label in (
            (NONE, "b", "TCP, no DiffQ"),
            (HALF, "b", "TCP beside DiffQ"),
            (HALF, "a", "DiffQ beside TCP"),
        ):
            values = rows[name(kind, reading)]["run_values"]
            flows = [v for key, each in values.items() if key.startswith(f"flow.{letter}") for v in each]
            distribution(axes, label, flows)
        axes.legend(fontsize="x-small")
        axes.set_title(reading)


EXPERIMENT = Experiment(
    title="Every second flow is DiffQ's: what TCP keeps beside it",
    scenario=LISTED,
    series=tuple(
        Series(
            name(kind, reading),
            scheme,
            (*LONG, *READINGS[reading].changes(Protocol(scheme, own=scheme == "diffq"))),
        )
        for reading in OURS
        for kind, scheme in ((NONE, "droptail"), (HALF, "diffq"))
    ),
    claims=tuple(claim for reading in OURS for claim in claims(reading)),
    draw=draw,
    quick_seeds=3,
    by_seed=mixed,
    read=read,
    interval="60 s",
    small=('duration="34 s"', 'warmup="32 s"'),
)
