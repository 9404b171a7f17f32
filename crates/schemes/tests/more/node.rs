//! The node: by hand, in idealised networks, and under any order of packets and acknowledgements.

use airfair_schemes::more::decoder::Decoder;
use airfair_schemes::more::forwarders::{forwarders, listed};
use airfair_schemes::more::node::{Heard, Meaning, MoreConfig, MoreNode};
use airfair_schemes::opportunistic::backpressure::Backlogged;
use airfair_schemes::opportunistic::expected::{Expected, Pruning};
use airfair_schemes::places::NodeId;
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Span, Time};
use airfair_wire::more::{Acknowledgement, Coded, Credit, Flow, Forwarder, Forwarders};
use proptest::prelude::*;

use crate::matrix::rank;
use crate::networks::{DIAMOND, LINE, MESH, network};

/// Links, source and destination.
type Pair<'a> = (&'a [(u32, u32, f64)], u32, u32);

const FLOW: Flow = Flow { flow: 1, source: 9, destination: 0 };

/// Two forwarders, 3 nearer than 5; 1.5 and 0.25.
fn list() -> Forwarders {
    let list = [(3, 1536), (5, 256)].map(|(node, credit)| Forwarder { node, credit: Credit(credit) });
    Forwarders::new(list.into_iter())
}

fn stream(seed: u64) -> Stream {
    Stream::new(seed, "node", Purpose::Queue)
}

