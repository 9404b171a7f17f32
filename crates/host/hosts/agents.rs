//! Agents at radios: their samples, timers and messages, and the effects of their hooks.

use alloc::vec::Vec;

use airfair_schemes::places::{
    AgentEffects, AgentSetup, Destination, FlowId, FlowShare, Forwarder, ForwarderContext, ForwarderEffects,
    Heard, LinkShare, LoneExchange, NodeId, NodeSample, Timer,
};
use airfair_units::Time;

use super::forwarders;
use super::{HostEvent, MessageSender, Net, add_waiting, post};
use crate::agent::{AgentSlot, EndedMessage, MessageCounts};
use crate::header::HeaderId;
use crate::hosts::link_meters::Rows;
use crate::sample::InterfaceCounters;
use crate::seen::{MessageId, Seen};
use crate::slot::Firing;
use crate::table::Table;

/// The agents of a network.
pub struct Agents<N: Net> {
    /// Empty if the scheme has no agents.
    hosted: Table<N::Radio, Option<HostedAgent>>,
    /// Effects that the last hook has requested.
    effects: AgentEffects,
    /// Effects that the last hook of an agent as a forwarder has requested.
    forwarder_effects: ForwarderEffects,
    firings: Vec<Firing>,
}

impl<N: Net> Default for Agents<N> {
    fn default() -> Self {
        Self {
            hosted: Table::default(),
            effects: AgentEffects::default(),
            forwarder_effects: ForwarderEffects::default(),
            firings: Vec::new(),
        }
    }
}

/// An agent with what its host keeps beside it.
struct HostedAgent {
    agent: AgentSlot,
    /// It learns of the sizes of its radio's queue.
    wants_backlogs: bool,
    /// The kind of header that it hears.
    hears: HeaderId,
    /// Messages that it has received.
    seen: Seen,
    /// Messages for other nodes that its node has received and passes on.
    relayed: u64,
    /// Time of its last sample, or of its start.
    sampled: Time,
}

/// A message that a radio has received.
#[derive(Debug, Clone, Copy)]
pub struct Received<'a, R> {
    /// The message's name.
    pub id: MessageId,
    /// Bytes above IP.
    pub bytes: &'a [u8],
    /// To whom it is addressed.
    pub to: Addressee,
    /// True if a frame addressed to this radio alone carried it.
    pub own_frame: bool,
    /// The radio whose agent has sent it, if it is one of this node's.
    pub sender: Option<R>,
}

/// To whom a message is addressed, as a node that has received it sees this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addressee {
    /// To this node alone.
    Me,
    /// To all neighbours of its sender.
    Everyone,
    /// To another node: it was overheard, or is passed on.
    Other,
}

impl<N: Net> Agents<N> {
    /// True if there are no agents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hosted.is_empty()
    }

    /// Adds the agent of a radio; `radios`: number of all radios, `wants_backlogs`: it learns of the sizes of its queue, `hears`: the
    /// kind of header that it hears.
    pub fn add(
        &mut self,
        (radio, radios): (N::Radio, usize),
        agent: AgentSlot,
        (wants_backlogs, hears): (bool, HeaderId),
    ) {
        if self.hosted.is_empty() {
            self.hosted = (0..radios).map(|_| None).collect();
        }
        self.hosted[radio] = Some(HostedAgent {
            agent,
            wants_backlogs,
            hears,
            seen: Seen::default(),
            relayed: 0,
            sampled: Time::ZERO,
        });
    }

    fn at(&mut self, radio: N::Radio) -> Option<&mut HostedAgent> {
        self.hosted.get_mut(radio)?.as_mut()
    }

    fn hosted(&self, radio: N::Radio) -> Option<&HostedAgent> {
        self.hosted.get(radio)?.as_ref()
    }

    /// Counts a message that a radio has received in order to pass it on.
    pub fn count_relayed(&mut self, radio: N::Radio) {
        self.at(radio).into_iter().for_each(|host| host.relayed += 1);
    }

    /// Number of messages that a radio has received in frames addressed to it alone, also those that it passes on.
    #[must_use]
    pub fn messages_in_own_frames(&self, radio: N::Radio) -> u64 {
        self.hosted(radio).map_or(0, |host| host.agent.counts().received + host.relayed)
    }

    /// Counts the end of a message of a radio's agent.
    pub fn count_ended(&mut self, radio: N::Radio, ended: &EndedMessage) {
        self.at(radio).into_iter().for_each(|host| host.agent.count_ended(ended));
    }

    /// Internal values of a radio's agent, by name.
    #[must_use]
    pub fn gauges(&self, radio: N::Radio) -> Vec<(&'static str, f64)> {
        self.hosted(radio).map_or_else(Vec::new, |host| host.agent.gauges())
    }

    /// The share that a flow has at a radio's node.
    #[must_use]
    pub fn share(&self, radio: N::Radio, flow: FlowId) -> Option<FlowShare> {
        self.hosted(radio)?.agent.share(flow)
    }

    /// The share of the air that the link from a radio to a neighbour has.
    #[must_use]
    pub fn link_share(&self, radio: N::Radio, neighbour: NodeId) -> Option<LinkShare> {
        self.hosted(radio)?.agent.link_share(neighbour)
    }

    /// Numbers of messages of a radio's agent.
    #[must_use]
    pub fn message_counts(&self, radio: N::Radio) -> Option<MessageCounts> {
        Some(self.hosted(radio)?.agent.counts())
    }

    /// Number of samples that a radio's agent has not had because its counters were wrong.
    #[must_use]
    pub fn bad_samples(&self, radio: N::Radio) -> u64 {
        self.hosted(radio).map_or(0, |host| host.agent.bad_samples())
    }

    /// Asks a radio's agent as a forwarder; none if it is none.
    pub fn query_forwarder<R>(
        &mut self,
        radio: N::Radio,
        question: impl FnOnce(&dyn Forwarder) -> R,
    ) -> Option<R> {
        self.at(radio)?.agent.query(question)
    }
}

