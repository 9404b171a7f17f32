//! Control packets: those of ARP, agents and routing leave, arrive and end.

use std::sync::Arc;

use airfair_host::{
    Addressee, HostEvent, Hosts, InterfaceCounters, MessageId, Net, Outgoing, Received, Sender, SentPacket,
    agents, controllers, forwarders,
};
use airfair_routing::{DropReason, SendRate as RoutingRate};
use airfair_schemes::places::{
    AgentSetup, Destination, DropReason as QueueDrop, FlowId, Heard, Holding, LinkUse, Message, NodeId,
    PacketClass, QueueView, SendRate, Setting, Transmit,
};
use airfair_units::{Rate, Span, Time};

use crate::air::{Air, BROADCAST, Msdu};
use crate::event::{EventKind, Order, class};
use crate::ids::{ControllerIx, CopyRef, FlowIx, LinkRef, MessageIx, NodeIx, PortIx, StationIx, WireIx};
use crate::link::{OfferedPacket, opposite};
use crate::node::Network;
use crate::node::accounts::drop_reason;
use crate::node::arp::{AddressWait, Unanswered};
use crate::node::interfaces::Ahead;
use crate::node::messages::InTransit;
use crate::observe::paths;
use crate::packet::{Packet, PacketCopy, Payload};
use crate::record::Record;
use crate::route::{Action, NextHop, Receivers, RoutingMessage, UndeliveredPacket};

use super::way::transmit_to;

/// Time from the end of a broadcast's transmission to its release: distant hearers receive it a little later than its sender has sent it.
const RELEASE_DELAY: Span = Span::from_millis(1);

/// Control packets of all three kinds.
impl Network {
    /// Queues a control packet ahead of the packets in the port's queue; it ends if too many wait there.
    fn send_ahead(&mut self, port: PortIx, copy: CopyRef, now: Time) {
        let node = match self.packets.get(copy).map(|packet| (packet.payload, packet.destination)) {
            Some((Payload::Arp { request: true }, _)) | None => NodeIx::EVERYONE,
            Some((_, destination)) => destination,
        };
        self.put_ahead(NextHop { port, node }, copy, now);
    }

    /// Queues a packet ahead of the packets in the queue of its next hop's port; it ends if too many wait there.
    pub(super) fn put_ahead(&mut self, hop: NextHop, copy: CopyRef, now: Time) {
        let NextHop { port, node: next } = hop;
        if self.interfaces.push_control(port, Ahead { copy, next, since: now }) {
            self.mark_link_ready(self.interfaces.link(port));
        } else {
            self.drop_packet(self.interfaces.node(port), copy, QueueDrop::QUEUE_FULL.0, now);
        }
    }

    /// The packet of a copy that has waited ahead of a port's queue and leaves; none after its end. Routing counts its messages, the queue
    /// packets of flows.
    fn depart_ahead(&mut self, port: PortIx, waited: Ahead, now: Time) -> Option<Packet> {
        let packet = *self.packets.get(waited.copy)?;
        if let Payload::Routing(message) = packet.payload {
            self.routes.count_sent(port, message, packet.bytes);
        }
        if packet.class != PacketClass::Control {
            self.interfaces.count_departure(port, packet.class, now.since(waited.since));
        }
        Some(packet)
    }

    /// Hands a packet that has waited ahead of a station's queue down to the MAC.
    pub(super) fn control_msdu(
        &mut self,
        (station, port): (StationIx, PortIx),
        waited: Ahead,
        now: Time,
    ) -> Option<Msdu> {
        let (packet, copy) = (self.depart_ahead(port, waited, now)?, waited.copy);
        let to = self.interfaces.peer(port, self.interfaces.id(waited.next)).unwrap_or(BROADCAST);
        let (of, overhear) = (self.packets.packet_of(copy), packet.is_message());
        if self.hosts.uses.any() && packet.class != PacketClass::Control {
            let of_flow = (packet.scheme_flow, packet.class);
            self.hosts.uses.on_dequeued(station, of.0, of_flow, waited.since, now);
        }
        let (rate, louder) = self.transmit_of(copy, to);
        let (bytes, control) = (packet.bytes, packet.class == PacketClass::Control);
        let report = matches!(packet.payload, Payload::Report { .. });
        Some(Msdu { copy, packet: of, bytes, to, category: 0, overhear, control, report, rate, louder })
    }

