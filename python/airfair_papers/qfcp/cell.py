"""The rule of both directions: a cell of 2 to 20 stations, downloads, uploads, both. Ours.

At the radio of an access point QFCP counts and stamps incoming packets like outgoing ones (section III-B).
Compared: QFCP with this rule; with `both_directions = "none"`, where each node controls only its own queue;
with the capacity configured instead of probed (2.5 Mbit/s of packets, a little below the capacity of the
cell); TCP. The cell is that of figure 2 with 2 to 20 stations, round trips evenly spread over 40 to 370 ms,
and queues of 400 packets, so that losses do not hide the rule; with `queue 50` ns-2's. Outcomes:
`docs/papers/qfcp-cell.md`.

Then, among twelve stations in both directions: a flow of TCP Reno; a station without router code (its
upload detects the silent interface, falls back to TCP's law and stays below the rate that the access point
grants); and TCP with 16 B more a packet, the cost of the header.

With downloads only the rule changes nothing: incoming packets are acknowledgements. With one direction each
upload is limited by its own station alone, whose queue is empty, so that it captures the cell; the access
point sees its acknowledgements, measures the remaining capacity as its output, and grants this to the
downloads. With a configured capacity QFCP never tries for more, and the queues stay nearly empty.

Uploads alone leave a queue of acknowledgements at the access point that probing does not drain: (2) has q
in bytes, and 300 acknowledgements are 17 kB, as 16 packets of data would be, though each takes a turn on
the air. One flow of TCP fills the queue of 400, and the rates of the others shrink to make room.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.qfcp.common.cell import (
    CLOCK,
    SEEDS,
    Protocol,
    cell,
    flows,
    of_cell,
    per_second,
    probing,
    uploads,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from airfair.recording import Recording
    from matplotlib.figure import Figure

COUNTS = (2, 6, 12, 20)
ODD = 12
"""Stations where one is an odd one."""
SHORTEST_MS, LONGEST_MS = 40, 370
SINCE_S = 10.0
QUEUE = "radio.queue_packets=400"
QFCP = ("qfcp", (CLOCK,))

PROTOCOLS: Mapping[str, Protocol] = {
    "QFCP": Protocol("qfcp", (CLOCK,)),
    "QFCP, one direction": Protocol("qfcp", (CLOCK, 'qfcp.both_directions="none"')),
    "QFCP, C of 2.5 Mbit/s": Protocol(
        "qfcp", (CLOCK, 'qfcp.capacity="configured"', 'qfcp.ceiling="2.5 Mbit/s"')
    ),
    "TCP Reno": Protocol("droptail"),
}
FORMS = ("downloads", "uploads", "mixed")
SHORT: Mapping[str, Protocol] = {name: PROTOCOLS[name] for name in ("QFCP", "TCP Reno")}
"""With ns-2's queue of 50 packets, both directions."""
HEADER = ('headers.ip="36 B"',)
"""TCP that carries 16 B more a packet."""


def ups(form: str, count: int) -> Collection[int]:
    """Which stations upload: all, none, or every second one."""
    return {"downloads": (), "uploads": range(1, count + 1), "mixed": range(2, count + 1, 2)}[form]


