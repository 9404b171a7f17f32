//! batman-adv's vis server: JSON by originator, and a table of MAC addresses.
//!
//! The metric of a record is 255/TQ: 1 is perfect. It is the quality from the router to the neighbour; the other direction
//! has a record of its own, or is taken to be the same. `secondary` lists further interfaces of the same node. Clients are
//! no nodes.

use serde_json::Value;

use super::aliases::Aliases;
use super::draft::{
    DirectionQuality, Draft, Imported, Medium, ReadOptions, UnknownEnd, link_record, numbered,
};
use super::json::{id, list, number};
use super::netjson::from_tq;
use super::reason::Reason;

/// Reads the JSON form.
///
/// # Errors
/// If there is too much.
pub(crate) fn read_json(value: &Value, read_options: &ReadOptions<'_>) -> Result<Imported, String> {
    let mut draft = Draft::new(read_options);
    let entries = list(value.get("vis"));
    let mut aliases = Aliases::default();
    for entry in entries {
        let Some(primary) = id(entry.get("primary")) else { continue };
        for secondary in list(entry.get("secondary")) {
            if let Some(address) = id(Some(secondary)) {
                aliases.add(&primary, &address);
            }
        }
    }
    draft.set_aliases(aliases);
    for (i, entry) in entries.iter().enumerate() {
        draft.count("nodes")?;
        let Some(primary) = id(entry.get("primary")) else {
            draft.reject(numbered("originator", i), Reason::Malformed, "no primary".to_string());
            continue;
        };
        draft.node(&primary, None);
    }
    for (i, neighbor) in entries.iter().flat_map(|e| list(e.get("neighbors"))).enumerate() {
        draft.count("links")?;
        let (Some(from), Some(to)) = (id(neighbor.get("router")), id(neighbor.get("neighbor"))) else {
            draft.reject(numbered("neighbour", i), Reason::Malformed, "no router or no neighbor".to_string());
            continue;
        };
        add(&from, &to, number(neighbor.get("metric")), &mut draft)?;
    }
    Ok(draft.found)
}

/// Reads the table: two addresses, then numbers of which the last is the metric.
///
/// # Errors
/// If there is no table, or too much.
pub(crate) fn read_text(text: &str, read_options: &ReadOptions<'_>) -> Result<Imported, String> {
    let mut draft = Draft::new(read_options);
    let mut lines = (1..).zip(text.lines()).skip_while(|(_, line)| !line.trim().starts_with("Table:"));
    if lines.nth(1).is_none() {
        return Err("no table below `Table: Topology`".to_string());
    }
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        draft.count("links")?;
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (&[from, to, ..], Some(metric)) = (fields.as_slice(), fields.get(2..).and_then(<[&str]>::last))
        else {
            let detail = "expected two addresses and a metric".to_string();
            draft.reject(format!("line {number}"), Reason::Malformed, detail);
            continue;
        };
        add(from, to, metric.parse().ok(), &mut draft)?;
    }
    Ok(draft.found)
}

fn add(from: &str, to: &str, metric: Option<f64>, draft: &mut Draft<'_>) -> Result<(), String> {
    let Some(ends) = draft.ends(from, to, UnknownEnd::Make)? else { return Ok(()) };
    match from_tq(metric) {
        Ok(forward) => {
            draft.link(ends, Medium::Radio, DirectionQuality::own(forward), DirectionQuality::echo(forward))
        }
        Err((reason, detail)) => draft.reject(link_record(from, to), reason, detail),
    }
    Ok(())
}
