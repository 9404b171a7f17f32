"""CUBIC and BBR beside QFCP, XCP and RCP: in the same queue, and alone. Ours.

Two flows of the scheme and two of CUBIC or BBR over one drop-tail queue of one or four bandwidth-delay
products: 50 Mbit/s, 40 ms, 250 or 1000 packets. Routers run the scheme and see packets of both kinds; only
those of the scheme carry a header. `alone` are four flows of one kind. Delays are those of packets from end
to end, 20 ms without a queue. Utilisation may exceed 1 by 2 %: CUBIC's packets have shorter headers.
Outcomes: `docs/papers/qfcp-wires.md`.

y/R in equation (1) counts CUBIC's packets as flows, and the queue that CUBIC keeps full lowers the
numerator of (2): a law that needs a full queue captures the link.

Judged: beside CUBIC the scheme's flows get less than half of their half; alone its packets wait less than
three quarters of CUBIC's delay (20 ms of either are the wires).

With one bandwidth-delay product some of QFCP's four flows alone wait for timers in some seeds, as in
`qfcp/mixed`. `QFCP, least RTT` keeps a queue of four products partly full: behind a queue a flow sends less
than R, equation (1) counts it as part of a flow, and R grows.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.qfcp.common.networks import Bundle, Network, payload_share
from airfair_papers.qfcp.common.protocols import FOUR, LEAST, Protocol

if TYPE_CHECKING:
    from airfair.recording import Recording
    from matplotlib.figure import Figure

RATE = 50.0
SCHEMES = {**{name: FOUR[name] for name in ("QFCP", "XCP", "RCP")}, **LEAST}
OTHERS = {"CUBIC": 'scheme="cubic"', "BBR": 'scheme="bbr"'}
TIMES = ('duration="60 s"', 'warmup="20 s"')


ROUND_TRIP_MS = 40.0
QUEUES = (1, 4)
"""Bandwidth-delay products."""


def _network(first: str, second: str, queue: int) -> Network:
    """Two flows with these keys, and two with those."""
    keys = {"a": first, "b": first, "c": second, "d": second}
    return Network(
        {"left-right": RATE},
        {name: Bundle(("left", "right"), 1.0, own=own) for name, own in keys.items()},
        delay_ms=19.0,
        queue_ms=queue * ROUND_TRIP_MS,
    )


def read(recording: Recording) -> dict[str, float]:
    """The numbers of a run."""
    result = recording.result
    header = next((p.header for p in SCHEMES.values() if p.scheme == result["scheme"]), 0)
    rates = [flow["goodput_bps"] for flow in result["flows"]]
    delays = [flow["mean_delay_s"] or float("nan") for flow in result["flows"]]
    queue = next(q for q in result["queues"] if (q["node"], q["towards"]) == ("left", "right"))
    return {
        "utilisation": sum(rates) / (1e6 * RATE * payload_share(header)),
        "first two, of their half": 2 * sum(rates[:2]) / sum(rates) if sum(rates) else float("nan"),
        "delay of the first two (ms)": 500 * sum(delays[:2]),
        "delay of the others (ms)": 500 * sum(delays[2:]),
        "mean queue (packets)": queue["mean_packets"],
        "drops": float(sum(result["drops"].values())),
    }


def _series(queue: int) -> list[Series]:
    def series(name: str, first: str, second: str, scheme: str = "TCP") -> Series:
        p = SCHEMES.get(scheme, Protocol("droptail"))
        made = (*TIMES, *_network(first, second, queue).overrides(p.header), *p.overrides)
        against = None if "alone" in name or scheme == "TCP" else point(f"{scheme} alone", queue)
        return Series(point(name, queue), p.scheme, made, against)

    return [
        *(series(f"{name} alone", own, own) for name, own in OTHERS.items()),
        *(series(f"{scheme} alone", "", "", scheme) for scheme in SCHEMES),
        *(
            series(f"{scheme} beside {name}", "", own, scheme)
            for scheme in SCHEMES
            for name, own in OTHERS.items()
        ),
        series("BBR beside CUBIC", OTHERS["BBR"], OTHERS["CUBIC"]),
    ]


def point(name: str, queue: int) -> str:
    """The name of a series."""
    return f"{name}, queue of {queue} BDP"


SERIES = tuple(series for queue in QUEUES for series in _series(queue))


def draw(rows: Measured, figure: Figure) -> None:
    """The part of their half that the first two flows get, and the delay of each pair."""
    figure.set_size_inches(10.0, 7.0)
    names = [series.name for series in SERIES]
    left, right = figure.subplots(1, 2, sharey=True)
    half = [rows[name]["numbers"]["first two, of their half"] for name in names]
    left.barh(range(len(names)), [v["mean"] for v in half], xerr=[v["ci95"] or 0 for v in half], capsize=2)
    left.axvline(1, color="black", linestyle=":", linewidth=1)
    left.set_xlabel("goodput of the two flows named first, of half of the total")
    for k, pair in enumerate(("first two", "others")):
        values = [rows[name]["numbers"][f"delay of the {pair} (ms)"] for name in names]
        right.barh(
            [i + 0.35 * (k - 0.5) for i in range(len(names))],
            [v["mean"] for v in values],
            height=0.35,
            xerr=[v["ci95"] or 0 for v in values],
            capsize=2,
            label=pair,
        )
    right.set_xlabel("mean delay of packets (ms)")
    right.legend()
    left.set_yticks(range(len(names)), names)
    left.invert_yaxis()


def _claims(queue: int) -> list[Claim]:
    delay = number("delay of the first two (ms)")
    loses = [
        Claim(
            text=f"{scheme} loses against CUBIC, queue of {queue} BDP",
            where="ours",
            source="ours",
            series=point(f"{scheme} beside CUBIC", queue),
            baseline=point(f"{scheme} alone", queue),
            about=("flow",),
            statistic=number("first two, of their half"),
            comparison="below",
            value=0.5,
        )
        for scheme in SCHEMES
    ]
    waits = [
        Claim(
            text=f"{scheme}'s packets wait less than CUBIC's, each alone, queue of {queue} BDP",
            where="ours",
            source="ours",
            series=point(f"{scheme} alone", queue),
            baseline=point(f"{scheme} beside CUBIC", queue),
            about=("flow",),
            statistic=delay,
            comparison="below",
            bound=delay,
            factor=0.75,
            bound_series=point("CUBIC alone", queue),
        )
        for scheme in SCHEMES
    ]
    return loses + waits


EXPERIMENT = Experiment(
    title="CUBIC and BBR beside QFCP, XCP and RCP, in one queue and alone",
    scenario=Path(__file__).with_name("wires.toml"),
    series=SERIES,
    claims=tuple(claim for queue in QUEUES for claim in _claims(queue)),
    draw=draw,
    read=read,
    interval="1 s",
    small=('duration="6 s"', 'warmup="2 s"'),
)
