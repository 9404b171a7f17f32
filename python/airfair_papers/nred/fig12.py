"""Figure 12: per-second throughput of the two transfers of the exposed terminal with NRED at max_p 0.14.

The paper says that they interlace and that none uses the channel continuously for long; it shows one run. A
hold is the time in which one flow gets nine tenths of what arrives in each second. A second without data ends
it: nobody uses the channel then. In the other reading it does not ("over silence"), and a hold is a sum of
time-outs. Once in a while a hold lasts a whole run, so that its mean says little. Judged: the median run's
longest hold is below 20 s (of 120 s).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, median, number
from airfair.paper import Experiment, Series
from airfair.recording import Recording

from airfair_papers.nred.common.by_max_p import QUICK_SEEDS, SEEDS, read
from airfair_papers.nred.common.rates import goodputs
from airfair_papers.nred.common.readings import READINGS, suffix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 6.2, figure 12"


def curves(recording: Recording) -> dict[str, list[float]]:
    """Goodput of both flows in each second, kbit/s."""
    return {str(flow): values.tolist() for flow, values in goodputs(recording).items()}


def draw(rows: Measured, figure: Figure) -> None:
    """Both flows over time, without and with NRED."""
    for axes, series in zip(figure.subplots(len(DRAWN), 1, sharex=True), DRAWN, strict=True):
        for flow, rates in rows[series]["curves"].items():
            axes.step(range(1, len(rates) + 1), rates, where="pre", label=f"flow {flow}", linewidth=0.9)
        axes.set_title(series, fontsize="small")
        axes.set_ylabel("kbit/s")
    axes.set_xlabel("time (s)")
    axes.legend(loc="upper right", fontsize="small")


def held(series: str, number_of_run: str, reading: str) -> Claim:
    """That no transfer holds the channel for long."""
    return Claim(
        text="No transfer holds the channel for 20 s, in the median run",
        where=WHERE,
        source="paper",
        series=f"nred{suffix(series)}",
        baseline=f"droptail{suffix(series)}",
        statistic=median(number(number_of_run)),
        comparison="below",
        value=20,
        reading=reading,
    )


DRAWN = ("droptail", "nred")

EXPERIMENT = Experiment(
    title="Exposed terminal: per second the two transfers interlace with NRED",
    scenario=Path(__file__).with_name("fig11.toml"),
    series=tuple(
        Series(f"{scheme}{suffix(reading)}", scheme, overrides, against=f"droptail{suffix(reading)}")
        for reading, overrides in READINGS.items()
        for scheme in ("droptail", "nred")
    ),
    claims=(
        *(held(reading, "longest_hold_s", reading) for reading in READINGS),
        held(MAIN, "longest_hold_over_silence_s", "over silence"),
    ),
    draw=draw,
    seeds=SEEDS,
    quick_seeds=QUICK_SEEDS,
    read=read,
    curves=curves,
)