    /// Rate of a packet, and its power above the radio's own, hundredths of a dB: of a broadcast those that its message has chosen.
    #[inline(never)]
    pub(super) fn transmit_of(&self, copy: CopyRef, to: StationIx) -> (SendRate, i16) {
        match self.packets.get(copy).map(|packet| packet.payload) {
            Some(Payload::Routing(message)) if to == BROADCAST => match self.routes.rate(message) {
                RoutingRate::Broadcast => (SendRate::Broadcast, 0),
                RoutingRate::Data => (SendRate::Data, 0),
            },
            Some(Payload::Message(message)) if to == BROADCAST => {
                let transmit = self.messages.get(message).and_then(|message| message.transmit);
                let Transmit { rate, power } = transmit.unwrap_or_default();
                // Nearest; the conversion saturates.
                (rate, (power.0 * 100.0 + 0.5_f64.copysign(power.0)) as i16)
            }
            _ => transmit_to(to),
        }
    }

    /// Handles a control packet that a station has received.
    pub(super) fn control_received(
        &mut self,
        station: StationIx,
        (copy, packet): (CopyRef, &Packet),
        from: StationIx,
        now: Time,
    ) {
        let (node, port) = self.interfaces.of_station(station);
        let (from, to_all) = (self.interfaces.of_station(from).0, packet.destination == NodeIx::EVERYONE);
        match packet.payload {
            Payload::Routing(message) => {
                let actions = self.routes.on_message((node, port), message, from, to_all, now);
                self.carry_out_routing(node, actions, now);
            }
            Payload::Message(_) if to_all => {
                self.on_message_received(station, packet, Addressee::Everyone, now);
            }
            Payload::Message(_) if packet.destination == node => {
                self.on_message_received(station, packet, Addressee::Me, now);
                self.message_reached(node, Some(station), packet, now);
            }
            // Addressed to another node: forwarded.
            Payload::Message(_) => {
                self.hosts.agents.count_relayed(station);
                // What it passes on, a forwarder may read as what it overhears.
                if self.hosts.forwarders.any() {
                    self.on_message_received(station, packet, Addressee::Other, now);
                }
                self.routes.note_sender(port, from);
                if let Some((next, _)) = self.packets.copy_to_next_hop(copy) {
                    self.forward(node, next, now);
                }
            }
            Payload::Forwarded(header) => self.broadcast_heard(station, (from, header, packet.bytes), now),
            Payload::Foreign(foreign) => self.foreign_heard(station, (copy, foreign), now),
            Payload::Routed { .. } => {
                self.routes.note_sender(port, from);
                if let Some((next, _)) = self.packets.copy_to_next_hop(copy) {
                    self.forward(node, next, now);
                }
            }
            _ => self.arp_received((node, port), packet, now),
        }
    }

    /// Counts a packet that the MAC has sent in this number of data frames, if it is a message or a report.
    #[inline(never)]
    pub(super) fn count_control(&mut self, msdu: &Msdu, data_frames: u64, framing: u32) {
        let packet = match self.packets.get(msdu.copy).map(|packet| packet.payload) {
            // Its packet ends where it arrives, before the MAC has finished.
            _ if msdu.report => SentPacket::Report,
            Some(Payload::Message(message)) => SentPacket::Message(self.messages.start_of(message)),
            _ => return,
        };
        // Broadcasts are no data frames, and are sent once.
        let frames = if msdu.to == BROADCAST { 1 } else { data_frames };
        self.hosts.frames.count(packet, frames, [msdu.bytes, msdu.bytes + framing]);
    }

    /// Schedules the end of a packet that is sent without an acknowledgement.
    pub(super) fn schedule_release(&mut self, node: NodeIx, copy: CopyRef, now: Time) {
        let order = Order::new(class::TIMER, self.interfaces.rank(node));
        self.schedule.add(now + RELEASE_DELAY, order, EventKind::Release(copy));
    }

    /// Ends a control packet, which has reached all its receivers.
    pub(super) fn end_control(&mut self, copy: CopyRef, now: Time) {
        match self.packets.end(copy).map(|(packet, _)| *packet) {
            Some(packet) => self.on_control_ended(&packet, now),
            None => self.packets.release(copy),
        }
    }

