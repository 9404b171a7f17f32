//! Optimized Link State Routing (Clausen and Jacquet, RFC 3626, 2003), with paths by hops or by expected transmissions (ETX).
//!
//! Every node broadcasts HELLOs, from which its neighbours learn which links are symmetric, and which nodes are two hops away. A node
//! selects some of its neighbours as multipoint relays (MPRs), which together reach all nodes two hops away. A node that was selected as
//! relay floods the network with TCs, which list its selectors; only relays forward these. From both kinds of messages every node
//! computes shortest paths to all others.
//!
//! | file | contents |
//! |---|---|
//! | `links` | links: link sensing, hysteresis, quality (7, 14) |
//! | `hello` | HELLOs (6), neighbours and their neighbours (8.1, 8.2), selectors (8.4) |
//! | `relays` | selection of relays (8.3, 16) |
//! | `topology` | TCs (9, 15) |
//! | `flooding` | datagrams of several messages, duplicates, forwarding (3) |
//! | `table` | the routing table (10) |
//! | `pairs` | tables of what nodes state of others, in which none can take all the room |
//! | `config` | parameters (18) |
//!
//! Readings and deviations:
//!
//! - All interfaces of a node have one address, so that MIDs (section 5) have nothing to state: a link is a neighbour by an interface.
//! - A message is due every interval, and delayed by up to `max_jitter`; the RFC shortens the interval by the jitter instead (3.5), by
//!   which nodes would send a seventh more often than stated.
//! - Among equal paths the neighbour with the lowest address is the next hop, as with static routes, after the most willing one. The RFC
//!   also prefers selectors (10).
//! - Relays that turn out to be superfluous are kept (8.3.1, step 5, MAY).
//! - With ETX the quality of a link is measured by HELLOs, and stated in HELLOs and TCs of olsrd's format. In a network with cables these
//!   cost a tenth of a transmission, as with olsrd's link-quality algorithm etx_ffeth: they use no air.
//! - Up to [`AT_ONCE`] links that a node knows, its own and those of others, each message draws its consequences at once. Beyond, they
//!   are drawn twice in a HELLO interval: a message costs a bounded amount of work, whatever others have stated before.
//!
//! Left out: HNA (12) and IPv6 (17): there are no networks outside. Messages of other types are forwarded.

mod config;
mod flooding;
mod hello;
mod links;
mod pairs;
mod relays;
mod table;
mod topology;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use airfair_units::{Span, Time};
use airfair_wire::Ipv4Addr;
use airfair_wire::olsr::{Body, Message, PORT, Packet};

use crate::protocol::Definition;
use crate::{Adjacency, Context, DropReason, Effect, NodeSetup, Received, Routing, TableState, Undelivered};

use flooding::{Duplicate, Output};
use links::{Costs, LinkTuple};
use pairs::Pairs;
use relays::Candidates;

pub use config::{Advertised, Base, Hysteresis, Metric, OlsrConfig, WILL_ALWAYS, WILL_NEVER};
pub use table::Route;
pub use topology::is_newer;

/// Names of the kinds of messages, in the order of their counters.
const KINDS: [&str; 3] = ["hello", "tc", "forwarded"];

/// A neighbour of a symmetric neighbour (2-hop tuple).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TwoHop {
    until: Time,
    /// Cost of the link between both; `None`: no probes pass.
    cost: Option<u64>,
}

/// A link that a node advertises (topology tuple).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Topology {
    /// Number of the advertised set (T_seq).
    number: u16,
    until: Time,
    /// Cost of the link; `None`: no probes pass.
    cost: Option<u64>,
}

/// Links, nodes two hops away and advertised links up to which the consequences of each message are drawn at once.
pub const AT_ONCE: usize = 8192;

/// All links to a neighbour.
fn links_to(neighbour: Ipv4Addr) -> RangeInclusive<Adjacency> {
    Adjacency { neighbour, interface: 0 }..=Adjacency { neighbour, interface: u32::MAX }
}

