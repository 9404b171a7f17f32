//! Probability that a frame is received: error rates by modulation in additive white Gaussian noise.
//!
//! DSSS: DBPSK and DQPSK over an 11-chip Barker code, CCK by the union bound over its code words' distances. OFDM: Gray-coded
//! BPSK/QPSK/QAM bit error rates and the first terms of the convolutional code's weight spectrum (K = 7, generators 133,
//! 171, punctured; weights from Proakis, Digital Communications, table 8.2-1 and Haccoun and Begin, 1989).
//! Interference counts as noise. SNR is over the whole channel width.

use std::sync::LazyLock;

use airfair_units::random::Stream;
use airfair_units::{Db, math};

use crate::ids::Table;
use crate::modes::{CodeRate, Mode, Modulation};

/// Gaussian tail probability.
fn q(x: f64) -> f64 {
    0.5 * math::erfc(x / core::f64::consts::SQRT_2)
}

/// Bit error rate before decoding of Gray-coded QAM with `bits` bits a symbol, at the given SNR per symbol.
fn qam(bits: u32, snr: f64) -> f64 {
    if bits == 1 {
        return q((2.0 * snr).sqrt());
    }
    let points = f64::from(1u32 << bits);
    let root = points.sqrt();
    // Square QAM, nearest neighbours (Proakis 5.2-79).
    let symbol = 2.0 * (1.0 - 1.0 / root) * q((3.0 * snr / (points - 1.0)).sqrt());
    (2.0 * symbol / f64::from(bits)).min(0.5)
}

/// Largest Hamming distance in the sum over paths.
const LONGEST: usize = 18;

/// Natural logarithms of the binomial coefficients: row d, column k.
static LN_CHOOSE: LazyLock<[[f64; LONGEST + 1]; LONGEST + 1]> = LazyLock::new(|| {
    let mut rows = [[0.0; LONGEST + 1]; LONGEST + 1];
    for (d, row) in rows.iter_mut().enumerate() {
        for (k, entry) in row.iter_mut().enumerate().take(d + 1) {
            let ln_factorial = |n: usize| math::ln_gamma(n as f64 + 1.0);
            *entry = ln_factorial(d) - ln_factorial(k) - ln_factorial(d - k);
        }
    }
    rows
});

/// Probability that the decoder prefers a path at Hamming distance `d` with hard decisions. `ln_wrong`, `ln_right`: logarithms of the bit
/// error rate and of its complement. `choose`: logarithms of the binomial coefficients of `d`.
fn pairwise(d: usize, choose: &[f64], ln_wrong: f64, ln_right: f64) -> f64 {
    let term = |k: usize| math::exp(choose[k] + k as f64 * ln_wrong + (d - k) as f64 * ln_right);
    let mut sum = 0.0;
    if d.is_multiple_of(2) {
        sum += 0.5 * term(d / 2);
    }
    for k in d / 2 + 1..=d {
        sum += term(k);
    }
    sum
}

/// Bit error rate after decoding: the union bound over the first terms of the weight spectrum.
fn coded(p: f64, free_distance: usize, step: usize, weights: &[f64], inputs: f64) -> f64 {
    if p <= 0.0 {
        return 0.0;
    }
    let p = p.min(0.5 - 1e-12);
    let (ln_wrong, ln_right) = (math::ln(p), math::ln(1.0 - p));
    let term = |(i, weight): (usize, &f64)| {
        let d = free_distance + step * i;
        weight * pairwise(d, &LN_CHOOSE[d], ln_wrong, ln_right)
    };
    let sum: f64 = weights.iter().enumerate().map(term).sum();
    (sum / inputs).min(0.5)
}

const HALF: [f64; 5] = [36.0, 211.0, 1404.0, 11633.0, 77433.0];
const TWO_THIRDS: [f64; 5] = [3.0, 70.0, 285.0, 1276.0, 6160.0];
const THREE_QUARTERS: [f64; 5] = [42.0, 201.0, 1492.0, 10469.0, 62935.0];

