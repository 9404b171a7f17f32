"""The output of `airfair explain --json`, as types. Times that end in `_ns` add up exactly."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from ..results import Advice, FlowResult, InhibitedLink, RunResult

DEFERRING = ("busy", "nav", "eifs")
"""States in which a sender must not send, because of frames of others."""


class Goodput(TypedDict):
    id: str
    goodput_bps: float


class Behind(TypedDict):
    """Time for which packets of another flow (None: control packets) were before this one's."""

    flow: str | None
    forward: bool
    ns: int


class Holder(TypedDict):
    """Time for which a node, or transmissions for a flow, kept a sender from sending. `joint_ns` overlaps."""

    id: str | None
    alone_ns: int
    joint_ns: int
    nav_ns: int
    eifs_ns: int


class Cause(TypedDict):
    """The cause of missing CTS or ACKs, their number, and the node (and its flow) whose frame caused them."""

    missing: str
    why: str
    by: str | None
    of: str | None
    hidden: bool
    count: int


class Attempts(TypedDict):
    """Frames for the flow on one hop; the causes add up to `no_cts` and `no_ack`."""

    exchanges: int
    rts: int
    data: int
    no_cts: int
    no_ack: int
    given_up: int
    causes: list[Cause]


class Waiting(TypedDict):
    """Packets of one flow (None: control packets) in a queue: the mean over the packets that it dropped.

    `local`: the node itself sends them, it does not forward them. `tcp`: TCP carries them.
    """

    flow: str | None
    forward: bool
    packets: float
    local: bool
    tcp: bool


class Queue(TypedDict):
    """The queue of a hop's sender: how many packets of the flow it dropped, and what it held then.

    `settings`: the table of the scenario with its keys, such as "radio" or "link.0". `local_limit_ns`: None
    where nothing limits how much of it the node's own flows fill. `labelled_by`: the scheme of the node, only
    where its queue labels packets for those of other nodes (DiffQ). `gives_categories`: only where the queue
    itself decides the access categories of packets.
    """

    settings: str
    backpressure: bool
    local_limit_ns: int | None
    dropped: int
    held: list[Waiting]
    labelled_by: NotRequired[str]
    gives_categories: NotRequired[bool]


class HopRadio(TypedDict):
    """Settings of the radio of a hop's sender, and values to try in their place.

    `propagation`: the model, and `data_rate` as the scenario has it. `slower`: the next lower rate, None if
    it has the lowest; `own`: a name for a kind of radio that only this sender gets, None where the file
    cannot give it one by `--set`. `cw_min` and `carrier_sense` (None where it is no key): larger values.
    `unlisted`: with the model "matrix" the nodes hidden from the sender whose gains to it are not listed.
    """

    propagation: str
    data_rate: str
    slower: str | None
    own: str | None
    cw_min: int | None
    carrier_sense: str | None
    unlisted: list[str]


class OwnCategory(TypedDict):
    """Time for which packets of the flow were at a sender in one access category, waiting or being sent."""

    category: str
    ns: int


class OtherCategory(TypedDict):
    """Time for which a sender exchanged frames of another category while it had packets of the flow.

    `access_ns`: the first exchange of an access, `txop_ns`: the further ones of its TXOP, `collision_ns`: all
    exchanges of an access that the category won in an internal collision with the flow's. `collisions`: the
    number of internal collisions that packets of the flow lost to it; `given_up`: packets of the flow for
    which that was the last attempt.
    """

    category: str
    access_ns: int
    txop_ns: int
    collision_ns: int
    collisions: int
    given_up: int


class Categories(TypedDict):
    """Access categories of a hop's sender, in all lists the highest priority first.

    The times of `others` add up to the state `category` of `own_turn_ns` and `others_turn_ns`, those of `own`
    to all of both without `address` and `held`.
    """

    names: list[str]
    own: list[OwnCategory]
    others: list[OtherCategory]


class Level(TypedDict):
    """Packets of the flow at one level of the MAC (None: the sender has one), each counted at its first
    frame.

    `higher_ns`: time in which a packet waited at this level while the medium was busy with a frame of a
    higher one; `others_ns`: the same while it was busy with other frames only.
    """

    level: str | None
    packets: int
    higher_ns: int
    others_ns: int


class Differential(TypedDict):
    """The packets of the flow that left a queue which compares itself with that of the next hop (DiffQ).

    `mean_packets`: by how many packets the queue of their destination was longer at the sender, as far as it
    knew, when they left; `levels`: the highest first.
    """

    packets: int
    mean_packets: float
    levels: list[Level]


