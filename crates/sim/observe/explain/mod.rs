//! Explanation of a flow's throughput: how each hop of its path spends its time, which nodes keep it waiting, why attempts fail, and what
//! its TCP waits for.
//!
//! Disabled unless [`crate::World::explain`] is called. Then the stations of the path are observed after every event: between two events a
//! station's state is a function of time alone, so every nanosecond is assigned to exactly one state. The run itself does not change.
//!
//! | file | contents |
//! |---|---|
//! | `explainer` | the observer |
//! | `station` | one radio: its activity at each moment, the signals that it receives |
//! | `wire` | one direction of a wired link |
//! | `hop` | shares of a hop's time that concern the flow |
//! | `levels` | queue differentials and levels of the flow's packets on a hop |
//! | `allocation` | what a controller and agents give the flow |
//! | `attempts` | frames without a response, and the reasons at their receivers |
//! | `route` | the flow's route where a protocol maintains routes |
//! | `sending` | what a TCP sender waits for |
//! | `standing` | the flow's share beside the others |

mod allocation;
mod attempts;
mod explainer;
mod hop;
mod levels;
mod route;
mod sending;
mod standing;
mod station;
mod view;
mod wire;

use std::collections::BTreeMap;

use crate::measure::summary::InhibitedLink;

pub use attempts::{FailureCause, MissingResponse};
pub(crate) use explainer::Explainer;
pub use sending::Sending;
pub use standing::{Compared, Standing, share_of_due};
pub use station::Activity;

/// Nanoseconds for each [`Activity`], in the order of [`Activity::ALL`].
pub type Shares = [u64; Activity::ALL.len()];

/// Explanation of a flow's throughput. All times and counts are from `from` to `until`.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Name of the flow.
    pub flow: String,
    /// Start of the explained time: the flow's start or the end of the warm-up, ns.
    pub from: u64,
    /// End of the explained time: the flow's stop or the present, ns; `from` if it has not started.
    pub until: u64,
    /// Category of the flow's share.
    pub standing: Standing,
    /// Goodput of the flow, bit/s.
    pub goodput_bps: f64,
    /// The flows with which it is compared.
    pub compared: Compared,
    /// Offered load of the flow, bit/s, if its application sets a rate.
    pub offered_bps: Option<f64>,
    /// Hops from the source to the destination, then, with TCP, those of acknowledgements. With a routing protocol: all hops that packets
    /// of the flow have used, in the order of their first packets.
    pub hops: Vec<HopExplanation>,
    /// Time in which a packet of the flow waited for a route, ns, with a routing protocol.
    pub awaited_route: Option<u64>,
    /// The route of the flow, if a protocol maintains routes.
    pub route: Option<RouteExplanation>,
    /// Dropped packets of the flow, by node and reason.
    pub drops: Vec<Drops>,
    /// The waiting times of the flow's TCP, by reason.
    pub tcp: Option<TcpExplanation>,
    /// The shares that a controller and agents have given the flow, if they give flows shares.
    pub allocation: Option<AllocationExplanation>,
}

/// The route of a flow over time, where a protocol maintains routes also without packets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteExplanation {
    /// Time in which next hops did not lead from the source to the destination, ns.
    pub without: u64,
    /// Losses of the route by the link of the former path, sender and receiver, that was no next hop any more.
    pub lost: Vec<((String, String), u64)>,
}

/// Shares of the flow, sampled.
#[derive(Debug, Clone, PartialEq)]
pub struct AllocationExplanation {
    /// Number of samples.
    pub samples: u64,
    /// Number of samples of shares; where hops stamp rates, of the flow's packets.
    pub share_samples: u64,
    /// Bytes of the flow's packets, as shares count them: IP packets.
    pub packet_bytes: u32,
    /// True if the shares are rates that hops have stamped into packets.
    pub stamped: bool,
    /// Mean of the smallest share of the flow's path, bit/s: of the samples in which as many nodes had one as in most.
    pub smallest_bps: Option<f64>,
    /// The sets of links that limited it, the most frequent first.
    pub limits: Vec<LimitExplanation>,
    /// The flow's shares at the nodes, first where it was the smallest most often.
    pub shares: Vec<ShareExplanation>,
    /// Links of its path that are inhibited, or that a controller takes for it, as in the results of the run; none if no controller looks
    /// for them, or none has had a round.
    pub inhibited: Option<Vec<InhibitedLink>>,
}

/// A set of links whose common capacity was used up when a controller gave the flow its rate.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitExplanation {
    /// Node of the controller.
    pub controller: String,
    /// The stop of the controller, ns, if it has stopped.
    pub stopped: Option<u64>,
    /// The links, sender and receiver of each; empty: the flow has what it asks for.
    pub links: Vec<(String, String)>,
    /// Samples in which it limited the flow.
    pub samples: u64,
    /// Mean rate that the flow got, bit/s.
    pub rate_bps: f64,
    /// Mean estimate of the capacity, part of what a lone link has.
    pub capacity: f64,
    /// Those of the links that were overloaded, and the samples in which they were.
    pub overloaded: Vec<((String, String), u64)>,
}

