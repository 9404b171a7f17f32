//! Statements of nodes about others: a table of pairs of nodes, in which no node can take all the room.

use alloc::collections::BTreeMap;
use core::ops::RangeInclusive;

use airfair_wire::Ipv4Addr;

/// Part of a table that the statements of one node may fill.
const PART: usize = 8;
/// Number of pairs that a node may state in any case.
const LEAST: usize = 64;

/// The first node of a pair has stated something of the second.
type Pair = (Ipv4Addr, Ipv4Addr);

/// A table of pairs.
#[derive(Debug)]
pub(super) struct Pairs<T> {
    /// Most pairs.
    limit: usize,
    entries: BTreeMap<Pair, T>,
    /// Number of pairs of each first node.
    counts: BTreeMap<Ipv4Addr, usize>,
}

/// All pairs with this first address.
fn pairs_of(first: Ipv4Addr) -> RangeInclusive<Pair> {
    (first, Ipv4Addr::from([0; 4]))..=(first, Ipv4Addr::from([u8::MAX; 4]))
}

impl<T> Pairs<T> {
    pub(super) fn new(limit: u32) -> Self {
        Self { limit: limit as usize, entries: BTreeMap::new(), counts: BTreeMap::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, pair: &Pair) -> Option<&T> {
        self.entries.get(pair)
    }

    /// True if a new pair with this first node finds room: in the table, and in the part that the node may fill.
    pub(super) fn has_room(&self, first: Ipv4Addr) -> bool {
        let own = self.counts.get(&first).copied().unwrap_or(0);
        self.entries.len() < self.limit && own < (self.limit / PART).max(LEAST)
    }

    pub(super) fn insert(&mut self, pair: Pair, value: T) {
        if self.entries.insert(pair, value).is_none() {
            *self.counts.entry(pair.0).or_insert(0) += 1;
        }
    }

    /// Removes a pair; true if there was one.
    pub(super) fn remove(&mut self, pair: &Pair) -> bool {
        let removed = self.entries.remove(pair).is_some();
        if removed && let Some(count) = self.counts.get_mut(&pair.0) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&pair.0);
            }
        }
        removed
    }

    /// Removes all pairs with this first node; returns how many there were.
    pub(super) fn remove_all_of(&mut self, first: Ipv4Addr) -> usize {
        let Some(count) = self.counts.remove(&first) else { return 0 };
        let seconds: alloc::vec::Vec<Pair> = self.of(first).map(|(pair, _)| *pair).collect();
        seconds.iter().for_each(|pair| _ = self.entries.remove(pair));
        count
    }

    /// Removes the pairs of which `keep` is false; returns how many these were.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&Pair, &T) -> bool) -> usize {
        let before = self.entries.len();
        let counts = &mut self.counts;
        self.entries.retain(|pair, value| {
            let kept = keep(pair, value);
            if !kept && let Some(count) = counts.get_mut(&pair.0) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(&pair.0);
                }
            }
            kept
        });
        before - self.entries.len()
    }

    /// The pairs with this first node.
    pub(super) fn of(&self, first: Ipv4Addr) -> impl Iterator<Item = (&Pair, &T)> {
        self.entries.range(pairs_of(first))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Pair, &T)> {
        self.entries.iter()
    }
}
