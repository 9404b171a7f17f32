//! Routes, the sequence numbers that keep them free of loops, and the times at which they are advertised.
//!
//! Along the path to a destination the number never decreases and, among equal numbers, the metric decreases. Therefore
//!
//! - an offer with an older number, or with an equal one and no better metric, changes nothing;
//! - the number of a route that breaks becomes the next odd one, so that no offer with the old number restores it;
//! - a number is never forgotten in a table of up to [`REMEMBERED`] destinations: a broken route remains in the table, and in the full
//!   dumps. In a longer one a route without a new number for `forget_periods` breaks, as everywhere in the network at about that time,
//!   and is forgotten when as much time has passed again: so what a liar has invented does not stay, and nothing is taken back that
//!   leads through the node itself.
//!
//! Routes with news are in two more orders, by the time at which they may be sent, and all routes by the time of their last number: what a
//! message costs does not depend on the length of the table.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::Ipv4Addr;
use airfair_wire::dsdv::Entry;

use super::config::Config;
use crate::Hop;
use crate::sequence::is_younger;

/// Metric of a destination without a route. A path has fewer hops.
pub const INFINITY: u32 = 250;
/// Number of destinations up to which none is forgotten.
pub const REMEMBERED: usize = 1024;

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
    /// Time of the last new number, which may report that the route is broken.
    renewed: Time,
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
}

/// The routes of a node.
#[derive(Debug, Default)]
pub(super) struct Table {
    routes: BTreeMap<Ipv4Addr, Route>,
    /// Routes with news, by the time at which these may be sent: those that trigger an update, and those that ride.
    triggers: BTreeSet<(Time, Ipv4Addr)>,
    rides: BTreeSet<(Time, Ipv4Addr)>,
    /// All routes by the time of their last new number.
    ages: BTreeSet<(Time, Ipv4Addr)>,
    /// Changes whenever a next hop changes.
    pub revision: u64,
    /// Routes lost so far.
    pub lost: u64,
    /// Destinations whose next hops the last hook has changed.
    pub moved: Vec<Ipv4Addr>,
    /// Entries looked at.
    pub work: u64,
}

impl Table {
    pub(super) fn routes(&self) -> impl Iterator<Item = (Ipv4Addr, &Route)> {
        self.routes.iter().map(|(&to, route)| (to, route))
    }

    /// The valid route to a destination.
    pub(super) fn valid(&self, to: Ipv4Addr) -> Option<&Route> {
        self.routes.get(&to).filter(|route| route.is_valid())
    }

    /// Changes the route to a destination, and its places in the orders; nothing if there is none.
    fn change<R>(&mut self, to: Ipv4Addr, change: impl FnOnce(&mut Route) -> R) -> Option<R> {
        let route = self.routes.get_mut(&to)?;
        let places = |route: &Route| (route.pending, route.settled_at, route.renewed);
        let before = places(route);
        let result = change(route);
        let after = places(route);
        if before != after {
            self.unlist(to, before);
            self.list(to, after);
        }
        Some(result)
    }

    fn list(&mut self, to: Ipv4Addr, (pending, settled_at, renewed): (Pending, Time, Time)) {
        self.ages.insert((renewed, to));
        match pending {
            Pending::Nothing => false,
            Pending::Rides => self.rides.insert((settled_at, to)),
            Pending::Triggers => self.triggers.insert((settled_at, to)),
        };
    }

    fn unlist(&mut self, to: Ipv4Addr, (pending, settled_at, renewed): (Pending, Time, Time)) {
        self.ages.remove(&(renewed, to));
        match pending {
            Pending::Nothing => false,
            Pending::Rides => self.rides.remove(&(settled_at, to)),
            Pending::Triggers => self.triggers.remove(&(settled_at, to)),
        };
    }

    /// Notes that the next hop to a destination has changed.
    fn note_moved(&mut self, to: Ipv4Addr) {
        self.revision += 1;
        self.moved.push(to);
    }

    /// Judges an entry that a neighbour has sent; returns true if it is accepted. A new destination is ignored if the table is full.
    pub(super) fn offer(&mut self, entry: &Entry, hop: Hop, now: Time, config: &Config) -> bool {
        let Entry { destination: to, hops, number } = *entry;
        self.work += 1;
        if number & 1 == 1 {
            return self.offer_broken(to, number, hop, now, config.answer_broken);
        }
        if hops == 0 || hops >= INFINITY {
            return false;
        }
        let Some(route) = self.routes.get(&to) else { return self.insert(entry, hop, now, config) };
        let newer = is_younger(number, route.number);
        if !newer && (number != route.number || hops >= route.hops) {
            return false;
        }
        let restored = !route.is_valid();
        if restored || route.hop != hop {
            self.note_moved(to);
        }
        self.change(to, |route| {
            if newer {
                // The measurement for the old number ends.
                let sample = route.best_at.since(route.first_at);
                route.average = weighted(route.average, sample, config.settling_weight);
                (route.first_at, route.renewed) = (now, now);
            }
            route.best_at = now;
            let same_metric = route.advertised == Some(hops);
            (route.number, route.hops, route.hop) = (number, hops, hop);
            let settles = !restored && (config.settle_all || !same_metric);
            route.settled_at = if settles { now.saturating_add(settling_time(route, config)) } else { now };
            let rides = !config.trigger_on_new_number && !restored && (newer || same_metric);
            route.pending = if rides { Pending::Rides } else { Pending::Triggers };
        });
        true
    }

