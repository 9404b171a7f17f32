//! What routing wants is done: its messages become packets, and packets go on or end.

use airfair_routing::DropReason;
use airfair_schemes::places::{Packet as QueuedPacket, PacketClass};
use airfair_units::Time;

use super::agents::EVERYONE;
use super::{Behind, Net, class, drop_reason};
use crate::event::{Order, What};
use crate::ids::{CopyRef, NodeIx, PortIx, WireIx};
use crate::link::{Offer, opposite};
use crate::measure::summary::RoutingCounts;
use crate::packet::{Copy, Packet, Payload};
use crate::record::Record;
use crate::route::{Action, Lost, Message, NextHop};

impl Net {
    /// Does what a node's routing wants.
    fn act(&mut self, node: u32, actions: Vec<Action>, now: u64) {
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
            // Sources that always have more to send try again.
            let (first, end) = self.ports_of[node as usize];
            (first..end).for_each(|port| self.room(port, now));
        }
        self.schedule_routing(node, now);
    }

    fn schedule_routing(&mut self, node: u32, now: u64) {
        if let Some(at) = self.routes.timer(NodeIx(node), now) {
            let order = Order::new(class::TIMER, self.node_ranks[node as usize]);
            self.later(at, order, What::RoutingTimer(NodeIx(node)));
        }
    }

    /// Every node's routing begins, at time 0.
    pub(super) fn start_routing(&mut self) {
        (0..self.ports_of.len() as u32).for_each(|node| self.schedule_routing(node, 0));
    }

    #[inline(never)]
    pub(crate) fn routing_timer(&mut self, node: u32, now: u64) {
        let actions = self.routes.on_timer(NodeIx(node), now);
        self.act(node, actions, now);
    }

    /// A packet is at a node that has no fixed route: it goes where routing says, or waits, or ends.
    #[cold]
    pub(super) fn send_without_route(&mut self, node: u32, copy: CopyRef, now: u64) {
        let Some((packet, at)) = self.packets.both(copy).filter(|_| self.routes.are_found()) else {
            self.drop_packet(node, copy, drop_reason::NO_ROUTE, now);
            return;
        };
        let (ends, fresh) = ([packet.source, packet.destination].map(NodeIx), at.hops == 0);
        let (hop, actions) = self.routes.send(NodeIx(node), copy, ends, fresh, now);
        self.act(node, actions, now);
        if let Some(hop) = hop {
            self.offer_routed(node, hop, copy, now);
        }
    }

    fn offer_routed(&mut self, node: u32, hop: NextHop, copy: CopyRef, now: u64) {
        if self.records.are_wanted()
            && let Some((packet, at)) = self.packets.both(copy)
            && let Some(flow) = packet.flow()
        {
            let (node, next, port, hops) = (NodeIx(node), NodeIx(hop.node), PortIx(hop.port), at.hops);
            let record = Record::Routed { node, flow, packet: at.of, next, port, hops };
            self.records.push(Time(now), record);
        }
        self.offer(hop, copy, now);
    }

    /// A packet was received: where it came from is told to whoever passes it on.
    pub(super) fn note_sender(&mut self, station: u32, from: u32) {
        if self.routes.are_found() {
            let port = self.port_of_station[station as usize];
            self.routes.note_sender(PortIx(port), NodeIx(self.node_of_station[from as usize]));
        }
    }

    fn send_routing(&mut self, node: u32, message: &Message, to: Option<NextHop>, now: u64) {
        let (first, end) = self.ports_of[node as usize];
        for port in first..end {
            let destination = match to {
                None => EVERYONE,
                Some(hop) if hop.port == port => hop.node,
                Some(_) => continue,
            };
            let length = message.bytes.len() as u32;
            let Some(slot) = self.routes.begin(message.clone()) else { return };
            let packet = Packet {
                bytes: length + self.headers.udp + self.headers.ip,
                ..Packet::control(node, destination, Payload::Routing { slot }, length, now)
            };
            let copy = self.packets.add(packet, Copy::PLAIN);
            let wired = matches!(self.ports[port as usize].behind, Behind::Wire(_));
            if wired || destination == EVERYONE || self.ports[port as usize].neighbours.knows(destination) {
                self.send_ahead(port, copy);
            } else {
                self.arp_wait(NextHop { port, node: destination }, copy, now);
            }
        }
    }

    /// Whether a packet that leaves a station's queue is not to be sent to its next hop any more.
    pub(super) fn is_stale(&self, station: u32, queued: &QueuedPacket) -> bool {
        let (node, port) = (self.node_of_station[station as usize], self.port_of_station[station as usize]);
        self.routes.is_stale((NodeIx(node), PortIx(port)), queued.next_hop, queued.enqueued.0)
    }

    /// What routing has sent by a port; what its node has done stands with the node's first port.
    pub(super) fn routing_counts(&self, port: u32) -> Option<RoutingCounts> {
        let node = NodeIx(self.ports[port as usize].node);
        self.routes.counts(node, PortIx(port)).map(RoutingCounts)
    }

    /// The same for a station.
    pub(crate) fn routing_counts_of(&self, station: u32) -> Option<RoutingCounts> {
        self.routing_counts(self.port_of_station[station as usize])
    }

    /// The next of routing's messages that leaves by a wire, which goes ahead of what queues.
    pub(super) fn next_control(&mut self, port: u32) -> Option<Offer> {
        let copy = self.ports[port as usize].control.pop_front()?;
        let packet = self.packets.get(copy)?;
        let (slot, bytes) = (packet.slot() as u32, packet.bytes);
        self.routes.leaves(PortIx(port), slot);
        Some(Offer { packet: copy, bytes, has_payload: true })
    }

    /// A packet has come by a wire.
    #[inline(never)]
    pub(super) fn arrives_by_wire(&mut self, wire: WireIx, copy: CopyRef, now: u64) {
        let (node, from) = (self.links.far_end(wire), self.links.far_end(opposite(wire)));
        let port = self.links.port(opposite(wire));
        let Some((packet, at)) = self.packets.both_mut(copy) else { return };
        if packet.is_routing() {
            let (slot, to_all) = (packet.slot() as u32, packet.destination == EVERYONE);
            let actions = self.routes.on_message((node, port), slot, from, to_all, now);
            self.end_control(copy);
            self.act(node.0, actions, now);
            return;
        }
        at.hops += 1;
        self.routes.note_sender(port, from);
        self.forward(node.0, copy, now);
    }

    /// A message has arrived at a station.
    pub(super) fn routing_received(&mut self, station: u32, packet: &Packet, from: u32, now: u64) {
        let node = self.node_of_station[station as usize];
        let at = (NodeIx(node), PortIx(self.port_of_station[station as usize]));
        let from = NodeIx(self.node_of_station[from as usize]);
        let to_all = packet.destination == EVERYONE;
        let actions = self.routes.on_message(at, packet.slot() as u32, from, to_all, now);
        self.act(node, actions, now);
    }

    /// The MAC of a station has given up a packet for a neighbour's station.
    pub(super) fn routing_gives_up(
        &mut self,
        station: u32,
        neighbour: u32,
        packet: Option<&Packet>,
        now: u64,
    ) {
        let lost = match packet {
            Some(packet) if packet.is_routing() => Lost::Message(packet.slot() as u32),
            Some(packet) if packet.class == PacketClass::Control => return,
            Some(packet) => Lost::Data(Some([packet.source, packet.destination].map(NodeIx))),
            None => Lost::Data(None),
        };
        let node = self.node_of_station[station as usize];
        let at = (NodeIx(node), PortIx(self.port_of_station[station as usize]));
        let neighbour = NodeIx(self.node_of_station[neighbour as usize]);
        let actions = self.routes.on_undelivered(at, neighbour, &lost, now);
        self.act(node, actions, now);
    }
}