def scene(form: str, count: int, own: Mapping[int, str] | None = None) -> tuple[str, ...]:
    """So many stations, round trips evenly spread."""
    step = (LONGEST_MS - SHORTEST_MS) / (count - 1)
    rtts = [round(SHORTEST_MS + step * n) // 2 * 2 for n in range(count)]
    return (*cell(rtts), flows(count, ups(form, count), own))


ODD_ONES: Mapping[str, tuple[int, str]] = {
    "one upload of TCP": (6, 'scheme="reno"'),
    "one download of TCP": (7, 'scheme="reno"'),
    "one silent station": (6, ""),
}
"""Among twelve, both directions: a flow whose ends do not speak QFCP, and a station whose own router code is
missing (its upload follows TCP's law, the access point counts it)."""


def read(recording: Recording) -> dict[str, float]:
    """The numbers of a run."""
    result = recording.result
    late = 1e-6 * per_second(recording)[int(SINCE_S) :].mean(axis=0)
    up = uploads(recording)
    flow_delay = [flow["mean_delay_s"] for flow in result["flows"] if flow["mean_delay_s"] is not None]
    numbers = {
        **of_cell(recording, SINCE_S),
        "mean delay (ms)": 1e3 * sum(flow_delay) / max(1, len(flow_delay)),
        **probing(recording, SINCE_S),
    }
    if len(late) == ODD:
        for odd in sorted({odd for odd, _ in ODD_ONES.values()}):
            others = [rate for n, rate in enumerate(late, 1) if n != odd and up[n - 1] == up[odd - 1]]
            mean = float(sum(others)) / len(others)
            numbers |= {
                f"f{odd} (Mbit/s)": float(late[odd - 1]),
                f"others in the direction of f{odd} (Mbit/s)": mean,
            }
    return numbers


def point(name: str, form: str, count: int, suffix: str = "") -> str:
    """The name of a series."""
    return f"{name}, {count} {form}{suffix}"


def draw(rows: Measured, figure: Figure) -> None:
    """Fairness by the number of stations, a panel a direction."""
    figure.set_size_inches(11.0, 4.0)
    for axes, form in zip(figure.subplots(1, len(FORMS), sharey=True), FORMS, strict=True):
        for k, name in enumerate(PROTOCOLS):
            values = [rows[point(name, form, n)]["numbers"]["index of the whole"] for n in COUNTS]
            half = [v["ci95"] or 0 for v in values]
            axes.errorbar(
                COUNTS, [v["mean"] for v in values], yerr=half, capsize=2, color=f"C{k}", label=name
            )
        axes.set_title(form)
        axes.set_xlabel("stations")
        axes.set_ylim(0, 1.02)
    figure.axes[0].set_ylabel("fairness index from 10 s on")
    figure.axes[-1].legend(loc="lower left", fontsize=7)


def _fair(form: str, count: int) -> Claim:
    return Claim(
        text=f"With the rule of both directions {count} {form} share fairly",
        where="the rule is that of section III-B",
        source="ours",
        series=point("QFCP", form, count),
        baseline=point("QFCP, one direction", form, count),
        statistic=number("index of the whole"),
        comparison="above",
        value=0.95,
    )


def _equal(count: int) -> Claim:
    return Claim(
        text=f"With the rule of both directions downloads get their half among {count}",
        where="the rule is that of section III-B",
        source="ours",
        series=point("QFCP", "mixed", count),
        baseline=point("QFCP, one direction", "mixed", count),
        statistic=number("downloads' share"),
        comparison="above",
        value=0.4,
    )


def _odd(name: str) -> Series:
    odd, own = ODD_ONES[name]
    changes = (f'node.s{odd}.scheme="droptail"',) if not own else ()
    scheme, overrides = QFCP
    return Series(
        point("QFCP", "mixed", ODD, f", {name}"),
        scheme,
        (QUEUE, *scene("mixed", ODD, {odd: own} if own else None), *overrides, *changes),
        point("QFCP", "mixed", ODD),
    )


EXPERIMENT = Experiment(
    title="A cell of 2 to 20 stations: QFCP with and without the rule of both directions",
    scenario=Path(__file__).with_name("fig2.toml"),
    series=(
        *(
            Series(
                point(name, form, count),
                protocol.scheme,
                (QUEUE, *scene(form, count), *protocol.overrides),
                None if name == "TCP Reno" else point("TCP Reno", form, count),
            )
            for form in FORMS
            for count in COUNTS
            for name, protocol in PROTOCOLS.items()
        ),
        *(
            Series(point(name, "mixed", ODD, ", queue 50"), p.scheme, (*scene("mixed", ODD), *p.overrides))
            for name, p in SHORT.items()
        ),
        Series(
            point("TCP Reno", "downloads", ODD, ", 16 B more"),
            "droptail",
            (QUEUE, *scene("downloads", ODD), *HEADER),
            point("TCP Reno", "downloads", ODD),
        ),
        *(_odd(name) for name in ODD_ONES),
    ),
    claims=(
        *(_fair(form, count) for form in ("uploads", "mixed") for count in COUNTS),
        *(_equal(count) for count in COUNTS),
    ),
    draw=draw,
    seeds=SEEDS,
    read=read,
    interval="100 ms",
)
