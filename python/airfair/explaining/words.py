"""The verdict, its reasons and what to try, in words. Every number is the simulator's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from ..quantities import plural, rate
from ..results import InhibitedLink
from ..verdicts import LITTLE
from .result import (
    DEFERRING,
    Allocation,
    AllocationLimit,
    Cause,
    Drop,
    Explanation,
    Hop,
    LinkEnds,
    LostLink,
    OverloadedLink,
    Tcp,
    behind,
    has_source_rate,
    held_ns,
    held_packets,
    preceding_ns,
    present,
    sent_part,
    share,
    waited,
    without_route,
)

T = TypeVar("T")

WORTH_TELLING = 0.1
"""A reason with a smaller share of the time is left out."""

MOSTLY = 0.5
"""The limit of what waits in the source's own node is a reason where it takes more of the time."""

SAID = {
    "starved": "starves",
    "nearly-starved": "is close to starving",
    "behind": "gets less than its share",
}

LOSS_ALLOWED = 0.01
"""A flow that loses a larger part of its packets is told so: the most that ITU-T G.1010 (table I.1) allows
video and audio of high quality. Speech bears three times as much; TCP repairs losses, at a price."""

DELAY_ALLOWED_S = 0.15
"""A flow whose 99th percentile of one-way delays is longer is told so: up to 150 ms conversation is hardly
disturbed (ITU-T G.114, G.1010). A transfer does not mind, but who shares its queues does."""

FATES = {
    "collision": "the frame collided",
    "receiver-receiving": "the receiver was receiving another frame",
    "receiver-transmitting": "the receiver was transmitting",
    "receiver-nav": "the receiver kept silent, its NAV set",
    "receiver-sensing": "the receiver kept silent, its medium busy",
    "too-weak": "the frame arrived too weak",
    "noise": "the frame drowned in noise",
    "answer-collided": "the answer collided",
    "answer-lost": "the answer was lost",
    "answer-late": "the answer came after the time-out",
    "not-answered": "the receiver did not answer in time",
}


TCP_STATES = {
    "rto_wait": "waits for the retransmission timer, nothing under way",
    "delayed_ack": "waits for a delayed acknowledgement",
    "own_queue": "waits for room in its own queue",
    "local_limit": "held by the local limit (TSQ)",
    "congestion_window": "congestion window full, packets under way",
    "window_limit": "window at its configured limit",
    "receiver_window": "receiver's window full",
    "pacing": "paced",
    "handshake": "being opened",
    "application": "nothing to send",
    "nothing": "about to send",
}


def percent(value: float) -> str:
    """A share, with a digit more where it is small."""
    if 0 < value < 0.001:
        return "<0.1 %"
    return f"{100 * value:.0f} %" if value >= 0.0995 or value == 0 else f"{100 * value:.1f} %"


def span(explanation: Explanation) -> str:
    """The time that counts."""
    return f"{round(explanation['from_s'], 2):g} s to {round(explanation['until_s'], 2):g} s"


def listed(names: Iterable[str], most: int = 4) -> str:
    """Names as one says them."""
    names = list(names)
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def quality(explanation: Explanation) -> list[str]:
    """Loss and delay of the flow's packets where they are large."""
    loss, delay = explanation["loss_ratio"], explanation["p99_delay_s"]
    found = []
    if loss is not None and loss > LOSS_ALLOWED:
        again = " and sent again" if explanation["tcp"] is not None else ""
        found.append(f"{percent(loss)} of its packets are lost{again}")
    if delay is not None and delay > DELAY_ALLOWED_S:
        greedy = explanation["offered_bps"] is None and explanation["standing"] == "fair"
        fills = greedy and not has_source_rate(explanation)
        why = ", as it sends whatever fits and fills queues" if fills else ""
        found.append(f"one packet in a hundred takes longer than {milliseconds(delay)}{why}")
    return found


def milliseconds(seconds: float) -> str:
    """A time of more than some milliseconds."""
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.3g} s"


def _all_in_all(explanation: Explanation) -> str:
    """A verdict on a flow that gets its share, before which a space goes. All is clear only where nothing
    else is said."""
    found = quality(explanation)
    if found:
        return f" But {' and '.join(found)}."
    return "" if explanation["reasons"] or _takes_more(explanation) else " Nothing is wrong."


MORE = 1.5
"""A flow with more than so many times the mean takes more than its share."""


def _takes_more(explanation: Explanation) -> bool:
    """True if the flow has much more than the mean: whoever has less may lack it."""
    return explanation["goodput_bps"] > MORE * explanation["mean_goodput_bps"] > 0


