//! Bit rates and sizes.

use alloc::vec::Vec;
use core::fmt;

use crate::quantity::{Quantity, QuantityError, Unit, parse_integer};
use crate::time::Span;

/// A rate in bit/s.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// A size in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Rate {
    /// `n` kbit/s.
    #[must_use]
    pub const fn from_kbps(n: u64) -> Self {
        Self(n * 1_000)
    }
    /// `n` Mbit/s.
    #[must_use]
    pub const fn from_mbps(n: u64) -> Self {
        Self(n * 1_000_000)
    }
    /// Rate in bit/s.
    #[must_use]
    pub const fn as_bps(self) -> u64 {
        self.0
    }
    /// Transmission time of `bytes` at this rate, rounded up to a nanosecond. The rate must not be zero.
    #[must_use]
    pub fn time_for(self, bytes: Bytes) -> Span {
        let bits_ns = u128::from(bytes.0) * 8 * 1_000_000_000;
        Span(u64::try_from(bits_ns.div_ceil(u128::from(self.0))).unwrap_or(u64::MAX))
    }
}

impl Bytes {
    /// The number of bytes.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

const RATE_UNITS: [Unit; 4] = [
    Unit { name: "bit/s", power: 0, factor: 1 },
    Unit { name: "kbit/s", power: 3, factor: 1 },
    Unit { name: "Mbit/s", power: 6, factor: 1 },
    Unit { name: "Gbit/s", power: 9, factor: 1 },
];

impl Quantity for Rate {
    const EXPECTED: &'static str = "a rate such as \"11 Mbit/s\" (bit/s, kbit/s, Mbit/s, Gbit/s)";
    const SIGNED: bool = false;

    fn units() -> Vec<&'static str> {
        RATE_UNITS.iter().map(|unit| unit.name).collect()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        parse_integer(text, &RATE_UNITS, Self::EXPECTED).map(Self)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (power, name) = match self.0 {
            0..1_000 => (0, "bit/s"),
            1_000..1_000_000 => (3, "kbit/s"),
            1_000_000..1_000_000_000 => (6, "Mbit/s"),
            _ => (9, "Gbit/s"),
        };
        write!(f, "{} {name}", crate::decimal::Unscaled(self.0, power))
    }
}

const BYTE_UNITS: [Unit; 5] = [
    Unit { name: "B", power: 0, factor: 1 },
    Unit { name: "kB", power: 3, factor: 1 },
    Unit { name: "MB", power: 6, factor: 1 },
    Unit { name: "GB", power: 9, factor: 1 },
    Unit { name: "KiB", power: 0, factor: 1024 },
];

impl Quantity for Bytes {
    const EXPECTED: &'static str = "a size such as \"1500 B\" (B, kB, MB, GB, KiB)";
    const SIGNED: bool = false;

    fn units() -> Vec<&'static str> {
        BYTE_UNITS.iter().map(|unit| unit.name).collect()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        parse_integer(text, &BYTE_UNITS, Self::EXPECTED).map(Self)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_rates_and_sizes() {
        assert_eq!(Rate::parse("5.5 Mbit/s"), Ok(Rate(5_500_000)));
        assert_eq!(Rate::parse("92 kbit/s"), Ok(Rate(92_000)));
        assert_eq!(Bytes::parse("1500 B"), Ok(Bytes(1500)));
        assert_eq!(Bytes::parse("128 KiB"), Ok(Bytes(131_072)));
        assert!(Rate::parse("1 Mbps").is_err());
        assert!(Bytes::parse("1.5 B").is_err());
    }

    #[test]
    fn the_duration_of_a_byte() {
        assert_eq!(Rate::from_mbps(10).time_for(Bytes(1500)), Span(1_200_000));
        assert_eq!(Rate(3).time_for(Bytes(1)), Span(2_666_666_667), "rounded up");
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(v in any::<u64>()) {
            prop_assert_eq!(Rate::parse(&Rate(v).to_string()), Ok(Rate(v)));
            prop_assert_eq!(Bytes::parse(&Bytes(v).to_string()), Ok(Bytes(v)));
        }
    }
}
