"""Figure 14: the scene of figure 2 with NRED over time: the outer transfers go together, the middle one
alone.

The paper shows it as curves of each second. As numbers: the goodputs of the outer transfers, second by
second, rise and fall together; those of the middle and the outer ones against each other. And the middle
one is never silent for long: its longest time without a packet is below 3 s. The thresholds are ours.

**The main reading fails the correlations**, and two of three hold on its baseline: with QualNet's TCP the
outer transfers have windows of 32 segments, are both silent while the middle one gets its few packets
through, and go together without NRED too. With NRED all three spend much of a second waiting for time-outs.
The picture of the paper comes out with ns-2's TCP.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment, Series
from airfair.recording import Recording

from airfair_papers.nred.common.rates import goodputs
from airfair_papers.nred.common.readings import READINGS, suffix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 6.2, figure 14"
START, STOP = 11, 130


def read(recording: Recording) -> dict[str, float]:
    """Correlations of the seconds, and the longest silence of the middle transfer."""
    seconds = goodputs(recording).loc[START + 1 : STOP]
    outer = seconds["left"] + seconds["right"]
    silence = longest = 0
    for rate in seconds["middle"]:
        silence = silence + 1 if rate == 0 else 0
        longest = max(longest, silence)
    return {
        "correlation_of_outer": float(seconds["left"].corr(seconds["right"])),
        "correlation_of_middle_and_outer": float(seconds["middle"].corr(outer)),
        "longest_silence_of_middle_s": float(longest),
    }


def curves(recording: Recording) -> dict[str, list[float]]:
    return {str(flow): values.tolist() for flow, values in goodputs(recording).items()}


def draw(rows: Measured, figure: Figure) -> None:
    """Each flow over time, without and with NRED."""
    for axes, series in zip(figure.subplots(2, 1, sharex=True), ("droptail", "nred"), strict=True):
        for flow, values in rows[series]["curves"].items():
            axes.step(range(1, len(values) + 1), values, where="pre", linewidth=0.9, label=flow)
        axes.set_title(series, fontsize="small")
        axes.set_ylabel("kbit/s")
    axes.set_xlabel("time (s)")
    axes.legend(loc="upper right", fontsize="small")


def claims(reading: str) -> list[Claim]:
    """Those of one reading."""
    texts: dict[str, tuple[str, Literal["above", "below"], float]] = {
        "correlation_of_outer": ("The outer transfers go together: a correlation above 0.3", "above", 0.3),
        "correlation_of_middle_and_outer": (
            "The middle one goes when they do not: a correlation below -0.3",
            "below",
            -0.3,
        ),
        "longest_silence_of_middle_s": ("The middle one is never silent for 3 s", "below", 3),
    }
    return [
        Claim(
            text=text,
            where=WHERE,
            source="paper",
            series=f"nred{suffix(reading)}",
            baseline=f"droptail{suffix(reading)}",
            statistic=number(what),
            comparison=comparison,
            value=value,
            reading=reading,
        )
        for what, (text, comparison, value) in texts.items()
    ]


EXPERIMENT = Experiment(
    title="Per second the three transfers share the air with NRED",
    scenario=Path(__file__).with_name("fig2.toml"),
    series=tuple(
        Series(f"{scheme}{suffix(reading)}", scheme, overrides, against=f"droptail{suffix(reading)}")
        for reading, overrides in READINGS.items()
        for scheme in ("droptail", "nred")
    ),
    claims=tuple(claim for reading in READINGS for claim in claims(reading)),
    draw=draw,
    read=read,
    curves=curves,
)