    /// Ends a control packet that is no longer in the list of packets.
    pub(super) fn on_control_ended(&mut self, packet: &Packet, now: Time) {
        match packet.payload {
            Payload::Message(message) => self.message_ended(message),
            Payload::Routing(message) => self.routes.end(message),
            Payload::Forwarded(header) => {
                self.messages.end(header);
            }
            Payload::Foreign(foreign) => self.broadcast_left(foreign, packet, now),
            _ => {}
        }
    }
}

/// ARP.
impl Network {
    /// Keeps a packet until the address of its next hop is known, and requests that address.
    pub(super) fn await_address(&mut self, hop: NextHop, copy: CopyRef, now: Time) {
        let AddressWait { request_due, dropped } = self.arp.wait(hop, copy);
        if let Some(oldest) = dropped {
            self.drop_packet(self.interfaces.node(hop.port), oldest, drop_reason::ARP_QUEUE, now);
        }
        if request_due {
            self.request_address(hop, now);
        }
    }

    fn request_address(&mut self, hop: NextHop, now: Time) {
        let node = self.interfaces.node(hop.port);
        let requester = (node, self.interfaces.rank(node));
        if let Some(request) = self.arp.request(hop, requester, now, &mut self.schedule) {
            let copy = self.packets.add(request, PacketCopy::PLAIN);
            self.send_ahead(hop.port, copy, now);
        }
    }

    /// Handles the time-out of an ARP request.
    #[inline(never)]
    pub(super) fn arp_retry(&mut self, port: PortIx, target: NodeIx, now: Time) {
        match self.arp.on_retry(port, target) {
            Unanswered::Done => {}
            Unanswered::Repeat => self.request_address(NextHop { port, node: target }, now),
            Unanswered::GivenUp(packets) => {
                for copy in packets {
                    self.drop_packet(self.interfaces.node(port), copy, drop_reason::ARP_FAILED, now);
                }
                // Saturating sources offer packets again.
                self.resume_waiting_sources(port, now);
            }
        }
    }

    /// Handles an ARP packet that has arrived.
    fn arp_received(&mut self, (node, port): (NodeIx, PortIx), packet: &Packet, now: Time) {
        let (released, answer) = self.arp.on_packet((node, port), packet, now);
        for copy in released {
            if self.packets.get(copy).is_some_and(Packet::is_routing) {
                self.send_ahead(port, copy, now);
            } else {
                self.enqueue(NextHop { port, node: packet.source }, copy, now);
            }
        }
        if let Some(answer) = answer {
            let copy = self.packets.add(answer, PacketCopy::PLAIN);
            self.send_ahead(port, copy, now);
        }
    }
}

/// Agents and controllers.
impl Network {
    /// Registers at their nodes the flows whose static routes pass them, in either direction.
    pub(super) fn notify_agents_of_routes(&mut self) {
        if self.hosts.agents.is_empty() {
            return;
        }
        for flow in self.flows.places() {
            for forward in [true, false] {
                self.passing.add(self.flows[flow].ends(forward).0, flow);
                for hop in paths::hops(self, flow, forward) {
                    self.passing.add(hop.to, flow);
                }
            }
        }
    }

    /// Starts all agents, at time 0.
    pub(super) fn start_agents(&mut self, air: &Air) {
        if self.hosts.agents.is_empty() {
            return;
        }
        for station in self.interfaces.stations() {
            let (node, port) = self.interfaces.of_station(station);
            let neighbours = self.in_natural_order(self.interfaces.peers(port));
            let mac = air.mac(station);
            let (node, rate) = (self.interfaces.id(node), mac.nominal_mode.rate());
            let exchange = mac.lone_exchange(mac.nominal_mode);
            let setup = AgentSetup { node, rate, exchange, neighbours: &neighbours };
            agents::start(self, station, &setup, InterfaceCounters::default());
        }
    }

    /// Ids of nodes without duplicates, in the natural order of their names.
    fn in_natural_order(&self, mut nodes: Vec<NodeIx>) -> Vec<NodeId> {
        nodes.sort_unstable_by_key(|&node| self.routes.name_order(node));
        nodes.dedup();
        nodes.into_iter().map(|node| self.interfaces.id(node)).collect()
    }

