//! Stepping aside, at the controller (ours; the paper limits always): where limits help nobody, they are lifted.
//!
//! Limits cost: capacities begin and stay below what the air carries, so that what a starving flow sends arrives. Where no flow starves
//! this is lost for nothing. No formula says whether a flow would starve without limits, so the controller tries: for each part of the
//! network whose flows share air, first without limits, then with them, and keeps what served the least flow better.
//!
//! - **Served** is a flow by the part of its entitlement that arrives: its max-min rate at the largest capacities, or what it sends where
//!   its first node says that it wants no more. What arrives is what its last node has of it, less what that node's link loses. The
//!   *least* of a part of the network is that of its worst flow over the rounds of a trial.
//! - **Free at first.** At `enough` of the least the trial ends well: the limits stay away until the least has been below for as long as a
//!   trial takes. A flow of which no report arrives counts as one that gets nothing, and a node that others hear and that has never
//!   reported keeps all around it limited.
//! - **Then limited.** If the least is better by `gain` than it was without limits, they stay. Else they go.
//! - **Again** the other way is tried only after `patience` rounds, then after twice as many, and so on: what changes seldom is tried seldom.
//! - A new flow joins the part of the network whose air it shares, and does as its flows do; of parts that become one, the flow with the
//!   smallest number decides.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::places::FlowId;

/// When limits are lifted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AsideConfig {
    /// The part of its entitlement that each flow has to get without limits; 0: they are never lifted.
    pub enough: f64,
    /// What limits have to add to the least flow's part.
    pub gain: f64,
    /// Rounds over which a trial measures.
    pub rounds: u32,
    /// Rounds until the other way is tried again, at first.
    pub patience: u32,
}

impl Default for AsideConfig {
    fn default() -> Self {
        Self { enough: 0.0, gain: 0.1, rounds: 2, patience: 16 }
    }
}

/// Rounds after the limits of a part of the network have come, for which its flows are not judged: queues drain, and windows grow.
const SETTLES: u32 = 1;
/// Part of `enough` below which a trial without limits ends at once.
const STARVES: f64 = 0.5;
/// The longest patience, rounds.
const LONGEST: u32 = 256;

/// A flow in the round that has ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observed {
    /// The flow.
    pub flow: FlowId,
    /// The part of the network to which it belongs; flows that share air have the same.
    pub part: u32,
    /// The rate to which it is entitled, bit/s.
    pub entitled: f64,
    /// The rate that arrives, bit/s; `None` if its last node has not reported in this round.
    pub arrived: Option<f64>,
    /// A node near it has never reported.
    pub unheard: bool,
}

/// The way of a part of the network, as each of its flows remembers it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Way {
    limited: bool,
    /// A trial has led to it.
    settled: bool,
    /// Rounds since it began, or since the last judgement.
    rounds: u32,
    /// Rounds until the other way is tried, and how long the last wait was.
    wait: u32,
    patience: u32,
    /// The least without limits, when it was last measured.
    free_least: f64,
}

/// A flow of a part of the network.
#[derive(Debug, Clone, Copy)]
struct State {
    way: Way,
    /// Sums over the rounds that count: what arrived, and to what the flow was entitled.
    arrived: f64,
    entitled: f64,
}

/// Which flows are limited.
#[derive(Debug, Clone)]
pub struct Aside {
    config: AsideConfig,
    flows: BTreeMap<FlowId, State>,
    /// Of the last round.
    free: usize,
}

impl Way {
    const fn new(patience: u32) -> Self {
        Self { limited: false, settled: false, rounds: 0, wait: 0, patience, free_least: 0.0 }
    }

    /// A round has passed. `least`: of the rounds that count, `None` if none does. True if these are judged, and new ones begin.
    fn pass(&mut self, config: &AsideConfig, least: Option<f64>, unheard: bool) -> bool {
        self.rounds += 1;
        self.wait = self.wait.saturating_sub(1);
        let Some(least) = least else { return false };
        let whole = self.rounds >= config.rounds + if self.limited && !self.settled { SETTLES } else { 0 };
        let least = if unheard && !self.limited { 0.0 } else { least };
        let starves = !self.limited && !self.settled && least < STARVES * config.enough;
        if !whole && !starves {
            return false;
        }
        if !self.limited {
            self.free_least = least;
        }
        match (self.limited, self.settled) {
            // Enough without limits: so it stays, and limits are worth a trial as soon as it is not.
            (false, _) if least >= config.enough => self.settled = true,
            (false, _) if self.wait == 0 => (self.limited, self.settled) = (true, false),
            (false, _) => {}
            (true, false) if least >= self.free_least + config.gain => self.settle(config, true),
            (true, false) => self.settle(config, false),
            (true, true) if self.wait == 0 => (self.limited, self.settled) = (false, false),
            (true, true) => {}
        }
        self.rounds = 0;
        true
    }

