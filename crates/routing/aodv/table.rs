//! Routes, and the sequence numbers that keep them free of loops [RFC 3561 sections 6.1 and 6.2].
//!
//! Expiry needs no timer: each access first applies the expiry that was due. Routes are free of loops because along the path to a
//! destination the number never decreases and, among equal numbers, the hop count decreases. Therefore
//!
//! - a number never decreases, is kept as long as the entry, and is incremented whenever a valid route becomes invalid for any reason;
//! - an offer with an older number, or without one where one is known, changes nothing;
//! - a route is prolonged only by packets to or from its next hop, so that the next hop's route is prolonged too, or its number remembered.

use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::Ipv4Addr;

use crate::Adjacency;
use crate::sequence::is_younger;

/// Largest number of entries: a node that floods a network with invented addresses does not fill other nodes' memory.
const MAX_ROUTES: usize = 1 << 14;
/// Largest number of precursors of a route: reports to more than one go to all neighbours anyway.
const MAX_PRECURSORS: usize = 64;
/// Number of entries at which an insertion first removes expired ones; later at twice the number that remained.
const FIRST_SWEEP: usize = 64;

/// A route to a destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Sequence number of the destination; `None` if unknown.
    pub number: Option<u32>,
    /// Hops to the destination; of an invalid route, the last known number.
    pub hops: u8,
    /// Next hop of the route.
    pub hop: Adjacency,
    /// True if packets may use it.
    pub valid: bool,
    /// End of its validity; of an invalid route, the time of its deletion.
    pub until: Time,
    /// Neighbours to which this node has reported the route, sorted.
    precursors: Vec<Adjacency>,
}

impl Route {
    /// Neighbours that may be using the route.
    #[must_use]
    pub fn precursors(&self) -> &[Adjacency] {
        &self.precursors
    }

    /// Adds a neighbour to which this node has reported the route.
    pub(super) fn add_precursor(&mut self, hop: Adjacency) {
        if let Err(at) = self.precursors.binary_search(&hop)
            && self.precursors.len() < MAX_PRECURSORS
        {
            self.precursors.insert(at, hop);
        }
    }

    /// Invalidates the route at time `at`. `number`: from a route error; `None`: the next number.
    fn end(&mut self, number: Option<u32>, at: Time, delete_period: Span) {
        self.number = number.or_else(|| self.number.map(|n| n.wrapping_add(1)));
        self.valid = false;
        self.until = at.saturating_add(delete_period);
    }
}

/// A route to a destination as a message offers it.
#[derive(Debug, Clone, Copy)]
pub(super) struct RouteOffer {
    pub number: Option<u32>,
    /// Hops from this node.
    pub hops: u8,
    pub hop: Adjacency,
    pub until: Time,
}

/// The routes of a node.
#[derive(Debug)]
pub(super) struct Table {
    delete_period: Span,
    routes: BTreeMap<Ipv4Addr, Route>,
    sweep_at: usize,
    /// Earliest time of the next removal of expired entries from a full table.
    next_sweep: Time,
    /// Entries looked at.
    pub work: u64,
}

impl Table {
    pub(super) fn new(delete_period: Span) -> Self {
        Self {
            delete_period,
            routes: BTreeMap::new(),
            sweep_at: FIRST_SWEEP,
            next_sweep: Time::ZERO,
            work: 0,
        }
    }

    /// The valid route to a destination.
    pub(super) fn valid(&self, to: Ipv4Addr, now: Time) -> Option<&Route> {
        self.routes.get(&to).filter(|route| route.valid && route.until > now)
    }

    /// The route to a destination, valid or not.
    pub(super) fn find(&mut self, to: Ipv4Addr, now: Time) -> Option<&mut Route> {
        self.work += 1;
        match self.routes.entry(to) {
            Entry::Vacant(_) => None,
            Entry::Occupied(entry) => {
                apply_expiry(entry, self.delete_period, now).map(|entry| entry.into_mut())
            }
        }
    }

    /// All routes, after expiry.
    pub(super) fn current(&mut self, now: Time) -> &BTreeMap<Ipv4Addr, Route> {
        self.sweep(now);
        &self.routes
    }

    fn sweep(&mut self, now: Time) {
        let all: Vec<Ipv4Addr> = self.routes.keys().copied().collect();
        all.into_iter().for_each(|to| {
            self.find(to, now);
        });
    }

