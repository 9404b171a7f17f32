//! A node of MORE at its radio, driven by hand: what it takes, makes and hands up, whatever it hears.

use airfair_schemes::more::node::MoreConfig;
use airfair_schemes::more::station::{MoreStation, StationConfig};
use airfair_schemes::opportunistic::expected::Pruning;
use airfair_schemes::places::{Destination, FlowId, Forwarder as _, Made, Message, NodeId, Timer};
use airfair_units::Span;
use airfair_wire::more::{Acknowledgement, Coded, CodedView, Credit, Flow, Forwarder, Forwarders};

use crate::driven::{Driven, PROBE, PROBES, diffq, trailer};

const FLOWS: usize = 8;
const FLOW: FlowId = FlowId(7);

/// A batch that is not full is due; an acknowledgement is repeated.
const FLUSH: Timer = Timer(1);
const REPEAT: Timer = Timer(3);

fn config() -> StationConfig {
    StationConfig {
        natives: 4,
        flush: Span::from_millis(100),
        repeat: Span::from_secs(60),
        pruning: Pruning::default(),
        node: MoreConfig { flows: FLOWS, ..MoreConfig::default() },
        probes: None,
        diffq: None,
    }
}

/// A node of a pair that hear each other.
fn driven(node: u32) -> Driven<MoreStation> {
    Driven::of_a_pair(MoreStation::new(config()), node)
}

