"""Parking lots and other networks: goodputs of long flows, against the max-min fair shares. Ours.

QFCP gives every flow of an interface the same rate, and a flow the least rate of its path: capacity that is
unused by flows with bottlenecks elsewhere is assigned to the others, since equation (1) counts a flow that
sends less than its share as part of a flow. In the limit that is max-min fairness. XCP and RCP claim the
same. Outcomes: `docs/papers/qfcp-wires.md`.

Two parking lots of three links, one flow over all of them beside flows over each, and the seven networks
with known answers of FloodNS (S. Kassing, MIT licence, `testcases` of its max-min algorithms), a unit being
1 Mbit/s. A flow with an upper limit is a source that sends no more; one with a weight is a bundle of
connections, as many as the weight in the least whole numbers (5 to 8 to 1 to 2 for 2.5, 4, 0.5, 1): no
scheme here has weights. The one with weights of 2, 2.6, 2.7 and 2.7, a hundred connections, has a unit of
10 Mbit/s, or a share would be less than a packet in a round trip. The networks' answers are the test of
`common/sharing.py`, which computes the shares.

Flows of one network have round trips that differ up to five times, by which TCP divides. Queues hold 100
ms. Measured from 20 s to 60 s: goodput of each flow (bundle) over its share, without headers. Judged: no
flow is off by more than 5 %, where TCP's are. In the two networks with weights and limits there is nothing
to share: all but one flow of a link are limited, TCP shares as well, and nothing is judged.

Known difficulties. *Weights, no limits*: a hundred flows have windows of some four segments, those of the
shortest round trip of one and a half, of which QFCP and XCP send one (RCP paces). *Lot, uneven*: XCP leaves
a tenth of a link unused where flows have bottlenecks elsewhere, as is known (S. Low, L. Andrew, B.
Wydrowski, "Understanding XCP", INFOCOM 2005). Round trips far below T are where the mean of both shares
damps QFCP least (`docs/schemes/qfcp.md`); `QFCP, R before` is unstable for round trips below half of T.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.qfcp.common.networks import Bundle, Network, payload_share
from airfair_papers.qfcp.common.protocols import BY_DIVISOR, COLOURS, FOUR

if TYPE_CHECKING:
    from airfair.recording import Recording
    from matplotlib.figure import Figure

LOT = ("a", "b", "c", "d")


def _crossing(link: str, count: int) -> dict[str, Bundle]:
    """So many flows over one link of the lot, each from farther away."""
    a, b = link.split("-")
    return {f"{a}{b}{k}": Bundle((a, b), delay_ms=1 + 20 * k) for k in range(count)}


SPLIT = {"0-1": 100.0} | {f"1-{k}": 35.0 for k in (2, 3, 4)} | {f"{k}-5.{k}": 60.0 for k in (2, 3, 4)}
"""Routes are the shortest ones, so the node in which the three ways meet again is three nodes: no flow
passes it."""

NETWORKS = {
    "lot, equal links": Network(
        {"a-b": 20.0, "b-c": 20.0, "c-d": 20.0},
        {"long": Bundle(LOT), **_crossing("a-b", 1), **_crossing("b-c", 1), **_crossing("c-d", 1)},
    ),
    "lot, uneven": Network(
        {"a-b": 30.0, "b-c": 20.0, "c-d": 40.0},
        {"long": Bundle(LOT), **_crossing("a-b", 2), **_crossing("b-c", 3), **_crossing("c-d", 1)},
    ),
    "single, limits": Network(
        {"0-1": 10.0},
        {
            name: Bundle(("0", "1"), 1 + 10 * k, limit=limit)
            for k, (name, limit) in enumerate({"p": 2.0, "q": 2.6, "r": 4.0, "s": 5.0}.items())
        },
    ),
    "double, limits": Network(
        {"0-1": 10.0, "1-2": 10.0},
        {
            "p": Bundle(("0", "1"), 1.0, limit=1.0),
            "q": Bundle(("0", "1"), 11.0, limit=1.0),
            "long": Bundle(("0", "1", "2"), 21.0),
            "cross": Bundle(("1", "2")),
        },
    ),
    "three split": Network(
        SPLIT, {f"over{k}": Bundle(("0", "1", str(k), f"5.{k}"), 1 + 20 * (k - 2)) for k in (2, 3, 4)}
    ),
    "three split, four": Network(
        SPLIT,
        {
            "over2": Bundle(("0", "1", "2", "5.2")),
            "again2": Bundle(("0", "1", "2", "5.2"), 41.0),
            "over3": Bundle(("0", "1", "3", "5.3"), 21.0),
            "over4": Bundle(("0", "1", "4", "5.4")),
        },
    ),
    "single, weights": Network(
        {"0-1": 16.0},
        {
            name: Bundle(("0", "1"), 1 + 10 * k, limit, connections)
            for k, (name, limit, connections) in enumerate(
                [("p", 4.0, 5), ("q", 2.0, 8), ("r", 10.0, 1), ("s", 4.0, 2)]
            )
        },
    ),
    "double, weights": Network(
        {"0-1": 16.0, "1-2": 16.0},
        {
            f"{name}{hop}": Bundle((str(hop), str(hop + 1)), 1 + 10 * k, limit, connections)
            for hop in (0, 1)
            for k, (name, limit, connections) in enumerate(
                [("p", 4.0, 5), ("q", 2.0, 8), ("r", 10.0, 1), ("s", 4.0, 2)]
            )
        },
    ),
    "weights, no limits": Network(
        {"0-1": 100.0},
        {
            name: Bundle(("0", "1"), 1 + 10 * k, connections=connections)
            for k, (name, connections) in enumerate({"p": 20, "q": 26, "r": 27, "s": 27}.items())
        },
    ),
}
TIMES = ('duration="60 s"', 'warmup="20 s"')
WORST = "worst error"
ALLOWED = 0.05
DECIDED = tuple(name for name in NETWORKS if name not in {"single, weights", "double, weights"})
"""Where limits leave one flow of a link without a limit, there is nothing to share: TCP does it as well."""


PROTOCOLS = {**FOUR, **BY_DIVISOR}


def _point(protocol: str, network: str) -> str:
    return f"{protocol}, {network}"


def read(recording: Recording) -> dict[str, float]:
    """How far bundles are from their shares."""
    result = recording.result
    network = NETWORKS[result["scenario"]]
    header = next(p.header for p in PROTOCOLS.values() if p.scheme == result["scheme"])
    got = dict.fromkeys(network.bundles, 0.0)
    for flow in result["flows"]:
        got[flow["id"].partition(".")[0]] += flow["goodput_bps"]
    ratios = {
        name: got[name] / (1e6 * share * payload_share(header)) for name, share in network.shares().items()
    }
    errors = [abs(ratio - 1) for ratio in ratios.values()]
    inner = [q for q in result["queues"] if f"{q['node']}-{q['towards']}" in network.rates]
    return {
        WORST: max(errors),
        "mean error": sum(errors) / len(errors),
        "least, of its share": min(ratios.values()),
        "most, of its share": max(ratios.values()),
        "long flow, of its share": ratios.get("long", float("nan")),
        "longest queue (packets)": max(q["mean_packets"] for q in inner),
        "drops": float(sum(result["drops"].values())),
    }


def draw(rows: Measured, figure: Figure) -> None:
    """The error of the flow that is farthest from its share, a group of bars a network."""
    figure.set_size_inches(9.0, 5.0)
    axes = figure.subplots()
    for k, protocol in enumerate(PROTOCOLS):
        values = [rows[_point(protocol, network)]["numbers"][WORST] for network in NETWORKS]
        axes.barh(
            [i + 0.13 * (k - 2.5) for i in range(len(NETWORKS))],
            [100 * v["mean"] for v in values],
            height=0.13,
            xerr=[100 * (v["ci95"] or 0) for v in values],
            capsize=2,
            color=COLOURS[protocol],
            label=protocol,
        )
    axes.axvline(100 * ALLOWED, color="black", linestyle=":", linewidth=1)
    axes.set_yticks(range(len(NETWORKS)), NETWORKS)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("distance of the worst flow from its max-min share (%)")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


EXPERIMENT = Experiment(
    title="Parking lots and other networks: goodputs against the max-min fair shares",
    scenario=Path(__file__).with_name("wires.toml"),
    series=tuple(
        Series(
            _point(protocol, name),
            p.scheme,
            (*TIMES, f'name="{name}"', *network.overrides(p.header), *p.overrides),
            None if protocol == "TCP Reno" else _point("TCP Reno", name),
        )
        for name, network in NETWORKS.items()
        for protocol, p in PROTOCOLS.items()
    ),
    claims=tuple(
        Claim(
            text=f"{protocol}: no flow is off its share by more than 5 %, {network}",
            where="ours",
            source="ours",
            series=_point(protocol, network),
            baseline=_point("TCP Reno", network),
            about=("tcp.tick", "flow"),
            statistic=number(WORST),
            comparison="below",
            value=ALLOWED,
        )
        for protocol in ("QFCP", "XCP", "RCP")
        for network in DECIDED
    ),
    draw=draw,
    read=read,
    interval="1 s",
    small=('duration="4 s"', 'warmup="1 s"'),
)
