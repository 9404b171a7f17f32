"""Remedies to try, in words."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from ..quantities import plural
from ..selections import scheme_names
from .result import (
    DEFERRING,
    Cause,
    Explanation,
    Hop,
    Waiting,
    behind,
    held_packets,
    present,
    share,
    waited,
)
from .settings import part, path
from .words import (
    DELAY_ALLOWED_S,
    LOSS_ALLOWED,
    MOST_HIDDEN,
    MOSTLY,
    WORTH_TELLING,
    flow_names,
    foreign,
    held_back,
    hidden_nodes,
    is_routeless,
    link_name,
    listed,
    never_opened,
    percent,
    quality,
    unique,
)

RANGES = "airfair check FILE --resolved"

DIFFQ = ("diffq", "diffq-liar", "diffq-occupancy", "diffq-rc", "diffq-rc-sched")
"""Schemes whose queue is DiffQ's. Another queue discipline at such a node would be another scheme."""

TAKES_TURNS = "diffq-rc"
"""The one that does not compare its queues: none waits for another."""


def advice(explanation: Explanation) -> list[str]:
    """Advice; empty where nothing is wrong."""
    if explanation["standing"] == "unreachable":
        return [_with("Nodes nearer, more power or a lower rate: the ranges are printed by", RANGES)]
    if explanation["standing"] == "silent":
        return []
    fair = explanation["standing"] == "fair" and not held_back(explanation)
    if fair or explanation["standing"] == "content":
        return unique(_advice_on_quality(explanation)) if quality(explanation) else []
    return unique(_advice(explanation))


def _table(hop: Hop) -> str:
    """The table of the scenario with the keys of the sender's queue, as a part of a path."""
    return path(hop["queue"]["settings"])


def _set(key: str, value: str) -> str:
    """A line to copy, in quotes where a shell would take something out of it."""
    return f"--set {shlex.quote(f'{key}={value}')}"


def _with(text: str, *commands: str) -> str:
    """A piece of advice, and below it lines to copy."""
    return "\n".join([text, *commands])


def _compare(explanation: Explanation, *schemes: str) -> str:
    """A command that compares the scheme of the run with others."""
    return f"airfair compare FILE --schemes {','.join(unique([explanation['scheme'], *schemes]))}"


def _change(scheme: str, key: str, value: str) -> str:
    """A change of a parameter of a scheme."""
    return _set(f"schemes.{part(scheme)}.{key}", value)


def _owner(hop: Hop) -> str | None:
    """The scheme of the sender's queue, if other queues and sources depend on what it tells them."""
    return hop["queue"].get("labelled_by")


def _diffq(hop: Hop) -> str | None:
    """The scheme of the sender's queue, if it is DiffQ's and the flow too."""
    of_queue = [name for name in scheme_names(_owner(hop) or "") if name in DIFFQ]
    return of_queue[0] if of_queue and "differential" in hop else None


def _waits(hop: Hop) -> bool:
    """True if DiffQ's queue has its default values: it waits, and its source has no threshold."""
    return _diffq(hop) == DIFFQ[0] and f"{DIFFQ[0]}:paper" not in (_owner(hop) or "")


