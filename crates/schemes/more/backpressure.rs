//! DiffQ over MORE at a node (§4.2, §6.1): rates of its own flows, sizes of neighbours' backlogs, the order and the level of flows.
//!
//! Readings:
//! - A flow's place in the order is its differential, as a destination queue's is; of equal ones each has its turn.
//! - A source is granted a packet when its rate allows one more, at most D at a time: the destination queue of §4 drops what is above D.
//!   What is granted between two batches, while an acknowledgement is on its way, is lost, as the source has no packet to send.
//! - A flow whose differential is 0 or less is served too, at level 0, as a destination queue is in §4; in the theory of backpressure it
//!   waits ([`Serve`]).
//! - Sources do not step together: each node begins within an `interval`, each flow with a part of a packet, both drawn. Flows that begin
//!   at the same moment with the same rate would otherwise send together for ever, and hidden ones drown each other.
//! - The backlog that a broadcast announces is that after the broadcast, to the same destination over all flows.

use alloc::vec::Vec;

use airfair_units::random::Stream;
use airfair_units::{Bytes, Span, Time};
use airfair_wire::diffq::{Trailer, Type};
use airfair_wire::more::Flow;

use super::differential::{differential, nearer};
use super::node::Node;
use crate::diffq::backlogs::Backlogs;
use crate::diffq::scheduler::{Quantiser, Serve};
use crate::diffq::sender::{SenderConfig, SourceRate};
use crate::places::{NodeId, Priority};

/// The constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Config {
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

/// DiffQ at a node of MORE.
#[derive(Debug, Clone)]
pub struct Backpressure {
    config: Config,
    backlogs: Backlogs,
    own: Vec<Paced>,
    sequence: u32,
    garbage: u64,
}

impl Backpressure {
    /// A node that has heard nothing.
    #[must_use]
    pub const fn new(config: Config) -> Self {
        let backlogs = Backlogs::new(config.sizes, config.expiry);
        Self { config, backlogs, own: Vec::new(), sequence: 0, garbage: 0 }
    }

    /// The constants.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Time of a node's first step.
    pub fn first_step(&self, now: Time, random: &mut Stream) -> Time {
        let interval = self.config.sender.interval.as_nanos();
        now + Span((random.uniform() * interval as f64) as u64)
    }

    /// A flow of the node's own has packets of this size.
    pub fn start(&mut self, flow: Flow, packet: Bytes, now: Time, random: &mut Stream) {
        if let Err(at) = self.own.binary_search_by_key(&flow, |own| own.flow) {
            let mut rate = SourceRate::new(self.config.sender);
            rate.start(packet);
            self.own.insert(at, Paced { flow, rate, packet, allowed: random.uniform(), since: now });
        }
    }

    /// An interval of the law is over: grants the node's flows what their rates allow.
    pub fn step(&mut self, node: &mut Node, now: Time) {
        let depth = self.config.quantiser.depth;
        for own in &mut self.own {
            let backlog = node.backlog_to(own.flow.destination);
            own.rate.set_backlog(backlog);
            own.rate.interval_over(now);
            let bits = (own.packet.get() * 8).max(1) as f64;
            own.allowed += own.rate.bps() * now.since(own.since).as_secs_f64() / bits;
            own.since = now;
            let whole = own.allowed as u32;
            own.allowed -= f64::from(whole);
            let granted = whole.min(depth.saturating_sub(backlog));
            if granted > 0 && node.grant(&own.flow, granted) {
                (0..granted).for_each(|_| own.rate.sent(own.packet, now));
            }
        }
    }

    /// The flow that sends next, with its level: the one with the largest differential. None: all wait, or there is none.
    #[must_use]
    pub fn next(&self, node: &Node, me: NodeId, now: Time) -> Option<(Flow, Priority)> {
        let turn = node.turn();
        let of = |(flow, _): (Flow, u32)| {
            let own = node.backlog_to(flow.destination);
            let downstream = node.forwarders(&flow).map_or(0, |forwarders| {
                let to = NodeId(flow.destination);
                let sizes =
                    nearer(&flow, forwarders, me.0).map(|next| self.backlogs.size(NodeId(next), to, now));
                sizes.max().unwrap_or(0)
            });
            (flow, differential(own, [downstream]))
        };
        // The later of two equals wins: first those after the flow that has sent last, from behind.
        let mut best: Option<(Flow, i64, bool)> = None;
        let held = |value: i64| self.config.serve == Serve::Positive && value <= 0;
        for (flow, value) in node.backlogs().map(of).filter(|&(_, value)| !held(value)) {
            let after = turn.is_none_or(|turn| flow > turn);
            let better =
                best.is_none_or(|(_, most, was_after)| value > most || value == most && after && !was_after);
            if better {
                best = Some((flow, value, after));
            }
        }
        best.map(|(flow, value, _)| (flow, Priority(self.config.quantiser.level(value))))
    }

    /// The trailer of a broadcast for a flow, after which so many packets are left for its destination.
    pub fn trailer(&mut self, flow: &Flow, left: u32, now: Time) -> [u8; 16] {
        let trailer = Trailer {
            kind: Type::SourceRouted,
            written: 1,
            queue: u16::try_from(left).unwrap_or(u16::MAX),
            flow: flow.flow,
            sent_us: (now.as_nanos() / 1000) as u32,
            sequence: self.sequence,
        };
        self.sequence = self.sequence.wrapping_add(1);
        let mut bytes = [0; 16];
        // The buffer is as long as a trailer.
        let _ = trailer.encode(&mut bytes);
        bytes
    }

    /// A broadcast for a flow carries this behind MORE's header.
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
