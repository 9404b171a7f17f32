//! Queue sizes that packets announce (DiffQ), as captures, the table of frames, traces, explanations and series show them.

use std::collections::BTreeMap;

use crate::support::wires::{built, tcp};
use crate::support::*;
use airfair_schemes::{ParamValue, Params};
use airfair_sim::World;
use airfair_sim::engine::drive;
use airfair_sim::ids::{FlowIx, NodeIx, PortIx};
use airfair_sim::observe::capture::{CaptureSpec, Columns};
use airfair_sim::observe::explain::{DifferentialExplanation, Explanation};
use airfair_sim::record::Record;
use airfair_sim::spec::*;
use airfair_transport::TcpConfig;
use airfair_units::{Bytes, Rate, Span, Time};
use airfair_wire::diffq::{Trailer, Type};
use airfair_wire::ieee80211::{Fcs, Frame};
use airfair_wire::ipv4::Protocol;
use airfair_wire::pcapng::{Block, Direction};
use airfair_wire::{EtherType, Ipv4, LlcSnap, Radiotap, Tcp, Udp};

/// Eight levels with the windows of DiffQ's table.
fn radio() -> RadioSpec {
    let rows = [(7, 5, 10), (6, 5, 9), (6, 5, 8), (6, 5, 7), (3, 4, 5), (3, 3, 4), (3, 2, 3), (2, 1, 3)];
    let rows = rows.map(|(aifsn, least, most)| (aifsn, (1 << least) - 1, (1 << most) - 1, 0));
    with_edca(dot11b(250.0, 550.0), edca_table(&rows, Countdown::Standard, TxopEnd::Silent))
}

fn controlled() -> Transport {
    Transport::ControlledUdp { law: "diffq".into(), params: Params::default(), pinned: false }
}

/// Three hops, one flow over all of them and one over the first.
fn spec(transport: &Transport) -> WorldSpec {
    let mut spec = chain(radio(), 3, 200.0, saturating(500), 2);
    flow(&mut spec, "g", 1, 0, saturating(500));
    let traffic = if matches!(transport, Transport::Tcp { .. }) { Traffic::Endless } else { saturating(500) };
    for flow in &mut spec.flows {
        (flow.transport, flow.traffic) = (transport.clone(), traffic.clone());
    }
    spec
}

fn diffq(spec: &WorldSpec) -> World {
    World::new(spec, "diffq", built("diffq", &[]), 1).unwrap()
}

/// The capture of a node and the table of frames.
fn watched(spec: &WorldSpec, node: u32) -> (Vec<u8>, Columns) {
    let mut world = diffq(spec);
    let interfaces = (0..world.queues().len() as u32).map(PortIx).collect();
    let (from, until) = (Time::ZERO, Time::NEVER);
    let capture = CaptureSpec { interfaces, snap_len: 0, errors: true, rows: true, node: None, from, until };
    world.capture(capture);
    drive::to_end(&mut world);
    let files = world.take_captures(1).into_iter().filter(|(of, _)| *of == NodeIx(node));
    (files.flat_map(|(_, bytes)| bytes).collect(), world.take_frames(1).unwrap())
}

/// A packet with a trailer that a node has sent: retry bit, MAC's sequence number, trailer, and bytes of payload.
type Seen = (bool, u16, Trailer, usize);

/// Packets of flows that a node has sent, in order, and the number of frames from others with a trailer.
fn trailers(file: &[u8], with_tcp: bool) -> (Vec<Seen>, usize) {
    let (mut own, mut others, mut left) = (Vec::new(), 0, file);
    while let (Some(block), rest) = Block::decode(left).expect("a block") {
        left = rest;
        let Block::Packet(packet) = block else { continue };
        let (_, bytes) = Radiotap::decode(packet.data.get()).expect("a radiotap header");
        let frame = Frame::decode_without_fcs(&bytes[..bytes.len() - Fcs::wire_len()]).expect("a frame");
        let Frame::Data { header, body } = frame else { continue };
        let (llc, body) = LlcSnap::decode(body).expect("LLC");
        assert_eq!(llc.ether_type, EtherType::IPV4);
        let (ip, rest) = Ipv4::decode(body).expect("an IP packet");
        assert_eq!(
            (ip.protocol, body.len()),
            (Protocol::EXPERIMENTAL_2, 20 + rest.len()),
            "all of it is IP's"
        );
        let (transport, trailer) = rest.split_at(rest.len() - 16);
        let (trailer, none) = Trailer::decode(trailer).expect("a trailer");
        assert!(none.is_empty());
        let payload = if with_tcp {
            Tcp::verify(ip.source, ip.destination, transport).expect("TCP before it");
            Tcp::decode(transport).unwrap().1
        } else {
            let (udp, data) = Udp::decode(transport).expect("UDP before it");
            udp.verify(ip.source, ip.destination, data).expect("its checksum");
            data
        };
        if packet.direction == Direction::Outbound {
            own.push((header.retry, header.sequence.number.get(), trailer, payload.len()));
        } else {
            others += 1;
        }
    }
    (own, others)
}

