//! HELLO messages: what they list [RFC 3626 section 6], and what a node learns from those of its neighbours [7.1.1, 8.1, 8.2, 8.4].

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::Ipv4Addr;
use airfair_wire::olsr::{
    Body, Entry, Group, Hello, LinkCode, LinkType, Message, NeighbourType, Rated, Vtime,
};

use super::config::Metric;
use super::flooding::Kind;
use super::links::LinkTuple;
use super::{Olsr, TwoHop};
use crate::{Adjacency, Context, Received};

/// Most neighbours in a HELLO or TC: more are listed in further messages, so that none is longer than a frame.
pub(super) const MOST_LISTED: usize = 150;

impl Olsr {
    /// Queues the HELLO of every interface.
    pub(super) fn send_hellos(&mut self, cx: &mut Context<'_>) {
        for interface in 0..self.interfaces {
            let listed = self.listed(interface, cx.now);
            let mut parts: Vec<_> = listed.chunks(MOST_LISTED).collect();
            if parts.is_empty() {
                parts.push(&[]);
            }
            let (interval, willingness) = (time(self.config.hello_interval), self.config.willingness);
            for part in parts {
                let body = match self.config.metric {
                    Metric::Hops => {
                        let groups = groups(part, |rated| rated.address);
                        Body::Hello(Hello { interval, willingness, groups })
                    }
                    Metric::Etx => {
                        let groups = groups(part, |rated| rated);
                        Body::RatedHello(Hello { interval, willingness, groups })
                    }
                };
                let message = self.message(body, self.config.neighbour_hold, 1);
                self.queue(interface, message, Kind::Hello, cx);
            }
        }
    }

    /// Neighbours that HELLOs of an interface list: those behind the interface, and those behind others only [RFC 3626 section 6.2],
    /// ordered by code and address. Behind them stand, with ETX, neighbours to which a link of another interface is better: receivers take
    /// over what is stated last, since packets by this node use its best link.
    fn listed(&self, interface: u32, now: Time) -> Vec<(LinkCode, Rated)> {
        let behind = self.links.iter().filter(|(hop, _)| hop.interface == interface);
        let mut listed: Vec<(LinkCode, Rated)> = behind
            .filter_map(|(hop, link)| {
                let neighbour = self.neighbour_type(hop.neighbour);
                Some((LinkCode::new(link.kind(now)?, neighbour), self.rated(hop.neighbour, link)))
            })
            .collect();
        let here: BTreeSet<Ipv4Addr> = listed.iter().map(|(_, rated)| rated.address).collect();
        let (mut elsewhere, mut better) = (Vec::new(), Vec::new());
        for &neighbour in self.neighbours.keys() {
            let Some((hop, link)) = self.best_link(neighbour, now) else { continue };
            let code = LinkCode::new(LinkType::Unspecified, self.neighbour_type(neighbour));
            let entry = (code, self.rated(neighbour, link));
            if !here.contains(&neighbour) {
                elsewhere.push(entry);
            } else if hop.interface != interface && self.config.metric == Metric::Etx {
                better.push(entry);
            }
        }
        let key = |(code, rated): &(LinkCode, Rated)| (code.0, rated.address);
        listed.extend(elsewhere);
        listed.sort_by_key(key);
        better.sort_by_key(key);
        listed.extend(better);
        listed
    }

    fn neighbour_type(&self, address: Ipv4Addr) -> NeighbourType {
        if self.relays.contains(&address) {
            NeighbourType::Relay
        } else if self.neighbours.contains_key(&address) {
            NeighbourType::Symmetric
        } else {
            NeighbourType::Not
        }
    }

    /// An address with the qualities of a link.
    pub(super) fn rated(&self, address: Ipv4Addr, link: &LinkTuple) -> Rated {
        let quality = link.quality(self.config.etx_window);
        Rated { address, quality, neighbour_quality: link.neighbour_quality }
    }