def _beside(explanation: Explanation) -> str:
    """Of a flow that gets what it asks for: whether that is more than its share."""
    if not _takes_more(explanation):
        return ""
    mean = explanation["mean_goodput_bps"]
    part = percent(explanation["goodput_bps"] / mean)
    of = f"the mean of the {_compared(explanation)} flows ({rate(mean)})"
    return f" That is more than its share: {part} of {of}."


def verdict(explanation: Explanation) -> str:
    """One or two sentences: how the flow fares."""
    who = f"Flow {explanation['flow']} ({explanation['src']} to {explanation['dst']})"
    got = rate(explanation["goodput_bps"])
    mean = explanation["mean_goodput_bps"]
    offered = explanation["offered_bps"]
    match explanation["standing"]:
        case "unreachable":
            return f"{who} has no route: nothing of it can arrive."
        case "silent":
            return f"{who} has sent nothing in the measured time, {span(explanation)}: nothing to explain."
        case "content" if offered is not None:
            whole = f"{who} gets what it asks for: {got} of {rate(offered)}."
            return f"{whole}{_beside(explanation)}{_all_in_all(explanation)}"
        case "content":
            whole = f"{who} gets {got}: its application asks for no more."
            return f"{whole}{_beside(explanation)}{_all_in_all(explanation)}"
        case "fair" if _compared(explanation) == 1 and not held_back(explanation):
            only = "flow" if len(explanation["flows"]) == 1 else "flow with traffic and a route"
            alone = f"{who} gets {got}. It is the only {only}: no other competes with it."
            return f"{alone}{_all_in_all(explanation)}" if quality(explanation) else alone
        case "fair" if held_back(explanation):
            return f"{who} {_too_little(explanation)}"
        case "fair":
            part, of = _due(explanation)
            gets = "takes more than its share" if part > MORE else "gets its share"
            return f"{who} {gets}: {got}, {percent(part)} of {of}.{_all_in_all(explanation)}"
        case standing if mean == 0:
            return f"{who} {SAID[standing]}: nothing of it has arrived, as of no flow."
        case standing:
            part, of = _due(explanation)
            return f"{who} {SAID[standing]}: {got}, {percent(part)} of {of}."


ROUTELESS = 0.1
"""A flow that has no route for a larger part of its time does not get its share."""


def is_routeless(explanation: Explanation) -> bool:
    """True if the flow has had no route for much of its time."""
    return without_route(explanation) >= ROUTELESS


def held_back(explanation: Explanation) -> bool:
    """True if a flow that has about as much as the others has little: by its route, by its max-min rate, or
    by what drop-tail gives all flows together."""
    return is_routeless(explanation) or _of_best(explanation) < LITTLE or _of_baseline(explanation) < LITTLE


def _of_best(explanation: Explanation) -> float:
    """The part of its max-min rate that the flow has; 1 where that is not known, or may not be asked for."""
    best = explanation["optimum"]
    return 1.0 if best is None or best["sends_files"] else best["share"]


def _of_baseline(explanation: Explanation) -> float:
    """The total goodput as a part of that of the baseline; 1 without one."""
    before = explanation["baseline"]["total_bps"] if "baseline" in explanation else 0.0
    return sum(flow["goodput_bps"] for flow in explanation["flows"]) / before if before else 1.0


def _too_little(explanation: Explanation) -> str:
    """Shortcomings of a flow that has about as much as the others."""
    part, of = _due(explanation)
    got, flows = rate(explanation["goodput_bps"]), _compared(explanation)
    beside = "" if flows == 1 else f" That is {percent(part)} of {of}."
    if is_routeless(explanation):
        seconds = explanation["route"]["without_ns"] / 1e9 if "route" in explanation else 0.0
        share_of = percent(without_route(explanation))
        return f"had no route for {share_of} of its time ({seconds:.3g} s), and gets {got}.{beside}"
    best = explanation["optimum"]
    if best is not None and _of_best(explanation) < LITTLE:
        allowed = f"{percent(best['share'])} of the {rate(best['max_min_bps'])} that the air allows it"
        return f"gets little: {got}, {allowed}.{beside}"
    whole, scheme = percent(_of_baseline(explanation)), explanation["scheme"]
    return (
        f"gets little, as all flows do: {got}. With {scheme} the total is {whole} of that with "
        f"{explanation['baseline']['scheme'] if 'baseline' in explanation else ''}.{beside}"
    )


