//! The bandwidth to each neighbour: a packet over the time from the head of the queue to its acknowledgement.

use alloc::vec::Vec;

use airfair_units::{Bytes, Rate, Span, Time};

use crate::places::NodeId;

/// Most neighbours; of more, the one that was used longest ago gives way. Ours.
const MOST: usize = 64;
/// Time without a success after which a neighbour's measurements no longer count; open in the texts.
const STALE: Span = Span::from_secs(10);
/// Weight of a new packet in the average: a part of one; open in the texts. The mean of the last 16 packets decides nothing: 0.228 instead of
/// 0.229 of max-min for the least flow of fourteen scenes.
const WEIGHT: u64 = 10;

/// A neighbour: the average time that packets to it took beyond their bits.
#[derive(Debug, Clone, Copy)]
struct Neighbour {
    node: NodeId,
    /// The last success.
    used: Time,
    beyond: Span,
}

/// The bandwidths of an interface.
#[derive(Debug, Clone)]
pub struct Bandwidths {
    rate: Rate,
    /// Sorted by node.
    neighbours: Vec<Neighbour>,
}

impl Bandwidths {
    /// Nothing is measured yet: every neighbour has the rate of the link.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        Self { rate: rate.max(Rate(1)), neighbours: Vec::new() }
    }

    /// The nominal rate has changed.
    pub fn on_rate(&mut self, rate: Rate) {
        self.rate = rate.max(Rate(1));
    }

    /// A packet of `bytes` was acknowledged by a neighbour, `access` after it was the first to be sent.
    pub fn on_success(&mut self, node: NodeId, bytes: u32, access: Span, now: Time) {
        let bits = self.rate.time_for(Bytes(u64::from(bytes)));
        let beyond = Span(access.0.saturating_sub(bits.0));
        match self.neighbours.binary_search_by_key(&node, |neighbour| neighbour.node) {
            Ok(at) => {
                let neighbour = &mut self.neighbours[at];
                let mean = neighbour.beyond.0;
                neighbour.beyond = if now.since(neighbour.used) >= STALE {
                    beyond
                } else {
                    Span(mean - mean / WEIGHT + beyond.0 / WEIGHT)
                };
                neighbour.used = now;
            }
            Err(_) => self.add(Neighbour { node, used: now, beyond }),
        }
    }

    fn add(&mut self, new: Neighbour) {
        if self.neighbours.len() >= MOST {
            let oldest = (0..MOST).min_by_key(|&at| (self.neighbours[at].used, self.neighbours[at].node));
            if let Some(at) = oldest {
                self.neighbours.remove(at);
            }
        }
        let at = self.neighbours.partition_point(|neighbour| neighbour.node < new.node);
        self.neighbours.insert(at, new);
    }

    /// The bandwidth to a neighbour for packets of `bytes`, bytes/s.
    #[must_use]
    pub fn to(&self, node: NodeId, bytes: u32, now: Time) -> f64 {
        let bits = self.rate.time_for(Bytes(u64::from(bytes)));
        let known = self.neighbours.binary_search_by_key(&node, |neighbour| neighbour.node);
        let beyond = match known.map(|at| &self.neighbours[at]) {
            Ok(neighbour) if now.since(neighbour.used) < STALE => neighbour.beyond,
            _ => Span::ZERO,
        };
        let whole = Span(bits.0.saturating_add(beyond.0));
        f64::from(bytes) / whole.as_secs_f64().max(1e-9)
    }
}
