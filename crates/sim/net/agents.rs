//! Agents beside radio interfaces: samples of what their radios count, timers, and messages, which are packets on the air.

use airfair_host::{AgentSlot, Counters, Firing, MessageCounts, MessageIx, Messages};
use airfair_schemes::places::{
    Agent, AgentEffects, AgentSetup, Destination, LinkUse, Message, NodeId, Timer, Wants,
};
use airfair_units::Time;
use airfair_units::random::Stream;

use super::fault::Fault;
use super::{Behind, Net, class};
use crate::air::Air;
use crate::engine::Agenda;
use crate::event::{Order, What};
use crate::ids::{NodeIx, StationIx};
use crate::packet::{Copy, Packet, Payload};
use crate::route::NextHop;

/// The destination of a message to all neighbours.
pub(super) const EVERYONE: u32 = u32::MAX;

/// The agents of a world, and their messages that are under way.
#[derive(Default)]
pub(super) struct Agents {
    /// By station; empty if the scheme has none.
    hosts: Vec<Option<Host>>,
    /// By [`Packet::slot`].
    messages: Messages,
    /// Nodes by the numbers that agents know them by, sorted.
    nodes: Vec<(NodeId, u32)>,
}

/// An agent and where it is.
struct Host {
    agent: AgentSlot,
    port: u32,
    node: u32,
    /// Flows whose static routes pass the node.
    passing: Vec<u32>,
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
        let bytes = self.messages.bytes(MessageIx(packet.slot() as u32));
        start.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        start
    }
}

