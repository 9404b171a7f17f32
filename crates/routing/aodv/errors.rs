//! Broken links: their routes become invalid, and the users of these are notified [RFC 3561 section 6.11], or the break is repaired locally
//! (6.12).

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use airfair_units::Time;
use airfair_wire::Ipv4Addr;
use airfair_wire::aodv::{Message, Rerr, Unreachable};

use super::Aodv;
use crate::sequence::is_younger;
use crate::{Adjacency, Context};

/// Largest number of destinations in one message; further ones go into further messages.
pub const MAX_LISTED: usize = 15;

/// Content and receivers of a route error.
#[derive(Default)]
struct ErrorReport {
    lost: Vec<Unreachable>,
    users: BTreeSet<Adjacency>,
}

impl ErrorReport {
    fn add(
        &mut self,
        destination: Ipv4Addr,
        number: Option<u32>,
        users: impl IntoIterator<Item = Adjacency>,
    ) {
        let before = self.users.len();
        let mut any = false;
        self.users.extend(users.into_iter().inspect(|_| any = true));
        debug_assert!(self.users.len() >= before);
        if any {
            // 0: no known number.
            self.lost.push(Unreachable { destination, number: number.unwrap_or(0) });
        }
    }
}

impl Aodv {
    /// Handles broken links to neighbours; `ends`: source and destination of the packet by which a break was detected, if known.
    pub(super) fn on_links_broken(
        &mut self,
        hops: &[Adjacency],
        ends: Option<[Ipv4Addr; 2]>,
        cx: &mut Context<'_>,
    ) {
        if hops.is_empty() {
            return;
        }
        for (_, lost) in self.table.destinations_via(hops, cx.now) {
            self.on_routes_broken(lost, ends, cx);
        }
    }

    fn on_routes_broken(&mut self, lost: Vec<Ipv4Addr>, ends: Option<[Ipv4Addr; 2]>, cx: &mut Context<'_>) {
        self.counts.breaks += u64::from(!lost.is_empty());
        let repair = ends.and_then(|ends| self.repair_reach(ends, cx));
        let mut report = ErrorReport::default();
        for to in lost {
            match repair {
                Some((destination, ttl, hops)) if destination == to => {
                    self.table.end_for_repair(to, cx.now);
                    self.search_to_repair(to, ttl, hops, cx);
                }
                _ => {
                    if let Some((route, users)) = self.table.end(to, None, cx.now) {
                        report.add(to, route.number, users);
                    }
                }
            }
        }
        self.send_error(&report, false, false, cx);
    }

    /// Decides whether the route of a packet is repaired here: its destination, the time to live of the request, and the route's hops.
    fn repair_reach(
        &mut self,
        [source, destination]: [Ipv4Addr; 2],
        cx: &Context<'_>,
    ) -> Option<(Ipv4Addr, u8, u8)> {
        let config = self.config;
        let route = self.table.valid(destination, cx.now)?;
        let hops = route.hops;
        if !config.local_repair || source == self.address || hops > config.max_repair_ttl {
            return None;
        }
        let back = self.table.find(source, cx.now).map_or(0, |route| route.hops);
        // The last known distance is MIN_REPAIR_TTL.
        Some((destination, hops.max(back / 2).saturating_add(config.local_add_ttl), hops))
    }

    /// A repair has failed: notifies the users of the route.
    pub(super) fn on_repair_failed(&mut self, to: Ipv4Addr, cx: &mut Context<'_>) {
        let Some(route) = self.table.find(to, cx.now) else { return };
        let mut report = ErrorReport::default();
        report.add(to, route.number, route.precursors().to_vec());
        self.send_error(&report, false, false, cx);
    }

    /// Reports a repaired route that is longer than before, so that its users may search for a better one.
    pub(super) fn on_repaired(&mut self, to: Ipv4Addr, hops_before: u8, cx: &mut Context<'_>) {
        let Some(route) = self.table.find(to, cx.now).filter(|route| route.hops > hops_before) else {
            return;
        };
        let mut report = ErrorReport::default();
        report.add(to, route.number, route.precursors().to_vec());
        self.send_error(&report, true, false, cx);
    }

    /// Handles a packet of another node for which there is no route.
    pub(super) fn on_unroutable(&mut self, destination: Ipv4Addr, from: Adjacency, cx: &mut Context<'_>) {
        self.table.prolong(destination, from, Time::ZERO, cx.now);
        let mut report = ErrorReport::default();
        match self.table.find(destination, cx.now) {
            Some(route) => {
                report.add(destination, route.number, route.precursors().iter().copied().chain([from]));
            }
            None => report.add(destination, None, [from]),
        }
        self.send_error(&report, false, false, cx);
    }

    /// Handles a neighbour's report of unreachable destinations.
    pub(super) fn on_error(&mut self, rerr: &Rerr, from: Adjacency, cx: &mut Context<'_>) {
        let mut report = ErrorReport::default();
        for Unreachable { destination, number } in rerr.unreachable() {
            let reported = (number > 0).then_some(number);
            let Some(route) = self.table.valid(destination, cx.now) else { continue };
            let stale =
                matches!((reported, route.number), (Some(reported), Some(own)) if !is_younger(reported, own));
            if route.hop.neighbour != from.neighbour || stale && !rerr.no_delete {
                continue;
            }
            if rerr.no_delete {
                report.add(destination, reported, route.precursors().to_vec());
            } else if let Some((route, users)) = self.table.end(destination, reported, cx.now) {
                report.add(destination, route.number, users);
            }
        }
        self.send_error(&report, rerr.no_delete, true, cx);
    }

    /// Sends route errors to the only user, or to all, within the rate limit.
    fn send_error(&mut self, report: &ErrorReport, no_delete: bool, forwarded: bool, cx: &mut Context<'_>) {
        for lost in report.lost.chunks(MAX_LISTED) {
            let Some(rerr) = Rerr::new(no_delete, lost).filter(|_| self.error_rate.pass(cx.now)) else {
                return;
            };
            let message = Message::Rerr(rerr);
            match report.users.first() {
                Some(&only) if report.users.len() == 1 => self.send(message, only, cx),
                _ if forwarded => self.broadcast_later(message, 1, cx),
                _ => self.broadcast(message, 1, cx),
            }
        }
    }
}
