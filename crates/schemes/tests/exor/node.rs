//! The node: by hand, and batches through idealised networks.

use std::collections::BTreeSet;

use airfair_schemes::exor::listed;
use airfair_schemes::exor::node::{ExorConfig, ExorNode, Heard, Meaning, Sending};
use airfair_schemes::opportunistic::backpressure::{self, Backlogged, Backpressure};
use airfair_schemes::opportunistic::expected::{Expected, Pruning};
use airfair_schemes::places::NodeId;
use airfair_schemes::{ParamValue, Params};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Span, Time};
use airfair_wire::Flow;
use airfair_wire::exor::{BatchMap, Exor, Fragment, Head, Nodes};
use proptest::prelude::*;

use crate::networks::{DIAMOND, LINE, MESH, network};

/// Links, source and destination.
type Pair<'a> = (&'a [(u32, u32, f64)], u32, u32);

const FLOW: Flow = Flow { flow: 1, source: 9, destination: 0 };

fn nodes() -> Nodes {
    Nodes::new(&[0, 3, 5, 9]).unwrap()
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn header(batch: u32, rank: u8, packet: Option<u8>, map: &[u8]) -> Exor {
    let fragment = Fragment { number: 0, size: 1 };
    let head = Head { flow: 1, batch, rank, fragment, nodes: nodes() };
    Exor::new(head, packet, BatchMap::new(map.to_vec()).unwrap()).unwrap()
}

fn heard(node: &mut ExorNode, header: &Exor, at: u64) -> Meaning {
    let Heard { meaning, ended } = node.heard(header.view(), ms(at));
    assert_eq!(ended, None);
    meaning
}

/// The numbers of the packets of a turn, and the last map.
fn turn(node: &mut ExorNode, at: u64) -> (Vec<Option<u8>>, Option<BatchMap>) {
    node.tick(ms(at));
    let (mut sent, mut map) = (Vec::new(), None);
    while let Some(sending) = node.make(&FLOW, ms(at)) {
        match sending {
            Sending::Broadcast(header) => {
                assert_eq!(usize::from(header.head.fragment.number), sent.len());
                sent.push(header.packet());
                map = Some(header.map().clone());
            }
            Sending::Routed { packet, .. } => sent.push(Some(100 + packet)),
        }
    }
    (sent, map)
}

#[test]
fn a_forwarder_by_hand() {
    // Rank 1 of four; batches of four packets.
    let mut node = ExorNode::new(3, ExorConfig::default());
    assert_eq!(node.wakes_at(), None);
    assert_eq!(heard(&mut node, &header(0, 3, Some(0), &[3, 3, 3, 3]), 0), Meaning::New);
    assert_eq!(heard(&mut node, &header(0, 3, Some(0), &[3, 3, 3, 3]), 0), Meaning::Known);
    assert_eq!(heard(&mut node, &header(0, 3, Some(1), &[3, 3, 3, 3]), 0), Meaning::New);
    assert_eq!(heard(&mut node, &header(0, 3, Some(2), &[3, 3, 3, 3]), 0), Meaning::New);
    // After the source the destination has five packets' time.
    assert_eq!((node.wakes_at(), node.backlog(&FLOW), node.next()), (Some(ms(10)), 0, None));
    // It says that it has packet 1.
    assert_eq!(heard(&mut node, &header(0, 0, None, &[3, 0, 3, 3]), 8), Meaning::Known);
    assert_eq!(node.wakes_at(), Some(ms(8)));
    node.tick(ms(8));
    assert_eq!((node.backlog(&FLOW), node.next(), node.wakes_at()), (2, Some(FLOW), None));
    let (sent, map) = turn(&mut node, 8);
    assert_eq!((sent, map.unwrap().ranks()), (vec![Some(0), Some(2)], &[1, 0, 1, 3][..]));
    // Three others, five packets of 2 ms each, after the last of its own.
    assert_eq!((node.wakes_at(), node.make(&FLOW, ms(9))), (Some(ms(8 + 2 + 30)), None));
    // Nobody has heard it: the same again.
    assert_eq!(turn(&mut node, 40).0, [Some(0), Some(2)]);
    // In the midst of its turn the destination turns out to have the rest.
    node.tick(ms(80));
    assert_eq!(node.backlog(&FLOW), 2);
    assert_eq!(heard(&mut node, &header(0, 0, None, &[0, 0, 3, 3]), 80), Meaning::Known);
    assert_eq!(node.backlog(&FLOW), 1);
    assert_eq!(heard(&mut node, &header(0, 0, None, &[0, 0, 0, 3]), 80), Meaning::Known);
    assert_eq!((node.backlog(&FLOW), node.next(), node.make(&FLOW, ms(80))), (0, None, None));
    // It has nothing to send, and tells its map, until it has learnt nothing for 3 s, nor heard the source.
    for at in [200, 400, 3079] {
        assert_eq!(turn(&mut node, at), (vec![None], Some(BatchMap::new(vec![0, 0, 0, 3]).unwrap())));
    }
    assert_eq!(turn(&mut node, 3120).0, []);
    assert_eq!(heard(&mut node, &header(0, 0, None, &[3; 4]), 3150), Meaning::Known);
    assert_eq!(turn(&mut node, 3200).0, [], "the destination is not farther");
    assert_eq!(heard(&mut node, &header(0, 3, None, &[3; 4]), 3250), Meaning::Known);
    assert_eq!(turn(&mut node, 3300).0, [None]);
    // A later batch ends this one.
    let next = node.heard(header(1, 3, Some(3), &[3; 4]).view(), ms(3401));
    assert_eq!(next, Heard { meaning: Meaning::New, ended: Some(0) });
    assert_eq!(heard(&mut node, &header(0, 3, Some(3), &[3; 4]), 3402), Meaning::Old);
    // Neither another length nor another list fits.
    assert_eq!(heard(&mut node, &header(1, 3, Some(1), &[3; 5]), 3403), Meaning::Ignored);
    assert_eq!(
        node.map(&FLOW).map(|(number, map)| (number, map.ranks().to_vec())),
        Some((1, vec![3, 3, 3, 1]))
    );
}

#[test]
fn a_destination_by_hand() {
    let mut node = ExorNode::new(0, ExorConfig::default());
    assert_eq!(heard(&mut node, &header(0, 3, Some(2), &[3; 4]), 0), Meaning::New);
    let (sent, map) = turn(&mut node, 0);
    assert_eq!((sent, map.unwrap().ranks()), (vec![None; 10], &[3, 3, 0, 3][..]));
    // Whoever says that it has the others too is not believed: it would never get them.
    assert_eq!(heard(&mut node, &header(0, 1, None, &[0; 4]), 100), Meaning::Known);
    assert_eq!(turn(&mut node, 300).1.unwrap().ranks(), &[3, 3, 0, 3]);
    let mut routed = |flow, batch, packet| node.routed(&Flow { flow, ..FLOW }, batch, packet, ms(500));
    assert!(routed(1, 0, 1) && !routed(1, 0, 1));
    assert!(!routed(1, 1, 0) && !routed(1, 0, 4) && !routed(2, 0, 0));
    assert_eq!(turn(&mut node, 1000).1.unwrap().ranks(), &[3, 0, 0, 3]);
    assert_eq!(turn(&mut node.clone(), 3499).0.len(), 10);
    // Nothing new for 3 s; then it is silent until it hears something.
    assert!((7..60).all(|half| turn(&mut node, half * 500).0.is_empty()));
    assert_eq!(heard(&mut node, &header(0, 1, Some(0), &[3; 4]), 40_000), Meaning::New);
    assert_eq!(turn(&mut node, 41_000).0.len(), 10);
}

#[test]
fn a_source_by_hand() {
    let mut node = ExorNode::new(9, ExorConfig::default());
    assert_eq!(
        node.heard(header(0, 1, None, &[3; 4]).view(), ms(0)).meaning,
        Meaning::Ignored,
        "not its flow"
    );
    assert_eq!(node.begin(1, 0, &nodes(), ms(0)), None);
    assert_eq!(node.begin(1, 101, &nodes(), ms(0)), None);
    assert_eq!(node.begin(1, 4, &Nodes::new(&[9, 3]).unwrap(), ms(0)), None);
    assert_eq!(node.begin(1, 4, &Nodes::new(&[9, 9]).unwrap(), ms(0)), None);
    assert_eq!(node.begin(1, 10, &nodes(), ms(0)), Some(0));
    assert_eq!(node.begin(1, 10, &nodes(), ms(0)), None);
    assert_eq!(turn(&mut node, 0).0, (0..10).map(Some).collect::<Vec<_>>());
    // Two forwarders have some, the destination eight of ten: what is left is broadcast.
    assert_eq!(heard(&mut node, &header(0, 1, None, &[0, 0, 0, 0, 0, 0, 0, 0, 3, 3]), 100), Meaning::Known);
    assert_eq!(turn(&mut node, 1000).0, [Some(8), Some(9)]);
    // Nine of ten: the last goes by routing, again after a second, if no map shows it.
    assert_eq!(heard(&mut node, &header(0, 1, None, &[0, 0, 0, 0, 0, 0, 0, 0, 3, 0]), 1100), Meaning::Known);
    assert_eq!(turn(&mut node, 2000).0, [Some(108), None]);
    assert_eq!(turn(&mut node, 2500).0, [None]);
    assert_eq!(turn(&mut node, 3000).0, [Some(108), None]);
    // A forwarder says that it has that one: nothing is left to do, until nothing new was heard for 5 s.
    assert_eq!(heard(&mut node, &header(0, 1, None, &[0, 0, 0, 0, 0, 0, 0, 0, 1, 0]), 3050), Meaning::Known);
    assert_eq!(turn(&mut node, 4000).0, [None]);
    assert_eq!(turn(&mut node, 8000).0, [None]);
    assert_eq!(turn(&mut node, 8050).0, [Some(108), None]);
    // All are delivered: the next batch.
    let done = node.heard(header(0, 1, None, &[0; 10]).view(), ms(9100));
    assert_eq!(done, Heard { meaning: Meaning::Known, ended: Some(0) });
    assert_eq!(heard(&mut node, &header(0, 1, None, &[0; 10]), 9101), Meaning::Old);
    assert_eq!(
        heard(&mut node, &header(5, 1, None, &[0; 10]), 9101),
        Meaning::Old,
        "it has not begun that one"
    );
    assert_eq!(node.begin(1, 10, &nodes(), ms(9200)), Some(1));
}

/// Flows of a node take turns packet by packet.
#[test]
fn flows_have_turns() {
    let mut node = ExorNode::new(9, ExorConfig::default());
    let list = |destination| Nodes::new(&[destination, 3, 9]).unwrap();
    let flows = [(1, 0), (2, 5), (4, 0)].map(|(flow, destination)| Flow { flow, source: 9, destination });
    for Flow { flow, destination, .. } in flows {
        assert_eq!(node.begin(flow, 3, &list(destination), ms(0)), Some(0));
    }
    assert_eq!((node.backlog_to(0), node.backlog_to(5), node.backlog_to(9)), (6, 3, 0));
    node.tick(ms(0));
    assert_eq!(node.ready().collect::<Vec<_>>(), flows);
    let order: Vec<u32> = (0..9)
        .map(|_| {
            let flow = node.next().unwrap();
            assert!(node.make(&flow, ms(1)).is_some());
            assert_eq!(node.turn(), Some(flow));
            flow.flow
        })
        .collect();
    assert_eq!(order, [1, 2, 4, 1, 2, 4, 1, 2, 4]);
    assert_eq!(node.next(), None);
    assert_eq!(node.nearer(&flows[1]).collect::<Vec<_>>(), [5, 3]);
}

/// A node is woken for the flow whose turn comes first: after a source's last packet the destination has five packets' time of 2 ms.
#[test]
fn the_earliest_turn_wakes() {
    let mut node = ExorNode::new(3, ExorConfig::default());
    for (flow, at) in [(1, 4), (2, 0), (3, 7)] {
        let mut header = header(0, 3, Some(0), &[3]);
        header.head.flow = flow;
        assert_eq!(heard(&mut node, &header, at), Meaning::New);
    }
    let ready = |node: &ExorNode| node.ready().map(|flow| flow.flow).collect::<Vec<_>>();
    for (at, flows) in [(10, vec![2]), (14, vec![1, 2]), (17, vec![1, 2, 3])] {
        assert_eq!(node.wakes_at(), Some(ms(at)));
        node.tick(ms(at));
        assert_eq!(ready(&node), flows);
    }
    assert_eq!(node.wakes_at(), None);
}

/// Under a rate a source sends what it was granted, the first packets of its batch, as often as it takes.
#[test]
fn a_source_under_a_rate() {
    let mut node = ExorNode::new(9, ExorConfig { granted: true, ..ExorConfig::default() });
    assert!(!node.grant(&FLOW, 1), "no batch");
    node.begin(1, 10, &nodes(), ms(0));
    assert_eq!((node.backlog_to(0), turn(&mut node, 0).0), (0, vec![None]));
    assert!(node.grant(&FLOW, 3));
    assert_eq!((node.backlog_to(0), turn(&mut node, 100).0), (3, vec![Some(0), Some(1), Some(2)]));
    assert_eq!(heard(&mut node, &header(0, 1, None, &[3, 0, 3, 3, 3, 3, 3, 3, 3, 3]), 150), Meaning::Known);
    assert_eq!(node.backlog_to(0), 2);
    assert!(node.grant(&FLOW, 1));
    assert_eq!(turn(&mut node, 400).0, [Some(0), Some(2), Some(3)]);
    assert!(node.grant(&FLOW, 100));
    assert_eq!(node.backlog_to(0), 9);
    assert!(!node.grant(&FLOW, 1), "all are granted: what is more is lost");
    // Another node's flow is not its own to grant.
    let mut other = ExorNode::new(3, ExorConfig { granted: true, ..ExorConfig::default() });
    assert_eq!(heard(&mut other, &header(0, 3, Some(0), &[3; 4]), 0), Meaning::New);
    assert!(!other.grant(&FLOW, 1));
    assert_eq!(other.backlog_to(0), 1);
}

/// Packets are found by their numbers in a flow, where the number of a batch is that of its first packet.
#[test]
fn packets_by_number() {
    let mut node = ExorNode::new(0, ExorConfig::default());
    assert_eq!(heard(&mut node, &header(64, 3, Some(2), &[3; 4]), 0), Meaning::New);
    let found = |flow, number| node.locate(flow, number);
    assert_eq!(found(1, 64), Some((FLOW, 64, 0)));
    assert_eq!(found(1, 67), Some((FLOW, 64, 3)));
    assert_eq!((found(1, 68), found(1, 63), found(2, 64)), (None, None, None));
    assert!(!node.is_whole(&FLOW));
    for packet in [0, 1, 3] {
        assert_eq!(heard(&mut node, &header(64, 3, Some(packet), &[3; 4]), 1), Meaning::New);
    }
    assert!(node.is_whole(&FLOW));
    // A forwarder is no destination.
    let mut relay = ExorNode::new(3, ExorConfig::default());
    assert_eq!(heard(&mut relay, &header(64, 3, Some(2), &[3; 4]), 0), Meaning::New);
    assert_eq!(relay.locate(1, 64), None);
}

/// Maps wait for no differential: without those of the destination no batch would end where only positive ones are served.
#[test]
fn maps_are_no_backlog() {
    let tick = |node: &mut ExorNode, packets: &[u8]| {
        packets.iter().for_each(|&packet| _ = node.heard(header(0, 3, Some(packet), &[3; 3]).view(), ms(0)));
        node.tick(ms(1000));
        (node.backlog(&FLOW), node.backlog_to(0), node.has_only_maps(&FLOW))
    };
    let mut destination = ExorNode::new(0, ExorConfig::default());
    assert_eq!(tick(&mut destination, &[0]), (10, 0, true));
    let mut forwarder = ExorNode::new(5, ExorConfig::default());
    assert_eq!(tick(&mut forwarder, &[0, 2]), (2, 2, false));
    let serve = ParamValue::Choice("positive");
    let set = Params([("serve".into(), serve)].into());
    let mut diffq = Backpressure::new(backpressure::BackpressureConfig::from_params(&set).unwrap());
    assert!(diffq.next(&destination, ms(1000)).is_some() && diffq.next(&forwarder, ms(1000)).is_some());
    // The next forwarder says that it has three packets: the two of this one wait.
    let told = diffq.trailer(&FLOW, 3, ms(1000));
    diffq.hear(NodeId(3), &FLOW, &told, ms(1000));
    assert!(diffq.next(&destination, ms(1000)).is_some() && diffq.next(&forwarder, ms(1000)).is_none());
}

/// A packet that is handed to routing waits for a differential; the map behind it does not.
#[test]
fn a_packet_before_a_map_is_no_map() {
    let mut node = ExorNode::new(9, ExorConfig::default());
    node.begin(1, 10, &nodes(), ms(0));
    turn(&mut node, 0);
    assert_eq!(heard(&mut node, &header(0, 1, None, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 3]), 50), Meaning::Known);
    node.tick(ms(1000));
    assert_eq!((node.backlog(&FLOW), node.has_only_maps(&FLOW)), (2, false));
    assert_eq!(node.make(&FLOW, ms(1000)), Some(Sending::Routed { batch: 0, packet: 9 }));
    assert_eq!((node.backlog(&FLOW), node.has_only_maps(&FLOW)), (1, true));
}

