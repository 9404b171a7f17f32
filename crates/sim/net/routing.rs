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

/// Next hops of every node towards `destination` (`None`: unreachable, or the destination itself).
///
/// Among equally short paths the neighbour that comes first by `ranks` is taken, so that neither the order of a file nor
/// rounding decides (costs closer than 1e-9 count as equal).
pub(crate) fn next_hops(edges: &[Vec<Edge>], destination: u32, ranks: &[u32]) -> Vec<Option<NextHop>> {
    let n = edges.len();
    // Costs are used in the direction of travel: relax backwards over reversed edges.
    let mut reversed: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
    for (from, list) in edges.iter().enumerate() {
        for e in list {
            reversed[e.to as usize].push((from as u32, e.cost));
        }
    }
    let mut cost = vec![f64::INFINITY; n];
    let mut heap = BinaryHeap::new();
    cost[destination as usize] = 0.0;
    heap.push(Visit { cost: 0.0, rank: ranks[destination as usize], node: destination });
    while let Some(Visit { cost: c, node, .. }) = heap.pop() {
        if c > cost[node as usize] {
            continue;
        }
        for &(from, weight) in &reversed[node as usize] {
            let new = c + weight;
            if new < cost[from as usize] {
                cost[from as usize] = new;
                heap.push(Visit { cost: new, rank: ranks[from as usize], node: from });
            }
        }
    }
    (0..n)
        .map(|node| {
            if node == destination as usize || !cost[node].is_finite() {
                return None;
            }
            edges[node]
                .iter()
                .filter(|e| e.cost + cost[e.to as usize] <= cost[node] + 1e-9)
                .min_by_key(|e| (ranks[e.to as usize], e.port))
                .map(|e| NextHop { port: e.port, node: e.to })
        })
        .collect()
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

    #[test]
    fn names_compare_as_people_do() {
        let mut names = ["n10", "n2", "a", "n02", "10", "9"];
        names.sort_by(|a, b| natural_cmp(a, b));
        assert_eq!(names, ["9", "10", "a", "n02", "n2", "n10"]);
    }

    #[test]
    fn a_line_is_walked_step_by_step() {
        let hops = next_hops(&line(4, 1.0), 3, &[0, 1, 2, 3]);
        let next: Vec<_> = hops.iter().map(|h| h.map(|h| h.node)).collect();
        assert_eq!(next, [Some(1), Some(2), Some(3), None]);
    }

    #[test]
    fn ties_go_to_the_first_name() {
        // A diamond 0 - {1, 2} - 3.
        let e = |to| Edge { to, port: 0, cost: 1.0 };
        let edges = vec![vec![e(1), e(2)], vec![e(0), e(3)], vec![e(0), e(3)], vec![e(1), e(2)]];
        assert_eq!(next_hops(&edges, 3, &[0, 1, 2, 3])[0].map(|h| h.node), Some(1));
        assert_eq!(next_hops(&edges, 3, &[0, 2, 1, 3])[0].map(|h| h.node), Some(2));
    }

    #[test]
    fn costs_beat_hops_and_islands_have_no_route() {
        let e = |to, cost| Edge { to, port: 0, cost };
        let edges = vec![vec![e(1, 1.0), e(2, 5.0)], vec![e(2, 1.5)], vec![], vec![]];
        assert_eq!(next_hops(&edges, 2, &[0, 1, 2, 3])[0].map(|h| h.node), Some(1));
        assert_eq!(next_hops(&edges, 3, &[0, 1, 2, 3]), [None; 4]);
    }
}