/// A source has room for one batch beside the one that is under way; what it makes decodes at the destination, packet by packet of its
/// numbers.
#[test]
fn a_batch_from_source_to_destination() {
    let (mut source, mut destination) = (driven(1), driven(2));
    let mut number = 0;
    assert_eq!(source.station.room(FLOW, NodeId(2)), 4);
    while source.station.room(FLOW, NodeId(2)) > 0 {
        source.take(0, FLOW, 2, (number, 1000 + number));
        number += 1;
    }
    assert_eq!(number, 8, "a batch that is sent, and one that waits");
    let (mut delivered, mut holds, mut sent, mut last) = (Vec::new(), 0, 0, None);
    while destination.out.whole.is_empty() {
        let made = source.make(1).unwrap();
        assert_eq!((made.flow, made.batch, made.content), (FLOW, 0, 1003), "as long as its longest packet");
        sent += 1;
        destination.hear(2, 1, &made);
        last = Some(made);
        delivered.append(&mut destination.out.delivered);
        holds += destination.out.holds.len();
    }
    let last = last.unwrap();
    assert!((4..8).contains(&sent), "{sent}");
    assert_eq!(delivered, [0, 1, 2, 3].map(|number| (FLOW, number)));
    assert_eq!((destination.out.whole.as_slice(), holds), ([(FLOW, 0)].as_slice(), 4));
    // The acknowledgement ends the batch at the source, and the next one begins with number 4.
    source.receive(3, 2, &destination.out.agent.messages[0].bytes);
    let made = source.make(4).unwrap();
    assert_eq!((made.batch, made.content), (4, 1007));
    destination.hear(5, 1, &made);
    destination.hear(6, 1, &last);
    destination.hear(7, 1, &Made { header: vec![0xff; 40], ..last });
    let gauges = ["sent", "innovative", "dependent", "old", "garbage", "backlog"];
    assert_eq!(gauges.map(|name| source.gauge(name)), [f64::from(sent) + 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(gauges.map(|name| destination.gauge(name)), [0.0, 5.0, f64::from(sent) - 4.0, 1.0, 1.0, 0.0]);
}

/// A packet of a batch of one native from node 1, in a list of one forwarder, node 5.
fn coded(flow: u32, batch: u32, destination: u32) -> Made {
    let forwarders = Forwarders::new([Forwarder { node: 5, credit: Credit::of(1.0) }].into_iter());
    let header = Coded::new(Flow { flow, source: 1, destination }, batch, forwarders, vec![1]).unwrap();
    let mut bytes = vec![0; header.wire_len()];
    header.encode(&mut bytes).unwrap();
    Made { flow: FlowId(flow), batch, header: bytes, content: 100 + flow }
}

/// A relay of many flows, one after the other, knows eight, and sizes of twice as many at most: those of the eight stay.
#[test]
fn sizes_of_flows_that_are_forgotten_go() {
    let (mut relay, mut most, flows) = (driven(5), 0, FLOWS as u32);
    for flow in 0..5 * flows {
        relay.hear(flow.into(), 1, &coded(flow, 0, 2));
        most = most.max(relay.station.kept());
    }
    assert_eq!(most, FLOWS + 2 * FLOWS);
    let mut sent: Vec<_> = (0..flows).map(|_| relay.make(1000).unwrap().content).collect();
    sent.sort_unstable();
    assert_eq!((sent, relay.make(1000)), ((4 * flows..5 * flows).map(|flow| 100 + flow).collect(), None));
}

/// Three natives of a batch of four are one when the first of them has waited for 100 ms; the timer is that of the flow that waits longest.
#[test]
fn fewer_natives_are_a_batch_after_a_while() {
    let mut source = driven(1);
    for (us, flow, number) in [(10_000, 8, 0), (30_000, 7, 0), (40_000, 8, 1), (50_000, 7, 1), (60_000, 7, 2)]
    {
        source.take(us, FlowId(flow), 2, (number, 1000));
        assert_eq!((source.timer(FLUSH), source.is_ready(us)), (Some(110_000), false));
    }
    source.fire(109_999, FLUSH);
    assert!(!source.is_ready(109_999));
    source.fire(110_000, FLUSH);
    assert!(source.is_ready(110_000));
    assert_eq!(source.timer(FLUSH), Some(130_000));
    let natives = |made: Made| (made.flow.0, CodedView::decode(&made.header).unwrap().0.vector().len());
    assert_eq!([source.make(110_000), source.make(110_000)].map(Option::unwrap).map(natives), [(8, 2); 2]);
    source.fire(130_000, FLUSH);
    assert_eq!(
        [source.make(130_000), source.make(130_000)].map(Option::unwrap).map(natives),
        [(7, 3), (8, 2)]
    );
    assert_eq!((source.timer(FLUSH), source.gauge("backlog")), (None, 2.0), "a source always has one more");
}

/// A destination repeats the acknowledgements of as many flows as it may know, and of those it first has had one of. They go to the source,
/// ahead of what waits.
#[test]
fn so_many_acknowledgements_are_repeated() {
    let mut destination = driven(2);
    for flow in 0..3 * FLOWS as u32 {
        destination.hear(1000 * u64::from(flow), 1, &coded(flow, 0, 2));
        assert_eq!(destination.out.agent.messages.len(), 1, "the first is sent at once");
        assert_eq!(destination.timer(REPEAT), Some(50_000), "that of flow 0");
    }
    assert_eq!(destination.station.kept(), 2 * FLOWS, "flows, and acknowledgements");
    let mut flows = Vec::new();
    for at in (50..60).map(|ms| 1000 * ms) {
        destination.fire(at, REPEAT);
        for message in &destination.out.agent.messages {
            assert_eq!((message.to, message.ahead), (Destination::Node(NodeId(1)), true));
            flows.push(Acknowledgement::decode(&message.bytes).unwrap().0.flow.flow);
        }
    }
    assert_eq!(flows, (0..FLOWS as u32).collect::<Vec<_>>());
}

/// Where `repeat` is 0 the destination acknowledges what it hears, and does no more.
#[test]
fn without_repetitions_no_timer_is_set() {
    let mut destination =
        Driven::of_a_pair(MoreStation::new(StationConfig { repeat: Span::ZERO, ..config() }), 2);
    destination.hear(0, 1, &coded(7, 0, 2));
    assert_eq!((destination.out.agent.messages.len(), destination.timer(REPEAT)), (1, None));
    assert_eq!(destination.station.kept(), 1);
}

/// The acknowledgement of a batch is repeated after 50 ms, then after twice that, up to a second, as long as `repeat`, here 3.55 s; not
/// when a packet of a later batch was heard, which has its own.
#[test]
fn an_acknowledgement_is_repeated_until_a_later_batch() {
    let acknowledged = |destination: &Driven<MoreStation>| {
        let decode = |message: &Message| Acknowledgement::decode(&message.bytes).unwrap().0.batch;
        destination.out.agent.messages.iter().map(decode).collect::<Vec<_>>()
    };
    // Lets the timers fire until a time; returns when which acknowledgements were sent.
    let run = |destination: &mut Driven<MoreStation>, until: u64| {
        let mut sent = Vec::new();
        let mut next = destination.timer(REPEAT);
        while let Some(at) = next.filter(|&at| at < until) {
            destination.fire(at, REPEAT);
            next = destination.timer(REPEAT);
            assert_ne!(next, Some(at), "no step");
            sent.extend(acknowledged(destination).into_iter().map(|batch| (at / 1000, batch)));
        }
        sent
    };
    let station = || MoreStation::new(StationConfig { repeat: Span::from_millis(3550), ..config() });
    let mut destination = Driven::of_a_pair(station(), 2);
    destination.hear(0, 1, &coded(7, 0, 2));
    assert_eq!(acknowledged(&destination), [0]);
    let times = [50, 150, 350, 750, 1550, 2550];
    assert_eq!(run(&mut destination, u64::MAX), times.map(|at| (at, 0)));
    assert_eq!(destination.station.kept(), 1, "the flow alone");
    let mut destination = Driven::of_a_pair(station(), 2);
    destination.hear(0, 1, &coded(7, 0, 2));
    assert_eq!(run(&mut destination, 200_000), [50, 150].map(|at| (at, 0)));
    // More of the same batch changes nothing.
    let next = destination.timer(REPEAT);
    destination.hear(200_000, 1, &coded(7, 0, 2));
    assert_eq!(
        (destination.out.agent.messages.len(), destination.timer(REPEAT), next),
        (0, None, Some(350_000))
    );
    destination.fire(350_000, REPEAT);
    assert_eq!((acknowledged(&destination), destination.timer(REPEAT)), (vec![0], Some(750_000)));
    destination.hear(400_000, 1, &coded(7, 1, 2));
    assert_eq!(acknowledged(&destination), [1]);
    assert_eq!(run(&mut destination, 600_000), [(450, 1), (550, 1)]);
}

/// Source 1, destination 2, relay 3, of which the source knows from probes. At first the destination hears all of the source, and there is
/// no forwarder. Then it hears a fifth, and all of the relay, which hears all of the source: of each packet that the source sends the relay
/// hears one, and sends the four fifths that the destination has not. The batch under way goes on with that list, also when nobody is heard
/// any more; the next one waits until there is a path.
#[test]
fn a_batch_under_way_takes_the_list_of_new_ratios() {
    let mut source = Driven::new(MoreStation::new(StationConfig { probes: Some(PROBES), ..config() }), 1);
    let made = |source: &mut Driven<MoreStation>, ms: u64| {
        let made = source.make(1000 * ms)?;
        let header = CodedView::decode(&made.header).unwrap().0;
        let list = header.forwarders.iter().map(|each| (each.node, each.credit.0));
        Some((made.batch, list.collect::<Vec<_>>()))
    };
    source.learn(100_000, 2, 1, &[(1, 255)]);
    source.fire(200_000, PROBE);
    (0..8).for_each(|number| source.take(300_000, FLOW, 2, (number, 1000)));
    assert_eq!(made(&mut source, 300), Some((0, vec![])));
    source.learn(1_100_000, 2, 2, &[(1, 51), (3, 255)]);
    source.learn(1_100_000, 3, 1, &[(1, 255), (2, 255)]);
    assert_eq!(made(&mut source, 1150), Some((0, vec![])));
    source.fire(1_200_000, PROBE);
    // 0.8 of 1024.
    assert_eq!(made(&mut source, 1200), Some((0, vec![(3, 819)])));
    source.fire(40_000_000, PROBE);
    assert_eq!(made(&mut source, 40_000), Some((0, vec![(3, 819)])));
    let acknowledgement = Acknowledgement { flow: Flow { flow: 7, source: 1, destination: 2 }, batch: 0 };
    let mut bytes = vec![0; Acknowledgement::wire_len()];
    acknowledgement.encode(&mut bytes).unwrap();
    source.receive(40_500_000, 2, &bytes);
    assert_eq!(made(&mut source, 40_500), None);
    source.learn(41_000_000, 2, 3, &[(1, 255)]);
    source.fire(41_100_000, PROBE);
    assert_eq!(made(&mut source, 41_100), Some((4, vec![])));
}

/// A relay under DiffQ that has earned twenty packets: of 8 levels for 100 packets it has the second. The next one, node 6, announces that
/// fifteen wait there: it has the first for a second. What carries no trailer is counted.
#[test]
fn what_the_next_one_announces_decides_the_level() {
    let mut relay = Driven::new(MoreStation::new(StationConfig { diffq: Some(diffq(&[])), ..config() }), 5);
    let list = [(6, 1.0), (5, 20.0)].map(|(node, credit)| Forwarder { node, credit: Credit::of(credit) });
    let list = Forwarders::new(list.into_iter());
    let broadcast = |queue: Option<u16>| {
        let flow = Flow { flow: 7, source: 1, destination: 2 };
        let header = Coded::new(flow, 0, list.clone(), vec![1, 0]).unwrap();
        let mut bytes = vec![0; header.wire_len()];
        header.encode(&mut bytes).unwrap();
        bytes.extend(queue.into_iter().flat_map(trailer));
        Made { flow: FLOW, batch: 0, header: bytes, content: 100 }
    };
    relay.hear(0, 1, &broadcast(Some(0)));
    assert_eq!((relay.level(0), relay.gauge("trailers_garbage")), (Some(2), 0.0));
    relay.hear(1, 6, &broadcast(Some(15)));
    assert_eq!((relay.level(1), relay.level(1_000_002)), (Some(1), Some(2)));
    relay.hear(1, 6, &broadcast(None));
    assert_eq!((relay.level(1), relay.gauge("trailers_garbage")), (Some(1), 1.0));
}

/// Headers of ten thousand flows that nobody has, and bytes that are no header: nothing panics, and what is kept is bounded.
#[test]
fn what_garbage_leaves_is_bounded() {
    let mut driven = driven(2);
    for i in 0..10_000 {
        let mut made = coded(i, i, if i % 2 == 0 { 2 } else { 3 });
        made.header.truncate(made.header.len() - usize::from(i % 7 == 0));
        driven.hear(u64::from(i), 1, &made);
    }
    assert!(driven.station.kept() <= 4 * FLOWS, "{}", driven.station.kept());
    assert!(driven.gauge("garbage") > 1000.0, "{}", driven.gauge("garbage"));
}
