//! guifi.net's CNML: nodes with devices, whose interfaces have links.
//!
//! A link has an id and a record at both of its ends; it is read once. `wds` and `ap/client` are radio, `cable` and `fiber`
//! are cables, most of them inside one node. No quality is recorded: path loss comes from length. Only links that work or are
//! tested count, with `planned` also those that are planned, reserved or being built.

use std::collections::BTreeSet;

use roxmltree::{Document, Node};

use super::draft::{
    DirectionQuality, Draft, Imported, Medium, NodeLocation, ReadOptions, UnknownEnd, link_record, name,
    node_record, numbered,
};
use super::reason::Reason;
use super::xml::number;

/// Reads the zones.
///
/// # Errors
/// If there is too much.
pub(crate) fn read(document: &Document<'_>, read_options: &ReadOptions<'_>) -> Result<Imported, String> {
    let mut draft = Draft::new(read_options);
    draft.found.undirected = true;
    draft.found.date = document.root_element().attribute("generated").map(str::to_string);
    let element = |name: &'static str| move |n: &Node<'_, '_>| n.tag_name().name() == name;
    for (i, node) in document.descendants().filter(element("node")).enumerate() {
        draft.count("nodes")?;
        let Some(id) = node.attribute("id").filter(|id| !id.is_empty()) else {
            draft.reject(numbered("node", i), Reason::Malformed, "no id".to_string());
            continue;
        };
        let location = number(node, "lat").zip(number(node, "lon")).map(|(latitude, longitude)| {
            let altitude = number(node, "antenna_elevation").filter(|h| h.is_finite()).unwrap_or(0.0);
            NodeLocation::Earth { latitude, longitude, altitude }
        });
        if let Some(index) = draft.node(id, location) {
            draft.label(index, node.attribute("title"));
        }
    }
    let mut known = BTreeSet::new();
    for node in document.descendants().filter(element("node")) {
        let Some(from) = node.attribute("id").filter(|id| !id.is_empty()) else { continue };
        for (i, link) in node.descendants().filter(element("link")).enumerate() {
            let (Some(id), Some(to)) = (link.attribute("id"), link.attribute("linked_node_id")) else {
                draft.count("links")?;
                let record = format!("{} of {}", numbered("link", i), node_record(from));
                draft.reject(record, Reason::Malformed, "no id or no linked_node_id".to_string());
                continue;
            };
            if known.insert(id) {
                draft.count("links")?;
                read_link((from, to), link, read_options, &mut draft)?;
            }
        }
    }
    Ok(draft.found)
}

fn read_link(
    (from, to): (&str, &str),
    link: Node<'_, '_>,
    read_options: &ReadOptions<'_>,
    draft: &mut Draft<'_>,
) -> Result<(), String> {
    let status = link.attribute("link_status").unwrap_or_default();
    let stands = match status {
        "Working" | "Testing" => true,
        "Planned" | "Reserved" | "Building" => read_options.planned,
        _ => false,
    };
    if from == to {
        draft.reject(link_record(from, to), Reason::InsideNode, String::new());
        return Ok(());
    }
    if !stands {
        draft.reject(link_record(from, to), Reason::NotBuilt, format!("status {}", name(status)));
        return Ok(());
    }
    let medium = match link.attribute("link_type").unwrap_or_default() {
        "wds" | "ap/client" => Medium::Radio,
        "cable" | "fiber" => Medium::Cable,
        "tunnel" => Medium::Tunnel,
        _ => Medium::Unknown,
    };
    if let Some(ends) = draft.ends(from, to, UnknownEnd::Reject)? {
        draft.link(ends, medium, DirectionQuality::default(), DirectionQuality::default());
    }
    Ok(())
}
