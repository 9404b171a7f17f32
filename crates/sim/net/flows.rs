//! Flows at their source: when packets are made, and what holds them back.

use std::collections::BTreeMap;

use airfair_schemes::places::PacketClass;

use airfair_transport::{SenderStats, SharedConfig};
use airfair_units::{Rate, Span, Time};

use super::laws::LawId;
use super::{Net, class};
use crate::engine::Agenda;
use crate::event::{Order, What};
use crate::ids::{ConnectionRef, CopyRef, FlowIx, PacketRef, PortIx, WireIx};
use crate::measure::delays::Delays;
use crate::measure::files::Files;
use crate::node::backpressure::{Permit, Waiter};
use crate::packet::{Copy, Packet, Payload};
use crate::record::Record;
use crate::route::NextHop;
use crate::spec::Traffic;
use crate::traffic::{FileSource, Source};

/// After so long a saturating source offers a packet again whose like was dropped: about a packet of 1500 B at 11 Mbit/s.
const OFFER_AGAIN: Span = Span::from_millis(1);

/// A flow that is measured for less than this has no traffic: a packet of 1500 B and its ACK take longer at 11 Mbit/s.
const LEAST_MEASURED: Span = Span::from_millis(1);

/// What a flow over TCP has beside the rest.
pub(crate) struct TcpFlow {
    pub config: SharedConfig,
    pub law: LawId,
    /// Its law reads what waits in its node: no limit holds for that.
    pub reads_own_queue: bool,
    pub traffic: Traffic,
    /// Its connection, unless it sends files.
    pub connection: ConnectionRef,
    /// Where its files come from.
    pub files: Option<FileSource>,
    /// Size of the file that is to come.
    pub next_size: u64,
    pub done: Files,
    /// Connections opened so far.
    pub opened: u64,
    /// What the connections that have ended had measured and sent again.
    pub ended: TransportTotals,
    /// Connections that have met routers which do not speak their scheme.
    pub fallbacks: u64,
    /// The connections' random streams: seed and identity.
    pub seed: u64,
    pub hash: u64,
}

/// What the transport of a flow has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TransportTotals {
    /// Segments sent again.
    pub retransmissions: u64,
    /// Round trips measured, and their sum.
    pub round_trips: u64,
    pub round_trip_ns: u64,
}

impl TransportTotals {
    pub fn of(stats: &SenderStats) -> Self {
        let &SenderStats { retransmissions, round_trips, round_trip_ns, .. } = stats;
        Self { retransmissions, round_trips, round_trip_ns }
    }
}

impl std::ops::AddAssign for TransportTotals {
    fn add_assign(&mut self, more: Self) {
        self.retransmissions += more.retransmissions;
        self.round_trips += more.round_trips;
        self.round_trip_ns += more.round_trip_ns;
    }
}

impl std::ops::Sub for TransportTotals {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            retransmissions: self.retransmissions - earlier.retransmissions,
            round_trips: self.round_trips - earlier.round_trips,
            round_trip_ns: self.round_trip_ns - earlier.round_trip_ns,
        }
    }
}

/// What a flow has sent and delivered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FlowTotals {
    /// Packets with payload that its source has made.
    pub sent: u64,
    /// Those that have arrived until its stop, and bytes that have reached the application.
    pub delivered_packets: u64,
    pub delivered_bytes: u64,
    /// Packets with payload that were dropped until its stop.
    pub dropped: u64,
    /// Bytes that the application has handed over; a file when it begins.
    pub offered_bytes: u64,
    /// Time for which a source that sets its own rate waited for room in its node's queue.
    pub held_ns: u64,
}

impl std::ops::Sub for FlowTotals {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            sent: self.sent - earlier.sent,
            delivered_packets: self.delivered_packets - earlier.delivered_packets,
            delivered_bytes: self.delivered_bytes - earlier.delivered_bytes,
            dropped: self.dropped - earlier.dropped,
            offered_bytes: self.offered_bytes - earlier.offered_bytes,
            held_ns: self.held_ns - earlier.held_ns,
        }
    }
}

