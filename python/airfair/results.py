"""The results of the simulator as types: the keys and units of what `--json` prints.

`crates/python/contract.rs` and `summary.rs` write these results; a test compares every key and type of theirs
with those here. Tables of Python (recordings, sweeps, data frames) have names and types from here.
"""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, NotRequired, TypedDict, get_args, get_origin, get_type_hints


class SizeClass(TypedDict):
    """Files of `from_bytes` up to twice that size, less one byte."""

    from_bytes: int
    """Smallest size of the class, bytes."""
    finished: int
    """Number of finished files."""
    mean_completion_s: float
    """Mean completion time, seconds."""
    p95_completion_s: float
    """Time that 95 % of the completion times do not exceed, seconds."""


class Files(TypedDict):
    """The files of a flow that sends many, each over a connection of its own, over the whole run."""

    started: int
    """Files started."""
    finished: int
    """Files delivered and acknowledged."""
    failed: int
    """Files not delivered completely: TCP gave up their connections."""
    mean_completion_s: float | None
    """Mean completion time of finished files, seconds; None if none was finished."""
    p95_completion_s: float | None
    """Time that 95 % of the completion times do not exceed, seconds; None if no file was finished."""
    by_size: list[SizeClass]
    """Finished files by size."""


class Feedback(TypedDict):
    """Feedback packets of the receiver of a flow over UDP, from the end of the warm-up on."""

    sent: int
    """Feedback packets that the receiver sent."""
    received: int
    """Feedback packets that the source received."""
    loss_events: int | None
    """Loss events that the receiver observed; None if its scheme counts none."""
    loss_event_rate: float | None
    """Mean over the feedback packets of the loss event rate that the receiver estimated, 0 to 1; None without
    such a packet."""


class Forwarding(TypedDict):
    """Transmissions of forwarders for a flow that they carry by broadcasts (MORE, ExOR), from the end of the
    warm-up to the flow's stop. Packets that are decoded only with their whole batch are delivered then."""

    broadcasts: int
    """Broadcasts of all nodes for batches that were not whole at the destination."""
    late: int
    """Broadcasts for batches that were whole there already: until their senders knew."""
    innovative: int
    """Broadcasts that have brought the destination something new: a packet, or a combination that does not
    follow from those before."""
    batches: int
    """Batches that have become whole at the destination."""


class QueueDifferential(TypedDict):
    """The packets that left a queue for one next hop, of a scheme that compares the two queues (DiffQ), from
    the end of the warm-up on.
    """

    to: str
    """Next hop."""
    packets: int
    """Packets that left for it."""
    mean_packets: float
    """Mean of the packets by which the queue of their destination was longer here when they left, as far as
    the node had heard."""
    levels: NotRequired[list[int]]
    """Packets at each level of the radio, from the lowest on; only where the scheme gives levels."""


class QueueResult(TypedDict):
    """The queue of an output interface, from the end of the warm-up on.

    `routing`, with a wired link where a protocol finds routes: as for a radio (`StationResult`).
    `differentials`: the next hops in the order of their names, only where the queue compares itself with
    theirs (DiffQ) and packets have left.
    """

    node: str
    """Node of the queue."""
    towards: str
    """The radio that the queue feeds, or the node at the far end of its wired link."""
    wired: bool
    """True if the queue feeds a wired link."""
    packets: int
    """Packets that left the queue."""
    mean_wait_s: float | None
    """Mean time that these packets spent in the queue, seconds; None if none left."""
    mean_packets: float
    """Mean number of packets in the queue over time (Little's law, from the packets that left)."""
    routing: NotRequired[dict[str, int]]
    """Routing messages sent over the wired link, by kind; only with a routing protocol."""
    differentials: NotRequired[list[QueueDifferential]]
    """Differences to the queues of next hops."""


class FlowResult(TypedDict):
    """A flow, from its start (or the end of the warm-up) to its stop (or the end of the run).

    `offered_bytes` is the load of its application, None where it is unlimited, and 0 where the flow has no
    traffic in that time: then it does not count for fairness.
    """

    id: str
    """Name of the flow."""
    src: str
    """Source node."""
    dst: str
    """Destination node."""
    goodput_bps: float
    """Goodput: bytes delivered to the application, each counted once, as bits per second; for TCP in
    order."""
    delivered_bytes: int
    """Bytes delivered to the application, each counted once."""
    sent_packets: int
    """Packets that the source made."""
    retransmissions: int
    """Segments that TCP retransmitted; 0 for UDP. Retries of the MAC are not included."""
    fallbacks: int
    """Connections that passed routers without support for their scheme, and follow TCP's law since."""
    mean_delay_s: float | None
    """Mean one-way delay of the delivered packets, seconds; None if none was delivered."""
    p99_delay_s: float | None
    """99th percentile of the one-way delays, seconds; None if no packet was delivered."""
    completion_s: float | None
    """Completion time of a finite flow, seconds after its start; None if the flow did not complete."""
    hops: int | None
    """Two meanings. If a packet of the flow has arrived, in the warm-up or later: the hops that the last one
    took. If none has: the hops of its static route, which no packet has completed; None if there is no static
    route, as with a routing protocol."""
    delivered_packets: int
    """Packets that the destination received."""
    dropped_packets: int
    """Packets with payload that were dropped."""
    loss_ratio: float | None
    """Share of dropped packets among the packets with payload that ended, 0 to 1; None if none ended."""
    rtt_s: float | None
    """Mean round-trip time that TCP measured, of segments that were sent once, seconds; None without any."""
    offered_bytes: int | None
    """Bytes that the application had to send; None if unlimited, 0 without traffic."""
    files: NotRequired[Files]
    """Counters of files; only of a flow that sends files over connections of their own."""
    forwarding: NotRequired[Forwarding]
    """Transmissions of forwarders for the flow; only if they carry it."""
    feedback: NotRequired[Feedback]
    """Feedback of the receiver; only of a flow over UDP whose scheme has a receiver."""


