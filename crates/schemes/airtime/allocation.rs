//! The shares of pairs around a link, and what they lend.

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

/// Pairs by the numbers of their ends, the smaller first, ascending.
pub(super) type Pairs = Vec<((u32, u32), Pair)>;

/// The key of a pair.
pub(super) const fn pair_key(one: u32, other: u32) -> (u32, u32) {
    if one < other { (one, other) } else { (other, one) }
}

/// Links around a link; of one that is announced twice the first counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Around {
    /// By pairs, and in a pair by senders.
    links: Vec<Link>,
}

impl Around {
    /// These links.
    pub(super) fn of(links: impl Iterator<Item = Link>) -> Self {
        Self::default().with(links)
    }

    /// These links too, unless they are there.
    pub(super) fn with(&self, more: impl Iterator<Item = Link>) -> Self {
        let mut links = Vec::with_capacity(self.links.len() + more.size_hint().0);
        links.extend_from_slice(&self.links);
        links.extend(more);
        // A stable sort leaves the first of equal ones in front.
        links.sort_by_key(Self::key);
        links.dedup_by_key(|link| (link.from, link.to));
        Self { links }
    }

    fn key(link: &Link) -> ((u32, u32), u32) {
        (pair_key(link.from, link.to), link.from)
    }

    /// True if a link is among them.
    pub(super) fn has(&self, link: &Link) -> bool {
        self.links.binary_search_by_key(&Self::key(link), Self::key).is_ok()
    }

    /// The links by senders and next hops: of too many for an announcement the first are said.
    pub(super) fn links(&self) -> Vec<Link> {
        let mut links = self.links.clone();
        links.sort_unstable_by_key(|link| (link.from, link.to));
        links
    }

    /// The pairs of these links, each counted once, or as often as flows pass it.
    pub(super) fn pairs(&self, by_flows: bool) -> Pairs {
        let key = |link: &Link| pair_key(link.from, link.to);
        let pairs = self.links.chunk_by(|one, other| key(one) == key(other)).map(|links| {
            let flows: f64 = links.iter().map(|link| f64::from(link.flows)).sum();
            let pair = Pair {
                used: links.iter().map(|link| f64::from(link.used) / f64::from(u16::MAX)).sum(),
                weight: if by_flows { flows.max(1.0) } else { 1.0 },
                lends: links.iter().all(|link| link.state == State::Lends),
                short: links.iter().any(|link| link.state == State::Short),
            };
            (key(&links[0]), pair)
        });
        pairs.collect()
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