/// Bit error rate of a mode at a linear SNR.
#[must_use]
pub fn bit_error_rate(mode: Mode, snr: f64) -> f64 {
    match mode.row().modulation {
        // 22 MHz of noise against the bit rate: processing gain.
        Modulation::Dbpsk => 0.5 * math::exp(-snr * 22.0),
        Modulation::Dqpsk => q((2.0 * snr * 11.0 * DIFFERENTIAL).sqrt()).min(0.5),
        Modulation::Cck4 => cck(snr, &[(14.0, 8.0), (1.0, 16.0)], 4.0),
        Modulation::Cck8 => {
            cck(snr, &[(24.0, 4.0), (16.0, 6.0), (174.0, 8.0), (16.0, 10.0), (24.0, 12.0), (1.0, 16.0)], 8.0)
        }
        Modulation::Ofdm { bits, code } => {
            let p = qam(bits, snr);
            match code {
                CodeRate::Half => coded(p, 10, 2, &HALF, 1.0),
                CodeRate::TwoThirds => coded(p, 6, 1, &TWO_THIRDS, 2.0),
                CodeRate::ThreeQuarters => coded(p, 5, 1, &THREE_QUARTERS, 3.0),
            }
        }
    }
}

/// Factor of the SNR by which DQPSK is worse than coherent QPSK: 2.3 dB (Proakis 5.2). CCK's first phase is differential too.
const DIFFERENTIAL: f64 = 0.5888;

/// Bit error rate of CCK: union bound over the code words' distances (Pursley and Royster, 2003). 1.375 MHz of symbols in 22 MHz.
fn cck(snr: f64, distances: &[(f64, f64)], bits: f64) -> f64 {
    let symbol: f64 =
        distances.iter().map(|&(count, weight)| count * q((2.0 * snr * DIFFERENTIAL * weight).sqrt())).sum();
    // The bit error rate that gives the same probability of an error-free symbol.
    let ln_right = math::ln((1.0 - symbol).max(1e-300));
    (1.0 - math::exp(ln_right / bits)).min(0.5)
}

/// Natural logarithm of the probability that a bit is received without error, at a linear SNR that is not negative.
///
/// The limits of the curve ([`crate::modes::ModeRow`]) lie so far outside of it (union bounds above 0.6; error rates below 2^-60, where
/// 2^-54 is enough) that rounding does not matter: between them the curve is computed, beyond them the result is known exactly.
fn ln_bit_right(mode: Mode, snr: f64) -> f64 {
    let (hopeless, certain) = mode.row().saturated;
    if snr >= certain {
        return 0.0;
    }
    if snr <= hopeless {
        return LN_HALF;
    }
    let ber = bit_error_rate(mode, snr);
    if ber <= 0.0 { 0.0 } else { math::ln(1.0 - ber.min(0.5)) }
}

/// Natural logarithm of one half, as [`math::ln`] computes it.
const LN_HALF: f64 = -core::f64::consts::LN_2;

/// Natural logarithm of the probability that `bits` consecutive bits are received without error.
#[must_use]
pub fn log_success(mode: Mode, snr: f64, bits: f64) -> f64 {
    bits * ln_bit_right(mode, snr.max(0.0))
}

/// Cache of [`ln_bit_right`]: signals mostly meet the same noise and interference again.
///
/// One table for each mode in use. An SNR has one place in it and replaces the entry that was there, so the memory is bounded (2 MB for
/// each mode, of which the system provides what is used). The content affects only speed, no result.
#[derive(Debug)]
pub(crate) struct SuccessCache {
    by_mode: Table<Mode, Vec<CacheEntry>>,
}

impl Default for SuccessCache {
    fn default() -> Self {
        Self { by_mode: Mode::table(|_| Vec::new()) }
    }
}