class Ends(TypedDict):
    """The ends of all packets: `made` is the sum of all others."""

    made: int
    """Packets made by sources, or injected."""
    delivered: int
    """Packets delivered."""
    dropped: dict[str, int]
    """Packets dropped, by reason."""
    queued: int
    """Packets in a queue at the end of the run."""
    in_mac: int
    """Packets in a MAC at the end of the run: dequeued, and neither received by the next hop nor given up."""
    on_wire: int
    """Packets on a wired link at the end of the run."""
    awaiting_arp: int
    """Packets that wait for ARP at the end of the run."""
    awaiting_route: NotRequired[int]
    """Packets that wait for a route at the end of the run; only with a routing protocol."""
    forwarded: NotRequired[int]
    """Packets that a forwarder has at their source, or that are on their way by its broadcasts, at the end of
    the run; only with a scheme of forwarders."""


class AirtimeNs(TypedDict):
    """Nanoseconds in each radio state; they add up to the run."""

    transmit: int
    """Time of transmission."""
    receive: int
    """Time of reception of decodable frames, for any station."""
    busy: int
    """Time with energy above the threshold and no decodable frame."""
    nav: int
    """Time in which the medium is physically idle and reserved by the NAV."""
    idle: int
    """Idle time."""


class Messages(TypedDict):
    """Messages of a station's agent: sent, neighbours that missed one, heard of others, addressed to it."""

    sent: int
    """Messages that the agent sent."""
    missed: int
    """Neighbours that did not receive a message, summed over messages; a message to a node any number of hops
    away that did not arrive counts once."""
    heard: int
    """Messages of others that the station received, overheard ones included, each counted once."""
    received: int
    """Messages in frames addressed to this station alone, repeated ones included."""


class ControllerResult(TypedDict):
    """A controller of the scheme: where and when it ran, and its messages over the whole run."""

    node: str
    """Node at which it ran."""
    start_s: float
    """The controller's start, seconds."""
    stop_s: float | None
    """The controller's stop, seconds; None if it runs to the end."""
    sent: int
    """Messages sent."""
    sent_bytes: int
    """Their bytes, without headers."""
    received: int
    """Messages received."""
    received_bytes: int
    """Their bytes, without headers."""
    lost: int
    """Messages sent that ended without reaching their node."""


class ControlTraffic(TypedDict):
    """Frames of one kind of a scheme's messages at all radios, from the end of the warm-up on.

    `kind` of C3L: `report` (of nodes: collecting the traffic profile), `allocation`, `hello`, `probe`, and
    `feedback`, that of flows' receivers. Headers of data and acknowledgements are not counted.
    """

    kind: str
    """Name of the kind."""
    packets: int
    """Packets that MACs finished; one that is relayed counts at each hop."""
    frames: int
    """Frames that carried them, the MAC's retries included, without RTS, CTS and ACK."""
    ip_bytes: int
    """Bytes of these frames as IP packets."""
    mac_bytes: int
    """Bytes of these frames with LLC, MAC header and FCS."""
    bps: float | None
    """`mac_bytes` in bits per second; None at the end of the warm-up."""
    of_all_radios: float | None
    """`bps` by the sum of the data rates of all radios."""
    of_one_radio: float | None
    """`bps` by the data rate of one radio (their mean)."""


class InhibitedLink(TypedDict):
    """A link that carries flows, with the nodes that inhibit it, of those that send or receive packets of
    flows: its receiver can receive them (with `reach = "interference"` of C3L: or sense them), and its sender
    does not sense them."""

    src: str
    """Sender of the link."""
    dst: str
    """Receiver of the link."""
    found: list[str]
    """The nodes that inhibit it as the controllers found at their last rounds: those that run at the end, or,
    where none of these has had a round, those that stopped last."""
    actual: list[str]
    """The nodes that inhibit it by the power that arrives at the end of the run."""
    round_s: float | None
    """Time of the last round of the controllers that know the link, seconds; None if none knows it."""


class AllocatedLink(TypedDict):
    """A directed link, by its nodes."""

    src: str
    """Sender of the link."""
    dst: str
    """Receiver of the link."""


class AllocationOfFlow(TypedDict):
    """The rate that a controller gave a flow at its last round, and the set of links whose common capacity
    was used up then (C3L: a clique). Of several controllers the one that gave the least."""

    flow: str
    """The flow."""
    controller: str
    """Node of the controller."""
    rate_bps: float
    """The rate, bits per second."""
    capacity: float
    """The controller's estimate of the capacity, 1 if it is that of a lone link."""
    links: list[AllocatedLink]
    """The links; empty if the flow had what it asked for."""
    overloaded: list[AllocatedLink]
    """Those of them whose queues were built up."""


class CategoryResult(TypedDict):
    """Counters of an access category of a station, over the whole run."""

    name: str
    """Name of the category."""
    sent: int
    """Data frames sent, retries included."""
    finished: int
    """Packets finished: acknowledged, or sent as a broadcast."""
    no_response: int
    """Frames to which no CTS or ACK came."""
    internal_collisions: int
    """Accesses lost to a higher category of the same station."""
    given_up: int
    """Packets given up at the retry limit, after internal collisions too."""


class StationResult(TypedDict):
    """A radio, over the whole run: time in each state, frames by kind, losses by cause.

    `routing`, where a protocol finds routes: its messages that the radio sent, by kind; with a node's first
    interface what the node has counted beside them (0 with its others). The names are the protocol's.
    """

    node: str
    """Node of the station."""
    radio: str
    """Radio of the station."""
    airtime_ns: AirtimeNs
    """Time in each radio state, nanoseconds."""
    sent: dict[str, int]
    """Frames sent, by kind: `RTS`, `CTS`, `DATA`, `ACK`, `BROADCAST`; `CF-END` at every station of a run in
    which a radio has an access category with a TXOP."""
    received: dict[str, int]
    """Received frames that were addressed to this station, by kind."""
    lost: dict[str, int]
    """Lost frames that were addressed to this station, by cause (`docs/how-to/results.md` explains each)."""
    duplicates: int
    """Data packets dropped as duplicates."""
    no_cts: int
    """CTS that the station awaited and did not receive."""
    no_ack: int
    """ACKs that the station awaited and did not receive."""
    cts_withheld: int
    """RTS for which the station sent no CTS because its NAV was set; with `cts_needs_idle_carrier` also
    because its medium was busy."""
    given_up: int
    """Packets that the MAC gave up at the retry limit."""
    nav_extended: int
    """Receptions that confirmed a NAV which an RTS had set provisionally (`nav_reset`)."""
    categories: NotRequired[list[CategoryResult]]
    """Counters of the access categories, the lowest priority first; only with `categories`."""
    messages: NotRequired[Messages]
    """Counters of the agent's messages; only if the scheme has agents."""
    routing: NotRequired[dict[str, int]]
    """Counters of the routing protocol; only if there is one."""


