//! Flows: their starts and stops, packets of their sources, and flows over UDP that a scheme controls.

use airfair_schemes::places::{Arrived, DropReason, Ecn, Timer};
use airfair_transport::rate::time_stamp;
use airfair_units::{Bytes, Time};
use airfair_wire::rate::Data;

use super::Endpoints;
use crate::engine::Agenda;
use crate::event::EventKind;
use crate::ids::{CopyRef, FlowIx, NodeIx, PortIx, Table};
use crate::link::OfferedPacket;
use crate::node::endpoints::backpressure::Waiter;
use crate::node::endpoints::tcp::{FlowStartAction, TransportTotals};
use crate::node::endpoints::udp::NextData;
use crate::node::plane::{Arrival, DataPlane, Leaves};
use crate::packet::{Packet, PacketCopy, Payload};
use crate::record::Record;
use crate::route::NextHop;

impl Endpoints {
    /// Bytes of a flow's IP packets with payload, the header of its scheme included; the mean where they differ.
    pub fn packet_bytes(&self, plane: &DataPlane, flow: FlowIx) -> u32 {
        let headers = &plane.rules.headers;
        match self.tcp.config(flow) {
            Some(config) => config.mss + headers.tcp.unwrap_or(20) + self.tcp.header_bytes(flow) + headers.ip,
            None => {
                let of_scheme =
                    plane.headers.wire_len(self.udp.label(flow).0) + self.udp.transport_header(flow);
                self.flows[flow].source.mean_size() + of_scheme + headers.udp + headers.ip
            }
        }
    }

