//! Requests of other nodes: remembered, used for the route to their originator, answered or forwarded [RFC 3561 section 6.5].

use alloc::collections::{BTreeSet, VecDeque};

use airfair_units::{Span, Time};
use airfair_wire::Ipv4Addr;
use airfair_wire::aodv::{Message, Rreq};

use super::Aodv;
use super::config::times;
use super::table::RouteOffer;
use crate::sequence::is_younger;
use crate::{Context, Received};

/// Largest number of remembered requests.
const MAX_SEEN: usize = 1 << 16;

/// Identity of a request: the originator's address and request number.
type RequestId = (Ipv4Addr, u32);

/// Requests that were handled already.
#[derive(Debug, Default)]
pub(super) struct Seen {
    ids: BTreeSet<RequestId>,
    /// In the order in which they expire.
    until: VecDeque<(Time, RequestId)>,
}

impl Seen {
    /// Records a request; true if it is not among the recorded ones, which are kept for `memory`, at most [`MAX_SEEN`].
    pub(super) fn record_new(&mut self, id: RequestId, now: Time, memory: Span) -> bool {
        while let Some(&(until, old)) = self.until.front() {
            if until > now && self.until.len() < MAX_SEEN {
                break;
            }
            self.until.pop_front();
            self.ids.remove(&old);
        }
        let new = self.ids.insert(id);
        if new {
            self.until.push_back((now.saturating_add(memory), id));
        }
        new
    }
}

impl Aodv {
    pub(super) fn on_request(&mut self, rreq: &Rreq, received: Received, cx: &mut Context<'_>) {
        let (from, now) = (received.from, cx.now);
        if self.ignores_requests_of(from, now) {
            return;
        }
        self.add_neighbour(from, now);
        let own = rreq.originator == self.address;
        if own || !self.seen.record_new((rreq.originator, rreq.id), now, self.config.path_discovery_time) {
            return;
        }
        let Some(hops) = rreq.hops.checked_add(1) else { return };
        let rreq = Rreq { hops, ..*rreq };
        self.update_reverse_route(&rreq, received, now);
        if self.answer(&rreq, from, cx) || received.ttl <= 1 {
            return;
        }
        let known = self.table.find(rreq.destination, now).and_then(|route| route.number);
        let destination_number = match (rreq.destination_number, known) {
            (Some(requested), Some(known)) if is_younger(known, requested) => Some(known),
            (None, known) => known,
            (requested, _) => requested,
        };
        let passed_on = Rreq { destination_number, ..rreq };
        self.broadcast_later(Message::Rreq(passed_on), received.ttl - 1, cx);
    }

    /// Updates the route to the originator; `hops` counts up to here. It lasts at least as long as a reply may take.
    fn update_reverse_route(&mut self, rreq: &Rreq, received: Received, now: Time) {
        let config = &self.config;
        let spent = times(config.node_traversal_time, 2 * u64::from(rreq.hops));
        let whole = times(config.net_traversal_time, 2);
        let least = now.saturating_add(Span(whole.0.saturating_sub(spent.0)));
        let until = least.max(self.table.valid_until(rreq.originator, now));
        let number = Some(rreq.originator_number);
        let offer = RouteOffer { number, hops: rreq.hops, hop: received.from, until };
        if !self.table.offer(rreq.originator, &offer, now) {
            self.table.prolong(rreq.originator, received.from, least, now);
        }
    }
}
