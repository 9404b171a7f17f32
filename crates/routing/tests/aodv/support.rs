//! One node with scripted events; times are milliseconds.

use airfair_routing::aodv::{Aodv, AodvConfig, Route};
use airfair_routing::{Adjacency, Context, DropReason, Effect, Received, Routing, SendRate, To, Undelivered};
use airfair_units::{Span, Time};
use airfair_wire::aodv::{Message, Rerr, Rrep, Rreq, Unreachable};

pub use crate::shared::*;

/// No jitter: broadcasts are forwarded at once. Packets queued for a lost neighbour are not dropped.
pub fn config() -> AodvConfig {
    AodvConfig { broadcast_jitter: Span::ZERO, drop_queued: false, ..AodvConfig::default() }
}

/// An effect with its message decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    Send { message: Message, to: Option<Adjacency>, ttl: u8 },
    Forward { packet: u64, hop: Adjacency },
    Drop { packet: u64, reason: DropReason },
    DropQueued { hop: Adjacency },
}

impl From<Effect> for Action {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::Send { bytes, kinds, to, ttl, rate } => {
                let (message, rest) = Message::decode(&bytes).unwrap();
                assert!(rest.is_empty());
                assert_eq!(rate, SendRate::Broadcast);
                let to = match to {
                    To::All => None,
                    To::Neighbour(hop) => Some(hop),
                    To::Interface(_) => panic!("AODV broadcasts on every interface"),
                };
                let name = match &message {
                    Message::Rreq(_) => "rreq",
                    Message::Rrep(_) if to.is_none() => "hello",
                    Message::Rrep(_) => "rrep",
                    Message::Rerr(_) => "rerr",
                    Message::RrepAck => "rrep_ack",
                };
                let [kind] = kinds[..] else { panic!("{kinds:?}") };
                assert_eq!(airfair_routing::Protocol::kinds(&AodvConfig::default())[kind], name);
                Self::Send { message, to, ttl }
            }
            Effect::Forward { packet, hop } => Self::Forward { packet, hop },
            Effect::Drop { packet, reason } => Self::Drop { packet, reason },
            Effect::DropQueued { hop } => Self::DropQueued { hop },
        }
    }
}

pub fn bytes(message: &Message) -> Vec<u8> {
    let mut bytes = vec![0; message.wire_len()];
    message.encode(&mut bytes).unwrap();
    bytes
}

/// A node, 10.0.0.1 by default.
pub type Node = Host<Aodv>;

impl Node {
    pub fn first(config: &AodvConfig) -> Self {
        Self::numbered(1, config)
    }

    pub fn numbered(number: u8, config: &AodvConfig) -> Self {
        Host::new(number, Aodv::new(at(number), config))
    }

