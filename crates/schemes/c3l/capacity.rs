//! Re-estimation of the capacities of cliques, at the controller (§III-D, Algorithm 1).
//!
//! A capacity is a part of C_max: 1 at first and at most, 0.05 a step of δ_i. Of the cliques of an overloaded link the one with the largest
//! use of channel time loses δ_r, which doubles until no link of the clique is overloaded.
//!
//! Readings, each a field of [`CapacityConfig`] where there is a choice:
//! - Channel time is O·r/C of a link: its assigned rate, times the transmissions of a packet, by the goodput of a lone link. The printed
//!   r counts retransmissions, so that a link without any would take no time (`repeats = "retransmissions"`); here it counts transmissions
//!   and is at least 1.
//! - A clique with an overloaded link for which another clique was pinpointed stays as it is (the third case of Algorithm 1).
//! - δ_r becomes δ_i where no link is overloaded, as printed, also if the capacity does not grow (it is C_max, or senders do not use it).
//! - The capacity grows only if all senders send at their assigned rate: the text of §III-D demands it, Algorithm 1 as printed does not.
//!   A link of which nothing was heard is not known to.
//! - The floor is ours: δ_r doubles without bound.
//! - Of cliques that use as much, the first of the list is pinpointed.
//! - W_FACTOR multiplies the use of inhibitors only here, to find the clique. `w_in_allocation` lets it count in the allocation too, in
//!   each clique of a link that it inhibits: there an inhibitor takes more of the air than it sends (ours; so is `decrease = "all"`).
//!
//! A clique is its set of links: when others change, it keeps its capacity and δ_r; a new one starts at C_max.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use airfair_optimum::{Cliques, Membership};

use super::topology::Link;
use crate::words;

words! {
    /// Which cliques of an overloaded link lose capacity.
    pub enum Decrease {
        /// The one with the largest use (Algorithm 1).
        Pinpointed = "pinpointed",
        /// All of them (ours).
        All = "all",
    }
}

words! {
    /// The decrease of a clique that several overloaded links pinpoint in one round.
    pub enum Several {
        /// One δ_r: the new capacity is made from the previous one (Algorithm 1).
        Once = "once",
        /// A δ_r for each link.
        Each = "each",
    }
}

words! {
    /// The frames that r counts.
    pub enum Repeats {
        /// Transmissions of a packet, at least 1.
        Transmissions = "transmissions",
        /// Those after the first (Algorithm 1).
        Retransmissions = "retransmissions",
    }
}

/// The parameters of Algorithm 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CapacityConfig {
    /// The capacity of a new clique, part of C_max (§III-D: 1).
    pub first: f64,
    /// The largest capacity, part of C_max (Algorithm 1: 1).
    pub most: f64,
    /// δ_i, part of C_max (§IV: 0.05).
    pub increment: f64,
    /// The smallest capacity, part of C_max.
    pub floor: f64,
    /// W_FACTOR (§IV: 1.7).
    pub w_factor: f64,
    /// True if W_FACTOR counts in the allocation too.
    pub w_in_allocation: bool,
    /// Which cliques lose capacity.
    pub decrease: Decrease,
    /// The frames that r counts.
    pub repeats: Repeats,
    /// How much they lose if several links are overloaded.
    pub several: Several,
    /// Part of its share that each sender has to use before the capacity grows; 0: it grows in any case, as printed.
    pub used: f64,
}

impl Default for CapacityConfig {
    fn default() -> Self {
        Self {
            first: 1.0,
            most: 1.0,
            increment: 0.05,
            floor: 0.05,
            w_factor: 1.7,
            w_in_allocation: false,
            decrease: Decrease::Pinpointed,
            repeats: Repeats::Transmissions,
            several: Several::Once,
            used: 0.9,
        }
    }
}