    /// Handles a HELLO. One whose originator is not the neighbour that sent it is ignored: HELLOs are not forwarded.
    pub(super) fn on_hello<T: Listed>(
        &mut self,
        message: &Message,
        hello: &Hello<T>,
        received: Received,
        cx: &mut Context<'_>,
    ) {
        let (from, now) = (received.from, cx.now);
        if message.originator != from.neighbour {
            return;
        }
        self.work += 1 + hello.groups.iter().map(|group| group.neighbours.len() as u64).sum::<u64>();
        let validity = Span(message.validity.nanoseconds());
        if !self.links.contains_key(&from) {
            if self.links.len() >= self.config.table_limit as usize {
                self.refused += 1;
                return;
            }
            self.links
                .insert(from, LinkTuple::new(now, self.config.hysteresis, self.costs.best(from.interface)));
        }
        let Some(link) = self.links.get_mut(&from) else { return };
        let before = link.cost(&self.config, self.costs);
        let entries = || {
            hello.groups.iter().filter_map(|group| Some((group.code.kinds()?, &group.neighbours))).flat_map(
                |(kinds, neighbours)| neighbours.iter().map(move |neighbour| (kinds, neighbour.rated())),
            )
        };
        let address = self.address;
        let own = |&(_, rated): &((LinkType, NeighbourType), Rated)| rated.address == address;
        let seen = entries().find(own);
        // By another interface of both, this node may be listed without a link.
        let listed = entries().filter(own).find(|((link, _), _)| *link != LinkType::Unspecified);
        if let Some((_, rated)) = listed {
            link.neighbour_quality = rated.quality;
        }
        let kind = listed.map(|((link, _), _)| link);
        link.on_hello(kind, validity, self.config.neighbour_hold, now);
        link.count_received(Span(hello.interval.nanoseconds()), &self.config, now);
        self.links_changed |= link.cost(&self.config, self.costs) != before;
        let (symmetric, wake) = (link.is_symmetric(now), link.deadline(now));
        self.wake = self.wake.min(wake);
        self.willingness.insert(from.neighbour, hello.willingness);
        let until = now.saturating_add(validity);
        if seen.is_some_and(|((_, neighbour), _)| neighbour == NeighbourType::Relay) {
            self.selectors.insert(from.neighbour, until);
            self.wake = self.wake.min(until);
        }
        if symmetric {
            for ((_, kind), rated) in entries().filter(|entry| !own(entry)) {
                self.on_two_hop(from, kind, rated, until);
            }
        }
    }

    /// Handles a neighbour of a symmetric neighbour [RFC 3626 section 8.2.1].
    fn on_two_hop(&mut self, from: Adjacency, kind: NeighbourType, rated: Rated, until: Time) {
        let pair = (from.neighbour, rated.address);
        let cost = self.costs.of(rated.quality, rated.neighbour_quality);
        let known = self.two_hops.get(&pair);
        if kind == NeighbourType::Not {
            self.two_hops_changed |= self.two_hops.remove(&pair);
        } else if known.is_none() && !self.two_hops.has_room(pair.0) {
            self.refused += 1;
        } else {
            self.two_hops_changed |= known.is_none();
            self.links_changed |= known.is_some_and(|known| known.cost != cost);
            self.two_hops.insert(pair, TwoHop { until, cost });
            self.wake = self.wake.min(until);
        }
    }
}

/// A neighbour in a HELLO or TC, with or without qualities.
pub(super) trait Listed: Entry {
    /// The neighbour with its qualities; without any, the best ones.
    fn rated(self) -> Rated;
}

impl Listed for Ipv4Addr {
    fn rated(self) -> Rated {
        Rated { address: self, quality: u8::MAX, neighbour_quality: u8::MAX }
    }
}

impl Listed for Rated {
    fn rated(self) -> Rated {
        self
    }
}

/// A time as messages state it.
pub(super) fn time(span: Span) -> Vtime {
    Vtime::at_least(span.0)
}

/// Neighbours in groups of equal code.
fn groups<T>(listed: &[(LinkCode, Rated)], entry: impl Fn(Rated) -> T) -> Vec<Group<T>> {
    let same = listed.chunk_by(|a, b| a.0 == b.0);
    let group = |same: &[(LinkCode, Rated)]| {
        let neighbours = same.iter().map(|&(_, rated)| entry(rated)).collect();
        same.first().map(|&(code, _)| Group { code, neighbours })
    };
    same.filter_map(group).collect()
}
