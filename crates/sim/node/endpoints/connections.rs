//! TCP connections of flows: their segments, acknowledgements and timers.

use airfair_host::HeaderId;
use airfair_schemes::places::{PacketClass, Timer};
use airfair_transport::Segment;
use airfair_units::Time;

use super::Endpoints;
use crate::event::EventKind;
use crate::ids::{ConnectionRef, CopyRef, FlowIx, PortIx};
use crate::link::OfferedPacket;
use crate::node::endpoints::backpressure::{Permit, Waiter};
use crate::node::endpoints::tcp::{ConnectionEnd, PacketLabel, SenderReport};
use crate::node::plane::DataPlane;
use crate::packet::{CarriedSegment, Packet, PacketCopy, Payload};
use crate::record::{Record, TcpCause};
use crate::traffic::NextFile;

impl Endpoints {
    /// Opens a connection of a flow; `size`: bytes of its file, none if unlimited.
    pub(super) fn open_connection(
        &mut self,
        plane: &mut DataPlane,
        flow: FlowIx,
        size: Option<u64>,
        now: Time,
    ) -> Option<ConnectionRef> {
        let f = &self.flows[flow];
        let id = self.tcp.open((flow, f), size, &mut plane.headers, now, &mut plane.schedule)?;
        self.backpressure.open(id, f.rank, self.tcp.reads_own_queue(flow));
        Some(id)
    }

    /// Schedules the next file of a flow, unless the flow stops before.
    pub(super) fn schedule_file(&mut self, plane: &mut DataPlane, flow: FlowIx, file: Option<NextFile>) {
        let f = &self.flows[flow];
        if let Some(file) = file.filter(|file| file.at < f.stop) {
            self.tcp.set_next_file(flow, file);
            plane.schedule.add(file.at, f.order(), EventKind::File(flow));
        }
    }

    /// Starts the transfer of a file over a connection of its own.
    pub(crate) fn file_arrives(&mut self, plane: &mut DataPlane, flow: FlowIx, now: Time) {
        let Some((size, next)) = self.tcp.file_arrives(flow, now) else { return };
        self.flows[flow].count_offered(size);
        let id = self.open_connection(plane, flow, Some(size), now);
        self.schedule_file(plane, flow, next);
        if let Some(id) = id {
            self.send_segments(plane, id, now);
        }
    }

    /// Continues a connection after an event: it may be complete, or its sender may have more to send.
    pub(super) fn continue_connection(&mut self, plane: &mut DataPlane, id: ConnectionRef, now: Time) {
        if self.tcp.is_done(id) {
            self.close_connection(plane, id, now);
        } else {
            self.send_segments(plane, id, now);
        }
    }

    /// Closes a connection: all data are delivered and acknowledged, or the sender has given up.
    fn close_connection(&mut self, plane: &mut DataPlane, id: ConnectionRef, now: Time) {
        if let Some((flow, next)) = self.tcp.close(id, now) {
            self.backpressure.close(id);
            self.schedule_file(plane, flow, next);
        }
    }

    /// Sends the segments that the sender may send, and schedules its next deadline.
    pub(crate) fn send_segments(&mut self, plane: &mut DataPlane, id: ConnectionRef, now: Time) {
        let Some(label) = self.tcp.label(id) else { return };
        let flow = label.flow;
        if plane.records.are_enabled() {
            plane.records.push(now, Record::SenderRan { connection: id, flow });
        }
        // The port whose queue stops the sender, if it has backpressure.
        let port = self.first_hop(plane, flow).map(|hop| hop.port);
        let port = port.filter(|&port| self.backpressure.rules(port).backpressure);
        loop {
            let full = port.filter(|&port| self.is_full_for(plane, port, flow, now));
            if self.backpressure.is_blocked(id) {
                break;
            }
            if let Some(port) = full {
                self.wait_for_room(plane, port, Waiter::Connection(id), now);
                break;
            }
            if self.backpressure.limits_tcp && self.limit_holds(plane, id, port, now) {
                break;
            }
            let polled = self.tcp.poll(id, now, &mut plane.schedule);
            let Some(segment) = &polled else { break };
            let spent = self.tcp.is_spent(id);
            self.send_segment(plane, (id, &label), segment, ConnectionEnd::Sender, now);
            if spent {
                break;
            }
        }
        self.tcp.arm(id, ConnectionEnd::Sender, &mut plane.schedule);
    }

