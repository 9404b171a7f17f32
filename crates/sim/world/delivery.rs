//! Packets at the ends of links: they are received, go on or arrive, and wires are served. At the end of an event its news are settled.

use airfair_host::{Addressee, MessageSender};
use airfair_schemes::places::{Ecn, PacketClass, Verdict};
use airfair_units::{Span, Time};

use super::sources;
use crate::air::Air;
use crate::engine::Agenda;
use crate::event::{EventKind, Order, ScheduledEvent, class};
use crate::ids::{CopyRef, ForeignIx, LinkRef, NodeIx, StationIx, WireIx};
use crate::link::{FreeWire, OfferedPacket};
use crate::node::Network;
use crate::node::plane::accounts::drop_reason;
use crate::node::plane::outside::{Egress, Fate, Ingress};
use crate::node::plane::{Arrival, DataPlane, DequeuedPacket, Leaves};
use crate::packet::{Packet, PacketCopy, Payload};
use crate::route::NextHop;

impl Network {
    /// Serves the links that may have a packet to send, and pushes scheduled events onto the agenda.
    #[inline]
    pub(crate) fn finish_event(&mut self, air: &mut Air, agenda: &mut Agenda) {
        loop {
            if self.plane.unsettled {
                self.settle_all(agenda.now);
            }
            while let Some(link) = self.plane.schedule.next_link() {
                match link {
                    LinkRef::Station(station) => self.fill_mac(station, air, agenda),
                    LinkRef::Wire(wire) => self.serve_wire(wire, agenda),
                }
            }
            if self.plane.routes.have_changed() {
                self.on_routes_changed(agenda.now);
            } else if !self.plane.unsettled {
                break;
            }
        }
        self.push_scheduled(agenda);
        self.plane.schedule.pending = false;
    }

    /// Settles what the present event has left: packets of flows, ports with room, messages that have ended.
    #[cold]
    #[inline(never)]
    fn settle_all(&mut self, now: Time) {
        self.plane.unsettled = false;
        self.settle(now);
        for (sender, ended) in self.plane.ended_messages.drain(..) {
            match sender {
                MessageSender::Agent(station) => self.hosts.agents.count_ended(station, &ended),
                MessageSender::Controller(controller) => {
                    self.hosts.controllers.count_ended(controller, &ended)
                }
            }
        }
    }

    /// Pushes scheduled events onto the agenda.
    #[inline(always)]
    pub(crate) fn push_scheduled(&mut self, agenda: &mut Agenda) {
        for &ScheduledEvent { at, order, kind } in self.plane.schedule.events() {
            agenda.push(at, order, kind);
        }
        self.plane.schedule.clear();
    }

    /// Next hops have changed in the present event: tells the queues that follow routes, and checks the routes of flows.
    #[cold]
    #[inline(never)]
    fn on_routes_changed(&mut self, now: Time) {
        if self.plane.rules.queues_follow_routes {
            self.follow_routes(now);
        }
        self.plane.routes.check_flows();
    }

    fn follow_routes(&mut self, now: Time) {
        let DataPlane { interfaces, routes, schedule, .. } = &mut self.plane;
        let (mut moved, mut renewed) = (Vec::new(), Vec::new());
        for port in interfaces.with_new_routes(|node| routes.revision(node)) {
            let (node, link) = (interfaces.node(port), interfaces.link(port));
            let ports: Vec<_> = interfaces.ports_of_link(port).collect();
            interfaces.routes_changed(port, |destination| {
                routes.next_hop(node, destination).filter(|hop| ports.contains(&hop.port)).map(|hop| hop.node)
            });
            for (id, _) in interfaces.backlogs(port) {
                let hop = interfaces.node_of_id(id).and_then(|to| routes.next_hop(node, to));
                moved.extend(hop.filter(|hop| !ports.contains(&hop.port)).map(|hop| (port, id, hop)));
            }
            schedule.mark_ready(link);
            renewed.push(port);
        }
        // Packets whose route has moved to another interface of the node would wait here for a route that may never return.
        for (port, destination, hop) in moved {
            while let Some(packet) = self.plane.interfaces.pipeline_mut(port).withdraw(destination) {
                self.plane.send_to(hop, self.plane.packets.at(packet.id.0), now);
                self.settle(now);
            }
        }
        // Packets without a route may leave others their room.
        for port in renewed {
            sources::resume(self, port, now);
        }
    }