class Lateness(TypedDict):
    """The lateness of the deadlines of a paced run: the worst, quantiles, and a histogram."""

    steps: int
    """Number of steps."""
    worst_s: float
    """Largest lateness, seconds."""
    p50_s: float
    """Median, seconds: a tenth too large at most, as `p99_s`."""
    p99_s: float
    """Lateness that 99 % of the steps did not exceed, seconds."""
    below_10us: int
    """Steps that were less than 10 us late."""
    below_100us: int
    """Steps that were 10 us to 100 us late."""
    below_1ms: int
    """Steps that were 100 us to 1 ms late."""
    below_10ms: int
    """Steps that were 1 ms to 10 ms late."""
    below_100ms: int
    """Steps that were 10 ms to 100 ms late."""
    above: int
    """Steps that were 100 ms late or more."""


class WindowJain(TypedDict):
    """Jain's index over the windows of one length, from the end of the warm-up on.

    None if no window has two active flows and a byte delivered; a tenth of the windows do not exceed `p10`.
    """

    window_s: float
    """Length of a window, seconds."""
    windows: int
    """Windows that count: two or more active flows, and a byte delivered."""
    empty_windows: int
    """Windows with two or more active flows, none of which had a byte delivered."""
    mean: float | None
    """Mean of the index over the windows."""
    p10: float | None
    """Index that a tenth of the windows do not exceed (nearest rank)."""
    min: float | None
    """Smallest index."""


class Perf(TypedDict):
    """The cost of a run: the only part that differs from run to run."""

    events: int
    """Number of events handled."""
    transmissions: int
    """Frames sent on the air."""
    wall_s: float
    """Duration by the wall clock, seconds."""
    peak_rss_bytes: int
    """Largest resident memory of the process, bytes."""
    lateness: NotRequired[Lateness]
    """Lateness of the deadlines; only of a paced run."""


class LateDeliveries(TypedDict):
    """Lateness of deliveries, from the time at which the air delivers a frame to its device."""

    deliveries: int
    """Number of frames."""
    p50_s: float
    """Median, seconds."""
    p99_s: float
    """Lateness that 99 % do not exceed, seconds."""
    p999_s: float
    """Lateness that 99.9 % do not exceed, seconds."""
    worst_s: float
    """Largest lateness, seconds."""


class Pauses(TypedDict):
    """Times of 5 ms and more in which the machine did not let the emulator run."""

    count: int
    """Number."""
    longest_s: float
    """The longest, seconds."""
    total_s: float
    """All together, seconds."""


class StackFrames(TypedDict):
    """Frames of the nodes' stacks."""

    read: int
    """Read from devices."""
    to_groups: int
    """Of those, broadcast and multicast."""
    written: int
    """Delivered to devices."""
    marked: int
    """Delivered with a congestion mark that they did not have before."""
    echoed: int
    """Acknowledgements that a scheme has let echo congestion (LBM)."""
    unknown_station: int
    """For a station that no node has."""
    refused: int
    """Those that the air cannot carry: larger than a packet may be, or without a type."""
    too_many: int
    """Lost since 65,536 frames were inside already: a fault of the emulation."""
    not_written: int
    """Refused by a device that is up: a fault of the emulation."""
    device_down: int
    """Not delivered to a device that a program has set down, or deleted."""
    dropped: dict[str, int]
    """Dropped in the scenario, by reason."""


class ProgramResult(TypedDict):
    """A program in a node."""

    node: str
    """The node."""
    command: str
    """The command."""
    status: int | None
    """Exit status; None: it was running at the end of the run, or had not begun."""
    error: str | None
    """The reason why it could not be started, if it could not."""


class StackFlow(TypedDict):
    """A flow of the nodes' stacks in one direction, by its five-tuple."""

    id: str
    """Protocol, nodes and ports: `tcp a1:40000 > b1:7000`. A flow with ten packets of data is in `flows`."""
    src: str
    """Source."""
    dst: str
    """Destination."""
    protocol: str
    """`tcp`, `udp`, `icmp`, `icmpv6`, or the protocol's number."""
    src_address: str
    """The source's address."""
    dst_address: str
    """The destination's address."""
    src_port: int
    """The source's port, 0 where the protocol has none."""
    dst_port: int
    """The destination's port."""
    goodput_bps: float
    """Bits per second of the application that have arrived after the warm-up; bytes of TCP count once."""
    sent_packets: int
    """Packets that the source's stack has sent."""
    arrived_packets: int
    """Packets that have arrived at the destination's stack."""
    sent_bytes: int
    """Bytes of the application that the source's stack has sent, repetitions included."""
    arrived_bytes: int
    """Bytes of the application that have arrived; those of TCP count once."""
    marked_packets: int
    """Packets that have arrived with a congestion mark."""
    first_s: float
    """The first packet, seconds since the start of the run."""
    last_s: float | None
    """The last arrival."""


class Edges(TypedDict):
    """Connections whose sources the emulator has run at the edge of the stacks."""

    connections: int
    """Connections that were opened."""
    fallbacks: int
    """Directions whose law has followed TCP's since some time: routers did not support its scheme."""
    evicted: int
    """Connections that have lost their laws to newer ones, since there were too many."""
    repeated: int
    """Repetitions by the kernel of segments that still waited at the edge: one of both was sent."""
    discarded: int
    """Segments that waited as their connection was reset."""
    held: int
    """Segments that wait at the end."""


