"""The testbed of section 6.1: protocols, readings, sets of flows, and the numbers of a run.

`testbed.toml` has the network: 46 nodes of one building, a set of flows for each seed, a minute, 20 sets for
each number of flows. The paper does not give queue limits, retry limit, smallest time-out, sense threshold or
the probes of ETX; how much each decides is in docs/building-46.md.

**Routes.** OLSR with ETX on the air (the paper's), its messages at 11 Mbit/s and at level 0; and static
routes by ETX of the silent network, which neither cost anything nor change under load. With OLSR fewer flows
starve: lost HELLOs change routes, so that no flow is shut out for long.

**Access.** All that is not DiffQ's is at level 0 of table 1: AIFSN 7, a window of 31 to 1023 slots. The text
calls this the default of 802.11b, which has a DIFS (AIFSN 2). Both are measured.

**Rates of DiffQ's sources.** The paper's alpha of 0.01 has no unit, and it does not say how often the law
runs. With the scheme's defaults, 0.01 Mbit/s each 10 ms, a source grows by 1 Mbit/s in a second, and all
sources are always backlogged. "Slow" is the other reading: 0.01 Mbit/s in a second, and as much to start
with; in a minute a flow comes to 600 kbit/s at most, and figure 12 has DiffQ's flows "around 50 to 500 kbps".
Hosts have receive windows of 64 KiB there, DiffQ's and others.

**Queues that wait.** As printed, the scheduler transmits the packet of the largest differential even where
that is zero or less. In the theory of backpressure, from which the paper says to have its scheduling, such a
queue waits until its next hop's is shorter: `serve = "positive"`. No relay's queue then grows beyond the one
before it, and the source's own queue feels what is far away. A QUEUE_THRESH of D/4 would allow 25 packets at
each hop; "waits" has 5. "Waits, slow" has the rates and windows of "slow" as well. `decides.py` changes one
value of "waits" at a time.

**Send buffers.** Without a congestion window nothing of DiffQ's holds back a source but its rate. A host of
the paper (Linux 2.6.18) does: a socket's send buffer has 16 KiB (second number of `tcp_wmem`), which with the
kernel's bookkeeping are about 8 segments of 1400 B, and it is enlarged only for a congestion window that
grows (`tcp_should_expand_sndbuf`). TCP-SACK's does, DiffQ-TCP's is switched off. "Buffer" is the text as
printed with that limit, `window_limit = "8 segments"`; the other readings of DiffQ-TCP without a window are
what no such host could do. Small windows make TCP fairer, too: what is claimed of DiffQ-TCP there is, as
ours, judged over "TCP-SACK, 8 segments" as well.

**Steps of the law.** *Source Rate Control()* is a procedure without a clock: in "packets" each packet that a
source sends calls it (`steps = "packets"`), so that a flow that is held back gains little. That reading has
queues that wait and, over TCP, the send buffer. Of all readings it is the nearest to the paper's results.

**Queues.** 50 packets, and 100 as a queue of DiffQ has; they are the baselines' only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from airfair.claims import MAIN, Claim, Statistic, estimate, number

from airfair_papers.diffq.common import STARVED_BPS
from airfair_papers.diffq.common.best import best
from airfair_papers.diffq.common.forms import Forms

if TYPE_CHECKING:
    from airfair.claims import MeasuredRow
    from airfair.recording import Recording
    from airfair.results import Estimate, RunResult
    from numpy.typing import NDArray

    Rates = NDArray[np.float64]

SCENE = Path(__file__).parent.with_name("testbed.toml")
COUNTS = (4, 8, 16, 32)
"""Numbers of flows."""

OLSR = ('routing={ protocol = "olsr" }', "olsr.metric=etx")
PACKET_BITS = 1400 * 8
UDP = ("flows.transport=udp", 'flows.traffic={ kind = "saturating", packet = "1400 B" }')


@dataclass(frozen=True)
class Protocol:
    """The behaviour of flows and nodes."""

    scheme: str
    overrides: tuple[str, ...] = ()
    own: bool = False
    """True if it is DiffQ, which has levels and queues of its own whatever a reading says of the others'."""

    @property
    def windows(self) -> bool:
        """True if its flows are TCP's."""
        return not any(change.startswith("flows.transport=") for change in self.overrides)


