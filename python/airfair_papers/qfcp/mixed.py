"""A path on which some routers implement a scheme and others do not. Ours.

    source - a - b - c - sink        20 Mbit/s in one of the links between routers, 100 Mbit/s in the others

Router `b` is a drop-tail one or implements the scheme like the others; its output `b-c` is the bottleneck,
or that of `a`, `a-b`, which implements it. A silent router leaves headers as they are, and only the count
of responding routers reveals it (`docs/schemes/qfcp.md`): a sender that learns of one follows TCP's law, at
most at the rate that the others grant, and reports this (`fallbacks` of a flow). Two flows, round trips of
52 and 92 ms, queues of 50 ms. Outcomes: `docs/papers/qfcp.md`, `docs/papers/qfcp-wires.md`.

Judged: if `b` is silent every flow falls back, and no flow does if all routers respond; then a flow of the
scheme beside one of TCP, with the same round trip, gets at least 40 % of the silent bottleneck, as TCP does
beside TCP. If `b` responds the flow gets next to nothing: TCP fills the queue that the scheme's routers try
to keep empty (`qfcp/beside`). If the bottleneck responds but a router behind it does not, QFCP's and RCP's
flows follow its grants and share equally; XCP's, whose feedback is no rate, share like TCP's.

A test of the repository checks by the trace that a flow has fallen back at its first answer, one round trip
after its start. Utilisation may exceed 1 where TCP's packets, with shorter headers, are beside the
scheme's.

QFCP does not share equally here even if all routers respond, with any divisor of equation (1): the queue of
50 ms is shorter than the round trip of 92 ms. A flow that starts, or resumes, is granted nearly all of the
link, sends a window of 230 packets at once, loses half of it and some retransmissions, and waits for a
timer that doubles from 0.2 to 30 s; in the silence the other is granted all again. Longer queues, the least
round trip in equation (3), and timestamps, which let the timer measure retransmitted data, are measured as
readings.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, jain, number
from airfair.paper import Experiment, Series

from airfair_papers.qfcp.common.networks import Bundle, Network, payload_share
from airfair_papers.qfcp.common.protocols import BY_DIVISOR, COLOURS, FOUR, LEAST

if TYPE_CHECKING:
    from airfair.recording import Recording
    from matplotlib.figure import Figure

PATH = ("a", "b", "c")
SLOW, QUICK = 20.0, 100.0
TCP = 'scheme="newreno"'
PROTOCOLS = {**FOUR, **LEAST}
ALL_SPEAK = "all speak"
SPEAKING = ("XCP", "RCP", "QFCP", "QFCP, least RTT")


def _network(slow: str, *, silent: bool, second: str = "") -> Network:
    return Network(
        {link: SLOW if link == slow else QUICK for link in ("a-b", "b-c")},
        {"one": Bundle(PATH, 6.0), "two": Bundle(PATH, 6.0 if second else 26.0, own=second)},
        delay_ms=10.0,
        queue_ms=50.0,
        schemes={"b": "droptail"} if silent else {},
    )


NETWORKS = {
    ALL_SPEAK: _network("b-c", silent=False),
    "b silent, bottleneck b-c": _network("b-c", silent=True),
    "b silent, bottleneck a-b": _network("a-b", silent=True),
    "b silent, beside TCP": _network("b-c", silent=True, second=TCP),
    "all speak, beside TCP": _network("b-c", silent=False, second=TCP),
}
TIMES = ('duration="90 s"', 'warmup="30 s"')


def _point(protocol: str, network: str) -> str:
    return f"{protocol}, {network}"


def read(recording: Recording) -> dict[str, float]:
    """The numbers of a run."""
    result = recording.result
    network = NETWORKS[result["scenario"]]
    header = next(p.header for p in PROTOCOLS.values() if p.scheme == result["scheme"])
    one, two = (flow["goodput_bps"] for flow in result["flows"])
    slow = next(name for name, rate in network.rates.items() if rate == SLOW)
    queue = next(q for q in result["queues"] if f"{q['node']}-{q['towards']}" == slow)
    speaking = [flow for flow in result["flows"] if not network.bundles[flow["id"].partition(".")[0]].own]
    made = max(1, sum(flow["sent_packets"] for flow in result["flows"]))
    return {
        "utilisation": (one + two) / (1e6 * SLOW * payload_share(header)),
        "share of the first": one / (one + two) if one + two else float("nan"),
        "drops": float(sum(result["drops"].values())),
        "sent again (%)": 100 * sum(flow["retransmissions"] for flow in result["flows"]) / made,
        "mean queue (packets)": queue["mean_packets"],
        "fell back (share of flows)": sum(flow["fallbacks"] > 0 for flow in speaking) / len(speaking),
    }


NUMBERS = {
    "utilisation": "utilisation of the bottleneck",
    "share of the first": "share of the first flow",
    "sent again (%)": "segments sent again (%)",
    "mean queue (packets)": "mean queue (packets)",
}


def _broken(name: str) -> str:
    """A name in lines."""
    return name.replace(", ", ",\n").replace("bottleneck ", "bottleneck\n")


def draw(rows: Measured, figure: Figure) -> None:
    """A panel a number: bars by network and protocol."""
    figure.set_size_inches(11.0, 6.5)
    for axes, (name, label) in zip(figure.subplots(2, 2, sharex=True).flat, NUMBERS.items(), strict=True):
        for k, protocol in enumerate(PROTOCOLS):
            values = [rows[_point(protocol, network)]["numbers"][name] for network in NETWORKS]
            axes.bar(
                [i + 0.16 * (k - 2) for i in range(len(NETWORKS))],
                [v["mean"] for v in values],
                width=0.16,
                yerr=[v["ci95"] or 0 for v in values],
                capsize=2,
                color=COLOURS[protocol],
                label=protocol,
            )
        axes.set_ylabel(label)
        axes.set_xticks(range(len(NETWORKS)), [_broken(name) for name in NETWORKS])
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)


SILENT = tuple(name for name in NETWORKS if name.startswith("b silent"))


def _claims(protocol: str) -> list[Claim]:
    falls = [
        Claim(
            text=f"{protocol}: every flow falls back, {network}",
            where="ours",
            source="ours",
            series=_point(protocol, network),
            baseline=_point(protocol, ALL_SPEAK),
            about=("name", "node", "link", "flow"),
            statistic=number("fell back (share of flows)"),
            comparison="above",
            value=0.99,
        )
        for network in SILENT
    ]
    shares = Claim(
        text=f"{protocol} gets its part beside TCP in the silent bottleneck",
        where="ours",
        source="ours",
        series=_point(protocol, "b silent, beside TCP"),
        about=("name", "node", "link", "flow"),
        baseline=_point(protocol, "all speak, beside TCP"),
        statistic=number("share of the first"),
        comparison="above",
        value=0.4,
    )
    fair = Claim(
        text=f"{protocol} shares equally where all speak",
        where="ours",
        source="ours",
        series=_point(protocol, ALL_SPEAK),
        about=("tcp.tick", "flow"),
        baseline=_point("TCP Reno", ALL_SPEAK),
        statistic=jain,
        comparison="above",
        value=0.95,
    )
    return [*falls, shares, fair]


EXPERIMENT = Experiment(
    title="A path on which some routers speak the scheme: fallback to TCP's law",
    scenario=Path(__file__).with_name("wires.toml"),
    series=tuple(
        Series(
            _point(protocol, name),
            p.scheme,
            (*TIMES, f'name="{name}"', *network.overrides(p.header), *p.overrides),
            None if protocol == "TCP Reno" else _point("TCP Reno", name),
        )
        for name, network in NETWORKS.items()
        for protocol, p in {**PROTOCOLS, **(BY_DIVISOR if name == ALL_SPEAK else {})}.items()
    ),
    claims=tuple(claim for protocol in SPEAKING for claim in _claims(protocol)),
    draw=draw,
    read=read,
    interval="1 s",
)
