//! A node of ExOR at its radio, driven by hand: what it takes, makes and hands up, whatever it hears.

use std::collections::BTreeSet;

use airfair_schemes::ParamValue;
use airfair_schemes::exor::node::ExorConfig;
use airfair_schemes::exor::station::{ExorStation, StationConfig};
use airfair_schemes::opportunistic::expected::Pruning;
use airfair_schemes::places::{FlowId, Forwarder, Holding, Made, NodeId, Timer};
use airfair_units::{Rate, Span};
use airfair_wire::diffq::Trailer;
use airfair_wire::exor::{BatchMap, Exor, Fragment, Head, Nodes};
use proptest::prelude::*;

use crate::driven::{Driven, PROBE, PROBES, diffq, sent_by_a_source, trailer};

const FLOWS: usize = 8;
const FLOW: FlowId = FlowId(7);

fn config() -> StationConfig {
    StationConfig {
        batch: 10,
        flush: Span::from_millis(100),
        pruning: Pruning::default(),
        probes: None,
        node: ExorConfig { flows: FLOWS, maps: 2, ..ExorConfig::default() },
        diffq: None,
    }
}

/// A batch that is not full is due.
const FLUSH: Timer = Timer(1);
/// A turn begins.
const TURN: Timer = Timer(3);

/// A node of a pair that hear each other.
fn driven(node: u32) -> Driven<ExorStation> {
    Driven::of_a_pair(ExorStation::new(config()), node)
}

/// A batch of ten, of which the destination does not hear the last, which goes by routing.
#[test]
fn a_batch_from_source_to_destination() {
    let (mut source, mut destination) = (driven(1), driven(2));
    let (flow, to) = (FLOW, NodeId(2));
    let mut number = 0;
    while source.station.room(flow, to) > 0 {
        source.take(1, flow, 2, (number, 1000 + number));
        number += 1;
    }
    assert_eq!(number, 20, "a batch that is sent, and one that waits");
    assert!(source.is_ready(1), "its turn is at once");
    assert_eq!((source.gauge("backlog"), source.station.kept()), (10.0, 2), "a flow, and its sizes");
    let mut first = None;
    for number in 0..10 {
        let now = 1 + 2000 * u64::from(number);
        let made = source.make(now).unwrap();
        first.get_or_insert(made.clone());
        assert_eq!((made.flow, made.batch, made.content), (flow, 0, 1000 + number), "each as long as it is");
        if number < 9 {
            destination.hear(now + 1000, 1, &made);
            assert_eq!(destination.out.delivered, [(flow, number)]);
            assert_eq!(
                destination.out.holds,
                [Holding { flow, batch: 0, packets: number as u16 + 1, of: 10 }]
            );
            assert!(destination.out.whole.is_empty());
            assert!(!destination.is_ready(now), "it is not its turn");
        }
    }
    let first = first.unwrap();
    assert!(!source.is_ready(20_000) && source.make(20_000).is_none());
    // Packet 8 of 10 was heard at 17 ms: the destination's turn begins when the last one has had its time.
    let at = destination.timer(TURN).unwrap();
    assert!((18_500..19_100).contains(&at), "{at}");
    destination.fire(at, TURN);
    assert!(destination.is_ready(at));
    for _ in 0..2 {
        let map = destination.make(at).unwrap();
        assert_eq!(map.content, 0);
        source.hear(at + 1, 2, &map);
    }
    assert!(destination.make(at).is_none(), "two maps");
    // Nine of ten: the last goes by routing, and a map follows.
    let at = source.timer(TURN).unwrap_or(at + 2);
    source.fire(at, TURN);
    let map = source.make(at + 10).unwrap();
    assert_eq!((map.content, source.out.routed.as_slice()), (0, [(flow, 9)].as_slice()));
    destination.call(at + 20, |station, context| station.on_routed(flow, 9, context));
    assert_eq!(destination.out.delivered, [(flow, 9)]);
    assert_eq!((destination.out.whole.as_slice(), destination.out.holds.len()), ([(flow, 0)].as_slice(), 0));
    destination.call(at + 30, |station, context| station.on_routed(flow, 9, context));
    assert!(destination.out.delivered.is_empty(), "once");
    // The next map ends the batch at the source, and the next one begins with number 10.
    destination.fire(at + 100_000, TURN);
    let map = destination.make(at + 100_000).unwrap();
    source.hear(at + 100_001, 2, &map);
    let made = source.make(at + 100_002).unwrap();
    assert_eq!((made.batch, made.content), (10, 1010));
    // A batch and a packet, a map behind the one that was routed; three maps were heard.
    let gauges = ["sent", "maps", "routed", "new", "known", "old", "garbage", "backlog"];
    assert_eq!(gauges.map(|name| source.gauge(name)), [11.0, 1.0, 1.0, 0.0, 3.0, 0.0, 0.0, 10.0]);
    destination.hear(at + 100_003, 1, &made);
    destination.hear(at + 100_004, 1, &made);
    destination.hear(at + 100_005, 1, &first);
    assert_eq!(gauges.map(|name| destination.gauge(name)), [0.0, 3.0, 0.0, 10.0, 1.0, 1.0, 0.0, 0.0]);
}

