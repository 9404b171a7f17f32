//! Sources of flows and TCP connections: they make packets, wait for room, and send and receive segments.

use airfair_schemes::places::{Arrived, Ecn, PacketClass, QueueView, Timer};
use airfair_transport::Segment;
use airfair_units::{Bytes, Span, Time};

use crate::engine::Agenda;
use crate::event::{EventKind, Order, class};
use crate::ids::{ConnectionRef, CopyRef, FlowIx, NodeIx, PortIx, WireIx};
use crate::link::OfferedPacket;
use crate::node::Network;
use crate::node::backpressure::{Permit, Waiter};
use crate::node::tcp::{ConnectionEnd, FlowStartAction, PacketLabel, SenderReport};
use crate::packet::{CarriedSegment, Packet, PacketCopy, Payload};
use crate::record::{Record, TcpCause};
use crate::route::NextHop;
use crate::traffic::NextFile;

/// Time after which a saturating source offers a packet again if its last one was dropped: about a packet of 1500 B at 11 Mbit/s.
const OFFER_AGAIN: Span = Span::from_millis(1);

/// Flows.
impl Network {
    /// Bytes of a flow's IP packets with payload, the header of its scheme included; the mean where they differ.
    pub fn packet_bytes(&self, flow: FlowIx) -> u32 {
        let headers = &self.rules.headers;
        match self.tcp.config(flow) {
            Some(config) => config.mss + headers.tcp.unwrap_or(20) + self.tcp.header_bytes(flow) + headers.ip,
            None => {
                let of_scheme = self.interfaces.headers().wire_len(self.udp.label(flow).0);
                self.flows[flow].source.mean_size() + of_scheme + headers.udp + headers.ip
            }
        }
    }

    #[inline(never)]
    pub(super) fn flow_start(&mut self, flow: FlowIx, agenda: &mut Agenda) {
        let now = agenda.now;
        let f = &mut self.flows[flow];
        f.set_start(now);
        if f.is_tcp {
            self.tcp_start(flow, agenda);
            return;
        }
        let due = f.source.start(now);
        let (order, stop) = (f.order(), f.stop);
        let saturating = f.source.is_saturating();
        if self.udp.controls(flow) {
            self.udp.start(flow, now, &mut self.schedule);
            if saturating {
                self.udp.request(flow);
                self.send_paced(flow, now);
                return;
            }
        }
        if saturating {
            match self.port_towards(flow) {
                Some(port) => {
                    self.backpressure.add_saturating(port, flow);
                    self.refill_saturating(port, now);
                }
                None => {
                    self.make_packet(flow, now);
                }
            }
        } else if due < stop {
            agenda.push(due, order, EventKind::Source(flow));
        }
    }

    /// Starts a flow over TCP.
    fn tcp_start(&mut self, flow: FlowIx, agenda: &mut Agenda) {
        let now = agenda.now;
        let f = &self.flows[flow];
        let order = f.order();
        if f.stop < self.rules.end {
            agenda.push(f.stop, order, EventKind::FlowStop(flow));
        }
        match self.tcp.start(flow, now) {
            Some(FlowStartAction::Files(first)) => self.schedule_file(flow, first),
            Some(FlowStartAction::Connection { endless }) => {
                if let Some(id) = self.open_connection(flow, None, now) {
                    if endless {
                        self.tcp.write(id, u64::MAX);
                    }
                    self.send_segments(id, now);
                }
                if !endless {
                    let f = &mut self.flows[flow];
                    let due = f.source.start(now);
                    if due < f.stop {
                        agenda.push(due, order, EventKind::Source(flow));
                    }
                }
            }
            None => {}
        }
    }

    /// Handles the due time of the next packet of a flow's application.
    pub(super) fn source_due(&mut self, flow: FlowIx, agenda: &mut Agenda) {
        let now = agenda.now;
        let f = &mut self.flows[flow];
        if f.is_tcp {
            let size = u64::from(f.source.size());
            f.offer(size);
            self.schedule_source(flow, agenda);
            let id = self.tcp.connection_of(flow);
            if self.tcp.write(id, size) {
                self.send_segments(id, now);
            }
            return;
        }
        if self.udp.controls(flow) {
            self.udp.request(flow);
            self.send_paced(flow, now);
            return;
        }
        if f.source.is_saturating() {
            f.offer_due();
            if let Some(port) = self.port_towards(flow) {
                if self.routes.are_found() {
                    self.register_departure_port(flow, port);
                }
                self.refill_saturating(port, now);
            }
            return;
        }
        if let Some(NextHop { port, .. }) = self.first_hop(flow)
            && self.backpressure.rules(port).backpressure
            && (self.is_full_for(port, flow, now) || self.udp_source_must_wait(port, flow, now))
        {
            self.flows[flow].hold(now);
            self.wait_for_room(port, Waiter::Flow(flow), now);
            return;
        }
        self.make_packet(flow, now);
        self.schedule_source(flow, agenda);
    }

