//! NetJSON NetworkGraph (RFC draft netjson.org), and any graph of `nodes` with `id` and `links` with `source` and `target`.
//!
//! `cost` is ETX where the protocol is OLSR or the metric says so, and TQ where it is batman-adv: up to 1 the ratio
//! itself, above 1 its inverse, as the vis server writes it. `properties.lq` and `nlq` have precedence over ETX: `lq` is the share that the
//! source receives from the target, `nlq` the other way. olsrd's own numbers are in steps of 1/1024 and are read so if every cost is
//! at least 1024. A link that is written in one direction only is valid for both. Costs of other metrics are not read, and the report
//! says so.
//!
//! A graph that NetworkX has written has its links in `links` or in `edges`; their `weight` or `etx` is ETX, as in GraphML. olsrd2 writes
//! a graph for each of its topologies (IPv4, IPv6) of the same network: see [`super::topologies`].

use serde_json::Value;

use super::aliases::Aliases;
use super::draft::{
    DirectionQuality, Draft, Imported, Medium, NodeLocation, ReadOptions, UnknownEnd, from_etx, link_record,
    name, node_record, numbered, ratio,
};
use super::json::{id, list, number, text};
use super::reason::Reason;
use super::report::count;
use super::topologies::{self, Topologies};

/// One cost of olsrd.
const FIXED_POINT: f64 = 1024.0;

#[derive(Clone, Copy, PartialEq)]
enum Metric {
    Etx,
    Tq,
    UnknownEnd,
}

/// Reads a graph, or every graph of a collection.
///
/// # Errors
/// If there is no graph, or too much of it.
pub(crate) fn read(value: &Value, read_options: &ReadOptions<'_>) -> Result<Imported, String> {
    let mut draft = Draft::new(read_options);
    let graphs = match text(value.get("type")) {
        Some("NetworkCollection") => list(value.get("collection")),
        _ => core::slice::from_ref(value),
    };
    let is_graph = |v: &&Value| ["nodes", "links", "edges"].iter().any(|key| v.get(key).is_some());
    let graphs: Vec<&Value> = graphs.iter().filter(is_graph).collect();
    if graphs.is_empty() {
        return Err("there is no NetworkGraph in it; expected `nodes` and `links`".to_string());
    }
    let mut aliases = Aliases::default();
    for node in graphs.iter().flat_map(|graph| list(graph.get("nodes"))) {
        let Some(name) = id(node.get("id")) else { continue };
        for address in list(node.get("local_addresses")).iter().filter_map(|address| id(Some(address))) {
            aliases.add(&name, &address);
        }
    }
    let topologies = Topologies::of(&graphs, &mut aliases);
    draft.set_aliases(aliases);
    draft.found.assumed.extend(topologies.assumed());
    for graph in topologies.in_order(&graphs) {
        let again = topologies.is_again(graph);
        nodes(graph, again, &mut draft)?;
        links(graph, again, &mut draft)?;
    }
    Ok(draft.found)
}

/// The links of a graph: NetworkX has called them `edges` since its version 3.4.
fn edges(graph: &Value) -> impl Iterator<Item = &Value> {
    list(graph.get("links")).iter().chain(list(graph.get("edges")))
}

/// Reads the nodes of a graph. `again`: another topology of a network that has its nodes.
fn nodes(graph: &Value, again: bool, draft: &mut Draft<'_>) -> Result<(), String> {
    for (i, node) in list(graph.get("nodes")).iter().enumerate() {
        draft.count("nodes")?;
        let Some(name) = id(node.get("id")) else {
            draft.reject(numbered("node", i), Reason::Malformed, "no id".to_string());
            continue;
        };
        if topologies::is_prefix(graph, node) {
            draft.reject(node_record(&name), Reason::NoRouter, "an attached network".to_string());
            continue;
        }
        if again && draft.find(&name).is_some() {
            continue;
        }
        if again {
            draft.reject(node_record(&name), Reason::OtherTopology, String::new());
            continue;
        }
        let Some(index) = draft.node(&name, location(node)) else { continue };
        draft.label(index, text(node.get("label")).or_else(|| text(node.get("name"))));
    }
    if draft.found.date.is_none() {
        draft.found.date = text(graph.get("date")).map(str::to_string);
    }
    Ok(())
}

fn location(node: &Value) -> Option<NodeLocation> {
    let at = [node.get("location"), node.get("properties").and_then(|p| p.get("location")), Some(node)];
    at.into_iter().flatten().find_map(|v| {
        let latitude = number(v.get("lat").or_else(|| v.get("latitude")))?;
        let longitude = number(v.get("lng").or_else(|| v.get("lon")).or_else(|| v.get("longitude")))?;
        Some(NodeLocation::Earth { latitude, longitude, altitude: 0.0 })
    })
}

