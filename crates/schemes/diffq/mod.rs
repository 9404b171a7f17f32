//! DiffQ: queues by destination, and access to the medium by the difference between a queue and that of the next hop.
//!
//! Source: Warrier, Ha, Wason, Rhee, "DiffQ: Differential Backlog Congestion Control for Wireless Multi-hop Networks".
//! Places: the queue of radio interfaces, their agent (calls, sizes by broadcast), and the source over TCP (DiffQ-TCP, §6.1: TCP's
//! reliability, DiffQ's rate, no window) and over UDP (DiffQ-UDP). Packets of DiffQ's flows carry a trailer; all others pass a DiffQ node
//! at level 0 (§5.5).
//!
//! | symbol | here | unit |
//! |---|---|---|
//! | Q_i(d), D | `destinations`, `depth` | packets |
//! | QD_i(d), Δ | `scheduler::Rank::differential`, `levels` | packets, levels |
//! | QUEUE_THRESH, α, β | `threshold`, `alpha`, `beta` | packets, bit/s a step, – |
//!
//! | file | contents |
//! |---|---|
//! | `destinations` | §4, destination queues |
//! | `backlogs` | §4, sizes of neighbours' queues |
//! | `scheduler` | §4.1, which queue is served, and its level |
//! | `queue` | the three together at an interface, with packets that are not DiffQ's |
//! | `sender` | §4.1, source rate control |
//! | `window` | the window of a source by its path (ours) |
//! | `trailer` | §5.3, the trailer |
//! | `starving`, `calls` | nodes that starve, and what sources know of their calls (ours) |
//! | `announcement` | sizes by broadcast instead of by overhearing (ours) |
//! | `agent` | the agent at a radio: announcements, calls, or both |
//!
//! Readings that no single file owns:
//! - D is 100 packets. The paper gives no number; a level is then 12.5 packets. With QUEUE_THRESH = D/4 a source reaches level 2; levels
//!   1 to 3 differ from each other from the third retry on only (table 1: windows of 31 slots, doubled up to 511, 255 or 127). So sources
//!   never have priority over each other; relays with a differential above 3D/8 have.
//! - As printed, *On reception* enqueues every packet that does not come from the next hop, and learns only from the next hop. Here a node
//!   enqueues what is addressed to it and learns from every frame that it decodes, as the text of §4 says.
//! - Queues and D are those of an interface; the paper's nodes use one. |Q_i| leaves out the packet that the radio holds.
//! - §4.2, several forwarders: DiffQ over MORE and ExOR is in `opportunistic::backpressure`; its trailers have the type "source-routed".
//! - A node hands one packet of its destination queues to its radio at a time (`in_radio`): what waits in the radio has a level that was
//!   decided before.
//! - The paper's nodes have one radio on DiffQ's channel. At wires the queue is drop-tail: no neighbour overhears there. A wire that is
//!   slower than the air before it gives no backpressure: its queue overflows, and over TCP the flow starves.
//! - A size is known by the node that has announced it, and each radio of a node announces its own queues: a relay that forwards by a radio
//!   on another channel is not heard by the node before it, which takes the relay's queue for empty. The host warns of both.
//! - The paper's routing finds another next hop by the same radio. A queue follows changes of routes that the host tells; packets whose
//!   route has moved to another interface are taken back and forwarded by that. On-demand routing tells none: the next hop of the newest
//!   packet counts for all that wait for its destination.

mod agent;
mod announcement;
pub mod backlogs;
mod calls;
mod destinations;
mod presets;
mod queue;
pub mod scheduler;
pub mod sender;
mod starving;
pub mod trailer;
pub mod window;

use alloc::boxed::Box;

use airfair_units::{Rate, Span};

use crate::droptail::DropTail;
use crate::newreno;
use crate::params::{ParamError, Params};
use crate::places::{
    Agent, Capability, Interface, Medium, MessageKinds, OutputQueue, Priority, Source, UdpEnds, Wants,
};
use crate::scheme::Scheme;
use crate::{params, words};

use agent::DiffQAgent;
use announcement::Announcer;
use backlogs::Backlogs;
use queue::{Announced, DiffQ as DiffQQueue, QueueConfig};
use scheduler::{AckLevel, Order, Parts, Quantiser, Rounding, Serve};
use sender::{AlphaBy, Counts, DiffQSender, Law, SenderConfig, Steps};
use starving::Caller;
use window::PathWindow;

