//! Time as an integer count of nanoseconds.

use alloc::vec::Vec;
use core::fmt;
use core::ops::{Add, AddAssign, Mul, Sub};

use crate::quantity::{Quantity, QuantityError, Unit, parse_integer};

/// A moment: nanoseconds since the start of the run, at most 584 years.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A length of time in nanoseconds, never negative.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// A moment that is never reached.
    pub const NEVER: Self = Self(u64::MAX);

    /// Nanoseconds since the start.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start, for output only.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Time since `earlier`; zero if that is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// This moment plus a span, at most [`Time::NEVER`].
    #[must_use]
    pub const fn saturating_add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Span {
    /// A span of zero.
    pub const ZERO: Self = Self(0);

    /// `n` nanoseconds.
    #[must_use]
    pub const fn from_nanos(n: u64) -> Self {
        Self(n)
    }
    /// `n` microseconds.
    #[must_use]
    pub const fn from_micros(n: u64) -> Self {
        Self(n * 1_000)
    }
    /// `n` milliseconds.
    #[must_use]
    pub const fn from_millis(n: u64) -> Self {
        Self(n * 1_000_000)
    }
    /// `n` seconds.
    #[must_use]
    pub const fn from_secs(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }
    /// Nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// Seconds, for output and for per-interval arithmetic.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add<Span> for Time {
    type Output = Self;
    fn add(self, s: Span) -> Self {
        Self(self.0 + s.0)
    }
}
impl AddAssign<Span> for Time {
    fn add_assign(&mut self, s: Span) {
        self.0 += s.0;
    }
}
impl Sub<Span> for Time {
    type Output = Self;
    fn sub(self, s: Span) -> Self {
        Self(self.0 - s.0)
    }
}
impl Add for Span {
    type Output = Self;
    fn add(self, s: Self) -> Self {
        Self(self.0 + s.0)
    }
}
impl AddAssign for Span {
    fn add_assign(&mut self, s: Self) {
        self.0 += s.0;
    }
}
impl Sub for Span {
    type Output = Self;
    fn sub(self, s: Self) -> Self {
        Self(self.0 - s.0)
    }
}
impl Mul<u64> for Span {
    type Output = Self;
    fn mul(self, n: u64) -> Self {
        Self(self.0 * n)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span(self.0).fmt(f)
    }
}

const UNITS: [Unit; 6] = [
    Unit { name: "ns", power: 0, factor: 1 },
    Unit { name: "us", power: 3, factor: 1 },
    Unit { name: "ms", power: 6, factor: 1 },
    Unit { name: "s", power: 9, factor: 1 },
    Unit { name: "min", power: 9, factor: 60 },
    Unit { name: "h", power: 9, factor: 3600 },
];

impl Quantity for Span {
    const EXPECTED: &'static str = "a time such as \"20 us\" (ns, us, ms, s, min, h)";
    const SIGNED: bool = false;

    fn units() -> Vec<&'static str> {
        UNITS.iter().map(|unit| unit.name).collect()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        parse_integer(text, &UNITS, Self::EXPECTED).map(Self)
    }
}

impl fmt::Display for Span {
    /// The largest unit of ns, us, ms, s in which the value is at least one: `"1.5 ms"`; zero is `"0 s"`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (power, name) = match self.0 {
            0 => (9, "s"),
            1..1_000 => (0, "ns"),
            1_000..1_000_000 => (3, "us"),
            1_000_000..1_000_000_000 => (6, "ms"),
            _ => (9, "s"),
        };
        write!(f, "{} {name}", crate::decimal::Unscaled(self.0, power))
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_every_unit() {
        for (text, ns) in [
            ("20 us", 20_000),
            ("1.5 ms", 1_500_000),
            ("150 s", 150_000_000_000),
            ("2 min", 120_000_000_000),
            ("0.5 h", 1_800_000_000_000),
            ("3 ns", 3),
        ] {
            assert_eq!(Span::parse(text), Ok(Span(ns)), "{text}");
        }
    }

    #[test]
    fn errors_name_the_problem() {
        assert_eq!(Span::parse("20").unwrap_err().problem, "the unit is missing");
        assert_eq!(Span::parse("20 kg").unwrap_err().problem, "`kg` is not a unit for this");
        assert_eq!(Span::parse("-1 s").unwrap_err().problem, "`-1 s` is negative");
        assert_eq!(
            Span::parse("+1 s").unwrap_err().problem,
            "`+1 s` has a sign, although no such quantity is negative"
        );
        assert_eq!(
            Span::parse("1_0__0 s").unwrap_err().problem,
            "`1_0__0` has a `_` that is not between two digits"
        );
        assert_eq!(
            Span::parse("0.1 ns").unwrap_err().problem,
            "`0.1 ns` is too large or finer than the smallest step"
        );
        assert_eq!(Span::parse("soon").unwrap_err().problem, "`soon` does not start with a number");
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(ns in any::<u64>()) {
            prop_assert_eq!(Span::parse(&Span(ns).to_string()), Ok(Span(ns)));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,40}") {
            let _ = Span::parse(&text);
        }
    }
}
