//! Room in the queues of a node for its own sources: those that wait, those that keep a number of packets waiting, and what becomes of
//! their packets.

use airfair_host::HeaderId;
use airfair_schemes::places::{Calls, QueueView, Waiting};
use airfair_units::Time;

use super::{Endpoints, RETRY_AFTER};
use crate::event::{EventKind, Order, class};
use crate::ids::{ConnectionRef, CopyRef, FlowIx, PortIx, WireIx};
use crate::node::endpoints::backpressure::Waiter;
use crate::node::plane::{DataPlane, PlaneNews};
use crate::packet::{Packet, PacketCopy, Payload};

impl Endpoints {
    /// True if a port has no room for a packet of a flow's source now.
    #[inline(always)]
    pub(crate) fn is_full_for(&self, plane: &mut DataPlane, port: PortIx, flow: FlowIx, now: Time) -> bool {
        if let Some(forwarded) = &self.flows[flow].forwarded {
            return forwarded.is_full(plane);
        }
        if plane.rules.queues_label && !plane.interfaces.pipeline(port).queue_header().is_none() {
            return self.is_full_towards(plane, port, flow);
        }
        plane.interfaces.is_full(port, &mut plane.links, now)
    }

    #[cold]
    #[inline(never)]
    fn is_full_towards(&self, plane: &DataPlane, port: PortIx, flow: FlowIx) -> bool {
        let view = self.backlog_for(plane, port, flow);
        view.packets >= view.limit_packets
    }

    /// True if a port has no room for a packet of a source that waits there.
    #[cold]
    #[inline(never)]
    fn is_full_for_waiter(&self, plane: &mut DataPlane, port: PortIx, waiter: Waiter, now: Time) -> bool {
        let flow = match waiter {
            Waiter::Flow(flow) => Some(flow),
            Waiter::Connection(id) => self.tcp.get(id).map(|connection| connection.flow),
        };
        flow.is_some_and(|flow| self.is_full_for(plane, port, flow, now))
    }

    /// State of a port's queue for a flow's source: of what waits for its destination, if the queue distinguishes destinations.
    #[inline(never)]
    fn backlog_for(&self, plane: &DataPlane, port: PortIx, flow: FlowIx) -> QueueView {
        plane.interfaces.backlog_to(port, self.flows[flow].to, self.is_labelled(plane, port, flow))
    }

    /// The header of a scheme that a flow's packets carry.
    pub fn header(&self, flow: FlowIx) -> HeaderId {
        if self.flows[flow].is_tcp() { self.tcp.header(flow) } else { self.udp.label(flow).0 }
    }

    /// True if a flow's packets carry the header of a port's queue.
    fn is_labelled(&self, plane: &DataPlane, port: PortIx, flow: FlowIx) -> bool {
        let header = self.header(flow);
        !header.is_none() && header == plane.interfaces.pipeline(port).queue_header()
    }

    /// Packets that wait at a flow's node for the flow's destination; at a wire for all destinations.
    pub(super) fn own_backlog(&self, plane: &DataPlane, flow: FlowIx, now: Time) -> Waiting {
        let node = self.flows[flow].from;
        let begins_here = |copy: &CopyRef| {
            plane.packets.packet_and_copy(*copy).is_some_and(|(packet, _)| packet.source == node)
        };
        let waiting = |port| match plane.interfaces.wire_with_queue(port, &plane.links) {
            Some(wire) => Waiting {
                all: plane.links.view(wire, now).waiting as u32,
                own: plane.links.waiting(wire, now).filter(begins_here).count() as u32,
                at: Some(*plane.interfaces.pipeline(port).at()),
                calls: Calls::default(),
            },
            None => {
                plane.interfaces.waiting_for(port, self.flows[flow].to, self.is_labelled(plane, port, flow))
            }
        };
        self.port_towards(plane, flow).map_or(Waiting::default(), waiting)
    }

    /// Registers a source that waits for room at a port.
    pub(crate) fn wait_for_room(&mut self, plane: &mut DataPlane, port: PortIx, waiter: Waiter, now: Time) {
        self.backpressure.block(port, waiter);
        if let Some(wire) = plane.interfaces.wire_with_queue(port, &plane.links) {
            plane.schedule.add_if(plane.links.wake_at_departure(wire, now));
        }
    }

    /// The first source that waits at a port and need not wait longer; it is removed from the list.
    pub(crate) fn next_waiter(&mut self, plane: &mut DataPlane, port: PortIx, now: Time) -> Option<Waiter> {
        let mut place = 0;
        loop {
            let waiter = self.backpressure.waiter(port, place)?;
            let waits = plane.rules.queues_label && self.is_full_for_waiter(plane, port, waiter, now)
                || match waiter {
                    Waiter::Flow(flow) => self.udp_source_must_wait(plane, port, flow, now),
                    Waiter::Connection(id) => {
                        let DataPlane { interfaces, links, .. } = plane;
                        let limit = || interfaces.pipeline(port).view().limit_packets;
                        let empty = || interfaces.is_empty(port, links, now);
                        self.backpressure.connection_must_wait(id, port, now, (limit, empty))
                    }
                };
            if !waits {
                self.backpressure.remove_waiter(port, place);
                return Some(waiter);
            }
            place += 1;
        }
    }

    /// True if a flow over UDP has to wait at its node's port.
    pub(crate) fn udp_source_must_wait(
        &mut self,
        plane: &DataPlane,
        port: PortIx,
        flow: FlowIx,
        now: Time,
    ) -> bool {
        let DataPlane { interfaces, links, .. } = plane;
        let limit = || interfaces.pipeline(port).view().limit_packets;
        let empty = || interfaces.is_empty(port, links, now);
        self.backpressure.udp_source_must_wait(port, flow, now, (limit, empty))
    }