/// Source 1, destination 2, relay 5, of which the source knows from probes. Nobody stands between until the destination hears a fifth of
/// the source and all of the relay, which hears all of the source. A list belongs to its batch: the next one has the new list.
#[test]
fn the_next_batch_has_the_list_of_new_ratios() {
    let mut source = Driven::new(ExorStation::new(StationConfig { probes: Some(PROBES), ..config() }), 1);
    let list = |source: &mut Driven<ExorStation>, us| {
        let header = Exor::decode(&source.make(us).unwrap().header).unwrap().0;
        (header.head.batch, header.head.nodes.view().iter().collect::<Vec<_>>())
    };
    source.learn(100_000, 2, 1, &[(1, 255)]);
    source.fire(200_000, PROBE);
    (0..20).for_each(|number| source.take(300_000, FLOW, 2, (number, 1000)));
    assert_eq!(list(&mut source, 300_000), (0, vec![2, 1]));
    source.learn(1_100_000, 2, 2, &[(1, 51), (5, 255)]);
    source.learn(1_100_000, 5, 1, &[(1, 255), (2, 255)]);
    source.fire(1_200_000, PROBE);
    assert_eq!(list(&mut source, 1_200_000), (0, vec![2, 1]));
    let nodes = Nodes::new(&[2, 1]).unwrap();
    let head = Head { flow: 7, batch: 0, rank: 0, fragment: Fragment { number: 0, size: 1 }, nodes };
    source.hear(1_300_000, 2, &encoded(head, None, &[0; 10], 0));
    assert_eq!(list(&mut source, 1_300_000), (10, vec![2, 5, 1]));
}

/// The broadcast of rank `rank` of nodes 2, 5 and 1 for a batch: a packet, or none, and its map.
fn broadcast(batch: u32, (rank, packet): (u8, Option<u8>), ranks: &[u8], content: u32) -> Made {
    let fragment = Fragment { number: 0, size: 1 };
    let head = Head { flow: 7, batch, rank, fragment, nodes: Nodes::new(&[2, 5, 1]).unwrap() };
    encoded(head, packet, ranks, content)
}

fn encoded(head: Head, packet: Option<u8>, ranks: &[u8], content: u32) -> Made {
    let (flow, batch) = (FlowId(head.flow), head.batch);
    let header = Exor::new(head, packet, BatchMap::new(ranks.to_vec()).unwrap()).unwrap();
    let mut bytes = vec![0; header.wire_len()];
    header.encode(&mut bytes).unwrap();
    Made { flow, batch, header: bytes, content }
}

/// A relay sends each packet as long as it has heard it: of the first batch, of a later one, and of one as long as another that takes the
/// place of a forged one of the same number.
#[test]
fn a_packet_is_as_long_as_it_was_heard() {
    let mut relay = driven(5);
    let sent = |relay: &mut Driven<ExorStation>| {
        let at = relay.timer(TURN).unwrap();
        relay.fire(at, TURN);
        std::iter::from_fn(|| relay.make(at).map(|made| (made.batch, made.content))).collect::<Vec<_>>()
    };
    for (batch, sizes) in [(0, [700, 800, 900]), (3, [1000, 300, 600])] {
        for (packet, size) in (0..).zip(sizes) {
            relay.hear(0, 1, &broadcast(batch, (2, Some(packet)), &[2; 3], size));
        }
        assert_eq!(sent(&mut relay), sizes.map(|size| (batch, size)));
    }
    for (packet, size) in [(4, 400), (1, 500)] {
        relay.hear(4_000_000, 1, &broadcast(3, (2, Some(packet)), &[2; 5], size));
    }
    assert_eq!(sent(&mut relay), [(3, 500), (3, 400)]);
}

