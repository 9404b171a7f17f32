//! Stepping aside, at the controller (ours; the paper limits always): where limits help nobody, they are lifted.
//!
//! Limits cost: capacities begin and stay below what the air carries, so that what a starving flow sends arrives. Where no flow starves
//! this is lost for nothing. No formula says whether a flow would starve without limits, so the controller tries, for each part of the
//! network whose flows share air.
//!
//! - **Served** is a flow by the part of its entitlement that arrives: its max-min rate at the largest capacities, or what it sends where
//!   its first node says that it wants no more. What arrives is what its last node has of it, less what that node's link loses. The
//!   *least* of a part of the network is that of its worst flow over the rounds of a trial, without the first one.
//! - **Free at first**, as soon as every node that others hear has reported: one that is silent would be held by the rate of nodes without
//!   an allocation while all others are free. With `enough` of the least, limits stay away until it has been below for as long as a trial
//!   takes.
//! - **Limited** where the least is below half of `enough`: there a flow starves. In between limits are tried, and stay if they add a
//!   tenth to the least. In a trial without limits a flow that gets next to nothing ends the trial.
//! - A round in which the report of a flow's last node is lost does not count for the flow; one of which no report arrives in a whole trial
//!   counts as one that gets nothing. So does, for a while, a flow that had less than enough and that no node names any more: its source
//!   may be waiting for a timer.
//! - **Again** the other way is tried after a time that doubles each time, and that is longer where a flow starved: what changes seldom is
//!   tried seldom.
//! - A new flow joins the part of the network whose air it shares, and does as its flows do; of parts that become one, the flow with the
//!   smallest number decides.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::places::FlowId;

/// When limits are lifted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AsideConfig {
    /// The part of its entitlement that each flow has to get without limits; 0: they are never lifted.
    pub enough: f64,
    /// Rounds until limits are tried again, at first; until they are lifted again, four times as many.
    pub patience: u32,
}

impl Default for AsideConfig {
    fn default() -> Self {
        Self { enough: 0.0, patience: 16 }
    }
}

/// Rounds of a trial.
const TRIAL: u32 = 3;
/// The part of the least flow's entitlement that limits have to add.
const GAIN: f64 = 0.1;
/// Part of what a flow is entitled to below which a trial without limits ends before its last round.
const NOTHING: f64 = 0.1;
/// Rounds for which limits wait at most for nodes that have never reported: one that is sensed and decoded by nobody never does.
const FIRST: u32 = 4;
/// The longest patience, rounds.
const LONGEST: u32 = 256;
/// Rounds for which a flow that had less than enough counts after it was seen last.
const MISSED: u32 = 16;

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

/// The limits of a part of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limits {
    /// Until all nodes have reported.
    First,
    /// Away, on trial or for longer.
    Away,
    /// There, on trial.
    Tried,
    /// There.
    Stay,
}

/// The way of a part of the network, as each of its flows remembers it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Way {
    limits: Limits,
    /// Rounds since they changed, or were judged last.
    rounds: u32,
    /// Rounds until the other way may be tried, and the time of the next such wait.
    wait: u32,
    patience: u32,
    /// The least without limits, when it was last measured.
    free_least: f64,
}

/// A flow of a part of the network.
#[derive(Debug, Clone, Copy)]
struct State {
    way: Way,
    /// The flow with the smallest number in its part.
    leader: FlowId,
    /// Sums over the rounds that count: what arrived, and to what the flow was entitled.
    arrived: f64,
    entitled: f64,
    /// The rate that arrived by its last report, and the one to which it was entitled then.
    last: [f64; 2],
    /// Rounds since it was seen.
    missed: u32,
}

/// Which flows are limited.
#[derive(Debug, Clone)]
pub struct Aside {
    config: AsideConfig,
    flows: BTreeMap<FlowId, State>,
    /// Of the last round.
    free: usize,
}

/// The flows of a part over the rounds that count.
#[derive(Debug, Clone, Copy)]
struct Served {
    /// The part of its entitlement that the worst one got.
    least: f64,
    /// One of them is reported to get next to nothing.
    nothing: bool,
    /// A node near one of them has never reported.
    unheard: bool,
}

impl Way {
    const fn new(patience: u32) -> Self {
        Self { limits: Limits::First, rounds: 0, wait: FIRST, patience, free_least: 0.0 }
    }

    /// A round has passed. True if the rounds before are judged, so that new ones begin.
    fn pass(&mut self, config: &AsideConfig, served: Served) -> bool {
        let Served { least, nothing, unheard } = served;
        self.rounds += 1;
        self.wait = self.wait.saturating_sub(1);
        let whole = self.rounds >= TRIAL;
        let judged = match self.limits {
            Limits::First => !unheard || self.wait == 0,
            Limits::Away => whole || (self.rounds > 1 && nothing),
            Limits::Tried => whole,
            Limits::Stay => self.wait == 0,
        };
        if !judged {
            return false;
        }
        self.rounds = 0;
        match self.limits {
            Limits::First => (self.limits, self.wait) = (Limits::Away, 0),
            Limits::Away if least >= config.enough => {}
            Limits::Away if self.wait == 0 => {
                self.free_least = least;
                if least < 0.5 * config.enough {
                    self.stay(Limits::Stay, 4);
                } else {
                    self.limits = Limits::Tried;
                }
            }
            Limits::Away => {}
            Limits::Tried if least >= self.free_least + GAIN => self.stay(Limits::Stay, 4),
            Limits::Tried => self.stay(Limits::Away, 1),
            Limits::Stay => self.limits = Limits::Away,
        }
        true
    }

