//! The division of a link's share among its flows, at the sender of the link (§III-E).
//!
//! Flows are taken in the order of their sending rates, the slowest first. One that sends less than an even part of what is left, less δ,
//! gets δ more than it sends; the others an even part each. δ lets a flow grow: as long as it leaves δ of its share, it is finite and
//! its requirement is what it sends; when it uses the extra δ, its requirement is infinite.
//!
//! Readings, each a field of [`SharesConfig`] where there is a choice:
//! - δ is a part of the link's share; the paper gives no number. Between 0.1 and 0.2 meshes are fairest: with less a flow grows too slowly
//!   to what it may have, with more a link's share goes to flows that cannot use it.
//! - Measured rates vary: a flow has used δ if it sends more than its share less `1 - consumed` of δ. With `consumed` = 0 it is finite only
//!   while it leaves all of δ.
//! - A flow is judged by a rate that was measured since its last division, and not for `settle` after its share has risen by more than it
//!   may leave: its source learns of the new share an epoch later, and would look finite with its old rate. Until then it is what it was.
//! - A flow without a share so far, or whose share was less than δ, has an infinite requirement.
//! - Where several flows send as much, the one with the smaller number is first.
//! - All in whole bit/s, rounded down: the sum of the shares never exceeds that of the link.

use alloc::vec::Vec;

use airfair_units::{Rate, Span, Time};

use crate::places::FlowId;

/// The parameters of the division.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SharesConfig {
    /// δ, part of the link's share.
    pub delta: f64,
    /// Part of δ that a flow has to use to be infinite, 0 to 1.
    pub consumed: f64,
    /// Time for which a flow keeps its requirement after its share has risen: two epochs of feedback.
    pub settle: Span,
    /// Most flows of a link; the one that sent longest ago gives way.
    pub most: usize,
    /// Time after which a flow that has not sent any more has no share.
    pub expiry: Span,
}

impl Default for SharesConfig {
    fn default() -> Self {
        let (settle, expiry) = (Span::from_secs(2), Span::from_secs(8));
        Self { delta: 0.1, consumed: 0.5, settle, most: 1024, expiry }
    }
}

/// The requirement of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// The rate at which it sends.
    Finite(Rate),
    /// All that it gets.
    Infinite,
}

impl Requirement {
    /// The requirement of a flow that sends at `rate` and had this share and this δ.
    #[must_use]
    pub fn of(rate: Rate, share: Rate, delta: Rate, consumed: f64) -> Self {
        let left = left(delta, consumed);
        if delta.0 > 0 && share.0 >= delta.0 && rate.0 <= share.0 - left.0 && rate.0 < share.0 {
            Self::Finite(rate)
        } else {
            Self::Infinite
        }
    }
}

/// The part of its share that a finite flow leaves.
fn left(delta: Rate, consumed: f64) -> Rate {
    Rate(delta.0.saturating_sub(part(delta, consumed.clamp(0.0, 1.0)).0))
}

/// A part of a rate, rounded down.
fn part(rate: Rate, part: f64) -> Rate {
    // A cast of a number that does not fit gives the largest one.
    Rate((rate.0 as f64 * part) as u64)
}

/// Divides the share of a link. `requirements` are in ascending order, infinite ones last; `shares` gets the share of each.
pub fn divide(
    link: Rate,
    delta: Rate,
    requirements: impl ExactSizeIterator<Item = Requirement>,
    shares: &mut Vec<Rate>,
) {
    shares.clear();
    let (mut residual, mut unassigned) = (link.0, requirements.len() as u64);
    for requirement in requirements {
        let even = residual / unassigned;
        let share = match requirement {
            Requirement::Finite(rate) if rate.0 < even.saturating_sub(delta.0) => rate.0 + delta.0,
            _ => even,
        };
        shares.push(Rate(share));
        residual -= share;
        unassigned -= 1;
    }
}

/// A flow of the link.
#[derive(Debug, Clone, Copy)]
struct Passing {
    flow: FlowId,
    /// Measured sending rate, and whether it is newer than the share.
    rate: Rate,
    measured: bool,
    sent: Time,
    requirement: Requirement,
    /// The last share, `None` before the first.
    share: Option<Rate>,
    /// The last time at which it rose.
    rose: Time,
}

