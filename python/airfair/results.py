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
    finished: int
    mean_completion_s: float
    p95_completion_s: float


class Files(TypedDict):
    """The files of a flow that sends many, each over a connection of its own, over the whole run."""

    started: int
    finished: int
    failed: int
    mean_completion_s: float | None
    p95_completion_s: float | None
    by_size: list[SizeClass]


class QueueResult(TypedDict):
    """The queue of an output interface, from the end of the warm-up on.

    `routing`, with a wired link where a protocol finds routes: as for a radio (`StationResult`).
    """

    node: str
    towards: str
    wired: bool
    packets: int
    mean_wait_s: float | None
    mean_packets: float
    routing: NotRequired[dict[str, int]]


class FlowResult(TypedDict):
    """A flow, from its start (or the end of the warm-up) to its stop (or the end of the run).

    `offered_bytes` is the load of its application, None where it is unlimited, and 0 where the flow has no
    traffic in that time: then it does not count for fairness.
    """

    id: str
    src: str
    dst: str
    goodput_bps: float
    delivered_bytes: int
    sent_packets: int
    retransmissions: int
    fallbacks: int
    mean_delay_s: float | None
    p99_delay_s: float | None
    completion_s: float | None
    hops: int | None
    delivered_packets: int
    dropped_packets: int
    loss_ratio: float | None
    rtt_s: float | None
    offered_bytes: int | None
    files: NotRequired[Files]


class Ends(TypedDict):
    """The ends of all packets: `made` is the sum of all others."""

    made: int
    delivered: int
    dropped: dict[str, int]
    queued: int
    in_mac: int
    on_wire: int
    awaiting_arp: int
    awaiting_route: NotRequired[int]


class AirtimeNs(TypedDict):
    """Nanoseconds in each radio state; they add up to the run."""

    transmit: int
    receive: int
    busy: int
    nav: int
    idle: int


class Messages(TypedDict):
    """Messages of a station's agent: sent, neighbours that missed one, heard of others, addressed to it."""

    sent: int
    missed: int
    heard: int
    received: int


class StationResult(TypedDict):
    """A radio, over the whole run: time in each state, frames by kind, losses by cause.

    `routing`, where a protocol finds routes: its messages that the radio sent, by kind; with a node's first
    interface what the node has counted beside them (0 with its others). The names are the protocol's.
    """

    node: str
    radio: str
    airtime_ns: AirtimeNs
    sent: dict[str, int]
    received: dict[str, int]
    lost: dict[str, int]
    duplicates: int
    no_cts: int
    no_ack: int
    cts_withheld: int
    given_up: int
    nav_extended: int
    messages: NotRequired[Messages]
    routing: NotRequired[dict[str, int]]


class Lateness(TypedDict):
    """The lateness of the deadlines of a paced run: the worst, and a histogram."""

    steps: int
    worst_s: float
    below_10us: int
    below_100us: int
    below_1ms: int
    below_10ms: int
    below_100ms: int
    above: int


class WindowJain(TypedDict):
    """Jain's index over the windows of one length, from the end of the warm-up on.

    None if no window has two active flows and a byte delivered; a tenth of the windows do not exceed `p10`.
    """

    window_s: float
    windows: int
    empty_windows: int
    mean: float | None
    p10: float | None
    min: float | None


class Perf(TypedDict):
    """The cost of a run: the only part that differs from run to run."""

    events: int
    transmissions: int
    wall_s: float
    peak_rss_bytes: int
    lateness: NotRequired[Lateness]


class RunResult(TypedDict):
    """The result of a run. A number that is not defined is None: Jain's index where nothing was delivered,
    for example."""

    scenario: str
    scheme: str
    seed: int
    version: str
    duration_s: float
    warmup_s: float
    flows: list[FlowResult]
    jain_index: float | None
    log_utility: float
    aggregate_goodput_bps: float
    min_goodput_bps: float
    starved_flows: int
    flows_below_1kbps: int
    mean_delay_s: float | None
    p99_delay_s: float | None
    rtt_s: float | None
    retransmissions: int
    loss_ratio: float | None
    completion_s: float | None
    drops: dict[str, int]
    channel_utilisation: dict[str, float]
    warnings: list[str]
    ends: Ends
    marks: dict[str, int]
    queues: list[QueueResult]
    stations: list[StationResult]
    window_jain: NotRequired[list[WindowJain]]
    perf: Perf


class NodePlace(TypedDict):
    """A node; `position_m` is x, y and z, None where the scenario does not say where it is.

    `path` is empty for a node that does not move; else the corners of its path, each of time (s), x, y and
    z (m). The node moves in straight lines from corner to corner; after the last one it stops, or, where
    `path_repeats_from` is an index, repeats the path from that corner on.
    """

    id: str
    position_m: list[float] | None
    path: list[list[float]]
    path_repeats_from: int | None


class Radio(TypedDict):
    """A radio of a node."""

    node: str
    radio: str
    channel: int
    data_rate_bps: int


class RadioPair(TypedDict):
    """The reception of one radio's frames by another without interference.

    `sender` and `hearer` are indices of radios. `delivery_ratio` is the probability that a data frame of
    1500 B at the sender's data rate arrives; `receives`: the ratio exceeds 0.1, which routes require in
    both directions. In a pair that does not receive, the hearer senses a preamble or energy: the medium is
    busy for it. Where nothing is sensed there is no pair.
    """

    sender: int
    hearer: int
    power_dbm: float
    delivery_ratio: float
    receives: bool


class WiredLink(TypedDict):
    """A wired link between two nodes; delay and rate of each direction, before the rate's first change."""

    ends: list[str]
    rate_bps: int
    delay_s: float


