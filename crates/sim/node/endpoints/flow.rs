//! Flows: their ends, their times, and their counters. Datagrams of flows over UDP are made here.

use std::collections::VecDeque;

use airfair_schemes::Carrier;
use airfair_schemes::places::{FlowId, PacketClass};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Rate, Span, Time};

use crate::event::{Order, class};
use crate::ids::{CopyRef, FlowIx, NodeIx, PortIx};
use crate::measure::delays::Delays;
use crate::node::endpoints::laws;
use crate::node::plane::DataPlane;
use crate::packet::{Packet, PacketCopy, Payload};
use crate::route::NextHop;
use crate::spec::FlowSpec;
use crate::traffic::TrafficSource;

/// A flow that is measured for less than this counts as without traffic: a packet of 1500 B and its ACK take longer at 11 Mbit/s.
const LEAST_MEASURED: Span = Span::from_millis(1);

/// Totals of a flow: packets and bytes sent and delivered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FlowTotals {
    /// Packets with payload that its source has made.
    pub sent: u64,
    /// Packets with payload that have arrived before the flow's stop, and bytes delivered to the application.
    pub delivered_packets: u64,
    pub delivered_bytes: u64,
    /// Packets with payload dropped before the flow's stop.
    pub dropped: u64,
    /// Bytes that the application has passed to the transport; a file counts from its start.
    pub offered_bytes: u64,
    /// Time for which a source with a rate of its own waited for room in its node's queue.
    pub held: Span,
}

airfair_units::fieldwise!(Sub::sub for FlowTotals {
    sent, delivered_packets, delivered_bytes, dropped, offered_bytes, held
});

/// Packets of a flow that wait for the forwarder of its source.
#[derive(Debug)]
pub(crate) struct Forwarded {
    /// The port of the forwarder's radio.
    pub port: PortIx,
    pub waiting: VecDeque<CopyRef>,
}

impl Forwarded {
    /// True if as many packets wait as the port's queue may hold.
    pub fn is_full(&self, plane: &DataPlane) -> bool {
        self.waiting.len() >= plane.interfaces.pipeline(self.port).view().limit_packets as usize
    }
}

/// A flow during the run.
pub(crate) struct Flow {
    pub from: NodeIx,
    pub to: NodeIx,
    /// The transport that carries it.
    pub carrier: Carrier,
    /// Scheme number of the flow.
    pub id: FlowId,
    /// First hops of the packets of both directions, with static routes.
    pub first_hops: [Option<NextHop>; 2],
    pub rank: u32,
    /// Packets that wait for the forwarder of the source; none if routes carry the flow.
    pub forwarded: Option<Box<Forwarded>>,
    /// DSCP of its packets in both directions.
    pub dscp: u8,
    pub start: Time,
    pub stop: Time,
    pub source: TrafficSource,
    next_number: u32,
    /// An offer of another packet is pending, since a saturating source's packet was dropped.
    retry_requested: bool,
    /// Totals from the start of the run, and those at the end of the warm-up.
    totals: FlowTotals,
    warmup: FlowTotals,
    /// Start of the source's present wait for room in its node's queue.
    held_since: Option<Time>,
    /// Packets made and delivered, acknowledgements included.
    made: u64,
    ended: u64,
    /// Delays from the end of the warm-up on.
    delays: Delays,
    /// Hops of the last packet that has reached the flow's destination; acknowledgements do not count.
    hops: Option<u16>,
}

