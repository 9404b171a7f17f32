//! The reference of the scenario file and its JSON Schema.

use airfair_scenario::{DefaultDoc, KeyDoc, QuantityDoc, Section, TableDoc};
use pyo3::prelude::*;
use serde::Serialize;

use crate::contract::json;

#[derive(Serialize)]
struct Reference {
    quantities: Vec<Quantity>,
    sections: Vec<Group>,
}

#[derive(Serialize)]
struct Quantity {
    name: &'static str,
    expected: &'static str,
    units: Vec<&'static str>,
    signed: bool,
}

#[derive(Serialize)]
struct Group {
    title: &'static str,
    example: &'static str,
    tables: Vec<Table>,
}

#[derive(Serialize)]
struct Table {
    name: String,
    about: String,
    keys: Vec<Key>,
}

/// Of `default`, the value as TOML, and `default_words`, at most one is there; neither: the key is required.
#[derive(Serialize)]
struct Key {
    name: &'static str,
    kind: &'static str,
    expected: String,
    choices: Vec<String>,
    range: Option<String>,
    default: Option<String>,
    default_words: Option<String>,
    doc: String,
}

impl From<QuantityDoc> for Quantity {
    fn from(q: QuantityDoc) -> Self {
        Self { name: q.name, expected: q.expected, units: q.units, signed: q.signed }
    }
}

impl From<Section> for Group {
    fn from(s: Section) -> Self {
        let tables = s.tables.into_iter().map(Table::from).collect();
        Self { title: s.title, example: s.example, tables }
    }
}

impl From<TableDoc> for Table {
    fn from(t: TableDoc) -> Self {
        Self { name: t.name, about: t.about, keys: t.keys.into_iter().map(Key::from).collect() }
    }
}

impl From<KeyDoc> for Key {
    fn from(k: KeyDoc) -> Self {
        let (default, default_words) = match k.default {
            DefaultDoc::Required => (None, None),
            DefaultDoc::Value(value) => (Some(value), None),
            DefaultDoc::Words(words) => (None, Some(words)),
        };
        Self {
            name: k.name,
            kind: k.kind,
            expected: k.expected,
            choices: k.choices,
            range: k.range,
            default,
            default_words,
            doc: k.doc,
        }
    }
}

/// Every table and key of the scenario file, as JSON.
#[pyfunction]
pub(crate) fn reference() -> PyResult<String> {
    json(&Reference {
        quantities: airfair_scenario::quantities().into_iter().map(Quantity::from).collect(),
        sections: airfair_scenario::reference().into_iter().map(Group::from).collect(),
    })
}

/// The JSON Schema of the scenario file.
#[pyfunction]
pub(crate) fn scenario_schema() -> String {
    airfair_scenario::schema()
}