TCP, FEW, TFRC = "TCP-SACK", "TCP-FeW", "TFRC-ECN"
TCP_8 = "TCP-SACK, 8 segments"
DIFFQ_TCP, DIFFQ_UDP = "DiffQ-TCP", "DiffQ-UDP"
LOG_TCP, LOG_UDP = "DiffQ-TCP, log", "DiffQ-UDP, log"
OTHERS = ("CUBIC", "BBR", "FQ-CoDel")
"""Not the paper's: what hosts and nodes of today have."""

LOG = 'diffq.law="log"'
WINDOW = ("tcp.receive_window=64 KiB",)
SEND_BUFFER = ('tcp.window_limit="8 segments"',)


def slow(scheme: str) -> tuple[str, ...]:
    """Sources that grow by 0.01 Mbit/s in a second, from as much: a hundredth of it each 10 ms."""
    return (f"{scheme}.alpha=100 bit/s", f"{scheme}.rate_start=10 kbit/s")


def waits(scheme: str) -> tuple[str, ...]:
    """Queues whose differential is not above zero wait, and sources keep theirs short."""
    return (f"{scheme}.serve=positive", f"{scheme}.threshold=5")


def packets(scheme: str) -> tuple[str, ...]:
    """Each packet that a source sends calls its law."""
    return (f"{scheme}.steps=packets",)


PROTOCOLS: Mapping[str, Protocol] = {
    TCP: Protocol("droptail"),
    TCP_8: Protocol("droptail", SEND_BUFFER),
    FEW: Protocol("few"),
    "CUBIC": Protocol("cubic"),
    "BBR": Protocol("bbr"),
    "FQ-CoDel": Protocol("fq-codel"),
    DIFFQ_TCP: Protocol("diffq", own=True),
    LOG_TCP: Protocol("diffq", (LOG,), own=True),
    "UDP": Protocol("droptail", UDP),
    TFRC: Protocol("tfrc-ecn", ("flows.transport=udp-tfrc-ecn", UDP[1])),
    DIFFQ_UDP: Protocol("diffq", UDP, own=True),
    LOG_UDP: Protocol("diffq", (*UDP, LOG), own=True),
}


@dataclass(frozen=True)
class Form:
    """One reading of the points that the paper leaves open."""

    static: bool = False
    dcf: bool = False
    queue: int = 50
    slow: bool = False
    waits: bool = False
    buffer: bool = False
    packets: bool = False

    def of(self, protocol: Protocol) -> Form:
        """As far as it is about a protocol."""
        if not protocol.own:
            form = replace(self, waits=False, buffer=False, packets=False)
            return form if protocol.windows else replace(form, slow=False)
        return replace(self, dcf=False, queue=50, buffer=self.buffer and protocol.windows)

    @property
    def overrides(self) -> tuple[str, ...]:
        """Of routes, access and queues."""
        return (
            *(() if self.static else OLSR),
            *(("radio.categories=dcf",) if self.dcf else ()),
            *((f"radio.queue_packets={self.queue}",) if self.queue != 50 else ()),
        )

    def changes(self, protocol: Protocol) -> tuple[str, ...]:
        """All of a protocol in this form."""
        return (
            *self.of(protocol).overrides,
            *(WINDOW if self.slow and protocol.windows else ()),
            *(SEND_BUFFER if self.of(protocol).buffer else ()),
            *protocol.overrides,
            *(slow(protocol.scheme) if self.slow and protocol.own else ()),
            *(waits(protocol.scheme) if self.waits and protocol.own else ()),
            *(packets(protocol.scheme) if self.packets and protocol.own else ()),
        )


READINGS: Mapping[str, Form] = {
    MAIN: Form(),
    "DCF": Form(dcf=True),
    "queue 100": Form(queue=100),
    "static routes": Form(static=True),
    "static routes, DCF": Form(static=True, dcf=True),
    "static routes, queue 100": Form(static=True, queue=100),
    "slow": Form(slow=True),
    "static routes, slow": Form(static=True, slow=True),
    "static routes, slow, DCF": Form(static=True, dcf=True, slow=True),
    "waits": Form(waits=True),
    "waits, DCF": Form(dcf=True, waits=True),
    "static routes, waits": Form(static=True, waits=True),
    "static routes, waits, DCF": Form(static=True, dcf=True, waits=True),
    "waits, slow": Form(slow=True, waits=True),
    "static routes, waits, slow": Form(static=True, slow=True, waits=True),
    "static routes, waits, slow, DCF": Form(static=True, dcf=True, slow=True, waits=True),
    "buffer": Form(buffer=True),
    "static routes, buffer": Form(static=True, buffer=True),
    "static routes, buffer, DCF": Form(static=True, dcf=True, buffer=True),
    "packets": Form(waits=True, buffer=True, packets=True),
    "static routes, packets": Form(static=True, waits=True, buffer=True, packets=True),
    "static routes, packets, DCF": Form(static=True, dcf=True, waits=True, buffer=True, packets=True),
}
"""The first is nearest to the text."""

