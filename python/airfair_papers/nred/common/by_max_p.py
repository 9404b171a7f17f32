"""What figures 10 and 11 have in common: NRED at each max_p, Jain's index above, the total below.

Beside the scene's TCP stands QualNet's (`common.stacks`), and with both a notification every 100 ms
instead of every second: the paper gives neither. Both matter here, see the experiments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, jain, total_gain
from airfair.paper import Series
from airfair.recording import Recording

from airfair_papers.nred.common.rates import goodputs
from airfair_papers.nred.common.stacks import QUALNET

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_P = (0.01, 0.05, 0.10, 0.14, 0.15, 0.20, 0.25, 0.30)
FREQUENT = ('nred.ncn_interval="100 ms"',)
NEAREST = ", QualNet's TCP, T_NCN 100 ms"
"""The reading that comes nearest to the paper here."""

OTHERS = {
    ", T_NCN 100 ms": FREQUENT,
    ", QualNet's TCP": QUALNET,
    NEAREST: (*QUALNET, *FREQUENT),
}


def name(max_p: float, suffix: str = "") -> str:
    return f"nred {max_p:.2f}{suffix}"


def all_series() -> tuple[Series, ...]:
    """Drop-tail and NRED at each max_p in each reading; NRED at the largest, paired with that at 0.05."""
    series = []
    for suffix, overrides in {"": (), **OTHERS}.items():
        droptail = f"droptail{suffix}"
        series.append(Series(droptail, "droptail", overrides))
        series += [
            Series(name(p, suffix), "nred", (*overrides, f"nred.max_p={p}"), against=droptail) for p in MAX_P
        ]
        most = (*overrides, f"nred.max_p={MAX_P[-1]}")
        series.append(Series(f"nred 0.30{suffix}, against 0.05", "nred", most, against=name(0.05, suffix)))
    return tuple(series)


def fair(where: str, above: float) -> list[Claim]:
    """Jain's index above 0.95 at each max_p above some value, in the scene and in the nearest reading."""
    return [
        Claim(
            text=f"At max_p {p:.2f}{suffix} Jain's index is above 0.95",
            where=where,
            source="paper",
            series=name(p, suffix),
            baseline=f"droptail{suffix}",
            statistic=jain,
            comparison="above",
            value=0.95,
        )
        for suffix in ("", NEAREST)
        for p in MAX_P
        if p > above
    ]


def falls(where: str) -> list[Claim]:
    """The total falls as max_p grows."""
    return [
        Claim(
            text=f"The total falls as max_p grows{suffix}: it is lower at 0.30 than at 0.05",
            where=where,
            source="paper",
            series=f"nred 0.30{suffix}, against 0.05",
            baseline=f"droptail{suffix}",
            statistic=total_gain,
            comparison="below",
        )
        for suffix in ("", NEAREST)
    ]


def read(recording: Recording) -> dict[str, float]:
    """Which of the two wins is chance: the greater and the lesser; how long one of them holds the channel."""
    goodputs = sorted(flow["goodput_bps"] / 1000 for flow in recording.result["flows"])
    return {
        "greater_kbps": goodputs[-1],
        "lesser_kbps": goodputs[0],
        "longest_hold_s": longest_hold(recording),
    }


def longest_hold(recording: Recording) -> float:
    """Longest time in which one and the same flow got at least nine tenths of what arrived in each second.

    A second in which nothing arrived does not end it.
    """
    longest = held = 0
    holder = None
    for _, second in goodputs(recording).iterrows():
        total = second.sum()
        winner = holder if total == 0 else second.idxmax() if second.max() >= 0.9 * total else None
        held = held + 1 if winner is not None and winner == holder else int(winner is not None)
        holder = winner
        longest = max(longest, held)
    return float(longest)


def draw(rows: Measured, figure: Figure) -> None:
    """Jain's index and the total over max_p in each reading; drop-tail as a line across."""
    above, below = figure.subplots(2, 1, sharex=True)
    for i, suffix in enumerate(("", *OTHERS)):
        for axes, key, scale in ((above, "jain_index", 1.0), (below, "aggregate_goodput_bps", 1000.0)):
            values = [rows[name(p, suffix)][key] for p in MAX_P]  # type: ignore[literal-required]
            axes.errorbar(
                MAX_P,
                [v["mean"] / scale for v in values],
                yerr=[(v["ci95"] or 0) / scale for v in values],
                fmt="o-",
                capsize=3,
                color=f"C{i}",
                label=f"NRED{suffix}",
            )
            droptail = rows[f"droptail{suffix}"][key]["mean"] / scale  # type: ignore[literal-required]
            axes.axhline(droptail, linestyle=":", color=f"C{i}")
    above.set_ylabel("Jain's index")
    above.set_ylim(0.45, 1.03)
    below.set_ylabel("total (kbit/s)")
    below.set_ylim(bottom=0)
    below.set_xlabel("max_p (dotted: drop-tail)")
    above.legend(fontsize="small")