def _compared(explanation: Explanation) -> int:
    """Number of flows in the mean: of those outside it nothing has arrived."""
    total, mean = sum(flow["goodput_bps"] for flow in explanation["flows"]), explanation["mean_goodput_bps"]
    return round(total / mean) if mean else len(explanation["flows"])


def _due(explanation: Explanation) -> tuple[float, str]:
    """The flow's part of what is due to it, the mean of the flows or its offered load if that is less, and
    which of the two that is."""
    mean, offered = explanation["mean_goodput_bps"], explanation["offered_bps"]
    due, of = mean, f"the mean of the {_compared(explanation)} flows ({rate(mean)})"
    if offered is not None and offered < mean:
        due, of = offered, f"the {rate(offered)} that it offers"
    return explanation["goodput_bps"] / due, of


def reasons(explanation: Explanation) -> list[str]:
    """The reasons for the flow's goodput, the most important first: of each kind the hop where its share is
    largest."""
    ahead = [hop for hop in explanation["hops"] if hop["forward"]]
    found = [*_of_tcp(explanation), _searching(explanation), _routeless(explanation)]
    for kind in (_queueing, _held, _deferring, _preceding, _failing):
        found.append(max((kind(explanation, hop) for hop in ahead), default=(0.0, "")))
    found.append(_differing(ahead))
    found += [_stamped(explanation), _limited(explanation), _inhibited(explanation)]
    found.append(max((_dropping(explanation, hop) for hop in explanation["hops"]), default=(0.0, "")))
    return [text for weight, text in sorted(found, key=lambda r: -r[0]) if weight >= WORTH_TELLING]


def _of_tcp(explanation: Explanation) -> Iterator[tuple[float, str]]:
    tcp = explanation["tcp"]
    if tcp is None:
        return
    rto = waited(tcp, "rto_wait")
    if never_opened(tcp):
        yield rto + waited(tcp, "handshake"), _unopened(explanation)
    else:
        some = f"{tcp['unopened']} of its {tcp['connections']} connections never opened. "
        told_rto = (
            f"Its TCP waits for the retransmission timer {percent(rto)} of the time, with nothing of the "
            f"flow under way ({_timeouts(tcp)}). {some if tcp['unopened'] else ''}"
            f"{timer(explanation)}{_losses(explanation)}"
        )
        yield rto, told_rto
    source = next((hop for hop in explanation["hops"] if hop["forward"]), None)
    scheme = source["queue"].get("labelled_by") if source is not None and "differential" in source else None
    if has_source_rate(explanation):
        scheme = explanation["scheme"]
    limits = {
        "window_limit": "its window is full at the configured limit",
        "receiver_window": "the receiver's window is full",
        "pacing": "it paces its segments" if scheme is None else f"it sends at the rate that {scheme} sets",
        "delayed_ack": "the receiver holds an acknowledgement back, and nothing else is under way",
        "handshake": "its connections are being opened",
    }
    for state, text in limits.items():
        yield waited(tcp, state), f"{percent(waited(tcp, state))} of its TCP's time {text}."
    local = waited(tcp, "local_limit")
    if local > MOSTLY:
        # First the cause that keeps the node from sending the packets that it has.
        told_local = (
            f"{percent(local)} of the time its TCP is held by the local limit (TSQ): {_limit(source)} "
            f"of data wait in its node, {explanation['src']}."
        )
        yield 0.5 * local, told_local


def never_opened(tcp: Tcp) -> bool:
    """True if no connection of the flow has opened, though its SYNs were sent again."""
    return 0 < tcp["unopened"] == tcp["connections"]


def _timeouts(tcp: Tcp) -> str:
    number = tcp["timeouts"] + tcp["syn_timeouts"]
    return f"{number} {plural(number, 'time-out')}"


def _unopened(explanation: Explanation) -> str:
    """Of a flow whose connections never opened: where its SYNs have gone."""
    tcp = explanation["tcp"]
    if tcp is None:
        return ""
    one = tcp["connections"] == 1
    whose = "Its connection" if one else f"None of its {tcp['connections']} connections"
    text = f"{whose} {'never' if one else 'ever'} opened: "
    drops = sorted((d for d in explanation["drops"] if "opening" in d), key=lambda d: -d["packets"])
    text += "; ".join(dropped(drop) for drop in drops[:3]) if drops else "no answer has come"
    measured = " in the measured time" if explanation["from_s"] > 0 else ""
    return f"{text}; {_timeouts(tcp)}{measured}. {timer(explanation)}".rstrip()