/// The flow's share at a node.
#[derive(Debug, Clone, PartialEq)]
pub struct ShareExplanation {
    /// The node.
    pub from: String,
    /// The next hop of the link.
    pub to: String,
    /// Samples in which it had a share there.
    pub samples: u64,
    /// Samples in which this was the smallest of the path.
    pub smallest: u64,
    /// Samples in which it was a part of a controller's allocation; none where the scheme has no controllers.
    pub allocated: Option<u64>,
    /// The air of the link, where shares are parts of its time.
    pub air: Option<AirExplanation>,
    /// Mean share, bit/s.
    pub share_bps: f64,
    /// Mean of the node's own factor.
    pub scale: f64,
}

/// A link's share of the time of the air; means over the samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AirExplanation {
    /// The link's part of the time.
    pub share: f64,
    /// The part that it uses.
    pub used: f64,
    /// The part of `share` that links around it lend.
    pub borrowed: f64,
    /// The part of its own share that it lends.
    pub lent: f64,
}

/// Packets of the flow that were dropped at a node for one reason.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Drops {
    /// Node that has dropped them.
    pub node: String,
    /// Reason of the drops.
    pub reason: &'static str,
    /// True for data, false for TCP segments without data.
    pub data: bool,
    /// True for segments that open a connection: SYN, and SYN with an acknowledgement.
    pub opening: bool,
    /// Number of packets.
    pub packets: u64,
}

/// One hop of the path. `no_packet`, `own_turn` and `others_turn` add up to `observed` in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct HopExplanation {
    /// True from the source towards the destination; false for a hop of the acknowledgements.
    pub forward: bool,
    /// Sending node.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// True for a wired link.
    pub wired: bool,
    /// Observed time, ns.
    pub observed: u64,
    /// Time without a packet of the flow here, ns.
    pub no_packet: u64,
    /// Time in which the first packet here is the flow's, ns.
    pub own_turn: Shares,
    /// Time in which the flow has packets here behind another packet, ns.
    pub others_turn: Shares,
    /// Flow of those other packets (none: control packets) and true on its way forward; the times add up to `others_turn`.
    pub behind: BTreeMap<(Option<String>, bool), u64>,
    /// Nodes that kept the medium busy or reserved, or caused an EIFS, while the flow had packets here. Time of [`Activity::Busy`] is the
    /// sum of the times of single nodes (`alone`) and `overlapped`; [`Activity::Nav`] and [`Activity::Eifs`] are the sums of `nav` and
    /// `eifs`.
    pub holders: BTreeMap<Option<String>, HoldTime>,
    /// Time in which two or more nodes kept the medium busy together, ns.
    pub overlapped: u64,
    /// The times of `holders` by the flow that those transmissions served (none: control packets).
    pub holding_flows: BTreeMap<Option<String>, HoldTime>,
    /// Time in which transmissions for two or more flows overlapped, ns.
    pub flows_overlapped: u64,
    /// Attempts to send the flow's packets. None by wire.
    pub attempts: Option<Attempts>,
    /// Queue of the hop's sender.
    pub queue: QueueExplanation,
    /// Access categories of the hop's sender, if it has several.
    pub categories: Option<CategoriesExplanation>,
    /// Queue differentials of the flow's packets, if the sender's queue compares itself with that of the next hop and has let go any.
    pub differential: Option<DifferentialExplanation>,
}

/// By how much the queue of the flow's destination was longer at a hop's sender than at its receiver, as far as the sender knew, when
/// packets of the flow left it; and the levels of the MAC at which they were sent.
#[derive(Debug, Clone, PartialEq)]
pub struct DifferentialExplanation {
    /// Packets of the flow that left the queue.
    pub packets: u64,
    /// Sum of their differences, packets.
    pub sum: i64,
    /// Level, the highest first, by the name of its access category (none at a sender without several), with its counters.
    pub levels: Vec<(Option<String>, LevelCounts)>,
}

impl DifferentialExplanation {
    /// Mean difference, packets.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.packets as f64
    }
}

/// Packets of the flow at one level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LevelCounts {
    /// Packets sent, each counted at its first frame.
    pub packets: u64,
    /// Time in which a packet of the flow waited in the MAC at this level while the medium was busy with a frame of a higher one, ns.
    pub higher: u64,
    /// The same while it was busy with other frames only.
    pub others: u64,
}

/// Access categories of a hop's sender. Lists go from the highest priority to the lowest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CategoriesExplanation {
    /// Names of all categories.
    pub names: Vec<String>,
    /// Time in which packets of the flow were here, by the category in which they waited, ns: the sum of `own_turn` and `others_turn`
    /// without [`Activity::Address`] and [`Activity::Held`].
    pub own: Vec<(String, u64)>,
    /// Other categories that preceded; their times add up to [`Activity::Category`] of `own_turn` and `others_turn`.
    pub others: Vec<(String, CategoryTime)>,
}

