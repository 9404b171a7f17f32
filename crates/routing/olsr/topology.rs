//! TC messages: the links that a node advertises to all, and the topology that it learns [RFC 3626 sections 9 and 15].

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::Ipv4Addr;
use airfair_wire::olsr::{Body, Message, Rated, Tc};

use super::config::{Advertised, Metric, WILL_NEVER};
use super::flooding::Kind;
use super::hello::{Listed, MOST_LISTED};
use super::{Olsr, Topology};
use crate::Context;

/// True if a number of a TC is more recent than another [RFC 3626 section 19].
#[must_use]
pub const fn is_newer(number: u16, than: u16) -> bool {
    if number > than { number - than <= u16::MAX / 2 } else { than - number > u16::MAX / 2 }
}

impl Olsr {
    /// Takes over the set of advertised neighbours; a changed set has the next number [RFC 3626 section 9.2]. A node that never forwards
    /// advertises none but its selectors, of which there are none as a rule [15.1].
    pub(super) fn update_advertised(&mut self) {
        let level = match self.config.willingness {
            WILL_NEVER => Advertised::Selectors,
            _ => self.config.advertised,
        };
        let same = match level {
            Advertised::Selectors => self.selectors.keys().eq(&self.advertised),
            Advertised::All => self.neighbours.keys().eq(&self.advertised),
            Advertised::SelectorsAndRelays => false,
        };
        if same {
            return;
        }
        let mut now: BTreeSet<Ipv4Addr> = match level {
            Advertised::Selectors | Advertised::SelectorsAndRelays => {
                self.selectors.keys().copied().collect()
            }
            Advertised::All => self.neighbours.keys().copied().collect(),
        };
        if level == Advertised::SelectorsAndRelays {
            now.extend(&self.relays);
        }
        if now != self.advertised {
            self.advertised = now;
            self.number = self.number.wrapping_add(1);
        }
    }

    /// Queues a TC, if there are advertised neighbours, or others still remember some [RFC 3626 section 9.3].
    pub(super) fn send_tc(&mut self, cx: &mut Context<'_>) {
        if !self.advertised.is_empty() {
            self.advertised_until = cx.now.saturating_add(self.config.topology_hold);
        } else if self.advertised_until <= cx.now {
            return;
        }
        let rated = |&address: &Ipv4Addr| Some(self.rated(address, self.best_link(address, cx.now)?.1));
        let all: Vec<Rated> = self.advertised.iter().filter_map(rated).collect();
        let mut parts: Vec<_> = all.chunks(MOST_LISTED).collect();
        if parts.is_empty() {
            parts.push(&[]);
        }
        for part in parts {
            let number = self.number;
            let body = match self.config.metric {
                Metric::Hops => {
                    Body::Tc(Tc { number, neighbours: part.iter().map(|rated| rated.address).collect() })
                }
                Metric::Etx => Body::RatedTc(Tc { number, neighbours: part.to_vec() }),
            };
            let message = self.message(body, self.config.topology_hold, u8::MAX);
            self.flood(&message, Kind::Tc, cx);
        }
    }

    /// Handles a TC of another node that a symmetric neighbour has sent for the first time [RFC 3626 section 9.5].
    pub(super) fn on_tc<T: Listed>(&mut self, message: &Message, tc: &Tc<T>, now: Time) {
        let last = message.originator;
        // All links that a node advertises have one number: that of its last TC.
        let known = self.topology.of(last).next().map(|(_, topology)| topology.number);
        self.work += 1 + tc.neighbours.len() as u64;
        if known.is_some_and(|known| is_newer(known, tc.number)) {
            return;
        }
        if known.is_some_and(|known| is_newer(tc.number, known)) {
            self.work += self.topology.remove_all_of(last) as u64;
            self.topology_changed = true;
        }
        let until = now.saturating_add(Span(message.validity.nanoseconds()));
        for rated in tc.neighbours.iter().map(|neighbour| neighbour.rated()) {
            let pair = (last, rated.address);
            let cost = self.costs.of(rated.quality, rated.neighbour_quality);
            let known = self.topology.get(&pair);
            if known.is_none() && !self.topology.has_room(last) {
                self.refused += 1;
                continue;
            }
            self.topology_changed |= known.is_none_or(|known| known.cost != cost);
            self.topology.insert(pair, Topology { number: tc.number, until, cost });
            self.wake = self.wake.min(until);
        }
    }
}