/// A flow while it runs.
pub(crate) struct Flow {
    pub source: Source,
    pub tcp: Option<Box<TcpFlow>>,
    /// Its number for schemes.
    pub id: u32,
    pub from: u32,
    pub to: u32,
    /// By which its packets leave their source, and those of the other direction theirs, where routes are static.
    pub first_hops: [Option<NextHop>; 2],
    pub rank: u32,
    pub start: u64,
    pub stop: u64,
    pub next_sequence: u32,
    /// A saturating source whose packet was dropped is to offer another one.
    pub offers_again: bool,
    /// What counts for its results, from the start of the run, and what of it came before the end of the warm-up.
    pub totals: FlowTotals,
    pub warmup: FlowTotals,
    /// What its transport had counted at the end of the warm-up.
    pub warmup_transport: TransportTotals,
    /// Since when its source waits for room in its node's queue.
    pub held_since: Option<u64>,
    /// Packets made and delivered, acknowledgements included.
    pub sent_total: u64,
    pub delivered_total: u64,
    /// From the end of the warm-up on.
    pub delays: Delays,
    pub hops: Option<u16>,
}

impl Flow {
    /// The totals, the time for which its source is being held up included.
    pub fn totals(&self, now: u64) -> FlowTotals {
        let held = self.held_since.map_or(0, |since| now.min(self.stop).saturating_sub(since));
        FlowTotals { held_ns: self.totals.held_ns + held, ..self.totals }
    }

    /// Bytes that its application offers from `from` on, where that has an end: for TCP what was handed over and not delivered before,
    /// for UDP its packets and those that its source would have made while it was held up. Nothing in less than
    /// [`LEAST_MEASURED`].
    pub fn offered_bytes(&self, from: u64, until: u64) -> Option<u64> {
        if until.saturating_sub(from) < LEAST_MEASURED.as_nanos() {
            return Some(0);
        }
        let totals = self.totals(until);
        match self.source.rate() {
            None if self.tcp.as_ref().is_none_or(|tcp| tcp.files.is_none()) => None,
            _ if self.tcp.is_some() => Some(totals.offered_bytes - self.warmup.delivered_bytes),
            rate => {
                let counted = totals - self.warmup;
                let held =
                    u128::from(rate.map_or(0, Rate::as_bps)) * u128::from(counted.held_ns) / 8_000_000_000;
                Some(counted.offered_bytes + held as u64)
            }
        }
    }
}

impl Net {
    #[inline(never)]
    pub(crate) fn flow_start(&mut self, flow: u32, now: u64, agenda: &mut Agenda) {
        let f = &mut self.flows[flow as usize];
        f.start = now;
        if f.tcp.is_some() {
            self.tcp_start(flow, now, agenda);
            return;
        }
        let due = f.source.start(now);
        let (from, to, rank, stop) = (f.from, f.to, f.rank, f.stop);
        if f.source.is_saturating() {
            match self.port_towards(from, to) {
                Some(port) => {
                    self.backpressure.saturates(PortIx(port), FlowIx(flow));
                    self.top_up(port, now);
                }
                None => {
                    self.make(flow, now);
                }
            }
        } else if due < stop {
            agenda.push(due, Order::new(class::TRAFFIC, rank), What::Source(FlowIx(flow)));
        }
    }

