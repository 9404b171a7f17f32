//! Fading: the distribution of the factor by which a signal's power differs from the one that propagation gives, and its draws.
//!
//! Rayleigh and Rician factors have mean 1 (apart from the cut): propagation gives the mean power. A log-normal factor has median 1, as
//! is usual for shadowing, whose mean loss is a mean of decibels (Rappaport, Wireless Communications, 2nd edition, 4.9.2): propagation
//! gives the median power, and the mean power is `ln(10) / 20` times the variance in dB² above it: 1.8 dB for a deviation of 4 dB, 11.5
//! dB for one of 10 dB.

use std::f64::consts::TAU;

use airfair_units::random::{Purpose, Stream};
use airfair_units::{Db, math};

use crate::spec::{FadingLaw, FadingSpec};

/// Greatest factor of Rayleigh and Rician fading, dB. Under Rayleigh fading one draw in 22,000 (e^-10) exceeds it and is cut.
pub const BEST_DB: f64 = 10.0;

/// Bound of log-normal fading in standard deviations, as for shadowing.
const BOUND: f64 = super::propagation::SHADOWING_BOUND;

/// Number of equally likely factors by which expectations are computed.
pub(crate) const LEVELS: usize = 64;

/// Random words of a draw: one block of the generator, two uniform numbers.
const WORDS: u64 = 4;

impl FadingSpec {
    /// Greatest factor, so that the reach of a signal is bounded.
    #[must_use]
    pub fn best(&self) -> Db {
        match self.law {
            FadingLaw::Rayleigh | FadingLaw::Rician { .. } => Db(BEST_DB),
            FadingLaw::LogNormal { deviation } => Db(BOUND * deviation.0),
        }
    }

    /// The block at a time.
    pub(crate) fn block(&self, at: u64) -> u64 {
        at / self.coherence.as_nanos().max(1)
    }

    /// Factor of a pair of radios in a block. `pair`: hash of their two names.
    #[must_use]
    pub fn factor(&self, seed: u64, pair: u64, block: u64) -> f64 {
        let mut stream = Stream::of_hash(seed, pair, Purpose::Fading);
        stream.skip(WORDS.wrapping_mul(block));
        let along = stream.uniform();
        self.at(along, stream.uniform())
    }

    /// Equally likely factors in ascending order: expectations over the law are means over these.
    #[must_use]
    pub fn levels(&self) -> Vec<f64> {
        // Angles of half a circle: the other half gives the same factors, and opposite signs in dB.
        const ANGLES: usize = 8;
        let middle = |i: usize, of: usize| (i as f64 + 0.5) / of as f64;
        let mut all: Vec<f64> = (0..LEVELS * ANGLES)
            .map(|i| self.at(middle(i / ANGLES, LEVELS), 0.5 * middle(i % ANGLES, ANGLES)))
            .collect();
        all.sort_unstable_by(f64::total_cmp);
        all.chunks(ANGLES).map(|chunk| chunk.iter().sum::<f64>() / ANGLES as f64).collect()
    }

    /// The factor of two uniform numbers: radius and angle of a complex normal amplitude (Box and Muller).
    fn at(&self, along: f64, around: f64) -> f64 {
        // 1 - u is in (0, 1]: the logarithm is finite.
        let squared = -2.0 * math::ln(1.0 - along);
        let factor = match self.law {
            FadingLaw::Rayleigh => 0.5 * squared,
            FadingLaw::Rician { k } => {
                let k = k.to_linear();
                let scattered = math::sqrt(0.5 * squared / (k + 1.0));
                let across = scattered * math::sin(TAU * around);
                let ahead = math::sqrt(k / (k + 1.0)) + scattered * math::cos(TAU * around);
                ahead * ahead + across * across
            }
            FadingLaw::LogNormal { deviation } => {
                let normal = math::sqrt(squared) * math::cos(TAU * around);
                Db(deviation.0 * normal.clamp(-BOUND, BOUND)).to_linear()
            }
        };
        factor.min(self.best().to_linear())
    }
}

#[cfg(test)]
mod tests {
    use airfair_units::Span;

    use super::*;

    fn fading(law: FadingLaw) -> FadingSpec {
        FadingSpec { law, coherence: Span::from_millis(10) }
    }

    /// The factors of a pair in the first blocks.
    fn factors(law: FadingLaw, pair: u64, blocks: u64) -> Vec<f64> {
        (0..blocks).map(|block| fading(law).factor(1, pair, block)).collect()
    }

    /// Largest distance of the empirical distribution function from a law's (Kolmogorov and Smirnov).
    fn distance(mut draws: Vec<f64>, law: impl Fn(f64) -> f64) -> f64 {
        draws.sort_unstable_by(f64::total_cmp);
        let n = draws.len() as f64;
        let gap =
            |(i, &x): (usize, &f64)| (law(x) - i as f64 / n).abs().max((law(x) - (i + 1) as f64 / n).abs());
        draws.iter().enumerate().map(gap).fold(0.0, f64::max)
    }

    fn correlation(a: &[f64], b: &[f64]) -> f64 {
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        let (ma, mb) = (mean(a), mean(b));
        let of = |x: &[f64], mx: f64, y: &[f64], my: f64| -> f64 {
            x.iter().zip(y).map(|(p, q)| (p - mx) * (q - my)).sum()
        };
        of(a, ma, b, mb) / (of(a, ma, a, ma) * of(b, mb, b, mb)).sqrt()
    }

    /// 1.63 / sqrt(n) is exceeded once in a hundred samples of the law.
    const N: u64 = 20_000;
    const CRITICAL: f64 = 0.0115;

