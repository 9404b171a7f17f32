//! Agents beside radio interfaces: samples of what their radios count, timers, and messages, which are packets on the air.

use std::collections::BTreeMap;

use airfair_schemes::places::{
    Agent, AgentContext, AgentEffects, AgentSetup, Airtime, Context, Destination, LinkUse, Message, NodeId,
    NodeSample, Timer,
};
use airfair_units::random::Stream;
use airfair_units::{Span, Time};

use super::fault::{Fault, due};
use super::{Behind, Net, class};
use crate::air::Air;
use crate::engine::Agenda;
use crate::event::{Order, What};
use crate::ids::{NodeIx, StationIx};
use crate::measure::summary::MessageCounts;
use crate::packet::{Packet, Payload};
use crate::route::NextHop;

/// The destination of a message to all neighbours.
pub(super) const EVERYONE: u32 = u32::MAX;

/// The agents of a world, and their messages that are under way.
#[derive(Default)]
pub(super) struct Agents {
    /// By station; empty if the scheme has none.
    hosts: Vec<Option<Host>>,
    /// By [`Payload::Message`].
    messages: Vec<UnderWay>,
    free: Vec<u32>,
    /// Nodes by the numbers that agents know them by, sorted.
    nodes: Vec<(NodeId, u32)>,
}

/// An agent and what is kept for it.
struct Host {
    agent: Box<dyn Agent>,
    random: Stream,
    port: u32,
    node: u32,
    rank: u32,
    interval: Span,
    /// Flows whose static routes pass the node.
    passing: Vec<u32>,
    last: Counted,
    /// Nodes that can decode what it sends.
    neighbours: usize,
    /// Which setting of each timer counts.
    timers: BTreeMap<u16, u32>,
    counts: MessageCounts,
}

/// Counters at one moment.
#[derive(Clone, Copy, Default)]
struct Counted {
    at: u64,
    airtime: Airtime,
    receive_own: Span,
    retries: u64,
    traffic: u64,
    link: LinkUse,
}

/// A message that lives.
#[derive(Default)]
struct UnderWay {
    bytes: Vec<u8>,
    station: u32,
    /// Stations that have heard it, each once, however often the frame was sent.
    heard: Vec<u32>,
}

impl Agents {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// The node that an agent means.
    fn node(&self, id: NodeId) -> Option<u32> {
        self.nodes.binary_search_by_key(&id, |node| node.0).ok().map(|at| self.nodes[at].1)
    }

    fn at(&mut self, station: u32) -> Option<&mut Host> {
        self.hosts.get_mut(station as usize)?.as_mut()
    }

    /// The first bytes of a message that lives.
    pub(super) fn start_of<const N: usize>(&self, packet: &Packet) -> [u8; N] {
        let mut start = [0; N];
        if let Some(message) = self.messages.get(packet.slot()) {
            start.iter_mut().zip(&message.bytes).for_each(|(to, from)| *to = *from);
        }
        start
    }
}

impl Net {
    /// Adds the agent of a station.
    pub(super) fn add_agent(&mut self, station: u32, agent: Box<dyn Agent>, random: Stream) {
        let (port, stations) = (self.port_of_station[station as usize], self.node_of_station.len());
        if agent.measures_link() {
            self.meters.add(station, stations);
            self.heeds_received = true;
        }
        let node = self.ports[port as usize].node;
        let (rank, interval) = (self.node_ranks[node as usize], agent.sample_interval());
        let counts = MessageCounts::default();
        let (last, timers, passing) = (Counted::default(), BTreeMap::new(), Vec::new());
        let neighbours = self.ports[port as usize].peers.len();
        self.agents.hosts.resize_with(stations, || None);
        let host =
            Host { agent, random, port, node, rank, interval, passing, last, neighbours, timers, counts };
        self.agents.hosts[station as usize] = Some(host);
    }

    /// Every agent's host learns which flows' static routes pass its node, in either direction.
    pub(super) fn pass_flows(&mut self) {
        if self.agents.is_empty() {
            return;
        }
        for flow in 0..self.flows.len() {
            let (from, to) = (self.flows[flow].from, self.flows[flow].to);
            for (start, end) in [(from, to), (to, from)] {
                let mut node = start;
                self.passes(node, flow as u32);
                while let Some(hop) = self.static_hop(node, end).filter(|_| node != end) {
                    node = hop.node;
                    self.passes(node, flow as u32);
                }
            }
        }
    }

    fn passes(&mut self, node: u32, flow: u32) {
        for host in self.agents.hosts.iter_mut().flatten().filter(|host| host.node == node) {
            if host.passing.last() != Some(&flow) {
                host.passing.push(flow);
            }
        }
    }