    pub(crate) fn source_due(&mut self, flow: u32, now: u64, agenda: &mut Agenda) {
        if self.flows[flow as usize].tcp.is_some() {
            self.tcp_source_due(flow, now, agenda);
            return;
        }
        let f = &mut self.flows[flow as usize];
        if f.source.is_saturating() {
            f.offers_again = false;
            let (from, to) = (f.from, f.to);
            if let Some(port) = self.port_towards(from, to) {
                if self.routes.are_found() {
                    self.leaves_by(flow, port);
                }
                self.top_up(port, now);
            }
            return;
        }
        if let Some(hop) = self.first_hop(flow)
            && self.backpressure.rules(PortIx(hop.port)).backpressure
            && (self.is_full(hop.port, now) || self.source_waits(hop.port, flow, now))
        {
            self.flows[flow as usize].held_since = Some(now);
            self.block(hop.port, Waiter::Flow(FlowIx(flow)), now);
            return;
        }
        self.make(flow, now);
        self.schedule_source(flow, now, agenda);
    }

    pub(super) fn schedule_source(&mut self, flow: u32, now: u64, agenda: &mut Agenda) {
        let f = &mut self.flows[flow as usize];
        let due = f.source.next(now);
        if due < f.stop {
            agenda.push(due, Order::new(class::TRAFFIC, f.rank), What::Source(FlowIx(flow)));
        }
    }

    /// A flow makes its next packet and sends it on its way; the packet's copy.
    fn make(&mut self, flow: u32, now: u64) -> CopyRef {
        let f = &mut self.flows[flow as usize];
        let payload = f.source.size();
        let packet = Packet {
            created: now,
            payload: Payload::Udp { flow: FlowIx(flow), number: f.next_sequence },
            scheme_flow: f.id,
            source: f.from,
            destination: f.to,
            length: payload,
            bytes: payload + self.headers.udp + self.headers.ip,
            class: PacketClass::Data,
        };
        f.next_sequence = f.next_sequence.wrapping_add(1);
        f.sent_total += 1;
        f.totals.sent += 1;
        f.totals.offered_bytes += u64::from(payload);
        let (from, first_hop) = (f.from, f.first_hops[0]);
        let port = self.first_hop(flow).map(|hop| hop.port);
        self.backpressure.flow_enters(FlowIx(flow), port.map(PortIx));
        let copy = self.packets.add(packet, Copy { at_source: true, ..Copy::PLAIN });
        if self.records.are_wanted() {
            let (packet, flow) = (self.packets.packet_of(copy), FlowIx(flow));
            self.records.push(Time(now), Record::Made { packet, flow, forward: true, connection: None });
        }
        self.leave(from, first_hop, copy, now);
        if let Some(hop) = first_hop {
            self.note_wait(hop.port, copy, now);
        }
        copy
    }

    /// By which the next packet of a flow leaves its source, as it is known now.
    #[inline(always)]
    pub(super) fn first_hop(&self, flow: u32) -> Option<NextHop> {
        let f = &self.flows[flow as usize];
        match f.first_hops[0] {
            None if self.routes.are_found() => self.next_hop(f.from, f.to),
            hop => hop,
        }
    }

    /// A packet leaves its source.
    #[inline(always)]
    pub(super) fn leave(&mut self, source: u32, first_hop: Option<NextHop>, copy: CopyRef, now: u64) {
        match first_hop {
            Some(hop) => match self.wire_with_queue(hop.port) {
                Some(wire) => self.offer_to_wire(wire, copy, now),
                None => self.offer(hop, copy, now),
            },
            None => self.forward(source, copy, now),
        }
    }

    /// There is room in a queue again: sources that wait for it go on.
    #[inline(always)]
    pub(crate) fn room(&mut self, port: u32, now: u64) {
        if self.backpressure.wants_room(PortIx(port)) {
            self.make_use_of_room(port, now);
        }
    }