/// A destination that others have passed over, and that then was silent, counts anew from what it hears next: two nodes come before it, ten
/// milliseconds each.
#[test]
fn after_a_silence_turns_begin_anew() {
    let mut node = ExorNode::new(0, ExorConfig::default());
    for (at, begins) in [(0, 20), (1, 20), (10_000, 10_020)] {
        heard(&mut node, &header(0, 1, None, &[3; 4]), at);
        assert_eq!(node.wakes_at(), Some(ms(begins)), "heard at {at} ms");
    }
}

/// Who is silent lets the turn pass. A packet by routing ends the silence of the destination, whose turn is then a round of three others
/// later, ten milliseconds each.
#[test]
fn a_silent_node_lets_its_turn_pass() {
    let mut node = ExorNode::new(0, ExorConfig::default());
    heard(&mut node, &header(0, 1, None, &[3; 4]), 0);
    node.tick(ms(4000));
    assert_eq!((node.wakes_at(), node.backlog(&FLOW)), (None, 0));
    assert!(node.routed(&FLOW, 0, 2, ms(4001)));
    assert_eq!(node.wakes_at(), Some(ms(4030)));
}

/// A forged number, or a forged list, stops a flow until the node is silent, for three seconds.
#[test]
fn what_is_forged_does_not_stay() {
    for (forged, packets) in [(1 << 30, 3), (7, 2)] {
        let mut node = ExorNode::new(3, ExorConfig::default());
        let map = vec![3; packets];
        assert_eq!(heard(&mut node, &header(forged, 3, Some(0), &map), 0), Meaning::New);
        let unused = if forged == 7 { Meaning::Ignored } else { Meaning::Old };
        let real = header(7, 3, Some(0), &[3, 3, 3]);
        assert_eq!(heard(&mut node, &real, 2999), unused);
        assert_eq!(node.heard(real.view(), ms(3000)).meaning, Meaning::New);
        assert_eq!(heard(&mut node, &real, 3001), Meaning::Known);
        // A later batch is begun at once; that it ended the earlier one is remembered.
        assert_eq!(node.heard(header(8, 3, Some(0), &[3, 3, 3]).view(), ms(3002)).ended, Some(7));
        assert_eq!(heard(&mut node, &real, 3003), Meaning::Old);
    }
}

