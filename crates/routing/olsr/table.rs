//! Calculation of the routing table [RFC 3626 section 10]: shortest paths over the node's links, those of its neighbours, and the topology.

use alloc::collections::{BTreeMap, BinaryHeap};
use alloc::vec::Vec;
use core::cmp::Reverse;

use airfair_units::Time;
use airfair_wire::Ipv4Addr;

use super::config::WILL_NEVER;
use super::{Olsr, pairs_of};
use crate::Hop;

/// A route to a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// Next hop of the route.
    pub hop: Hop,
    /// Number of hops.
    pub hops: u32,
    /// Sum of the costs of its links: 256 for a link without losses, and with metric hops for every link.
    pub cost: u64,
}

/// Order of routes to a destination: by cost, then by the first neighbour: the most willing one, then the lowest address and interface.
type Rating = (u64, Reverse<u8>, Hop, u32);

impl Olsr {
    /// Routes to all known nodes.
    pub(super) fn calculate(&self, now: Time) -> BTreeMap<Ipv4Addr, Route> {
        let mut best: BTreeMap<Ipv4Addr, Rating> = BTreeMap::new();
        let mut queue: BinaryHeap<Reverse<(Rating, Ipv4Addr)>> = BinaryHeap::new();
        for (&hop, link) in &self.links {
            let Some(&will) = self.neighbours.get(&hop.neighbour).filter(|_| link.is_symmetric(now)) else {
                continue;
            };
            if let Some(cost) = link.cost(&self.config) {
                queue.push(Reverse(((cost, Reverse(will), hop, 1), hop.neighbour)));
            }
        }
        while let Some(Reverse((rating, at))) = queue.pop() {
            if best.contains_key(&at) {
                continue;
            }
            best.insert(at, rating);
            let (cost, will, hop, hops) = rating;
            for (to, more) in self.links_from(at) {
                if to != self.address && !best.contains_key(&to) {
                    queue.push(Reverse(((cost.saturating_add(more), will, hop, hops + 1), to)));
                }
            }
        }
        best.into_iter().map(|(to, (cost, _, hop, hops))| (to, Route { hop, hops, cost })).collect()
    }

    /// Links from another node as far as they are known: a neighbour's from its HELLOs, if it forwards at all; those of others from TCs.
    fn links_from(&self, at: Ipv4Addr) -> Vec<(Ipv4Addr, u64)> {
        match self.neighbours.get(&at) {
            Some(&WILL_NEVER) => Vec::new(),
            Some(_) => {
                let known = self.two_hops.range(pairs_of(at));
                known.filter_map(|(pair, known)| Some((pair.1, known.cost?))).collect()
            }
            None => {
                let known = self.topology.range(pairs_of(at));
                known.filter_map(|(pair, known)| Some((pair.1, known.cost?))).collect()
            }
        }
    }
}