    /// Accepts an offer if it is better than the present route [RFC 3561 section 6.2]; returns true if accepted. A new entry is refused if
    /// the table is full.
    ///
    /// An offer without a number is a route to a neighbour; it never replaces a route with a number.
    pub(super) fn offer(&mut self, to: Ipv4Addr, offer: &RouteOffer, now: Time) -> bool {
        let Some(route) = self.find(to, now) else { return self.insert(to, offer, now) };
        let better = match (offer.number, route.number) {
            (Some(new), Some(old)) => {
                is_younger(new, old) || new == old && (!route.valid || offer.hops < route.hops)
            }
            (Some(_), None) => true,
            (None, None) => !route.valid || offer.hop == route.hop,
            (None, Some(_)) => false,
        };
        if better {
            route.number = offer.number;
            route.hops = offer.hops;
            route.hop = offer.hop;
            route.until = offer.until;
            route.valid = true;
        }
        better
    }

    fn insert(&mut self, to: Ipv4Addr, offer: &RouteOffer, now: Time) -> bool {
        let full = self.routes.len() >= MAX_ROUTES && self.next_sweep <= now;
        if self.routes.len() >= self.sweep_at || full {
            self.sweep(now);
            self.sweep_at = (2 * self.routes.len()).max(FIRST_SWEEP);
            self.next_sweep = now.saturating_add(Span(self.delete_period.0 / 4));
        }
        if self.routes.len() >= MAX_ROUTES {
            return false;
        }
        let RouteOffer { number, hops, hop, until } = *offer;
        self.routes.insert(to, Route { number, hops, hop, valid: true, until, precursors: Vec::new() });
        true
    }

    /// Extends a valid route whose next hop is `by` to at least `until`. A route by another next hop is not extended: that next hop might
    /// have forgotten the number. An invalid entry is kept for another `delete_period`, since other nodes may rely on its number.
    pub(super) fn prolong(&mut self, to: Ipv4Addr, by: Adjacency, until: Time, now: Time) {
        let delete_period = self.delete_period;
        let Some(route) = self.find(to, now) else { return };
        if !route.valid {
            route.until = route.until.max(now.saturating_add(delete_period));
        } else if route.hop == by {
            route.until = route.until.max(until);
        }
    }

    /// Invalidates a route, with the number in a route error or the next one. Returns it with its precursors, which are removed from it.
    pub(super) fn end(
        &mut self,
        to: Ipv4Addr,
        number: Option<u32>,
        now: Time,
    ) -> Option<(Route, Vec<Adjacency>)> {
        let delete_period = self.delete_period;
        let route = self.find(to, now).filter(|route| route.valid)?;
        route.end(number, now, delete_period);
        let precursors = core::mem::take(&mut route.precursors);
        Some((route.clone(), precursors))
    }

    /// Invalidates a route to be repaired: its users are notified only if the repair fails.
    pub(super) fn end_for_repair(&mut self, to: Ipv4Addr, now: Time) {
        let delete_period = self.delete_period;
        if let Some(route) = self.find(to, now).filter(|route| route.valid) {
            route.end(None, now, delete_period);
        }
    }

    /// End of a route's validity; [`Time::ZERO`] if it is invalid.
    pub(super) fn valid_until(&self, to: Ipv4Addr, now: Time) -> Time {
        self.valid(to, now).map_or(Time::ZERO, |route| route.until)
    }

    /// Destinations whose valid routes use these neighbours, by neighbour and interface.
    pub(super) fn destinations_via(
        &mut self,
        hops: &[Adjacency],
        now: Time,
    ) -> BTreeMap<Adjacency, Vec<Ipv4Addr>> {
        self.work += self.routes.len() as u64;
        let mut found: BTreeMap<Adjacency, Vec<Ipv4Addr>> =
            hops.iter().map(|&hop| (hop, Vec::new())).collect();
        for (&to, route) in self.routes.iter().filter(|(_, route)| route.valid && route.until > now) {
            if let Some(list) = found.get_mut(&route.hop) {
                list.push(to);
            }
        }
        found
    }
}

type Occupied<'a> = alloc::collections::btree_map::OccupiedEntry<'a, Ipv4Addr, Route>;

/// Applies expiry to an entry; `None` if it is removed.
fn apply_expiry(mut entry: Occupied<'_>, delete_period: Span, now: Time) -> Option<Occupied<'_>> {
    let route = entry.get_mut();
    if route.valid && route.until <= now {
        route.end(None, route.until, delete_period);
    }
    if !route.valid && route.until <= now {
        entry.remove();
        return None;
    }
    Some(entry)
}