def _advice(explanation: Explanation) -> Iterator[str]:
    if is_routeless(explanation):
        yield from _advice_on_routes(explanation)
        return  # what helps where there is a route, shows when there is one
    tcp = explanation["tcp"]
    fewer = False
    ahead = [hop for hop in explanation["hops"] if hop["forward"]]
    # Frames of stations that a sender does not sense spoil whatever else is tried.
    yield from _advice_on_hidden(ahead)
    for hop in ahead:
        flows = [h["id"] for h in hop["holding_flows"] if h["id"] not in (None, explanation["flow"])]
        if foreign(explanation, hop) >= 0.3 and flows:
            yield _with(
                f"Take a competitor away and look again. If this flow then recovers, nothing at {hop['src']} "
                "itself will help: the others have to send less (a slower source, or a scheme that acts on "
                "all nodes around).",
                _set(f"flow.{part(flows[0])}.stop", '"1 us"'),
            )
        if share(hop, "eifs") > WORTH_TELLING:
            yield _with(
                "EIFS takes much of it: see whether it stays.", _set(f"{_table(hop)}.eifs_on_energy", "false")
            )
    if tcp is not None and ahead and waited(tcp, "local_limit") > MOSTLY:
        yield _with(
            f"See what it gets where no limit holds it back at {explanation['src']}; it may then starve what "
            f"{explanation['src']} forwards.",
            _set(f"{_table(ahead[0])}.local_limit", "off"),
        )
    yield from _advice_on_weak(explanation, ahead)
    for hop in ahead:
        # Where the queue itself gives the categories, the DSCP says nothing.
        if share(hop, "category") > 0.3 * present(hop) and "gives_categories" not in hop["queue"]:
            yield (
                f"{hop['src']} itself sends in other access categories first: see the `dscp` of its flows. "
                "One of a higher category should not have more to send than the channel carries."
            )
    yield from _advice_on_order(explanation, [hop for hop in ahead if behind(hop) >= WORTH_TELLING])
    for hop in ahead:
        if share(hop, *DEFERRING) > 0.3 and foreign(explanation, hop) < 0.3 * share(hop, *DEFERRING):
            fewer = tcp is not None
            yield _with(
                "Its own packets on other hops hold it back, as on any chain of one channel: a second "
                f"channel, or {'fewer of them under way' if fewer else 'a slower source'}.",
                *([FEWER] if fewer else []),
            )
    for hop in explanation["hops"]:
        yield from _advice_on_own_flows(explanation, hop)
    for hop in explanation["hops"]:
        yield from _advice_on_short_queues(explanation, hop)
    yield from _advice_on_full_queues(explanation)
    if tcp is not None and waited(tcp, "window_limit") > 0.3 and not fewer:
        yield "The window stands at its limit: a larger tcp.window_limit."
    yield from _advice_on_retries(explanation, ahead)
    if tcp is not None and waited(tcp, "rto_wait") > 0.3 and not never_opened(tcp):
        yield (
            "Waiting for the timer follows from the losses: prevent those first, then see what a smaller "
            "tcp.min_rto or tcp.max_rto gives."
        )


def _advice_on_routes(explanation: Explanation) -> Iterator[str]:
    """Advice where a protocol has lost the route of the flow."""
    if "links_vary" in explanation:
        yield f"Links of its route were not always there: {listed(explanation['links_vary'])}."
        return
    if "route" not in explanation:
        return
    lost = explanation["route"]["lost"]
    where = f" ({listed(link_name(link) for link in lost)})" if lost else ""
    choices = ["--set routing.protocol=static"]
    if explanation["route"]["metric"] == "etx":
        choices.insert(0, "--set olsr.metric=hops")
    yield _with(
        f"Nothing moves, and yet links of its route{where} were taken for broken: messages of the protocol "
        "are broadcasts, which nobody repeats when they collide with data. See what the flow gets over fixed "
        f"routes{', and where fewer lost messages change routes' if len(choices) > 1 else ''}.",
        *choices,
    )
    yield "Sources that send less leave the air to the messages of the protocol."


ATTEMPTS = 50
"""Attempts of a MAC that repeats more often."""


def _retries(table: str) -> str:
    return " ".join(_set(f"{table}.{which}_retry_limit", str(ATTEMPTS)) for which in ("short", "long"))


def _advice_on_retries(explanation: Explanation, ahead: list[Hop]) -> Iterator[str]:
    """Advice where the MAC gives up packets of a flow for which TCP then waits."""
    tcp = explanation["tcp"]
    if tcp is None or waited(tcp, "rto_wait") < WORTH_TELLING:
        return
    given_up = [hop for hop in ahead if hop["attempts"] and hop["attempts"]["given_up"]]
    lost = sum(hop["attempts"]["given_up"] for hop in given_up if hop["attempts"])
    if lost and 10 * lost >= sum(drop["packets"] for drop in explanation["drops"] if drop["data"]):
        nodes = listed(unique(hop["src"] for hop in given_up))
        yield _with(
            f"The MAC of {nodes} gives its packets up, and each time the timer waits twice as long: let it "
            "repeat more often. That costs delay, of this flow and of all that wait behind it: a packet "
            f"may take {ATTEMPTS} attempts.",
            *unique(map(_retries, map(_table, given_up))),
        )


