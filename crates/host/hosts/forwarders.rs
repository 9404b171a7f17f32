//! Agents that carry flows by broadcasts: the packets of flows at their sources, whose turn it is at a radio, and counts.
//!
//! A packet of such a flow stays at its source, in its list here once a forwarder has taken it, until one hands it up at its destination.
//! On the air are broadcasts of forwarders meanwhile, which are no packets of flows.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use airfair_schemes::places::{
    DeliveryRatios, FlowId, Forwarder, ForwarderContext, ForwarderEffects, HeardBroadcast, Made,
    NativePacket, Priority,
};
use airfair_units::Time;

use super::Net;
use super::agents;
use crate::table::Table;

/// Most packets of a flow that have been taken by its forwarder and have not ended: a bound for forwarders that always have room.
const MOST_TAKEN: usize = 1 << 12;

/// Counts of a flow that forwarders carry, from the end of the warm-up to the flow's stop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ForwardCounts {
    /// Broadcasts of all nodes for batches that were not whole at the destination.
    pub broadcasts: u64,
    /// Broadcasts for batches that the destination already had as a whole.
    pub late: u64,
    /// Broadcasts that have brought the destination something new.
    pub innovative: u64,
    /// Batches that have become whole.
    pub batches: u64,
}

/// Forwarders of a network, beside the agents that they are parts of. Empty if the scheme has none.
pub struct Forwarders<N: Net> {
    radios: Table<N::Radio, Option<Forwarding<N>>>,
    flows: Table<N::Flow, Option<ForwardedFlow<N>>>,
    /// Flows by their scheme numbers, ascending.
    numbers: Vec<(FlowId, N::Flow)>,
    /// The first mistake of a forwarder whose effects are checked: its node, and the call that was wrong.
    pub mistake: Option<(N::Node, String)>,
}

impl<N: Net> Default for Forwarders<N> {
    fn default() -> Self {
        Self { radios: Table::default(), flows: Table::default(), numbers: Vec::new(), mistake: None }
    }
}

/// A radio with a forwarder.
struct Forwarding<N: Net> {
    node: N::Node,
    /// It is told the delivery ratios of the network.
    wants_ratios: bool,
    /// The MAC holds a place for a broadcast.
    contends: bool,
    /// The forwarder sends next if the radio's queue has a packet, too: the two take turns.
    is_next: bool,
    /// Flows whose source is the node.
    own: Vec<N::Flow>,
}

/// A flow that forwarders carry.
struct ForwardedFlow<N: Net> {
    id: FlowId,
    source: N::Radio,
    to: N::Node,
    /// Packets that the forwarder of the source has taken, from number `first` on; none: one that has been removed.
    taken: VecDeque<Option<N::Packet>>,
    first: u32,
    /// Batches that are whole at the destination: all before this one.
    whole_before: u32,
    counts: ForwardCounts,
    /// Nothing is counted afterwards, as nothing counts as delivered.
    stop: Time,
}

impl<N: Net> Forwarders<N> {
    /// Adds a radio's forwarder. `radios`: number of all radios.
    pub fn add(&mut self, (radio, radios): (N::Radio, usize), node: N::Node, wants_ratios: bool) {
        if self.radios.is_empty() {
            self.radios = (0..radios).map(|_| None).collect();
        }
        self.radios[radio] =
            Some(Forwarding { node, wants_ratios, contends: false, is_next: false, own: Vec::new() });
    }

    /// True if a radio has a forwarder.
    #[must_use]
    #[inline]
    pub fn any(&self) -> bool {
        !self.radios.is_empty()
    }

