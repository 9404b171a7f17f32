"""Words about a flow that forwarders carry by broadcasts (MORE, ExOR). It has no path, so its time cannot be
explained hop by hop; what forwarders have sent for it can be told."""

from __future__ import annotations

from collections import Counter

from ..quantities import rate
from ..results import FlowResult, Forwarding, RunResult
from ..tables import per_packet
from .result import ExplainedFlow, explained
from .words import listed, percent

MUCH_LATE = 0.2
"""From this share of late broadcasts on they are worth advice."""


def chosen(result: RunResult, flow: str | None) -> FlowResult | None:
    """The flow of this name, if forwarders carry it; without a name the one with the least goodput."""
    carried = [one for one in result["flows"] if "forwarding" in one and flow in (None, one["id"])]
    return min(carried, key=lambda one: (one["goodput_bps"], one["id"]), default=None)


class ForwardedFlow(ExplainedFlow):
    """An explanation of the goodput of a flow that forwarders carry."""

    goodput_bps: float
    """Goodput of the flow, bits per second."""
    delivered_packets: int
    """Packets that the destination has."""
    forwarding: Forwarding
    """Transmissions of forwarders for the flow."""
    broadcasts_by_node: dict[str, int]
    """Broadcast frames of each node in the whole run, most first: of all flows, probes and routing as well.
    Nodes that sent none are left out."""
    channel_utilisation: dict[str, float]
    """Share of the time in which the medium was busy at both ends, 0 to 1, by node."""
    warnings: list[str]
    """Warnings of the run."""


def facts(result: RunResult, flow: FlowResult) -> ForwardedFlow:
    """The explanation of a flow that forwarders carry, from the result of a run."""
    sent: Counter[str] = Counter()
    for station in result["stations"]:  # a node may have several radios
        sent[station["node"]] += station["sent"]["BROADCAST"]
    most_first = sorted(sent.items(), key=lambda each: (-each[1], each[0]))
    return {
        **explained(result, flow),
        "goodput_bps": flow["goodput_bps"],
        "delivered_packets": flow["delivered_packets"],
        "forwarding": flow["forwarding"],
        "broadcasts_by_node": {node: count for node, count in most_first if count},
        "channel_utilisation": {
            end: result["channel_utilisation"][end] for end in (flow["src"], flow["dst"])
        },
        "warnings": result["warnings"],
    }


def words(result: RunResult, flow: FlowResult) -> list[str]:
    """Transmissions of forwarders for a flow, their senders, and where to look: a text a line."""
    of = flow["forwarding"]
    every = of["broadcasts"] + of["late"]
    src, dst = flow["src"], flow["dst"]
    gets = f"Flow {flow['id']} ({src} to {dst}) gets {rate(flow['goodput_bps'])}."
    lines = [
        f"{gets} Broadcasts of forwarders carry it, so it has no path that could be explained hop by hop."
    ]
    if not every:
        return [*lines, "- Nothing was sent for it."]
    whole = "1 batch" if of["batches"] == 1 else f"{of['batches']} batches"
    until = f"all nodes together sent {per_packet(flow) or 0:.2f} broadcasts for each"
    if of["innovative"]:
        until += f" one that brought {dst} something new."
        lines.append(f"- {whole} became whole at {dst}. Until then {until}")
    elif flow["delivered_packets"]:
        lines.append(f"- Its forwarder tells nothing of what nodes hold: {until} delivered packet.")
    else:
        lines.append(
            f"- {of['broadcasts']} broadcasts were sent for it, and none brought {dst} anything new."
        )
    late = of["late"] / every
    if of["late"]:
        lines.append(
            f"- {percent(late)} of the {every} broadcasts were late: {dst} had the batch, and the senders "
            "did not know yet."
        )
    told = facts(result, flow)
    sent = told["broadcasts_by_node"]
    shares = [f"{node} {percent(count / sum(sent.values()))}" for node, count in sent.items()]
    busy = told["channel_utilisation"]
    lines.append(
        f"- Senders of all broadcasts in the run, probes and routing included: {listed(shares, 5)}. "
        f"The medium was busy "
        f"{percent(busy[src])} of the time at {src}, {percent(busy[dst])} at {dst}."
    )
    scheme = result["scheme"]
    if late >= MUCH_LATE and "more" in scheme:
        lines.append(
            f"- Each batch is late once: with larger ones (--set {scheme}.batch=128) that is a smaller part."
        )
    if not of["batches"] and sum("forwarding" in one for one in result["flows"]) > 1:
        lines.append(
            "- No batch became whole. A source of MORE that always sends leaves its forwarders little air: "
            "compare with exor, which takes turns, and with routes (droptail)."
        )
    return lines


COMMANDS = """What to look at: its batches, frame by frame and in a picture
    airfair trace FILE --scheme {scheme} --node {dst} --until "1 s"
    airfair run FILE --scheme {scheme} --trace --out FOLDER
    airfair plot FOLDER --kind batches --flow {flow} -o batches.svg"""


def commands(result: RunResult, flow: FlowResult) -> str:
    """How to follow its batches, or its frames if its forwarder tells of no batches."""
    if not flow["forwarding"]["innovative"] and flow["delivered_packets"]:
        first, trace, *_ = COMMANDS.splitlines()
        return f"{first.split(':')[0]}: its frames\n{trace}".format(scheme=result["scheme"], dst=flow["dst"])
    return COMMANDS.format(scheme=result["scheme"], dst=flow["dst"], flow=flow["id"])
