//! Control packets: those of ARP, agents and routing leave, arrive and end.

use airfair_host::{InterfaceCounters, MessageIx, SampledState};
use airfair_routing::{DropReason, SendRate as RoutingRate};
use airfair_schemes::places::{
    AgentEffects, AgentSetup, ControllerMessage, ControllerSetup, DropReason as QueueDrop, FlowSample, Heard,
    LinkSample, LinkUse, NodeId, PacketClass, SendRate, Timer, Transmit,
};
use airfair_units::{Span, Time};

use crate::air::{Air, BROADCAST, Msdu};
use crate::engine::Agenda;
use crate::event::{EventKind, Order, class};
use crate::ids::{ControllerIx, CopyRef, FlowIx, LinkRef, NodeIx, PortIx, StationIx, WireIx};
use crate::link::{OfferedPacket, opposite};
use crate::node::Network;
use crate::node::accounts::drop_reason;
use crate::node::agents::{MessageReception, SentMessage};
use crate::node::arp::{AddressWait, Unanswered};
use crate::node::control_traffic::Finished;
use crate::node::interfaces::Ahead;
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
        if self.meters.any() && packet.class != PacketClass::Control {
            self.meters.on_dequeued(station, of, (packet.scheme_flow, packet.class), waited.since, now);
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
                let Transmit { rate, power } = self.agents.transmit(message);
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
            Payload::Message(_) if packet.destination == node || to_all => {
                let reception = MessageReception { to_me: true, own_frame: !to_all };
                self.on_message_received(station, packet, reception, now);
                if !to_all {
                    self.message_reached(node, Some(station), packet, now);
                }
            }
            // Addressed to another node: forwarded.
            Payload::Message(_) => {
                self.agents.count_relayed(station);
                // What it passes on, a forwarder may read as what it overhears.
                if self.forwarders.any() {
                    let reception = MessageReception { to_me: false, own_frame: false };
                    self.on_message_received(station, packet, reception, now);
                }
                self.routes.note_sender(port, from);
                if let Some((next, _)) = self.packets.copy_to_next_hop(copy) {
                    self.forward(node, next, now);
                }
            }
            Payload::Forwarded(message) => self.broadcast_heard(station, (from, message, packet.bytes), now),
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
            _ if msdu.report => Finished::Report,
            Some(Payload::Message(message)) => Finished::Message(self.agents.start_of(message)),
            _ => return,
        };
        // Broadcasts are no data frames, and are sent once.
        let frames = if msdu.to == BROADCAST { 1 } else { data_frames };
        self.control_traffic.count(packet, frames, [msdu.bytes, msdu.bytes + framing]);
    }

    /// Schedules the end of a packet that is sent without an acknowledgement.
    pub(super) fn schedule_release(&mut self, node: NodeIx, copy: CopyRef, now: Time) {
        let order = Order::new(class::TIMER, self.interfaces.rank(node));
        self.schedule.add(now + RELEASE_DELAY, order, EventKind::Release(copy));
    }

    /// Ends a control packet, which has reached all its receivers.
    pub(super) fn end_control(&mut self, copy: CopyRef) {
        match self.packets.end(copy) {
            Some((packet, _)) => self.on_control_ended(&packet),
            None => self.packets.release(copy),
        }
    }

    /// Ends a control packet that is no longer in the list of packets.
    pub(super) fn on_control_ended(&mut self, packet: &Packet) {
        match packet.payload {
            Payload::Message(message) => self.message_ended(message),
            Payload::Routing(message) => self.routes.end(message),
            Payload::Forwarded(message) => self.agents.made_ended(message),
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

/// Agents.
impl Network {
    /// Notifies every agent's host of the flows whose static routes pass its node, in either direction.
    pub(super) fn notify_agents_of_routes(&mut self) {
        if self.agents.is_empty() {
            return;
        }
        for flow in self.flows.places() {
            for forward in [true, false] {
                self.agents.add_passing_flow(self.flows[flow].ends(forward).0, flow);
                for hop in paths::hops(self, flow, forward) {
                    self.agents.add_passing_flow(hop.to, flow);
                }
            }
        }
    }

    /// Starts all agents, at time 0.
    pub(super) fn start_agents(&mut self, air: &Air, agenda: &mut Agenda) {
        if self.agents.is_empty() {
            return;
        }
        for station in self.interfaces.stations() {
            if let Some((first, order)) = self.agents.first_sample(station) {
                agenda.push(first, order, EventKind::Sample(station));
            }
            let (node, port) = self.interfaces.of_station(station);
            let neighbours = self.in_natural_order(self.interfaces.peers(port));
            let (node, rate) = (self.interfaces.id(node), air.phy(station).data_rate());
            let exchange = air.mac(station).lone_exchange();
            let setup = AgentSetup { node, rate, exchange, neighbours: &neighbours };
            self.agents.on_start(station, &setup, &mut self.schedule);
            self.apply_agent_effects(station, Time::ZERO);
        }
    }

    /// Ids of nodes without duplicates, in the natural order of their names.
    fn in_natural_order(&self, mut nodes: Vec<NodeIx>) -> Vec<NodeId> {
        nodes.sort_unstable_by_key(|&node| self.routes.name_order(node));
        nodes.dedup();
        nodes.into_iter().map(|node| self.interfaces.id(node)).collect()
    }

    /// Applies the effects that an agent's hook has requested. If it is a forwarder, it may have become ready, or have room.
    fn apply_agent_effects(&mut self, station: StationIx, now: Time) {
        self.carry_out_agent(station, now);
        if self.forwarders.any() {
            self.forwarder_changed(station, now);
        }
    }

    /// [`Network::apply_agent_effects`] without regard to what a forwarder can do afterwards.
    pub(super) fn carry_out_agent(&mut self, station: StationIx, now: Time) {
        let AgentEffects { messages, settings, .. } = self.agents.take_effects();
        let port = self.interfaces.of_station(station).1;
        // A packet that has waited for news of a neighbour's queue may leave now.
        if self.rules.queues_label && !settings.is_empty() && self.interfaces.view(port).packets > 0 {
            self.schedule.mark_ready(self.interfaces.link(port));
        }
        settings.into_iter().for_each(|setting| self.interfaces.apply(port, setting, now));
        for message in messages {
            let Some(sent) = self.agents.send(station, message, &self.interfaces) else { continue };
            let to_nobody = sent.to != NodeIx::EVERYONE && self.interfaces.first_station(sent.to).is_none();
            if !sent.routed && to_nobody {
                self.message_ended(sent.message);
                continue;
            }
            if sent.routed {
                self.send_routed(&sent, now);
                continue;
            }
            let copy = self.packets.add(self.packet_of_message(&sent, now), PacketCopy::PLAIN);
            if sent.ahead {
                self.send_ahead(port, copy, now);
            } else {
                self.enqueue(NextHop { port, node: sent.to }, copy, now);
            }
        }
    }

    /// Handles the timer of an agent.
    #[inline(never)]
    pub(super) fn agent_timer(&mut self, station: StationIx, timer: (Timer, u32), now: Time) {
        self.agents.on_timer(station, timer, now, &mut self.schedule);
        self.apply_agent_effects(station, now);
    }

    /// Handles the end of an interval of a station's counters.
    #[inline(never)]
    pub(super) fn sample(&mut self, station: StationIx, air: &Air, agenda: &mut Agenda) {
        let now = agenda.now;
        let Some((port, messages, passing)) = self.agents.sampled(station) else { return };
        let under_way = |flow: &&FlowIx| {
            let flow = &self.flows[**flow];
            matches!(flow.counts(), (1.., 0)) && now < flow.stop
        };
        let set_up = passing.iter().filter(under_way).count() as u32;
        let counters = air.counters(station);
        let counted = InterfaceCounters {
            at: now,
            airtime: air.airtime(station, now),
            receive_own: air.receive_own(station),
            retries: counters.no_cts + counters.no_ack,
            traffic: self.interfaces.packets_left(port) + counters.received_data() - messages,
            link: self.meters.totals(station).map_or_else(LinkUse::default, |totals| totals.used),
        };
        let queue = self.interfaces.view_of_link(port);
        if self.agents.wants_backlogs(station) {
            let sizes = self.interfaces.backlogs(port);
            self.agents.on_backlogs(station, &sizes, now, &mut self.schedule);
            self.apply_agent_effects(station, now);
        }
        let (links, flows) = if self.link_meters.has(station) {
            self.links_and_flows(station, port)
        } else {
            (Vec::new(), Vec::new())
        };
        let state = SampledState { set_up, queue, links: &links, flows: &flows };
        let next = self.agents.on_sample(station, counted, state, &mut self.schedule);
        if self.link_meters.has(station) {
            self.link_meters.put_back(links, flows);
        }
        self.apply_agent_effects(station, now);
        if let Some((interval, order)) = next {
            agenda.push(now + interval, order, EventKind::Sample(station));
        }
    }

    /// Links and flows of a station since its last sample.
    fn links_and_flows(&mut self, station: StationIx, port: PortIx) -> (Vec<LinkSample>, Vec<FlowSample>) {
        let Self { link_meters, interfaces, packets, .. } = self;
        let (links, mut flows) = link_meters.take(station, interfaces, |count| {
            for queue in interfaces.ports_of_link(port) {
                interfaces.for_each_packet(queue, &mut |packet| {
                    if packet.class != PacketClass::Control {
                        count(packet.next_hop);
                    }
                });
            }
            for waits in interfaces.ahead(port) {
                if packets.get(waits.copy).is_some_and(|packet| packet.class != PacketClass::Control) {
                    count(interfaces.id(waits.next));
                }
            }
        });
        for sample in &mut flows {
            sample.stated = interfaces.stated_rate(port, sample.flow);
        }
        (links, flows)
    }

    /// Handles a packet for another station that was overheard: an agent's message, or a packet with a header that queues read.
    pub(super) fn overheard(&mut self, station: StationIx, copy: CopyRef, from: StationIx, now: Time) {
        if self.rules.headers_heard && self.header_heard(station, copy, from, now) {
            return;
        }
        if let Some(packet) = self.packets.get(copy).filter(|packet| packet.is_message()).copied() {
            self.on_message_received(
                station,
                &packet,
                MessageReception { to_me: false, own_frame: false },
                now,
            );
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
        if self.rules.agents_hear && self.agents.on_header(station, kind, &heard, now, &mut self.schedule) {
            self.apply_agent_effects(station, now);
        }
        true
    }

    /// Handles a message that has arrived by wire, or locally, at its destination: the node's agents receive it, and it ends.
    #[cold]
    pub(super) fn message_delivered(&mut self, node: NodeIx, packet: &Packet, now: Time) {
        if let Payload::Routed { flow, number } = packet.payload {
            self.routed_arrived(node, (flow, number), now);
            return;
        }
        self.message_reached(node, None, packet, now);
        self.on_control_ended(packet);
    }

    /// Passes a message that has reached its node, at `by` if by radio, to those of the node that have not received it: if it is routed, or
    /// has not come by radio, to all agents; and to a controller.
    fn message_reached(&mut self, node: NodeIx, by: Option<StationIx>, packet: &Packet, now: Time) {
        let Payload::Message(message) = packet.payload else { return };
        if by.is_none() || self.agents.is_routed(message) {
            for station in self.stations_of(node).into_iter().filter(|&station| by != Some(station)) {
                let reception = MessageReception { to_me: true, own_frame: false };
                self.on_message_received(station, packet, reception, now);
            }
        }
        let Some(bytes) = self.agents.reached(message) else { return };
        // What a controller sends to its own node is for the agents there.
        let own = packet.source == node && self.agents.is_of_controller(message);
        if let Some(controller) = self.controllers.at(node).filter(|_| !own) {
            let received = (self.interfaces.id(packet.source), &*bytes);
            self.controllers.on_message(controller, received, now, &mut self.schedule);
        }
        // Before effects: a new message may not take the place of this one.
        self.agents.put_back(message, bytes);
        self.apply_controller_effects(node, now);
    }

    fn stations_of(&self, node: NodeIx) -> Vec<StationIx> {
        let station = |port: PortIx| match self.interfaces.link(port) {
            LinkRef::Station(station) => Some(station),
            LinkRef::Wire(_) => None,
        };
        self.interfaces.ports_of(node).filter_map(station).collect()
    }

    /// Frees a message that has ended.
    fn message_ended(&mut self, message: MessageIx) {
        if let Some((controller, ended)) = self.agents.message_ended(message) {
            self.controllers.count_ended(controller, &ended);
        }
    }

    fn packet_of_message(&self, sent: &SentMessage, now: Time) -> Packet {
        sent.packet(self.rules.headers.udp + self.rules.headers.ip, now)
    }

    /// Sends a message to a node any number of hops away, or to the sender's own.
    fn send_routed(&mut self, sent: &SentMessage, now: Time) {
        let first = PacketCopy { ahead: sent.ahead, ..PacketCopy::PLAIN };
        let copy = self.packets.add(self.packet_of_message(sent, now), first);
        if sent.ahead {
            self.interfaces.sort_arrivals();
        }
        if sent.to == sent.node {
            let order = Order::new(class::WIRE, self.interfaces.rank(sent.node));
            self.schedule.add(now + Span(1), order, EventKind::LocalMessage(copy));
        } else {
            self.routes.find_fixed(sent.node, sent.to);
            self.forward(sent.node, copy, now);
        }
    }

    /// Handles the arrival of a message from a node to itself.
    #[cold]
    pub(super) fn local_message(&mut self, copy: CopyRef, now: Time) {
        if let Some(node) = self.packets.get(copy).map(|packet| packet.destination) {
            self.forward(node, copy, now);
        }
    }

    /// Handles a message that was received by a station.
    fn on_message_received(
        &mut self,
        station: StationIx,
        packet: &Packet,
        reception: MessageReception,
        now: Time,
    ) {
        let from = self.interfaces.id(packet.source);
        self.agents.on_message(station, (from, packet), reception, now, &mut self.schedule);
        self.apply_agent_effects(station, now);
    }

    /// Handles a change of the stations that can decode a station's frames: `neighbours`, in ascending order.
    pub(super) fn neighbours_changed(&mut self, station: StationIx, neighbours: &[StationIx], now: Time) {
        let port = self.interfaces.of_station(station).1;
        neighbours.iter().for_each(|&neighbour| self.interfaces.add_peer(port, neighbour));
        if self.agents.is_empty() {
            return;
        }
        let nodes = neighbours.iter().map(|&neighbour| self.interfaces.of_station(neighbour).0).collect();
        let nodes = self.in_natural_order(nodes);
        self.agents.on_neighbours(station, &nodes, now, &mut self.schedule);
        self.apply_agent_effects(station, now);
    }
}

/// Controllers.
impl Network {
    /// Starts the controllers that run from the start on, and schedules the other starts and the stops.
    pub(super) fn start_controllers(&mut self) {
        for controller in self.controllers.places() {
            let order = Order::new(class::TRAFFIC, self.interfaces.rank(self.controllers.node(controller)));
            let (start, stop) = self.controllers.times(controller);
            // A stop precedes a start at the same node and time, since controllers of a node are in the order of their starts.
            if start > Time::ZERO {
                self.schedule.add(start, order, EventKind::ControllerStart(controller));
            } else {
                self.start_controller(controller, Time::ZERO);
            }
            if let Some(stop) = stop {
                self.schedule.add(stop, order, EventKind::ControllerStop(controller));
            }
        }
    }

    /// Starts a controller.
    #[cold]
    pub(super) fn start_controller(&mut self, controller: ControllerIx, now: Time) {
        let at = self.controllers.node(controller);
        let ports = self.interfaces.ports_of(at);
        let neighbours = ports.flat_map(|port| match self.interfaces.link(port) {
            LinkRef::Station(_) => self.interfaces.peers(port),
            LinkRef::Wire(wire) => vec![self.links.far_end(wire)],
        });
        let neighbours = self.in_natural_order(neighbours.collect());
        let setup = ControllerSetup { node: self.interfaces.id(at), neighbours: &neighbours };
        self.controllers.start(controller, &setup, now, &mut self.schedule);
        self.apply_controller_effects(at, now);
        self.notify_agents_of_controller(at, true, now);
    }

    /// Stops a controller.
    #[cold]
    pub(super) fn stop_controller(&mut self, controller: ControllerIx, now: Time) {
        self.controllers.stop(controller);
        self.notify_agents_of_controller(self.controllers.node(controller), false, now);
    }

    fn notify_agents_of_controller(&mut self, node: NodeIx, here: bool, now: Time) {
        for station in self.stations_of(node) {
            self.agents.on_controller(station, here, now, &mut self.schedule);
            self.apply_agent_effects(station, now);
        }
    }

    /// Handles the timer of a controller.
    #[inline(never)]
    pub(super) fn controller_timer(&mut self, controller: ControllerIx, timer: (Timer, u32), now: Time) {
        self.controllers.on_timer(controller, timer, now, &mut self.schedule);
        self.apply_controller_effects(self.controllers.node(controller), now);
    }

    /// Applies the effects that a hook of the controller at a node has requested.
    fn apply_controller_effects(&mut self, node: NodeIx, now: Time) {
        let messages = self.controllers.take_effects().messages;
        let Some(controller) = self.controllers.at(node) else { return };
        for ControllerMessage { to, bytes, ahead } in messages.into_iter().filter(|m| !m.bytes.is_empty()) {
            let Some(to) = self.interfaces.node_of_id(to) else {
                self.controllers.unknown_receiver.get_or_insert(node);
                continue;
            };
            self.controllers.count_sent(controller, bytes.len());
            let length = bytes.len() as u32;
            let message = self.agents.add_of_controller(controller, bytes);
            self.send_routed(&SentMessage { node, to, message, bytes: length, routed: true, ahead }, now);
        }
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
            self.end_control(copy);
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