fn coded(batch: u32, vector: &[u8]) -> Coded {
    Coded::new(FLOW, batch, list(), vector.to_vec()).unwrap()
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn meaning(heard: Heard) -> Meaning {
    assert_eq!((heard.ended, heard.acknowledge), (None, None));
    heard.meaning
}

#[test]
fn a_forwarder_by_hand() {
    let mut node = MoreNode::new(3, MoreConfig::default());
    let mut random = stream(1);
    assert_eq!(node.make(&FLOW, &mut random), None);
    // From the source: 1.5 transmissions, so two may go; the counter is then -0.5.
    assert_eq!(meaning(node.heard(coded(0, &[1, 0, 0]).view(), 9, ms(0))), Meaning::Innovative);
    assert_eq!(
        (node.backlog(&FLOW), node.backlog_to(0), node.backlog_to(9), node.next()),
        (2, 2, 0, Some(FLOW))
    );
    let made = node.make(&FLOW, &mut random).unwrap();
    assert_eq!((made.flow, made.batch, &made.forwarders), (FLOW, 0, &list()));
    assert!(made.vector()[0] != 0 && made.vector()[1..] == [0, 0]);
    assert_eq!(node.backlog(&FLOW), 1);
    assert!(node.make(&FLOW, &mut random).is_some());
    assert_eq!((node.backlog(&FLOW), node.make(&FLOW, &mut random), node.next()), (0, None, None));
    // From the other forwarder, farther away, a packet that says nothing new: 1.5 more, 1 in all.
    assert_eq!(meaning(node.heard(coded(0, &[7, 0, 0]).view(), 5, ms(1))), Meaning::Dependent);
    assert_eq!(node.backlog(&FLOW), 1);
    // From the destination's side, and from a stranger: stored, and nothing earned.
    assert_eq!(meaning(node.heard(coded(0, &[0, 1, 0]).view(), 0, ms(2))), Meaning::Innovative);
    assert_eq!(meaning(node.heard(coded(0, &[0, 0, 1]).view(), 77, ms(2))), Meaning::Innovative);
    assert_eq!((node.backlog(&FLOW), node.rank(&FLOW)), (1, Some((0, 3, 3))));
    // A vector of another length does not fit.
    assert_eq!(meaning(node.heard(coded(0, &[1, 1]).view(), 9, ms(2))), Meaning::Ignored);
    assert_eq!(node.backlog(&FLOW), 1);
    // A later batch ends this one, with its credit.
    let heard = node.heard(coded(1, &[1, 0, 0]).view(), 9, ms(3));
    assert_eq!((heard.meaning, heard.ended), (Meaning::Innovative, Some(0)));
    assert_eq!((node.backlog(&FLOW), node.rank(&FLOW)), (2, Some((1, 1, 3))));
    assert_eq!(meaning(node.heard(coded(0, &[1, 0, 0]).view(), 9, ms(3))), Meaning::Old);
    // An acknowledgement ends it; of an earlier one it would not.
    assert_eq!(node.acknowledged(&Acknowledgement { flow: FLOW, batch: 0 }, ms(4)), None);
    assert_eq!(node.backlog(&FLOW), 2);
    assert_eq!(node.acknowledged(&Acknowledgement { flow: FLOW, batch: 1 }, ms(4)), Some(1));
    assert_eq!(
        (node.backlog(&FLOW), node.make(&FLOW, &mut random), node.last_acknowledged(&FLOW)),
        (0, None, Some(1))
    );
    assert_eq!(meaning(node.heard(coded(1, &[0, 1, 0]).view(), 9, ms(5))), Meaning::Old);
    assert_eq!(node.acknowledged(&Acknowledgement { flow: FLOW, batch: 1 }, ms(6)), None, "twice");
}

#[test]
fn the_far_forwarder_does_not_earn_from_the_near_one() {
    let mut node = MoreNode::new(5, MoreConfig::default());
    assert_eq!(meaning(node.heard(coded(0, &[1, 0]).view(), 3, ms(0))), Meaning::Innovative);
    assert_eq!(node.backlog(&FLOW), 0);
    // 0.25 for each of the source's: above 0 with the first, used up by one transmission until the fifth.
    node.heard(coded(0, &[1, 1]).view(), 9, ms(0));
    assert_eq!(node.backlog(&FLOW), 1);
    assert!(node.make(&FLOW, &mut stream(1)).is_some());
    let until = (1..).find(|_| {
        node.heard(coded(0, &[1, 1]).view(), 9, ms(0));
        node.backlog(&FLOW) > 0
    });
    assert_eq!(until, Some(4));
}

#[test]
fn who_is_not_listed_has_nothing_to_do() {
    for me in [4, 9] {
        let mut node = MoreNode::new(me, MoreConfig::default());
        assert_eq!(meaning(node.heard(coded(0, &[1, 0]).view(), 5, ms(0))), Meaning::Ignored);
        assert!(node.is_empty());
    }
}

/// A packet of zeros pays for what its sender has sent, as every packet does; but who holds nothing has nothing to send.
#[test]
fn who_holds_nothing_sends_nothing() {
    let mut node = MoreNode::new(3, MoreConfig::default());
    assert_eq!(meaning(node.heard(coded(0, &[0, 0]).view(), 9, ms(0))), Meaning::Dependent);
    assert_eq!((node.backlog(&FLOW), node.next(), node.make(&FLOW, &mut stream(1))), (0, None, None));
    // With the next it has earned 1.5 twice.
    node.heard(coded(0, &[1, 0]).view(), 9, ms(1));
    assert_eq!(node.backlog(&FLOW), 3);
}

/// A source whose forwarders have changed tells so in its packets; who forwards them passes that on, and earns by it.
#[test]
fn the_newest_list_is_passed_on() {
    let mut node = MoreNode::new(3, MoreConfig::default());
    node.heard(coded(0, &[1, 0]).view(), 9, ms(0));
    let new = Forwarders::new([Forwarder { node: 3, credit: Credit(3072) }].into_iter());
    let header = Coded::new(FLOW, 0, new.clone(), vec![0, 1]).unwrap();
    node.heard(header.view(), 9, ms(1));
    assert_eq!((node.forwarders(&FLOW), node.backlog(&FLOW)), (Some(&new), 5), "1.5 and 3");
    assert_eq!(node.make(&FLOW, &mut stream(1)).unwrap().forwarders, new);
}

#[test]
fn dependent_packets_need_not_earn() {
    let mut node = MoreNode::new(3, MoreConfig { dependent_earns: false, ..MoreConfig::default() });
    node.heard(coded(0, &[1, 0]).view(), 9, ms(0));
    node.heard(coded(0, &[2, 0]).view(), 9, ms(0));
    assert_eq!(node.backlog(&FLOW), 2);
}

/// Under DiffQ credit is at most what a destination queue holds.
#[test]
fn credit_is_at_most_a_queue() {
    for (depth, most) in [(4, 4), (u32::MAX, 15)] {
        let mut node = MoreNode::new(3, MoreConfig { depth, ..MoreConfig::default() });
        for _ in 0..10 {
            node.heard(coded(0, &[1, 0]).view(), 9, ms(0));
        }
        assert_eq!(node.backlog(&FLOW), most);
    }
}

#[test]
fn a_destination_by_hand() {
    let mut node = MoreNode::new(0, MoreConfig::default());
    let hear = |node: &mut MoreNode, header: Coded, at| node.heard(header.view(), 3, ms(at));
    assert_eq!(meaning(hear(&mut node, coded(0, &[1, 1]), 0)), Meaning::Innovative);
    assert_eq!(meaning(hear(&mut node, coded(0, &[2, 2]), 0)), Meaning::Dependent);
    assert_eq!(node.rank(&FLOW), Some((0, 1, 2)));
    let acknowledgement = Acknowledgement { flow: FLOW, batch: 0 };
    let heard = hear(&mut node, coded(0, &[1, 0]), 10);
    assert_eq!((heard.meaning, heard.acknowledge), (Meaning::Decodes, Some(acknowledgement)));
    assert_eq!(node.rank(&FLOW), Some((0, 2, 2)));
    assert_eq!((node.backlog(&FLOW), node.next()), (0, None), "it sends nothing");
    // The source goes on: an acknowledgement was lost. Another after 50 ms, then after 100 and 200 ms: a constant rate would queue up.
    for (at, again) in [
        (11, false),
        (59, false),
        (60, true),
        (61, false),
        (110, false),
        (160, true),
        (359, false),
        (360, true),
    ] {
        let heard = hear(&mut node, coded(0, &[1, 0]), at);
        assert_eq!((heard.meaning, heard.acknowledge.is_some()), (Meaning::Old, again), "{at} ms");
    }
    // What the destination repeats by itself and what it answers are one series: 400 ms after the last.
    for (at, again) in [(759, false), (760, true), (761, false)] {
        assert_eq!(node.acknowledges_again(&acknowledgement, ms(at)), again, "{at} ms");
    }
    let later = hear(&mut node, coded(0, &[1, 0]), 1559);
    assert_eq!(later.acknowledge, None, "800 ms after the last");
    // The first acknowledgement of the next batch does not wait.
    assert_eq!(hear(&mut node, coded(1, &[1, 0]), 1560).ended, Some(0));
    let heard = hear(&mut node, coded(1, &[1, 1]), 1561);
    assert_eq!(heard.acknowledge, Some(Acknowledgement { flow: FLOW, batch: 1 }));
    // It knows by itself.
    assert_eq!(node.acknowledged(&Acknowledgement { flow: FLOW, batch: 9 }, ms(1562)), None);
    assert_eq!(node.last_acknowledged(&FLOW), Some(1));
}

/// A destination that has room for one flow of others decodes a batch of one and forgets it for another: it repeats the acknowledgement
/// of the forgotten one all the same, as its source waits for nothing else.
#[test]
fn the_acknowledgement_of_a_forgotten_flow_is_repeated() {
    let mut node = MoreNode::new(0, MoreConfig { flows: 1, ..MoreConfig::default() });
    let first = node.heard(coded(0, &[1]).view(), 9, ms(0)).acknowledge.unwrap();
    assert!(!node.acknowledges_again(&first, ms(49)) && node.acknowledges_again(&first, ms(50)));
    let other = Coded::new(Flow { flow: 2, ..FLOW }, 0, list(), vec![1]).unwrap();
    assert_eq!(node.heard(other.view(), 9, ms(51)).meaning, Meaning::Decodes);
    assert_eq!((node.len(), node.last_acknowledged(&FLOW)), (1, None));
    assert!(node.acknowledges_again(&first, ms(52)));
}

#[test]
fn a_source_by_hand() {
    let mut node = MoreNode::new(9, MoreConfig::default());
    let mut random = stream(2);
    assert_eq!(node.begin(FLOW, Decoder::new(4), list(), ms(0)), None, "natives are missing");
    assert_eq!(node.begin(Flow { source: 8, ..FLOW }, Decoder::full(4), list(), ms(0)), None);
    assert_eq!(node.begin(Flow { destination: 9, ..FLOW }, Decoder::full(4), list(), ms(0)), None);
    assert_eq!(node.begin(FLOW, Decoder::full(4), list(), ms(0)), Some(0));
    assert_eq!(node.begin(FLOW, Decoder::full(4), list(), ms(0)), None, "one at a time");
    for _ in 0..100 {
        assert_eq!(node.make(&FLOW, &mut random).unwrap().vector().len(), 4);
        assert_eq!(node.backlog(&FLOW), 1);
    }
    assert_eq!(node.forwarders(&FLOW), Some(&list()));
    node.set_forwarders(&FLOW, Forwarders::default());
    assert_eq!(node.make(&FLOW, &mut random).unwrap().forwarders, Forwarders::default());
    // Numbers that it has not given mean nothing.
    for batch in [1, u32::MAX] {
        assert_eq!(node.acknowledged(&Acknowledgement { flow: FLOW, batch }, ms(1)), None);
    }
    assert_eq!(node.acknowledged(&Acknowledgement { flow: FLOW, batch: 0 }, ms(1)), Some(0));
    assert_eq!((node.backlog(&FLOW), node.make(&FLOW, &mut random)), (0, None));
    assert_eq!(node.begin(FLOW, Decoder::full(4), list(), ms(2)), Some(1));
}

#[test]
fn a_source_under_a_rate_sends_what_it_is_granted() {
    let mut node = MoreNode::new(9, MoreConfig { granted: true, ..MoreConfig::default() });
    let mut random = stream(2);
    assert!(!node.grant(&FLOW, 5));
    node.begin(FLOW, Decoder::full(4), list(), ms(0));
    assert_eq!((node.backlog(&FLOW), node.make(&FLOW, &mut random)), (0, None));
    assert!(node.grant(&FLOW, 2) && node.backlog(&FLOW) == 2);
    assert!(node.make(&FLOW, &mut random).is_some() && node.make(&FLOW, &mut random).is_some());
    assert_eq!((node.backlog(&FLOW), node.make(&FLOW, &mut random)), (0, None));
    let mut forwarder = MoreNode::new(3, MoreConfig { granted: true, ..MoreConfig::default() });
    forwarder.heard(coded(0, &[1]).view(), 9, ms(0));
    assert!(!forwarder.grant(&FLOW, 7), "a forwarder earns its credit");
    assert_eq!(forwarder.backlog(&FLOW), 2);
}

#[test]
fn flows_have_turns() {
    let mut node = MoreNode::new(9, MoreConfig::default());
    let flows = [1, 2, 3].map(|flow| Flow { flow, ..FLOW });
    for &flow in &[flows[2], flows[0], flows[1]] {
        node.begin(flow, Decoder::full(2), list(), ms(0));
    }
    let mut random = stream(3);
    let order: Vec<u32> = (0..7)
        .map(|turn| {
            let flow = node.next().unwrap();
            if turn == 4 {
                node.acknowledged(&Acknowledgement { flow: flows[2], batch: 0 }, ms(1));
            }
            node.make(&flow, &mut random).unwrap().flow.flow
        })
        .collect();
    assert_eq!(order, [1, 2, 3, 1, 2, 1, 2]);
}

/// A forged number, or a forged number of natives, stops a flow for three seconds; not so long as what is forged is heard again.
#[test]
fn what_is_forged_does_not_stay() {
    for (me, forged, natives) in [(3, 1 << 30, 3), (3, 7, 2), (0, 1 << 30, 3), (0, 7, 2)] {
        let mut node = MoreNode::new(me, MoreConfig::default());
        let heard = |node: &mut MoreNode, batch, natives: usize, at| {
            let vector: Vec<u8> = (0..natives).map(|native| u8::from(native == 0)).collect();
            node.heard(coded(batch, &vector).view(), 9, ms(at)).meaning
        };
        assert_eq!(heard(&mut node, forged, natives, 0), Meaning::Innovative);
        assert_eq!(heard(&mut node, forged, natives, 500), Meaning::Dependent);
        let unused = if forged == 7 { Meaning::Ignored } else { Meaning::Old };
        assert_eq!(heard(&mut node, 7, 3, 3499), unused);
        assert_eq!(heard(&mut node, 7, 3, 3500), Meaning::Innovative);
        assert_eq!(node.rank(&FLOW), Some((7, 1, 3)));
        // What was acknowledged stays so.
        let ended = Acknowledgement { flow: FLOW, batch: 7 };
        node.acknowledged(&ended, ms(3500));
        heard(&mut node, 8, 3, 3500);
        assert_eq!(heard(&mut node, 7, 3, 9000) == Meaning::Old, me == 3);
    }
}

/// The flow that was heard longest ago gives way; a node's own flows stay.
#[test]
fn memory_is_bounded() {
    let mut node = MoreNode::new(3, MoreConfig { flows: 3, ..MoreConfig::default() });
    let own = Flow { flow: 100, source: 3, destination: 0 };
    node.begin(own, Decoder::full(2), Forwarders::default(), ms(0));
    let header = |flow| Coded::new(Flow { flow, ..FLOW }, 0, list(), vec![1, 0]).unwrap();
    for (flow, at) in [(4, 0), (1, 1), (2, 2), (1, 3), (5, 4)] {
        node.heard(header(flow).view(), 9, ms(at));
    }
    let flows: Vec<u32> = node.backlogs().map(|(flow, _)| flow.flow).collect();
    assert_eq!((flows, node.len()), (vec![1, 2, 5, 100], 4));
    for flow in 0..1000 {
        node.acknowledged(
            &Acknowledgement { flow: Flow { flow, ..FLOW }, batch: 0 },
            ms(10 + u64::from(flow)),
        );
        node.heard(header(2000 + flow).view(), 9, ms(10 + u64::from(flow)));
    }
    assert_eq!((node.len(), node.backlog(&own)), (4, 1));
    // Own flows take no place of others, and need none.
    let mut full = MoreNode::new(9, MoreConfig { flows: 1, ..MoreConfig::default() });
    full.begin(FLOW, Decoder::full(1), list(), ms(0));
    assert_eq!(full.begin(Flow { flow: 2, ..FLOW }, Decoder::full(1), list(), ms(0)), Some(0));
    let other = Flow { flow: 3, source: 4, destination: 9 };
    let header = Coded::new(other, 0, Forwarders::default(), vec![1]).unwrap();
    assert_eq!(full.heard(header.view(), 4, ms(0)).meaning, Meaning::Decodes);
    assert_eq!(full.len(), 3);
}

/// In whatever order flows come, the three heard last are known, and take turns in the order of their numbers.
#[test]
fn the_flows_heard_last_are_known() {
    let mut node = MoreNode::new(3, MoreConfig { flows: 3, ..MoreConfig::default() });
    let numbers: Vec<u32> = (0..60).map(|i| i * 7 % 23).collect();
    for (at, &flow) in (0..).zip(&numbers) {
        let header = Coded::new(Flow { flow, ..FLOW }, 0, list(), vec![1, 0]).unwrap();
        node.heard(header.view(), 9, ms(at));
        let heard = &numbers[..=at as usize];
        let mut last = heard[heard.len().saturating_sub(3)..].to_vec();
        last.sort_unstable();
        assert_eq!(node.backlogs().map(|(flow, _)| flow.flow).collect::<Vec<_>>(), last);
    }
}

/// A flow that is heard again stays: of the flows 1, 2, 3, 1, 4 the second was heard longest ago.
#[test]
fn a_flow_that_is_heard_again_stays() {
    let mut node = MoreNode::new(3, MoreConfig { flows: 3, ..MoreConfig::default() });
    for (at, flow) in [1, 2, 3, 1, 4].into_iter().enumerate() {
        let header = Coded::new(Flow { flow, ..FLOW }, 0, list(), vec![1, 0]).unwrap();
        node.heard(header.view(), 9, ms(at as u64));
    }
    assert_eq!(node.backlogs().map(|(flow, _)| flow.flow).collect::<Vec<_>>(), [1, 3, 4]);
}

/// Who sends next in an idealised network.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    /// Each that has something to send, as likely.
    Any,
    /// The nearest to the destination that has something to send.
    Nearest,
}

