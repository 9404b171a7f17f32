//! The host's part of TCP: connections are opened, their segments become packets, and timers fire.
//!
//! Sender and receiver are the state machines of `airfair-transport`; what lies between them is the network.

use airfair_host::{Firing, HeaderId};
use airfair_schemes::places::{Context, Header, HeaderKind, PacketClass, Timer};
use airfair_transport::{Receiver, Segment, Sender, State};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Time};

use super::connections::Connection;
use super::fault::Fault;
use super::flows::TransportTotals;
use super::{Net, class, ids};
use crate::air::NEVER;
use crate::engine::Agenda;
use crate::event::{Order, What};
use crate::ids::{ConnectionRef, CopyRef, FlowIx, NodeIx, PortIx};
use crate::measure::files::Completion;
use crate::node::backpressure::Waiter;
use crate::packet::Carried;
use crate::packet::{Copy, NO_FLOW, Packet, Payload};
use crate::record::{Record, TcpCause};
use crate::spec::Traffic;
use crate::traffic::NextFile;

/// Which end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Sender,
    Receiver,
}

impl Net {
    /// A flow over TCP starts.
    pub(super) fn tcp_start(&mut self, flow: u32, now: u64, agenda: &mut Agenda) {
        let f = &mut self.flows[flow as usize];
        if f.stop < self.end {
            let order = Order::new(class::TRAFFIC, f.rank);
            agenda.push(f.stop, order, What::FlowStop(FlowIx(flow)));
        }
        let Some(tcp) = &mut f.tcp else { return };
        if let Some(files) = &mut tcp.files {
            let first = files.start(now);
            self.file_due(flow, first);
            return;
        }
        let endless = matches!(tcp.traffic, Traffic::Endless | Traffic::Saturating { .. });
        let id = self.open(flow, None, now);
        self.flows[flow as usize].tcp.iter_mut().for_each(|tcp| tcp.connection = id);
        if endless {
            self.connections.get_mut(id).into_iter().for_each(|c| c.sender.write_endless());
        }
        self.pump(id, now);
        if !endless {
            let f = &mut self.flows[flow as usize];
            let due = f.source.start(now);
            if due < f.stop {
                agenda.push(due, Order::new(class::TRAFFIC, f.rank), What::Source(FlowIx(flow)));
            }
        }
    }

    /// The application of a flow over TCP hands over its next packet.
    pub(super) fn tcp_source_due(&mut self, flow: u32, now: u64, agenda: &mut Agenda) {
        let f = &mut self.flows[flow as usize];
        let size = f.source.size();
        f.totals.offered_bytes += u64::from(size);
        let id = f.tcp.as_ref().map_or(ConnectionRef::NONE, |tcp| tcp.connection);
        self.schedule_source(flow, now, agenda);
        if let Some(connection) = self.connections.get_mut(id) {
            connection.sender.write(u64::from(size));
            self.pump(id, now);
        }
    }

    /// A flow's time is over: its application hands over no more.
    #[inline(never)]
    pub(crate) fn tcp_stop(&mut self, flow: u32, now: u64) {
        let id = self.flows[flow as usize].tcp.as_ref().map_or(ConnectionRef::NONE, |t| t.connection);
        if let Some(connection) = self.connections.get_mut(id) {
            connection.sender.stop();
            self.go_on(id, now);
        }
    }

    /// The sender may be done, or have more to send.
    fn go_on(&mut self, id: ConnectionRef, now: u64) {
        if self.connections.get(id).is_some_and(|connection| connection.sender.is_done()) {
            self.close(id, now);
        } else {
            self.pump(id, now);
        }
    }

    /// A file is to come, unless the flow has stopped by then.
    fn file_due(&mut self, flow: u32, file: Option<NextFile>) {
        let Some(file) = file else { return };
        let f = &mut self.flows[flow as usize];
        if file.at < f.stop {
            let rank = f.rank;
            f.tcp.iter_mut().for_each(|tcp| tcp.next_size = file.size);
            self.later(file.at, Order::new(class::TRAFFIC, rank), What::File(FlowIx(flow)));
        }
    }