/// Routing of a node.
#[derive(Debug)]
pub struct Olsr {
    address: Ipv4Addr,
    interfaces: u32,
    config: OlsrConfig,
    costs: Costs,
    links: BTreeMap<Adjacency, LinkTuple>,
    /// Willingness of nodes that were heard.
    willingness: BTreeMap<Ipv4Addr, u8>,
    /// Symmetric links.
    symmetric: BTreeSet<Adjacency>,
    /// Symmetric neighbours with their willingness.
    neighbours: BTreeMap<Ipv4Addr, u8>,
    /// By neighbour and its neighbour.
    two_hops: Pairs<TwoHop>,
    /// Neighbours that the node has selected as relays (MPR set).
    relays: BTreeSet<Ipv4Addr>,
    /// Neighbours that have selected the node as relay, with the end of that time.
    selectors: BTreeMap<Ipv4Addr, Time>,
    advertised: BTreeSet<Ipv4Addr>,
    /// Number of the advertised set (ANSN).
    number: u16,
    /// End of the time in which others may remember advertised neighbours.
    advertised_until: Time,
    /// By the node that advertises the link, and the other end.
    topology: Pairs<Topology>,
    /// By originator and number.
    duplicates: BTreeMap<(Ipv4Addr, u16), Duplicate>,
    /// Earliest time at which duplicates that have ended are removed.
    forget_at: Time,
    /// By interface.
    outputs: Vec<Output>,
    /// Number of the node's last message.
    sequence: u16,
    /// In the order of their destinations.
    routes: Vec<(Ipv4Addr, Route)>,
    table: TableState,
    /// Destinations whose next hops the last hook has changed.
    moved: Vec<Ipv4Addr>,
    /// Entries that found no room in a table, and messages that found none in front of an interface.
    refused: u64,
    /// Times of the next HELLO and TC; `None` before the start.
    due: Option<(Time, Time)>,
    /// A time not later than the next expiry in the tables.
    wake: Time,
    links_changed: bool,
    two_hops_changed: bool,
    topology_changed: bool,
    /// Time at which the consequences of messages were drawn last, and whether some have not been drawn since.
    settled: Time,
    unsettled: bool,
    /// Entries of tables looked at.
    work: u64,
}

impl Olsr {
    /// A node that knows no other.
    #[must_use]
    pub fn new(node: &NodeSetup, config: &OlsrConfig) -> Self {
        Self {
            address: node.address,
            interfaces: node.interfaces,
            config: *config,
            costs: Costs::new(config.metric, node.wires_from),
            links: BTreeMap::new(),
            willingness: BTreeMap::new(),
            symmetric: BTreeSet::new(),
            neighbours: BTreeMap::new(),
            two_hops: Pairs::new(config.table_limit),
            relays: BTreeSet::new(),
            selectors: BTreeMap::new(),
            advertised: BTreeSet::new(),
            number: 0,
            advertised_until: Time::ZERO,
            topology: Pairs::new(config.table_limit),
            duplicates: BTreeMap::new(),
            forget_at: Time::ZERO,
            outputs: (0..node.interfaces).map(|_| Output::default()).collect(),
            sequence: 0,
            routes: Vec::new(),
            table: TableState::default(),
            moved: Vec::new(),
            refused: 0,
            due: None,
            wake: Time::NEVER,
            links_changed: false,
            two_hops_changed: false,
            topology_changed: false,
            settled: Time::ZERO,
            unsettled: false,
            work: 0,
        }
    }

    /// Routes to all known nodes, in the order of their addresses.
    #[must_use]
    pub fn routes(&self) -> &[(Ipv4Addr, Route)] {
        &self.routes
    }

    /// The route to a node.
    #[must_use]
    pub fn route(&self, to: Ipv4Addr) -> Option<&Route> {
        let at = self.routes.binary_search_by_key(&to, |&(to, _)| to).ok()?;
        Some(&self.routes[at].1)
    }