/// Batches through a network without collisions, one transmission at a time, acknowledgements at once everywhere: transmissions of a packet
/// until its batch is decoded.
fn transmissions((links, source, destination): Pair, natives: u8, packets: u32, order: Order) -> f64 {
    let losses = &network(links);
    let pruning = Pruning { part: 0.0, ..Pruning::default() };
    let expected = Expected::new(losses, NodeId(source), NodeId(destination), &pruning).unwrap();
    let list = listed(&forwarders(losses, &expected));
    let flow = Flow { flow: 1, source, destination };
    let ids: Vec<u32> = expected.shares().iter().map(|share| share.node.0).collect();
    let mut nodes: Vec<MoreNode> = ids.iter().map(|&id| MoreNode::new(id, MoreConfig::default())).collect();
    let mut random = Stream::new(7, "ideal", Purpose::Reception);
    let (mut sent, batches) = (0, packets / u32::from(natives));
    for batch in 0..batches {
        let now = ms(u64::from(batch) * 1000);
        assert_eq!(
            nodes.last_mut().unwrap().begin(flow, Decoder::full(natives), list.clone(), now),
            Some(batch)
        );
        'batch: loop {
            let ready: Vec<usize> = (1..nodes.len()).filter(|&i| nodes[i].backlog(&flow) > 0).collect();
            let from = match order {
                Order::Any => ready[random.below(ready.len() as u32) as usize],
                Order::Nearest => ready[0],
            };
            let packet = nodes[from].make(&flow, &mut random).unwrap();
            sent += 1;
            for to in 0..nodes.len() {
                if to != from && random.uniform() >= losses.loss(NodeId(ids[from]), NodeId(ids[to])) {
                    let heard = nodes[to].heard(packet.view(), ids[from], now);
                    if let Some(acknowledgement) = heard.acknowledge {
                        nodes.iter_mut().for_each(|node| _ = node.acknowledged(&acknowledgement, now));
                        break 'batch;
                    }
                }
            }
        }
    }
    f64::from(sent) / f64::from(batches) / f64::from(natives) / expected.cost()
}

