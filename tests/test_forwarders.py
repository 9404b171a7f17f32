"""Forwarders written in Python: packets of flows go by broadcasts."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, ClassVar

import airfair
import pytest
from airfair import InputError, Scenario, SchemeError
from airfair.scheme import (
    Agent,
    AgentSetup,
    Context,
    Forwarder,
    HeardBroadcast,
    Made,
    NativePacket,
    Scheme,
    register,
)

from examples.schemes.flood import Flood, FloodScheme
from tests.test_c3l import line


def scheme(part: Callable[[], Forwarder], **settings: object) -> str:
    """Register a scheme with this forwarder; its name."""

    class Floods(Scheme):
        """every node sends every packet once"""

        name = "test-flood"
        origin = "a test"

        def forwarder(self) -> Forwarder:
            return part()

    for key, value in settings.items():
        setattr(Floods, key, value)
    register(Floods)
    return Floods.name


def three(*sets: str) -> Scenario:
    """Three nodes on a line of which each reaches the next; a flow from the first to the last."""
    text = line(0, 200, 400, flows=(("1", "3"),)).replace('scheme = "c3l"', "")
    text = text.replace('kind = "saturating"', 'kind = "constant", rate = "100 kbit/s"')
    return Scenario.parse(text, "three", ["duration=20 s", "warmup=0 s", *sets])


def test_flooding_delivers_packets() -> None:
    result = airfair.run(three(), scheme=FloodScheme.name)
    (flow,) = result["flows"]
    # 12.5 packets of 1000 B a second. Some are on their way in the end, or met others on the air.
    assert 240 <= flow["delivered_packets"] <= flow["sent_packets"] <= 251
    sent = [sum(station["sent"].values()) for station in result["stations"]]
    assert sent[0] == flow["sent_packets"]
    assert sent[0] - 5 <= sent[1] <= sent[0]
    assert sent[2] == 0
    assert flow["forwarding"]["broadcasts"] == sum(sent)
    assert result["ends"]["forwarded"] == flow["sent_packets"] - flow["delivered_packets"]
    again = airfair.run(three(), scheme=FloodScheme.name)
    assert all(result[key] == again[key] for key in ("flows", "stations", "ends"))


def test_flows_that_a_forwarder_does_not_carry_go_by_routes() -> None:
    result = airfair.run(three("flow.F1.transport=tcp"), scheme=scheme(Flood))
    (flow,) = result["flows"]
    assert "forwarding" not in flow
    assert flow["delivered_packets"] > 100


@pytest.mark.parametrize("name", ["more", "exor", FloodScheme.name])
def test_nodes_without_a_forwarder_send_by_routes(name: str) -> None:
    """A node that has another scheme than the run's: its packets, and those for it, go by routes."""
    for node in ("1", "2", "3"):
        result = airfair.run(three(f"node.{node}.scheme=droptail"), scheme=name)
        (flow,) = result["flows"]
        assert ("forwarding" in flow) == (node == "2")
        ends = dict[str, Any](result["ends"])
        inside = ("delivered", "queued", "in_mac", "on_wire", "awaiting_arp", "forwarded")
        assert sum(ends[key] for key in inside) + sum(ends["dropped"].values()) == ends["made"]
        if node != "2":
            assert 200 <= flow["delivered_packets"] <= flow["sent_packets"] <= 251