/// At the end of the packet, behind all of TCP or UDP: the first hop has written one trailer, the second two; retries repeat the words.
#[test]
fn captures_end_with_the_trailer() {
    for with_tcp in [false, true] {
        let spec = spec(&if with_tcp { tcp(TcpConfig::default()) } else { controlled() });
        let (file, _) = watched(&spec, 1);
        let (seen, heard) = trailers(&file, with_tcp);
        assert!(seen.len() > 100 && heard > 100, "{} of its own, {heard} of others", seen.len());
        let acks = seen.iter().filter(|seen| seen.2.kind == Type::Ack).count();
        assert_eq!(acks > 0, with_tcp);
        assert!(seen.iter().filter(|seen| seen.2.kind == Type::Data).all(|seen| seen.3 == 500 || with_tcp));
        let written: Vec<u8> = seen.iter().map(|seen| seen.2.written).collect();
        assert!(written.contains(&1) && written.contains(&2), "its own flow, and one that it forwards");
        assert!(seen.iter().any(|seen| seen.2.queue > 5));
        let mut retries = 0;
        for pair in seen.windows(2).filter(|pair| pair[1].0 && pair[0].1 == pair[1].1) {
            assert_eq!(pair[0].2, pair[1].2);
            retries += 1;
        }
        assert!(retries > 5, "{retries}");
    }
}

/// The columns of the table are the trailer's words, also at receivers and in retries; frames without a trailer have none.
#[test]
fn frames_announce_the_queue_of_their_destination() {
    let spec = spec(&controlled());
    let (file, c) = watched(&spec, 1);
    let (seen, _) = trailers(&file, false);
    let event = |row: usize| c.labels.events[c.event[row] as usize];
    let sent = (0..c.len()).filter(|&row| event(row) == "sent");
    let own: Vec<usize> = sent.clone().filter(|&row| c.from[row] == 1 && c.flow[row] >= 0).collect();
    let announced: Vec<i64> = own.iter().map(|&row| c.announced[row]).collect();
    assert_eq!(announced, seen.iter().map(|seen| i64::from(seen.2.queue)).collect::<Vec<_>>());
    for &row in &own {
        assert_eq!(c.announced_of[row], if c.flow[row] == 0 { 3 } else { 0 });
    }
    let by_frame: BTreeMap<i64, i64> = sent.map(|row| (c.frame[row], c.announced[row])).collect();
    let arrivals = (0..c.len()).filter(|&row| ["received", "lost"].contains(&event(row)));
    assert!(arrivals.clone().count() > 500);
    assert!(arrivals.clone().all(|row| c.announced[row] == by_frame[&c.frame[row]]));
    let without = arrivals.filter(|&row| c.flow[row] < 0);
    assert!(without.clone().count() > 100);
    assert!(without.clone().all(|row| (c.announced[row], c.announced_of[row]) == (-1, -1)));
    assert!(diffq(&spec).queue_header().is_some() && make(&spec, 1).queue_header().is_none());
}

/// The trace says what the table says.
#[test]
fn traces_tell_the_queue() {
    let spec = spec(&controlled());
    let (_, c) = watched(&spec, 1);
    let mut world = diffq(&spec);
    world.start_trace();
    drive::to_end(&mut world);
    let mut told = 0;
    for (at, record) in world.take_trace() {
        let Record::Start { frame } = record else { continue };
        let row = (0..c.len()).find(|&row| c.event[row] == 0 && c.frame[row] == i64::from(frame.number));
        let row = row.expect("the same run");
        let line = world.names().line(at, &record).unwrap();
        if c.announced[row] < 0 {
            assert!(!line.contains("(queue "), "{line}");
            continue;
        }
        let of = spec.nodes[c.announced_of[row] as usize].id.as_str();
        assert!(line.contains(&format!(" (queue {} of {of}) to ", c.announced[row])), "{line}");
        assert_eq!(frame.retry, line.contains(" again in c"), "{line}");
        told += 1;
    }
    assert!(told > 200);
}

fn explained(spec: &WorldSpec, flow: u32) -> Explanation {
    explanation_of(diffq(spec), spec, flow)
}

fn explanation_of(mut world: World, spec: &WorldSpec, flow: u32) -> Explanation {
    world.explain(spec, FlowIx(flow)).unwrap();
    drive::to_end(&mut world);
    world.explanation().unwrap()
}

fn differentials(explanation: Explanation) -> Vec<DifferentialExplanation> {
    explanation.hops.into_iter().filter(|hop| hop.forward).filter_map(|hop| hop.differential).collect()
}

