//! The shares of pairs around a link, and what they lend.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use airfair_wire::airtime::{Link, State};

/// Two neighbours of which one at least sends to the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Part of the air's time that both directions use.
    pub used: f64,
    /// The weight of the pair, above 0.
    pub weight: f64,
    /// True if both ends lend what they do not use of their share.
    pub lends: bool,
    /// True if an end cannot use its share.
    pub short: bool,
}

/// Pairs by the numbers of their ends, the smaller first.
pub(super) type Pairs = BTreeMap<(u32, u32), Pair>;

/// The key of a pair.
pub(super) const fn pair_key(one: u32, other: u32) -> (u32, u32) {
    if one < other { (one, other) } else { (other, one) }
}

/// Links around a link; of one that is announced twice the first counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Around {
    directions: BTreeMap<(u32, u32), Link>,
}

impl Around {
    /// Adds a link, unless it is there.
    pub(super) fn add(&mut self, link: Link) {
        self.directions.entry((link.from, link.to)).or_insert(link);
    }

    /// True if a link is among them.
    pub(super) fn has(&self, link: &Link) -> bool {
        self.directions.contains_key(&(link.from, link.to))
    }

    /// The links, by their ends.
    pub(super) fn links(&self) -> impl Iterator<Item = Link> {
        self.directions.values().copied()
    }

    /// The pairs of these links, each counted once, or as often as flows pass it.
    pub(super) fn pairs(&self, by_flows: bool) -> Pairs {
        let mut pairs = Pairs::new();
        for (&(from, to), link) in &self.directions {
            let none = Pair { used: 0.0, weight: 0.0, lends: true, short: false };
            let pair = pairs.entry(pair_key(from, to)).or_insert(none);
            pair.used += f64::from(link.used) / f64::from(u16::MAX);
            pair.weight += f64::from(link.flows);
            pair.lends &= link.state == State::Lends;
            pair.short |= link.state == State::Short;
        }
        for pair in pairs.values_mut() {
            pair.weight = if by_flows { pair.weight.max(1.0) } else { 1.0 };
        }
        pairs
    }
}

/// The share of a pair of weight 1 of a part of the air that is divided among these pairs, in proportion to their weights. Those that lend
/// leave what they do not use of their shares to all.
///
/// Without lending it is `divided` by the sum of the weights.
#[must_use]
pub fn level<'a>(pairs: impl Iterator<Item = &'a Pair> + Clone, divided: f64) -> f64 {
    let mut weights: f64 = pairs.clone().map(|pair| pair.weight).sum();
    let mut lenders: Vec<&Pair> = pairs.filter(|pair| pair.lends).collect();
    lenders.sort_by(|one, other| (one.used / one.weight).total_cmp(&(other.used / other.weight)));
    // Those that use least lend at the lowest level; the level rises until the next one would use its whole share.
    let mut left = divided;
    for lender in lenders {
        if left <= weights * (lender.used / lender.weight) {
            break;
        }
        left -= lender.used;
        weights -= lender.weight;
    }
    if weights > 1e-9 { (left / weights).min(divided) } else { divided }
}