    /// Handles the end of an interval of a station's counters.
    #[inline(never)]
    pub(super) fn sample(&mut self, station: StationIx, air: &Air, now: Time) {
        let port = self.interfaces.of_station(station).1;
        let counters = air.counters(station);
        let messages = self.hosts.agents.messages_in_own_frames(station);
        let counted = InterfaceCounters {
            at: now,
            airtime: air.airtime(station, now),
            receive_own: air.receive_own(station),
            retries: counters.no_cts + counters.no_ack,
            traffic: self.interfaces.packets_left(port) + counters.received_data() - messages,
            link: self.hosts.uses.totals(station).map_or_else(LinkUse::default, |totals| totals.used),
        };
        agents::sample(self, station, counted);
    }

    /// Handles a packet for another station that was overheard: an agent's message, or a packet with a header that queues read.
    pub(super) fn overheard(&mut self, station: StationIx, copy: CopyRef, from: StationIx, now: Time) {
        if self.rules.headers_heard && self.header_heard(station, copy, from, now) {
            return;
        }
        if let Some(packet) = self.packets.get(copy).filter(|packet| packet.is_message()).copied() {
            self.on_message_received(station, &packet, Addressee::Other, now);
        }
    }

    /// Passes the header of a packet that a station has received or overheard to the station's queue and agent. Returns false if the packet
    /// carries none.
    #[inline]
    pub(super) fn header_heard(
        &mut self,
        station: StationIx,
        copy: CopyRef,
        from: StationIx,
        now: Time,
    ) -> bool {
        let Self { packets, interfaces, .. } = self;
        let Some((kind, header, destination)) = packets.heard(copy) else { return false };
        let (port, sender) = (interfaces.of_station(station).1, interfaces.of_station(from).0);
        let heard = Heard { from: interfaces.id(sender), destination: interfaces.id(destination), header };
        if interfaces.heard(port, kind, &heard, now) {
            self.schedule.mark_ready(interfaces.link(port));
        }
        if self.rules.agents_hear {
            let (from, destination, header) = (heard.from, heard.destination, *header);
            agents::header(self, station, kind, &Heard { from, destination, header: &header }, now);
        }
        true
    }

    /// Handles a message that has arrived by wire, or locally, at its destination: the node's agents receive it, and it ends.
    #[cold]
    pub(super) fn message_delivered(&mut self, node: NodeIx, packet: &Packet, now: Time) {
        if let Payload::Routed { flow, number } = packet.payload {
            forwarders::routed_arrived(self, node, (flow, number), now);
            return;
        }
        self.message_reached(node, None, packet, now);
        self.on_control_ended(packet, now);
    }

    /// Handles a message that was received by a station.
    fn on_message_received(&mut self, station: StationIx, packet: &Packet, to: Addressee, now: Time) {
        let Payload::Message(message) = packet.payload else { return };
        let Some((id, bytes, sender)) = self.message(message) else { return };
        let own_frame = to == Addressee::Me;
        let received = Received { id, bytes: &bytes, to, own_frame, sender: station_of(sender) };
        if agents::message(self, station, &received, now) {
            self.messages.count_receiver(message, id);
        }
    }

    /// Passes a message that has reached its node, at `by` if by radio, to those of the node that have not received it: if it is routed, or
    /// has not come by radio, to all agents; and to a controller.
    fn message_reached(&mut self, node: NodeIx, by: Option<StationIx>, packet: &Packet, now: Time) {
        let Payload::Message(message) = packet.payload else { return };
        let Some((id, bytes, sender)) = self.message(message) else { return };
        let to_agents = by.is_none() || self.messages.get(message).is_some_and(|message| message.routed);
        let of_controller = matches!(sender, Sender::Controller(_));
        let (to, sender) = (Addressee::Me, station_of(sender));
        let received = Received { id, bytes: &bytes, to, own_frame: false, sender };
        self.messages.mark_arrived(message);
        controllers::message(self, (node, by), &received, (to_agents, of_controller), now);
    }

    /// Name, bytes and sender of a message of an agent or a controller.
    fn message(&self, message: MessageIx) -> Option<(MessageId, Arc<[u8]>, Sender<StationIx>)> {
        let message = self.messages.get(message)?;
        Some((message.id?, message.bytes.clone(), message.sender))
    }

