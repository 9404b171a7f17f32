"""Arguments and return values of hooks: the structures of `crates/schemes/places`, field by field.

Times are whole nanoseconds, sizes bytes, rates bit/s. The simulator makes them; tests may, too.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Cause = Literal["fast-loss", "timeout", "mark", "link-drop"]
"""The cause of a congestion event: loss found by acknowledgements, the retransmission timer, an echoed
mark, a packet that the own link layer gave up."""


class Packet(NamedTuple):
    """A packet as a queue sees it."""

    id: int
    """The simulator's handle: stored and handed back, nothing more. What follows from its value follows from
    packets elsewhere, too."""
    flow: int = 0
    """A number made of the flow's name; each connection of a flow that sends files has one of its own."""
    destination: int = 0
    """The node where it ends: a number made of its name."""
    next_hop: int = 0
    bytes: int = 1500
    """Size of the IP packet."""
    kind: Literal["data", "ack", "control"] = "data"
    ecn: Literal["not-ect", "ect", "ce"] = "not-ect"
    """True if it may be marked, or is (RFC 3168)."""
    enqueued: int = 0
    """When it reached the queue, ns."""


class QueueView(NamedTuple):
    """The occupancy of a queue."""

    packets: int
    bytes: int
    limit_packets: int


class AgentSetup(NamedTuple):
    """The setup of an agent when its interface starts."""

    node: int
    """The node of the interface: a number made of its name."""
    rate: int
    """Nominal rate of the radio's data frames, bit/s."""
    neighbours: tuple[int, ...] = ()
    """Nodes that can decode its frames, in the natural order of their names."""


class NativePacket(NamedTuple):
    """A packet of a flow at its source, as its application has made it."""

    flow: int
    destination: int
    """The node that it is for."""
    number: int = 0
    """Number within the flow: of the packets that the forwarder has taken the first is 0, then 1, ..."""
    bytes: int = 1000
    """Size as an IP packet."""


class HeardBroadcast(NamedTuple):
    """A broadcast of another node's forwarder."""

    source: int
    """The node that has sent it."""
    header: bytes
    content: int = 0
    """Size of what follows the header, bytes."""


class Made(NamedTuple):
    """A broadcast that a forwarder has made."""

    flow: int
    """The flow that it serves."""
    header: bytes
    """At least one byte."""
    content: int = 0
    """Size of what follows the header, bytes: a packet of the flow, or a combination of several."""
    batch: int = 0
    """The batch that it is a part of, as the forwarder numbers those of a flow."""


class ControllerSetup(NamedTuple):
    """The setup of a controller when it starts."""

    node: int
    """The node at which it runs."""
    neighbours: tuple[int, ...] = ()
    """Nodes one hop away, by wire or radio, in the natural order of their names."""


class Airtime(NamedTuple):
    """Time in each of the five radio states, ns."""

    transmit: int = 0
    receive: int = 0
    busy: int = 0
    nav: int = 0
    idle: int = 0


class LinkSample(NamedTuple):
    """A radio link to a neighbour since the last sample: packets of flows, acknowledgements included."""

    neighbour: int
    waiting: int = 0
    """Packets that wait for this next hop now."""
    arrived: int = 0
    """Packets that have arrived at the queue for this next hop, dropped ones included."""
    sent: int = 0
    """Packets that the neighbour has acknowledged."""
    attempts: int = 0
    """Transmissions of data frames of the packets that were acknowledged or given up."""
    given_up: int = 0
    bytes: int = 0
    """Bytes of the packets acknowledged, as IP packets."""


class FlowSample(NamedTuple):
    """The data packets of a flow that have arrived at the queue for a link since the last sample."""

    flow: int
    source: int
    destination: int
    neighbour: int
    """The next hop."""
    packets: int = 0
    bytes: int = 0
    stated: int | None = None
    """Rate at which its source sends, bit/s, if the scheme's hop knows."""


class AnswerSample(NamedTuple):
    """The acknowledgements of a flow that have arrived at the queue for a link since the last sample."""

    flow: int
    """The flow whose data they acknowledge."""
    neighbour: int
    """The next hop."""
    packets: int = 0
    bytes: int = 0