    fn schedule_source(&mut self, flow: FlowIx, agenda: &mut Agenda) {
        let f = &mut self.flows[flow];
        let due = f.source.next(agenda.now);
        if due < f.stop {
            agenda.push(due, f.order(), EventKind::Source(flow));
        }
    }

    /// Stops a flow: its application hands over no more data.
    #[inline(never)]
    pub(super) fn flow_stop(&mut self, flow: FlowIx, now: Time) {
        let id = self.tcp.connection_of(flow);
        if self.tcp.stop(id) {
            self.continue_connection(id, now);
        }
    }

    /// Makes a flow's next packet and sends it from its source; returns the packet's copy.
    fn make_packet(&mut self, flow: FlowIx, now: Time) -> CopyRef {
        let headers = self.rules.headers.udp + self.rules.headers.ip;
        let mut first = PacketCopy { at_source: true, ..PacketCopy::PLAIN };
        let controlled = self.udp.controls(flow);
        let mut scheme_header = 0;
        if controlled {
            let (header, ecn_capable) = self.udp.label(flow);
            scheme_header = self.interfaces.headers().wire_len(header);
            first = PacketCopy { header, ecn: if ecn_capable { Ecn::Ect } else { Ecn::NotEct }, ..first };
        }
        let f = &mut self.flows[flow];
        let packet = f.datagram(flow, headers + scheme_header, now);
        let (from, first_hop) = (f.from, f.first_hops[0]);
        let port = self.first_hop(flow).map(|hop| hop.port);
        self.backpressure.count_flow_sent(flow, port);
        let copy = self.packets.add(packet, first);
        if controlled {
            if !first.header.is_none() {
                self.udp.stamp(flow, self.packets.new_header(copy), now);
            }
            self.udp.on_sent(flow, packet.length, now, &mut self.schedule);
        }
        if self.records.are_enabled() {
            let packet = self.packets.packet_of(copy);
            self.records.push(now, Record::Made { packet, flow, forward: true, connection: None });
        }
        if self.hosts.forwarders.any() && self.forward_own(flow, copy, now) {
            return copy;
        }
        self.send_from_source(from, first_hop, OfferedPacket::of(&packet, copy), now);
        if let Some(hop) = first_hop {
            self.note_wire_departure(hop.port, copy, now);
        }
        copy
    }

    /// First hop of a flow's next packet, as far as known now.
    #[inline(always)]
    fn first_hop(&self, flow: FlowIx) -> Option<NextHop> {
        let f = &self.flows[flow];
        if self.hosts.forwarders.any()
            && let Some(port) = self.forwarder_port(flow)
        {
            return Some(NextHop { port, node: f.to });
        }
        let hop = match f.first_hops[0] {
            None if self.routes.are_found() => self.routes.next_hop(f.from, f.to),
            hop => hop,
        };
        if self.interfaces.has_categories() { hop.map(|hop| self.hop_of_category(hop, flow)) } else { hop }
    }

    /// A flow's first hop with the port whose queue serves the category of the flow.
    #[inline(never)]
    fn hop_of_category(&self, hop: NextHop, flow: FlowIx) -> NextHop {
        let category = self.interfaces.category(hop.port, self.flows[flow].dscp);
        NextHop { port: self.interfaces.port_of(hop.port, category), ..hop }
    }

    /// The port by which packets of a flow's source leave.
    fn port_towards(&self, flow: FlowIx) -> Option<PortIx> {
        let f = &self.flows[flow];
        if self.hosts.forwarders.any()
            && let Some(port) = self.forwarder_port(flow)
        {
            return Some(port);
        }
        let (node, destination, dscp) = (f.from, f.to, f.dscp);
        let next = self.routes.next_hop(node, destination).map(|hop| hop.port);
        let first = || self.interfaces.ports_of(node).next();
        let port =
            next.or_else(|| if self.routes.are_found() && node != destination { first() } else { None })?;
        Some(self.interfaces.port_of(port, self.interfaces.category(port, dscp)))
    }