FEWER = "--set 'tcp.window_limit=\"4 segments\"'"
"""Fewer packets under way."""


def _advice_on_order(explanation: Explanation, hops: list[Hop]) -> Iterator[str]:
    """Advice where packets of the flow wait behind others at senders of hops."""
    shared = [hop for hop in hops if _owner(hop) is None]
    if shared and explanation["scheme"] != "fq-codel":
        yield _with(
            f"Its packets wait behind others at {listed(unique(hop['src'] for hop in shared))}: a queue for "
            "each flow may help.",
            _compare(explanation, "fq-codel"),
        )
    for hop in hops:
        if _owner(hop) is not None:
            yield from _advice_on_own_acks(explanation, hop)


def _advice_on_own_acks(explanation: Explanation, hop: Hop) -> Iterator[str]:
    """Advice where data of the flow wait behind its own acknowledgements."""
    scheme = _diffq(hop)
    acks = sum(b["ns"] for b in hop["behind"] if b["flow"] == explanation["flow"] and not b["forward"])
    if scheme is not None and acks >= WORTH_TELLING * hop["observed_ns"]:
        cures = []
        if "gives_categories" in hop["queue"]:
            cures.append(("these leave first", _change(scheme, "acks", '"highest"')))
        # Where queues hold packets back few are under way; a window would only set a rate.
        if all(share(each, "held") < WORTH_TELLING for each in explanation["hops"]):
            cures.append(("fewer packets be under way", FEWER))
        if cures:
            yield _with(
                f"Its packets wait at {hop['src']} behind its own acknowledgements: let "
                f"{', or, if that is not enough, '.join(words for words, _ in cures)}.",
                *(change for _, change in cures),
            )


def _advice_on_quality(explanation: Explanation) -> Iterator[str]:
    """Advice where the flow gets its share, and its packets are lost or late."""
    loss, delay = explanation["loss_ratio"], explanation["p99_delay_s"]
    if loss is not None and loss > LOSS_ALLOWED:
        yield from _advice_on_hidden(explanation["hops"])
        yield from _advice_on_weak(explanation, explanation["hops"])
        for hop in explanation["hops"]:
            yield from _advice_on_own_flows(explanation, hop)
        yield from _advice_on_full_queues(explanation)
    if delay is not None and delay > DELAY_ALLOWED_S:
        printed = [hop for hop in explanation["hops"] if not _waits(hop)]
        for scheme in unique(filter(None, map(_diffq, printed))):
            waits = scheme != TAKES_TURNS
            also = ", and where a queue waits while that of the next hop is as long" if waits else ""
            yield _with(
                f"Packets that are late have waited in queues: fewer do with a lower threshold{also}.",
                _change(scheme, "threshold", "5"),
                *([_change(scheme, "serve", '"positive"')] if waits else []),
            )
        if not any(map(_owner, explanation["hops"])):
            yield _with(
                "Packets that are late have waited in queues: schemes differ in the queue that they leave, "
                "and a shorter one (radio.queue_packets, or tcp.window_limit for TCP) is emptied sooner.",
                _compare(explanation, "droptail", "codel", "fq-codel"),
            )


ROOM = 50
"""Packets for which a queue needs room for each flow of TCP, as many as a usual window has segments."""

FEW = 8
"""Fewer packets of each flow in a full queue are few: TCP needs four under way, here and on the other hops,
to find a loss by acknowledgements (RFC 5681, section 3.2)."""


def _advice_on_short_queues(explanation: Explanation, hop: Hop) -> Iterator[str]:
    """Advice where a full queue has room for few packets of each of its flows of TCP."""
    held = [waiting for waiting in hop["queue"]["held"] if waiting["tcp"]]
    flows = unique(waiting["flow"] for waiting in held if waiting["flow"] is not None)
    packets = sum(waiting["packets"] for waiting in held)
    if _owner(hop) is not None or len(flows) < 2 or not 0 < packets < FEW * len(flows):
        return
    if packets < 0.5 * held_packets(hop) or explanation["scheme"] not in FIRST_IN_FIRST_OUT:
        return
    yield _with(
        f"The queue of {hop['src']} has room for {held_packets(hop):.0f} packets, and {len(flows)} flows "
        "share it: too few for TCP, which then finds losses by its timer only. A longer one costs delay.",
        _set(f"{_table(hop)}.queue_packets", str(min(1000, ROOM * len(explanation["flows"])))),
    )