class Counts(Flood):
    """Is told of the network, counts what it hears, and sends at a level of its own."""

    told: ClassVar[list[tuple[tuple[int, ...], tuple[tuple[float, ...], ...]]]] = []

    def on_delivery_ratios(
        self, nodes: tuple[int, ...], ratios: tuple[tuple[float, ...], ...], context: Context
    ) -> None:
        self.told.append((nodes, ratios))

    def on_heard(self, heard: HeardBroadcast, context: Context) -> None:
        flow, number, destination = struct.unpack("!III", heard.header)
        super().on_heard(heard, context)
        if destination == self.node:
            context.hold(flow, number // 10, number % 10 + 1, 10)
            if number % 10 == 9:
                context.count_whole(flow, number // 10)

    def ready(self, now: int) -> int | None:
        return 3 if self.waiting else None


def test_what_a_forwarder_is_told_and_tells() -> None:
    Counts.told.clear()
    result = airfair.run(three("radio.categories=edca"), scheme=scheme(Counts, knows_ratios=True, levels=4))
    (flow,) = result["flows"]
    assert flow["delivered_packets"] > 240
    assert flow["forwarding"]["innovative"] == flow["delivered_packets"]
    assert flow["forwarding"]["batches"] >= 20
    assert len(Counts.told) == 3
    nodes, ratios = Counts.told[0]
    assert len(nodes) == 3
    assert ratios[0][1] == ratios[2][1] == 1.0
    assert ratios[0][0] == ratios[0][2] == 0.0
    assert Counts.told[1:] == Counts.told[:2]


class Routes(Flood):
    """The source hands everything to ordinary routing."""

    def on_packet(self, packet: NativePacket, context: Context) -> None:
        context.route(packet.flow, packet.number)


def test_a_forwarder_passes_packets_to_ordinary_routing() -> None:
    result = airfair.run(three(), scheme=scheme(Routes))
    (flow,) = result["flows"]
    assert flow["delivered_packets"] >= 240
    assert flow["forwarding"]["broadcasts"] == 0


class Idle(Flood):
    """Gives every access up."""

    def make(self, context: Context) -> Made | None:
        return None


def test_an_access_may_be_given_up() -> None:
    result = airfair.run(three(), scheme=scheme(Idle))
    assert result["flows"][0]["delivered_packets"] == 0
    assert sum(result["stations"][0]["sent"].values()) == 0


def answering(hook: str, answer: object) -> Callable[[], Forwarder]:
    """A forwarder of which a hook has this answer."""

    def answers(*_: object) -> object:
        return answer

    return type("Answers", (Flood,), {hook: answers})


class Misplaced(Flood):
    """Hands a packet up where an agent acts."""

    def on_start(self, setup: AgentSetup, context: Context) -> None:
        super().on_start(setup, context)
        context.deliver(0, 0)


class Fails(Flood):
    """Raises in the middle of a run."""

    def on_heard(self, heard: HeardBroadcast, context: Context) -> None:
        raise ValueError("heard something")


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (answering("room", -1), r"test_forwarders.py:\d+: scheme test-flood: Forwarder.room returned -1"),
        (answering("room", None), "Forwarder.room returned None"),
        (answering("ready", 1), "ready returned 1; expected None or a level below Scheme.levels, 1"),
        (answering("ready", True), "Forwarder.ready returned True"),
        (answering("make", b"1"), "Forwarder.make returned b'1'; expected None or Made"),
        (answering("make", Made(0, b"")), r"Forwarder.make returned Made\(flow=0, header=b''"),
        (answering("make", Made(0, b"1", 65_535)), "at most 65535 bytes"),
        (answering("make", Made(0, b"1", -1)), "Forwarder.make returned"),
        (answering("make", Made(0, b"1", batch=2**32)), "Forwarder.make returned"),
    ],
)
def test_an_answer_that_no_hook_may_give_is_refused(part: Callable[[], Forwarder], message: str) -> None:
    with pytest.raises(InputError, match=message):
        airfair.run(three(), scheme=scheme(part))


def test_an_effect_that_the_place_does_not_have_is_refused() -> None:
    message = "Context.deliver goes with a Forwarder, not with an Agent"
    with pytest.raises(SchemeError, match=message):
        airfair.run(three(), scheme=scheme(Misplaced))


def test_an_exception_ends_the_run() -> None:
    with pytest.raises(ValueError, match="heard something") as raised:
        airfair.run(three(), scheme=scheme(Fails))
    assert "in scheme test-flood, at 0." in raised.value.__notes__[0]


def mistaken(
    effect: Callable[[Context, int], None], hook: str = "on_heard", at_end: bool = False
) -> type[Flood]:
    """A forwarder that asks for an effect in a hook, given its number of the flow; when it hears something at
    the end of the flow, or at the relay."""

    class Mistaken(Flood):
        flow = 0

        def on_packet(self, packet: NativePacket, context: Context) -> None:
            super().on_packet(packet, context)
            if hook == "on_packet":
                effect(context, packet.flow)

        def on_heard(self, heard: HeardBroadcast, context: Context) -> None:
            super().on_heard(heard, context)
            flow, _, destination = struct.unpack("!III", heard.header)
            if hook == "on_heard" and at_end == (self.node == destination):
                effect(context, flow)

        def make(self, context: Context) -> Made | None:
            if hook == "make":
                effect(context, 77)
            return super().make(context)

    return Mistaken


