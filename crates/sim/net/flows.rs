//! Flows at their source: when packets are made, and what holds them back.

use airfair_schemes::places::{Ecn, PacketClass};

use airfair_transport::{SenderStats, SharedConfig};
use airfair_units::{Rate, Span};

use super::hops::HeaderId;
use super::laws::LawId;
use super::local::AtSource;
use super::packet::{NO_FLOW, Packet};
use super::routing::NextHop;
use super::{Blocked, Net, class};
use crate::engine::Agenda;
use crate::event::{Order, What};
use crate::ids::{ConnectionRef, FlowIx, PortIx};
use crate::measure::delays::Delays;
use crate::measure::files::Files;
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
    /// Packets of a source over UDP that wait in its queue.
    pub at_source: AtSource,
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
    /// Somebody wants to know of every packet that it makes ([`super::watch`]).
    pub watched: bool,
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
                    self.ports[port as usize].saturating.push(flow);
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
                if self.on_demand.is_some() {
                    self.leaves_by(flow, port);
                }
                self.top_up(port, now);
            }
            return;
        }
        if let Some(hop) = self.first_hop(flow)
            && self.ports[hop.port as usize].backpressure
            && (self.is_full(hop.port, now) || self.source_waits(hop.port, flow, now))
        {
            self.flows[flow as usize].held_since = Some(now);
            self.block(hop.port, Blocked::Flow(flow), now);
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

    /// A flow makes its next packet and sends it on its way; the packet's handle.
    fn make(&mut self, flow: u32, now: u64) -> u64 {
        let f = &mut self.flows[flow as usize];
        let payload = f.source.size();
        let packet = Packet {
            created: now,
            enqueued: now,
            flow,
            queue_flow: f.id,
            connection: NO_FLOW,
            sequence: f.next_sequence,
            source: f.from,
            destination: f.to,
            payload,
            bytes: payload + self.headers.udp + self.headers.ip,
            hops: 0,
            at_source: true,
            tcp: false,
            header: HeaderId::NONE,
            class: PacketClass::Data,
            ecn: Ecn::NotEct,
        };
        f.next_sequence = f.next_sequence.wrapping_add(1);
        f.sent_total += 1;
        f.totals.sent += 1;
        f.totals.offered_bytes += u64::from(payload);
        let (from, first_hop, watched) = (f.from, f.first_hops[0], f.watched);
        let port = self.first_hop(flow).map(|hop| hop.port);
        self.flows[flow as usize].at_source.enter(port, &mut self.ports);
        let handle = self.packets.add(packet);
        if watched {
            self.tell_made(handle, true, None);
        }
        self.leave(from, first_hop, handle, now);
        if let Some(hop) = first_hop {
            self.note_wait(hop.port, handle, now);
        }
        handle
    }

    /// By which the next packet of a flow leaves its source, as it is known now.
    #[inline(always)]
    pub(super) fn first_hop(&self, flow: u32) -> Option<NextHop> {
        let f = &self.flows[flow as usize];
        match f.first_hops[0] {
            None if self.on_demand.is_some() => self.next_hop(f.from, f.to),
            hop => hop,
        }
    }

    /// A packet leaves its source.
    #[inline(always)]
    pub(super) fn leave(&mut self, source: u32, first_hop: Option<NextHop>, handle: u64, now: u64) {
        match first_hop {
            Some(hop) => match self.timetable_of(hop.port) {
                Some(wire) => self.enter(wire, handle, now),
                None => self.offer(hop, handle, now),
            },
            None => self.forward(source, handle, now),
        }
    }

    /// There is room in a queue again: sources that wait for it go on.
    #[inline(always)]
    pub(crate) fn room(&mut self, port: u32, now: u64) {
        let p = &self.ports[port as usize];
        if !p.blocked.is_empty() || !p.saturating.is_empty() {
            self.make_use_of_room(port, now);
        }
    }

    #[inline(never)]
    fn make_use_of_room(&mut self, port: u32, now: u64) {
        // Where others wait too it is a saturating source's turn every other time that anybody finds room.
        let p = &self.ports[port as usize];
        if p.saturating_first && !p.saturating.is_empty() && !p.blocked.is_empty() {
            let made = self.top_up(port, now);
            self.ports[port as usize].saturating_first = !made;
        }
        loop {
            if self.is_full(port, now) {
                break;
            }
            let first = (0..self.ports[port as usize].blocked.len()).find(|&i| {
                match self.ports[port as usize].blocked[i] {
                    Blocked::Flow(flow) => !self.source_waits(port, flow, now),
                    Blocked::Connection(id) => !self.connection_waits(id, port, now),
                }
            });
            let p = &mut self.ports[port as usize];
            let next = first.and_then(|first| p.blocked.remove(first));
            p.saturating_first |= next.is_some();
            let flow = match next {
                Some(Blocked::Flow(flow)) => flow,
                Some(Blocked::Connection(id)) => {
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
        if !self.ports[port as usize].saturating.is_empty() {
            self.top_up(port, now);
        }
    }

    /// Each saturating source keeps its share of half of the queue filled with its own packets: the queue is never empty, and packets
    /// that pass through still find room. Where there is less room than sources they take turns.
    ///
    /// Returns whether one of them has made a packet.
    fn top_up(&mut self, port: u32, now: u64) -> bool {
        let flows = &self.flows;
        self.ports[port as usize].saturating.retain(|&flow| now < flows[flow as usize].stop);
        self.forget_left(port, now);
        let share = self.share_of_saturating(port);
        let mut made = false;
        for i in 0..self.ports[port as usize].saturating.len() {
            let flow = self.ports[port as usize].saturating[i];
            while self.flows[flow as usize].at_source.packets() < share {
                let waits = self.source_waits(port, flow, now);
                if waits && self.flows[flow as usize].at_source.packets() > 0 {
                    break;
                }
                let view = self.ports[port as usize].queue.view();
                if waits || view.packets >= view.limit_packets {
                    self.ports[port as usize].saturating.rotate_left(i);
                    return made;
                }
                let handle = self.make(flow, now);
                made = true;
                if self.ports[port as usize].queue.view().packets == view.packets {
                    // It waits for an address, the MAC has it, or it was dropped: the next one would fare no better now.
                    if self.packets.get(handle).is_none() {
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
        if !f.source.is_saturating() || self.ports[port as usize].saturating.contains(&flow) {
            return;
        }
        let (first, end) = self.ports_of[f.from as usize];
        for port in &mut self.ports[first as usize..end as usize] {
            port.saturating.retain(|&other| other != flow);
        }
        self.ports[port as usize].saturating.push(flow);
    }

    /// Nothing is left of what waited in a port's queue: the queue has dropped it. Who waits for a departure is told a little later, or a
    /// source whose packets are all dropped would offer them without end at one moment.
    pub(super) fn emptied(&mut self, port: u32, now: u64) {
        let p = &self.ports[port as usize];
        if !p.blocked.is_empty() {
            let order = Order::new(class::TRAFFIC, self.node_ranks[p.node as usize]);
            self.later(now + OFFER_AGAIN.as_nanos(), order, What::Room(PortIx(port)));
        }
        for i in 0..self.ports[port as usize].saturating.len() {
            self.offer_again(self.ports[port as usize].saturating[i], now);
        }
    }

    /// A saturating source whose packet was dropped has another one: where nothing of it waits no departure would ask for that.
    pub(super) fn offer_again(&mut self, flow: u32, now: u64) {
        let f = &mut self.flows[flow as usize];
        if f.at_source.packets() == 0 && !f.offers_again {
            f.offers_again = true;
            let rank = f.rank;
            let order = Order::new(class::TRAFFIC, rank);
            self.later(now + OFFER_AGAIN.as_nanos(), order, What::Source(FlowIx(flow)));
        }
    }
}
