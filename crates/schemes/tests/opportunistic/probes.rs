//! Probes: ratios by hand, lists that reach all nodes, and what a node that dies or lies can do.

use airfair_schemes::opportunistic::losses::Losses;
use airfair_schemes::opportunistic::probes::{Probes, ProbesConfig};
use airfair_schemes::places::NodeId;
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Span, Time};
use airfair_wire::probe::{Heard, List, Probe};
use proptest::prelude::*;

const CONFIG: ProbesConfig = ProbesConfig {
    interval: Span::from_secs(1),
    window: 4,
    bytes: 1472,
    expiry: Span::from_secs(30),
    nodes: 1000,
};

fn at(millis: u64) -> Time {
    Time(millis * 1_000_000)
}

fn bytes(probe: &Probe) -> Vec<u8> {
    let mut bytes = vec![0; probe.wire_len()];
    probe.encode(&mut bytes).unwrap();
    bytes
}

fn decoded(bytes: &[u8]) -> Probe {
    Probe::decode(bytes).unwrap().0
}

fn list(node: u32, version: u16, age: u16, heard: &[(u32, u8)]) -> List {
    List::new(node, version, age, heard.iter().map(|&(node, ratio)| Heard { node, ratio }))
}

/// Deliveries of a link, in 255ths to the nearest.
fn delivery(losses: &Losses, from: u32, to: u32) -> u8 {
    ((1.0 - losses.loss(NodeId(from), NodeId(to))) * 255.0).round() as u8
}

/// Nodes that probe once a second, one after the other; a probe that `arrives` says so of (sender, receiver, number) arrives at once.
struct Network {
    nodes: Vec<(u32, Probes)>,
    second: u64,
}

impl Network {
    fn new(nodes: impl IntoIterator<Item = u32>, config: ProbesConfig) -> Self {
        let nodes = nodes.into_iter().map(|node| (node, Probes::new(NodeId(node), config))).collect();
        Self { nodes, second: 0 }
    }

    /// Lets seconds pass; returns all probes that were sent, by sender.
    fn run(&mut self, seconds: u64, mut arrives: impl FnMut(u32, u32, u64) -> bool) -> Vec<(u32, Probe)> {
        let mut sent = Vec::new();
        for _ in 0..seconds {
            for sender in 0..self.nodes.len() {
                let now = at(1000 * self.second + sender as u64);
                let from = self.nodes[sender].0;
                let probe = self.nodes[sender].1.probe(now);
                assert_eq!(probe.len(), CONFIG.bytes);
                for (to, node) in &mut self.nodes {
                    if *to != from && arrives(from, *to, self.second) {
                        assert!(node.hear(NodeId(from), &probe, now));
                    }
                }
                sent.push((from, decoded(&probe)));
            }
            self.second += 1;
        }
        sent
    }

    fn losses(&self, node: u32) -> Losses {
        self.nodes.iter().find(|known| known.0 == node).unwrap().1.losses(at(1000 * self.second))
    }

    fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        self.nodes.retain(|node| keep(node.0));
    }
}

/// Of the last four numbers of node 2 three are heard: 191 of 255, which stands in node 1's second probe and in its fourth.
#[test]
fn a_window_by_hand() {
    let mut one = Probes::new(NodeId(1), CONFIG);
    assert_eq!(decoded(&one.probe(at(0))), Probe::new(0, vec![]), "nothing is known");
    for (sequence, second) in [(0, 1), (1, 2), (3, 4)] {
        assert!(one.hear(NodeId(2), &bytes(&Probe::new(sequence, vec![])), at(1000 * second)));
    }
    assert_eq!(decoded(&one.probe(at(4100))), Probe::new(1, vec![list(1, 1, 0, &[(2, 191)])]));
    assert_eq!(decoded(&one.probe(at(4200))), Probe::new(2, vec![list(1, 1, 10, &[(2, 191)])]));
    // 4 is lost, 5 is heard: of 2 to 5 two.
    one.hear(NodeId(2), &bytes(&Probe::new(5, vec![])), at(6000));
    assert_eq!(decoded(&one.probe(at(6100))), Probe::new(3, vec![list(1, 2, 0, &[(2, 128)])]));
    // Silent for more than a window: a list of nobody.
    assert_eq!(decoded(&one.probe(at(11_900))), Probe::new(4, vec![list(1, 2, 580, &[(2, 128)])]));
    assert_eq!(decoded(&one.probe(at(12_000))), Probe::new(5, vec![list(1, 3, 0, &[])]));
    assert_eq!((one.counts().sent, one.counts().list_bytes), (6, 4 * 14 + 9));
}