    #[inline(never)]
    fn make_use_of_room(&mut self, port: u32, now: u64) {
        // Where others wait too it is a saturating source's turn every other time that anybody finds room.
        if self.backpressure.is_turn_of_saturating(PortIx(port)) {
            let made = self.top_up(port, now);
            self.backpressure.saturating_had_turn(PortIx(port), made);
        }
        loop {
            if self.is_full(port, now) {
                break;
            }
            let flow = match self.next_waiter(port, now) {
                Some(Waiter::Flow(flow)) => flow.0,
                Some(Waiter::Connection(id)) => {
                    self.unblock(id, now);
                    continue;
                }
                None => break,
            };
            let f = &mut self.flows[flow as usize];
            f.totals = f.totals(now);
            f.held_since = None;
            if now < f.stop {
                f.source.shift(now);
                let due = f.source.next(now);
                let (stop, rank) = (f.stop, f.rank);
                self.make(flow, now);
                if due < stop {
                    self.later(due, Order::new(class::TRAFFIC, rank), What::Source(FlowIx(flow)));
                }
            }
        }
        if !self.backpressure.saturating(PortIx(port)).is_empty() {
            self.top_up(port, now);
        }
    }

    /// The first of the sources that wait for room at a port and need not wait longer; it waits no more.
    fn next_waiter(&mut self, port: u32, now: u64) -> Option<Waiter> {
        let mut place = 0;
        loop {
            let waiter = self.backpressure.waiter(PortIx(port), place)?;
            let waits = match waiter {
                Waiter::Flow(flow) => self.source_waits(port, flow.0, now),
                Waiter::Connection(id) => self.connection_waits(id, port, now),
            };
            if !waits {
                self.backpressure.next_turn(PortIx(port), place);
                return Some(waiter);
            }
            place += 1;
        }
    }

    /// Each saturating source keeps its share of half of the queue filled with its own packets: the queue is never empty, and packets
    /// that pass through still find room. Where there is less room than sources they take turns.
    ///
    /// Returns whether one of them has made a packet.
    fn top_up(&mut self, port: u32, now: u64) -> bool {
        let flows = &self.flows;
        self.backpressure.retain_saturating(PortIx(port), |&flow| now < flows[flow.ix()].stop);
        self.backpressure.forget_left(PortIx(port), now);
        let limit = self.ports[port as usize].pipeline.view().limit_packets;
        let share = self.backpressure.share_of_saturating(PortIx(port), limit);
        let mut made = false;
        for i in 0..self.backpressure.saturating(PortIx(port)).len() {
            let FlowIx(flow) = self.backpressure.saturating(PortIx(port))[i];
            while self.backpressure.packets_of(FlowIx(flow)) < share {
                let waits = self.source_waits(port, flow, now);
                if waits && self.backpressure.packets_of(FlowIx(flow)) > 0 {
                    break;
                }
                let view = self.ports[port as usize].pipeline.view();
                if waits || view.packets >= view.limit_packets {
                    self.backpressure.rotate_saturating(PortIx(port), i);
                    return made;
                }
                let copy = self.make(flow, now);
                made = true;
                if self.ports[port as usize].pipeline.view().packets == view.packets {
                    // It waits for an address, the MAC has it, or it was dropped: the next one would fare no better now.
                    if self.packets.get(copy).is_none() {
                        self.offer_again(flow, now);
                    }
                    break;
                }
            }
        }
        made
    }

    /// A flow's packet leaves by a port: if its source is a saturating one, that port's departures tell it from now on when to offer more.
    /// Where routes are found while the world runs nobody has known which that would be.
    pub(super) fn leaves_by(&mut self, flow: u32, port: u32) {
        let f = &self.flows[flow as usize];
        let (port, flow) = (PortIx(port), FlowIx(flow));
        if !f.source.is_saturating() || self.backpressure.saturating(port).contains(&flow) {
            return;
        }
        let (first, end) = self.ports_of[f.from as usize];
        for other in first..end {
            self.backpressure.retain_saturating(PortIx(other), |&other| other != flow);
        }
        self.backpressure.saturates(port, flow);
    }

