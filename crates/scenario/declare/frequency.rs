//! Carrier frequencies.

use std::fmt;

use airfair_units::{Quantity, QuantityError, parse_shifted};

/// A frequency in Hz.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(crate) struct Frequency(pub f64);

const UNITS: [(&str, i32); 4] = [("Hz", 0), ("kHz", 3), ("MHz", 6), ("GHz", 9)];

impl Quantity for Frequency {
    const EXPECTED: &'static str = "a frequency such as \"2.4 GHz\" (Hz, kHz, MHz, GHz)";
    const SIGNED: bool = false;

    fn units() -> Vec<&'static str> {
        UNITS.map(|(name, _)| name).to_vec()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        parse_shifted(text, &UNITS, Self::EXPECTED).map(Self)
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (power, name) = match self.0.abs() {
            x if x >= 1e9 => (1e9, "GHz"),
            x if x >= 1e6 => (1e6, "MHz"),
            _ => (1.0, "Hz"),
        };
        let short = format!("{} {name}", self.0 / power);
        // The short form is used only if it reads back as the same value.
        if Self::parse(&short).as_ref() == Ok(self) {
            f.write_str(&short)
        } else {
            write!(f, "{} Hz", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_frequencies() {
        assert_eq!(Frequency::parse("2.4 GHz"), Ok(Frequency(2.4e9)));
        assert_eq!(Frequency::parse("914MHz"), Ok(Frequency(914e6)));
        assert_eq!(Frequency::parse("2.4").unwrap_err().problem, "the unit is missing");
        assert_eq!(Frequency::parse("2.4 cm").unwrap_err().problem, "`cm` is not a unit for this");
        assert!(Frequency::parse("fast").is_err());
        assert!(Frequency::parse("1.2.3 GHz").is_err());
        assert_eq!(Frequency::parse("24_00e-3 GHz"), Ok(Frequency(2.4e9)));
        for text in ["+2.4 GHz", "-2.4 GHz", "2__4 GHz", "2_ GHz"] {
            assert!(Frequency::parse(text).is_err(), "{text}");
        }
        assert_eq!(Frequency(2.4e9).to_string(), "2.4 GHz");
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(x in 1e6..1e12) {
            prop_assert_eq!(Frequency::parse(&Frequency(x).to_string()), Ok(Frequency(x)));
        }
    }
}
