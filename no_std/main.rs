//! The protocol crates in one program without the standard library: it uses each, so that each is linked, and ends with status 0 if
//! they answer as they should.
#![no_std]
#![no_main]

extern crate alloc;

mod platform;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::ToString;
use alloc::vec::Vec;

use airfair_host::{Firing, HeaderId, HeaderKinds, Pipeline};
use airfair_optimum::{
    ConflictGraph, Flow, ProblemBuilder, WaterFilling, maximal_cliques, proportional, time_shared,
};
use airfair_routing::{
    Adjacency, Context as RoutingContext, Effect, NodeSetup, Protocol, Received, Routing, To, aodv,
};
use airfair_schemes::more::decoder::Decoder;
use airfair_schemes::more::node::{Meaning, MoreConfig, MoreNode};
use airfair_schemes::places::{
    Context, Ecn, Enqueued, FlowId, HopEffects, Interface, NodeId, Packet, PacketClass, PacketId,
    QueueEffects, Verdict,
};
use airfair_schemes::{ParamKind, Params, Registry};
use airfair_transport::{Receiver, Segment, Sender, TcpConfig};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Quantity, Rate, Span, Time, math};
use airfair_wire::ieee80211::{Frame, NavDuration, Rts};
use airfair_wire::more::{Flow as MoreFlow, Forwarders};
use airfair_wire::{Ipv4Addr, MacAddr};

/// Everything once.
fn run() {
    quantities();
    frames();
    rates();
    schemes();
    for entry in Registry::built_in().entries().iter().filter(|entry| *entry.places == ["source"]) {
        transfer(entry.name);
    }
    discovery();
    coding();
}

/// `units`: text, mathematics, random numbers.
fn quantities() {
    let rate = Rate::parse("5.5 Mbit/s");
    assert_eq!(rate, Ok(Rate(5_500_000)));
    assert_eq!(Rate(5_500_000).to_string(), "5.5 Mbit/s");
    assert!(Rate::parse("5.5 Mbps").is_err());
    assert_eq!(math::sqrt(2.0), core::f64::consts::SQRT_2);
    assert_eq!(math::round(math::exp(math::ln(1e6))), 1e6);
    assert!(Stream::new(1, "node", Purpose::Routing).below(10) < 10);
}

/// `wire`: a frame becomes bytes and a frame again.
fn frames() {
    let duration = NavDuration::new(1_234).expect("below 32768");
    let rts =
        Rts { duration, receiver: MacAddr([2, 0, 0, 0, 0, 1]), transmitter: MacAddr([2, 0, 0, 0, 0, 2]) };
    let mut bytes = [0; Rts::wire_len()];
    assert_eq!(rts.encode(&mut bytes), Ok(20));
    assert_eq!(Frame::decode(&bytes), Ok(Frame::Rts(rts)));
}

/// `optimum`: five links in a ring, each in conflict with two: half of the air by cliques, two fifths by a schedule.
fn rates() {
    let mut graph = ConflictGraph::with_vertices(5);
    for link in 0..5 {
        assert_eq!(graph.add_edge(link, (link + 1) % 5), Ok(true));
    }
    let listing = maximal_cliques(&graph, 10);
    assert!(listing.is_complete());
    let membership = listing.cliques().membership();
    let (mut by_cliques, mut by_links) = (ProblemBuilder::new(), ProblemBuilder::new());
    by_cliques.cliques(listing.cliques(), 1.0);
    for link in 0..5 {
        by_links.resource(u64::from(link), 1.0);
        let costs = [(link, 1.0)];
        let flow = Flow { rank: u64::from(link), weight: 1.0, demand: f64::INFINITY, costs: &costs };
        by_cliques.routed_flow(flow, &membership);
        by_links.flow(flow);
    }
    let problem = by_cliques.build().expect("complete");
    assert_eq!(WaterFilling::new().solve(&problem).rates, [0.5; 5]);
    assert!(proportional(&problem).is_ok_and(|found| found.gap < 1e-9));
    let scheduled = time_shared(&graph, &by_links.build().expect("complete")).expect("few links");
    assert!(scheduled.rates.iter().all(|rate| (0.399_999..0.400_001).contains(rate)));
}

