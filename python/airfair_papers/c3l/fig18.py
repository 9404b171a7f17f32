"""Figure 18: two links that interfere some of the time; C3L takes them for links that always do.

The paper: C3L "made a conservative assumption that the two links always interfere" and delivers 4.85 and 4.90
Mbit/s, where "the optimal algorithm which instantly adapts" has 6.43 and 6.52. The oracle is saturated UDP:
the DCF adapts at once. That it has the paper's rates is no evidence, since the part of the time in which the
links interfere (two thirds) was set by them; that C3L has half of a lone link each is: read as 4.85 within a
tenth, and less than 0.8 of the oracle. The picture has the oracle's goodput vary and C3L's not: the standard
deviation of a second's goodput is less than half.

Readings: the period of the interference (10 s; 4 and 30 s beside), the part of HELLOs and probes from which
nodes interfere (0.1; 0.8 would say that they mostly do not), probes of 3 dB, conflict by receivers (there is
no RTS), no reaction of a node to its own queue, capacities that grow in any case, or never change.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from airfair.claims import MAIN, Claim, Measured, goodput, number
from airfair.paper import Experiment, Series

from airfair_papers.c3l.common.scenes import PROBES, SMALL, START, told

if TYPE_CHECKING:
    from typing import Literal

    from airfair.claims import Statistic
    from airfair.recording import Recording
    from matplotlib.figure import Figure

WHERE = "figure 18, section IV-E"
SCENE = Path(__file__).with_name("partial.toml")
ORACLE, C3L, ALWAYS, TCP, VEGAS, LOCAL = (
    "oracle (UDP)",
    "C3L",
    "UDP, always interfering",
    "TCP NewReno",
    "TCP Vegas",
    "C3L, local estimates",
)
FLOWS = ("F1", "F2")
VARIATION = "standard deviation of a second's goodput of F1 (kbit/s)"
OPTIMUM = 6475.0
"""C (1 - p/2), kbit/s, for C as the paper's 4.85 + 4.90 Mbit/s and p of 2/3."""
SHARE = "least share of the optimum"


def _moves(near: float, far: float) -> tuple[str, ...]:
    """The places of the second link: so many seconds near, so many far."""
    made = []
    for node, x in (("N3", 0), ("N4", 100)):
        path = (
            f'{{to=["{x} m", "450 m"], speed="3000 m/s", pause="{far} s"}}, '
            f'{{to=["{x} m", "300 m"], speed="3000 m/s", pause="{near} s"}}'
        )
        made.append(f"node.{node}.movement={{repeat=true, waypoints=[{path}]}}")
    return tuple(made)


PERIODS = {"period 4 s": _moves(2.667, 1.333), "period 30 s": _moves(20.0, 10.0)}
READINGS: dict[str, tuple[str, ...]] = {
    "probes 3 dB": ("c3l.probe_power=3",),
    "interferes from 0.8": ("c3l.interferes=0.8",),
    "conflict by receivers": ("c3l.conflict=receivers",),
    "local loop off": ("c3l.local_factor=1",),
    "capacities grow in any case": ("c3l.used=0",),
    "no re-estimation": ("c3l.reestimate=false",),
}


def _tcp() -> tuple[str, ...]:
    return tuple(
        text
        for flow in FLOWS
        for text in (f'flow.{flow}.transport="tcp-newreno"', f'flow.{flow}.traffic={{kind="ftp"}}')
    )


SERIES = (
    Series(ORACLE, "droptail"),
    Series(C3L, "c3l", (PROBES,)),
    Series(ALWAYS, "droptail", _moves(1e6, 0.001)),
    Series(TCP, "newreno", _tcp()),
    Series(VEGAS, "vegas", _tcp()),
    Series(LOCAL, "c3l-local"),
    *(Series(told(C3L, reading), "c3l", (PROBES, *changes)) for reading, changes in READINGS.items()),
    *(
        series
        for period, moves in PERIODS.items()
        for series in (
            Series(told(ORACLE, period), "droptail", moves),
            Series(told(C3L, period), "c3l", (PROBES, *moves)),
        )
    ),
)


