//! Whole networks of state machines, without losses: after convergence every node knows a shortest path to every other, and next hops lead
//! there; so too after links have gone and come.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use airfair_routing::olsr::{Advertised, Base, Metric, Olsr, OlsrConfig};
use airfair_routing::shortest::{Link, Metric as Length, ShortestPaths};
use airfair_routing::{Adjacency, Context, Effect, NodeSetup, Received, Routing, To};
use airfair_units::Time;
use airfair_units::random::{Purpose, Stream};
use proptest::prelude::*;

use crate::support::{at, ms};

struct Network {
    nodes: Vec<(Olsr, Stream)>,
    links: BTreeSet<(usize, usize)>,
    now: Time,
    sent: u64,
}

impl Network {
    fn new(size: usize, links: &[(usize, usize)], config: &OlsrConfig) -> Self {
        let node = |i: usize| {
            let setup = NodeSetup { address: at(i as u8), interfaces: 1, wires_from: None };
            (Olsr::new(&setup, config), Stream::new(7, &i.to_string(), Purpose::Routing))
        };
        let mut network =
            Self { nodes: (0..size).map(node).collect(), links: BTreeSet::new(), now: Time::ZERO, sent: 0 };
        links.iter().for_each(|&link| network.connect(link));
        network
    }

    fn connect(&mut self, (a, b): (usize, usize)) {
        if a != b {
            self.links.extend([(a, b), (b, a)]);
        }
    }

    fn cut(&mut self, (a, b): (usize, usize)) {
        self.links.retain(|&link| link != (a, b) && link != (b, a));
    }

    /// Time passes; every datagram arrives at once.
    fn run(&mut self, until: Time) {
        loop {
            let (i, due) = (0..self.nodes.len())
                .map(|i| (i, self.nodes[i].0.deadline()))
                .min_by_key(|&(i, due)| (due, i))
                .unwrap();
            if due > until {
                break;
            }
            self.now = due;
            let mut effects = VecDeque::from([(i, self.call(i, |olsr, cx| olsr.on_timer(cx)))]);
            while let Some((from, list)) = effects.pop_front() {
                for effect in list {
                    let Effect::Send { bytes, to: To::Interface(0), ttl: 1, .. } = effect else {
                        panic!("{effect:?}")
                    };
                    self.sent += 1;
                    let hearers: Vec<usize> =
                        self.links.iter().filter(|link| link.0 == from).map(|link| link.1).collect();
                    for to in hearers {
                        let hop = Adjacency { neighbour: at(from as u8), interface: 0 };
                        let received = Received { from: hop, ttl: 1, to_all: true };
                        let list = self.call(to, |olsr, cx| olsr.on_message(&bytes, received, cx));
                        effects.push_back((to, list));
                    }
                }
            }
        }
        self.now = until;
    }