    /// Nothing is left of what waited in a port's queue: the queue has dropped it. Who waits for a departure is told a little later, or a
    /// source whose packets are all dropped would offer them without end at one moment.
    pub(super) fn emptied(&mut self, port: u32, now: u64) {
        if self.backpressure.anybody_waits(PortIx(port)) {
            let node = self.ports[port as usize].node;
            let order = Order::new(class::TRAFFIC, self.node_ranks[node as usize]);
            self.later(now + OFFER_AGAIN.as_nanos(), order, What::Room(PortIx(port)));
        }
        for i in 0..self.backpressure.saturating(PortIx(port)).len() {
            self.offer_again(self.backpressure.saturating(PortIx(port))[i].0, now);
        }
    }

    /// A saturating source whose packet was dropped has another one: where nothing of it waits no departure would ask for that.
    pub(super) fn offer_again(&mut self, flow: u32, now: u64) {
        let f = &mut self.flows[flow as usize];
        if self.backpressure.packets_of(FlowIx(flow)) == 0 && !f.offers_again {
            f.offers_again = true;
            let rank = f.rank;
            let order = Order::new(class::TRAFFIC, rank);
            self.later(now + OFFER_AGAIN.as_nanos(), order, What::Source(FlowIx(flow)));
        }
    }

    /// Whether a flow over UDP has to wait at its node's port.
    fn source_waits(&mut self, port: u32, flow: u32, now: u64) -> bool {
        let Self { backpressure, ports, links, .. } = self;
        let at = &ports[port as usize];
        let queue = (|| at.pipeline.view().limit_packets, || at.is_empty(links, now));
        backpressure.source_waits(PortIx(port), FlowIx(flow), now, queue)
    }

    /// Whether a connection that waits for room at a port has to wait on.
    fn connection_waits(&mut self, id: ConnectionRef, port: u32, now: u64) -> bool {
        let Self { backpressure, ports, links, .. } = self;
        let at = &ports[port as usize];
        let queue = (|| at.pipeline.view().limit_packets, || at.is_empty(links, now));
        backpressure.connection_waits(id, PortIx(port), now, queue)
    }

    /// Whether the limit of a port holds a connection's sender back.
    pub(super) fn is_held(&mut self, id: ConnectionRef, port: Option<u32>, now: u64) -> bool {
        let Self { backpressure, ports, links, connections, schedule, .. } = self;
        let at = port.map(|port| &ports[port as usize]);
        let limit = || at.map_or(0, |at| at.pipeline.view().limit_packets);
        let empty = || at.is_none_or(|at| at.is_empty(links, now));
        let pacing = || connections.get(id).and_then(|connection| connection.sender.pacing_rate(Time(now)));
        let permit = backpressure.permit(id, port.map(PortIx), now, (limit, empty), pacing, schedule);
        self.unsettled |= !self.schedule.is_empty();
        if let (Permit::Block, Some(port)) = (permit, port) {
            self.block(port, Waiter::Connection(id), now);
        }
        permit != Permit::Send
    }

    /// Some of a connection's packets have left its node.
    pub(crate) fn local_room(&mut self, id: ConnectionRef, now: u64) {
        if self.backpressure.departed(id) {
            self.pump(id, now);
        }
    }

    /// A packet of a TCP sender is the last that a wire was given.
    #[inline]
    pub(super) fn leaves_by_wire(&mut self, wire: WireIx, copy: CopyRef, now: u64) {
        let Some(departure) = self.links.departure(wire, copy) else { return };
        let (port, end) = (self.links.port(wire), departure.end.0);
        let Some((packet, at)) = self.packets.both_mut(copy) else { return };
        at.at_source = false;
        let payload = packet.length;
        let connection = self.packets.connection(self.packets.packet_of(copy));
        self.backpressure.leaves_by_wire(connection, port, (end, payload), now, &mut self.schedule);
        self.unsettled |= !self.schedule.is_empty();
    }

    /// A station's MAC is done with a packet: its sender may go on if it was of this node.
    #[inline]
    pub(super) fn leaves_mac(&mut self, station: u32, packet: PacketRef, now: u64) {
        let port = PortIx(self.port_of_station[station as usize]);
        if let Some(connection) = self.backpressure.leaves_mac(port, packet) {
            self.pump(connection, now);
        }
    }

