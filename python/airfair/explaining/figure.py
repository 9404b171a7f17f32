"""One picture: what each hop does with its time, who keeps it waiting, what became of attempts, and when."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator, PercentFormatter

from .result import (
    DEFERRING,
    Behind,
    Explanation,
    Hop,
    HopDifferentials,
    Waiting,
    behind,
    has_labels,
    held_ns,
    share,
    waited,
)
from .words import FATES, NO_DIFFERENTIALS, TCP_STATES, in_categories, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, FAINT = "#222222", "#e2e2e2"

IDLE = "DIFS and back-off"
"""Of stations with access categories: `_idle`."""

# States, what is said of them, colour, hatch. Colours of Okabe and Ito, which most eyes tell apart; a hatch
# where the sender must wait.
GROUPS: tuple[tuple[tuple[str, ...], str, str, str], ...] = (
    (("transmit",), "sends", "#0072b2", ""),
    (("sifs", "await_cts", "await_ack"), "waits for CTS or ACK", "#56b4e9", ""),
    (("answer",), "answers others", "#009e73", ""),
    (("difs", "backoff"), IDLE, "#f0e442", ""),
    (("busy",), "medium busy", "#d55e00", "///"),
    (("nav",), "NAV", "#e69f00", "\\\\\\"),
    (("eifs",), "EIFS", "#cc79a7", "..."),
    (("category",), "sends in another category", "#34495e", "+++"),
    (("address",), "waits for ARP", "#7a4b12", ""),
    (("held",), "held back by its queue", "#b5cf6b", "---"),
)
BEHIND = ("behind other packets", "#8c8c8c", "xx")
TIMER = ("its TCP waits for the timer", "#b9a3d0", "")
NOTHING = ("has no packet of it", FAINT, "")

MOST_HOPS, MOST_HOLDERS, MOST_CAUSES = 12, 8, 6

LEAST = 0.0005
"""Smaller shares of the time have no bar."""

TITLE = 95
"""Letters of a line of the title."""

LEGEND_LINE, TITLE_LINE = 0.17, 0.2
"""Inches of a line of the legend beside the hops, and of the title."""

MOST_DIFFERENTIALS = 6
"""Most hops with a line of queue differentials: those with the largest on average."""

HOP_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#222222")

CAUSE_COLOURS = {
    "collision": "#d55e00",
    "answer-collided": "#d55e00",
    "receiver-receiving": "#e69f00",
    "receiver-nav": "#cc79a7",
    "receiver-sensing": "#cc79a7",
    "receiver-transmitting": "#009e73",
}


def draw(explanation: Explanation) -> Figure:
    """The figure of an explanation."""
    hops = shown_hops(explanation)
    with matplotlib.rc_context(
        {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "hatch.linewidth": 0.4}
    ):
        # A number and its unit stay on one line.
        whole = re.sub(r"(?<=\d) (?=[kMG]?bit/s|m?s\b|%)", "\u00a0", explanation["verdict"])
        title = textwrap.fill(whole, TITLE)
        # The legend is beside the bars, and as long as their axes at most: else it lies over what follows.
        bars = max(0.34 * max(1, len(hops)), LEGEND_LINE * _legend_lines(explanation, hops))
        tall = bars + 1.1 + TITLE_LINE * title.count("\n")
        differing = shown_differentials(explanation)
        has_middle = has_labels(explanation)
        third = 3.1 + (1.6 if has_middle else 0.0)
        layout = ConstrainedLayoutEngine(h_pad=0.08, w_pad=0.08)
        figure = Figure(figsize=(10, tall + 2.5 + third), layout=layout)
        rows: Any = figure.subfigures(3, 1, height_ratios=[tall, 2.5, third])
        figure.suptitle(title, x=0.012, ha="left", fontsize=11, fontweight="bold", color=INK)
        draw_hops(explanation, hops, rows[0].subplots())
        left, right = rows[1].subplots(1, 2)
        draw_waiting(explanation, left)
        draw_causes(explanation, right)
        above, *between, below = rows[2].subplots(3 if has_middle else 2, 1, sharex=True)
        draw_states(explanation, above)
        for axes in between:
            draw_differentials(explanation, differing, axes)
        draw_progress(explanation, below)
    return figure


def shown_hops(explanation: Explanation) -> list[Hop]:
    """All hops; of a long path those where the flow's packets spend most time."""
    hops = explanation["hops"]
    kept = sorted(range(len(hops)), key=lambda i: hops[i]["no_packet_ns"])[:MOST_HOPS]
    return [hops[i] for i in sorted(kept)]


