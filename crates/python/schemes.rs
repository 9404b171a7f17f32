//! The table of schemes.

use airfair_schemes::{ParamDoc, ParamKind, SchemeEntry, registry};
use pyo3::prelude::*;
use serde::Serialize;

use crate::contract::json;

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    about: &'static str,
    source: &'static str,
    places: &'static [&'static str],
    params: Vec<Param>,
}

#[derive(Serialize)]
struct Param {
    name: &'static str,
    doc: &'static str,
    kind: &'static str,
    default: &'static str,
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
        };
        Self { name: p.name, doc: p.doc, kind, default: p.default }
    }
}

impl From<&SchemeEntry> for Entry {
    fn from(e: &SchemeEntry) -> Self {
        let params = e.params.iter().map(Param::from).collect();
        Self { name: e.name, about: e.about, source: e.source, places: e.places, params }
    }
}

/// Every scheme with its parameters, as JSON.
#[pyfunction]
pub(crate) fn schemes() -> PyResult<String> {
    json(&registry().iter().map(Entry::from).collect::<Vec<_>>())
}