impl Net {
    /// Adds the agent of a station, with what its scheme wants there.
    pub(super) fn add_agent(
        &mut self,
        station: u32,
        (agent, wants): (Box<dyn Agent>, Wants),
        random: Stream,
    ) {
        let (port, stations) = (self.port_of_station[station as usize], self.node_of_station.len());
        if wants.link_use {
            self.meters.add(station, stations);
            self.heeds_received = true;
        }
        let at = &self.ports[port as usize];
        let rank = self.node_ranks[at.node as usize];
        let agent = AgentSlot::new(agent, wants.samples, at.peers.len(), random, rank);
        self.agents.hosts.resize_with(stations, || None);
        self.agents.hosts[station as usize] = Some(Host { agent, port, node: at.node, passing: Vec::new() });
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
            if let Some(first) = host.agent.first_sample() {
                let order = Order::new(class::TIMER, host.agent.rank());
                agenda.push(first.0, order, What::Sample(StationIx(station)));
            }
            let (node, port) = (host.node, host.port);
            let peers = &self.ports[port as usize].peers;
            let nodes = peers.iter().map(|p| self.node_of_station[p.1 as usize]).collect();
            let (node, neighbours) = (self.node_id(node), self.in_order(nodes));
            let rate = air.phy(StationIx(station)).data_rate();
            let setup = AgentSetup { node, rate, neighbours: &neighbours };
            self.call_agent(station, 0, |agent, now, out, firings| agent.start(&setup, now, out, firings));
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
    fn call_agent(
        &mut self,
        station: u32,
        now: u64,
        hook: impl FnOnce(&mut AgentSlot, Time, &mut AgentEffects, &mut Vec<Firing>),
    ) {
        let Self { agents, out, schedule, ports, .. } = self;
        let Some(host) = agents.at(station) else { return };
        hook(&mut host.agent, Time(now), &mut out.agent, &mut out.firings);
        let (port, order) = (host.port, Order::new(class::TIMER, host.agent.rank()));
        for Firing { at, timer, generation } in out.firings.drain(..) {
            let (station, timer) = (StationIx(station), timer.0);
            schedule.add(at.0, order, What::AgentTimer { station, generation, timer });
        }
        for setting in out.agent.settings.drain(..) {
            ports[port as usize].pipeline.apply(setting);
        }
        let mut messages = std::mem::take(&mut out.agent.messages);
        self.unsettled |= !schedule.is_empty();
        for message in messages.drain(..) {
            self.send_message(station, port, message, now);
        }
        self.out.agent.messages = messages;
    }

    /// A timer of an agent is due, unless it was moved meanwhile.
    #[inline(never)]
    pub(crate) fn agent_timer(&mut self, station: u32, generation: u32, timer: Timer, now: u64) {
        self.call_agent(station, now, |agent, now, out, firings| {
            agent.timer((timer, generation), now, out, firings);
        });
    }

    /// An interval of a station's counters has ended.
    #[inline(never)]
    pub(crate) fn sample(&mut self, station: u32, air: &Air, agenda: &mut Agenda) {
        let now = agenda.now;
        let counters = air.counters(StationIx(station));
        let Some(host) = self.agents.at(station) else { return };
        let (port, received_messages) = (host.port, host.agent.counts().received);
        let (interval, rank) = (host.agent.interval().unwrap_or_default(), host.agent.rank());
        let host = &*host;
        let under_way = |f: &&u32| {
            let flow = &self.flows[**f as usize];
            flow.sent_total > 0 && flow.delivered_total == 0 && now < flow.stop
        };
        let set_up = host.passing.iter().filter(under_way).count() as u32;
        let port = &self.ports[port as usize];
        let received: u64 = counters.received_data() - received_messages;
        let counted = Counters {
            at: Time(now),
            airtime: air.airtime(StationIx(station), Time(now)),
            receive_own: air.receive_own(StationIx(station)),
            retries: counters.no_cts + counters.no_ack,
            traffic: port.totals.left + received,
            link: self.meters.totals(station).map_or_else(LinkUse::default, |totals| totals.used),
        };
        let queue = port.pipeline.view();
        self.call_agent(station, now, |agent, _, out, firings| {
            agent.sample(counted, set_up, queue, out, firings);
        });
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
        let MessageIx(slot) = self.agents.messages.add(station, message.bytes);
        if let Some(host) = self.agents.at(station) {
            host.agent.count_sent();
        }
        let packet = Packet {
            bytes: payload + self.headers.udp + self.headers.ip,
            ..Packet::control(node, to, Payload::Message { slot }, payload, now)
        };
        let copy = self.packets.add(packet, Copy::PLAIN);
        match message.to {
            Destination::Node(_) => {
                self.routes.need(NodeIx(node), NodeIx(to));
                self.forward(node, copy, now);
            }
            _ if message.ahead => {
                self.ports[port as usize].control.push_back(copy);
                self.want(Behind::Station(station));
            }
            _ => self.enqueue(NextHop { port, node: to }, copy, now),
        }
    }

    /// A message was received by a station, as its destination or not.
    pub(super) fn message_heard(&mut self, station: u32, packet: &Packet, to_me: bool, now: u64) {
        let Agents { hosts, messages, .. } = &mut self.agents;
        let Some(Some(host)) = hosts.get_mut(station as usize) else { return };
        let message = MessageIx(packet.slot() as u32);
        // A broadcast is addressed to nobody; it does not come in a frame for this station either, as `sample` counts them.
        if to_me && packet.destination != EVERYONE {
            host.agent.count_received();
        }
        if !messages.is_heard_first(message, station) {
            return;
        }
        let bytes = messages.take_bytes(message);
        let heard = (self.node_id(packet.source), &*bytes, to_me);
        self.call_agent(station, now, |agent, now, out, firings| agent.hear(heard, now, out, firings));
        self.agents.messages.put_back(message, bytes);
    }

    /// A message has ended: nobody will hear it any more.
    pub(super) fn message_ended(&mut self, packet: &Packet) {
        let Some((sender, heard)) = self.agents.messages.end(MessageIx(packet.slot() as u32)) else { return };
        if let Some(host) = self.agents.at(sender) {
            host.agent.count_ended(heard);
        }
    }

    /// Movement has changed who can decode what a station sends.
    pub(super) fn agent_moves(&mut self, station: u32, nodes: Vec<u32>, now: u64) {
        if self.agents.at(station).is_none() {
            return;
        }
        let nodes = self.in_order(nodes);
        self.call_agent(station, now, |agent, now, out, firings| agent.meet(&nodes, now, out, firings));
    }

    /// Inner values of a station's agent.
    pub(crate) fn gauges(&self, station: u32) -> Vec<(&'static str, f64)> {
        let host = self.agents.hosts.get(station as usize).and_then(Option::as_ref);
        host.map_or_else(Vec::new, |host| host.agent.gauges())
    }

    /// What became of the messages of a station's agent.
    pub(crate) fn message_counts(&self, station: u32) -> Option<MessageCounts> {
        Some(self.agents.hosts.get(station as usize)?.as_ref()?.agent.counts())
    }
}