def _limit(source: Hop | None) -> str:
    """How much of a flow may wait in its node: "8 ms"."""
    limit_ns = None if source is None else source["queue"]["local_limit_ns"]
    return "as much as may be" if limit_ns is None else f"{limit_ns / 1e6:g} ms"


def timer(explanation: Explanation) -> str:
    """Until when a connection waits for its timer, if one does at the end."""
    tcp = explanation["tcp"]
    if tcp is None or "timer" not in tcp:
        return ""
    since, until = tcp["timer"]["since_s"], tcp["timer"]["until_s"]
    expiries, doublings = tcp["timer"]["expiries"], tcp["timer"]["doublings"]
    end = explanation["until_s"]
    over = f", {until - end:.3g} s after the end" if until > end else ""
    text = f"At the end it has waited since {since:.4g} s, and will until {until:.4g} s{over}"
    if not doublings:
        return f"{text}. "
    text += f": the timer is doubled {_times(doublings)} in all, "
    if never_opened(tcp):
        return f"{text}as no answer has come. "
    if doublings <= expiries:
        return f"{text}as nothing new has been acknowledged. "
    return (
        f"{text}and stays so until a segment that was sent only once is acknowledged: of one that was sent "
        "again no round-trip time can be measured. "
    )


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def _searching(explanation: Explanation) -> tuple[float, str]:
    weight = explanation.get("awaited_route_ns", 0) / max(
        1e9 * (explanation["until_s"] - explanation["from_s"]), 1
    )
    return weight, f"{percent(weight)} of the time packets of it wait for a route that is being looked for."


def _routeless(explanation: Explanation) -> tuple[float, str]:
    """The time without a route, where routes were lost, and the packets that this cost."""
    weight = without_route(explanation)
    if "route" not in explanation or not weight:
        return 0.0, ""
    lost, seconds = explanation["route"]["lost"], explanation["route"]["without_ns"] / 1e9
    times = sum(link["times"] for link in lost)
    text = f"{percent(weight)} of the time ({seconds:.3g} s) it has no route"
    if times:
        most = lost[0]
        at = f"at the link {link_name(most)}"
        often = f", {_times(most['times'])} {at}" if len(lost) > 1 else f" {at}"
        text += f": the protocol lost the route {_times(times)}{often}"
    ended = sorted(
        (drop for drop in explanation["drops"] if drop["reason"] in NO_ROUTE), key=lambda d: -d["packets"]
    )
    if ended:
        packets = sum(drop["packets"] for drop in ended)
        places = listed(f"{drop['packets']} at {drop['node']}" for drop in ended[:3])
        text += f". {packets} of its packets ended for want of a route: {places}"
    # Where there is no route, whatever else happens to packets comes after it.
    return (1.0 + weight if weight >= ROUTELESS else weight), f"{text}."


NO_ROUTE = ("no-route",)
"""Reasons of drops of packets for which a node has no next hop."""


def _queueing(explanation: Explanation, hop: Hop) -> tuple[float, str]:
    if not hop["behind"]:
        return 0.0, ""
    flows = flow_names(explanation, ((b["flow"], b["forward"]) for b in hop["behind"]))
    where = f"at {hop['src']} (to {hop['dst']})"
    text = f"{percent(behind(hop))} of the time its packets wait {where} behind those of {flows}."
    return behind(hop), text


def _held(told: Explanation, hop: Hop) -> tuple[float, str]:
    weight = share(hop, "held")
    if "labelled_by" not in hop["queue"]:
        return weight, (
            f"{percent(weight)} of the time the queue of {hop['src']} (to {hop['dst']}) holds its packets "
            f"back: {told['scheme']} lets the link send no more."
        )
    return weight, (
        f"{percent(weight)} of the time the queue of {hop['src']} holds its packets back, as that of "
        f"{hop['dst']} is as long or longer: what is narrow lies further on."
    )


def _deferring(explanation: Explanation, hop: Hop) -> tuple[float, str]:
    deferring = share(hop, *DEFERRING)
    if deferring == 0:
        return 0.0, ""
    here, by_others = present(hop), foreign(explanation, hop)
    nodes = [h["id"] or "another node" for h in hop["holders"] if held_ns(h) >= 0.05 * _most(hop)]
    keep = "keep" if len(nodes) > 1 else "keeps"
    text = (
        f"{hop['src']} (to {hop['dst']}) has packets of it {percent(here)} of the time and must not send for "
        f"{percent(deferring / here)} of that: {listed(nodes)} {keep} the medium busy"
    )
    together = hop["overlapped_ns"] / hop["observed_ns"]
    if together >= WORTH_TELLING:
        text += f", two or more of them at once {percent(together)} of the time"
    if by_others < 0.5 * deferring:
        text += "; mostly with the flow's own packets on other hops"
    return deferring, text + "."