    /// Every agent starts, at time 0.
    pub(crate) fn start_agents(&mut self, air: &Air, agenda: &mut Agenda) {
        if !self.agents.is_empty() {
            self.agents.nodes = self.node_ids.iter().map(|&id| NodeId(id)).zip(0..).collect();
            self.agents.nodes.sort_unstable();
        }
        for station in 0..self.agents.hosts.len() as u32 {
            let Some(host) = &mut self.agents.hosts[station as usize] else { continue };
            if host.interval > Span::ZERO {
                let first = 1 + (host.random.uniform() * host.interval.0 as f64) as u64;
                agenda.push(first, Order::new(class::TIMER, host.rank), What::Sample(StationIx(station)));
            }
            let (node, port) = (host.node, host.port);
            let peers = &self.ports[port as usize].peers;
            let nodes = peers.iter().map(|p| self.node_of_station[p.1 as usize]).collect();
            let (node, neighbours) = (self.node_id(node), self.in_order(nodes));
            self.ask(station, 0, |agent, context| {
                let setup = AgentSetup {
                    node,
                    rate: air.phy(StationIx(station)).data_rate(),
                    neighbours: &neighbours,
                };
                agent.on_start(&setup, context);
            });
        }
        self.flush(agenda);
    }

    /// Nodes as agents know them, each once, in the natural order of their names.
    fn in_order(&self, mut nodes: Vec<u32>) -> Vec<NodeId> {
        nodes.sort_unstable_by_key(|&node| self.routes.rank(NodeIx(node)));
        nodes.dedup();
        nodes.into_iter().map(|node| self.node_id(node)).collect()
    }

