//! Agents beside radio interfaces: samples of what their radios count, timers, and messages, which are packets on the air.

use airfair_host::{AgentSlot, Counters, Firing, MessageCounts, MessageIx, Messages};
use airfair_schemes::places::{AgentEffects, AgentSetup, Destination, Message, NodeId, QueueView, Timer};
use airfair_units::{Span, Time};

use super::interfaces::Interfaces;
use crate::event::{Order, Schedule, What, class};
use crate::ids::{FlowIx, NodeIx, PortIx, StationIx, Table};
use crate::packet::{Packet, Payload};

/// The agents of a world, and their messages that are under way.
#[derive(Default)]
pub(crate) struct Agents {
    /// Empty if the scheme has none.
    hosts: Table<StationIx, Option<Host>>,
    messages: Messages,
    /// Nodes by the numbers that agents know them by, sorted.
    nodes: Vec<(NodeId, NodeIx)>,
    /// What the last hook has asked for.
    effects: AgentEffects,
    firings: Vec<Firing>,
    /// The first node whose agent has sent a message to a node that does not exist: the run is in error.
    pub strange: Option<NodeIx>,
}

/// An agent and where it is.
struct Host {
    agent: AgentSlot,
    port: PortIx,
    node: NodeIx,
    /// Flows whose static routes pass the node.
    passing: Vec<FlowIx>,
    /// Messages that it has received to pass them on.
    relayed: u64,
}

/// How a station has received a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hearing {
    /// The message is for the station's node, or for all.
    pub to_me: bool,
    /// It came in a frame for this station alone.
    pub own_frame: bool,
}

/// A message that leaves an agent.
pub(crate) struct Sent {
    /// The agent's node.
    pub node: NodeIx,
    pub to: NodeIx,
    pub message: MessageIx,
    pub bytes: u32,
    /// It may pass other nodes on its way.
    pub routed: bool,
    /// It goes before all that queues.
    pub ahead: bool,
}

impl Agents {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// Adds the agent of one of so many stations, which is at a node, behind a port.
    pub fn add(
        &mut self,
        (station, stations): (StationIx, usize),
        (node, port): (NodeIx, PortIx),
        agent: AgentSlot,
    ) {
        if self.hosts.is_empty() {
            self.hosts = (0..stations).map(|_| None).collect();
        }
        self.hosts[station] = Some(Host { agent, port, node, passing: Vec::new(), relayed: 0 });
    }

    fn at(&mut self, station: StationIx) -> Option<&mut Host> {
        self.hosts.get_mut(station)?.as_mut()
    }

    fn look(&self, station: StationIx) -> Option<&Host> {
        self.hosts.get(station)?.as_ref()
    }

    /// A flow's static route passes a node.
    pub fn passes(&mut self, node: NodeIx, flow: FlowIx) {
        for host in self.hosts.iter_mut().flatten().filter(|host| host.node == node) {
            if host.passing.last() != Some(&flow) {
                host.passing.push(flow);
            }
        }
    }

    /// The agents learn which nodes there are.
    pub fn know(&mut self, interfaces: &Interfaces) {
        self.nodes = interfaces.nodes().map(|node| (interfaces.id(node), node)).collect();
        self.nodes.sort_unstable();
    }

    /// When the first sample of a station's agent ends, if it wants samples.
    pub fn first_sample(&mut self, station: StationIx) -> Option<(Time, Order)> {
        let host = self.at(station)?;
        Some((host.agent.first_sample()?, Order::new(class::TIMER, host.agent.rank())))
    }

    /// Calls an agent. What it asks for beside timers is there to be taken ([`Agents::take_effects`]).
    fn call(
        &mut self,
        station: StationIx,
        schedule: &mut Schedule,
        hook: impl FnOnce(&mut AgentSlot, &mut AgentEffects, &mut Vec<Firing>),
    ) {
        let Self { hosts, effects, firings, .. } = self;
        let Some(Some(host)) = hosts.get_mut(station) else { return };
        hook(&mut host.agent, effects, firings);
        let order = Order::new(class::TIMER, host.agent.rank());
        for Firing { at, timer, generation } in firings.drain(..) {
            schedule.add(at, order, What::AgentTimer { station, generation, timer: timer.0 });
        }
    }

    /// An agent starts, at time 0.
    pub fn start(&mut self, station: StationIx, setup: &AgentSetup<'_>, schedule: &mut Schedule) {
        self.call(station, schedule, |agent, out, firings| agent.start(setup, Time::ZERO, out, firings));
    }

    /// A timer of an agent is due, unless it was moved meanwhile.
    pub fn on_timer(&mut self, station: StationIx, timer: (Timer, u32), now: Time, schedule: &mut Schedule) {
        self.call(station, schedule, |agent, out, firings| agent.timer(timer, now, out, firings));
    }