    /// Neighbours that the node has selected as relays, in ascending order.
    pub fn relays(&self) -> impl Iterator<Item = Ipv4Addr> + '_ {
        self.relays.iter().copied()
    }

    /// Neighbours that have selected the node as relay, in ascending order.
    pub fn selectors(&self) -> impl Iterator<Item = Ipv4Addr> + '_ {
        self.selectors.keys().copied()
    }

    /// The best symmetric link to a neighbour.
    fn best_link(&self, neighbour: Ipv4Addr, now: Time) -> Option<(Adjacency, &LinkTuple)> {
        let links = self.links.range(links_to(neighbour)).filter(|(_, link)| link.is_symmetric(now));
        let cost = |link: &LinkTuple| link.cost(&self.config, self.costs).unwrap_or(u64::MAX);
        links.min_by_key(|(hop, link)| (cost(link), **hop)).map(|(&hop, link)| (hop, link))
    }

    /// Entries of the tables that routes are calculated from.
    fn entries(&self) -> usize {
        self.links.len() + self.two_hops.len() + self.topology.len()
    }

    /// Earliest time at which the consequences of messages are drawn.
    fn settles_at(&self) -> Time {
        if self.entries() <= AT_ONCE {
            return Time::ZERO;
        }
        self.settled.saturating_add(Span(self.config.hello_interval.0 / 2))
    }

    /// Removes entries that have expired, and counts HELLOs that were missed.
    fn expire(&mut self, now: Time) {
        if self.wake.max(self.settles_at()) > now {
            return;
        }
        let config = self.config;
        for link in self.links.values_mut() {
            let quality = link.quality(config.etx_window);
            link.count_missed(&config, now);
            self.links_changed |= config.metric == Metric::Etx && link.quality(config.etx_window) != quality;
        }
        self.links.retain(|_, link| link.until > now);
        self.work += (self.entries() + self.willingness.len()) as u64;
        self.forget_duplicates(now);
        let links = &self.links;
        self.willingness.retain(|&neighbour, _| links.range(links_to(neighbour)).next().is_some());
        self.selectors.retain(|_, until| *until > now);
        self.two_hops_changed |= self.two_hops.retain(|_, known| known.until > now) > 0;
        self.topology_changed |= self.topology.retain(|_, known| known.until > now) > 0;
        let links = self.links.values().map(|link| link.deadline(now));
        let two_hops = self.two_hops.iter().map(|(_, known)| known.until);
        let topology = self.topology.iter().map(|(_, known)| known.until);
        let others = two_hops.chain(topology).chain(self.selectors.values().copied());
        self.wake = links.chain(others).min().unwrap_or(Time::NEVER);
    }

    /// Draws the consequences of what has changed: neighbours, relays, advertised neighbours, routes.
    fn settle(&mut self, now: Time) {
        self.unsettled = self.settles_at() > now;
        if self.unsettled {
            return;
        }
        self.settled = now;
        self.work += (self.links.len() + self.neighbours.len()) as u64;
        let symmetric = || self.links.iter().filter(|(_, link)| link.is_symmetric(now)).map(|(&hop, _)| hop);
        let willingness = |neighbour| *self.willingness.get(&neighbour).unwrap_or(&WILL_NEVER);
        let moved = !symmetric().eq(self.symmetric.iter().copied())
            || self.neighbours.iter().any(|(&neighbour, &will)| willingness(neighbour) != will);
        if moved {
            let neighbours: BTreeMap<Ipv4Addr, u8> =
                symmetric().map(|hop| (hop.neighbour, willingness(hop.neighbour))).collect();
            self.symmetric = symmetric().collect();
            // Section 8.5: what a lost neighbour has reported is forgotten.
            self.two_hops.retain(|(neighbour, _), _| neighbours.contains_key(neighbour));
            self.selectors.retain(|neighbour, _| neighbours.contains_key(neighbour));
            self.neighbours = neighbours;
        }
        if moved || self.two_hops_changed {
            let selected: Vec<_> =
                (0..self.interfaces).map(|interface| self.select_relays(interface)).collect();
            self.relays.clear();
            for (relays, work) in selected {
                self.relays.extend(relays);
                self.work += work;
            }
        }
        self.update_advertised();
        if moved || self.two_hops_changed || self.topology_changed || self.links_changed {
            self.replace_routes(now);
        }
        (self.links_changed, self.two_hops_changed, self.topology_changed) = (false, false, false);
    }

    /// Relays for the nodes that are reached by an interface [RFC 3626 section 8.3].
    fn select_relays(&self, interface: u32) -> (BTreeSet<Ipv4Addr>, u64) {
        let mut candidates = Candidates::default();
        for hop in self.symmetric.iter().filter(|hop| hop.interface == interface) {
            let Some(&willingness) = self.neighbours.get(&hop.neighbour) else { continue };
            candidates.willingness.insert(hop.neighbour, willingness);
        }
        for (&(neighbour, to), _) in self.two_hops.iter() {
            if candidates.willingness.contains_key(&neighbour)
                && to != self.address
                && !self.neighbours.contains_key(&to)
            {
                candidates.reach.entry(neighbour).or_default().insert(to);
            }
        }
        let (relays, work) = candidates.relays(self.config.mpr_coverage);
        (relays, work + self.two_hops.len() as u64)
    }

    fn replace_routes(&mut self, now: Time) {
        let (routes, work) = self.calculate(now);
        self.work += work + routes.len() as u64;
        let hop = |&(to, route): &(Ipv4Addr, Route)| (to, route.hop);
        if !routes.iter().map(hop).eq(self.routes.iter().map(hop)) {
            let is_lost = |to: &Ipv4Addr| routes.binary_search_by_key(to, |&(to, _)| to).is_err();
            self.table.revision += 1;
            self.note_moved(&routes);
            self.table.lost += self.routes.iter().filter(|(to, _)| is_lost(to)).count() as u64;
        }
        self.routes = routes;
    }

    /// Notes the destinations whose next hops differ in a new table.
    fn note_moved(&mut self, new: &[(Ipv4Addr, Route)]) {
        let mut old = self.routes.iter().peekable();
        for &(to, route) in new {
            while let Some(&(gone, _)) = old.next_if(|&&(other, _)| other < to) {
                self.moved.push(gone);
            }
            let before = old.next_if(|&&(other, _)| other == to);
            if before.is_none_or(|(_, before)| before.hop != route.hop) {
                self.moved.push(to);
            }
        }
        self.moved.extend(old.map(|&(gone, _)| gone));
    }

    fn on_packet_message(&mut self, message: Message, received: Received, cx: &mut Context<'_>) {
        if message.ttl == 0 || message.originator == self.address {
            return;
        }
        match &message.body {
            Body::Hello(hello) => return self.on_hello(&message, hello, received, cx),
            Body::RatedHello(hello) => return self.on_hello(&message, hello, received, cx),
            Body::Tc(_) | Body::RatedTc(_) | Body::Other(_) => {}
        }
        if !self.links.get(&received.from).is_some_and(|link| link.is_symmetric(cx.now)) {
            return;
        }
        if self.is_new(&message, cx.now) {
            match &message.body {
                Body::Tc(tc) => self.on_tc(&message, tc, cx.now),
                Body::RatedTc(tc) => self.on_tc(&message, tc, cx.now),
                _ => {}
            }
        }
        self.forward(message, received, cx);
    }

    /// Times of the first HELLO and TC.
    fn first_due(&self, cx: &mut Context<'_>) -> (Time, Time) {
        let mut within = |interval: Span| match self.config.synchronous_start {
            true => cx.now,
            false => cx.now.saturating_add(Span((cx.random.uniform() * interval.0 as f64) as u64)),
        };
        (within(self.config.hello_interval), within(self.config.tc_interval))
    }
}

