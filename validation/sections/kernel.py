"""CUBIC of a Linux testbed over FQ-CoDel, measured by Flent, against the profile `linux`."""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import airfair
from airfair import Scenario

from ..report import Context, Row, holds, within
from ..runs import seeds

TITLE = "A Linux testbed"
ABOUT = """
Four uploads of Linux 4.1 with round-trip times of 10, 50, 200 and 500 ms share 100 Mbit/s for 600 s: CUBIC
over FQ-CoDel, without segmentation offload and without ECN, measured by Flent ("rtt_fair_up", a testbed of
five computers, July 2015). Goodput of each flow within 15 %, drops of FQ-CoDel too. The file is no part of
Airfair: `AIRFAIR_FLENT=FOLDER` names where it lies, and its means, drops and settings are then read from it;
without it the numbers below, derived from it, are compared.

The scenario is the testbed's: `profile = "linux"`, FQ-CoDel as its defaults are, and what the file says of
the hosts. The file says that segmentation offload is off. Before Linux 4.17 each segment then takes a block
of memory of its own, 4352 B for 1448 B of payload (`tcp_sndbuf_expand`), and a send buffer of 4 MiB, the
most of `tcp_wmem`, holds 963 segments: `send_buffer = "963 segments"`. An application that has filled it
writes again when a third is free (`sk_stream_is_writeable`). Above 642 segments, 15 Mbit/s at 500 ms, data
therefore leave in bursts of 321; such a burst waits for more than 100 ms in FQ-CoDel, and CoDel drops from
it. This keeps the flow of 500 ms at 10 Mbit/s in the testbed, and here.

Two rules of newer hosts are off. Without offload, and before Linux 5.4, no packet of several segments ends
with PSH (`push = false`). A window that grows (`window_tuning`) has each segment of the first seconds
acknowledged; slow start, which ends here by losses only, then grows as fast as in Linux, and overshoots: 95
drops in the first 30 s become 350. Linux leaves it by HyStart.

Goodput in Mbit/s of the flows of 10, 50, 200 and 500 ms; drops of FQ-CoDel (the testbed: 1643):

| `[tcp]` | 10 | 50 | 200 | 500 ms | drops |
|---|---|---|---|---|---|
| testbed | 36.8 | 25.4 | 20.5 | 10.3 | 1643 |
| `profile = "linux"`, `send_buffer = "963 segments"`, both rules off | 37.7 | 25.5 | 20.8 | 10.0 | 1688 |
| the same with `prr = false` | 38.6 | 24.9 | 20.0 | 9.9 | 1618 |
| the same, slow start ends at 60 kB (`cubic.initial_ssthresh`) | 37.8 | 25.3 | 21.2 | 9.8 | 1668 |
| `window_tuning` on | 37.8 | 25.5 | 20.8 | 9.8 | 2045 |
| `window_tuning` on, slow start ends at 60 kB | 37.6 | 25.5 | 20.9 | 9.9 | 1688 |
| `window_tuning` and `push` on | 37.2 | 25.4 | 21.5 | 9.8 | 1967 |
| both rules off, 4 MiB of payload | 29.7 | 24.4 | 22.3 | 18.5 | 2330 |
| both rules off, `window_limit = "642 segments"` | 32.7 | 24.4 | 22.4 | 14.4 | 2060 |
| `profile = "linux-2026"` | 29.5 | 24.2 | 22.4 | 18.6 | 6251 |
| default | 41.8 | 25.0 | 18.7 | 8.3 | 1562 |
| default, `send_buffer = "963 segments"` | 39.6 | 25.1 | 20.1 | 9.3 | 1617 |
| default, `prr = true` | 29.1 | 24.5 | 22.7 | 19.5 | 2248 |
| default, `timestamps = true` | 41.3 | 24.9 | 18.7 | 8.2 | 1559 |

- **No rate reduction by acknowledgements** (`prr = false`, the default): a sender is silent for 0.3 of a
  round trip after a loss, and what it sends afterwards keeps this gap for many round trips: bursts, again
  drops, and 8 Mbit/s at 500 ms. The nearness to the testbed is a coincidence of two causes.
- **A rate reduction and no send buffer**: the sender's data are spread, and nothing holds it back.
- What had no effect: CoDel's `mtu`, timestamps, the drop batch (nothing was dropped at the limit in the
  testbed), ECN (off), the quantum (1514 B on both sides).

What remains: a few per cent more at 10 ms and less at 500 ms. The testbed's shaper forwards 97 instead of
100 Mbit/s, since its bucket holds one packet, so that a late timer loses time. CUBIC here has no HyStart,
which matters in the first seconds, and its Reno-friendly region has the slope of RFC 9438, with 1 instead
of 0.53 segments per round trip above the old window.

A second file ("rrul_be", Linux 5.4, cubic-sce over LFQ-COBALT) has a law and a queue that Airfair lacks, so
that its goodput says nothing. Its socket statistics can be compared: the pacing rate of its four uploads is
1.2 windows per smoothed round-trip time, as `Sender::pacing_rate` has it (the median of 4950 samples is
1.20), and the time-out of all its eight connections is 200 ms more than that time, where RFC 6298 has a
least time-out (`min_rto_beyond_rtt`; a unit test of `crates/transport/rtt.rs` has the eight pairs).
"""

