"""An explanation on a terminal: the verdict, then the evidence, then advice."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from rich.console import Console
from rich.markup import escape

from .._core import InputError
from ..output import write_atomically
from ..quantities import plural, rate
from ..terminal import plain_table
from .limit import unjudged_line
from .prose import say
from .result import (
    DEFERRING,
    AllocationLimit,
    Explanation,
    Hop,
    behind,
    has_air,
    has_labels,
    held_ns,
    preceding_ns,
    present,
    share,
)
from .words import (
    NO_DIFFERENTIALS,
    TCP_STATES,
    UNSENSED,
    cause,
    caveats,
    dropped,
    full_queue,
    held_back,
    in_categories,
    link_name,
    listed,
    percent,
    span,
)

FORMATS = (".svg", ".png", ".pdf")

MOST = 6
"""Most nodes, causes, drops and pieces of advice that are shown; with `--all` all of them."""

MOST_HOPS = 6
"""Most hops in the table of shares: those whose senders have packets of the flow longest."""

MOST_DETAILED = 2
"""Most hops of which is shown who keeps their senders waiting, or why their attempts fail: the worst ones."""

NOTICED = 0.0005
"""Smaller shares of the time are no reason for a table."""

MOST_LINES = 4
"""Most further hops with a line."""


def show(
    explanation: Explanation, out: Console, *, everything: bool = False, measured: Sequence[str] = ()
) -> None:
    """Print an explanation; of long lists only what matters most, unless `everything` is wanted. `measured`
    are lines about changes that were tried, which stand before other advice."""
    most = None if everything else MOST
    if not explanation["asked"]:
        least = f"The flow that gets the least of its share, {explanation['flow']}; --flow names another."
        say(least, out, style="dim")
    say(explanation["verdict"], out, style="bold")
    if (
        explanation["reasons"]
        and explanation["standing"] in ("fair", "content")
        and not held_back(explanation)
    ):
        out.print("Where its time goes:")
    for reason in explanation["reasons"]:
        say(f"- {reason}", out)
    named = any(UNSENSED in reason for reason in explanation["reasons"])
    if named:
        _caveats(explanation, out)
    if explanation["optimum"] is not None:
        say(explanation["optimum"]["words"], out)
        if explanation["optimum"]["caution"] is not None:
            say(explanation["optimum"]["caution"], out)
    else:
        say(unjudged_line(explanation), out)
    if explanation["standing"] in ("unreachable", "silent"):
        _advise(explanation, out, measured)
        return
    _hops(explanation, out, everything)
    _holders(explanation, out, most)
    _categories(explanation, out, most)
    _differentials(explanation, out, most)
    _allocation(explanation, out, most)
    _attempts(explanation, out, most)
    if not named:
        _caveats(explanation, out)
    _tcp(explanation, out)
    _drops(explanation, out, most)
    _advise(explanation, out, measured, most)


def _caveats(explanation: Explanation, out: Console) -> None:
    for caveat in caveats(explanation):
        say(caveat, out)


def _left_out(count: int, noun: str, out: Console, which: str = "") -> None:
    """The number of what is not shown."""
    if count > 0:
        out.print(f"[dim]{count} more {plural(count, noun)}{which}: --all[/dim]")


def _worst(hops: list[Hop], badness: Callable[[Hop], float], most: int | None) -> tuple[list[Hop], list[Hop]]:
    """The hops to show in full, and those to show on a line each, the worst first."""
    ordered = sorted(hops, key=lambda hop: -badness(hop))
    return (ordered, []) if most is None else (ordered[:MOST_DETAILED], ordered[MOST_DETAILED:])


def _name(hop: Hop) -> str:
    return f"{hop['src']} → {hop['dst']}" + ("" if hop["forward"] else " (ACKs)")


def _drops(explanation: Explanation, out: Console, most: int | None) -> None:
    drops = sorted(explanation["drops"], key=lambda drop: -drop["packets"])
    if drops:
        out.print()
        say("Dropped: " + "; ".join(dropped(drop) for drop in drops[:most]), out)
        _left_out(
            len(drops[len(drops) if most is None else most :]), "kind", out, " of drops, by place and reason"
        )
    full = sorted(explanation["hops"], key=lambda hop: -hop["queue"]["dropped"])
    full = [hop for hop in full if hop["queue"]["dropped"]]
    shown = full if most is None else full[:MOST_DETAILED]
    for hop in shown:
        text = full_queue(explanation, hop)
        if text not in explanation["reasons"]:
            say(text, out)
    _left_out(len(full) - len(shown), "queue", out, " that dropped packets of it")


def _cell(value: float) -> str:
    return percent(value) if value > 0 else "-"


def _hops(explanation: Explanation, out: Console, everything: bool) -> None:
    hops = explanation["hops"]
    if not everything:
        longest = sorted(range(len(hops)), key=lambda i: hops[i]["no_packet_ns"])[:MOST_HOPS]
        hops = [hops[i] for i in sorted(longest)]
    out.print()
    say(f"Shares of the time from {span(explanation)}; a row adds up to the time with packets", out)
    columns = [
        "with packets",
        "sends",
        "CTS/ACK",
        "answers",
        "busy",
        "NAV",
        "EIFS",
        "back-off",
        "behind others",
    ]
    holds = any("held" in hop["own_turn_ns"] for hop in explanation["hops"])
    if holds:
        columns.insert(-1, "held back")
    has_categories = any("categories" in hop for hop in explanation["hops"])
    if has_categories:
        columns.insert(-1, "other categories")
    table = plain_table("hop", right=columns)
    for hop in hops:
        own = cast(Hop, {**hop, "others_turn_ns": {}})
        parts = (
            ("transmit",),
            ("sifs", "await_cts", "await_ack"),
            ("answer",),
            ("busy",),
            ("nav",),
            ("eifs",),
        )
        cells = [_cell(share(own, *states)) for states in (*parts, ("difs", "backoff", "address"))]
        if holds:
            cells.append(_cell(share(own, "held")))
        if has_categories:
            cells.append(_cell(share(own, "category")))
        table.add_row(escape(_name(hop)), _cell(present(hop)), *cells, _cell(behind(hop)))
    out.print(table)
    which = ", with packets of it for less time"
    _left_out(len(explanation["hops"]) - len(hops), "hop", out, which)


def _deferring(hop: Hop) -> float:
    return share(hop, *DEFERRING)


def _holders(explanation: Explanation, out: Console, most: int | None) -> None:
    hops = [h for h in explanation["hops"] if h["forward"] and any(held_ns(x) > 0 for x in h["holders"])]
    shown, others = _worst([hop for hop in hops if _deferring(hop) >= 0.01], _deferring, most)
    for hop in shown:
        observed = hop["observed_ns"]
        deferring = _deferring(hop)
        ends = f"{hop['src']} from sending to {hop['dst']}"
        behind_others = share({**hop, "own_turn_ns": {}}, *DEFERRING)
        too = " (while packets of others are before the flow's, too)" if behind_others >= 0.0005 else ""
        out.print()
        say(f"Who keeps {ends}: {percent(deferring)} of the time{too}", out)
        table = plain_table("node", right=["alone", "with others", "NAV", "EIFS", "together"])
        for holder in hop["holders"][:most]:
            parts = [holder["alone_ns"], holder["joint_ns"], holder["nav_ns"], holder["eifs_ns"]]
            cells = [_cell(ns / observed) for ns in (*parts, sum(parts))]
            table.add_row(escape(holder["id"] or "?"), *cells)
        out.print(table)
        if hop["overlapped_ns"]:
            at_once = f"two or more at once {percent(hop['overlapped_ns'] / observed)} of the time"
            say(f"{at_once}: `with others` overlaps, `alone` does not", out, style="dim")
        flows = [h for h in hop["holding_flows"] if held_ns(h) > 0][:most]
        served = ", ".join(f"{h['id'] or 'control'} {percent(held_ns(h) / observed)}" for h in flows)
        say(f"for flows (overlapping): {served}", out)
    for hop in others[:MOST_LINES]:
        say(f"Others keep {_name(hop)} from sending {percent(_deferring(hop))} of the time", out)
    _left_out(len(others[MOST_LINES:]), "hop", out, " that others keep from sending")


def _categories(explanation: Explanation, out: Console, most: int | None) -> None:
    hops = [hop for hop in explanation["hops"] if "categories" in hop and hop["categories"]["others"]]
    if most is not None:
        # A packet that changes its category as it is handed on (DiffQ) leaves some nanoseconds.
        hops = [hop for hop in hops if share(hop, "category") >= NOTICED or _collided(hop)]
    shown, rest = _worst(hops, lambda hop: share(hop, "category"), most)
    for hop in shown:
        others = hop["categories"]["others"]
        observed = hop["observed_ns"]
        behind_others = share({**hop, "own_turn_ns": {}}, "category")
        too = " (while packets of others are before the flow's, too)" if behind_others >= 0.0005 else ""
        out.print()
        say(
            f"Other categories of {hop['src']} (to {hop['dst']}), its packets {in_categories(hop)}: "
            f"{percent(share(hop, 'category'))} of the time{too}",
            out,
        )
        columns = ["access", "TXOP", "after collision", "together", "collisions", "given up"]
        table = plain_table("category", right=columns)
        for other in others:
            times = [other["access_ns"], other["txop_ns"], other["collision_ns"], preceding_ns(other)]
            counts = [str(other["collisions"] or "-"), str(other["given_up"] or "-")]
            table.add_row(escape(other["category"]), *(_cell(ns / observed) for ns in times), *counts)
        out.print(table)
    _left_out(len(rest), "hop", out, " with other categories")


def _collided(hop: Hop) -> bool:
    others = hop["categories"]["others"] if "categories" in hop else []
    return any(other["collisions"] for other in others)


def _differentials(explanation: Explanation, out: Console, most: int | None) -> None:
    """The queue differentials of the hops, the levels as columns, the highest first."""
    hops = [hop for hop in explanation["hops"] if "differential" in hop]
    if not hops:
        if has_labels(explanation):
            out.print(f"\n{NO_DIFFERENTIALS}, though nodes on its path have them.")
        return
    found = [level for hop in hops for level in hop["differential"]["levels"]]
    levels = sorted({level["level"] for level in found if level["level"] is not None}, reverse=True)
    shown = hops if most is None else hops[:MOST_HOPS]
    out.print(
        "\nQueue differentials with which packets of it leave, their levels, and the time for which they "
        "wait in the MAC while the medium is busy with frames of higher levels, or of others only"
    )
    waits = ["busy: higher", "busy: others"] if levels else ["busy"]
    table = plain_table("hop", right=["packets", "mean", *(f"level {level}" for level in levels), *waits])
    for hop in shown:
        differential = hop["differential"]
        at = {level["level"]: level["packets"] for level in differential["levels"]}
        sent = sum(at.values()) or 1
        cells = [_cell(at.get(level, 0) / sent) for level in levels]
        higher = sum(level["higher_ns"] for level in differential["levels"])
        others = sum(level["others_ns"] for level in differential["levels"])
        observed = hop["observed_ns"] or 1
        cells += [_cell(ns / observed) for ns in ((higher, others) if levels else (higher + others,))]
        mean = f"{differential['mean_packets']:.1f}"
        table.add_row(escape(_name(hop)), str(differential["packets"]), mean, *cells)
    out.print(table)
    _left_out(len(hops) - len(shown), "hop", out)


def _allocation(explanation: Explanation, out: Console, most: int | None) -> None:
    """The shares of the flow at its nodes, and the cliques from which a controller gave it its rate."""
    if "allocation" not in explanation:
        return
    allocation = explanation["allocation"]
    shares, limits = allocation["shares"], allocation["limits"]
    if shares:
        lends = has_air(allocation)
        what = "Shares of it at its nodes"
        if allocation["stamped"]:
            what = "Rates that its nodes allow it"
        elif lends:
            what = "What its links may send, all flows together"
        out.print(f"\n{what}, headers included")
        # Columns of what this scheme has.
        allocates = any(at["allocated"] is not None for at in shares)
        scales = allocates or any(at["scale"] != 1 for at in shares)
        columns = [
            *(("rate", "lowest") if allocation["stamped"] else ("share", "smallest")),
            *(["allocated"] if allocates else []),
            *(["own factor"] if scales else []),
            *(["air", "used", "borrowed", "lent"] if lends else []),
        ]
        table = plain_table("link", right=columns)
        for at in shares[:most]:
            cells = [rate(at["share_bps"]), _cell(at["smallest"])]
            cells += [_cell(at["allocated"] or 0.0)] if allocates else []
            cells += [f"{at['scale']:.2f}"] if scales else []
            if lends:
                air = at["air"]
                cells += [_cell(part) for part in (air["share"], air["used"], air["borrowed"], air["lent"])]
            table.add_row(escape(f"{at['src']} → {at['dst']}"), *cells)
        out.print(table)
        _left_out(len(shares) - len(shares[:most]), "share", out)
    if limits:
        _cliques(limits, out, most)


def _cliques(limits: list[AllocationLimit], out: Console, most: int | None) -> None:
    """The cliques by number, and below the links of each once."""
    numbers: dict[tuple[str, ...], int] = {}
    several = len({(limit["controller"], limit["stopped_s"]) for limit in limits}) > 1
    gone = any(limit["stopped_s"] is not None for limit in limits)
    out.print("\nCliques from which a controller gave it its rate")
    columns = ["of the time", "rate", "capacity", "overloaded"]
    table = plain_table("clique", right=[*(["controller"] if several or gone else []), *columns])
    for limit in limits[:most]:
        names = tuple(link_name(link) for link in limit["links"])
        if names:
            numbers.setdefault(names, len(numbers) + 1)
        over = max((link["part"] for link in limit["overloaded"]), default=0.0)
        cells = [percent(limit["part"]), rate(limit["rate_bps"]), f"{limit['capacity']:.2f}", _cell(over)]
        if several or gone:
            stop = "" if limit["stopped_s"] is None else f", to {limit['stopped_s']:g} s"
            cells.insert(0, escape(f"{limit['controller']}{stop}"))
        table.add_row(str(numbers[names]) if names else "what it asks for", *cells)
    out.print(table)
    for names, number in numbers.items():
        out.print(escape(f"{number}: {listed(names, MOST if most is not None else len(names))}"))
    _left_out(len(limits) - len(limits[:most]), "clique", out)


def _failed(hop: Hop) -> int:
    attempts = hop["attempts"]
    return attempts["no_cts"] + attempts["no_ack"] if attempts else 0


def _attempts(explanation: Explanation, out: Console, most: int | None) -> None:
    shown, others = _worst([hop for hop in explanation["hops"] if _failed(hop)], _failed, most)
    for hop in shown:
        attempts = hop["attempts"]
        if attempts is None:
            continue
        packets = plural(attempts["given_up"], "packet")
        given_up = f", {attempts['given_up']} {packets} given up" if attempts["given_up"] else ""
        out.print()
        say(
            f"{_name(hop)}: {_failed(hop)} of {attempts['exchanges']} attempts without an answer "
            f"({attempts['no_cts']} no CTS, {attempts['no_ack']} no ACK){given_up}",
            out,
        )
        for c in attempts["causes"][:most]:
            say(f"  {c['count']:>6}  no {c['missing']}: {cause(c)}", out, hanging=10)
        rest = sum(c["count"] for c in attempts["causes"][most:]) if most else 0
        if rest:
            out.print(f"  {rest:>6}  other causes; all of them with --all")
    if others:
        out.print()
    for hop in others[:MOST_LINES]:
        exchanges = hop["attempts"]["exchanges"] if hop["attempts"] else 0
        say(f"{_name(hop)}: {_failed(hop)} of {exchanges} attempts without an answer", out)
    rest = sum(map(_failed, others[MOST_LINES:]))
    which = f" with {rest} {plural(rest, 'attempt')} without an answer"
    _left_out(len(others[MOST_LINES:]), "hop", out, which)


def _tcp(explanation: Explanation, out: Console) -> None:
    tcp = explanation["tcp"]
    if tcp is None or not tcp["observed_ns"]:
        return
    out.print("\nTCP")
    for state, ns in sorted(tcp["waited_ns"].items(), key=lambda pair: -pair[1]):
        if ns > 0.0005 * tcp["observed_ns"]:
            out.print(f"  {percent(ns / tcp['observed_ns']):>6}  {TCP_STATES[state]}")
    of_syns = f", of SYNs {tcp['syn_timeouts']}" if tcp["syn_timeouts"] else ""
    out.print(
        f"  time-outs {tcp['timeouts']} ({tcp['timeouts_under_way']} while packets were under way){of_syns}\n"
        f"  losses found by acknowledgements {tcp['fast_losses']}, marks {tcp['marks']}"
    )


def _advise(explanation: Explanation, out: Console, measured: Sequence[str], most: int | None = None) -> None:
    if measured:
        out.print("\nWhat was tried")
    for line in measured:
        out.print(line, markup=False)
    if explanation["advice"]:
        out.print(f"\nWhat {'follows from the explanation' if measured else 'to try'}")
        for text in explanation["advice"][:most]:
            words, *commands = text.split("\n")
            say(f"- {words}", out)
            for command in commands:
                out.print(f"    {escape(command)}", soft_wrap=True)
        _left_out(len(explanation["advice"][most:]) if most else 0, "piece", out, " of advice")
        if not measured:
            say("None of it was measured: --try does that, as does airfair advise FILE.", out, style="dim")


def check_format(path: Path) -> None:
    """Raise `InputError` for a file whose ending is no format of pictures, before the run."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path}: expected a file that ends in {', '.join(FORMATS)}")


def save(explanation: Explanation, path: Path) -> None:
    """Draw the picture into a file, whole or not at all."""
    import matplotlib  # loading it takes longer than most commands take

    from .figure import draw

    figure = draw(explanation)
    image = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "airfair", "svg.fonttype": "none"}):
        kind = path.suffix.lower().removeprefix(".")
        # The same explanation gives the same bytes.
        dates = {
            "svg": {"Date": None, "Creator": None},
            "pdf": {"CreationDate": None},
            "png": {"Software": None},
        }
        figure.savefig(image, format=kind, dpi=150, metadata=dates[kind])
    write_atomically(path, image.getvalue())