    /// Frees a message that has ended.
    fn message_ended(&mut self, message: MessageIx) {
        match self.messages.end(message) {
            Some((Sender::Agent(station), ended)) => self.hosts.agents.count_ended(station, &ended),
            Some((Sender::Controller(controller), ended)) => {
                self.hosts.controllers.count_ended(controller, &ended);
            }
            None => {}
        }
    }

    /// Sends a message of a node to another one any number of hops away, or to the node itself.
    fn send_routed(&mut self, packet: Packet, ahead: bool, now: Time) {
        let copy = self.packets.add(packet, PacketCopy { ahead, ..PacketCopy::PLAIN });
        if ahead {
            self.interfaces.sort_arrivals();
        }
        let Packet { source, destination, .. } = packet;
        if source == destination {
            let order = Order::new(class::WIRE, self.interfaces.rank(source));
            self.schedule.add(now + Span(1), order, EventKind::LocalMessage(copy));
        } else {
            self.routes.find_fixed(source, destination);
            self.forward(source, copy, now);
        }
    }

    /// Handles the arrival of a message from a node to itself.
    #[cold]
    pub(super) fn local_message(&mut self, copy: CopyRef, now: Time) {
        if let Some(node) = self.packets.get(copy).map(|packet| packet.destination) {
            self.forward(node, copy, now);
        }
    }

    /// Handles a change of the stations that can decode a station's frames: `neighbours`, in ascending order.
    pub(super) fn neighbours_changed(&mut self, station: StationIx, neighbours: &[StationIx], now: Time) {
        let port = self.interfaces.of_station(station).1;
        neighbours.iter().for_each(|&neighbour| self.interfaces.add_peer(port, neighbour));
        if self.hosts.agents.is_empty() {
            return;
        }
        let nodes = neighbours.iter().map(|&neighbour| self.interfaces.of_station(neighbour).0).collect();
        let nodes = self.in_natural_order(nodes);
        agents::neighbours(self, station, &nodes, now);
    }

    /// The law of rates has another mode for most frames from one station to another, or for the first time one.
    #[cold]
    #[inline(never)]
    pub(super) fn link_mode_changed(&mut self, (station, to): (StationIx, StationIx), air: &Air, now: Time) {
        if self.hosts.agents.is_empty() {
            return;
        }
        let neighbour = self.interfaces.id(self.interfaces.of_station(to).0);
        let exchange = air.mac(station).lone_exchange(air.link_mode(station, to));
        agents::link_rate(self, station, (neighbour, exchange), now);
    }

    /// Starts the controllers that run from the start on, and schedules the other starts and the stops.
    pub(super) fn start_controllers(&mut self) {
        for controller in self.hosts.controllers.places() {
            let (start, stop) = self.hosts.controllers.times(controller);
            let rank = self.interfaces.rank(self.hosts.controllers.node(controller));
            // A stop precedes a start at the same node and time, since controllers of a node are in the order of their starts.
            if start > Time::ZERO {
                Net::schedule(self, HostEvent::ControllerStart(controller), start, rank);
            } else {
                self.start_controller(controller, Time::ZERO);
            }
            if let Some(stop) = stop {
                Net::schedule(self, HostEvent::ControllerStop(controller), stop, rank);
            }
        }
    }

    /// Starts a controller.
    #[cold]
    pub(super) fn start_controller(&mut self, controller: ControllerIx, now: Time) {
        let ports = self.interfaces.ports_of(self.hosts.controllers.node(controller));
        let neighbours = ports.flat_map(|port| match self.interfaces.link(port) {
            LinkRef::Station(_) => self.interfaces.peers(port),
            LinkRef::Wire(wire) => vec![self.links.far_end(wire)],
        });
        let neighbours = self.in_natural_order(neighbours.collect());
        controllers::start(self, controller, &neighbours, now);
    }
}

/// The station of an agent that has sent a message.
fn station_of(sender: Sender<StationIx>) -> Option<StationIx> {
    match sender {
        Sender::Agent(station) => Some(station),
        Sender::Controller(_) => None,
    }
}

/// The network as hosts of schemes use it.
impl Net for Network {
    type Radio = StationIx;
    type Node = NodeIx;
    type Flow = FlowIx;
    type Packet = CopyRef;

    fn hosts(&mut self) -> &mut Hosts<Self> {
        &mut self.hosts
    }

    fn id(&self, node: NodeIx) -> NodeId {
        self.interfaces.id(node)
    }

