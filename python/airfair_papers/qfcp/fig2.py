"""Figure 2: twelve flows in both directions through one access point, round trips of 40 to 370 ms.

`fig2.toml` is the cell. Six of the twelve upload; the seed draws which, so that round trips and directions
are independent. The paper gives no rate, no RTS threshold and no queue: the cell has ns-2's defaults (11
Mbit/s, RTS/CTS, 50 packets), with others for comparison. TCP is ns-2's (Reno, no SACK, each segment
acknowledged, windows up to 1000 segments, time-outs from 200 ms); the explicit schemes have the same
transport with a fine clock. XCP and RCP assume a radio's nominal rate, which no traffic reaches. Outcomes:
`docs/papers/qfcp-cell.md`.

The capacity estimate need not climb by 10 % an interval (4), because the first burst that waits reveals the
output at once. T is the mean round trip, 0.2 s plus the wait in the queue; so the reading "T = 0.2 s" is
right, and `T from 1 s` is measured for comparison.

**The divisor of equation (1)** (`docs/schemes/qfcp.md`) decides how near to 1 the index is: the swings of
the share in force fill the queue. The queue is the second factor: 50 packets are less than a
bandwidth-delay product, the overflowing packets are those of downloads (uploads lose nothing), and without
SACK a burst of losses is repaired one packet in a round trip, or by the timer. A long queue hides TCP's
starvation, not its unfairness between round trips. With q in packets, as (6) counts them, queues of
acknowledgements have more weight.

Judged: the index of a second is a mean from 3 s on ("2-3 seconds"); "near 1" is above 0.9, "low" below 0.6,
"starve" a tenth of all instead of a half; oscillations have ended when no later second has an index below
0.9. Seeds are 21 to 40: the divisor of equation (1) was chosen by runs with the first 20.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from airfair.claims import MAIN, Claim, Measured, Statistic, number
from airfair.paper import Experiment, Series

from airfair_papers.qfcp.common.cell import (
    COLOURS,
    PROTOCOLS,
    SEEDS,
    SETTLING_S,
    Protocol,
    flows,
    for_good,
    jain,
    of_cell,
    per_second,
    probing,
    uploads,
    windows,
)
from airfair_papers.qfcp.common.protocols import DIVISORS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from airfair.recording import Recording
    from airfair.results import Estimate
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COUNT = 12
RTTS_MS = tuple(range(40, 371, 30))
SECONDS = 60
SHOWN_S = 30
"""Of the windows."""

NO_RTS = 'radio.rts_threshold="2347 B"'
LONG = "radios.access-point.queue_packets=1000"
CELLS: Mapping[str, tuple[str, ...]] = {
    "no RTS": (NO_RTS,),
    "queue 150": ("radios.access-point.queue_packets=150",),
    "queue 1000": (LONG,),
    "no RTS, queue 1000": (NO_RTS, LONG),
}
"""Other cells than ns-2's; the queue is the access point's."""
READINGS: Mapping[str, tuple[str, ...]] = {
    **{name: (change,) for name, change in DIVISORS.items()},
    "q in packets": ('qfcp.queue_unit="packets"',),
    "T from 1 s": ('qfcp.min_interval="1 s"',),
    "C of 11 Mbit/s": ('qfcp.capacity="configured"',),
    "C of 2.5 Mbit/s": ('qfcp.capacity="configured"', 'qfcp.ceiling="2.5 Mbit/s"'),
    "least RTT": ('qfcp.rtt="least"',),
    "downlink only": ('qfcp.both_directions="none"',),
}
"""Of QFCP."""
JUDGED = tuple(DIVISORS)
"""Readings in which the claims are judged as well."""
IN_CELLS = ("QFCP", "TCP Reno")


def directions(seed: int) -> tuple[str]:
    """Six of the twelve upload, drawn by the seed ("randomly generated")."""
    return (flows(COUNT, random.Random(seed).sample(range(1, COUNT + 1), COUNT // 2)),)


def read(recording: Recording) -> dict[str, float]:
    """The numbers of a run; the index of each second has its own, so that the figure can show a band."""
    index = jain(per_second(recording))
    ends, sizes = windows(recording)
    late = sizes[ends > SETTLING_S].mean(axis=0)
    return {
        **of_cell(recording),
        "0.9 for good after (s)": for_good(index, 0.9),
        "0.95 for good after (s)": for_good(index, 0.95),
        "windows against round trips (correlation)": float(np.corrcoef(late, RTTS_MS)[0, 1]),
        **probing(recording),
        **{_second(s): float(value) for s, value in enumerate(index, 1)},
    }


def _second(number_: int) -> str:
    return f"index, second {number_:02d}"


def curves(recording: Recording) -> dict[str, list[float]]:
    """Windows of one run."""
    ends, sizes = windows(recording)
    told = {f"f{n}": list(map(float, sizes[:, n - 1])) for n in range(1, COUNT + 1)}
    return {"end_s": list(map(float, ends)), "up": list(map(float, uploads(recording))), **told}


def draw(rows: Measured, figure: Figure) -> None:
    """Windows of QFCP (a) and of TCP (b) in one run, and the index of each second (c)."""
    figure.set_size_inches(11.0, 4.0)
    qfcp, tcp, index = figure.subplots(1, 3)
    for axes, name, letter in ((qfcp, "QFCP", "a"), (tcp, "TCP Reno", "b")):
        _windows(axes, rows[name]["curves"])
        axes.set_title(f"({letter}) {name}, first seed")
    for name in ("QFCP", "QFCP, paced", "TCP Reno", "XCP-b"):
        _band(index, rows[name]["numbers"], name)
    index.axvline(SETTLING_S, color="0.7", linestyle=":", linewidth=1)
    index.set_title("(c) fairness index of each second")
    index.set_xlabel("time (s); bands: 95 % over the seeds")
    index.set_ylim(0, 1.02)
    index.legend(loc="center right", fontsize=7)


def _windows(axes: Axes, told: Mapping[str, Sequence[float]]) -> None:
    shown = sum(end <= SHOWN_S for end in told["end_s"])
    for n, up in enumerate(told["up"], 1):
        light = n / COUNT
        colour = (0.4 + 0.55 * light, 0.25, 0.25) if up else (0.25, 0.35, 0.4 + 0.55 * light)
        axes.plot(told["end_s"][:shown], told[f"f{n}"][:shown], color=colour, linewidth=0.8)
    axes.set_xlabel("time (s); red: uploads, blue: downloads,\nbrighter with longer round trips")
    axes.set_ylabel("window (segments)")


def _band(axes: Axes, numbers: Mapping[str, Estimate], name: str) -> None:
    told = [(s, numbers[_second(s)]) for s in range(1, SECONDS + 1) if _second(s) in numbers]
    at = [s for s, _ in told]
    means = np.array([value["mean"] for _, value in told], float)
    half = np.array([value["ci95"] or 0.0 for _, value in told], float)
    axes.plot(at, means, color=COLOURS[name], linewidth=1, label=name)
    axes.fill_between(at, means - half, means + half, color=COLOURS[name], alpha=0.25, linewidth=0)


WHERE = "section III-B, figure 2"
HOSTS = ("tcp.tick",)
"""In what hosts differ beside the scheme."""
INDEX = number("index of a second")
DOWN = number("downloads' share")


def _in(name: str, cell: str) -> str:
    return f"{name}, {cell}" if cell else name


def _claim(
    text: str,
    series: str,
    baseline: str | None,
    statistic: Statistic,
    comparison: Literal["above", "below"],
    value: float,
    reading: str = MAIN,
) -> Claim:
    return Claim(
        text,
        WHERE,
        series,
        baseline,
        statistic,
        comparison,
        source="paper",
        value=value,
        reading=reading,
        about=HOSTS,
    )


def _of_tcp(cell: str) -> list[Claim]:
    """The paper's claims about TCP, in a cell."""
    tcp, reading = _in("TCP Reno", cell), cell or MAIN
    return [
        _claim("TCP's index is low", tcp, None, INDEX, "below", 0.6, reading),
        _claim("Downloads starve with TCP", tcp, None, DOWN, "below", 0.1, reading),
    ]


