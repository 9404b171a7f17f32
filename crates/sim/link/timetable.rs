//! Timetable of departures, in place of a drop-tail queue before a wire: departures are known when packets arrive, so they need no events.

use airfair_schemes::places::Backlog;
use airfair_units::{Rate, Span, Time};

use super::fifo::Fifo;
use super::wire::InFlight;

/// Times of departure for the packets in flight; those whose first bit has not left are waiting.
#[derive(Debug)]
pub(super) struct Timetable {
    /// Number of packets accepted.
    accepted: u64,
    /// Largest number of packets that wait.
    limit: usize,
    /// Length of the prefix of the packets in flight whose transmission had begun at the last query.
    begun: usize,
    /// Sum of the waiting times of the accepted packets.
    waited: Span,
}

impl Timetable {
    /// An empty timetable for at most `limit` waiting packets.
    pub(super) const fn new(limit: u32) -> Self {
        Self { limit: limit as usize, begun: 0, accepted: 0, waited: Span::ZERO }
    }

    /// Accepts a packet whose transmission would start at `begin`, unless it would have to wait and the queue is full.
    #[inline(always)]
    pub(super) fn accepts(&mut self, in_flight: &Fifo<InFlight>, begin: Time, now: Time) -> bool {
        if begin > now {
            if self.is_full(in_flight, now) {
                return false;
            }
            self.waited += Span(begin.0 - now.0);
        }
        self.accepted += 1;
        true
    }

    /// Adjusts the timetable after the first packet in flight was removed.
    #[inline(always)]
    pub(super) fn on_first_removed(&mut self) {
        self.begun = self.begun.saturating_sub(1);
    }

    /// True if the queue is full.
    #[inline(always)]
    pub(super) fn is_full(&mut self, in_flight: &Fifo<InFlight>, now: Time) -> bool {
        // Packets that left earlier matter only if they could make room.
        in_flight.len() - self.begun >= self.limit && self.is_full_after(in_flight, now)
    }

    /// True if the queue is full without the packets that have left by now.
    #[cold]
    #[inline(never)]
    fn is_full_after(&mut self, in_flight: &Fifo<InFlight>, now: Time) -> bool {
        self.advance_to(in_flight, now);
        in_flight.len() - self.begun >= self.limit
    }

    /// Backlog at a wire of that rate, in bytes on the wire. Packets that had started by the time of the latest query are not waiting, even
    /// if `now` is earlier.
    #[inline]
    pub(super) fn backlog(&mut self, in_flight: &Fifo<InFlight>, rate: Rate, now: Time) -> Backlog {
        self.advance_to(in_flight, now);
        let (Some(first), Some(last)) = (in_flight.get(self.begun), in_flight.last()) else {
            return Backlog::default();
        };
        // Times are whole nanoseconds: rounding to the nearest byte is exact. Divisions of wide numbers are slow, and needed only for a
        // backlog of seconds at many Gbit/s.
        let (span, half, unit) = (last.end.0 - first.begin.0, 4_000_000_000, 8_000_000_000);
        let bytes = match span.checked_mul(rate.as_bps()).and_then(|bits| bits.checked_add(half)) {
            Some(bits) => bits / unit,
            None => {
                let bits = u128::from(span) * u128::from(rate.as_bps()) + u128::from(half);
                (bits / u128::from(unit)) as u64
            }
        };
        Backlog { packets: (in_flight.len() - self.begun) as u32, bytes }
    }

    /// Number of packets that have left by now, and the sum of their waiting times.
    pub(super) fn departed(&self, in_flight: &[InFlight], now: Time) -> (u64, Span) {
        let waiting = in_flight.iter().skip(first_waiting(in_flight, now));
        let wait = |packet: &InFlight| packet.begin.since(packet.accepted);
        let still = waiting.fold((0, Span::ZERO), |(count, sum), packet| (count + 1, sum + wait(packet)));
        (self.accepted - still.0, self.waited - still.1)
    }

    fn advance_to(&mut self, in_flight: &Fifo<InFlight>, now: Time) {
        while in_flight.get(self.begun).is_some_and(|packet| packet.begin <= now) {
            self.begun += 1;
        }
    }
}

/// Index of the first packet in flight whose transmission has not started.
pub(super) fn first_waiting(in_flight: &[InFlight], now: Time) -> usize {
    in_flight.partition_point(|packet| packet.begin <= now)
}
