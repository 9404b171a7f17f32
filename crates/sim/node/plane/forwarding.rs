//! The next hop of a packet: by a static route, by what a routing protocol has found, or from wire to wire.

use airfair_routing::DropReason as RoutingDrop;
use airfair_schemes::places::{DropReason, Passage};
use airfair_units::{Rate, Time};

use super::{Arrival, DataPlane};
use crate::engine::Agenda;
use crate::event::{EventKind, Order, ScheduledEvent, class};
use crate::ids::{CopyRef, LinkRef, NodeIx, PortIx, RoutingIx, StationIx, WireIx};
use crate::link::{OfferResult, OfferedPacket, WireEnd, opposite};
use crate::node::plane::accounts::drop_reason;
use crate::packet::{Packet, PacketCopy, Payload};
use crate::record::Record;
use crate::route::{Action, NextHop, Receivers, RoutingMessage, UndeliveredPacket};

impl DataPlane {
    /// Forwards a packet at a node; returned if it has arrived there.
    pub(crate) fn forward(&mut self, node: NodeIx, copy: CopyRef, now: Time) -> Option<Arrival> {
        let (packet, &PacketCopy { hops, .. }) = self.packets.packet_and_copy(copy)?;
        self.forward_from(node, (packet.destination, hops), copy, now)
    }

    /// [`DataPlane::forward`] for a packet whose destination and number of hops are known.
    #[inline(always)]
    pub(crate) fn forward_from(
        &mut self,
        node: NodeIx,
        (destination, hops): (NodeIx, u16),
        copy: CopyRef,
        now: Time,
    ) -> Option<Arrival> {
        if destination == node {
            return Some(Arrival { node, copy });
        }
        if hops >= self.rules.hop_limit {
            self.drop_packet(node, copy, drop_reason::HOP_LIMIT, now);
            return None;
        }
        match self.routes.fixed_hop(node, destination) {
            Some(hop) => self.send_to(hop, copy, now),
            None => self.route_packet(node, copy, now),
        }
        None
    }

    /// Sends a packet to a next hop: offers it to the queue of the port, or lets it wait until the address is known.
    pub(crate) fn send_to(&mut self, hop: NextHop, copy: CopyRef, now: Time) {
        if matches!(self.interfaces.link(hop.port), LinkRef::Station(_)) && !self.arp.resolves(hop) {
            self.await_address(hop, copy, now);
            return;
        }
        self.enqueue(hop, copy, now);
    }

    /// Sends a packet from a node without a fixed route: to the next hop of the routing protocol, or it waits, or ends.
    #[cold]
    fn route_packet(&mut self, node: NodeIx, copy: CopyRef, now: Time) {
        let Some((packet, at)) = self.packets.packet_and_copy(copy).filter(|_| self.routes.are_found())
        else {
            self.drop_packet(node, copy, drop_reason::NO_ROUTE, now);
            return;
        };
        let (ends, fresh) = ([packet.source, packet.destination], at.hops == 0);
        let (hop, mut actions) = self.routes.send(node, copy, ends, fresh, now);
        // Its source would offer the next packet at once, without end.
        let refused = |action: &Action| matches!(action, Action::Drop { packet, reason: RoutingDrop::NoRoute } if *packet == copy);
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
        self.send_to(hop, copy, now);
    }

