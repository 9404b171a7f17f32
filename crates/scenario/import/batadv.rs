//! `batadv-vis -f json`: a JSON object on each line.
//!
//! `primary` is the main interface of a node, `secondary` another one `of` it. `router`, `neighbor` and `label` are a link: the label is
//! 255/TQ, with 1 for perfect, from the router to the neighbour. `router` and `gateway` with the label `TT` is a client in the translation
//! table of a node, which is no router. Nodes without a line of their own are made.

use serde_json::Value;

use super::aliases::Aliases;
use super::draft::{DirectionQuality, Draft, Imported, Medium, ReadOptions, UnknownEnd, link_record, name};
use super::json::{self, id, text};
use super::netjson::from_tq;
use super::reason::Reason;

/// A line: its number, and its value or the problem with it.
pub(crate) type Line = (usize, Result<Value, String>);

/// True if a value is a line of this format.
pub(crate) fn is_record(value: &Value) -> bool {
    let has = |key: &str| value.get(key).is_some();
    has("primary")
        || has("secondary") && has("of")
        || has("router") && (has("neighbor") || has("gateway") && has("label"))
}

/// Reads the lines.
///
/// # Errors
/// If there is too much.
pub(crate) fn read(lines: &[Line], read_options: &ReadOptions<'_>) -> Result<Imported, String> {
    let mut draft = Draft::new(read_options);
    let get = |value: &Value, key: &str| id(value.get(key));
    let mut aliases = Aliases::default();
    let values = || lines.iter().filter_map(|(_, value)| value.as_ref().ok());
    for value in values() {
        if let (Some(main), Some(alias)) = (get(value, "of"), get(value, "secondary")) {
            aliases.add(&main, &alias);
        }
    }
    draft.set_aliases(aliases);
    for primary in values().filter_map(|value| get(value, "primary")) {
        draft.count("nodes")?;
        draft.node(&primary, None);
    }
    for (number, value) in lines {
        let value = match value {
            Ok(value) => value,
            Err(problem) => {
                draft.count("links")?;
                draft.reject(format!("line {number}"), Reason::Malformed, format!("not JSON: {problem}"));
                continue;
            }
        };
        if get(value, "primary").is_some() || get(value, "secondary").is_some() {
            continue;
        }
        let router = get(value, "router");
        if let (Some(_), Some(client), "TT") = (&router, get(value, "gateway"), label(value)) {
            draft.count("clients")?;
            draft.reject(format!("client {}", name(&client)), Reason::NoRouter, String::new());
            continue;
        }
        draft.count("links")?;
        let (Some(from), Some(to)) = (router, get(value, "neighbor")) else {
            let detail = "no primary, no secondary, and no router with a neighbor".to_string();
            draft.reject(format!("line {number}"), Reason::Malformed, detail);
            continue;
        };
        let Some(ends) = draft.ends(&from, &to, UnknownEnd::Make)? else { continue };
        match from_tq(json::number(value.get("label"))) {
            Ok(p) => draft.link(ends, Medium::Radio, DirectionQuality::own(p), DirectionQuality::echo(p)),
            Err((reason, detail)) => draft.reject(link_record(&from, &to), reason, detail),
        }
    }
    Ok(draft.found)
}

fn label(value: &Value) -> &str {
    text(value.get("label")).unwrap_or_default()
}
