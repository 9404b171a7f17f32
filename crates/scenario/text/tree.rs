//! TOML as a tree of values with their locations.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::text::error::{Cx, cut, quoted};
use crate::text::location::{At, Lines, Path};
use crate::text::overrides::{BY_ID, BY_NUMBER};

/// A TOML value and the location where it was written.
#[derive(Debug, Clone)]
pub(crate) struct Located {
    pub at: At,
    pub value: Value,
}

/// A TOML value.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    /// An integer that does not fit into 64 bits, as it was written.
    Huge(String),
    Number(f64),
    Flag(bool),
    Date(String),
    List(Vec<Located>),
    Table(Table),
}

/// A table and where it begins.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub at: At,
    pub entries: BTreeMap<String, Entry>,
}

/// A key's place and its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub key_at: At,
    pub item: Located,
}

impl Table {
    /// An empty table.
    pub fn new(at: At) -> Self {
        Self { at, entries: BTreeMap::new() }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Located> {
        self.entries.get(key).map(|e| &e.item)
    }

    /// The text of a key, if it is text.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key)?.value {
            Value::Text(ref text) => Some(text),
            _ => None,
        }
    }
}

impl Located {
    /// The value as a table, if it is one.
    pub fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The value as a message repeats it: short, on one line.
    pub fn shown(&self) -> String {
        match &self.value {
            Value::Text(text) => quoted(text),
            Value::Integer(i) => i.to_string(),
            Value::Huge(text) => cut(text),
            Value::Number(x) => format!("{x:?}"),
            Value::Flag(b) => b.to_string(),
            Value::Date(text) => cut(text),
            Value::List(_) => "[...]".to_string(),
            Value::Table(_) => "{...}".to_string(),
        }
    }

    /// The kind of value, with its article.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a text",
            Value::Integer(_) | Value::Huge(_) => "a whole number",
            Value::Number(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::Date(_) => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// Reads TOML; notes an error for each line that is not.
pub(crate) fn parse(text: &str, cx: &mut Cx<'_>) -> Option<Table> {
    let lines = Lines::of(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    let (mut last, mut reported) = (None, 0);
    for error in &errors {
        let span = error.span().unwrap_or_default();
        let at = lines.line(span.start);
        // Further errors on the same line, or within a table that is defined twice, have the same cause.
        if last != Some(at) && span.start >= reported {
            let key = text.get(span.clone()).filter(|_| error.message() == "duplicate key");
            let key = key.map(|key| key.trim_matches(['"', '\'']));
            let block = key.filter(|key| is_header(text, span.start) && is_block(key));
            if block.is_some() {
                reported = end_of_table(text, span.end);
            }
            cx.error(at, &Path::ROOT, || {
                let key = key.map_or_else(String::new, |key| format!(" {}", quoted(key)));
                let hint = block.map_or_else(String::new, |kind| format!("; did you mean [[{kind}]]?"));
                format!("not TOML: {}{key}{hint}", error.message())
            });
        }
        last = Some(at);
    }
    if errors.is_empty() {
        Some(convert_table(table.get_ref(), At::Line(1), &|o| lines.line(o)))
    } else {
        None
    }
}

/// True if a file may have blocks of this kind, such as `[[node]]`.
fn is_block(kind: &str) -> bool {
    BY_ID.contains(&kind) || BY_NUMBER.contains(&kind)
}

/// True if what begins here is the key of a header such as `[node]`.
fn is_header(text: &str, start: usize) -> bool {
    text.get(..start).and_then(|before| before.rsplit('\n').next()).is_some_and(|line| line.trim() == "[")
}

/// Where the next header begins.
fn end_of_table(text: &str, start: usize) -> usize {
    let below = text.get(start..).unwrap_or_default();
    let mut at = start;
    for line in below.split_inclusive('\n') {
        if at > start && line.trim_start().starts_with('[') {
            return at;
        }
        at += line.len();
    }
    text.len()
}

/// Reads one TOML value, all of whose parts get the location `at`; `None` if it is not TOML.
pub(crate) fn parse_value(text: &str, at: At) -> Option<Located> {
    let value = DeValue::parse(text).ok()?;
    Some(convert(&value, &|_| at))
}

/// The depth of a value is limited by the TOML parser (80 levels).
fn convert(value: &Spanned<DeValue<'_>>, place: &dyn Fn(usize) -> At) -> Located {
    let at = place(value.span().start);
    let value = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(i) => match i64::from_str_radix(i.as_str(), i.radix()) {
            Ok(v) => Value::Integer(v),
            Err(_) => Value::Huge(i.to_string()),
        },
        DeValue::Float(x) => Value::Number(x.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(b) => Value::Flag(*b),
        DeValue::Datetime(d) => Value::Date(d.to_string()),
        DeValue::Array(items) => Value::List(items.iter().map(|v| convert(v, place)).collect()),
        DeValue::Table(table) => Value::Table(convert_table(table, at, place)),
    };
    Located { at, value }
}

fn convert_table(table: &DeTable<'_>, at: At, place: &dyn Fn(usize) -> At) -> Table {
    let entries = table
        .iter()
        .map(|(key, value)| {
            let entry = Entry { key_at: place(key.span().start), item: convert(value, place) };
            (key.get_ref().to_string(), entry)
        })
        .collect();
    Table { at, entries }
}
