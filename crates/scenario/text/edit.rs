//! Edits in place: overrides written into a scenario's text, whose comments and order stay.

use toml_edit::{DocumentMut, InlineTable, Item, TableLike, Value};

use crate::text::overrides::{BY_ID, BY_NUMBER, Override, split};

/// The text with the value of each override at its key; `None` if the text has no block for one. `is_scheme`: whether a path that
/// begins with this name is short for one below `schemes`.
pub(crate) fn put_in(text: &str, overrides: &[Override], is_scheme: &dyn Fn(&str) -> bool) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    for o in overrides {
        let value = o.value.parse().unwrap_or_else(|_| Value::from(o.value.as_str()));
        let mut parts = split(&o.path).ok()?;
        let first = parts.first()?;
        let top = document.as_table_mut();
        if parts.len() > 1 && is_scheme(first) {
            parts.insert(0, "schemes".to_string());
        }
        set(top, &parts, value)?;
    }
    Some(document.to_string())
}

fn set(table: &mut dyn TableLike, parts: &[String], value: Value) -> Option<()> {
    let (name, below) = parts.split_first()?;
    if below.is_empty() {
        return put(table, name, value);
    }
    let item = table.entry(name).or_insert_with(|| Item::Value(Value::InlineTable(InlineTable::new())));
    if BY_ID.contains(&name.as_str()) || BY_NUMBER.contains(&name.as_str()) {
        let (id, below) = below.split_first()?;
        return set(block(item, name, id)?, below, value);
    }
    set(item.as_table_like_mut()?, below, value)
}

/// Replaces a value and keeps the spaces and the comment around the old one.
fn put(table: &mut dyn TableLike, name: &str, mut value: Value) -> Option<()> {
    match table.get_mut(name) {
        Some(Item::Value(old)) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        Some(item) => *item = Item::Value(value),
        None => {
            table.insert(name, Item::Value(value));
        }
    }
    Some(())
}

/// The block of a flow, node, link or gain, written with a header or within a list.
fn block<'t>(item: &'t mut Item, kind: &str, id: &str) -> Option<&'t mut dyn TableLike> {
    let found = |i: usize, own: Option<&str>| {
        if BY_ID.contains(&kind) { own == Some(id) } else { id.parse() == Ok(i) }
    };
    match item {
        Item::ArrayOfTables(blocks) => {
            let id_of = |t: &toml_edit::Table| t.get("id").and_then(Item::as_str).map(str::to_string);
            let at = blocks.iter().enumerate().position(|(i, t)| found(i, id_of(t).as_deref()))?;
            blocks.get_mut(at).map(|t| t as &mut dyn TableLike)
        }
        Item::Value(Value::Array(list)) => {
            let id_of = |v: &Value| v.as_inline_table()?.get("id")?.as_str().map(str::to_string);
            let at = list.iter().enumerate().position(|(i, v)| found(i, id_of(v).as_deref()))?;
            list.get_mut(at)?.as_inline_table_mut().map(|t| t as &mut dyn TableLike)
        }
        _ => None,
    }
}