def worst_hop(explanation: Explanation) -> Hop | None:
    """The wireless hop that defers most, of those ahead."""
    hops = [hop for hop in explanation["hops"] if hop["forward"] and not hop["wired"]]
    return max(hops, key=lambda hop: share(hop, *DEFERRING), default=None)


def timer_ns(explanation: Explanation) -> int:
    """Time in which the source has no packet because its only connection waits for its timer."""
    tcp = explanation["tcp"]
    one = (
        tcp is not None
        and bool(explanation["hops"])
        and tcp["observed_ns"] == explanation["hops"][0]["observed_ns"]
    )
    return tcp["waited_ns"]["rto_wait"] if one and tcp is not None else 0


def _parts(explanation: Explanation, row: int, hop: Hop) -> list[tuple[str, str, str, float]]:
    """Shares of the observed time, each with its name, colour and hatch."""
    observed = hop["observed_ns"] or 1
    parts = [
        (
            _idle(explanation) if name == IDLE else name,
            colour,
            hatch,
            sum(hop["own_turn_ns"].get(s, 0) for s in states) / observed,
        )
        for states, name, colour, hatch in GROUPS
    ]
    timer = timer_ns(explanation) if row == 0 else 0
    return [
        *parts,
        (*BEHIND, behind(hop)),
        (*TIMER, timer / observed),
        (*NOTHING, (hop["no_packet_ns"] - timer) / observed),
    ]


def _idle(explanation: Explanation) -> str:
    """The name of the wait for an idle medium: a station with access categories waits for an AIFS."""
    found = {"categories" in hop for hop in explanation["hops"] if not hop["wired"]}
    if True not in found:
        return IDLE
    return IDLE.replace("DIFS", "DIFS or AIFS" if False in found else "AIFS")


def _legend_lines(explanation: Explanation, hops: list[Hop]) -> int:
    """Number of the names beside the bars of the hops."""
    parts = (part for row, hop in enumerate(hops) for part in _parts(explanation, row, hop))
    return len({name for name, *_, width in parts if width > LEAST})


def draw_hops(explanation: Explanation, hops: list[Hop], axes: Axes) -> None:
    """A bar a hop: shares of the observed time."""
    names = []
    used: set[str] = set()
    for row, hop in enumerate(hops):
        back = "" if hop["forward"] else "  (ACKs)"
        wire = "  (wire)" if hop["wired"] else ""
        names.append(f"{hop['src']} → {hop['dst']}{wire}{back}")
        left = 0.0
        for name, colour, hatch, width in _parts(explanation, row, hop):
            if width > 0:
                label = name if name not in used and width > LEAST else None
                used |= {name} if label else set()
                axes.barh(
                    row, width, 0.72, left, color=colour, hatch=hatch, edgecolor="white", lw=0.3, label=label
                )
                if width > 0.045 and name != NOTHING[0]:
                    paint = "white" if colour in ("#0072b2", "#009e73", "#34495e", "#7a4b12") else INK
                    box = {"facecolor": colour, "edgecolor": "none", "pad": 1}
                    axes.text(
                        left + width / 2,
                        row,
                        f"{100 * width:.0f} %",
                        ha="center",
                        va="center",
                        color=paint,
                        fontsize=8,
                        bbox=box,
                    )
            left += width
    if not hops:
        _say(axes, "no path")
        return
    axes.set_yticks(range(len(hops)), names)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(PercentFormatter(1))
    axes.tick_params(axis="y", length=0)
    left_out = len(explanation["hops"]) - len(hops)
    more = f" ({left_out} quieter hops left out)" if left_out else ""
    axes.set_title(
        f"What each sender does with its time, {span(explanation)}{more}",
        loc="left",
        fontsize=9,
    )
    if used:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8)