/// `schemes` and `host`: each scheme of the tree fills its places, and a packet passes what it puts at an interface.
fn schemes() {
    let (mut effects, mut hop_effects) = (QueueEffects::default(), HopEffects::default());
    let (mut kinds, mut firings, mut next) = (HeaderKinds::default(), Vec::new(), Vec::new());
    let now = Time::ZERO;
    for entry in Registry::built_in().entries() {
        let scheme = (entry.build)(&Params::default()).expect("defaults are good");
        let random = |purpose| Stream::new(1, entry.name, purpose);
        let mut at_interfaces = 0;
        for interface in Interface::all_kinds() {
            let mut pipeline = Pipeline::new(&*scheme, &interface, 34, random(Purpose::Queue));
            at_interfaces += usize::from(pipeline.judges());
            at_interfaces += usize::from(scheme.agent(&interface).is_some());
            if let Some(hop) = scheme.hop(&interface) {
                pipeline.add_hop(hop, &mut kinds, random(Purpose::Hop), 1);
                at_interfaces += 1;
            }
            pipeline.start(now, &mut hop_effects, &mut firings);
            let mut packet = PACKET;
            assert_eq!(
                pipeline.judge(&mut packet, (HeaderId::NONE, None), &kinds, now),
                Verdict::Pass,
                "{}",
                entry.name
            );
            assert_eq!(pipeline.store(packet, now, &mut effects), Enqueued::Stored, "{}", entry.name);
            let left = pipeline.dequeue(now, &mut effects).map(|left| (left.packet, left.verdict));
            assert_eq!(left, Some((PACKET, Verdict::Pass)), "{}", entry.name);
            for Firing { at, timer, generation } in firings.drain(..) {
                pipeline.timer((timer, generation), None, at, &mut hop_effects, &mut next);
            }
        }
        // A word of a parameter may add an agent.
        let chooses = entry.params.iter().any(|param| matches!(param.kind, ParamKind::Choice(_)));
        let ends =
            |place: &&str| ["source", "receiver", "queue"].contains(place) || chooses && *place == "agent";
        assert!(at_interfaces > 0 || entry.places.iter().all(ends), "{}", entry.name);
        let (tcp, udp) = (scheme.source().is_some(), scheme.udp().is_some());
        assert_eq!(tcp || udp, entry.places.contains(&"source"), "{}", entry.name);
    }
}

const PACKET: Packet = Packet {
    id: PacketId(1),
    flow: FlowId(1),
    destination: NodeId(2),
    next_hop: NodeId(2),
    bytes: 1500,
    class: PacketClass::Data,
    ecn: Ecn::NotEct,
    labelled: false,
    own: false,
    enqueued: Time::ZERO,
};

/// `transport`: 300 kB by TCP under a law of the tree, 10 ms each way, each hundredth segment lost.
fn transfer(law: &str) {
    const BYTES: u64 = 300_000;
    let scheme = (Registry::built_in().find(law).expect("in the tree").build)(&Params::default());
    let source = scheme.ok().and_then(|scheme| scheme.source()).expect("a law");
    let mut random = Stream::new(1, law, Purpose::Source);
    let (mut sender, mut receiver) = (Sender::new(&TcpConfig::RFC, source), Receiver::new(&TcpConfig::RFC));
    let mut out = Default::default();
    let mut now = Time::ZERO;
    // In order of arrival, since all take the same time.
    let mut in_flight: VecDeque<(Time, bool, Segment)> = VecDeque::new();
    let mut sent = 0;
    sender.write(BYTES);
    sender.close();
    sender.open(&mut Context { now, random: &mut random, out: &mut out });
    while !sender.is_done() {
        let mut context = Context { now, random: &mut random, out: &mut out };
        let arrival = now + Span::from_millis(10);
        while let Some(departure) = sender.poll(&mut context) {
            sent += 1;
            if sent % 100 != 0 {
                in_flight.push_back((arrival, true, sender.segment(&departure, now)));
            }
        }
        while let Some(answer) = receiver.poll(now) {
            in_flight.push_back((arrival, false, answer));
        }
        let next = [in_flight.front().map(|first| first.0), sender.deadline(), receiver.deadline()];
        now = next.into_iter().flatten().min().expect("somebody has something to do").max(now);
        let mut context = Context { now, random: &mut random, out: &mut out };
        while in_flight.front().is_some_and(|first| first.0 <= now)
            && let Some((_, data, segment)) = in_flight.pop_front()
        {
            if data { receiver.on_segment(&segment, now) } else { sender.on_segment(&segment, &mut context) }
        }
        sender.on_timer(&mut context);
        receiver.on_timer(now);
    }
    assert_eq!(receiver.delivered(), BYTES, "{law}");
}