class Route(TypedDict):
    """The nodes that a flow's packets pass, both ends included; None where there is no route."""

    id: str
    src: str
    dst: str
    path: list[str] | None


class Network(TypedDict):
    """The network of a scenario as the simulator builds it. `pairs` go by sender, then by hearer."""

    nodes: list[NodePlace]
    radios: list[Radio]
    pairs: list[RadioPair]
    links: list[WiredLink]
    flows: list[Route]


class Estimate(TypedDict):
    """A mean over the seeds, and the half-width of its 95 % confidence interval (None for one run).

    `runs` is the number of runs that have the number, where not all do.
    """

    mean: float
    ci95: float | None
    runs: NotRequired[int]


class Differences(TypedDict):
    """Differences to the first scheme, paired by seed; None where no seed has both numbers."""

    jain_index: Estimate | None
    log_utility: Estimate
    aggregate_goodput_bps: Estimate
    min_goodput_bps: Estimate
    starved_flows: Estimate
    mean_delay_s: Estimate | None
    p99_delay_s: Estimate | None
    rtt_s: Estimate | None
    retransmissions: Estimate
    loss_ratio: Estimate | None
    completion_s: Estimate | None


class FlowDifferences(TypedDict):
    """A flow's numbers over the seeds; None where no run has the number. As differences to the first scheme,
    paired by seed: None where no seed has both.

    `completion_s` of a flow that sends many files is the mean of those that were finished.
    """

    goodput_bps: Estimate
    mean_delay_s: Estimate | None
    p99_delay_s: Estimate | None
    rtt_s: Estimate | None
    retransmissions: Estimate
    loss_ratio: Estimate | None
    completion_s: Estimate | None


class FlowRow(FlowDifferences):
    """A flow over the seeds: its numbers, and their differences to the first scheme."""

    id: str
    difference: FlowDifferences


class WindowRow(TypedDict):
    """Jain's index in windows of one length over the seeds; None where no run has a window that counts.

    `jain_index` is of the means of the runs, `p10` of what a tenth of a run's windows do not exceed.
    """

    window_s: float
    jain_index: Estimate | None
    p10: Estimate | None
    difference: Estimate | None


class ContentRow(TypedDict):
    """Flows whose offered load is below their fair share and is delivered, with every scheme and seed: they
    lower Jain's index although they are not treated unfairly. `jain_index` is that of the other flows."""

    flows: list[str]
    jain_index: Estimate | None


class ChannelRow(TypedDict):
    """Shares of time of a radio in its five states, over the whole run: warm-up included."""

    node: str
    radio: str
    transmit: Estimate
    receive: Estimate
    busy: Estimate
    nav: Estimate
    idle: Estimate


class Precision(TypedDict):
    """The widths of intervals of a comparison with `until_halfwidth`: half-widths as shares of the means.

    None where the mean is 0 and the interval is not, or where fewer than two runs have the number.
    """

    target: float
    met: bool
    relative_ci95: dict[str, float | None]


class CompareRow(Differences):
    """One scheme over the seeds; a number is None where no run has it.

    A sweep's rows have neither drops nor channel: it keeps no radios.
    """

    scheme: str
    runs: int
    baseline: str
    difference: Differences
    flows: list[FlowRow]
    seeds: list[int]
    warnings: list[str]
    window_jain: NotRequired[list[WindowRow]]
    drops: NotRequired[dict[str, Estimate]]
    content: NotRequired[ContentRow]
    channel: NotRequired[list[ChannelRow]]
    precision: NotRequired[Precision]
    perf: Perf


class ParamInfo(TypedDict):
    """A parameter of a scheme, for `--set SCHEME.NAME=VALUE`."""

    name: str
    doc: str
    kind: str
    default: str
    range: list[str] | None
    """The least and the largest value; `None` for flags and choices."""


class SchemeInfo(TypedDict):
    """A scheme of the table."""

    name: str
    about: str
    source: str
    places: list[str]
    params: list[ParamInfo]


class ImportLinked(TypedDict):
    """Pairs that the links of a map name, and their nodes, whether or not the links are written."""

    pairs: int
    nodes: int
    largest_component: int


class ImportWritten(TypedDict):
    """The contents of an imported scenario. `largest_component` is that of links usable both ways."""

    nodes: int
    radios: int
    radio_links: int
    gains: int
    wired_links: int
    movements: int
    flows: int
    largest_component: int


class ImportRecord(TypedDict):
    """A record of a map, and what is wrong with it."""

    record: str
    detail: str


class ImportGroup(TypedDict):
    """Records that share a reason."""

    reason: str
    words: str
    count: int
    records: list[ImportRecord]


class ImportReport(TypedDict):
    """The report of an import: what was read, written and left out."""

    file: str
    format: str
    link_model: str
    date: str | None
    read: dict[str, int]
    ids: int
    linked: ImportLinked
    written: ImportWritten
    missing_ids: dict[str, int]
    rejected: list[ImportGroup]
    changed: list[ImportGroup]
    renamed: list[dict[str, str]]
    assumed: list[str]
    gateway: str | None


def scalars(kind: type) -> dict[str, type]:
    """The keys of a result that hold a text or a number, in order, each with its type: str, int or float."""
    found: dict[str, type] = {}
    for name, hint in get_type_hints(kind).items():
        kinds: Any = get_args(hint) if get_origin(hint) is UnionType else (hint,)
        (one, *others) = (k for k in kinds if k is not NoneType)
        if one in (str, int, float) and not others:
            found[name] = one
    return found