    /// Sends a packet from its source.
    #[inline(always)]
    fn send_from_source(
        &mut self,
        source: NodeIx,
        first_hop: Option<NextHop>,
        offer: OfferedPacket,
        now: Time,
    ) {
        match first_hop {
            Some(hop) => match self.interfaces.wire_with_queue(hop.port, &self.links) {
                Some(wire) => self.offer_to_wire(wire, offer, now),
                None => self.offer(hop, offer.packet, now),
            },
            None => self.forward(source, offer.packet, now),
        }
    }
}

/// Room in a node's queues.
impl Network {
    /// True if a port has no room for a packet now.
    #[inline]
    fn is_full(&mut self, port: PortIx, now: Time) -> bool {
        self.interfaces.is_full(port, &mut self.links, now)
    }

    /// True if a port has no room for a packet of a flow's source now.
    #[inline(always)]
    fn is_full_for(&mut self, port: PortIx, flow: FlowIx, now: Time) -> bool {
        if self.hosts.forwarders.any() && self.hosts.forwarders.source_of(flow).is_some() {
            return self.waits_for_forwarder(flow, port);
        }
        if self.rules.queues_label && !self.interfaces.queue_header(port).is_none() {
            return self.is_full_towards(port, flow);
        }
        self.is_full(port, now)
    }

    #[cold]
    #[inline(never)]
    fn is_full_towards(&self, port: PortIx, flow: FlowIx) -> bool {
        let view = self.backlog_for(port, flow);
        view.packets >= view.limit_packets
    }

    /// True if a port has no room for a packet of a source that waits there.
    #[cold]
    #[inline(never)]
    fn is_full_for_waiter(&mut self, port: PortIx, waiter: Waiter, now: Time) -> bool {
        let flow = match waiter {
            Waiter::Flow(flow) => Some(flow),
            Waiter::Connection(id) => self.tcp.get(id).map(|connection| connection.flow),
        };
        flow.is_some_and(|flow| self.is_full_for(port, flow, now))
    }

    /// State of a port's queue for a flow's source: of what waits for its destination, if the queue distinguishes destinations.
    #[inline(never)]
    fn backlog_for(&self, port: PortIx, flow: FlowIx) -> QueueView {
        let f = &self.flows[flow];
        let header = if f.is_tcp { self.tcp.header(flow) } else { self.udp.label(flow).0 };
        let labelled = !header.is_none() && header == self.interfaces.queue_header(port);
        self.interfaces.backlog_to(port, f.to, labelled)
    }

    /// Packets of a flow's node that wait for the flow's destination.
    fn own_backlog(&self, flow: FlowIx, now: Time) -> u32 {
        let waiting = |port| match self.interfaces.wire_with_queue(port, &self.links) {
            Some(wire) => self.links.view(wire, now).waiting as u32,
            None => self.backlog_for(port, flow).packets,
        };
        self.port_towards(flow).map_or(0, waiting)
    }

    /// Registers a source that waits for room at a port.
    fn wait_for_room(&mut self, port: PortIx, waiter: Waiter, now: Time) {
        self.backpressure.block(port, waiter);
        if let Some(wire) = self.interfaces.wire_with_queue(port, &self.links) {
            self.schedule.add_if(self.links.wake_at_departure(wire, now));
        }
    }

    /// Resumes the sources that wait for room at a port.
    #[inline(always)]
    pub(super) fn resume_waiting_sources(&mut self, port: PortIx, now: Time) {
        if self.backpressure.needs_room(port) {
            self.give_room_to_sources(port, now);
        }
    }

    #[inline(never)]
    fn give_room_to_sources(&mut self, port: PortIx, now: Time) {
        // Saturating and other sources take turns whenever there is room.
        if self.backpressure.is_turn_of_saturating(port) {
            let made = self.refill_saturating(port, now);
            self.backpressure.end_saturating_turn(port, made);
        }
        let by_destination = self.rules.queues_label && !self.interfaces.queue_header(port).is_none();
        while by_destination || !self.is_full(port, now) {
            match self.next_waiter(port, now) {
                Some(Waiter::Flow(flow)) => self.resume_udp_source(flow, now),
                Some(Waiter::Connection(id)) => {
                    if self.tcp.get(id).is_some() {
                        self.backpressure.unblock(id);
                        self.send_segments(id, now);
                    }
                }
                None => break,
            }
        }
        if !self.backpressure.saturating(port).is_empty() {
            self.refill_saturating(port, now);
        }
    }