class Emulation(TypedDict):
    """A run between real stacks, on the wall clock."""

    verdict: str
    """`kept up`: of a hundred deliveries at most one was later than 1 ms; `kept up but for pauses` of the
    machine, each made good within twice its length; `fell behind`: the numbers are not the scenario's."""
    behind_from_s: float | None
    """The time from which on it was behind, if there is one, seconds since the start of the run."""
    wall_s: float
    """Duration by the wall clock, seconds."""
    set_up_s: float
    """Time that it took to make the nodes, seconds."""
    cpu_s: float
    """Processor time of the emulator, seconds."""
    lateness: LateDeliveries
    """Lateness of deliveries."""
    pauses: Pauses
    """Pauses of the machine."""
    wake_ups: int
    """Times at which the emulator has woken up."""
    refused_looks: int
    """Looks at the devices at which the emulator was more than 50 ms behind, and took no frames."""
    frames: StackFrames
    """Frames of the stacks."""
    faults: int
    """Frames that were lost by the emulation itself."""
    device_drops: int
    """Of those, frames that the kernel has dropped at devices."""
    devices_hold_back: bool
    """True if this kernel holds packets back where a device is full, so that `device_drops` stays 0."""
    no_priority: str | None
    """The reason why the emulator had no priority before other processes, if it had none."""
    congestion_control: str
    """TCP's congestion control in the nodes."""
    own_routing: bool
    """True if programs in the nodes find the routes."""
    edges: Edges | None
    """Connections at the edges of the stacks; None if the scheme has no sources there."""
    series_cut: bool
    """True if `flow_series` ends early for the flows of the stacks: there were too many intervals."""
    interrupted: bool
    """True if the user has ended the run."""
    programs: list[ProgramResult]
    """Programs."""
    flows: list[StackFlow]
    """Flows of the stacks, in the order of their first packets."""
    packets_of_other_flows: int
    """Packets of flows beyond 1024, which are not told apart."""


class RouteOfFlow(TypedDict):
    """The route of a flow with a proactive routing protocol, from its start (or the end of the warm-up) to
    its stop."""

    id: str
    """Name of the flow."""
    lost: int
    """Times that the route was lost: next hops led from source to destination, and did not afterwards."""
    without_s: float
    """Time in which they did not lead to the destination, seconds."""
    path: list[str] | None
    """Nodes to which they lead at the end of the run, source and destination included; None without a
    route."""


class RoutingUpkeep(TypedDict):
    """A proactive routing protocol from the end of the warm-up on: its messages, and how well it maintained
    routes."""

    protocol: str
    """Name of the protocol."""
    datagrams: int
    """Datagrams that all nodes sent; each may contain several messages."""
    ip_bytes: int
    """Bytes of these datagrams as IP packets."""
    mac_bytes: int
    """Bytes of these datagrams as frames: with LLC, MAC header and FCS, or with a wire's framing."""
    ip_bytes_per_node_s: float | None
    """`ip_bytes` for each node and second; None at the end of the warm-up."""
    mac_bytes_per_node_s: float | None
    """`mac_bytes` for each node and second; None at the end of the warm-up."""
    routes_lost: int
    """Routes lost in the tables of all nodes: the destination had a next hop, and had none afterwards."""
    flows: list[RouteOfFlow]
    """Routes of the flows, in the order of the scenario."""


class BesideRow(TypedDict):
    """The flows of a scheme beside those of the baseline, each of which counts once.

    A number has changed if its mean has by more than a twentieth of the larger of both means, and, with
    several seeds, if the interval of the paired difference does not hold zero. Where of several seeds a
    single one has the number under both schemes there is no interval, and nothing has changed. With one seed
    in all every such change counts: one run of each may differ by chance.
    """

    won: int
    """Flows with more goodput."""
    lost: int
    """Flows with less goodput."""
    even: int
    """Flows whose goodput has not changed."""
    delay_fell: int
    """Flows with a shorter mean delay; flows without a delivered packet have none."""
    delay_rose: int
    """Flows with a longer mean delay."""
    delay_even: int
    """Flows whose mean delay has not changed."""
    total_share: float | None
    """Total goodput as a share of that of the baseline; None if the baseline has none."""
    collapsed: bool
    """True if the total has changed, in the sense above, to less than half of that of the baseline, and fewer
    than half of the flows have won. Where more have won, a few had too much before."""


class RunVerdict(TypedDict):
    """A run beside the max-min rates of its flows, or beside drop-tail where there are none: the model of
    `airfair optimum` does not apply, or no flow has a rate that it can reach.

    Flows without a route or traffic, and those that send files, have no share of a max-min rate.
    """

    by: str | None
    """The yardstick of the run, "optimum" or "droptail"; None where the scheme is drop-tail itself and
    there are no max-min rates."""
    reason: str | None
    """The reason why there are no max-min rates; None beside these."""
    assumed: NotRequired[list[str]]
    """Assumptions of the max-min rates, such as "static routes"; only beside these, as the next
    five."""
    flows_judged: NotRequired[int]
    """Number of flows that have a share."""
    flows_left_out: NotRequired[int]
    """Number of the other flows: without a route, without traffic, or with files to send."""
    below_half: NotRequired[int]
    """Number of these with less than half of their max-min rate."""
    optimum_share_min: NotRequired[float]
    """Least share of its max-min rate that a flow gets (1: all of it)."""
    optimum_share_total: NotRequired[float]
    """Sum of the goodputs as a share of the sum of the max-min rates."""
    beside: NotRequired[BesideRow]
    """The flows beside those of a run with drop-tail and the same seed; only where that is compared."""