/// Starts the agent of a radio with these counters: a driver's may have begun long before, and their time may be another clock's.
pub fn start<N: Net>(
    net: &mut N,
    radio: N::Radio,
    setup: &AgentSetup<'_>,
    counted: InterfaceCounters,
    now: Time,
) {
    let Some(host) = net.hosts().agents.at(radio) else { return };
    host.agent.count_from(counted);
    host.sampled = now;
    let (first, rank) = (host.agent.first_sample(now), host.agent.rank());
    if let Some(first) = first {
        net.schedule(HostEvent::Sample(radio), first, rank);
    }
    call(net, radio, |agent, out, firings| agent.on_start(setup, now, out, firings));
    changed(net, radio, now);
}

/// Handles a due timer of an agent, unless it was moved in the meantime.
pub fn timer<N: Net>(net: &mut N, radio: N::Radio, timer: (Timer, u32), now: Time) {
    call(net, radio, |agent, out, firings| agent.on_timer(timer, now, out, firings));
    changed(net, radio, now);
}

/// Handles the end of an interval of a radio's counters. They may come from a driver and be wrong: the agent then has no sample, and links
/// and flows, which the host has counted, come with the next one.
pub fn sample<N: Net>(net: &mut N, radio: N::Radio, counted: InterfaceCounters, now: Time) {
    let Some(host) = net.hosts().agents.at(radio) else { return };
    let (interval, rank, wants_backlogs) = (host.agent.interval(), host.agent.rank(), host.wants_backlogs);
    if let Some(interval) = interval {
        // Before all that this sample may schedule for the same moment.
        net.schedule(HostEvent::Sample(radio), now.saturating_add(interval), rank);
    }
    let (queue, set_up) = net.state(radio, now);
    if wants_backlogs {
        let sizes = net.backlogs(radio);
        call(net, radio, |agent, out, firings| agent.on_backlogs(&sizes, now, out, firings));
        changed(net, radio, now);
    }
    let Some(host) = net.hosts().agents.at(radio) else { return };
    let difference = if N::EXACT_COUNTERS {
        Some(host.agent.exact_difference(counted))
    } else {
        host.agent.difference(counted)
    };
    let Some(difference) = difference else { return };
    let counted = now.since(core::mem::replace(&mut host.sampled, now));
    let rows = links_and_flows(net, radio);
    let Rows { links, flows, answers } = &rows;
    let sample = NodeSample { set_up, queue, counted, links, flows, answers, ..difference };
    call(net, radio, |agent, out, firings| agent.on_sample(&sample, now, out, firings));
    net.meters().links.put_back(rows);
    changed(net, radio, now);
}

/// Links and flows of a radio since its last sample, if it counts them.
fn links_and_flows<N: Net>(net: &mut N, radio: N::Radio) -> Rows {
    let Some(mut rows) = net.meters().links.take(radio) else { return Rows::default() };
    add_waiting(net, radio, &mut rows.links);
    for sample in &mut rows.flows {
        sample.stated = net.stated_rate(radio, sample.flow);
    }
    rows
}

/// Handles a message that a radio has received. Returns true if it is new to the radio's agent, which then has it.
pub fn message<N: Net>(net: &mut N, radio: N::Radio, received: &Received<'_, N::Radio>, now: Time) -> bool {
    let is_new = take_message(net, radio, received, now);
    changed(net, radio, now);
    is_new
}

fn take_message<N: Net>(net: &mut N, radio: N::Radio, received: &Received<'_, N::Radio>, now: Time) -> bool {
    let Received { id, bytes, to, own_frame, sender } = *received;
    let own_id = net.id(net.node_of(radio));
    let Some(host) = net.hosts().agents.at(radio) else { return false };
    // Samples count frames for this radio except those that carry messages for it.
    if own_frame {
        host.agent.count_received();
    }
    // A node overhears its own message when the next hop passes it on. What a node sends to itself is not for its sender.
    let own = id.origin == own_id && to != Addressee::Me;
    if own || sender == Some(radio) || !host.seen.is_new(id, now) {
        return false;
    }
    let heard = (id.origin, bytes, to != Addressee::Other);
    call(net, radio, |agent, out, firings| agent.on_message(heard, now, out, firings));
    true
}

