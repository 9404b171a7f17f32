//! Routes, and the sequence numbers that keep them free of loops [RFC 3561 sections 6.1 and 6.2].
//!
//! Nobody tells a route that its time is over: whoever touches it finds out, as if it had been told at that moment. What keeps routes free
//! of loops: along the way to a destination neither the number falls nor, among equal numbers, the hops rise. So
//!
//! - a number never falls, is never forgotten while the entry lives, and rises by one whenever a valid route ends, for whatever reason;
//! - what is offered with an older number, or without one where one is known, changes nothing;
//! - a route lives on only by what goes to its next hop or comes from there, so that the next hop lives on with it, or remembers.

use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::Ipv4Addr;

use crate::Hop;

/// Most entries: who floods a network with made-up addresses does not fill a node's memory.
const MOST_ROUTES: usize = 1 << 16;
/// Entries from which on those whose time is over are looked for.
const FIRST_SWEEP: usize = 64;

/// What is known of the way to a destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The destination's number; none has been heard if `None`.
    pub number: Option<u32>,
    /// Hops to the destination; of a route that has ended, the last that were known.
    pub hops: u8,
    /// The next one.
    pub hop: Hop,
    /// Packets may take it.
    pub valid: bool,
    /// It is valid, or remembered, until then.
    pub until: Time,
    /// Neighbours that were told of it, sorted.
    precursors: Vec<Hop>,
}

impl Route {
    /// Neighbours that may be using it.
    #[must_use]
    pub fn precursors(&self) -> &[Hop] {
        &self.precursors
    }

    /// A neighbour is told of it.
    pub(super) fn add_precursor(&mut self, hop: Hop) {
        if let Err(at) = self.precursors.binary_search(&hop) {
            self.precursors.insert(at, hop);
        }
    }

    /// It ends at `at`. `number` is what a route error tells.
    fn end(&mut self, number: Option<u32>, at: Time, memory: Span) {
        self.number = number.or_else(|| self.number.map(|n| n.wrapping_add(1)));
        self.valid = false;
        self.until = at.saturating_add(memory);
    }
}

/// Whether a sequence number is younger than another, the circle of 2^32 closed.
#[must_use]
pub const fn is_younger(number: u32, than: u32) -> bool {
    (number.wrapping_sub(than) as i32) > 0
}

/// What a message says of the way to a destination.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offer {
    pub number: Option<u32>,
    /// From this node.
    pub hops: u8,
    pub hop: Hop,
    pub until: Time,
}

/// The routes of a node.
#[derive(Debug)]
pub(super) struct Table {
    memory: Span,
    routes: BTreeMap<Ipv4Addr, Route>,
    sweep_at: usize,
}

impl Table {
    pub(super) fn new(memory: Span) -> Self {
        Self { memory, routes: BTreeMap::new(), sweep_at: FIRST_SWEEP }
    }

    /// A route that packets may take now.
    pub(super) fn valid(&self, to: Ipv4Addr, now: Time) -> Option<&Route> {
        self.routes.get(&to).filter(|route| route.valid && route.until > now)
    }

    /// What is known of a destination, by now.
    pub(super) fn known(&mut self, to: Ipv4Addr, now: Time) -> Option<&mut Route> {
        match self.routes.entry(to) {
            Entry::Vacant(_) => None,
            Entry::Occupied(entry) => settle(entry, self.memory, now).map(|entry| entry.into_mut()),
        }
    }

    /// All that is known by now.
    pub(super) fn settled(&mut self, now: Time) -> &BTreeMap<Ipv4Addr, Route> {
        self.sweep(now);
        &self.routes
    }

    fn sweep(&mut self, now: Time) {
        let all: Vec<Ipv4Addr> = self.routes.keys().copied().collect();
        all.into_iter().for_each(|to| {
            self.known(to, now);
        });
    }

    /// Takes an offer if it is better than what is known [RFC 3561 section 6.2]. Whether it was taken.
    ///
    /// Without a number it can only be the way to a neighbour, which is worth nothing where a number is known.
    pub(super) fn offer(&mut self, to: Ipv4Addr, offer: &Offer, now: Time) -> bool {
        let Some(route) = self.known(to, now) else { return self.insert(to, offer, now) };
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

    fn insert(&mut self, to: Ipv4Addr, offer: &Offer, now: Time) -> bool {
        if self.routes.len() >= self.sweep_at {
            self.sweep(now);
            self.sweep_at = (2 * self.routes.len()).max(FIRST_SWEEP);
        }
        if self.routes.len() >= MOST_ROUTES {
            return false;
        }
        let Offer { number, hops, hop, until } = *offer;
        self.routes.insert(to, Route { number, hops, hop, valid: true, until, precursors: Vec::new() });
        true
    }

    /// A route by this neighbour lasts until then at least. A route by another one is not prolonged, since its next hop would not
    /// know of it and might forget the number that it gave; one that has ended is remembered anew, since others may rely on it.
    pub(super) fn prolong(&mut self, to: Ipv4Addr, by: Hop, until: Time, now: Time) {
        let memory = self.memory;
        let Some(route) = self.known(to, now) else { return };
        if !route.valid {
            route.until = route.until.max(now.saturating_add(memory));
        } else if route.hop == by {
            route.until = route.until.max(until);
        }
    }

    /// A route ends, with the number that a route error tells or the next one. Returns it as it is then, with its precursors, which it has
    /// no longer.
    pub(super) fn end(&mut self, to: Ipv4Addr, number: Option<u32>, now: Time) -> Option<(Route, Vec<Hop>)> {
        let memory = self.memory;
        let route = self.known(to, now).filter(|route| route.valid)?;
        route.end(number, now, memory);
        let precursors = core::mem::take(&mut route.precursors);
        Some((route.clone(), precursors))
    }

    /// A route ends that is to be repaired: its users are still to be told, if that fails.
    pub(super) fn end_for_repair(&mut self, to: Ipv4Addr, now: Time) {
        let memory = self.memory;
        if let Some(route) = self.known(to, now).filter(|route| route.valid) {
            route.end(None, now, memory);
        }
    }

    /// Until when a route is valid; [`Time::ZERO`] if it is not.
    pub(super) fn valid_until(&self, to: Ipv4Addr, now: Time) -> Time {
        self.valid(to, now).map_or(Time::ZERO, |route| route.until)
    }

    /// Destinations whose valid routes lead over a neighbour by an interface.
    pub(super) fn over(&mut self, hop: Hop, now: Time) -> Vec<Ipv4Addr> {
        let valid = |route: &Route| route.valid && route.until > now && route.hop == hop;
        self.routes.iter().filter(|(_, route)| valid(route)).map(|(&to, _)| to).collect()
    }
}

type Occupied<'a> = alloc::collections::btree_map::OccupiedEntry<'a, Ipv4Addr, Route>;

/// Lets what time has done to an entry happen; `None` if it is forgotten.
fn settle(mut entry: Occupied<'_>, memory: Span, now: Time) -> Option<Occupied<'_>> {
    let route = entry.get_mut();
    if route.valid && route.until <= now {
        route.end(None, route.until, memory);
    }
    if !route.valid && route.until <= now {
        entry.remove();
        return None;
    }
    Some(entry)
}