    /// A trial of limits has ended: this way stays for twice as long as the last one did.
    fn settle(&mut self, config: &AsideConfig, limited: bool) {
        (self.limited, self.settled, self.wait) = (limited, true, self.patience);
        self.patience = self.patience.saturating_mul(2).min(LONGEST.max(config.patience));
    }
}

impl Aside {
    /// No flow seen yet.
    #[must_use]
    pub const fn new(config: AsideConfig) -> Self {
        Self { config, flows: BTreeMap::new(), free: 0 }
    }

    /// Are limits ever lifted?
    #[must_use]
    pub fn lifts(&self) -> bool {
        self.config.enough > 0.0
    }

    /// A round: `observed`, what came of the last one. Flows that are not among them are forgotten.
    pub fn round(&mut self, observed: &[Observed]) {
        let mut known = core::mem::take(&mut self.flows);
        let mut parts: BTreeMap<u32, BTreeMap<FlowId, (State, Observed)>> = BTreeMap::new();
        for seen in observed {
            let new = || State { way: Way::new(self.config.patience), arrived: 0.0, entitled: 0.0 };
            let part = parts.entry(seen.part).or_default();
            // A flow in several pieces counts with the worst of them.
            let worse = |other: &(State, Observed)| other.1.arrived.unwrap_or(0.0) > seen.arrived.unwrap_or(0.0);
            let state = known.get(&seen.flow).copied();
            if part.get(&seen.flow).is_none_or(worse) {
                part.insert(seen.flow, (state.unwrap_or_else(new), *seen));
            }
        }
        self.free = 0;
        for flows in parts.into_values() {
            // The first flow that was there before; without one all are new.
            let old = flows.iter().find(|(flow, _)| known.contains_key(flow));
            let Some(mut way) = old.or_else(|| flows.iter().next()).map(|(_, (state, _))| state.way) else {
                continue;
            };
            let judged = old.is_some() && self.judge(&mut way, flows.values());
            let counts = !(way.limited && !way.settled && way.rounds <= SETTLES);
            for (flow, (state, seen)) in flows {
                self.free += usize::from(!way.limited);
                let (mut arrived, mut entitled) = (state.arrived, state.entitled);
                if let Some(now) = seen.arrived.filter(|_| known.contains_key(&flow)) {
                    (arrived, entitled) = (arrived + now, entitled + seen.entitled);
                }
                if judged || !counts {
                    (arrived, entitled) = (0.0, 0.0);
                }
                self.flows.insert(flow, State { way, arrived, entitled });
            }
        }
        known.clear();
    }

    /// Passes a round of a part of the network, with what its flows have got.
    fn judge<'a>(&self, way: &mut Way, flows: impl Iterator<Item = &'a (State, Observed)>) -> bool {
        let (mut least, mut unheard) = (f64::INFINITY, false);
        for (state, seen) in flows {
            let arrived = state.arrived + seen.arrived.unwrap_or(0.0);
            let entitled = state.entitled + if seen.arrived.is_some() { seen.entitled } else { 0.0 };
            // Nothing is known of a flow without a report: as if nothing of it arrived.
            least = least.min(if entitled > 0.0 { arrived / entitled } else { 0.0 });
            unheard |= seen.unheard;
        }
        way.pass(&self.config, (least < f64::INFINITY).then_some(least), unheard)
    }

    /// Is a flow free of limits?
    #[must_use]
    pub fn is_free(&self, flow: FlowId) -> bool {
        self.flows.get(&flow).is_some_and(|state| !state.way.limited)
    }

    /// Flows without limits.
    #[must_use]
    pub const fn free(&self) -> usize {
        self.free
    }
}

/// Sets of numbers that become one where they have something in common.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    roots: Vec<u32>,
}

impl Parts {
    /// Each of so many numbers alone.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self { roots: (0..count as u32).collect() }
    }

    /// The smallest number of the set of a number.
    pub fn root(&mut self, number: u32) -> u32 {
        let mut at = number;
        while let Some(&up) = self.roots.get(at as usize).filter(|&&up| up != at) {
            // Halves the way for those who come later.
            let above = self.roots.get(up as usize).copied().unwrap_or(up);
            self.roots[at as usize] = above;
            at = above;
        }
        at
    }

    /// Makes one set of those of two numbers.
    pub fn join(&mut self, one: u32, other: u32) {
        let (one, other) = (self.root(one), self.root(other));
        let (low, high) = (one.min(other), one.max(other));
        if let Some(root) = self.roots.get_mut(high as usize) {
            *root = low;
        }
    }
}
