//! Flows: from where to where, when, and what has been counted of them. Over UDP a flow's packets are made here.

use airfair_schemes::places::{FlowId, PacketClass};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Rate, Span, Time};

use crate::event::{Order, class};
use crate::ids::{FlowIx, NodeIx};
use crate::measure::delays::Delays;
use crate::packet::{Copy, Packet, Payload};
use crate::route::NextHop;
use crate::spec::{FlowSpec, Transport};
use crate::traffic::Source;

/// A flow that is measured for less than this has no traffic: a packet of 1500 B and its ACK take longer at 11 Mbit/s.
const LEAST_MEASURED: Span = Span::from_millis(1);

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
    pub held: Span,
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
            held: self.held - earlier.held,
        }
    }
}

/// A flow while it runs.
pub(crate) struct Flow {
    pub from: NodeIx,
    pub to: NodeIx,
    /// TCP carries it.
    pub is_tcp: bool,
    /// Its number for schemes.
    pub id: FlowId,
    /// By which its packets leave their source, and those of the other direction theirs, where routes are static.
    pub first_hops: [Option<NextHop>; 2],
    pub rank: u32,
    pub start: Time,
    pub stop: Time,
    pub source: Source,
    next_number: u32,
    /// A saturating source whose packet was dropped is to offer another one.
    offer_requested: bool,
    /// What counts for its results, from the start of the run, and what of it came before the end of the warm-up.
    totals: FlowTotals,
    warmup: FlowTotals,
    /// Since when its source waits for room in its node's queue.
    held_since: Option<Time>,
    /// Packets made and delivered, acknowledgements included.
    made: u64,
    ended: u64,
    /// From the end of the warm-up on.
    delays: Delays,
    /// Hops of the packet that has reached its destination last.
    hops: Option<u16>,
}

impl Flow {
    /// A flow that has not started. `end`: of the run.
    pub fn new(
        spec: &FlowSpec,
        (id, rank): (FlowId, u32),
        hops: [Option<NextHop>; 2],
        seed: u64,
        end: Time,
    ) -> Self {
        let jitter = match spec.start_jitter {
            Span::ZERO => Span::ZERO,
            most => {
                Span((Stream::new(seed, &spec.id, Purpose::StartJitter).uniform() * most.0 as f64) as u64)
            }
        };
        Self {
            from: NodeIx(spec.from as u32),
            to: NodeIx(spec.to as u32),
            is_tcp: matches!(spec.transport, Transport::Tcp { .. }),
            id,
            first_hops: hops,
            rank,
            start: spec.start + jitter,
            stop: spec.stop.min(end),
            source: Source::new(spec, seed),
            next_number: 0,
            offer_requested: false,
            totals: FlowTotals::default(),
            warmup: FlowTotals::default(),
            held_since: None,
            made: 0,
            ended: 0,
            delays: Delays::default(),
            hops: None,
        }
    }

    /// Its ends, forward or back.
    pub fn ends(&self, forward: bool) -> (NodeIx, NodeIx) {
        if forward { (self.from, self.to) } else { (self.to, self.from) }
    }

    /// The order of what its application does, among events of equal time.
    pub fn order(&self) -> Order {
        Order::new(class::TRAFFIC, self.rank)
    }

    /// The totals, the time for which its source is being held up included.
    pub fn totals(&self, now: Time) -> FlowTotals {
        let held = self.held_since.map_or(Span::ZERO, |since| now.min(self.stop).since(since));
        FlowTotals { held: self.totals.held + held, ..self.totals }
    }

    /// The totals at the end of the warm-up.
    pub fn totals_at_warmup(&self) -> FlowTotals {
        self.warmup
    }

