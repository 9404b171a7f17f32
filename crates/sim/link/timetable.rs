//! What stands for a drop-tail queue before a wire: departures are known when packets arrive, so that no event tells of one.

use std::collections::VecDeque;

use airfair_schemes::places::Backlog;
use airfair_units::{Rate, Span, Time};

use super::wire::InFlight;

/// Packets in flight whose first bit has not left are those that wait.
#[derive(Debug)]
pub(super) struct Timetable {
    /// Most packets that wait.
    limit: usize,
    /// Length of the prefix of the packets in flight whose transmission had begun at the last query.
    begun: usize,
    /// Packets accepted, and the time that they wait in all.
    accepted: u64,
    waited: Span,
}

impl Timetable {
    /// An empty one, for at most `limit` packets.
    pub(super) const fn new(limit: u32) -> Self {
        Self { limit: limit as usize, begun: 0, accepted: 0, waited: Span::ZERO }
    }

    /// A packet is accepted, and waits for so long.
    #[inline(always)]
    pub(super) fn accept(&mut self, wait: Span) {
        self.accepted += 1;
        self.waited += wait;
    }

    /// The packet that was accepted first is not in flight any more.
    #[inline(always)]
    pub(super) fn forget_first(&mut self) {
        self.begun = self.begun.saturating_sub(1);
    }

    /// Whether the queue is full.
    #[inline]
    pub(super) fn is_full(&mut self, in_flight: &VecDeque<InFlight>, now: Time) -> bool {
        // What left long ago matters only when it could make room.
        if in_flight.len() - self.begun < self.limit {
            return false;
        }
        self.pass(in_flight, now);
        in_flight.len() - self.begun >= self.limit
    }

    /// What waits, in bytes as the wire carries them, on a wire of that rate. What had begun to leave by the latest moment that was asked
    /// about does not wait, also if `now` lies before that.
    #[inline]
    pub(super) fn backlog(&mut self, in_flight: &VecDeque<InFlight>, rate: Rate, now: Time) -> Backlog {
        self.pass(in_flight, now);
        let (Some(first), Some(last)) = (in_flight.get(self.begun), in_flight.back()) else {
            return Backlog::default();
        };
        // Moments are whole nanoseconds: the nearest byte is the right one. Wide numbers are slow to divide, and needed only where
        // seconds of many Gbit/s wait.
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

    /// Packets that have left by now, and the time that these have waited.
    pub(super) fn departed(&self, in_flight: &VecDeque<InFlight>, now: Time) -> (u64, Span) {
        let waiting = in_flight.range(first_waiting(in_flight, now)..);
        let wait = |packet: &InFlight| packet.begin.since(packet.accepted);
        let still = waiting.fold((0, Span::ZERO), |(count, sum), packet| (count + 1, sum + wait(packet)));
        (self.accepted - still.0, self.waited - still.1)
    }

    fn pass(&mut self, in_flight: &VecDeque<InFlight>, now: Time) {
        while in_flight.get(self.begun).is_some_and(|packet| packet.begin <= now) {
            self.begun += 1;
        }
    }
}

/// The place of the first packet in flight whose transmission has not begun.
pub(super) fn first_waiting(in_flight: &VecDeque<InFlight>, now: Time) -> usize {
    in_flight.partition_point(|packet| packet.begin <= now)
}