class RunResult(TypedDict):
    """The result of a run. A number that is not defined is None: Jain's index where nothing was delivered,
    for example."""

    scenario: str
    """Name of the scenario."""
    scheme: str
    """Name of the scheme."""
    seed: int
    """Seed of the run."""
    version: str
    """Version of Airfair."""
    duration_s: float
    """Length of the run, seconds."""
    warmup_s: float
    """Length of the warm-up, seconds."""
    flows: list[FlowResult]
    """Flows, in the order of the scenario."""
    jain_index: float | None
    """Jain's index of the flows' goodputs; None if nothing was delivered."""
    log_utility: float
    """Sum of ln(goodput in kbit/s), a flow below 1 kbit/s counted as 1 kbit/s."""
    aggregate_goodput_bps: float
    """Sum of the goodputs, bits per second."""
    min_goodput_bps: float
    """Smallest goodput, bits per second."""
    starved_flows: int
    """Number of flows with less than 1 % of the mean goodput and less than half of their offered load, or
    without any goodput."""
    flows_below_1kbps: int
    """Number of flows below 1 kbit/s."""
    mean_delay_s: float | None
    """Mean one-way delay of the delivered packets of all flows, seconds; None if no packet was delivered."""
    p99_delay_s: float | None
    """99th percentile of these delays, seconds; None if no packet was delivered."""
    rtt_s: float | None
    """Mean of the round-trip times that TCP measured, seconds; None without TCP."""
    retransmissions: int
    """Segments that TCP retransmitted, of all flows."""
    loss_ratio: float | None
    """Share of dropped packets among the packets with payload that ended, 0 to 1; None if no packet ended."""
    completion_s: float | None
    """Mean completion time of finished files, seconds; None if none was finished."""
    drops: dict[str, int]
    """Drops by reason, over the whole run."""
    channel_utilisation: dict[str, float]
    """Share of the run in which each node's medium was physically busy, own transmissions included; of the
    busiest of its radios."""
    warnings: list[str]
    """Warnings to consider before using the result."""
    ends: Ends
    """Ends of all packets, over the whole run."""
    marks: dict[str, int]
    """Packets marked instead of dropped, by reason, over the whole run."""
    queues: list[QueueResult]
    """Queue of every output interface."""
    stations: list[StationResult]
    """Every radio."""
    controllers: NotRequired[list[ControllerResult]]
    """Controllers, by node and start; only if the scheme has any in this network."""
    control: NotRequired[list[ControlTraffic]]
    """Control packets by kind; only with a scheme that names kinds (C3L; MORE with delivery ratios
    by probes)."""
    inhibited_links: NotRequired[list[InhibitedLink]]
    """Links that carry flows and are inhibited, or that a controller takes for it; only with a controller
    that looks for them (C3L), from its first round on."""
    allocations: NotRequired[list[AllocationOfFlow]]
    """The rates that controllers which run at the end gave flows at their last rounds, in the order of the
    flows; only with a controller that gave some (C3L)."""
    routing: NotRequired[RoutingUpkeep]
    """Upkeep of routes; only with a proactive routing protocol."""
    window_jain: NotRequired[list[WindowJain]]
    """Fairness in windows; only if windows were given."""
    verdict: NotRequired[RunVerdict]
    """The run beside the best rates; only if the optimum was asked for."""
    perf: Perf
    """Cost of the run."""
    emulation: NotRequired[Emulation]
    """The run between real stacks; only of `airfair emulate`."""


class NodePlace(TypedDict):
    """A node; `position_m` is x, y and z, None where the scenario does not say where it is.

    `path` is empty for a node that does not move; else the corners of its path, each of time (s), x, y and
    z (m). The node moves in straight lines from corner to corner; after the last one it stops, or, where
    `path_repeats_from` is an index, repeats the path from that corner on.
    """

    id: str
    """Name of the node."""
    position_m: list[float] | None
    """Position at the start of the run: x, y and z, metres."""
    path: list[list[float]]
    """Corners of the path: time (s), x, y and z (m)."""
    path_repeats_from: int | None
    """Index of the corner from which the path repeats; None if it does not."""


class Radio(TypedDict):
    """A radio of a node."""

    node: str
    """Node of the radio."""
    radio: str
    """Name of the radio."""
    channel: int
    """Number of the channel."""
    data_rate_bps: int
    """Rate of data frames, bits per second."""


class RadioPair(TypedDict):
    """The reception of one radio's frames by another without interference.

    `sender` and `hearer` are indices of radios. `delivery_ratio` is the probability that a data frame of
    1500 B at the sender's data rate arrives; `receives`: the ratio exceeds 0.1, which routes require in
    both directions. In a pair that does not receive, the hearer senses a preamble or energy: the medium is
    busy for it. Where nothing is sensed there is no pair.
    """

    sender: int
    """Index of the sending radio."""
    hearer: int
    """Index of the receiving radio."""
    power_dbm: float
    """Received power, dBm."""
    delivery_ratio: float
    """Probability that a data frame of 1500 B arrives, 0 to 1."""
    receives: bool
    """True if the delivery ratio exceeds 0.1."""


class WiredLink(TypedDict):
    """A wired link between two nodes; delay and rate of each direction, before the rate's first change."""

    ends: list[str]
    """The two nodes."""
    rate_bps: int
    """Rate of each direction, bits per second."""
    delay_s: float
    """Propagation delay, seconds."""


class Route(TypedDict):
    """The nodes that a flow's packets pass, both ends included; None where there is no route, and where a
    protocol finds routes during the run."""

    id: str
    """Name of the flow."""
    src: str
    """Source node."""
    dst: str
    """Destination node."""
    path: list[str] | None
    """Nodes of the route, from source to destination."""


class NodeRoute(TypedDict):
    """The nodes of the static route from one node to another."""

    src: str
    """Source node."""
    dst: str
    """Destination node."""
    path: list[str]
    """Nodes of the route, from source to destination."""


class Network(TypedDict):
    """The network of a scenario as the simulator builds it. `pairs` go by sender, then by hearer."""

    nodes: list[NodePlace]
    """Nodes."""
    radios: list[Radio]
    """Radios; `sender` and `hearer` of a pair are indices of this list."""
    pairs: list[RadioPair]
    """Pairs of radios."""
    links: list[WiredLink]
    """Wired links."""
    flows: list[Route]
    """Routes of the flows."""
    routing: NotRequired[str]
    """Name of the protocol that finds routes in a run; only if there is one. `flows` have no path then."""
    routes: NotRequired[list[NodeRoute]]
    """Static routes between all nodes, of pairs that have one; only if asked for."""


