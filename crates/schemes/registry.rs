//! The table of schemes: name, paper, parameters, and how to build what runs in each place.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use airfair_units::{Bytes, Quantity, Rate, Span};

use crate::droptail::DropTail;
use crate::places::{Agent, Aqm, Controller, Hop, Queue, Source};
use crate::{bbr, codel, cubic, fq_codel, newreno, red, reno, vegas};

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

/// A scheme that fills one place, the source: each flow gets a copy of the law.
struct SourceScheme<S>(S);

impl<S: Source + Clone + Sync + 'static> Scheme for SourceScheme<S> {
    fn source(&self) -> Option<Box<dyn Source>> {
        Some(Box::new(self.0.clone()))
    }
}

/// A scheme that fills one place, the AQM: each interface gets a copy of the law, beside drop-tail.
struct AqmScheme<A>(A);

impl<A: Aqm + Clone + Sync + 'static> Scheme for AqmScheme<A> {
    fn aqm(&self) -> Option<Box<dyn Aqm>> {
        Some(Box::new(self.0.clone()))
    }
}

struct FqCoDelScheme(fq_codel::FqCoDel);

impl Scheme for FqCoDelScheme {
    fn queue(&self, limit_packets: u32) -> Box<dyn Queue> {
        Box::new(self.0.for_limit(limit_packets))
    }
}

const REGISTRY: &[SchemeEntry] = &[
    SchemeEntry {
        name: "droptail",
        about: "first in, first out; what arrives at a full queue is dropped",
        source: "baseline of all five papers",
        places: &["queue"],
        params: &[],
        build: |_| Ok(Box::new(DropTailScheme)),
    },
    SchemeEntry {
        name: "red",
        about: "drops or marks at random, more often the longer the average queue",
        source: "Floyd and Jacobson, IEEE/ACM ToN 1(4), 1993",
        places: &["aqm"],
        params: red::PARAMS,
        build: |params| Ok(Box::new(AqmScheme(red::Red::from_params(params)?))),
    },
    SchemeEntry {
        name: "codel",
        about: "drops or marks at the head of a queue that stands above a target wait for a whole interval",
        source: "RFC 8289",
        places: &["aqm"],
        params: codel::PARAMS,
        build: |params| Ok(Box::new(AqmScheme(codel::CoDel::from_params(params)?))),
    },
    SchemeEntry {
        name: "fq-codel",
        about: "a queue per flow in turn, flows with little to send first, with CoDel in each",
        source: "RFC 8290",
        places: &["queue"],
        params: fq_codel::PARAMS,
        build: |params| Ok(Box::new(FqCoDelScheme(fq_codel::FqCoDel::from_params(params, 0)?))),
    },
    SchemeEntry {
        name: "reno",
        about: "slow start and congestion avoidance; half the window at a loss; a partial acknowledgement ends recovery",
        source: "RFC 5681",
        places: &["source"],
        params: reno::PARAMS,
        build: |params| Ok(Box::new(SourceScheme(reno::Reno::from_params(params)?))),
    },
    SchemeEntry {
        name: "newreno",
        about: "the window of reno; a partial acknowledgement has the next hole repaired",
        source: "RFC 6582",
        places: &["source"],
        params: newreno::PARAMS,
        build: |params| Ok(Box::new(SourceScheme(newreno::from_params(params)?))),
    },
    SchemeEntry {
        name: "vegas",
        about: "keeps one to three segments queued on the path, by the round-trip time",
        source: "Brakmo and Peterson, IEEE JSAC 13(8), 1995",
        places: &["source"],
        params: vegas::PARAMS,
        build: |params| Ok(Box::new(SourceScheme(vegas::Vegas::from_params(params)?))),
    },
    SchemeEntry {
        name: "cubic",
        about: "the window is a cubic function of the time since the last congestion",
        source: "RFC 9438",
        places: &["source"],
        params: cubic::PARAMS,
        build: |params| Ok(Box::new(SourceScheme(cubic::Cubic::from_params(params)?))),
    },
    SchemeEntry {
        name: "bbr",
        about: "sends at the measured rate of the bottleneck, with two bandwidth-delay products in flight at most (version 1)",
        source: "draft-cardwell-iccrg-bbr-congestion-control-00",
        places: &["source"],
        params: bbr::PARAMS,
        build: |params| Ok(Box::new(SourceScheme(bbr::Bbr::from_params(params)?))),
    },
];

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