    /// A file arrives: it is sent over a connection of its own.
    pub(crate) fn file_arrives(&mut self, flow: u32, now: u64) {
        let f = &mut self.flows[flow as usize];
        let Some(tcp) = &mut f.tcp else { return };
        let size = tcp.next_size;
        f.totals.offered_bytes += size;
        let next = tcp.files.as_mut().and_then(|files| files.after_arrival(now));
        tcp.done.started += 1;
        let id = self.open(flow, Some(size), now);
        self.file_due(flow, next);
        self.pump(id, now);
    }

    fn open(&mut self, flow: u32, size: Option<u64>, now: u64) -> ConnectionRef {
        let f = &mut self.flows[flow as usize];
        let Some(tcp) = &mut f.tcp else { return ConnectionRef::NONE };
        let Some(law) = self.laws.source(tcp.law) else { return ConnectionRef::NONE };
        let number = tcp.opened;
        tcp.opened += 1;
        let random = Stream::of_hash(tcp.seed, tcp.hash ^ number, Purpose::Source);
        let (sender, receiver) = (Sender::new(&tcp.config, law), Receiver::new(&tcp.config));
        let mut connection = Connection::new(sender, receiver, flow, random);
        connection.opened = now;
        connection.header = self.kinds_of_header.id(connection.sender.header());
        connection.scheme_flow = f.id;
        if size.is_some() {
            connection.scheme_flow = ids::of_connection(tcp.hash, number);
            connection.opening = self.opened % NO_FLOW;
            self.opened = self.opened.wrapping_add(1);
        }
        connection.size = size;
        connection.number = number;
        let (rank, exempt) = (f.rank, tcp.reads_own_queue);
        let mut context =
            Context { now: Time(now), random: &mut connection.random, out: &mut self.out.source };
        connection.sender.open(&mut context);
        if let Some(size) = size {
            connection.sender.write(size);
            connection.sender.close();
        }
        let id = self.connections.add(connection);
        self.backpressure.open(id, rank, exempt);
        id
    }

    /// The sender may have segments to send, and another deadline.
    pub(super) fn pump(&mut self, id: ConnectionRef, now: u64) {
        self.law_effects(id, now);
        let Some(connection) = self.connections.get(id) else { return };
        let flow = connection.flow;
        if self.records.are_wanted() {
            self.records.push(Time(now), Record::SenderRan { connection: id, flow: FlowIx(flow) });
        }
        // The port that holds the sender back when it is full.
        let port = self
            .first_hop(flow)
            .map(|hop| hop.port)
            .filter(|&port| self.backpressure.rules(PortIx(port)).backpressure);
        loop {
            let full = port.filter(|&port| self.is_full(port, now));
            if self.connections.get(id).is_none() || self.backpressure.is_blocked(id) {
                break;
            }
            if let Some(port) = full {
                self.block(port, Waiter::Connection(id), now);
                break;
            }
            if self.backpressure.limits_tcp && self.is_held(id, port, now) {
                break;
            }
            let Some(connection) = self.connections.get_mut(id) else { break };
            let mut context =
                Context { now: Time(now), random: &mut connection.random, out: &mut self.out.source };
            let polled = connection.sender.poll(&mut context);
            self.law_effects(id, now);
            let Some(segment) = &polled else { break };
            let spent = self.connections.get(id).is_some_and(|connection| connection.sender.is_spent());
            self.emit(id, segment, End::Sender, now);
            if spent {
                break;
            }
        }
        self.arm(id, End::Sender);
    }

    /// There is room again.
    pub(super) fn unblock(&mut self, id: ConnectionRef, now: u64) {
        if self.connections.get(id).is_some() {
            self.backpressure.unblock(id);
            self.pump(id, now);
        }
    }

    /// The receiver may have acknowledgements to send, and another deadline.
    fn answer(&mut self, id: ConnectionRef, now: u64) {
        while let Some(connection) = self.connections.get_mut(id) {
            let polled = connection.receiver.poll(Time(now));
            let Some(segment) = &polled else { break };
            self.emit(id, segment, End::Receiver, now);
        }
        self.arm(id, End::Receiver);
    }