FIRST_IN_FIRST_OUT = ("droptail", "reno", "newreno", "vegas", "cubic")
"""Schemes with a plain queue, whose length is that of the scenario, and a window that fills any queue."""


def _advice_on_full_queues(explanation: Explanation) -> Iterator[str]:
    most = max((d["packets"] for d in explanation["drops"]), default=0)
    full = unique(
        d["node"] for d in explanation["drops"] if d["reason"] == "queue-full" and 2 * d["packets"] > most
    )
    dropping = [hop for hop in explanation["hops"] if hop["queue"]["dropped"]]
    owned = {hop["src"] for hop in dropping if _owner(hop) is not None}
    others = [node for node in full if node not in owned]
    if others:
        yield _with(
            f"Queues are full at {listed(others)}: schemes differ in what they drop.",
            _compare(explanation, "droptail", "red", "fq-codel"),
        )
    full_of_it = [
        hop
        for hop in dropping
        if hop["src"] in full and not _waits(hop) and _diffq(hop) not in (None, TAKES_TURNS)
    ]
    for scheme in unique(filter(None, map(_diffq, full_of_it))):
        nodes = listed(unique(hop["src"] for hop in full_of_it if _diffq(hop) == scheme))
        yield _with(
            f"Queues are full at {nodes}: let a queue wait while that of the next hop is as long.",
            _change(scheme, "serve", '"positive"'),
        )


def _advice_on_own_flows(explanation: Explanation, hop: Hop) -> Iterator[str]:
    """Advice where flows of the node itself fill the queue that dropped packets of the flow.

    Only data wait for room: a full queue drops acknowledgements of its own node as those of others.
    """
    if _owner(hop) is not None:
        return  # it has a queue for each destination, and what fills that is its source's matter
    queue, packets = hop["queue"], held_packets(hop)
    own: list[Waiting] = [
        w for w in queue["held"] if w["local"] and w["forward"] and w["flow"] != explanation["flow"]
    ]
    if not queue["backpressure"] or sum(w["packets"] for w in own) < 0.3 * packets or not own:
        return
    flows = flow_names(explanation, ((w["flow"], w["forward"]) for w in own))
    cures = []
    if queue["local_limit_ns"] is None:
        time = "1 ms" if hop["wired"] else "8 ms"
        change = _set(f"{_table(hop)}.local_limit", f'"{time}"')
        cures.append(("limit what it may have there, as Linux does", change))
    if not hop["wired"]:
        change = _set(f"{_table(hop)}.backpressure", "false")
        cures.append(("let a full queue drop its packets too", change))
    if any(w["tcp"] for w in own):
        change = f"--set 'tcp.window_limit=\"{max(2, int(packets) // 4)} segments\"'"
        cures.append(("give TCP a window below the queue", change))
    if cures:
        yield _with(
            f"{hop['src']} itself sends {flows}: its data wait while the queue is full, so that the full "
            "queue drops only packets of others, and acknowledgements: "
            f"{'; or '.join(words for words, _ in cures)}.",
            *(change for _, change in cures),
        )


MANY = 0.2
"""A cause of a smaller part of the attempts has no advice."""


def _advice_on_hidden(hops: Iterable[Hop]) -> Iterator[str]:
    """Advice where many attempts fail for stations that the sender does not sense, however many these are."""
    without_rts: list[Hop] = []
    with_rts: list[Hop] = []
    for hop in hops:
        attempts = hop["attempts"]
        hidden = sum(c["count"] for c in attempts["causes"] if c["hidden"]) if attempts else 0
        if attempts and hidden and hidden >= MANY * attempts["exchanges"]:
            (with_rts if attempts["rts"] else without_rts).append(hop)
    if without_rts:
        yield _with(
            f"{_hidden(without_rts)}: try RTS/CTS.",
            *unique(_set(f"{_table(hop)}.rts_threshold", '"0 B"') for hop in without_rts),
        )
    if with_rts:
        heard = unique(
            _set(f"{_table(hop)}.propagation.carrier_sense", f'"{hop["radio"]["carrier_sense"]}"')
            for hop in with_rts
            if "radio" in hop and hop["radio"]["carrier_sense"] is not None
        )
        windows = unique(
            _set(f"{_table(hop)}.cw_min", str(hop["radio"]["cw_min"]))
            for hop in with_rts
            if "radio" in hop and hop["radio"]["cw_min"] is not None
        )
        text = f"{_hidden(with_rts)}. RTS/CTS is in use, and does not prevent all of these collisions."
        if windows:
            text += (
                " A larger contention window leaves more gaps for RTS; it takes time from every exchange, so "
                "look at the flow with the least, too."
            )
        if heard:
            text += " A wider range of carrier sensing shows what hearing the others would do."
        yield _with(text, *windows, *heard)