    /// Delivers a packet at its destination.
    pub(super) fn deliver_packet(&mut self, Arrival { node, copy }: Arrival, now: Time) {
        let Some((&packet, &ended)) = self.plane.packets.end(copy) else { return };
        if packet.class == PacketClass::Control {
            self.message_delivered(node, &packet, now);
            return;
        }
        if let Payload::Foreign { at: foreign, .. } = packet.payload {
            self.plane.foreign_left(foreign, (node, copy, &ended), Fate::Arrived, now);
        }
        self.endpoints.on_delivered(&mut self.plane, node, (&packet, &ended), copy, now);
    }

    /// Continues a packet: delivers it if it has arrived.
    #[inline(always)]
    pub(super) fn deliver_if_arrived(&mut self, arrival: Option<Arrival>, now: Time) {
        if let Some(arrival) = arrival {
            self.deliver_packet(arrival, now);
        }
        self.settle(now);
    }

    /// Hands to the ends of flows what the last call of the data plane has done to their packets.
    #[inline(always)]
    pub(super) fn settle(&mut self, now: Time) {
        self.endpoints.settle(&mut self.plane, now);
        if !self.plane.rooms.is_empty() {
            sources::resume_where_room(self, now);
        }
    }

    /// Handles a packet that a station has received.
    pub(super) fn on_received(&mut self, station: StationIx, copy: CopyRef, from: StationIx, now: Time) {
        let Some(packet) = self.plane.packets.get(copy) else { return };
        if packet.class == PacketClass::Control {
            let packet = *packet;
            self.control_received(station, (copy, &packet), from, now);
            return;
        }
        let destination = packet.destination;
        if self.plane.rules.headers_heard {
            self.header_heard(station, copy, from, now);
        }
        let Some((copy, hops)) = self.plane.packets.copy_to_next_hop(copy) else { return };
        if self.plane.rules.processes_received && !self.process_received(station, copy, from, now) {
            return;
        }
        let node = self.plane.interfaces.of_station(station).0;
        let arrival = self.plane.forward_from(node, (destination, hops), copy, now);
        self.deliver_if_arrived(arrival, now);
    }

    /// Handles a control packet that a station has received.
    fn control_received(
        &mut self,
        station: StationIx,
        (copy, packet): (CopyRef, &Packet),
        from: StationIx,
        now: Time,
    ) {
        let (node, port) = self.plane.interfaces.of_station(station);
        let (from, to_all) =
            (self.plane.interfaces.of_station(from).0, packet.destination == NodeIx::EVERYONE);
        match packet.payload {
            Payload::Routing(message) => {
                self.plane.on_routing_message((node, port), (message, to_all), from, now);
                self.settle(now);
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
                self.plane.routes.note_sender(port, from);
                if let Some((next, _)) = self.plane.packets.copy_to_next_hop(copy) {
                    let arrival = self.plane.forward(node, next, now);
                    self.deliver_if_arrived(arrival, now);
                }
            }
            Payload::Forwarded(header) => self.broadcast_heard(station, (from, header, packet.bytes), now),
            Payload::Foreign { at: foreign, .. } => self.foreign_heard(station, (copy, foreign), now),
            Payload::Routed { .. } => {
                self.plane.routes.note_sender(port, from);
                if let Some((next, _)) = self.plane.packets.copy_to_next_hop(copy) {
                    let arrival = self.plane.forward(node, next, now);
                    self.deliver_if_arrived(arrival, now);
                }
            }
            _ => {
                self.plane.arp_received((node, port), packet, now);
                self.settle(now);
            }
        }
    }

