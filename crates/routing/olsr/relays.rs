//! Selection of multipoint relays [RFC 3626 sections 8.3.1 and 16.2].

use alloc::collections::{BTreeMap, BTreeSet};
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

impl Candidates {
    /// Relays such that every node two hops away is the neighbour of at least `coverage` relays, or of all neighbours that reach it. Among
    /// equal candidates the lowest address is selected.
    pub(super) fn relays(&self, coverage: u32) -> BTreeSet<Ipv4Addr> {
        let willing = |at: &Ipv4Addr| self.willingness.get(at).copied().unwrap_or(WILL_NEVER);
        let reach: BTreeMap<Ipv4Addr, &BTreeSet<Ipv4Addr>> =
            self.reach.iter().filter(|(at, _)| willing(at) != WILL_NEVER).map(|(&at, to)| (at, to)).collect();
        // How many relays each node two hops away still needs.
        let mut needed: BTreeMap<Ipv4Addr, u32> = BTreeMap::new();
        for &to in reach.values().copied().flatten() {
            let by = needed.entry(to).or_insert(0);
            *by = (*by + 1).min(coverage);
        }
        let mut relays = BTreeSet::new();
        let select = |at: Ipv4Addr, relays: &mut BTreeSet<_>, needed: &mut BTreeMap<Ipv4Addr, u32>| {
            if relays.insert(at) {
                for to in reach.get(&at).copied().into_iter().flatten() {
                    needed.entry(*to).and_modify(|more| *more = more.saturating_sub(1));
                }
            }
        };
        // Steps 1 and 3: those that are always willing, and those without whom a node would have too few.
        for (&at, _) in self.willingness.iter().filter(|(_, will)| **will >= WILL_ALWAYS) {
            select(at, &mut relays, &mut needed);
        }
        let few =
            |to: &Ipv4Addr| reach.values().filter(|reach| reach.contains(to)).count() <= coverage as usize;
        let poorly_covered: BTreeSet<Ipv4Addr> = needed.keys().copied().filter(few).collect();
        for (&at, to) in &reach {
            if !to.is_disjoint(&poorly_covered) {
                select(at, &mut relays, &mut needed);
            }
        }
        // Step 4: the others by willingness, number of nodes that still need a relay, and number of nodes reached.
        loop {
            let missing = |to: &&Ipv4Addr| needed.get(*to).is_some_and(|&more| more > 0);
            let others = reach.iter().filter(|(at, _)| !relays.contains(at));
            let rated = others.map(|(&at, to)| {
                let (new, all) = (to.iter().filter(missing).count(), to.len());
                (new, (willing(&at), new, all, Reverse(at)))
            });
            let best = rated.filter(|&(new, _)| new > 0).map(|(_, rating)| rating).max();
            let Some((_, _, _, Reverse(at))) = best else { return relays };
            select(at, &mut relays, &mut needed);
        }
    }
}