NO_DIFFERENTIALS = "No packet of it left a queue that compares itself with that of the next hop"
"""Of a flow whose packets pass nodes with such queues (DiffQ)."""


def _preceding(_told: Explanation, hop: Hop) -> tuple[float, str]:
    weight = share(hop, "category")
    if "categories" not in hop or weight == 0:
        return 0.0, ""
    here = present(hop) * hop["observed_ns"]
    others = sorted(hop["categories"]["others"], key=preceding_ns, reverse=True)
    each = [f"{other['category']} {percent(preceding_ns(other) / here)}" for other in others]
    text = (
        f"{hop['src']} (to {hop['dst']}) has packets of it {in_categories(hop)} {percent(present(hop))} of "
        f"the time and exchanges frames of other categories for {percent(weight / present(hop))} of that: "
        f"{listed(each)}"
    )
    collisions = sum(other["collisions"] for other in others)
    if collisions:
        text += f"; they lost {collisions} internal collisions"
    return weight, text + "."


def in_categories(hop: Hop) -> str:
    """The access categories of the flow's packets at a hop, most time first: "in BE"."""
    own = sorted(hop["categories"]["own"], key=lambda own: -own["ns"]) if "categories" in hop else []
    return f"in {listed(o['category'] for o in own)}" if own else "in no category"


def _differing(ahead: list[Hop]) -> tuple[float, str]:
    """The hop with the largest queue differential, and what its level makes of it."""
    hops = [hop for hop in ahead if "differential" in hop]
    if not hops:
        return 0.0, ""
    hop = max(hops, key=lambda hop: hop["differential"]["mean_packets"])
    levels = hop["differential"]["levels"]
    largest = ", the largest differential of its path" if len(hops) > 1 else ""
    text = (
        f"Its packets leave {hop['src']} (to {hop['dst']}) with a queue {_longer(hop)} than at "
        f"{hop['dst']} on average{largest}{at_levels(hop)}"
    )
    low = max(levels, key=lambda level: level["higher_ns"], default=None)
    outranked = 0.0 if low is None or not hop["observed_ns"] else low["higher_ns"] / hop["observed_ns"]
    if low is not None and outranked >= 0.01:
        text += (
            f"; {percent(outranked)} of the time one waits at level {low['level']} while others send at "
            "higher levels"
        )
    # It says which hop is the narrow one even where its level takes no time.
    return max(outranked, WORTH_TELLING), text + "."


def _longer(hop: Hop) -> str:
    """The mean queue differential: "12 packets longer"."""
    mean = hop["differential"]["mean_packets"] if "differential" in hop else 0.0
    return f"{_count(abs(round(mean, 1)))} packets {'longer' if mean >= 0 else 'shorter'}"


def at_levels(hop: Hop, most: int = 3) -> str:
    """The levels of the flow's packets at a hop, most packets first: "; 80 % at level 1 and 20 % at level 0".
    Empty where there is one level."""
    levels = hop["differential"]["levels"] if "differential" in hop else []
    total = sum(level["packets"] for level in levels)
    named = [level for level in levels if level["level"] is not None and level["packets"]]
    named.sort(key=lambda level: -level["packets"])
    if not named:
        return ""
    each = [f"{percent(level['packets'] / total)} at level {level['level']}" for level in named[:most]]
    rest = sum(level["packets"] for level in named[most:])
    return "; " + listed([*each, f"{percent(rest / total)} at others"] if rest else each)