def read(recording: Recording) -> dict[str, float]:
    """Goodputs, the least one's share of the optimum, and how F1's varies from second to second."""
    rates = {flow["id"]: flow["goodput_bps"] / 1e3 for flow in recording.result["flows"]}
    table = recording.pandas("flow_series").pivot(index="end_s", columns="flow", values="goodput_bps")
    measured = table[table.index > recording.result["warmup_s"]]
    return {
        **{f"{flow} (kbit/s)": rate for flow, rate in rates.items()},
        SHARE: min(rates.values()) / OPTIMUM,
        VARIATION: float(np.std(measured["F1"])) / 1e3,
    }


def curves(recording: Recording) -> dict[str, list[float]]:
    """F1's goodput over time, kbit/s."""
    table = recording.pandas("flow_series").pivot(index="end_s", columns="flow", values="goodput_bps")
    return {"end_s": list(map(float, table.index)), "F1": list(map(float, table["F1"] / 1e3))}


def claims(reading: str) -> list[Claim]:
    """Of C3L beside the oracle of the same period."""
    own = told(C3L, reading)
    period = reading if reading in PERIODS else ""
    oracle = told(ORACLE, period)

    def of(
        text: str,
        statistic: Statistic,
        comparison: Literal["above", "below"],
        value: float = 0.0,
        bound: Statistic | None = None,
        factor: float = 1.0,
    ) -> Claim:
        return Claim(
            text=text,
            where=WHERE,
            source="paper",
            series=own,
            baseline=oracle if bound is None and comparison == "below" else None,
            statistic=statistic,
            comparison=comparison,
            value=value,
            bound=bound,
            factor=factor,
            bound_series=None if bound is None else oracle,
            reading=reading,
        )

    made = []
    for flow in FLOWS:
        rate = goodput(flow)
        made += [
            of(f"C3L: {flow} has at least 0.9 of 4.85 Mbit/s", rate, "above", 4.365e6),
            of(f"C3L: {flow} has at most 1.1 of 4.85 Mbit/s", rate, "below", 5.335e6),
            of(f"C3L: {flow} has less than 0.8 of the oracle's", rate, "below", bound=rate, factor=0.8),
        ]
    varies = number(VARIATION)
    made.append(of("C3L's rate varies less than half as much", varies, "below", bound=varies, factor=0.5))
    return made


def calibrated(comparison: Literal["above", "below"], value: float) -> Claim:
    """The oracle has the paper's rates since the time of interference was set by them."""
    return Claim(
        text=f"The oracle's F1 is {comparison} {value / 1e6:g} Mbit/s",
        where=WHERE,
        source="calibration",
        series=ORACLE,
        baseline=None,
        statistic=goodput("F1"),
        comparison=comparison,
        value=value,
    )


def draw(rows: Measured, figure: Figure) -> None:
    """F1's goodput in a minute of the first seed; goodputs by series."""
    left, right = figure.subplots(1, 2)
    for series in (ORACLE, C3L):
        curve = rows[series]["curves"]
        times = np.array(curve["end_s"])
        shown = (times > times[-1] - 60) & (times > START)
        left.plot(times[shown], np.array(curve["F1"])[shown] / 1e3, label=series)
    left.set_xlabel("time (s)")
    left.set_ylabel("goodput of F1 (Mbit/s)")
    left.legend(fontsize="x-small")
    names = [series.name for series in SERIES]
    for flow in FLOWS:
        values = [goodput(flow).of(rows[series]) for series in names]
        right.errorbar(
            [value["mean"] / 1e6 for value in values],
            range(len(names)),
            xerr=[(value["ci95"] or 0) / 1e6 for value in values],
            fmt="o",
            label=flow,
        )
    right.set_yticks(range(len(names)), names, fontsize="x-small")
    right.set_xlabel("goodput (Mbit/s)")
    right.legend(fontsize="x-small")


EXPERIMENT = Experiment(
    title="Two links that interfere two thirds of the time",
    scenario=SCENE,
    series=SERIES,
    claims=(
        *(claim for reading in (MAIN, *READINGS, *PERIODS) for claim in claims(reading)),
        calibrated("above", 6.1e6),
        calibrated("below", 6.8e6),
    ),
    draw=draw,
    read=read,
    curves=curves,
    small=SMALL,
)
