//! For any order of events: no loops, no packet that is lost without an effect, and a network at rest finds all shortest paths.

use std::collections::BTreeMap;

use airfair_routing::dsdv::{Config, Dsdv};
use airfair_routing::{Context, Effect, Received, Routing, To, Undelivered, is_younger};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Span, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::support::{Node, at, hop};

const NODES: u8 = 8;

/// Nodes whose links appear and disappear; updates are delayed, lost and reordered.
struct Network {
    nodes: Vec<Node>,
    links: BTreeMap<(u8, u8), bool>,
    /// By time and order of sending.
    events: BTreeMap<(Time, u64), Event>,
    count: u64,
    random: Stream,
    loss: f64,
    /// Source and destination of each packet.
    made: Vec<[u8; 2]>,
    /// Number of ends of each packet.
    ended: BTreeMap<u64, u32>,
    delivered: u32,
    now: Time,
    /// False when links no longer change and no packets are made.
    restless: bool,
}

enum Event {
    Update { bytes: Vec<u8>, to: u8, from: u8 },
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
            now: Time::ZERO,
            restless: true,
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
        // Delays of up to 200 ms reorder updates.
        let at = Time(self.now.0 + 1_000_000 + (self.random.uniform() * 2e8) as u64);
        self.count += 1;
        self.events.insert((at, self.count), event);
    }

    fn end(&mut self, packet: u64) {
        *self.ended.entry(packet).or_insert(0) += 1;
    }

    fn call<R>(&mut self, node: u8, hook: impl FnOnce(&mut Dsdv, &mut Context<'_>) -> R) -> R {
        let (result, effects) = self.nodes[usize::from(node) - 1].effects(self.now, hook);
        for effect in effects {
            match effect {
                Effect::Send { bytes, to: To::All, .. } => {
                    for to in 1..=NODES {
                        if self.linked(node, to) && self.random.uniform() >= self.loss {
                            self.schedule(Event::Update { bytes: bytes.clone(), to, from: node });
                        }
                    }
                }
                Effect::Forward { packet, hop } => self.send_data(packet, node, hop.neighbour.octets()[3], 0),
                Effect::Drop { packet, .. } => self.end(packet),
                Effect::Send { .. } | Effect::DropQueued { .. } => panic!("{effect:?}"),
            }
        }
        result
    }

    fn originate(&mut self, from: u8, to: u8) {
        let packet = self.made.len() as u64;
        self.made.push([from, to]);
        if let Some(next) = self.call(from, |dsdv, cx| dsdv.originate(packet, at(to), cx)) {
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
        self.call(from, |dsdv, cx| dsdv.on_undelivered(hop(to), Undelivered::Data(None), cx));
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Update { bytes, to, from } => {
                let received = Received { from: hop(from), ttl: 1, to_all: true };
                self.call(to, |dsdv, cx| dsdv.on_message(&bytes, received, cx));
            }
            Event::Data { packet, from, to, hops } => {
                let ends = self.made[packet as usize];
                if ends[1] == to {
                    self.delivered += 1;
                    return self.end(packet);
                }
                assert!(hops < 64, "packet {packet} is in a loop");
                if let Some(next) = self.call(to, |dsdv, cx| dsdv.relay(packet, ends.map(at), hop(from), cx))
                {
                    self.send_data(packet, to, next.neighbour.octets()[3], hops);
                }
            }
        }
    }

    /// Handles the earliest event: an update in transit, a timer, or (unless at rest) a new packet or a change of a link.
    fn step(&mut self) {
        let wait = Time(self.now.0 + 1 + self.random.exponential(1.5e8) as u64);
        let new = if self.restless { wait } else { Time::NEVER };
        let timer = self.nodes.iter().map(|node| node.dsdv.deadline()).min().unwrap_or(Time::NEVER);
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
                if self.nodes[usize::from(node) - 1].dsdv.deadline() <= self.now {
                    self.call(node, |dsdv, cx| dsdv.on_timer(cx));
                }
            }
            return;
        }
        self.now = new;
        if self.random.below(10) == 0 {
            return self.flip();
        }
        let (from, to) = (self.any_node(), self.any_node());
        if from != to {
            self.originate(from, to);
        }
    }

    /// Hops from a node to each destination along the next hops, or a loop.
    ///
    /// Along the path numbers do not decrease; among equal numbers the hop count decreases.
    fn check(&mut self) -> Result<(), TestCaseError> {
        for destination in 1..=NODES {
            for start in 1..=NODES {
                let (mut node, mut steps) = (start, 0);
                let mut last: Option<(u32, u32)> = None;
                while node != destination {
                    let route = self.nodes[usize::from(node) - 1].route(destination);
                    let Some(route) = route.filter(|route| route.is_valid()) else { break };
                    steps += 1;
                    prop_assert!(steps <= NODES, "a loop towards {destination} from {start} at {}", self.now);
                    if let Some((before, hops)) = last {
                        prop_assert!(
                            route.number == before && route.hops < hops || is_younger(route.number, before),
                            "towards {destination} from {start}: {before} {hops}, then {} {}",
                            route.number,
                            route.hops
                        );
                    }
                    last = Some((route.number, route.hops));
                    node = route.hop.neighbour.octets()[3];
                }
            }
        }
        Ok(())
    }

    /// Least number of hops between two nodes, over the links as they are.
    fn distance(&self, from: u8, to: u8) -> Option<u32> {
        let mut reached = vec![from];
        for hops in 0.. {
            if reached.contains(&to) {
                return Some(hops);
            }
            let more: Vec<u8> = (1..=NODES)
                .filter(|&n| !reached.contains(&n) && reached.iter().any(|&r| self.linked(r, n)))
                .collect();
            if more.is_empty() {
                return None;
            }
            reached.extend(more);
        }
        None
    }
}

fn configs() -> impl Strategy<Value = Config> {
    (any::<[bool; 5]>(), 1..=4_u64, prop_oneof![Just(1.0), Just(0.3)], 0..3_u64).prop_map(
        |([weighted, all, numbers, feedback, answer], period, share, interval)| Config {
            period: Span::from_secs(period),
            period_jitter: Span::from_millis(100),
            settling_time: Span::from_millis(500 * period),
            weighted_settling: weighted,
            settle_all: all,
            trigger_on_new_number: numbers,
            answer_broken: answer,
            link_layer_feedback: feedback,
            full_dump_share: share,
            trigger_interval: Span::from_millis(300 * interval),
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
        let waiting: usize = network.nodes.iter().map(|node| node.dsdv.waiting()).sum();
        let on_the_way = network.events.values().filter(|e| matches!(e, Event::Data { .. })).count();
        prop_assert_eq!(network.made.len(), network.ended.len() + waiting + on_the_way);
        prop_assert!(network.delivered > 10, "{} of {}", network.delivered, network.made.len());
        // At rest and without losses, each node soon has routes to those that it can reach, and no others.
        (network.restless, network.loss) = (false, 0.0);
        let rest = Time(network.now.0 + 120_000_000_000);
        while network.now < rest {
            network.step();
            network.check()?;
        }
        for from in 1..=NODES {
            for to in (1..=NODES).filter(|&to| to != from) {
                let hops = network.nodes[usize::from(from) - 1].valid(to).map(|(_, hops, _)| hops);
                let least = network.distance(from, to);
                prop_assert_eq!(hops.is_some(), least.is_some(), "from {} to {}: {:?} {:?}", from, to, hops, least);
                prop_assert!(hops >= least, "from {} to {}: {:?} {:?}", from, to, hops, least);
            }
        }
    }
}