    /// A segment leaves.
    fn emit(&mut self, id: ConnectionRef, segment: &Segment, end: End, now: u64) {
        let forward = end == End::Sender;
        let limited = forward && self.backpressure.limits_tcp;
        let way = self.connections.get(id).filter(|_| limited).and_then(|c| self.first_hop(c.flow));
        let Some(connection) = self.connections.get_mut(id) else { return };
        let (flow, scheme_flow, header_id) = (connection.flow, connection.scheme_flow, connection.header);
        let opening = connection.opening;
        let counts = limited && self.backpressure.counts(id);
        let kind = self.kinds_of_header.of(header_id);
        let f = &mut self.flows[flow as usize];
        let (source, destination) = if forward { (f.from, f.to) } else { (f.to, f.from) };
        let hop = f.first_hops[usize::from(!forward)];
        f.sent_total += 1;
        if forward && segment.payload > 0 {
            f.totals.sent += 1;
        }
        let header = self.headers.tcp.unwrap_or_else(|| segment.header_len());
        let header = header + kind.map_or(0, |kind| kind.wire_len);
        let packet = Packet {
            created: now,
            payload: Payload::Tcp { flow: FlowIx(flow), opening },
            scheme_flow,
            source,
            destination,
            length: segment.payload,
            bytes: segment.payload + header + self.headers.ip,
            class: if segment.payload > 0 { PacketClass::Data } else { PacketClass::Ack },
        };
        if counts {
            self.backpressure.connection_enters(id, way.map(|hop| PortIx(hop.port)), segment.payload);
        }
        let first = Copy { at_source: counts, header: header_id, ecn: segment.ecn, ..Copy::PLAIN };
        let copy = self.packets.add_carrying((packet, first), segment, id, forward);
        if let Some(kind) = kind {
            stamp(connection, kind, forward, now, self.packets.new_header(copy));
        }
        if self.records.are_wanted() {
            let (packet, flow, connection) = (self.packets.packet_of(copy), FlowIx(flow), Some(id));
            self.records.push(Time(now), Record::Made { packet, flow, forward, connection });
        }
        self.leave(source, hop, copy, now);
        if counts && let Some(wire) = hop.and_then(|hop| self.wire_with_queue(hop.port)) {
            self.leaves_by_wire(wire, copy, now);
        }
    }

    /// A packet of TCP has reached its host.
    pub(super) fn tcp_arrived(&mut self, packet: &Packet, arrived: &Copy, copy: CopyRef, now: u64) {
        let carried = self.packets.carried(arrived);
        let Some(Carried { segment, connection: id, forward }) = &carried else { return };
        let (id, forward) = (*id, *forward);
        let Some(connection) = self.connections.get_mut(id) else { return };
        let has_header = arrived.header != HeaderId::NONE;
        if forward
            && has_header
            && let Some(header) = self.packets.header_mut(copy)
        {
            let kind = self.kinds_of_header.of(connection.header);
            kind.iter().for_each(|kind| connection.echo.keep(kind, header, arrived.hops));
        }
        if forward {
            let before = connection.receiver.delivered();
            connection.receiver.on_segment(segment, Time(now));
            let new = connection.receiver.delivered() - before;
            let f = &mut self.flows[connection.flow as usize];
            if now <= f.stop {
                f.totals.delivered_bytes += new;
                if segment.payload > 0 {
                    f.totals.delivered_packets += 1;
                    f.delays.add(now - packet.created);
                }
            }
            self.answer(id, now);
            return;
        }
        let before = if self.records.are_wanted() { connection.reasons() } else { [0; 3] };
        let mut context =
            Context { now: Time(now), random: &mut connection.random, out: &mut self.out.source };
        if has_header && let Some(header) = self.packets.header(copy) {
            connection.sender.on_header(header, &mut context);
        }
        connection.sender.on_segment(segment, &mut context);
        let fallback = has_header && connection.sender.law().fell_back() != connection.fell_back;
        self.tell_reasons(id, before, now);
        if fallback {
            self.tell_fallback(id, now);
        }
        self.go_on(id, now);
    }

