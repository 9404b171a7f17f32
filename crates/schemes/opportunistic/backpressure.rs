//! DiffQ over forwarders at a node: rates of its own flows, sizes of neighbours' backlogs, the order and the level of flows.
//!
//! Source: Warrier, Ha, Wason, Rhee, "DiffQ: Differential Backlog Congestion Control for Wireless Multi-hop Networks", §4.2, §6.1.
//!
//! F_ip is a packet's forwarders that are neighbours of node i; its differential is the least of those to each of them, so the one to the
//! longest queue (eq. 2). Readings:
//! - Only forwarders nearer to the destination than node i count: those behind it have more to send than node i by rights, and with them
//!   nearly every differential would be below 0.
//! - The destination's queue is empty, as in §4. Without any neighbour nearer to the destination the differential is the own queue.
//! - What waits at a node is said by its scheme ([`Backlogged::backlog_to`]).
//! - A flow's place in the order is its differential, as a destination queue's is; of equal ones each has its turn.
//! - Words about packets (ExOR's maps alone) go ahead of all packets of their node, at the level of their differential. A neighbour repeats
//!   its packets until it hears such words: two nodes that both prefer packets would repeat them to each other for ever.
//! - A source is granted a packet when its rate allows one more, at most D at a time: the destination queue of §4 drops what is above D.
//!   What is granted between two batches, while an acknowledgement is on its way, is lost, as the source has no packet to send.
//! - A flow whose differential is 0 or less is served too, at level 0, as a destination queue is in §4; in the theory of backpressure it
//!   waits ([`Serve`]).
//! - Sources do not step together: each node begins within an `interval`, each flow with a part of a packet, both drawn. Flows that begin
//!   at the same moment with the same rate would otherwise send together for ever, and hidden ones drown each other.
//! - The level is the differential's when a broadcast begins to contend, as a packet's is when it is handed to the radio; which flow sends
//!   is decided when access is won.
//! - The law runs every `interval`; packets are granted every 10 ms at least: a source with steps of a second would otherwise send what
//!   a second allows at once.
//! - The backlog that a broadcast announces is that after the broadcast, to the same destination over all flows.

use alloc::vec::Vec;

use airfair_units::random::Stream;
use airfair_units::{Bytes, Span, Time};
use airfair_wire::Flow;
use airfair_wire::diffq::{Trailer, Type};

use crate::diffq::CommonParameters;
use crate::diffq::backlogs::Backlogs;
use crate::diffq::scheduler::{Quantiser, Serve};
use crate::diffq::sender::{SenderConfig, SourceRate};
use crate::params::{ParamError, Params};
use crate::places::{NodeId, Priority};

/// Longest time between two grants.
const GRANT: Span = Span::from_millis(10);

/// A node whose flows DiffQ orders.
pub trait Backlogged {
    /// Packets that wait at the node for a destination, of all flows.
    fn backlog_to(&self, destination: u32) -> u32;

    /// The flows that have something to send now, in the order of their numbers.
    fn ready(&self) -> impl Iterator<Item = Flow>;

    /// True if the node now has no packets of a flow to send, but only maps: those wait for no differential.
    fn has_only_maps(&self, _flow: &Flow) -> bool {
        false
    }

    /// The flow that has sent last.
    fn turn(&self) -> Option<Flow>;

    /// The forwarders of a flow that are nearer to its destination than the node, and the destination.
    fn nearer(&self, flow: &Flow) -> impl Iterator<Item = u32>;

    /// A flow of the node's own may send so many packets more. Returns false if it has none that it could: they are lost.
    fn grant(&mut self, flow: &Flow, packets: u32) -> bool;
}

/// QD: the own backlog less the largest of the nodes of F_ip, packets.
#[must_use]
pub fn differential(own: u32, downstream: impl IntoIterator<Item = u32>) -> i64 {
    i64::from(own) - downstream.into_iter().max().map_or(0, i64::from)
}

/// The constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BackpressureConfig {
    /// The law of sources.
    pub sender: SenderConfig,
    /// Levels, and D.
    pub quantiser: Quantiser,
    /// Which flows are served.
    pub serve: Serve,
    /// Sizes of neighbours that are stored, and how long.
    pub sizes: usize,
    /// See [`Backlogs`].
    pub expiry: Span,
}

impl BackpressureConfig {
    /// The constants that parameters describe.
    ///
    /// # Errors
    /// A value that is out of its range, or a first rate above the largest.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        let set = CommonParameters::read(params)?;
        let CommonParameters { serve, sizes, expiry, .. } = set;
        Ok(Self {
            sender: set.sender(false)?,
            quantiser: set.quantiser(),
            serve,
            sizes: sizes as usize,
            expiry,
        })
    }
}

/// A flow of the node's own.
#[derive(Debug, Clone)]
struct Paced {
    flow: Flow,
    rate: SourceRate,
    packet: Bytes,
    /// Part of a packet that the rate has allowed beyond those granted.
    allowed: f64,
    since: Time,
}

/// DiffQ at a node with a forwarder.
#[derive(Debug, Clone)]
pub struct Backpressure {
    config: BackpressureConfig,
    backlogs: Backlogs,
    own: Vec<Paced>,
    /// Time of the next step of the law.
    law_at: Time,
    sequence: u16,
    garbage: u64,
}