    fn insert(&mut self, entry: &Entry, hop: Hop, now: Time, config: &Config) -> bool {
        if self.routes.len() >= config.table_limit as usize {
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
            renewed: now,
        };
        if config.settle_all {
            route.settled_at = now.saturating_add(settling_time(&route, config));
        }
        self.list(entry.destination, (route.pending, route.settled_at, route.renewed));
        self.routes.insert(entry.destination, route);
        self.note_moved(entry.destination);
        true
    }

    /// Only the next hop of a route breaks it: others may have lost a path that this node does not use. A route with a newer number than
    /// the broken one can be news to the neighbour (`answer`).
    fn offer_broken(&mut self, to: Ipv4Addr, number: u32, hop: Hop, now: Time, answer: bool) -> bool {
        let Some(route) = self.valid(to) else { return false };
        if !is_younger(number, route.number) {
            if answer {
                self.change(to, |route| {
                    (route.settled_at, route.pending) = (route.settled_at.min(now), Pending::Triggers);
                });
            }
            return false;
        }
        if route.hop != hop {
            return false;
        }
        self.fail(to, Some(number), now);
        true
    }

    /// Breaks a valid route, with the number that reports it, or the next one.
    fn fail(&mut self, to: Ipv4Addr, number: Option<u32>, now: Time) {
        self.change(to, |route| {
            route.number = number.unwrap_or(route.number.wrapping_add(1));
            route.hops = INFINITY;
            (route.settled_at, route.renewed) = (now, now);
            route.pending = Pending::Triggers;
        });
        self.lost += 1;
        self.note_moved(to);
    }

    /// Breaks all routes over links; returns over how many of these there were any.
    pub(super) fn break_links(&mut self, hops: &BTreeSet<Hop>, now: Time) -> u64 {
        self.work += self.routes.len() as u64;
        let broken = self.routes.iter().filter(|(_, route)| route.is_valid() && hops.contains(&route.hop));
        let broken: Vec<(Ipv4Addr, Hop)> = broken.map(|(&to, route)| (to, route.hop)).collect();
        broken.iter().for_each(|&(to, _)| self.fail(to, None, now));
        broken.iter().map(|&(_, hop)| hop).collect::<BTreeSet<_>>().len() as u64
    }

    /// In a long table, breaks routes that have had no new number for this time, and forgets those that were broken before.
    pub(super) fn forget(&mut self, time: Span, now: Time) {
        while self.routes.len() > REMEMBERED
            && let Some(&(renewed, to)) = self.ages.first()
        {
            if renewed.saturating_add(time) > now {
                break;
            }
            self.work += 1;
            if self.valid(to).is_some() {
                self.fail(to, None, now);
            } else if let Some(route) = self.routes.remove(&to) {
                self.unlist(to, (route.pending, route.settled_at, route.renewed));
            }
        }
    }

    /// Number of destinations.
    pub(super) fn len(&self) -> usize {
        self.routes.len()
    }

    /// Routes with news that are settled, in no order.
    fn news(&self, now: Time) -> impl Iterator<Item = Ipv4Addr> {
        let settled = |order: &BTreeSet<(Time, Ipv4Addr)>| {
            order.range(..=(now, Ipv4Addr::from([u8::MAX; 4]))).map(|&(_, to)| to).collect::<Vec<_>>()
        };
        settled(&self.triggers).into_iter().chain(settled(&self.rides))
    }

    /// Number of routes that an incremental update would contain.
    pub(super) fn due(&mut self, now: Time) -> usize {
        let count = self.news(now).count();
        self.work += count as u64;
        count
    }

    /// Earliest time at which a route with news to be sent at once is settled.
    pub(super) fn next_trigger(&self) -> Time {
        self.triggers.first().map_or(Time::NEVER, |&(at, _)| at)
    }

    /// Entries of an update, which settled routes with news (or in a full dump all settled routes) fill, in the order of addresses.
    pub(super) fn advertise(&mut self, full: bool, now: Time) -> Vec<Entry> {
        let due: Vec<Ipv4Addr> = if full {
            let settled = self.routes.iter().filter(|(_, route)| route.settled_at <= now);
            settled.map(|(&to, _)| to).collect()
        } else {
            let mut news: Vec<Ipv4Addr> = self.news(now).collect();
            news.sort_unstable();
            news
        };
        self.work += if full { self.routes.len() } else { due.len() } as u64;
        let entry = |destination| {
            self.change(destination, |route| {
                route.pending = Pending::Nothing;
                route.advertised = Some(route.hops);
                Entry { destination, hops: (route.hops + 1).min(INFINITY), number: route.number }
            })
        };
        due.into_iter().filter_map(entry).collect()
    }
}

/// Time for which a route is withheld.
fn settling_time(route: &Route, config: &Config) -> Span {
    if config.weighted_settling { Span(route.average.0.saturating_mul(2)) } else { config.settling_time }
}

fn weighted(average: Span, sample: Span, weight: f64) -> Span {
    Span((weight * average.0 as f64 + (1.0 - weight) * sample.0 as f64) as u64)
}