    /// A trial has ended: this way stays, and next time for twice as long.
    fn stay(&mut self, limits: Limits, times: u32) {
        (self.limits, self.wait) = (limits, self.patience.saturating_mul(times));
        self.patience = self.patience.saturating_mul(2).min(LONGEST);
    }

    /// Does the round that has just begun count?
    const fn counts(&self) -> bool {
        self.rounds > 1
    }

    const fn is_free(&self) -> bool {
        matches!(self.limits, Limits::Away)
    }
}

impl State {
    /// The sums of a flow with those of now: rates that arrived, and rates to which it was entitled.
    fn with(&self, seen: Option<&Observed>) -> [f64; 2] {
        match seen {
            // A report that is lost says nothing.
            Some(seen) => seen.arrived.map_or([self.arrived, self.entitled], |arrived| {
                [self.arrived + arrived, self.entitled + seen.entitled]
            }),
            None => [self.arrived, self.entitled + self.last[1]],
        }
    }
}

/// The flows of a part, each with its state and what was seen of it; `None`: it is missed.
type Part = BTreeMap<FlowId, (State, Option<Observed>)>;

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

    /// A round: `observed`, what came of the last one.
    pub fn round(&mut self, observed: &[Observed]) {
        let known = core::mem::take(&mut self.flows);
        self.free = 0;
        for mut flows in self.parts(&known, observed).into_values() {
            let old = flows.iter().find(|(flow, (_, seen))| seen.is_some() && known.contains_key(flow));
            let Some(mut way) = old.or_else(|| flows.iter().next()).map(|(_, of)| of.0.way) else { continue };
            let served = served(&flows);
            let judged = way.pass(&self.config, served);
            let leader = flows.iter().find(|(_, (_, seen))| seen.is_some()).map(|(&flow, _)| flow);
            for (flow, (state, seen)) in &mut flows {
                self.free += usize::from(way.is_free() && seen.is_some());
                [state.arrived, state.entitled] = state.with(seen.as_ref());
                if judged || !way.counts() {
                    [state.arrived, state.entitled] = [0.0, 0.0];
                }
                (state.way, state.leader) = (way, leader.unwrap_or(*flow));
            }
            self.flows.extend(flows.into_iter().map(|(flow, (state, _))| (flow, state)));
        }
    }

    /// The flows by the parts to which they belong, with those that are missed.
    fn parts(&self, known: &BTreeMap<FlowId, State>, observed: &[Observed]) -> BTreeMap<u32, Part> {
        let mut parts: BTreeMap<u32, Part> = BTreeMap::new();
        let mut of_leader: BTreeMap<FlowId, u32> = BTreeMap::new();
        for seen in observed {
            let (way, leader) = (Way::new(self.config.patience), seen.flow);
            let new = State { way, leader, arrived: 0.0, entitled: 0.0, last: [0.0; 2], missed: 0 };
            let state = known.get(&seen.flow).copied().unwrap_or(new);
            of_leader.entry(state.leader).or_insert(seen.part);
            let part = parts.entry(seen.part).or_default();
            // A flow in several pieces counts with the worst of those of which a report has arrived.
            let part_of = |seen: &Observed| seen.arrived.map(|arrived| arrived / seen.entitled.max(1.0));
            let worse = part.get(&seen.flow).and_then(|other| other.1).is_none_or(|other| {
                match (part_of(seen), part_of(&other)) {
                    (Some(this), Some(that)) => this < that,
                    (this, that) => this.is_some() && that.is_none(),
                }
            });
            if worse {
                // Of a flow without any report so far nothing has arrived.
                let known = if state.last[1] > 0.0 { state.last } else { [0.0, seen.entitled] };
                let last = seen.arrived.map_or(known, |arrived| [arrived, seen.entitled]);
                part.insert(seen.flow, (State { missed: 0, last, ..state }, Some(*seen)));
            }
        }
        let here: BTreeSet<FlowId> = parts.values().flat_map(|part| part.keys().copied()).collect();
        for (&flow, state) in known.iter().filter(|(flow, _)| !here.contains(flow)) {
            let badly = state.last[0] < self.config.enough * state.last[1];
            let part = of_leader.get(&state.leader).filter(|_| badly && state.missed < MISSED);
            let part = part.and_then(|part| parts.get_mut(part));
            part.and_then(|part| part.insert(flow, (State { missed: state.missed + 1, ..*state }, None)));
        }
        parts
    }

    /// Is a flow free of limits?
    #[must_use]
    pub fn is_free(&self, flow: FlowId) -> bool {
        self.flows.get(&flow).is_some_and(|state| state.missed == 0 && state.way.is_free())
    }

    /// Flows without limits.
    #[must_use]
    pub const fn free(&self) -> usize {
        self.free
    }
}

/// The rates that the flows of a part get.
fn served(flows: &Part) -> Served {
    let (mut least, mut nothing, mut unheard) = (f64::INFINITY, false, false);
    for (state, seen) in flows.values() {
        let [arrived, entitled] = state.with(seen.as_ref());
        // Nothing is known of a flow without any report: as if nothing of it arrived.
        least = least.min(if entitled > 0.0 { arrived / entitled } else { 0.0 });
        nothing |= arrived < NOTHING * entitled;
        unheard |= seen.is_some_and(|seen| seen.unheard);
    }
    Served { least, nothing, unheard }
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