    /// Resumes the UDP source of a flow, which has held back a packet.
    fn resume_udp_source(&mut self, flow: FlowIx, now: Time) {
        if self.udp.set_blocked(flow, false) {
            self.send_paced(flow, now);
            return;
        }
        let f = &mut self.flows[flow];
        f.release(now);
        if now >= f.stop {
            return;
        }
        f.source.resume(now);
        let due = f.source.next(now);
        let (stop, order) = (f.stop, f.order());
        self.make_packet(flow, now);
        if due < stop {
            self.schedule.add(due, order, EventKind::Source(flow));
        }
    }

    /// The first source that waits at a port and need not wait longer; it is removed from the list.
    fn next_waiter(&mut self, port: PortIx, now: Time) -> Option<Waiter> {
        let mut place = 0;
        loop {
            let waiter = self.backpressure.waiter(port, place)?;
            let waits = self.rules.queues_label && self.is_full_for_waiter(port, waiter, now)
                || match waiter {
                    Waiter::Flow(flow) => self.udp_source_must_wait(port, flow, now),
                    Waiter::Connection(id) => {
                        let Self { backpressure, interfaces, links, .. } = self;
                        let limit = || interfaces.view(port).limit_packets;
                        let empty = || interfaces.is_empty(port, links, now);
                        backpressure.connection_must_wait(id, port, now, (limit, empty))
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
    fn udp_source_must_wait(&mut self, port: PortIx, flow: FlowIx, now: Time) -> bool {
        let Self { backpressure, interfaces, links, .. } = self;
        let limit = || interfaces.view(port).limit_packets;
        let empty = || interfaces.is_empty(port, links, now);
        backpressure.udp_source_must_wait(port, flow, now, (limit, empty))
    }

    /// Refills the packets of saturating sources: each keeps its share of half of the queue filled, so that the queue is never empty and
    /// forwarded packets still find room. Where there is less room than sources they take turns.
    ///
    /// Returns true if a packet was made.
    fn refill_saturating(&mut self, port: PortIx, now: Time) -> bool {
        let flows = &self.flows;
        self.backpressure.retain_saturating(port, |&flow| now < flows[flow].stop);
        self.backpressure.remove_departed(port, now);
        let limit = self.interfaces.view(port).limit_packets;
        let share = self.backpressure.share_of_saturating(port, limit);
        let mut made = false;
        for i in 0..self.backpressure.saturating(port).len() {
            let flow = self.backpressure.saturating(port)[i];
            while self.backpressure.packets_of(flow) < share {
                let waits = self.udp_source_must_wait(port, flow, now);
                if waits && self.backpressure.packets_of(flow) > 0 {
                    break;
                }
                let view = self.interfaces.view(port);
                if waits || self.is_full_for(port, flow, now) {
                    self.backpressure.rotate_saturating(port, i);
                    return made;
                }
                let copy = self.make_packet(flow, now);
                made = true;
                if self.interfaces.view(port).packets == view.packets
                    && self.hosts.forwarders.source_of(flow).is_none()
                {
                    // The packet waits for an address, is in the MAC, or was dropped: another packet now would end the same way.
                    if self.packets.get(copy).is_none() {
                        self.schedule_offer(flow, now);
                    }
                    break;
                }
            }
        }
        made
    }

    /// Registers a saturating source at the port by which its packet has left. With a routing protocol the port is not known earlier.
    pub(super) fn register_departure_port(&mut self, flow: FlowIx, port: PortIx) {
        let f = &self.flows[flow];
        if !f.source.is_saturating()
            || self.udp.controls(flow)
            || self.backpressure.saturating(port).contains(&flow)
        {
            return;
        }
        for other in self.interfaces.ports_of(f.from) {
            for other in self.interfaces.ports_of_link(other) {
                self.backpressure.retain_saturating(other, |&other| other != flow);
            }
        }
        self.backpressure.add_saturating(port, flow);
    }

    /// A port's queue has become empty because it has dropped its packets. Waiting sources are notified after a delay: a source whose
    /// packets are all dropped would otherwise offer them without end at one moment.
    pub(super) fn on_queue_emptied(&mut self, port: PortIx, now: Time) {
        if self.backpressure.has_waiting(port) {
            let order = Order::new(class::TRAFFIC, self.interfaces.rank(self.interfaces.node(port)));
            self.schedule.add(now + OFFER_AGAIN, order, EventKind::RoomAtPort(port));
        }
        for i in 0..self.backpressure.saturating(port).len() {
            self.schedule_offer(self.backpressure.saturating(port)[i], now);
        }
    }

    /// Schedules another packet of a saturating source whose packet was dropped: with none in the queue no departure would resume the
    /// source.
    fn schedule_offer(&mut self, flow: FlowIx, now: Time) {
        if self.backpressure.packets_of(flow) == 0 && self.flows[flow].request_offer() {
            self.schedule.add(now + OFFER_AGAIN, self.flows[flow].order(), EventKind::Source(flow));
        }
    }

    /// Handles the end of a packet that has not left its source's queue.
    pub(super) fn on_end_at_source(&mut self, packet: &Packet, copy: &PacketCopy, now: Time) {
        let Payload::Udp { flow, .. } = packet.payload else {
            let connection = self.packets.connection(copy.of);
            self.backpressure.count_ended_in_node(connection, packet.length, now, &mut self.schedule);
            return;
        };
        self.backpressure.count_flow_left(flow);
        let port = self.backpressure.port_of(flow);
        if let Some(port) = port.filter(|&port| self.interfaces.is_empty(port, &self.links, now)) {
            self.on_queue_emptied(port, now);
        }
        // The port of the first packet was unknown when the packet was made, so its source is not registered there yet.
        if self.routes.are_found() && self.flows[flow].source.is_saturating() && !self.udp.controls(flow) {
            self.schedule_offer(flow, now);
        }
    }

    /// Handles a packet that a UDP source has sent by a port. A wire that keeps its own queue reports no departure, so the time of the
    /// packet's departure is noted here.
    #[inline]
    fn note_wire_departure(&mut self, port: PortIx, copy: CopyRef, now: Time) {
        if self.backpressure.rules(port).local_limit.is_some()
            && let Some(wire) = self.interfaces.wire_with_queue(port, &self.links)
            && let Some(departure) = self.links.departure(wire, copy)
            && let Some((packet, at)) = self.packets.packet_and_copy_mut(copy)
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
    pub(super) fn on_sent_by_wire(&mut self, wire: WireIx, copy: CopyRef, now: Time) {
        let Some(departure) = self.links.departure(wire, copy) else { return };
        let Some((packet, at)) = self.packets.packet_and_copy_mut(copy) else { return };
        at.at_source = false;
        let left = (departure.end, packet.length);
        let connection = self.packets.connection(self.packets.packet_of(copy));
        let port = self.links.port(wire);
        self.backpressure.on_sent_by_wire(connection, port, left, now, &mut self.schedule);
    }

    /// Handles the departure of a connection's packets from its node.
    pub(super) fn on_local_room(&mut self, id: ConnectionRef, now: Time) {
        if self.backpressure.departed(id) {
            self.send_segments(id, now);
        }
    }
}

/// Flows over UDP that a scheme controls.
impl Network {
    /// Handles the time at which the pacing allows a flow's next packet.
    pub(super) fn paced(&mut self, flow: FlowIx, now: Time) {
        if self.udp.fires(flow, now) {
            self.send_paced(flow, now);
        }
    }

    /// Sends the packets of a flow that its pacing allows and for which its node's queue has room.
    fn send_paced(&mut self, flow: FlowIx, now: Time) {
        while self.udp.is_pending(flow) && !self.udp.is_blocked(flow) && now < self.flows[flow].stop {
            let due = self.udp.due(flow, now);
            if due > now {
                self.hold_flow(flow, now);
                if due < Time::NEVER {
                    self.udp.arm(flow, due, self.flows[flow].order(), &mut self.schedule);
                }
                return;
            }
            if let Some(NextHop { port, .. }) = self.first_hop(flow)
                && self.backpressure.rules(port).backpressure
                && (self.is_full_for(port, flow, now) || self.udp_source_must_wait(port, flow, now))
            {
                self.hold_flow(flow, now);
                self.udp.set_blocked(flow, true);
                self.wait_for_room(port, Waiter::Flow(flow), now);
                return;
            }
            let f = &mut self.flows[flow];
            let held = f.is_held();
            if held {
                f.release(now);
                f.source.resume(now);
            }
            let saturating = f.source.is_saturating();
            self.make_packet(flow, now);
            if saturating {
                self.udp.request(flow);
            } else {
                let f = &mut self.flows[flow];
                let (due, order) = (f.source.next(now), f.order());
                if due < f.stop {
                    self.schedule.add(due, order, EventKind::Source(flow));
                }
            }
        }
    }

    /// Registers that a flow's application waits with its packet, unless it always has one.
    fn hold_flow(&mut self, flow: FlowIx, now: Time) {
        let f = &mut self.flows[flow];
        if !f.source.is_saturating() && !f.is_held() {
            f.hold(now);
        }
    }

    /// Handles a datagram that has arrived at its destination, or a report that has arrived at the source of its flow.
    #[inline(never)]
    pub(super) fn datagram_arrived(
        &mut self,
        packet: &Packet,
        arrived: &PacketCopy,
        copy: CopyRef,
        now: Time,
    ) {
        match packet.payload {
            Payload::Udp { flow, .. } if self.udp.controls(flow) => {
                let header = if arrived.header.is_none() { None } else { self.packets.header(copy) };
                let mut header = header.copied().unwrap_or_default();
                self.interfaces.headers().round_trip(arrived.header, &mut header);
                let bytes = Bytes(u64::from(packet.length));
                let data = Arrived { bytes, ecn: arrived.ecn, header };
                self.udp.on_data(flow, data, arrived.hops, now, &mut self.schedule);
                self.send_reports(flow, now);
            }
            Payload::Report { flow, .. } => {
                let report = self.packets.report(arrived.of);
                self.udp.on_report(flow, report, now, &mut self.schedule);
                self.send_paced(flow, now);
            }
            _ => {}
        }
    }

    /// Sends the reports that a flow's receiver has made.
    fn send_reports(&mut self, flow: FlowIx, now: Time) {
        while let Some((report, number)) = self.udp.next_report(flow) {
            let bytes = self.rules.headers.udp + self.rules.headers.ip + report.wire_len();
            let f = &mut self.flows[flow];
            let packet = f.report(flow, number, bytes, now);
            let (node, first_hop) = (f.to, f.first_hops[1]);
            let ahead = self.udp.reports_go_ahead(flow);
            let copy = self.packets.add_report((packet, PacketCopy { ahead, ..PacketCopy::PLAIN }), report);
            if self.records.are_enabled() {
                let packet = self.packets.packet_of(copy);
                self.records.push(now, Record::Made { packet, flow, forward: false, connection: None });
            }
            self.send_from_source(node, first_hop, OfferedPacket::of(&packet, copy), now);
        }
    }

    /// Handles a timer of the source of a flow over UDP.
    pub(super) fn udp_source_timer(&mut self, flow: FlowIx, timer: (Timer, u32), now: Time) {
        if self.udp.reads_own_queue(flow) {
            self.udp.on_own_queue(flow, self.own_backlog(flow, now));
        }
        self.udp.on_source_timer(flow, timer, now, &mut self.schedule);
        self.send_paced(flow, now);
    }

    /// Handles a timer of the receiver of a flow over UDP.
    pub(super) fn udp_receiver_timer(&mut self, flow: FlowIx, timer: (Timer, u32), now: Time) {
        self.udp.on_receiver_timer(flow, timer, now, &mut self.schedule);
        self.send_reports(flow, now);
    }
}

/// Connections.
impl Network {
    fn open_connection(&mut self, flow: FlowIx, size: Option<u64>, now: Time) -> Option<ConnectionRef> {
        let f = &self.flows[flow];
        let id = self.tcp.open((flow, f), size, self.interfaces.headers_mut(), now, &mut self.schedule)?;
        self.backpressure.open(id, f.rank, self.tcp.reads_own_queue(flow));
        Some(id)
    }

    /// Schedules the next file of a flow, unless the flow stops before.
    fn schedule_file(&mut self, flow: FlowIx, file: Option<NextFile>) {
        let f = &self.flows[flow];
        if let Some(file) = file.filter(|file| file.at < f.stop) {
            self.tcp.set_next_file(flow, file);
            self.schedule.add(file.at, f.order(), EventKind::File(flow));
        }
    }

    /// Starts the transfer of a file over a connection of its own.
    pub(super) fn file_arrives(&mut self, flow: FlowIx, now: Time) {
        let Some((size, next)) = self.tcp.file_arrives(flow, now) else { return };
        self.flows[flow].offer(size);
        let id = self.open_connection(flow, Some(size), now);
        self.schedule_file(flow, next);
        if let Some(id) = id {
            self.send_segments(id, now);
        }
    }

    /// Continues a connection after an event: it may be complete, or its sender may have more to send.
    fn continue_connection(&mut self, id: ConnectionRef, now: Time) {
        if self.tcp.is_done(id) {
            self.close_connection(id, now);
        } else {
            self.send_segments(id, now);
        }
    }

    /// Closes a connection: all data are delivered and acknowledged, or the sender has given up.
    fn close_connection(&mut self, id: ConnectionRef, now: Time) {
        if let Some((flow, next)) = self.tcp.close(id, now) {
            self.backpressure.close(id);
            self.schedule_file(flow, next);
        }
    }

    /// Sends the segments that the sender may send, and schedules its next deadline.
    pub(super) fn send_segments(&mut self, id: ConnectionRef, now: Time) {
        let Some(label) = self.tcp.label(id) else { return };
        let flow = label.flow;
        if self.records.are_enabled() {
            self.records.push(now, Record::SenderRan { connection: id, flow });
        }
        // The port whose queue stops the sender, if it has backpressure.
        let port = self.first_hop(flow).map(|hop| hop.port);
        let port = port.filter(|&port| self.backpressure.rules(port).backpressure);
        loop {
            let full = port.filter(|&port| self.is_full_for(port, flow, now));
            if self.backpressure.is_blocked(id) {
                break;
            }
            if let Some(port) = full {
                self.wait_for_room(port, Waiter::Connection(id), now);
                break;
            }
            if self.backpressure.limits_tcp && self.limit_holds(id, port, now) {
                break;
            }
            let polled = self.tcp.poll(id, now, &mut self.schedule);
            let Some(segment) = &polled else { break };
            let spent = self.tcp.is_spent(id);
            self.send_segment((id, &label), segment, ConnectionEnd::Sender, now);
            if spent {
                break;
            }
        }
        self.tcp.arm(id, ConnectionEnd::Sender, &mut self.schedule);
    }

    /// True if the limit of a port holds a connection's sender back.
    fn limit_holds(&mut self, id: ConnectionRef, port: Option<PortIx>, now: Time) -> bool {
        let Self { backpressure, interfaces, links, tcp, schedule, .. } = self;
        let limit = || port.map_or(0, |port| interfaces.view(port).limit_packets);
        let empty = || port.is_none_or(|port| interfaces.is_empty(port, links, now));
        let permit = backpressure.permit(id, port, now, (limit, empty), || tcp.pacing(id, now), schedule);
        if let (Permit::Block, Some(port)) = (permit, port) {
            self.wait_for_room(port, Waiter::Connection(id), now);
        }
        permit != Permit::Send
    }

    /// Sends the acknowledgements that the receiver has to send, and schedules its next deadline.
    fn send_acknowledgements(&mut self, id: ConnectionRef, now: Time) {
        let Some(label) = self.tcp.label(id) else { return };
        // By reference, since a segment is large.
        while let Some(segment) = &self.tcp.poll_receiver(id, now) {
            self.send_segment((id, &label), segment, ConnectionEnd::Receiver, now);
        }
        self.tcp.arm(id, ConnectionEnd::Receiver, &mut self.schedule);
    }

    /// Sends a segment of one end of a connection.
    #[inline(always)]
    fn send_segment(
        &mut self,
        (id, label): (ConnectionRef, &PacketLabel),
        segment: &Segment,
        end: ConnectionEnd,
        now: Time,
    ) {
        let forward = end == ConnectionEnd::Sender;
        let flow = label.flow;
        let counts = forward && self.backpressure.counts(id);
        let way = if counts { self.first_hop(flow) } else { None };
        let kind = self.interfaces.headers().of(label.header);
        let f = &mut self.flows[flow];
        f.count_made(forward && segment.payload > 0);
        let (source, destination) = f.ends(forward);
        let hop = f.first_hops[usize::from(!forward)];
        let header = self.rules.headers.tcp.unwrap_or_else(|| segment.header_len());
        let header = header + kind.map_or(0, |kind| kind.wire_len);
        let packet = Packet {
            created: now,
            payload: Payload::Tcp { flow, opening: label.opening },
            scheme_flow: label.scheme_flow,
            source,
            destination,
            length: segment.payload,
            bytes: segment.payload + header + self.rules.headers.ip,
            class: if segment.payload > 0 { PacketClass::Data } else { PacketClass::Ack },
        };
        if counts {
            self.backpressure.count_connection_sent(id, way.map(|hop| hop.port), segment.payload);
        }
        let first =
            PacketCopy { at_source: counts, header: label.header, ecn: segment.ecn, ..PacketCopy::PLAIN };
        let copy = self.packets.add_carrying((packet, first), segment, id, forward);
        if let Some(kind) = kind {
            self.tcp.fill_header(id, kind, end, now, self.packets.new_header(copy));
        }
        if self.records.are_enabled() {
            let packet = self.packets.packet_of(copy);
            self.records.push(now, Record::Made { packet, flow, forward, connection: Some(id) });
        }
        self.send_from_source(source, hop, OfferedPacket::of(&packet, copy), now);
        if counts
            && let Some(wire) = hop.and_then(|hop| self.interfaces.wire_with_queue(hop.port, &self.links))
        {
            self.on_sent_by_wire(wire, copy, now);
        }
    }

    /// Handles a TCP packet that has arrived at its destination.
    pub(super) fn segment_arrived(
        &mut self,
        packet: &Packet,
        arrived: &PacketCopy,
        copy: CopyRef,
        now: Time,
    ) {
        let Some((carried, header)) = self.packets.arrive(copy, arrived) else { return };
        let &CarriedSegment { ref segment, connection: id, forward } = carried;
        if forward {
            let header = header.map(|header| (header, arrived.hops));
            let Some(new) = self.tcp.on_data(id, segment, header, self.interfaces.headers(), now) else {
                return;
            };
            if let Some(flow) = packet.flow() {
                let delay = now.since(packet.created);
                self.flows[flow].count_delivered(new, segment.payload > 0, delay, now);
            }
            self.send_acknowledgements(id, now);
            return;
        }
        let header = header.map(|header| &*header);
        let watched = self.records.are_enabled();
        if let Some(report) =
            self.tcp.on_acknowledgement(id, segment, header, watched, now, &mut self.schedule)
        {
            self.record_causes(id, &report, now);
            self.continue_connection(id, now);
        }
    }

    /// Handles a TCP packet that the link layer of its sender's node has given up.
    pub(super) fn segment_given_up(&mut self, sent: &PacketCopy, now: Time) {
        let Some(CarriedSegment { segment, connection: id, forward: true }) = self.packets.carried(sent)
        else {
            return;
        };
        if self.tcp.on_link_drop(id, segment.seq, now, &mut self.schedule) {
            self.send_segments(id, now);
        }
    }

    pub(super) fn sender_timer(&mut self, id: ConnectionRef, now: Time) {
        let watched = self.records.are_enabled();
        let Some(report) = self.tcp.on_sender_timer(id, watched, now, &mut self.schedule) else { return };
        self.record_causes(id, &report, now);
        // The file has failed; the user continues as after a delivery. A flow with a single connection keeps it, silent.
        if report.gave_up && self.tcp.has_file(id) {
            self.close_connection(id, now);
        } else {
            self.send_segments(id, now);
        }
    }

    pub(super) fn receiver_timer(&mut self, id: ConnectionRef, now: Time) {
        if self.tcp.on_receiver_timer(id, now, &mut self.schedule) {
            self.send_acknowledgements(id, now);
        }
    }

    pub(super) fn law_timer(&mut self, id: ConnectionRef, timer: (Timer, u32), now: Time) {
        if let Some(flow) = self.tcp.get(id).map(|connection| connection.flow)
            && self.tcp.reads_own_queue(flow)
        {
            self.tcp.on_own_queue(id, self.own_backlog(flow, now));
        }
        if self.tcp.on_law_timer(id, timer, now, &mut self.schedule) {
            self.send_segments(id, now);
        }
    }

    /// Records that a sender has reduced its rate, fallen back to TCP's law, or given up.
    #[inline]
    fn record_causes(&mut self, id: ConnectionRef, report: &SenderReport, now: Time) {
        if !self.records.are_enabled() {
            return;
        }
        let [timeout, loss, mark] = report.slowed;
        let causes = [
            (timeout, TcpCause::Timeout),
            (loss, TcpCause::FastLoss),
            (mark, TcpCause::Mark),
            (report.fell_back, TcpCause::Fallback),
            (report.gave_up, TcpCause::GaveUp),
        ];
        for (_, cause) in causes.into_iter().filter(|cause| cause.0) {
            if let Some(record) = self.tcp.record(id, cause, now) {
                self.records.push(now, record);
            }
        }
    }
}