impl Definition for OlsrConfig {
    const NAME: &'static str = "OLSR";
    const UDP_PORT: u16 = PORT;
    const KINDS: &'static [&'static str] = &KINDS;
    const IS_PROACTIVE: bool = true;

    fn content(datagram: &[u8], _to_all: bool) -> &'static str {
        let Ok((packet, _)) = Packet::decode(datagram) else { return "olsr" };
        let any = |is: fn(&Body) -> bool| packet.messages().iter().any(|message| is(&message.body));
        let hello = any(|body| matches!(body, Body::Hello(_) | Body::RatedHello(_)));
        let tc = any(|body| matches!(body, Body::Tc(_) | Body::RatedTc(_)));
        match (hello, tc) {
            (true, true) => "olsr-hello+tc",
            (true, false) => "olsr-hello",
            (false, true) => "olsr-tc",
            (false, false) => "olsr",
        }
    }

    fn node(&self, node: &NodeSetup) -> Box<dyn Routing> {
        Box::new(Olsr::new(node, self))
    }
}

impl Routing for Olsr {
    /// Without a route the packet is dropped.
    fn originate(&mut self, packet: u64, destination: Ipv4Addr, cx: &mut Context<'_>) -> Option<Adjacency> {
        let hop = self.next_hop(destination, cx.now);
        if hop.is_none() {
            cx.out.push(Effect::Drop { packet, reason: DropReason::NoRoute });
        }
        hop
    }