/// A turn that has lost all of its packets to a better node while the radio contended gives the access up.
#[test]
fn an_access_for_a_turn_that_is_over_is_given_up() {
    let mut relay = driven(5);
    let made = |rank, packet, ranks: &[u8]| broadcast(0, (rank, packet), ranks, 700);
    relay.hear(0, 1, &made(2, Some(3), &[2; 4]));
    let at = relay.timer(TURN).unwrap();
    relay.fire(at, TURN);
    assert!(relay.is_ready(at));
    relay.hear(at + 500, 2, &made(0, None, &[2, 2, 2, 0]));
    assert!(!relay.is_ready(at + 600));
    assert_eq!(relay.make(at + 700), None);
    // In its next turn it has nothing but its map.
    let next = relay.timer(TURN).unwrap();
    relay.fire(next, TURN);
    assert_eq!(relay.make(next).map(|made| made.content), Some(0));
    // Whoever says that it has another's rank is not believed.
    relay.hear(next + 1, 1, &made(0, None, &[0; 4]));
    assert_eq!(relay.gauge("garbage"), 1.0);
}

/// A source of ExOR sends its batch of 40; one under DiffQ, however often, the packets that its rate has granted: 100 kbit/s, which do not
/// grow here, are 25 of a little more than 1000 B in two seconds, less the few that were granted in its last turn, which it sends in the
/// next.
#[test]
fn a_source_sends_what_diffq_has_granted() {
    let sent = |name, set: &[(&str, ParamValue)]| {
        let sent = sent_by_a_source(name, set, 40, 200).0.into_iter();
        sent.map(|made| made.content).filter(|&bytes| bytes > 0).collect::<BTreeSet<_>>()
    };
    let batch = ("batch", ParamValue::Integer(40));
    assert_eq!(sent("exor", &[batch]), (1000..1040).collect());
    let granted = sent("diffq-exor", &[batch, ("alpha", ParamValue::Rate(Rate(0)))]);
    assert_eq!(granted, (1000..1000 + granted.len() as u32).collect());
    assert!((19..=25).contains(&granted.len()), "{granted:?}");
}

/// By packets a source gains alpha, here 1 kbit/s, with each that it sends.
#[test]
fn each_packet_of_a_source_is_a_step_of_the_law() {
    let set = [
        ("batch", ParamValue::Integer(40)),
        ("steps", ParamValue::Choice("packets")),
        ("rate_start", ParamValue::Rate(Rate(400_000))),
        ("alpha", ParamValue::Rate(Rate(1000))),
        ("threshold", ParamValue::Integer(1000)),
    ];
    let (sent, rate) = sent_by_a_source("diffq-exor", &set, 40, 100);
    assert!(sent.len() > 40, "{}", sent.len());
    // Each carries a trailer, by its number.
    let rest = |made: &Made| Trailer::decode(Exor::decode(&made.header).unwrap().1).unwrap().0.number;
    assert!((0..).zip(&sent).all(|(number, made)| rest(made) == number));
    // Maps alone are no packets of the source.
    let packets = sent.iter().filter(|made| made.content > 0).count();
    assert!(packets < sent.len());
    assert_eq!(rate, 400_000.0 + 1000.0 * packets as f64);
}

/// A relay under DiffQ with twenty packets that the next one, node 6, does not hold: of 8 levels for 100 packets it has the second. Node 6
/// announces that fifteen wait there: it has the first for a second. What carries no trailer is counted.
#[test]
fn what_the_next_one_announces_decides_the_level() {
    let node = ExorConfig { flows: FLOWS, granted: true, ..ExorConfig::default() };
    let diffq = Some(diffq(&[]));
    let mut relay = Driven::new(ExorStation::new(StationConfig { node, diffq, ..config() }), 5);
    let broadcast = |rank, packet, queue: Option<u16>| {
        let nodes = Nodes::new(&[2, 6, 5, 1]).unwrap();
        let head = Head { flow: 7, batch: 0, rank, fragment: Fragment { number: 0, size: 1 }, nodes };
        let mut made = encoded(head, packet, &[3; 20], 100);
        made.header.extend(queue.into_iter().flat_map(trailer));
        made
    };
    (0..20).for_each(|packet| relay.hear(0, 1, &broadcast(3, Some(packet), Some(0))));
    let at = relay.timer(TURN).unwrap();
    relay.fire(at, TURN);
    assert_eq!((relay.level(at), relay.gauge("trailers_garbage")), (Some(2), 0.0));
    relay.hear(at, 6, &broadcast(1, None, Some(15)));
    assert_eq!((relay.level(at), relay.level(at + 1_000_001)), (Some(1), Some(2)));
    relay.hear(at, 6, &broadcast(1, None, None));
    assert_eq!((relay.level(at), relay.gauge("trailers_garbage")), (Some(1), 1.0));
}