    fn node_of(&self, station: StationIx) -> NodeIx {
        self.interfaces.of_station(station).0
    }

    fn radios(&self, node: NodeIx) -> Vec<StationIx> {
        let station = |port: PortIx| match self.interfaces.link(port) {
            LinkRef::Station(station) => Some(station),
            LinkRef::Wire(_) => None,
        };
        self.interfaces.ports_of(node).filter_map(station).collect()
    }

    fn send(&mut self, outgoing: Outgoing<StationIx, NodeIx>, now: Time) -> bool {
        let Outgoing { node, sender, message: Message { to, ahead, ref bytes, .. }, .. } = outgoing;
        let (to, routed) = match to {
            Destination::Broadcast => (Some(NodeIx::EVERYONE), false),
            Destination::Neighbour(to) => (self.interfaces.node_of_id(to), false),
            Destination::Node(to) => (self.interfaces.node_of_id(to), true),
        };
        let Some(to) = to else { return false };
        let length = bytes.len() as u32;
        let message = self.messages.add(InTransit::new(outgoing, routed));
        let packet = Packet {
            bytes: length + self.rules.headers.udp + self.rules.headers.ip,
            ..Packet::control(node, to, Payload::Message(message), length, now)
        };
        match station_of(sender).filter(|_| !routed) {
            None => self.send_routed(packet, ahead, now),
            Some(_) if to != NodeIx::EVERYONE && self.interfaces.first_station(to).is_none() => {
                self.message_ended(message);
            }
            Some(station) => {
                let hop = NextHop { port: self.interfaces.of_station(station).1, node: to };
                let copy = self.packets.add(packet, PacketCopy::PLAIN);
                if ahead {
                    self.put_ahead(hop, copy, now);
                } else {
                    self.enqueue(hop, copy, now);
                }
            }
        }
        true
    }

    fn apply(&mut self, station: StationIx, settings: &[Setting], now: Time) {
        let port = self.interfaces.of_station(station).1;
        // A packet that has waited for news of a neighbour's queue may leave now.
        if self.rules.queues_label && self.interfaces.view(port).packets > 0 {
            self.schedule.mark_ready(self.interfaces.link(port));
        }
        settings.iter().for_each(|&setting| self.interfaces.apply(port, setting, now));
    }

    fn schedule(&mut self, event: HostEvent<StationIx>, at: Time, rank: u32) {
        let (class, kind) = match event {
            HostEvent::Sample(station) => (class::TIMER, EventKind::Sample(station)),
            HostEvent::AgentTimer(station, timer, generation) => {
                (class::TIMER, EventKind::AgentTimer { station, generation, timer })
            }
            HostEvent::ControllerTimer(controller, timer, generation) => {
                (class::TIMER, EventKind::ControllerTimer { controller, generation, timer })
            }
            HostEvent::ControllerStart(controller) => {
                (class::TRAFFIC, EventKind::ControllerStart(controller))
            }
            HostEvent::ControllerStop(controller) => (class::TRAFFIC, EventKind::ControllerStop(controller)),
        };
        self.schedule.add(at, Order::new(class, rank), kind);
    }

    fn state(&self, station: StationIx, now: Time) -> (QueueView, u32) {
        let (node, port) = self.interfaces.of_station(station);
        let under_way = |flow: &&FlowIx| {
            let flow = &self.flows[**flow];
            matches!(flow.counts(), (1.., 0)) && now < flow.stop
        };
        let set_up = self.passing.at(node).iter().filter(under_way).count() as u32;
        (self.interfaces.view_of_link(port), set_up)
    }

    fn backlogs(&self, station: StationIx) -> Vec<(NodeId, u32)> {
        self.interfaces.backlogs(self.interfaces.of_station(station).1)
    }

    fn waiting(&self, station: StationIx, see: &mut dyn FnMut(NodeId)) {
        let Self { interfaces, packets, .. } = self;
        let port = interfaces.of_station(station).1;
        for queue in interfaces.ports_of_link(port) {
            interfaces.for_each_packet(queue, &mut |packet| {
                if packet.class != PacketClass::Control {
                    see(packet.next_hop);
                }
            });
        }
        for waits in interfaces.ahead(port) {
            if packets.get(waits.copy).is_some_and(|packet| packet.class != PacketClass::Control) {
                see(interfaces.id(waits.next));
            }
        }
    }