fn metric(graph: &Value) -> Metric {
    let word = |key: &str| text(graph.get(key)).unwrap_or_default().to_lowercase();
    let (protocol, metric) = (word("protocol"), word("metric"));
    if metric.contains("etx") {
        Metric::Etx
    } else if metric.contains("tq") || protocol.starts_with("batman") {
        Metric::Tq
    } else if metric.is_empty() && protocol.starts_with("olsr") {
        Metric::Etx
    } else {
        Metric::UnknownEnd
    }
}

fn links(graph: &Value, again: bool, draft: &mut Draft<'_>) -> Result<(), String> {
    let metric = metric(graph);
    let costs = || edges(graph).filter_map(|l| number(l.get("cost")));
    let fixed = metric == Metric::Etx && costs().next().is_some() && costs().all(|c| c >= FIXED_POINT);
    if fixed {
        draft.found.assumed.push("costs in steps of 1/1024: every one is at least 1024".to_string());
    }
    let plain = text(graph.get("type")).is_none() && metric == Metric::UnknownEnd;
    let (mut weights, mut unread) = (0, 0);
    for (i, link) in edges(graph).enumerate() {
        draft.count("links")?;
        let (Some(from), Some(to)) = (id(link.get("source")), id(link.get("target"))) else {
            draft.reject(numbered("link", i), Reason::Malformed, "no source or no target".to_string());
            continue;
        };
        if topologies::is_prefix(graph, link) {
            draft.reject(link_record(&from, &to), Reason::NoRouter, "to an attached network".to_string());
            continue;
        }
        if again && (draft.find(&from).is_none() || draft.find(&to).is_none()) {
            draft.reject(link_record(&from, &to), Reason::OtherTopology, String::new());
            continue;
        }
        let Some(ends) = draft.ends(&from, &to, UnknownEnd::Reject)? else { continue };
        let weight = link.get("weight").or_else(|| link.get("etx")).filter(|_| plain);
        let quality = match weight {
            Some(weight) => {
                weights += 1;
                from_etx(number(Some(weight))).map(both)
            }
            None => {
                unread += usize::from(metric == Metric::UnknownEnd && number(link.get("cost")).is_some());
                ways(link, metric, if fixed { FIXED_POINT } else { 1.0 })
            }
        };
        match quality {
            Ok((forward, reverse)) => draft.link(ends, Medium::Radio, forward, reverse),
            Err((reason, detail)) => draft.reject(link_record(&from, &to), reason, detail),
        }
    }
    if weights > 0 {
        draft.found.assumed.push(format!("the weight of {} is ETX", count(weights, "link")));
    }
    if unread > 0 {
        let metric = text(graph.get("metric")).filter(|m| !m.is_empty());
        let metric =
            metric.map_or("of an unnamed metric".to_string(), |m| format!("of the metric {}", name(m)));
        let costs = count(unread, "cost");
        draft.found.assumed.push(format!("{costs} {metric}: neither ETX nor TQ, not read"));
    }
    Ok(())
}

/// One ratio for both directions.
fn both(delivery: f64) -> (DirectionQuality, DirectionQuality) {
    (DirectionQuality::own(delivery), DirectionQuality::echo(delivery))
}

fn ways(
    link: &Value,
    metric: Metric,
    step: f64,
) -> Result<(DirectionQuality, DirectionQuality), (Reason, String)> {
    let property = |key| link.get("properties").and_then(|p| p.get(key));
    if let (Some(lq), Some(nlq)) = (property("lq"), property("nlq")) {
        return Ok((
            DirectionQuality::echo(ratio(number(Some(nlq)), "nlq")?),
            DirectionQuality::own(ratio(number(Some(lq)), "lq")?),
        ));
    }
    let Some(cost) = link.get("cost") else {
        return Ok((DirectionQuality::default(), DirectionQuality::default()));
    };
    let cost = number(Some(cost));
    match metric {
        Metric::Etx => from_etx(cost.map(|c| c / step)).map(both),
        Metric::Tq => from_tq(cost).map(both),
        Metric::UnknownEnd => Ok((DirectionQuality::default(), DirectionQuality::default())),
    }
}

/// The delivery ratio of a TQ that is a ratio, or the inverse of one.
pub(crate) fn from_tq(value: Option<f64>) -> Result<f64, (Reason, String)> {
    ratio(value.map(|x| if x > 1.0 { 1.0 / x } else { x }), "TQ")
}
