//! The bandwidth to each neighbour: a packet over the time from the head of the queue to its acknowledgement.

use alloc::vec::Vec;

use airfair_units::{Bytes, Rate, Span, Time};

use super::Estimate;
use crate::places::NodeId;

/// Most neighbours; of more, the one that was used longest ago gives way. Ours.
const MOST: usize = 64;
/// Time without a success after which a neighbour's measurements no longer count; open in the texts.
const STALE: Span = Span::from_secs(10);
/// Packets in a mean of the last ones; open in the texts.
const LAST: usize = 16;
/// Weight of a new packet in a moving average: a part of one; open in the texts.
const MOVING: u64 = 10;

/// Measurements of one neighbour: the times that packets took beyond their bits.
#[derive(Debug, Clone)]
struct Neighbour {
    node: NodeId,
    used: Time,
    moving: Span,
    last: [Span; LAST],
    count: usize,
}

/// The bandwidths of an interface.
#[derive(Debug, Clone)]
pub struct Bandwidths {
    rate: Rate,
    estimate: Estimate,
    /// Sorted by node.
    neighbours: Vec<Neighbour>,
}

impl Bandwidths {
    /// Nothing is measured yet: every neighbour has the rate of the link.
    #[must_use]
    pub fn new(rate: Rate, estimate: Estimate) -> Self {
        Self { rate: rate.max(Rate(1)), estimate, neighbours: Vec::new() }
    }

    /// The nominal rate has changed.
    pub fn on_rate(&mut self, rate: Rate) {
        self.rate = rate.max(Rate(1));
    }

    /// A packet of `bytes` was acknowledged by a neighbour, `access` after it was the first to be sent.
    pub fn on_success(&mut self, node: NodeId, bytes: u32, access: Span, now: Time) {
        let bits = self.rate.time_for(Bytes(u64::from(bytes)));
        let beyond = Span(access.0.saturating_sub(bits.0));
        let at = match self.neighbours.binary_search_by_key(&node, |neighbour| neighbour.node) {
            Ok(at) => at,
            Err(_) => self.add(node, now),
        };
        let neighbour = &mut self.neighbours[at];
        if neighbour.count == 0 || now.since(neighbour.used) >= STALE {
            (neighbour.count, neighbour.moving) = (0, beyond);
        }
        let mean = neighbour.moving.0;
        neighbour.moving = Span(mean - mean / MOVING + beyond.0 / MOVING);
        neighbour.last[neighbour.count % LAST] = beyond;
        neighbour.count += 1;
        neighbour.used = now;
    }

    fn add(&mut self, node: NodeId, now: Time) -> usize {
        if self.neighbours.len() >= MOST {
            let oldest = (0..MOST).min_by_key(|&at| (self.neighbours[at].used, self.neighbours[at].node));
            if let Some(at) = oldest {
                self.neighbours.remove(at);
            }
        }
        let at = self.neighbours.partition_point(|neighbour| neighbour.node < node);
        let moving = Span::ZERO;
        self.neighbours.insert(at, Neighbour { node, used: now, moving, last: [moving; LAST], count: 0 });
        at
    }

    /// The bandwidth to a neighbour for packets of `bytes`, bytes/s.
    #[must_use]
    pub fn to(&self, node: NodeId, bytes: u32, now: Time) -> f64 {
        let bits = self.rate.time_for(Bytes(u64::from(bytes)));
        let known = self.neighbours.binary_search_by_key(&node, |neighbour| neighbour.node);
        let beyond = match known.map(|at| &self.neighbours[at]) {
            Ok(neighbour) if now.since(neighbour.used) < STALE => match self.estimate {
                Estimate::Moving => neighbour.moving,
                Estimate::Last => {
                    let some = &neighbour.last[..neighbour.count.min(LAST)];
                    Span(some.iter().map(|beyond| beyond.0 / some.len() as u64).sum())
                }
            },
            _ => Span::ZERO,
        };
        let whole = Span(bits.0.saturating_add(beyond.0));
        f64::from(bytes) / whole.as_secs_f64().max(1e-9)
    }
}
