"""TFRC over a wired bottleneck, against ns-2 and against its own equation."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

import airfair
from airfair import RunResult, Scenario

from .. import reference
from ..report import Context, Figure, Row, Series, inside, within
from ..runs import parallel, seeds

TITLE = "TFRC"
ABOUT = """
TFRC (RFC 5348, its defaults) alone and beside TCP with SACK over 10 Mbit/s and 50 ms, 100 packets in the
queue, 120 s of which the first 20 are omitted, against ns-2.35's Agent/TFRC: the given rows (3 seeds) and
`peers/ns2/tfrc.tcl` (10 seeds), both in `validation/data/tfrc-ns2.csv`. Goodput counts packets as they are on
the wire: TCP's have 1000 B, TFRC's 1032 B, since ns-2 adds `headersize_` (32 B) to `packetSize_`. Means over
the seeds of either side within 5 %, where ns-2's three first seeds differ by less than 5 % of their mean;
else within three standard errors of the difference, by the deviation of ns-2's seeds.

Behind drop-tail the size of TFRC's packets decides the shares, by traffic phase effects (Floyd and Jacobson
1992): acknowledgements let TCP send in step with the bottleneck's departures. A TFRC flow of four beside four
of SACK gets 1.57, 1.29, 1.05 or 1.32 Mbit/s in ns-2 with packets of 1000, 1008, 1016 or 1032 B; each is a
row. With a random time of up to 10 ms before each packet of TCP (`overhead_`) ns-2 gives 1.47 to 1.48 for all
four.

With random losses t_RTO is 0.3 s (`least_rto`) as in ns-2, which counts it in ticks of 0.1 s; the RFC's 4 R
is 0.2 s here.

