//! One node with scripted events; times are milliseconds.

use std::ops::{Deref, DerefMut};

use airfair_routing::olsr::{Olsr, OlsrConfig};
use airfair_routing::{Adjacency, Effect, NodeSetup, Protocol, Received, Routing, SendRate, To};
use airfair_units::Span;
use airfair_wire::olsr::{Body, Group, Hello, LinkCode, LinkType, Message, NeighbourType, Packet, Tc, Vtime};

pub use crate::shared::*;

/// No jitter, and all timers start at 0.
pub fn config() -> OlsrConfig {
    OlsrConfig { max_jitter: Span::ZERO, synchronous_start: true, ..OlsrConfig::default() }
}

/// 6 s and 15 s, as messages state them.
pub const NEIGHBOUR_HOLD: Vtime = Vtime(0x86);
pub const TOPOLOGY_HOLD: Vtime = Vtime(0xe7);
/// 2 s.
pub const HELLO_INTERVAL: Vtime = Vtime(0x05);

/// A datagram that was sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    pub interface: u32,
    pub messages: Vec<Message>,
    pub kinds: Vec<&'static str>,
    pub rate: SendRate,
    pub bytes: usize,
    /// Number of the packet.
    pub sequence: u16,
}

/// A node, 10.0.0.1 by default.
pub struct Node {
    host: Host<Olsr>,
    /// Number of the last TC that was received.
    numbers: u16,
}

impl Deref for Node {
    type Target = Host<Olsr>;

    fn deref(&self) -> &Self::Target {
        &self.host
    }
}

impl DerefMut for Node {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.host
    }
}

impl Node {
    /// A node with one interface that has started at time 0, and has sent its first HELLO.
    pub fn started(config: &OlsrConfig) -> Self {
        let mut node = Self::with_interfaces(1, 1, config);
        node.timer(0);
        node
    }

    /// A node that has not started.
    pub fn with_interfaces(number: u8, interfaces: u32, config: &OlsrConfig) -> Self {
        let node = NodeSetup { address: at(number), interfaces, wires_from: None };
        Self { host: Host::new(number, Olsr::new(&node, config)), numbers: 0 }
    }

    /// A node with the address 1 that has not started.
    pub fn of(setup: &NodeSetup, config: &OlsrConfig) -> Self {
        Self { host: Host::new(1, Olsr::new(setup, config)), numbers: 0 }
    }

    fn sent(effects: Vec<Effect>) -> Vec<Sent> {
        let sent = |effect| match effect {
            Effect::Send { bytes, kinds, to: To::Interface(interface), ttl: 1, rate } => {
                let (packet, rest) = Packet::decode(&bytes).unwrap();
                assert!(rest.is_empty());
                let sequence = packet.sequence();
                let kinds = kinds.into_iter().map(|kind| OlsrConfig::default().kinds()[kind]).collect();
                Sent {
                    interface,
                    messages: packet.into_messages(),
                    kinds,
                    rate,
                    bytes: bytes.len(),
                    sequence,
                }
            }
            other => panic!("{other:?}"),
        };
        effects.into_iter().map(sent).collect()
    }

    /// Time passes up to `now`, which belongs to it: what the node sends.
    pub fn until(&mut self, now: u64) -> Vec<Sent> {
        let mut sent = Vec::new();
        while self.routing.deadline() <= ms(now) {
            let due = self.routing.deadline();
            sent.extend(Self::sent(self.effects(due, |olsr, cx| olsr.on_timer(cx)).1));
        }
        sent
    }

    /// The timer is due at `now`: what the node sends then.
    pub fn timer(&mut self, now: u64) -> Vec<Sent> {
        Self::sent(self.effects(ms(now), |olsr, cx| olsr.on_timer(cx)).1)
    }

    /// Messages arrive in a packet from a neighbour, by an interface; nothing is sent at once.
    pub fn receive_by(&mut self, now: u64, interface: u32, from: u8, messages: &[Message]) {
        let packet = Packet::new(1, messages.to_vec()).unwrap();
        let mut bytes = vec![0; packet.wire_len()];
        packet.encode(&mut bytes).unwrap();
        let from = Adjacency { neighbour: at(from), interface };
        let received = Received { from, ttl: 1, to_all: true };
        let effects = self.effects(ms(now), |olsr, cx| olsr.on_message(&bytes, received, cx)).1;
        assert_eq!(effects, []);
    }

