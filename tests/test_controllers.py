"""Controllers and agents: in scenarios and results, and written in Python."""

from __future__ import annotations

import struct
from typing import Any

import airfair
import pytest
from airfair import InputError, Scenario
from airfair.scheme import (
    Agent,
    AgentSetup,
    Aqm,
    Context,
    Controller,
    ControllerSetup,
    Drop,
    NodeSample,
    Packet,
    QueueView,
    Scheme,
    register,
    time,
)

SCENE = """
name = "chain"
duration = "10 s"

[radio]
standard = "802.11b"
data_rate = "11 Mbit/s"
propagation = { model = "two-ray" }

[nodes]
kind = "chain"
count = 4
spacing = "400 m"

[[controller]]
node = "3"
start = "1 s"

[[flow]]
id = "f"
from = "0"
to = "3"
traffic = { kind = "constant", rate = "800 kbit/s", packet = "500 B" }
"""


class Meter(Agent):
    """Reports how many packets of flows have arrived at the radio; obeys the share that comes back."""

    def __init__(self, log: list[tuple[Any, ...]]) -> None:
        self.log = log
        self.boss: int | None = None
        self.turn = 0

    def on_start(self, setup: AgentSetup, context: Context) -> None:
        self.node = setup.node
        self.log.append(("agent", len(setup.neighbours), setup.rate))

    def on_controller(self, here: bool, context: Context) -> None:
        self.log.append(("here", here, context.now))
        if here:
            context.set_timer(1, context.now + 1)

    def on_timer(self, timer: int, context: Context) -> None:
        # A flood again and again, by which all learn of the controller.
        self.turn += 1
        context.send(struct.pack("!II", self.node, self.turn) + b"boss", ahead=True)
        context.set_timer(timer, context.now + 301_300_000)

    def on_sample(self, sample: NodeSample, context: Context) -> None:
        arrived = sum(flow.packets for flow in sample.flows)
        waiting = sum(link.waiting for link in sample.links)
        assert waiting <= sample.queue.packets
        assert sum(sample.airtime) == sample.interval
        if self.boss is not None and arrived:
            context.send(struct.pack("!I", arrived), node=self.boss, ahead=True)

    def on_message(self, source: int, data: bytes, to_me: bool, context: Context) -> None:
        if data.endswith(b"boss"):
            boss, turn = struct.unpack("!II", data[:8])
            if turn > self.turn:
                self.boss, self.turn = boss, turn
                context.send(data, ahead=True, rate="lowest", more_db=3.0)
        elif to_me and len(data) == 8:
            (share,) = struct.unpack("!d", data)
            context.set_probability("outgoing", 1 - share)


class Boss(Controller):
    """Answers each report with a share of one half."""

    def __init__(self, log: list[tuple[Any, ...]]) -> None:
        self.log = log

    def on_start(self, setup: ControllerSetup, context: Context) -> None:
        self.log.append(("boss", len(setup.neighbours), context.now))

    def on_message(self, source: int, data: bytes, context: Context) -> None:
        if len(data) == 4:
            self.log.append(("report", struct.unpack("!I", data)[0]))
            context.send(struct.pack("!d", 0.5), node=source)


class Valve(Aqm):
    """Drops the share of packets that its agent says."""

    def __init__(self) -> None:
        self.closed = 0.0

    def on_probability(self, direction: str, probability: float) -> None:
        assert direction == "outgoing"
        self.closed = probability

    def on_enqueue(self, packet: Packet, queue: QueueView, context: Context) -> Drop | None:
        return Drop("valve") if context.random.uniform() < self.closed else None


def shares(log: list[tuple[Any, ...]]) -> type[Scheme]:
    """A scheme whose controller hands out shares."""

    @register
    class Shares(Scheme):
        """hands out shares"""

        name = "shares"
        origin = "a test"
        samples_links = True
        sample_interval = time("500 ms", "interval of reports", low="1 ms", high="10 s")

        def agent(self) -> Agent:
            return Meter(log)

        def controller(self) -> Controller:
            return Boss(log)

        def aqm(self) -> Aqm:
            return Valve()

    return Shares