    fn call(&mut self, i: usize, hook: impl FnOnce(&mut Olsr, &mut Context<'_>)) -> Vec<Effect> {
        let mut out = Vec::new();
        let (olsr, random) = &mut self.nodes[i];
        hook(olsr, &mut Context { now: self.now, random, out: &mut out });
        out
    }

    /// Number of hops of the path by next hops; `None` if it ends or does not end.
    fn walk(&self, from: usize, to: usize) -> Option<u32> {
        let mut node = from;
        for hops in 0..=self.nodes.len() {
            if node == to {
                return Some(hops as u32);
            }
            let hop = self.nodes[node].0.next_hop(at(to as u8), self.now)?;
            assert!(self.links.contains(&(node, usize::from(hop.neighbour.octets()[3]))), "no such link");
            node = usize::from(hop.neighbour.octets()[3]);
        }
        panic!("a loop on the way from {from} to {to}");
    }

    /// The first hops of static routes, and their numbers of hops.
    fn fixed(&self) -> BTreeMap<(usize, usize), (usize, u32)> {
        let size = self.nodes.len();
        let link = |to: usize| Link { to: to as u32, interface: 0, delivery: 1.0, is_cable: false };
        let of = |from: usize| self.links.iter().filter(move |l| l.0 == from).map(|l| link(l.1)).collect();
        let mut paths =
            ShortestPaths::new((0..size).map(of).collect(), Length::Hops, (0..size as u32).collect());
        let mut fixed = BTreeMap::new();
        for to in 0..size {
            let all: Vec<u32> = (0..size as u32).collect();
            let steps: BTreeMap<_, _> = paths.towards(to as u32, &all).into_iter().collect();
            for from in (0..size).filter(|&from| from != to) {
                let mut hops = 0;
                let mut node = from as u32;
                while let Some(step) = steps.get(&node).filter(|_| node != to as u32) {
                    node = step.node;
                    hops += 1;
                }
                if let Some(step) = steps.get(&(from as u32)) {
                    fixed.insert((from, to), (step.node as usize, hops));
                }
            }
        }
        fixed
    }

    /// Every node's routes are shortest paths, and there are no others.
    fn check(&self, same_hops: bool) {
        let fixed = self.fixed();
        for from in 0..self.nodes.len() {
            let routes = self.nodes[from].0.routes();
            let reachable = (0..self.nodes.len()).filter(|&to| fixed.contains_key(&(from, to)));
            assert!(
                routes.iter().map(|(to, _)| *to).eq(reachable.map(|to| at(to as u8))),
                "{from}: {routes:?}"
            );
            for (to, route) in routes {
                let to = usize::from(to.octets()[3]);
                let (hop, hops) = fixed[&(from, to)];
                assert_eq!((route.hops, self.walk(from, to)), (hops, Some(hops)), "from {from} to {to}");
                if same_hops {
                    assert_eq!(usize::from(route.hop.neighbour.octets()[3]), hop, "from {from} to {to}");
                }
            }
        }
    }
}

fn etx() -> OlsrConfig {
    Base { metric: Metric::Etx, ..Base::default() }.into()
}

fn grid(side: usize) -> Vec<(usize, usize)> {
    let right = (0..side * side).filter(|i| i % side + 1 < side).map(|i| (i, i + 1));
    right.chain((0..side * (side - 1)).map(|i| (i, i + side))).collect()
}

/// The grid of 64 nodes. With all links advertised also the next hops are those of static routes.
#[test]
fn the_grid_converges_to_static_routes() {
    for (config, same_hops) in [
        (OlsrConfig::default(), false),
        (OlsrConfig { synchronous_start: true, ..OlsrConfig::default() }, false),
        (OlsrConfig { advertised: Advertised::All, ..OlsrConfig::default() }, true),
        (etx(), true),
    ] {
        let mut network = Network::new(64, &grid(8), &config);
        network.run(ms(60_000));
        network.check(same_hops);
        let lost: u64 = network.nodes.iter().map(|(olsr, _)| olsr.table().lost).sum();
        network.run(ms(120_000));
        network.check(same_hops);
        assert_eq!(network.nodes.iter().map(|(olsr, _)| olsr.table().lost).sum::<u64>(), lost);
    }
}

/// A cut link is noticed after the hold time at the latest, 6 s, and TCs with the new links follow within an interval, 5 s, and the jitter
/// at each hop.
#[test]
fn a_cut_link_is_gone_round_within_the_timers() {
    let mut network = Network::new(16, &grid(4), &OlsrConfig::default());
    network.run(ms(40_000));
    for (number, link) in [(5, 6), (9, 10), (0, 1)].into_iter().enumerate() {
        network.cut(link);
        network.run(ms(40_000 + 30_000 * (number as u64 + 1)));
        network.check(false);
    }
    network.connect((5, 6));
    network.run(ms(160_000));
    network.check(false);
}

/// Every node of the grid may vanish: the others find paths without it. After the hold time neighbours select other relays, whose TCs
/// follow.
#[test]
fn a_vanished_node_is_gone_round() {
    for (config, gone) in [
        (OlsrConfig::default(), 10),
        (OlsrConfig { synchronous_start: true, ..OlsrConfig::default() }, 10),
        (OlsrConfig::default(), 27),
        (etx(), 10),
    ] {
        let mut network = Network::new(64, &grid(8), &config);
        network.run(ms(100_000));
        network.links.retain(|&(a, b)| a != gone && b != gone);
        network.run(ms(130_000));
        network.check(false);
    }
}

/// A node falls silent; when its links are up again, it finds back into the network.
#[test]
fn parts_come_together_again() {
    let mut network = Network::new(6, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], &OlsrConfig::default());
    network.run(ms(30_000));
    network.check(true);
    network.cut((2, 3));
    network.run(ms(70_000));
    network.check(true);
    network.connect((2, 3));
    network.run(ms(110_000));
    network.check(true);
}

/// Fewer datagrams and messages than with plain flooding: in a clique nobody relays.
#[test]
fn a_clique_needs_no_tcs() {
    let all: Vec<(usize, usize)> = (0..8).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
    let mut network = Network::new(8, &all, &OlsrConfig::default());
    // Until all know all, some are relays.
    network.run(ms(30_000));
    network.check(true);
    let before = network.sent;
    network.run(ms(50_000));
    // HELLOs alone: one every 2 s, and one more or less by the jitter.
    assert!((network.sent - before).abs_diff(8 * 10) <= 8, "{before} {}", network.sent);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any network, any parameters of redundancy: shortest paths after convergence, and again after a change.
    #[test]
    fn shortest_paths_in_any_network(
        size in 2..14_usize,
        links in prop::collection::vec((0..14_usize, 0..14_usize), 0..40),
        cut in 0..40_usize,
        coverage in 1..4_u32,
        advertised in prop::sample::select(vec![Advertised::Selectors, Advertised::SelectorsAndRelays, Advertised::All]),
        by_etx: bool,
    ) {
        let base = if by_etx { etx() } else { OlsrConfig::default() };
        let config = OlsrConfig { mpr_coverage: coverage, advertised, ..base };
        let links: Vec<_> = links.into_iter().map(|(a, b)| (a % size, b % size)).collect();
        let mut network = Network::new(size, &links, &config);
        network.run(ms(60_000));
        network.check(false);
        if let Some(&link) = links.get(cut) {
            network.cut(link);
            network.run(ms(120_000));
            network.check(false);
        }
    }
}
