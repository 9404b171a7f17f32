//! The estimate of bandwidth that takes the place of all allocations in `c3l-local`, and the flows' parts of the node's time (§IV-B, figure
//! 12).
//!
//! Reading, with parameters: "in a way similar to EXACT" (Chen, Nahrstedt, Vaidya, WCNC 2004). There each packet that the MAC delivers
//! gives a bandwidth, its size by the time for which the MAC had it first, contention and attempts included, to a moving average by next
//! hop. Here the agent gives the mean packet of each sample, of all next hops together, to one average of the interface. The flows through
//! the node share the node's time, at equal rates unless they require less. A packet's size is corrected by a fixed overhead, in bytes:
//! without, short packets would make the radio look slow.

use alloc::vec::Vec;

use airfair_units::{Bytes, Rate, Span};

use crate::c3l::links::PACKET;
use crate::c3l::shares::Requirement;

/// The estimate of a link's bandwidth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BandwidthConfig {
    /// Weight of a new sample in the average.
    pub weight: f64,
    /// The MAC's overhead of a packet, in bytes at the rate of its payload.
    pub overhead: Bytes,
}

impl Default for BandwidthConfig {
    fn default() -> Self {
        Self { weight: 0.1, overhead: Bytes(0) }
    }
}

/// The bandwidth of a radio, from the packets that the MAC has delivered.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bandwidth {
    /// Average, bit/s; `None` before the first sample with packets.
    average: Option<f64>,
}

impl Bandwidth {
    /// No sample yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { average: None }
    }

    /// The MAC has delivered packets of this mean size, each of which it had first for `access` in the mean.
    pub fn delivered(&mut self, config: &BandwidthConfig, size: Bytes, access: Span) {
        let sizes = |size: Bytes| (size.0 as f64 + config.overhead.0 as f64).max(1.0);
        let seconds = access.as_nanos().max(1) as f64 * 1e-9 * sizes(Bytes(PACKET.into())) / sizes(size);
        let bandwidth = f64::from(PACKET) * 8.0 / seconds;
        let weight = config.weight.clamp(0.0, 1.0);
        self.average = Some(self.average.map_or(bandwidth, |old| old + weight * (bandwidth - old)));
    }

    /// The estimate, bit/s.
    #[must_use]
    pub const fn get(&self) -> Option<f64> {
        self.average
    }
}

/// A flow through a node that shares its own time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalFlow {
    /// The flow's requirement.
    pub requirement: Requirement,
    /// Bandwidth of the radio, bit/s.
    pub bandwidth: f64,
}

/// Rates of the flows through a node, bit/s: equal ones, or what a flow requires and δ if that is less, with Σ rate/bandwidth at most
/// `time` (1: all of the node's time). A flow without bandwidth gets nothing and takes nothing.
pub fn share_time(flows: &[LocalFlow], time: f64, delta: Rate, rates: &mut Vec<f64>) {
    let cost = |flow: &LocalFlow| if flow.bandwidth > 0.0 { 1.0 / flow.bandwidth } else { 0.0 };
    let demand = |flow: &LocalFlow| match flow.requirement {
        Requirement::Finite(rate) => rate.0.saturating_add(delta.0) as f64,
        Requirement::Infinite => f64::INFINITY,
    };
    rates.clear();
    rates.resize(flows.len(), 0.0);
    let mut order: Vec<usize> = (0..flows.len()).filter(|&i| cost(&flows[i]) > 0.0).collect();
    // Of equal demands the cheaper flow first, so that the sum does not depend on the order of flows.
    let key = |&i: &usize| (demand(&flows[i]), cost(&flows[i]));
    order.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap_or(core::cmp::Ordering::Equal));
    let mut left = if time > 0.0 { time } else { 0.0 };
    for (at, &i) in order.iter().enumerate() {
        let weight: f64 = order[at..].iter().map(|&i| cost(&flows[i])).sum();
        rates[i] = (left / weight).min(demand(&flows[i]));
        left = (left - rates[i] * cost(&flows[i])).max(0.0);
    }
}
