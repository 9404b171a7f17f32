//! Losses between nodes, and the order of nodes by ETX.
//!
//! Readings:
//! - ETX counts deliveries forward only, 1 / (1 - e): a broadcast has no acknowledgement that could be lost.
//! - Of two nodes with the same ETX the one with the smaller number is nearer. Numbers come from names, so the order of nodes in a file
//!   changes nothing.
//! - A link that loses all but `least` of its packets is none: a probe that got through by chance is no path.

use alloc::collections::BinaryHeap;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::places::{DeliveryRatios, NodeId, Numbered};

/// Probability of loss of a broadcast, from each node to each other. Memory and time are those of the pairs that are links: in a network of
/// ten thousand nodes one in five hundred.
#[derive(Debug, Clone)]
pub struct Losses {
    /// Ascending.
    nodes: Arc<[NodeId]>,
    links: Links,
}

/// Links with losses below 1, by places of nodes.
#[derive(Debug, Clone)]
enum Links {
    /// The lists of a network that all its nodes share: a node that made lists of its own would take the square of their number, and all
    /// nodes the cube.
    Given(Arc<Numbered>),
    /// By sender: the places of those that hear it, ascending.
    Own(Vec<Vec<(usize, f64)>>),
}

impl Losses {
    /// These nodes, none of which hears another. A node that is named twice is one.
    #[must_use]
    pub fn new(nodes: impl IntoIterator<Item = NodeId>) -> Self {
        let mut nodes: Vec<NodeId> = nodes.into_iter().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let links = vec![Vec::new(); nodes.len()];
        Self { nodes: nodes.into(), links: Links::Own(links) }
    }

    /// The losses that belong to these ratios, whose lists they share.
    #[must_use]
    pub fn of(ratios: &DeliveryRatios) -> Self {
        let numbered = ratios.numbered();
        Self { nodes: Arc::clone(numbered.nodes()), links: Links::Given(Arc::clone(numbered)) }
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
    pub(super) fn links_of(&self, place: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (given, own) = match &self.links {
            Links::Given(ratios) => (ratios.from(place), &[][..]),
            Links::Own(links) => (&[][..], links.get(place).map_or(&[][..], Vec::as_slice)),
        };
        let given = given.iter().map(|link| (link.to as usize, 1.0 - link.ratio));
        given.filter(|&(_, loss)| loss < 1.0).chain(own.iter().copied())
    }

    /// Sets the probability that `to` receives a broadcast of `from`. Unknown nodes and numbers outside of 0 to 1 change nothing.
    pub fn set_delivery(&mut self, from: NodeId, to: NodeId, delivery: f64) {
        if let (Some(from), Some(to)) = (self.place(from), self.place(to))
            && (0.0..=1.0).contains(&delivery)
            && from != to
        {
            let mut own = match &mut self.links {
                Links::Own(own) => core::mem::take(own),
                Links::Given(_) => {
                    (0..self.nodes.len()).map(|place| self.links_of(place).collect()).collect()
                }
            };
            let (links, loss) = (&mut own[from], 1.0 - delivery);
            match links.binary_search_by_key(&to, |&(to, _)| to) {
                Ok(at) if loss < 1.0 => links[at].1 = loss,
                Ok(at) => _ = links.remove(at),
                Err(at) if loss < 1.0 => links.insert(at, (to, loss)),
                Err(_) => {}
            }
            self.links = Links::Own(own);
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
        match &self.links {
            Links::Given(ratios) => {
                let links = ratios.from(from);
                let at = links.binary_search_by_key(&to, |link| link.to as usize);
                at.map_or(1.0, |at| 1.0 - links[at].ratio)
            }
            Links::Own(links) => {
                let at = links[from].binary_search_by_key(&to, |&(to, _)| to);
                at.map_or(1.0, |at| links[from][at].1)
            }
        }
    }

    /// Expected transmissions of each node to a destination along its best path, by all links, however little they deliver.
    #[must_use]
    pub fn distances(&self, destination: NodeId) -> Distances {
        self.search(destination, None)
    }

    /// The same, of the source and of the nodes that are nearer; others may seem to be farther away than they are, never nearer than the
    /// source. Where all nodes hear each other, the links of the destination are enough.
    #[must_use]
    pub fn distances_to_source(&self, destination: NodeId, source: NodeId) -> Distances {
        self.search(destination, self.place(source))
    }

    fn search(&self, destination: NodeId, source: Option<usize>) -> Distances {
        let n = self.nodes.len();
        let mut etx = vec![f64::INFINITY; n];
        let mut next: Vec<Option<usize>> = vec![None; n];
        let mut looked_at = 0;
        // Own links by receiver.
        let mut heard = Vec::new();
        if let Links::Own(links) = &self.links {
            heard.resize(n, Vec::new());
            for (from, links) in links.iter().enumerate() {
                links.iter().for_each(|&(to, loss)| heard[to].push((from, loss)));
            }
        }
        // Dijkstra's algorithm, backwards from the destination; the smaller number first where two are as far. Bits of numbers that are
        // not below 0 are in the order of the numbers.
        let mut open = BinaryHeap::new();
        if let Some(at) = self.place(destination) {
            etx[at] = 0.0;
            open.push(Reverse((0_u64, at)));
        }
        while let Some(Reverse((at, near))) = open.pop() {
            // All that is open is at least as far as the source.
            if source.is_some_and(|source| at >= etx[source].to_bits()) {
                break;
            }
            // A shorter path has been found since.
            if at > etx[near].to_bits() {
                continue;
            }
            let given = match &self.links {
                Links::Given(ratios) => ratios.to(near),
                Links::Own(_) => &[],
            };
            let own = heard.get(near).map_or(&[][..], Vec::as_slice);
            let given = given.iter().map(|link| (link.from as usize, 1.0 - link.ratio));
            for (from, loss) in given.chain(own.iter().copied()) {
                looked_at += 1;
                let by = etx[near] + 1.0 / (1.0 - loss);
                if by < etx[from] {
                    (etx[from], next[from]) = (by, Some(near));
                    open.push(Reverse((by.to_bits(), from)));
                }
            }
        }
        let next = next.into_iter().map(|next| next.map(|next| self.nodes[next])).collect();
        Distances { nodes: Arc::clone(&self.nodes), etx, next, looked_at }
    }
}

/// Two are equal if they have the same nodes and links.
impl PartialEq for Losses {
    fn eq(&self, other: &Self) -> bool {
        self.nodes == other.nodes
            && (0..self.nodes.len()).all(|place| self.links_of(place).eq(other.links_of(place)))
    }
}

/// How far each node is from a destination.
#[derive(Debug, Clone, PartialEq)]
pub struct Distances {
    nodes: Arc<[NodeId]>,
    etx: Vec<f64>,
    next: Vec<Option<NodeId>>,
    looked_at: usize,
}

impl Distances {
    fn place(&self, node: NodeId) -> Option<usize> {
        self.nodes.binary_search(&node).ok()
    }

    /// Number of links that were looked at: the work.
    #[must_use]
    pub const fn looked_at(&self) -> usize {
        self.looked_at
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