    fn relay(
        &mut self,
        packet: u64,
        ends: [Ipv4Addr; 2],
        _from: Adjacency,
        cx: &mut Context<'_>,
    ) -> Option<Adjacency> {
        self.originate(packet, ends[1], cx)
    }

    /// Invalid bytes are ignored.
    fn on_message(&mut self, bytes: &[u8], received: Received, cx: &mut Context<'_>) {
        let Ok((packet, _)) = Packet::decode(bytes) else { return };
        self.moved.clear();
        if received.from.neighbour == self.address {
            return;
        }
        self.expire(cx.now);
        for message in packet.into_messages() {
            self.on_packet_message(message, received, cx);
        }
        self.settle(cx.now);
    }

    /// Without effect unless `link_layer_feedback` is set. A packet that was not delivered breaks the link for `neighbour_hold`.
    fn on_undelivered(&mut self, neighbour: Adjacency, _what: Undelivered<'_>, cx: &mut Context<'_>) {
        if !self.config.link_layer_feedback {
            return;
        }
        self.moved.clear();
        self.expire(cx.now);
        if let Some(link) = self.links.get_mut(&neighbour) {
            link.break_off(&self.config, cx.now);
            self.wake = self.wake.min(link.deadline(cx.now));
        }
        self.settle(cx.now);
    }

    fn on_timer(&mut self, cx: &mut Context<'_>) {
        let (mut hello, mut tc) = match self.due {
            Some(due) => due,
            None => self.first_due(cx),
        };
        self.moved.clear();
        self.expire(cx.now);
        self.settle(cx.now);
        if hello <= cx.now {
            self.send_hellos(cx);
            hello = hello.saturating_add(self.config.hello_interval);
        }
        if tc <= cx.now {
            self.send_tc(cx);
            tc = tc.saturating_add(self.config.tc_interval);
        }
        self.due = Some((hello, tc));
        self.send_due(cx);
    }

    fn deadline(&self) -> Time {
        let Some((hello, tc)) = self.due else { return Time::ZERO };
        let outputs = self.outputs.iter().map(Output::deadline);
        // Below [`AT_ONCE`] whatever has been left is drawn at once.
        let settles = if self.unsettled { self.settles_at() } else { Time::NEVER };
        outputs.chain([hello, tc, self.wake.max(self.settles_at()), settles]).min().unwrap_or(Time::NEVER)
    }

    fn next_hop(&self, destination: Ipv4Addr, _now: Time) -> Option<Adjacency> {
        self.route(destination).map(|route| route.hop)
    }

    fn table(&self) -> TableState {
        self.table
    }

    fn moved(&self) -> &[Ipv4Addr] {
        &self.moved
    }

    fn waiting(&self) -> Vec<u64> {
        Vec::new()
    }

    fn work(&self) -> u64 {
        self.work
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("refused", self.refused)]
    }
}
