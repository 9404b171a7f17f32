//! How often each node sends, for a packet that reaches the destination, if always the nearest of those that have heard a packet forwards
//! it.
//!
//! From the source down, L_source = 1:
//!
//! ```text
//! L_j = Σ_{i farther than j} z_i (1 − e_ij) Π_{k nearer than j} e_ik
//! z_j = L_j / (1 − Π_{k nearer than j} e_jk)
//! ```
//!
//! Nodes that would send less than a part of all transmissions are left out, and what they would have sent is computed anew for the others.
//! Both papers say so, and not how. Readings:
//! - One node at a time goes, the one that sends least, until none is below the part. All at once would be wrong where a hop has several
//!   relays that are as good: over six hops with two relays each every relay sends a thirteenth, and nobody would be left.
//! - A node stays, if without it the transmissions would rise by more than `rise` over those with all nodes: in a row of more than ten hops
//!   every node sends less than a tenth.

use alloc::vec;
use alloc::vec::Vec;

use super::losses::{Distances, Losses};
use crate::places::NodeId;

/// Which forwarders are left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pruning {
    /// Part of all transmissions that a forwarder sends at least; 0: all nodes forward.
    pub part: f64,
    /// Part by which the transmissions may rise.
    pub rise: f64,
    /// The most forwarders, as a header has room for: of more, those on the best path and those that would send most are looked at.
    /// Leaving out one by one takes the cube of their number.
    pub most: usize,
}

impl Default for Pruning {
    fn default() -> Self {
        Self { part: 0.1, rise: 0.05, most: 64 }
    }
}

/// A node's part in a packet's way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The node.
    pub node: NodeId,
    /// L: how many packets it has to forward, for each that the source gives.
    pub load: f64,
    /// z: how often it sends.
    pub sends: f64,
}

/// The nodes that take part, and how often each sends.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// From the destination to the source.
    shares: Vec<Share>,
}

impl Expected {
    /// The forwarders from a source to a destination. `None` where there is no path with as many nodes as a header names, and from a node
    /// to itself.
    #[must_use]
    pub fn new(losses: &Losses, source: NodeId, destination: NodeId, pruning: &Pruning) -> Option<Self> {
        if source == destination {
            return None;
        }
        let distances = losses.distances_to_source(destination, source);
        Self::among(losses, &distances, source, pruning)
    }

    /// The same, with distances that are known.
    #[must_use]
    pub fn among(losses: &Losses, distances: &Distances, source: NodeId, pruning: &Pruning) -> Option<Self> {
        let mut all = Self::of(losses, &distances.nearer(source))?;
        let inner = all.shares.len().saturating_sub(2);
        if inner > pruning.most {
            let path: Vec<NodeId> =
                core::iter::successors(distances.next(source), |&node| distances.next(node)).collect();
            let mut most: Vec<(bool, Share)> =
                all.shares[1..=inner].iter().map(|&share| (!path.contains(&share.node), share)).collect();
            most.sort_by(|(a_off, a), (b_off, b)| a_off.cmp(b_off).then(b.sends.total_cmp(&a.sends)));
            let left_out: Vec<NodeId> = most[pruning.most..].iter().map(|(_, share)| share.node).collect();
            let kept = all.shares.iter().map(|share| share.node).filter(|node| !left_out.contains(node));
            all = Self::of(losses, &kept.collect::<Vec<_>>())?;
        }
        let limit = (1.0 + pruning.rise) * all.cost();
        let mut now = all;
        let mut kept: Vec<NodeId> = Vec::new();
        loop {
            let least = pruning.part * now.cost();
            let inner = now.shares.get(1..now.shares.len() - 1).unwrap_or_default();
            let few = inner.iter().filter(|share| share.sends < least && !kept.contains(&share.node));
            // Of equals the one that is farther from the destination.
            let Some(first) = few.rev().min_by(|a, b| a.sends.total_cmp(&b.sends)) else { return Some(now) };
            let node = first.node;
            let rest = now.shares.iter().map(|share| share.node).filter(|&other| other != node);
            match Self::of(losses, &rest.collect::<Vec<_>>()) {
                Some(without) if without.cost() <= limit => {
                    now = without;
                    kept.clear();
                }
                _ => kept.push(node),
            }
        }
    }

    /// Transmissions of these nodes, from the destination to the source. `None` where one that has packets reaches none that is nearer.
    #[must_use]
    pub fn of(losses: &Losses, order: &[NodeId]) -> Option<Self> {
        if order.len() < 2 {
            return None;
        }
        let mut shares: Vec<Share> =
            order.iter().map(|&node| Share { node, load: 0.0, sends: 0.0 }).collect();
        let last = shares.len() - 1;
        let mut rank_of = vec![usize::MAX; losses.nodes().len()];
        for (rank, &node) in order.iter().enumerate() {
            losses.place(node).into_iter().for_each(|place| rank_of[place] = rank);
        }
        // Those nearer that hear the node at hand, the nearest first: for all others a factor is 1 and a term 0.
        let mut hearers: Vec<(usize, f64)> = Vec::new();
        shares[last].load = 1.0;
        for from in (1..shares.len()).rev() {
            let load = shares[from].load;
            if load <= 0.0 {
                continue;
            }
            let links = losses.place(order[from]).map(|place| losses.links_of(place));
            let links = links.into_iter().flatten().map(|(to, loss)| (rank_of[to], loss));
            hearers.clear();
            hearers.extend(links.filter(|&(rank, _)| rank < from));
            hearers.sort_unstable_by_key(|&(rank, _)| rank);
            // Probability that none of those nearer than the one at hand has heard a packet.
            let unheard = hearers.iter().fold(1.0, |product, &(_, loss)| product * loss);
            if unheard >= 1.0 {
                return None;
            }
            let sends = load / (1.0 - unheard);
            let mut unheard = 1.0;
            for &(to, loss) in &hearers {
                shares[to].load += sends * (1.0 - loss) * unheard;
                unheard *= loss;
            }
            shares[from].sends = sends;
        }
        // Who hears no packet first has none to forward.
        shares.retain(|share| share.load > 0.0);
        Some(Self { shares })
    }

    /// The nodes from the destination to the source.
    #[must_use]
    pub fn shares(&self) -> &[Share] {
        &self.shares
    }

    /// Transmissions of a packet, of all nodes.
    #[must_use]
    pub fn cost(&self) -> f64 {
        self.shares.iter().map(|share| share.sends).sum()
    }
}
