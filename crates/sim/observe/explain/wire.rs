//! An observed direction of a wired link: the packet in transmission at each moment.

use std::collections::VecDeque;

use super::view::{self, Owner};
use crate::ids::{PacketRef, WireIx};
use crate::link::Departure;
use crate::node::Network;

/// State of an observed wire.
#[derive(Debug)]
pub(super) struct Wire {
    pub number: WireIx,
    /// Accepted packets that it has not sent, in order.
    given: VecDeque<(Departure, Owner)>,
    last: Option<Departure>,
    /// Accepted packets of the flow that have not arrived.
    in_flight: VecDeque<PacketRef>,
}

impl Wire {
    pub fn new(number: WireIx) -> Self {
        Self { number, given: VecDeque::new(), last: None, in_flight: VecDeque::new() }
    }

    /// Number of the flow's packets in transmission, in the wire's own queue, or propagating.
    pub fn own_in_flight(&self) -> u32 {
        self.in_flight.len() as u32
    }

    /// Removes a packet of the flow that has arrived or was lost.
    pub fn on_ended(&mut self, packet: PacketRef) {
        self.in_flight.retain(|&p| p != packet);
    }

    /// The flow's next packet to arrive.
    pub fn first_in_flight(&self) -> Option<PacketRef> {
        self.in_flight.front().copied()
    }

    /// Records the state after an event.
    pub fn observe(&mut self, network: &Network, own: Owner) {
        let new =
            network.plane.links.departures(self.number).take_while(|entry| Some(*entry) != self.last).count();
        let mut entries: Vec<Departure> = network.plane.links.departures(self.number).take(new).collect();
        while let Some(entry) = entries.pop() {
            let owner = view::owner_of_copy(network, entry.packet);
            if owner == own {
                self.in_flight.push_back(network.plane.packets.packet_of(entry.packet));
            }
            self.given.push_back((entry, owner));
            self.last = Some(entry);
        }
    }

    /// Removes packets that were sent before `now`.
    pub fn remove_ended(&mut self, now: u64) {
        while self.given.front().is_some_and(|(entry, _)| entry.end.0 <= now) {
            self.given.pop_front();
        }
    }

    /// Divides `from` to `until` by the owner of the packet in transmission and calls `add` for each part, with its length in ns: between
    /// two packets with `own`, the explained flow; with `None` while that flow has no packet here. `queued`: packets of the flow wait in a
    /// queue for the wire.
    pub fn add_activities(
        &self,
        from: u64,
        until: u64,
        own: Owner,
        queued: bool,
        mut add: impl FnMut(Option<Owner>, u64),
    ) {
        let last_own = self.given.iter().rev().find(|(_, owner)| *owner == own).map_or(0, |(e, _)| e.end.0);
        let here_until = if queued { u64::MAX } else { last_own };
        let mut at = from;
        while at < until && at < here_until {
            let present = self.given.iter().find(|(entry, _)| entry.end.0 > at);
            let (turn, end) = match present {
                Some((entry, owner)) if entry.begin.0 <= at => (*owner, entry.end.0),
                // Between two packets: the next one's last bit is about to be received by radio.
                Some((entry, _)) => (own, entry.begin.0),
                None => (own, until),
            };
            let next = end.min(until).min(here_until);
            add(Some(turn), next - at);
            at = next;
        }
        if at < until {
            add(None, until - at);
        }
    }
}