    /// Movement has changed who can decode what a station sends.
    pub fn on_neighbours(
        &mut self,
        station: StationIx,
        nodes: &[NodeId],
        now: Time,
        schedule: &mut Schedule,
    ) {
        self.call(station, schedule, |agent, out, firings| agent.meet(nodes, now, out, firings));
    }

    /// A station has received a message that it passes on.
    pub fn count_relayed(&mut self, station: StationIx) {
        self.at(station).into_iter().for_each(|host| host.relayed += 1);
    }

    /// Of a station's agent, if there is one: its port, messages that came in frames for the station, and the flows whose routes pass its
    /// node.
    pub fn sampled(&self, station: StationIx) -> Option<(PortIx, u64, &[FlowIx])> {
        let host = self.look(station)?;
        Some((host.port, host.agent.counts().received + host.relayed, &host.passing))
    }

    /// An interval of a station's counters has ended: the counters as they are, flows that are being set up, the queue. Returns the
    /// length of the next interval and its order.
    pub fn on_sample(
        &mut self,
        station: StationIx,
        counted: Counters,
        (set_up, queue): (u32, QueueView),
        schedule: &mut Schedule,
    ) -> Option<(Span, Order)> {
        self.call(station, schedule, |agent, out, firings| {
            agent.sample(counted, set_up, queue, out, firings);
        });
        let agent = &self.look(station)?.agent;
        Some((agent.interval().unwrap_or_default(), Order::new(class::TIMER, agent.rank())))
    }

    /// A message was received by a station, from a node.
    pub fn on_message(
        &mut self,
        station: StationIx,
        (from, packet): (NodeId, &Packet),
        Hearing { to_me, own_frame }: Hearing,
        now: Time,
        schedule: &mut Schedule,
    ) {
        let Self { hosts, messages, .. } = self;
        let Some(Some(host)) = hosts.get_mut(station) else { return };
        let Payload::Message(message) = packet.payload else { return };
        // Samples count frames for this station, and leave out those with messages for it.
        if own_frame {
            host.agent.count_received();
        }
        // A node overhears its own message when the next hop passes that on.
        if packet.source == host.node || !messages.is_heard_first(message, station.0) {
            return;
        }
        let bytes = messages.take_bytes(message);
        let heard = (from, &*bytes, to_me);
        self.call(station, schedule, |agent, out, firings| agent.hear(heard, now, out, firings));
        self.messages.put_back(message, bytes);
    }

    /// What the last hook has asked for beside timers.
    pub fn take_effects(&mut self) -> AgentEffects {
        std::mem::take(&mut self.effects)
    }

    /// A message of a station's agent leaves, unless it is empty, for the node itself or for a node that does not exist.
    pub fn send(&mut self, station: StationIx, message: Message) -> Option<Sent> {
        let node = self.look(station)?.node;
        let (to, routed) = match message.to {
            Destination::Neighbour(id) | Destination::Node(id) => {
                let Ok(at) = self.nodes.binary_search_by_key(&id, |node| node.0) else {
                    self.strange.get_or_insert(node);
                    return None;
                };
                (self.nodes[at].1, matches!(message.to, Destination::Node(_)))
            }
            Destination::Broadcast => (NodeIx::EVERYONE, false),
        };
        if message.bytes.is_empty() || to == node {
            return None;
        }
        let bytes = message.bytes.len() as u32;
        let (under_way, ahead) = (self.messages.add(station.0, message.bytes), message.ahead);
        self.at(station)?.agent.count_sent();
        Some(Sent { node, to, message: under_way, bytes, routed, ahead })
    }

    /// A message has ended: nobody will hear it any more.
    pub fn message_ended(&mut self, message: MessageIx) {
        let Some((sender, heard)) = self.messages.end(message) else { return };
        if let Some(host) = self.at(StationIx(sender)) {
            host.agent.count_ended(heard);
        }
    }

    /// The first bytes of a message that lives.
    pub fn start_of<const N: usize>(&self, message: MessageIx) -> [u8; N] {
        let mut start = [0; N];
        let bytes = self.messages.bytes(message);
        start.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        start
    }

    /// Inner values of a station's agent.
    pub fn gauges(&self, station: StationIx) -> Vec<(&'static str, f64)> {
        self.look(station).map_or_else(Vec::new, |host| host.agent.gauges())
    }

    /// What became of the messages of a station's agent.
    pub fn message_counts(&self, station: StationIx) -> Option<MessageCounts> {
        Some(self.look(station)?.agent.counts())
    }
}

impl Sent {
    /// The packet of the message; `headers`: bytes of UDP and IP.
    pub fn packet(&self, headers: u32, now: Time) -> Packet {
        let payload = Payload::Message(self.message);
        Packet {
            bytes: self.bytes + headers,
            ..Packet::control(self.node, self.to, payload, self.bytes, now)
        }
    }
}