    /// A packet has come to its end before it left its source's queue.
    pub(super) fn ends_at_source(&mut self, packet: &Packet, copy: &Copy, now: u64) {
        let Payload::Udp { flow, .. } = packet.payload else {
            let connection = self.packets.connection(copy.of);
            self.backpressure.ends_in_node(connection, packet.length, now, &mut self.schedule);
            self.unsettled |= !self.schedule.is_empty();
            return;
        };
        self.backpressure.flow_leaves(flow);
        let port = self.backpressure.port_of(flow).map(|port| port.0);
        if let Some(port) = port.filter(|&port| self.is_empty(port, now)) {
            self.emptied(port, now);
        }
        // The first packet went by a port that nobody has known: no departure there is told to its source yet.
        if self.routes.are_found() && self.flows[flow.ix()].source.is_saturating() {
            self.offer_again(flow.0, now);
        }
    }

    /// A source over UDP has sent a packet by a port. Nobody takes the packet from a wire's own queue later: what has to wait there is
    /// noted with its end.
    #[inline]
    pub(super) fn note_wait(&mut self, port: u32, copy: CopyRef, now: u64) {
        if self.backpressure.rules(PortIx(port)).local_limit.is_some()
            && let Some(wire) = self.wire_with_queue(port)
            && let Some(departure) = self.links.departure(wire, copy)
            && let Some((packet, at)) = self.packets.both_mut(copy)
        {
            at.at_source = false;
            let Payload::Udp { flow, .. } = packet.payload else { return };
            let begin = departure.begin.0;
            if begin > now {
                self.backpressure.flow_leaves_at(flow, PortIx(port), begin);
            } else {
                self.backpressure.flow_leaves(flow);
            }
        }
    }

    /// Flows that may fill a queue which also carries what their node forwards, as nothing limits what they have there: each with its
    /// node and one of the flows that are forwarded. Where routes are found while the world runs nobody knows.
    pub(crate) fn crowders(&self, names: &[String]) -> Vec<(u32, u32, u32)> {
        let may_fill = |flow: &u32| {
            let f = &self.flows[*flow as usize];
            let Some(hop) = f.first_hops[0] else { return false };
            let port = &self.ports[hop.port as usize];
            let window = f.tcp.as_ref().map_or(u64::MAX, |tcp| match tcp.reads_own_queue {
                true => 0,
                false => tcp.config.window_limit / u64::from(tcp.config.mss),
            });
            self.backpressure.rules(PortIx(hop.port)).fillable
                && !f.source.is_saturating()
                && window >= u64::from(port.pipeline.view().limit_packets)
        };
        let crowders: Vec<u32> = (0..self.flows.len() as u32).filter(may_fill).collect();
        if crowders.is_empty() {
            return Vec::new();
        }
        // Of the flows that a port forwards the first by its name, not by its place in the file.
        let mut forwarded: BTreeMap<u32, u32> = BTreeMap::new();
        for (flow, f) in self.flows.iter().enumerate() {
            let ways =
                if f.tcp.is_some() { &[(f.from, f.to), (f.to, f.from)][..] } else { &[(f.from, f.to)] };
            for &(from, to) in ways {
                let mut at = from;
                while at != to
                    && let Some(hop) = self.next_hop(at, to)
                {
                    if at != from {
                        let known = forwarded.entry(hop.port).or_insert(flow as u32);
                        if names[flow] < names[*known as usize] {
                            *known = flow as u32;
                        }
                    }
                    at = hop.node;
                }
            }
        }
        let crowds = |&flow: &u32| {
            let f = &self.flows[flow as usize];
            let port = f.first_hops[0]?.port;
            forwarded.get(&port).map(|&other| (flow, f.from, other))
        };
        crowders.iter().filter_map(crowds).collect()
    }
}