class Estimate(TypedDict):
    """A mean over the seeds, and the half-width of its 95 % confidence interval (None for one run).

    `runs` is the number of runs that have the number, where not all do.
    """

    mean: float
    """Mean over the seeds."""
    ci95: float | None
    """Half-width of the 95 % confidence interval; None for one run."""
    runs: NotRequired[int]
    """Number of runs that have the number; only if not all do."""


class Differences(TypedDict):
    """Differences to the first scheme, paired by seed; None where no seed has both numbers."""

    jain_index: Estimate | None
    """Jain's index of the flows' goodputs."""
    log_utility: Estimate
    """Sum of ln(goodput in kbit/s), a flow below 1 kbit/s counted as 1 kbit/s."""
    aggregate_goodput_bps: Estimate
    """Sum of the goodputs, bits per second."""
    min_goodput_bps: Estimate
    """Smallest goodput, bits per second."""
    starved_flows: Estimate
    """Number of flows with less than 1 % of the mean goodput and less than half of their offered load, or
    without any goodput."""
    mean_flow_delay_s: Estimate | None
    """Mean over the flows of their mean one-way delays, seconds: each flow with a delivered packet counts
    once."""
    p99_flow_delay_s: Estimate | None
    """Mean over the flows of the 99th percentiles of their delays, seconds."""
    mean_flow_loss_ratio: Estimate | None
    """Mean over the flows of their shares of dropped packets, 0 to 1: each flow with packets that ended
    counts once."""
    mean_delay_s: Estimate | None
    """Mean one-way delay of the delivered packets of all flows, seconds: each packet counts once."""
    p99_delay_s: Estimate | None
    """99th percentile of these delays, seconds."""
    rtt_s: Estimate | None
    """Mean of the round-trip times that TCP measured, seconds."""
    retransmissions: Estimate
    """Segments that TCP retransmitted, of all flows."""
    loss_ratio: Estimate | None
    """Share of dropped packets among the packets with payload that ended, 0 to 1: each packet counts once."""
    completion_s: Estimate | None
    """Mean completion time of finished files, seconds."""
    optimum_share_min: NotRequired[Estimate | None]
    """Least share of its max-min rate that a flow gets (1: all of it); only if the optimum was asked for."""
    optimum_share_total: NotRequired[Estimate | None]
    """Sum of the goodputs as a share of the sum of the max-min rates; only if the optimum was asked for."""


class FlowDifferences(TypedDict):
    """A flow's numbers over the seeds; None where no run has the number. As differences to the first scheme,
    paired by seed: None where no seed has both.

    `completion_s` of a flow that sends many files is the mean of those that were finished.
    """

    goodput_bps: Estimate
    """Goodput, bits per second."""
    mean_delay_s: Estimate | None
    """Mean one-way delay, seconds."""
    p99_delay_s: Estimate | None
    """99th percentile of the one-way delays, seconds."""
    rtt_s: Estimate | None
    """Mean round-trip time that TCP measured, seconds."""
    retransmissions: Estimate
    """Segments that TCP retransmitted."""
    loss_ratio: Estimate | None
    """Share of dropped packets among the packets with payload that ended, 0 to 1."""
    completion_s: Estimate | None
    """Completion time, seconds."""
    broadcasts_per_packet: NotRequired[Estimate | None]
    """Broadcasts of all nodes until the batch is whole at the destination, for each one that has brought it
    something new, or for each delivered packet where the forwarder does not tell what nodes hold; None for a
    flow that goes by routes, only if forwarders carry a flow of a scheme."""
    late_share: NotRequired[Estimate | None]
    """Share of all broadcasts for the flow that were sent for batches that the destination already had as a
    whole, 0 to 1; as `broadcasts_per_packet`."""
    optimum_share: NotRequired[Estimate | None]
    """Goodput as a share of the flow's max-min rate; None without a route or traffic and for flows that send
    files, only if the optimum was asked for."""


class FlowRow(FlowDifferences):
    """A flow over the seeds: its numbers, and their differences to the first scheme."""

    id: str
    """Name of the flow."""
    difference: FlowDifferences
    """Differences to the first scheme."""


class WindowRow(TypedDict):
    """Jain's index in windows of one length over the seeds; None where no run has a window that counts.

    `jain_index` is of the means of the runs, `p10` of what a tenth of a run's windows do not exceed.
    """

    window_s: float
    """Length of a window, seconds."""
    jain_index: Estimate | None
    """Jain's index: mean over the windows of a run."""
    p10: Estimate | None
    """Jain's index that a tenth of a run's windows do not exceed."""
    difference: Estimate | None
    """Difference of `jain_index` to the first scheme, paired by seed."""


class ContentRow(TypedDict):
    """Flows whose offered load is below their fair share and is delivered, with every scheme and seed: they
    lower Jain's index although they are not treated unfairly. `jain_index` is that of the other flows."""

    flows: list[str]
    """Names of the flows."""
    jain_index: Estimate | None
    """Jain's index of the other flows."""


class ChannelRow(TypedDict):
    """Shares of time of a radio in its five states, over the whole run: warm-up included."""

    node: str
    """Node of the radio."""
    radio: str
    """Name of the radio."""
    transmit: Estimate
    """Transmission, 0 to 1."""
    receive: Estimate
    """Reception of decodable frames, for any station, 0 to 1."""
    busy: Estimate
    """Energy above the threshold and no decodable frame, 0 to 1."""
    nav: Estimate
    """Medium physically idle and reserved by the NAV, 0 to 1."""
    idle: Estimate
    """Idle, 0 to 1."""


class Precision(TypedDict):
    """The widths of intervals of a comparison with `until_halfwidth`: half-widths as shares of the means.

    None where the mean is 0 and the interval is not, or where fewer than two runs have the number.
    """

    target: float
    """Largest relative half-width that was requested (0.05: 5 %)."""
    met: bool
    """True if no interval is wider than the target."""
    relative_ci95: dict[str, float | None]
    """Half-width as a share of the mean, by statistic."""


