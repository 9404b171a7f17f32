//! An agent beside an interface: samples by difference of counters, timers, what became of its messages.

use alloc::boxed::Box;
use alloc::vec::Vec;

use airfair_schemes::places::{
    Agent, AgentContext, AgentEffects, AgentSetup, Airtime, LinkUse, NodeId, NodeSample, QueueView, Timer,
};
use airfair_units::random::Stream;
use airfair_units::{Span, Time};

use crate::slot::{Firing, Slot};

/// Messages of an agent over the whole run. A message to one neighbour is for all that overhear it as well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// Messages that it sent.
    pub sent: u64,
    /// Neighbours that did not hear them, message by message.
    pub missed: u64,
    /// Messages of others that it heard, overheard ones included, each once.
    pub heard: u64,
    /// Messages addressed to it alone.
    pub received: u64,
}

/// An interface's counters at one moment, since the start.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counters {
    /// When.
    pub at: Time,
    /// Radio states.
    pub airtime: Airtime,
    /// Time spent receiving frames for the node itself.
    pub receive_own: Span,
    /// Responses that did not come.
    pub retries: u64,
    /// Packets of flows that left the queue or were received.
    pub traffic: u64,
    /// What the link has carried.
    pub link: LinkUse,
}

impl Counters {
    /// What was counted since an earlier moment.
    fn since(&self, earlier: &Self, set_up: u32, queue: QueueView) -> NodeSample {
        NodeSample {
            interval: Span(self.at.0 - earlier.at.0),
            airtime: self.airtime - earlier.airtime,
            receive_own: Span(self.receive_own.0 - earlier.receive_own.0),
            retries: (self.retries - earlier.retries) as u32,
            traffic: (self.traffic - earlier.traffic) as u32,
            set_up,
            queue,
            link: self.link - earlier.link,
        }
    }
}

/// An agent and what is kept for it. After each call the caller applies the settings and sends the messages that lie in `effects`,
/// and puts `firings` on its agenda.
pub struct AgentSlot {
    slot: Slot<Box<dyn Agent>>,
    /// Length of a sample's interval; zero: no samples.
    interval: Span,
    last: Counters,
    /// Nodes that can decode what it sends.
    neighbours: usize,
    counts: MessageCounts,
}

impl AgentSlot {
    /// An agent that wants samples of this interval, or none if it is zero, and has so many neighbours.
    #[must_use]
    pub fn new(agent: Box<dyn Agent>, interval: Span, neighbours: usize, random: Stream, rank: u32) -> Self {
        let slot = Slot::new(agent, random, rank);
        Self { slot, interval, last: Counters::default(), neighbours, counts: MessageCounts::default() }
    }

    /// The rank of its timers and samples.
    #[must_use]
    pub const fn rank(&self) -> u32 {
        self.slot.rank
    }

    /// The length of a sample's interval, if the agent wants samples.
    #[must_use]
    pub fn interval(&self) -> Option<Span> {
        Some(self.interval).filter(|&interval| interval > Span::ZERO)
    }

    /// When the first sample ends: within one interval from the start, at a moment drawn at random. Asked once, before `start`.
    pub fn first_sample(&mut self) -> Option<Time> {
        let interval = self.interval()?;
        Some(Time(1 + (self.slot.random.uniform() * interval.0 as f64) as u64))
    }

    /// What became of its messages.
    #[must_use]
    pub const fn counts(&self) -> MessageCounts {
        self.counts
    }

    /// Inner values of the agent.
    #[must_use]
    pub fn gauges(&self) -> Vec<(&'static str, f64)> {
        self.slot.machine.gauges()
    }

    /// The interface starts.
    pub fn start(
        &mut self,
        setup: &AgentSetup<'_>,
        now: Time,
        effects: &mut AgentEffects,
        firings: &mut Vec<Firing>,
    ) {
        self.call(now, effects, firings, |agent, context| agent.on_start(setup, context));
    }

    /// An interval has ended: the counters as they are now, flows that are being set up, the queue.
    pub fn sample(
        &mut self,
        counted: Counters,
        set_up: u32,
        queue: QueueView,
        effects: &mut AgentEffects,
        firings: &mut Vec<Firing>,
    ) {
        let sample = counted.since(&self.last, set_up, queue);
        self.last = counted;
        self.call(counted.at, effects, firings, |agent, context| agent.on_sample(&sample, context));
    }

    /// The time of a firing has come.
    pub fn timer(
        &mut self,
        (timer, generation): (Timer, u32),
        now: Time,
        effects: &mut AgentEffects,
        firings: &mut Vec<Firing>,
    ) {
        if self.slot.timers.fires(timer, generation) {
            self.call(now, effects, firings, |agent, context| agent.on_timer(timer, context));
        }
    }

    /// A message was heard for the first time; `to_me`: it is for this node, or for all.
    pub fn hear(
        &mut self,
        (from, bytes, to_me): (NodeId, &[u8], bool),
        now: Time,
        effects: &mut AgentEffects,
        firings: &mut Vec<Firing>,
    ) {
        self.counts.heard += 1;
        self.call(now, effects, firings, |agent, context| agent.on_message(from, bytes, to_me, context));
    }

    /// Movement has changed which nodes can decode what the interface sends.
    pub fn meet(
        &mut self,
        neighbours: &[NodeId],
        now: Time,
        effects: &mut AgentEffects,
        firings: &mut Vec<Firing>,
    ) {
        self.neighbours = neighbours.len();
        self.call(now, effects, firings, |agent, context| agent.on_neighbours(neighbours, context));
    }

    /// A message for this node alone has arrived, heard before or not.
    pub const fn count_received(&mut self) {
        self.counts.received += 1;
    }

    /// A message of the agent leaves.
    pub const fn count_sent(&mut self) {
        self.counts.sent += 1;
    }

    /// A message of the agent has ended; so many have heard it.
    pub const fn count_ended(&mut self, heard: usize) {
        self.counts.missed += self.neighbours.saturating_sub(heard) as u64;
    }

    fn call(
        &mut self,
        now: Time,
        effects: &mut AgentEffects,
        firings: &mut Vec<Firing>,
        hook: impl FnOnce(&mut dyn Agent, &mut AgentContext<'_>),
    ) {
        self.slot.call(now, effects, firings, |agent, context| hook(&mut **agent, context));
    }
}