    /// Registers a saturating source at the port by which its packet has left. With a routing protocol the port is not known earlier.
    pub(crate) fn register_departure_port(&mut self, plane: &DataPlane, flow: FlowIx, port: PortIx) {
        let f = &self.flows[flow];
        if !f.source.is_saturating()
            || self.udp.controls(flow)
            || self.backpressure.saturating(port).contains(&flow)
        {
            return;
        }
        for other in plane.interfaces.ports_of(f.from) {
            for other in plane.interfaces.ports_of_link(other) {
                self.backpressure.retain_saturating(other, |&other| other != flow);
            }
        }
        self.backpressure.add_saturating(port, flow);
    }

    /// A port's queue has become empty because it has dropped its packets. Waiting sources are notified after a delay: a source whose
    /// packets are all dropped would otherwise offer them without end at one moment.
    pub(crate) fn on_queue_emptied(&mut self, plane: &mut DataPlane, port: PortIx, now: Time) {
        if self.backpressure.has_waiting(port) {
            let order = Order::new(class::TRAFFIC, plane.interfaces.rank(plane.interfaces.node(port)));
            plane.schedule.add(now + RETRY_AFTER, order, EventKind::RoomAtPort(port));
        }
        for i in 0..self.backpressure.saturating(port).len() {
            self.schedule_retry(plane, self.backpressure.saturating(port)[i], now);
        }
    }

    /// Schedules another packet of a saturating source whose packet was dropped: with none in the queue no departure would resume the
    /// source.
    pub(crate) fn schedule_retry(&mut self, plane: &mut DataPlane, flow: FlowIx, now: Time) {
        if self.backpressure.packets_of(flow) == 0 && self.flows[flow].request_retry() {
            plane.schedule.add(now + RETRY_AFTER, self.flows[flow].order(), EventKind::Source(flow));
        }
    }

    /// Handles what calls have done to packets of flows: before anything reads their sources' state, at the end of the event at the latest.
    #[inline(always)]
    pub(crate) fn settle(&mut self, plane: &mut DataPlane, now: Time) {
        if !plane.news.is_empty() {
            self.handle_news(plane, now);
        }
    }

    #[inline(never)]
    fn handle_news(&mut self, plane: &mut DataPlane, now: Time) {
        while let Some(news) = plane.news.pop_front() {
            match news {
                PlaneNews::Lost { packet, copy } => {
                    let Some(flow) = packet.flow() else { continue };
                    self.flows[flow].count_dropped(packet.class, now);
                    if copy.at_source {
                        self.on_end_at_source(plane, &packet, &copy, now);
                    }
                }
                PlaneNews::Echo { packet, reason } => {
                    // Where the connection has not negotiated ECN, the sender would ignore it.
                    let connection = plane.packets.connection(packet);
                    if self.tcp.uses_ecn(connection) && plane.packets.echo(packet) {
                        plane.accounts.mark(reason);
                    }
                }
            }
        }
    }

    /// Handles the end of a packet that has not left its source's queue.
    pub(super) fn on_end_at_source(
        &mut self,
        plane: &mut DataPlane,
        packet: &Packet,
        copy: &PacketCopy,
        now: Time,
    ) {
        let Payload::Udp { flow, .. } = packet.payload else {
            let connection = plane.packets.connection(copy.of);
            self.backpressure.count_ended_in_node(connection, packet.length, now, &mut plane.schedule);
            return;
        };
        self.backpressure.count_flow_left(flow);
        let port = self.backpressure.port_of(flow);
        if let Some(port) = port.filter(|&port| plane.interfaces.is_empty(port, &plane.links, now)) {
            self.on_queue_emptied(plane, port, now);
        }
        // The port of the first packet was unknown when the packet was made, so its source is not registered there yet.
        if plane.routes.are_found() && self.flows[flow].source.is_saturating() && !self.udp.controls(flow) {
            self.schedule_retry(plane, flow, now);
        }
    }

    /// Handles a packet that a UDP source has sent by a port. A wire that keeps its own queue reports no departure, so the time of the
    /// packet's departure is noted here.
    #[inline]
    pub(super) fn note_wire_departure(
        &mut self,
        plane: &mut DataPlane,
        port: PortIx,
        copy: CopyRef,
        now: Time,
    ) {
        if self.backpressure.rules(port).local_limit.is_some()
            && let Some(wire) = plane.interfaces.wire_with_queue(port, &plane.links)
            && let Some(departure) = plane.links.departure(wire, copy)
            && let Some((packet, at)) = plane.packets.packet_and_copy_mut(copy)
        {
            at.at_source = false;
            let Payload::Udp { flow, .. } = packet.payload else { return };
            if departure.begin > now {
                self.backpressure.count_flow_leaving_at(flow, port, departure.begin);
            } else {
                self.backpressure.count_flow_left(flow);
            }
        }
    }

    /// Handles a TCP packet that was just offered to a wire.
    #[inline]
    pub(crate) fn on_sent_by_wire(&mut self, plane: &mut DataPlane, wire: WireIx, copy: CopyRef, now: Time) {
        let Some(departure) = plane.links.departure(wire, copy) else { return };
        let Some((packet, at)) = plane.packets.packet_and_copy_mut(copy) else { return };
        at.at_source = false;
        let left = (departure.end, packet.length);
        let connection = plane.packets.connection(plane.packets.packet_of(copy));
        let port = plane.links.port(wire);
        self.backpressure.on_sent_by_wire(connection, port, left, now, &mut plane.schedule);
    }

    /// Handles the departure of a connection's packets from its node.
    pub(crate) fn on_local_room(&mut self, plane: &mut DataPlane, id: ConnectionRef, now: Time) {
        if self.backpressure.departed(id) {
            self.send_segments(plane, id, now);
        }
    }
}