/// Passes a header that a radio has received or overheard to its agent. False if the agent hears none of this kind.
pub fn header<N: Net>(net: &mut N, radio: N::Radio, kind: HeaderId, heard: &Heard<'_>, now: Time) -> bool {
    let hears = net.hosts().agents.hosted(radio).is_some_and(|host| !kind.is_none() && host.hears == kind);
    if hears {
        call(net, radio, |agent, out, firings| agent.on_header(heard, now, out, firings));
        changed(net, radio, now);
    }
    hears
}

/// Notifies an agent of the nodes that can decode its radio's frames: they have changed.
pub fn neighbours<N: Net>(net: &mut N, radio: N::Radio, nodes: &[NodeId], now: Time) {
    call(net, radio, |agent, out, firings| agent.on_neighbours(nodes, now, out, firings));
    changed(net, radio, now);
}

/// Notifies an agent of the rate of its radio's frames to a neighbour, by the exchange of a lone link.
pub fn link_rate<N: Net>(net: &mut N, radio: N::Radio, link: (NodeId, LoneExchange), now: Time) {
    call(net, radio, |agent, out, firings| agent.on_link_rate(link, now, out, firings));
    changed(net, radio, now);
}

/// Notifies a radio's agent of a controller that has started (`here`) or stopped at its node.
pub(crate) fn controller<N: Net>(net: &mut N, radio: N::Radio, here: bool, now: Time) {
    call(net, radio, |agent, out, firings| agent.on_controller(here, now, out, firings));
    changed(net, radio, now);
}

/// Calls a hook of an agent and schedules the timers that it has set. Other effects wait for [`carry_out`].
fn call<N: Net>(
    net: &mut N,
    radio: N::Radio,
    hook: impl FnOnce(&mut AgentSlot, &mut AgentEffects, &mut Vec<Firing>),
) {
    let Agents { hosted, effects, firings, .. } = &mut net.hosts().agents;
    let Some(Some(host)) = hosted.get_mut(radio) else { return };
    hook(&mut host.agent, effects, firings);
    let rank = host.agent.rank();
    schedule(net, radio, rank);
}

/// Calls a hook of a radio's agent as a forwarder, and schedules the timers that it has set; none if it is none. Other effects wait for
/// [`take_forwarder_effects`].
pub(crate) fn call_forwarder<N: Net, R>(
    net: &mut N,
    radio: N::Radio,
    now: Time,
    hook: impl FnOnce(&mut dyn Forwarder, &mut ForwarderContext<'_>) -> R,
) -> Option<R> {
    let Agents { hosted, forwarder_effects, firings, .. } = &mut net.hosts().agents;
    let host = hosted.get_mut(radio)?.as_mut()?;
    let answer = host.agent.forward(now, forwarder_effects, firings, hook);
    let rank = host.agent.rank();
    schedule(net, radio, rank);
    answer
}

fn schedule<N: Net>(net: &mut N, radio: N::Radio, rank: u32) {
    if net.hosts().agents.firings.is_empty() {
        return;
    }
    let mut firings = core::mem::take(&mut net.hosts().agents.firings);
    for Firing { at, timer, generation } in firings.drain(..) {
        net.schedule(HostEvent::AgentTimer(radio, timer.0, generation), at, rank);
    }
    net.hosts().agents.firings = firings;
}

/// Effects other than timers that the last hook of a forwarder has requested. Those that it has as an agent are left for [`carry_out`].
pub(crate) fn take_forwarder_effects<N: Net>(net: &mut N) -> ForwarderEffects {
    let agents = &mut net.hosts().agents;
    let mut effects = core::mem::take(&mut agents.forwarder_effects);
    agents.effects = core::mem::take(&mut effects.agent);
    effects
}

/// Carries out the effects of an agent's hook. If it is a forwarder, it may have become ready, or have room.
fn changed<N: Net>(net: &mut N, radio: N::Radio, now: Time) {
    carry_out(net, radio, now);
    if net.hosts().forwarders.any() {
        forwarders::changed(net, radio, now);
    }
}

/// Carries out the effects of an agent's hook without regard to what a forwarder can do afterwards.
pub(crate) fn carry_out<N: Net>(net: &mut N, radio: N::Radio, now: Time) {
    let AgentEffects { messages, settings, .. } = core::mem::take(&mut net.hosts().agents.effects);
    if !settings.is_empty() {
        net.apply(radio, &settings, now);
    }
    let node = net.node_of(radio);
    for message in messages {
        // A node is no neighbour of its own.
        if message.bytes.is_empty() || message.to == Destination::Neighbour(net.id(node)) {
            continue;
        }
        if post(net, (node, MessageSender::Agent(radio)), message, now)
            && let Some(host) = net.hosts().agents.at(radio)
        {
            host.agent.count_sent();
        }
    }
}
