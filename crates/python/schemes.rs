//! The table of schemes.

use std::collections::BTreeMap;

use airfair_scenario::SHORT_CHANGES;
use airfair_schemes::{ParamDoc, ParamKind, Params, Preset, SchemeEntry};
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
    /// Named sets of values of its parameters, beside the defaults.
    presets: Vec<NamedValues>,
    /// Keys of a scenario, with their values, that it sets for its own runs where the file leaves them at their defaults.
    brings: BTreeMap<&'static str, &'static str>,
    /// Capabilities that it wants of a network, with its defaults.
    wants: Vec<Want>,
    /// Values of parameters with which it wants others.
    wants_with: Vec<Changed>,
}

#[derive(Serialize)]
struct NamedValues {
    name: &'static str,
    about: &'static str,
    values: BTreeMap<&'static str, String>,
}

impl NamedValues {
    fn of(preset: &Preset, entry: &SchemeEntry, defaults: &Params) -> Self {
        let all = entry.preset(preset.name).unwrap_or_default();
        let differs = |doc: &&ParamDoc| all.0.get(doc.name) != defaults.0.get(doc.name);
        let values = entry.params.iter().filter(differs).map(|doc| (doc.name, all.0[doc.name].to_string()));
        Self { name: preset.name, about: preset.about, values: values.collect() }
    }
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

impl Param {
    fn of(p: &ParamDoc, defaults: &Params) -> Self {
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
        let default = defaults.0[p.name].to_string();
        Self { name: p.name, doc: p.doc, role: p.role.word(), kind, default, range }
    }
}

impl<'a> From<&'a SchemeEntry> for Entry<'a> {
    fn from(e: &'a SchemeEntry) -> Self {
        let defaults = e.defaults();
        let params = e.params.iter().map(|doc| Param::of(doc, &defaults)).collect();
        let (wants, wants_with) = wanted(e);
        let others = e.presets.iter().filter(|preset| preset.name != Preset::DEFAULT);
        let presets = others.map(|preset| NamedValues::of(preset, e, &defaults)).collect();
        let brings = e.brings.iter().map(|bring| (bring.key, bring.value)).collect();
        let (name, about, source, places) = (e.name, e.about, e.source, &e.places);
        Self { name, about, source, places, params, presets, brings, wants, wants_with }
    }
}

/// Every scheme with its parameters, as JSON.
#[pyfunction]
pub(crate) fn schemes() -> PyResult<String> {
    let known = crate::written::schemes(&Raised::default());
    json(&known.entries().iter().map(Entry::from).collect::<Vec<_>>())
}

#[derive(Serialize)]
struct Short {
    /// The form between brackets: "rts", or "window=4" as an example of one with a value.
    example: String,
    about: &'static str,
    /// The values that it sets, as `path=value`.
    sets: Vec<String>,
}

/// Short names for changes in the brackets of a selection, as JSON.
#[pyfunction]
pub(crate) fn short_changes() -> PyResult<String> {
    let short = SHORT_CHANGES.iter().map(|short| {
        let value = short.example.unwrap_or_default();
        let example = short.example.map_or_else(String::new, |value| format!("={value}"));
        let set = |(path, template): &(&str, &str)| format!("{path}={}", template.replace("{}", value));
        Short {
            example: format!("{}{example}", short.name),
            about: short.about,
            sets: short.sets.iter().map(set).collect(),
        }
    });
    json(&short.collect::<Vec<_>>())
}