MOST_SENDERS = 3
"""Most senders for which the hidden stations are named."""


def _hidden(hops: Iterable[Hop]) -> str:
    """Stations that are hidden from senders, and their part of the failures, by sender."""
    senders: dict[str, list[Cause]] = {}
    for hop in hops:
        senders.setdefault(hop["src"], []).extend(hop["attempts"]["causes"] if hop["attempts"] else [])
    found = []
    for sender, causes in senders.items():
        nodes, total = hidden_nodes(causes), sum(c["count"] for c in causes)
        part = percent(sum(c["count"] for c in causes if c["hidden"]) / total)
        many = len(nodes) > 1
        found.append(
            f"{listed(nodes, MOST_HIDDEN)} {'are' if many else 'is'} hidden from {sender} and "
            f"{'cause' if many else 'causes'} {part} of its failures"
        )
    if len(found) > MOST_SENDERS:
        others = len(found) - MOST_SENDERS
        found[MOST_SENDERS:] = [f"so it is at {others} more {plural(others, 'sender')} of its route"]
    return "; ".join(found)


def _advice_on_weak(explanation: Explanation, hops: Iterable[Hop]) -> Iterator[str]:
    """Advice where many attempts fail for lack of power; one piece for all links."""
    weak = []
    for hop in hops:
        attempts = hop["attempts"]
        count = sum(c["count"] for c in attempts["causes"] if c["why"] in WEAK) if attempts else 0
        if attempts and count and count >= MANY * attempts["exchanges"]:
            weak.append(hop)
    if not weak:
        return
    names = unique(f"{hop['src']} to {hop['dst']}" for hop in weak)
    one = len(names) == 1
    if "links_vary" in explanation:
        links = "link was" if one else "links were"
        yield f"The {links} not always there ({listed(names)}): {listed(explanation['links_vary'])}."
        return
    links = f"The {'link is' if one else 'links are'} weak ({listed(names)})"
    own = [hop for hop in weak if "radio" in hop and hop["radio"]["own"] is not None]
    if own:
        senders = unique(hop["src"] for hop in own)
        yield _with(
            f"{links}: give {listed(senders)} a radio of {'its' if len(senders) == 1 else 'their'} own, with "
            "a lower rate (or more `tx_power`). Frames of this radio then take longer, and who waits for "
            "them gets less.",
            _own_radios(own),
        )
    rest = [hop for hop in weak if hop not in own]
    if rest and not own:
        lower = unique(
            _set(f"{_table(hop)}.data_rate", f'"{hop["radio"]["slower"]}"')
            for hop in rest
            if "radio" in hop and hop["radio"]["slower"] is not None
        )
        text = (
            "a lower data_rate, or more tx_power, may carry more. Both are settings of all radios of this "
            "kind: a lower rate lengthens every exchange, and other flows may lose. `[radios.NAME]` gives a "
            "node a radio of its own."
        )
        yield _with(f"{links}: {text}", *lower)


WEAK = ("too-weak", "noise")
"""Causes for which more power, or a lower rate, would help."""


def _own_radios(hops: Iterable[Hop]) -> str:
    """A line that gives the senders of hops a radio of their own, with a lower rate."""
    parts = []
    for hop in hops:
        name, node = hop["radio"]["own"], part(hop["src"])
        parts.append(_set(f"radios.{name}.data_rate", f'"{hop["radio"]["slower"]}"'))
        parts.append(_set(f"node.{node}.radios", f'["{name}"]'))
    return " ".join(unique(parts))