/// The flows of a link, their requirements and shares.
#[derive(Debug, Clone)]
pub struct Shares {
    config: SharesConfig,
    /// Sorted by flow.
    flows: Vec<Passing>,
    /// Indices in the order of sending rates.
    order: Vec<u32>,
    shares: Vec<Rate>,
    /// δ of the last division.
    delta: Rate,
}

impl Shares {
    /// A link without flows.
    #[must_use]
    pub const fn new(config: SharesConfig) -> Self {
        Self { config, flows: Vec::new(), order: Vec::new(), shares: Vec::new(), delta: Rate(0) }
    }

    fn find(&self, flow: FlowId) -> Result<usize, usize> {
        self.flows.binary_search_by_key(&flow, |passing| passing.flow)
    }

    /// The rate at which a flow has sent since the last time.
    pub fn sent(&mut self, flow: FlowId, rate: Rate, now: Time) {
        let Some(at) = self.find(flow).map_or_else(|at| self.insert(flow, at, now), Some) else { return };
        let passing = &mut self.flows[at];
        (passing.rate, passing.measured) = (rate, true);
        if rate.0 > 0 {
            passing.sent = now;
        }
    }

    /// A flow has sent, at a rate that is not known yet. True if it is new.
    pub fn passes(&mut self, flow: FlowId, now: Time) -> bool {
        match self.find(flow) {
            Ok(at) => self.flows[at].sent = now,
            Err(at) => return self.insert(flow, at, now).is_some(),
        }
        false
    }

    /// Adds a flow that belongs at this place; returns its place, after the oldest one has given way.
    fn insert(&mut self, flow: FlowId, mut at: usize, now: Time) -> Option<usize> {
        if self.flows.len() >= self.config.most {
            let oldest = (0..self.flows.len()).min_by_key(|&i| self.flows[i].sent)?;
            self.flows.remove(oldest);
            at -= usize::from(oldest < at);
        }
        let (rate, requirement) = (Rate(0), Requirement::Infinite);
        let new = Passing { flow, rate, measured: false, sent: now, requirement, share: None, rose: now };
        self.flows.insert(at, new);
        Some(at)
    }

    /// A flow does not pass the link any more.
    pub fn forget(&mut self, flow: FlowId) {
        self.flows.retain(|passing| passing.flow != flow);
    }

    /// Divides the share of the link among its flows. Flows that have not sent for long are forgotten.
    pub fn divide(&mut self, link: Rate, now: Time) {
        let Self { config, flows, order, shares, delta } = self;
        flows.retain(|passing| now.since(passing.sent) < config.expiry);
        for passing in flows.iter_mut() {
            let settled = now.since(passing.rose) >= config.settle;
            if let Some(share) = passing.share.filter(|_| passing.measured && settled) {
                passing.requirement = Requirement::of(passing.rate, share, *delta, config.consumed);
            }
        }
        *delta = part(link, config.delta.clamp(0.0, 1.0));
        order.clear();
        order.extend(0..flows.len() as u32);
        order.sort_unstable_by_key(|&i| match flows[i as usize].requirement {
            Requirement::Finite(rate) => (false, rate, i),
            Requirement::Infinite => (true, Rate(0), i),
        });
        divide(link, *delta, order.iter().map(|&i| flows[i as usize].requirement), shares);
        for (&i, &share) in order.iter().zip(shares.iter()) {
            let passing = &mut flows[i as usize];
            let may_leave = left(*delta, config.consumed).0;
            if passing.share.is_none_or(|old| share.0.saturating_sub(old.0) > may_leave) {
                passing.rose = now;
            }
            (passing.share, passing.measured) = (Some(share), false);
        }
    }

    /// The share of a flow; `None` before the first division.
    #[must_use]
    pub fn share(&self, flow: FlowId) -> Option<Rate> {
        self.flows[self.find(flow).ok()?].share
    }

    /// The demand of a flow for the controller: its finite requirement and δ, as here; `None`: without limit.
    #[must_use]
    pub fn demand(&self, flow: FlowId) -> Option<Rate> {
        match self.flows[self.find(flow).ok()?].requirement {
            Requirement::Finite(rate) => Some(Rate(rate.0.saturating_add(self.delta.0))),
            Requirement::Infinite => None,
        }
    }

    /// The flows with the rates at which they send, in the order of flows.
    pub fn flows(&self) -> impl ExactSizeIterator<Item = (FlowId, Rate)> + '_ {
        self.flows.iter().map(|passing| (passing.flow, passing.rate))
    }
}
