//! Lengths and speeds.

use alloc::vec::Vec;
use core::fmt;

use crate::quantity::{Quantity, QuantityError, parse_real};

/// A length or coordinate in metres.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct Meters(pub f64);

/// A speed in metres per second.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct Speed(pub f64);

const LENGTH_UNITS: [(&str, f64); 2] = [("m", 1.0), ("km", 1000.0)];
const SPEED_UNITS: [(&str, f64); 2] = [("m/s", 1.0), ("km/h", 1.0 / 3.6)];

impl Quantity for Meters {
    const EXPECTED: &'static str = "a length such as \"367 m\" (m, km)";
    const SIGNED: bool = true;

    fn units() -> Vec<&'static str> {
        LENGTH_UNITS.map(|(name, _)| name).to_vec()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        parse_real(text, &LENGTH_UNITS, Self::EXPECTED).map(Self)
    }
}

impl fmt::Display for Meters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} m", self.0)
    }
}

impl Quantity for Speed {
    const EXPECTED: &'static str = "a speed such as \"10 m/s\" (m/s, km/h)";
    const SIGNED: bool = true;

    fn units() -> Vec<&'static str> {
        SPEED_UNITS.map(|(name, _)| name).to_vec()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        parse_real(text, &SPEED_UNITS, Self::EXPECTED).map(Self)
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} m/s", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lengths_and_speeds() {
        assert_eq!(Meters::parse("0.367 km"), Ok(Meters(367.0)));
        assert_eq!(Meters::parse("-12.5 m"), Ok(Meters(-12.5)));
        assert_eq!(Speed::parse("36 km/h").map(|s| (s.0 * 1e6).round()), Ok(10e6));
        assert_eq!(Meters::parse("+1_000 m"), Ok(Meters(1000.0)));
        assert!(Meters::parse("367").is_err());
        assert!(Meters::parse("1__0 m").is_err());
        assert!(Meters::parse("1e999 m").is_err());
    }
}
