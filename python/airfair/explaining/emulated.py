"""Words about a flow between real stacks, from the counters of the recorded emulation: the air is the
simulator's, the window is the kernel's, so its time is explained at each hop and not packet by packet."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, TypedDict, cast

from .. import experiment
from .._core import InputError
from ..emulating.page import carrying
from ..emulating.verdict import lines as verdict
from ..quantities import plural, rate
from ..results import FlowResult, QueueResult, StationResult
from .result import ExplainedFlow, explained
from .words import listed, percent

if TYPE_CHECKING:
    from ..recording import Recording

STARVED, BEHIND = 0.1, 0.7
"""Shares of the mean goodput of the flows, below which a flow is close to starving, and behind."""

MOST_HOLDERS = 4
"""Nodes that are named as those which keep a sender waiting."""


class EmulatedHop(TypedDict):
    """A hop of a flow between stacks, by the counters of its sender over the whole run."""

    src: str
    """Sender."""
    dst: str
    """Receiver."""
    airtime: dict[str, float] | None
    """Shares of the sender's time in each radio state: transmit, receive, busy, nav, idle; None on a wire."""
    attempts: int
    """Exchanges that the sender has begun, by RTS or by a data frame. Of all its flows."""
    missed: int
    """Of those, exchanges that failed: an RTS or a data frame was not answered."""
    given_up: int
    """Packets given up by the sender."""
    mean_packets: float
    """Packets in the sender's queue in the mean."""
    mean_wait_s: float | None
    """Mean time in the queue."""
    holders: dict[str, float]
    """Nodes that the sender senses, by the share of time in which they send; most first."""


class EmulatedFlow(ExplainedFlow):
    """An explanation of the goodput of a flow between real stacks."""

    goodput_bps: float
    """Goodput, bits per second."""
    mean_goodput_bps: float
    """Mean goodput of the flows that carry data."""
    offered_bytes: int | None
    """Bytes that its stack had to send: what a source of datagrams has sent, and of TCP what has arrived of a
    transfer that was closed early; otherwise None."""
    delivered_bytes: int
    """Bytes that have arrived."""
    sent_packets: int
    """Packets with data that the source's stack has sent after the warm-up."""
    retransmissions: int
    """Of those, repetitions."""
    dropped_packets: int
    """Packets with data that were lost after the warm-up, on whichever hop."""
    warmup_s: float
    """Length of the warm-up, seconds."""
    wall_s: float
    """Length of the run, seconds."""
    longest_silence_s: float | None
    """Longest time between its first and last intervals in which nothing arrived; None for a flow of which
    nothing has arrived."""
    hops: list[EmulatedHop]
    """Hops of its route; empty where a program finds routes, or where there is none."""
    own_routing: bool
    """True if programs in the nodes find the routes."""
    drops: dict[str, int]
    """Packets of all flows that were lost in the scenario, by reason."""
    verdict: str
    """The verdict on the run."""


def chosen(recording: Recording, flow: str | None) -> FlowResult:
    """The flow of this name; without one that with the least goodput of those that did not get all that they
    had to send, if there are any. Raises `InputError`."""
    known = {one["id"] for one in recording.result["emulation"]["flows"]}
    every = [one for one in recording.result["flows"] if one["id"] in known]
    flows = [one for one in every if flow in (None, one["id"])]
    if flows:
        flows = [one for one in flows if not _is_content(one)] or flows
        return min(flows, key=lambda one: (one["goodput_bps"], one["id"]))
    if flow is None:
        raise InputError("nothing to explain: no flow of the stacks has carried data")
    names = ", ".join(one["id"] for one in every[:5])
    names += f" and {len(every) - 5} more" if len(every) > 5 else ""
    raise InputError(f'--flow "{flow}": no such flow of the stacks; expected one of {names or "none"}')


def _is_content(flow: FlowResult) -> bool:
    """True of a flow all of whose data have arrived."""
    return flow["offered_bytes"] is not None and flow["delivered_bytes"] >= flow["offered_bytes"]


def facts(recording: Recording, flow: FlowResult) -> EmulatedFlow:
    """The explanation of a flow between stacks."""
    result = recording.result
    goodputs = [one["goodput_bps"] for one in result["flows"]]
    return {
        **explained(result, flow),
        "goodput_bps": flow["goodput_bps"],
        "mean_goodput_bps": sum(goodputs) / len(goodputs),
        "offered_bytes": flow["offered_bytes"],
        "delivered_bytes": flow["delivered_bytes"],
        "sent_packets": flow["sent_packets"],
        "retransmissions": flow["retransmissions"],
        "dropped_packets": flow["dropped_packets"],
        "warmup_s": result["warmup_s"],
        "wall_s": result["emulation"]["wall_s"],
        "longest_silence_s": _silence(recording, flow["id"]),
        "hops": [] if result["emulation"]["own_routing"] else _hops(recording, flow),
        "own_routing": result["emulation"]["own_routing"],
        "drops": result["drops"],
        "verdict": verdict(result["emulation"])[0],
    }


def _silence(recording: Recording, flow: str) -> float | None:
    series = recording.pandas("flow_series")
    rows = series[series["flow"] == flow]
    arrived = rows["delivered_bytes"].to_numpy() > 0
    if not arrived.any():
        return None
    ends = rows["end_s"].to_numpy()
    times = ends[arrived]
    # Between the ends of two intervals with arrivals lie the silent ones and the second of both.
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    return max(0.0, max(gaps, default=0.0) - (ends[1] - ends[0] if len(ends) > 1 else 0.0))


