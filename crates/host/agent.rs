//! Agents at interfaces: samples by differences of counters, timers, counters of messages.

use alloc::boxed::Box;
use alloc::vec::Vec;

use airfair_schemes::places::{
    Agent, AgentContext, AgentEffects, AgentSetup, Airtime, FlowId, FlowSample, FlowShare, Forwarder,
    ForwarderContext, ForwarderEffects, HeaderKind, Heard, LinkSample, LinkUse, NodeId, NodeSample,
    QueueView, Timer,
};
use airfair_units::random::Stream;
use airfair_units::{Span, Time};

use crate::message::EndedMessage;
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

/// Counters of an interface from the start of the run to a moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct InterfaceCounters {
    /// Time of the counters.
    pub at: Time,
    /// Time in each radio state.
    pub airtime: Airtime,
    /// Time spent receiving frames for the node itself.
    pub receive_own: Span,
    /// Responses that were not received.
    pub retries: u64,
    /// Packets of flows that left the queue or were received.
    pub traffic: u64,
    /// Traffic of the link.
    pub link: LinkUse,
}

/// The parts of a sample that are no differences of counters.
#[derive(Debug, Clone, Copy, Default)]
pub struct SampledState<'a> {
    /// Number of flows being set up.
    pub set_up: u32,
    /// The queue.
    pub queue: QueueView,
    /// Links since the last sample.
    pub links: &'a [LinkSample],
    /// Flows since the last sample.
    pub flows: &'a [FlowSample],
}

impl InterfaceCounters {
    /// Differences from earlier counters.
    fn since<'a>(
        &self,
        earlier: &Self,
        SampledState { set_up, queue, links, flows }: SampledState<'a>,
    ) -> NodeSample<'a> {
        NodeSample {
            interval: Span(self.at.0 - earlier.at.0),
            airtime: self.airtime - earlier.airtime,
            receive_own: Span(self.receive_own.0 - earlier.receive_own.0),
            retries: (self.retries - earlier.retries) as u32,
            traffic: (self.traffic - earlier.traffic) as u32,
            set_up,
            queue,
            link: self.link - earlier.link,
            links,
            flows,
        }
    }
}

/// An agent with its host's state. After each call the caller applies the settings and sends the messages in `effects`, and schedules the
/// `firings`.
pub struct AgentSlot {
    slot: Slot<Box<dyn Agent>>,
    /// Length of a sampling interval; zero: no samples.
    interval: Span,
    last: InterfaceCounters,
    /// Number of nodes that can decode its frames.
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

    /// End of the first sample: a random time within one interval from the start. Called once, before `start`.
    pub fn first_sample(&mut self) -> Option<Time> {
        let interval = self.interval()?;
        Some(Time(1 + (self.slot.random.uniform() * interval.0 as f64) as u64))
    }

    /// Counters of its messages.
    #[must_use]
    pub const fn counts(&self) -> MessageCounts {
        self.counts
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

    /// Calls the hook for the start of the run.
    pub fn on_start(
        &mut self,
        setup: &AgentSetup<'_>,
        now: Time,
        effects: &mut AgentEffects,
        firings: &mut Vec<Firing>,
    ) {
        self.call(now, effects, firings, |agent, context| agent.on_start(setup, context));
    }

    /// Calls the hook for the end of an interval with the counters and the other parts of the sample.
    pub fn on_sample(
        &mut self,
        counted: InterfaceCounters,
        state: SampledState<'_>,
        effects: &mut AgentEffects,
        firings: &mut Vec<Firing>,
    ) {
        let sample = counted.since(&self.last, state);
        self.last = counted;
        self.call(counted.at, effects, firings, |agent, context| agent.on_sample(&sample, context));
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

    /// Calls the hook for changed neighbours: the nodes that can decode the interface's frames after a movement.
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
