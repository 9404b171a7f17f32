//! A histogram of delays, of fixed size: 32 buckets for each power of two, so that a quantile is at most 1/32 too large.

/// Buckets of a power of two, as a power of two.
const FINE: u32 = 5;

/// Buckets: the values below 32 have one each, then 32 for each of the powers 2^5 to 2^63.
const BUCKETS: usize = (64 - FINE as usize + 1) << FINE;

/// Delays in nanoseconds.
#[derive(Debug, Clone)]
pub struct Delays {
    counts: Box<[u64]>,
    count: u64,
    longest: u64,
}

impl Default for Delays {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS].into_boxed_slice(), count: 0, longest: 0 }
    }
}

/// The bucket of a delay.
const fn bucket(delay: u64) -> usize {
    let power = 63 - (delay | 1).leading_zeros();
    if power < FINE {
        return delay as usize;
    }
    let shift = power - FINE;
    (((shift + 1) << FINE) as u64 + ((delay >> shift) & ((1 << FINE) - 1))) as usize
}

/// The largest delay of a bucket.
const fn largest(bucket: usize) -> u64 {
    let (turn, part) = ((bucket >> FINE) as u32, (bucket & ((1 << FINE) - 1)) as u64);
    if turn == 0 {
        return part;
    }
    let shift = turn - 1;
    (((1 << FINE) + part) << shift) + ((1 << shift) - 1)
}

impl Delays {
    /// Counts a delay.
    pub fn note(&mut self, delay: u64) {
        self.counts[bucket(delay)] += 1;
        self.count += 1;
        self.longest = self.longest.max(delay);
    }

    /// The delay that at least `per_cent` of all do not exceed, rounded up to the end of its bucket; none without delays.
    #[must_use]
    pub fn quantile(&self, per_cent: u64) -> Option<u64> {
        let rank = (u128::from(self.count) * u128::from(per_cent)).div_ceil(100).max(1);
        let mut below = 0;
        let found = self.counts.iter().position(|&count| {
            below += u128::from(count);
            below >= rank
        });
        found.map(|bucket| largest(bucket).min(self.longest))
    }

    /// The longest delay; none without delays.
    #[must_use]
    pub fn longest(&self) -> Option<u64> {
        (self.count > 0).then_some(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_one_another() {
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        assert_eq!(largest(BUCKETS - 1), u64::MAX);
        for number in 0..BUCKETS - 1 {
            assert_eq!(bucket(largest(number)), number);
            assert_eq!(bucket(largest(number) + 1), number + 1);
        }
    }

    #[test]
    fn quantiles_of_a_thousand() {
        let mut of = Delays::default();
        assert_eq!((of.quantile(50), of.longest()), (None, None));
        (1..=1000).rev().for_each(|millis| of.note(millis * 1_000_000));
        for (per_cent, exact) in [(50, 500_000_000), (99, 990_000_000)] {
            let found = of.quantile(per_cent).unwrap();
            assert!(found >= exact && found <= exact + exact / 32, "{per_cent}: {found}");
        }
        assert_eq!(of.quantile(100), Some(1_000_000_000));
        assert_eq!(of.longest(), Some(1_000_000_000));
    }
}