def _of_qfcp(cell: str = "", form: str = "") -> list[Claim]:
    """The paper's claims about QFCP, in a cell or in another reading of the scheme."""
    qfcp, tcp, reading = _in("QFCP", cell or form), _in("TCP Reno", cell), cell or form or MAIN
    half = _claim("Downloads do not starve with QFCP", qfcp, tcp, DOWN, "above", 0.4, reading)
    return [
        # With a long queue they do not with TCP either.
        *(() if LONG in CELLS.get(cell, ()) else (half,)),
        _claim("QFCP: the index of a second is near 1 from 3 s on", qfcp, tcp, INDEX, "above", 0.9, reading),
        _claim(
            "QFCP: windows are proportional to round trips",
            qfcp,
            tcp,
            number("windows against round trips (correlation)"),
            "above",
            0.9,
            reading,
        ),
        _claim(
            "QFCP: oscillations have ended after 3 s, the index stays above 0.9 for good",
            qfcp,
            tcp,
            number("0.9 for good after (s)"),
            "below",
            3.0,
            reading,
        ),
    ]


def _series(name: str, cell: str, protocol: Protocol, changes: tuple[str, ...]) -> Series:
    against = None if name == "TCP Reno" else _in("TCP Reno", cell if cell in CELLS else "")
    return Series(_in(name, cell), protocol.scheme, (*protocol.overrides, *changes), against)