    /// Puts into the trace why a sender has slowed down, if it has.
    #[inline]
    fn tell_reasons(&mut self, id: ConnectionRef, before: [u64; 3], now: u64) {
        if !self.records.are_wanted() {
            return;
        }
        let Some(connection) = self.connections.get(id) else { return };
        let causes = [TcpCause::Timeout, TcpCause::FastLoss, TcpCause::Mark];
        for ((after, before), cause) in connection.reasons().into_iter().zip(before).zip(causes) {
            if after > before {
                self.tell_cause(id, cause, now);
            }
        }
    }

    /// Puts one reason into the trace, if there is one.
    fn tell_cause(&mut self, id: ConnectionRef, cause: TcpCause, now: u64) {
        let Some(connection) = self.connections.get(id).filter(|_| self.records.are_wanted()) else { return };
        let (flow, sender) = (connection.flow, &connection.sender);
        let record = Record::Tcp {
            node: NodeIx(self.flows[flow as usize].from),
            flow: FlowIx(flow),
            cause,
            sequence: sender.unacknowledged() as u32,
            window: Bytes(sender.window(Time(now))),
            rto: sender.rto(),
        };
        self.records.push(Time(now), record);
    }

    /// Counts a connection whose law has begun to follow TCP's because routers do not speak its scheme, and puts it into the trace.
    #[inline(never)]
    fn tell_fallback(&mut self, id: ConnectionRef, now: u64) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        let fell_back = connection.sender.law().fell_back();
        if std::mem::replace(&mut connection.fell_back, fell_back) || !fell_back {
            return;
        }
        let flow = connection.flow;
        if let Some(tcp) = &mut self.flows[flow as usize].tcp {
            tcp.fallbacks += 1;
        }
        self.tell_cause(id, TcpCause::Fallback, now);
    }

    /// The sender has given up. Its file has failed, and the user goes on as after one that was delivered; a flow that has one
    /// connection only keeps it, silent.
    fn give_up(&mut self, id: ConnectionRef, now: u64) {
        self.tell_cause(id, TcpCause::GaveUp, now);
        if self.connections.get(id).is_some_and(|connection| connection.size.is_some()) {
            self.close(id, now);
        } else {
            self.pump(id, now);
        }
    }

    /// Everything is delivered and acknowledged, or the sender has given up.
    fn close(&mut self, id: ConnectionRef, now: u64) {
        self.law_effects(id, now);
        let Some(connection) = self.connections.get_mut(id) else { return };
        let done = connection.sender.is_done();
        let (flow, opened, size) = (connection.flow, connection.opened, connection.size);
        let (file, stats) = (connection.number, connection.sender.stats());
        let (timeouts, retransmissions) =
            (stats.timeouts + stats.syns.saturating_sub(1), stats.retransmissions);
        let transport = TransportTotals::of(stats);
        self.backpressure.close(id);
        self.connections.remove(id);
        let f = &mut self.flows[flow as usize];
        let Some(tcp) = &mut f.tcp else { return };
        tcp.ended += transport;
        let Some(size) = size else { return };
        let duration_ns = now - opened;
        if done {
            tcp.done.add(size, duration_ns);
        } else {
            tcp.done.failed += 1;
        }
        if let Some(list) = self.completions.as_mut().filter(|_| done) {
            let (start_ns, bytes) = (opened, size);
            let completion = Completion { file, start_ns, bytes, duration_ns, timeouts, retransmissions };
            list.push((flow as usize, completion));
        }
        let next = tcp.files.as_mut().and_then(|files| files.after_end(now));
        self.file_due(flow, next);
    }

    /// The own node's link layer has given a packet up.
    pub(super) fn tcp_link_drop(&mut self, carried: &Carried, now: u64) {
        let Carried { segment, connection: id, forward: true } = carried else { return };
        let Some(connection) = self.connections.get_mut(*id) else { return };
        let mut context =
            Context { now: Time(now), random: &mut connection.random, out: &mut self.out.source };
        connection.sender.on_link_drop(segment.seq, &mut context);
        self.pump(*id, now);
    }

    /// Makes sure that a timer event comes no later than the deadline.
    #[inline(always)]
    fn arm(&mut self, id: ConnectionRef, end: End) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        let (deadline, armed) = match end {
            End::Sender => (connection.sender.deadline(), connection.sender_armed),
            End::Receiver => (connection.receiver.deadline(), connection.receiver_armed),
        };
        if let Some(Time(deadline)) = deadline.filter(|d| d.0 < armed) {
            self.arm_for(id, end, deadline);
        }
    }

    #[inline(never)]
    fn arm_for(&mut self, id: ConnectionRef, end: End, deadline: u64) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        let (armed, what) = match end {
            End::Sender => (&mut connection.sender_armed, What::SenderTimer(id)),
            End::Receiver => (&mut connection.receiver_armed, What::ReceiverTimer(id)),
        };
        *armed = deadline;
        let order = Order::new(class::TIMER, self.flows[connection.flow as usize].rank);
        self.later(deadline, order, what);
    }

    pub(crate) fn sender_timer(&mut self, id: ConnectionRef, now: u64) {
        let Some(connection) = self.connections.get_mut(id).filter(|c| c.sender_armed == now) else { return };
        connection.sender_armed = NEVER;
        if connection.sender.deadline().is_some_and(|d| d.0 <= now) {
            let before = if self.records.are_wanted() { connection.reasons() } else { [0; 3] };
            let mut context =
                Context { now: Time(now), random: &mut connection.random, out: &mut self.out.source };
            connection.sender.on_timer(&mut context);
            let gave_up = connection.sender.state() == State::Failed;
            self.tell_reasons(id, before, now);
            if gave_up {
                self.give_up(id, now);
            } else {
                self.pump(id, now);
            }
        } else {
            self.arm(id, End::Sender);
        }
    }

    pub(crate) fn receiver_timer(&mut self, id: ConnectionRef, now: u64) {
        let Some(connection) = self.connections.get_mut(id).filter(|c| c.receiver_armed == now) else {
            return;
        };
        connection.receiver_armed = NEVER;
        if connection.receiver.deadline().is_some_and(|d| d.0 <= now) {
            connection.receiver.on_timer(Time(now));
            self.answer(id, now);
        } else {
            self.arm(id, End::Receiver);
        }
    }

    /// Carries out what the law has asked for in the last hook.
    #[inline(always)]
    fn law_effects(&mut self, id: ConnectionRef, now: u64) {
        if !self.out.source.is_empty() {
            self.law_timers(id, now);
        }
    }

    #[inline(never)]
    fn law_timers(&mut self, id: ConnectionRef, now: u64) {
        let mut timers = std::mem::take(&mut self.out.source.timers);
        for (timer, at) in timers.drain(..) {
            let Some(connection) = self.connections.get_mut(id) else { continue };
            let Firing { at, generation, .. } = connection.timers.set(timer, at, Time(now));
            let order = Order::new(class::TIMER, self.flows[connection.flow as usize].rank);
            self.later(at.0, order, What::LawTimer { connection: id, generation, timer: timer.0 });
        }
        self.out.source.timers = timers;
        if std::mem::take(&mut self.out.source.failed)
            && let Some(flow) = self.connections.get(id).map(|connection| connection.flow)
        {
            self.fault.get_or_insert(Fault::FailedSource { flow });
        }
    }

    pub(crate) fn law_timer(&mut self, id: ConnectionRef, generation: u32, timer: Timer, now: u64) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        if connection.timers.fires(timer, generation) {
            let mut context =
                Context { now: Time(now), random: &mut connection.random, out: &mut self.out.source };
            connection.sender.law_mut().on_timer(timer, &mut context);
            self.pump(id, now);
        }
    }
}

/// Fills the header of a packet that leaves one of the ends.
fn stamp(connection: &mut Connection, kind: &HeaderKind, forward: bool, now: u64, header: &mut Header) {
    if forward {
        *header = Header::default();
        connection.sender.stamp(header, Time(now));
    } else {
        *header = connection.echo.answer(kind);
    }
}