    /// Processes a packet received for this node: it may be lost by `packet_loss`; routing learns its sender, counters include it, and the
    /// interface's AQM passes, marks or drops it. Returns false if the packet has ended.
    #[inline(never)]
    fn process_received(&mut self, station: StationIx, copy: CopyRef, from: StationIx, now: Time) -> bool {
        let (node, port) = self.plane.interfaces.of_station(station);
        if self.packet_losses.draw_loss(station) {
            self.plane.drop_packet(node, copy, drop_reason::PACKET_LOSS, now);
            self.settle(now);
            return false;
        }
        self.plane.routes.note_sender(port, self.plane.interfaces.of_station(from).0);
        let Some((&packet, &PacketCopy { ecn, .. })) = self.plane.packets.packet_and_copy(copy) else {
            return false;
        };
        if let Payload::Foreign { at: foreign, .. } = packet.payload {
            self.plane.outside.receive(foreign, port);
        }
        self.plane.meters.uses.on_received(station, packet.bytes);
        if !self.plane.interfaces.pipeline(port).wants_received() {
            return true;
        }
        let received = self.plane.received_packet(copy, (&packet, ecn), node, now);
        let verdict = self.plane.interfaces.pipeline_mut(port).receive(
            &received,
            self.plane.packets.carried_header(copy),
            now,
        );
        let stays = self.plane.apply_verdict(verdict, port, copy, now);
        self.settle(now);
        stays
    }

    /// Handles a broadcast from outside that a station has received.
    fn foreign_heard(&mut self, station: StationIx, (copy, foreign): (CopyRef, ForeignIx), now: Time) {
        let (node, port) = self.plane.interfaces.of_station(station);
        let Some((packet, &PacketCopy { header: kind, ecn, .. })) = self.plane.packets.packet_and_copy(copy)
        else {
            return;
        };
        if self.packet_losses.draw_loss(station) {
            let fate = Fate::Dropped(drop_reason::PACKET_LOSS);
            self.plane.outside.leave(foreign, Egress::copy(now, node, (ecn, None), fate));
            return;
        }
        let received = self.plane.received_packet(copy, (packet, ecn), node, now);
        let mut header = self.plane.packets.header(copy).copied().filter(|_| !kind.is_none());
        let verdict = if self.plane.interfaces.pipeline(port).wants_received() {
            self.plane.interfaces.pipeline_mut(port).receive(&received, (kind, header.as_mut()), now)
        } else {
            Verdict::Pass
        };
        let egress = match verdict {
            Verdict::Drop(reason) => Egress::copy(now, node, (ecn, header), Fate::Dropped(reason.0)),
            Verdict::Mark(reason) => {
                self.plane.accounts.mark(reason.0);
                Egress::copy(now, node, (Ecn::Ce, header), Fate::Arrived)
            }
            Verdict::Pass | Verdict::Echo(_) => Egress::copy(now, node, (ecn, header), Fate::Arrived),
        };
        let port = Some(port).filter(|_| egress.fate == Fate::Arrived);
        self.plane.outside.leave(foreign, Egress { port, ..egress });
    }

    /// A packet from outside enters, by its number.
    #[inline(never)]
    pub(crate) fn injection_due(&mut self, number: u32, now: Time) {
        let Some((foreign, injected)) = self.plane.outside.enter(number) else { return };
        let [source, bound_for] = injected.ends;
        let (destination, class) = match injected.at {
            Ingress::Node(_) => (bound_for, injected.class),
            Ingress::Port(_, Some(next)) => (next, injected.class),
            Ingress::Port(_, None) => (NodeIx::EVERYONE, PacketClass::Control),
        };
        let packet = Packet {
            created: now,
            payload: Payload::Foreign { at: foreign, tag: injected.tag as u32 },
            scheme_flow: injected.flow,
            source,
            destination,
            bound_for,
            length: injected.size,
            bytes: injected.size,
            class,
            dscp: injected.dscp,
        };
        let header = self.plane.headers.id(injected.header.map(|(kind, _)| kind));
        let copy =
            self.plane.packets.add(packet, PacketCopy { header, ecn: injected.ecn, ..PacketCopy::PLAIN });
        if let Some((_, header)) = injected.header {
            *self.plane.packets.new_header(copy) = header;
        }
        match injected.at {
            Ingress::Node(node) => {
                self.plane.routes.find_fixed(node, destination);
                let arrival = self.plane.forward(node, copy, now);
                self.deliver_if_arrived(arrival, now);
            }
            // Its sender's stack has resolved the address.
            Ingress::Port(port, _) => {
                self.plane.enqueue(NextHop { port, node: destination }, copy, now);
                self.settle(now);
            }
        }
    }

