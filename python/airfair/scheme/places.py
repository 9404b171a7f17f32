"""The places that a scheme may fill from Python. A hook that a class leaves out is not called."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

from .._core import Context
from .facts import (
    Acked,
    AgentSetup,
    Allowance,
    Congestion,
    ControllerSetup,
    Displaced,
    Drop,
    FlowSetup,
    HeardBroadcast,
    Idle,
    Made,
    Mark,
    NativePacket,
    NodeSample,
    Packet,
    QueueView,
    Sent,
    Spurious,
)


class Aqm(ABC):
    """Active queue management of one output interface: decides, stores nothing. Stands beside any queue."""

    @abstractmethod
    def on_enqueue(self, packet: Packet, queue: QueueView, context: Context) -> Drop | Mark | None:
        """A packet arrives; `queue` is without it. None lets it pass."""

    def on_dequeue(self, packet: Packet, queue: QueueView, context: Context) -> Drop | Mark | None:
        """A packet is about to leave; `queue` is with it. After a drop the hook is called for the next
        packet at once."""

    def on_probability(self, direction: Literal["outgoing", "incoming"], probability: float) -> None:
        """The agent of the interface has called `context.set_probability`."""


class Agent(ABC):
    """Code beside a radio of a node: it observes the radio's counters and exchanges messages."""

    @abstractmethod
    def on_start(self, setup: AgentSetup, context: Context) -> None:
        """The interface starts. `context.set_timer` and `context.send` are its effects, and
        `context.set_probability` for the interface's AQM."""

    def on_neighbours(self, neighbours: tuple[int, ...], context: Context) -> None:
        """Movement has changed the nodes that can lock on to its frames."""

    def on_sample(self, sample: NodeSample, context: Context) -> None:
        """An interval of the counters has ended: `Scheme.sample_interval`."""

    def on_message(self, source: int, data: bytes, to_me: bool, context: Context) -> None:
        """A message of a node arrived, or was overheard (`to_me` is False): `Scheme.overhears`."""

    def on_controller(self, here: bool, context: Context) -> None:
        """A controller has started (`here`) or stopped at the agent's node."""

    def on_timer(self, timer: int, context: Context) -> None:
        """A timer fired that `context.set_timer` had set."""


class Forwarder(Agent):
    """An agent whose node passes packets of flows over UDP on by broadcasts without a next hop.

    It takes packets of its node's own flows, makes broadcasts when the radio may send, and hands the packets
    for its node up: `context.deliver`. The hooks of an agent have an agent's effects.
    """

    def on_delivery_ratios(
        self, nodes: tuple[int, ...], ratios: tuple[tuple[float, ...], ...], context: Context
    ) -> None:
        """How many of its broadcasts each node (rows) brings to each node, 0 to 1: `Scheme.knows_ratios`.

        Called once, after `on_start`.
        """

    @abstractmethod
    def room(self, flow: int, destination: int) -> int:
        """How many packets it takes now of a flow whose source is its node."""

    @abstractmethod
    def on_packet(self, packet: NativePacket, context: Context) -> None:
        """Take a packet of the node's own flow, for which there is room."""

    @abstractmethod
    def on_heard(self, heard: HeardBroadcast, context: Context) -> None:
        """A broadcast of another node's forwarder has arrived."""

    @abstractmethod
    def ready(self, now: int) -> int | None:
        """The level of what it has to send, 0 to `Scheme.levels` - 1; None if it has nothing.

        Asked after each hook, and when the radio is free.
        """

    @abstractmethod
    def make(self, context: Context) -> Made | None:
        """The broadcast that is sent now: the radio has won access. None gives the access up."""


class Controller(ABC):
    """Code at one node of the network, which receives messages and writes to nodes.

    A controller that is started again, or elsewhere, is a new one. Messages may arrive late or never.
    """

    @abstractmethod
    def on_start(self, setup: ControllerSetup, context: Context) -> None:
        """The controller starts. `context.set_timer` and `context.send` are its effects."""

    @abstractmethod
    def on_message(self, source: int, data: bytes, context: Context) -> None:
        """A message for the controller's node arrived."""

    def on_timer(self, timer: int, context: Context) -> None:
        """A timer fired that `context.set_timer` had set."""


class Queue(ABC):
    """The discipline of one output interface: stores and orders packets.

    The simulator counts along: an answer that would lose or double a packet ends the run with `InputError`.
    """

    @abstractmethod
    def enqueue(self, packet: Packet, context: Context) -> Drop | Displaced | None:
        """A packet arrives. None: it is stored (never above the limit); Drop: it is refused."""

    @abstractmethod
    def peek(self, context: Context) -> Packet | None:
        """The next packet to send; None only when nothing is stored. It stays until `commit`.

        `context.drop` and `context.mark` report packets that the discipline itself drops and marks, here
        and in `enqueue`.
        """

    @abstractmethod
    def commit(self) -> Packet:
        """Remove the packet that the last `peek` has returned."""


class Source(ABC):
    """The window law or rate law of one connection. Repairing losses is not its business.

    Order of calls: `on_start` once; then for each acknowledgement `on_congestion` for what it reveals before
    `on_acked` for what it delivers.
    """

    partial_ack: Literal["repairs-next", "ends-recovery"] = "repairs-next"
    """Without SACK: the next hole is sent again (RFC 6582), or fast recovery ends (RFC 5681)."""

    @abstractmethod
    def on_start(self, setup: FlowSetup, context: Context) -> None:
        """The connection is established; data may be sent."""

    def on_sent(self, sent: Sent, context: Context) -> None:
        """A segment was sent."""

    @abstractmethod
    def on_acked(self, acked: Acked, context: Context) -> None:
        """An acknowledgement of something new arrived."""

    @abstractmethod
    def on_congestion(self, congestion: Congestion, context: Context) -> None:
        """Congestion was detected."""

    def on_spurious(self, spurious: Spurious, context: Context) -> None:
        """The last time-out or fast retransmit was spurious (scenarios with `tcp.undo`). Comes before
        `on_congestion` and `on_acked` for the acknowledgement that shows it."""

    def on_recovered(self, in_flight: int, context: Context) -> None:
        """Fast recovery has ended; so many bytes are left in flight."""

    def on_idle(self, idle: Idle, context: Context) -> None:
        """About to send after a silence."""

    def on_timer(self, timer: int, context: Context) -> None:
        """A timer fired that `context.set_timer` had set."""

    @abstractmethod
    def allowance(self, now: int) -> Allowance:
        """The allowance at `now`, ns. Between two hooks it may depend on `now` alone."""

    def ssthresh(self) -> int | None:
        """Slow-start threshold, bytes, for tables; None where the law has none."""
        return None