pub use presets::{OF_VARIANTS, PRESETS};

params! {
    /// The parameters of DiffQ over destination queues and over forwarders, where the queue of a source is what it is granted.
    pub(crate) struct CommonParameters {
        /// what a source's rate follows: "aimd" (section 4.1, Source Rate Control) or "log", the rate that maximises the sum of the
        /// logarithms of the rates
        reading law: Law = Law::Aimd;
        /// what calls the law: the clock, each "interval", or the "packets" that the source sends
        reading steps: Steps = Steps::Interval;
        /// D, the most packets in a destination queue, and the size of the highest level; over forwarders also the most that a source is
        /// granted and has not sent; the paper gives no number: 100 is ours
        paper depth: u64 = 100, in 1..=65_535;
        /// QUEUE_THRESH, packets in the source's own queue above which its rate falls; the paper gives no number: D/4 is ours
        paper threshold: u64 = 25, in 0..=65_535;
        /// alpha, what a source's rate gains in a step (section 6.1: 0.01, without a unit)
        paper alpha: Rate = Rate(10_000), in Rate(0)..=Rate(1_000_000_000);
        /// beta, what a decrease multiplies a source's rate by (section 6.1: 0.5); printed in section 4.1: rate/beta
        paper beta: f64 = 0.5, in 0.01..=1.0;
        /// time between two steps of a source's law; section 4.1 has no clock: 10 ms is ours
        reading interval: Span = Span::from_millis(10), in Span::from_millis(1)..=Span::from_secs(10);
        /// least time between two decreases of a source's rate (ours), in which the queue follows the last one
        reading hold: Span = Span::from_millis(100), in Span::ZERO..=Span::from_secs(60);
        /// a source's first rate; the paper gives none: 100 kbit/s is ours
        reading rate_start: Rate = Rate(100_000), in Rate(1)..=Rate(10_000_000_000);
        /// a source's largest rate: the data rate of the radio
        operator rate_max: Rate = Rate(11_000_000), in Rate(1)..=Rate(10_000_000_000);
        /// rate of the law "log" with `threshold` packets in the queue (ours): the weight of a flow, which such a law leaves open
        reading log_rate: Rate = Rate(1_000_000), in Rate(1)..=Rate(10_000_000_000);
        /// which queues, or flows over forwarders, are served: "always" all, or those with a "positive" differential, as in the theory of
        /// backpressure
        reading serve: Serve = Serve::Always;
        /// Delta, levels of the MAC (section 5.5): at most the radio's categories; 4 with those of "edca"
        paper levels: u64 = 8, in 1..=8;
        /// whether a differential between two levels goes "up" (pseudo-code) or "down"
        reading rounding: Rounding = Rounding::Up;
        /// time after which a neighbour's size (over forwarders: its backlog) that was not heard again counts as 0 (ours: a
        /// neighbour may be gone)
        reading expiry: Span = Span::from_secs(1), in Span::from_millis(1)..=Span::from_secs(3600);
        /// most sizes of neighbours' queues that a node stores
        operator sizes: u64 = 1024, in 1..=65_536;
    }
}

impl CommonParameters {
    /// The law of sources. `only_used`: see [`SenderConfig`].
    pub(crate) fn sender(&self, only_used: bool) -> Result<SenderConfig, ParamError> {
        let bps = |rate: Rate| rate.0 as f64;
        if self.rate_start > self.rate_max {
            return Err(ParamError::above("rate_start", "rate_max"));
        }
        Ok(SenderConfig {
            law: self.law,
            steps: self.steps,
            threshold: self.threshold as u32,
            counts: Counts::All,
            alpha: bps(self.alpha),
            alpha_by: AlphaBy::Fixed,
            gain: 0.0,
            quiet: Span::ZERO,
            limited_for: Span::ZERO,
            beta: self.beta,
            interval: self.interval,
            hold: self.hold,
            rates: [bps(self.rate_start), bps(self.rate_max)],
            only_used,
            log_rate: bps(self.log_rate),
        })
    }

    /// Levels.
    pub(crate) const fn quantiser(&self) -> Quantiser {
        Quantiser { levels: self.levels as u8, depth: self.depth as u32, rounding: self.rounding }
    }
}