    /// The radios with a forwarder, each with its node; and true if it is told the delivery ratios of the network.
    pub fn radios(&self) -> impl Iterator<Item = (N::Radio, N::Node, bool)> + '_ {
        self.radios
            .pairs()
            .filter_map(|(radio, at)| Some((radio, at.as_ref()?.node, at.as_ref()?.wants_ratios)))
    }

    /// The radio of a node's forwarder.
    #[must_use]
    pub fn of_node(&self, node: N::Node) -> Option<N::Radio> {
        self.radios().find(|&(_, other, _)| other == node).map(|(radio, ..)| radio)
    }

    fn at(&self, radio: N::Radio) -> Option<&Forwarding<N>> {
        self.radios.get(radio)?.as_ref()
    }

    fn at_mut(&mut self, radio: N::Radio) -> Option<&mut Forwarding<N>> {
        self.radios.get_mut(radio)?.as_mut()
    }

    /// True if a radio has a forwarder.
    #[must_use]
    pub fn has(&self, radio: N::Radio) -> bool {
        self.at(radio).is_some()
    }

    /// Adds a flow, the next one, that is counted until `stop`. Forwarders carry it if `may` and both its ends have a forwarder.
    pub fn add_flow(&mut self, id: FlowId, [from, to]: [N::Node; 2], may: bool, stop: Time) {
        let ends = if may && from != to { self.of_node(from).zip(self.of_node(to)) } else { None };
        let source = ends.map(|(source, _)| source);
        let flow = self.flows.push(source.map(|source| ForwardedFlow {
            id,
            source,
            to,
            taken: VecDeque::new(),
            first: 0,
            whole_before: 0,
            counts: ForwardCounts::default(),
            stop,
        }));
        if let Some(at) = source.and_then(|source| self.at_mut(source)) {
            at.own.push(flow);
            let at = self.numbers.partition_point(|&(other, _)| other < id);
            self.numbers.insert(at, (id, flow));
        }
    }

    /// A flow that forwarders carry, by its scheme number, with its destination.
    #[must_use]
    pub fn of_number(&self, id: FlowId) -> Option<(N::Flow, N::Node)> {
        let at = self.numbers.binary_search_by_key(&id, |&(other, _)| other).ok()?;
        let flow = self.numbers.get(at)?.1;
        Some((flow, self.flows.get(flow)?.as_ref()?.to))
    }

    fn flow(&mut self, flow: N::Flow) -> Option<&mut ForwardedFlow<N>> {
        self.flows.get_mut(flow)?.as_mut()
    }

    /// The radio whose forwarder takes the packets of a flow; none if routes carry the flow.
    #[must_use]
    #[inline]
    pub fn source_of(&self, flow: N::Flow) -> Option<N::Radio> {
        self.flows.get(flow)?.as_ref().map(|flow| flow.source)
    }

    /// All packets of flows that forwarders have taken and that have not ended.
    pub fn packets(&self) -> impl Iterator<Item = N::Packet> + '_ {
        self.flows.iter().flatten().flat_map(|flow| flow.taken.iter().copied().flatten())
    }

    /// Packets that the forwarder of a flow may take by its own bound.
    fn most_taken(&self, flow: N::Flow) -> u32 {
        let taken = self.flows.get(flow).and_then(Option::as_ref).map_or(MOST_TAKEN, |flow| flow.taken.len());
        MOST_TAKEN.saturating_sub(taken) as u32
    }

    /// Adds a packet that the forwarder of a flow takes. Returns its number.
    fn add_taken(&mut self, flow: N::Flow, packet: N::Packet) -> Option<u32> {
        let flow = self.flow(flow)?;
        flow.taken.push_back(Some(packet));
        Some(flow.first.wrapping_add(flow.taken.len() as u32 - 1))
    }

    /// A packet that a forwarder has taken, by its number; none if it has been removed.
    fn taken(&self, flow: N::Flow, number: u32) -> Option<N::Packet> {
        let flow = self.flows.get(flow)?.as_ref()?;
        *flow.taken.get(number.wrapping_sub(flow.first) as usize)?
    }

    /// Removes a packet that a forwarder has taken, by its number: it has arrived. None if that has happened before.
    fn remove(&mut self, flow: N::Flow, number: u32) -> Option<N::Packet> {
        let flow = self.flow(flow)?;
        let packet = flow.taken.get_mut(number.wrapping_sub(flow.first) as usize)?.take();
        while flow.taken.front().is_some_and(Option::is_none) {
            flow.taken.pop_front();
            flow.first = flow.first.wrapping_add(1);
        }
        packet
    }

    /// True if a forwarder has taken a packet with this number, whether or not it has been removed since.
    fn has_taken(&self, flow: N::Flow, number: u32) -> bool {
        self.flows.get(flow).and_then(Option::as_ref).is_some_and(|flow| {
            number < flow.first || (number.wrapping_sub(flow.first) as usize) < flow.taken.len()
        })
    }

    /// Keeps the first of these effects, requested by a hook of a node's forwarder, that concerns a flow or a packet that does not exist.
    fn check(&mut self, node: N::Node, hook: &str, effects: &ForwarderEffects) {
        if self.mistake.is_none()
            && let Some(problem) = self.problem(node, effects)
        {
            self.mistake = Some((node, format!("{hook} has called Context.{problem}")));
        }
    }

    fn problem(&self, node: N::Node, effects: &ForwarderEffects) -> Option<String> {
        let known = "expected a flow that forwarders carry";
        let unknown = |call: String| format!("{call}: there is no such flow; {known}");
        for held in &effects.holds {
            if self.of_number(held.flow).is_none() {
                return Some(unknown(format!("hold for flow {}", held.flow.0)));
            }
        }
        for &(id, batch) in &effects.whole {
            let call = format!("count_whole(flow {}, batch {batch})", id.0);
            match self.of_number(id) {
                None => return Some(unknown(call)),
                Some((_, to)) if to != node => {
                    return Some(format!(
                        "{call}: the flow ends at another node; expected one that ends here"
                    ));
                }
                Some(_) => {}
            }
        }
        let handed_up = effects.delivered.iter().map(|&(id, number)| ("deliver", id, number, true));
        let passed_on = effects.routed.iter().map(|&(id, number)| ("route", id, number, false));
        for (name, id, number, here) in handed_up.chain(passed_on) {
            let call = format!("{name}(flow {}, number {number})", id.0);
            match self.of_number(id) {
                None => return Some(unknown(call)),
                Some((_, to)) if (to == node) != here => {
                    let (is, expected) =
                        if here { ("at another node", "ends here") } else { ("here", "goes on") };
                    return Some(format!("{call}: the flow ends {is}; expected one that {expected}"));
                }
                Some((flow, _)) if !self.has_taken(flow, number) => {
                    return Some(format!(
                        "{call}: the flow has no such packet; expected a number that Forwarder.on_packet was given"
                    ));
                }
                Some(_) => {}
            }
        }
        None
    }

    /// Counts a broadcast for a batch of a flow.
    fn count_made(&mut self, flow: N::Flow, batch: u32, now: Time) {
        let Some(flow) = self.flow(flow).filter(|flow| now <= flow.stop) else { return };
        if batch < flow.whole_before {
            flow.counts.late += 1;
        } else {
            flow.counts.broadcasts += 1;
        }
    }

    /// Counts a broadcast that has brought the destination something new.
    fn count_innovative(&mut self, flow: N::Flow, now: Time) {
        self.flow(flow).into_iter().for_each(|flow| flow.counts.innovative += u64::from(now <= flow.stop));
    }

    /// Counts a batch that has become whole at the destination.
    fn count_whole(&mut self, flow: N::Flow, batch: u32, now: Time) {
        let Some(flow) = self.flow(flow) else { return };
        flow.whole_before = flow.whole_before.max(batch.saturating_add(1));
        flow.counts.batches += u64::from(now <= flow.stop);
    }

    /// Counts of a flow; none if routes carry it.
    #[must_use]
    pub fn counts(&self, flow: N::Flow) -> Option<ForwardCounts> {
        self.flows.get(flow)?.as_ref().map(|flow| flow.counts)
    }

    /// Counts begin anew at the end of the warm-up.
    pub fn warmed_up(&mut self) {
        self.flows.iter_mut().flatten().for_each(|flow| flow.counts = ForwardCounts::default());
    }
}