    /// Calls a hook of the node: its result, and the resulting actions.
    pub fn call<R>(
        &mut self,
        now: Time,
        hook: impl FnOnce(&mut Aodv, &mut Context<'_>) -> R,
    ) -> (R, Vec<Action>) {
        let (result, effects) = self.effects(now, hook);
        (result, effects.into_iter().map(Action::from).collect())
    }

    /// The node originates a packet: its next hop if there is a route, and the actions.
    pub fn send(&mut self, now: u64, packet: u64, to: u8) -> (Option<Adjacency>, Vec<Action>) {
        self.call(ms(now), |aodv, cx| aodv.originate(packet, at(to), cx))
    }

    /// A packet of another node arrives from a neighbour.
    pub fn relay(
        &mut self,
        now: u64,
        packet: u64,
        ends: [u8; 2],
        from: u8,
    ) -> (Option<Adjacency>, Vec<Action>) {
        self.call(ms(now), |aodv, cx| aodv.relay(packet, ends.map(at), hop(from), cx))
    }

    /// A message arrives from a neighbour.
    pub fn receive(&mut self, now: u64, message: impl Into<Incoming>, from: u8) -> Vec<Action> {
        let Incoming { message, ttl, to_all } = message.into();
        let received = Received { from: hop(from), ttl, to_all };
        self.call(ms(now), |aodv, cx| aodv.on_message(&bytes(&message), received, cx)).1
    }

    /// A requested timer expires.
    pub fn timer(&mut self, now: u64) -> Vec<Action> {
        assert_eq!(self.routing.deadline(), ms(now), "the deadline of the node");
        self.call(ms(now), |aodv, cx| aodv.on_timer(cx)).1
    }

    pub fn undelivered(&mut self, now: u64, neighbour: u8, what: Undelivered<'_>) -> Vec<Action> {
        self.call(ms(now), |aodv, cx| aodv.on_undelivered(hop(neighbour), what, cx)).1
    }

    /// The link layer could not deliver a packet of this node.
    pub fn break_link(&mut self, now: u64, neighbour: u8) -> Vec<Action> {
        self.undelivered(now, neighbour, Undelivered::Data(None))
    }

    pub fn route_at(&mut self, now: Time, to: u8) -> Option<Route> {
        self.routing.routes(now).find(|(known, _)| *known == at(to)).map(|(_, route)| route.clone())
    }

    pub fn route(&mut self, now: u64, to: u8) -> Option<Route> {
        self.route_at(ms(now), to)
    }

    /// Number, hops, next hop of a valid route.
    pub fn valid(&mut self, now: u64, to: u8) -> Option<(Option<u32>, u8, u8)> {
        let route = self.route(now, to).filter(|route| route.valid)?;
        Some((route.number, route.hops, last(route.hop.neighbour)))
    }

    /// Number of a route that has ended.
    pub fn ended(&mut self, now: u64, to: u8) -> Option<u32> {
        self.route(now, to).filter(|route| !route.valid).and_then(|route| route.number)
    }
}

/// A message with its time to live and its kind of destination.
pub struct Incoming {
    message: Message,
    ttl: u8,
    to_all: bool,
}

impl From<Rreq> for Incoming {
    fn from(rreq: Rreq) -> Self {
        Self { message: Message::Rreq(rreq), ttl: 35, to_all: true }
    }
}

impl From<(Rreq, u8)> for Incoming {
    fn from((rreq, ttl): (Rreq, u8)) -> Self {
        Self { ttl, ..rreq.into() }
    }
}

impl From<Rrep> for Incoming {
    fn from(rrep: Rrep) -> Self {
        Self { message: Message::Rrep(rrep), ttl: 35, to_all: false }
    }
}

impl From<Rerr> for Incoming {
    fn from(rerr: Rerr) -> Self {
        Self { message: Message::Rerr(rerr), ttl: 1, to_all: true }
    }
}

/// Any message as a broadcast.
impl From<Message> for Incoming {
    fn from(message: Message) -> Self {
        Self { message, ttl: 1, to_all: true }
    }
}

/// A request of `originator`, whose own number is 100, as its neighbours receive it.
pub fn rreq(originator: u8, id: u32, destination: u8, number: Option<u32>) -> Rreq {
    Rreq {
        join: false,
        repair: false,
        gratuitous: false,
        destination_only: false,
        hops: 0,
        id,
        destination: at(destination),
        destination_number: number,
        originator: at(originator),
        originator_number: 100,
    }
}

/// A reply to `originator` about `destination`, with a lifetime of 6 s.
pub fn rrep(destination: u8, number: u32, hops: u8, originator: u8) -> Rrep {
    Rrep {
        repair: false,
        acknowledge: false,
        prefix: Default::default(),
        hops,
        destination: at(destination),
        destination_number: number,
        originator: at(originator),
        lifetime_ms: 6000,
    }
}

/// A route error about these destinations, with their numbers.
pub fn rerr(lost: &[(u8, u32)]) -> Rerr {
    let lost: Vec<Unreachable> =
        lost.iter().map(|&(to, number)| Unreachable { destination: at(to), number }).collect();
    Rerr::new(false, &lost).unwrap()
}

pub fn to_all(message: Message, ttl: u8) -> Action {
    Action::Send { message, to: None, ttl }
}

pub fn to_one(message: Message, to: u8) -> Action {
    Action::Send { message, to: Some(hop(to)), ttl: 35 }
}

pub fn dropped(packet: u64, reason: DropReason) -> Action {
    Action::Drop { packet, reason }
}

pub fn forward(packet: u64, to: u8) -> Action {
    Action::Forward { packet, hop: hop(to) }
}

/// The requests among actions: time to live, and the request.
pub fn requests(actions: &[Action]) -> Vec<(u8, Rreq)> {
    let request = |action: &Action| match action {
        Action::Send { message: Message::Rreq(rreq), to: None, ttl } => Some((*ttl, *rreq)),
        _ => None,
    };
    actions.iter().filter_map(request).collect()
}