class CompareRow(Differences):
    """One scheme over the seeds; a number is None where no run has it.

    A sweep's rows have neither drops nor channel: it keeps no radios.
    """

    scheme: str
    """Name of the scheme."""
    runs: int
    """Number of runs."""
    baseline: str
    """Scheme that `difference` is a difference to: the first one."""
    difference: Differences
    """Differences to the baseline, paired by seed."""
    beside: NotRequired[BesideRow]
    """Flows beside those of the baseline; not of the baseline itself."""
    settings: NotRequired[list[str]]
    """Values of the scenario that only this scheme has, as `path=value`; only if there are any."""
    flows: list[FlowRow]
    """Flows, in the order of the scenario."""
    seeds: list[int]
    """Seeds of the runs, ascending."""
    warnings: list[str]
    """Different warnings of the runs."""
    window_jain: NotRequired[list[WindowRow]]
    """Fairness in windows; only if windows were given."""
    drops: NotRequired[dict[str, Estimate]]
    """Drops by reason, over the whole run."""
    content: NotRequired[ContentRow]
    """Flows that are content with less than their share; only if there are any."""
    channel: NotRequired[list[ChannelRow]]
    """Shares of time of every radio."""
    precision: NotRequired[Precision]
    """Widths of the intervals; only with `until_halfwidth`."""
    perf: Perf
    """Cost of all runs of the row together; `peak_rss_bytes` is the largest."""


class ParamInfo(TypedDict):
    """A parameter of a scheme, for `--set SCHEME.NAME=VALUE`."""

    name: str
    """Name of the parameter."""
    doc: str
    """Meaning of the parameter."""
    role: str
    """Who decides: `"paper"`, its constants and symbols; `"operator"`, who runs the network; `"reading"`, how
    an open text of the paper is read, or an addition of ours."""
    kind: str
    """Type of the value."""
    default: str
    """Default, as a text."""
    range: list[str] | None
    """The least and the largest value; `None` for flags and choices."""


class WantInfo(TypedDict):
    """A capability of a network that a scheme wants: a host that lacks it refuses the scheme."""

    capability: str
    """Name of the capability."""
    words: str
    """The same in words."""
    at: list[str]
    """Interfaces at which it is wanted: `"radio of an access point"`, `"wire of an access point"`, and of
    other nodes `"radio"` and `"wire"`."""
    exactly: bool
    """True if an estimate does not do."""
    levels: int | None
    """The number of priorities; `None` for other capabilities."""


class ChangedWants(TypedDict):
    """The wants of a scheme with another value of one parameter."""

    param: str
    """Name of the parameter."""
    value: str
    """The value, as a text."""
    wants: list[WantInfo]
    """All wants with this value."""


class PresetInfo(TypedDict):
    """A named set of values of a scheme's parameters."""

    name: str
    """Name, which follows that of the scheme and a colon: `diffq:paper`."""
    about: str
    """Description in one line."""
    values: dict[str, str]
    """The parameters whose values are not the defaults."""


class ShortChange(TypedDict):
    """A short name for changes in the brackets of a selection."""

    example: str
    """Form between brackets: "rts", or "window=4" as an example of one with a value."""
    about: str
    """Description in one line."""
    sets: list[str]
    """The values that it sets, as `path=value`."""


class SchemeInfo(TypedDict):
    """A scheme of the table."""

    name: str
    """Name of the scheme."""
    about: str
    """Description in one line."""
    source: str
    """Source, such as a paper."""
    places: list[str]
    """Places that the scheme fills."""
    params: list[ParamInfo]
    """Parameters."""
    presets: list[PresetInfo]
    """Named sets of values of the parameters, beside the defaults, which are the preset "default"."""
    brings: dict[str, str]
    """Keys of a scenario, with their values, that the scheme sets for its own runs, where they have their
    default values and it could not run, or had no effect, without them."""
    wants: list[WantInfo]
    """Capabilities that the scheme wants of a network, with its defaults
    ([capabilities.md](capabilities.md))."""
    wants_with: list[ChangedWants]
    """Values of single parameters with which it wants others: each other word, the other truth, and of a
    number half and twice the default and the ends of the range are tried."""


class ImportLinked(TypedDict):
    """Pairs that the links of a map name, and their nodes, whether or not the links are written."""

    pairs: int
    """Pairs of nodes that links name."""
    nodes: int
    """Nodes of these pairs."""
    largest_component: int
    """Nodes of their largest component."""


class ImportWritten(TypedDict):
    """The contents of an imported scenario. `largest_component` is that of links usable both ways."""

    nodes: int
    """Nodes."""
    radios: int
    """Nodes with a radio."""
    radio_links: int
    """Pairs with a gain in one direction at least."""
    gains: int
    """Directions with a gain."""
    wired_links: int
    """Wired links."""
    movements: int
    """Movements."""
    flows: int
    """Flows."""
    largest_component: int
    """Nodes of the largest component of usable links."""


class ImportRecord(TypedDict):
    """A record of a map, and what is wrong with it."""

    record: str
    """The record, such as `link a - b`."""
    detail: str
    """The particulars, such as `ETX 0`; may be empty."""


class ImportGroup(TypedDict):
    """Records that share a reason."""

    reason: str
    """Key of the reason."""
    words: str
    """The reason in words."""
    count: int
    """Number of records."""
    records: list[ImportRecord]
    """The records."""


