//! Overrides, `--set path=value`: they replace or add values of the file before its keys are read.

use airfair_schemes::Registry;

use crate::text::error::{Cx, cut, quoted};
use crate::text::location::{At, Path};
use crate::text::nearest::hint;
use crate::text::tree::{Entry, Located, Table, Value, parse_value};

/// A value that is set from outside the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// The key path: `radio.rts_threshold`, `flow.left.traffic.rate` (a flow or node by its id, a link or gain by its
    /// number from 0), `nred.max_p` (short for `schemes.nred.max_p`). A part with a dot in it stands in double quotes.
    pub path: String,
    /// The value: TOML if it reads as TOML, else a text.
    pub value: String,
}

impl Override {
    /// Reads `path=value`.
    ///
    /// # Errors
    /// A message if there is no equals sign or no path.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((path, value)) if !path.trim().is_empty() => {
                Ok(Self { path: path.trim().to_string(), value: value.trim().to_string() })
            }
            _ => Err(format!(
                "--set {}: expected path=value, such as radio.data_rate=\"2 Mbit/s\"",
                quoted(text)
            )),
        }
    }
}

/// Blocks that are found by their id.
pub(crate) const BY_ID: [&str; 2] = ["flow", "node"];
/// Blocks that are found by their number.
pub(crate) const BY_NUMBER: [&str; 2] = ["link", "gain"];

/// Puts every override into the tree. `top` are the keys that a file may have.
pub(crate) fn apply(root: &mut Table, overrides: &[Override], top: &[&str], cx: &mut Cx<'_>) {
    for (i, o) in overrides.iter().enumerate() {
        let at = At::Override(u32::try_from(i).unwrap_or(u32::MAX));
        let item = parse_value(&o.value, at).unwrap_or(Located { at, value: Value::Text(o.value.clone()) });
        if let Err(problem) = split(&o.path).and_then(|parts| set(root, &parts, item, (top, cx.schemes))) {
            cx.error(at, &Path::ROOT, || problem);
        }
    }
}

/// The parts of a path: bare ones up to the next dot, or quoted ones.
pub(crate) fn split(path: &str) -> Result<Vec<String>, String> {
    let mut parts = Vec::new();
    let mut rest = path;
    loop {
        let part = if let Some(quoted) = rest.strip_prefix('"') {
            let end = quoted.find('"').ok_or("the quotes in the path do not end")?;
            rest = &quoted[end + 1..];
            quoted[..end].to_string()
        } else {
            let end = rest.find('.').unwrap_or(rest.len());
            let part = rest[..end].trim().to_string();
            rest = &rest[end..];
            part
        };
        if part.is_empty() {
            return Err("a part of the path is empty; expected a path such as radio.data_rate".to_string());
        }
        parts.push(part);
        match rest.strip_prefix('.') {
            Some(after) => rest = after,
            None if rest.is_empty() => return Ok(parts),
            None => return Err("expected a dot after the quotes in the path".to_string()),
        }
    }
}

fn set(
    root: &mut Table,
    parts: &[String],
    item: Located,
    (top, schemes): (&[&str], &Registry),
) -> Result<(), String> {
    let Some((first, below)) = parts.split_first() else { return Ok(()) };
    if !top.contains(&first.as_str()) {
        if schemes.find(first).is_none() {
            let names = schemes.entries().iter().map(|s| s.name);
            let hint = hint(first, top.iter().copied().chain(names));
            return Err(format!("{}: no such key, table or scheme{hint}", quoted(first)));
        }
        let long: Vec<String> = std::iter::once("schemes".to_string()).chain(parts.iter().cloned()).collect();
        return set(root, &long, item, (top, schemes));
    }
    let Some((key, between)) = below.split_last() else {
        put(root, first, item);
        return Ok(());
    };
    if BY_ID.contains(&first.as_str()) || BY_NUMBER.contains(&first.as_str()) {
        let Some((id, between)) = between.split_first() else {
            return Err(format!("expected a path such as {first}.{}.KEY", cut(key)));
        };
        return insert(block(root, first, id)?, between, key, item);
    }
    let parents: Vec<String> = std::iter::once(first.clone()).chain(between.iter().cloned()).collect();
    insert(root, &parents, key, item)
}

/// The block of a flow, node, link or gain.
fn block<'t>(root: &'t mut Table, kind: &str, id: &str) -> Result<&'t mut Table, String> {
    let none = || format!("{}: the file has no [[{kind}]] blocks", quoted(id));
    let list = match root.entries.get_mut(kind) {
        Some(Entry { item: Located { value: Value::List(list), .. }, .. }) => list,
        _ => return Err(none()),
    };
    let found = if BY_ID.contains(&kind) {
        list.iter().position(|n| n.table().and_then(|t| t.text("id")) == Some(id))
    } else {
        id.parse().ok().filter(|&i: &usize| i < list.len())
    };
    let Some(found) = found else {
        return Err(if BY_ID.contains(&kind) {
            let ids = list.iter().filter_map(|n| n.table().and_then(|t| t.text("id")));
            format!("{}: no {kind} is written with this id{}", quoted(id), hint(id, ids))
        } else {
            format!("{}: expected the number of a {kind}, 0 to {}", quoted(id), list.len().saturating_sub(1))
        });
    };
    match list.get_mut(found) {
        Some(Located { value: Value::Table(table), .. }) => Ok(table),
        _ => Err(none()),
    }
}

fn insert(mut table: &mut Table, parents: &[String], key: &str, item: Located) -> Result<(), String> {
    for name in parents {
        let at = item.at;
        let entry = table.entries.entry(name.clone()).or_insert_with(|| Entry {
            key_at: at,
            item: Located { at, value: Value::Table(Table::new(at)) },
        });
        table = match &mut entry.item.value {
            Value::Table(below) => below,
            _ => return Err(format!("{} is not a table", quoted(name))),
        };
    }
    put(table, key, item);
    Ok(())
}

fn put(table: &mut Table, key: &str, item: Located) {
    table.entries.insert(key.to_string(), Entry { key_at: item.at, item });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_split_at_dots_outside_quotes() {
        assert_eq!(split("flow.\"a.b\".start").unwrap(), ["flow", "a.b", "start"]);
        assert_eq!(split("duration").unwrap(), ["duration"]);
        for wrong in ["", ".", "a.", "a..b", "\"a", "\"a\"b"] {
            assert!(split(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_override_needs_a_path_and_a_value() {
        let o = Override::parse("radio.rts_threshold = 2347 B").unwrap();
        assert_eq!((o.path.as_str(), o.value.as_str()), ("radio.rts_threshold", "2347 B"));
        assert!(Override::parse("radio").is_err());
        assert!(Override::parse("=1").is_err());
    }
}
