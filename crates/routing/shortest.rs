//! Shortest paths over known links: static routes.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// Cost of a cable, in transmissions: too little to add up to a transmission, and enough to choose the path with the fewest cables.
const CABLE: f64 = 1e-6;

/// Costs closer than this are equal.
const EQUAL: f64 = 1e-9;

/// Metric of a path: the sum over its links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Each link counts 1.
    Hops,
    /// Expected transmissions (ETX; De Couto, Aguayo, Bicket, Morris, "A high-throughput path metric for multi-hop wireless routing",
    /// MobiCom 2003): each link counts 1/(df dr), with its delivery ratios both ways. A cable counts only what its losses cost: it takes
    /// no air. Of paths with the same transmissions the one with the fewest cables is the shortest.
    Etx,
}

impl Metric {
    fn of(self, link: &Link) -> f64 {
        match self {
            Self::Hops => 1.0,
            Self::Etx if link.is_cable => 1.0 / link.delivery - 1.0 + CABLE,
            Self::Etx => 1.0 / link.delivery,
        }
    }
}

/// A usable link out of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Index of the node at the other end.
    pub to: u32,
    /// Number of the interface, given by the caller.
    pub interface: u32,
    /// Delivery ratio of frames that must arrive and be acknowledged, above 0 and at most 1.
    pub delivery: f64,
    /// True for a wired link.
    pub is_cable: bool,
}

/// The first hop towards a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The interface by which packets leave.
    pub interface: u32,
    /// Index of the next node.
    pub node: u32,
}

#[derive(Debug, PartialEq)]
struct Visit {
    cost: f64,
    rank: u32,
    node: u32,
}
impl Eq for Visit {}
impl Ord for Visit {
    fn cmp(&self, other: &Self) -> Ordering {
        // Reversed, since the heap returns the largest first.
        other.cost.total_cmp(&self.cost).then(other.rank.cmp(&self.rank))
    }
}
impl PartialOrd for Visit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Usable links of a network, and shortest paths over them (Dijkstra).
#[derive(Debug)]
pub struct ShortestPaths {
    links: Vec<Vec<Link>>,
    metric: Metric,
    /// Links into each node: source and cost.
    into: Vec<Vec<(u32, f64)>>,
    /// Rank of each node, for ties.
    ranks: Vec<u32>,
    /// Costs of the present search with its mark; other marks are of earlier searches.
    cost: Vec<(u32, f64)>,
    /// Order in which a search has reached nodes for good, with the mark of that search. A next hop comes before its node, so that paths
    /// have no loops even where a cable's cost is lost in the rounding of a path's.
    order: Vec<(u32, u32)>,
    mark: u32,
}

impl ShortestPaths {
    /// Creates the search. `links`: links out of each node; `ranks`: a rank for each node that decides between equal paths, so that the
    /// order of nodes does not.
    #[must_use]
    pub fn new(links: Vec<Vec<Link>>, metric: Metric, ranks: Vec<u32>) -> Self {
        let mut into: Vec<Vec<(u32, f64)>> = vec![Vec::new(); links.len()];
        for (from, list) in links.iter().enumerate() {
            for link in list {
                into[link.to as usize].push((from as u32, metric.of(link)));
            }
        }
        let cost = vec![(0, f64::INFINITY); links.len()];
        let order = vec![(0, 0); links.len()];
        Self { links, metric, into, ranks, cost, order, mark: 0 }
    }

    /// Rank of a node.
    #[must_use]
    pub fn rank(&self, node: u32) -> u32 {
        self.ranks[node as usize]
    }

    fn cost_of(&self, node: u32) -> f64 {
        let (mark, cost) = self.cost[node as usize];
        if mark == self.mark { cost } else { f64::INFINITY }
    }

    /// First hops towards `destination` for the nodes on the paths from `sources`, sorted by node. Sources that cannot reach the
    /// destination are omitted. The search ends when it has reached all sources.
    ///
    /// Among paths of equal cost, the one whose next hop has the lowest rank is chosen, so that neither the order of nodes nor rounding
    /// decides (costs closer than 1e-9 count as equal).
    pub fn towards(&mut self, destination: u32, sources: &[u32]) -> Vec<(u32, Step)> {
        self.mark += 1;
        let mut wanted = sources.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let mut left = wanted.len();
        let mut heap = BinaryHeap::new();
        let mut reached = 0;
        self.cost[destination as usize] = (self.mark, 0.0);
        heap.push(Visit { cost: 0.0, rank: self.ranks[destination as usize], node: destination });
        while let Some(Visit { cost, node, .. }) = heap.pop() {
            if cost > self.cost_of(node) || self.order[node as usize].0 == self.mark {
                continue;
            }
            self.order[node as usize] = (self.mark, reached);
            reached += 1;
            left -= usize::from(wanted.binary_search(&node).is_ok());
            if left == 0 {
                break;
            }
            for i in 0..self.into[node as usize].len() {
                let (from, weight) = self.into[node as usize][i];
                let new = cost + weight;
                if new < self.cost_of(from) {
                    self.cost[from as usize] = (self.mark, new);
                    heap.push(Visit { cost: new, rank: self.ranks[from as usize], node: from });
                }
            }
        }
        let mut steps: Vec<(u32, Step)> = Vec::new();
        for &source in &wanted {
            let mut node = source;
            while node != destination && steps.iter().all(|step| step.0 != node) {
                let Some(step) = self.step(node) else { break };
                steps.push((node, step));
                node = step.node;
            }
        }
        steps.sort_unstable_by_key(|step| step.0);
        steps
    }

    /// For each node the nearest of some destinations, by the cost of its path; of equally near ones the one with the lowest rank. `None`
    /// for a node that reaches none.
    #[must_use]
    pub fn nearest(&self, destinations: &[u32]) -> Vec<Option<u32>> {
        let mut best: Vec<Option<(f64, u32)>> = vec![None; self.links.len()];
        let mut heap = BinaryHeap::new();
        for &node in destinations {
            best[node as usize] = Some((0.0, node));
            heap.push(Visit { cost: 0.0, rank: self.ranks[node as usize], node });
        }
        while let Some(Visit { cost, node, .. }) = heap.pop() {
            let Some((_, to)) = best[node as usize].filter(|&(least, _)| cost <= least) else { continue };
            for &(from, weight) in &self.into[node as usize] {
                let (new, rank) = (cost + weight, self.ranks[to as usize]);
                let better = best[from as usize].is_none_or(|(known, by)| {
                    new < known - EQUAL || new < known + EQUAL && rank < self.ranks[by as usize]
                });
                if better {
                    best[from as usize] = Some((new, to));
                    heap.push(Visit { cost: new, rank, node: from });
                }
            }
        }
        best.into_iter().map(|found| found.map(|(_, destination)| destination)).collect()
    }

    /// Hop to the best neighbour of a node that the present search has reached.
    fn step(&self, node: u32) -> Option<Step> {
        let cost = self.cost_of(node);
        let order = |node: u32| Some(self.order[node as usize]).filter(|(mark, _)| *mark == self.mark);
        let before =
            |other: u32| order(other).is_some_and(|place| order(node).is_some_and(|own| place < own));
        self.links[node as usize]
            .iter()
            .filter(|link| before(link.to))
            .filter(|link| cost.is_finite() && self.metric.of(link) + self.cost_of(link.to) <= cost + EQUAL)
            .min_by_key(|link| (self.ranks[link.to as usize], link.interface))
            .map(|link| Step { interface: link.interface, node: link.to })
    }
}