/// Lists of others are repeated with their ages until a probe is full: new ones first, then those sent the longest time ago.
#[test]
fn lists_by_hand() {
    // Room for three lists with a neighbour each, and one byte less than for a fourth.
    let mut one = Probes::new(NodeId(1), ProbesConfig { bytes: 4 + 4 * 14 - 1, ..CONFIG });
    let hear = |one: &mut Probes, node, version, age, millis| {
        let probe = Probe::new(0, vec![list(node, version, age, &[(8, 100)])]);
        assert!(one.hear(NodeId(2), &bytes(&probe), at(millis)));
    };
    let sent = |one: &mut Probes, millis| -> Vec<(u32, u16, u16)> {
        let probe = decoded(&one.probe(at(millis)));
        probe.lists().iter().map(|list| (list.node, list.version, list.age)).collect()
    };
    (4..=7).for_each(|node| hear(&mut one, node, 5, 20, 1000));
    // 200 ms old at 1 s, so 304 ms at 1.104: rounded up.
    assert_eq!(sent(&mut one, 1104), [4, 5, 6].map(|node| (node, 5, 31)));
    // The own one is always there from the second probe on.
    assert_eq!(sent(&mut one, 1200), [(1, 1, 0), (7, 5, 40), (4, 5, 40)]);
    assert_eq!(sent(&mut one, 1300), [(1, 1, 10), (5, 5, 50), (6, 5, 50)]);
    hear(&mut one, 4, 4, 0, 1310);
    hear(&mut one, 4, 5, 0, 1310);
    hear(&mut one, 6, 65_535, 0, 1310);
    assert_eq!(sent(&mut one, 1400), [(1, 2, 0), (4, 5, 60), (7, 5, 60)], "no version is later");
    hear(&mut one, 7, 6, 0, 1500);
    hear(&mut one, 6, 6, 0, 1500);
    assert_eq!(
        sent(&mut one, 1500),
        [(1, 2, 10), (6, 6, 0), (7, 6, 0)],
        "of two new ones that which was sent before the other"
    );
    // 29.9 s old: after 100 ms it ends.
    hear(&mut one, 9, 7, 2990, 1600);
    assert_eq!(sent(&mut one, 1699)[1], (9, 7, 3000));
    assert_eq!(one.len(), 6);
    sent(&mut one, 1700);
    assert_eq!(one.len(), 5);
    hear(&mut one, 9, 8, 3000, 1700);
    assert_eq!(one.len(), 5, "too old when it came");
}

/// A list of 20 s counts for ten more, not when it is 30 s old.
#[test]
fn a_list_counts_until_it_is_too_old() {
    let mut one = Probes::new(NodeId(1), CONFIG);
    one.hear(NodeId(2), &bytes(&Probe::new(0, vec![list(5, 1, 2000, &[])])), at(1000));
    assert_eq!(one.losses(at(10_999)).nodes(), [NodeId(5)]);
    assert_eq!(one.losses(at(11_000)).nodes(), []);
}

/// In a line of four that loses every fourth probe all nodes know all six ratios, three hops away too, and nothing else.
#[test]
fn everyone_has_the_ratios_of_a_line() {
    let mut line = Network::new(0..4, CONFIG);
    let loses = |from: u32, second: u64| second % 4 == u64::from(from);
    line.run(12, |from, to, second| from.abs_diff(to) == 1 && !loses(from, second));
    for node in 0..4 {
        let losses = line.losses(node);
        for (from, to) in (0..4_u32).flat_map(|from| (0..4).map(move |to| (from, to))) {
            let wanted = if from.abs_diff(to) == 1 { 191 } else { 0 };
            assert_eq!(delivery(&losses, from, to), wanted, "{from} to {to}, as {node} knows");
        }
    }
}

/// A pair that hears in one direction only is no link, whatever a node reports of nodes that do not hear it.
#[test]
fn a_link_needs_both_ends() {
    let mut network = Network::new(0..3, CONFIG);
    network.run(12, |from, to, _| [(0, 1), (1, 0), (1, 2)].contains(&(from, to)));
    let losses = network.losses(0);
    assert_eq!(delivery(&losses, 0, 1), 255);
    assert_eq!([delivery(&losses, 1, 2), delivery(&losses, 2, 1)], [0, 0]);
    // Who says that it hears nothing of a node does not hear it.
    let mut one = Probes::new(NodeId(1), CONFIG);
    let lists = vec![list(2, 1, 0, &[(3, 0)]), list(3, 1, 0, &[(2, 255)])];
    one.hear(NodeId(2), &bytes(&Probe::new(0, lists)), at(0));
    assert_eq!(one.losses(at(1)).nodes().len(), 2);
    assert_eq!([delivery(&one.losses(at(1)), 2, 3), delivery(&one.losses(at(1)), 3, 2)], [0, 0]);
    // Node 9 says it hears everybody. Node 0 does not hear it.
    for second in 0..20_u16 {
        let lie = list(9, second, 0, &[(0, 255), (1, 255), (2, 255), (77, 255)]);
        network.nodes[1].1.hear(
            NodeId(9),
            &bytes(&Probe::new(second, vec![lie])),
            at(12_000 + 1000 * u64::from(second)),
        );
        network.run(1, |from, to, _| from.abs_diff(to) == 1);
    }
    let losses = network.losses(0);
    assert_eq!(delivery(&losses, 1, 9), 255, "its neighbour cannot know better");
    assert_eq!([0, 2, 77].map(|other| delivery(&losses, other, 9)), [0; 3]);
    assert_eq!(losses.distances(NodeId(9)).etx(NodeId(0)), 2.0);
}