/// Tells a radio's forwarder the delivery ratios of the network.
pub fn delivery_ratios<N: Net>(net: &mut N, radio: N::Radio, ratios: &DeliveryRatios, now: Time) {
    call(net, radio, now, |forwarder, context| forwarder.on_delivery_ratios(ratios, context));
}

/// A packet of a flow waits for the forwarder of its source ([`Net::take`]). Returns true if the forwarder has taken packets.
pub fn offered<N: Net>(net: &mut N, flow: N::Flow, now: Time) -> bool {
    let Some(radio) = net.hosts().forwarders.source_of(flow) else { return false };
    let fed = feed(net, flow, now);
    if fed {
        contend_if_ready(net, radio, now);
    }
    fed
}

/// Gives a flow's forwarder the packets that wait, as long as it takes some. Returns true if it has taken one.
fn feed<N: Net>(net: &mut N, flow: N::Flow, now: Time) -> bool {
    let Some(&ForwardedFlow { id, source: radio, to, .. }) = net.hosts().forwarders.flow(flow).map(|at| &*at)
    else {
        return false;
    };
    let to = net.id(to);
    let mut fed = false;
    loop {
        let room = net.hosts().agents.query_forwarder(radio, |forwarder| forwarder.room(id, to)).unwrap_or(0);
        let room = room.min(net.hosts().forwarders.most_taken(flow));
        let Some((packet, bytes)) = (if room > 0 { net.take(flow) } else { None }) else { return fed };
        let Some(number) = net.hosts().forwarders.add_taken(flow, packet) else { return fed };
        fed = true;
        let packet = NativePacket { flow: id, to, number, bytes };
        agents::call_forwarder(net, radio, now, |forwarder, context| forwarder.on_packet(&packet, context));
        carry_out(net, radio, now);
    }
}