    /// True if the limit of a port holds a connection's sender back.
    fn limit_holds(
        &mut self,
        plane: &mut DataPlane,
        id: ConnectionRef,
        port: Option<PortIx>,
        now: Time,
    ) -> bool {
        let Self { backpressure, tcp, .. } = self;
        let DataPlane { interfaces, links, schedule, .. } = plane;
        let limit = || port.map_or(0, |port| interfaces.pipeline(port).view().limit_packets);
        let empty = || port.is_none_or(|port| interfaces.is_empty(port, links, now));
        let permit = backpressure.permit(id, port, now, (limit, empty), || tcp.pacing(id, now), schedule);
        if let (Permit::Block, Some(port)) = (permit, port) {
            self.wait_for_room(plane, port, Waiter::Connection(id), now);
        }
        permit != Permit::Send
    }

    /// Sends the acknowledgements that the receiver has to send, and schedules its next deadline.
    fn send_acknowledgements(&mut self, plane: &mut DataPlane, id: ConnectionRef, now: Time) {
        let Some(label) = self.tcp.label(id) else { return };
        // By reference, since a segment is large.
        while let Some(segment) = &self.tcp.poll_receiver(id, now) {
            self.send_segment(plane, (id, &label), segment, ConnectionEnd::Receiver, now);
        }
        self.tcp.arm(id, ConnectionEnd::Receiver, &mut plane.schedule);
    }

    /// Sends a segment of one end of a connection.
    #[inline(always)]
    fn send_segment(
        &mut self,
        plane: &mut DataPlane,
        (id, label): (ConnectionRef, &PacketLabel),
        segment: &Segment,
        end: ConnectionEnd,
        now: Time,
    ) {
        let forward = end == ConnectionEnd::Sender;
        let flow = label.flow;
        let counts = forward && self.backpressure.counts(id);
        let way = if counts { self.first_hop(plane, flow) } else { None };
        let carries = !label.header.is_none() && self.tcp.carries_header(id, end, now);
        let scheme_header = if carries { label.header } else { HeaderId::NONE };
        let kind = plane.headers.of(scheme_header);
        let f = &mut self.flows[flow];
        f.count_made(forward && segment.payload > 0);
        let (source, destination) = f.ends(forward);
        let hop = f.first_hops[usize::from(!forward)];
        let header = plane.rules.headers.tcp.unwrap_or_else(|| segment.header_len());
        let header = header + kind.map_or(0, |kind| kind.wire_len);
        let packet = Packet {
            created: now,
            payload: Payload::Tcp { flow, opening: label.opening },
            scheme_flow: label.scheme_flow,
            source,
            destination,
            bound_for: destination,
            length: segment.payload,
            bytes: segment.payload + header + plane.rules.headers.ip,
            class: if segment.payload > 0 { PacketClass::Data } else { PacketClass::Ack },
            dscp: f.dscp,
        };
        if counts {
            self.backpressure.count_connection_sent(id, way.map(|hop| hop.port), segment.payload);
        }
        let first =
            PacketCopy { at_source: counts, header: scheme_header, ecn: segment.ecn, ..PacketCopy::PLAIN };
        let copy = plane.packets.add_carrying((packet, first), segment, id, forward);
        if let Some(kind) = kind {
            self.tcp.fill_header(id, kind, end, now, plane.packets.new_header(copy));
        }
        if plane.records.are_enabled() {
            let packet = plane.packets.packet_of(copy);
            plane.records.push(now, Record::Made { packet, flow, forward, connection: Some(id) });
        }
        self.send_from_source(plane, source, hop, OfferedPacket::of(&packet, copy), now);
        if counts
            && let Some(wire) = hop.and_then(|hop| plane.interfaces.wire_with_queue(hop.port, &plane.links))
        {
            self.on_sent_by_wire(plane, wire, copy, now);
        }
    }

