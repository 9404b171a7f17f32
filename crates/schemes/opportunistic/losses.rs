//! Losses between nodes, and the order of nodes by ETX.
//!
//! Readings:
//! - ETX counts deliveries forward only, 1 / (1 - e): a broadcast has no acknowledgement that could be lost.
//! - Of two nodes with the same ETX the one with the smaller number is nearer. Numbers come from names, so the order of nodes in a file
//!   changes nothing.
//! - A link that loses all but `least` of its packets is none: a probe that got through by chance is no path.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::places::{DeliveryRatios, NodeId};

/// Probability of loss of a broadcast, from each node to each other. Memory and time are those of the pairs that are links: in a network of
/// ten thousand nodes one in five hundred.
#[derive(Debug, Clone, PartialEq)]
pub struct Losses {
    /// Ascending.
    nodes: Vec<NodeId>,
    /// By sender: places of the nodes that hear it, ascending, with losses below 1.
    links: Vec<Vec<(usize, f64)>>,
}

impl Losses {
    /// These nodes, none of which hears another. A node that is named twice is one.
    #[must_use]
    pub fn new(nodes: impl IntoIterator<Item = NodeId>) -> Self {
        let mut nodes: Vec<NodeId> = nodes.into_iter().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let links = vec![Vec::new(); nodes.len()];
        Self { nodes, links }
    }

    /// The losses that belong to these ratios.
    #[must_use]
    pub fn of(ratios: &DeliveryRatios) -> Self {
        let mut losses = Self::new(ratios.nodes.iter().copied());
        let node = |place: u32| ratios.nodes.get(place as usize).copied();
        for link in &*ratios.links {
            if let (Some(from), Some(to)) = (node(link.from), node(link.to)) {
                losses.set_delivery(from, to, link.ratio);
            }
        }
        losses
    }

    /// The nodes, in the order of their numbers.
    #[must_use]
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// A node's place among the nodes.
    pub(super) fn place(&self, node: NodeId) -> Option<usize> {
        self.nodes.binary_search(&node).ok()
    }

    /// The places of the nodes that hear the node at a place, ascending, with losses below 1.
    pub(super) fn links_of(&self, place: usize) -> &[(usize, f64)] {
        self.links.get(place).map_or(&[], Vec::as_slice)
    }

    /// Sets the probability that `to` receives a broadcast of `from`. Unknown nodes and numbers outside of 0 to 1 change nothing.
    pub fn set_delivery(&mut self, from: NodeId, to: NodeId, delivery: f64) {
        if let (Some(from), Some(to)) = (self.place(from), self.place(to))
            && (0.0..=1.0).contains(&delivery)
            && from != to
        {
            let (links, loss) = (&mut self.links[from], 1.0 - delivery);
            match links.binary_search_by_key(&to, |&(to, _)| to) {
                Ok(at) if loss < 1.0 => links[at].1 = loss,
                Ok(at) => _ = links.remove(at),
                Err(at) if loss < 1.0 => links.insert(at, (to, loss)),
                Err(_) => {}
            }
        }
    }

    /// The same, in both directions.
    pub fn set_both(&mut self, a: NodeId, b: NodeId, delivery: f64) {
        self.set_delivery(a, b, delivery);
        self.set_delivery(b, a, delivery);
    }

    /// e_ij; 1 for unknown nodes, and of a node to itself.
    #[must_use]
    pub fn loss(&self, from: NodeId, to: NodeId) -> f64 {
        let (Some(from), Some(to)) = (self.place(from), self.place(to)) else { return 1.0 };
        let links = self.links_of(from);
        links.binary_search_by_key(&to, |&(to, _)| to).map_or(1.0, |at| links[at].1)
    }

    /// Expected transmissions of each node to a destination along its best path, by links that deliver at least `least`.
    #[must_use]
    pub fn distances(&self, destination: NodeId, least: f64) -> Distances {
        let n = self.nodes.len();
        let mut etx = vec![f64::INFINITY; n];
        let mut next: Vec<Option<usize>> = vec![None; n];
        // Links by receiver.
        let mut heard = vec![Vec::new(); n];
        for (from, links) in self.links.iter().enumerate() {
            links.iter().for_each(|&(to, loss)| heard[to].push((from, 1.0 - loss)));
        }
        // Dijkstra's algorithm, backwards from the destination; the smaller number first where two are as far. Bits of numbers that are
        // not below 0 are in the order of the numbers.
        let mut open = BinaryHeap::new();
        if let Some(at) = self.place(destination) {
            etx[at] = 0.0;
            open.push(Reverse((0_u64, at)));
        }
        while let Some(Reverse((at, near))) = open.pop() {
            // A shorter path has been found since.
            if at > etx[near].to_bits() {
                continue;
            }
            for &(from, delivery) in &heard[near] {
                let by = etx[near] + 1.0 / delivery;
                if delivery >= least && by < etx[from] {
                    (etx[from], next[from]) = (by, Some(near));
                    open.push(Reverse((by.to_bits(), from)));
                }
            }
        }
        let next = next.into_iter().map(|next| next.map(|next| self.nodes[next])).collect();
        Distances { nodes: self.nodes.clone(), etx, next }
    }
}

/// How far each node is from a destination.
#[derive(Debug, Clone, PartialEq)]
pub struct Distances {
    nodes: Vec<NodeId>,
    etx: Vec<f64>,
    next: Vec<Option<NodeId>>,
}

impl Distances {
    fn place(&self, node: NodeId) -> Option<usize> {
        self.nodes.binary_search(&node).ok()
    }

    /// ETX of the best path of a node: transmissions of a packet; infinite where there is none.
    #[must_use]
    pub fn etx(&self, node: NodeId) -> f64 {
        self.place(node).map_or(f64::INFINITY, |place| self.etx[place])
    }

    /// The next node on the best path.
    #[must_use]
    pub fn next(&self, node: NodeId) -> Option<NodeId> {
        self.next[self.place(node)?]
    }

    /// All nodes with a path that is shorter than that of `source`, the nearest (the destination) first, then `source`. Empty where it has
    /// no path.
    #[must_use]
    pub fn nearer(&self, source: NodeId) -> Vec<NodeId> {
        let limit = self.etx(source);
        if limit == f64::INFINITY {
            return Vec::new();
        }
        let mut nearer: Vec<usize> = (0..self.nodes.len()).filter(|&i| self.etx[i] < limit).collect();
        // Stable: nodes are in the order of their numbers.
        nearer.sort_by(|&a, &b| self.etx[a].total_cmp(&self.etx[b]));
        nearer.into_iter().map(|i| self.nodes[i]).chain([source]).collect()
    }
}