def draw_waiting(explanation: Explanation, axes: Axes) -> None:
    """The flows and nodes that make the flow wait: on the medium, in a queue, or by filling a queue that
    drops its packets."""
    full = max(explanation["hops"], key=lambda hop: hop["queue"]["dropped"], default=None)
    timer = 0.0 if explanation["tcp"] is None else waited(explanation["tcp"], "rto_wait")
    tcp = explanation["tcp"]
    medium = worst_hop(explanation)
    deferring = 0.0 if medium is None else share(medium, *DEFERRING)
    queue = max((hop for hop in explanation["hops"] if hop["forward"]), key=behind, default=None)
    most = max(deferring, 0.0 if queue is None else behind(queue))
    ahead = [hop for hop in explanation["hops"] if hop["forward"]]
    preceding = max(ahead, key=lambda hop: share(hop, "category"), default=None)
    drops = full is not None and full["queue"]["dropped"] > 0
    if full is not None and drops and (most <= LEAST or (tcp is not None and waited(tcp, "rto_wait") > most)):
        draw_full(full, axes)
    elif explanation["drops"] and timer > max(most, LEAST):
        draw_drops(explanation, axes)
    elif preceding is not None and share(preceding, "category") > max(most, LEAST):
        draw_categories(preceding, axes)
    elif (
        medium is not None
        and deferring > LEAST
        and any(held_ns(holder) > 0 for holder in medium["holders"])
        and (queue is None or behind(queue) <= deferring)
    ):
        draw_holders(medium, axes)
    elif queue is not None and behind(queue) > LEAST and queue["behind"]:
        draw_queue(queue, axes)
    elif explanation["drops"]:
        draw_drops(explanation, axes)
    else:
        _say(axes, "Nobody makes it wait")


def draw_categories(hop: Hop, axes: Axes) -> None:
    """Other access categories of the sender itself."""
    others = hop["categories"]["others"][:MOST_HOLDERS] if "categories" in hop else []
    kinds = (
        ("access_ns", "access", "#34495e", ""),
        ("txop_ns", "TXOP", "#7f95ab", "///"),
        ("collision_ns", "after internal collisions", "#d55e00", "..."),
    )
    title = f"Categories of {hop['src']} before it ({in_categories(hop)})"
    _stack(axes, [other["category"] for other in others], others, hop["observed_ns"], kinds, title)


def draw_queue(hop: Hop, axes: Axes) -> None:
    """Flows whose packets are before the flow's."""
    ahead = hop["behind"][:MOST_HOLDERS]
    observed = hop["observed_ns"] or 1
    title = f"Whose packets are before it at {hop['src']} (to {hop['dst']})"
    _rows(axes, [_whose(b) for b in ahead], [b["ns"] / observed for b in ahead], title)
    _shares(axes, behind(hop))


def draw_full(hop: Hop, axes: Axes) -> None:
    """Flows whose packets filled the queue that dropped the flow's."""
    held = hop["queue"]["held"][:MOST_HOLDERS]
    names = [_whose(w) + (f", sent by {hop['src']}" if w["local"] else "") for w in held]
    dropped = hop["queue"]["dropped"]
    title = f"{hop['src']}'s queue (to {hop['dst']}) dropped {dropped} of it, full of these packets"
    _rows(axes, names, [w["packets"] for w in held], title)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))