/// Times in which a station exchanged frames of another category, ns, and internal collisions that the flow's packets lost to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CategoryTime {
    /// The first exchange of an access that the category has won; a lower category may have won it, too.
    pub access: u64,
    /// Further exchanges of a TXOP.
    pub txop: u64,
    /// Accesses that the category has won in an internal collision, TXOPs included.
    pub collision: u64,
    /// Number of internal collisions.
    pub collisions: u64,
    /// Packets given up at the retry limit with an internal collision.
    pub given_up: u64,
}

impl CategoryTime {
    /// Sum of the times.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.access + self.txop + self.collision
    }
}

/// The queue of a hop's sender, and the flows that filled it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueExplanation {
    /// The table of the scenario that has its settings: `radio`, `radios.NAME` or `link.NUMBER`.
    pub settings: String,
    /// True if sources of the node wait for room here, instead of losing packets.
    pub backpressure: bool,
    /// Limit of a local flow's packets here, ns at its pacing rate: [`crate::spec::LocalLimit`].
    pub local_limit: Option<u64>,
    /// Packets of the flow dropped by the queue.
    pub dropped: u64,
    /// Packets in the queue at these drops, summed, by flow (none: control packets) and true on the way forward.
    pub full_of: BTreeMap<(Option<String>, bool), Waiting>,
    /// The node's scheme, if its queue labels packets for those of other nodes (DiffQ).
    pub labelled_by: Option<String>,
    /// True if it may hold packets back although the link is free.
    pub holds_back: bool,
    /// True if the queue decides the access categories of packets.
    pub gives_categories: bool,
}

/// Packets of one flow in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// Number of packets.
    pub packets: u64,
    /// True if the flow's packets start at this node.
    pub local: bool,
    /// True for a flow over TCP.
    pub tcp: bool,
}

/// Times in which a node (or a flow) prevented a station from sending, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HoldTime {
    /// The node's signal was the only one.
    pub alone: u64,
    /// The node's signal overlapped with others.
    pub joint: u64,
    /// A duration field of the node's frames reserved the idle medium.
    pub nav: u64,
    /// An EIFS followed a frame of the node that could not be received.
    pub eifs: u64,
}

impl HoldTime {
    /// Sum of the times.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.alone + self.joint + self.nav + self.eifs
    }
}

/// Attempts to send the flow's packets on one hop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attempts {
    /// Exchanges started, by an RTS or by the data frame.
    pub exchanges: u64,
    /// RTS sent.
    pub rts: u64,
    /// Data frames sent.
    pub data: u64,
    /// CTS that were not received.
    pub no_cts: u64,
    /// ACKs that were not received.
    pub no_ack: u64,
    /// Packets given up at the retry limit after a missing response; see [`CategoryTime::given_up`].
    pub given_up: u64,
    /// Reasons of missing responses, with their numbers; these add up to `no_cts` and `no_ack`.
    pub causes: Vec<(Cause, u64)>,
}

/// Reason of a missing response.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cause {
    /// The missing response.
    pub missing: MissingResponse,
    /// Reason of its absence.
    pub why: FailureCause,
    /// Node whose frame caused it, if any.
    pub by: Option<String>,
    /// Flow that this frame served.
    pub of: Option<String>,
    /// True if the sender without response does not sense that node.
    pub hidden: bool,
}

/// States in which a flow's TCP waited. The times of `waited` add up to `observed`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TcpExplanation {
    /// Lifetimes of its connections, summed, ns.
    pub observed: u64,
    /// Time for each [`Sending`], in the order of [`Sending::ALL`], ns.
    pub waited: [u64; Sending::ALL.len()],
    /// Expiries of the retransmission timer, those of SYNs not included.
    pub timeouts: u64,
    /// Expiries of the retransmission timer for a SYN: the SYNs sent again.
    pub syn_timeouts: u64,
    /// Connections that have not opened by their end or the end of the run, of those whose SYN has timed out.
    pub unopened: u64,
    /// Connections.
    pub connections: u64,
    /// Expiries while packets of the connection were still in flight.
    pub timeouts_under_way: u64,
    /// Losses indicated by acknowledgements.
    pub fast_losses: u64,
    /// Reductions for echoed marks.
    pub marks: u64,
    /// Times at which the timer expired, ns; the first [`TcpExplanation::LISTED`].
    pub timeout_times: Vec<u64>,
    /// Start and end of waits in [`Sending::Timeout`], ns; the first [`TcpExplanation::LISTED`].
    pub timeout_waits: Vec<(u64, u64)>,
    /// Of the connections that wait in [`Sending::Timeout`] at the end, the one whose timer expires last.
    pub timer: Option<RunningTimer>,
}

/// A retransmission timer for which a connection waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunningTimer {
    /// Start of the wait, ns.
    pub from: u64,
    /// Expiry of the timer, ns; it may be after the end of the run.
    pub until: u64,
    /// Expiries since the last acknowledgement of new data: each has doubled the timer, up to its maximum.
    pub expiries: u32,
    /// Doublings in all, up to the maximum: they stay until a segment that was sent once is acknowledged.
    pub doublings: u32,
}

impl TcpExplanation {
    /// Largest number of times that are listed.
    pub const LISTED: usize = 10_000;
}