    /// Over the blocks of one pair, and over the pairs in one block.
    #[test]
    fn rayleigh_power_is_exponential() {
        let law = |x: f64| 1.0 - math::exp(-x);
        assert!(distance(factors(FadingLaw::Rayleigh, 77, N), law) < CRITICAL);
        let pairs = (0..N).map(|pair| fading(FadingLaw::Rayleigh).factor(1, pair * 0x9e37_79b9, 5)).collect();
        assert!(distance(pairs, law) < CRITICAL);
    }

    #[test]
    fn log_normal_is_normal_in_db() {
        let draws = factors(FadingLaw::LogNormal { deviation: Db(4.0) }, 3, N);
        let db = draws.iter().map(|x| 10.0 * math::log10(*x) / 4.0).collect();
        let law = |x: f64| 0.5 * math::erfc(-x / math::sqrt(2.0));
        assert!(distance(db, law) < CRITICAL);
    }

    /// The median is 1, and the mean that of the log-normal law, exp(s^2 / 2) for a standard deviation of s of the natural logarithm.
    #[test]
    fn log_normal_has_median_1_and_a_mean_above_it() {
        for (deviation, offset) in [(1.0, 0.115), (2.0, 0.461), (4.0, 1.842), (6.0, 4.145)] {
            let mut draws = factors(FadingLaw::LogNormal { deviation: Db(deviation) }, 4, N);
            draws.sort_unstable_by(f64::total_cmp);
            let db = |x: f64| 10.0 * math::log10(x);
            let (median, mean) = (db(draws[draws.len() / 2]), db(draws.iter().sum::<f64>() / N as f64));
            let s: f64 = deviation * math::ln(10.0) / 10.0;
            // Four standard errors of the median in dB, and of the mean in relation to itself.
            let error = 4.0 / math::sqrt(N as f64);
            assert!(
                median.abs() < error * deviation * math::sqrt(0.5 * std::f64::consts::PI),
                "{deviation} dB: {median}"
            );
            let of_mean = db(1.0 + error * math::sqrt(math::exp(s * s) - 1.0));
            assert!((mean - offset).abs() < of_mean, "{deviation} dB: {mean}");
        }
    }

    /// Mean 1 and variance (1 + 2 K) / (1 + K)^2 (Simon and Alouini, Digital Communication over Fading Channels, 2.2.1.2).
    #[test]
    fn rician_has_the_moments_of_its_law() {
        for k in [-20.0, 0.0, 6.0, 12.0] {
            let draws = factors(FadingLaw::Rician { k: Db(k) }, 9, N);
            let n = N as f64;
            let mean = draws.iter().sum::<f64>() / n;
            let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
            let linear = Db(k).to_linear();
            let expected = (1.0 + 2.0 * linear) / ((1.0 + linear) * (1.0 + linear));
            // Four standard errors of the mean; fourth moments make that of the variance at most 2.9 times as large.
            let error = 4.0 * (expected / n).sqrt();
            assert!((mean - 1.0).abs() < error, "{k} dB: {mean}");
            assert!((variance - expected).abs() < 3.0 * error, "{k} dB: {variance}, expected {expected}");
        }
    }

    /// No correlation between blocks, near or far, nor between pairs, nor between seeds; the same block gives the same factor.
    #[test]
    fn blocks_and_pairs_are_independent() {
        let one = factors(FadingLaw::Rayleigh, 77, N);
        assert_eq!(one, factors(FadingLaw::Rayleigh, 77, N));
        for lag in [1, 2, 7, 100] {
            let r = correlation(&one[..one.len() - lag], &one[lag..]);
            assert!(r.abs() < 0.03, "lag {lag}: {r}");
        }
        for other in [78, 79, 77 << 32] {
            assert!(correlation(&one, &factors(FadingLaw::Rayleigh, other, N)).abs() < 0.03, "{other}");
        }
        let seed: Vec<f64> = (0..N).map(|block| fading(FadingLaw::Rayleigh).factor(2, 77, block)).collect();
        assert!(correlation(&one, &seed).abs() < 0.03);
        let far = fading(FadingLaw::Rayleigh).factor(1, 77, u64::MAX / 2);
        assert!(far.is_finite() && far >= 0.0);
    }

    #[test]
    fn levels_are_quantiles_of_the_law() {
        let levels = fading(FadingLaw::Rayleigh).levels();
        assert_eq!(levels.len(), LEVELS);
        for (i, level) in levels.iter().enumerate() {
            let probability = 1.0 - math::exp(-level);
            assert!((probability - (i as f64 + 0.5) / LEVELS as f64).abs() < 0.001, "{i}: {probability}");
        }
        for law in [FadingLaw::Rician { k: Db(6.0) }, FadingLaw::LogNormal { deviation: Db(4.0) }] {
            let (levels, draws) = (fading(law).levels(), factors(law, 1, N));
            for share in [0.1, 0.5, 0.9] {
                let level = levels[(share * LEVELS as f64) as usize];
                let below = draws.iter().filter(|&&x| x < level).count() as f64 / N as f64;
                assert!((below - share).abs() < 0.03, "{law:?} {share}: {below}");
            }
        }
    }

    #[test]
    fn factors_are_bounded() {
        for law in [FadingLaw::Rayleigh, FadingLaw::LogNormal { deviation: Db(8.0) }] {
            let best = fading(law).best().to_linear();
            assert!(factors(law, 5, 200_000).iter().all(|&x| (0.0..=best).contains(&x)));
        }
    }
}