    /// Starts a flow over TCP.
    pub(crate) fn tcp_start(&mut self, plane: &mut DataPlane, flow: FlowIx, agenda: &mut Agenda) {
        let now = agenda.now;
        let f = &self.flows[flow];
        let order = f.order();
        if f.stop < plane.rules.end {
            agenda.push(f.stop, order, EventKind::FlowStop(flow));
        }
        match self.tcp.start(flow, now) {
            Some(FlowStartAction::Files(first)) => self.schedule_file(plane, flow, first),
            Some(FlowStartAction::Connection { endless }) => {
                if let Some(id) = self.open_connection(plane, flow, None, now) {
                    if endless {
                        self.tcp.write(id, u64::MAX);
                    }
                    self.send_segments(plane, id, now);
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

    pub(crate) fn schedule_source(&mut self, flow: FlowIx, agenda: &mut Agenda) {
        let f = &mut self.flows[flow];
        let due = f.source.next(agenda.now);
        if due < f.stop {
            agenda.push(due, f.order(), EventKind::Source(flow));
        }
    }

    /// Stops a flow: its application hands over no more data.
    #[inline(never)]
    pub(crate) fn flow_stop(&mut self, plane: &mut DataPlane, flow: FlowIx, now: Time) {
        let id = self.tcp.connection_of(flow);
        if self.tcp.stop(id) {
            self.continue_connection(plane, id, now);
        }
    }

    /// Makes a flow's next packet and sends it from its source; returns the packet's copy.
    pub(crate) fn make_packet(&mut self, plane: &mut DataPlane, flow: FlowIx, now: Time) -> CopyRef {
        self.make_packet_with(plane, flow, NextData::New, now)
    }

    /// Makes a packet of a flow with these data and sends it from its source; returns the packet's copy.
    fn make_packet_with(
        &mut self,
        plane: &mut DataPlane,
        flow: FlowIx,
        data: NextData,
        now: Time,
    ) -> CopyRef {
        let headers = plane.rules.headers.udp + plane.rules.headers.ip;
        let mut first = PacketCopy { at_source: true, ..PacketCopy::PLAIN };
        let controlled = self.udp.controls(flow);
        let mut scheme_header = 0;
        if controlled {
            let (header, ecn_capable) = self.udp.label(flow);
            scheme_header = plane.headers.wire_len(header) + self.udp.transport_header(flow);
            first = PacketCopy { header, ecn: if ecn_capable { Ecn::Ect } else { Ecn::NotEct }, ..first };
        }
        let f = &mut self.flows[flow];
        let packet = match data {
            NextData::New => f.datagram(flow, headers + scheme_header, now),
            NextData::Again(number, bytes) => {
                f.datagram_with(flow, (number, bytes), headers + scheme_header, now)
            }
        };
        let (from, first_hop) = (f.from, f.first_hops[0]);
        let port = self.first_hop(plane, flow).map(|hop| hop.port);
        self.backpressure.count_flow_sent(flow, port);
        let copy = plane.packets.add(packet, first);
        if controlled {
            if !first.header.is_none() {
                self.udp.stamp(flow, plane.packets.new_header(copy), now);
            }
            let again = data != NextData::New;
            self.udp.on_sent(flow, (packet.length, again), now, &mut plane.schedule);
        }
        if plane.records.are_enabled() {
            let packet = plane.packets.packet_of(copy);
            plane.records.push(now, Record::Made { packet, flow, forward: true, connection: None });
        }
        if self.flows[flow].forwarded.is_some() {
            self.offer_to_forwarder(plane, flow, copy, now);
            return copy;
        }
        self.send_from_source(plane, from, first_hop, OfferedPacket::of(&packet, copy), now);
        if let Some(hop) = first_hop {
            self.note_wire_departure(plane, hop.port, copy, now);
        }
        copy
    }

    /// First hop of a flow's next packet, as far as known now.
    #[inline(always)]
    pub(crate) fn first_hop(&self, plane: &DataPlane, flow: FlowIx) -> Option<NextHop> {
        let f = &self.flows[flow];
        if let Some(forwarded) = &f.forwarded {
            return Some(NextHop { port: forwarded.port, node: f.to });
        }
        let hop = match f.first_hops[0] {
            None if plane.routes.are_found() => plane.routes.next_hop(f.from, f.to),
            hop => hop,
        };
        if plane.interfaces.has_categories() {
            hop.map(|hop| self.hop_of_category(plane, hop, flow))
        } else {
            hop
        }
    }

    /// A flow's first hop with the port whose queue serves the category of the flow.
    #[inline(never)]
    fn hop_of_category(&self, plane: &DataPlane, hop: NextHop, flow: FlowIx) -> NextHop {
        let category = plane.interfaces.category(hop.port, self.flows[flow].dscp);
        NextHop { port: plane.interfaces.port_of(hop.port, category), ..hop }
    }

    /// The port by which packets of a flow's source leave.
    pub(crate) fn port_towards(&self, plane: &DataPlane, flow: FlowIx) -> Option<PortIx> {
        let f = &self.flows[flow];
        if let Some(forwarded) = &f.forwarded {
            return Some(forwarded.port);
        }
        let (node, destination, dscp) = (f.from, f.to, f.dscp);
        let next = plane.routes.next_hop(node, destination).map(|hop| hop.port);
        let first = || plane.interfaces.ports_of(node).next();
        let port =
            next.or_else(|| if plane.routes.are_found() && node != destination { first() } else { None })?;
        Some(plane.interfaces.port_of(port, plane.interfaces.category(port, dscp)))
    }

    /// Sends a packet from its source.
    #[inline(always)]
    pub(super) fn send_from_source(
        &mut self,
        plane: &mut DataPlane,
        source: NodeIx,
        first_hop: Option<NextHop>,
        offer: OfferedPacket,
        now: Time,
    ) {
        match first_hop {
            Some(hop) => match plane.interfaces.wire_with_queue(hop.port, &plane.links) {
                Some(wire) => plane.offer_to_wire(wire, offer, now),
                None => plane.send_to(hop, offer.packet, now),
            },
            None => {
                if let Some(arrival) = plane.forward(source, offer.packet, now) {
                    self.deliver(plane, arrival, now);
                }
            }
        }
        self.settle(plane, now);
    }

    /// Hands a flow's packet to the forwarder of its source, where it waits until that takes it.
    #[inline(never)]
    fn offer_to_forwarder(&mut self, plane: &mut DataPlane, flow: FlowIx, copy: CopyRef, now: Time) {
        let f = &mut self.flows[flow];
        let Some(forwarded) = &mut f.forwarded else { return };
        if forwarded.is_full(plane) {
            plane.drop_packet(f.from, copy, DropReason::QUEUE_FULL.0, now);
            self.settle(plane, now);
            return;
        }
        forwarded.waiting.push_back(copy);
    }

    /// Takes the first packet of a flow that waits for its forwarder, with its size as an IP packet, bytes.
    pub(crate) fn take_forwarded(&mut self, plane: &mut DataPlane, flow: FlowIx) -> Option<(CopyRef, u32)> {
        let copy = self.flows[flow].forwarded.as_mut()?.waiting.pop_front()?;
        plane.packets.leave_source(copy);
        self.backpressure.count_flow_left(flow);
        Some((copy, plane.packets.get(copy).map_or(0, |packet| packet.bytes)))
    }

    /// Delivers a packet of a flow from a node to itself.
    #[cold]
    #[inline(never)]
    pub(crate) fn deliver(&mut self, plane: &mut DataPlane, Arrival { node, copy }: Arrival, now: Time) {
        let Some((&packet, &ended)) = plane.packets.end(copy) else { return };
        self.on_delivered(plane, node, (&packet, &ended), copy, now);
    }

    /// Handles a packet that has arrived at its destination and is no longer in the list of packets.
    #[inline(always)]
    pub(crate) fn on_delivered(
        &mut self,
        plane: &mut DataPlane,
        node: NodeIx,
        (packet, ended): (&Packet, &PacketCopy),
        copy: CopyRef,
        now: Time,
    ) {
        if let Some(flow) = packet.flow() {
            self.flows[flow].count_arrived(packet, ended, now);
        }
        if plane.records.are_enabled() {
            let (delay, content) = (now.since(packet.created), plane.packets.content(packet, ended));
            let (flow, sequence) = (packet.flow(), plane.packets.sequence(packet, ended));
            let record = Record::Delivered { node, flow, packet: ended.of, content, sequence, delay };
            plane.records.push(now, record);
        }
        if ended.at_source {
            self.on_end_at_source(plane, packet, ended, now);
        }
        if packet.is_tcp() {
            self.segment_arrived(plane, packet, ended, copy, now);
        } else if self.udp.any() {
            self.datagram_arrived(plane, packet, ended, copy, now);
        }
    }

    /// Handles the departure of a packet of a local source from a port's queue.
    #[inline(always)]
    pub(crate) fn on_departed(&mut self, plane: &DataPlane, port: PortIx, leaves: Leaves) {
        if let Leaves::Udp(flow) = leaves {
            self.backpressure.count_flow_left(flow);
            if plane.routes.are_found() {
                self.register_departure_port(plane, flow, port);
            }
        }
    }

    /// Starts the measurement at the end of the warm-up.
    pub(crate) fn warmed_up(&mut self, now: Time) {
        self.tcp.warmed_up();
        self.udp.warmed_up();
        self.flows.iter_mut().for_each(|flow| flow.warmed_up(now));
    }

    /// Transport totals of every flow: of TCP, and of the transport with a rate.
    pub(crate) fn transport_totals(&self) -> Table<FlowIx, TransportTotals> {
        let mut totals = self.tcp.totals();
        for flow in self.flows.places() {
            if let Some([now, _]) = self.udp.transport_totals(flow) {
                totals[flow] = now;
            }
        }
        totals
    }

    /// Transport totals of a flow at the end of the warm-up.
    pub(crate) fn transport_totals_at_warmup(&self, flow: FlowIx) -> TransportTotals {
        self.udp.transport_totals(flow).map_or_else(|| self.tcp.totals_at_warmup(flow), |[_, then]| then)
    }

    /// Handles the time at which the pacing allows a flow's next packet.
    pub(crate) fn paced(&mut self, plane: &mut DataPlane, flow: FlowIx, now: Time) {
        if self.udp.fires(flow, now) {
            self.send_paced(plane, flow, now);
        }
    }

    /// Sends the packets of a flow that its pacing allows and for which its node's queue has room.
    pub(crate) fn send_paced(&mut self, plane: &mut DataPlane, flow: FlowIx, now: Time) {
        while !self.udp.is_blocked(flow) && now < self.flows[flow].stop {
            // An application waits for pacing, for room in its node's queue, and for room at the ends of the transport.
            let pending = self.udp.is_pending(flow);
            let Some(data) = self.udp.next_data(flow) else {
                if pending {
                    self.hold_flow(flow, now);
                }
                return;
            };
            let due = self.udp.due(flow, now);
            if due > now {
                if pending {
                    self.hold_flow(flow, now);
                }
                if due < Time::NEVER {
                    self.udp.arm(flow, due, self.flows[flow].order(), &mut plane.schedule);
                }
                return;
            }
            if let Some(NextHop { port, .. }) = self.first_hop(plane, flow)
                && self.backpressure.rules(port).backpressure
                && (self.is_full_for(plane, port, flow, now)
                    || self.udp_source_must_wait(plane, port, flow, now))
            {
                if pending {
                    self.hold_flow(flow, now);
                }
                self.udp.set_blocked(flow, true);
                self.wait_for_room(plane, port, Waiter::Flow(flow), now);
                return;
            }
            if data != NextData::New {
                self.make_packet_with(plane, flow, data, now);
                continue;
            }
            let f = &mut self.flows[flow];
            let held = f.is_held();
            if held {
                f.release(now);
                f.source.resume(now);
            }
            let saturating = f.source.is_saturating();
            self.make_packet(plane, flow, now);
            if saturating {
                self.udp.request(flow);
            } else {
                let f = &mut self.flows[flow];
                let (due, order) = (f.source.next(now), f.order());
                if due < f.stop {
                    plane.schedule.add(due, order, EventKind::Source(flow));
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
    pub(crate) fn datagram_arrived(
        &mut self,
        plane: &mut DataPlane,
        packet: &Packet,
        arrived: &PacketCopy,
        copy: CopyRef,
        now: Time,
    ) {
        match packet.payload {
            Payload::Udp { flow, number } if self.udp.controls(flow) => {
                let header = if arrived.header.is_none() { None } else { plane.packets.header(copy) };
                let mut header = header.copied().unwrap_or_default();
                plane.headers.round_trip(arrived.header, &mut header);
                let bytes = Bytes(u64::from(packet.length));
                let data = Arrived { bytes, ecn: arrived.ecn, header };
                // The header of the transport has the number, and the time at which this transmission was made.
                let number = Data { number, sent: time_stamp(packet.created) };
                let delivered =
                    self.udp.on_data(flow, (number, data), arrived.hops, now, &mut plane.schedule);
                if let Some(bytes) = delivered {
                    let delay = now.since(packet.created);
                    // As of TCP, each datagram counts that arrives, and the bytes that are in order now.
                    self.flows[flow].count_delivered(bytes, true, delay, now);
                }
                self.send_reports(plane, flow, now);
            }
            Payload::Report { flow, .. } => {
                let report = plane.packets.report(arrived.of);
                self.udp.on_report(flow, report, now, &mut plane.schedule);
                self.send_paced(plane, flow, now);
            }
            _ => {}
        }
    }

    /// Sends the reports that a flow's receiver has made.
    fn send_reports(&mut self, plane: &mut DataPlane, flow: FlowIx, now: Time) {
        while let Some((report, number)) = self.udp.next_report(flow, now) {
            let bytes = plane.rules.headers.udp + plane.rules.headers.ip + report.wire_len();
            let f = &mut self.flows[flow];
            let packet = f.report(flow, number, bytes, now);
            let (node, first_hop) = (f.to, f.first_hops[1]);
            let ahead = self.udp.reports_go_ahead(flow);
            let copy = plane.packets.add_report((packet, PacketCopy { ahead, ..PacketCopy::PLAIN }), report);
            if plane.records.are_enabled() {
                let packet = plane.packets.packet_of(copy);
                plane.records.push(now, Record::Made { packet, flow, forward: false, connection: None });
            }
            self.send_from_source(plane, node, first_hop, OfferedPacket::of(&packet, copy), now);
        }
    }

    /// Handles the deadline of the sender of a flow over the transport with a rate.
    pub(crate) fn repair_due(&mut self, plane: &mut DataPlane, flow: FlowIx, now: Time) {
        self.udp.on_repair(flow, now, &mut plane.schedule);
        self.send_paced(plane, flow, now);
    }

    /// Handles a timer of the source of a flow over UDP.
    pub(crate) fn udp_source_timer(
        &mut self,
        plane: &mut DataPlane,
        flow: FlowIx,
        timer: (Timer, u32),
        now: Time,
    ) {
        if self.udp.reads_own_queue(flow) {
            let exempt = self.udp.on_own_queue(flow, &self.own_backlog(plane, flow, now));
            self.backpressure.set_flow_exempt(flow, exempt);
        }
        self.udp.on_source_timer(flow, timer, now, &mut plane.schedule);
        self.send_paced(plane, flow, now);
    }

    /// Handles a timer of the receiver of a flow over UDP.
    pub(crate) fn udp_receiver_timer(
        &mut self,
        plane: &mut DataPlane,
        flow: FlowIx,
        timer: (Timer, u32),
        now: Time,
    ) {
        self.udp.on_receiver_timer(flow, timer, now, &mut plane.schedule);
        self.send_reports(plane, flow, now);
    }
}
