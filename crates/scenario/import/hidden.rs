//! Neighbours of a node that do not hear each other.

use super::draft::name;
use super::network::{Network, components};

/// The assumption that the scenario uses RTS and CTS, in words, if two neighbours of a node do not hear each other: their frames collide
/// at that node, and a map has no interference from farther away that would keep one of them silent.
pub(super) fn protection(network: &Network) -> Option<String> {
    let [a, c, between] = hidden_pair(network)?.map(|node| name(&network.nodes[node].id));
    Some(format!(
        "RTS and CTS precede all data (rts_threshold = \"0 B\"): neighbours of a node need not hear each other, such as {a} and {c} \
         beside {between}"
    ))
}

/// Two nodes that do not both hear each other, and a neighbour of both with which each can exchange frames, the first by their names. There
/// are none if every component is a complete graph.
fn hidden_pair(network: &Network) -> Option<[usize; 3]> {
    let nodes = &network.nodes;
    let by_name = |&a: &usize, &b: &usize| nodes[a].id.cmp(&nodes[b].id);
    let mut neighbours = vec![Vec::new(); nodes.len()];
    for &(a, b) in network.powers.keys().filter(|&&(a, b)| network.powers.contains_key(&(b, a))) {
        neighbours[a].push(b);
    }
    neighbours.iter_mut().for_each(|list| list.sort_unstable_by(by_name));
    let of = components(&neighbours);
    let mut sizes = vec![0; nodes.len()];
    of.iter().for_each(|&component| sizes[component] += 1);
    let lacks_some = |&node: &usize| neighbours[node].len() + 1 < sizes[of[node]];
    let first = (0..nodes.len()).filter(lacks_some).min_by(by_name)?;
    let mut heard = vec![false; nodes.len()];
    heard[first] = true;
    neighbours[first].iter().for_each(|&node| heard[node] = true);
    neighbours[first].iter().find_map(|&between| {
        let other = neighbours[between].iter().find(|&&node| !heard[node])?;
        Some([first, *other, between])
    })
}
