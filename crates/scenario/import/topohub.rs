//! TopoHub: wired graphs as `nodes` and `edges` with `dist` in km. Positions are not kept: a wire's delay comes from its length.

use serde_json::Value;

use super::draft::{
    DirectionQuality, Draft, Imported, Medium, ReadOptions, UnknownEnd, link_record, numbered, shown,
};
use super::json::{id, list, number, text};
use super::reason::Reason;

/// Longest edge, km: half of the Earth.
const LONGEST_KM: f64 = 20_100.0;

/// Reads a graph.
///
/// # Errors
/// If there is too much.
pub(crate) fn read(value: &Value, read_options: &ReadOptions<'_>) -> Result<Imported, String> {
    let mut draft = Draft::new(read_options);
    draft.found.undirected = true;
    for (i, node) in list(value.get("nodes")).iter().enumerate() {
        draft.count("nodes")?;
        let Some(id) = id(node.get("id")) else {
            draft.reject(numbered("node", i), Reason::Malformed, "no id".to_string());
            continue;
        };
        if let Some(index) = draft.node(&id, None) {
            draft.label(index, text(node.get("name")));
        }
    }
    for (i, edge) in list(value.get("edges")).iter().enumerate() {
        draft.count("links")?;
        let (Some(from), Some(to)) = (id(edge.get("source")), id(edge.get("target"))) else {
            draft.reject(numbered("edge", i), Reason::Malformed, "no source or no target".to_string());
            continue;
        };
        let Some(ends) = draft.ends(&from, &to, UnknownEnd::Reject)? else { continue };
        let km = edge.get("dist").map(|d| number(Some(d)));
        if let Some(km) = km.filter(|km| !km.is_some_and(|km| (0.0..=LONGEST_KM).contains(&km))) {
            let detail = km.map_or("dist is not a number".to_string(), |km| format!("dist {} km", shown(km)));
            draft.reject(link_record(&from, &to), Reason::BadQuality, detail);
            continue;
        }
        draft.link(ends, Medium::Cable, DirectionQuality::default(), DirectionQuality::default());
        if let Some(link) = draft.found.links.last_mut() {
            link.length_m = km.flatten().map(|km| km * 1000.0);
        }
    }
    Ok(draft.found)
}
