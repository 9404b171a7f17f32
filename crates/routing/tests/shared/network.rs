//! A network of nodes whose links appear and disappear, and in which messages are delayed, lost and reordered.

use std::collections::BTreeMap;

use airfair_routing::{Context, Effect, Received, Routing, To, Undelivered, is_younger};
use airfair_units::Time;
use airfair_units::random::{Purpose, Stream};
use proptest::prelude::*;

use crate::shared::{Host, at, hop, last};

/// Number of nodes; the first one has the number 1.
pub const NODES: u8 = 8;

/// A protocol whose routes have sequence numbers.
pub trait Numbered: Routing {
    /// Number, hops and next hop of a valid route.
    fn valid_route(&mut self, to: u8, now: Time) -> Option<(Option<u32>, u32, u8)>;

    /// Refuses effects that the protocol must not have.
    fn check(effect: &Effect);
}

pub struct Network<R> {
    pub nodes: Vec<Host<R>>,
    links: BTreeMap<(u8, u8), bool>,
    /// By time and order of sending.
    events: BTreeMap<(Time, u64), Event>,
    count: u64,
    pub random: Stream,
    pub loss: f64,
    /// Source and destination of each packet.
    made: Vec<[u8; 2]>,
    /// Number of ends of each packet.
    ended: BTreeMap<u64, u32>,
    delivered: u32,
    /// Nothing new happens before this time.
    pub quiet_until: Time,
    pub now: Time,
}

enum Event {
    Message { bytes: Vec<u8>, to: u8, received: Received },
    Data { packet: u64, from: u8, to: u8, hops: u32 },
}

impl<R: Numbered> Network<R> {
    /// A network with random links. `routing`: the state machine of a node, by its number.
    pub fn new(routing: impl Fn(u8) -> R, loss: f64, seed: u64) -> Self {
        let mut network = Self {
            nodes: (1..=NODES).map(|n| Host::new(n, routing(n))).collect(),
            links: BTreeMap::new(),
            events: BTreeMap::new(),
            count: 0,
            random: Stream::new(seed, "network", Purpose::Gap),
            loss,
            made: Vec::new(),
            ended: BTreeMap::new(),
            delivered: 0,
            quiet_until: Time::ZERO,
            now: Time::ZERO,
        };
        (0..30).for_each(|_| network.flip());
        network
    }

    /// The state machine of a node.
    pub fn node(&mut self, number: u8) -> &mut R {
        &mut self.nodes[usize::from(number) - 1].routing
    }

    fn any_node(&mut self) -> u8 {
        1 + self.random.below(NODES.into()) as u8
    }

    /// A link appears or disappears.
    pub fn flip(&mut self) {
        let (a, b) = (self.any_node(), self.any_node());
        let link = self.links.entry((a.min(b), a.max(b))).or_insert(false);
        *link = !*link;
    }

    pub fn linked(&self, a: u8, b: u8) -> bool {
        a != b && self.links.get(&(a.min(b), a.max(b))).copied().unwrap_or(false)
    }

    fn schedule(&mut self, event: Event) {
        // Delays of up to 200 ms reorder messages.
        let at = Time(self.now.0 + 1_000_000 + (self.random.uniform() * 2e8) as u64);
        self.count += 1;
        self.events.insert((at, self.count), event);
    }

    fn end(&mut self, packet: u64) {
        *self.ended.entry(packet).or_insert(0) += 1;
    }

