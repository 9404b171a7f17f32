"""The part of a scene's optimum that constant rates can carry."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .._core import Scenario, Stop

ENOUGH = 0.97
"""Share that has to arrive of what arrives of a light load."""

STEP = 0.05
"""Parts of the optimum that are tried: multiples of this, up to 1."""

LIGHT = 0.2
"""The part of the optimum that is a light load: what is lost of this, links lose, not crowds."""

SEEDS = (1, 2, 3)
"""Seeds of each part; the mean of the shares counts."""

GAP_JITTER = 0.2
"""How far a gap between two packets may be from its mean. Strictly periodic hidden senders can fall into
step; gaps drawn as for a Poisson process would make a slow flow offer several per cent more or less."""


class Arrives(NamedTuple):
    """Shares that arrive of what flows offer."""

    flows: dict[str, float]
    """By flow."""
    total: float
    """Of all flows together."""


class Carried(NamedTuple):
    """The part of the optimum that constant rates can carry, and the shares that arrive of each part that was
    tried."""

    part: float
    """The largest part of which enough arrives; 0 if none."""
    arrives: dict[float, Arrives]
    """Shares by part."""


def carried(
    scenario: Scenario,
    max_min_bps: Mapping[str, float],
    *,
    seeds: Sequence[int] = SEEDS,
    stop: Stop | None = None,
) -> Carried:
    """The largest part of the max-min rates that perfect constant rates deliver.

    Every flow with a max-min rate sends `part` of it over UDP, from the start to the end of the scenario's
    run, in packets as long on the air as its own; nothing repairs a loss but the MAC. Beside a flow over TCP
    its destination sends acknowledgements at the rate of TCP's, a packet for as many segments as
    `tcp.delayed_ack` has. Flows without a max-min rate (they send files, or have no route) keep their
    traffic. All queues are those of drop-tail.

    A part is carried if of every flow the share that arrives, in the mean over the seeds, is at least
    `ENOUGH` of the share that arrives of the part `LIGHT`: over links with losses the MAC gives up a packet
    now and then, however little is sent, and TCP sends it again. The result is the largest multiple of `STEP`
    up to 1 that is carried, tried from 1 downwards: a smaller part that is not carried does not hide a larger
    one that is. A scheme that gives each flow its rate can have this much of the optimum. What remains is an
    error of the model of `airfair optimum`, or needs senders that take turns.
    """
    light = _arrives(scenario, max_min_bps, LIGHT, seeds, stop)
    tried = {LIGHT: light}
    steps = round(1 / STEP)
    for step in range(steps, 0, -1):
        part = step / steps
        if part not in tried:
            tried[part] = _arrives(scenario, max_min_bps, part, seeds, stop)
        if all(share >= ENOUGH * min(1.0, light.flows[flow]) for flow, share in tried[part].flows.items()):
            return Carried(part, tried)
    return Carried(0.0, tried)


def _arrives(
    scenario: Scenario, max_min_bps: Mapping[str, float], part: float, seeds: Sequence[int], stop: Stop | None
) -> Arrives:
    """The shares that arrive of a part, in the mean over the seeds."""
    document = _document(scenario)
    sizes = {flow["id"]: _sizes(document, flow) for flow in document["flow"] if flow["id"] in max_min_bps}
    constant = at_part(scenario, max_min_bps, part)
    goodputs = dict.fromkeys(max_min_bps, 0.0)
    for seed in seeds:
        for flow in json.loads(constant.run("droptail", seed, stop))["flows"]:
            if flow["id"] in goodputs:
                of = sizes[flow["id"]]
                goodputs[flow["id"]] += flow["goodput_bps"] * of.payload / of.packet / len(seeds)
    shares = {flow: goodput / (part * max_min_bps[flow]) for flow, goodput in goodputs.items()}
    return Arrives(shares, sum(goodputs.values()) / (part * sum(max_min_bps.values())))


class Sizes(NamedTuple):
    """Payloads of a flow's packets over UDP, bytes, so that IP packets are as long as TCP's."""

    packet: int
    """A packet of data."""
    payload: int
    """Payload of a segment, which it stands for."""
    acknowledgement: int | None
    """An acknowledgement; None beside a flow over UDP."""
    segments: int
    """Segments for each acknowledgement."""


def at_part(scenario: Scenario, max_min_bps: Mapping[str, float], part: float) -> Scenario:
    """The scenario with this part of the max-min rates as constant rates, and with their acknowledgements."""
    document = _document(scenario)
    acknowledgements: list[dict[str, Any]] = []
    for flow in document["flow"]:
        rate = max_min_bps.get(flow["id"])
        if rate is None:
            continue
        sizes = _sizes(document, flow)
        for key in ("scheme", "start_jitter", "tcp"):
            flow.pop(key, None)
        packets = part * rate / 8 / sizes.payload
        flow |= {"transport": "udp", "start": "0 s", "stop": "end"}
        flow["traffic"] = _constant(sizes.packet, packets)
        if sizes.acknowledgement is not None:
            back = {"id": f"{flow['id']}, acknowledgements", "from": flow["to"], "to": flow["from"]}
            traffic = _constant(sizes.acknowledgement, packets / sizes.segments)
            acknowledgements.append(flow | back | {"traffic": traffic})
    document["flow"] += acknowledgements
    return Scenario.from_dict(document)


def _document(scenario: Scenario) -> dict[str, Any]:
    """The scenario with every default filled in."""
    return Scenario.parse(scenario.resolved).to_dict()


def _constant(packet: int, packets_per_s: float) -> dict[str, Any]:
    rate = max(1, round(8 * packet * packets_per_s))
    return {"kind": "constant", "packet": f"{packet} B", "rate": f"{rate} bit/s", "gap_jitter": GAP_JITTER}


def _sizes(document: Mapping[str, Any], flow: Mapping[str, Any]) -> Sizes:
    if not flow["transport"].startswith("tcp"):
        packet = _bytes(flow["traffic"]["packet"])
        return Sizes(packet, packet, None, 1)
    rules = document["tcp"] | flow.get("tcp", {})
    headers = document["headers"]
    real = headers["tcp"] == "real"
    options = 12 if real and rules["timestamps"] else 0
    # The maximum segment size includes the options of a segment.
    segment = _bytes(rules["mss"])
    header = (20 if real else _bytes(headers["tcp"])) - _bytes(headers["udp"])
    delayed = rules["delayed_ack"]
    return Sizes(
        packet=segment + header,
        payload=segment - options,
        acknowledgement=max(1, header + options),
        segments=delayed["segments"] if isinstance(delayed, Mapping) else 1,
    )


def _bytes(text: str) -> int:
    """A size of a resolved scenario, such as "1460 B"."""
    return int(text.removesuffix(" B"))
