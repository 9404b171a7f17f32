//! Freifunk's `nodes.json` and `graph.json`, as ffmap-backend and HopGlass write them.
//!
//! `nodes.json` has a list of nodes (version 2), or nodes by their ids (version 1), each with `nodeinfo` and `flags`. `graph.json` has
//! `batadv`, a graph of batman-adv's nodes: `node_id` is the id in `nodes.json`, `id` the MAC address; the ends of a link are indices
//! in the list of nodes, or ids. `tq` is 1/TQ, with 1 for perfect, the same for both directions. A link with `vpn` is a tunnel. Nodes
//! of the graph without a record are made, without a location.

use serde_json::Value;

use super::aliases::Aliases;
use super::draft::{
    DirectionQuality, Draft, Imported, Medium, NodeLocation, ReadOptions, UnknownEnd, link_record, numbered,
};
use super::json::{id, list, number, text};
use super::netjson::from_tq;
use super::reason::Reason;

/// True if a value is a `nodes.json`.
pub(crate) fn has_nodes(value: &Value) -> bool {
    let first = match value.get("nodes") {
        Some(Value::Array(nodes)) => nodes.first(),
        Some(Value::Object(nodes)) => nodes.values().next(),
        _ => None,
    };
    first.is_some_and(|node| node.get("nodeinfo").is_some())
}

/// True if a value is a `graph.json`.
pub(crate) fn has_graph(value: &Value) -> bool {
    value.get("batadv").is_some_and(|graph| graph.get("nodes").is_some() && graph.get("links").is_some())
}

/// Reads both files.
///
/// # Errors
/// If there is no graph, or too much.
pub(crate) fn read(parts: &[&Value], read_options: &ReadOptions<'_>) -> Result<Imported, String> {
    let Some(graph) = parts.iter().find_map(|part| part.get("batadv")) else {
        return Err("no graph, which has the links; expected graph.json beside nodes.json".to_string());
    };
    let mut draft = Draft::new(read_options);
    draft.found.undirected = true;
    let records: Vec<&Value> = parts.iter().flat_map(|part| nodes_of(part)).collect();
    draft.set_aliases(addresses(&records, graph));
    draft.found.date = parts.iter().find_map(|part| text(part.get("timestamp"))).map(str::to_string);
    for (i, node) in records.iter().enumerate() {
        draft.count("nodes")?;
        let info = node.get("nodeinfo");
        let of = |key: &str| info.and_then(|info| info.get(key));
        let Some(name) = id(of("node_id")) else {
            draft.reject(numbered("node", i), Reason::Malformed, "no node_id in its nodeinfo".to_string());
            continue;
        };
        let degrees = |key: &str| number(of("location").and_then(|at| at.get(key)));
        let location = degrees("latitude").zip(degrees("longitude"));
        let location =
            location.map(|(latitude, longitude)| NodeLocation::Earth { latitude, longitude, altitude: 0.0 });
        let Some(index) = draft.node(&name, location) else { continue };
        draft.label(index, text(of("hostname")));
        let flag = |key: &str| node.get("flags").and_then(|flags| flags.get(key)).and_then(Value::as_bool);
        if let Some(made) = draft.found.nodes.get_mut(index) {
            made.gateway = flag("gateway").unwrap_or(false);
        }
    }
    let ends: Vec<Option<String>> = list(graph.get("nodes")).iter().map(graph_id).collect();
    for (i, link) in list(graph.get("links")).iter().enumerate() {
        draft.count("links")?;
        let end = |key: &str| match link.get(key)? {
            Value::Number(index) => ends.get(usize::try_from(index.as_u64()?).ok()?)?.clone(),
            other => id(Some(other)),
        };
        let (Some(from), Some(to)) = (end("source"), end("target")) else {
            let detail = "no source or no target among the nodes of the graph".to_string();
            draft.reject(numbered("link", i), Reason::Malformed, detail);
            continue;
        };
        let Some(ends) = draft.ends(&from, &to, UnknownEnd::Make)? else { continue };
        let vpn = link.get("vpn").and_then(Value::as_bool).unwrap_or(false);
        let medium = match text(link.get("type")) {
            _ if vpn => Medium::Tunnel,
            Some("vpn" | "l2tp" | "fastd" | "tunnel") => Medium::Tunnel,
            Some("lan" | "cable") => Medium::Cable,
            Some("other") => Medium::Unknown,
            _ => Medium::Radio,
        };
        match from_tq(number(link.get("tq"))) {
            Ok(p) => draft.link(ends, medium, DirectionQuality::own(p), DirectionQuality::own(p)),
            Err((reason, detail)) => draft.reject(link_record(&from, &to), reason, detail),
        }
    }
    Ok(draft.found)
}

fn nodes_of(part: &Value) -> Vec<&Value> {
    match part.get("nodes") {
        Some(Value::Array(nodes)) => nodes.iter().collect(),
        Some(Value::Object(nodes)) => nodes.values().collect(),
        _ => Vec::new(),
    }
}

/// The id of a node of the graph: the one in `nodes.json`, or its address.
fn graph_id(node: &Value) -> Option<String> {
    id(node.get("node_id")).or_else(|| id(node.get("id")))
}

/// The MAC addresses of nodes, by both files.
fn addresses(records: &[&Value], graph: &Value) -> Aliases {
    let mut aliases = Aliases::default();
    for info in records.iter().filter_map(|node| node.get("nodeinfo")) {
        let Some(name) = id(info.get("node_id")) else { continue };
        let network = info.get("network");
        let mac = network.and_then(|network| id(network.get("mac")));
        let more = network.map_or(&[][..], |network| list(network.get("mesh_interfaces")));
        for address in mac.into_iter().chain(more.iter().filter_map(|address| id(Some(address)))) {
            aliases.add(&name, &address);
        }
    }
    for node in list(graph.get("nodes")) {
        if let (Some(name), Some(address)) = (id(node.get("node_id")), id(node.get("id"))) {
            aliases.add(&name, &address);
        }
    }
    aliases
}
