//! One direction of a wired link.

use airfair_units::random::Stream;
use airfair_units::{Rate, Span, Time};

use super::fifo::Fifo;
use super::timetable::Timetable;
use super::{OfferedPacket, ScheduledEvent};
use crate::event::{EventKind, Order, class};
use crate::ids::{CopyRef, NodeIx, PortIx, WireIx};

/// A packet that a wire has accepted and not delivered.
#[derive(Debug, Clone, Copy)]
pub(super) struct InFlight {
    /// Time at which the packet arrived at the interface.
    pub accepted: Time,
    /// Time at which its first bit leaves.
    pub begin: Time,
    /// Time at which its last bit has left.
    pub end: Time,
    pub packet: CopyRef,
    /// True if the packet will be lost at the time of its arrival.
    pub lost: bool,
}

/// Loss model of a wire.
#[derive(Debug)]
pub(super) struct Losses {
    /// Probability that a packet is lost, independently.
    pub probability: f64,
    /// Every n-th packet with payload is lost; 0: none.
    pub every: u32,
    /// Packets with payload since the last loss by `every`.
    pub since: u32,
    pub random: Stream,
}

/// Transmission time of the last packet size, with the remainder of the division: most packets of a wire have one size.
#[derive(Debug, Default)]
struct LastSize {
    bytes: u64,
    span: u64,
    rest: u64,
}

/// One direction of a wired link. At most two of its events are pending: the arrival of the oldest packet in flight and, while packets wait
/// in a queue of the node or sources wait for room, the next departure.
#[derive(Debug)]
pub(super) struct Wire {
    /// Index of the wire in events.
    number: WireIx,
    /// Port of the sending node.
    pub port: PortIx,
    /// Sending node, and node at the far end.
    pub from: NodeIx,
    pub to: NodeIx,
    rate: Rate,
    delay: Span,
    rank: u32,
    pub losses: Losses,
    /// True if packets may be lost.
    loses: bool,
    /// True if the rate changes during the run.
    pub rate_changes: bool,
    /// Timetable of the wire's own queue, if it keeps one.
    pub timetable: Option<Timetable>,
    /// Time at which the last packet's last bit leaves.
    pub free_at: Time,
    /// True if an event for the end of the present transmission, or for the next departure, is pending.
    pub wake_pending: bool,
    /// Packets that wait in the timetable, are in transmission, or propagate, in the order of arrival.
    pub in_flight: Fifo<InFlight>,
    /// See [`super::Links::note_onward`].
    pub onward: Option<(NodeIx, WireIx)>,
    /// Rounding error of the last packet's end, in units of 1 ns / rate: it is carried over, so errors do not accumulate.
    remainder: u64,
    last_size: LastSize,
}

impl Wire {
    /// A wire without packets.
    pub(super) fn new(
        number: WireIx,
        port: PortIx,
        (from, to): (NodeIx, NodeIx),
        (rate, delay): (Rate, Span),
        losses: Losses,
        rank: u32,
    ) -> Self {
        Self {
            number,
            port,
            from,
            to,
            rate,
            delay,
            rank,
            loses: losses.probability > 0.0 || losses.every > 0,
            losses,
            rate_changes: false,
            timetable: None,
            free_at: Time::ZERO,
            wake_pending: false,
            in_flight: Fifo::new(),
            onward: None,
            remainder: 0,
            last_size: LastSize::default(),
        }
    }

    pub(super) const fn rate(&self) -> Rate {
        self.rate
    }

    pub(super) const fn delay(&self) -> Span {
        self.delay
    }

    pub(super) const fn rank(&self) -> u32 {
        self.rank
    }

    /// Arrival time of a packet at the far end.
    #[inline(always)]
    pub(super) fn arrival(&self, packet: &InFlight) -> Time {
        packet.end + self.delay
    }

