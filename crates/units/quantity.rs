//! Common interface of quantities: reading from text with a unit, and an error that names what was expected.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// A value that a user writes as a number with a unit.
pub trait Quantity: Sized + fmt::Display {
    /// Expected form, for messages: `a time such as "20 us" (ns, us, ms, s, min, h)`.
    const EXPECTED: &'static str;

    /// True if negative values are allowed.
    const SIGNED: bool;

    /// Names of the allowed units.
    fn units() -> Vec<&'static str>;

    /// Reads the value from text such as `"20 us"`.
    ///
    /// # Errors
    /// [`QuantityError`] if there is no number, no unit, another unit, or, for an integer quantity, a value that it cannot hold exactly.
    fn parse(text: &str) -> Result<Self, QuantityError>;
}

/// Reason why a text is not the expected quantity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuantityError {
    /// The problem of the text, in words: `the unit is missing`.
    pub problem: String,
    /// The expected form ([`Quantity::EXPECTED`]).
    pub expected: &'static str,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; expected {}", self.problem, self.expected)
    }
}

impl core::error::Error for QuantityError {}

/// One unit of an integer quantity: its name, and its size as a power of ten of the base unit, times `factor`.
pub(crate) struct Unit {
    pub name: &'static str,
    pub power: u32,
    pub factor: u64,
}

/// Reads an integer quantity by its table of units.
pub(crate) fn parse_integer(
    text: &str,
    units: &[Unit],
    expected: &'static str,
) -> Result<u64, QuantityError> {
    let (number, unit) = split(text, expected)?;
    let found = find(unit, units.iter().map(|u| u.name), expected)?;
    let u = &units[found];
    refuse_sign(text, number, expected)?;
    crate::decimal::scaled(number, u.power).and_then(|v| v.checked_mul(u.factor)).ok_or_else(|| {
        let problem = format!("`{text}` is too large or finer than the smallest step");
        QuantityError { problem, expected }
    })
}

/// Reads a real quantity without a sign by the names of its units and their powers of ten. A shift of the decimal point in the text is
/// exact, whereas a multiplication would round.
///
/// # Errors
/// [`QuantityError`], as [`Quantity::parse`].
pub fn parse_shifted(
    text: &str,
    units: &[(&'static str, i32)],
    expected: &'static str,
) -> Result<f64, QuantityError> {
    let (number, unit) = split(text, expected)?;
    let (_, power) = units[find(unit, units.iter().map(|u| u.0), expected)?];
    refuse_sign(text, number, expected)?;
    let (mantissa, exponent) = match number.find(['e', 'E']) {
        Some(at) => (&number[..at], number[at + 1..].parse::<i32>().ok()),
        None => (number, Some(0)),
    };
    let shifted = exponent.and_then(|exponent| exponent.checked_add(power));
    let value =
        shifted.and_then(|power| format!("{}e{power}", mantissa.replace('_', "")).parse::<f64>().ok());
    value
        .filter(|v| v.is_finite())
        .ok_or_else(|| QuantityError { problem: format!("`{number}` is not a number"), expected })
}

fn refuse_sign(text: &str, number: &str, expected: &'static str) -> Result<(), QuantityError> {
    let problem = match number.as_bytes().first() {
        Some(b'-') => format!("`{text}` is negative"),
        Some(b'+') => format!("`{text}` has a sign, although no such quantity is negative"),
        _ => return Ok(()),
    };
    Err(QuantityError { problem, expected })
}

/// Reads a real quantity by the names and factors of its units.
pub(crate) fn parse_real(
    text: &str,
    units: &[(&'static str, f64)],
    expected: &'static str,
) -> Result<f64, QuantityError> {
    let (number, unit) = split(text, expected)?;
    let found = find(unit, units.iter().map(|u| u.0), expected)?;
    let value = number.replace('_', "").parse::<f64>().ok().filter(|v| v.is_finite());
    value
        .map(|v| v * units[found].1)
        .ok_or_else(|| QuantityError { problem: format!("`{number}` is not a number"), expected })
}

fn split<'a>(text: &'a str, expected: &'static str) -> Result<(&'a str, &'a str), QuantityError> {
    let (number, unit) = crate::decimal::split(text).ok_or_else(|| QuantityError {
        problem: format!("`{text}` does not start with a number"),
        expected,
    })?;
    if crate::decimal::has_stray_underscore(number) {
        let problem = format!("`{number}` has a `_` that is not between two digits");
        return Err(QuantityError { problem, expected });
    }
    Ok((number, unit))
}

fn find(
    unit: &str,
    mut names: impl Iterator<Item = &'static str>,
    expected: &'static str,
) -> Result<usize, QuantityError> {
    if unit.is_empty() {
        return Err(QuantityError { problem: "the unit is missing".to_string(), expected });
    }
    names
        .position(|n| n == unit)
        .ok_or_else(|| QuantityError { problem: format!("`{unit}` is not a unit for this"), expected })
}