/// Where there is no forwarder it is z; with forwarders more, the less the larger a batch is: credit pays for what is heard on average, and
/// what a batch hears or loses beyond the average is paid by the source, or was sent in vain. Of a batch of 32 a tenth to a sixth (measured
/// over 40,000 packets: line 10 and 11 %, diamond 10 and 11, mesh 13 and 17; the nearest first, or any), of 255 a third of that.
#[test]
fn idealised_networks() {
    let link = [(1, 0, 0.5)];
    for order in [Order::Any, Order::Nearest] {
        let alone = transmissions((&link, 1, 0), 32, 6400, order);
        assert!((0.96..1.04).contains(&alone), "{alone}");
        let networks: [Pair; 3] = [(&LINE, 2, 0), (&DIAMOND, 3, 0), (&MESH, 10, 14)];
        for at in networks {
            let small = transmissions(at, 32, 6400, order);
            assert!((1.05..1.22).contains(&small), "{small} in {at:?}");
            let large = transmissions(at, 255, 2550, order);
            assert!((0.97..1.11).contains(&large), "{large} in {at:?}");
        }
    }
}

/// Events at a forwarder.
#[derive(Debug, Clone)]
enum Event {
    Heard { flow: u32, batch: u32, from: u32, vector: Vec<u8> },
    Acknowledged { flow: u32, batch: u32 },
    Make { flow: u32 },
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let vector = || proptest::collection::vec(0u8..3, 4);
    let heard = (0u32..3, 0u32..5, prop_oneof![Just(9), Just(5), Just(3), Just(0), Just(77)], vector());
    let event = prop_oneof![
        4 => heard.prop_map(|(flow, batch, from, vector)| Event::Heard { flow, batch, from, vector }),
        1 => (0u32..3, 0u32..5).prop_map(|(flow, batch)| Event::Acknowledged { flow, batch }),
        4 => (0u32..3).prop_map(|flow| Event::Make { flow }),
    ];
    proptest::collection::vec(event, 1..120)
}

