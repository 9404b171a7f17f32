//! Selection of multipoint relays [RFC 3626 sections 8.3.1 and 16.2]. The time grows with the number of pairs of a neighbour and a node
//! that it reaches, and not with its square: neighbours may list what they like.

use alloc::collections::{BTreeMap, BTreeSet, BinaryHeap};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use airfair_wire::Ipv4Addr;

use super::config::{WILL_ALWAYS, WILL_NEVER};

/// Neighbours of an interface, from which relays are selected.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Willingness of each symmetric neighbour behind the interface.
    pub willingness: BTreeMap<Ipv4Addr, u8>,
    /// For each of them, its symmetric neighbours that are neither this node nor symmetric neighbours of this node.
    pub reach: BTreeMap<Ipv4Addr, BTreeSet<Ipv4Addr>>,
}

/// A selection in progress. Candidates and the nodes two hops away have numbers, in the order of their addresses.
struct Selection {
    /// The nodes that each candidate reaches.
    reach: Vec<Vec<usize>>,
    /// The candidates that reach each node.
    by: Vec<Vec<usize>>,
    /// How many relays each node still needs.
    needed: Vec<u32>,
    /// How many nodes that need a relay each candidate reaches.
    new: Vec<usize>,
    selected: Vec<bool>,
    /// Pairs looked at.
    work: u64,
}

impl Selection {
    fn select(&mut self, at: usize) {
        if core::mem::replace(&mut self.selected[at], true) {
            return;
        }
        self.work += self.reach[at].len() as u64;
        for &to in &self.reach[at] {
            self.needed[to] = match self.needed[to] {
                0 => 0,
                1 => {
                    self.work += self.by[to].len() as u64;
                    self.by[to].iter().for_each(|&other| self.new[other] -= 1);
                    0
                }
                more => more - 1,
            };
        }
    }
}

impl Candidates {
    /// Relays such that every node two hops away is the neighbour of at least `coverage` relays, or of all neighbours that reach it. Among
    /// equal candidates the lowest address is selected. With them, the number of pairs that were looked at.
    pub(super) fn relays(&self, coverage: u32) -> (BTreeSet<Ipv4Addr>, u64) {
        let willing = |at: &Ipv4Addr| self.willingness.get(at).copied().unwrap_or(WILL_NEVER);
        let able = || self.reach.iter().filter(|(at, _)| willing(at) != WILL_NEVER);
        let candidates: Vec<Ipv4Addr> = able().map(|(&at, _)| at).collect();
        let mut numbers: BTreeMap<Ipv4Addr, usize> = BTreeMap::new();
        let mut all = Selection {
            reach: vec![Vec::new(); candidates.len()],
            by: Vec::new(),
            needed: Vec::new(),
            new: vec![0; candidates.len()],
            selected: vec![false; candidates.len()],
            work: self.willingness.len() as u64,
        };
        for (at, (_, reach)) in able().enumerate() {
            all.work += reach.len() as u64;
            for &to in reach {
                let next = numbers.len();
                let to = *numbers.entry(to).or_insert(next);
                if to == all.by.len() {
                    all.by.push(Vec::new());
                }
                all.by[to].push(at);
                all.reach[at].push(to);
            }
        }
        let count = |by: &Vec<usize>| u32::try_from(by.len()).unwrap_or(u32::MAX);
        all.needed = all.by.iter().map(|by| count(by).min(coverage)).collect();
        for (new, reach) in all.new.iter_mut().zip(&all.reach) {
            *new = reach.iter().filter(|&&to| all.needed[to] > 0).count();
        }
        // Steps 1 and 3: those that are always willing, and those without whom a node would have too few.
        let always = self.willingness.iter().filter(|(_, will)| **will >= WILL_ALWAYS).map(|(&at, _)| at);
        let mut relays: BTreeSet<Ipv4Addr> = always.collect();
        for (at, candidate) in candidates.iter().enumerate() {
            let few = |to: &usize| count(&all.by[*to]) <= coverage;
            if relays.contains(candidate) || all.reach[at].iter().any(few) {
                all.select(at);
            }
        }
        // Step 4: the others by willingness, number of nodes that still need a relay, and number of nodes reached. That number only falls:
        // a candidate that comes first with an old one is put back.
        let rating = |all: &Selection, at: usize| {
            (willing(&candidates[at]), all.new[at], all.reach[at].len(), Reverse(at))
        };
        let mut heap: BinaryHeap<_> = (0..candidates.len()).map(|at| rating(&all, at)).collect();
        while let Some(best @ (_, _, _, Reverse(at))) = heap.pop() {
            all.work += 1;
            if all.selected[at] || all.new[at] == 0 {
                continue;
            }
            let now = rating(&all, at);
            if now == best {
                all.select(at);
            } else {
                heap.push(now);
            }
        }
        relays.extend(
            candidates.iter().zip(&all.selected).filter(|(_, selected)| **selected).map(|(&at, _)| at),
        );
        (relays, all.work)
    }
}
