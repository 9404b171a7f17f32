//! Routes, the sequence numbers that keep them free of loops, and the times at which they are advertised.
//!
//! Along the path to a destination the number never decreases and, among equal numbers, the metric decreases. Therefore
//!
//! - an offer with an older number, or with an equal one and no better metric, changes nothing;
//! - the number of a route that breaks becomes the next odd one, so that no offer with the old number restores it;
//! - a number is never forgotten: a broken route remains in the table, and in the full dumps.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::Ipv4Addr;
use airfair_wire::dsdv::Entry;

use super::config::Config;
use crate::Hop;
use crate::sequence::is_younger;

/// Metric of a destination without a route. A path has fewer hops.
pub const INFINITY: u32 = 250;
/// Largest number of destinations: a node that floods a network with invented addresses does not fill other nodes' memory.
const MAX_ROUTES: usize = 1 << 16;

/// A route to a destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Sequence number: even ones are the destination's own, odd ones mark a broken route.
    pub number: u32,
    /// Hops to the destination; [`INFINITY`] if the route is broken.
    pub hops: u32,
    /// Next hop; of a broken route, the last one.
    pub hop: Hop,
    /// Time from which the route may be advertised.
    pub settled_at: Time,
    /// The news of the route that the next updates have to carry.
    pub(super) pending: Pending,
    /// Metric in the last update; `None` if there was none.
    advertised: Option<u32>,
    /// Weighted average of the time from the first route with a number to the best one.
    average: Span,
    /// Arrival of the first route with this number.
    first_at: Time,
    /// Arrival of the best route with this number.
    best_at: Time,
}

/// The news of a route that updates have to carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pending {
    /// Nothing new.
    Nothing,
    /// News for the next update of either kind.
    Rides,
    /// News that trigger an incremental update.
    Triggers,
}

impl Route {
    /// True if packets may use the route.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.number & 1 == 0
    }

    /// True if the route is in an update at this time: a full dump, or (with news) an incremental one.
    fn is_due(&self, full: bool, now: Time) -> bool {
        self.settled_at <= now && (full || self.pending != Pending::Nothing)
    }

    /// Breaks the route, with the number that reports it.
    fn fail(&mut self, number: u32, now: Time) {
        self.number = number;
        self.hops = INFINITY;
        self.settled_at = now;
        self.pending = Pending::Triggers;
    }
}

/// The routes of a node.
#[derive(Debug, Default)]
pub(super) struct Table {
    routes: BTreeMap<Ipv4Addr, Route>,
    /// Changes whenever a next hop changes.
    pub revision: u64,
    /// Routes lost so far.
    pub lost: u64,
}

impl Table {
    pub(super) fn routes(&self) -> impl Iterator<Item = (Ipv4Addr, &Route)> {
        self.routes.iter().map(|(&to, route)| (to, route))
    }

    /// The valid route to a destination.
    pub(super) fn valid(&self, to: Ipv4Addr) -> Option<&Route> {
        self.routes.get(&to).filter(|route| route.is_valid())
    }

    /// Judges an entry that a neighbour has sent; returns true if it is accepted. A new destination is ignored if the table is full.
    pub(super) fn offer(&mut self, entry: &Entry, hop: Hop, now: Time, config: &Config) -> bool {
        let Entry { destination: to, hops, number } = *entry;
        if number & 1 == 1 {
            return self.offer_broken(to, number, hop, now, config.answer_broken);
        }
        if hops == 0 || hops >= INFINITY {
            return false;
        }
        let Some(route) = self.routes.get_mut(&to) else { return self.insert(entry, hop, now, config) };
        let newer = is_younger(number, route.number);
        if !newer && (number != route.number || hops >= route.hops) {
            return false;
        }
        if newer {
            // The measurement for the old number ends.
            let sample = route.best_at.since(route.first_at);
            route.average = weighted(route.average, sample, config.settling_weight);
            route.first_at = now;
        }
        route.best_at = now;
        let restored = !route.is_valid();
        let same_metric = route.advertised == Some(hops);
        if restored || route.hop != hop {
            self.revision += 1;
        }
        (route.number, route.hops, route.hop) = (number, hops, hop);
        let settles = !restored && (config.settle_all || !same_metric);
        route.settled_at = if settles { now.saturating_add(settling_time(route, config)) } else { now };
        let rides = !config.trigger_on_new_number && !restored && (newer || same_metric);
        route.pending = if rides { Pending::Rides } else { Pending::Triggers };
        true
    }