/// A forwarder may have become ready, or have room for packets that wait at its node.
pub(crate) fn changed<N: Net>(net: &mut N, radio: N::Radio, now: Time) {
    let mut fed = false;
    let mut place = 0;
    while let Some(flow) = net.hosts().forwarders.at(radio).and_then(|at| at.own.get(place).copied()) {
        fed |= feed(net, flow, now);
        place += 1;
    }
    if fed {
        net.resume_sources(radio, now);
    }
    contend_if_ready(net, radio, now);
}

/// Lets a radio contend whose forwarder has something to send.
fn contend_if_ready<N: Net>(net: &mut N, radio: N::Radio, now: Time) {
    if priority_of_next(net, radio, now).is_some() {
        net.mark_ready(radio);
    }
}

/// Priority of the broadcast for which a radio's forwarder needs a place in the MAC; none if it has nothing to send, or has a place.
pub fn priority_of_next<N: Net>(net: &mut N, radio: N::Radio, now: Time) -> Option<Priority> {
    let hosts = net.hosts();
    if hosts.forwarders.at(radio)?.contends {
        return None;
    }
    hosts.agents.query_forwarder(radio, |forwarder| forwarder.ready(now)).flatten()
}

/// The MAC of a radio holds a place for a broadcast of its forwarder now.
pub fn contends<N: Net>(net: &mut N, radio: N::Radio) {
    net.hosts().forwarders.at_mut(radio).into_iter().for_each(|at| at.contends = true);
}

/// The next sender at a radio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn<Q> {
    /// A packet of its queue.
    Queued(Q),
    /// A broadcast of its forwarder, for which the MAC holds a place now.
    Broadcast,
}

/// The next packet or broadcast of a radio: its queue and its forwarder take turns. `queued` dequeues the next packet.
pub fn turn<N: Net, Q>(
    net: &mut N,
    radio: N::Radio,
    queued: impl FnOnce(&mut N) -> Option<Q>,
    now: Time,
) -> Option<Turn<Q>> {
    let can_send = priority_of_next(net, radio, now).is_some();
    let is_next = net.hosts().forwarders.at(radio).is_some_and(|at| at.is_next);
    let queued = if can_send && is_next { None } else { queued(net) };
    // A node may have another scheme, without a forwarder.
    let Some(at) = net.hosts().forwarders.at_mut(radio) else { return queued.map(Turn::Queued) };
    at.is_next = queued.is_some();
    at.contends |= queued.is_none() && can_send;
    queued.map(Turn::Queued).or(can_send.then_some(Turn::Broadcast))
}

