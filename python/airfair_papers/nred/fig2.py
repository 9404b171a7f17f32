"""Figure 2: the middle one of three one-hop transfers starves, with drop-tail queues and with RED.

**Starves** has no number in the paper. Here: the goodput lies below a tenth of the mean of the three flows
(`common.STARVED`).

**Position.** The middle pair is almost never alone on the air because the outer pairs do not sense each
other. The series "outer pairs sensed" show the same schemes at 310 m from pair to pair instead of 350 m:
the outer pairs (620 m) then sense each other, no other two nodes pass the reception range (367 m) or the
sense range (670 m), and no flow starves.

**The total.** In the paper RED raises the total. This depends on the threshold after a time-out in fast
recovery. RFC 2581, the standard of the paper's time, allows a threshold of at most half of FlightSize,
which has grown with each duplicate acknowledgement by then. A sender that uses this bound fully
(`newreno.flight_at_timeout`) overflows the queue again and again, and RED gains what drop-tail wastes. ns-2
and the main reading halve the window, if that is less: drop-tail's queue overflows seldom, NewReno recovers
in a round trip or two, and RED's early drops cost more, even for a flow alone (series "left alone").
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, goodput, share_of_mean, total, total_gain
from airfair.paper import Experiment, Series

from airfair_papers.nred.common import STARVED, pictures
from airfair_papers.nred.common.readings import READINGS, suffix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BASE = READINGS[MAIN]
MAX_P = tuple(n / 100 for n in range(2, 21, 2))
DRAWN = 0.06
"""The max_p of the paper's figure."""

SENSED = (
    'node.a2.position=["310 m", "0 m"]',
    'node.b2.position=["310 m", "200 m"]',
    'node.a3.position=["620 m", "0 m"]',
    'node.b3.position=["620 m", "200 m"]',
)
ALONE = (
    'flow=[{id="left", from="a1", to="b1", transport="tcp-newreno", start="10 s", stop="130 s", '
    'traffic={kind="ftp"}}]'
)
NS2 = "ns-2's TCP"
FLIGHT = "ns-2's TCP, half of FlightSize at time-outs"
SWEPT = (MAIN, NS2, FLIGHT)
"""The readings in which RED is measured at each max_p."""
ENDS = (DRAWN, MAX_P[-1])
OTHERS = {
    "4.4BSD's timer": READINGS["4.4BSD's timer"],
    NS2: READINGS[NS2],
    # RFC 2581 equation 3, with the sign of equality.
    FLIGHT: (*READINGS[NS2], "newreno.flight_at_timeout=true"),
    # RFC 2988; all else as ns-2 has it.
    "ns-2's TCP, time-outs from 1 s": (*READINGS[NS2], 'tcp.min_rto="1 s"'),
    # Only a frame that was received with errors is followed by EIFS.
    "EIFS after frames": (*BASE, "radio.eifs_on_energy=false"),
}


def together(suffix: str, overrides: tuple[str, ...], max_p: tuple[float, ...]) -> list[Series]:
    """Drop-tail, and RED with each max_p, in one form of the scene."""
    droptail = Series(f"droptail{suffix}", "droptail", overrides)
    return [
        droptail,
        *(
            Series(f"red {p:.2f}{suffix}", "red", (*overrides, f"red.max_p={p}"), against=droptail.name)
            for p in max_p
        ),
    ]


def starves(scheme: str, text: str, reading: str = MAIN) -> Claim:
    """That the middle flow starves in a series."""
    return Claim(
        text=text,
        where="section 4.1, figure 2",
        source="paper",
        series=f"{scheme}{suffix(reading)}",
        baseline=None,
        statistic=share_of_mean("middle"),
        comparison="below",
        value=STARVED,
        reading=reading,
    )


def draw(rows: Measured, figure: Figure) -> None:
    """Goodput of each flow as in the paper; beside it the middle flow's at every max_p."""
    bars, sweep = figure.subplots(1, 2)
    shown = {"droptail": "drop-tail", f"red {DRAWN:.2f}": f"RED, max_p {DRAWN:g}"}
    pictures.goodputs(bars, rows, shown)

    middle = [goodput("middle").of(rows[f"red {p:.2f}"]) for p in MAX_P]
    limit = [STARVED * total.of(rows[f"red {p:.2f}"])["mean"] / 3000 for p in MAX_P]
    sweep.errorbar(
        MAX_P,
        [m["mean"] / 1000 for m in middle],
        yerr=[(m["ci95"] or 0) / 1000 for m in middle],
        fmt="o-",
        capsize=3,
        color="C1",
        label="middle, RED",
    )
    sweep.plot(MAX_P, limit, "k:", label="starved below: a tenth of the mean")
    droptail = goodput("middle").of(rows["droptail"])["mean"] / 1000
    sweep.axhline(droptail, linestyle="--", color="C0", label="middle, drop-tail")
    sweep.set_xlabel("max_p")
    sweep.set_ylabel("goodput (kbit/s)")
    sweep.set_ylim(bottom=0)
    sweep.legend()


EXPERIMENT = Experiment(
    title="The middle one of three one-hop flows starves under drop-tail and under RED",
    scenario=Path(__file__).with_suffix(".toml"),
    series=(
        *together("", BASE, MAX_P),
        *together(", outer pairs sensed", (*BASE, *SENSED), (DRAWN,)),
        *together(", left alone", (*BASE, ALONE), (DRAWN,)),
        *(
            series
            for name, overrides in OTHERS.items()
            for series in together(f", {name}", overrides, MAX_P if name in SWEPT else ENDS)
        ),
    ),
    claims=(
        *(
            starves("droptail", "With drop-tail queues the middle flow starves", reading)
            for reading in (MAIN, *OTHERS)
        ),
        *(
            starves(f"red {p:.2f}", f"With RED at max_p {p:.2f} the middle flow starves", reading)
            for reading in (MAIN, *OTHERS)
            for p in (MAX_P if reading in SWEPT else ENDS)
        ),
        *(
            Claim(
                text=f"RED (max_p {DRAWN:g}) raises the total over drop-tail",
                where="section 4.1, figure 2",
                source="paper",
                series=f"red {DRAWN:.2f}{suffix(reading)}",
                baseline=f"droptail{suffix(reading)}",
                statistic=total_gain,
                comparison="above",
                reading=reading,
            )
            for reading in (MAIN, *OTHERS)
        ),
    ),
    draw=draw,
)