OF_TCP = tuple(READINGS)[:6]
"""Those that are about others than DiffQ."""

BASELINES = tuple(reading for reading, form in READINGS.items() if not (form.waits or form.buffer))
"""Those in which a baseline alone is judged: queues that wait and the send buffer are DiffQ's."""

LEVELS = (MAIN, "DCF", "static routes", "static routes, DCF")
"""Routes and access."""

ROUTES = (MAIN, "static routes")
SLOW = ("slow", "static routes, slow")
WAITS = ("waits", "static routes, waits")
"""Queues that wait, and these with baselines of all levels, and with slow sources."""
WAITS_LEVELS = ("waits", "waits, DCF", "static routes, waits", "static routes, waits, DCF")
WAITS_SLOW = ("waits, slow", "static routes, waits, slow")
BUFFER = ("buffer", "static routes, buffer")
PACKETS = ("packets", "static routes, packets")
CLOCKED = (*ROUTES, *SLOW, *WAITS, *WAITS_SLOW)
OURS = tuple(reading for reading in CLOCKED if READINGS[reading].static)
"""Those of questions beyond the paper: routes that stand, so that queues alone decide."""
"""Those with a law that runs by the clock, without a send buffer."""
OWN_UDP = (*CLOCKED, *PACKETS)
OWN = (*CLOCKED, *BUFFER, *PACKETS)
"""Those that are about DiffQ; `OWN_UDP` without TCP."""

JUDGED = tuple(reading for reading, form in READINGS.items() if form.queue == 50)
"""All but those of queues."""

ABOUT = ("radio.categories", "radio.queue_packets", "tcp.receive_window", "tcp.window_limit")
"""Keys in which a baseline differs from DiffQ."""


FORMS = Forms(PROTOCOLS, READINGS, COUNTS)
told, name, series = FORMS.told, FORMS.name, FORMS.series


def sets(seed: int) -> tuple[str, ...]:
    """The set of flows of a seed."""
    return (f"flows.seed={seed}",)


JAIN = "Jain's index"
UTILITY = "log utility (kbit/s)"
UTILITY_BIT = "log utility (bit/s)"
TOTAL = "total (Mbit/s)"
LARGEST = "largest flow (Mbit/s)"
MEDIAN = "median flow (kbit/s)"
STARVED = "share below 1 kbit/s"
BELOW_100 = "share below 100 kbit/s"
MIDDLE = "share from 50 to 500 kbit/s"
GREEDY = "share above 1 Mbit/s"
OF_BEST = "of the max-min optimum, least flow"
OF_BEST_TOTAL = "of the max-min optimum, total"


def read(recording: Recording) -> dict[str, float]:
    """The numbers of a run. Shares of the optimum are those of the static routes by ETX with the DCF's
    access, whatever routes and access the run has."""
    result = recording.result
    rates = np.array([flow["goodput_bps"] for flow in result["flows"]])
    optimum = best(recording)
    forwarded = (
        {innovative(name): value for name, value in shared(rates_innovative(result)).items()}
        if all("forwarding" in flow for flow in result["flows"])
        else {}
    )
    return {
        **shared(rates),
        MIDDLE: float(((rates >= 5e4) & (rates <= 5e5)).mean()),
        GREEDY: float((rates > 1e6).mean()),
        OF_BEST: float((rates / optimum).min()),
        OF_BEST_TOTAL: float(rates.sum() / optimum.sum()),
        "queue drops": float(result["drops"].get("queue-full", 0)),
        "retry drops": float(result["drops"].get("retry-limit", 0)),
        "mean delay (ms)": math.nan if result["mean_delay_s"] is None else 1e3 * result["mean_delay_s"],
        **forwarded,
    }