def _stamped(explanation: Explanation) -> tuple[float, str]:
    """The smallest share of the path, who gives it, and whether it holds the flow back."""
    allocation = explanation.get("allocation")
    if allocation is None or not allocation["shares"]:
        return 0.0, ""
    # A share of a link is kept to by its queue, not by the source.
    if "air" in allocation["shares"][0]:
        return _of_the_air(explanation, allocation)
    sent = sent_part(explanation)
    if sent is None:
        return 0.0, ""
    first = allocation["shares"][0]
    which = "lowest rate that its path allows" if allocation["stamped"] else "smallest share of its path"
    gives = "stamps" if first["allocated"] is not None or allocation["stamped"] else "gives"
    text = f"The {which} is {rate(allocation['smallest_bps'] or 0)} on average{_by(allocation, gives)}"
    if first["allocated"] is None:
        text += ", by what the node itself measures"
    elif first["allocated"] == 0:
        text += ", by default, as no allocation has arrived there"
    elif first["allocated"] < 0.95:
        text += f", {percent(1 - first['allocated'])} of the time without an allocation"
    if first["scale"] < 0.995:
        text += f"; the node has scaled it by {first['scale']:.2f} itself"
    obeys = sent > (FOLLOWS if allocation["stamped"] else OBEYS)
    text += f"; its source sends {percent(sent)} of it"
    tcp = explanation["tcp"]
    if obeys:
        text += "."
    elif tcp is not None and waited(tcp, "rto_wait") >= WORTH_TELLING:
        text += ", since it waits for its timer: it may send, and no share holds it back."
    else:
        text += ": this does not hold it back."
    # Where the source sends at it, nothing else holds the flow back.
    return (0.9 if obeys else WORTH_TELLING), text


def _by(allocation: Allocation, gives: str) -> str:
    """Who has the smallest share, and how often."""
    first, *others = allocation["shares"]
    by = f"{first['src']} (to {first['dst']})"
    if not others:
        return f"; {by} {gives} it"
    if first["smallest"] > 0.95 * sum(at["smallest"] for at in allocation["shares"]):
        return f", and always that of {by}"
    return f", {percent(first['smallest'])} of the time that of {by}"


def _of_the_air(explanation: Explanation, allocation: Allocation) -> tuple[float, str]:
    """The rates at which the links of its path may send, all flows together, and the air that is lent."""
    first = allocation["shares"][0]
    air, name = first["air"], f"{first['src']} (to {first['dst']})"
    text = (
        f"The least that a link of its path may send, for all its flows, is "
        f"{rate(allocation['smallest_bps'] or 0)} on average{_by(allocation, 'has')}. {name} has "
        f"{percent(air['share'])} of the air"
    )
    if air["borrowed"] >= PART_WORTH_TELLING * air["share"]:
        text += f", of which others lend {percent(air['borrowed'])},"
    text += f" and uses {percent(air['used'])}, retries not counted"
    if air["lent"] >= PART_WORTH_TELLING * air["share"]:
        text += f"; it lends {percent(air['lent'])}"
    if first["scale"] < 0.95:
        text += f"; it gives way to links that are short of air, down to {first['scale']:.2f} of its share"
    held = max((share(hop, "held") for hop in explanation["hops"] if hop["src"] == first["src"]), default=0.0)
    if held < WORTH_TELLING:
        return WORTH_TELLING, f"{text}. Its queue hardly holds the flow back."
    # The reason that its packets wait for it is told by itself.
    return max(WORTH_TELLING, 0.9 * held), f"{text}."


PART_WORTH_TELLING = 0.1
"""A smaller part of a link's air is left out."""

FOLLOWS = 0.4
"""The same of rates that change with each packet: a source takes a lower one at once, and a higher one
later."""

OBEYS = 0.8
"""A source that sends this part of its share, or more, is held back by it."""


def _limited(explanation: Explanation) -> tuple[float, str]:
    """The set of links that limits what a controller gives the flow."""
    limits = explanation["allocation"]["limits"] if "allocation" in explanation else []
    if not limits:
        return 0.0, ""
    limit, sent = limits[0], sent_part(explanation)
    weight = 0.89 if sent is not None and sent > OBEYS else WORTH_TELLING
    often = "" if limit["part"] > 0.95 else f" {percent(limit['part'])} of the time"
    who = f"The controller at {limit['controller']}{stopped(limit)}"
    gone = (
        "" if any(limit["stopped_s"] is None for limit in limits) else " No controller gives it a rate now."
    )
    if not limit["links"]:
        return weight, f"{who} gave it{often} what it asks for.{gone}"
    text = (
        f"{who} gave it its rate{often} from the clique of "
        f"{listed(link_name(link) for link in limit['links'])}, which it takes to carry "
        f"{percent(limit['capacity'])} of what a lone link does"
    )
    overloaded = sorted(limit["overloaded"], key=lambda link: -link["part"])
    if overloaded:
        each = [
            f"{link_name(link)} was overloaded {percent(link['part'])} of that" for link in overloaded[:2]
        ]
        text += f"; {' and '.join(each)}"
    return weight, f"{text}.{gone}"


def stopped(limit: AllocationLimit) -> str:
    """Of a controller that has stopped: ", which stopped at 60 s,"."""
    return "" if limit["stopped_s"] is None else f", which stopped at {limit['stopped_s']:g} s,"


