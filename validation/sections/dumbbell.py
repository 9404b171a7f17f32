"""Long flows over a wired bottleneck under four queues, against ns-3."""

from __future__ import annotations

from collections.abc import Iterable

import airfair
from airfair import Scenario

from .. import reference
from ..report import Context, Row, holds, inside, within
from ..runs import SCENARIOS, mean_of, parallel, run_all, seeds

TITLE = "Dumbbell"
ABOUT = """
One or four long flows of NewReno or CUBIC over the wires of `scenarios/dumbbell.toml` (10 Mbit/s, 40 ms),
30 s of which the first 10 are left out, under FIFO, RED, CoDel and FQ-CoDel, against one seed of ns-3.37.
Windows of 4 MB, so that they never bind. RED as in ns-3: 15/45 of 100 packets, gentle, `wait`, max_p 1/50.
Means over the seeds: goodput within 2 %; the mean wait within 15 % or one packet's time, 1.2 ms, which a
packet of ns-3 spends in the device below the queue that is measured; Jain's index of the single seed
between the lowest and the highest of our seeds.

**Where CUBIC differs from ns-3, one rule decides under RED**: ns-3.37's CUBIC (`tcp-cubic.cc`) has no
Reno-friendly region; RFC 9438 and this simulator have. With it taken out here, four flows under RED
wait 24.7 ms (with it 34.2, ns-3 25.1), four under FQ-CoDel 5.6 ms (8.4, ns-3 4.4), and Jain's index of
four under FIFO spreads from 0.59 to 0.98 (0.86 to 0.99, ns-3 0.71). HyStart, which ns-3 has on, changes
nothing for one flow under CoDel. One seed says little of four CUBIC flows under CoDel: six seeds of
ns-3 wait 5.2 to 214 ms.
"""

SECTION = "dumbbell"
PACKET_MS = 1502 * 8 / 10e6 * 1e3
LIMITS = {"droptail": 100, "red": 100, "codel": 1000, "fq-codel": 10240}
"""Packets that wait at most; ns-3's defaults for the last two."""
RED = """[schemes.red]
min_th = 15
max_th = 45
gentle = true
wait = true
max_p = 0.02
mean_packet_time = "1.2 ms"
"""


def scenario(law: str, flows: int, queue_packets: int) -> Scenario:
    """The repository's dumbbell with this law, so many of its flows and this queue."""
    text = (SCENARIOS / "dumbbell.toml").read_text()
    text = text.replace("queue_packets = 100\n", f"queue_packets = {queue_packets}\n")
    text = text.replace(
        'mss = "1460 B"\n', 'mss = "1460 B"\nwindow_limit = "4 MB"\nreceive_window = "4 MB"\n'
    )
    text = text.replace('"tcp-newreno"', f'"tcp-{law}"')
    head, *rest = text.split("[[flow]]")
    return Scenario.parse("[[flow]]".join([head, *rest[:flows]]) + "\n" + RED, "dumbbell")


def rows(context: Context) -> Iterable[Row]:
    """ns-3's table, then BBR alone."""
    for row in reference.DUMBBELL_ROWS:
        yield from _row(context, row)
    (result,) = run_all(context, [(scenario("bbr", 1, 1000), seeds(context, 1)[0])])
    # 1448 of 1502 bytes are payload; 40 ms at 10 Mbit/s.
    yield inside(
        SECTION,
        "BBR alone: share of the link",
        "BBR's design",
        low=95,
        high=100,
        measured=result["aggregate_goodput_bps"] / 10e6 * 1502 / 1448 * 100,
        unit="%",
    )
    (wait,) = [
        q["mean_wait_s"] or 0.0 for q in result["queues"] if (q["node"], q["towards"]) == ("left", "right")
    ]
    yield inside(
        SECTION,
        "BBR alone: mean queue, bandwidth-delay products",
        "BBR's design",
        low=0,
        high=1.5,
        measured=wait / 0.04,
    )


def _row(context: Context, row: reference.Dumbbell) -> Iterable[Row]:
    wires = scenario(row.law, row.flows, LIMITS[row.queue])
    results = parallel(
        context,
        lambda seed: airfair.run(wires, scheme=row.queue, seed=seed),
        seeds(context, 5 if context.quick else 20),
    )
    goodput = mean_of([result["aggregate_goodput_bps"] / 1e6 for result in results]).mean
    waits = [
        1e3 * (queue["mean_wait_s"] or 0.0)
        for result in results
        for queue in result["queues"]
        if (queue["node"], queue["towards"]) == ("left", "right")
    ]
    name = f"{row.queue}, {row.flows} {row.law}"
    yield within(
        SECTION,
        f"{name}: goodput",
        reference.PEERS,
        expected=row.goodput_mbps,
        measured=goodput,
        unit="Mbit/s",
        relative=0.02,
    )
    yield within(
        SECTION,
        f"{name}: mean wait",
        reference.PEERS,
        expected=row.wait_ms,
        measured=mean_of(waits).mean,
        unit="ms",
        absolute=max(0.15 * row.wait_ms, PACKET_MS),
    )
    if row.flows > 1:
        jain = [result["jain_index"] for result in results]
        yield holds(
            SECTION,
            f"{name}: Jain's index of ns-3's seed among ours",
            reference.PEERS,
            expected=f"{row.jain}",
            measured=f"{min(jain):.3f} to {max(jain):.3f}",
            ok=round(min(jain), 3) <= row.jain <= round(max(jain), 3),
        )
