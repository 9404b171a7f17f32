//! Agents at radio interfaces: samples of their radios' counters, timers, and messages, which are packets on the air.

use airfair_host::{
    AgentSlot, EndedMessage, Firing, HeaderId, InterfaceCounters, MessageCounts, MessageIx, Messages,
    SampledState,
};
use airfair_schemes::places::{
    AgentEffects, AgentSetup, Destination, FlowId, FlowShare, Forwarder, ForwarderContext, ForwarderEffects,
    Heard, HeardBroadcast, Message, NodeId, Timer, Transmit,
};
use airfair_units::{Span, Time};

use super::interfaces::Interfaces;
use crate::event::{EventKind, Order, Schedule, class};
use crate::ids::{ControllerIx, FlowIx, NodeIx, PortIx, StationIx, Table};
use crate::packet::{Packet, Payload};

/// Senders of messages from this number on are controllers; below it, stations.
const CONTROLLERS: u32 = 1 << 31;

/// The agents of a world, and messages of agents and controllers that have not ended.
#[derive(Default)]
pub(crate) struct Agents {
    /// Empty if the scheme has no agents.
    hosts: Table<StationIx, Option<HostedAgent>>,
    messages: Messages,
    /// Effects that the last hook has requested.
    effects: AgentEffects,
    /// Effects that the last hook of an agent as a forwarder has requested.
    forwarder_effects: ForwarderEffects,
    firings: Vec<Firing>,
    /// The first node whose agent has sent a message to a node that does not exist, which makes the run invalid.
    pub unknown_receiver: Option<NodeIx>,
}

/// An agent with its node and port.
struct HostedAgent {
    agent: AgentSlot,
    port: PortIx,
    node: NodeIx,
    /// The agent learns of the sizes of its port's queue.
    wants_backlogs: bool,
    /// The kind of header that the agent hears.
    hears: HeaderId,
    /// Flows whose static routes pass the node.
    passing: Vec<FlowIx>,
    /// Number of messages for other nodes that the station has received and the node forwards.
    relayed: u64,
}

/// Reception of a message by a station.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MessageReception {
    /// The message is addressed to the station's node, or to all.
    pub to_me: bool,
    /// True if a frame addressed to this station alone carried the message.
    pub own_frame: bool,
}

/// A message that an agent sends.
pub(crate) struct SentMessage {
    /// Node of the agent.
    pub node: NodeIx,
    pub to: NodeIx,
    pub message: MessageIx,
    pub bytes: u32,
    /// True if other nodes may forward the message.
    pub routed: bool,
    /// True if the message precedes the queued packets.
    pub ahead: bool,
}

impl Agents {
    /// True if there are no agents.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// Adds the agent of a station. `stations`: number of all stations.
    pub fn add(
        &mut self,
        (station, stations): (StationIx, usize),
        (node, port): (NodeIx, PortIx),
        (agent, wants_backlogs, hears): (AgentSlot, bool, HeaderId),
    ) {
        if self.hosts.is_empty() {
            self.hosts = (0..stations).map(|_| None).collect();
        }
        self.hosts[station] =
            Some(HostedAgent { agent, port, node, wants_backlogs, hears, passing: Vec::new(), relayed: 0 });
    }

    fn at(&mut self, station: StationIx) -> Option<&mut HostedAgent> {
        self.hosts.get_mut(station)?.as_mut()
    }

    fn hosted(&self, station: StationIx) -> Option<&HostedAgent> {
        self.hosts.get(station)?.as_ref()
    }

    /// Registers a flow whose static route passes a node.
    pub fn add_passing_flow(&mut self, node: NodeIx, flow: FlowIx) {
        for host in self.hosts.iter_mut().flatten().filter(|host| host.node == node) {
            if host.passing.last() != Some(&flow) {
                host.passing.push(flow);
            }
        }
    }

    /// End of the first sampling interval of a station's agent, if it takes samples.
    pub fn first_sample(&mut self, station: StationIx) -> Option<(Time, Order)> {
        let host = self.at(station)?;
        Some((host.agent.first_sample()?, Order::new(class::TIMER, host.agent.rank())))
    }