    /// Calls an agent and carries out what it asks for.
    fn ask(&mut self, station: u32, now: u64, hook: impl FnOnce(&mut dyn Agent, &mut AgentContext<'_>)) {
        let mut out = std::mem::take(&mut self.out.agent);
        let Some(host) = self.agents.at(station) else { return };
        let mut context = Context { now: Time(now), random: &mut host.random, out: &mut out };
        hook(&mut *host.agent, &mut context);
        self.carry_out_agents(station, &mut out, now);
        self.out.agent = out;
    }

    fn carry_out_agents(&mut self, station: u32, out: &mut AgentEffects, now: u64) {
        let Some(host) = self.agents.at(station) else { return };
        let (port, rank) = (host.port, host.rank);
        for (timer, at) in out.timers.drain(..) {
            let Some(host) = self.agents.at(station) else { return };
            let generation = host.timers.entry(timer.0).or_insert(0);
            *generation = generation.wrapping_add(1);
            let (at, generation) = (due(at, now), *generation);
            let order = Order::new(class::TIMER, rank);
            self.later(
                at,
                order,
                What::AgentTimer { station: StationIx(station), generation, timer: timer.0 },
            );
        }
        for setting in out.settings.drain(..) {
            if let Some(aqm) = &mut self.ports[port as usize].aqm {
                aqm.apply(setting);
            }
        }
        for message in out.messages.drain(..) {
            self.send_message(station, port, message, now);
        }
    }

    /// A timer of an agent is due, unless it was moved meanwhile.
    #[inline(never)]
    pub(crate) fn agent_timer(&mut self, station: u32, generation: u32, timer: Timer, now: u64) {
        let moved = self.agents.at(station).is_none_or(|host| host.timers.get(&timer.0) != Some(&generation));
        if !moved {
            self.ask(station, now, |agent, context| agent.on_timer(timer, context));
        }
    }

    /// An interval of a station's counters has ended.
    #[inline(never)]
    pub(crate) fn sample(&mut self, station: u32, air: &Air, agenda: &mut Agenda) {
        let now = agenda.now;
        let counters = air.counters(StationIx(station));
        let Some(host) = self.agents.at(station) else { return };
        let (port, received_messages, last) = (host.port, host.counts.received, host.last);
        let (interval, rank) = (host.interval, host.rank);
        let under_way = |f: &&u32| {
            let flow = &self.flows[**f as usize];
            flow.sent_total > 0 && flow.delivered_total == 0 && now < flow.stop
        };
        let set_up = host.passing.iter().filter(under_way).count() as u32;
        let port = &self.ports[port as usize];
        let received: u64 = counters.received_data() - received_messages;
        let counted = Counted {
            at: now,
            airtime: air.airtime(StationIx(station), Time(now)),
            receive_own: air.receive_own(StationIx(station)),
            retries: counters.no_cts + counters.no_ack,
            traffic: port.totals.left + received,
            link: self.meters.totals(station).map_or_else(LinkUse::default, |totals| totals.used),
        };
        let sample = NodeSample {
            interval: Span(now - last.at),
            airtime: counted.airtime - last.airtime,
            receive_own: Span(counted.receive_own.0 - last.receive_own.0),
            retries: (counted.retries - last.retries) as u32,
            traffic: (counted.traffic - last.traffic) as u32,
            set_up,
            queue: port.queue.view(),
            link: counted.link - last.link,
        };
        if let Some(host) = self.agents.at(station) {
            host.last = counted;
        }
        self.ask(station, now, |agent, context| agent.on_sample(&sample, context));
        agenda.push(now + interval.0, Order::new(class::TIMER, rank), What::Sample(StationIx(station)));
    }

    fn send_message(&mut self, station: u32, port: u32, message: Message, now: u64) {
        let node = self.ports[port as usize].node;
        let to = match message.to {
            Destination::Neighbour(to) | Destination::Node(to) => match self.agents.node(to) {
                Some(to) => to,
                None => {
                    self.fault.get_or_insert(Fault::StrangeNode { node });
                    return;
                }
            },
            Destination::Broadcast => EVERYONE,
        };
        if message.bytes.is_empty() || to == node {
            return;
        }
        let payload = message.bytes.len() as u32;
        let under_way = UnderWay { bytes: message.bytes, station, heard: Vec::new() };
        let slot = match self.agents.free.pop() {
            Some(at) => {
                self.agents.messages[at as usize] = under_way;
                at
            }
            None => {
                self.agents.messages.push(under_way);
                self.agents.messages.len() as u32 - 1
            }
        };
        if let Some(host) = self.agents.at(station) {
            host.counts.sent += 1;
        }
        let handle = self.packets.add(Packet {
            bytes: payload + self.headers.udp + self.headers.ip,
            ..Packet::control(node, to, Payload::Message { slot }, payload, now)
        });
        match message.to {
            Destination::Node(_) => {
                self.routes.need(NodeIx(node), NodeIx(to));
                self.forward(node, handle, now);
            }
            _ if message.ahead => {
                self.ports[port as usize].control.push_back(handle);
                self.want(Behind::Station(station));
            }
            _ => self.enqueue(NextHop { port, node: to }, handle, now),
        }
    }

    /// A message was received by a station, as its destination or not.
    pub(super) fn message_heard(&mut self, station: u32, packet: &Packet, to_me: bool, now: u64) {
        let Agents { hosts, messages, .. } = &mut self.agents;
        let Some(Some(host)) = hosts.get_mut(station as usize) else { return };
        let message = &mut messages[packet.slot()];
        // A broadcast is addressed to nobody; it does not come in a frame for this station either, as `sample` counts them.
        if to_me && packet.destination != EVERYONE {
            host.counts.received += 1;
        }
        if message.heard.contains(&station) {
            return;
        }
        message.heard.push(station);
        host.counts.heard += 1;
        let bytes = std::mem::take(&mut message.bytes);
        let from = self.node_id(packet.source);
        self.ask(station, now, |agent, context| agent.on_message(from, &bytes, to_me, context));
        self.agents.messages[packet.slot()].bytes = bytes;
    }

    /// A message has ended: nobody will hear it any more.
    pub(super) fn message_ended(&mut self, packet: &Packet) {
        let message = std::mem::take(&mut self.agents.messages[packet.slot()]);
        self.agents.free.push(packet.slot() as u32);
        let Some(host) = self.agents.at(message.station) else { return };
        host.counts.missed += host.neighbours.saturating_sub(message.heard.len()) as u64;
    }

    /// Movement has changed who can decode what a station sends.
    pub(super) fn agent_moves(&mut self, station: u32, nodes: Vec<u32>, now: u64) {
        if self.agents.at(station).is_none() {
            return;
        }
        let nodes = self.in_order(nodes);
        let Some(host) = self.agents.at(station) else { return };
        host.neighbours = nodes.len();
        self.ask(station, now, |agent, context| agent.on_neighbours(&nodes, context));
    }

    /// Inner values of a station's agent.
    pub(crate) fn gauges(&self, station: u32) -> Vec<(&'static str, f64)> {
        let host = self.agents.hosts.get(station as usize).and_then(Option::as_ref);
        host.map_or_else(Vec::new, |host| host.agent.gauges())
    }

    /// What became of the messages of a station's agent.
    pub(crate) fn message_counts(&self, station: u32) -> Option<MessageCounts> {
        Some(self.agents.hosts.get(station as usize)?.as_ref()?.counts)
    }
}
