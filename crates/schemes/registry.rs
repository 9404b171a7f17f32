//! The table of schemes: name, paper, parameters, and how to build what runs in each place.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use airfair_units::{Bytes, Quantity, Rate, Span};

use crate::droptail::DropTail;
use crate::places::{Agent, Aqm, Controller, Hop, Queue, Source};

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

    /// What was set, or else the default, read from the one place where it is written.
    fn value(&self, doc: &ParamDoc) -> Option<ParamValue> {
        let default = || match doc.kind {
            ParamKind::Span => Span::parse(doc.default).ok().map(ParamValue::Span),
            ParamKind::Rate => Rate::parse(doc.default).ok().map(ParamValue::Rate),
            ParamKind::Bytes => Bytes::parse(doc.default).ok().map(ParamValue::Bytes),
            ParamKind::Number => doc.default.parse().ok().map(ParamValue::Number),
            ParamKind::Integer => doc.default.parse().ok().map(ParamValue::Integer),
            ParamKind::Flag => doc.default.parse().ok().map(ParamValue::Flag),
        };
        self.0.get(doc.name).copied().or_else(default)
    }
}

impl ParamDoc {
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

impl std::error::Error for ParamError {}

/// A scheme that is set up: one factory for each place that it fills.
pub trait Scheme: Send + Sync {
    /// The queue of an output interface that takes `limit_packets`.
    fn queue(&self, limit_packets: u32) -> Box<dyn Queue> {
        Box::new(DropTail::new(limit_packets))
    }
    /// The AQM beside it.
    fn aqm(&self) -> Option<Box<dyn Aqm>> {
        None
    }
    /// The source of a flow; `None` leaves the flow its own law.
    fn source(&self) -> Option<Box<dyn Source>> {
        None
    }
    /// The hop of an output interface.
    fn hop(&self) -> Option<Box<dyn Hop>> {
        None
    }
    /// The agent of a node.
    fn agent(&self) -> Option<Box<dyn Agent>> {
        None
    }
    /// The controller.
    fn controller(&self) -> Option<Box<dyn Controller>> {
        None
    }
}

/// A line of the table.
pub struct SchemeEntry {
    /// Its name everywhere.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// The places it fills.
    pub places: &'static [&'static str],
    /// Its parameters.
    pub params: &'static [ParamDoc],
    /// Sets it up; fails on a parameter that it cannot work with.
    pub build: fn(&Params) -> Result<Box<dyn Scheme>, ParamError>,
}

struct DropTailScheme;
impl Scheme for DropTailScheme {}

const REGISTRY: &[SchemeEntry] = &[SchemeEntry {
    name: "droptail",
    about: "first in, first out; what arrives at a full queue is dropped",
    source: "baseline of all five papers",
    places: &["queue"],
    params: &[],
    build: |_| Ok(Box::new(DropTailScheme)),
}];

/// Every scheme, in the order in which they are shown.
#[must_use]
pub fn registry() -> &'static [SchemeEntry] {
    REGISTRY
}

/// The scheme of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static SchemeEntry> {
    REGISTRY.iter().find(|e| e.name == name)
}
