//! Delays of a flow: mean and quantiles in bounded memory.

/// Histogram with relative steps of 1/64: a quantile is off by at most 0.8 %. Its memory grows with the largest delay only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delays {
    counts: Vec<u32>,
    count: u64,
    sum_ns: u128,
}

const STEPS: u64 = 64;

fn bin(ns: u64) -> usize {
    if ns < STEPS {
        return ns as usize;
    }
    let octave = 63 - u64::from(ns.leading_zeros()) - 6;
    (octave * STEPS + (ns >> octave)) as usize
}

fn bin_centre(bin: usize) -> f64 {
    let bin = bin as u64;
    if bin < STEPS {
        return bin as f64;
    }
    let octave = bin / STEPS - 1;
    let low = (bin - octave * STEPS) << octave;
    low as f64 + ((1u64 << octave) as f64 - 1.0) / 2.0
}

impl Delays {
    /// Counts a delay of `ns` nanoseconds.
    #[inline]
    pub fn add(&mut self, ns: u64) {
        let bin = bin(ns);
        match self.counts.get_mut(bin) {
            Some(count) => *count += 1,
            None => self.add_first(bin),
        }
        self.count += 1;
        self.sum_ns += u128::from(ns);
    }

    /// Counts the first delay of a bin beyond all others.
    #[cold]
    #[inline(never)]
    fn add_first(&mut self, bin: usize) {
        self.counts.resize(bin, 0);
        self.counts.push(1);
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self.count += other.count;
        self.sum_ns += other.sum_ns;
    }

    /// Number of delays.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Mean, seconds.
    #[must_use]
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64 / 1e9)
    }

    /// A quantile in seconds, `0 < q <= 1`: the smallest delay that is not exceeded by at least that share.
    #[must_use]
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        let wanted = ((q * self.count as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for (i, &n) in self.counts.iter().enumerate() {
            seen += u64::from(n);
            if seen >= wanted && self.count > 0 {
                return Some(bin_centre(i) / 1e9);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_has_no_mean() {
        assert_eq!(Delays::default().mean_s(), None);
        assert_eq!(Delays::default().quantile_s(0.99), None);
    }

    proptest! {
        #[test]
        fn quantiles_are_within_a_step(mut values in proptest::collection::vec(0u64..100_000_000_000, 1..300), q in 0.01f64..1.0) {
            let mut delays = Delays::default();
            values.iter().for_each(|&v| delays.add(v));
            values.sort_unstable();
            let rank = ((q * values.len() as f64).ceil() as usize).max(1) - 1;
            let exact = values[rank] as f64;
            let got = delays.quantile_s(q).unwrap() * 1e9;
            prop_assert!((got - exact).abs() <= exact * 0.008 + 1.0, "{} {}", got, exact);
            let mean = values.iter().map(|&v| v as f64).sum::<f64>() / values.len() as f64;
            prop_assert!((delays.mean_s().unwrap() * 1e9 - mean).abs() <= mean * 1e-9 + 1.0);
        }
    }
}
