//! Ad hoc On-Demand Distance Vector routing (Perkins, Belding-Royer and Das, RFC 3561, 2003).
//!
//! A node that has a packet for a destination without a known route floods a request, ring by ring; the destination, or a node with a
//! sufficiently recent route, replies along the path of the request. Routes become invalid when they are not used, or when a link on them
//! breaks, of which their users are notified.
//!
//! | file | contents |
//! |---|---|
//! | `table` | routes, and the sequence numbers that keep them free of loops (6.1, 6.2) |
//! | `discovery` | search for a route: rings, waiting times, retries (6.3, 6.4) |
//! | `requests` | requests of others (6.5) |
//! | `replies` | replies, and neighbours that receive none (6.6 to 6.8) |
//! | `errors` | broken links (6.11), local repair of routes (6.12) |
//! | `hello` | detection of neighbours (6.9, 6.10) |
//! | `limit`, `config` | rate limits; parameters (10) |
//!
//! Deviations from the RFC's text, with reasons:
//!
//! - The RFC's rules contradict each other in places, and some interpretations create loops. Here a number never decreases, also not by
//!   a route error; a route error with an older number than the node's own is ignored; a route that expires gets the next number like
//!   one that breaks; information without a number never replaces information with one.
//! - A route is prolonged only by packets to or from its next hop. The RFC prolongs the route back to a packet's source also where packets
//!   come by another path: its next hop then forgets the number, and accepts an old route as a new one.
//! - A data packet for a route that is invalid already does not raise its number again: it would overtake the destination's own number. Its
//!   route error is also sent to the neighbour from which it came, which would not learn of it otherwise.
//! - The destination of a request with flag D takes a new number for its reply: nodes that have a route with the old number would not
//!   forward an equal reply (6.7), and no other node may reply.
//! - A node whose route leads back to the neighbour from which the request came does not reply to it.
//!
//! Left out: actions after a reboot (6.13), subnets (7), multicast, the Hello interval extension (9).

mod config;
mod discovery;
mod errors;
mod hello;
mod limit;
mod replies;
mod requests;
mod table;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::Ipv4Addr;
use airfair_wire::aodv::{Message, PORT, Rrep};

use crate::buffer::{Buffer, Limits};
use crate::protocol::Definition;
use crate::{
    Adjacency, Context, DropReason, Effect, NodeSetup, Received, Routing, SendRate, To, Undelivered,
};

use discovery::Search;
use hello::Hellos;
use limit::RateLimit;
use replies::Replies;
use requests::Seen;
use table::Table;

pub use config::{AodvConfig, Base};
pub use errors::MAX_LISTED;
pub use table::Route;

/// Names of the kinds of messages, in the order of their counters.
const KINDS: [&str; 5] = ["rreq", "rrep", "rerr", "rrep_ack", "hello"];

/// Counters of a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Searches started, repairs included.
    pub discoveries: u64,
    /// Searches without success.
    pub failed: u64,
    /// Broken links with valid routes.
    pub breaks: u64,
}

/// Most messages that wait to be passed on: the air carries fewer in any jitter.
const MAX_DELAYED: usize = 1 << 12;

/// A message to be sent later.
#[derive(Debug)]
struct Delayed {
    at: Time,
    message: Message,
    ttl: u8,
}

/// Routing of a node.
#[derive(Debug)]
pub struct Aodv {
    address: Ipv4Addr,
    config: AodvConfig,
    /// Sequence number of the node.
    number: u32,
    table: Table,
    searches: Vec<Search>,
    last_request: u32,
    request_rate: RateLimit,
    error_rate: RateLimit,
    seen: Seen,
    replies: Replies,
    hellos: Hellos,
    buffer: Buffer,
    delayed: Vec<Delayed>,
    counts: Counts,
}

