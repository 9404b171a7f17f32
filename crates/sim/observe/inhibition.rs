//! Inhibited links: those that controllers have found beside those that there are.
//!
//! A link is inhibited if its sender does not sense a node that its receiver can receive, or, where the scheme counts these too, only
//! senses. What can be received and sensed is decided by the power that arrives on an otherwise silent air, as for routes and maps.

use std::collections::{BTreeMap, BTreeSet};

use airfair_schemes::places::Inhibition;

use super::{WorldView, paths};
use crate::ids::{LinkRef, NodeIx};
use crate::measure::summary::InhibitedLink;
use crate::names::natural_cmp;

type Link = (NodeIx, NodeIx);

/// Who receives and who senses whom: sender, then receiver.
#[derive(Default)]
struct Heard {
    received: BTreeSet<Link>,
    sensed: BTreeSet<Link>,
    /// The nodes that each node senses.
    near: BTreeMap<NodeIx, BTreeSet<NodeIx>>,
}

impl Heard {
    fn of(world: &WorldView<'_>) -> Self {
        let mut heard = Self::default();
        let node = |station| world.network.interfaces.of_station(station).0;
        for relation in world.air.stations().flat_map(|station| world.air.relations(station)) {
            let (from, to) = (node(relation.from), node(relation.to));
            heard.sensed.insert((from, to));
            heard.near.entry(to).or_default().insert(from);
            if relation.receives() {
                heard.received.insert((from, to));
            }
        }
        heard
    }

    fn inhibitors(&self, (from, to): Link, sensed: bool) -> impl Iterator<Item = NodeIx> + '_ {
        let near = self.near.get(&to).into_iter().flatten().copied();
        near.filter(move |&node| {
            let hears = sensed || self.received.contains(&(node, to));
            hears
                && node != from
                && !self.sensed.contains(&(node, from))
                && !self.sensed.contains(&(from, node))
        })
    }
}

/// The links that carry flows and are inhibited, or are taken for it. With static routes a link that no controller knows counts too.
pub(super) fn links(world: &WorldView<'_>) -> Option<Vec<InhibitedLink>> {
    let (network, names) = (world.network, &world.run.names.nodes);
    let mut found: BTreeMap<Link, BTreeSet<NodeIx>> = BTreeMap::new();
    let mut sensed = None;
    for Inhibition { links, sensed: by_sensing } in network.controllers.inhibitions() {
        *sensed.get_or_insert(false) |= by_sensing;
        for ([from, to], by) in links {
            let node = |id| network.interfaces.node_of_id(id);
            if let (Some(from), Some(to)) = (node(from), node(to)) {
                found.entry((from, to)).or_default().extend(by.into_iter().filter_map(node));
            }
        }
    }
    let sensed = sensed?;
    if !network.routes.are_found() {
        let hops = network.flows.places().flat_map(|flow| paths::hops(network, flow, true));
        for hop in hops.filter(|hop| matches!(hop.link, LinkRef::Station(_))) {
            found.entry((hop.from, hop.to)).or_default();
        }
    }
    let heard = Heard::of(world);
    let named = |nodes: &mut dyn Iterator<Item = NodeIx>| {
        let mut list: Vec<String> = nodes.map(|node| names[node.ix()].clone()).collect();
        list.sort_by(|a, b| natural_cmp(a, b));
        list
    };
    let rows = found.iter().map(|(&(from, to), by)| InhibitedLink {
        src: names[from.ix()].clone(),
        dst: names[to.ix()].clone(),
        found: named(&mut by.iter().copied()),
        actual: named(&mut heard.inhibitors((from, to), sensed)),
    });
    let mut rows: Vec<InhibitedLink> =
        rows.filter(|row| !row.found.is_empty() || !row.actual.is_empty()).collect();
    rows.sort_by(|a, b| natural_cmp(&a.src, &b.src).then_with(|| natural_cmp(&a.dst, &b.dst)));
    Some(rows)
}
