"""The window of NewReno against its loss rate: the square-root law."""

from __future__ import annotations

import math
from collections.abc import Iterable

from airfair import Scenario

from ..report import Context, Row, within
from ..runs import run_all, seeds

TITLE = "Loss and window"
ABOUT = """
One long flow over a link that never queues, with SACK and without a window limit, at least 1,000 losses a
row (a tenth with `--quick`). C is defined by the goodput, C · MSS / (RTT · √p). Every n-th segment is lost
(`loss_every`), or each with probability p (`loss`, which applies to acknowledgements too).

The law omits the round trip of a repair, in which the window does not grow, and the rounding to whole
segments. Both matter more for smaller windows. At p = 0.003 and delayed acknowledgements the window is 16
segments: the law is then 10 to 13 % above the simulator, and the tolerance of those rows is 15 %.
"""

SECTION = "mathis"
SOURCE = "Mathis et al., ACM CCR 27(3), 1997"
RTT_S = 0.1
MSS = 1000
CONSTANTS: dict[tuple[str, str], float] = {
    ("periodic", "off"): 1.22,
    ("periodic", "delayed"): 0.87,
    ("random", "off"): 1.30,
    ("random", "delayed"): 0.92,
}


def long_flow(
    losses: str, law: str, *, rtt_s: float, duration_s: int, warmup_s: int, delayed: bool, params: str = ""
) -> Scenario:
    """A flow over a link of 100 Gbit/s with a queue that never fills; `losses` is a key of the link."""
    acks = '{ segments = 2, timeout = "200 ms" }' if delayed else '"off"'
    return Scenario.parse(
        f"""name = "loss"
duration = "{duration_s} s"
warmup = "{warmup_s} s"
[tcp]
mss = "{MSS} B"
initial_window = "2 segments"
window_limit = "1000000 segments"
receive_window = "1000 MB"
delayed_ack = {acks}
[headers]
tcp = "20 B"
ip = "20 B"
[schemes.{law}]
{params}
[[node]]
id = "a"
[[node]]
id = "b"
[[link]]
ends = ["a", "b"]
rate = "100 Gbit/s"
delay = "{round(rtt_s * 5e8)} ns"
queue_packets = 1000000
{losses}
[[flow]]
id = "f"
from = "a"
to = "b"
transport = "tcp-{law}"
traffic = {{ kind = "ftp" }}
""",
        "loss",
    )


def rows(context: Context) -> Iterable[Row]:
    """C at four loss rates, losses at equal distances and at random, with and without delayed ACKs."""
    cells = [(*kind, p) for kind in CONSTANTS for p in (1e-4, 3e-4, 1e-3, 3e-3)]
    scenarios = []
    for losses, acks, p in cells:
        # Enough for 1,000 losses after the warm-up.
        window = CONSTANTS[losses, acks] / math.sqrt(p)
        measured = math.ceil((150 if context.quick else 1350) / p / window * RTT_S)
        key = f"loss_every = {round(1 / p)}" if losses == "periodic" else f"loss = {p}"
        scenarios.append(
            long_flow(
                key,
                "newreno",
                rtt_s=RTT_S,
                duration_s=measured + 200,
                warmup_s=200,
                delayed=acks == "delayed",
            )
        )
    results = run_all(context, [(scenario, seeds(context, 1)[0]) for scenario in scenarios])
    for (losses, acks, p), result in zip(cells, results, strict=True):
        (flow,) = result["flows"]
        enough = flow["retransmissions"] >= (100 if context.quick else 1000)
        rate = 1 / round(1 / p) if losses == "periodic" else p
        yield within(
            SECTION,
            f"{losses} losses, p = {p}, acknowledgements {'delayed' if acks == 'delayed' else 'of each'}",
            SOURCE,
            expected=CONSTANTS[losses, acks],
            measured=flow["goodput_bps"] * RTT_S * math.sqrt(rate) / (8 * MSS) if enough else math.nan,
            relative=0.15 if p == 3e-3 and acks == "delayed" else 0.10,
        )