def test_a_controller_in_python_hands_out_shares() -> None:
    log: list[tuple[Any, ...]] = []
    shares(log)
    scenario = Scenario.parse(SCENE, "chain")
    result = airfair.run(scenario, scheme="shares")
    assert [entry[1] for entry in log if entry[0] == "agent"] == [1, 2, 2, 1]
    assert ("here", True, 1_000_000_000) in log
    assert ("boss", 1, 1_000_000_000) in log
    reports = [entry[1] for entry in log if entry[0] == "report"]
    # Two a second of each of the three senders; at first 100 packets in half a second.
    assert len(reports) > 40
    assert 90 <= reports[0] <= 110
    (controller,) = result["controllers"]
    assert (controller["node"], controller["start_s"], controller["stop_s"]) == ("3", 1.0, None)
    assert controller["received"] == controller["sent"] == len(reports)
    assert controller["sent_bytes"] == 8 * controller["sent"]
    # Three hops let a half pass each, from about a second on.
    assert result["drops"]["valve"] > 800
    assert result["flows"][0]["delivered_packets"] < 1000
    again = airfair.run(scenario, scheme="shares")
    assert {**again, "perf": None} == {**result, "perf": None}


def test_the_key_is_in_the_complete_form_and_without_effect_a_warning() -> None:
    scenario = Scenario.parse(SCENE, "chain")
    assert '[[controller]]\nnode = "3"\nstart = "1 s"' in scenario.resolved
    result = airfair.run(scenario)
    assert "controllers" not in result
    assert "[[controller]] has no effect: scheme droptail has no controller" in result["warnings"]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"data": b""}, "a message without bytes"),
        ({"data": b"1", "node": 1, "neighbour": 2}, "to a node and to a neighbour"),
        ({"data": b"1", "node": 1, "more_db": 3.0}, "expected a broadcast"),
        ({"data": b"1", "rate": "slow"}, 'rate: "slow"; expected "broadcast"'),
        ({"data": b"1", "more_db": float("inf")}, "expected a finite number"),
    ],
)
def test_messages_that_contradict_themselves_are_refused(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Context().send(**given)


def test_a_context_shows_what_was_asked() -> None:
    context = Context(5)
    context.send(b"all")
    context.send(b"one", neighbour=3)
    context.send(b"far", node=4, ahead=True)
    context.set_probability("incoming", 0.25)
    assert context.messages == [
        (None, None, b"all", False),
        (None, 3, b"one", False),
        (4, None, b"far", True),
    ]
    assert context.probabilities == [("incoming", 0.25)]
    with pytest.raises(InputError, match=r"probability: 2; expected 0 to 1"):
        context.set_probability("incoming", 2)
    with pytest.raises(InputError, match=r'direction: "up"'):
        context.set_probability("up", 0.5)


class Mute(Controller):
    """Broadcasts, which no controller can."""

    def on_start(self, setup: ControllerSetup, context: Context) -> None:
        context.send(b"all")

    def on_message(self, source: int, data: bytes, context: Context) -> None:
        pass


class Forger(Aqm):
    """Sends a message, which no AQM can."""

    def on_enqueue(self, packet: Packet, queue: QueueView, context: Context) -> None:
        context.send(b"all")


@pytest.mark.parametrize(
    ("place", "made", "problem"),
    [
        ("controller", Mute, "a message of a controller: expected its node"),
        ("aqm", Forger, "Context.send goes with an Agent, a Forwarder or a Controller, not with an Aqm"),
    ],
)
def test_effects_of_other_places_end_the_run(place: str, made: type, problem: str) -> None:
    members = {"__doc__": "fails", "name": "fails", "origin": "a test", place: lambda _: made()}
    register(type("Fails", (Scheme,), members))
    with pytest.raises(Exception, match=problem):
        airfair.run(Scenario.parse(SCENE, "chain"), scheme="fails")
