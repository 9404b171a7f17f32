//! NYC Mesh: `nodes`, `links` and `sectors`, a JSON list each.
//!
//! Coordinates are longitude, latitude and metres. An `active` link is radio at 5 GHz; `60GHz` shares no air with others
//! and is a cable here, as `fiber` is; `vpn` is a tunnel; `planned` and `potential` links are left out, unless the option `planned` is
//! set. No quality is recorded: path loss comes from length. A sector is an antenna; it gives no link, but its node
//! must exist.

use serde_json::Value;

use super::draft::{
    DirectionQuality, Draft, Imported, Medium, NodeLocation, ReadOptions, UnknownEnd, link_record, name,
    node_record, numbered,
};
use super::json::{id, list, number, text};
use super::reason::Reason;

/// The three lists; sectors may be absent.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lists<'a> {
    pub nodes: Option<&'a Value>,
    pub links: Option<&'a Value>,
    pub sectors: Option<&'a Value>,
}

/// Reads the lists.
///
/// # Errors
/// If nodes or links are missing, or there are too many.
pub(crate) fn read(lists: &Lists<'_>, read_options: &ReadOptions<'_>) -> Result<Imported, String> {
    if lists.nodes.is_none() || lists.links.is_none() {
        let (here, lacks) = if lists.nodes.is_none() { ("links", "nodes") } else { ("nodes", "links") };
        return Err(format!("{here} of NYC Mesh without its {lacks}; expected {lacks}.json beside it"));
    }
    let mut draft = Draft::new(read_options);
    for (i, node) in list(lists.nodes).iter().enumerate() {
        draft.count("nodes")?;
        let Some(id) = id(node.get("id")) else {
            draft.reject(numbered("node", i), Reason::Malformed, "no id".to_string());
            continue;
        };
        let at = list(node.get("coordinates"));
        let degrees = number(at.get(1)).zip(number(at.first()));
        let location = degrees.map(|(latitude, longitude)| NodeLocation::Earth {
            latitude,
            longitude,
            altitude: number(at.get(2)).filter(|h| h.is_finite()).unwrap_or(0.0),
        });
        draft.node(&id, location);
    }
    for (i, link) in list(lists.links).iter().enumerate() {
        draft.count("links")?;
        let (Some(from), Some(to)) = (id(link.get("from")), id(link.get("to"))) else {
            draft.reject(numbered("link", i), Reason::Malformed, "no from or no to".to_string());
            continue;
        };
        let Some(ends) = draft.ends(&from, &to, UnknownEnd::Reject)? else { continue };
        let status = text(link.get("status")).unwrap_or_default();
        let medium = match status {
            "active" => Medium::Radio,
            "60GHz" | "fiber" => Medium::Cable,
            "vpn" => Medium::Tunnel,
            "planned" | "potential" if read_options.planned => Medium::Radio,
            _ => {
                draft.reject(link_record(&from, &to), Reason::NotBuilt, format!("status {}", name(status)));
                continue;
            }
        };
        draft.link(ends, medium, DirectionQuality::default(), DirectionQuality::default());
    }
    draft.found.undirected = true;
    for (i, sector) in list(lists.sectors).iter().enumerate() {
        draft.count("sectors")?;
        match id(sector.get("nodeId")) {
            None => draft.reject(numbered("sector", i), Reason::Malformed, "no nodeId".to_string()),
            Some(id) if draft.find(&id).is_none() => {
                draft.missing(&id);
                let detail = format!("no {}", node_record(&id));
                draft.reject(numbered("sector", i), Reason::Dangling, detail);
            }
            Some(_) => {}
        }
    }
    if !list(lists.sectors).is_empty() {
        let words =
            "sectors give no gains: a link's antennas are aimed at each other, other nodes receive nothing";
        draft.found.assumed.push(words.to_string());
    }
    Ok(draft.found)
}
