//! A TOML file that is not a scenario, such as a study: its values with their lines, for a reader whose messages name lines too.

use std::path::Path;

use crate::text::error::{Cx, Errors};
use crate::text::limits::Limits;
use crate::text::location::{At, Path as KeyPath};
use crate::text::source::read_text;
use crate::text::tree::{self, Located, Table, Value};

/// A value of the file.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i128),
    /// A number with a fraction.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// Items with their lines, from 1.
    List(Vec<(u32, Item)>),
    /// Keys with their lines, sorted by line; keys on one line are sorted by name.
    Table(Vec<(String, u32, Item)>),
}

/// Reads a file: its keys with their lines and values.
///
/// # Errors
/// Why the file cannot be read, or each line that is not TOML, or each date: no key of Airfair has a date as its value.
pub fn read_document(path: &Path) -> Result<Vec<(String, u32, Item)>, Errors> {
    let (origin, text) = read_text(path, Limits::default().file_bytes)?;
    let mut cx = Cx::new(&origin, &[]);
    let table = tree::parse(&text, &mut cx).map(|table| convert_table(&table, KeyPath::ROOT, &mut cx));
    cx.finish()?;
    Ok(table.unwrap_or_default())
}

fn line(at: At) -> u32 {
    match at {
        At::Line(line) => line,
        At::Override(_) => 0,
    }
}

fn convert_table(table: &Table, path: KeyPath<'_>, cx: &mut Cx<'_>) -> Vec<(String, u32, Item)> {
    let mut keys: Vec<_> = table
        .entries
        .iter()
        .map(|(key, entry)| (key.clone(), line(entry.key_at), convert(&entry.item, path.child(key), cx)))
        .collect();
    keys.sort_by_key(|&(_, line, _)| line);
    keys
}

/// The depth of a value is limited by the TOML parser.
fn convert(item: &Located, path: KeyPath<'_>, cx: &mut Cx<'_>) -> Item {
    match &item.value {
        Value::Text(text) => Item::Text(text.clone()),
        Value::Integer(i) => Item::Integer(i128::from(*i)),
        Value::Huge(digits) => digits.parse().map(Item::Integer).unwrap_or_else(|_| {
            cx.error(item.at, &path, || format!("{}: too large for a whole number", item.shown()));
            Item::Integer(0)
        }),
        Value::Number(x) => Item::Number(*x),
        Value::Flag(flag) => Item::Flag(*flag),
        Value::Date(_) => {
            cx.error(item.at, &path, || {
                format!("{} is a date; expected another kind of value", item.shown())
            });
            Item::Flag(false)
        }
        Value::List(items) => Item::List(items.iter().map(|i| (line(i.at), convert(i, path, cx))).collect()),
        Value::Table(table) => Item::Table(convert_table(table, path, cx)),
    }
}
