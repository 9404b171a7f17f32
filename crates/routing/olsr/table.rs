//! Calculation of the routing table [RFC 3626 section 10]: shortest paths over the node's links, those of its neighbours, and the topology.
//! The time grows with the number of links, and hardly more.

use alloc::collections::{BTreeMap, BinaryHeap};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use airfair_units::Time;
use airfair_wire::Ipv4Addr;

use super::Olsr;
use super::config::WILL_NEVER;
use crate::Adjacency;

/// A route to a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// Next hop of the route.
    pub hop: Adjacency,
    /// Number of hops.
    pub hops: u32,
    /// Sum of the costs of its links: 256 for a link without losses, and with metric hops for every link.
    pub cost: u64,
}

/// Order of routes to a destination: by cost, then by the first neighbour: the most willing one, then the lowest address and interface.
type Rating = (u64, Reverse<u8>, Adjacency, u32);

/// The best routes found so far, and those whose links have not been followed.
struct Search {
    /// Nodes in the order of their addresses, with the best routes to them.
    nodes: Vec<u32>,
    best: Vec<Option<Rating>>,
    /// The best routes to nodes that were not expected.
    others: BTreeMap<u32, Rating>,
    queue: BinaryHeap<Reverse<(Rating, Ipv4Addr)>>,
    /// Links followed, and routes that were found.
    work: u64,
}

impl Search {
    /// Nothing found. `expected`: nodes in the order of their addresses that will likely be found; for others it takes longer.
    fn new(expected: impl Iterator<Item = Ipv4Addr>) -> Self {
        let nodes: Vec<u32> = expected.map(u32::from).collect();
        let best = vec![None; nodes.len()];
        Self { nodes, best, others: BTreeMap::new(), queue: BinaryHeap::new(), work: 0 }
    }

    /// A route to a node was found; it matters if it is better than those before.
    fn offer(&mut self, rating: Rating, to: Ipv4Addr) {
        self.work += 1;
        let node = u32::from(to);
        let is_better = |best: &Option<Rating>| best.is_none_or(|best| rating < best);
        match self.nodes.binary_search(&node) {
            Ok(at) if is_better(&self.best[at]) => self.best[at] = Some(rating),
            Err(_) if is_better(&self.others.get(&node).copied()) => {
                self.others.insert(node, rating);
            }
            _ => return,
        }
        self.queue.push(Reverse((rating, to)));
    }

    /// The best route to a node so far.
    fn best(&self, to: Ipv4Addr) -> Option<Rating> {
        let node = u32::from(to);
        self.nodes.binary_search(&node).map_or_else(|_| self.others.get(&node).copied(), |at| self.best[at])
    }

    /// The node that is nearest of those whose links have not been followed.
    fn nearest(&mut self) -> Option<(Rating, Ipv4Addr)> {
        loop {
            let Reverse((rating, at)) = self.queue.pop()?;
            self.work += 1;
            // Otherwise a better route has been found since, and followed: costs are positive.
            if self.best(at) == Some(rating) {
                return Some((rating, at));
            }
        }
    }

    /// The routes, in the order of their destinations.
    fn routes(self) -> Vec<(Ipv4Addr, Route)> {
        let found = self.nodes.into_iter().zip(self.best).filter_map(|(to, best)| Some((to, best?)));
        let mut found: Vec<(u32, Rating)> = found.collect();
        // Two ascending runs, which this sort merges.
        found.extend(self.others);
        found.sort_by_key(|&(to, _)| to);
        let route = |(to, (cost, _, hop, hops))| (Ipv4Addr::from(to), Route { hop, hops, cost });
        found.into_iter().map(route).collect()
    }
}

impl Olsr {
    /// Routes to all known nodes, in the order of their addresses, and what the search has looked at.
    pub(super) fn calculate(&self, now: Time) -> (Vec<(Ipv4Addr, Route)>, u64) {
        let mut search = Search::new(self.routes.iter().map(|&(to, _)| to));
        for (&hop, link) in &self.links {
            let Some(&will) = self.neighbours.get(&hop.neighbour).filter(|_| link.is_symmetric(now)) else {
                continue;
            };
            if let Some(cost) = link.cost(&self.config, self.costs) {
                search.offer((cost, Reverse(will), hop, 1), hop.neighbour);
            }
        }
        while let Some(((cost, will, hop, hops), at)) = search.nearest() {
            let mut follow = |to: Ipv4Addr, more: Option<u64>| {
                if let Some(more) = more.filter(|_| to != self.address) {
                    search.offer((cost.saturating_add(more), will, hop, hops + 1), to);
                }
            };
            // A neighbour's links are known from its HELLOs, if it forwards at all; those of others from TCs.
            match self.neighbours.get(&at) {
                Some(&WILL_NEVER) => {}
                Some(_) => self.two_hops.of(at).for_each(|(pair, link)| follow(pair.1, link.cost)),
                None => self.topology.of(at).for_each(|(pair, link)| follow(pair.1, link.cost)),
            }
        }
        let work = search.work + self.links.len() as u64;
        (search.routes(), work)
    }
}