/// The complement of an SNR's bits, and the bits of the logarithm of the probability that a bit is received without error. An array of
/// integers, since a list of such zeros needs no writing.
type CacheEntry = [u64; 2];

/// Number of places in a table of [`SuccessCache`], as a power of two. In a mesh of 46 nodes with 32 flows 2^13 cost a third more
/// instructions: several interfering signals have many sums.
const PLACES: u32 = 17;

impl SuccessCache {
    /// Natural logarithm of the probability that a bit is received without error, at a linear SNR; bit for bit the value of the uncached
    /// function.
    #[inline]
    pub(crate) fn ln_bit_right(&mut self, mode: Mode, snr: f64) -> f64 {
        let snr = snr.max(0.0);
        if snr >= mode.row().saturated.1 { 0.0 } else { self.look_up(mode, snr) }
    }

    fn look_up(&mut self, mode: Mode, snr: f64) -> f64 {
        let table = &mut self.by_mode[mode];
        if table.is_empty() {
            // Zero is the complement of the bits of a negative number, which no SNR has.
            *table = vec![[0; 2]; 1 << PLACES];
        }
        let key = snr.to_bits();
        // Fibonacci hashing: the upper bits of a product with the golden ratio.
        let known = &mut table[(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - PLACES)) as usize];
        if known[0] != !key {
            *known = [!key, ln_bit_right(mode, snr).to_bits()];
        }
        f64::from_bits(known[1])
    }
}

/// A station's random draws for receptions with an uncertain outcome. Every reception takes one draw, also if its outcome is certain, so
/// that later draws do not depend on how this outcome is computed. A draw without effect is only counted.
#[derive(Debug)]
pub(crate) struct Draws {
    stream: Stream,
    /// Draws that were counted but not yet skipped in the stream.
    passed: u64,
}

/// Outcome of a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Happens,
    /// The event does not occur; with the other probability it would have.
    HappensOtherwise,
    Never,
}

/// Below this logarithm [`math::exp`] returns a probability of zero.
pub(crate) const LN_LEAST: f64 = -746.0;

impl Draws {
    pub(crate) fn new(stream: Stream) -> Self {
        Self { stream, passed: 0 }
    }

    /// The next draw, uniform in `[0, 1)`.
    pub(crate) fn uniform(&mut self) -> f64 {
        // A draw takes two words.
        self.stream.skip(2 * core::mem::take(&mut self.passed));
        self.stream.uniform()
    }

    /// Draws whether an event occurs that has a probability of this logarithm; if not, also whether the same draw would have let it occur
    /// with the other probability, that of `otherwise`.
    #[inline]
    pub(crate) fn happens(&mut self, ln_probability: f64, otherwise: impl FnOnce() -> f64) -> Event {
        if ln_probability >= 0.0 {
            self.passed += 1;
            return Event::Happens;
        }
        let drawn = (ln_probability >= LN_LEAST).then(|| self.uniform());
        if drawn.is_some_and(|drawn| drawn < math::exp(ln_probability)) {
            return Event::Happens;
        }
        let ln_otherwise = otherwise();
        let would = if (LN_LEAST..0.0).contains(&ln_otherwise) {
            drawn.unwrap_or_else(|| self.uniform()) < math::exp(ln_otherwise)
        } else {
            self.passed += u64::from(drawn.is_none());
            ln_otherwise >= 0.0
        };
        if would { Event::HappensOtherwise } else { Event::Never }
    }
}