def draw_drops(explanation: Explanation, axes: Axes) -> None:
    """Packets of the flow that were dropped, by node and reason: what a connection waits for its timer
    after."""
    drops = sorted(explanation["drops"], key=lambda drop: -drop["packets"])[:MOST_HOLDERS]
    names = [f"{d['node']}: {d['reason']}{'' if d['data'] else ' (ACKs)'}" for d in drops]
    lost = sum(drop["packets"] for drop in explanation["drops"])
    after = ", after which its TCP waits" if explanation["tcp"] is not None else ""
    _rows(axes, names, [drop["packets"] for drop in drops], f"{lost} packets of it dropped{after}")
    axes.bar_label(axes.containers[0], padding=2, fontsize=8)  # type: ignore[arg-type]
    axes.margins(x=0.12)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))


def draw_holders(hop: Hop, axes: Axes) -> None:
    """Nodes that keep the sender that defers most from sending."""
    holders = [h for h in hop["holders"] if held_ns(h) > 0][:MOST_HOLDERS]
    kinds = (
        ("alone_ns", "alone", "#d55e00", ""),
        ("joint_ns", "with others (overlaps)", "#f2b48a", "///"),
        ("nav_ns", "NAV", "#e69f00", "\\\\\\"),
        ("eifs_ns", "EIFS", "#cc79a7", "..."),
    )
    title = f"Who keeps {hop['src']} from sending to {hop['dst']}"
    _stack(axes, [h["id"] or "?" for h in holders], holders, hop["observed_ns"], kinds, title)


def _whose(packets: Behind | Waiting) -> str:
    """The flow of packets in a queue."""
    name = "control packets" if packets["flow"] is None else f"flow {packets['flow']}"
    return name + ("" if packets["forward"] else " (ACKs)")


def _rows(axes: Axes, names: list[str], widths: Sequence[float], title: str) -> None:
    """A bar for each name."""
    axes.barh(range(len(names)), widths, 0.72, color=BEHIND[1])
    _name_rows(axes, names)
    axes.set_title(title, loc="left", fontsize=9)


def _stack(
    axes: Axes,
    names: list[str],
    times: Sequence[Mapping[str, Any]],
    observed_ns: int,
    kinds: Iterable[tuple[str, str, str, str]],
    title: str,
) -> None:
    """A bar for each name, of its times one after the other: for each kind the key in `times`, what is said
    of it, colour and hatch. The legend lies between the title and the bars."""
    left = [0.0] * len(names)
    for key, label, colour, hatch in kinds:
        widths = [time[key] / (observed_ns or 1) for time in times]
        if any(width > LEAST for width in widths):
            look: Any = {"color": colour, "hatch": hatch, "edgecolor": "white", "lw": 0.3, "label": label}
            axes.barh(range(len(names)), widths, 0.72, left, **look)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    _name_rows(axes, names)
    axes.set_xlim(0, max(left, default=0.0) * 1.02 or 1)
    _shares(axes, max(left, default=0.0))
    labelled = bool(axes.get_legend_handles_labels()[0])
    axes.set_title(title, loc="left", fontsize=9, pad=18 if labelled else 6)
    if labelled:
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(-0.02, 0.97),
            ncols=4,
            frameon=False,
            fontsize=7.5,
            handlelength=1.2,
            columnspacing=0.9,
        )


def _name_rows(axes: Axes, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(max(len(names), 4) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


def _shares(axes: Axes, most: float) -> None:
    """An axis of shares, with a decimal where all are small."""
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=1 if most < 0.05 else 0))