    fn stated_rate(&self, station: StationIx, flow: FlowId) -> Option<Rate> {
        self.interfaces.stated_rate(self.interfaces.of_station(station).1, flow)
    }

    fn taken(&mut self, flow: FlowIx, copy: CopyRef) -> u32 {
        let bytes = self.packets.get(copy).map_or(0, |packet| packet.bytes);
        self.packets.leave_source(copy);
        self.backpressure.count_flow_left(flow);
        bytes
    }

    fn deliver(&mut self, node: NodeIx, copy: CopyRef, now: Time) {
        self.deliver_packet(node, copy, now);
    }

    fn route(&mut self, from: NodeIx, flow: FlowIx, (copy, number): (CopyRef, u32), now: Time) {
        let Some(&Packet { scheme_flow, destination, length, bytes, dscp, .. }) = self.packets.get(copy)
        else {
            return;
        };
        let payload = Payload::Routed { flow, number };
        let packet =
            Packet { scheme_flow, bytes, dscp, ..Packet::control(from, destination, payload, length, now) };
        let copy = self.packets.add(packet, PacketCopy::PLAIN);
        self.routes.find_fixed(from, destination);
        self.forward(from, copy, now);
    }

    fn held(&mut self, node: NodeIx, flow: FlowIx, holding: Holding, now: Time) {
        if self.records.are_enabled() {
            self.records.push(now, Record::Held { node, flow, holding });
        }
    }

    fn mark_ready(&mut self, station: StationIx) {
        self.schedule.mark_ready(LinkRef::Station(station));
    }

    fn resume_sources(&mut self, station: StationIx, now: Time) {
        self.resume_waiting_sources(self.interfaces.of_station(station).1, now);
    }
}

/// Routing.
impl Network {
    /// Carries out the actions that a node's routing protocol has returned.
    fn carry_out_routing(&mut self, node: NodeIx, actions: Vec<Action>, now: Time) {
        let mut given_up = false;
        for action in actions {
            match action {
                Action::Send { message, to } => self.send_routing(node, &message, to, now),
                Action::Forward { packet, hop } => self.offer_routed(node, hop, packet, now),
                Action::Drop { packet, reason } => {
                    let name = match reason {
                        DropReason::NoRoute => drop_reason::NO_ROUTE,
                        DropReason::BufferFull => drop_reason::ROUTE_QUEUE,
                        DropReason::BufferTime => drop_reason::ROUTE_WAIT,
                    };
                    self.drop_packet(node, packet, name, now);
                    given_up |= reason != DropReason::BufferFull;
                }
            }
        }
        if given_up {
            // Saturating sources offer packets again.
            for port in self.interfaces.ports_of(node) {
                let queues: Vec<PortIx> = self.interfaces.ports_of_link(port).collect();
                queues.into_iter().for_each(|queue| self.resume_waiting_sources(queue, now));
            }
        }
        self.schedule_routing(node, now);
    }

    fn schedule_routing(&mut self, node: NodeIx, now: Time) {
        if let Some(at) = self.routes.timer(node, now) {
            let order = Order::new(class::TIMER, self.interfaces.rank(node));
            self.schedule.add(at, order, EventKind::RoutingTimer(node));
        }
        self.schedule.pending |= self.routes.have_changed();
    }

    /// Starts the routing protocol of every node, at time 0.
    pub(super) fn start_routing(&mut self) {
        self.interfaces.nodes().for_each(|node| self.schedule_routing(node, Time::ZERO));
    }

    #[inline(never)]
    pub(super) fn routing_timer(&mut self, node: NodeIx, now: Time) {
        let actions = self.routes.on_timer(node, now);
        self.carry_out_routing(node, actions, now);
    }

    /// Sends a packet from a node without a fixed route: to the next hop of the routing protocol, or it waits, or ends.
    #[cold]
    pub(super) fn route_packet(&mut self, node: NodeIx, copy: CopyRef, now: Time) {
        let Some((packet, at)) = self.packets.packet_and_copy(copy).filter(|_| self.routes.are_found())
        else {
            self.drop_packet(node, copy, drop_reason::NO_ROUTE, now);
            return;
        };
        let (ends, fresh) = ([packet.source, packet.destination], at.hops == 0);
        let (hop, mut actions) = self.routes.send(node, copy, ends, fresh, now);
        // Its source would offer the next packet at once, without end.
        let refused = |action: &Action| matches!(action, Action::Drop { packet, reason: DropReason::NoRoute } if *packet == copy);
        if fresh && let Some(at) = actions.iter().position(refused) {
            actions.remove(at);
            self.drop_packet(node, copy, drop_reason::NO_ROUTE, now);
        }
        self.carry_out_routing(node, actions, now);
        if let Some(hop) = hop {
            self.offer_routed(node, hop, copy, now);
        }
    }

