//! One node with scripted events; times are milliseconds.

use airfair_routing::dsdv::{Dsdv, DsdvConfig, Route};
use airfair_routing::{
    Adjacency, Context, DropReason, Effect, Protocol, Received, Routing, SendRate, To, Undelivered,
};
use airfair_units::{Span, Time};
use airfair_wire::dsdv::{Entry, Update};

pub use crate::shared::*;

/// Without any random time: full dumps at 0, 15, 30 s and so on, triggered updates at once.
pub fn config() -> DsdvConfig {
    DsdvConfig {
        period_jitter: Span::ZERO,
        start_jitter: Span::ZERO,
        update_jitter: Span::ZERO,
        ..DsdvConfig::default()
    }
}

/// Destination, hops and number of a route in an update.
pub type Triple = (u8, u32, u32);

/// An effect with its update decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    Full(Vec<Triple>),
    Incremental(Vec<Triple>),
    Forward { packet: u64, hop: Adjacency },
    Drop { packet: u64, reason: DropReason },
}

impl From<Effect> for Action {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::Send { bytes, kinds, to, ttl, rate } => {
                assert_eq!((to, ttl, rate), (To::All, 1, SendRate::Broadcast));
                let (update, rest) = Update::decode(&bytes).unwrap();
                assert!(rest.is_empty());
                let entries = update.entries().map(|e| (last(e.destination), e.hops, e.number)).collect();
                let [kind] = kinds[..] else { panic!("{kinds:?}") };
                match Protocol::kinds(&DsdvConfig::default())[kind] {
                    "full" => Self::Full(entries),
                    "incremental" => Self::Incremental(entries),
                    other => panic!("{other}"),
                }
            }
            Effect::Forward { packet, hop } => Self::Forward { packet, hop },
            Effect::Drop { packet, reason } => Self::Drop { packet, reason },
            Effect::DropQueued { hop } => panic!("{hop:?}"),
        }
    }
}

pub fn bytes(entries: &[Triple]) -> Vec<u8> {
    let entry = |&(to, hops, number)| Entry { destination: at(to), hops, number };
    let update = Update::new(&entries.iter().map(entry).collect::<Vec<_>>()).unwrap();
    let mut bytes = vec![0; update.wire_len()];
    update.encode(&mut bytes).unwrap();
    bytes
}

/// A node, 10.0.0.1 by default.
pub type Node = Host<Dsdv>;

impl Node {
    pub fn numbered(number: u8, config: &DsdvConfig) -> Self {
        Host::new(number, Dsdv::new(at(number), config))
    }

    /// The node after its first full dump, at 0, with the number 2.
    pub fn started(config: &DsdvConfig) -> Self {
        let mut node = Self::numbered(1, config);
        assert_eq!(node.timer(0), [Action::Full(vec![(1, 1, 2)])]);
        node
    }

    /// Calls a hook of the node: its result, and the resulting actions.
    pub fn call<R>(
        &mut self,
        now: u64,
        hook: impl FnOnce(&mut Dsdv, &mut Context<'_>) -> R,
    ) -> (R, Vec<Action>) {
        let (result, effects) = self.effects(ms(now), hook);
        (result, effects.into_iter().map(Action::from).collect())
    }

    /// An update arrives from a neighbour; what follows at once, a triggered update included.
    pub fn receive(&mut self, now: u64, entries: &[Triple], from: u8) -> Vec<Action> {
        self.receive_by(now, &bytes(entries), hop(from))
    }

    pub fn receive_by(&mut self, now: u64, bytes: &[u8], from: Adjacency) -> Vec<Action> {
        let received = Received { from, ttl: 1, to_all: true };
        let mut actions = self.call(now, |dsdv, cx| dsdv.on_message(bytes, received, cx)).1;
        if self.routing.deadline() <= ms(now) {
            actions.extend(self.timer(now));
        }
        actions
    }

    /// The requested timer expires.
    pub fn timer(&mut self, now: u64) -> Vec<Action> {
        assert_eq!(self.routing.deadline(), ms(now), "the deadline of the node");
        self.call(now, |dsdv, cx| dsdv.on_timer(cx)).1
    }

    /// All timers up to a time, with what follows from each: milliseconds, and the actions.
    pub fn until(&mut self, end: u64) -> Vec<(u64, Vec<Action>)> {
        let mut all = Vec::new();
        while self.routing.deadline() <= ms(end) {
            let now = self.routing.deadline().0 / 1_000_000;
            let actions = self.timer(now);
            if !actions.is_empty() {
                all.push((now, actions));
            }
        }
        all
    }

    /// The node originates a packet: its next hop if there is a route, and the actions.
    pub fn send(&mut self, now: u64, packet: u64, to: u8) -> (Option<Adjacency>, Vec<Action>) {
        self.call(now, |dsdv, cx| dsdv.originate(packet, at(to), cx))
    }

    pub fn undelivered(&mut self, now: u64, neighbour: u8) -> Vec<Action> {
        let mut actions =
            self.call(now, |dsdv, cx| dsdv.on_undelivered(hop(neighbour), Undelivered::Data(None), cx)).1;
        if self.routing.deadline() <= ms(now) {
            actions.extend(self.timer(now));
        }
        actions
    }

    pub fn route(&self, to: u8) -> Option<&Route> {
        self.routing.routes().find(|(known, _)| *known == at(to)).map(|(_, route)| route)
    }

    /// Number, hops, next hop of a valid route.
    pub fn valid(&self, to: u8) -> Option<(u32, u32, u8)> {
        let route = self.route(to).filter(|route| route.is_valid())?;
        assert_eq!(self.routing.next_hop(at(to), Time::ZERO), Some(route.hop));
        Some((route.number, route.hops, last(route.hop.neighbour)))
    }

    /// Number of a broken route.
    pub fn broken(&self, to: u8) -> Option<u32> {
        let route = self.route(to).filter(|route| !route.is_valid())?;
        assert_eq!(self.routing.next_hop(at(to), Time::ZERO), None);
        Some(route.number)
    }
}