def _inhibited(explanation: Explanation) -> tuple[float, str]:
    """Who inhibits links of the flow's path, and what the controller knows of it."""
    links = explanation["allocation"].get("inhibited_links", []) if "allocation" in explanation else []
    told = [inhibition(link) for link in links]
    # It is a reason only where the controller is wrong; else what follows from it is in the other reasons.
    wrong = any(set(link["found"]) != set(link["actual"]) for link in links)
    return (0.5 if wrong else WORTH_TELLING) if links else 0.0, " ".join(told)


def inhibition(link: InhibitedLink, what: str = "Its link") -> str:
    """Who inhibits a link, and what the controller knows of it, as a sentence that begins with `what`."""
    found, actual = set(link["found"]), set(link["actual"])
    every = list(dict.fromkeys([*link["found"], *link["actual"]]))
    known, missed, invented = (
        [node for node in every if node in nodes]
        for nodes in (found & actual, actual - found, found - actual)
    )
    parts = []
    if known:
        parts.append(f"by {listed(known)}, as the controller has found out")
    if missed:
        parts.append(f"by {listed(missed)}, which the controller has not found out")
    name = f"{what} {link['src']} to {link['dst']}"
    text = f"{name} is inhibited {' and '.join(parts)}" if parts else f"{name} is not inhibited"
    if invented:
        text += f", {'and' if parts else 'but'} the controller takes it for inhibited by {listed(invented)}"
    if link["round_s"] is None:
        return f"{text} (no controller knows the link)."
    return f"{text} (last round at {link['round_s']:.4g} s)."


def link_name(link: LinkEnds | OverloadedLink | LostLink) -> str:
    """A link, as in "A to B"."""
    return f"{link['src']} to {link['dst']}"


def _dropping(explanation: Explanation, hop: Hop) -> tuple[float, str]:
    dropped = hop["queue"]["dropped"]
    if not dropped:
        return 0.0, ""
    weight = dropped / max(explanation["sent_packets"], dropped, 20)
    if explanation["tcp"] is not None and hop["forward"]:
        # A few losses are enough to make it wait.
        weight = max(weight, 0.95 * waited(explanation["tcp"], "rto_wait"))
    return weight, full_queue(explanation, hop)


def full_queue(explanation: Explanation, hop: Hop) -> str:
    """The content of a queue when it dropped packets of the flow: "50 packets: 48 of flow local"."""
    dropped = hop["queue"]["dropped"]
    what = "packets" if hop["forward"] else "acknowledgements"
    if dropped == 1:
        what = what.removesuffix("s")
    return (
        f"The queue of {hop['src']} (to {hop['dst']}) dropped {dropped} {what} of it; then it held "
        f"{_count(held_packets(hop))} packets: {_fillers(explanation, hop)}."
    )


def _count(packets: float) -> str:
    return f"{packets:.0f}" if packets >= 9.5 or packets == round(packets) else f"{packets:.1f}"


def _fillers(explanation: Explanation, hop: Hop, most: int = 3) -> str:
    held = hop["queue"]["held"]
    if not held:
        return "whose is not known"
    named = [
        f"{_count(w['packets'])} of {flow_name(explanation, w['flow'], w['forward'])}" for w in held[:most]
    ]
    rest = sum(w["packets"] for w in held[most:])
    return ", ".join([*named, f"{_count(rest)} of others"] if rest else named)


def _failing(_told: Explanation, hop: Hop) -> tuple[float, str]:
    attempts = hop["attempts"]
    failed = attempts["no_cts"] + attempts["no_ack"] if attempts else 0
    if not attempts or not failed:
        return 0.0, ""
    text = f"{failed} of {attempts['exchanges']} attempts of {hop['src']} (to {hop['dst']}) get no answer: "
    # A few are chance.
    weight = 0.8 * failed / max(attempts["exchanges"], 20)
    return weight, f"{text}{_causes(attempts['causes'])}."


def foreign(explanation: Explanation, hop: Hop) -> float:
    """Share of the time in which a hop defers to transmissions for others than this flow."""
    own = next((h for h in hop["holding_flows"] if h["id"] == explanation["flow"]), None)
    only_own = 0 if own is None else own["alone_ns"] + own["nav_ns"] + own["eifs_ns"]
    return share(hop, *DEFERRING) - (only_own / hop["observed_ns"] if hop["observed_ns"] else 0.0)


def _most(hop: Hop) -> int:
    return max(map(held_ns, hop["holders"]), default=0)