/// `routing`: in a row of three nodes the first finds the third through the second, with its second request.
fn discovery() {
    let address = |i: usize| Ipv4Addr::new(10, 0, 0, i as u8);
    let hop = |i: usize| Adjacency { neighbour: address(i), interface: 0 };
    let config = aodv::AodvConfig { broadcast_jitter: Span::ZERO, ..aodv::AodvConfig::default() };
    let setup = |i: usize| NodeSetup { address: address(i), interfaces: 1, wires_from: None };
    let mut nodes: Vec<Box<dyn Routing>> = (0..3).map(|i| config.state_machine(&setup(i))).collect();
    let mut random = Stream::new(1, "row", Purpose::Routing);
    let mut out = Vec::new();
    let mut now = Time::ZERO;
    let mut due: VecDeque<(usize, Effect)> = VecDeque::new();
    let mut context = RoutingContext { now, random: &mut random, out: &mut out };
    assert_eq!(nodes[0].originate(7, address(2), &mut context), None);
    due.extend(out.drain(..).map(|effect| (0, effect)));
    loop {
        let Some((at, effect)) = due.pop_front() else {
            // Requests reach further with time.
            now = nodes[0].deadline();
            nodes[0].on_timer(&mut RoutingContext { now, random: &mut random, out: &mut out });
            due.extend(out.drain(..).map(|effect| (0, effect)));
            continue;
        };
        match effect {
            Effect::Send { bytes, to, ttl, .. } => {
                for near in [at.wrapping_sub(1), at + 1].into_iter().filter(|&i| i < 3) {
                    let to_all = !matches!(to, To::Neighbour(_));
                    if to_all || to == To::Neighbour(hop(near)) {
                        let received = Received { from: hop(at), ttl, to_all };
                        let mut context = RoutingContext { now, random: &mut random, out: &mut out };
                        nodes[near].on_message(&bytes, received, &mut context);
                        due.extend(out.drain(..).map(|effect| (near, effect)));
                    }
                }
            }
            Effect::Forward { packet, hop: to } => {
                assert_eq!((at, packet, to), (0, 7, hop(1)));
                break;
            }
            Effect::Drop { .. } => panic!("the packet was dropped"),
            Effect::DropQueued { .. } => panic!("no link breaks"),
        }
    }
    assert!(now > Time::ZERO);
    assert_eq!(nodes[1].next_hop(address(2), now), Some(hop(2)));
}

/// `schemes`, MORE: a batch of three packets over GF(2^8), each combination lost or not.
fn coding() {
    let flow = MoreFlow { flow: 1, source: 1, destination: 2 };
    let [mut source, mut destination] = [1, 2].map(|node| MoreNode::new(node, MoreConfig::default()));
    assert_eq!(source.begin(flow, Decoder::full(3), Forwarders::default(), Time::ZERO), Some(0));
    let mut random = Stream::new(1, "coding", Purpose::Queue);
    loop {
        let packet = source.make(&flow, &mut random).expect("a batch is at hand");
        if random.below(2) > 0 {
            continue;
        }
        let heard = destination.heard(packet.view(), 1, Time::ZERO);
        if heard.meaning == Meaning::Decodes {
            let acknowledgement = heard.acknowledge.expect("the first");
            assert_eq!(source.acknowledged(&acknowledgement, Time::ZERO), Some(0));
            break;
        }
    }
    assert_eq!(destination.rank(&flow), Some((0, 3, 3)));
}