    pub fn receive(&mut self, now: u64, from: u8, messages: &[Message]) {
        self.receive_by(now, 0, from, messages);
    }

    /// A neighbour's HELLO with these groups.
    pub fn hello(&mut self, now: u64, from: u8, groups: &[(LinkCode, &[u8])]) {
        self.receive(now, from, &[hello(from, 3, groups)]);
    }

    /// A neighbour's HELLO in which this node (number 1) is symmetric, and so are `others`.
    pub fn meet(&mut self, now: u64, from: u8, others: &[u8]) {
        self.hello(now, from, &[(SYMMETRIC, &[&[1], others].concat())]);
    }

    /// As [`Node::meet`], and the neighbour has selected this node as relay.
    pub fn selected(&mut self, now: u64, from: u8, others: &[u8]) {
        self.hello(now, from, &[(RELAY, &[1]), (SYMMETRIC, others)]);
    }

    /// A TC of a node arrives from a neighbour.
    pub fn tc(&mut self, now: u64, from: u8, originator: u8, number: u16, neighbours: &[u8]) {
        self.numbers += 1;
        let message = tc(originator, self.numbers, number, neighbours);
        self.receive(now, from, &[message]);
    }

    /// Destinations with next hop and number of hops.
    pub fn routes(&self) -> Vec<(u8, u8, u32)> {
        let routes = self.routing.routes().iter();
        routes.map(|(to, route)| (last(*to), last(route.hop.neighbour), route.hops)).collect()
    }

    pub fn relays(&self) -> Vec<u8> {
        self.routing.relays().map(last).collect()
    }

    pub fn selectors(&self) -> Vec<u8> {
        self.routing.selectors().map(last).collect()
    }
}

pub const ASYMMETRIC: LinkCode = LinkCode::new(LinkType::Asymmetric, NeighbourType::Not);
pub const SYMMETRIC: LinkCode = LinkCode::new(LinkType::Symmetric, NeighbourType::Symmetric);
pub const RELAY: LinkCode = LinkCode::new(LinkType::Symmetric, NeighbourType::Relay);
pub const LOST: LinkCode = LinkCode::new(LinkType::Lost, NeighbourType::Not);

pub fn hello(from: u8, willingness: u8, groups: &[(LinkCode, &[u8])]) -> Message {
    let group = |&(code, neighbours): &(LinkCode, &[u8])| Group {
        code,
        neighbours: neighbours.iter().map(|&n| at(n)).collect(),
    };
    let groups = groups.iter().map(group).collect();
    let body = Body::Hello(Hello { interval: HELLO_INTERVAL, willingness, groups });
    Message { validity: NEIGHBOUR_HOLD, originator: at(from), ttl: 1, hops: 0, sequence: 1, body }
}

pub fn tc(originator: u8, sequence: u16, number: u16, neighbours: &[u8]) -> Message {
    let body = Body::Tc(Tc { number, neighbours: neighbours.iter().map(|&n| at(n)).collect() });
    Message { validity: TOPOLOGY_HOLD, originator: at(originator), ttl: 255, hops: 0, sequence, body }
}

/// The HELLOs among datagrams, each as groups of code and neighbours.
pub fn hellos(sent: &[Sent]) -> Vec<Vec<(LinkCode, Vec<u8>)>> {
    let groups = |message: &Message| match &message.body {
        Body::Hello(hello) => {
            let groups = hello.groups.iter();
            Some(
                groups
                    .map(|group| (group.code, group.neighbours.iter().copied().map(last).collect()))
                    .collect(),
            )
        }
        _ => None,
    };
    sent.iter().flat_map(|sent| sent.messages.iter().filter_map(groups)).collect()
}

/// The node's own TCs among datagrams: number and neighbours.
pub fn own_tcs(sent: &[Sent]) -> Vec<(u16, Vec<u8>)> {
    let own = sent.iter().flat_map(|sent| &sent.messages).filter(|message| message.originator == at(1));
    let tc = |message: &Message| match &message.body {
        Body::Tc(tc) => Some((tc.number, tc.neighbours.iter().copied().map(last).collect())),
        _ => None,
    };
    own.filter_map(tc).collect()
}
