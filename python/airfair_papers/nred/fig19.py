"""Figure 19: the scene of figure 18 with NRED, T_interval 100 ms, notifications that hold for 2 s.

**Share** has no number in the paper. Evaluated are three things: that FTP 2 gains while node 5 is near FTP 1;
that it then has at least a tenth of the mean of the two, so that FTP 1 does not capture the channel any more
as figure 18 reads it; and that the two share fairly, read as a mean of Jain's index of at least 0.8 in
intervals of 5 s. In intervals of 1 s, TCP's time-outs look like sharing.

**Sense range.** Figure 18 needs one below 567 m. With it FTP 2 meets FTP 1 at node 5 alone: node 4 sends
without knowing that node 5 cannot answer, each packet costs it several attempts, and TCP's time-outs double.
NRED takes away a third of what FTP 1 sends, and FTP 2 uses little of the room. Where nodes 4 and 6 sense
FTP 1 too (670 m) they wait with node 5, and NRED makes the flows share. So the claims are evaluated for both;
no range that was tried gives both figures.

**Once a node has left**, it follows the last notification for its lifetime, and then no longer: FTP 1 has
nine tenths of what it has alone. With node 5 above all the time that must be false.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, number, number_gain
from airfair.paper import Experiment, Series

from airfair_papers.nred.common import STARVED

from .fig18 import FAR_SENSE, SCENARIO, STAYS_ABOVE, WELL, curves, draw_over_time, read

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 7, figure 19"
FAIR = 0.8
READINGS = {
    "max_p 0.2": ("nred.max_p=0.2",),
    "max_p 0.3": ("nred.max_p=0.3",),
    "checks every 500 ms": ('nred.ncn_interval="500 ms"',),
    "broadcast": ("nred.broadcast=true",),
    "time-outs from 1 s": ('tcp.min_rto="1 s"',),
}


def draw(rows: Measured, figure: Figure) -> None:
    """As in the paper, with NRED."""
    draw_over_time(rows, figure, "nred")


def shares(suffix: str, words: str) -> list[Claim]:
    """What figure 19 shows of the time above, for one sense range; each is false with drop-tail."""
    nred, droptail = f"nred{suffix}", f"droptail{suffix}"
    return [
        Claim(
            text=f"While node 5 is near FTP 1, FTP 2 gains by NRED{words}",
            where=WHERE,
            source="paper",
            series=nred,
            baseline=droptail,
            statistic=number_gain("FTP 2 above, kbit/s"),
            comparison="above",
        ),
        Claim(
            text=f"FTP 1 does not capture the channel any more{words}",
            where=WHERE,
            source="paper",
            series=nred,
            baseline=droptail,
            statistic=number("FTP 2 above, share of the mean"),
            comparison="above",
            value=STARVED,
        ),
        Claim(
            text=f"The two share the channel fairly{words}",
            where=WHERE,
            source="paper",
            series=nred,
            baseline=droptail,
            statistic=number("Jain above, 5 s"),
            comparison="above",
            value=FAIR,
        ),
    ]


EXPERIMENT = Experiment(
    title="NRED: the transfer over a moving node gets a part of the channel of the other transfer",
    scenario=SCENARIO,
    series=(
        Series("droptail", "droptail"),
        Series("nred", "nred", against="droptail"),
        Series("nred, 5 stays above", "nred", STAYS_ABOVE),
        Series("droptail, sensed at 670 m", "droptail", FAR_SENSE),
        Series("nred, sensed at 670 m", "nred", FAR_SENSE, against="droptail, sensed at 670 m"),
        *(Series(f"nred, {name}", "nred", changes, against="droptail") for name, changes in READINGS.items()),
    ),
    claims=(
        *shares("", ""),
        *shares(", sensed at 670 m", " (sense range 670 m)"),
        Claim(
            text="Once node 5 has left, FTP 1 has the channel to itself again",
            where=WHERE,
            source="paper",
            series="nred",
            baseline="nred, 5 stays above",
            about=("node",),
            statistic=number("FTP 1 below, kbit/s"),
            comparison="above",
            value=WELL["FTP 1"],
        ),
    ),
    draw=draw,
    read=read,
    curves=curves,
)