impl Flow {
    /// A flow before its start. `end`: that of the run.
    pub fn new(
        spec: &FlowSpec,
        (id, rank): (FlowId, u32),
        carrier: Carrier,
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
            carrier,
            id,
            first_hops: hops,
            rank,
            forwarded: None,
            dscp: spec.dscp,
            start: spec.start + jitter,
            stop: spec.stop.min(end),
            source: TrafficSource::new(spec, &laws::packets(spec, carrier), seed),
            next_number: 0,
            retry_requested: false,
            totals: FlowTotals::default(),
            warmup: FlowTotals::default(),
            held_since: None,
            made: 0,
            ended: 0,
            delays: Delays::default(),
            hops: None,
        }
    }

    /// True for a flow over TCP.
    #[inline(always)]
    pub fn is_tcp(&self) -> bool {
        self.carrier == Carrier::Tcp
    }

    /// Source and destination in one direction.
    pub fn ends(&self, forward: bool) -> (NodeIx, NodeIx) {
        if forward { (self.from, self.to) } else { (self.to, self.from) }
    }

    /// Event order of the flow's application.
    pub fn order(&self) -> Order {
        Order::new(class::TRAFFIC, self.rank)
    }

    /// Totals up to now, the present wait of the source included.
    pub fn totals(&self, now: Time) -> FlowTotals {
        let held = self.held_since.map_or(Span::ZERO, |since| now.min(self.stop).since(since));
        FlowTotals { held: self.totals.held + held, ..self.totals }
    }

    /// Totals at the end of the warm-up.
    pub fn totals_at_warmup(&self) -> FlowTotals {
        self.warmup
    }

    /// Bytes that the application offers between `from` and `until`; none if they are unlimited. For TCP: bytes handed over and not
    /// delivered before. For UDP: its packets, and those that the source would have made while it waited for room. 0 in less than
    /// [`LEAST_MEASURED`]. `has_files`: the flow sends files.
    pub fn offered_bytes(&self, from: Time, until: Time, has_files: bool) -> Option<u64> {
        if until.since(from) < LEAST_MEASURED {
            return Some(0);
        }
        let totals = self.totals(until);
        match self.source.rate() {
            None if !has_files => None,
            _ if self.is_tcp() => Some(totals.offered_bytes - self.warmup.delivered_bytes),
            rate => {
                let counted = totals - self.warmup;
                let held =
                    u128::from(rate.map_or(0, Rate::as_bps)) * u128::from(counted.held.0) / 8_000_000_000;
                Some(counted.offered_bytes + held as u64)
            }
        }
    }

    /// Packets made, acknowledgements included, and packets that have reached their destinations.
    pub fn counts(&self) -> (u64, u64) {
        (self.made, self.ended)
    }

    /// Delays of packets with payload from the end of the warm-up on.
    pub fn delays(&self) -> &Delays {
        &self.delays
    }

    /// Hops of the last packet that has reached the flow's destination; acknowledgements do not count.
    pub fn hops(&self) -> Option<u16> {
        self.hops
    }

    /// Sets the start of the traffic to now.
    pub fn set_start(&mut self, now: Time) {
        self.start = now;
    }

    /// Makes the next datagram as a packet; `headers`: bytes of UDP, IP and a scheme.
    pub fn datagram(&mut self, flow: FlowIx, headers: u32, now: Time) -> Packet {
        let length = self.source.size();
        let number = self.next_number;
        self.next_number = number.wrapping_add(1);
        self.totals.offered_bytes += u64::from(length);
        self.datagram_with(flow, (number, length), headers, now)
    }

    /// Makes a datagram with a number and payload of its own as a packet: one that is sent again.
    pub fn datagram_with(
        &mut self,
        flow: FlowIx,
        (number, length): (u32, u32),
        headers: u32,
        now: Time,
    ) -> Packet {
        self.count_made(true);
        Packet {
            created: now,
            payload: Payload::Udp { flow, number },
            scheme_flow: self.id,
            source: self.from,
            destination: self.to,
            bound_for: self.to,
            length,
            bytes: length + headers,
            class: PacketClass::Data,
            dscp: self.dscp,
        }
    }

    /// Makes a report of the flow's receiver as a packet of `bytes` bytes.
    pub fn report(&mut self, flow: FlowIx, number: u32, bytes: u32, now: Time) -> Packet {
        self.count_made(false);
        Packet {
            created: now,
            payload: Payload::Report { flow, number },
            scheme_flow: self.id,
            source: self.to,
            destination: self.from,
            bound_for: self.from,
            length: 0,
            bytes,
            class: PacketClass::Ack,
            dscp: self.dscp,
        }
    }

    /// Counts a packet that was made.
    #[inline(always)]
    pub fn count_made(&mut self, has_payload: bool) {
        self.made += 1;
        self.totals.sent += u64::from(has_payload);
    }

    /// Counts bytes that the application has handed over to TCP.
    pub fn count_offered(&mut self, bytes: u64) {
        self.totals.offered_bytes += bytes;
    }

    /// Counts a packet of the flow that has reached its destination.
    #[inline(always)]
    pub fn count_arrived(&mut self, packet: &Packet, copy: &PacketCopy, now: Time) {
        self.ended += 1;
        if packet.destination == self.to {
            self.hops = Some(copy.hops);
        }
        // What the transport with a rate delivers, its receiver knows.
        if matches!(packet.payload, Payload::Udp { .. }) && self.carrier == Carrier::Udp {
            self.count_delivered(u64::from(packet.length), true, now.since(packet.created), now);
        }
    }

    /// Counts bytes delivered to the application after a delay; `has_payload`: the packet that completed them has payload.
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

    /// Counts a dropped packet of the flow, if it has payload and the flow has not stopped.
    pub fn count_dropped(&mut self, class: PacketClass, now: Time) {
        self.totals.dropped += u64::from(class == PacketClass::Data && now <= self.stop);
    }

    /// Starts the source's wait for room in its node's queue.
    pub fn hold(&mut self, now: Time) {
        self.held_since = Some(now);
    }

    /// True if the source waits: for room in its node's queue, or for its pacing.
    pub fn is_held(&self) -> bool {
        self.held_since.is_some()
    }

    /// Ends the source's wait for room.
    pub fn release(&mut self, now: Time) {
        self.totals = self.totals(now);
        self.held_since = None;
    }

    /// Requests that a saturating source offers another packet later; true if no request was pending.
    pub fn request_retry(&mut self) -> bool {
        !std::mem::replace(&mut self.retry_requested, true)
    }

    /// Clears the request: the offer is due.
    pub fn retry_due(&mut self) {
        self.retry_requested = false;
    }

    /// Starts the measurement at the end of the warm-up.
    pub fn warmed_up(&mut self, now: Time) {
        self.warmup = self.totals(now);
        self.delays = Delays::default();
    }
}
