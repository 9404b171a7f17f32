//! Fixed routes, for the nodes on the paths between sources and destinations.

use std::collections::BTreeMap;

use airfair_routing::shortest::{Link, Metric, ShortestPaths};

use super::NextHop;
use crate::ids::{NodeIx, PortIx};

/// No list.
const NONE: u32 = u32::MAX;

pub(super) struct FixedRoutes {
    paths: ShortestPaths,
    /// Next hops towards each destination in use, sorted by node.
    towards: Vec<Vec<(u32, NextHop)>>,
    /// Place of each destination in `towards`.
    place: Vec<u32>,
}

impl FixedRoutes {
    pub(super) fn new(links: Vec<Vec<Link>>, metric: Metric, name_orders: Vec<u32>) -> Self {
        let place = vec![NONE; links.len()];
        Self { paths: ShortestPaths::new(links, metric, name_orders), towards: Vec::new(), place }
    }

    pub(super) fn name_order(&self, node: NodeIx) -> u32 {
        self.paths.rank(node.0)
    }

    /// True if there is a route.
    pub(super) fn leads(&mut self, from: NodeIx, to: NodeIx) -> bool {
        from == to || !self.paths.towards(to.0, &[from.0]).is_empty()
    }

    /// Finds routes between these ends, in both directions.
    pub(super) fn find_all(&mut self, ends: &[[NodeIx; 2]]) {
        let mut sources: BTreeMap<NodeIx, Vec<u32>> = BTreeMap::new();
        for &[from, to] in ends {
            sources.entry(to).or_default().push(from.0);
            sources.entry(from).or_default().push(to.0);
        }
        for (destination, sources) in sources {
            self.find_from(destination, &sources);
        }
    }

    /// Finds further next hops from some nodes towards a destination.
    pub(super) fn find(&mut self, destination: NodeIx, sources: &[NodeIx]) {
        let sources: Vec<u32> = sources.iter().map(|source| source.0).collect();
        self.find_from(destination, &sources);
    }

    fn find_from(&mut self, destination: NodeIx, sources: &[u32]) {
        let steps = self.paths.towards(destination.0, sources).into_iter();
        let mut hops: Vec<_> = steps
            .map(|(node, step)| (node, NextHop { port: PortIx(step.interface), node: NodeIx(step.node) }))
            .collect();
        match self.towards.get_mut(self.place[destination.ix()] as usize) {
            Some(known) => {
                known.append(&mut hops);
                known.sort_unstable_by_key(|hop| hop.0);
                known.dedup_by_key(|hop| hop.0);
            }
            None => {
                hops.shrink_to_fit();
                self.place[destination.ix()] = self.towards.len() as u32;
                self.towards.push(hops);
            }
        }
    }

    #[inline(always)]
    pub(super) fn hop(&self, node: NodeIx, destination: NodeIx) -> Option<NextHop> {
        let hops = self.towards.get(self.place[destination.ix()] as usize)?;
        hops.binary_search_by_key(&node.0, |hop| hop.0).ok().map(|at| hops[at].1)
    }
}