/// Two sources at one receiver. A slow one finds its queue empty most of the time: its packets leave with a differential of 1, at level 1
/// (1 of 32 packets and 8 levels). It waits there behind a fast one, whose queue fills up to 25 packets, level 7.
#[test]
fn a_slow_flow_waits_behind_higher_levels() {
    let mut spec = cell(radio(), 2, 1000, 20);
    spec.warmup = Span::from_secs(10);
    let (rate, packet) = (Rate(40_000), Bytes(100));
    spec.flows[0].traffic = Traffic::ConstantRate { rate, packet, gap_jitter: 0.0 };
    for flow in &mut spec.flows {
        flow.transport = controlled();
    }
    let found = |flow| {
        let scheme = built("diffq", &[("depth", ParamValue::Integer(32))]);
        let world = World::new(&spec, "diffq", scheme, 1).unwrap();
        differentials(explanation_of(world, &spec, flow)).remove(0)
    };
    let (slow, fast) = (found(0), found(1));
    assert!((490..=500).contains(&slow.packets), "50 packets a second: {slow:?}");
    assert!((1.0..5.0).contains(&slow.mean()), "{slow:?}");
    let at_one = &slow.levels.iter().find(|level| level.0.as_deref() == Some("c1")).unwrap().1;
    assert!(slow.levels.iter().map(|level| level.1.packets).sum::<u64>() >= slow.packets - 1);
    assert!(at_one.packets > 400 && at_one.higher > at_one.others, "{slow:?}");
    assert!((5.0..25.0).contains(&fast.mean()), "{fast:?}");
    let higher: u64 = fast.levels.iter().map(|level| level.1.higher).sum();
    let others: u64 = fast.levels.iter().map(|level| level.1.others).sum();
    assert!(10 * higher < at_one.higher && others > higher, "{fast:?}");
    let levels: Vec<_> = fast.levels.iter().map(|level| level.0.clone()).collect();
    assert!(levels.is_sorted_by(|a, b| a > b), "the highest first: {levels:?}");
}

/// Along a path every hop has a difference; without DiffQ none has, nor has one of flows that are not labelled.
#[test]
fn each_hop_has_a_differential() {
    let spec = spec(&controlled());
    let found = differentials(explained(&spec, 0));
    assert_eq!(found.len(), 3);
    assert!(
        found[0].packets >= found[1].packets && found[1].packets >= found[2].packets && found[2].packets > 50
    );
    let without = explanation_of(make(&spec, 1), &spec, 0);
    assert!(without.hops.iter().all(|hop| hop.differential.is_none()));
    let mut plain = tcp(TcpConfig::default());
    let Transport::Tcp { pinned, .. } = &mut plain else { return };
    *pinned = true;
    let plain = crate::announced::spec(&plain);
    assert!(explained(&plain, 0).hops.iter().all(|hop| hop.differential.is_none()));
}

/// Without access categories there is one level, which has no name.
#[test]
fn one_level_has_no_name() {
    let mut spec = chain(dot11b(250.0, 550.0), 2, 200.0, saturating(500), 1);
    spec.flows[0].transport = controlled();
    let world = World::new(&spec, "diffq-rc-sched", built("diffq-rc-sched", &[]), 1).unwrap();
    let found = differentials(explanation_of(world, &spec, 0));
    assert_eq!(found.len(), 2);
    for found in found {
        assert_eq!(found.levels.iter().map(|level| &level.0).collect::<Vec<_>>(), [&None]);
        assert_eq!(found.levels[0].1.higher, 0);
    }
}

/// Values of queues over time: of every radio, with its last differential.
#[test]
fn series_have_the_values_of_queues() {
    let spec = spec(&controlled());
    let mut world = diffq(&spec);
    world.sample(Span::from_millis(100));
    drive::to_end(&mut world);
    let gauges = world.take_series().unwrap().queue_gauges;
    assert_eq!(gauges.places, [0, 1, 2, 3]);
    assert_eq!(gauges.names, ["differential", "level", "destinations", "known_sizes"]);
    let of = |name: usize, queue: usize| gauges.values[name].iter().skip(queue).step_by(4).copied();
    assert_eq!(of(0, 0).len(), 20);
    let any = |name: usize, least: f64| gauges.values[name].iter().any(|&value| value > least);
    assert!(any(0, 5.0) && any(1, 0.0) && any(2, 1.0) && any(3, 1.0));
    assert!(of(0, 3).all(f64::is_nan), "the destination sends nothing");
    let mut plain = make(&spec, 1);
    plain.sample(Span::from_millis(100));
    drive::to_end(&mut plain);
    assert!(plain.take_series().unwrap().queue_gauges.places.is_empty());
}
