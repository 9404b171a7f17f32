//! An agent with its host's state: samples by differences of counters, timers, counters of messages.

use alloc::boxed::Box;
use alloc::vec::Vec;

use airfair_schemes::places::{
    Agent, AgentContext, AgentEffects, AgentSetup, FlowId, FlowShare, Forwarder, ForwarderContext,
    ForwarderEffects, HeaderKind, Heard, LinkShare, LoneExchange, NodeId, NodeSample, Timer,
};
use airfair_units::random::Stream;
use airfair_units::{Rate, Span, Time};

use crate::sample::InterfaceCounters;
use crate::slot::{Firing, Slot};

/// Counters of an agent's messages over the whole run. A message to one neighbour also counts at all stations that overhear it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// Messages sent by the agent.
    pub sent: u64,
    /// Neighbours that did not receive a message, summed over messages; a message to a node any number of hops away that did not arrive
    /// counts once.
    pub missed: u64,
    /// Messages of others received, overheard ones included, each once.
    pub heard: u64,
    /// Messages in frames addressed to this station alone, repeated ones included.
    pub received: u64,
}

/// A message of an agent or a controller that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedMessage {
    /// Receivers that have handled it.
    pub receivers: usize,
    /// It was for a node any number of hops away.
    pub routed: bool,
    /// It has reached the node that it is for.
    pub arrived: bool,
}

/// An agent with its host's state. After each call the caller applies the settings and sends the messages in `effects`, and schedules the
/// `firings`.
pub struct AgentSlot {
    slot: Slot<Box<dyn Agent>>,
    /// Length of a sampling interval; zero: no samples.
    interval: Span,
    last: InterfaceCounters,
    /// Rate of the radio.
    rate: Rate,
    /// Samples that were left out because their counters were wrong.
    bad_samples: u64,
    /// Number of nodes that its frames reach.
    neighbours: usize,
    counts: MessageCounts,
}

impl AgentSlot {
    /// An agent with this sampling interval (zero: no samples) and number of neighbours.
    #[must_use]
    pub fn new(agent: Box<dyn Agent>, interval: Span, neighbours: usize, random: Stream, rank: u32) -> Self {
        let slot = Slot::new(agent, random, rank);
        Self {
            slot,
            interval,
            last: InterfaceCounters::default(),
            rate: Rate(0),
            bad_samples: 0,
            neighbours,
            counts: MessageCounts::default(),
        }
    }

    /// The rank of its timers and samples.
    #[must_use]
    pub const fn rank(&self) -> u32 {
        self.slot.rank
    }

    /// Length of a sampling interval, if the agent takes samples.
    #[must_use]
    pub fn interval(&self) -> Option<Span> {
        Some(self.interval).filter(|&interval| interval > Span::ZERO)
    }

    /// End of the first sample: a random time within one interval from now. Called once, before `start`.
    pub fn first_sample(&mut self, now: Time) -> Option<Time> {
        let interval = self.interval()?;
        Some(now + Span(1 + (self.slot.random.uniform() * interval.0 as f64) as u64))
    }

    /// The first sample has the differences from these counters.
    pub const fn count_from(&mut self, counted: InterfaceCounters) {
        self.last = counted;
    }

    /// Counters of its messages.
    #[must_use]
    pub const fn counts(&self) -> MessageCounts {
        self.counts
    }

    /// Number of samples that were left out because their counters were wrong.
    #[must_use]
    pub const fn bad_samples(&self) -> u64 {
        self.bad_samples
    }

    /// Internal values of the agent, by name.
    #[must_use]
    pub fn gauges(&self) -> Vec<(&'static str, f64)> {
        self.slot.machine.gauges()
    }

    /// The share that a flow has at the agent's node.
    #[must_use]
    pub fn share(&self, flow: FlowId) -> Option<FlowShare> {
        self.slot.machine.share(flow)
    }

    /// The share of the air that the link to a neighbour has.
    #[must_use]
    pub fn link_share(&self, neighbour: NodeId) -> Option<LinkShare> {
        self.slot.machine.link_share(neighbour)
    }

    /// Calls the hook for the start of the run.
    pub fn on_start(
        &mut self,
        setup: &AgentSetup<'_>,
        now: Time,
        effects: &mut AgentEffects,
        firings: &mut Vec<Firing>,
    ) {
        self.rate = setup.rate;
        self.call(now, effects, firings, |agent, context| agent.on_start(setup, context));
    }