def shared(rates: Rates) -> dict[str, float]:
    """How flows share, by their rates in bit/s."""
    squares = float((rates**2).sum())
    return {
        JAIN: float(rates.sum()) ** 2 / (len(rates) * squares) if squares else math.nan,
        UTILITY: log_utility(rates, 1e3),
        UTILITY_BIT: log_utility(rates, 1.0),
        TOTAL: float(rates.sum()) / 1e6,
        LARGEST: float(rates.max()) / 1e6,
        MEDIAN: float(np.median(rates)) / 1e3,
        STARVED: float((rates < STARVED_BPS).mean()),
        "share below 10 kbit/s": float((rates < 1e4).mean()),
        BELOW_100: float((rates < 1e5).mean()),
    }


def innovative(statistic: str) -> str:
    """The name of a number that counts innovative packets, not those of decoded batches."""
    return f"{statistic}, innovative"


def rates_innovative(result: RunResult) -> Rates:
    """Rates in bit/s of the packets that raise the rank of a destination's decoder: flows that forwarders
    carry. Counted from the start of flows, at the end of the warm-up."""
    seconds = result["duration_s"] - result["warmup_s"]
    packets = [flow["forwarding"]["innovative"] for flow in result["flows"]]
    return np.array(packets) * (PACKET_BITS / seconds)


def log_utility(rates_bps: Rates, unit: float) -> float:
    """Sum of the logarithms of rates in a unit, each at least one unit: a flow without a bit has none."""
    return float(np.log(np.maximum(rates_bps, unit) / unit).sum())


def times(
    text: str,
    where: str,
    of: str,
    count: int,
    statistic: str,
    factor: float,
    *,
    than: str = TCP,
    below: bool = False,
    readings: Sequence[str] = tuple(READINGS),
    source: str = "paper",
) -> list[Claim]:
    """A number of one protocol is above (below) so many times that of another, seed by seed, in each
    reading; of DiffQ-TCP with its send buffer over TCP, as ours, over TCP with such windows too."""

    def over(other: str, reading: str) -> Claim:
        return replace(
            beside(
                text if other == than else f"{text}, TCP with windows of 8 segments",
                name(of, count, reading),
                name(other, count, reading),
                statistic,
                "below" if below else "above",
                factor,
                where=where,
                reading=reading,
                paired=True,
            ),
            source="paper" if source == "paper" and other == than else "ours",
        )

    both = of == DIFFQ_TCP and than == TCP
    return [
        *(over(than, reading) for reading in readings),
        *(over(TCP_8, reading) for reading in readings if both and reading in (*BUFFER, *PACKETS)),
    ]


def beside(
    text: str,
    series: str,
    other: str,
    statistic: str,
    comparison: Literal["above", "below"],
    factor: float = 1.0,
    *,
    where: str,
    reading: str,
    paired: bool = False,
    control: str | None = None,
) -> Claim:
    """A number of one series is above (below) so many times that of another; the claim is ours. The other is
    no baseline: it would be compared with itself, which shows nothing. So a ratio has none, unless there is a
    `control`, a third series that lacks what the claim credits, and of which it must be false."""
    both = number(statistic)
    return Claim(
        text=text,
        where=where,
        source="ours",
        series=series,
        baseline=control,
        statistic=both,
        comparison=comparison,
        bound=both,
        bound_series=other,
        factor=factor,
        paired=paired,
        reading=reading,
    )


def pooled(row: MeasuredRow) -> list[float]:
    """Goodputs of all flows of all sets, bit/s."""
    return [
        value
        for key, values in row["run_values"].items()
        if key.startswith("flow.")
        for value in values
        if not math.isnan(value)
    ]


def of_starved() -> Statistic:
    """The median goodput, set by set, of those flows that starve in the series that this one is compared
    with; NaN for sets without one."""

    def each(row: MeasuredRow) -> list[float]:
        flows = [key for key in row["run_values"] if key.startswith("flow.")]
        found = []
        for run in range(len(row["seeds"])):
            there = [
                row["run_values"][flow][run]
                for flow in flows
                if row["against_values"][flow][run] < STARVED_BPS
            ]
            found.append(float(np.median(there)) / 1e3 if there else math.nan)
        return found

    def of(row: MeasuredRow) -> Estimate:
        return estimate(each(row))

    return Statistic(
        "median goodput (kbit/s) of the flows that starve in the other", of, rate=False, each=each
    )