impl Aodv {
    /// A node without routes.
    #[must_use]
    pub fn new(address: Ipv4Addr, config: &AodvConfig) -> Self {
        Self {
            address,
            config: *config,
            // A request without a number carries 0.
            number: 1,
            table: Table::new(config.delete_period),
            searches: Vec::new(),
            last_request: 0,
            request_rate: RateLimit::new(config.rreq_ratelimit),
            error_rate: RateLimit::new(config.rerr_ratelimit),
            seen: Seen::default(),
            replies: Replies::default(),
            hellos: Hellos::default(),
            buffer: Buffer::new(Limits {
                packets: config.buffer_packets,
                per_destination: config.buffer_packets,
                time: config.buffer_time,
            }),
            delayed: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Prolongs a route that is used, and the route back [RFC 3561 section 6.2].
    fn use_route(
        &mut self,
        source: Ipv4Addr,
        destination: Ipv4Addr,
        from: Option<Adjacency>,
        now: Time,
    ) -> Option<Adjacency> {
        let hop = self.table.valid(destination, now)?.hop;
        let until = now.saturating_add(self.config.active_route_timeout);
        self.table.prolong(destination, hop, until, now);
        self.table.prolong(hop.neighbour, hop, until, now);
        if let Some(from) = from {
            self.table.prolong(source, from, until, now);
            self.table.prolong(from.neighbour, from, until, now);
        }
        self.hellos.extend_activity(until);
        Some(hop)
    }

    fn wait_for_route(&mut self, packet: u64, destination: Ipv4Addr, cx: &mut Context<'_>) {
        if let Some(packet) = self.buffer.add(packet, destination, cx.now) {
            cx.out.push(Effect::Drop { packet, reason: DropReason::BufferFull });
        }
        self.search(destination, cx);
    }

    fn send_delayed(&mut self, cx: &mut Context<'_>) {
        let (mut due, rest): (Vec<Delayed>, _) =
            core::mem::take(&mut self.delayed).into_iter().partition(|delayed| delayed.at <= cx.now);
        self.delayed = rest;
        due.sort_by_key(|delayed| delayed.at);
        for Delayed { message, ttl, .. } in due {
            self.hellos.record_broadcast(cx.now);
            cx.out.push(send(&message, None, ttl));
        }
    }

    fn send(&mut self, message: Message, to: Adjacency, cx: &mut Context<'_>) {
        cx.out.push(send(&message, Some(to), self.config.net_diameter));
    }

    fn broadcast(&mut self, message: Message, ttl: u8, cx: &mut Context<'_>) {
        self.hellos.record_broadcast(cx.now);
        cx.out.push(send(&message, None, ttl));
    }

    /// Broadcasts after a random delay, so that neighbours that have received the same message do not answer together.
    fn broadcast_later(&mut self, message: Message, ttl: u8, cx: &mut Context<'_>) {
        let most = self.config.broadcast_jitter;
        if most == Span::ZERO {
            return self.broadcast(message, ttl, cx);
        }
        let wait = Span((cx.random.uniform() * most.0 as f64) as u64);
        if self.delayed.len() >= MAX_DELAYED {
            return;
        }
        self.delayed.push(Delayed { at: cx.now.saturating_add(wait), message, ttl });
    }

    /// All known destinations with their routes.
    pub fn routes(&mut self, now: Time) -> impl Iterator<Item = (Ipv4Addr, &Route)> {
        self.table.current(now).iter().map(|(&to, route)| (to, route))
    }

    /// Packets that wait for routes.
    pub fn waiting_packets(&self) -> impl Iterator<Item = u64> + '_ {
        self.buffer.packets()
    }

    /// Counters of the node.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }
}

impl Definition for AodvConfig {
    const NAME: &'static str = "AODV";
    const UDP_PORT: u16 = PORT;
    const KINDS: &'static [&'static str] = &KINDS;
    const IS_PROACTIVE: bool = false;

    fn content(datagram: &[u8], to_all: bool) -> &'static str {
        match Message::decode(datagram) {
            Ok((Message::Rreq(_), _)) => "aodv-rreq",
            Ok((Message::Rrep(_), _)) if to_all => "aodv-hello",
            Ok((Message::Rrep(_), _)) => "aodv-rrep",
            Ok((Message::Rerr(_), _)) => "aodv-rerr",
            Ok((Message::RrepAck, _)) => "aodv-rrep-ack",
            Err(_) => "aodv",
        }
    }

    fn node(&self, node: &NodeSetup) -> Box<dyn Routing> {
        Box::new(Aodv::new(node.address, self))
    }
}

impl Routing for Aodv {
    fn originate(&mut self, packet: u64, destination: Ipv4Addr, cx: &mut Context<'_>) -> Option<Adjacency> {
        let hop = self.use_route(self.address, destination, None, cx.now);
        if hop.is_none() {
            self.wait_for_route(packet, destination, cx);
        }
        hop
    }