EXPERIMENT = Experiment(
    title="Twelve flows up and down a wireless cell: windows and the fairness of each second",
    scenario=Path(__file__).with_name("fig2.toml"),
    series=(
        *(_series(name, "", protocol, ()) for name, protocol in PROTOCOLS.items()),
        *(_series("QFCP", reading, PROTOCOLS["QFCP"], changes) for reading, changes in READINGS.items()),
        *(
            _series(name, cell, PROTOCOLS[name], changes)
            for cell, changes in CELLS.items()
            for name in IN_CELLS
        ),
    ),
    claims=(
        *(
            claim
            for cell in ("", *CELLS)
            for claim in (*_of_qfcp(cell), *(_of_tcp(cell) if LONG not in CELLS.get(cell, ()) else ()))
        ),
        *(claim for reading in JUDGED for claim in _of_qfcp(form=reading)),
        *(
            _claim(
                "QFCP: the capacity is found within 3 s",
                qfcp,
                "QFCP, T from 1 s",
                number("capacity found after (s)"),
                "below",
                3.0,
                reading,
            )
            for qfcp, reading in (("QFCP", MAIN), *((_in("QFCP", name), name) for name in JUDGED))
        ),
        Claim(
            text="Downloads starve with XCP-b too, which knows one direction only",
            where="ours",
            source="ours",
            series="XCP-b",
            baseline=None,
            statistic=DOWN,
            comparison="below",
            value=0.1,
        ),
        Claim(
            text="A long queue of the access point hides it: downloads do not starve with TCP",
            where="ours",
            source="ours",
            series=_in("TCP Reno", "queue 1000"),
            baseline=None,
            statistic=DOWN,
            comparison="above",
            value=0.4,
        ),
        Claim(
            text="QFCP that is told the capacity: the index of a second is above 0.95",
            where="ours",
            source="ours",
            series="QFCP, C of 2.5 Mbit/s",
            baseline="TCP Reno",
            statistic=INDEX,
            comparison="above",
            value=0.95,
            about=HOSTS,
        ),
        Claim(
            text="QFCP, nothing dropped: the index is above 0.95 for good within 3 s",
            where="ours",
            source="ours",
            series=_in("QFCP", "queue 1000"),
            baseline=_in("TCP Reno", "queue 1000"),
            statistic=number("0.95 for good after (s)"),
            comparison="below",
            value=3.0,
            about=HOSTS,
        ),
    ),
    draw=draw,
    seeds=SEEDS,
    first_seed=21,
    read=read,
    curves=curves,
    interval="100 ms",
    by_seed=directions,
)