/// Three packets of a batch of ten are one when the first of them has waited for 100 ms. There is room for a batch of a flow from the
/// start.
#[test]
fn fewer_packets_are_a_batch_after_a_while() {
    let mut source = driven(1);
    assert_eq!(source.station.room(FLOW, NodeId(2)), 10);
    for number in 0..3 {
        source.take(10_000 * u64::from(number), FLOW, 2, (number, 1000));
        assert_eq!((source.timer(FLUSH), source.is_ready(20_000)), (Some(100_000), false));
    }
    source.fire(100_000, FLUSH);
    assert_eq!((source.timer(FLUSH), source.gauge("backlog")), (None, 3.0));
    assert!(source.is_ready(100_000));
}

/// Of a batch that the destination has forgotten, or never heard of, it hands up all the same what comes by routing.
#[test]
fn what_is_routed_arrives_without_a_batch() {
    let mut destination = driven(2);
    destination.call(0, |station, context| station.on_routed(FLOW, 9, context));
    assert_eq!((destination.out.delivered.as_slice(), destination.out.whole.len()), (&[(FLOW, 9)][..], 0));
}

/// A destination that is silent, as it has heard nothing for longer than 3 s, tells its map when a packet comes by routing.
#[test]
fn a_routed_packet_ends_a_silence() {
    let mut destination = driven(2);
    destination.hear(0, 1, &broadcast(0, (2, Some(0)), &[2; 3], 100));
    assert_eq!([0, 1, 2].map(|us| destination.make(us).is_some()), [true, true, false], "two maps at once");
    destination.fire(10_000_000, TURN);
    assert!(!destination.is_ready(10_000_000));
    destination.call(11_000_000, |station, context| station.on_routed(FLOW, 2, context));
    assert!(destination.is_ready(11_000_000));
}

/// A source of twenty flows, one after the other, keeps what it knows of the last eight, and their sizes.
#[test]
fn a_source_forgets_sizes_of_flows_that_are_done() {
    let mut source = driven(1);
    for flow in 0..20 {
        (0..10).for_each(|number| source.take(0, FlowId(flow), 2, (number, 1000 + flow)));
        assert_eq!(source.make(0).map(|made| made.content), Some(1000 + flow));
        let nodes = Nodes::new(&[2, 1]).unwrap();
        let head = Head { flow, batch: 0, rank: 0, fragment: Fragment { number: 0, size: 1 }, nodes };
        source.hear(0, 2, &encoded(head, None, &[0; 10], 0));
        assert!(source.station.kept() <= 2 * FLOWS, "{} after flow {flow}", source.station.kept());
    }
}

/// Headers of ten thousand flows that nobody has, and bytes that are no header: nothing panics, and what is kept is bounded.
#[test]
fn what_garbage_leaves_is_bounded() {
    let mut driven = driven(2);
    for i in 0..10_000_u32 {
        let list = if i % 2 == 0 { [2, 9, 1] } else { [9, 2, 1] };
        let head = Head {
            flow: i,
            batch: i,
            rank: 2,
            fragment: Fragment { number: i as u8, size: (i >> 8) as u8 },
            nodes: Nodes::new(&list).unwrap(),
        };
        let mut made = encoded(head, Some(0), &[i as u8; 100], 100);
        made.header.truncate(made.header.len() - usize::from(i % 7 == 0));
        driven.hear(u64::from(i), 1, &made);
    }
    assert!(driven.station.kept() <= 2 * FLOWS, "{}", driven.station.kept());
    assert!(driven.gauge("garbage") > 1000.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Damaged headers between two nodes that have a batch, in any order with their timers: nothing panics, and what is kept is bounded.
    #[test]
    fn damage_does_no_harm(
        events in proptest::collection::vec((any::<bool>(), 0usize..64, any::<u8>(), 0u64..9000, 0u32..30), 1..200),
    ) {
        let mut nodes = [driven(1), driven(2)];
        let flow = FLOW;
        let mut now = 0;
        for number in 0..20 {
            nodes[0].take(now, flow, 2, (number, 500));
        }
        for (which, place, damage, wait, number) in events {
            now += wait;
            let (from, to) = if which { (0, 1) } else { (1, 0) };
            nodes[from].fire(now, TURN);
            if let Some(mut made) = nodes[from].make(now) {
                if damage % 3 == 0 {
                    let place = place % made.header.len();
                    made.header[place] ^= damage;
                }
                nodes[to].hear(now, from as u32 + 1, &made);
            } else if damage % 2 == 0 {
                nodes[1].call(now, |station, context| station.on_routed(flow, number, context));
            } else {
                continue;
            }
        }
        prop_assert!(nodes.iter().all(|node| node.station.kept() <= 2 * FLOWS));
    }
}