    fn offer_routed(&mut self, node: NodeIx, hop: NextHop, copy: CopyRef, now: Time) {
        if self.records.are_enabled()
            && let Some((packet, at)) = self.packets.packet_and_copy(copy)
            && let Some(flow) = packet.flow()
        {
            let (NextHop { port, node: next }, hops) = (hop, at.hops);
            self.records.push(now, Record::Routed { node, flow, packet: at.of, next, port, hops });
        }
        self.offer(hop, copy, now);
    }

    fn send_routing(&mut self, node: NodeIx, message: &RoutingMessage, to: Receivers, now: Time) {
        for port in self.interfaces.ports_of(node) {
            let destination = match to {
                Receivers::All => NodeIx::EVERYONE,
                Receivers::BehindPort(this) if this == port => NodeIx::EVERYONE,
                Receivers::One(hop) if hop.port == port => hop.node,
                Receivers::BehindPort(_) | Receivers::One(_) => continue,
            };
            let length = message.bytes.len() as u32;
            let Some(number) = self.routes.begin(message.clone()) else { return };
            let packet = Packet {
                bytes: length + self.rules.headers.udp + self.rules.headers.ip,
                ..Packet::control(node, destination, Payload::Routing(number), length, now)
            };
            let copy = self.packets.add(packet, PacketCopy::PLAIN);
            let hop = NextHop { port, node: destination };
            let wired = matches!(self.interfaces.link(port), LinkRef::Wire(_));
            if wired || destination == NodeIx::EVERYONE || self.arp.resolves(hop) {
                self.send_ahead(port, copy, now);
            } else {
                self.await_address(hop, copy, now);
            }
        }
    }

    /// The next packet of a wire that precedes those in the queue.
    pub(super) fn next_control_on_wire(&mut self, port: PortIx, now: Time) -> Option<OfferedPacket> {
        let waited = self.interfaces.pop_control(port)?;
        let Packet { bytes, length, .. } = self.depart_ahead(port, waited, now)?;
        Some(OfferedPacket { packet: waited.copy, bytes, has_payload: length > 0 })
    }

    /// Handles a packet that has arrived by wire, in a world with a routing protocol.
    #[inline(never)]
    pub(super) fn on_routed_arrival(&mut self, wire: WireIx, copy: CopyRef, now: Time) {
        let (node, from) = (self.links.far_end(wire), self.links.far_end(opposite(wire)));
        let port = self.links.port(opposite(wire));
        let Some((packet, at)) = self.packets.packet_and_copy_mut(copy) else { return };
        if let Payload::Routing(message) = packet.payload {
            let to_all = packet.destination == NodeIx::EVERYONE;
            let actions = self.routes.on_message((node, port), message, from, to_all, now);
            self.end_control(copy, now);
            self.carry_out_routing(node, actions, now);
            return;
        }
        at.hops += 1;
        self.routes.note_sender(port, from);
        self.forward(node, copy, now);
    }

    /// Notifies routing that the MAC of a node's station has given up a packet for a neighbour.
    pub(super) fn on_routing_undelivered(
        &mut self,
        (node, port): (NodeIx, PortIx),
        neighbour: StationIx,
        packet: Option<&Packet>,
        now: Time,
    ) {
        let lost = match packet.map(|packet| (packet.payload, packet)) {
            Some((Payload::Routing(message), _)) => UndeliveredPacket::Message(message),
            Some((Payload::Message(_) | Payload::Arp { .. }, _)) => return,
            Some((_, packet)) => UndeliveredPacket::Data(Some([packet.source, packet.destination])),
            None => UndeliveredPacket::Data(None),
        };
        let neighbour = self.interfaces.of_station(neighbour).0;
        let actions = self.routes.on_undelivered((node, port), neighbour, &lost, now);
        self.carry_out_routing(node, actions, now);
    }
}