def draw_causes(explanation: Explanation, axes: Axes) -> None:
    """Outcomes of the attempts at the hop where most of them fail."""

    def failed(hop: Hop) -> float:
        attempts = hop["attempts"]
        return (
            0.0
            if not attempts
            else (attempts["no_cts"] + attempts["no_ack"]) / max(attempts["exchanges"], 20)
        )

    hop = max((h for h in explanation["hops"] if h["forward"] and h["attempts"]), key=failed, default=None)
    attempts = None if hop is None else hop["attempts"]
    given_up = any("retry-limit" in drop["reason"] for drop in explanation["drops"])
    few = hop is None or (explanation["tcp"] is not None and failed(hop) < 0.1 and not given_up)
    if few or hop is None or not attempts or not attempts["causes"]:
        draw_tcp(explanation, axes)
        return
    counts: dict[tuple[str, str], int] = {}
    for c in attempts["causes"]:
        who = f"\n{c['by']}{', hidden' if c['hidden'] else ''}" if c["by"] else ""
        key = (f"no {c['missing']}: {FATES[c['why']]}{who}", CAUSE_COLOURS.get(c["why"], "#8c8c8c"))
        counts[key] = counts.get(key, 0) + c["count"]
    rows = [
        (name, count, colour) for (name, colour), count in sorted(counts.items(), key=lambda pair: -pair[1])
    ]
    if len(rows) > MOST_CAUSES:
        rows[MOST_CAUSES:] = [("other causes", sum(row[1] for row in rows[MOST_CAUSES:]), "#8c8c8c")]
    bars = axes.barh(range(len(rows)), [row[1] for row in rows], 0.72, color=[row[2] for row in rows])
    axes.bar_label(bars, padding=2, fontsize=8)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.set_yticks(range(len(rows)), [row[0] for row in rows], fontsize=7.5 if len(rows) <= 4 else 6)
    axes.set_ylim(max(len(rows), 4) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.12)
    count = attempts["no_cts"] + attempts["no_ack"]
    axes.set_title(
        f"{hop['src']} → {hop['dst']}: {count} of {attempts['exchanges']} attempts failed",
        loc="left",
        fontsize=9,
    )


def draw_tcp(explanation: Explanation, axes: Axes) -> None:
    """The waits of TCP, where few attempts fail."""
    tcp = explanation["tcp"]
    waits = (
        []
        if tcp is None
        else [(TCP_STATES[s], waited(tcp, s)) for s in tcp["waited_ns"] if waited(tcp, s) > LEAST]
    )
    if not waits:
        _say(
            axes,
            "No attempt went without an answer"
            if any(h["attempts"] for h in explanation["hops"])
            else "No radio on its way",
        )
        return
    waits.sort(key=lambda pair: -pair[1])
    axes.barh(range(len(waits)), [value for _, value in waits], 0.72, color="#56b4e9")
    axes.set_yticks(range(len(waits)), [textwrap.fill(name, 30) for name, _ in waits], fontsize=7.5)
    axes.set_ylim(max(len(waits), 4) - 0.5, -0.5)
    axes.xaxis.set_major_formatter(PercentFormatter(1))
    axes.tick_params(axis="y", length=0)
    axes.set_title("What its TCP waits for", loc="left", fontsize=9)


def draw_states(explanation: Explanation, axes: Axes) -> None:
    """States over time of the hop where the flow's packets spend most time."""
    line = explanation["timeline"]
    if line["hop"] is None or not line["end_s"]:
        _say(axes, "no path")
        return
    lengths = [
        sum(values)
        for values in zip(
            line["no_packet_ns"], line["others_turn_ns"], *line["own_turn_ns"].values(), strict=True
        )
    ]
    layers = [
        ([sum(line["own_turn_ns"][s][i] for s in states) for i in range(len(lengths))], colour, hatch)
        for states, _, colour, hatch in GROUPS
        if line["own_turn_ns"].keys() >= set(states)
    ]
    layers.append((line["others_turn_ns"], BEHIND[1], BEHIND[2]))
    layers.append((line["no_packet_ns"], NOTHING[1], NOTHING[2]))
    starts = [0.0, *line["end_s"][:-1]]
    bottom = [0.0] * len(lengths)
    edges = [*starts, line["end_s"][-1]]
    for values, colour, _ in layers:
        tops = [b + (v / n if n else 0.0) for b, v, n in zip(bottom, values, lengths, strict=True)]
        if any(values):
            axes.stairs(tops, edges, baseline=bottom, fill=True, color=colour, lw=0)
        bottom = tops
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    hop = explanation["hops"][line["hop"]]
    axes.set_title(f"{hop['src']} → {hop['dst']} over time, colours as above", loc="left", fontsize=9)