/// A node that is silent is out of use when its neighbours have missed it for a window, and its list is gone after `expiry`.
#[test]
fn a_node_that_dies_vanishes() {
    let mut line = Network::new(0..5, CONFIG);
    let near = |from: u32, to: u32, _: u64| from.abs_diff(to) == 1;
    line.run(15, near);
    assert_eq!(line.losses(0).distances(NodeId(4)).etx(NodeId(0)), 4.0);
    line.retain(|node| node != 2);
    line.run(9, near);
    let losses = line.losses(0);
    assert_eq!(losses.distances(NodeId(4)).etx(NodeId(0)), f64::INFINITY);
    assert_eq!([delivery(&losses, 1, 2), delivery(&losses, 2, 1), delivery(&losses, 0, 1)], [0, 0, 255]);
    assert!(losses.nodes().contains(&NodeId(2)), "its last list is not old");
    line.run(25, near);
    assert_eq!(line.losses(0).nodes(), [NodeId(0), NodeId(1)]);
    assert_eq!((line.nodes[0].1.len(), line.nodes[0].1.neighbours()), (2, 1));
}

/// A node that starts anew is heard at once, though its versions begin at 0.
#[test]
fn a_node_that_starts_anew_continues() {
    let mut pair = Network::new(0..2, CONFIG);
    pair.run(40, |_, _, _| true);
    pair.nodes[1].1 = Probes::new(NodeId(1), CONFIG);
    let sent = pair.run(12, |_, _, _| true);
    let versions: Vec<u16> = sent
        .iter()
        .flat_map(|(_, probe)| probe.lists())
        .filter(|list| list.node == 1)
        .map(|list| list.version)
        .collect();
    assert!(versions.iter().any(|&version| version > 20), "{versions:?}");
    assert_eq!(delivery(&pair.losses(0), 0, 1), 255);
}

/// In a row of ten that loses half of all probes every node knows the others: what is lost at a hop comes again.
#[test]
fn lists_pass_nine_lossy_hops() {
    let mut row = Network::new(0..10, ProbesConfig { window: 20, ..CONFIG });
    let mut random = Stream::new(5, "losses", Purpose::Reception);
    let sent = row.run(60, |from, to, _| from.abs_diff(to) == 1 && random.uniform() < 0.5);
    assert_eq!(sent.len(), 600, "flooding has no packets of its own");
    for node in 0..10 {
        assert_eq!(row.losses(node).nodes().len(), 10, "as {node} knows");
    }
}

/// More neighbours than a probe has room for: the best of them, and those that are as good by their numbers.
#[test]
fn a_small_probe_has_the_best_neighbours() {
    for spare in [0, 4] {
        let config = ProbesConfig { bytes: 4 + 9 + 5 * 3 + spare, ..CONFIG };
        let mut one = Probes::new(NodeId(1), config);
        one.probe(at(0));
        for sequence in 0..4 {
            for node in (10..20).filter(|&node| node % 3 == 0 || sequence % 2 == 0) {
                let probe = Probe::new(sequence, vec![]);
                one.hear(NodeId(node), &bytes(&probe), at(1000 * u64::from(sequence)));
            }
        }
        let probe = one.probe(at(3100));
        let best = list(1, 1, 0, &[(12, 255), (15, 255), (18, 255)]);
        assert_eq!((probe.len(), decoded(&probe).lists()), (28 + spare, &[best][..]));
    }
}

