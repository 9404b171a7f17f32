//! Estimation of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation-02, sections 3.2 and 3.3), and ends of rounds.

use airfair_schemes::places::RateSample;
use airfair_units::{Bytes, Span, Time};

/// State of the connection at a segment's departure, stored with the segment (section 3.2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// Time of departure.
    pub(crate) sent_at: Time,
    /// P.delivered, bytes.
    delivered: u64,
    /// P.delivered_time.
    delivered_at: Time,
    /// P.first_sent_time.
    first_sent: Time,
    /// P.is_app_limited.
    app_limited: bool,
}

/// Counters of a connection (section 3.1).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DeliveryRate {
    /// C.delivered: bytes acknowledged, cumulatively or selectively.
    delivered: u64,
    /// C.delivered_time.
    delivered_at: Time,
    /// C.first_sent_time.
    first_sent: Time,
    /// C.app_limited: value of `delivered` at the end of an application-limited phase; 0: no such phase.
    app_limited_to: u64,
    /// Value of `delivered` at the start of the present round.
    round_start: u64,
}

impl DeliveryRate {
    /// Handles the departure of a segment (section 3.2); `idle`: nothing was outstanding, SND.NXT == SND.UNA. An estimate of zero in flight
    /// would not suffice: after a time-out it is a guess, and would make the interval too short.
    pub(crate) fn on_sent(&mut self, now: Time, idle: bool) -> Snapshot {
        if idle {
            self.first_sent = now;
            self.delivered_at = now;
        }
        Snapshot {
            sent_at: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            app_limited: self.app_limited_to > 0,
        }
    }

    /// The application has nothing more to send although the window is open (section 3.4).
    pub(crate) fn on_app_limited(&mut self, in_flight: u64) {
        self.app_limited_to = (self.delivered + in_flight).max(1);
    }

    /// `bytes` are newly delivered; `newest` belongs to the last sent of their segments (section 3.3). A sample over less than the shortest
    /// round trip comes from a spurious retransmission and is discarded. Returns also true if a round has ended.
    pub(crate) fn on_delivered(
        &mut self,
        now: Time,
        bytes: u64,
        newest: &Snapshot,
        min_rtt: Option<Span>,
    ) -> (Option<RateSample>, bool) {
        self.delivered += bytes;
        self.delivered_at = now;
        self.first_sent = newest.sent_at;
        if self.delivered > self.app_limited_to {
            self.app_limited_to = 0;
        }
        let round_ended = newest.delivered >= self.round_start;
        if round_ended {
            self.round_start = self.delivered;
        }
        let interval = newest.sent_at.since(newest.first_sent).max(now.since(newest.delivered_at));
        let sample = (interval > Span::ZERO && interval >= min_rtt.unwrap_or_default()).then(|| RateSample {
            delivered: Bytes(self.delivered - newest.delivered),
            interval,
            app_limited: newest.app_limited,
        });
        (sample, round_ended)
    }

    /// `bytes` are newly delivered by unknown segments: there is no sample, and the next one includes them.
    pub(crate) fn on_unknown(&mut self, now: Time, bytes: u64) {
        if bytes > 0 {
            self.delivered += bytes;
            self.delivered_at = now;
        }
    }

    /// Number of bytes delivered.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    #[test]
    fn the_longer_interval_counts() {
        let mut rate = DeliveryRate::default();
        let first = rate.on_sent(at(0), true);
        let second = rate.on_sent(at(30), false);
        // Acknowledged 100 ms after departure: 1000 bytes in 100 ms.
        let (sample, ended) = rate.on_delivered(at(100), 1000, &first, None);
        assert!(ended);
        let interval = Span::from_millis(100);
        assert_eq!(sample, Some(RateSample { delivered: Bytes(1000), interval, app_limited: false }));
        assert_eq!(sample.map(|s| s.rate().0), Some(80_000));
        // Both in 105 ms since the connection was idle; the segment was sent before the round's end.
        let (sample, ended) = rate.on_delivered(at(105), 1000, &second, None);
        assert!(!ended);
        assert_eq!(sample.map(|s| (s.delivered.0, s.interval.0 / 1_000_000)), Some((2000, 105)));
        // Sent 150 ms apart and acknowledged 5 ms apart: the sending interval is longer.
        let third = rate.on_sent(at(200), true);
        let fourth = rate.on_sent(at(350), false);
        let (_, ended) = rate.on_delivered(at(400), 1000, &third, None);
        assert!(ended);
        let fifth = rate.on_sent(at(400), false);
        let (sample, ended) = rate.on_delivered(at(405), 1000, &fourth, None);
        assert!(!ended);
        assert_eq!(sample.map(|s| (s.delivered.0, s.interval.0 / 1_000_000)), Some((2000, 205)));
        // The newest acknowledged one was sent at 200: the fifth was sent 200 ms later, and acknowledged 10 ms later.
        let (sample, _) = rate.on_delivered(at(410), 1000, &fifth, None);
        assert_eq!(sample.map(|s| (s.delivered.0, s.interval.0 / 1_000_000)), Some((2000, 200)));
        assert_eq!(rate.delivered(), 5000);
    }

    #[test]
    fn a_sample_shorter_than_a_round_trip_is_none() {
        let mut rate = DeliveryRate::default();
        let segment = rate.on_sent(at(0), true);
        assert_eq!(rate.on_delivered(at(9), 1, &segment, Some(Span::from_millis(10))).0, None);
        let segment = rate.on_sent(at(10), true);
        assert!(rate.on_delivered(at(20), 1, &segment, Some(Span::from_millis(10))).0.is_some());
        let segment = rate.on_sent(at(20), true);
        assert_eq!(rate.on_delivered(at(20), 1, &segment, None).0, None, "no time has passed");
    }

    #[test]
    fn idle_time_of_the_application_marks_samples_until_its_data_are_delivered() {
        let mut rate = DeliveryRate::default();
        let first = rate.on_sent(at(0), true);
        rate.on_app_limited(1000);
        let second = rate.on_sent(at(1), false);
        assert_eq!(rate.on_delivered(at(100), 1000, &first, None).0.map(|s| s.app_limited), Some(false));
        let third = rate.on_sent(at(101), false);
        assert_eq!(rate.on_delivered(at(102), 1, &second, None).0.map(|s| s.app_limited), Some(true));
        let fourth = rate.on_sent(at(103), false);
        assert_eq!(rate.on_delivered(at(201), 1, &third, None).0.map(|s| s.app_limited), Some(true));
        assert_eq!(rate.on_delivered(at(203), 1, &fourth, None).0.map(|s| s.app_limited), Some(false));
    }
}
