//! One direction of a wired link: whose packet it sends at each moment.

use std::collections::VecDeque;

use super::view::{self, Owner};
use crate::ids::{PacketRef, WireIx};
use crate::link::Departure;
use crate::node::Network;

/// A wire that is observed.
#[derive(Debug)]
pub(super) struct Wire {
    pub number: WireIx,
    /// What it was given and has not sent, in order.
    given: VecDeque<(Departure, Owner)>,
    last: Option<Departure>,
    /// The flow's packets that it was given and that have not arrived.
    in_flight: VecDeque<PacketRef>,
}

impl Wire {
    pub fn new(number: WireIx) -> Self {
        Self { number, given: VecDeque::new(), last: None, in_flight: VecDeque::new() }
    }

    /// The flow's packets that are being sent, in the wire's own queue, or on their way.
    pub fn own_in_flight(&self) -> u32 {
        self.in_flight.len() as u32
    }

    /// A packet of the flow has arrived, or was lost.
    pub fn on_gone(&mut self, packet: PacketRef) {
        self.in_flight.retain(|&p| p != packet);
    }

    /// The flow's packet that arrives first.
    pub fn first_in_flight(&self) -> Option<PacketRef> {
        self.in_flight.front().copied()
    }

    /// The state after an event.
    pub fn observe(&mut self, network: &Network, own: Owner) {
        let new = network.links.departures(self.number).take_while(|entry| Some(*entry) != self.last).count();
        let mut entries: Vec<Departure> = network.links.departures(self.number).take(new).collect();
        while let Some(entry) = entries.pop() {
            let owner = view::owner_of_copy(network, entry.packet);
            if owner == own {
                self.in_flight.push_back(network.packets.packet_of(entry.packet));
            }
            self.given.push_back((entry, owner));
            self.last = Some(entry);
        }
    }

    /// What was sent before `now` is of no interest any more.
    pub fn forget(&mut self, now: u64) {
        while self.given.front().is_some_and(|(entry, _)| entry.end.0 <= now) {
            self.given.pop_front();
        }
    }

    /// Whose turn it is from `from` until `until`: nobody's while the flow has nothing here. `queued`: packets of the flow wait in
    /// a queue for the wire.
    pub fn stretches(
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
                // Between two packets: the next one is about to come from its radio.
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