/// SNR at which 90 % of data frames of 1,500 bytes (1,536 with LLC and MAC) arrive, to a tenth of a decibel. The standard specifies the
/// same share of 1,000 bytes (17.3.10.2), for a receiver 8 dB worse than this ideal one: 10 dB of noise figure, which `noise` includes
/// here, and 5 dB of implementation loss.
#[must_use]
pub fn required_snr(mode: Mode) -> Db {
    mode.row().required_snr
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Standard;
    use airfair_units::random::Purpose;
    use proptest::prelude::*;

    fn packet_error_rate(mode: Mode, snr: f64, bytes: f64) -> f64 {
        1.0 - math::exp(log_success(mode, snr, bytes * 8.0))
    }

    /// Thermal noise in the channel with a noise figure of 10 dB, which the standard's minimum sensitivities allow for
    /// together with 5 dB of implementation loss (17.3.10.2).
    fn snr_at(power_dbm: f64, bandwidth_hz: f64) -> f64 {
        Db(power_dbm - (-174.0 + 10.0 * math::log10(bandwidth_hz) + 10.0)).to_linear()
    }

    /// Table 17-18: at these levels at most 10 % of 1000-byte frames are lost.
    #[test]
    fn ofdm_meets_the_minimum_sensitivity() {
        let rows = [-82.0, -81.0, -79.0, -77.0, -74.0, -70.0, -66.0, -65.0];
        for (mode, dbm) in Mode::of_standard(Standard::Dot11a).zip(rows) {
            let per = packet_error_rate(mode, snr_at(dbm, 20e6), 1000.0);
            assert!(per <= 0.10, "{mode:?} at {dbm} dBm: {per}");
        }
    }

    /// Clauses 15.4.8.2 and 16.3.8.2: -80 dBm at 2 Mbit/s, -76 dBm at 11 Mbit/s, 1024 bytes, 8 %.
    #[test]
    fn dsss_meets_the_minimum_sensitivity() {
        for (mode, dbm) in [(Mode::DSSS2, -80.0), (Mode::CCK11, -76.0)] {
            let per = packet_error_rate(mode, snr_at(dbm, 22e6), 1024.0);
            assert!(per <= 0.08, "{mode:?} at {dbm} dBm: {per}");
        }
    }

    /// The table of required SNRs lies on the curves.
    #[test]
    fn a_tenth_is_lost_at_the_required_snr() {
        for mode in Mode::all() {
            let at = |more: f64| packet_error_rate(mode, Db(required_snr(mode).0 + more).to_linear(), 1536.0);
            assert!(at(-0.06) > 0.1 && at(0.06) < 0.1, "{mode:?}: {} {}", at(-0.06), at(0.06));
        }
    }

    /// A lower bound too, so that the curves are not simply zero: at 0 dB and 1500 bytes no OFDM rate is received, nor 11 Mbit/s at 3 dB.
    #[test]
    fn noise_destroys_what_it_should() {
        for mode in Mode::of_standard(Standard::Dot11a) {
            assert!(packet_error_rate(mode, 1.0, 1500.0) > 0.9, "{mode:?}");
        }
        assert!(packet_error_rate(Mode::CCK11, Db(0.0).to_linear(), 1500.0) > 0.9);
        assert!(packet_error_rate(Mode::DSSS1, Db(-10.0).to_linear(), 1500.0) > 0.9);
    }

    /// The curves as in the books, without cache or limits: [`log_success`] must give the same bits.
    mod plain {
        use super::{DIFFERENTIAL, HALF, Mode, THREE_QUARTERS, TWO_THIRDS, cck, math, q, qam};

        fn pairwise(d: u32, p: f64) -> f64 {
            let mut sum = 0.0;
            let term = |k: u32| {
                let choose = math::ln_gamma(f64::from(d) + 1.0)
                    - math::ln_gamma(f64::from(k) + 1.0)
                    - math::ln_gamma(f64::from(d - k) + 1.0);
                math::exp(choose + f64::from(k) * math::ln(p) + f64::from(d - k) * math::ln(1.0 - p))
            };
            if d.is_multiple_of(2) {
                sum += 0.5 * term(d / 2);
            }
            for k in d / 2 + 1..=d {
                sum += term(k);
            }
            sum
        }

        fn coded(p: f64, free_distance: u32, step: u32, weights: &[f64], inputs: f64) -> f64 {
            if p <= 0.0 {
                return 0.0;
            }
            let p = p.min(0.5 - 1e-12);
            let terms = weights.iter().enumerate();
            let sum: f64 = terms.map(|(i, w)| w * pairwise(free_distance + step * i as u32, p)).sum();
            (sum / inputs).min(0.5)
        }

        pub(crate) fn bit_error_rate(mode: Mode, snr: f64) -> f64 {
            match mode {
                Mode::DSSS1 => 0.5 * math::exp(-snr * 22.0),
                Mode::DSSS2 => q((2.0 * snr * 11.0 * DIFFERENTIAL).sqrt()).min(0.5),
                Mode::CCK5_5 => cck(snr, &[(14.0, 8.0), (1.0, 16.0)], 4.0),
                Mode::CCK11 => {
                    let distances =
                        [(24.0, 4.0), (16.0, 6.0), (174.0, 8.0), (16.0, 10.0), (24.0, 12.0), (1.0, 16.0)];
                    cck(snr, &distances, 8.0)
                }
                Mode::OFDM6 => coded(qam(1, snr), 10, 2, &HALF, 1.0),
                Mode::OFDM9 => coded(qam(1, snr), 5, 1, &THREE_QUARTERS, 3.0),
                Mode::OFDM12 => coded(qam(2, snr), 10, 2, &HALF, 1.0),
                Mode::OFDM18 => coded(qam(2, snr), 5, 1, &THREE_QUARTERS, 3.0),
                Mode::OFDM24 => coded(qam(4, snr), 10, 2, &HALF, 1.0),
                Mode::OFDM36 => coded(qam(4, snr), 5, 1, &THREE_QUARTERS, 3.0),
                Mode::OFDM48 => coded(qam(6, snr), 6, 1, &TWO_THIRDS, 2.0),
                Mode::OFDM54 => coded(qam(6, snr), 5, 1, &THREE_QUARTERS, 3.0),
                other => panic!("no curve for {other:?}"),
            }
        }

        pub(crate) fn log_success(mode: Mode, snr: f64, bits: f64) -> f64 {
            let ber = bit_error_rate(mode, snr.max(0.0));
            if ber <= 0.0 { 0.0 } else { bits * math::ln(1.0 - ber.min(0.5)) }
        }
    }

    /// Every way to compute the probability, against the plain curve: SINRs over 100 dB, values next to the limits of the curve, and values
    /// that no radio has. Each is computed twice, in an order in which entries of the table are replaced and restored.
    #[test]
    fn what_is_worked_out_once_has_the_bits_of_the_plain_curve() {
        let mut successes = SuccessCache::default();
        let mut check = |mode: Mode, snr: f64, bits: f64| {
            let wanted = plain::log_success(mode, snr, bits).to_bits();
            assert_eq!(log_success(mode, snr, bits).to_bits(), wanted, "{mode:?} {snr:e} {bits}");
            for _ in 0..2 {
                let found = bits * successes.ln_bit_right(mode, snr);
                assert_eq!(found.to_bits(), wanted, "{mode:?} {snr:e} {bits}");
            }
        };
        // A Weyl sequence: evenly distributed over the unit interval, without repetition.
        let mut weyl = 0u64;
        let mut next = || {
            weyl = weyl.wrapping_add(0x9e37_79b9_7f4a_7c15);
            (weyl >> 11) as f64 / (1u64 << 53) as f64
        };
        for mode in Mode::all() {
            let (hopeless, certain) = mode.row().saturated;
            for edge in [hopeless.max(0.0), certain] {
                for ulps in -200i64..=200 {
                    check(mode, f64::from_bits(edge.to_bits().saturating_add_signed(ulps)), 12_000.0);
                }
            }
            for snr in [0.0, -0.0, -1.0, f64::MIN_POSITIVE, 5e-324, 1e300, f64::INFINITY, f64::NAN] {
                check(mode, snr, 8.0 * 1534.0);
            }
            for _ in 0..6_000 {
                // Half of them between the limits of the curve.
                check(mode, Db(next() * 100.0 - 40.0).to_linear(), (next() * 20_000.0).ceil());
                let within = hopeless.max(certain / 1000.0);
                check(mode, within * math::pow(certain / within, next()), next() * 20_000.0);
            }
        }
    }

    /// Against one draw each: certain and impossible receptions among uncertain ones, which are half of all, also near the limits.
    #[test]
    fn a_draw_that_decides_nothing_is_passed_over() {
        let stream = || Stream::new(3, "draws", Purpose::Reception);
        let (mut draws, mut plain, mut choice) =
            (Draws::new(stream()), stream(), Stream::new(3, "x", Purpose::Gap));
        let mut seen = [0u32; 2];
        for i in 0..100_000 {
            let ln = match choice.below(6) {
                0 => 0.0,
                1 => -12_000.0,
                2 => LN_LEAST * (0.99 + 0.02 * choice.uniform()),
                _ => math::ln(choice.uniform()),
            };
            let other = match choice.below(3) {
                0 => 0.0,
                1 => 2.0 * LN_LEAST,
                _ => math::ln(choice.uniform()),
            };
            let event = draws.happens(ln, || other);
            let drawn = plain.uniform();
            let happens = drawn < math::exp(ln);
            assert_eq!(event == Event::Happens, happens, "{i}: {ln}");
            if !happens {
                assert_eq!(event == Event::HappensOtherwise, drawn < math::exp(other), "{i}: {ln} {other}");
            }
            seen[usize::from(happens)] += 1;
            if choice.below(10) == 0 {
                assert_eq!(draws.uniform().to_bits(), plain.uniform().to_bits());
            }
        }
        assert!(seen[0] > 30_000 && seen[1] > 30_000, "{seen:?}");
        assert_eq!(math::exp(LN_LEAST), 0.0);
    }

    /// The assumption that the curve is flat beyond its limits requires a distance from where rounding decides; this is the distance.
    #[test]
    fn the_curve_is_flat_well_before_it_is_taken_to_be() {
        for mode in Mode::all() {
            let (hopeless, certain) = mode.row().saturated;
            let above = plain::bit_error_rate(mode, certain);
            assert!(above < 1.0 / (1u64 << 60) as f64, "{mode:?} {above:e}");
            if hopeless >= 0.0 {
                assert_eq!(plain::bit_error_rate(mode, hopeless * 1.01), 0.5, "{mode:?}");
            }
        }
    }

    proptest! {
        /// More SNR, fewer bytes, a slower mode of the same family: never worse.
        #[test]
        fn errors_are_monotone(db in -5.0f64..35.0, more in 0.0f64..5.0, bytes in 1u32..2000, extra in 0u32..500) {
            let modes = || Mode::all();
            for (mode, before) in modes().zip(std::iter::once(None).chain(modes().map(Some))) {
                let here = packet_error_rate(mode, Db(db).to_linear(), f64::from(bytes));
                prop_assert!((0.0..=1.0).contains(&here));
                let stronger = packet_error_rate(mode, Db(db + more).to_linear(), f64::from(bytes));
                prop_assert!(stronger <= here + 1e-9, "{:?} {} {}", mode, here, stronger);
                let longer = packet_error_rate(mode, Db(db).to_linear(), f64::from(bytes + extra));
                prop_assert!(longer >= here - 1e-9);
                // 9 Mbit/s needs about the SNR of 12 Mbit/s: the standard's own order of robustness skips it.
                let family = |before: &Mode| before.is_ofdm() == mode.is_ofdm() && mode != Mode::OFDM12;
                if let Some(before) = before.filter(family) {
                    let slower = packet_error_rate(before, Db(db).to_linear(), f64::from(bytes));
                    prop_assert!(slower <= here + 1e-4, "{:?} {} {}", mode, slower, here);
                }
            }
        }
    }
}
