//! Flows from nodes drawn at random to the nearest gateway of each.

use airfair_routing::shortest::{Link, Metric, ShortestPaths};
use airfair_units::random::{Purpose, Stream};

use super::draft::name;
use super::network::{Network, components};
use super::options::{ImportOptions, LinkModel};
use super::quality::Radio;
use super::report::count;
use crate::text::error::quoted;
use crate::text::nearest::hint;

/// Gateways that an assumption names; the others are counted.
const MOST_NAMED: usize = 5;

/// The gateways, and the flows to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// In the order of the network's nodes.
    pub gateways: Vec<usize>,
    /// Source and gateway of each flow.
    pub flows: Vec<(usize, usize)>,
}

/// Chooses the gateways, and draws as many sources as there are flows from the nodes that reach one. Each sends to the nearest gateway, by
/// the cost of its static route. Says what was chosen where the file and the options do not. `None` if the options have neither flows nor
/// a gateway.
///
/// # Errors
/// If there is no such node, or none that reaches a gateway.
pub(crate) fn choose(
    network: &mut Network,
    (model, radio): (LinkModel, &Radio),
    options: &ImportOptions,
) -> Result<Option<Chosen>, String> {
    if options.flows == 0 && options.gateways.is_empty() {
        return Ok(None);
    }
    let (gateways, choice) = gateways(network, options)?;
    let nearest = nearest(network, &gateways, (model, radio));
    let to = |source: usize| nearest.get(source).copied().flatten().filter(|&gateway| gateway != source);
    let mut reach: Vec<usize> =
        (0..network.nodes.len()).filter(|&i| to(i).is_some() && !gateways.contains(&i)).collect();
    // Drawn from a list by names: the order of a file decides nothing.
    let id = |i: usize| network.nodes.get(i).map(|node| node.id.as_str());
    reach.sort_by(|&a, &b| id(a).cmp(&id(b)));
    let named = list(network, &gateways);
    if reach.is_empty() && options.flows > 0 {
        return Err(format!("flows: no node reaches {named} over links that are usable both ways"));
    }
    let wanted = options.flows as usize;
    if reach.len() < wanted {
        let (written, wanted) = (count(reach.len(), "flow"), count(wanted, "flow"));
        network.assumed.push(format!("{written} instead of {wanted}: no other node reaches {named}"));
    }
    network.assumed.extend(choice);
    let mut stream = Stream::new(options.seed, "imported flows", Purpose::Placement);
    let mut flows = Vec::with_capacity(wanted.min(reach.len()));
    for _ in 0..wanted.min(reach.len()) {
        let at = stream.below(u32::try_from(reach.len()).unwrap_or(u32::MAX)) as usize;
        let source = reach.swap_remove(at);
        flows.extend(to(source).map(|gateway| (source, gateway)));
    }
    Ok(Some(Chosen { gateways, flows }))
}

/// The gateways: those of the options, else those of the file, else the best node; and, if it is no option, the choice in words.
fn gateways(network: &Network, options: &ImportOptions) -> Result<(Vec<usize>, Option<String>), String> {
    if !options.gateways.is_empty() {
        let find = |id: &String| {
            network.nodes.iter().position(|n| n.id == *id).ok_or_else(|| {
                let ids = network.nodes.iter().map(|n| n.id.as_str());
                format!("gateway: {}: no such node{}", quoted(id), hint(id, ids))
            })
        };
        let mut named = options.gateways.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        named.sort_unstable();
        named.dedup();
        return Ok((named, None));
    }
    let neighbours = |i: usize| network.usable.get(i).map_or(0, Vec::len);
    let id = |i: usize| network.nodes.get(i).map(|node| node.id.as_str());
    let linked: Vec<usize> = (0..network.nodes.len()).filter(|&i| neighbours(i) > 0).collect();
    let is_marked = |i: &usize| network.nodes.get(*i).is_some_and(|n| n.gateway);
    let marked: Vec<usize> = linked.iter().copied().filter(is_marked).collect();
    if marked.len() > 1 && !options.one_gateway {
        let words = format!("each flow goes to the nearest of {}", list(network, &marked));
        return Ok((marked, Some(words)));
    }
    let candidates = if marked.is_empty() { linked } else { marked.clone() };
    let of = components(&network.usable);
    let mut sizes = vec![0usize; of.len()];
    for &component in &of {
        if let Some(size) = sizes.get_mut(component) {
            *size += 1;
        }
    }
    let size = |i: usize| of.get(i).and_then(|&c| sizes.get(c)).copied().unwrap_or(0);
    let best = candidates.into_iter().max_by_key(|&i| (size(i), neighbours(i), std::cmp::Reverse(id(i))));
    let best =
        best.ok_or("gateway: no link is usable both ways; a lower data-rate or another link-model may help")?;
    let reached = count(size(best).saturating_sub(1), "node");
    let (id, linked) = (name_of(network, best), count(neighbours(best), "neighbour"));
    let words = match marked.len() {
        0 => format!(
            "the map marks no gateway: flows go to {id}, reached by {reached}, with {linked}; --gateway names another"
        ),
        1 => format!("flows go to {id}, the only gateway of the map that has usable links"),
        n => format!("of {n} gateways of the map only {id}, reached by {reached}, with {linked}"),
    };
    Ok((vec![best], Some(words)))
}

/// For each node the gateway with the cheapest static route, as the scenario will have it.
fn nearest(network: &Network, gateways: &[usize], (model, radio): (LinkModel, &Radio)) -> Vec<Option<usize>> {
    let delivery =
        |from: usize, to: usize| network.powers.get(&(from, to)).map_or(1.0, |&p| radio.delivery(p));
    let link = |from: usize, to: usize| {
        let is_cable = network.wires.contains_key(&(from.min(to), from.max(to)));
        let delivery = if is_cable { 1.0 } else { (delivery(from, to) * delivery(to, from)).max(1e-9) };
        Link { to: to as u32, interface: 0, delivery, is_cable }
    };
    let links = network.usable.iter().enumerate();
    let links = links.map(|(from, list)| list.iter().map(|&to| link(from, to)).collect()).collect();
    let metric = if model == LinkModel::Positions { Metric::Hops } else { Metric::Etx };
    // Of equally near gateways the first by name: the order of a file decides nothing.
    let mut by_name: Vec<usize> = (0..network.nodes.len()).collect();
    by_name.sort_by(|&a, &b| network.nodes.get(a).map(|n| &n.id).cmp(&network.nodes.get(b).map(|n| &n.id)));
    let mut ranks = vec![0; by_name.len()];
    for (rank, &node) in by_name.iter().enumerate() {
        if let Some(place) = ranks.get_mut(node) {
            *place = rank as u32;
        }
    }
    let gateways: Vec<u32> = gateways.iter().map(|&gateway| gateway as u32).collect();
    let nearest = ShortestPaths::new(links, metric, ranks).nearest(&gateways);
    nearest.into_iter().map(|gateway| gateway.map(|gateway| gateway as usize)).collect()
}

fn name_of(network: &Network, node: usize) -> String {
    network.nodes.get(node).map_or_else(String::new, |n| name(&n.id))
}

/// Gateways in words.
fn list(network: &Network, gateways: &[usize]) -> String {
    let names: Vec<String> = gateways.iter().take(MOST_NAMED).map(|&i| name_of(network, i)).collect();
    let more = gateways.len().saturating_sub(names.len());
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let what =
        if gateways.len() == 1 { "the gateway".to_string() } else { format!("{} gateways:", gateways.len()) };
    format!("{what} {}{more}", names.join(", "))
}