/// Lists of ten thousand nodes that do not exist, garbage, and lists too long to be repeated: what is stored is bounded, what is sent has
/// its length, and what honest nodes say stays.
#[test]
fn lies_are_bounded() {
    let config = ProbesConfig { nodes: 20, ..CONFIG };
    let mut one = Probes::new(NodeId(1), config);
    one.hear(NodeId(2), &bytes(&Probe::new(0, vec![list(2, 1, 0, &[(1, 200)])])), at(0));
    for i in 0..10_000_u32 {
        let now = at(100 + u64::from(i) / 10);
        let all: Vec<(u32, u8)> = (0..255).map(|node| (node, 255)).collect();
        let lie = Probe::new(i as u16, vec![list(1000 + i, i as u16, 0, &all), list(1, i as u16, 0, &[])]);
        one.hear(NodeId(3), &bytes(&lie), now);
        assert!(one.hear(NodeId(3), &bytes(&lie)[..100], now), "it is the front of a probe");
        one.hear(NodeId(10_000 + i), &bytes(&Probe::new(0, vec![])), now);
        if i % 100 == 0 {
            assert_eq!(one.probe(now).len(), CONFIG.bytes);
        }
    }
    assert!(one.len() <= 21 && one.neighbours() <= 128, "{} {}", one.len(), one.neighbours());
    assert!(one.counts().refused >= 10_000);
    assert!(!one.hear(NodeId(3), &[0x12, 1, 2], at(2000)) && !one.hear(NodeId(3), &[], at(2000)));
    assert!(one.losses(at(1100)).nodes().contains(&NodeId(2)));
}

/// A probe names 255 nodes at most, however long it is: of 300 lists the others follow in the next.
#[test]
fn a_long_probe_has_255_lists() {
    let mut one = Probes::new(NodeId(1), ProbesConfig { bytes: 4 + 9 * 300, window: 64, ..CONFIG });
    for nodes in [100..250, 250..400] {
        let lists = nodes.map(|node| list(node, 1, 0, &[])).collect();
        one.hear(NodeId(2), &bytes(&Probe::new(0, lists)), at(0));
    }
    let mut sent = |millis| -> Vec<u32> {
        decoded(&one.probe(at(millis))).lists().iter().map(|list| list.node).collect()
    };
    assert_eq!(sent(0), (100..355).collect::<Vec<_>>());
    assert_eq!(sent(1000), (355..400).chain(100..310).collect::<Vec<_>>());
}

/// The lists of as many other nodes are stored as a node may store, whether or not it has made one of its own.
#[test]
fn the_own_list_takes_no_place_of_others() {
    for first in [0, 2] {
        let mut one = Probes::new(NodeId(1), ProbesConfig { nodes: 2, ..CONFIG });
        (0..first).for_each(|second| _ = one.probe(at(1000 * second)));
        assert_eq!(one.len() as u64, first / 2);
        let lists = [5, 6, 7].map(|node| list(node, 1, 0, &[])).to_vec();
        one.hear(NodeId(5), &bytes(&Probe::new(0, lists)), at(2000));
        assert_eq!((one.len() as u64, one.counts().refused), (first / 2 + 2, 1));
        // What is newer of those that are stored needs no place.
        one.hear(NodeId(5), &bytes(&Probe::new(1, vec![list(6, 2, 0, &[])])), at(2100));
        assert_eq!(one.counts().refused, 1);
    }
}

/// A link that loses three of ten: the mean of a ratio over many windows is within four standard errors, and no ratio is beyond what the
/// binomial distribution gives once in a million windows.
#[test]
fn a_ratio_is_within_its_binomial_interval() {
    let config = ProbesConfig { window: 64, ..CONFIG };
    let mut pair = Network::new(0..2, config);
    let mut random = Stream::new(3, "losses", Purpose::Reception);
    let mut ratios = Vec::new();
    for _ in 0..40 {
        pair.run(64, |_, _, _| random.uniform() >= 0.3);
        ratios.push(1.0 - pair.losses(0).loss(NodeId(1), NodeId(0)));
    }
    // Standard deviation of 64 draws: 0.0573.
    let mean = ratios.iter().sum::<f64>() / 40.0;
    assert!((mean - 0.7).abs() < 4.0 * 0.0573 / 40.0_f64.sqrt(), "{mean}");
    assert!(ratios.iter().all(|ratio| (ratio - 0.7).abs() < 5.0 * 0.0573), "{ratios:?}");
}

proptest! {
    /// Whatever arrives, nothing panics, probes have their length, and losses are between 0 and 1.
    #[test]
    fn any_messages(messages in proptest::collection::vec((0u32..5, proptest::collection::vec(any::<u8>(), 0..60), any::<bool>()), 1..40)) {
        let mut one = Probes::new(NodeId(1), CONFIG);
        for (i, (from, mut message, right)) in messages.into_iter().enumerate() {
            if right && !message.is_empty() {
                message[0] = 0x13;
            }
            let now = at(300 * i as u64);
            one.hear(NodeId(from), &message, now);
            prop_assert_eq!(one.probe(now).len(), CONFIG.bytes);
            let losses = one.losses(now);
            for (&a, &b) in losses.nodes().iter().flat_map(|a| losses.nodes().iter().map(move |b| (a, b))) {
                prop_assert!((0.0..=1.0).contains(&losses.loss(a, b)));
            }
        }
    }
}
