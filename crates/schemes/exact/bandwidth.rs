//! The bandwidth to each neighbour: a packet over the time from the head of the queue to its acknowledgement.

use alloc::vec::Vec;

use airfair_units::{Bytes, Rate, Span, Time};

use crate::places::NodeId;

/// Most neighbours; of more, the one that was used longest ago gives way. Ours.
const MOST: usize = 64;
/// Time without a success after which a neighbour's measurements no longer count; open in the texts.
const STALE: Span = Span::from_secs(10);
/// Weight of a new packet in the average: a part of one; open in the texts. The mean of the last 16 packets decides nothing: 0.228 instead
/// of 0.229 of max-min for the least flow of fourteen scenes.
const WEIGHT: u64 = 10;

/// A neighbour: the average time that packets to it took beyond their bits.
#[derive(Debug, Clone, Copy)]
struct Neighbour {
    node: NodeId,
    /// The last success; none yet.
    used: Option<Time>,
    beyond: Span,
    /// The time of packets that the MAC has given up since.
    spent: Span,
}

/// The bandwidths of an interface.
#[derive(Debug, Clone)]
pub struct Bandwidths {
    rate: Rate,
    /// Sorted by node.
    neighbours: Vec<Neighbour>,
    /// The least time beyond its bits that a packet has taken: that of clean air, as far as it is known.
    least: Option<Span>,
}

impl Bandwidths {
    /// Nothing is measured yet: every neighbour has the rate of the link.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        Self { rate: rate.max(Rate(1)), neighbours: Vec::new(), least: None }
    }

    /// The nominal rate has changed.
    pub fn on_rate(&mut self, rate: Rate) {
        self.rate = rate.max(Rate(1));
    }

    /// A packet of `bytes` was acknowledged by a neighbour, `access` after it was the first to be sent. The time of packets that were given
    /// up before counts with it: without it a link would seem as good as the packets that get through.
    pub fn on_success(&mut self, node: NodeId, bytes: u32, access: Span, now: Time) {
        let bits = self.rate.time_for(Bytes(u64::from(bytes)));
        let beyond = Span(access.0.saturating_sub(bits.0));
        self.least = Some(self.least.map_or(beyond, |least| least.min(beyond)));
        let neighbour = self.neighbour(node);
        let beyond = Span(beyond.0.saturating_add(neighbour.spent.0));
        let mean = neighbour.beyond.0;
        neighbour.beyond = match neighbour.used {
            Some(used) if now.since(used) < STALE => Span(mean - mean / WEIGHT + beyond.0 / WEIGHT),
            _ => beyond,
        };
        (neighbour.used, neighbour.spent) = (Some(now), Span::ZERO);
    }

    /// A packet to a neighbour was given up, `access` after it was the first to be sent.
    pub fn on_given_up(&mut self, node: NodeId, access: Span) {
        let neighbour = self.neighbour(node);
        neighbour.spent = Span(neighbour.spent.0.saturating_add(access.0));
    }

    /// The entry of a neighbour.
    fn neighbour(&mut self, node: NodeId) -> &mut Neighbour {
        let found = self.neighbours.binary_search_by_key(&node, |neighbour| neighbour.node);
        let at = match found {
            Ok(at) => at,
            Err(_) => {
                if self.neighbours.len() >= MOST {
                    let age = |at: &usize| (self.neighbours[*at].used, self.neighbours[*at].node);
                    let oldest = (0..self.neighbours.len()).min_by_key(age);
                    oldest.map(|at| self.neighbours.remove(at));
                }
                let at = self.neighbours.partition_point(|neighbour| neighbour.node < node);
                let new = Neighbour { node, used: None, beyond: Span::ZERO, spent: Span::ZERO };
                self.neighbours.insert(at, new);
                at
            }
        };
        &mut self.neighbours[at]
    }

    /// The bandwidth to a neighbour for packets of `bytes`, bytes/s.
    #[must_use]
    pub fn to(&self, node: NodeId, bytes: u32, now: Time) -> f64 {
        let bits = self.rate.time_for(Bytes(u64::from(bytes)));
        let known = self.neighbours.binary_search_by_key(&node, |neighbour| neighbour.node);
        let beyond = match known.map(|at| &self.neighbours[at]) {
            Ok(Neighbour { used: Some(used), beyond, .. }) if now.since(*used) < STALE => *beyond,
            _ => self.least.unwrap_or(Span::ZERO),
        };
        let whole = Span(bits.0.saturating_add(beyond.0));
        f64::from(bytes) / whole.as_secs_f64().max(1e-9)
    }
}
