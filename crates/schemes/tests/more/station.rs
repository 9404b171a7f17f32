//! A node of MORE at its radio, driven by hand: what it takes, makes and hands up, whatever it hears.

use airfair_schemes::more::node::Config;
use airfair_schemes::more::station::{Station, StationConfig};
use airfair_schemes::opportunistic::expected::Pruning;
use airfair_schemes::places::{
    Agent, AgentContext, AgentEffects, AgentSetup, DeliveryRatios, FlowId, Forwarder, ForwarderContext,
    ForwarderEffects, HeardBroadcast, LoneExchange, NativePacket, NodeId,
};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Rate, Span, Time};
use airfair_wire::more::{Coded, Flow, Forwarders};

const FLOWS: usize = 8;

fn station(node: u32) -> (Station, Stream) {
    let config = StationConfig {
        natives: 4,
        flush: Span::from_millis(100),
        repeat: Span::from_secs(60),
        pruning: Pruning::default(),
        node: Config { flows: FLOWS, ..Config::default() },
        probes: None,
        diffq: None,
    };
    let (mut station, mut random) = (Station::new(config), Stream::new(1, "station", Purpose::Agent));
    let mut out = AgentEffects::default();
    let setup = AgentSetup {
        node: NodeId(node),
        rate: Rate(11_000_000),
        exchange: LoneExchange::default(),
        neighbours: &[],
    };
    station.on_start(&setup, &mut AgentContext { now: Time::ZERO, random: &mut random, out: &mut out });
    let ratios = DeliveryRatios::new([1, 2].map(NodeId), [(0, 1, 0.5), (1, 0, 0.5)]);
    let mut out = ForwarderEffects::default();
    let mut context = ForwarderContext { now: Time::ZERO, random: &mut random, out: &mut out };
    station.on_delivery_ratios(&ratios, &mut context);
    (station, random)
}

/// A source has room for one batch beside the one that is under way; what it makes decodes at the destination, packet by packet of its
/// numbers.
#[test]
fn a_batch_from_source_to_destination() {
    let ((mut source, mut random), (mut destination, _)) = (station(1), station(2));
    let (flow, to) = (FlowId(7), NodeId(2));
    let mut out = ForwarderEffects::default();
    let mut number = 0;
    while source.room(flow, to) > 0 {
        let mut context = ForwarderContext { now: Time(1), random: &mut random, out: &mut out };
        source.on_packet(&NativePacket { flow, to, number, bytes: 1000 + number }, &mut context);
        number += 1;
    }
    assert_eq!(number, 8, "a batch that is sent, and one that waits");
    let mut heard = ForwarderEffects::default();
    let mut sent = 0;
    while heard.whole.is_empty() {
        let mut context = ForwarderContext { now: Time(2), random: &mut random, out: &mut out };
        let made = source.make(&mut context).unwrap();
        assert_eq!((made.flow, made.batch, made.content), (flow, 0, 1003), "as long as its longest packet");
        sent += 1;
        let mut context = ForwarderContext { now: Time(3), random: &mut random, out: &mut heard };
        let broadcast = HeardBroadcast { from: NodeId(1), header: &made.header, content: made.content };
        destination.on_heard(&broadcast, &mut context);
    }
    assert!((4..8).contains(&sent), "{sent}");
    assert_eq!(heard.delivered, [0, 1, 2, 3].map(|number| (flow, number)));
    assert_eq!((heard.whole.as_slice(), heard.holds.len()), ([(flow, 0)].as_slice(), 4));
    // The acknowledgement ends the batch at the source, and the next one begins with number 4.
    let acknowledgement = heard.agent.messages[0].bytes.clone();
    let mut out = AgentEffects::default();
    let mut context = AgentContext { now: Time(4), random: &mut random, out: &mut out };
    source.on_message(NodeId(2), &acknowledgement, true, &mut context);
    let mut out = ForwarderEffects::default();
    let mut context = ForwarderContext { now: Time(5), random: &mut random, out: &mut out };
    assert_eq!(source.make(&mut context).map(|made| (made.batch, made.content)), Some((4, 1007)));
}

/// Headers of ten thousand flows that nobody has, and bytes that are no header: nothing panics, and what is kept is bounded.
#[test]
fn what_garbage_leaves_is_bounded() {
    let (mut station, mut random) = station(2);
    let mut out = ForwarderEffects::default();
    for i in 0..10_000 {
        let flow = Flow { flow: i, source: 1, destination: if i % 2 == 0 { 2 } else { 3 } };
        let header = Coded::new(flow, i, Forwarders::default(), vec![1]).unwrap();
        let mut bytes = vec![0; header.wire_len()];
        header.encode(&mut bytes).unwrap();
        bytes.truncate(bytes.len() - usize::from(i % 7 == 0));
        let mut context = ForwarderContext { now: Time(u64::from(i)), random: &mut random, out: &mut out };
        station.on_heard(&HeardBroadcast { from: NodeId(1), header: &bytes, content: 100 }, &mut context);
    }
    assert!(station.kept() <= 4 * FLOWS, "{}", station.kept());
    let garbage = station.gauges().into_iter().find(|(name, _)| *name == "garbage").unwrap().1;
    assert!(garbage > 1000.0, "{garbage}");
}
