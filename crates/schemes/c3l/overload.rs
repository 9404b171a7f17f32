//! Decisions of a single node about a link: whether the link is overloaded, and how the node injects less until the next allocation (end
//! of §III-A, §III-D); rates before the first allocation.
//!
//! Readings, parameters where another one is worth a try:
//! - A link is overloaded if its mean queue over a cycle is above a fifth of its limit (`overload_threshold`) and does not fall: the mean
//!   of the cycle's second half is at least 0.9 of the first half's. The paper asks for a large threshold, because short bursts
//!   build queues up too.
//! - "Modifies the rate of injecting traffic": all flows of a link whose queue is above the threshold are scaled by 0.9, once, until the
//!   next allocation; `again` repeats it after a time.
//! - Both thresholds at half of the limit let the node react first: its queue falls, the controller hears of no overload, and an inhibited
//!   flow stays a tenth behind (507 and 617 kbit/s in figure 2(a), where a fifth for overload and 0.9 for the reaction give 540 and 590).
//!   The scheme's defaults are the latter.
//! - Before the first allocation a source sends at a part of C_max (`default_part`, 0.1) by the flows of the node by the links of the flow
//!   at the ends of its link.

use airfair_units::{Rate, Span, Time};

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

/// The rate of a flow before the first allocation: the part of C_max that may be used then, by the flows of the node by the links of the
/// flow at the ends of its link.
#[must_use]
pub fn first_rate(c_max: Rate, flows: u32, hops: u32) -> Rate {
    Rate(c_max.0 / u64::from(flows.max(1)) / u64::from(hops.max(1)))
}
