//! Hello messages: detection of neighbours without link-layer feedback [RFC 3561 sections 6.9 and 6.10].

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::aodv::{Message, PrefixSize, Rrep};

use super::Aodv;
use super::table::RouteOffer;
use crate::{Adjacency, Context};

/// Largest number of neighbours whose silence is noticed: whoever forges addresses fills no memory.
pub(super) const MAX_NEIGHBOURS: usize = 1 << 12;

/// Times at which neighbours were received and the node has sent.
#[derive(Debug, Default)]
pub(super) struct Hellos {
    /// Neighbours that send Hello messages, by interface, with the time of the last reception of any message from them.
    heard: BTreeMap<Adjacency, Time>,
    /// End of the time for which the node is on an active route.
    active_until: Time,
    /// Time of its last broadcast.
    last_broadcast: Time,
    /// Time of the next check; 0 before the first.
    next: Time,
}

impl Hellos {
    pub(super) fn record_reception(&mut self, from: Adjacency, now: Time) {
        if let Some(last) = self.heard.get_mut(&from) {
            *last = now;
        }
    }

    pub(super) fn extend_activity(&mut self, until: Time) {
        self.active_until = self.active_until.max(until);
    }

    pub(super) fn record_broadcast(&mut self, now: Time) {
        self.last_broadcast = now;
    }
}

impl Aodv {
    pub(super) fn on_hello(&mut self, rrep: &Rrep, from: Adjacency, now: Time) {
        let silence = self.config.allowed_silence();
        let until = now.saturating_add(silence).max(self.table.valid_until(from.neighbour, now));
        let offer = RouteOffer { number: Some(rrep.destination_number), hops: 1, hop: from, until };
        if !self.table.offer(from.neighbour, &offer, now) {
            self.table.prolong(from.neighbour, from, until, now);
        }
        let has_room = self.hellos.heard.len() < MAX_NEIGHBOURS || self.hellos.heard.contains_key(&from);
        if self.config.hello && has_room {
            self.hellos.heard.insert(from, now);
        }
    }

    pub(super) fn hello_deadline(&self) -> Time {
        if !self.config.hello {
            return Time::NEVER;
        }
        let silence = self.config.allowed_silence();
        let silent = self.hellos.heard.values().map(|heard| heard.saturating_add(Span(silence.0 + 1)));
        silent.chain([self.hellos.next]).min().unwrap_or(Time::NEVER)
    }

    /// Removes neighbours that have been silent too long; sends a Hello message if the node is on an active route and has been silent
    /// itself.
    pub(super) fn on_hello_deadline(&mut self, cx: &mut Context<'_>) {
        if !self.config.hello {
            return;
        }
        let (now, silence, interval) = (cx.now, self.config.allowed_silence(), self.config.hello_interval);
        let silent = |heard: Time| now.since(heard) > silence;
        let gone: Vec<Adjacency> =
            self.hellos.heard.iter().filter(|(_, heard)| silent(**heard)).map(|(&n, _)| n).collect();
        self.table.work += self.hellos.heard.len() as u64;
        gone.iter().for_each(|hop| _ = self.hellos.heard.remove(hop));
        self.on_links_broken(&gone, None, cx);
        if self.hellos.next > now {
            return;
        }
        // The first time is random, so that nodes do not transmit together.
        let wait = match self.hellos.next {
            Time::ZERO => Span((cx.random.uniform() * interval.0 as f64) as u64 + 1),
            _ => interval,
        };
        let quiet =
            self.hellos.last_broadcast == Time::ZERO || now.since(self.hellos.last_broadcast) >= interval;
        if self.hellos.next > Time::ZERO && self.hellos.active_until > now && quiet {
            let rrep = Rrep {
                repair: false,
                acknowledge: false,
                prefix: PrefixSize::default(),
                hops: 0,
                destination: self.address,
                destination_number: self.number,
                originator: self.address,
                lifetime_ms: u32::try_from(silence.0 / 1_000_000).unwrap_or(u32::MAX),
            };
            self.broadcast(Message::Rrep(rrep), 1, cx);
        }
        self.hellos.next = now.saturating_add(wait);
    }
}