    /// Arrival event of the first packet in flight.
    #[inline(always)]
    pub(super) fn next_arrival(&self, first: &InFlight) -> ScheduledEvent {
        let order = Order::new(class::WIRE, self.rank);
        ScheduledEvent { at: self.arrival(first), order, kind: EventKind::WireArrival(self.number) }
    }

    /// An event for a departure, unless one is pending.
    #[inline]
    pub(super) fn wake_at(&mut self, at: Time) -> Option<ScheduledEvent> {
        let order = Order::new(class::WIRE_FREE, self.rank);
        (!std::mem::replace(&mut self.wake_pending, true)).then_some(ScheduledEvent {
            at,
            order,
            kind: EventKind::WireFree(self.number),
        })
    }

    /// Sends a packet of `bytes`, framing included, from `begin` on. Returns the packet, and its arrival event if no other packet arrives
    /// before it.
    #[inline(always)]
    pub(super) fn send(
        &mut self,
        offer: &OfferedPacket,
        bytes: u64,
        accepted: Time,
        begin: Time,
    ) -> (InFlight, Option<ScheduledEvent>) {
        let end = begin + self.transmission_time(bytes, begin == self.free_at);
        self.free_at = end;
        let mut packet = InFlight { accepted, begin, end, packet: offer.packet, lost: false };
        if self.loses {
            packet.lost = self.draw_loss(offer.has_payload);
        }
        let due = self.in_flight.is_empty().then(|| self.next_arrival(&packet));
        self.in_flight.push(packet);
        (packet, due)
    }

    /// Draws whether the next packet is lost on the way.
    #[inline(never)]
    fn draw_loss(&mut self, has_payload: bool) -> bool {
        let losses = &mut self.losses;
        let mut lost = losses.probability > 0.0 && losses.random.uniform() < losses.probability;
        if losses.every > 0 && has_payload {
            losses.since += 1;
            if losses.since == losses.every {
                losses.since = 0;
                lost = true;
            }
        }
        lost
    }

    /// Changes the rate; a packet in transmission keeps its old rate.
    pub(super) fn set_rate(&mut self, rate: Rate) {
        // The same fraction of a nanosecond, in units of the new rate.
        let remainder =
            u128::from(self.remainder) * u128::from(rate.as_bps()) / u128::from(self.rate.as_bps());
        self.remainder = remainder as u64;
        self.rate = rate;
        self.last_size = LastSize::default();
    }

    /// Transmission time in whole nanoseconds; the remainder is carried over while the wire stays busy.
    #[inline(always)]
    fn transmission_time(&mut self, bytes: u64, back_to_back: bool) -> Span {
        if !back_to_back {
            self.remainder = 0;
        }
        let rate = self.rate.as_bps();
        if bytes != self.last_size.bytes {
            // No packet has a gigabyte: the product does not overflow.
            let total = bytes.min(1 << 30) * 8_000_000_000;
            self.last_size = LastSize { bytes, span: total / rate, rest: total % rate };
        }
        let rest = self.last_size.rest + self.remainder;
        let whole = rest >= rate;
        self.remainder = if whole { rest - rate } else { rest };
        Span(self.last_size.span + u64::from(whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airfair_units::random::Purpose;

    #[test]
    fn nothing_is_lost_by_rounding() {
        let losses =
            Losses { probability: 0.0, every: 0, since: 0, random: Stream::new(1, "x", Purpose::LinkLoss) };
        let ends = (NodeIx(0), NodeIx(1));
        let link = (Rate(3_000_000_000), Span::ZERO);
        let mut wire = Wire::new(WireIx(0), PortIx(0), ends, link, losses, 0);
        // 1 byte at 3 Gbit/s takes 8/3 ns: three of them take 8 ns.
        let times: Vec<u64> = (0..3).map(|i| wire.transmission_time(1, i > 0).0).collect();
        assert_eq!(times, [2, 3, 3]);
        // After an idle time the remainder is zero.
        assert_eq!(wire.transmission_time(1, false).0, 2);
    }
}
