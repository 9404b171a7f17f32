//! `[schemes.NAME]`: parameters of schemes, checked against the registry.

use std::collections::BTreeMap;

use airfair_schemes::{
    Fate, PRESET_KEY, ParamDoc, ParamKind, ParamRole, ParamValue, Params, Preset, Registry, SchemeEntry,
    former,
};
use airfair_units::{Bytes, Rate, Span};

use crate::declare::field::{Field, misfit, quote, unknown_choice};
use crate::declare::schema::{Schema, within, words};
use crate::declare::table::{DefaultDoc, KeyDoc, TableDoc};
use crate::text::error::{Cx, cut, one_of, quoted};
use crate::text::location::{At, Path};
use crate::text::nearest::hint;
use crate::text::tree::{Located, Table, Value};

/// The registry's entry for a name that a user wrote.
pub(crate) fn find<'r>(
    registry: &'r Registry,
    name: &str,
    (at, path): (At, &Path<'_>),
    cx: &mut Cx<'_>,
) -> Option<&'r SchemeEntry> {
    let found = registry.find(name);
    if found.is_none() {
        let names: Vec<&str> = registry.entries().iter().map(|e| e.name).collect();
        cx.error(at, path, || {
            format!(
                "{}: no such scheme; expected {}{}",
                quoted(name),
                one_of(&names),
                hint(name, names.iter().copied())
            )
        });
    }
    found
}

/// Reads one table of parameters; those that are not written have the values of the table's preset, or else their defaults.
pub(crate) fn read(entry: &SchemeEntry, table: Option<&Table>, path: &Path<'_>, cx: &mut Cx<'_>) -> Params {
    let (mut params, mut fits) = (BTreeMap::new(), true);
    let preset =
        table.and_then(|table| read_preset(entry, table, path, cx)).unwrap_or_else(|| entry.defaults());
    let unwritten = |doc: &ParamDoc| preset.0.get(doc.name).copied().unwrap_or(doc.default);
    for doc in entry.params.iter() {
        let written = table.and_then(|t| t.get(doc.name));
        let value = match written {
            Some(node) => read_one(doc, node, &path.child(doc.name), cx),
            None => Some(unwritten(doc)),
        };
        fits &= value.is_some();
        params.extend(value.map(|v| (doc.name.to_string(), v)));
    }
    let params = Params(params);
    let Some(table) = table else { return params };
    // The complete form has all parameters: default values need no warning.
    let off = |name: &str| params.0.get(name) == Some(&ParamValue::Flag(false));
    for doc in entry.params.iter().filter(|doc| params.0.get(doc.name) != Some(&unwritten(doc))) {
        if let Some(flag) = doc.needs.filter(|flag| off(flag)) {
            cx.warnings.push(format!("{} has no effect: {flag} = false", path.child(doc.name)));
        }
    }
    for (key, written) in &table.entries {
        if key != PRESET_KEY && !entry.params.iter().any(|d| d.name == key) {
            let registry = cx.schemes;
            cx.error(written.key_at, &path.child(&cut(key)), || unknown(entry, key, registry));
        }
    }
    // A scheme checks its parameters together; if one is wrong already, this check adds nothing.
    if let (true, Err(error)) = (fits, (entry.build)(&params)) {
        // Of two parameters in the wrong order, the one that was written last: an override, if there is one.
        let place = |name: &'static str| table.get(name).map(|node| (node.at, name));
        let last = error.pair.and_then(|pair| place(pair.low).max(place(pair.high)));
        let (at, name) = last.or_else(|| place(error.name)).unwrap_or((table.at, error.name));
        cx.error(at, &path.child(name), || {
            let value = |name| params.0.get(name).map_or_else(String::new, ToString::to_string);
            match error.pair {
                Some(pair) => {
                    let (other, fault) = pair.seen_from(name);
                    format!("{} {fault} {}.{other}, {}", value(name), entry.name, value(other))
                }
                None if params.0.contains_key(name) => format!("{}: {}", value(name), error.problem),
                None => error.problem.clone(),
            }
        });
    }
    params
}