class NodeSample(NamedTuple):
    """An interface's counters since its last sample."""

    interval: int
    """Length of the interval, ns."""
    airtime: Airtime = Airtime()
    receive_own: int = 0
    """Time of received frames for this node, ns."""
    retries: int = 0
    """Failed attempts: missing CTS or ACK."""
    traffic: int = 0
    """Packets of flows that left its queue or that it received for itself or to pass on."""
    set_up: int = 0
    """Flows that are being set up over the node."""
    queue: QueueView = QueueView(0, 0, 0)
    links: tuple[LinkSample, ...] = ()
    """Links over which it has sent so far, by neighbour; only with `Scheme.samples_links`."""
    flows: tuple[FlowSample, ...] = ()
    """Flows whose data have arrived at its queue, by number; only with `Scheme.samples_links`."""
    answers: tuple[AnswerSample, ...] = ()
    """Flows whose acknowledgements have arrived at its queue, by number; only with `Scheme.samples_links`."""


class Drop(NamedTuple):
    """The packet is dropped. Results count drops by reason: lower-case letters, digits, hyphens."""

    reason: str


class Mark(NamedTuple):
    """The packet is marked; one that cannot be marked is dropped."""

    reason: str


class Displaced(NamedTuple):
    """The arriving packet is stored, and another that was stored had to go."""

    packet: Packet
    reason: str


class FlowSetup(NamedTuple):
    """The parameters of a connection, before its first segment is sent."""

    mss: int
    """Largest payload of a segment."""
    initial_window: int
    window_limit: int
    """The sender's buffer."""
    rtt: int | None = None
    """Measured by the connection set-up, ns."""
    syn_lost: bool = False
    headers: int = 0
    """Headers of a packet with payload, from IP's header to TCP's with its options."""


class Sent(NamedTuple):
    """A segment with payload left."""

    bytes: int
    in_flight: int
    """After it."""
    retransmission: bool = False


class RateSample(NamedTuple):
    """The delivery rate while one segment was in flight."""

    delivered: int
    interval: int
    """ns."""
    app_limited: bool = False


class Acked(NamedTuple):
    """An acknowledgement of something new, cumulative or selective."""

    bytes: int
    """Newly acknowledged, both ways together."""
    cumulative: int
    """Of that, below the cumulative acknowledgement."""
    lost: int = 0
    """Found lost since the last call."""
    prior_in_flight: int = 0
    in_flight: int = 0
    """Before and after this acknowledgement was counted."""
    rtt: int | None = None
    """Of the newest segment acknowledged, if it may be measured, ns."""
    rate_sample: RateSample | None = None
    round_ended: bool = False
    """Data sent after the end of the last round trip is acknowledged."""
    window_limited: bool = True
    """The window was full since the last acknowledgement: only then may it grow."""
    in_recovery: bool = False
    """Losses are being repaired: the window does not grow."""
    sent_at: int = 0
    """When the newest segment acknowledged was sent, ns."""


class Congestion(NamedTuple):
    """A congestion event; at most one a round trip for each cause but "timeout"."""

    cause: Cause
    in_flight: int
    """FlightSize of RFC 5681: sent and not cumulatively acknowledged."""
    pipe: int = 0
    """Of that, in the network by the transport's estimate."""
    repeated: bool = False
    """A time-out of a segment that a time-out has sent again before."""


class Spurious(NamedTuple):
    """A time-out or fast retransmit has proved spurious: nothing was lost."""

    cause: Cause
    """Of the last such event that was not a repeated one, which is taken back."""
    in_flight: int
    """FlightSize now."""
    acked: int
    """Payload that the acknowledgement adds with which this was detected, cumulatively."""


class Idle(NamedTuple):
    """The source was silent for longer than a retransmission time-out."""

    span: int
    """Length of the silence, ns."""
    rto: int
    """ns."""


class Allowance(NamedTuple):
    """The limits of a source at present."""

    window: int | None = None
    """Most payload in flight; None: no limit of the scheme's."""
    rate: int | None = None
    """Pacing rate of payload, bit/s; None: not paced."""
    quantum: int | None = None
    """Most payload that leaves at once when paced; None: one segment."""