SECTION = "kernel"
SOURCE = "Flent data, Linux 4.1 testbed"
FOLDER = "AIRFAIR_FLENT"
FILE = "test-rtt-fair.flent.gz"
MEANS_MBPS = {"rtt10": 36.81, "rtt50": 25.37, "rtt200": 20.51, "rtt500": 10.25}
"""Means of the file's four series of goodput."""
DROPS = 1643
"""Drops of the bottleneck's FQ-CoDel during the run, all by CoDel."""
SERIES = "TCP upload BE{} testserv-0{}"
DELAYS_US = {"rtt10": 4_500, "rtt50": 24_500, "rtt200": 99_500, "rtt500": 249_500}
"""Delay of each receiver's wire, one way; the bottleneck has 500 us more."""


def scene(duration_s: int) -> Scenario:
    """The testbed: each sender and receiver by 1 Gbit/s, 100 Mbit/s between both routers."""
    parts = [
        f"""name = "rtt-fair"
duration = "{duration_s} s"
[tcp]
profile = "linux"
mss = "1460 B"
send_buffer = "963 segments"
push = false
window_tuning = false
[headers]
tcp = "real"
ip = "20 B"
wired = "14 B"
[[node]]
id = "left"
[[node]]
id = "right"
[[link]]
ends = ["left", "right"]
rate = "100 Mbit/s"
delay = "500 us"
queue_packets = 10240
"""
    ]
    for name, delay_us in DELAYS_US.items():
        parts.append(
            f"""[[node]]
id = "from-{name}"
[[node]]
id = "to-{name}"
[[link]]
ends = ["from-{name}", "left"]
rate = "1 Gbit/s"
delay = "0 s"
queue_packets = 10000
[[link]]
ends = ["right", "to-{name}"]
rate = "1 Gbit/s"
delay = "{delay_us} us"
queue_packets = 10000
[[flow]]
id = "{name}"
from = "from-{name}"
to = "to-{name}"
transport = "tcp-cubic"
traffic = {{ kind = "ftp" }}
"""
        )
    return Scenario.parse("".join(parts), "rtt-fair")


def recording() -> dict[str, Any] | None:
    """The file of Flent, if the environment names its folder."""
    folder = os.environ.get(FOLDER)
    if folder is None:
        print(
            f"kernel: {FOLDER} is not set: {FILE} is not read, and the numbers that were derived from it are "
            "compared",
            file=sys.stderr,
        )
        return None
    with gzip.open(Path(folder) / FILE, "rt", encoding="utf-8") as file:
        read: dict[str, Any] = json.load(file)
    return read


def mean_mbps(read: dict[str, Any], number: int) -> float:
    """The mean of a flow's series."""
    values = [value for value in read["results"][SERIES.format(number, number)] if value is not None]
    return float(sum(values) / len(values))


def bottleneck(read: dict[str, Any]) -> dict[str, Any]:
    """The file's statements about the interface with the uploads' FQ-CoDel."""
    found: dict[str, Any] = read["metadata"]["REMOTE_METADATA"]["testbed-02"]["EGRESS_INFO"]
    return found


def of_the_file(read: dict[str, Any]) -> Iterable[Row]:
    """The numbers and settings above, from the file."""
    for number, (name, mean) in enumerate(MEANS_MBPS.items(), 1):
        yield within(
            SECTION,
            f"{name}: mean of the file",
            FILE,
            expected=mean,
            measured=mean_mbps(read, number),
            unit="Mbit/s",
            absolute=0.005,
        )
    queue = bottleneck(read)
    dropped = f"(dropped {DROPS}, "
    counts = queue["tc_stats_post"][1]
    yield holds(
        SECTION, "drops of the file", FILE, expected=dropped, measured=counts[:200], ok=dropped in counts
    )
    settings = queue["qdiscs"][1]["params"]
    usual = {"flows": "1024", "interval": "100.0ms", "limit": "10240p", "quantum": "1514", "target": "5.0ms"}
    yield holds(
        SECTION,
        "FQ-CoDel of the file",
        FILE,
        expected=str(usual),
        measured=str(settings),
        ok=settings == usual,
    )
    offloads = read["metadata"]["EGRESS_INFO"]["offloads"]
    segmentation = {name: on for name, on in offloads.items() if "segmentation" in name}
    yield holds(
        SECTION,
        "no segmentation offload at the sender",
        FILE,
        expected="off",
        measured=str(segmentation),
        ok=bool(segmentation) and not any(segmentation.values()),
    )


def rows(context: Context) -> Iterable[Row]:
    """The four flows and the drops; with the file also the numbers that they are compared with."""
    read = recording()
    if read is not None:
        yield from of_the_file(read)
    scenario = scene(120 if context.quick else 600)
    result = airfair.run(scenario, scheme="fq-codel", seed=seeds(context, 1)[0])
    for flow in result["flows"]:
        yield within(
            SECTION,
            f"{flow['id']}: goodput",
            SOURCE,
            expected=MEANS_MBPS[flow["id"]],
            measured=flow["goodput_bps"] / 1e6,
            unit="Mbit/s",
            relative=0.15,
        )
    if not context.quick:
        yield within(
            SECTION,
            "drops of FQ-CoDel",
            SOURCE,
            expected=DROPS,
            measured=sum(result["drops"].values()),
            relative=0.15,
        )
