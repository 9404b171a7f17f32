//! Route discovery by expanding rings, then in the whole network with growing time-outs [RFC 3561 sections 6.3 and 6.4].

use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::Ipv4Addr;
use airfair_wire::aodv::{Message, Rreq};

use super::Aodv;
use super::config::times;
use crate::{Context, DropReason, Effect};

/// A search in progress.
#[derive(Debug)]
pub(super) struct Search {
    pub to: Ipv4Addr,
    /// Time to live of the last request, or of the next one.
    ttl: u8,
    /// Number of repetitions of the widest request.
    retries: u32,
    /// True if the request was delayed by the rate limit.
    delayed: bool,
    /// End of the wait for a reply, or time at which a delayed request is tried again.
    pub deadline: Time,
    /// Hops of the route before it broke, if the search repairs it.
    pub repairs: Option<u8>,
}

impl Aodv {
    /// Starts a search for a route, unless one is in progress.
    pub(super) fn search(&mut self, to: Ipv4Addr, cx: &mut Context<'_>) {
        if self.searches.iter().any(|search| search.to == to) {
            return;
        }
        let config = &self.config;
        let last_known = self.table.find(to, cx.now).map(|route| route.hops);
        let ttl = last_known.map_or(config.ttl_start, |hops| hops.saturating_add(config.ttl_increment));
        self.begin(to, self.within_rings(ttl), None, cx);
    }

    /// Starts a search that repairs a route of `hops` hops, with requests of time to live `ttl`.
    pub(super) fn search_to_repair(&mut self, to: Ipv4Addr, ttl: u8, hops: u8, cx: &mut Context<'_>) {
        if self.searches.iter().all(|search| search.to != to) {
            self.begin(to, ttl.clamp(1, self.config.net_diameter), Some(hops), cx);
        }
    }

    /// True if a route to the destination is being repaired.
    pub(super) fn is_repairing(&self, to: Ipv4Addr) -> bool {
        self.searches.iter().any(|search| search.to == to && search.repairs.is_some())
    }

    fn begin(&mut self, to: Ipv4Addr, ttl: u8, repairs: Option<u8>, cx: &mut Context<'_>) {
        self.counts.discoveries += 1;
        let mut search = Search { to, ttl, retries: 0, delayed: false, deadline: cx.now, repairs };
        self.request(&mut search, cx);
        self.searches.push(search);
    }

    /// The time to live up to the threshold, then that of the whole network.
    fn within_rings(&self, ttl: u8) -> u8 {
        let config = &self.config;
        if ttl > config.ttl_threshold { config.net_diameter } else { ttl.clamp(1, config.net_diameter) }
    }

    /// Sends the request of a search, or delays it.
    fn request(&mut self, search: &mut Search, cx: &mut Context<'_>) {
        search.delayed = !self.request_rate.pass(cx.now);
        if search.delayed {
            search.deadline = self.request_rate.free_at();
            return;
        }
        self.number = self.number.wrapping_add(1);
        self.last_request = self.last_request.wrapping_add(1);
        let rreq = Rreq {
            join: false,
            repair: false,
            gratuitous: self.config.gratuitous_reply,
            destination_only: self.config.destination_only,
            hops: 0,
            id: self.last_request,
            destination: search.to,
            destination_number: self.table.find(search.to, cx.now).and_then(|route| route.number),
            originator: self.address,
            originator_number: self.number,
        };
        self.seen.record_new((self.address, rreq.id), cx.now, self.config.path_discovery_time);
        search.deadline = cx.now.saturating_add(self.reply_timeout(search));
        self.broadcast(Message::Rreq(rreq), search.ttl, cx);
    }

    /// Time for which the reply to the present request is awaited.
    fn reply_timeout(&self, search: &Search) -> Span {
        let config = &self.config;
        if search.ttl < config.net_diameter || search.repairs.is_some() {
            return config.ring_traversal_time(search.ttl);
        }
        times(config.net_traversal_time, 1_u64.checked_shl(search.retries).unwrap_or(u64::MAX))
    }

    /// Continues or ends searches whose deadlines have passed.
    pub(super) fn on_search_deadlines(&mut self, cx: &mut Context<'_>) {
        let (due, rest): (Vec<Search>, _) =
            core::mem::take(&mut self.searches).into_iter().partition(|search| search.deadline <= cx.now);
        self.searches = rest;
        for mut search in due {
            // A route may have become valid by other messages.
            if self.table.valid(search.to, cx.now).is_some() {
                self.forward_waiting(&search, cx);
            } else if search.delayed || self.widen(&mut search) {
                self.request(&mut search, cx);
                self.searches.push(search);
            } else {
                self.give_up(&search, cx);
            }
        }
    }

    /// Increases the time to live or the time-out of a search; false after the last request.
    fn widen(&self, search: &mut Search) -> bool {
        if search.repairs.is_some() {
            return false;
        }
        if search.ttl < self.config.net_diameter {
            search.ttl = self.within_rings(search.ttl.saturating_add(self.config.ttl_increment));
            return true;
        }
        search.retries += 1;
        search.retries <= self.config.rreq_retries
    }

    fn give_up(&mut self, search: &Search, cx: &mut Context<'_>) {
        self.counts.failed += 1;
        for packet in self.buffer.take_waiting_for(search.to) {
            cx.out.push(Effect::Drop { packet, reason: DropReason::NoRoute });
        }
        if search.repairs.is_some() {
            self.on_repair_failed(search.to, cx);
        }
    }

    /// Ends searches whose routes have become valid.
    pub(super) fn end_completed_searches(&mut self, cx: &mut Context<'_>) {
        let now = cx.now;
        let (found, rest): (Vec<Search>, _) = core::mem::take(&mut self.searches)
            .into_iter()
            .partition(|search| self.table.valid(search.to, now).is_some());
        self.searches = rest;
        found.iter().for_each(|search| self.forward_waiting(search, cx));
    }

    /// Forwards the packets that waited for a route; reports a repaired route.
    fn forward_waiting(&mut self, search: &Search, cx: &mut Context<'_>) {
        for packet in self.buffer.take_waiting_for(search.to) {
            match self.use_route(self.address, search.to, None, cx.now) {
                Some(hop) => cx.out.push(Effect::Forward { packet, hop }),
                None => cx.out.push(Effect::Drop { packet, reason: DropReason::NoRoute }),
            }
        }
        if let Some(hops) = search.repairs {
            self.on_repaired(search.to, hops, cx);
        }
    }
}
