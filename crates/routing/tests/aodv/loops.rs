//! For any order of events: no loops, no state that is kept for ever, no packet that is lost without an effect.

use std::collections::BTreeMap;

use airfair_routing::aodv::{Aodv, Config};
use airfair_routing::{Context, Received, Routing, Undelivered};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Span, Time};
use airfair_wire::aodv::Message;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::support::{Action, Node, at, bytes, hop};

const NODES: u8 = 8;

/// Source and destination of packets, by their number.
type Ends = Vec<[u8; 2]>;

/// Nodes whose links appear and disappear; messages are delayed, lost and reordered.
struct Network {
    nodes: Vec<Node>,
    links: BTreeMap<(u8, u8), bool>,
    /// By time and order of sending.
    events: BTreeMap<(Time, u64), Event>,
    count: u64,
    random: Stream,
    loss: f64,
    made: Ends,
    /// Number of ends of each packet.
    ended: BTreeMap<u64, u32>,
    delivered: u32,
    /// No new packet is made before this time.
    quiet_until: Time,
    now: Time,
}

enum Event {
    Message { message: Message, to: u8, received: Received },
    Data { packet: u64, from: u8, to: u8, hops: u32 },
}

impl Network {
    fn new(config: &Config, loss: f64, seed: u64) -> Self {
        let mut network = Self {
            nodes: (1..=NODES).map(|n| Node::numbered(n, config)).collect(),
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

    fn any_node(&mut self) -> u8 {
        1 + self.random.below(NODES.into()) as u8
    }

    fn flip(&mut self) {
        let (a, b) = (self.any_node(), self.any_node());
        let link = self.links.entry((a.min(b), a.max(b))).or_insert(false);
        *link = !*link;
    }

    fn linked(&self, a: u8, b: u8) -> bool {
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

    fn call<R>(&mut self, node: u8, hook: impl FnOnce(&mut Aodv, &mut Context<'_>) -> R) -> R {
        let (result, actions) = self.nodes[usize::from(node) - 1].call(self.now, hook);
        for action in actions {
            match action {
                Action::Send { message, to: None, ttl } => {
                    (1..=NODES).for_each(|to| self.transmit(node, to, &message, ttl, true));
                }
                Action::Send { message, to: Some(hop), ttl } => {
                    self.transmit(node, hop.neighbour.octets()[3], &message, ttl, false);
                }
                Action::Forward { packet, hop } => self.send_data(packet, node, hop.neighbour.octets()[3], 0),
                Action::Drop { packet, .. } => self.end(packet),
                Action::DropQueued { .. } => {}
            }
        }
        result
    }

    fn transmit(&mut self, from: u8, to: u8, message: &Message, ttl: u8, to_all: bool) {
        if self.linked(from, to) && self.random.uniform() >= self.loss {
            let received = Received { from: hop(from), ttl, to_all };
            self.schedule(Event::Message { message: message.clone(), to, received });
        }
    }

    fn originate(&mut self, from: u8, to: u8) {
        let packet = self.made.len() as u64;
        self.made.push([from, to]);
        if let Some(next) = self.call(from, |aodv, cx| aodv.originate(packet, at(to), cx)) {
            self.send_data(packet, from, next.neighbour.octets()[3], 0);
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
        self.call(from, |aodv, cx| aodv.on_undelivered(hop(to), Undelivered::Data(Some(ends)), cx));
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Message { message, to, received } => {
                self.call(to, |aodv, cx| aodv.on_message(&bytes(&message), received, cx));
            }
            Event::Data { packet, from, to, hops } => {
                let ends = self.made[packet as usize];
                if ends[1] == to {
                    self.delivered += 1;
                    return self.end(packet);
                }
                assert!(hops < 64, "packet {packet} is in a loop");
                if let Some(next) = self.call(to, |aodv, cx| aodv.relay(packet, ends.map(at), hop(from), cx))
                {
                    self.send_data(packet, to, next.neighbour.octets()[3], hops);
                }
            }
        }
    }

    /// Handles the earliest event: a message in transit, a timer, or a new packet.
    fn step(&mut self) {
        let new = Time(self.now.0 + 1 + self.random.exponential(1.5e8) as u64).max(self.quiet_until);
        let timer = self.nodes.iter().map(|node| node.aodv.deadline()).min().unwrap_or(Time::NEVER);
        let event = self.events.keys().next().map_or(Time::NEVER, |key| key.0);
        if event <= timer && event <= new {
            self.now = self.now.max(event);
            if let Some((_, event)) = self.events.pop_first() {
                self.handle(event);
            }
            return;
        }
        if timer <= new {
            self.now = self.now.max(timer);
            for node in 1..=NODES {
                if self.nodes[usize::from(node) - 1].aodv.deadline() <= self.now {
                    self.call(node, |aodv, cx| aodv.on_timer(cx));
                }
            }
            return;
        }
        self.now = new;
        match self.random.below(20) {
            0..=2 => self.flip(),
            // No new packets for a while: routes expire, and some entries are deleted.
            3 => self.quiet_until = Time(self.now.0 + u64::from(self.random.below(20)) * 1_000_000_000),
            _ => {
                let (from, to) = (self.any_node(), self.any_node());
                if from != to {
                    self.originate(from, to);
                }
            }
        }
    }

    /// Follows the next hops from every node to every destination: the path ends at the destination or at a node without a route. Along the
    /// path numbers do not decrease; among equal numbers the hop count decreases.
    fn check(&mut self) -> Result<(), TestCaseError> {
        let now = self.now;
        for destination in 1..=NODES {
            for start in 1..=NODES {
                let (mut node, mut steps, mut last) = (start, 0, None);
                while node != destination {
                    let route = self.nodes[usize::from(node) - 1].route_at(now, destination);
                    let Some(route) = route.filter(|route| route.valid) else { break };
                    steps += 1;
                    prop_assert!(steps <= NODES, "a loop towards {destination} from {start} at {now}");
                    if let (Some((before, hops)), Some(number)) = (last, route.number) {
                        prop_assert!(
                            number == before && route.hops < hops
                                || airfair_routing::is_younger(number, before),
                            "towards {destination} from {start}: {before} {hops}, then {number} {}",
                            route.hops
                        );
                    }
                    last = route.number.map(|number| (number, route.hops)).or(last);
                    node = route.hop.neighbour.octets()[3];
                }
            }
        }
        Ok(())
    }
}

fn configs() -> impl Strategy<Value = Config> {
    (any::<[bool; 5]>(), 1..4_u8, 0..3_u64).prop_map(
        |([repair, gratuitous, alone, ack, hello], ttl, jitter)| Config {
            local_repair: repair,
            gratuitous_reply: gratuitous,
            destination_only: alone,
            reply_acknowledgement: ack,
            hello,
            ttl_start: ttl,
            net_diameter: 8,
            broadcast_jitter: Span::from_millis(10 * jitter),
            buffer_packets: 5,
            ..Config::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 32,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_loops(config in configs(), loss in 0.0..0.6, seed in any::<u64>()) {
        let mut network = Network::new(&config, loss, seed);
        for _ in 0..4000 {
            network.step();
            network.check()?;
        }
        // Each packet has ended once, or is buffered or in transit.
        prop_assert!(network.ended.values().all(|&n| n == 1), "{:?}", network.ended);
        let waiting: usize = network.nodes.iter().map(|node| node.aodv.waiting()).sum();
        let on_the_way = network.events.values().filter(|e| matches!(e, Event::Data { .. })).count();
        prop_assert_eq!(network.made.len(), network.ended.len() + waiting + on_the_way);
        prop_assert!(network.delivered > 10, "{} of {}", network.delivered, network.made.len());
        // Without further input every node deletes all routes and packets.
        let later = Time(network.now.0 + 120_000_000_000);
        for node in &mut network.nodes {
            while node.aodv.deadline() < later {
                let now = node.aodv.deadline().max(network.now);
                node.call(now, |aodv, cx| aodv.on_timer(cx));
            }
            prop_assert_eq!(node.aodv.routes(later).count(), 0);
            prop_assert_eq!(node.aodv.waiting(), 0);
        }
    }
}
