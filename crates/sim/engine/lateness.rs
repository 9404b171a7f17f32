//! Lateness of a world that is tied to a wall clock.

use airfair_units::Span;

/// Decimal decades of the histogram: from 1 ns to 1000 s and more.
const DECADES: usize = 12;

/// Buckets of a decade: two significant digits.
const BUCKETS: usize = 90;

/// Lateness of steps or of deliveries: counts in log-linear buckets, each as wide as a hundredth of the power of ten above it, so that a
/// quantile is known within a tenth of its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lateness {
    counts: Vec<u64>,
    steps: u64,
    worst: Span,
}

impl Default for Lateness {
    fn default() -> Self {
        Self { counts: vec![0; DECADES * BUCKETS], steps: 0, worst: Span::ZERO }
    }
}

/// The bucket of a lateness: 90 of the numbers from 10 to 99 for each power of ten.
fn bucket(late: Span) -> usize {
    let mut digits = late.0.max(10);
    let mut decade = 0;
    while digits >= 100 && decade + 1 < DECADES {
        digits /= 10;
        decade += 1;
    }
    decade * BUCKETS + (digits.min(99) as usize - 10)
}

/// The upper end of a bucket, ns.
fn upper_end(bucket: usize) -> u64 {
    (bucket % BUCKETS + 11) as u64 * 10_u64.pow((bucket / BUCKETS) as u32)
}

impl Lateness {
    /// Counts a step or a delivery.
    pub fn add(&mut self, late: Span) {
        self.steps += 1;
        self.worst = self.worst.max(late);
        self.counts[bucket(late)] += 1;
    }

    /// Number of steps or deliveries.
    #[must_use]
    pub const fn steps(&self) -> u64 {
        self.steps
    }

    /// Largest lateness.
    #[must_use]
    pub const fn worst(&self) -> Span {
        self.worst
    }

    /// Number of those that were less late than a time; a time with more than two significant digits counts as the next larger one with
    /// two.
    #[must_use]
    pub fn below(&self, time: Span) -> u64 {
        let counts = self.counts.iter().enumerate();
        counts.filter(|&(bucket, _)| upper_end(bucket) <= time.0).map(|(_, count)| count).sum()
    }

    /// The lateness that this part of all, 0..=1, did not exceed: at most a tenth too large. Zero without steps.
    #[must_use]
    pub fn quantile(&self, part: f64) -> Span {
        let wanted = (part.clamp(0.0, 1.0) * self.steps as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return Span(upper_end(bucket)).min(self.worst);
            }
        }
        self.worst
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 ns, 100 ns, 1 us, ...: the first bucket of each decade begins there, and the last one of the decade before ends there.
    #[test]
    fn buckets_follow_one_another_without_gaps() {
        let mut last = 0;
        for bucket_of in 1..DECADES * BUCKETS {
            let begin = upper_end(bucket_of - 1);
            assert!(begin > last);
            assert_eq!((bucket(Span(begin - 1)), bucket(Span(begin))), (bucket_of - 1, bucket_of));
            last = begin;
        }
        assert_eq!((bucket(Span(0)), bucket(Span(u64::MAX))), (0, DECADES * BUCKETS - 1));
    }

    #[test]
    fn quantiles_are_a_tenth_too_large_at_most() {
        let mut lateness = Lateness::default();
        assert_eq!((lateness.quantile(0.5), lateness.steps()), (Span::ZERO, 0));
        for i in 1..=1000 {
            lateness.add(Span(i * 1_000));
        }
        for (part, exact) in [(0.0, 1_000), (0.5, 500_000), (0.99, 990_000), (1.0, 1_000_000)] {
            let found = lateness.quantile(part).0;
            assert!(found >= exact && found as f64 <= exact as f64 * 1.1, "{part}: {found}");
        }
        let below = [10_000, 100_000, 1_000_000, 10_000_000].map(|time| lateness.below(Span(time)));
        assert_eq!((below, lateness.worst()), ([9, 99, 999, 1000], Span(1_000_000)));
    }
}
