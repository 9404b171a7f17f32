//! GraphML whose edges have a weight: ETX.
//!
//! The weight is the edge's `data` of the key whose name is `weight`, `etx` or `cost`. Nodes may have `latitude` and
//! `longitude` in the same way. ETX holds for both directions.

use std::collections::BTreeMap;

use roxmltree::{Document, Node};

use super::draft::{
    DirectionQuality, Draft, Imported, Medium, NodeLocation, ReadOptions, UnknownEnd, from_etx, link_record,
    numbered,
};
use super::reason::Reason;

const WEIGHTS: [&str; 3] = ["weight", "etx", "cost"];

/// Reads a graph.
///
/// # Errors
/// If there is none, or too much of it.
pub(crate) fn read(document: &Document<'_>, read_options: &ReadOptions<'_>) -> Result<Imported, String> {
    let mut draft = Draft::new(read_options);
    let root = document.root_element();
    let element = |name: &'static str| move |n: &Node<'_, '_>| n.tag_name().name() == name;
    let keys: BTreeMap<&str, String> = root
        .children()
        .filter(element("key"))
        .filter_map(|k| Some((k.attribute("id")?, k.attribute("attr.name")?.to_lowercase())))
        .collect();
    let data = |node: Node<'_, '_>, names: &[&str]| -> Option<String> {
        node.children().filter(element("data")).find_map(|d| {
            let name = keys.get(d.attribute("key")?)?;
            names.contains(&name.as_str()).then(|| d.text().unwrap_or_default().trim().to_string())
        })
    };
    let Some(graph) = root.children().find(element("graph")) else {
        return Err("no <graph> in <graphml>".to_string());
    };
    draft.found.undirected = graph.attribute("edgedefault") != Some("directed");
    draft.found.date = data(graph, &["scan_time", "date", "timestamp"]);
    for (i, node) in graph.descendants().filter(element("node")).enumerate() {
        draft.count("nodes")?;
        let Some(id) = node.attribute("id").filter(|id| !id.is_empty()) else {
            draft.reject(numbered("node", i), Reason::Malformed, "no id".to_string());
            continue;
        };
        let degrees = |names: &[&str]| data(node, names)?.parse().ok();
        let location = degrees(&["latitude", "lat"]).zip(degrees(&["longitude", "lon", "lng"]));
        let location =
            location.map(|(latitude, longitude)| NodeLocation::Earth { latitude, longitude, altitude: 0.0 });
        if let Some(index) = draft.node(id, location) {
            draft.label(index, data(node, &["label", "name"]).as_deref());
        }
    }
    for (i, edge) in graph.descendants().filter(element("edge")).enumerate() {
        draft.count("links")?;
        let (Some(from), Some(to)) = (edge.attribute("source"), edge.attribute("target")) else {
            draft.reject(numbered("edge", i), Reason::Malformed, "no source or no target".to_string());
            continue;
        };
        let Some(ends) = draft.ends(from, to, UnknownEnd::Reject)? else { continue };
        let Some(weight) = data(edge, &WEIGHTS) else {
            draft.link(ends, Medium::Radio, DirectionQuality::default(), DirectionQuality::default());
            continue;
        };
        match from_etx(weight.parse().ok()) {
            Ok(p) => draft.link(ends, Medium::Radio, DirectionQuality::own(p), DirectionQuality::echo(p)),
            Err((reason, detail)) => draft.reject(link_record(from, to), reason, detail),
        }
    }
    Ok(draft.found)
}
