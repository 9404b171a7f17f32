//! Static shortest paths, by hops or by ETX, for the destinations that flows use.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A usable link out of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Edge {
    pub to: u32,
    /// Port of the node that it leaves by.
    pub port: u32,
    pub cost: f64,
}

/// The next hop towards one destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NextHop {
    pub port: u32,
    pub node: u32,
}

/// Compares names as people do: digits by value, so that "2" comes before "10".
pub(crate) fn natural_cmp(a: &str, b: &str) -> Ordering {
    let (mut x, mut y) = (a, b);
    loop {
        match (x.chars().next(), y.chars().next()) {
            (None, None) => return a.cmp(b),
            (None, _) => return Ordering::Less,
            (_, None) => return Ordering::Greater,
            (Some(c), Some(d)) if c.is_ascii_digit() && d.is_ascii_digit() => {
                let digits = |s: &str| s.len() - s.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                let (i, j) = (digits(x), digits(y));
                let (m, n) = (x[..i].trim_start_matches('0'), y[..j].trim_start_matches('0'));
                match m.len().cmp(&n.len()).then_with(|| m.cmp(n)) {
                    Ordering::Equal => (x, y) = (&x[i..], &y[j..]),
                    other => return other,
                }
            }
            (Some(c), Some(d)) if c == d => (x, y) = (&x[c.len_utf8()..], &y[d.len_utf8()..]),
            (Some(c), Some(d)) => return c.cmp(&d),
        }
    }
}

/// The place of each name in natural order.
pub(crate) fn natural_ranks(names: &[&str]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|&a, &b| natural_cmp(names[a], names[b]));
    let mut ranks = vec![0; names.len()];
    for (rank, &i) in order.iter().enumerate() {
        ranks[i] = rank as u32;
    }
    ranks
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
        // The heap gives the largest first: turned round.
        other.cost.total_cmp(&self.cost).then(other.rank.cmp(&self.rank))
    }
}
impl PartialOrd for Visit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Finds routes over a network's usable links.
#[derive(Debug)]
pub(crate) struct Router {
    edges: Vec<Vec<Edge>>,
    /// Links into each node: whence, and at what cost.
    into: Vec<Vec<(u32, f64)>>,
    /// Place of each node's name in natural order.
    ranks: Vec<u32>,
    /// Costs of the present search; those of another one carry another mark.
    cost: Vec<(u32, f64)>,
    mark: u32,
}

impl Router {
    pub(crate) fn new(edges: Vec<Vec<Edge>>, ranks: Vec<u32>) -> Self {
        let mut into: Vec<Vec<(u32, f64)>> = vec![Vec::new(); edges.len()];
        for (from, list) in edges.iter().enumerate() {
            for e in list {
                into[e.to as usize].push((from as u32, e.cost));
            }
        }
        let cost = vec![(0, f64::INFINITY); edges.len()];
        Self { edges, into, ranks, cost, mark: 0 }
    }

    /// Place of a node's name in natural order.
    pub(crate) fn rank(&self, node: u32) -> u32 {
        self.ranks[node as usize]
    }

    fn cost_of(&self, node: u32) -> f64 {
        let (mark, cost) = self.cost[node as usize];
        if mark == self.mark { cost } else { f64::INFINITY }
    }

    /// Next hops towards `destination` for the nodes on the paths from `sources`, sorted by node. Sources that cannot reach
    /// it are left out. The search ends when it has met all sources.
    ///
    /// Among equally short paths the neighbour whose name comes first is taken, so that neither the order of a file nor
    /// rounding decides (costs closer than 1e-9 count as equal).
    pub(crate) fn towards(&mut self, destination: u32, sources: &[u32]) -> Vec<(u32, NextHop)> {
        self.mark += 1;
        let mut wanted = sources.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let mut left = wanted.len();
        let mut heap = BinaryHeap::new();
        self.cost[destination as usize] = (self.mark, 0.0);
        heap.push(Visit { cost: 0.0, rank: self.ranks[destination as usize], node: destination });
        while let Some(Visit { cost, node, .. }) = heap.pop() {
            if cost > self.cost_of(node) {
                continue;
            }
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
        let mut hops: Vec<(u32, NextHop)> = Vec::new();
        for &source in &wanted {
            let mut node = source;
            while node != destination && hops.iter().all(|h| h.0 != node) {
                let Some(hop) = self.next_hop(node) else { break };
                hops.push((node, hop));
                node = hop.node;
            }
        }
        hops.sort_unstable_by_key(|h| h.0);
        hops
    }

    /// The best neighbour of a node that the present search has met.
    fn next_hop(&self, node: u32) -> Option<NextHop> {
        let cost = self.cost_of(node);
        self.edges[node as usize]
            .iter()
            .filter(|e| cost.is_finite() && e.cost + self.cost_of(e.to) <= cost + 1e-9)
            .min_by_key(|e| (self.ranks[e.to as usize], e.port))
            .map(|e| NextHop { port: e.port, node: e.to })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(n: u32, cost: f64) -> Vec<Vec<Edge>> {
        (0..n)
            .map(|i| {
                let mut list = Vec::new();
                if i > 0 {
                    list.push(Edge { to: i - 1, port: 0, cost });
                }
                if i + 1 < n {
                    list.push(Edge { to: i + 1, port: 0, cost });
                }
                list
            })
            .collect()
    }

    /// Where node 0 sends what is for `destination`.
    fn first(edges: &[Vec<Edge>], destination: u32, ranks: [u32; 4]) -> Option<u32> {
        let hops = Router::new(edges.to_vec(), ranks.to_vec()).towards(destination, &[0]);
        hops.iter().find(|h| h.0 == 0).map(|h| h.1.node)
    }

    #[test]
    fn names_compare_as_people_do() {
        let mut names = ["n10", "n2", "a", "n02", "10", "9"];
        names.sort_by(|a, b| natural_cmp(a, b));
        assert_eq!(names, ["9", "10", "a", "n02", "n2", "n10"]);
    }

    #[test]
    fn a_line_is_walked_step_by_step() {
        let mut router = Router::new(line(4, 1.0), vec![0, 1, 2, 3]);
        let next: Vec<_> = router.towards(3, &[0]).iter().map(|h| (h.0, h.1.node)).collect();
        assert_eq!(next, [(0, 1), (1, 2), (2, 3)]);
        // Only what lies on the way is kept.
        let next: Vec<_> = router.towards(3, &[2]).iter().map(|h| (h.0, h.1.node)).collect();
        assert_eq!(next, [(2, 3)]);
    }

    #[test]
    fn ties_go_to_the_first_name() {
        // A diamond 0 - {1, 2} - 3.
        let e = |to| Edge { to, port: 0, cost: 1.0 };
        let edges = vec![vec![e(1), e(2)], vec![e(0), e(3)], vec![e(0), e(3)], vec![e(1), e(2)]];
        assert_eq!(first(&edges, 3, [0, 1, 2, 3]), Some(1));
        assert_eq!(first(&edges, 3, [0, 2, 1, 3]), Some(2));
    }

    #[test]
    fn costs_beat_hops_and_islands_have_no_route() {
        let e = |to, cost| Edge { to, port: 0, cost };
        let edges = vec![vec![e(1, 1.0), e(2, 5.0)], vec![e(2, 1.5)], vec![], vec![]];
        assert_eq!(first(&edges, 2, [0, 1, 2, 3]), Some(1));
        assert_eq!(first(&edges, 3, [0, 1, 2, 3]), None);
    }
}