    /// Carries out the actions that a node's routing protocol has returned.
    fn carry_out_routing(&mut self, node: NodeIx, actions: Vec<Action>, now: Time) {
        let mut given_up = false;
        for action in actions {
            match action {
                Action::Send { message, to } => self.send_routing(node, &message, to, now),
                Action::Forward { packet, hop } => self.offer_routed(node, hop, packet, now),
                Action::Drop { packet, reason } => {
                    let name = match reason {
                        RoutingDrop::NoRoute => drop_reason::NO_ROUTE,
                        RoutingDrop::BufferFull => drop_reason::ROUTE_QUEUE,
                        RoutingDrop::BufferTime => drop_reason::ROUTE_WAIT,
                    };
                    self.drop_packet(node, packet, name, now);
                    given_up |= reason != RoutingDrop::BufferFull;
                }
            }
        }
        if given_up {
            // Saturating sources offer packets again.
            for port in self.interfaces.ports_of(node) {
                let queues: Vec<PortIx> = self.interfaces.ports_of_link(port).collect();
                queues.into_iter().for_each(|queue| self.add_room(queue));
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

    /// Starts the routing protocol of every node, at time 0.
    pub(crate) fn start_routing(&mut self) {
        self.interfaces.nodes().for_each(|node| self.schedule_routing(node, Time::ZERO));
    }

    /// Handles the timer of a node's routing protocol.
    #[inline(never)]
    pub(crate) fn routing_timer(&mut self, node: NodeIx, now: Time) {
        let actions = self.routes.on_timer(node, now);
        self.carry_out_routing(node, actions, now);
    }

    /// Notifies routing that the MAC of a node's station has given up a packet for a neighbour.
    pub(crate) fn on_routing_undelivered(
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

    /// Handles a message of a routing protocol that has arrived at a node's port from a neighbour.
    pub(crate) fn on_routing_message(
        &mut self,
        (node, port): (NodeIx, PortIx),
        (message, to_all): (RoutingIx, bool),
        from: NodeIx,
        now: Time,
    ) {
        let actions = self.routes.on_message((node, port), message, from, to_all, now);
        self.carry_out_routing(node, actions, now);
    }

    /// Handles a packet that has arrived by wire, in a world with a routing protocol.
    #[inline(never)]
    fn on_routed_arrival(&mut self, wire: WireIx, copy: CopyRef, now: Time) -> Option<Arrival> {
        let (node, from) = (self.links.far_end(wire), self.links.far_end(opposite(wire)));
        let port = self.links.port(opposite(wire));
        let (packet, at) = self.packets.packet_and_copy_mut(copy)?;
        if let Payload::Routing(message) = packet.payload {
            let to_all = packet.destination == NodeIx::EVERYONE;
            let actions = self.routes.on_message((node, port), message, from, to_all, now);
            self.end_control(copy, now);
            self.carry_out_routing(node, actions, now);
            return None;
        }
        at.hops += 1;
        self.routes.note_sender(port, from);
        self.forward(node, copy, now)
    }

    /// Offers a packet to a wire that keeps its own queue.
    #[inline(never)]
    pub(super) fn enqueue_at_wire(&mut self, wire: WireIx, copy: CopyRef, now: Time) {
        let Some(packet) = self.packets.get(copy) else { return };
        self.offer_to_wire(wire, OfferedPacket::of(packet, copy), now);
    }

    /// [`DataPlane::enqueue_at_wire`] for a packet that is at hand.
    #[inline(always)]
    pub(crate) fn offer_to_wire(&mut self, wire: WireIx, offer: OfferedPacket, now: Time) {
        let due = self.send_on_wire(wire, &offer, now);
        self.schedule.add_if(due);
    }

    /// Sends a packet by a wire that keeps its own queue; without room there it is dropped. Returns its arrival event, if no other packet
    /// arrives before it.
    #[inline(always)]
    fn send_on_wire(&mut self, wire: WireIx, offer: &OfferedPacket, now: Time) -> Option<ScheduledEvent> {
        if self.rules.hops_at_wires {
            self.pass_hop_of_wire(wire, offer, now);
        }
        match self.links.offer(wire, offer, now) {
            OfferResult::Accepted(due) => due,
            OfferResult::Full => {
                self.drop_at(self.links.port(wire), offer.packet, DropReason::QUEUE_FULL.0, now);
                None
            }
        }
    }

    /// Lets the hop of a scheme handle a packet on its way to a wire that keeps its own queue.
    #[inline(never)]
    fn pass_hop_of_wire(&mut self, wire: WireIx, offer: &OfferedPacket, now: Time) {
        let backlog = self.links.backlog(wire, now).unwrap_or_default();
        let Some(packet) = self.packets.get(offer.packet) else { return };
        let bytes = packet.bytes + self.rules.headers.wired;
        let next_hop = self.interfaces.id(self.links.far_end(wire));
        let passage = Passage { bytes, flow: packet.scheme_flow, next_hop, class: packet.class, backlog };
        let carried = self.packets.carried_header(offer.packet);
        let pipeline = self.interfaces.pipeline_mut(self.links.port(wire));
        pipeline.pass_hop(&passage, carried, &self.headers, now);
    }

    /// Handles an arrival by a wire: the packet goes on; returned if it has arrived at its destination.
    pub(crate) fn wire_arrival(&mut self, wire: WireIx, agenda: &mut Agenda) -> Option<Arrival> {
        let now = agenda.now;
        let (end, due) = self.links.on_arrival(wire);
        agenda.push_if(due);
        let WireEnd { packet: copy, node, lost, onward } = end?;
        if lost {
            self.drop_packet(self.links.far_end(opposite(wire)), copy, drop_reason::WIRE_LOSS, now);
            return None;
        }
        if self.routes.are_found() {
            return self.on_routed_arrival(wire, copy, now);
        }
        let (packet, at) = self.packets.packet_and_copy_mut(copy)?;
        at.hops += 1;
        let (destination, hops) = (packet.destination, at.hops);
        let offer = OfferedPacket::of(packet, copy);
        // The common case of a router: from wire to wire directly.
        if destination != node
            && hops < self.rules.hop_limit
            && let Some(onward) = match onward {
                Some((to, onward)) if to == destination => Some(onward),
                _ => self.find_next_wire(wire, destination),
            }
        {
            agenda.push_if(self.send_on_wire(onward, &offer, now));
            return None;
        }
        self.forward_from(node, (destination, hops), copy, now)
    }

    /// The wire with its own queue by which packets of a wire continue to a destination: usually the wire of the last packet.
    #[inline(never)]
    fn find_next_wire(&mut self, wire: WireIx, destination: NodeIx) -> Option<WireIx> {
        let node = self.links.far_end(wire);
        let onward = self
            .routes
            .next_hop(node, destination)
            .and_then(|hop| self.interfaces.wire_with_queue(hop.port, &self.links))?;
        self.links.note_onward(wire, destination, onward);
        Some(onward)
    }

    /// The next packet of a wire that precedes those in the queue.
    pub(crate) fn next_ahead_on_wire(&mut self, port: PortIx, now: Time) -> Option<OfferedPacket> {
        let waited = self.interfaces.pop_ahead(port)?;
        let Packet { bytes, length, .. } = self.depart_ahead(port, waited, now)?;
        Some(OfferedPacket { packet: waited.copy, bytes, has_payload: length > 0 })
    }

    /// Changes the rate of both directions of a link.
    #[inline(never)]
    pub(crate) fn on_rate_change(&mut self, link: u32, rate: Rate) {
        for port in self.links.on_rate_change(link, rate) {
            self.interfaces.pipeline_mut(port).set_rate(rate);
        }
    }
}
