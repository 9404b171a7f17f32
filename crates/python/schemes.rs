//! The table of schemes.

use airfair_schemes::{ParamDoc, ParamKind, SchemeEntry};
use pyo3::prelude::*;
use serde::Serialize;

use crate::capabilities::{Changed, Want, wanted};
use crate::contract::json;
use crate::hosted::Raised;

#[derive(Serialize)]
struct Entry<'a> {
    name: &'static str,
    about: &'static str,
    source: &'static str,
    places: &'a [&'static str],
    params: Vec<Param>,
    /// Capabilities that it wants of a network, with its defaults.
    wants: Vec<Want>,
    /// Values of parameters with which it wants others.
    wants_with: Vec<Changed>,
}

#[derive(Serialize)]
struct Param {
    name: &'static str,
    doc: &'static str,
    role: &'static str,
    kind: &'static str,
    default: String,
    /// The least and the largest value; `null` for flags and choices.
    range: Option<[String; 2]>,
}

impl From<&ParamDoc> for Param {
    fn from(p: &ParamDoc) -> Self {
        let kind = match p.kind {
            ParamKind::Span => "time",
            ParamKind::Rate => "rate",
            ParamKind::Bytes => "size",
            ParamKind::Number => "number",
            ParamKind::Integer => "integer",
            ParamKind::Flag => "flag",
            ParamKind::Choice(_) => "choice",
        };
        let range = p.range.map(|ends| ends.map(|end| end.to_string()));
        Self { name: p.name, doc: p.doc, role: p.role.word(), kind, default: p.default.to_string(), range }
    }
}

impl<'a> From<&'a SchemeEntry> for Entry<'a> {
    fn from(e: &'a SchemeEntry) -> Self {
        let params = e.params.iter().map(Param::from).collect();
        let (wants, wants_with) = wanted(e);
        Self { name: e.name, about: e.about, source: e.source, places: &e.places, params, wants, wants_with }
    }
}

/// Every scheme with its parameters, as JSON.
#[pyfunction]
pub(crate) fn schemes() -> PyResult<String> {
    let known = crate::written::schemes(&Raised::default());
    json(&known.entries().iter().map(Entry::from).collect::<Vec<_>>())
}
