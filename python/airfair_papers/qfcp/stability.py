"""Stability of each law over round trips of 10 to 1000 ms and 1 to 1000 flows, in one table. Ours.

One link of 150 Mbit/s with a queue of a bandwidth-delay product (100 packets at least). All flows have the
same round trip, start within one (100 ms at least) and never end. A run lasts 100 round trips, 10 s at
least; the first half is warm-up. In the second half: utilisation (delivered over possible, without
headers), the queue's mean and the 99th percentile of samples every 200 ms, as shares of its room, drops in
the whole run, Jain's index of goodputs. `converged` is the time, in s from the start, from which the total
stays within 5 % of its mean of the second half, over windows of five round trips (1 s at least); the length
of the run if it never does. 20 seeds take 45 minutes of CPU time. Outcomes: `docs/papers/qfcp-wires.md`.

With 1000 flows and 10 ms a fair share is less than a fifth of a packet in a round trip. No window is below
one segment, so the round trip has to grow to 53 ms, for which the queue has no room.

Judged: QFCP, XCP and RCP use at least 90 % of the link where TCP does not (one flow from 100 ms on, ten
flows of 1000 ms). At the other points with few flows TCP fills the link as well, which shows nothing.

**QFCP** has its divisor of equation (1) as a reading (`docs/schemes/qfcp.md`). With equal round trips all
of them are T, for which the share in force neither damps nor amplifies swings.

**RCP** is configured with the round trip (`rcp.first_rtt`). Its mean of round trips begins at 200 ms
otherwise and falls by T/d R/C mean/d in an interval, slowly among many flows.

**XCP** computes the feedback of a packet from the packets of the previous interval; while windows grow in
clumps the next interval may have more packets. `xcp.budgets` bounds the sum, at a price for 1000 flows of
300 ms, so it is not the default.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.qfcp.common import over_time
from airfair_papers.qfcp.common.networks import PACKET, Bundle, Network, payload_share
from airfair_papers.qfcp.common.protocols import BY_DIVISOR, FOUR, LEAST, XCP_B, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airfair.recording import Recording
    from matplotlib.figure import Figure

RATE = 150.0
ROUND_TRIPS_MS = (10, 30, 100, 300, 1000)
FLOWS = (1, 10, 100, 1000)
ROUNDS = 100
LEAST_S = 10.0
INTERVAL_S = 0.2
PROTOCOLS: Mapping[str, Protocol] = {**FOUR, **XCP_B}
VARIANTS: Mapping[str, Protocol] = {**BY_DIVISOR, **LEAST}
"""Of QFCP, with ten flows: where the readings of equation (1) differ."""
VARIED = (10,)
POINTS = tuple(
    (protocol, rtt, flows)
    for some, counts in ((PROTOCOLS, FLOWS), (VARIANTS, VARIED))
    for protocol in some
    for rtt in ROUND_TRIPS_MS
    for flows in counts
)
UNFILLED = ((100, 1), (300, 1), (1000, 1), (1000, 10))
"""Round trips and flows with which TCP does not fill the link: the others show nothing."""
HOST = 'rate="1.5 Gbit/s", queue_packets=100000'


def duration_s(round_trip_ms: float) -> float:
    """The length of a run."""
    return max(LEAST_S, ROUNDS * round_trip_ms / 1e3)


def network(round_trip_ms: float, flows: int) -> Network:
    """The link, with all flows between two hosts."""
    jitter = max(0.1, round_trip_ms / 1e3)
    return Network(
        {"left-right": RATE},
        {"f": Bundle(("left", "right"), round_trip_ms / 8, connections=flows, jitter_s=jitter)},
        delay_ms=round_trip_ms * 3 / 8,
        queue_ms=max(round_trip_ms, 100 * 8 * PACKET / (RATE * 1e3)),
        host=HOST,
    )


def point(protocol: str, round_trip_ms: int, flows: int) -> str:
    """The name of a series."""
    return f"{protocol}, {round_trip_ms} ms, {flows} flows"


def own(protocol: Protocol, round_trip_ms: int) -> tuple[str, ...]:
    """Parameters of a protocol for a scene: RCP's mean of round trips begins at the round trip. Among many
    flows the mean falls so slowly that it would stay near its default of 200 ms in all of a run."""
    told = (f'rcp.first_rtt="{round_trip_ms} ms"',) if protocol.scheme == "rcp" else ()
    return (*protocol.overrides, *told)


def read(recording: Recording) -> dict[str, float]:
    """The numbers of a run."""
    result = recording.result
    header = next(p.header for p in PROTOCOLS.values() if p.scheme == result["scheme"])
    round_trip_ms = int(result["scenario"].removesuffix("ms"))
    room = network(round_trip_ms, 1).queue_packets(RATE)
    payload = 1e6 * RATE * payload_share(header)
    link = over_time.queue(recording, "left", "right")
    waiting = link[link["end_s"] > result["warmup_s"]]["packets"].to_numpy(float)
    ends, each = over_time.goodputs(recording)
    total = each.sum(axis=1)
    final = total[ends > result["warmup_s"]].mean()
    window = max(5, round(5 * round_trip_ms / 1e3 / INTERVAL_S))
    near = np.abs(over_time.smoothed(total, window) / max(final, 1.0) - 1) < 0.05
    converged = over_time.for_good(near, INTERVAL_S)
    return {
        "utilisation": float(final / payload),
        "mean queue (of its room)": float(waiting.mean() / room),
        "99 % queue (of its room)": float(np.quantile(waiting, 0.99) / room),
        "drops": float(sum(result["drops"].values())),
        "converged (s)": float(ends[-1]) if converged is None else converged,
        "converged (share of runs)": float(converged is not None),
        "Jain's index": np.nan if result["jain_index"] is None else result["jain_index"],
    }


MAPS = {
    "utilisation": ("utilisation", 0.5, 1.0, "viridis"),
    "99 % queue (of its room)": ("99 % queue (of its room)", 0.0, 1.0, "viridis_r"),
    "Jain's index": ("Jain's index", 0.5, 1.0, "viridis"),
    "converged (s)": ("converged (round trips)", 0.0, 100.0, "viridis_r"),
}


def draw(rows: Measured, figure: Figure) -> None:
    """A heat map a law (column) and a number (row)."""
    figure.set_size_inches(15.0, 10.0)
    panels = figure.subplots(len(MAPS), len(PROTOCOLS), sharex=True, sharey=True)
    for line, (number_, (label, low, high, colours)) in zip(panels, MAPS.items(), strict=True):
        for axes, protocol in zip(line, PROTOCOLS, strict=True):
            values = np.array(
                [
                    [
                        rows[point(protocol, rtt, flows)]["numbers"][number_]["mean"]
                        / (rtt / 1e3 if "(s)" in number_ else 1)
                        for flows in FLOWS
                    ]
                    for rtt in ROUND_TRIPS_MS
                ]
            )
            picture = axes.imshow(values, vmin=low, vmax=high, cmap=colours, aspect="auto")
            for (i, j), value in np.ndenumerate(values):
                light = (value - low) / (high - low) > 0.5
                dark = light if colours == "viridis" else not light
                axes.text(
                    j,
                    i,
                    f"{value:.3g}",
                    ha="center",
                    va="center",
                    fontsize=7,
                    color="black" if dark else "white",
                )
            axes.set_xticks(range(len(FLOWS)), FLOWS)
            axes.set_yticks(range(len(ROUND_TRIPS_MS)), ROUND_TRIPS_MS)
        figure.colorbar(picture, ax=list(line), label=label)
        line[0].set_ylabel("round trip (ms)")
    for axes, protocol in zip(panels[0], PROTOCOLS, strict=True):
        axes.set_title(protocol)
    for axes in panels[-1]:
        axes.set_xlabel("flows")


def _claim(protocol: str, round_trip_ms: int, flows: int) -> Claim:
    return Claim(
        text=f"{protocol} fills the link: {round_trip_ms} ms, {flows} flows",
        where="ours",
        source="ours",
        series=point(protocol, round_trip_ms, flows),
        baseline=point("TCP Reno", round_trip_ms, flows),
        about=("tcp.tick",),
        statistic=number("utilisation"),
        comparison="above",
        value=0.9,
    )


EXPERIMENT = Experiment(
    title="Stability of each law over round trips and numbers of flows",
    scenario=Path(__file__).with_name("wires.toml"),
    series=tuple(
        Series(
            point(protocol, rtt, flows),
            p.scheme,
            (
                f'name="{rtt}ms"',
                f'duration="{duration_s(rtt)} s"',
                f'warmup="{duration_s(rtt) / 2} s"',
                *network(rtt, flows).overrides(p.header),
                *own(p, rtt),
            ),
            None if protocol == "TCP Reno" else point("TCP Reno", rtt, flows),
        )
        for protocol, rtt, flows in POINTS
        for p in ({**PROTOCOLS, **VARIANTS}[protocol],)
    ),
    claims=tuple(
        _claim(protocol, rtt, flows) for protocol in ("QFCP", "XCP", "RCP") for rtt, flows in UNFILLED
    ),
    draw=draw,
    read=read,
    interval="200 ms",
    small=('duration="600 ms"', 'warmup="300 ms"'),
)
