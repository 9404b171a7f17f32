//! Inhibited links: those that controllers have found beside those that there are.
//!
//! A link is inhibited if its sender does not sense a node that its receiver can receive, or, where the scheme counts these too, only
//! senses. What can be received and sensed is decided by the power that arrives on an otherwise silent air, as for routes and maps.

use std::collections::{BTreeMap, BTreeSet};

use airfair_schemes::places::Inhibition;
use airfair_units::Time;

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
        let node = |station| world.network.plane.interfaces.of_station(station).0;
        for relation in world.air.stations().flat_map(|station| world.air.reach().relations(station)) {
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

/// The findings of controllers about a link.
#[derive(Default)]
struct Found {
    by: BTreeSet<NodeIx>,
    at: Option<Time>,
}

/// The links that carry flows, and the nodes that send or receive packets of flows. Where routes are found, and a station has no meter, its
/// node counts in any case.
fn traffic(world: &WorldView<'_>) -> (BTreeSet<Link>, BTreeSet<NodeIx>) {
    let network = world.network;
    let (mut links, mut nodes) = (BTreeSet::new(), BTreeSet::new());
    for station in network.plane.interfaces.stations() {
        let from = network.plane.interfaces.of_station(station).0;
        if network.plane.meters.links.has(station) {
            let used = network
                .plane
                .meters
                .links
                .used(station)
                .filter_map(|to| network.plane.interfaces.node_of_id(to));
            links.extend(used.map(|to| (from, to)));
        } else if network.plane.routes.are_found() {
            nodes.insert(from);
        }
    }
    if !network.plane.routes.are_found() {
        let sending = network
            .endpoints
            .flows
            .places()
            .filter(|&flow| network.endpoints.flows[flow].totals(world.now).sent > 0);
        let hops = sending.flat_map(|flow| paths::hops(network, flow, true));
        links
            .extend(hops.filter(|hop| matches!(hop.link, LinkRef::Station(_))).map(|hop| (hop.from, hop.to)));
    }
    nodes.extend(links.iter().flat_map(|&(from, to)| [from, to]));
    (links, nodes)
}

/// The links that carry flows and are inhibited, or are taken for it, by nodes that send or receive packets of flows. With static routes a
/// link that no controller knows counts too.
pub(super) fn links(world: &WorldView<'_>) -> Option<Vec<InhibitedLink>> {
    let (network, names) = (world.network, &world.run.names.nodes);
    let mut found: BTreeMap<Link, Found> = BTreeMap::new();
    let mut sensed = None;
    for Inhibition { at, links, sensed: by_sensing } in network.hosts.controllers.inhibitions() {
        *sensed.get_or_insert(false) |= by_sensing;
        for ([from, to], by) in links {
            let node = |id| network.plane.interfaces.node_of_id(id);
            if let (Some(from), Some(to)) = (node(from), node(to)) {
                let link = found.entry((from, to)).or_default();
                link.by.extend(by.into_iter().filter_map(node));
                link.at = link.at.max(Some(at));
            }
        }
    }
    let sensed = sensed?;
    let (carrying, active) = traffic(world);
    if !network.plane.routes.are_found() {
        let hops = network.endpoints.flows.places().flat_map(|flow| paths::hops(network, flow, true));
        for hop in hops.filter(|hop| matches!(hop.link, LinkRef::Station(_))) {
            found.entry((hop.from, hop.to)).or_default();
        }
    }
    found.retain(|link, _| carrying.contains(link));
    let heard = Heard::of(world);
    let named = |nodes: &mut dyn Iterator<Item = NodeIx>| {
        let active = nodes.filter(|node| active.contains(node));
        let mut list: Vec<String> = active.map(|node| names[node.ix()].clone()).collect();
        list.sort_by(|a, b| natural_cmp(a, b));
        list
    };
    let rows = found.iter().map(|(&(from, to), link)| InhibitedLink {
        src: names[from.ix()].clone(),
        dst: names[to.ix()].clone(),
        found: named(&mut link.by.iter().copied()),
        actual: named(&mut heard.inhibitors((from, to), sensed)),
        round_s: link.at.map(Time::as_secs_f64),
    });
    let mut rows: Vec<InhibitedLink> =
        rows.filter(|row| !row.found.is_empty() || !row.actual.is_empty()).collect();
    rows.sort_by(|a, b| natural_cmp(&a.src, &b.src).then_with(|| natural_cmp(&a.dst, &b.dst)));
    Some(rows)
}
