//! Replies: generation, forwarding, and unidirectional links [RFC 3561 sections 6.6 to 6.8].

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::Ipv4Addr;
use airfair_wire::aodv::{Message, PrefixSize, Rrep, Rreq};

use super::Aodv;
use super::hello::MAX_NEIGHBOURS;
use super::table::RouteOffer;
use crate::sequence::is_younger;
use crate::{Adjacency, Context};

/// Neighbours to which replies fail, and those whose acknowledgements are awaited.
#[derive(Debug, Default)]
pub(super) struct Replies {
    /// Time until which their requests are ignored.
    blacklist: BTreeMap<Adjacency, Time>,
    /// Time until which their acknowledgements are awaited.
    awaited: BTreeMap<Adjacency, Time>,
}

impl Replies {
    pub(super) fn acknowledged(&mut self, by: Adjacency) {
        self.awaited.remove(&by);
    }

    pub(super) fn deadline(&self) -> Time {
        self.awaited.values().copied().min().unwrap_or(Time::NEVER)
    }
}

impl Aodv {
    /// Replies to a request, if this node may.
    pub(super) fn answer(&mut self, rreq: &Rreq, from: Adjacency, cx: &mut Context<'_>) -> bool {
        if rreq.destination == self.address {
            self.answer_for_itself(rreq, cx);
            return true;
        }
        !rreq.destination_only && self.answer_from_table(rreq, from, cx)
    }

    fn answer_for_itself(&mut self, rreq: &Rreq, cx: &mut Context<'_>) {
        if let Some(requested) = rreq.destination_number
            && is_younger(requested, self.number)
        {
            self.number = requested;
        }
        if rreq.destination_only {
            self.number = self.number.wrapping_add(1);
        }
        let (number, lifetime) = (self.number, self.config.my_route_timeout);
        let rrep = reply([self.address, rreq.originator], number, 0, lifetime);
        self.reply_towards(rreq.originator, rrep, None, cx);
    }

    /// Replies for another destination if this node's route is at least as recent as requested.
    fn answer_from_table(&mut self, rreq: &Rreq, from: Adjacency, cx: &mut Context<'_>) -> bool {
        let now = cx.now;
        let Some(route) = self.table.valid(rreq.destination, now) else { return false };
        let Some(number) = route.number else { return false };
        let (hops, hop, lifetime) = (route.hops, route.hop, route.until.since(now));
        if hop.neighbour == from.neighbour
            || rreq.destination_number.is_some_and(|requested| is_younger(requested, number))
        {
            return false;
        }
        let Some(back) = self.table.valid(rreq.originator, now) else { return false };
        let (hops_back, left) = (back.hops, back.until.since(now));
        let rrep = reply([rreq.destination, rreq.originator], number, hops, lifetime);
        self.reply_towards(rreq.originator, rrep, Some(hop), cx);
        if rreq.gratuitous {
            // As if the destination had requested a route to the originator (6.6.3).
            let ends = [rreq.originator, rreq.destination];
            let rrep = reply(ends, rreq.originator_number, hops_back, left);
            self.reply_towards(rreq.destination, rrep, Some(from), cx);
        }
        true
    }

    /// Sends a reply one hop on its way to `requester`; `route_hop` is the next hop of the reported route.
    fn reply_towards(
        &mut self,
        requester: Ipv4Addr,
        rrep: Rrep,
        route_hop: Option<Adjacency>,
        cx: &mut Context<'_>,
    ) {
        let now = cx.now;
        let Some(back) = self.table.valid(requester, now).map(|route| route.hop) else { return };
        let until = now.saturating_add(self.config.active_route_timeout);
        self.table.prolong(requester, back, until, now);
        self.hellos.extend_activity(until);
        // New precursors of both routes (6.6.2, 6.7).
        let mut add_user = |to: Ipv4Addr, user: Adjacency| {
            if let Some(route) = self.table.find(to, now).filter(|route| route.valid) {
                route.add_precursor(user);
            }
        };
        if let Some(route_hop) = route_hop {
            add_user(rrep.destination, back);
            add_user(route_hop.neighbour, back);
            add_user(requester, route_hop);
        }
        let acknowledge = self.config.reply_acknowledgement;
        if acknowledge {
            let until = now.saturating_add(self.config.next_hop_wait);
            if self.replies.awaited.len() < MAX_NEIGHBOURS {
                self.replies.awaited.entry(back).or_insert(until);
            }
        }
        self.send(Message::Rrep(Rrep { acknowledge, ..rrep }), back, cx);
    }

    /// Handles a reply [RFC 3561 section 6.7].
    pub(super) fn on_reply(&mut self, rrep: &Rrep, from: Adjacency, cx: &mut Context<'_>) {
        let now = cx.now;
        self.add_neighbour(from, now);
        if rrep.acknowledge {
            self.send(Message::RrepAck, from, cx);
        }
        let Some(hops) = rrep.hops.checked_add(1).filter(|_| rrep.destination != self.address) else {
            return;
        };
        let until = now.saturating_add(Span::from_millis(rrep.lifetime_ms.into()));
        let offer = RouteOffer { number: Some(rrep.destination_number), hops, hop: from, until };
        let taken = self.table.offer(rrep.destination, &offer, now);
        // The sender relies on this node's route to the originator.
        self.table.prolong(rrep.originator, from, Time::ZERO, now);
        if taken && rrep.originator != self.address {
            self.reply_towards(rrep.originator, Rrep { hops, ..*rrep }, Some(from), cx);
        }
    }

    /// Adds or extends the route to a neighbour from which a message arrived; it has no sequence number.
    pub(super) fn add_neighbour(&mut self, from: Adjacency, now: Time) {
        let least = now.saturating_add(self.config.active_route_timeout);
        let until = least.max(self.table.valid_until(from.neighbour, now));
        let offer = RouteOffer { number: None, hops: 1, hop: from, until };
        if !self.table.offer(from.neighbour, &offer, now) {
            self.table.prolong(from.neighbour, from, least, now);
        }
    }

    /// Blacklists a neighbour to which a reply failed: the link seems to be unidirectional [RFC 3561 section 6.8].
    pub(super) fn ignore_requests_of(&mut self, neighbour: Adjacency, now: Time) {
        let until = now.saturating_add(self.config.blacklist_timeout);
        self.table.work += self.replies.blacklist.len() as u64;
        self.replies.blacklist.retain(|_, until| *until > now);
        if self.replies.blacklist.len() < MAX_NEIGHBOURS {
            self.replies.blacklist.insert(neighbour, until);
        }
    }

    pub(super) fn ignores_requests_of(&self, neighbour: Adjacency, now: Time) -> bool {
        self.replies.blacklist.get(&neighbour).is_some_and(|&until| until > now)
    }

    /// Handles acknowledgements that did not come in time.
    pub(super) fn on_reply_deadlines(&mut self, now: Time) {
        let late = self.replies.awaited.iter().filter(|(_, until)| **until <= now).map(|(&to, _)| to);
        for neighbour in late.collect::<Vec<_>>() {
            self.replies.awaited.remove(&neighbour);
            self.ignore_requests_of(neighbour, now);
        }
    }
}

fn reply([destination, originator]: [Ipv4Addr; 2], number: u32, hops: u8, lifetime: Span) -> Rrep {
    Rrep {
        repair: false,
        acknowledge: false,
        prefix: PrefixSize::default(),
        hops,
        destination,
        destination_number: number,
        originator,
        lifetime_ms: u32::try_from(lifetime.0 / 1_000_000).unwrap_or(u32::MAX),
    }
}