# The flow goes from node 1 over node 2 to node 3.
@pytest.mark.parametrize(
    ("part", "told"),
    [
        (
            mistaken(lambda c, _: c.deliver(77, 0), at_end=True),
            r"forwarder of node 3: Forwarder\.on_heard has called Context\.deliver\(flow 77, number 0\):",
        ),
        (
            mistaken(lambda c, flow: c.deliver(flow, 4_000_000), at_end=True),
            r"deliver\(flow \d+, number 4000000\): the flow has no such packet; expected a number",
        ),
        (
            mistaken(lambda c, flow: c.deliver(flow, 0)),
            r"forwarder of node 2: .* the flow ends at another node; expected one that ends here",
        ),
        (mistaken(lambda c, _: c.deliver(77, 0), "on_packet"), r"node 1: Forwarder\.on_packet has called"),
        (
            mistaken(lambda c, flow: c.hold(flow, 0, 1, 1), "make"),
            r"Forwarder\.make has called Context\.hold",
        ),
        (mistaken(lambda c, _: c.hold(77, 0, 1, 1)), "hold for flow 77: there is no such flow"),
        (
            mistaken(lambda c, _: c.count_whole(77, 0)),
            r"count_whole\(flow 77, batch 0\): there is no",
        ),
        (mistaken(lambda c, flow: c.count_whole(flow, 0)), "the flow ends at another node"),
        (
            mistaken(lambda c, _: c.route(77, 0)),
            r"route\(flow 77, number 0\): there is no such flow",
        ),
        (mistaken(lambda c, flow: c.route(flow, 9_999)), "the flow has no such packet"),
        (mistaken(lambda c, flow: c.route(flow, 0), at_end=True), "ends here; expected one that goes on"),
    ],
)
def test_effects_on_what_does_not_exist_are_mistakes(part: Callable[[], Forwarder], told: str) -> None:
    with pytest.raises(SchemeError, match=told):
        airfair.run(three(), scheme=scheme(part))


def test_no_batch_is_held_beyond_its_size() -> None:
    part = mistaken(lambda c, flow: c.hold(flow, 0, 11, 10))
    with pytest.raises(InputError, match="packets: 11; expected at most those of the batch, 10"):
        airfair.run(three(), scheme=scheme(part))


def test_a_packet_may_be_handed_up_again() -> None:
    """As a broadcast may bring again what has been handed up."""

    class Again(Flood):
        def on_heard(self, heard: HeardBroadcast, context: Context) -> None:
            super().on_heard(heard, context)
            flow, number, destination = struct.unpack("!III", heard.header)
            if destination == self.node:
                context.deliver(flow, 0)
                context.deliver(flow, number)

    result = airfair.run(three(), scheme=scheme(Again))
    assert result["flows"] == airfair.run(three(), scheme=FloodScheme.name)["flows"]


def test_mistakes_of_a_scheme_are_said_when_it_is_registered() -> None:
    class Both(Scheme):
        """two agents"""

        name = "test-both"
        origin = "a test"

        def agent(self) -> Agent:
            return Flood()

        def forwarder(self) -> Forwarder:
            return Flood()

    with pytest.raises(InputError, match="a forwarder is its radio's agent, too"):
        register(Both)
    with pytest.raises(InputError, match=r"Scheme\.levels: 9; expected a whole number, 1 to 8"):
        airfair.run(three(), scheme=scheme(Flood, levels=9))


def test_hooks_are_tested_without_a_run() -> None:
    node, context = Flood(), Context()
    node.on_start(AgentSetup(7, 2_000_000), context)
    assert node.room(1, 9) == 50
    assert node.ready(0) is None
    node.on_packet(NativePacket(1, 9), context)
    assert node.make(context) == Made(1, struct.pack("!III", 1, 0, 9), 1000)
    node.on_heard(HeardBroadcast(3, struct.pack("!III", 2, 5, 7), 500), context)
    context.count_whole(2, 0)
    context.hold(2, 0, 1, 8)
    context.route(1, 0)
    assert (context.delivered, context.routed) == ([(2, 5)], [(1, 0)])
    assert (context.holds, context.whole) == ([(2, 0, 1, 8)], [(2, 0)])
