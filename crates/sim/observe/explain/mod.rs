//! Why a flow gets what it gets: what each hop of its path does with its time, who keeps it waiting, why its attempts fail, what
//! its TCP waits for.
//!
//! Off unless [`crate::World::explain`] asks for it. Then the stations of the path are observed before and after every event:
//! between two events what a station does is a function of time alone, so every nanosecond is given to exactly one state. The run
//! itself is not touched: its numbers stay the same.
//!
//! | file | its one idea |
//! |---|---|
//! | `explainer` | what is observed, and when |
//! | `station` | one radio: what it does at each moment, whose signals it hears |
//! | `wire` | one direction of a wired link |
//! | `hop` | what of it concerns the flow: shares, holders |
//! | `attempts` | frames that got no answer, and what became of them at their receiver |
//! | `sending` | what a TCP sender waits for |
//! | `standing` | how the flow fares beside the others |

mod attempts;
mod explainer;
mod hop;
mod sending;
mod standing;
mod station;
mod view;
mod wire;

use std::collections::BTreeMap;

pub use attempts::{Missing, Why};
pub(crate) use explainer::Explainer;
pub use sending::Sending;
pub use standing::{Standing, share_of_due};
pub use station::Doing;

/// Nanoseconds for each [`Doing`], in the order of [`Doing::ALL`].
pub type Shares = [u64; Doing::ALL.len()];

/// Why a flow gets what it gets. All times and counts are from `from` to `until`.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The flow.
    pub flow: String,
    /// From the flow's start or the end of the warm-up, ns.
    pub from: u64,
    /// To its stop or the present, ns; `from` if it has not begun.
    pub until: u64,
    /// How it fares.
    pub standing: Standing,
    /// Its goodput, bit/s.
    pub goodput_bps: f64,
    /// The mean goodput of the run's flows, bit/s.
    pub mean_goodput_bps: f64,
    /// What it asks for, bit/s, where its application sets that.
    pub offered_bps: Option<f64>,
    /// Hops from the source to the destination, then, with TCP, those that acknowledgements go back. Where routes are found while the
    /// world runs: all that packets of the flow have had so far, in the order of their first packets.
    pub hops: Vec<HopExplanation>,
    /// Time in which a packet of the flow waited for a route, ns, where routes are found while the world runs.
    pub awaited_route: Option<u64>,
    /// Packets of the flow that were dropped.
    pub drops: Vec<Drops>,
    /// What its TCP waited for.
    pub tcp: Option<TcpExplanation>,
}

/// Packets of the flow that were dropped.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Drops {
    /// Where.
    pub node: String,
    /// Why.
    pub reason: &'static str,
    /// Data; otherwise segments of TCP without data.
    pub data: bool,
    /// How many.
    pub packets: u64,
}

/// One hop. `no_packet`, `own_turn` and `others_turn` add up to `observed` in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct HopExplanation {
    /// From the source towards the destination; otherwise a hop of the acknowledgements.
    pub forward: bool,
    /// Who sends.
    pub from: String,
    /// To whom.
    pub to: String,
    /// By wire.
    pub wired: bool,
    /// Time observed, ns.
    pub observed: u64,
    /// No packet of the flow is here.
    pub no_packet: u64,
    /// The first packet here is the flow's.
    pub own_turn: Shares,
    /// The flow has packets here, but another packet is before them.
    pub others_turn: Shares,
    /// Whose those packets are: flow (none: control packets) and whether on its way forward; adds up to `others_turn`.
    pub behind: BTreeMap<(Option<String>, bool), u64>,
    /// Nodes that kept the medium busy, reserved or spoilt while the flow had packets here. Time of [`Doing::Busy`] is what single
    /// nodes took `alone`, and `overlapped`; [`Doing::Nav`] and [`Doing::Eifs`] are the sums of `nav` and `eifs`.
    pub holders: BTreeMap<Option<String>, Held>,
    /// Time in which two or more nodes kept it busy together.
    pub overlapped: u64,
    /// The same by the flow that those transmissions served (none: control packets).
    pub holding_flows: BTreeMap<Option<String>, Held>,
    /// Time in which transmissions for two or more flows did.
    pub flows_overlapped: u64,
    /// What was sent for the flow, and what failed. None by wire.
    pub attempts: Option<Attempts>,
    /// The queue here.
    pub queue: QueueExplanation,
}

/// The queue of a hop's sender, and who filled it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueExplanation {
    /// The table of the scenario that has its settings: `radio`, `radios.NAME` or `link.NUMBER`.
    pub settings: String,
    /// Sources of the node wait for room here, instead of losing packets.
    pub backpressure: bool,
    /// How much of a flow of the node may wait here, ns at its pacing rate: [`crate::spec::LocalLimit`].
    pub local_limit: Option<u64>,
    /// Packets of the flow that it has dropped.
    pub dropped: u64,
    /// Packets that waited in it at these moments, summed over them, by flow (none: control packets) and whether on the way forward.
    pub full_of: BTreeMap<(Option<String>, bool), Waiting>,
}

/// Packets of one flow that wait in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// How many.
    pub packets: u64,
    /// The flow's packets start at this node.
    pub local: bool,
    /// TCP carries the flow.
    pub tcp: bool,
}

/// Time for which a node (or a flow) kept a station from sending, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// Its signal alone was on the air.
    pub alone: u64,
    /// Its signal was on the air with that of another.
    pub joint: u64,
    /// A duration field of its frames reserved the medium, which was idle.
    pub nav: u64,
    /// A frame of it that could not be received was followed by an EIFS.
    pub eifs: u64,
}

impl Held {
    /// All of it.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.alone + self.joint + self.nav + self.eifs
    }
}

/// Frames for the flow's packets on one hop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attempts {
    /// Exchanges begun, with an RTS or with the data frame.
    pub exchanges: u64,
    /// RTS sent.
    pub rts: u64,
    /// Data frames sent.
    pub data: u64,
    /// CTS that did not come.
    pub no_cts: u64,
    /// ACK that did not come.
    pub no_ack: u64,
    /// Packets given up.
    pub given_up: u64,
    /// Why, and how often; the counts add up to `no_cts` and `no_ack`.
    pub causes: Vec<(Cause, u64)>,
}

/// Why an answer did not come.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cause {
    /// What did not come.
    pub missing: Missing,
    /// What had happened.
    pub why: Why,
    /// The node whose frame did it, if one did.
    pub by: Option<String>,
    /// The flow that this frame served.
    pub of: Option<String>,
    /// The sender who got no answer does not sense that node.
    pub hidden: bool,
}

/// What a flow's TCP waited for. The times of `waited` add up to `observed`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TcpExplanation {
    /// Life of its connections, summed, ns.
    pub observed: u64,
    /// Time for each [`Sending`], in the order of [`Sending::ALL`], ns.
    pub waited: [u64; Sending::ALL.len()],
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Of these, while packets of the connection were still under way.
    pub timeouts_under_way: u64,
    /// Losses told by acknowledgements.
    pub fast_losses: u64,
    /// Reductions for echoed marks.
    pub marks: u64,
    /// When the timer expired, ns; the first [`TcpExplanation::LISTED`].
    pub timeout_times: Vec<u64>,
    /// Waits of [`Sending::Timeout`], from and until, ns; the first [`TcpExplanation::LISTED`].
    pub timeout_waits: Vec<(u64, u64)>,
}

impl TcpExplanation {
    /// Most times that are listed one by one.
    pub const LISTED: usize = 10_000;
}
