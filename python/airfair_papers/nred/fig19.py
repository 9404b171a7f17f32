"""Figure 19: the scene of figure 18 with NRED, T_interval 100 ms, notifications that hold for 2 s.

**Share** has no number in the paper. Evaluated are three things: that FTP 2 gains while node 5 is near FTP 1;
that it then has at least a tenth of the mean of the two, so that FTP 1 does not capture the channel any more
as figure 18 reads it; and that the two share fairly, read as a mean of Jain's index of at least 0.8 in
intervals of 5 s. In intervals of 1 s, TCP's time-outs look like sharing. Section 7.3 says that fair does not
mean the same throughput, since a transfer of two hops can have half of what one of a single hop has: so there
is a reading in which the goodput of FTP 2 counts twice ("by hops"), over all the time of node 5 above.

**Sense range.** Figure 18 needs one below 567 m. With it FTP 2 meets FTP 1 at node 5 alone: node 4 sends
without knowing that node 5 cannot answer, each packet costs it several attempts, and TCP's time-outs double.
NRED takes away two thirds of what FTP 1 sends, and FTP 2 uses little of the room. Where nodes 4 and 6 sense
FTP 1 too (670 m) they wait with node 5, and NRED makes the flows share even by equal goodputs. So that range
is a reading too; but with it the channel is not free once node 5 has left.

**Once a node has left**, it follows the last notification for its lifetime, and then no longer: each flow has
nine tenths of what it has alone. With node 5 above all the time that must be false. With theta 0.5 FTP 2
fails it: its own nodes complain of it (`common.readings`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, number, number_gain
from airfair.paper import Experiment, Series

from airfair_papers.nred.common import STARVED
from airfair_papers.nred.common.readings import BY_TCP, READINGS, SCENE, suffix

from .fig18 import FAR_SENSE, FLOWS, SCENARIO, STAYS_ABOVE, WELL, alone, curves, draw_over_time, read

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 7, figure 19"
FAIR = 0.8
FAR = "sense range 670 m"
SHOWN = {
    **{name: READINGS[name] for name in (*BY_TCP, "theta 0.5", SCENE)},
    FAR: (*READINGS[MAIN], *FAR_SENSE),
}
VARIED = {
    "max_p 0.2": ("nred.max_p=0.2",),
    "max_p 0.3": ("nred.max_p=0.3",),
    "broadcast": ("nred.broadcast=true",),
}


def draw(rows: Measured, figure: Figure) -> None:
    """As in the paper, with NRED."""
    draw_over_time(rows, figure, "nred")


def fair(series: str, index: str, reading: str) -> Claim:
    """That the two share fairly."""
    return Claim(
        text="The two share the channel fairly",
        where=WHERE,
        source="paper",
        series=f"nred{suffix(series)}",
        baseline=f"droptail{suffix(series)}",
        statistic=number(index),
        comparison="above",
        value=FAIR,
        reading=reading,
    )


def claims(reading: str) -> list[Claim]:
    """Claims of figure 19, in one reading; the first three are false with drop-tail."""
    nred, droptail = f"nred{suffix(reading)}", f"droptail{suffix(reading)}"
    return [
        Claim(
            text="While node 5 is near FTP 1, FTP 2 gains by NRED",
            where=WHERE,
            source="paper",
            series=nred,
            baseline=droptail,
            statistic=number_gain("FTP 2 above, kbit/s"),
            comparison="above",
            reading=reading,
        ),
        Claim(
            text="FTP 1 does not capture the channel any more",
            where=WHERE,
            source="paper",
            series=nred,
            baseline=droptail,
            statistic=number("FTP 2 above, share of the mean"),
            comparison="above",
            value=STARVED,
            reading=reading,
        ),
        fair(reading, "Jain above, 5 s", reading),
        *(
            Claim(
                text=f"Once node 5 has left, {flow} uses the channel well again",
                where=WHERE,
                source="paper",
                series=nred,
                baseline=f"nred, 5 stays above{suffix(reading)}",
                about=("node",),
                statistic=number(f"{flow} below, kbit/s"),
                comparison="above",
                bound=number(f"{flow} below, kbit/s"),
                factor=WELL,
                bound_series=f"{flow} alone{suffix(reading)}",
                reading=reading,
            )
            for flow in FLOWS
        ),
    ]


def _series(reading: str, overrides: tuple[str, ...]) -> list[Series]:
    end = suffix(reading)
    return [
        Series(f"droptail{end}", "droptail", overrides),
        Series(f"nred{end}", "nred", overrides, against=f"droptail{end}"),
        Series(f"nred, 5 stays above{end}", "nred", (*overrides, *STAYS_ABOVE)),
        *(Series(f"{flow} alone{end}", "droptail", (*overrides, *alone(flow))) for flow in FLOWS),
    ]


EXPERIMENT = Experiment(
    title="NRED: the transfer over a moving node gets a part of the channel of the other transfer",
    scenario=SCENARIO,
    series=(
        *(series for reading, overrides in SHOWN.items() for series in _series(reading, overrides)),
        *(
            Series(f"nred, {name}", "nred", (*READINGS[MAIN], *changes), against="droptail")
            for name, changes in VARIED.items()
        ),
    ),
    claims=(
        *(claim for reading in SHOWN for claim in claims(reading)),
        fair(MAIN, "Jain above, by hops", "by hops"),
    ),
    draw=draw,
    read=read,
    curves=curves,
)
