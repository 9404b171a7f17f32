//! Carrier frequencies.

use std::fmt;

use airfair_units::{Quantity, QuantityError};

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
        let fail = |problem: String| QuantityError { problem, expected: Self::EXPECTED };
        let text = text.trim();
        let end = text.find(|c: char| c.is_ascii_alphabetic() || c.is_whitespace()).unwrap_or(text.len());
        let (number, unit) = (&text[..end], text[end..].trim_start());
        if !number.bytes().any(|b| b.is_ascii_digit()) {
            return Err(fail(format!("`{text}` does not start with a number")));
        }
        if unit.is_empty() {
            return Err(fail("the unit is missing".to_string()));
        }
        let Some(&(_, power)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(fail(format!("`{unit}` is not a unit for this")));
        };
        // A shift of the decimal point in the text is exact, whereas a multiplication would round.
        let value = format!("{}e{power}", number.replace('_', "")).parse::<f64>();
        value
            .ok()
            .filter(|v| v.is_finite())
            .map(Self)
            .ok_or_else(|| fail(format!("`{number}` is not a number")))
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
        assert_eq!(Frequency(2.4e9).to_string(), "2.4 GHz");
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(x in 1e6..1e12) {
            prop_assert_eq!(Frequency::parse(&Frequency(x).to_string()), Ok(Frequency(x)));
        }
    }
}
