//! Pacing: the earliest time of the next burst. Unused time is not credited.

use airfair_units::{Bytes, Rate, Time};

/// Releases bursts of a quantum, or of one segment if that is larger or there is no quantum, at intervals of their duration at the
/// pacing rate.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pacer {
    /// Time at which all sent data would have left at the pacing rate.
    through: Time,
    /// Bytes left in the present burst.
    burst_left: u64,
}

impl Pacer {
    /// Checks whether `bytes` may be sent now; the error is the time at which they may. A rate of zero sends nothing.
    ///
    /// # Errors
    /// The time.
    pub fn check(&self, now: Time, bytes: u64, rate: Rate) -> Result<(), Time> {
        if rate.0 == 0 {
            Err(Time::NEVER)
        } else if now >= self.through || bytes <= self.burst_left {
            Ok(())
        } else {
            Err(self.through)
        }
    }

    /// Records that `bytes` were sent.
    pub fn on_sent(&mut self, now: Time, bytes: u64, rate: Rate, quantum: Option<Bytes>) {
        if now >= self.through {
            self.burst_left = quantum.map_or(0, Bytes::get);
            self.through = now;
        }
        self.burst_left = self.burst_left.saturating_sub(bytes);
        if rate.0 > 0 {
            self.through = self.through.saturating_add(rate.time_for(Bytes(bytes)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate(8_000_000); // One byte per microsecond.

    fn at(us: u64) -> Time {
        Time(us * 1000)
    }

    #[test]
    fn one_segment_at_a_time() {
        let mut pacer = Pacer::default();
        assert_eq!(pacer.check(at(0), 1000, RATE), Ok(()));
        pacer.on_sent(at(0), 1000, RATE, None);
        assert_eq!(pacer.check(at(999), 1000, RATE), Err(at(1000)));
        assert_eq!(pacer.check(at(1000), 1000, RATE), Ok(()));
        // A late segment moves the clock: the unused time is lost.
        pacer.on_sent(at(1500), 1000, RATE, None);
        assert_eq!(pacer.check(at(2000), 1000, RATE), Err(at(2500)));
    }

    #[test]
    fn a_quantum_is_sent_at_once_and_delays_the_next() {
        let mut pacer = Pacer::default();
        for _ in 0..2 {
            assert_eq!(pacer.check(at(0), 1000, RATE), Ok(()));
            pacer.on_sent(at(0), 1000, RATE, Some(Bytes(2000)));
        }
        assert_eq!(pacer.check(at(0), 1000, RATE), Err(at(2000)));
        assert_eq!(pacer.check(at(2000), 1000, RATE), Ok(()));
        pacer.on_sent(at(2000), 1500, RATE, Some(Bytes(2000)));
        assert_eq!(pacer.check(at(2000), 501, RATE), Err(at(3500)), "the rest is too small");
        assert_eq!(pacer.check(at(2000), 500, RATE), Ok(()));
    }

    #[test]
    fn a_rate_of_zero_sends_nothing() {
        let mut pacer = Pacer::default();
        assert_eq!(pacer.check(at(5), 1, Rate(0)), Err(Time::NEVER));
        pacer.on_sent(at(5), 1, Rate(0), None);
        assert_eq!(pacer.check(at(5), 1, RATE), Ok(()));
    }
}
