"""The cost of NRED (ours, not the paper's): nothing without congestion, the airtime of notifications with
congestion.

"Calm" is the grid of figure 6 with six UDP flows of 40 kbit/s, a fifth of the channel; "busy" has 100
kbit/s each, a half of it; "pages" are HTTP transfers, which fill the channel for moments; "full" are FTP
transfers. The airtime of notifications is a lower bound: RTS, CTS, the notification and its ACK, each sent
once. Outcomes: `docs/papers/nred-networks.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, number, total_share
from airfair.paper import Experiment, Series

from airfair_papers.nred.common import estimate
from airfair_papers.nred.common.readings import READINGS
from airfair_papers.nred.ncn import read

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def udp(rate: str) -> tuple[str, ...]:
    """Six UDP flows of that rate, packets at random."""
    traffic = f'{{ kind = "poisson", rate = "{rate}", packet = "512 B" }}'
    return tuple(
        text for i in range(1, 7) for text in (f'flow.{i}.transport="udp"', f"flow.{i}.traffic={traffic}")
    )


LOADS: dict[str, tuple[str, ...]] = {
    "calm": (*READINGS[MAIN], *udp("40 kbit/s")),
    "busy": (*READINGS[MAIN], *udp("100 kbit/s")),
    "pages": (*READINGS[MAIN], *estimate.HTTP),
    "full": READINGS[MAIN],
}


def draw(rows: Measured, figure: Figure) -> None:
    """The part of the total that is left, and the airtime of notifications."""
    kept, air = figure.subplots(1, 2)
    names = [f"nred, {load}" for load in LOADS]
    shares = [rows[name]["total_share"] for name in names]
    airtime = [rows[name]["numbers"]["least_airtime_share"] for name in names]
    for axes, values, label in (
        (kept, shares, "total as a share of drop-tail's"),
        (air, airtime, "airtime of notifications (share of the run)"),
    ):
        axes.bar(
            list(LOADS),
            [v["mean"] for v in values],
            yerr=[v["ci95"] or 0 for v in values],
            capsize=3,
            width=0.6,
        )
        axes.set_ylabel(label)


EXPERIMENT = Experiment(
    title="What NRED costs where nothing is congested, and where something is",
    scenario=estimate.SCENARIO,
    series=(
        *(
            series
            for load, overrides in LOADS.items()
            for series in (
                Series(f"droptail, {load}", "droptail", overrides),
                Series(f"nred, {load}", "nred", overrides, against=f"droptail, {load}"),
            )
        ),
        Series(
            "nred, full, T_NCN 10 ms",
            "nred",
            (*READINGS[MAIN], 'nred.ncn_interval="10 ms"'),
            against="droptail, full",
        ),
    ),
    claims=(
        *(
            Claim(
                text=f"{load}: less than 1 % of the goodput is lost",
                where="ours",
                source="ours",
                series=f"nred, {load}",
                baseline="nred, full",
                about=("flow",),
                statistic=total_share,
                comparison="above",
                value=0.99,
            )
            for load in ("calm", "busy")
        ),
        Claim(
            text="calm: no notification but once in 100 s",
            where="section 5.2, condition (i)",
            source="paper",
            series="nred, calm",
            baseline="nred, full",
            about=("flow",),
            statistic=number("messages_per_s"),
            comparison="below",
            value=0.01,
        ),
        Claim(
            text="full: notifications take less than 1 % of the time",
            where="ours",
            source="ours",
            series="nred, full",
            baseline="nred, full, T_NCN 10 ms",
            statistic=number("least_airtime_share"),
            comparison="below",
            value=0.01,
        ),
    ),
    draw=draw,
    read=read,
)