def shown_differentials(explanation: Explanation) -> list[HopDifferentials]:
    """The hops ahead with queue differentials; of many those with the largest on average."""
    hops, every = explanation["hops"], explanation["timeline"].get("differentials", [])

    def smallness(of: HopDifferentials) -> float:
        hop = hops[of["hop"]]
        return -hop["differential"]["mean_packets"] if "differential" in hop else 0.0

    largest = sorted(every, key=smallness)[:MOST_DIFFERENTIALS]
    return sorted(largest, key=lambda of: of["hop"])


def draw_differentials(explanation: Explanation, differing: list[HopDifferentials], axes: Axes) -> None:
    """Queue differentials of the hops over time: a line each, broken where no packet has left."""
    if not differing:
        _say(axes, NO_DIFFERENTIALS)
        return
    edges = [0.0, *explanation["timeline"]["end_s"]]
    for of, colour in zip(differing, HOP_COLOURS, strict=False):
        hop = explanation["hops"][of["hop"]]
        means = [nan if mean is None else mean for mean in of["mean_packets"]]
        axes.stairs(means, edges, baseline=None, color=colour, lw=1.1, label=f"{hop['src']} → {hop['dst']}")
    axes.axhline(0, color=INK, lw=0.6, zorder=1)
    axes.set_ylabel("packets")
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    left_out = len(explanation["timeline"].get("differentials", [])) - len(differing)
    more = f" ({left_out} hops with smaller ones left out)" if left_out else ""
    title = f"Queue differentials with which its packets leave: queue here less queue at the next hop{more}"
    axes.set_title(title, loc="left", fontsize=9)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8)


def draw_progress(explanation: Explanation, axes: Axes) -> None:
    """Goodput, waits for the retransmission timer, time-outs."""
    line = explanation["timeline"]
    edges = [0.0, *line["end_s"]]
    axes.stairs([bps / 1000 for bps in line["goodput_bps"]], edges, color="#0072b2", lw=1.2, label="goodput")
    mean, most = explanation["mean_goodput_bps"] / 1000, max(line["goodput_bps"], default=0.0) / 1000
    top = 1.25 * most or 1.0
    if mean <= 2 * top:
        top = max(top, 1.1 * mean)
    within = mean <= top
    label = "mean of the flows" if within else f"mean of the flows: {mean:.0f}, off the scale"
    axes.axhline(mean if within else 2 * top, color="#8c8c8c", lw=0.9, ls="--", label=label)
    axes.set_ylim(0, top)
    axes.set_ylabel("kbit/s")
    axes.set_xlabel("time, s")
    axes.set_xlim(0, edges[-1])
    tcp = explanation["tcp"]
    if tcp is not None:
        for i, (start, end) in enumerate(tcp["rto_waits_s"][:500]):
            axes.axvspan(
                start, end, color=TIMER[1], alpha=0.45, lw=0, label="waits for its timer" if i == 0 else None
            )
        if tcp["timeout_times_s"]:
            times = tcp["timeout_times_s"]
            level = [0.96] * len(times)
            axes.plot(
                times,
                level,
                "v",
                color=INK,
                ms=4,
                transform=axes.get_xaxis_transform(),
                label="time-out",
                ls="none",
            )
    if explanation["from_s"] > 0:
        axes.axvline(explanation["from_s"], color=INK, lw=0.8, ls=":", label="counted from here")
    axes.set_title(f"Flow {explanation['flow']} over time", loc="left", fontsize=9)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8)


def _say(axes: Axes, text: str) -> None:
    axes.set_axis_off()
    axes.text(0.5, 0.5, text, ha="center", va="center", color="#666666")
