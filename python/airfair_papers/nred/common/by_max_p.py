"""Common parts of figures 10 and 11: NRED at each max_p, Jain's index above, the total below. With the
other TCPs (`common.readings`) two values of max_p are measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, jain, lower, median, total, total_gain, upper
from airfair.paper import Series
from airfair.recording import Recording

from airfair_papers.nred.common.rates import goodputs
from airfair_papers.nred.common.readings import BY_TCP, READINGS, suffix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_P = (0.01, 0.05, 0.10, 0.14, 0.15, 0.20, 0.25, 0.30)
IN_ALL = (0.14, 0.20)
"""With each TCP: the paper's choice, and the upper end of what it finds best."""

SEEDS = 100
QUICK_SEEDS = 20
FAIR = 0.95
"""The text's value for figure 11, and our reading of "close to 1" in figure 10."""


def name(max_p: float, reading: str = MAIN) -> str:
    return f"nred {max_p:.2f}{suffix(reading)}"


def all_series() -> tuple[Series, ...]:
    """Drop-tail and NRED in each reading; NRED at the largest max_p, paired with that at 0.05."""
    series = []
    for reading in BY_TCP:
        overrides, droptail = READINGS[reading], f"droptail{suffix(reading)}"
        series.append(Series(droptail, "droptail", overrides))
        series += [
            Series(name(p, reading), "nred", (*overrides, f"nred.max_p={p}"), against=droptail)
            for p in (MAX_P if reading == MAIN else IN_ALL)
        ]
    most = (*READINGS[MAIN], f"nred.max_p={MAX_P[-1]}")
    return (*series, Series("nred 0.30, against 0.05", "nred", most, against=name(0.05)))


def fair(where: str, above: float) -> list[Claim]:
    """Jain's index of the median run above 0.95 at each max_p above some value, in each reading that is
    measured there. The paper plots one value a point; one transfer captures the channel in a few runs, which
    a mean would weigh."""
    return [
        Claim(
            text=f"At max_p {p:.2f} Jain's index of the median run is above {FAIR:g}",
            where=where,
            source="paper",
            series=name(p, reading),
            baseline=f"droptail{suffix(reading)}",
            statistic=median(jain),
            comparison="above",
            value=FAIR,
            reading=reading,
        )
        for reading in BY_TCP
        for p in (MAX_P if reading == MAIN else IN_ALL)
        if p > above
    ]


def falls(where: str) -> Claim:
    """The total falls as max_p grows."""
    return Claim(
        text="The total falls as max_p grows: it is lower at 0.30 than at 0.05",
        where=where,
        source="paper",
        series="nred 0.30, against 0.05",
        baseline="droptail",
        statistic=total_gain,
        comparison="below",
    )


def read(recording: Recording) -> dict[str, float]:
    """Which of the two wins is chance: the greater and the lesser; how long one of them holds the channel."""
    goodputs = sorted(flow["goodput_bps"] / 1000 for flow in recording.result["flows"])
    return {
        "greater_kbps": goodputs[-1],
        "lesser_kbps": goodputs[0],
        "longest_hold_s": longest_hold(recording, over_silence=False),
        "longest_hold_over_silence_s": longest_hold(recording, over_silence=True),
    }


def longest_hold(recording: Recording, *, over_silence: bool) -> float:
    """Longest time in which one and the same flow got at least nine tenths of what arrived in each second.

    A second in which nothing arrived ends it, or does not.
    """
    longest = held = 0
    holder = None
    for _, second in goodputs(recording).iterrows():
        arrived = second.sum()
        if arrived == 0:
            winner = holder if over_silence else None
        else:
            winner = second.idxmax() if second.max() >= 0.9 * arrived else None
        held = held + 1 if winner is not None and winner == holder else int(winner is not None)
        holder = winner
        longest = max(longest, held)
    return float(longest)


def draw(rows: Measured, figure: Figure) -> None:
    """Jain's index of the median run and the mean total over max_p. Drop-tail is a line across, the other
    readings are points."""
    above, below = figure.subplots(2, 1, sharex=True)
    for i, reading in enumerate(BY_TCP):
        at = MAX_P if reading == MAIN else IN_ALL
        for axes, statistic, scale in ((above, median(jain), 1.0), (below, total, 1000.0)):
            points = [statistic.of(rows[name(p, reading)]) for p in at]
            means = [point["mean"] / scale for point in points]
            reach = [
                (0.0, 0.0) if p["ci95"] is None else (mean - lower(p) / scale, upper(p) / scale - mean)
                for p, mean in zip(points, means, strict=True)
            ]
            axes.errorbar(
                at,
                means,
                yerr=list(zip(*reach, strict=True)),
                fmt="o-" if reading == MAIN else "x:",
                capsize=3,
                color=f"C{i}",
                label=f"NRED{suffix(reading)}",
            )
            if reading == MAIN:
                droptail = statistic.of(rows["droptail"])["mean"] / scale
                axes.axhline(droptail, linestyle=":", color=f"C{i}")
    above.set_ylabel("Jain's index (median)")
    above.set_ylim(0.45, 1.03)
    below.set_ylabel("total (kbit/s)")
    below.set_ylim(bottom=0)
    below.set_xlabel("max_p (dotted: drop-tail)")
    above.legend(fontsize="x-small")