    /// Calls a hook of an agent. Requested effects other than timers stay in [`Agents::take_effects`].
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
            schedule.add(at, order, EventKind::AgentTimer { station, generation, timer: timer.0 });
        }
    }

    /// Starts an agent, at time 0.
    pub fn on_start(&mut self, station: StationIx, setup: &AgentSetup<'_>, schedule: &mut Schedule) {
        self.call(station, schedule, |agent, out, firings| agent.on_start(setup, Time::ZERO, out, firings));
    }

    /// Handles the timer of an agent, unless it was moved in the meantime.
    pub fn on_timer(&mut self, station: StationIx, timer: (Timer, u32), now: Time, schedule: &mut Schedule) {
        self.call(station, schedule, |agent, out, firings| agent.on_timer(timer, now, out, firings));
    }

    /// Notifies an agent that movement has changed the nodes that can decode its station's frames.
    pub fn on_neighbours(
        &mut self,
        station: StationIx,
        nodes: &[NodeId],
        now: Time,
        schedule: &mut Schedule,
    ) {
        self.call(station, schedule, |agent, out, firings| agent.on_neighbours(nodes, now, out, firings));
    }

    /// Notifies a station's agent of a controller that has started (`here`) or stopped at its node.
    pub fn on_controller(&mut self, station: StationIx, here: bool, now: Time, schedule: &mut Schedule) {
        self.call(station, schedule, |agent, out, firings| agent.on_controller(here, now, out, firings));
    }

    /// Counts a message that a station has received in order to forward it.
    pub fn count_relayed(&mut self, station: StationIx) {
        self.at(station).into_iter().for_each(|host| host.relayed += 1);
    }

    /// For a station's agent: its port, the number of messages received in frames for the station, and the flows whose routes pass its
    /// node. None without an agent.
    pub fn sampled(&self, station: StationIx) -> Option<(PortIx, u64, &[FlowIx])> {
        let host = self.hosted(station)?;
        Some((host.port, host.agent.counts().received + host.relayed, &host.passing))
    }

    /// Calls the sample hook at the end of an interval with the station's counters and the other parts of the sample. Returns the length of
    /// the next interval and its event order.
    pub fn on_sample(
        &mut self,
        station: StationIx,
        counted: InterfaceCounters,
        state: SampledState<'_>,
        schedule: &mut Schedule,
    ) -> Option<(Span, Order)> {
        self.call(station, schedule, |agent, out, firings| {
            agent.on_sample(counted, state, out, firings);
        });
        let agent = &self.hosted(station)?.agent;
        Some((agent.interval().unwrap_or_default(), Order::new(class::TIMER, agent.rank())))
    }

    /// True if a station's agent learns of the sizes of its port's queue.
    pub fn wants_backlogs(&self, station: StationIx) -> bool {
        self.hosted(station).is_some_and(|host| host.wants_backlogs)
    }

    /// Tells a station's agent the sizes of its port's queue by destination.
    pub fn on_backlogs(
        &mut self,
        station: StationIx,
        sizes: &[(NodeId, u32)],
        now: Time,
        schedule: &mut Schedule,
    ) {
        self.call(station, schedule, |agent, out, firings| agent.on_backlogs(sizes, now, out, firings));
    }

    /// Hands a message received from a node to a station's agent.
    pub fn on_message(
        &mut self,
        station: StationIx,
        (from, packet): (NodeId, &Packet),
        MessageReception { to_me, own_frame }: MessageReception,
        now: Time,
        schedule: &mut Schedule,
    ) {
        let Self { hosts, messages, .. } = self;
        let Some(Some(host)) = hosts.get_mut(station) else { return };
        let Payload::Message(message) = packet.payload else { return };
        // Samples count frames for this station except those that carry messages for it.
        if own_frame {
            host.agent.count_received();
        }
        // A node overhears its own message when the next hop forwards it. What a node sends to itself is not for its sender.
        let own = packet.source == host.node && packet.destination != host.node;
        if own || messages.sender(message) == Some(station.0) || !messages.mark_received(message, station.0) {
            return;
        }
        let bytes = messages.take_bytes(message);
        let received = (from, &*bytes, to_me);
        self.call(station, schedule, |agent, out, firings| agent.on_message(received, now, out, firings));
        self.messages.put_back(message, bytes);
    }

    /// Passes a header that a station has received or overheard to its agent. False if the agent hears none of this kind.
    pub fn on_header(
        &mut self,
        station: StationIx,
        kind: HeaderId,
        heard: &Heard<'_>,
        now: Time,
        schedule: &mut Schedule,
    ) -> bool {
        let hears = self.hosted(station).is_some_and(|host| !kind.is_none() && host.hears == kind);
        if hears {
            self.call(station, schedule, |agent, out, firings| agent.on_header(heard, now, out, firings));
        }
        hears
    }

    /// Asks a station's agent as a forwarder; none if it is none.
    pub fn query_forwarder<R>(
        &mut self,
        station: StationIx,
        question: impl FnOnce(&dyn Forwarder) -> R,
    ) -> Option<R> {
        self.at(station)?.agent.query(question)
    }

    /// Calls a hook of a station's agent as a forwarder. Its effects other than timers stay in [`Agents::take_forwarder_effects`].
    pub fn forward<R>(
        &mut self,
        station: StationIx,
        now: Time,
        schedule: &mut Schedule,
        hook: impl FnOnce(&mut dyn Forwarder, &mut ForwarderContext<'_>) -> R,
    ) -> Option<R> {
        let Self { hosts, forwarder_effects, firings, .. } = self;
        let host = hosts.get_mut(station)?.as_mut()?;
        let answer = host.agent.forward(now, forwarder_effects, firings, hook);
        let order = Order::new(class::TIMER, host.agent.rank());
        for Firing { at, timer, generation } in firings.drain(..) {
            schedule.add(at, order, EventKind::AgentTimer { station, generation, timer: timer.0 });
        }
        answer
    }

    /// Hands a broadcast of `bytes` from a node, by its header, to a station's agent as a forwarder.
    pub fn on_heard(
        &mut self,
        station: StationIx,
        (from, message, bytes): (NodeId, MessageIx, u32),
        now: Time,
        schedule: &mut Schedule,
    ) {
        let header = self.messages.take_bytes(message);
        let content = bytes.saturating_sub(header.len() as u32);
        let heard = HeardBroadcast { from, header: &header, content };
        self.forward(station, now, schedule, |forwarder, context| forwarder.on_heard(&heard, context));
        self.messages.put_back(message, header);
    }

    /// Adds the header of a broadcast that a station's forwarder has made.
    pub fn add_made(&mut self, station: StationIx, header: Vec<u8>) -> MessageIx {
        self.messages.add(station.0, header, false)
    }

    /// The bytes of a message, or the header of a broadcast, that has not ended.
    pub fn bytes(&self, message: MessageIx) -> &[u8] {
        self.messages.bytes(message)
    }

    /// Frees the header of a broadcast that has ended.
    pub fn made_ended(&mut self, message: MessageIx) {
        self.messages.end(message);
    }

    /// Effects other than timers that the last hook of a forwarder has requested. Those that it has as an agent are left for
    /// [`Agents::take_effects`].
    pub fn take_forwarder_effects(&mut self) -> ForwarderEffects {
        let mut effects = std::mem::take(&mut self.forwarder_effects);
        self.effects = std::mem::take(&mut effects.agent);
        effects
    }

    /// Effects other than timers that the last hook has requested.
    pub fn take_effects(&mut self) -> AgentEffects {
        std::mem::take(&mut self.effects)
    }

    /// Sends a message of a station's agent. None if it is empty, or addressed to the node itself as a neighbour or to a
    /// node that does not exist.
    pub fn send(
        &mut self,
        station: StationIx,
        message: Message,
        interfaces: &Interfaces,
    ) -> Option<SentMessage> {
        let node = self.hosted(station)?.node;
        let (to, routed) = match message.to {
            Destination::Neighbour(id) | Destination::Node(id) => {
                let Some(to) = interfaces.node_of_id(id) else {
                    self.unknown_receiver.get_or_insert(node);
                    return None;
                };
                (to, matches!(message.to, Destination::Node(_)))
            }
            Destination::Broadcast => (NodeIx::EVERYONE, false),
        };
        if message.bytes.is_empty() || to == node && !routed {
            return None;
        }
        let bytes = message.bytes.len() as u32;
        let (under_way, ahead) = (self.messages.add(station.0, message.bytes, routed), message.ahead);
        if to == NodeIx::EVERYONE {
            self.messages.set_transmit(under_way, message.transmit);
        }
        self.at(station)?.agent.count_sent();
        Some(SentMessage { node, to, message: under_way, bytes, routed, ahead })
    }

    /// Adds a message of a controller, to a node any number of hops away.
    pub fn add_of_controller(&mut self, controller: ControllerIx, bytes: Vec<u8>) -> MessageIx {
        self.messages.add(CONTROLLERS + controller.0, bytes, true)
    }

    /// Records that a message has reached the node that it is for. Returns its bytes the first time.
    pub fn reached(&mut self, message: MessageIx) -> Option<Vec<u8>> {
        self.messages.mark_arrived(message).then(|| self.messages.take_bytes(message))
    }

    /// Returns the bytes that [`Agents::reached`] has taken out.
    pub fn put_back(&mut self, message: MessageIx, bytes: Vec<u8>) {
        self.messages.put_back(message, bytes);
    }

    /// How a broadcast message is sent.
    pub fn transmit(&self, message: MessageIx) -> Transmit {
        self.messages.transmit(message).unwrap_or_default()
    }

    /// True if a controller has sent a message.
    pub fn is_of_controller(&self, message: MessageIx) -> bool {
        self.messages.sender(message).is_some_and(|sender| sender >= CONTROLLERS)
    }

    /// True if a message may be for a node any number of hops away.
    pub fn is_routed(&self, message: MessageIx) -> bool {
        self.messages.is_routed(message)
    }

    /// Frees a message that has ended; returns its controller, if a controller has sent it.
    pub fn message_ended(&mut self, message: MessageIx) -> Option<(ControllerIx, EndedMessage)> {
        let ended = self.messages.end(message)?;
        if let Some(controller) = ended.sender.checked_sub(CONTROLLERS) {
            return Some((ControllerIx(controller), ended));
        }
        if let Some(host) = self.at(StationIx(ended.sender)) {
            host.agent.count_ended(&ended);
        }
        None
    }

    /// The first bytes of a message that has not ended.
    pub fn start_of<const N: usize>(&self, message: MessageIx) -> [u8; N] {
        let mut start = [0; N];
        let bytes = self.messages.bytes(message);
        start.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        start
    }

    /// Internal values of a station's agent, by name.
    pub fn gauges(&self, station: StationIx) -> Vec<(&'static str, f64)> {
        self.hosted(station).map_or_else(Vec::new, |host| host.agent.gauges())
    }

    /// The share that a flow has at a station's node.
    pub fn share(&self, station: StationIx, flow: FlowId) -> Option<FlowShare> {
        self.hosted(station)?.agent.share(flow)
    }

    /// Numbers of messages of a station's agent.
    pub fn message_counts(&self, station: StationIx) -> Option<MessageCounts> {
        Some(self.hosted(station)?.agent.counts())
    }
}

impl SentMessage {
    /// The packet that carries the message; `headers`: bytes of UDP and IP.
    pub fn packet(&self, headers: u32, now: Time) -> Packet {
        let payload = Payload::Message(self.message);
        Packet {
            bytes: self.bytes + headers,
            ..Packet::control(self.node, self.to, payload, self.bytes, now)
        }
    }
}