/// A radio may send now: its forwarder makes the broadcast. Its other effects wait for [`made`], which must follow.
pub fn make<N: Net>(net: &mut N, radio: N::Radio, now: Time) -> Option<Made> {
    net.hosts().forwarders.at_mut(radio)?.contends = false;
    let made = agents::call_forwarder(net, radio, now, |forwarder, context| forwarder.make(context));
    let made = made.flatten().filter(|made| !made.header.is_empty())?;
    let forwarders = &mut net.hosts().forwarders;
    if let Some((flow, _)) = forwarders.of_number(made.flow) {
        forwarders.count_made(flow, made.batch, now);
    }
    Some(made)
}

/// The broadcast of [`make`] is on the air, or there was none.
pub fn made<N: Net>(net: &mut N, radio: N::Radio, now: Time) {
    carry_out(net, radio, now);
    changed(net, radio, now);
}

/// Hands a broadcast of another node's forwarder to the forwarder of a radio that has received it, if it has one.
pub fn heard<N: Net>(net: &mut N, radio: N::Radio, heard: &HeardBroadcast<'_>, now: Time) {
    if net.hosts().forwarders.has(radio) {
        call(net, radio, now, |forwarder, context| forwarder.on_heard(heard, context));
    }
}

/// Tells the forwarder of a flow's destination that a packet has arrived by ordinary routing.
pub fn routed_arrived<N: Net>(net: &mut N, node: N::Node, (flow, number): (N::Flow, u32), now: Time) {
    let forwarders = &mut net.hosts().forwarders;
    let Some(radio) = forwarders.of_node(node) else { return };
    let Some(id) = forwarders.flow(flow).map(|at| at.id) else { return };
    call(net, radio, now, |forwarder, context| forwarder.on_routed(id, number, context));
}

/// Calls a hook of a forwarder, and carries out the effects; then the forwarder may have become ready, or have room.
fn call<N: Net>(
    net: &mut N,
    radio: N::Radio,
    now: Time,
    hook: impl FnOnce(&mut dyn Forwarder, &mut ForwarderContext<'_>),
) {
    agents::call_forwarder(net, radio, now, hook);
    made(net, radio, now);
}

/// Carries out the effects that a forwarder's hook has requested, without regard to what the forwarder can do afterwards.
fn carry_out<N: Net>(net: &mut N, radio: N::Radio, now: Time) {
    let effects = agents::take_forwarder_effects(net);
    let Some(node) = net.hosts().forwarders.at(radio).map(|at| at.node) else { return };
    if let Some(hook) = effects.checked {
        net.hosts().forwarders.check(node, hook, &effects);
    }
    let ForwarderEffects { delivered, holds, whole, routed, .. } = effects;
    for holding in holds {
        let Some((flow, to)) = net.hosts().forwarders.of_number(holding.flow) else { continue };
        if to == node {
            net.hosts().forwarders.count_innovative(flow, now);
        }
        net.held(node, flow, holding, now);
    }
    for (flow, number) in delivered {
        let forwarders = &mut net.hosts().forwarders;
        if let Some((flow, _)) = forwarders.of_number(flow).filter(|&(_, to)| to == node)
            && let Some(packet) = forwarders.remove(flow, number)
        {
            net.deliver(node, packet, now);
        }
    }
    for (flow, batch) in whole {
        let forwarders = &mut net.hosts().forwarders;
        if let Some((flow, _)) = forwarders.of_number(flow).filter(|&(_, to)| to == node) {
            forwarders.count_whole(flow, batch, now);
        }
    }
    for (flow, number) in routed {
        let forwarders = &net.hosts().forwarders;
        if let Some((flow, _)) = forwarders.of_number(flow).filter(|&(_, to)| to != node)
            && let Some(packet) = forwarders.taken(flow, number)
        {
            net.route(node, flow, (packet, number), now);
        }
    }
    agents::carry_out(net, radio, now);
}