/// The values of the preset that a table names.
fn read_preset(entry: &SchemeEntry, table: &Table, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Params> {
    let node = table.get(PRESET_KEY)?;
    let path = path.child(PRESET_KEY);
    let name = String::read(node, &path, cx)?;
    let found = entry.preset(&name);
    if found.is_none() {
        cx.error(node.at, &path, || no_preset(entry, &name));
    }
    found
}

/// The problem of a preset that a scheme does not have.
pub(crate) fn no_preset(entry: &SchemeEntry, name: &str) -> String {
    let known: Vec<&str> = entry.preset_names().collect();
    format!("{}: {} has no such preset; expected {}", quoted(name), entry.name, one_of(&known))
}

/// Most parameters that a message lists.
const LISTED: usize = 8;

/// The problem of a parameter that the scheme does not have.
fn unknown(entry: &SchemeEntry, key: &str, registry: &Registry) -> String {
    let name = entry.name;
    match former(name, key) {
        Some(Fate::Renamed(new)) => return format!("is called \"{new}\" now"),
        Some(Fate::Gone(why)) => return format!("is gone: {why}"),
        None => {}
    }
    let names: Vec<&str> = entry.params.iter().map(|d| d.name).collect();
    let others: Vec<&str> = registry
        .entries()
        .iter()
        .filter(|other| other.params.iter().any(|d| d.name == key))
        .map(|other| other.name)
        .collect();
    // A scheme that is made from this one: c3l-faulty from c3l.
    let kin = others.iter().find(|other| other.strip_prefix(name).is_some_and(|rest| rest.starts_with('-')));
    let owners = match (kin, others.as_slice()) {
        (Some(owner), _) | (None, [owner]) => format!("a parameter of {owner}, not of {name}"),
        _ if names.is_empty() => return format!("{name} has no parameters"),
        _ => format!("not a parameter of {name}"),
    };
    if kin.is_some() {
        return owners;
    }
    let near = hint(key, names.iter().copied());
    match names.len() {
        1..=LISTED if near.is_empty() => format!("{owners}; expected {}", one_of(&names)),
        0..=LISTED => format!("{owners}{near}"),
        _ => format!("{owners}{near} (`airfair schemes {name}` lists all)"),
    }
}

fn read_one(doc: &ParamDoc, node: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<ParamValue> {
    let value = match doc.kind {
        ParamKind::Span => ParamValue::Span(Span::read(node, path, cx)?),
        ParamKind::Rate => ParamValue::Rate(Rate::read(node, path, cx)?),
        ParamKind::Bytes => ParamValue::Bytes(Bytes::read(node, path, cx)?),
        ParamKind::Number => ParamValue::Number(read_number(doc, node, path, cx)?),
        ParamKind::Integer => ParamValue::Integer(u64::read(node, path, cx)?),
        ParamKind::Flag => ParamValue::Flag(bool::read(node, path, cx)?),
        ParamKind::Choice(words) => ParamValue::Choice(read_choice(words, node, path, cx)?),
    };
    let Some(range) = doc.range.filter(|_| doc.check(value).is_err()) else { return Some(value) };
    cx.error(node.at, path, || format!("{}: out of range; expected {}", node.shown(), words_of(&range)));
    None
}

/// Reads a number. A text such as "7 dB" is answered with the number, if the parameter is one in that unit.
fn read_number(doc: &ParamDoc, node: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<f64> {
    if let Value::Text(text) = &node.value
        && let Some((number, unit)) = text.trim().split_once(' ')
        && number.parse::<f64>().is_ok_and(f64::is_finite)
        && doc.doc.split(|c: char| !c.is_alphanumeric()).any(|word| word == unit.trim())
    {
        return misfit(node, path, cx, &format!("a number of {}: {number}", unit.trim()));
    }
    f64::read(node, path, cx)
}

fn read_choice(
    words: &[&'static str],
    node: &Located,
    path: &Path<'_>,
    cx: &mut Cx<'_>,
) -> Option<&'static str> {
    let Value::Text(text) = &node.value else { return misfit(node, path, cx, &one_of(words)) };
    let found = words.iter().copied().find(|word| word == text);
    if found.is_none() {
        cx.error(node.at, path, || unknown_choice(text, words));
    }
    found
}

/// A parameter as TOML.
pub(crate) fn write(value: &ParamValue) -> String {
    match value {
        ParamValue::Span(v) => v.write(),
        ParamValue::Rate(v) => v.write(),
        ParamValue::Bytes(v) => v.write(),
        ParamValue::Number(v) => v.write(),
        ParamValue::Integer(v) => v.write(),
        ParamValue::Flag(v) => v.write(),
        ParamValue::Choice(v) => quote(v),
    }
}

/// A range in words.
fn words_of([low, high]: &[ParamValue; 2]) -> String {
    format!("{} to {}", write(low), write(high))
}

/// A bound of a range in a schema; `None` for quantities, which are texts.
fn bound(value: &ParamValue) -> Option<Schema> {
    match value {
        ParamValue::Number(v) => v.bound(),
        ParamValue::Integer(v) => v.bound(),
        _ => None,
    }
}

/// The page of the reference about a scheme: parameters of the paper and of the operator.
pub(crate) fn page(entry: &SchemeEntry) -> TableDoc {
    let mut page = doc(entry);
    page.keys.retain(|key| !is_reading(entry, key.name));
    page
}

/// The page of the reference about the readings of a scheme; `None` if it has none.
pub(crate) fn readings(entry: &SchemeEntry) -> Option<TableDoc> {
    let mut page = doc(entry);
    page.keys.retain(|key| is_reading(entry, key.name));
    page.name = format!("readings of {}", entry.name);
    page.about =
        format!("Keys of `[schemes.{}]`: readings and additions of ours ({})", entry.name, entry.source);
    Some(page).filter(|page| !page.keys.is_empty())
}

fn is_reading(entry: &SchemeEntry, name: &str) -> bool {
    entry.params.iter().any(|param| param.name == name && param.role == ParamRole::Reading)
}

/// The documentation of the key of presets.
fn preset_doc(entry: &SchemeEntry) -> String {
    let preset = |preset: &Preset| format!(" \"{}\": {}.", preset.name, preset.about);
    let presets: String = entry.presets.iter().map(preset).collect();
    format!("The values of the parameters that are not written.{presets}")
}

/// All parameters of a scheme.
pub(crate) fn doc(entry: &SchemeEntry) -> TableDoc {
    let of = |kind| match kind {
        ParamKind::Span => (Span::TYPE, Span::expected(), Span::schema()),
        ParamKind::Rate => (Rate::TYPE, Rate::expected(), Rate::schema()),
        ParamKind::Bytes => (Bytes::TYPE, Bytes::expected(), Bytes::schema()),
        ParamKind::Number => (f64::TYPE, f64::expected(), f64::schema()),
        ParamKind::Integer => (u64::TYPE, u64::expected(), u64::schema()),
        ParamKind::Flag => (bool::TYPE, bool::expected(), bool::schema()),
        ParamKind::Choice(choices) => ("choice", one_of(choices), words(choices)),
    };
    let presets: Vec<&str> = entry.preset_names().collect();
    let preset = (presets.len() > 1).then(|| KeyDoc {
        name: PRESET_KEY,
        kind: "choice",
        expected: one_of(&presets),
        choices: presets.iter().map(ToString::to_string).collect(),
        range: None,
        default: DefaultDoc::Value(quote(Preset::DEFAULT)),
        doc: preset_doc(entry),
        schema: words(&presets),
    });
    let defaults = entry.defaults();
    let keys = preset
        .into_iter()
        .chain(entry.params.iter().map(|p| {
            let (kind, expected, schema) = of(p.kind);
            KeyDoc {
                name: p.name,
                kind,
                expected,
                choices: match p.kind {
                    ParamKind::Choice(words) => words.iter().map(ToString::to_string).collect(),
                    _ => Vec::new(),
                },
                range: p.range.as_ref().map(words_of),
                default: DefaultDoc::Value(write(&defaults.0[p.name])),
                doc: p.doc.to_string(),
                schema: within(schema, p.range.map_or([None, None], |range| range.map(|v| bound(&v)))),
            }
        }))
        .collect();
    TableDoc {
        name: format!("[schemes.{}]", entry.name),
        about: format!("{} ({})", entry.about, entry.source),
        keys,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::location::At;
    use crate::text::tree::parse_value;

    airfair_schemes::params! {
        /// Parameters of each type, for tests.
        struct Parameters {
            /// probability
            paper max_p: f64 = 0.02, in 0.0..=1.0;
            /// time between samples
            paper interval: Span = Span::from_millis(100), in Span(1)..=Span::from_secs(1);
            /// a switch
            paper gentle: bool = true;
            /// how many
            paper bins: u64 = 8, in 1..=64;
        }
    }

    fn entry() -> SchemeEntry {
        let droptail = airfair_schemes::find("droptail").unwrap();
        SchemeEntry { name: "test", params: Parameters::LIST.into(), ..droptail.clone() }
    }

    fn read_text(text: &str) -> Result<Params, String> {
        let mut cx = Cx::new("x.toml", &[]);
        let table = crate::text::tree::parse(text, &mut cx).unwrap();
        let params = read(&entry(), Some(&table), &Path::ROOT.child("schemes").child("test"), &mut cx);
        cx.finish().map(|_| params).map_err(|e| e.to_string())
    }

    #[test]
    fn defaults_fill_in() {
        let params = read_text("max_p = 0.1").unwrap().0;
        assert_eq!(params["max_p"], ParamValue::Number(0.1));
        assert_eq!(params["interval"], ParamValue::Span(Span::from_millis(100)));
        assert_eq!(params["gentle"], ParamValue::Flag(true));
        assert_eq!(params["bins"], ParamValue::Integer(8));
        for (_, value) in params {
            assert!(parse_value(&write(&value), At::Line(1)).is_some());
        }
    }

    #[test]
    fn wrong_parameters_are_refused() {
        assert_eq!(
            read_text("maxp = 1").unwrap_err(),
            "x.toml:1: schemes.test.maxp: not a parameter of test; did you mean \"max_p\"?"
        );
        assert_eq!(
            read_text("interval = 5").unwrap_err(),
            "x.toml:1: schemes.test.interval: 5: the unit is missing; expected a time such as \"20 us\" (ns, us, ms, \
             s, min, h)"
        );
    }

    /// All parameters outside of their ranges are reported at once.
    #[test]
    fn every_range_is_checked() {
        assert_eq!(
            read_text("max_p = 1.5\ninterval = \"2 s\"\nbins = 0").unwrap_err(),
            "x.toml:1: schemes.test.max_p: 1.5: out of range; expected 0.0 to 1.0\n\
             x.toml:2: schemes.test.interval: \"2 s\": out of range; expected \"1 ns\" to \"1 s\"\n\
             x.toml:3: schemes.test.bins: 0: out of range; expected 1 to 64"
        );
    }

    #[test]
    fn the_reference_and_the_schema_have_the_ranges() {
        let keys = doc(&entry()).keys;
        let ranges: Vec<_> = keys.iter().map(|key| key.range.as_deref()).collect();
        assert_eq!(ranges, [Some("0.0 to 1.0"), Some("\"1 ns\" to \"1 s\""), None, Some("1 to 64")]);
        assert_eq!((&keys[0].schema["minimum"], &keys[0].schema["maximum"]), (&0.0.into(), &1.0.into()));
        assert_eq!((&keys[3].schema["minimum"], &keys[3].schema["maximum"]), (&1.into(), &64.into()));
        assert!(keys[1].schema.get("minimum").is_none(), "a quantity is a text");
    }
}