impl CapacityConfig {
    /// How much the use of a link counts in the allocation of a clique, given the links of the clique: 1, or W_FACTOR if it inhibits one of
    /// them and `w_in_allocation` is set. `hidden(inhibited, inhibitor)`: [`super::topology::Topology::hidden`].
    pub fn weight(&self, link: u32, clique: &[u32], mut hidden: impl FnMut(u32, u32) -> bool) -> f64 {
        let inhibits =
            self.w_in_allocation && clique.iter().any(|&other| other != link && hidden(other, link));
        if inhibits { self.w_factor } else { 1.0 }
    }
}

/// A link in the round that has ended.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LinkRound {
    /// The rate that it was assigned, bit/s: O.
    pub assigned: f64,
    /// The rate at which its sender sent, bit/s.
    pub used: f64,
    /// Mean transmissions of a packet, at least 1: r, or r + 1.
    pub transmissions: f64,
    /// Seconds per bit: 1 by the goodput of the link alone.
    pub cost: f64,
    /// True if its queue was built up.
    pub overloaded: bool,
    /// True if its sender's report has arrived.
    pub heard: bool,
    /// Channel time that acknowledgements were assigned, seconds per second.
    pub answers: f64,
    /// True if it had no limit a while ago: the capacities of its cliques stay as they are.
    pub settling: bool,
}

impl LinkRound {
    /// Channel time that the link takes, seconds per second.
    #[must_use]
    pub fn airtime(&self, repeats: Repeats) -> f64 {
        let usable = |number: f64| if number > 0.0 { number.min(1e60) } else { 0.0 };
        let transmissions = usable(self.transmissions).max(1.0);
        let r = if repeats == Repeats::Transmissions { transmissions } else { transmissions - 1.0 };
        usable(self.assigned) * r * usable(self.cost) + usable(self.answers)
    }
}

/// The estimate of a clique.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Cap, part of C_max.
    pub capacity: f64,
    /// δ_r, part of C_max.
    pub decrement: f64,
}

/// An overloaded link and the clique that was found to be the reason.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pinpointed {
    /// The link.
    pub link: u32,
    /// The clique.
    pub clique: u32,
    /// The clique's use of channel time as the link perceives it, seconds per second.
    pub usage: f64,
}

/// The estimated capacities of all cliques.
#[derive(Debug, Clone)]
pub struct Capacities {
    config: CapacityConfig,
    /// The links of each clique, ascending.
    cliques: Vec<Vec<Link>>,
    capacities: Vec<f64>,
    decrements: Vec<f64>,
    pinpointed: Vec<Pinpointed>,
    /// Overloaded links that pinpointed each clique in this round.
    hits: Vec<u32>,
}

impl Capacities {
    /// No cliques yet.
    #[must_use]
    pub const fn new(config: CapacityConfig) -> Self {
        Self {
            config,
            cliques: Vec::new(),
            capacities: Vec::new(),
            decrements: Vec::new(),
            pinpointed: Vec::new(),
            hits: Vec::new(),
        }
    }

    /// The cliques have changed. Those that were there before keep their estimates.
    pub fn set_cliques(&mut self, cliques: &Cliques, link: impl Fn(u32) -> Link) {
        let estimates = self.capacities.iter().zip(&self.decrements);
        let known: BTreeMap<Vec<Link>, Estimate> = core::mem::take(&mut self.cliques)
            .into_iter()
            .zip(estimates.map(|(&capacity, &decrement)| Estimate { capacity, decrement }))
            .collect();
        self.capacities.clear();
        self.decrements.clear();
        for members in cliques.iter() {
            let mut links: Vec<Link> = members.iter().map(|&member| link(member)).collect();
            links.sort_unstable();
            let new = Estimate {
                capacity: self.config.first.min(self.config.most),
                decrement: self.config.increment,
            };
            let Estimate { capacity, decrement } = known.get(&links).copied().unwrap_or(new);
            self.cliques.push(links);
            self.capacities.push(capacity);
            self.decrements.push(decrement);
        }
    }

    /// The capacity of each clique, part of C_max: for [`super::allocation::Allocator::solve`].
    #[must_use]
    pub fn capacities(&self) -> &[f64] {
        &self.capacities
    }

