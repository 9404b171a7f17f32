"""Section IV-D: what the traffic profile costs on the air, 100 flows in a grid of 64 nodes.

The paper: less than 0.5 % "of network bandwidth". That is said of collecting the profile, one packet a node
and cycle, and does not say of which bandwidth. **Main**: of what all radios together can send, 64 times 2
Mbit/s; *one channel*: of 2 Mbit/s. A report counts once for each hop that its node is away from the
controller, with the headers of IP and UDP; frames around it (RTS, CTS, preambles) do not. Allocations,
feedback and HELLOs, of which nothing is claimed, are beside.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from airfair import _core
from airfair.claims import MAIN, Claim, Measured, number
from airfair.paper import Experiment

from airfair_papers.c3l.common import networks
from airfair_papers.c3l.common.networks import KINDS, Drawn, grid, hops, neighbours, pairs
from airfair_papers.c3l.common.scenes import BASE, C3L, DRAWN_ROUTES, SMALL, STATIC

if TYPE_CHECKING:
    from airfair.recording import Recording
    from matplotlib.figure import Figure

COUNTS = (20, 100)
RATE, NODES = 2e6, 64
HEADERS = 28
"""IP and UDP, bytes."""
REPORTS, CHANNEL = "reports, share of all radios' bandwidth", "reports, share of one channel"
ALLOCATIONS = "allocations, share of all radios' bandwidth"
FEEDBACK = "feedback, share of all radios' bandwidth"
FEEDBACK_BYTES = 48


def kind(count: int) -> str:
    """The kind of network with so many flows."""
    return f"64 nodes, {count} flows"


def many(count: int, random: _core.Random) -> Drawn:
    """So many flows in a grid."""
    places = grid(8)
    return Drawn(places, pairs(random, list(places), count))


KINDS.update({kind(count): partial(many, count) for count in COUNTS})


def name(count: int, routes: str) -> str:
    """The name of a series."""
    return f"{count} flows" if routes == MAIN else f"{count} flows, {routes}"


def read(recording: Recording) -> dict[str, float]:
    """Bits a second of messages over their hops, by bandwidths."""
    result = recording.result
    (controller,) = result["controllers"]
    of = networks.network(result["scenario"], result["seed"])
    away = hops(neighbours(of.nodes), controller["node"])
    far = sum(away.values()) / (len(away) - 1)

    def rate(count: int, size: int) -> float:
        return 8 * (size + HEADERS * count) * far / result["duration_s"]

    measured = result["duration_s"] - result["warmup_s"]
    words = sum(
        flow["feedback"]["received"] * (flow["hops"] or 0) for flow in result["flows"] if "feedback" in flow
    )
    reports = rate(controller["received"], controller["received_bytes"])
    return {
        REPORTS: reports / RATE / NODES,
        CHANNEL: reports / RATE,
        ALLOCATIONS: rate(controller["sent"], controller["sent_bytes"]) / RATE / NODES,
        FEEDBACK: 8 * FEEDBACK_BYTES * words / measured / RATE / NODES,
        "reports a node and cycle": controller["received"] / NODES / result["duration_s"] * 8,
        "bytes a report": controller["received_bytes"] / max(controller["received"], 1),
    }


def draw(rows: Measured, figure: Figure) -> None:
    """Shares by the number of flows."""
    axes = figure.subplots()
    shown = (REPORTS, ALLOCATIONS, FEEDBACK)
    labels = [name(count, routes) for routes in DRAWN_ROUTES for count in COUNTS]
    for i, statistic in enumerate(shown):
        values = [number(statistic).of(rows[label]) for label in labels]
        axes.bar(
            [k + 0.27 * (i - 1) for k in range(len(labels))],
            [100 * value["mean"] for value in values],
            width=0.25,
            yerr=[100 * (value["ci95"] or 0) for value in values],
            capsize=2,
            label=statistic.partition(",")[0],
        )
    axes.set_xticks(range(len(labels)), labels)
    axes.set_ylabel("% of 64 × 2 Mbit/s")
    axes.legend()


EXPERIMENT = Experiment(
    title="The traffic profile of 100 flows on the air",
    scenario=BASE,
    series=tuple(
        networks.replaced(networks.series(kind(count), C3L, routes), name(count, routes))
        for routes in DRAWN_ROUTES
        for count in COUNTS
    ),
    claims=tuple(
        Claim(
            text="100 flows: collecting the profile takes less than 0.5 % of the bandwidth",
            where="section IV-D",
            source="paper",
            series=name(100, routes),
            baseline=None,
            statistic=number(statistic),
            comparison="below",
            value=0.005,
            reading=reading,
        )
        for routes, statistic, reading in (
            (MAIN, REPORTS, MAIN),
            (STATIC, REPORTS, STATIC),
            (MAIN, CHANNEL, "one channel"),
        )
    ),
    draw=draw,
    read=read,
    interval="480 s",
    small=SMALL,
)