#[test]
fn memory_is_bounded() {
    let mut node = ExorNode::new(9, ExorConfig { flows: 3, ..ExorConfig::default() });
    node.begin(1, 10, &nodes(), ms(0));
    let other = |flow| {
        let nodes = Nodes::new(&[0, 9, 7]).unwrap();
        let head = Head { flow, batch: 0, rank: 2, fragment: Fragment { number: 0, size: 1 }, nodes };
        Exor::new(head, Some(0), BatchMap::new(vec![2]).unwrap()).unwrap()
    };
    for flow in 0..100 {
        node.heard(other(flow).view(), ms(u64::from(flow)));
        assert!(node.len() <= 4 && node.map(&FLOW).is_some());
    }
    assert!(node.map(&Flow { flow: 99, source: 7, destination: 0 }).is_some());
}

/// Transmissions that batches took.
struct Taken {
    /// Broadcasts of packets, of maps, and packets handed to routing, a packet.
    broadcasts: f64,
    maps: f64,
    routed: f64,
}

/// Batches without collisions: one transmission after the other, of 2 ms, by those whose turn they think it is; routing loses a part.
fn batches((links, source, destination): Pair, count: u32, lost: f64, seed: u64) -> Taken {
    const PACKETS: u8 = 32;
    let losses = network(links);
    let expected = Expected::new(&losses, NodeId(source), NodeId(destination), &Pruning::default()).unwrap();
    let list = listed(&expected).unwrap();
    let flow = Flow { flow: 1, source, destination };
    let ids = list.view().iter().collect::<Vec<_>>();
    let mut nodes: Vec<ExorNode> = ids.iter().map(|&id| ExorNode::new(id, ExorConfig::default())).collect();
    let mut random = Stream::new(seed, "ideal", Purpose::Reception);
    let (mut now, mut broadcasts, mut maps, mut routed) = (ms(0), 0, 0, 0);
    for batch in 0..count {
        assert_eq!(nodes.last_mut().unwrap().begin(1, PACKETS, &list, now), Some(batch));
        let mut arrived = BTreeSet::new();
        while nodes.last().unwrap().map(&flow).is_some() {
            nodes.iter_mut().for_each(|node| node.tick(now));
            let ready: Vec<usize> = (0..nodes.len()).filter(|&i| nodes[i].next().is_some()).collect();
            if ready.is_empty() {
                now = nodes.iter().filter_map(ExorNode::wakes_at).min().expect("it goes on").max(now);
                continue;
            }
            let from = ready[random.below(ready.len() as u32) as usize];
            let sending = nodes[from].make(&flow, now).unwrap();
            now += Span::from_millis(2);
            assert!(now < ms(u64::from(batch + 1) * 100_000), "it does not end");
            let header = match sending {
                Sending::Broadcast(header) => header,
                Sending::Routed { batch: number, packet } => {
                    assert_eq!(number, batch);
                    routed += 1;
                    if random.uniform() >= lost && nodes[0].routed(&flow, batch, packet, now) {
                        assert!(arrived.insert(packet));
                    }
                    continue;
                }
            };
            *if header.packet().is_some() { &mut broadcasts } else { &mut maps } += 1;
            for to in (0..nodes.len()).filter(|&to| to != from) {
                if random.uniform() >= losses.loss(NodeId(ids[from]), NodeId(ids[to])) {
                    let heard = nodes[to].heard(header.view(), now);
                    if to == 0 && heard.meaning == Meaning::New {
                        assert!(arrived.insert(header.packet().unwrap()), "twice");
                    }
                }
            }
        }
        assert_eq!(arrived.len(), usize::from(PACKETS), "all have arrived");
    }
    let of = |number: u32| f64::from(number) / f64::from(count) / f64::from(PACKETS);
    Taken { broadcasts: of(broadcasts), maps: of(maps), routed: of(routed) }
}