    fn call<T>(&mut self, node: u8, hook: impl FnOnce(&mut R, &mut Context<'_>) -> T) -> T {
        let (result, effects) = self.nodes[usize::from(node) - 1].effects(self.now, hook);
        for effect in effects {
            R::check(&effect);
            match effect {
                Effect::Send { bytes, to: To::All, ttl, .. } => {
                    (1..=NODES).for_each(|to| self.transmit(node, to, &bytes, ttl, true));
                }
                Effect::Send { bytes, to: To::Neighbour(hop), ttl, .. } => {
                    self.transmit(node, last(hop.neighbour), &bytes, ttl, false);
                }
                Effect::Forward { packet, hop } => self.send_data(packet, node, last(hop.neighbour), 0),
                Effect::Drop { packet, .. } => self.end(packet),
                Effect::DropQueued { .. } => {}
                Effect::Send { to: To::Interface(_), .. } => panic!("{effect:?}"),
            }
        }
        result
    }

    fn transmit(&mut self, from: u8, to: u8, bytes: &[u8], ttl: u8, to_all: bool) {
        if self.linked(from, to) && self.random.uniform() >= self.loss {
            let received = Received { from: hop(from), ttl, to_all };
            self.schedule(Event::Message { bytes: bytes.to_vec(), to, received });
        }
    }

    /// A random node makes a packet for another one.
    pub fn originate(&mut self) {
        let (from, to) = (self.any_node(), self.any_node());
        if from == to {
            return;
        }
        let packet = self.made.len() as u64;
        self.made.push([from, to]);
        if let Some(next) = self.call(from, |routing, cx| routing.originate(packet, at(to), cx)) {
            self.send_data(packet, from, last(next.neighbour), 0);
        }
    }

    /// Sends a data packet to a neighbour; without a link, the link layer reports a failure.
    fn send_data(&mut self, packet: u64, from: u8, to: u8, hops: u32) {
        if self.linked(from, to) {
            self.schedule(Event::Data { packet, from, to, hops: hops + 1 });
            return;
        }
        self.end(packet);
        let ends = self.made[packet as usize].map(at);
        self.call(from, |routing, cx| routing.on_undelivered(hop(to), Undelivered::Data(Some(ends)), cx));
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Message { bytes, to, received } => {
                self.call(to, |routing, cx| routing.on_message(&bytes, received, cx));
            }
            Event::Data { packet, from, to, hops } => {
                let ends = self.made[packet as usize];
                if ends[1] == to {
                    self.delivered += 1;
                    return self.end(packet);
                }
                assert!(hops < 64, "packet {packet} is in a loop");
                let ends = ends.map(at);
                if let Some(next) = self.call(to, |routing, cx| routing.relay(packet, ends, hop(from), cx)) {
                    self.send_data(packet, to, last(next.neighbour), hops);
                }
            }
        }
    }

    /// Handles the earliest event: a message in transit, a timer, or what `stir` does.
    pub fn step(&mut self, stir: impl FnOnce(&mut Self)) {
        let new = Time(self.now.0 + 1 + self.random.exponential(1.5e8) as u64).max(self.quiet_until);
        let timer = self.nodes.iter().map(|node| node.routing.deadline()).min().unwrap_or(Time::NEVER);
        let event = self.events.keys().next().map_or(Time::NEVER, |key| key.0);
        if event <= timer && event <= new {
            self.now = self.now.max(event);
            if let Some((_, event)) = self.events.pop_first() {
                self.handle(event);
            }
        } else if timer <= new {
            self.now = self.now.max(timer);
            for node in 1..=NODES {
                if self.node(node).deadline() <= self.now {
                    self.call(node, |routing, cx| routing.on_timer(cx));
                }
            }
        } else {
            self.now = new;
            stir(self);
        }
    }

    /// Follows the next hops from every node to every destination: the path ends at the destination or at a node without a route. Along the
    /// path numbers do not decrease; among equal numbers the hop count decreases.
    pub fn check_paths(&mut self) -> Result<(), TestCaseError> {
        let now = self.now;
        for destination in 1..=NODES {
            for start in 1..=NODES {
                let (mut node, mut steps, mut before) = (start, 0, None);
                while node != destination {
                    let Some((number, hops, next)) = self.node(node).valid_route(destination, now) else {
                        break;
                    };
                    steps += 1;
                    prop_assert!(steps <= NODES, "a loop towards {destination} from {start} at {now}");
                    if let (Some((last, more)), Some(number)) = (before, number) {
                        prop_assert!(
                            number == last && hops < more || is_younger(number, last),
                            "towards {destination} from {start}: {last} {more}, then {number} {hops}"
                        );
                    }
                    before = number.map(|number| (number, hops)).or(before);
                    node = next;
                }
            }
        }
        Ok(())
    }

    /// Each packet has ended once, or waits or is in transit; more than a few have arrived.
    pub fn check_packets(&self) -> Result<(), TestCaseError> {
        prop_assert!(self.ended.values().all(|&n| n == 1), "{:?}", self.ended);
        let waiting: usize = self.nodes.iter().map(|node| node.routing.waiting().len()).sum();
        let on_the_way = self.events.values().filter(|e| matches!(e, Event::Data { .. })).count();
        prop_assert_eq!(self.made.len(), self.ended.len() + waiting + on_the_way);
        prop_assert!(self.delivered > 10, "{} of {}", self.delivered, self.made.len());
        Ok(())
    }
}
