//! The fairness controller [XCP §3.5.2]: the division of the change of all traffic among packets.
//!
//! An increase is divided so that all flows gain the same rate, a decrease so that each flow loses in proportion to its rate. In
//! addition traffic is shuffled: the same amount is given and taken, so that shares move while the sum stays.
//!
//! Rates of change are counted in 1/256 byte/s. A packet of `s` bytes with `X = rtt/cwnd` gets `xi_p X s` and loses `xi_n s`; that
//! times its round-trip time is the change of its window.

use super::header::{self, PARTS, SenderState};
use crate::places::Header;

/// The largest change of a flow's rate by a packet: 8.6 Gbit/s.
const MOST: u64 = 1 << 38;

/// Larger packets count as this, bytes.
const LARGEST: u32 = 1 << 20;

/// A positive real factor for integers: 32 significant bits and a shift.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Factor {
    mantissa: u64,
    shift: u32,
}

impl Factor {
    /// The nearest factor from below; 0 for a value that is no positive number.
    fn new(value: f64) -> Self {
        if !value.is_finite() || value <= 0.0 {
            return Self::default();
        }
        let (mut mantissa, mut shift) = (value, 0);
        while mantissa < 2_147_483_648.0 && shift < 120 {
            mantissa *= 2.0;
            shift += 1;
        }
        // A float becomes an integer by saturation.
        Self { mantissa: (mantissa as u64).min(1 << 62), shift }
    }

    /// The product with an integer below 2^64, at most [`MOST`].
    #[inline]
    fn times(self, value: u64) -> u64 {
        if self.mantissa == 0 {
            return 0;
        }
        let product = (u128::from(value) * u128::from(self.mantissa)) >> self.shift;
        product.min(u128::from(MOST)) as u64
    }
}

/// The constants.
#[derive(Debug, Clone, Copy)]
pub struct FairnessConfig {
    /// The constant gamma.
    pub gamma: f64,
    /// The factor on both xi.
    pub xi_factor: f64,
    /// True if the change of an interval is bounded: a part that is granted is not granted again.
    pub budgets: bool,
    /// True if each packet counts the same, whatever its size.
    pub per_packet: bool,
}

/// The sums over packets with a known round-trip time in an interval.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    bytes: u64,
    /// s, or 1 a packet.
    sizes: u64,
    /// X s, ps.
    inverse: u64,
    /// rtt X s, us ps.
    rtt_inverse: u128,
}

/// The fairness controller of an interface.
#[derive(Debug, Clone)]
pub struct Fairness {
    config: FairnessConfig,
    sums: Sums,
    xi_p: Factor,
    xi_n: Factor,
    /// Left of the interval's budgets, 1/256 byte/s.
    left_p: u64,
    left_n: u64,
}

impl Fairness {
    /// A controller before its first packet, which grants nothing.
    #[must_use]
    pub fn new(config: FairnessConfig) -> Self {
        let (sums, xi) = (Sums::default(), Factor::default());
        Self { config, sums, xi_p: xi, xi_n: xi, left_p: 0, left_n: 0 }
    }

    #[inline]
    fn size(&self, bytes: u32) -> u32 {
        if self.config.per_packet { 1 } else { bytes.min(LARGEST) }
    }

    /// Counts an arrival.
    #[inline]
    pub fn count(&mut self, sender_state: SenderState, bytes: u32) {
        let size = u64::from(self.size(bytes));
        let inverse = u64::from(sender_state.inverse_rate) * size;
        let sums = &mut self.sums;
        sums.bytes += u64::from(bytes);
        sums.sizes += size;
        sums.inverse = sums.inverse.saturating_add(inverse);
        sums.rtt_inverse += u128::from(inverse) * u128::from(sender_state.rtt_us);
    }

    /// Lowers a packet's header to its share; a packet without a round-trip time gets nothing.
    #[inline]
    pub fn stamp(&mut self, header: &mut Header, bytes: u32) {
        let Some(sender_state) = header::sender_state(header) else {
            header::grant(header, 0);
            return;
        };
        let size = u64::from(self.size(bytes));
        let mut given = self.xi_p.times(u64::from(sender_state.inverse_rate) * size);
        let mut taken = self.xi_n.times(size);
        if self.config.budgets {
            (given, taken) = (given.min(self.left_p), taken.min(self.left_n));
        }
        // Both are below 2^39, a round-trip time below 2^24 us.
        let rate = given.cast_signed() - taken.cast_signed();
        let rtt = i64::from(sender_state.rtt_us);
        let change = (rate * rtt + 500_000).div_euclid(1_000_000);
        let change = change.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
        let granted = header::grant(header, change);
        if self.config.budgets {
            // The part of the share that the packet's request does not use stays in the budget.
            let used = i64::from(granted) * 1_000_000 / rtt + taken.cast_signed();
            self.left_p -= used.clamp(0, given.cast_signed()).cast_unsigned();
            self.left_n -= taken;
        }
    }

    /// The mean round-trip time of the packets since the interval began, weighted by bytes, s; `None` without a packet.
    #[must_use]
    pub fn mean_rtt(&self) -> Option<f64> {
        let Sums { inverse, rtt_inverse, .. } = self.sums;
        (inverse > 0).then(|| rtt_inverse as f64 / inverse as f64 / 1e6)
    }

    /// Ends an interval of `seconds`: computes both xi of the next one, in which all traffic together changes by `phi` bytes in a
    /// round-trip time of `d` s.
    pub fn end_interval(&mut self, phi: f64, d: f64, seconds: f64) {
        let Sums { bytes, sizes, inverse, .. } = core::mem::take(&mut self.sums);
        let shuffled = (self.config.gamma * bytes as f64 / seconds * d - phi.abs()).max(0.0);
        let parts = PARTS as f64 / d;
        let (given, taken) = ((shuffled + phi.max(0.0)) * parts, (shuffled + (-phi).max(0.0)) * parts);
        let factor = self.config.xi_factor;
        // 0/0 is not a number, which makes a factor of 0.
        self.xi_p = Factor::new(factor * given / inverse as f64);
        self.xi_n = Factor::new(factor * taken / sizes as f64);
        (self.left_p, self.left_n) = (given as u64, taken as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A factor is exact to 2^-31 where its product is below the cap.
        #[test]
        fn factors_multiply(exponent in -20.0f64..9.0, value in 1u64..1 << 52) {
            let factor = airfair_units::math::pow(10.0, exponent);
            let (found, exact) = (Factor::new(factor).times(value) as f64, factor * value as f64);
            if exact < MOST as f64 {
                prop_assert!((found - exact).abs() <= 1.0 + exact * 1e-9, "{found} {exact}");
            } else {
                prop_assert_eq!(found, MOST as f64);
            }
        }
    }

    #[test]
    fn values_that_are_no_positive_number_make_zero() {
        for value in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e-300] {
            assert_eq!(Factor::new(value).times(u64::MAX), 0);
        }
        assert_eq!(Factor::new(1e300).times(1), MOST);
    }
}