impl Backpressure {
    /// A node that has heard nothing.
    #[must_use]
    pub const fn new(config: BackpressureConfig) -> Self {
        let backlogs = Backlogs::new(config.sizes, config.expiry);
        Self { config, backlogs, own: Vec::new(), law_at: Time::ZERO, sequence: 0, garbage: 0 }
    }

    /// The constants.
    #[must_use]
    pub const fn config(&self) -> &BackpressureConfig {
        &self.config
    }

    /// Time between two calls of [`Self::step`].
    fn between(&self) -> Span {
        self.config.sender.interval.min(GRANT)
    }

    /// Time of a node's first step.
    pub fn first_step(&mut self, now: Time, random: &mut Stream) -> Time {
        let interval = self.config.sender.interval.as_nanos();
        let phase = (random.uniform() * interval as f64) as u64;
        self.law_at = now + Span(phase);
        now + Span(phase % self.between().as_nanos())
    }

    /// A flow of the node's own has packets of this size.
    pub fn start(&mut self, flow: Flow, packet: Bytes, now: Time, random: &mut Stream) {
        if let Err(at) = self.own.binary_search_by_key(&flow, |own| own.flow) {
            let mut rate = SourceRate::new(self.config.sender);
            rate.start(packet);
            self.own.insert(at, Paced { flow, rate, packet, allowed: random.uniform(), since: now });
        }
    }

    /// Grants the node's flows what their rates allow, after a step of the law if an interval of it is over. Returns the time of the next
    /// call.
    pub fn step(&mut self, node: &mut impl Backlogged, now: Time) -> Time {
        let depth = self.config.quantiser.depth;
        let is_over = now >= self.law_at;
        if is_over {
            self.law_at = now + self.config.sender.interval;
        }
        for own in &mut self.own {
            let backlog = node.backlog_to(own.flow.destination);
            own.rate.set_backlog(backlog);
            if is_over {
                own.rate.interval_over(now);
            }
            let bits = (own.packet.get() * 8).max(1) as f64;
            own.allowed += own.rate.bps() * now.since(own.since).as_secs_f64() / bits;
            own.since = now;
            let whole = own.allowed as u32;
            own.allowed -= f64::from(whole);
            let granted = whole.min(depth.saturating_sub(backlog));
            let _has_batch = node.grant(&own.flow, granted);
        }
        now + self.between()
    }

    /// A broadcast with a packet of a flow was made (a map alone is none); if the flow is the node's own, a packet that its source sends.
    pub fn sent(&mut self, node: &impl Backlogged, flow: &Flow, now: Time) {
        if let Ok(at) = self.own.binary_search_by_key(flow, |own| own.flow) {
            let own = &mut self.own[at];
            own.rate.set_backlog(node.backlog_to(flow.destination));
            own.rate.sent(own.packet, now);
        }
    }

    /// The flow that sends next, with its level: the one with the largest differential. None: all wait, or there is none.
    #[must_use]
    pub fn next(&self, node: &impl Backlogged, now: Time) -> Option<(Flow, Priority)> {
        let turn = node.turn();
        let of = |flow: Flow| {
            let to = NodeId(flow.destination);
            let downstream = node.nearer(&flow).map(|next| self.backlogs.size(NodeId(next), to, now));
            (flow, differential(node.backlog_to(flow.destination), downstream))
        };
        // The later of two equals wins: first those after the flow that has sent last, from behind.
        let mut best: Option<(Flow, (bool, i64), bool)> = None;
        let held = |value: i64| self.config.serve == Serve::Positive && value <= 0;
        for (flow, value) in node.ready().map(of) {
            let maps = node.has_only_maps(&flow);
            if held(value) && !maps {
                continue;
            }
            let (rank, after) = ((maps, value), turn.is_none_or(|turn| flow > turn));
            let better =
                best.is_none_or(|(_, most, was_after)| rank > most || rank == most && after && !was_after);
            if better {
                best = Some((flow, rank, after));
            }
        }
        best.map(|(flow, (_, value), _)| (flow, Priority(self.config.quantiser.level(value))))
    }

    /// The trailer of a broadcast for a flow, after which so many packets are left for its destination.
    pub fn trailer(&mut self, flow: &Flow, left: u32, now: Time) -> [u8; 16] {
        let trailer = Trailer {
            kind: Type::SourceRouted,
            written: 1,
            queue: u16::try_from(left).unwrap_or(u16::MAX),
            flow: flow.flow,
            sent_us: (now.as_nanos() / 1000) as u32,
            longest: 0,
            number: self.sequence,
        };
        self.sequence = self.sequence.wrapping_add(1);
        let mut bytes = [0; 16];
        // The buffer is as long as a trailer.
        let _ = trailer.encode(&mut bytes);
        bytes
    }

    /// A broadcast for a flow carries this behind the header of its scheme.
    pub fn hear(&mut self, from: NodeId, flow: &Flow, rest: &[u8], now: Time) {
        match Trailer::decode(rest) {
            Ok((trailer, _)) => {
                self.backlogs.hear(from, NodeId(flow.destination), trailer.queue.into(), now);
            }
            Err(_) => self.garbage += 1,
        }
    }

    /// Rate of the node's flows together, bit/s, and trailers that were none.
    #[must_use]
    pub fn gauges(&self) -> [f64; 2] {
        [self.own.iter().map(|own| own.rate.bps()).sum(), self.garbage as f64]
    }
}