    /// Serves a wire: if it is idle, it sends the next packet of its port's queue; otherwise schedules an event for the time at which it is
    /// free.
    fn serve_wire(&mut self, wire: WireIx, agenda: &mut Agenda) {
        let (now, port) = (agenda.now, self.plane.links.port(wire));
        if !self.plane.links.is_idle(wire, now) {
            agenda.push_if(self.plane.links.wake(wire));
            return;
        }
        if let Some(offer) = self.plane.next_ahead_on_wire(port, now) {
            agenda.push_if(self.plane.links.send(wire, &offer, now, now));
            agenda.push_if(self.plane.links.wake(wire));
            return;
        }
        let Some(dequeued) = self.dequeue_or_notify(port, now) else { return };
        let DequeuedPacket { copy, queued, payload, leaves } = dequeued;
        let offer = OfferedPacket { packet: copy, bytes: queued.bytes, has_payload: payload > 0 };
        agenda.push_if(self.plane.links.send(wire, &offer, queued.enqueued, now));
        if leaves == Leaves::Tcp {
            self.endpoints.on_sent_by_wire(&mut self.plane, wire, copy, now);
        }
        sources::resume(self, port, now);
        if self.plane.interfaces.pipeline(port).view().packets > 0 {
            agenda.push_if(self.plane.links.wake(wire));
        }
    }

    /// Handles the time at which a wire is free, or has room.
    pub(super) fn wire_free(&mut self, wire: WireIx, agenda: &mut Agenda) {
        let FreeWire { port, keeps_queue } = self.plane.links.on_free(wire);
        if !keeps_queue {
            self.serve_wire(wire, agenda);
            return;
        }
        let now = agenda.now;
        sources::resume(self, port, now);
        if self.endpoints.backpressure.has_waiting(port) {
            self.plane.schedule.add_if(self.plane.links.wake_at_departure(wire, now));
        }
    }

    /// Sends a message of a node to another one any number of hops away, or to the node itself.
    pub(super) fn send_routed(&mut self, packet: Packet, ahead: bool, now: Time) {
        let copy = self.plane.packets.add(packet, PacketCopy { ahead, ..PacketCopy::PLAIN });
        if ahead {
            self.plane.interfaces.sort_arrivals();
        }
        let Packet { source, destination, .. } = packet;
        if source == destination {
            let order = Order::new(class::WIRE, self.plane.interfaces.rank(source));
            self.plane.schedule.add(now + Span(1), order, EventKind::LocalMessage(copy));
        } else {
            self.plane.routes.find_fixed(source, destination);
            let arrival = self.plane.forward(source, copy, now);
            self.deliver_if_arrived(arrival, now);
        }
    }

    /// Handles the arrival of a message from a node to itself.
    #[cold]
    pub(crate) fn local_message(&mut self, copy: CopyRef, now: Time) {
        if let Some(node) = self.plane.packets.get(copy).map(|packet| packet.destination) {
            let arrival = self.plane.forward(node, copy, now);
            self.deliver_if_arrived(arrival, now);
        }
    }

    /// Starts the measurement at the end of the warm-up.
    #[inline(never)]
    pub(crate) fn warmed_up(&mut self, now: Time) {
        self.measuring = true;
        self.endpoints.warmed_up(now);
        self.plane.interfaces.warmed_up(&self.plane.links, now);
        self.plane.routes.warmed_up();
        self.plane.differentials.warmed_up();
        self.hosts.frames.warmed_up();
        self.hosts.forwarders.warmed_up();
    }
}
