//! Parameters of schemes: what is known of each, what was set, what is wrong.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::ops::RangeInclusive;

use airfair_units::{Bytes, Quantity, Rate, Span};

/// What kind of value a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// A time with its unit.
    Span,
    /// A rate with its unit.
    Rate,
    /// A size with its unit.
    Bytes,
    /// A real number.
    Number,
    /// A whole number.
    Integer,
    /// True or false.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// A parameter as it was read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParamValue {
    /// A time.
    Span(Span),
    /// A rate.
    Rate(Rate),
    /// A size.
    Bytes(Bytes),
    /// A real number.
    Number(f64),
    /// A whole number.
    Integer(u64),
    /// True or false.
    Flag(bool),
    /// A word.
    Choice(&'static str),
}

/// What the documentation and the scenario reader know of a parameter.
#[derive(Debug, Clone, Copy)]
pub struct ParamDoc {
    /// Its name in `[schemes.NAME]` and in `--set NAME.parameter=value`.
    pub name: &'static str,
    /// What it does, with its source.
    pub doc: &'static str,
    /// What it takes.
    pub kind: ParamKind,
    /// Its default, as a user would write it.
    pub default: &'static str,
}

/// Parameters by name; those not named have their defaults.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Params(pub BTreeMap<String, ParamValue>);

impl Params {
    /// A real number of `range`.
    ///
    /// # Errors
    /// The value is of another kind or outside.
    pub fn number(&self, doc: &ParamDoc, range: RangeInclusive<f64>) -> Result<f64, ParamError> {
        match self.value(doc) {
            Some(ParamValue::Number(v)) if range.contains(&v) => Ok(v),
            _ => Err(doc.refused(&format!("a number from {} to {}", range.start(), range.end()))),
        }
    }

    /// A whole number of `range`.
    ///
    /// # Errors
    /// The value is of another kind or outside.
    pub fn integer(&self, doc: &ParamDoc, range: RangeInclusive<u64>) -> Result<u64, ParamError> {
        match self.value(doc) {
            Some(ParamValue::Integer(v)) if range.contains(&v) => Ok(v),
            _ => Err(doc.refused(&format!("a whole number from {} to {}", range.start(), range.end()))),
        }
    }

    /// A flag.
    ///
    /// # Errors
    /// The value is of another kind.
    pub fn flag(&self, doc: &ParamDoc) -> Result<bool, ParamError> {
        match self.value(doc) {
            Some(ParamValue::Flag(v)) => Ok(v),
            _ => Err(doc.refused("true or false")),
        }
    }

    /// One of the words that its kind names.
    ///
    /// # Errors
    /// The value is of another kind, or another word.
    pub fn choice(&self, doc: &ParamDoc) -> Result<&'static str, ParamError> {
        let ParamKind::Choice(words) = doc.kind else { return Err(doc.refused("a choice")) };
        match self.value(doc) {
            Some(ParamValue::Choice(v)) if words.contains(&v) => Ok(v),
            _ => Err(doc.refused(&format!("one of {}", words.join(", ")))),
        }
    }

    /// A time of `range`.
    ///
    /// # Errors
    /// The value is of another kind or outside.
    pub fn span(&self, doc: &ParamDoc, range: RangeInclusive<Span>) -> Result<Span, ParamError> {
        match self.value(doc) {
            Some(ParamValue::Span(v)) if range.contains(&v) => Ok(v),
            _ => Err(doc.refused(&format!("a time from {} to {}", range.start(), range.end()))),
        }
    }

    /// A size of `range`.
    ///
    /// # Errors
    /// The value is of another kind or outside.
    pub fn bytes(&self, doc: &ParamDoc, range: RangeInclusive<Bytes>) -> Result<Bytes, ParamError> {
        match self.value(doc) {
            Some(ParamValue::Bytes(v)) if range.contains(&v) => Ok(v),
            _ => Err(doc.refused(&format!("a size from {} to {}", range.start(), range.end()))),
        }
    }

    /// A rate of `range`.
    ///
    /// # Errors
    /// The value is of another kind or outside.
    pub fn rate(&self, doc: &ParamDoc, range: RangeInclusive<Rate>) -> Result<Rate, ParamError> {
        match self.value(doc) {
            Some(ParamValue::Rate(v)) if range.contains(&v) => Ok(v),
            _ => Err(doc.refused(&format!("a rate from {} to {}", range.start(), range.end()))),
        }
    }

    /// What was set, or else the default, read from the one place where it is written.
    fn value(&self, doc: &ParamDoc) -> Option<ParamValue> {
        self.0.get(doc.name).copied().or_else(|| doc.default_value())
    }
}

impl ParamKind {
    /// Reads a value as a user would write it, a quantity without quotes. `None` if it is not of this kind.
    #[must_use]
    pub fn parse(self, text: &str) -> Option<ParamValue> {
        Some(match self {
            Self::Span => ParamValue::Span(Span::parse(text).ok()?),
            Self::Rate => ParamValue::Rate(Rate::parse(text).ok()?),
            Self::Bytes => ParamValue::Bytes(Bytes::parse(text).ok()?),
            Self::Number => ParamValue::Number(text.parse().ok().filter(|v: &f64| v.is_finite())?),
            Self::Integer => ParamValue::Integer(text.parse().ok()?),
            Self::Flag => ParamValue::Flag(text.parse().ok()?),
            Self::Choice(words) => ParamValue::Choice(words.iter().copied().find(|word| *word == text)?),
        })
    }
}

impl ParamDoc {
    /// Its default; `None` if that cannot be read, which a [`Registry`](crate::Registry) never holds.
    #[must_use]
    pub fn default_value(&self) -> Option<ParamValue> {
        self.kind.parse(self.default)
    }

    fn refused(&self, expected: &str) -> ParamError {
        ParamError { name: self.name, problem: format!("expected {expected}") }
    }
}

/// A parameter that a scheme cannot work with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamError {
    /// Its name.
    pub name: &'static str,
    /// What is wrong and what was expected.
    pub problem: String,
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.problem)
    }
}

impl core::error::Error for ParamError {}
