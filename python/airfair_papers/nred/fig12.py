"""Figure 12: per-second throughput of the two transfers of the exposed terminal with NRED at max_p 0.14.

The paper says that they interlace and that none holds the channel for long. Here: no flow gets nine tenths
of what arrives for 20 s on end (of 120 s).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment, Series
from airfair.recording import Recording

from airfair_papers.nred.common.by_max_p import OTHERS, read
from airfair_papers.nred.common.rates import goodputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 6.2, figure 12"
READINGS = {"": (), **OTHERS}


def curves(recording: Recording) -> dict[str, list[float]]:
    """Goodput of both flows in each second, kbit/s."""
    return {str(flow): values.tolist() for flow, values in goodputs(recording).items()}


def draw(rows: Measured, figure: Figure) -> None:
    """Both flows over time, without and with NRED."""
    for axes, series in zip(figure.subplots(3, 1, sharex=True), DRAWN, strict=True):
        for flow, rates in rows[series]["curves"].items():
            axes.step(range(1, len(rates) + 1), rates, where="pre", label=f"flow {flow}", linewidth=0.9)
        axes.set_title(series, fontsize="small")
        axes.set_ylabel("kbit/s")
    axes.set_xlabel("time (s)")
    axes.legend(loc="upper right", fontsize="small")


DRAWN = ("droptail", "nred, T_NCN 100 ms", "nred, QualNet's TCP, T_NCN 100 ms")

EXPERIMENT = Experiment(
    title="Exposed terminal: per second the two transfers interlace with NRED",
    scenario=Path(__file__).with_name("fig11.toml"),
    series=tuple(
        Series(f"{scheme}{suffix}", scheme, overrides, against=f"droptail{suffix}")
        for suffix, overrides in READINGS.items()
        for scheme in ("droptail", "nred")
    ),
    claims=tuple(
        Claim(
            text=f"No transfer holds the channel for 20 s{suffix}",
            where=WHERE,
            source="paper",
            series=f"nred{suffix}",
            baseline=f"droptail{suffix}",
            statistic=number("longest_hold_s"),
            comparison="below",
            value=20,
        )
        for suffix in READINGS
    ),
    draw=draw,
    read=read,
    curves=curves,
)
