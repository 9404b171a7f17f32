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
//! Routes with news are listed once more by the time at which they settle: what a message costs does not depend on the length of the table.
//! Of thousands of nodes no table is in a cache of the processor when a message arrives. Therefore those that need not wait, which the
//! next update takes away, are in a short list of their own, apart from the many that settle in seconds; and only a full dump, which costs
//! the table anyway, searches for routes that nobody has renewed.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::Ipv4Addr;
use airfair_wire::dsdv::Entry;

use super::config::DsdvConfig;
use crate::Adjacency;
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
    pub hop: Adjacency,
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
    /// The list of news that the route is in.
    listed: Option<Listed>,
}

/// A list of news that a route is in, by kind of the news and whether they need not wait, and its place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Listed {
    list: usize,
    at: Time,
}

/// News that triggers an update, at once or later, and news that rides.
const LISTS: usize = 4;
const TRIGGERS: [usize; 2] = [0, 1];

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

    /// The list of news that the route belongs to.
    fn place(&self, now: Time) -> Option<Listed> {
        let first = match self.pending {
            Pending::Nothing => return None,
            Pending::Triggers => 0,
            Pending::Rides => 2,
        };
        Some(Listed { list: first + usize::from(self.settled_at > now), at: self.settled_at })
    }
}

/// The routes of a node.
#[derive(Debug, Default)]
pub(super) struct Table {
    routes: BTreeMap<Ipv4Addr, Route>,
    /// Routes with news, by the time at which these may be sent.
    lists: [BTreeSet<(Time, Ipv4Addr)>; LISTS],
    /// Changes whenever a next hop changes.
    pub revision: u64,
    /// Routes lost so far.
    pub lost: u64,
    /// Destinations whose next hops the last hook has changed.
    pub moved: Vec<Ipv4Addr>,
    /// Destinations that found no room, each time that one did.
    pub refused: u64,
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

    /// Changes the route to a destination, and its place in the lists; nothing if there is none.
    fn change<R>(&mut self, to: Ipv4Addr, now: Time, change: impl FnOnce(&mut Route) -> R) -> Option<R> {
        let Self { routes, lists, .. } = self;
        let route = routes.get_mut(&to)?;
        let result = change(route);
        let place = route.place(now);
        let before = core::mem::replace(&mut route.listed, place);
        if before != place {
            before.map(|Listed { list, at }| lists[list].remove(&(at, to)));
            place.map(|Listed { list, at }| lists[list].insert((at, to)));
        }
        Some(result)
    }

    /// Notes that the next hop to a destination has changed.
    fn note_moved(&mut self, to: Ipv4Addr) {
        self.revision += 1;
        self.moved.push(to);
    }

    /// Judges an entry that a neighbour has sent; returns true if it is accepted. A new destination is ignored if the table is full.
    pub(super) fn offer(&mut self, entry: &Entry, hop: Adjacency, now: Time, config: &DsdvConfig) -> bool {
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
        self.change(to, now, |route| {
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

    fn insert(&mut self, entry: &Entry, hop: Adjacency, now: Time, config: &DsdvConfig) -> bool {
        if self.routes.len() >= config.table_limit as usize {
            self.refused += 1;
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
            listed: None,
        };
        if config.settle_all {
            route.settled_at = now.saturating_add(settling_time(&route, config));
        }
        self.routes.insert(entry.destination, route);
        self.change(entry.destination, now, |_| ());
        self.note_moved(entry.destination);
        true
    }

    /// Only the next hop of a route breaks it: others may have lost a path that this node does not use. A route with a newer number than
    /// the broken one can be news to the neighbour (`answer`).
    fn offer_broken(&mut self, to: Ipv4Addr, number: u32, hop: Adjacency, now: Time, answer: bool) -> bool {
        let Some(route) = self.valid(to) else { return false };
        if !is_younger(number, route.number) {
            if answer {
                self.change(to, now, |route| {
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
        self.change(to, now, |route| {
            route.number = number.unwrap_or(route.number.wrapping_add(1));
            route.hops = INFINITY;
            (route.settled_at, route.renewed) = (now, now);
            route.pending = Pending::Triggers;
        });
        self.lost += 1;
        self.note_moved(to);
    }

    /// Breaks all routes over links; returns over how many of these there were any.
    pub(super) fn break_links(&mut self, hops: &BTreeSet<Adjacency>, now: Time) -> u64 {
        self.work += self.routes.len() as u64;
        let broken = self.routes.iter().filter(|(_, route)| route.is_valid() && hops.contains(&route.hop));
        let broken: Vec<(Ipv4Addr, Adjacency)> = broken.map(|(&to, route)| (to, route.hop)).collect();
        broken.iter().for_each(|&(to, _)| self.fail(to, None, now));
        broken.iter().map(|&(_, hop)| hop).collect::<BTreeSet<_>>().len() as u64
    }

    /// In a long table, breaks routes that have had no new number for this time, and forgets those that were broken before: the oldest
    /// ones first.
    pub(super) fn forget(&mut self, time: Span, now: Time) {
        if self.routes.len() <= REMEMBERED {
            return;
        }
        self.work += self.routes.len() as u64;
        let old = |route: &Route| route.renewed.saturating_add(time) <= now;
        let ages = self.routes.iter().filter(|(_, route)| old(route));
        let mut ages: Vec<(Time, Ipv4Addr)> = ages.map(|(&to, route)| (route.renewed, to)).collect();
        ages.sort_unstable();
        for (_, to) in ages {
            if self.routes.len() <= REMEMBERED {
                break;
            }
            if self.valid(to).is_some() {
                self.fail(to, None, now);
            } else {
                self.change(to, now, |route| route.pending = Pending::Nothing);
                self.routes.remove(&to);
            }
        }
    }

    /// Number of destinations.
    pub(super) fn len(&self) -> usize {
        self.routes.len()
    }

    /// Routes with news that are settled, in no order.
    fn news(&self, now: Time) -> impl Iterator<Item = Ipv4Addr> + '_ {
        let last = (now, Ipv4Addr::from([u8::MAX; 4]));
        self.lists.iter().flat_map(move |list| list.range(..=last)).map(|&(_, to)| to)
    }

    /// Number of routes that an incremental update would contain.
    pub(super) fn due(&mut self, now: Time) -> usize {
        let count = self.news(now).count();
        self.work += count as u64;
        count
    }

    /// Earliest time at which a route with news to be sent at once is settled.
    pub(super) fn next_trigger(&self) -> Time {
        let first = TRIGGERS.into_iter().filter_map(|list| self.lists[list].first());
        first.map(|&(at, _)| at).min().unwrap_or(Time::NEVER)
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
            self.change(destination, now, |route| {
                route.pending = Pending::Nothing;
                route.advertised = Some(route.hops);
                Entry { destination, hops: (route.hops + 1).min(INFINITY), number: route.number }
            })
        };
        due.into_iter().filter_map(entry).collect()
    }
}

/// Time for which a route is withheld.
fn settling_time(route: &Route, config: &DsdvConfig) -> Span {
    if config.weighted_settling { Span(route.average.0.saturating_mul(2)) } else { config.settling_time }
}

fn weighted(average: Span, sample: Span, weight: f64) -> Span {
    Span((weight * average.0 as f64 + (1.0 - weight) * sample.0 as f64) as u64)
}