    /// Without a valid route the packet is dropped, or waits for a repair.
    fn relay(
        &mut self,
        packet: u64,
        [source, destination]: [Ipv4Addr; 2],
        from: Adjacency,
        cx: &mut Context<'_>,
    ) -> Option<Adjacency> {
        self.hellos.record_reception(from, cx.now);
        let hop = self.use_route(source, destination, Some(from), cx.now);
        if hop.is_none() {
            if self.is_repairing(destination) {
                self.wait_for_route(packet, destination, cx);
            } else {
                cx.out.push(Effect::Drop { packet, reason: DropReason::NoRoute });
                self.on_unroutable(destination, from, cx);
            }
        }
        hop
    }

    /// Invalid bytes are ignored.
    fn on_message(&mut self, bytes: &[u8], received: Received, cx: &mut Context<'_>) {
        let Ok((message, _)) = Message::decode(bytes) else { return };
        if received.from.neighbour == self.address {
            return;
        }
        self.table.work += (1 + self.searches.len() + self.delayed.len()) as u64;
        self.hellos.record_reception(received.from, cx.now);
        match &message {
            Message::Rreq(rreq) => self.on_request(rreq, received, cx),
            Message::Rrep(rrep) if is_hello(rrep, received) => self.on_hello(rrep, received.from, cx.now),
            Message::Rrep(rrep) => self.on_reply(rrep, received.from, cx),
            Message::Rerr(rerr) => self.on_error(rerr, received.from, cx),
            Message::RrepAck => self.replies.acknowledged(received.from),
        }
        self.end_completed_searches(cx);
    }

    /// Without effect unless `link_layer_feedback` is set. A data packet breaks the link: all routes by that neighbour and interface
    /// become invalid. A reply puts the neighbour on the blacklist.
    fn on_undelivered(&mut self, neighbour: Adjacency, what: Undelivered<'_>, cx: &mut Context<'_>) {
        if !self.config.link_layer_feedback {
            return;
        }
        match what {
            Undelivered::Data(ends) => {
                let breaks = self.counts.breaks;
                self.on_links_broken(&[neighbour], ends, cx);
                if self.config.drop_queued && self.counts.breaks > breaks {
                    cx.out.push(Effect::DropQueued { hop: neighbour });
                }
            }
            Undelivered::Message(bytes) => {
                if matches!(Message::decode(bytes), Ok((Message::Rrep(_), _))) {
                    self.ignore_requests_of(neighbour, cx.now);
                }
            }
        }
    }

    fn on_timer(&mut self, cx: &mut Context<'_>) {
        while let Some(packet) = self.buffer.expired(cx.now) {
            cx.out.push(Effect::Drop { packet, reason: DropReason::BufferTime });
        }
        self.send_delayed(cx);
        self.on_search_deadlines(cx);
        self.on_reply_deadlines(cx.now);
        self.on_hello_deadline(cx);
    }

    fn deadline(&self) -> Time {
        let searches = self.searches.iter().map(|search| search.deadline);
        let delayed = self.delayed.iter().map(|delayed| delayed.at);
        let others = [self.buffer.deadline(), self.replies.deadline(), self.hello_deadline()];
        searches.chain(delayed).chain(others).min().unwrap_or(Time::NEVER)
    }

    fn next_hop(&self, destination: Ipv4Addr, now: Time) -> Option<Adjacency> {
        self.table.valid(destination, now).map(|route| route.hop)
    }

    fn waiting(&self) -> Vec<u64> {
        self.buffer.packets().collect()
    }

    fn work(&self) -> u64 {
        self.table.work
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let Counts { discoveries, failed, breaks } = self.counts;
        vec![("discoveries", discoveries), ("failed", failed), ("breaks", breaks)]
    }
}

/// Effect that sends a message, to one neighbour or to all.
fn send(message: &Message, to: Option<Adjacency>, ttl: u8) -> Effect {
    let mut bytes = vec![0; message.wire_len()];
    let written = message.encode(&mut bytes);
    debug_assert_eq!(written, Ok(bytes.len()));
    let kind = match message {
        Message::Rreq(_) => 0,
        Message::Rrep(_) if to.is_none() => 4,
        Message::Rrep(_) => 1,
        Message::Rerr(_) => 2,
        Message::RrepAck => 3,
    };
    let to = to.map_or(To::All, To::Neighbour);
    Effect::Send { bytes, kinds: vec![kind], to, ttl, rate: SendRate::Broadcast }
}

/// True for a broadcast reply of a node about itself: a Hello message [RFC 3561 section 6.9].
fn is_hello(rrep: &Rrep, received: Received) -> bool {
    received.to_all && rrep.hops == 0 && rrep.destination == received.from.neighbour
}