class Hop(TypedDict):
    """One hop: `no_packet_ns` and the values of `own_turn_ns`, `others_turn_ns` add up to `observed_ns`.

    `radio`: not of wires. `categories`: only where the sender has several access categories. `differential`:
    only where packets of the flow left a queue that compares itself with that of the next hop. The state
    `held` of `own_turn_ns`: only at a sender with such a queue.
    """

    forward: bool
    src: str
    dst: str
    wired: bool
    observed_ns: int
    no_packet_ns: int
    own_turn_ns: dict[str, int]
    others_turn_ns: dict[str, int]
    behind: list[Behind]
    holders: list[Holder]
    overlapped_ns: int
    holding_flows: list[Holder]
    flows_overlapped_ns: int
    attempts: Attempts | None
    queue: Queue
    radio: NotRequired[HopRadio]
    categories: NotRequired[Categories]
    differential: NotRequired[Differential]


class LostLink(TypedDict):
    """A link at which the flow's route was lost: a node and its former next hop; `times`: how often."""

    src: str
    dst: str
    times: int


class Route(TypedDict):
    """The route of a flow where a protocol maintains routes also without packets.

    `without_ns`: the time in which next hops did not lead from the source to the destination; `lost`: the
    losses by the first link of the former path that was no next hop any more, most losses first; `protocol`
    and its `metric` (None where it has no choice) are those of the scenario.
    """

    protocol: str
    metric: str | None

    without_ns: int
    lost: list[LostLink]


class Baseline(TypedDict):
    """A run of the same scenario and seed with another scheme, where there is no max-min rate: the goodput of
    the flow and of all flows together, bits per second."""

    scheme: str
    goodput_bps: float
    total_bps: float


class Drop(TypedDict):
    """Packets of the flow that were dropped; `data`, or TCP's segments without data. `opening`: only where
    these open a connection (SYN and its answer)."""

    node: str
    reason: str
    data: bool
    opening: NotRequired[bool]
    packets: int


class RunningTimer(TypedDict):
    """A retransmission timer for which a connection waits at the end: since when, and when it expires, which
    may be after the end; `expiries`: since the last acknowledgement of new data, each doubled the timer;
    `doublings`: all that are in force. They stay until a segment that was sent once is acknowledged."""

    since_s: float
    until_s: float
    expiries: int
    doublings: int


class Tcp(TypedDict):
    """The waits of the flow's TCP; the values of `waited_ns` add up to `observed_ns`. `timer`: only where a
    connection waits for nothing else at the end; of several the one that waits longest. `timeouts` are those
    of data, `syn_timeouts` those of SYNs. `unopened`: how many of the `connections` have not opened, of those
    whose SYN has timed out."""

    observed_ns: int
    waited_ns: dict[str, int]
    timeouts: int
    timeouts_under_way: int
    syn_timeouts: int
    connections: int
    unopened: int
    fast_losses: int
    marks: int
    timeout_times_s: list[float]
    rto_waits_s: list[list[float]]
    timer: NotRequired[RunningTimer]


class HopDifferentials(TypedDict):
    """Queue differentials of a hop ahead over time: `hop` is its place among the hops, `mean_packets` the
    mean of the packets of the flow that left the queue in each interval, None if there were none."""

    hop: int
    mean_packets: list[float | None]


class Timeline(TypedDict):
    """The flow in each interval of the run, the warm-up included, and the hop ahead where its packets spend
    most time: `hop` is its place among the hops. `differentials`: only where packets of the flow left a queue
    that compares itself with that of the next hop, the hops ahead where they did."""

    end_s: list[float]
    goodput_bps: list[float]
    window_bytes: list[int | None]
    hop: int | None
    no_packet_ns: list[int]
    own_turn_ns: dict[str, list[int]]
    others_turn_ns: list[int]
    differentials: NotRequired[list[HopDifferentials]]


class LinkEnds(TypedDict):
    """A directed link. A station that is not the first of its node has the name of its radio behind it."""

    src: str
    dst: str


class OverloadedLink(TypedDict):
    """A link whose queue was built up; `part` is the part of the time in which it was."""

    src: str
    dst: str
    part: float


class AllocationLimit(TypedDict):
    """A set of links (C3L: a clique) whose capacity was used up when a controller gave the flow its rate.

    `stopped_s`: when the controller has stopped; `part`: the part of the samples in which it was this set;
    `rate_bps`: what the flow got; `capacity`: the controller's estimate, 1 if it is that of a lone link. No
    links: the flow had what it asked for.
    """

    controller: str
    stopped_s: float | None
    part: float
    rate_bps: float
    capacity: float
    links: list[LinkEnds]
    overloaded: list[OverloadedLink]