proptest! {
    /// After an acknowledgement was heard nothing of that batch or one before is sent, nor after a packet of a later batch; a node sends at
    /// most what it has earned, rounded up, and only what is in the span of what it has heard; its rank falls with a new batch only.
    #[test]
    fn nothing_old_is_sent(me in prop_oneof![Just(3), Just(5)], start in prop_oneof![Just(0), Just(u32::MAX - 2)], events in events()) {
        let mut node = MoreNode::new(me, MoreConfig::default());
        let mut random = stream(4);
        // By flow: the first batch that may be sent, credit in parts, what was heard of the batch.
        let mut model = [0, 1, 2].map(|_| (0, 0_i64, None::<Decoder>));
        let list = list();
        for (step, event) in (0..).zip(events) {
            let now = ms(step);
            match event {
                Event::Heard { flow, batch, from, vector } => {
                    let (first, credit, held) = &mut model[flow as usize];
                    let id = Flow { flow, ..FLOW };
                    let before = node.rank(&id);
                    let header = Coded::new(id, start.wrapping_add(batch), list.clone(), vector.clone()).unwrap();
                    let heard = node.heard(header.view(), from, now);
                    if batch < *first {
                        prop_assert_eq!(heard, Heard { meaning: Meaning::Old, ended: None, acknowledge: None });
                        continue;
                    }
                    if batch > *first || held.is_none() {
                        (*first, *credit, *held) = (batch, 0, Some(Decoder::new(4)));
                    } else {
                        prop_assert!(node.rank(&id) >= before && heard.ended.is_none());
                    }
                    held.as_mut().unwrap().add(&vector);
                    let earns = if me == 3 { [9, 5].contains(&from) } else { from == 9 };
                    *credit += if earns { if me == 3 { 1536 } else { 256 } } else { 0 };
                    prop_assert_eq!(node.rank(&id).map(|rank| rank.1), held.as_ref().map(Decoder::rank));
                }
                Event::Acknowledged { flow, batch } => {
                    let (first, credit, held) = &mut model[flow as usize];
                    let id = Flow { flow, ..FLOW };
                    let acknowledgement = Acknowledgement { flow: id, batch: start.wrapping_add(batch) };
                    let ended = node.acknowledged(&acknowledgement, now);
                    prop_assert_eq!(ended.is_some(), batch >= *first && held.is_some());
                    if batch >= *first {
                        (*first, *credit, *held) = (batch + 1, 0, None);
                    }
                }
                Event::Make { flow } => {
                    let (first, credit, held) = &mut model[flow as usize];
                    let id = Flow { flow, ..FLOW };
                    let backlog = node.backlog(&id);
                    let may = *credit > 0 && held.as_ref().is_some_and(|held| held.rank() > 0);
                    prop_assert_eq!(i64::from(backlog), if may { (*credit + 1023) / 1024 } else { 0 });
                    let made = node.make(&id, &mut random);
                    prop_assert_eq!(made.is_some(), may);
                    if let Some(packet) = made {
                        *credit -= 1024;
                        prop_assert_eq!(packet.batch, start.wrapping_add(*first));
                        prop_assert!(!held.as_ref().unwrap().innovative(packet.vector()));
                        prop_assert_eq!(node.backlog(&id), backlog - 1);
                    }
                }
            }
        }
    }

    /// Through a lossy line of nodes, with acknowledgements that are lost: every batch comes out, by what the destination has heard.
    #[test]
    fn batches_come_out(seed: u64, natives in 1u8..12) {
        let mut random = stream(seed);
        let losses = network(&LINE);
        let expected = Expected::new(&losses, NodeId(2), NodeId(0), &Pruning::default()).unwrap();
        let list = listed(&forwarders(&losses, &expected));
        let flow = Flow { flow: 1, source: 2, destination: 0 };
        let mut nodes = [0, 1, 2].map(|id| MoreNode::new(id, MoreConfig::default()));
        let mut clock = 0;
        for batch in 0..3 {
            prop_assert_eq!(nodes[2].begin(flow, Decoder::full(natives), list.clone(), ms(clock)), Some(batch));
            let (mut done, mut arrived) = (false, Vec::new());
            while nodes[2].rank(&flow).is_some() {
                clock += 1;
                prop_assert!(clock < 100_000, "it does not end");
                let from = if nodes[1].backlog(&flow) > 0 && random.below(2) > 0 { 1 } else { 2 };
                let Some(packet) = nodes[from].make(&flow, &mut random) else { continue };
                for to in (0..3).filter(|&to| to != from) {
                    if random.uniform() < losses.loss(NodeId(from as u32), NodeId(to as u32)) {
                        continue;
                    }
                    let heard = nodes[to].heard(packet.view(), from as u32, ms(clock));
                    if to == 0 && !done && packet.batch == batch {
                        arrived.push(packet.vector().to_vec());
                        done = rank(arrived.clone()) == usize::from(natives);
                        prop_assert_eq!(heard.meaning == Meaning::Decodes, done);
                    } else {
                        prop_assert_ne!(heard.meaning, Meaning::Decodes);
                    }
                    if let Some(acknowledgement) = heard.acknowledge {
                        for node in [1, 2] {
                            if random.below(3) == 0 {
                                nodes[node].acknowledged(&acknowledgement, ms(clock));
                            }
                        }
                    }
                }
            }
            prop_assert!(done);
            prop_assert_eq!(nodes[0].rank(&flow), Some((batch, natives, natives)));
        }
    }
}

/// A node that may know two flows is the source of five, one after the other.
#[test]
fn a_source_of_more_flows_than_are_known() {
    let mut node = MoreNode::new(9, MoreConfig { flows: 2, ..MoreConfig::default() });
    let of = |flow| Flow { flow, source: 9, destination: 0 };
    let begin = |node: &mut MoreNode, flow| node.begin(of(flow), Decoder::full(2), list(), ms(flow.into()));
    for flow in 0..5 {
        assert_eq!(begin(&mut node, flow), Some(0), "flow {flow}");
        node.acknowledged(&Acknowledgement { flow: of(flow), batch: 0 }, ms(flow.into()));
    }
    assert_eq!(node.len(), 2);
    // Batches at hand stay.
    assert_eq!([5, 6, 7].map(|flow| begin(&mut node, flow)), [Some(0); 3]);
    assert_eq!((node.len(), [5, 6, 7].map(|flow| node.rank(&of(flow)))), (3, [Some((0, 2, 2)); 3]));
}