    /// Bytes that its application offers from `from` on, where that has an end: for TCP what was handed over and not delivered before,
    /// for UDP its packets and those that its source would have made while it was held up. Nothing in less than
    /// [`LEAST_MEASURED`]. `has_files`: it sends files.
    pub fn offered_bytes(&self, from: Time, until: Time, has_files: bool) -> Option<u64> {
        if until.since(from) < LEAST_MEASURED {
            return Some(0);
        }
        let totals = self.totals(until);
        match self.source.rate() {
            None if !has_files => None,
            _ if self.is_tcp => Some(totals.offered_bytes - self.warmup.delivered_bytes),
            rate => {
                let counted = totals - self.warmup;
                let held =
                    u128::from(rate.map_or(0, Rate::as_bps)) * u128::from(counted.held.0) / 8_000_000_000;
                Some(counted.offered_bytes + held as u64)
            }
        }
    }

    /// Packets made, acknowledgements included, and how many of them have reached their ends.
    pub fn counts(&self) -> (u64, u64) {
        (self.made, self.ended)
    }

    /// Delays of its packets with payload from the end of the warm-up on.
    pub fn delays(&self) -> &Delays {
        &self.delays
    }

    /// Hops of the packet that has reached its destination last.
    pub fn hops(&self) -> Option<u16> {
        self.hops
    }

    /// Traffic starts now.
    pub fn begin(&mut self, now: Time) {
        self.start = now;
    }

    /// Its next datagram, as a packet; `headers`: bytes of UDP and IP.
    pub fn datagram(&mut self, flow: FlowIx, headers: u32, now: Time) -> Packet {
        let length = self.source.size();
        let number = self.next_number;
        self.next_number = number.wrapping_add(1);
        self.totals.offered_bytes += u64::from(length);
        self.count_made(true);
        Packet {
            created: now,
            payload: Payload::Udp { flow, number },
            scheme_flow: self.id,
            source: self.from,
            destination: self.to,
            length,
            bytes: length + headers,
            class: PacketClass::Data,
        }
    }

    /// A packet is made.
    #[inline(always)]
    pub fn count_made(&mut self, has_payload: bool) {
        self.made += 1;
        self.totals.sent += u64::from(has_payload);
    }

    /// Its application has handed over bytes for TCP.
    pub fn offer(&mut self, bytes: u64) {
        self.totals.offered_bytes += bytes;
    }

    /// One of its packets has reached the node that it was for.
    #[inline(always)]
    pub fn count_arrived(&mut self, packet: &Packet, copy: &Copy, now: Time) {
        self.ended += 1;
        if packet.destination == self.to {
            self.hops = Some(copy.hops);
        }
        if !self.is_tcp {
            self.count_delivered(u64::from(packet.length), true, now.since(packet.created), now);
        }
    }

    /// Bytes have reached its application, after a delay, with a packet that has payload or by one that has not.
    #[inline(always)]
    pub fn count_delivered(&mut self, bytes: u64, has_payload: bool, delay: Span, now: Time) {
        if now <= self.stop {
            self.totals.delivered_bytes += bytes;
            if has_payload {
                self.totals.delivered_packets += 1;
                self.delays.add(delay.0);
            }
        }
    }

    /// One of its packets is dropped.
    pub fn count_dropped(&mut self, class: PacketClass, now: Time) {
        self.totals.dropped += u64::from(class == PacketClass::Data && now <= self.stop);
    }

    /// Its source waits for room in its node's queue from now on.
    pub fn hold(&mut self, now: Time) {
        self.held_since = Some(now);
    }

    /// Its source waits no more.
    pub fn release(&mut self, now: Time) {
        self.totals = self.totals(now);
        self.held_since = None;
    }

    /// Asks a saturating source to offer another packet later; true if no request was pending.
    pub fn request_offer(&mut self) -> bool {
        !std::mem::replace(&mut self.offer_requested, true)
    }

    /// The requested offer is due.
    pub fn offer_due(&mut self) {
        self.offer_requested = false;
    }

    /// What is measured starts.
    pub fn warmed_up(&mut self, now: Time) {
        self.warmup = self.totals(now);
        self.delays = Delays::default();
    }
}