class AirShare(TypedDict):
    """The share that all flows of a link have of the time of the air; means over the samples.

    `used`: what they use. `borrowed`: the part of `share` that links around it lend; `lent`: the part that
    the link lends of what it would have if none lent.
    """

    share: float
    used: float
    borrowed: float
    lent: float


class AllocatedShare(TypedDict):
    """The flow's share at a node; with `air` that of the link, for all its flows.

    Parts of the samples: `part` in which it had one there, `smallest` in which it was the smallest of the
    path; of those with one, `allocated`: in which it came from a controller, None where the scheme has none.
    `scale`: the mean of the node's own factor, 1 if there was none. `air`: only where shares are
    parts of the time of the air.
    """

    src: str
    dst: str
    part: float
    smallest: float
    allocated: float | None
    share_bps: float
    scale: float
    air: NotRequired[AirShare]


class Allocation(TypedDict):
    """The shares that a controller and nodes have given the flow, sampled ten times a second.

    Where nodes stamp rates into packets (`stamped`: ATP, EXACT), a sample is a packet that has arrived.
    Rates are means over the seconds of the run; of a second, where packets carry them, the rate of the
    mean packet. `packet_bytes`: size of the flow's packets, as shares count them; `smallest_bps`: mean of
    the smallest share of the path where as many nodes had one as in most samples, None if none had one;
    `limits`: the most frequent first; `shares`: first the node that had the smallest most often;
    `inhibited_links`: those of the run's results that are links of its path, only if a controller looks
    for them and has had a round.
    """

    packet_bytes: int
    stamped: bool
    smallest_bps: float | None
    limits: list[AllocationLimit]
    shares: list[AllocatedShare]
    inhibited_links: NotRequired[list[InhibitedLink]]


class BestRate(TypedDict):
    """The max-min rate of the flow by the model of `airfair.optimum`, and what binds it.

    `share`: the flow's goodput as a part of it; `assumed`: what was assumed since the model cannot describe
    the scenario itself, such as "static routes"; `sends_files`: the flow may have had nothing to send.
    `clique` is its place in the list of the optimum, `links` are its links; `wire` is a wired link that binds
    the flow. `words`: the same as a sentence; `caution`: a sentence where the rate is rough, as hidden
    senders decide it; None elsewhere.
    """

    max_min_bps: float
    share: float
    assumed: list[str]
    sends_files: bool
    bound: Literal["demand", "clique", "wire"]
    clique: int | None
    senders: int | None
    links: list[LinkEnds]
    wire: LinkEnds | None
    words: str
    caution: str | None


class ExplainedFlow(TypedDict):
    """The run and the flow that an explanation is about."""

    scenario: str
    """Name of the scenario."""
    scheme: str
    """Name of the scheme."""
    seed: int
    """Seed of the run."""
    version: str
    """Version of Airfair."""
    flow: str
    """Name of the flow."""
    src: str
    """Source node."""
    dst: str
    """Destination node."""


def explained(result: RunResult, flow: FlowResult) -> ExplainedFlow:
    """The run and the flow, from the result of the run."""
    return {
        "scenario": result["scenario"],
        "scheme": result["scheme"],
        "seed": result["seed"],
        "version": result["version"],
        "flow": flow["id"],
        "src": flow["src"],
        "dst": flow["dst"],
    }