def _hops(recording: Recording, flow: FlowResult) -> list[EmulatedHop]:
    result = recording.result
    network = experiment.network(carrying(recording.scenario, [flow]), seed=result["seed"])
    path = network["flows"][0]["path"] or []
    stations = result["stations"]
    sensed: dict[str, set[str]] = {}
    used: dict[tuple[str, str], str] = {}
    for pair in network["pairs"]:
        sender, hearer = network["radios"][pair["sender"]], network["radios"][pair["hearer"]]
        sensed.setdefault(hearer["node"], set()).add(sender["node"])
        if pair["receives"]:
            used.setdefault((sender["node"], hearer["node"]), sender["radio"])
    sends = {
        node: max(_share(of, "transmit") for of in stations if of["node"] == node)
        for node in {of["node"] for of in stations}
    }
    hops = []
    for src, dst in itertools.pairwise(path):
        # A wire's queue names its far end, that of a radio the radio.
        radio = used.get((src, dst))
        queues = {(of["towards"], of["wired"]): of for of in result["queues"] if of["node"] == src}
        station = next((of for of in stations if (of["node"], of["radio"]) == (src, radio)), None)
        if (dst, True) in queues:
            hops.append(_hop(src, dst, queues[dst, True], None, {}))
        elif station is not None and (queue := queues.get((station["radio"], False))) is not None:
            near = {node: sends[node] for node in sensed.get(src, ()) if node != dst and sends.get(node)}
            most = dict(sorted(near.items(), key=lambda each: (-each[1], each[0]))[:MOST_HOLDERS])
            hops.append(_hop(src, dst, queue, station, most))
    return hops


def _hop(
    src: str, dst: str, queue: QueueResult, station: StationResult | None, holders: dict[str, float]
) -> EmulatedHop:
    sent = {} if station is None else station["sent"]
    return {
        "src": src,
        "dst": dst,
        "airtime": None if station is None else {of: _share(station, of) for of in station["airtime_ns"]},
        # A data frame after a CTS belongs to the exchange of its RTS.
        "attempts": 0 if station is None else sent["RTS"] + sent["DATA"] - station["received"]["CTS"],
        "missed": 0 if station is None else station["no_cts"] + station["no_ack"],
        "given_up": 0 if station is None else station["given_up"],
        "mean_packets": queue["mean_packets"],
        "mean_wait_s": queue["mean_wait_s"],
        "holders": holders,
    }


def _share(station: StationResult, state: str) -> float:
    times = cast(dict[str, int], station["airtime_ns"])
    return times[state] / max(sum(times.values()), 1)


def words(told: EmulatedFlow) -> list[str]:
    """The explanation in words, a text a line."""
    goodput, mean = told["goodput_bps"], told["mean_goodput_bps"]
    share = goodput / mean if mean else 0.0
    standing = "is close to starving" if share < STARVED else "is behind" if share < BEHIND else "does well"
    begin = f"Flow {told['flow']} {standing}"
    if told["offered_bytes"] is not None and told["delivered_bytes"] >= told["offered_bytes"]:
        begin = f"All data of flow {told['flow']} have arrived"
    found = [f"{begin}: {rate(goodput)}, {percent(share)} of the mean of the flows."]
    for hop in told["hops"]:
        found += _of_hop(hop)
    if not told["hops"]:
        why = "a program finds its route" if told["own_routing"] else "the scenario has no route for it"
        found.append(f"- Its hops are not known: {why}.")
    sent, again, lost = told["sent_packets"], told["retransmissions"], told["dropped_packets"]
    if sent:
        reasons = [
            f"{count} {reason}" for reason, count in sorted(told["drops"].items(), key=lambda of: -of[1])
        ]
        drops = f" Lost packets of all flows in the run: {listed(reasons)}." if reasons else ""
        found.append(
            f"- Its stack sent {sent} {plural(sent, 'packet')} with data, {percent(again / sent)} of them "
            f"again; "
            f"{lost} were lost on the way.{drops}"
        )
    silence = told["longest_silence_s"]
    if told["warmup_s"] >= told["wall_s"]:
        found.append(
            f"- The run ended before the warm-up, {told['warmup_s']:g} s: nothing of it is measured."
        )
    elif silence is None:
        found.append("- Nothing of it arrived.")
    elif silence > 0:
        found.append(
            f"- For up to {silence:.1f} s nothing of it arrived. (A capture tells if its stack sent "
            "anything meanwhile: --pcap.)"
        )
    found.append(f"The run {told['verdict']}.")
    return found


def _of_hop(hop: EmulatedHop) -> list[str]:
    way = f"{hop['src']} (to {hop['dst']})"
    wait = "" if hop["mean_wait_s"] is None else f" for {1e3 * hop['mean_wait_s']:.0f} ms each"
    queue = f"{hop['mean_packets']:.1f} packets wait there in the mean{wait}"
    times = hop["airtime"]
    if times is None:
        return [f"- {way} sends by wire; {queue}."]
    taken = times["receive"] + times["busy"] + times["nav"]
    found = (
        f"- {way} sends {percent(times['transmit'])} of the time and must not for {percent(taken)}; {queue}."
    )
    if hop["holders"]:
        senders = listed(f"{node} sends {percent(part)}" for node, part in hop["holders"].items())
        found += f" Of those that it senses {senders} of the time."
    lines = [found]
    if hop["missed"]:
        gave_up = f", and {hop['given_up']} packets were given up" if hop["given_up"] else ""
        lines.append(
            f"- {hop['missed']} of {hop['attempts']} attempts of {hop['src']} get no answer "
            f"({percent(hop['missed'] / max(hop['attempts'], 1))}){gave_up}."
        )
    return lines