Where the link is always busy the total says little, so without random losses the mean queue is judged by the
same rule, as are the given loss event rates (within 10 %), and, where there are several flows, their standard
deviation over their mean (from half to twice ns-2's). One TFRC flow behind drop-tail has seven loss events in
100 s, so that its queue still depends on the end of slow start (91 packets are lost here, 96 in ns-2): 93
packets at a loss event rate of 6.3e-5, in ns-2 84 at 7.2e-5. Its queue is judged from 500 to 1000 s, where
90.4 packets become 89.0 with `least_discount` and `rtt_weight` at ns-2's 0.5 and 0.95; ns-2 has 88.7.

The equation is judged with the RFC's t_RTO at the loss event rate that the receiver measured and the
round-trip time of the empty path, as s/(R f(p)): within 10 % of the goodput for loss event rates from 0.001
to 0.03.
"""

SECTION = "tfrc"
PEER = Path(__file__).resolve().parent.parent / "data" / "tfrc-ns2.csv"
CLOSE = 0.05
"""Seeds of ns-2 that agree, and what is close to them."""
RATE_CLOSE = 0.1
"""The same for loss event rates."""
ERRORS = 3.0
"""Standard errors between means where they do not."""
SACK_PACKET, SACK_HEADERS = 1000, 40
"""Packets of TCP on the wire, bytes, and IP and TCP of these."""
TFRC_PACKET, TFRC_HEADERS = 1032, 44
"""Packets of TFRC in ns-2 by default, bytes; IP, UDP and TFRC's header here."""
LOSSES = (0.001, 0.003, 0.01, 0.03)
RTT_S = 0.05
NS2_RTO_S = 0.3
"""t_RTO of ns-2's TFRC at this round-trip time, in ticks of 0.1 s: one as mean, two as four deviations."""


@dataclass(frozen=True)
class Cell:
    """A configuration."""

    queue: str
    tfrc: int
    sack: int
    loss: float = 0.0
    packet: int = TFRC_PACKET
    """TFRC's packets on the wire, bytes."""
    least_rto_s: float = 0.0
    warmup_s: int = 20
    end_s: int = 120
    few_loss_events: bool = False
    """The queue and the loss event rate of so short a run depend on slow start: neither is judged."""

    @property
    def name(self) -> str:
        """In the report."""
        loss = f", random loss {self.loss:g}" if self.loss else ""
        beside = f" + {self.sack} SACK" if self.sack else ""
        packet = f", TFRC's packets {self.packet} B" if self.packet != TFRC_PACKET else ""
        time = f", {self.warmup_s} to {self.end_s} s" if self.end_s != Cell.end_s else ""
        return f"{self.queue}, {self.tfrc} TFRC{beside}{packet}{loss}{time}"


CELLS = (
    Cell("droptail", 1, 0, few_loss_events=True),
    Cell("droptail", 1, 0, warmup_s=500, end_s=1000),
    *(Cell("droptail", flows, 0) for flows in (4, 16)),
    *(Cell("red", flows, 0) for flows in (1, 4, 16)),
    *(Cell(queue, flows, flows) for queue in ("droptail", "red") for flows in (1, 4, 16)),
    *(Cell("droptail", 4, 4, packet=packet) for packet in (1000, 1008, 1016)),
    *(Cell("droptail", 1, 0, loss, least_rto_s=NS2_RTO_S) for loss in (*LOSSES, 0.1)),
)
BY_EQUATION = tuple(Cell("droptail", 1, 0, loss) for loss in LOSSES)

HEAD = """
name = "tfrc"
[headers]
wired = "0 B"
[schemes.red]
min_th = 15
max_th = 45
gentle = true
wait = true
max_p = 0.02
mean_packet_time = "0.8 ms"
"""
TCP = """
[tcp]
sack = true
mss = "960 B"
window_limit = "10 MB"
receive_window = "10 MB"
min_rto = "0.2 s"
delayed_ack = "off"
"""


def scenario(cell: Cell) -> Scenario:
    """The dumbbell of `peers/ns2/tfrc.tcl`: a pair of nodes for each flow. Random losses hit reports too; in
    ns-2 they do not."""
    flows = cell.tfrc + cell.sack
    nodes = ["left", "right", *(f"{side}{i}" for i in range(flows) for side in "sr")]
    times = f'duration = "{cell.end_s} s"\nwarmup = "{cell.warmup_s} s"\n'
    text = times + HEAD + (TCP if cell.sack else "")
    if cell.least_rto_s:
        text += f'[schemes.tfrc]\nleast_rto = "{cell.least_rto_s} s"\n'
    text += "".join(f'[[node]]\nid = "{node}"\n' for node in nodes)
    loss = f"loss = {cell.loss}\n" if cell.loss else ""
    text += _link("left", "right", "10 Mbit/s", "20 ms", 100) + loss
    for i in range(flows):
        text += _link(f"s{i}", "left", "100 Mbit/s", "2.5 ms", 10_000)
        text += _link("right", f"r{i}", "100 Mbit/s", "2.5 ms", 10_000)
        tfrc = i < cell.tfrc
        payload = cell.packet - TFRC_HEADERS
        traffic = f'{{ kind = "saturating", packet = "{payload} B" }}' if tfrc else '{ kind = "ftp" }'
        text += f'[[flow]]\nid = "f{i}"\nfrom = "s{i}"\nto = "r{i}"\nstart_jitter = "2 s"\n'
        text += f'transport = "{"udp-tfrc" if tfrc else "tcp-newreno"}"\ntraffic = {traffic}\n'
    return Scenario.parse(text, "tfrc")


def _link(a: str, b: str, rate: str, delay: str, packets: int) -> str:
    return f'[[link]]\nends = ["{a}", "{b}"]\nrate = "{rate}"\ndelay = "{delay}"\nqueue_packets = {packets}\n'


@dataclass(frozen=True)
class Peer:
    """A seed of ns-2: goodput of all flows, and mean of TFRC's, kbit/s on the wire."""

    given: bool
    total: float
    tfrc: float
    queue: float
    """Mean number of packets in the bottleneck's queue."""
    loss_event_rate: float | None
    jain: float | None
    """Jain's index of TFRC's flows."""


def peers(cell: Cell) -> list[Peer]:
    """ns-2's seeds of a cell."""
    with PEER.open() as file:
        return [
            Peer(
                line["run"] == "given",
                float(line["total_kbps"]),
                float(line["tfrc_mean_kbps"]),
                float(line["mean_queue_packets"]),
                float(line["loss_event_rate"]) if line["loss_event_rate"] else None,
                float(line["tfrc_jain"]) if line["tfrc_jain"] else None,
            )
            for line in csv.DictReader(file)
            if (line["queue"], int(line["tfrc_flows"]), int(line["sack_flows"]), float(line["random_loss"]))
            == (cell.queue, cell.tfrc, cell.sack, cell.loss)
            and (int(line["tfrc_bytes"]), int(line["end_s"])) == (cell.packet, cell.end_s)
        ]


def agree(values: Sequence[float]) -> bool:
    """True if the seeds differ by less than CLOSE of their mean."""
    return max(values) - min(values) <= CLOSE * fmean(values)


def wire_kbps(cell: Cell, result: RunResult) -> list[float]:
    """Goodput of each flow with its headers, kbit/s."""
    tfrc = cell.packet / (cell.packet - TFRC_HEADERS) / 1000
    sack = SACK_PACKET / (SACK_PACKET - SACK_HEADERS) / 1000
    kinds = [tfrc] * cell.tfrc + [sack] * cell.sack
    return [flow["goodput_bps"] * kind for flow, kind in zip(result["flows"], kinds, strict=True)]


def equation_kbps(loss_event_rate: float) -> float:
    """RFC 5348 section 3.1 for `TFRC_PACKET` and the round-trip time of the empty path, t_RTO = 4 R."""
    p, r = loss_event_rate, RTT_S
    timeouts = 4 * r * 3 * math.sqrt(3 * p / 8) * p * (1 + 32 * p * p)
    return TFRC_PACKET * 8 / 1000 / (r * math.sqrt(2 * p / 3) + timeouts)


def rows(context: Context) -> Iterable[Row]:
    """Cell by cell, then the equation."""
    count = 3 if context.quick else 10
    runs = {cell: _runs(context, cell, count) for cell in (*CELLS, *BY_EQUATION)}
    for cell in CELLS:
        yield from _against_ns2(cell, runs[cell])
    yield from _against_equation(context, runs)


def _runs(context: Context, cell: Cell, count: int) -> list[RunResult]:
    wires = scenario(cell)
    return parallel(
        context, lambda seed: airfair.run(wires, scheme=cell.queue, seed=seed), seeds(context, count)
    )


def _against_ns2(cell: Cell, results: Sequence[RunResult]) -> Iterator[Row]:
    ours = [wire_kbps(cell, result) for result in results]
    total = fmean(math.fsum(flows) for flows in ours)
    share = fmean(fmean(flows[: cell.tfrc]) for flows in ours)
    ns2 = peers(cell)
    measured = [("total", "kbit/s", [peer.total for peer in ns2], total)]
    if cell.sack:
        measured.append(("a TFRC flow", "kbit/s", [peer.tfrc for peer in ns2], share))
    if not cell.loss and not cell.few_loss_events:
        queue = fmean(mean_queue(result) for result in results)
        measured.append(("mean queue", "packets", [peer.queue for peer in ns2], queue))
    for what, unit, theirs, value in measured:
        for given in (True, False):
            part = [v for v, peer in zip(theirs, ns2, strict=True) if peer.given == given]
            if not part:
                continue
            source = f"{reference.PEERS}; {'as given' if given else 'peers/ns2/tfrc.tcl'}"
            name = f"{cell.name}: {what}"
            if agree(part[:3]):
                yield within(
                    SECTION, name, source, expected=fmean(part), measured=value, unit=unit, relative=CLOSE
                )
            else:
                allowed = ERRORS * stdev(theirs) * math.sqrt(1 / len(part) + 1 / len(ours))
                low, high = fmean(part) - allowed, fmean(part) + allowed
                yield inside(SECTION, name, source, low=low, high=high, measured=value, unit=unit)
    source = f"{reference.PEERS}; as given"
    rates = [peer.loss_event_rate for peer in ns2 if peer.loss_event_rate is not None]
    if rates and not cell.few_loss_events:
        yield within(
            SECTION,
            f"{cell.name}: loss event rate",
            source,
            expected=fmean(rates),
            measured=fmean(loss_event_rate(result) for result in results),
            relative=RATE_CLOSE,
        )
    jains = [peer.jain for peer in ns2 if peer.jain is not None]
    if jains:
        spread = fmean(deviation_of(jain_of(flows[: cell.tfrc])) for flows in ours)
        low, high = (factor * deviation_of(fmean(jains)) for factor in (0.5, 2.0))
        name = f"{cell.name}: deviation of TFRC's flows over their mean"
        yield inside(SECTION, name, source, low=low, high=high, measured=spread)


def mean_queue(result: RunResult) -> float:
    """Mean number of packets in the bottleneck's queue."""
    return next(q["mean_packets"] for q in result["queues"] if (q["node"], q["towards"]) == ("left", "right"))


def loss_event_rate(result: RunResult) -> float:
    """The first flow's; NaN, with which a row fails, if there was no loss event."""
    feedback = result["flows"][0]["feedback"]
    rate = feedback and feedback["loss_event_rate"]
    return rate if rate else math.nan


def jain_of(values: Sequence[float]) -> float:
    """Jain's index."""
    return math.fsum(values) ** 2 / (len(values) * math.fsum(value * value for value in values))


def deviation_of(jain: float) -> float:
    """Standard deviation over the mean, of values with this Jain's index."""
    return math.sqrt(max(1 / jain - 1, 0))


def _against_equation(context: Context, runs: dict[Cell, list[RunResult]]) -> Iterator[Row]:
    points = []
    for cell in BY_EQUATION:
        loss, results = cell.loss, runs[cell]
        goodput = fmean(wire_kbps(cell, result)[0] for result in results)
        rate = fmean(loss_event_rate(result) for result in results)
        points.append((rate, goodput))
        yield within(
            SECTION,
            f"equation at the loss event rate of random loss {loss:g} ({rate:.4f})",
            "RFC 5348 section 3.1",
            expected=equation_kbps(rate),
            measured=goodput,
            unit="kbit/s",
            relative=0.1,
        )
    curve = [10 ** (-3.2 + i * 0.05) for i in range(37)]
    given = [(cell.loss, peer.total) for cell in CELLS if cell.loss for peer in peers(cell) if not peer.given]
    context.figure(
        Figure(
            SECTION,
            "equation",
            "Goodput of one TFRC flow against its loss event rate: the equation and Airfair (means), both "
            "with t_RTO = 4 R, and ns-2's seeds at the random loss probability, with t_RTO = 0.3 s",
            "loss event rate, %",
            "kbit/s",
            [
                Series(
                    "equation", [100 * p for p in curve], [min(equation_kbps(p), 10_000.0) for p in curve]
                ),
                Series("Airfair", [100 * p for p, _ in points], [v for _, v in points], "points"),
                Series("ns-2", [100 * p for p, _ in given], [v for _, v in given], "points"),
            ],
        )
    )