#[test]
fn idealised_networks() {
    let link = [(1, 0, 0.5)];
    let networks: [Pair; 4] = [(&link, 1, 0), (&LINE, 2, 0), (&DIAMOND, 3, 0), (&MESH, 10, 14)];
    for at in networks {
        let expected =
            Expected::new(&network(at.0), NodeId(at.1), NodeId(at.2), &Pruning::default()).unwrap();
        let Taken { broadcasts, maps, routed } = batches(at, 100, 0.1, 1);
        // Up to a tenth goes by routing; nodes that have not heard the newest map send what a better one holds already.
        let part = broadcasts / expected.cost();
        assert!(
            (0.9..1.15).contains(&part),
            "{broadcasts} broadcasts, {part} of what is expected, in {at:?}"
        );
        assert!((0.0..0.13).contains(&routed), "{routed} routed");
        assert!((2.0..5.0).contains(&maps), "{maps} maps");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// No headers and no times make it panic; it sends only what it holds and no better node is known to, of the batch at hand; its map
    /// only ever gets better.
    #[test]
    fn what_it_sends_it_has(
        events in proptest::collection::vec(
            (0u32..3, 0u8..5, proptest::option::of(0u8..6), proptest::collection::vec(0u8..5, 6), 0u64..40, any::<[u8; 2]>()),
            1..80,
        ),
        me in prop_oneof![Just(0), Just(3), Just(5)],
    ) {
        let mut node = ExorNode::new(me, ExorConfig::default());
        let (mut now, mut held, mut open, mut best) = (0, BTreeSet::new(), None, vec![3; 6]);
        for (batch, rank, packet, ranks, wait, [number, size]) in events {
            now += wait;
            let map = BatchMap::new(ranks).unwrap();
            let head = Head { flow: 1, batch, rank, fragment: Fragment { number, size }, nodes: nodes() };
            let header = Exor::new(head, packet, map).unwrap();
            let Heard { meaning, .. } = node.heard(header.view(), ms(now));
            if [Meaning::New, Meaning::Known].contains(&meaning) {
                if open.is_none_or(|open| open < batch) {
                    (open, best) = (Some(batch), vec![3; 6]);
                    held.clear();
                }
                if let Some(packet) = packet {
                    prop_assert_eq!(held.insert(packet), meaning == Meaning::New);
                }
            }
            node.tick(ms(now));
            let backlog = node.backlog(&FLOW);
            match node.make(&FLOW, ms(now)) {
                Some(Sending::Broadcast(sent)) => {
                    prop_assert_eq!(Some(sent.head.batch), open);
                    prop_assert!(sent.head.fragment.number < sent.head.fragment.size);
                    if let Some(packet) = sent.packet() {
                        prop_assert!(held.contains(&packet));
                        prop_assert_eq!(sent.map().ranks()[usize::from(packet)], sent.head.rank);
                    }
                }
                Some(Sending::Routed { batch, packet }) => {
                    prop_assert!(Some(batch) == open && held.contains(&packet));
                }
                None => prop_assert_eq!(backlog, 0),
            }
            if let Some((number, map)) = node.map(&FLOW) {
                prop_assert!(Some(number) == open);
                prop_assert!(map.ranks().iter().zip(&best).all(|(now, before)| now <= before));
                best = map.ranks().to_vec();
            }
        }
    }

    /// Every batch ends, whatever is lost, and every packet arrives once.
    #[test]
    fn every_batch_ends(seed: u64, a in 0.2f64..1.0, b in 0.2f64..1.0, c in 0.0f64..1.0, lost in 0.0f64..0.7) {
        batches((&[(2, 1, a), (1, 0, b), (2, 0, c)], 2, 0), 4, lost, seed);
    }
}

/// A node that may know two flows is the source of five, one after the other.
#[test]
fn a_source_of_more_flows_than_are_known() {
    let mut node = ExorNode::new(9, ExorConfig { flows: 2, ..ExorConfig::default() });
    let nodes = Nodes::new(&[0, 9]).unwrap();
    for flow in 0..5 {
        assert_eq!(node.begin(flow, 1, &nodes, ms(flow.into())), Some(0), "flow {flow}");
        let fragment = Fragment { number: 0, size: 1 };
        let head = Head { flow, batch: 0, rank: 0, fragment, nodes: nodes.clone() };
        let map = Exor::new(head, None, BatchMap::new(vec![0]).unwrap()).unwrap();
        assert_eq!(node.heard(map.view(), ms(flow.into())).ended, Some(0));
    }
    assert_eq!(node.len(), 2);
    // Batches at hand stay.
    assert_eq!([5, 6, 7].map(|flow| node.begin(flow, 1, &nodes, ms(9))), [Some(0); 3]);
    assert_eq!(node.len(), 3);
}