    fn insert(&mut self, entry: &Entry, hop: Hop, now: Time, config: &Config) -> bool {
        if self.routes.len() >= MAX_ROUTES {
            return false;
        }
        let mut route = Route {
            number: entry.number,
            hops: entry.hops,
            hop,
            settled_at: now,
            pending: Pending::Triggers,
            advertised: None,
            average: Span(config.settling_time.0 / 2),
            first_at: now,
            best_at: now,
        };
        if config.settle_all {
            route.settled_at = now.saturating_add(settling_time(&route, config));
        }
        self.routes.insert(entry.destination, route);
        self.revision += 1;
        true
    }

    /// Only the next hop of a route breaks it: others may have lost a path that this node does not use. A route with a newer number than
    /// the broken one can be news to the neighbour (`answer`).
    fn offer_broken(&mut self, to: Ipv4Addr, number: u32, hop: Hop, now: Time, answer: bool) -> bool {
        let Some(route) = self.routes.get_mut(&to).filter(|route| route.is_valid()) else { return false };
        if !is_younger(number, route.number) {
            if answer {
                (route.settled_at, route.pending) = (route.settled_at.min(now), Pending::Triggers);
            }
            return false;
        }
        if route.hop != hop {
            return false;
        }
        route.fail(number, now);
        self.lost += 1;
        self.revision += 1;
        true
    }

    /// Breaks all routes over a link; returns true if there were any.
    pub(super) fn break_link(&mut self, hop: Hop, now: Time) -> bool {
        let mut broken = 0;
        for route in self.routes.values_mut().filter(|route| route.is_valid() && route.hop == hop) {
            route.fail(route.number.wrapping_add(1), now);
            broken += 1;
        }
        self.lost += broken;
        self.revision += u64::from(broken > 0);
        broken > 0
    }

    /// Number of destinations.
    pub(super) fn len(&self) -> usize {
        self.routes.len()
    }

    /// Number of routes that an incremental update would contain.
    pub(super) fn due(&self, now: Time) -> usize {
        self.routes.values().filter(|route| route.is_due(false, now)).count()
    }

    /// Earliest time at which a route with news to be sent at once is settled.
    pub(super) fn next_trigger(&self) -> Time {
        let triggers = self.routes.values().filter(|route| route.pending == Pending::Triggers);
        triggers.map(|route| route.settled_at).min().unwrap_or(Time::NEVER)
    }

    /// Entries of an update, which settled routes with news (or in a full dump all settled routes) fill, in the order of addresses.
    pub(super) fn advertise(&mut self, full: bool, now: Time) -> Vec<Entry> {
        let due = self.routes.iter_mut().filter(|(_, route)| route.is_due(full, now));
        due.map(|(&destination, route)| {
            route.pending = Pending::Nothing;
            route.advertised = Some(route.hops);
            Entry { destination, hops: (route.hops + 1).min(INFINITY), number: route.number }
        })
        .collect()
    }
}

/// Time for which a route is withheld.
fn settling_time(route: &Route, config: &Config) -> Span {
    if config.weighted_settling { Span(route.average.0.saturating_mul(2)) } else { config.settling_time }
}

fn weighted(average: Span, sample: Span, weight: f64) -> Span {
    Span((weight * average.0 as f64 + (1.0 - weight) * sample.0 as f64) as u64)
}