    /// Handles a TCP packet that has arrived at its destination.
    #[inline(always)]
    pub(super) fn segment_arrived(
        &mut self,
        plane: &mut DataPlane,
        packet: &Packet,
        arrived: &PacketCopy,
        copy: CopyRef,
        now: Time,
    ) {
        let Some((carried, header)) = plane.packets.arrive(copy, arrived) else { return };
        let &CarriedSegment { ref segment, connection: id, forward } = carried;
        if forward {
            let header = header.map(|header| (header, arrived.hops));
            let Some(new) = self.tcp.on_data(id, segment, header, &plane.headers, now) else {
                return;
            };
            if let Some(flow) = packet.flow() {
                let delay = now.since(packet.created);
                self.flows[flow].count_delivered(new, segment.payload > 0, delay, now);
            }
            self.send_acknowledgements(plane, id, now);
            return;
        }
        let header = header.map(|header| &*header);
        let watched = plane.records.are_enabled();
        if let Some(report) =
            self.tcp.on_acknowledgement(id, segment, header, watched, now, &mut plane.schedule)
        {
            if watched {
                self.record_causes(plane, id, &report, now);
            }
            self.continue_connection(plane, id, now);
        }
    }

    /// Handles a segment of a sender, by its connection and first byte, that the link layer of the sender's node has given up.
    pub(crate) fn segment_given_up(
        &mut self,
        plane: &mut DataPlane,
        (id, sequence): (ConnectionRef, u64),
        now: Time,
    ) {
        if self.tcp.on_link_drop(id, sequence, now, &mut plane.schedule) {
            self.send_segments(plane, id, now);
        }
    }

    /// Handles the timer of a connection's sender.
    pub(crate) fn sender_timer(&mut self, plane: &mut DataPlane, id: ConnectionRef, now: Time) {
        let watched = plane.records.are_enabled();
        let Some(report) = self.tcp.on_sender_timer(id, watched, now, &mut plane.schedule) else { return };
        if watched {
            self.record_causes(plane, id, &report, now);
        }
        // The file has failed; the user continues as after a delivery. A flow with a single connection keeps it, silent.
        if report.gave_up && self.tcp.has_file(id) {
            self.close_connection(plane, id, now);
        } else {
            self.send_segments(plane, id, now);
        }
    }

    /// Handles the timer of a connection's receiver.
    pub(crate) fn receiver_timer(&mut self, plane: &mut DataPlane, id: ConnectionRef, now: Time) {
        if self.tcp.on_receiver_timer(id, now, &mut plane.schedule) {
            self.send_acknowledgements(plane, id, now);
        }
    }

    /// Handles a timer of a sender's law.
    pub(crate) fn law_timer(
        &mut self,
        plane: &mut DataPlane,
        id: ConnectionRef,
        timer: (Timer, u32),
        now: Time,
    ) {
        if let Some(flow) = self.tcp.get(id).map(|connection| connection.flow)
            && self.tcp.reads_own_queue(flow)
        {
            let waiting = self.own_backlog(plane, flow, now);
            let exempt = self.tcp.on_own_queue(id, &waiting);
            self.backpressure.set_exempt(id, exempt);
        }
        if self.tcp.on_law_timer(id, timer, now, &mut plane.schedule) {
            self.send_segments(plane, id, now);
        }
    }

    /// Records that a sender has reduced its rate, fallen back to TCP's law, or given up.
    #[inline(never)]
    fn record_causes(&mut self, plane: &mut DataPlane, id: ConnectionRef, report: &SenderReport, now: Time) {
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
                plane.records.push(now, record);
            }
        }
    }
}