params! {
    /// The parameters of all variants over destination queues.
    pub(crate) struct DiffQParameters {
        ..common: CommonParameters;
        /// a source's rate grows only while the source sends at it (ours; the paper's law grows always)
        reading only_used: bool = false;
        /// which packets in its own queue a source counts: "all" (section 4.1: the queue of its destination), or its node's "own" (ours),
        /// while they are more than those that the node passes on
        reading counts: Counts = Counts::All;
        /// scale of alpha: "fixed" for all, or by the rate of the first "link" (ours): alpha is that of 11 Mbit/s, and other rates have
        /// (rate / 11 Mbit/s)^1.5 as much
        reading alpha_by: AlphaBy = AlphaBy::Fixed;
        /// the part of its rate that a source gains in a step while its last decrease is longer ago than `quiet`, if that is more than
        /// alpha (ours); 0: never
        reading gain: f64 = 0.0, in 0.0..=1.0;
        /// time without a decrease after which a source gains by `gain` (ours)
        reading quiet: Span = Span::from_secs(4), in Span::from_millis(1)..=Span::from_secs(3600);
        /// packets of a flow over TCP that its window keeps waiting on the way (ours; window.rs has the law); 0: no window, as in
        /// section 6.1
        reading window: u64 = 0, in 0..=1000;
        /// packets more than `threshold` that may wait in the queue of a source over UDP, which has no window (ours)
        reading slack: u64 = 0, in 0..=1000;
        /// alpha over UDP, of any scale (ours); 0: alpha as over TCP
        reading udp_alpha: Rate = Rate(0), in Rate(0)..=Rate(1_000_000_000);
        /// time for which a source is limited after a node near it has called because it starves (ours; starving.rs); 0: nobody calls,
        /// and sources are limited always
        reading calls: Span = Span::ZERO, in Span::ZERO..=Span::from_secs(3600);
        /// which queue is served next: of the largest "differential" (pseudo-code), or of the highest "priority" (text of section 4.1)
        reading order: Order = Order::Differential;
        /// level of acknowledgements: that of their queue's "differential", "lowest", or "highest"
        reading acks: AckLevel = AckLevel::Differential;
        /// most packets of destination queues that the radio holds at once
        reading in_radio: u64 = 1, in 1..=64;
        /// size that a trailer announces: "after" or "before" (pseudo-code) its packet has left the queue
        reading announced: Announced = Announced::After;
        /// how neighbours learn a queue's size: "overheard" from trailers (section 4) or by a "broadcast" of its own
        reading sizes_by: SizesBy = SizesBy::Overheard;
        /// time between two broadcasts of sizes, with sizes_by = "broadcast"
        reading announcement_interval: Span = Span::from_millis(100), in Span::from_millis(1)..=Span::from_secs(60);
        /// packets in a destination queue from which on arrivals are marked, if they can be (ours); 0: none
        reading mark_above: u64 = 0, in 0..=65_535;
    }
}

words! {
    /// How the size of a queue reaches the neighbours.
    pub enum SizesBy {
        /// In the trailer of each packet (§4).
        Overheard = "overheard",
        /// In messages.
        Broadcast = "broadcast",
    }
}

/// DiffQ, or a variant of it.
#[derive(Debug, Clone, Copy)]
pub struct DiffQ {
    queue: QueueConfig,
    /// The source over TCP and over UDP.
    sender: SenderConfig,
    udp_sender: SenderConfig,
    /// Packets that a window keeps waiting; 0: there is no window.
    window: u32,
    expiry: Span,
    sizes: usize,
    /// Time between two broadcasts of sizes, if they are not overheard.
    announcements: Option<Span>,
}

impl DiffQ {
    /// The scheme that these parameters describe.
    ///
    /// # Errors
    /// A value that is out of its range.
    pub fn from_params(params: &Params, parts: Parts) -> Result<Self, ParamError> {
        Self::new(&DiffQParameters::read(params)?, parts)
    }