class ImportReport(TypedDict):
    """The report of an import: what was read, written and left out."""

    file: str
    """Name of the file."""
    format: str
    """Name of the format."""
    recognised_by: str
    """The mark in the file by which the format was recognised, or `--format` if it was named."""
    link_model: str
    """Name of the link model."""
    date: str | None
    """Time of the data in the words of the file; None if the file has no date."""
    read: dict[str, int]
    """Records by kind."""
    ids: int
    """Number of different node ids, including those that only links name."""
    linked: ImportLinked
    """Pairs that links name."""
    written: ImportWritten
    """Contents of the scenario."""
    missing_ids: dict[str, int]
    """Ids that links or sectors name and no node has, each with its number of occurrences."""
    rejected: list[ImportGroup]
    """Records left out, by reason."""
    changed: list[ImportGroup]
    """Records that the scenario contains in another form than the file, by reason."""
    renamed: list[dict[str, str]]
    """Ids that are not valid in a scenario (`from`), each with the name that replaces it (`to`)."""
    assumed: list[str]
    """Assumptions where the file is ambiguous."""
    gateway: str | None
    """The gateway, where the flows end; None if the import has neither flows nor a chosen gateway, or has
    several gateways."""
    gateways: dict[str, int]
    """The gateways, where the flows end, each with the number of its flows."""


def always(kind: type) -> tuple[str, ...]:
    """The keys that every value of this type has, in order."""
    # `__required_keys__` has all keys, since annotations are texts.
    return tuple(key for key, of in kind.__annotations__.items() if "NotRequired" not in str(of))


def scalars(kind: type) -> dict[str, type]:
    """The keys of a result that hold a text or a number, in order, each with its type: str, int or float."""
    found: dict[str, type] = {}
    for name, hint in get_type_hints(kind).items():
        kinds: Any = get_args(hint) if get_origin(hint) is UnionType else (hint,)
        (one, *others) = (k for k in kinds if k is not NoneType)
        if one in (str, int, float) and not others:
            found[name] = one
    return found


class AdvisedFlow(TypedDict):
    """A flow with and without advised changes."""

    id: str
    """Id of the flow."""
    before: Estimate
    """Goodput today, as a share of its rate in the reference."""
    after: Estimate
    """Goodput with the changes, as such a share."""
    change: Estimate
    """Change of the share, paired by seed."""


class HalfAdvised(TypedDict):
    """The same changes at half of the nodes, another half for each seed."""

    runs: int
    """Number of runs; 0 if there are none."""
    score: Estimate | None
    """The goal's number; None without runs."""
    least: Estimate | None
    """Share of the flow that has least of its rate; None without runs."""
    change: Estimate | None
    """Change of the goal's number against today, paired by seed; None without runs."""
    reason: str | None
    """Reason why there are no runs; None if there are."""


class Advised(TypedDict):
    """A set of changes that was confirmed on fresh seeds, or set against today at least."""

    selection: str
    """The selection, for `airfair compare --schemes`."""
    settings: list[str]
    """Values, as `path=value`, that differ from those of the file."""
    seeds: list[int]
    """Seeds of these numbers: of the set and of today alike."""
    fresh: bool
    """True if the race that chose the set did not use these seeds."""
    score: Estimate
    """The goal's number: a share, or of a delay its negative in seconds."""
    change: Estimate
    """Change of this number against today, paired by seed."""
    least: Estimate
    """Share of the flow that has least of its rate."""
    total: Estimate
    """Share of the sum of the rates."""
    p99_s: Estimate
    """Delay that 99 % of a flow's packets stay below, in the mean over the flows."""
    call_s: Estimate | None
    """The same of the slowest call; None without calls."""
    helps: bool
    """True if the change is above zero by more than chance, and no limit of the goal is broken."""
    broken: str | None
    """The limit of the goal that is broken: `"total"` or `"least share"`."""
    flows: list[AdvisedFlow]
    """Every flow with a rate in the reference."""
    routers: list[str]
    """Settings of routers that it needs."""
    hosts: list[str]
    """Settings of hosts that it needs."""
    new_scheme: bool
    """True if it needs a scheme that routers do not have yet."""
    half: HalfAdvised | None
    """The same at half of the nodes; only for the first advice."""


class Tried(TypedDict):
    """A set of changes of the race."""

    selection: str
    """The selection."""
    runs: int
    """Number of seeds."""
    score: float
    """The goal's number in the mean over its seeds."""
    change: Estimate
    """Change of this number against today, paired by seed."""
    total: float
    """Share of the sum of the rates."""
    state: str
    """`"raced"`, `"behind"` (dropped: behind the best by more than chance), `"same"` (as another set that
    asks no more), `"total"` or `"least share"` (the limit of the goal that is broken)."""


class NotTried(TypedDict):
    """A change that cannot run in the scenario."""

    selection: str
    """The change."""
    reason: str
    """Reason."""


class AdviceRuns(TypedDict):
    """Numbers of runs behind an advice."""

    race: int
    """Runs of the race; `--runs` with this number repeats it."""
    confirmation: int
    """Runs with fresh seeds."""
    half: int
    """Runs with half of the nodes."""


class Advice(TypedDict):
    """Changes of a network that help, measured: the result of `airfair advise`."""

    scenario: str
    """Name of the scenario."""
    goal: str
    """The goal: `"fair"`, `"total"`, `"delay"` or `"voice"`."""
    today: str
    """Selection of today's runs: the scheme of the file."""
    by: str
    """Source of the reference: `"optimum"`, max-min rates, or `"droptail"`, equal parts of drop-tail's
    total."""
    assumed: list[str]
    """Assumptions of the max-min rates."""
    reason: str | None
    """Reason why there are no max-min rates; None if there are."""
    reference_bps: dict[str, float]
    """Rates that shares are parts of, by flow."""
    calls: list[str]
    """Flows that are calls."""
    drawn: list[str]
    """Flows that were drawn, as the map has no traffic."""
    duration_s: float
    """Simulated time of a run."""
    shortened_from_s: float | None
    """The scenario's own duration, if it was too long for the budget; else None."""
    budget_s: float | None
    """Budget of wall time; None with a number of runs."""
    wall_s: float
    """Wall time spent."""
    runs: AdviceRuns
    """Numbers of runs."""
    before: Advised
    """Today, over the seeds of the confirmation."""
    advised: list[Advised]
    """Sets of changes, those that help first and the best of them first."""
    tried: list[Tried]
    """All sets that ran, best first."""
    not_tried: list[NotTried]
    """Changes that cannot run here."""
