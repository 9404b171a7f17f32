"""The rate of a bottleneck is halved, and doubled again: how each scheme follows. Ours.

Ten flows, round trip 54 ms, 60 Mbit/s, halved at 20 s and back at 40 s; the queue holds 60 ms of the full
rate. The routers of XCP, RCP and QFCP know the rate (a switch knows the rate of its port); those of `QFCP,
probed` (equation 4) and XCP-b probe it. Outcomes: `docs/papers/qfcp-wires.md`.

A scheme has settled when the mean distance of the ten goodputs from the new fair share, |x / share - 1|
over half a second, is below 10 % and stays so for two seconds; some 19.6 s means never in that phase.
Utilisation is delivered over possible, without headers, in 10 to 20 s, and in the 20 s from each change on.

Judged: a scheme that knows the rate follows within 2 s; those that probe need 4 s at most. TCP takes
longer. A full link is not a claim: TCP fills it as well.

The divisor of equation (1) decides how QFCP follows (`docs/schemes/qfcp.md`). C and with it R double at
once, and one interval later the share in force is twice the grant of the arriving traffic: (1) estimates
half of the flows, R doubles a second time, and 117 Mbit/s arrive at 60. With the mean of both shares the
estimate is wrong by a third for an interval. The least round trip in equation (3), pacing, and plain TCP
without SACK below all swing with the share in force.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.qfcp.common import over_time
from airfair_papers.qfcp.common.networks import Bundle, Network, payload_share
from airfair_papers.qfcp.common.protocols import (
    BY_DIVISOR,
    COLOURS,
    FOUR,
    LEAST,
    PACED,
    PROBED,
    XCP_B,
    Protocol,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from airfair.recording import Recording
    from matplotlib.figure import Figure

FLOWS = 10
RATE = 60.0
CHANGES = {"halved": (20.0, RATE / 2), "doubled": (40.0, RATE)}
PHASE_S = 20.0
INTERVAL_S = 0.1
WINDOW = 5
"""Intervals that a goodput is averaged over."""
HOLD = 20
"""Intervals that it must stay."""

LINE = Network(
    {"left-right": RATE},
    {f"f{k}": Bundle(("left", "right"), 1.0) for k in range(FLOWS)},
    delay_ms=26.0,
    queue_ms=60.0,
    own="rate_changes=["
    + ", ".join(f'{{at="{at} s", rate="{rate} Mbit/s"}}' for at, rate in CHANGES.values())
    + "]",
)
PROTOCOLS: Mapping[str, Protocol] = {
    **FOUR,
    **XCP_B,
    **BY_DIVISOR,
    **LEAST,
    **PACED,
    **PROBED,
    "QFCP, no SACK": FOUR["QFCP"]._replace(overrides=(*FOUR["QFCP"].overrides, "tcp.sack=false")),
}
TIMES = ('duration="60 s"',)


def _header(scheme: str) -> int:
    return next(p.header for p in PROTOCOLS.values() if p.scheme == scheme)


def read(recording: Recording) -> dict[str, float]:
    """The numbers of a run; those of a phase that it does not reach are not there."""
    header = _header(recording.result["scheme"])
    ends, each = over_time.goodputs(recording)
    link = over_time.queue(recording, "left", "right")
    numbers = {"utilisation before": _utilisation(ends, each, 10.0, 20.0, RATE, header)}
    for name, (at, rate) in CHANGES.items():
        phase = (ends > at) & (ends <= at + PHASE_S)
        share = 1e6 * rate / FLOWS * payload_share(header)
        means = over_time.smoothed(each[phase], WINDOW)
        near = np.abs(means / share - 1).mean(axis=1) < 0.1
        inside = link[(link["end_s"] > at) & (link["end_s"] <= at + PHASE_S)]["packets"]
        there = bool(phase.sum() * INTERVAL_S > PHASE_S - 1)
        numbers |= {
            f"utilisation, {name}": _utilisation(ends, each, at, at + PHASE_S, rate, header),
            f"settled, {name} (s)": over_time.settled(near, INTERVAL_S, HOLD) if there else float("nan"),
            f"mean queue, {name} (packets)": float(inside.mean()),
            f"longest queue, {name} (packets)": float(inside.max()) if there else float("nan"),
        }
    return numbers | {
        "drops": float(sum(recording.result["drops"].values())),
        "sent again": float(sum(flow["retransmissions"] for flow in recording.result["flows"])),
    }


def _utilisation(
    ends: np.ndarray, each: np.ndarray, since: float, until: float, rate: float, header: int
) -> float:
    chosen = each[(ends > since) & (ends <= until)]
    if len(chosen) * INTERVAL_S < until - since - 1:
        return float("nan")
    return float(chosen.sum(axis=1).mean() / (1e6 * rate * payload_share(header)))


def curves(recording: Recording) -> dict[str, Sequence[float]]:
    """Goodput of all flows and the queue over time."""
    ends, each = over_time.goodputs(recording)
    header = _header(recording.result["scheme"])
    total = over_time.smoothed(each.sum(axis=1), WINDOW) / (1e6 * payload_share(header))
    link = over_time.queue(recording, "left", "right")["packets"]
    return {"end_s": list(ends), "total_mbps": list(total), "queue": [float(q) for q in link]}


def draw(rows: Measured, figure: Figure) -> None:
    """Total and queue over time, a panel a protocol, of the first seed."""
    figure.set_size_inches(11.0, 8.0)
    panels = figure.subplots(4, 3, sharex=True, sharey=True)
    room = LINE.queue_packets(RATE)
    for axes, name in zip(panels.flat, PROTOCOLS, strict=False):
        curve = rows[name]["curves"]
        end, total = curve["end_s"], curve["total_mbps"]
        queue = [RATE * packets / room for packets in curve["queue"]]
        axes.fill_between(end, queue, color="0.8", linewidth=0, label=f"queue ({RATE:g}: full)")
        axes.plot(end[: len(total)], total, color=COLOURS[name], linewidth=1, label="all ten flows (Mbit/s)")
        axes.step([0, 20, 40, 60], [RATE, RATE, RATE / 2, RATE], color="black", linestyle=":", linewidth=1)
        axes.set_title(name)
    for axes in panels[-1]:
        axes.set_xlabel("time (s); first seed")
    for axes in panels[:, 0]:
        axes.set_ylabel("Mbit/s")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)


def _follows(name: str, change: str, within: float) -> Claim:
    return Claim(
        text=f"{name} has settled {within:g} s after the rate is {change}",
        where="ours",
        source="ours",
        about=("tcp.tick", "flow"),
        series=name,
        baseline="TCP Reno",
        statistic=number(f"settled, {change} (s)"),
        comparison="below",
        value=within,
    )


EXPERIMENT = Experiment(
    title="The rate of a bottleneck is halved and doubled: how the schemes follow",
    scenario=Path(__file__).with_name("wires.toml"),
    series=tuple(
        Series(
            name,
            p.scheme,
            (*TIMES, *LINE.overrides(p.header), *p.overrides),
            None if name == "TCP Reno" else "TCP Reno",
        )
        for name, p in PROTOCOLS.items()
    ),
    claims=(
        *(
            _follows(name, change, 2.0)
            for name in ("QFCP", "QFCP, least RTT", "XCP", "RCP")
            for change in CHANGES
        ),
        *(_follows(name, change, 4.0) for name in ("QFCP, probed", "XCP-b") for change in CHANGES),
    ),
    draw=draw,
    read=read,
    curves=curves,
    interval="100 ms",
)
