"""Table 1: the packets' delay over the wireless link, drop-tail and LBM with rho_0 = 0.2.

The claims: LBM's delay is smaller at each number of flows, and it varies less at 5, 10 and 15 of them. At
20 the table itself has 10.7 ms for drop-tail and 15.0 ms for LBM, so nothing is claimed there. Outcomes:
`docs/papers/lbm.md`.

**Which deviation.** The claims are judged from packet to packet. At 15 flows drop-tail's queue is full most
of the time, which bounds its variation, while LBM's delay follows the number of files that are left. The
table's own deviations resemble those of its ten runs' means.

**Which set-up.** The paper names none of segment size, queue, RTS, rates of control frames, TCP's windows,
or the behaviour of a flow after its file. Each variant changes one or two things of `cell.toml` (ns-2's
defaults, one file each); its distance to the table's eight means is the root mean square of ln(measured /
printed). What decides is

- the traffic: one file each leaves a few flows for most of the run, back to back keeps the queue full;
- the strength of the marks: alpha, or marks on acknowledgements;
- the capacity of the cell, since the marks begin at a fixed load: segment size, rate of control frames;
- the largest window: 20 segments, ns-2's default, bound the queue of 5 flows;
- the time of a full queue, 50 packets of 3.5 ms.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, number_gain
from airfair.paper import Experiment

from airfair_papers.lbm.common.cell import (
    CELL,
    FLOWS,
    INTERVAL,
    SCHEMES,
    SEEDS,
    WINDOWS,
    back_to_back,
    changed,
    lines,
    one_file,
    point,
    read,
    together,
    with_pauses,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

PRINTED_MS = {"drop-tail": (39.1, 65.9, 92.9, 101.1), "LBM 0.2": (15.9, 32.9, 57.4, 71.9)}
WHERE = "section 3.2, table 1"
BASE = "one file each"


NEAREST = "1460 B, queue 40"
VARIANTS: dict[str, Callable[[int], tuple[str, ...]]] = {
    "windows up to 1000": changed(one_file, WINDOWS),
    "queue 25": changed(one_file, "radio.queue_packets=25"),
    "no RTS": changed(one_file, 'radio.rts_threshold="2347 B"'),
    "512 B, no RTS": changed(one_file, 'radio.rts_threshold="2347 B"', 'tcp.mss="512 B"'),
    "1460 B": changed(one_file, 'tcp.mss="1460 B"'),
    "queue 40": changed(one_file, "radio.queue_packets=40"),
    "alpha 2": changed(one_file, "lbm.alpha=2"),
    "alpha 2, queue 40": changed(one_file, "lbm.alpha=2", "radio.queue_packets=40"),
    NEAREST: changed(one_file, 'tcp.mss="1460 B"', "radio.queue_packets=40"),
    "marks on acknowledgements": changed(one_file, "lbm.mark_acks=true"),
    "files with pauses": with_pauses,
    "control at 1 Mbit/s": changed(one_file, 'radio.basic_rates=["1 Mbit/s"]'),
    "marks down to two": changed(one_file, "newreno.mark_to_one=false"),
    "back to back": back_to_back,
    "back to back, windows up to 1000": changed(back_to_back, WINDOWS),
    "back to back, 512 B, no RTS": changed(back_to_back, 'radio.rts_threshold="2347 B"', 'tcp.mss="512 B"'),
}
"""By what they change."""

JUDGED = ("1460 B", NEAREST, "alpha 2, queue 40")
"""Variants near to the table's means, by the seeds 1 to 10."""


def smaller(number: str, what: str, count: int, form: str) -> Claim:
    """That LBM's number is smaller than drop-tail's."""
    return Claim(
        text=f"LBM 0.2 has {what} than drop-tail at {count} flows",
        where=WHERE,
        source="paper",
        series=f"LBM 0.2, {point(form, count)}",
        baseline=f"drop-tail, {point(form, count)}",
        statistic=number_gain(number),
        comparison="below",
        reading=MAIN if form == BASE else form,
    )


def distance(rows: Measured, form: str) -> float:
    """Root mean square of ln(measured / printed) over the table's eight means."""
    logs = [
        math.log(rows[f"{scheme}, {point(form, n)}"]["numbers"]["delay_ms"]["mean"] / printed)
        for scheme, means in PRINTED_MS.items()
        for n, printed in zip(FLOWS, means, strict=True)
    ]
    return math.sqrt(sum(x * x for x in logs) / len(logs))


def draw(rows: Measured, figure: Figure) -> None:
    """The delay by the number of flows beside the table's; how far each set-up is from it."""
    delays, bars = figure.subplots(1, 2, width_ratios=(3, 2))
    series = {scheme: [f"{scheme}, {point(BASE, n)}" for n in FLOWS] for scheme in SCHEMES}
    lines(delays, rows, series, FLOWS, "delay_ms")
    for scheme, means in PRINTED_MS.items():
        colour = f"C{list(SCHEMES).index(scheme)}"
        delays.plot(FLOWS, means, "x:", color=colour, label=f"{scheme}, the paper")
    delays.set_xlabel("flows")
    delays.set_ylabel("delay over the wireless link (ms)")
    delays.legend()
    forms = [BASE, *VARIANTS]
    bars.barh(range(len(forms)), [distance(rows, form) for form in forms], color="C7")
    bars.set_yticks(range(len(forms)), forms)
    bars.invert_yaxis()
    bars.set_xlabel("distance to the table, rms of ln(ratio)")


EXPERIMENT = Experiment(
    title="LBM lowers the delay over the wireless link; which set-up comes nearest to the paper's delays",
    scenario=CELL,
    series=(
        *(s for n in FLOWS for s in together(point(BASE, n), one_file(n))),
        *(
            s
            for form, overrides in VARIANTS.items()
            for n in FLOWS
            for s in together(point(form, n), overrides(n), tuple(PRINTED_MS))
        ),
    ),
    claims=(
        *(smaller("delay_ms", "a smaller delay", n, form) for form in (BASE, *JUDGED) for n in FLOWS),
        *(
            smaller("delay_deviation_ms", "a delay that varies less", n, form)
            for form in (BASE, *JUDGED)
            for n in FLOWS[:-1]
        ),
    ),
    draw=draw,
    seeds=2 * SEEDS,
    first_seed=11,
    read=read,
    interval=INTERVAL,
    small=('duration="3 s"', 'warmup="1 s"'),
)