def flow_name(explanation: Explanation, flow: str | None, forward: bool) -> str:
    name = "control packets" if flow is None else f"flow {flow}"
    if flow == explanation["flow"]:
        name = "its own"
    return name if forward else f"{name} (acknowledgements)"


def flow_names(explanation: Explanation, flows: Iterable[tuple[str | None, bool]]) -> str:
    """Flows in a sentence, those whose data are meant first: "flows x, y and z", "flow x and its own"."""
    each = unique(flows)
    own = explanation["flow"]
    data = [flow for flow, forward in each if forward and flow not in (None, own)]
    names = [f"{'flow' if len(data) == 1 else 'flows'} {data[0]}", *map(str, data[1:])] if data else []
    rest = [pair for pair in each if not pair[1] or pair[0] in (None, own)]
    return listed([*names, *(flow_name(explanation, *pair) for pair in rest)])


def unique(names: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(names))


def _losses(explanation: Explanation) -> str:
    """The losses of the flow and their causes: the reason for waiting."""
    drops = sorted(explanation["drops"], key=lambda d: -d["packets"])
    if not drops:
        return "Nothing of it was dropped in this time: the loss came before, or the answer is late."
    return f"Dropped: {'; '.join(dropped(drop) for drop in drops[:3])}."


def dropped(drop: Drop) -> str:
    if "opening" in drop:
        number = drop["packets"]
        return f"{number} {plural(number, 'SYN')} dropped at {drop['node']}, {drop['reason']}"
    what = "data" if drop["data"] else "acknowledgements"
    return f"{drop['packets']} ({what}) at {drop['node']}, {drop['reason']}"


def cause(failure: Cause) -> str:
    """One cause, such as "the frame collided with a frame of G (for flow one-hop)"."""
    if failure["by"] is None:
        return FATES[failure["why"]]
    name = failure["by"] + (f" (for flow {failure['of']})" if failure["of"] is not None else "")
    text = {
        "collision": f"the frame collided with a frame of {name}",
        "receiver-receiving": f"the receiver was receiving a frame of {name}",
        "receiver-transmitting": f"the receiver was transmitting itself: {name}",
        "receiver-nav": f"the receiver kept silent, its NAV set by a frame of {name}",
        "receiver-sensing": f"the receiver kept silent, its medium busy with a frame of {name}",
        "answer-collided": f"the answer collided with a frame of {name}",
    }.get(failure["why"], f"{FATES[failure['why']]}, by {name}")
    return text + (f", which {UNSENSED}" if failure["hidden"] else "")


UNSENSED = "the sender does not sense"
"""The words for hidden stations."""


def _causes(causes: list[Cause], most: int = 2) -> str:
    """The most frequent causes. All that stations do which the sender does not sense is one of them: each
    station may do little of it."""
    counts: dict[str, int] = {}
    hidden = [c for c in causes if c["hidden"]]
    together = hidden_causes(hidden) if len(hidden) > 1 else ""
    for c in causes:
        text = together if together and c["hidden"] else cause(c)
        counts[text] = counts.get(text, 0) + c["count"]
    total = sum(counts.values())
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return "; ".join(f"{percent(count / total)}: {text}" for text, count in ordered[:most])


def hidden_causes(hidden: list[Cause]) -> str:
    """Causes that the sender does not sense, by the stations: most failures first."""
    nodes = hidden_nodes(hidden)
    if len(nodes) == 1:
        return f"frames of {nodes[0]}, which {UNSENSED}"
    return f"frames of stations that {UNSENSED}: {listed(nodes, MOST_HIDDEN)}"


def hidden_nodes(causes: Iterable[Cause]) -> list[str]:
    """Stations that the sender does not sense among causes, by the number of failures."""
    counts: dict[str, int] = {}
    for c in causes:
        if c["hidden"]:
            name = c["by"] or "another node"
            counts[name] = counts.get(name, 0) + c["count"]
    return sorted(counts, key=lambda name: -counts[name])


def caveats(explanation: Explanation) -> list[str]:
    """Sentences on what the reasons rest on: who is hidden on a map may be nothing but what the map omits."""
    unlisted = any("radio" in hop and hop["radio"]["unlisted"] for hop in explanation["hops"])
    return [UNLISTED] if unlisted else []


UNLISTED = (
    "The scenario lists what is heard (`[[gain]]`); whatever is not listed is not heard: a station that is "
    "called hidden may be one that the map leaves out."
)


MOST_HIDDEN = 5
"""Most names of hidden stations in a sentence; of more the last one is the number of the others."""
