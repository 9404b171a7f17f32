"""Figure 18: without NRED a transfer over a moving node starves while that node is near another transfer.

**Above and below.** Node 5 rests above until 20 s and from 80 to 100 s, below from 40 to 60 s and from 120 s
on. Goodput is counted in whole seconds of these rests, between the start (10 s) and the stop (130 s) of the
flows.

**Captures** has no number in the paper. Here: FTP 2 starves (`common.STARVED`), it has less than a tenth of
the mean of the two. With node 5 below all the time ("5 stays below") it does not.

**Use the channel well** is read as nine tenths of what each flow has alone (series "FTP 1 alone", "FTP 2
alone"). FTP 2 does not have that with node 5 above all the time, FTP 1 not where stations sense each other
at 670 m: there node 5 is never out of FTP 1's reach.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.nred.common import STARVED
from airfair_papers.nred.common.rates import goodputs
from airfair_papers.nred.common.readings import BY_TCP, READINGS, SCENE, suffix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from airfair.recording import Recording
    from matplotlib.figure import Figure
    from pandas import DataFrame

SCENARIO = Path(__file__).with_name("fig18.toml")
FLOWS = ("FTP 1", "FTP 2")
START, STOP = 10, 130
ABOVE = ((START, 20), (80, 100))
BELOW = ((40, 60), (120, STOP))
"""Rests of node 5 while the flows are active, s."""
HOPS = {"FTP 1": 1, "FTP 2": 2}
"""Hops of each transfer. A packet takes the air of its neighbourhood once a hop."""
COARSE = 5
"""Seconds of a coarse interval: time-outs of a second and more look like sharing in finer ones."""

STAYS = 'node.5.movement={waypoints=[{to=["200 m", "600 m"], speed="0 m/s"}]}'
STAYS_ABOVE = (STAYS,)
STAYS_BELOW = ('node.5.position=["200 m", "400 m"]', STAYS)
FAR_SENSE = ('radio.propagation.carrier_sense="670 m"',)
WELL = 0.9
"""Of what a flow has alone."""


def alone(flow: str) -> tuple[str, ...]:
    """The other flow has one second at the end of the run."""
    other = next(name for name in FLOWS if name != flow)
    return (f'flow."{other}".start="149 s"', f'flow."{other}".stop="150 s"')


def within(table: DataFrame, windows: Sequence[tuple[int, int]]) -> DataFrame:
    """The rows whose seconds lie in these windows."""
    return table[[any(a < end <= b for a, b in windows) for end in table.index]]


def jain(table: DataFrame) -> float:
    """The mean over the rows of Jain's index; rows in which neither flow got anything are left out."""
    busy = table[table.sum(axis=1) > 0]
    return float((busy.sum(axis=1) ** 2 / (2 * (busy**2).sum(axis=1))).mean())


def coarse(table: DataFrame) -> DataFrame:
    """Means of `COARSE` seconds each."""
    return table.groupby((table.index - 1) // COARSE).mean()


def read(recording: Recording) -> dict[str, float]:
    """Goodput of each flow above and below, and how evenly the flows shared the time above."""
    table = goodputs(recording)[list(FLOWS)]
    found = {
        f"{flow} {name}, kbit/s": float(within(table, windows)[flow].mean())
        for name, windows in (("above", ABOVE), ("below", BELOW))
        for flow in FLOWS
    }
    above = within(table, ABOVE)
    mean = float(above.to_numpy().mean())
    return found | {
        "FTP 2 above, share of the mean": found["FTP 2 above, kbit/s"] / mean if mean else float("nan"),
        "Jain above, 1 s": jain(above),
        "Jain above, 5 s": jain(coarse(above)),
        "Jain above, by hops": jain((above.mean() * [HOPS[flow] for flow in FLOWS]).to_frame().T),
    }


def curves(recording: Recording) -> Mapping[str, Sequence[float]]:
    """Goodput over time, kbit/s, in intervals of 1 s and of 5 s."""
    table = goodputs(recording)[list(FLOWS)]
    return {
        f"{flow}, {seconds} s": list(column)
        for seconds, values in ((1, table), (COARSE, coarse(table)))
        for flow, column in values.items()
    }


def draw_over_time(rows: Measured, figure: Figure, series: str) -> None:
    """Both flows over time, in intervals of 1 s and of 5 s; the rests of node 5 above are shaded."""
    plots = figure.subplots(2, 1, sharex=True, sharey=True)
    for axes, seconds in zip(plots, (1, COARSE), strict=True):
        for flow in FLOWS:
            values = rows[series]["curves"][f"{flow}, {seconds} s"]
            axes.stairs(values, [seconds * i for i in range(len(values) + 1)], label=flow, linewidth=1.3)
        for first, last in ((0, 20), (80, 100)):
            axes.axvspan(first, last, color="0.9", zorder=0)
        axes.set_ylabel(f"kbit/s in {seconds} s")
        axes.set_ylim(bottom=0)
    plots[0].legend(loc="upper right", ncols=2)
    plots[1].set_xlabel(
        "time (s); shaded: node 5 rests near FTP 1; at 10 m/s down from 20 s, up from 60 s, down from 100 s"
    )


def draw(rows: Measured, figure: Figure) -> None:
    """As in the paper, with drop-tail queues."""
    draw_over_time(rows, figure, "droptail")


FORMS: dict[str, tuple[str, ...]] = {
    "droptail": (),
    "droptail, 5 stays above": STAYS_ABOVE,
    "droptail, 5 stays below": STAYS_BELOW,
    "droptail, sensed at 670 m": FAR_SENSE,
    **{f"{flow} alone": alone(flow) for flow in FLOWS},
}
SHOWN = (*BY_TCP, SCENE)


def _claims(reading: str) -> list[Claim]:
    return [
        Claim(
            text="While node 5 is near FTP 1, FTP 1 captures the channel",
            where="section 7, figure 18",
            source="paper",
            series=f"droptail{suffix(reading)}",
            baseline=None,
            statistic=number("FTP 2 above, share of the mean"),
            comparison="below",
            value=STARVED,
            reading=reading,
        ),
        *(
            Claim(
                text=f"While node 5 is away, {flow} uses the channel well",
                where="section 7, figure 18",
                source="paper",
                series=f"droptail{suffix(reading)}",
                baseline=None,
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


EXPERIMENT = Experiment(
    title="Drop-tail: a transfer over a moving node starves while that node is near another transfer",
    scenario=SCENARIO,
    series=tuple(
        Series(f"{name}{suffix(reading)}", "droptail", (*READINGS[reading], *changes))
        for reading in SHOWN
        for name, changes in FORMS.items()
    ),
    claims=tuple(claim for reading in SHOWN for claim in _claims(reading)),
    draw=draw,
    read=read,
    curves=curves,
)