    /// The same of parameters that have been read.
    pub(crate) fn new(set: &DiffQParameters, parts: Parts) -> Result<Self, ParamError> {
        let CommonParameters { serve, expiry, sizes, .. } = set.common;
        let quantiser = set.common.quantiser();
        let scheduler = scheduler::Scheduler { parts, order: set.order, serve, acks: set.acks, quantiser };
        let DiffQParameters { counts, alpha_by, gain, quiet, calls, .. } = *set;
        if calls > Span::ZERO
            && set.sizes_by == SizesBy::Broadcast
            && set.announcement_interval > starving::SAMPLE
        {
            let expected = "with `calls` and sizes_by = \"broadcast\": expected at most 100 ms";
            return Err(ParamError::new("announcement_interval", expected));
        }
        let common = set.common.sender(set.only_used)?;
        let sender = SenderConfig { counts, alpha_by, gain, quiet, limited_for: calls, ..common };
        let mut udp_sender = SenderConfig { threshold: sender.threshold + set.slack as u32, ..sender };
        if set.udp_alpha > Rate(0) {
            (udp_sender.alpha, udp_sender.alpha_by) = (set.udp_alpha.0 as f64, AlphaBy::Fixed);
        }
        Ok(Self {
            queue: QueueConfig {
                scheduler,
                announced: set.announced,
                mark_above: Some(set.mark_above as u32).filter(|&packets| packets > 0),
                in_radio: set.in_radio as usize,
                limit_packets: 0,
                calls,
                takes_turns: false,
            },
            sender,
            udp_sender,
            window: set.window as u32,
            expiry,
            sizes: sizes as usize,
            announcements: (set.sizes_by == SizesBy::Broadcast && matches!(parts, Parts::All | Parts::Order))
                .then_some(set.announcement_interval),
        })
    }
}

impl DiffQ {
    /// True if nodes that starve call.
    fn hears_calls(&self) -> bool {
        self.queue.calls > Span::ZERO
    }

    /// Time between two samples of the agent: it starves or not by these, and tells sizes with each.
    fn samples(&self) -> Span {
        let calls = if self.hears_calls() { starving::SAMPLE } else { Span::ZERO };
        self.announcements.unwrap_or(calls)
    }
}

/// The messages of DiffQ's agents.
const KINDS: MessageKinds = MessageKinds {
    names: &["sizes", "call"],
    of: |bytes| match bytes[0] {
        0x14 => Some(0),
        0x15 => Some(1),
        _ => None,
    },
};

impl Scheme for DiffQ {
    fn queue(&self, interface: &Interface) -> OutputQueue {
        let limit_packets = interface.limit_packets;
        match interface.medium {
            Medium::Wire => OutputQueue::plain(DropTail::new(limit_packets)),
            Medium::Radio => {
                let takes_turns = interface.categories > 1;
                let config = QueueConfig { limit_packets, takes_turns, ..self.queue };
                OutputQueue::labelled(DiffQQueue::new(config, Backlogs::new(self.sizes, self.expiry)))
            }
        }
    }

    fn source(&self) -> Option<Box<dyn Source>> {
        let tcp = newreno::from_params(&Params::default()).ok()?;
        let window = (self.window > 0).then(|| PathWindow::new(self.window, tcp, self.hears_calls()));
        Some(Box::new(DiffQSender::new(self.sender, window)))
    }

    fn udp(&self) -> Option<UdpEnds> {
        Some(UdpEnds { source: Box::new(DiffQSender::new(self.udp_sender, None)), receiver: None })
    }

    fn message_kinds(&self) -> Option<MessageKinds> {
        (self.hears_calls() || self.announcements.is_some()).then_some(KINDS)
    }

    fn agent(&self, interface: &Interface) -> Option<Box<dyn Agent>> {
        let agent = DiffQAgent {
            announcer: self.announcements.map(|_| Announcer::default()),
            caller: self.hears_calls().then(Caller::default),
        };
        let is_idle = agent.announcer.is_none() && agent.caller.is_none();
        (interface.medium == Medium::Radio && !is_idle).then(|| Box::new(agent) as Box<dyn Agent>)
    }

    fn wants(&self, interface: &Interface) -> Wants {
        let parts = self.queue.scheduler.parts;
        if interface.medium == Medium::Wire {
            return Wants::NONE;
        }
        let levels = match parts {
            Parts::All | Parts::Occupancy => self.queue.scheduler.quantiser.levels,
            Parts::Order | Parts::Turns => 1,
        };
        let heard = matches!(parts, Parts::All | Parts::Order) && self.announcements.is_none();
        Wants::of(&[Capability::Finished, Capability::Routes, Capability::OwnQueue])
            .and_if(heard, Capability::HeardHeaders)
            .and_if(self.announcements.is_some(), Capability::Backlogs)
            .and_if(self.hears_calls(), Capability::Airtime)
            .samples_every(self.samples())
            .priorities_to(Priority(levels - 1))
    }
}
