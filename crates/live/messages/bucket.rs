//! A limit on a rate of packets.

use airfair_units::{Span, Time};

/// Most credit: a second, so that at most a second's packets come at once.
const DEPTH: Span = Span::from_secs(1);

/// A token bucket. Its credit is a time, so that the rate may change between two packets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bucket {
    credit: Span,
    last: Time,
}

impl Bucket {
    /// A full bucket.
    pub(super) const fn full(now: Time) -> Self {
        Self { credit: DEPTH, last: now }
    }

    /// Takes one packet at a limit of `rate` packets a second; false where the limit is reached.
    pub(super) fn take(&mut self, rate: u32, now: Time) -> bool {
        let credit = self.credit.0.saturating_add(now.0.saturating_sub(self.last.0)).min(DEPTH.0);
        self.last = now;
        let left = DEPTH.0.checked_div(u64::from(rate)).and_then(|cost| credit.checked_sub(cost));
        self.credit = Span(left.unwrap_or(credit));
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_at_once_and_then_the_rate() {
        let mut bucket = Bucket::full(Time(0));
        let taken = |bucket: &mut Bucket, now: u64| (0..100).filter(|_| bucket.take(10, Time(now))).count();
        assert_eq!(taken(&mut bucket, 0), 10);
        assert_eq!(taken(&mut bucket, 99_999_999), 0);
        assert_eq!(taken(&mut bucket, 250_000_000), 2);
        assert_eq!(taken(&mut bucket, 300_000_000), 1);
        assert_eq!(taken(&mut bucket, u64::MAX), 10);
        assert_eq!(taken(&mut bucket, 0), 0, "a clock that is set back gives nothing");
        assert!(!bucket.take(0, Time(u64::MAX)));
    }
}
