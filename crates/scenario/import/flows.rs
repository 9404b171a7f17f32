//! Flows to the gateway that can reach most.

use airfair_units::random::{Purpose, Stream};

use super::network::{Network, components};
use super::options::ImportOptions;
use crate::text::error::quoted;
use crate::text::nearest::hint;

/// The gateway and the nodes that send to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub gateway: usize,
    pub sources: Vec<usize>,
}

/// Chooses the gateway, and draws as many sources as there are flows from the nodes that reach it. `None` if the options have
/// neither flows nor a gateway.
///
/// # Errors
/// If there is no such node, or if too few reach it.
pub(crate) fn choose(network: &Network, options: &ImportOptions) -> Result<Option<Chosen>, String> {
    if options.flows == 0 && options.gateway.is_none() {
        return Ok(None);
    }
    let of = components(&network.usable);
    let gateway = match &options.gateway {
        Some(id) => network.nodes.iter().position(|n| n.id == *id).ok_or_else(|| {
            let ids = network.nodes.iter().map(|n| n.id.as_str());
            format!("gateway: {}: no such node{}", quoted(id), hint(id, ids))
        })?,
        None => best(network, &of).ok_or(
            "gateway: no link is usable both ways; a lower data-rate or another link-model may help",
        )?,
    };
    let mut reach: Vec<usize> =
        (0..network.nodes.len()).filter(|&i| i != gateway && of.get(i) == of.get(gateway)).collect();
    let count = options.flows as usize;
    if reach.len() < count {
        let id = network.nodes.get(gateway).map_or("", |n| n.id.as_str());
        let (reached, id) = (reach.len(), quoted(id));
        return Err(format!("flows: {count}: only {reached} nodes reach the gateway {id} over usable links"));
    }
    let mut stream = Stream::new(options.seed, "imported flows", Purpose::Placement);
    let mut sources = Vec::with_capacity(count);
    for _ in 0..count {
        let at = stream.below(u32::try_from(reach.len()).unwrap_or(u32::MAX)) as usize;
        sources.push(reach.swap_remove(at));
    }
    Ok(Some(Chosen { gateway, sources }))
}

/// Of the gateways of the file, or of all nodes if it has none with a link, the one that reaches most nodes; of several, the
/// one with most neighbours; of several, the first.
fn best(network: &Network, of: &[usize]) -> Option<usize> {
    let mut sizes = vec![0usize; of.len()];
    for &component in of {
        if let Some(size) = sizes.get_mut(component) {
            *size += 1;
        }
    }
    let neighbours = |i: usize| network.usable.get(i).map_or(0, Vec::len);
    let size = |i: usize| of.get(i).and_then(|&c| sizes.get(c)).copied().unwrap_or(0);
    let linked = || (0..network.nodes.len()).filter(|&i| neighbours(i) > 0);
    let named: Vec<usize> = linked().filter(|&i| network.nodes.get(i).is_some_and(|n| n.gateway)).collect();
    let candidates = if named.is_empty() { linked().collect() } else { named };
    candidates.into_iter().max_by_key(|&i| (size(i), neighbours(i), std::cmp::Reverse(i)))
}