    /// Ends an interval of the counters: the differences from the last ones, of which the caller makes a sample. None where they cannot be
    /// right ([`InterfaceCounters::since`]); the next interval begins with these counters all the same.
    pub fn difference(&mut self, counted: InterfaceCounters) -> Option<NodeSample<'static>> {
        let difference = counted.since(&self.last, self.rate);
        // What was received before the interval is left for the next one.
        let left = |sample: &NodeSample<'_>| self.last.receive_own + sample.receive_own;
        let receive_own = difference.as_ref().map_or(counted.receive_own, left);
        self.last = InterfaceCounters { receive_own, ..counted };
        self.bad_samples += u64::from(difference.is_none());
        difference
    }

    /// [`AgentSlot::difference`] of a simulated radio's counters, which are right ([`InterfaceCounters::exactly_since`]).
    pub fn exact_difference(&mut self, counted: InterfaceCounters) -> NodeSample<'static> {
        let difference = counted.exactly_since(&self.last);
        self.last = counted;
        difference
    }

    /// Calls the hook for the end of an interval.
    pub fn on_sample(
        &mut self,
        sample: &NodeSample<'_>,
        now: Time,
        effects: &mut AgentEffects,
        firings: &mut Vec<Firing>,
    ) {
        self.call(now, effects, firings, |agent, context| agent.on_sample(sample, context));
    }

    /// Calls the hook for the sizes of the queue by destination.
    pub fn on_backlogs(
        &mut self,
        sizes: &[(NodeId, u32)],
        now: Time,
        effects: &mut AgentEffects,
        firings: &mut Vec<Firing>,
    ) {
        self.call(now, effects, firings, |agent, context| agent.on_backlogs(sizes, context));
    }

    /// Calls the hook for the rate of frames to a neighbour.
    pub fn on_link_rate(
        &mut self,
        (neighbour, exchange): (NodeId, LoneExchange),
        now: Time,
        effects: &mut AgentEffects,
        firings: &mut Vec<Firing>,
    ) {
        self.rate = self.rate.max(exchange.rate);
        self.call(now, effects, firings, |agent, context| agent.on_link_rate(neighbour, exchange, context));
    }

    /// Calls the hook for a due timer.
    pub fn on_timer(
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

    /// Calls the hook for a message, which must be new to the agent; `to_me`: it is addressed to this node, or to all.
    pub fn on_message(
        &mut self,
        (from, bytes, to_me): (NodeId, &[u8], bool),
        now: Time,
        effects: &mut AgentEffects,
        firings: &mut Vec<Firing>,
    ) {
        self.counts.heard += 1;
        self.call(now, effects, firings, |agent, context| agent.on_message(from, bytes, to_me, context));
    }

    /// The kind of header that the agent hears.
    #[must_use]
    pub fn hears(&self) -> Option<&'static HeaderKind> {
        self.slot.machine.hears()
    }

    /// Calls the hook for a header of that kind, received or overheard.
    pub fn on_header(
        &mut self,
        heard: &Heard<'_>,
        now: Time,
        effects: &mut AgentEffects,
        firings: &mut Vec<Firing>,
    ) {
        self.call(now, effects, firings, |agent, context| agent.on_header(heard, context));
    }

    /// Calls the hook for changed neighbours: the nodes that can lock on to the interface's frames after a movement.
    pub fn on_neighbours(
        &mut self,
        neighbours: &[NodeId],
        now: Time,
        effects: &mut AgentEffects,
        firings: &mut Vec<Firing>,
    ) {
        self.neighbours = neighbours.len();
        self.call(now, effects, firings, |agent, context| agent.on_neighbours(neighbours, context));
    }

    /// Calls the hook for a controller that has started (`here`) or stopped at the agent's node.
    pub fn on_controller(
        &mut self,
        here: bool,
        now: Time,
        effects: &mut AgentEffects,
        firings: &mut Vec<Firing>,
    ) {
        self.call(now, effects, firings, |agent, context| agent.on_controller(here, context));
    }

    /// Counts a message in a frame addressed to this station alone, also a repeated one.
    pub const fn count_received(&mut self) {
        self.counts.received += 1;
    }

    /// Counts a message sent by the agent.
    pub const fn count_sent(&mut self) {
        self.counts.sent += 1;
    }

    /// Counts the end of a message of the agent: neighbours that did not receive it, or that it did not reach a node any number of hops
    /// away.
    pub const fn count_ended(&mut self, ended: &EndedMessage) {
        self.counts.missed += match ended.routed {
            true => !ended.arrived as u64,
            false => self.neighbours.saturating_sub(ended.receivers) as u64,
        };
    }

    /// True if the agent is a forwarder.
    pub fn is_forwarder(&mut self) -> bool {
        self.slot.machine.forwarder().is_some()
    }

    /// Asks the agent as a forwarder; none if it is none.
    pub fn query<R>(&mut self, question: impl FnOnce(&dyn Forwarder) -> R) -> Option<R> {
        self.slot.machine.forwarder().map(|forwarder| question(forwarder))
    }

    /// Calls a hook of the agent as a forwarder; none if it is none.
    pub fn forward<R>(
        &mut self,
        now: Time,
        effects: &mut ForwarderEffects,
        firings: &mut Vec<Firing>,
        hook: impl FnOnce(&mut dyn Forwarder, &mut ForwarderContext<'_>) -> R,
    ) -> Option<R> {
        self.slot.call(now, effects, firings, |agent, context| {
            agent.forwarder().map(|forwarder| hook(forwarder, context))
        })
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