    /// The estimate of a clique.
    #[must_use]
    pub fn estimate(&self, clique: u32) -> Option<Estimate> {
        let at = clique as usize;
        Some(Estimate { capacity: *self.capacities.get(at)?, decrement: *self.decrements.get(at)? })
    }

    /// The overloaded links of the last round, in the order of their numbers, with the cliques that were pinpointed.
    #[must_use]
    pub fn pinpointed(&self) -> &[Pinpointed] {
        &self.pinpointed
    }

    /// Estimate_Channel_Usage: the channel time of a clique as the sender of a link perceives it.
    pub fn usage(
        &self,
        clique: &[u32],
        link: u32,
        links: &[LinkRound],
        mut hidden: impl FnMut(u32, u32) -> bool,
    ) -> f64 {
        let mut usage = 0.0;
        for &other in clique {
            let airtime = links.get(other as usize).map_or(0.0, |round| round.airtime(self.config.repeats));
            if airtime > 0.0 {
                usage += if hidden(link, other) { airtime * self.config.w_factor } else { airtime };
            }
        }
        usage
    }

    /// A round of Algorithm 1. `cliques`: those that were [set](Self::set_cliques), `links` by number, `hidden(inhibited, inhibitor)`.
    ///
    /// An overloaded link costs a look at all members of its cliques. When `most` have been looked at, the overloaded links that are left
    /// pinpoint no clique. Returns how many were looked at.
    pub fn reestimate(
        &mut self,
        cliques: &Cliques,
        membership: &Membership,
        links: &[LinkRound],
        mut hidden: impl FnMut(u32, u32) -> bool,
        most: u64,
    ) -> u64 {
        let mut looked_at = 0;
        let members: Vec<&[u32]> = cliques.iter().take(self.capacities.len()).collect();
        self.hits.clear();
        self.hits.resize(members.len(), 0);
        self.pinpointed.clear();
        for (link, _) in (0..).zip(links).filter(|(_, round)| round.overloaded) {
            if looked_at >= most {
                break;
            }
            let mut busiest: Option<Pinpointed> = None;
            for &clique in membership.of(link) {
                let Some(clique_links) = members.get(clique as usize) else { continue };
                looked_at += clique_links.len() as u64;
                let usage = self.usage(clique_links, link, links, &mut hidden);
                if self.config.decrease == Decrease::All {
                    self.hits[clique as usize] += 1;
                }
                if busiest.is_none_or(|busiest| usage > busiest.usage) {
                    busiest = Some(Pinpointed { link, clique, usage });
                }
            }
            if let Some(busiest) = busiest {
                if self.config.decrease == Decrease::Pinpointed {
                    self.hits[busiest.clique as usize] += 1;
                }
                self.pinpointed.push(busiest);
            }
        }
        for (at, members) in members.iter().enumerate() {
            let rounds = || members.iter().filter_map(|&link| links.get(link as usize));
            let (capacity, decrement) = (&mut self.capacities[at], &mut self.decrements[at]);
            if rounds().any(|round| round.settling) {
                *decrement = self.config.increment;
            } else if !rounds().any(|round| round.overloaded) {
                if self.config.grows(rounds()) {
                    *capacity = (*capacity + self.config.increment).min(self.config.most);
                }
                *decrement = self.config.increment;
            } else if self.hits[at] > 0 {
                let times = if self.config.several == Several::Once { 1 } else { self.hits[at] };
                *capacity = (*capacity - f64::from(times) * *decrement).max(self.config.floor);
                // More than all of the capacity is never taken.
                *decrement = (*decrement * 2.0).min(1.0);
            }
        }
        looked_at
    }
}

impl CapacityConfig {
    /// Do all senders of a clique without overloaded links send at their assigned rate?
    fn grows<'r>(&self, links: impl Iterator<Item = &'r LinkRound>) -> bool {
        if self.used <= 0.0 {
            return true;
        }
        let mut senders = links.filter(|round| round.assigned > 0.0).peekable();
        senders.peek().is_some()
            && senders.all(|round| round.heard && round.used >= self.used * round.assigned)
    }
}
