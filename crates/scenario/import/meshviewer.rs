//! Meshviewer: `nodes` with `node_id` and `links` with batman-adv's TQ of each direction, in one file or in two.
//!
//! `source_tq` is the quality from the source to the target, `target_tq` the other way, 0 to 1; both are read as
//! delivery ratios, though batman-adv multiplies a penalty for asymmetry into them. A link of type `wifi` is radio, `vpn` a tunnel;
//! `other` may be a cable or a radio of which the router does not know. The same pair may be linked on two bands.

use serde_json::Value;

use super::draft::{
    DirectionQuality, Draft, Imported, Medium, NodeLocation, ReadOptions, UnknownEnd, link_record, numbered,
    ratio,
};
use super::json::{id, list, number, text};
use super::reason::Reason;

/// Reads the nodes of the first value that has them and the links of the first that has those.
///
/// # Errors
/// If there are no nodes or links, or too many.
pub(crate) fn read(parts: &[&Value], read_options: &ReadOptions<'_>) -> Result<Imported, String> {
    let find = |key: &str| {
        parts.iter().find_map(|v| v.get(key)).ok_or_else(|| format!("no `{key}`; expected a list of them"))
    };
    let mut draft = Draft::new(read_options);
    draft.found.undirected = true;
    draft.found.date = parts.iter().find_map(|v| text(v.get("timestamp"))).map(str::to_string);
    for (i, node) in list(Some(find("nodes")?)).iter().enumerate() {
        draft.count("nodes")?;
        let Some(name) = id(node.get("node_id")) else {
            draft.reject(numbered("node", i), Reason::Malformed, "no node_id".to_string());
            continue;
        };
        let at = node.get("location");
        let degrees = |key| at.and_then(|v| number(v.get(key)));
        let location = degrees("latitude").zip(degrees("longitude"));
        let location =
            location.map(|(latitude, longitude)| NodeLocation::Earth { latitude, longitude, altitude: 0.0 });
        let Some(index) = draft.node(&name, location) else { continue };
        draft.label(index, text(node.get("hostname")));
        if let Some(made) = draft.found.nodes.get_mut(index) {
            made.gateway = node.get("is_gateway").and_then(Value::as_bool).unwrap_or(false);
        }
    }
    for (i, link) in list(Some(find("links")?)).iter().enumerate() {
        draft.count("links")?;
        let (Some(from), Some(to)) = (id(link.get("source")), id(link.get("target"))) else {
            draft.reject(numbered("link", i), Reason::Malformed, "no source or no target".to_string());
            continue;
        };
        let Some(ends) = draft.ends(&from, &to, UnknownEnd::Reject)? else { continue };
        let medium = match text(link.get("type")) {
            Some("wifi") => Medium::Radio,
            Some("vpn") => Medium::Tunnel,
            Some("lan" | "cable") => Medium::Cable,
            _ => Medium::Unknown,
        };
        let tq = |key| ratio(number(link.get(key)), key);
        match (tq("source_tq"), tq("target_tq")) {
            (Ok(forward), Ok(reverse)) => {
                draft.link(ends, medium, DirectionQuality::own(forward), DirectionQuality::own(reverse))
            }
            (Err((reason, detail)), _) | (_, Err((reason, detail))) => {
                draft.reject(link_record(&from, &to), reason, detail);
            }
        }
    }
    Ok(draft.found)
}
