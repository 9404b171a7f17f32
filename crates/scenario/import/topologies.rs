//! olsrd2's collections: a graph for each topology, IPv4 and IPv6, of one network.
//!
//! olsrd2's netjsoninfo writes a graph with a `topology_id` for each address family and metric. A router has an id in each family;
//! `dualstack_id`, among the properties of a graph or a node, names its id in the other, though only for the router that wrote the file and
//! for its neighbours. So the topology with most routers is the network, and of the others only nodes that it has, and links between
//! these, are read. Nodes and links of type `lan` and `attached` are prefixes that a router announces, and no routers.

use std::collections::BTreeSet;

use serde_json::Value;

use super::aliases::Aliases;
use super::draft::name;
use super::json::{id, list, text};

/// The topologies of a collection.
pub(crate) struct Topologies {
    /// The `topology_id` of the graph that is the network; `None` unless there are several.
    first: Option<String>,
}

impl Topologies {
    /// Chooses the network among the graphs, and adds the ids that its nodes have in the others.
    pub fn of(graphs: &[&Value], aliases: &mut Aliases) -> Self {
        let topologies = graphs.iter().filter_map(|graph| Some((topology(graph)?, *graph)));
        // Of topologies with equally many routers the first by its name, whatever the order in the file is.
        let largest =
            topologies.clone().map(|(name, graph)| (std::cmp::Reverse(routers(graph).count()), name, graph));
        let Some((_, first, network)) = largest.min_by_key(|&(routers, name, _)| (routers, name)) else {
            return Self { first: None };
        };
        if topologies.clone().all(|(name, _)| name == first) {
            return Self { first: None };
        }
        let own: BTreeSet<String> = routers(network).filter_map(|node| id(node.get("id"))).collect();
        let mut pair = |a: Option<String>, b: Option<String>| {
            let (Some(a), Some(b)) = (a, b) else { return };
            match (own.contains(&a), own.contains(&b)) {
                (true, false) => aliases.add(&a, &b),
                (false, true) => aliases.add(&b, &a),
                _ => {}
            }
        };
        for (_, graph) in topologies {
            pair(id(graph.get("router_id")), other_id(graph));
            for node in routers(graph) {
                pair(id(node.get("id")), other_id(node));
            }
        }
        Self { first: Some(first.to_string()) }
    }

    /// The graphs, the network first.
    pub fn in_order<'a>(&self, graphs: &[&'a Value]) -> Vec<&'a Value> {
        let (again, first): (Vec<&Value>, Vec<&Value>) =
            graphs.iter().partition(|graph| self.is_again(graph));
        first.into_iter().chain(again).collect()
    }

    /// True if a graph is another topology of the network.
    pub fn is_again(&self, graph: &Value) -> bool {
        self.first.as_deref().zip(topology(graph)).is_some_and(|(first, topology)| first != topology)
    }

    /// The choice in words, if there was one.
    pub fn assumed(&self) -> Option<String> {
        let first = self.first.as_deref()?;
        Some(format!("the topologies are of one network: that of {}, which has most routers", name(first)))
    }
}

fn topology(graph: &Value) -> Option<&str> {
    text(graph.get("topology_id")).filter(|name| !name.is_empty())
}

fn other_id(value: &Value) -> Option<String> {
    id(value.get("properties").and_then(|p| p.get("dualstack_id")))
}

fn routers(graph: &Value) -> impl Iterator<Item = &Value> {
    list(graph.get("nodes")).iter().filter(|node| !is_prefix(graph, node))
}

/// True if a graph of olsrd2 says that a node or a link of it is an attached network.
pub(crate) fn is_prefix(graph: &Value, record: &Value) -> bool {
    let kind = record.get("properties").and_then(|p| text(p.get("type")));
    text(graph.get("protocol")) == Some("olsrv2") && matches!(kind, Some("lan" | "attached"))
}