class Explanation(ExplainedFlow):
    """The explanation of a flow's goodput. A text of `advice` is followed by lines to copy.

    From `from_s` (its start, or the end of the warm-up) to `until_s` (its stop, or the end). `standing`
    is one of unreachable, silent, starved, nearly-starved, behind, fair, content. `asked`: the flow was
    named; otherwise it is the flow with the smallest ratio of goodput to fair share: the mean goodput, or
    the offered load if that is less.

    Where a protocol finds routes, `hops` has all that packets of the flow have taken, in the order of their
    first packets, and `awaited_route_ns` is the time in which a packet of it waited for a route.
    """

    from_s: float
    """Start of the observed time, seconds."""
    until_s: float
    """End of the observed time, seconds."""
    standing: str
    """Category of the flow's goodput."""
    goodput_bps: float
    """Goodput of the flow, bits per second."""
    mean_delay_s: float | None
    """Mean one-way delay of its delivered packets, seconds; None if none was delivered."""
    p99_delay_s: float | None
    """99th percentile of these delays, seconds; None if no packet was delivered."""
    loss_ratio: float | None
    """Share of dropped packets among its packets with payload that ended, 0 to 1; None if none ended."""
    sent_packets: int
    """Packets that the source made."""
    mean_goodput_bps: float
    """Mean goodput of the flows with traffic, bits per second; with static routes without those that have no
    route."""
    offered_bps: float | None
    """Offered load, bits per second; None if the application does not set a rate."""
    flows: list[Goodput]
    """Goodputs of all flows."""
    hops: list[Hop]
    """Hops of the flow's path; with TCP also those of its acknowledgements."""
    awaited_route_ns: NotRequired[int]
    """Time in which a packet waited for a route, nanoseconds; only with a routing protocol."""
    route: NotRequired[Route]
    """The route of the flow; only with a proactive routing protocol."""
    drops: list[Drop]
    """Packets of the flow that were dropped."""
    tcp: Tcp | None
    """Waits of the flow's TCP; None for UDP."""
    allocation: NotRequired[Allocation]
    """The shares that a controller and nodes have given the flow; only where a scheme gives flows shares
    (C3L).
    """
    timeline: Timeline
    """The flow in each interval of the run."""
    warnings: list[str]
    """Warnings to consider before using the result."""
    links_vary: NotRequired[list[str]]
    """Reasons why links come and go, such as "nodes move"; only where there is one."""
    asked: bool
    """True if the flow was named."""
    verdict: str
    """The verdict in words."""
    reasons: list[str]
    """Reasons in words, the most important first."""
    advice: list[str]
    """Changes to try, in words; with `--try` those that were measured to help come first."""
    tried: NotRequired[Advice]
    """Measurements of these and other changes (`airfair advise`); only with `--try`."""
    optimum: BestRate | None
    """The rate that the air allows the flow, or would allow it in the nearest network that the model
    describes (`assumed`); None where there is none."""
    optimum_reason: str | None
    """The reason where `optimum` is None."""
    baseline: NotRequired[Baseline]
    """A run with drop-tail; only with another scheme, where `optimum` is None and `standing` is fair."""


def share(hop: Hop, *states: str) -> float:
    """Share of the observed time that a hop spends in some states while it has packets of the flow."""
    ns = sum(hop["own_turn_ns"].get(state, 0) + hop["others_turn_ns"].get(state, 0) for state in states)
    return ns / hop["observed_ns"] if hop["observed_ns"] else 0.0


def present(hop: Hop) -> float:
    """Share of the observed time in which a hop has packets of the flow."""
    return 1 - hop["no_packet_ns"] / hop["observed_ns"] if hop["observed_ns"] else 0.0


def behind(hop: Hop) -> float:
    """Share of the observed time in which the flow's packets are behind others."""
    return sum(hop["others_turn_ns"].values()) / hop["observed_ns"] if hop["observed_ns"] else 0.0


def held_packets(hop: Hop) -> float:
    """Mean number of packets that a hop's queue held when it dropped one of the flow."""
    return sum(waiting["packets"] for waiting in hop["queue"]["held"])


def held_ns(holder: Holder) -> int:
    """All the time for which others kept the sender waiting, alone or jointly."""
    return holder["alone_ns"] + holder["joint_ns"] + holder["nav_ns"] + holder["eifs_ns"]


def preceding_ns(other: OtherCategory) -> int:
    """All the time for which another category of the sender preceded."""
    return other["access_ns"] + other["txop_ns"] + other["collision_ns"]


def sent_part(explanation: Explanation) -> float | None:
    """The source's rate over the smallest share of its path; None where no node gave it one."""
    smallest = explanation["allocation"]["smallest_bps"] if "allocation" in explanation else None
    seconds = explanation["until_s"] - explanation["from_s"]
    if "allocation" not in explanation or not smallest or seconds <= 0:
        return None
    return 8 * explanation["sent_packets"] * explanation["allocation"]["packet_bytes"] / seconds / smallest


def has_source_rate(explanation: Explanation) -> bool:
    """True if the flow's source has a rate from its path; a share of a link's air is kept to by queues."""
    return "allocation" in explanation and not has_air(explanation["allocation"])


def has_air(allocation: Allocation) -> bool:
    """True if the shares are those of links, parts of the time of the air."""
    return bool(allocation["shares"]) and all("air" in at for at in allocation["shares"])


def without_route(explanation: Explanation) -> float:
    """Share of the observed time in which the flow had no route; 0 where routes are fixed, or are looked for
    when a packet needs one."""
    ns = 1e9 * (explanation["until_s"] - explanation["from_s"])
    return explanation["route"]["without_ns"] / ns if "route" in explanation and ns > 0 else 0.0


def has_labels(explanation: Explanation) -> bool:
    """True if a queue ahead labels packets (DiffQ), those of other flows if not of this one."""
    return any("labelled_by" in hop["queue"] for hop in explanation["hops"] if hop["forward"])


def waited(tcp: Tcp, state: str) -> float:
    """Share of the connections' time that TCP waited for something."""
    return tcp["waited_ns"][state] / tcp["observed_ns"] if tcp["observed_ns"] else 0.0
