//! Radio power: dBm for people, integer attowatts for sums.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::math;
use crate::quantity::{Quantity, QuantityError, parse_real};

/// A power level in dBm.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Dbm(pub f64);

/// A ratio in dB.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Db(pub f64);

/// A power in attowatts (10^-18 W). Sums are exact: adding and subtracting a signal leaves no remainder. -110 dBm is 10^4 aW; at most 18 W
/// fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attowatts(pub u64);

impl Dbm {
    /// The power in attowatts, rounded to the nearest, at most 9 W.
    #[must_use]
    pub fn to_attowatts(self) -> Attowatts {
        let aw = math::pow(10.0, self.0 / 10.0) * 1e15;
        // Beyond 9 W the sum of two could overflow; no receiver receives that much.
        Attowatts(if aw >= 9e18 { 9_000_000_000_000_000_000 } else { (aw + 0.5) as u64 })
    }
}

impl Attowatts {
    /// The level in dBm; minus infinity for zero.
    #[must_use]
    pub fn to_dbm(self) -> Dbm {
        Dbm(10.0 * math::log10(self.0 as f64 / 1e15))
    }
}

impl Db {
    /// The ratio as a plain number: 10 dB is 10.
    #[must_use]
    pub fn to_linear(self) -> f64 {
        math::pow(10.0, self.0 / 10.0)
    }
}

impl Quantity for Dbm {
    const EXPECTED: &'static str = "a power such as \"15 dBm\"";
    const SIGNED: bool = true;

    fn units() -> Vec<&'static str> {
        vec!["dBm"]
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        parse_real(text, &[("dBm", 1.0)], Self::EXPECTED).map(Self)
    }
}

impl fmt::Display for Dbm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} dBm", self.0)
    }
}

impl Quantity for Db {
    const EXPECTED: &'static str = "a ratio such as \"10 dB\"";
    const SIGNED: bool = true;

    fn units() -> Vec<&'static str> {
        vec!["dB"]
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        parse_real(text, &[("dB", 1.0)], Self::EXPECTED).map(Self)
    }
}

impl fmt::Display for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} dB", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_attowatts_agree() {
        assert_eq!(Dbm(-110.0).to_attowatts(), Attowatts(10_000));
        assert_eq!(Dbm(0.0).to_attowatts(), Attowatts(1_000_000_000_000_000));
        assert!((Attowatts(10_000).to_dbm().0 + 110.0).abs() < 1e-9);
        assert_eq!(Dbm(300.0).to_attowatts(), Attowatts(9_000_000_000_000_000_000), "clamped");
        assert!((Db(10.0).to_linear() - 10.0).abs() < 1e-12);
    }

    #[test]
    fn reads_levels() {
        assert_eq!(Dbm::parse("-82 dBm"), Ok(Dbm(-82.0)));
        assert_eq!(Db::parse("10 dB"), Ok(Db(10.0)));
        assert!(Dbm::parse("1 W").is_err());
    }
}
