//! Decisions of a single node: whether a link is overloaded, and how it injects less until the next allocation (end of §III-A, §III-D);
//! its rates before the first allocation; and the estimate of bandwidth that takes the place of all allocations in `c3l-local` (§IV-B,
//! figure 12).
//!
//! Readings, each a parameter:
//! - A link is overloaded if its mean queue over a cycle is above half of its limit and does not fall: the mean of the cycle's second half
//!   is at least 0.9 of the first half's. The paper asks for a large threshold, because short bursts build queues up too.
//! - "Modifies the rate of injecting traffic": all flows of a link whose queue is above the threshold are scaled by 0.9, once, until the
//!   next allocation; `again` repeats it after a time.
//! - Both thresholds at half of the limit let the node react first: its queue falls, the controller hears of no overload, and an inhibited
//!   flow stays a tenth behind (507 and 617 kbit/s in figure 2(a), where a fifth for overload and 0.9 for the reaction give 540 and 590).
//!   The scheme's defaults are the latter.
//! - Before the first allocation a source sends at C_max by the flows that it knows by the hops of its path.
//! - "In a way similar to EXACT" (Chen, Nahrstedt, Vaidya, WCNC 2004): each packet that the MAC delivers gives a bandwidth, its size by the
//!   time for which the MAC had it first, contention and attempts included; a moving average by next hop; and the flows through the node
//!   share the node's time, at equal rates unless they require less. A packet's size is corrected by a fixed overhead, in bytes: without, a
//!   neighbour of short packets would look slow.

use alloc::vec::Vec;

use airfair_units::{Bytes, Rate, Span, Time};

use super::shares::Requirement;

/// When a link is overloaded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverloadConfig {
    /// Part of the queue's limit above which the mean has to be.
    pub threshold: f64,
    /// The second half's mean by the first half's, below which the queue falls; 0: it never does.
    pub falls: f64,
}

impl Default for OverloadConfig {
    fn default() -> Self {
        Self { threshold: 0.5, falls: 0.9 }
    }
}

/// The queue of a link over a cycle.
#[derive(Debug, Clone, Default)]
pub struct Overload {
    /// Sums over lengths of the queue in the two halves of the cycle, and their numbers.
    sums: [f64; 2],
    counts: [u32; 2],
}

impl Overload {
    /// A cycle begins.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The queue has this length now, `since` the cycle began, of a cycle of this length.
    pub fn observe(&mut self, packets: u32, since: Span, cycle: Span) {
        let half = usize::from(since.as_nanos() >= cycle.as_nanos().div_ceil(2));
        self.sums[half] += f64::from(packets);
        self.counts[half] = self.counts[half].saturating_add(1);
    }

    /// Mean length, packets; 0 if it was never observed.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let count = f64::from(self.counts[0]) + f64::from(self.counts[1]);
        if count > 0.0 { (self.sums[0] + self.sums[1]) / count } else { 0.0 }
    }

    /// Ends the cycle: was the link overloaded? `limit`: of its queue, packets.
    pub fn judge(&mut self, config: &OverloadConfig, limit: u32) -> bool {
        let halves = [0, 1].map(|half| self.sums[half] / f64::from(self.counts[half].max(1)));
        let both = self.counts[0] > 0 && self.counts[1] > 0;
        let falls = both && halves[1] < config.falls * halves[0];
        let over = self.mean() > config.threshold * f64::from(limit);
        *self = Self::new();
        over && !falls
    }
}

/// How a node injects less.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InjectionConfig {
    /// Part of the queue's limit above which it has built up.
    pub threshold: f64,
    /// The factor of the rates of the link's flows; 1: the node does nothing by itself.
    pub factor: f64,
    /// Time after which a queue that is still above the threshold scales again; `None`: once until the next allocation.
    pub again: Option<Span>,
    /// The smallest scale.
    pub floor: f64,
}

impl Default for InjectionConfig {
    fn default() -> Self {
        Self { threshold: 0.5, factor: 0.9, again: None, floor: 0.1 }
    }
}

/// The scale of a link's injection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Injection {
    scale: f64,
    scaled: Option<Time>,
}

impl Default for Injection {
    fn default() -> Self {
        Self { scale: 1.0, scaled: None }
    }
}

impl Injection {
    /// The queue of the link has this length now. True if the scale has changed.
    pub fn observe(&mut self, config: &InjectionConfig, packets: u32, limit: u32, now: Time) -> bool {
        let may = match (self.scaled, config.again) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(last), Some(again)) => now.since(last) >= again,
        };
        if !may || f64::from(packets) <= config.threshold * f64::from(limit) {
            return false;
        }
        let scale = (self.scale * config.factor.clamp(0.0, 1.0)).max(config.floor.clamp(0.0, 1.0));
        let changed = scale < self.scale;
        self.scale = self.scale.min(scale);
        self.scaled = Some(now);
        changed
    }

    /// An allocation has arrived.
    pub fn allocated(&mut self) {
        *self = Self::default();
    }

    /// The factor of the shares.
    #[must_use]
    pub const fn scale(&self) -> f64 {
        self.scale
    }

    /// A share as it is stamped and enforced.
    #[must_use]
    pub fn scaled(&self, share: Rate) -> Rate {
        Rate((share.0 as f64 * self.scale) as u64)
    }
}

/// The rate of a source before its first allocation: C_max of its link by the flows that it knows by the hops of its path.
#[must_use]
pub fn first_rate(c_max: Rate, flows: u32, hops: u32) -> Rate {
    Rate(c_max.0 / u64::from(flows.max(1)) / u64::from(hops.max(1)))
}

/// The estimate of a link's bandwidth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BandwidthConfig {
    /// Weight of a new packet in the average.
    pub weight: f64,
    /// The MAC's overhead of a packet, in bytes at the rate of its payload.
    pub overhead: Bytes,
    /// The size of packets for which the bandwidth is estimated.
    pub packet: Bytes,
}

impl Default for BandwidthConfig {
    fn default() -> Self {
        Self { weight: 0.1, overhead: Bytes(0), packet: Bytes(1000) }
    }
}

/// The bandwidth to a next hop, from the packets that the MAC has delivered to it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bandwidth {
    /// Average, bit/s; `None` before the first packet.
    average: Option<f64>,
}

impl Bandwidth {
    /// No packet yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { average: None }
    }

    /// The MAC has delivered a packet that it had first for `access`.
    pub fn delivered(&mut self, config: &BandwidthConfig, size: Bytes, access: Span) {
        let sizes = |size: Bytes| (size.0 as f64 + config.overhead.0 as f64).max(1.0);
        let seconds = access.as_nanos().max(1) as f64 * 1e-9 * sizes(config.packet) / sizes(size);
        let bandwidth = config.packet.0 as f64 * 8.0 / seconds;
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
    /// Bandwidth to its next hop, bit/s.
    pub bandwidth: f64,
}

/// Rates of the flows through a node, bit/s: equal ones, or what a flow requires and δ if that is less, with Σ rate/bandwidth at most
/// `time` (1: all of the node's time). A flow to a next hop without bandwidth gets nothing and takes nothing.
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
