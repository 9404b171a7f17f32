//! Looking at a run changes nothing of it, and what is seen agrees with what the run has counted.

use std::collections::BTreeMap;

use crate::support::random_world::*;
use crate::support::*;
use airfair_sim::World;
use airfair_sim::engine::drive::{self, Steppable};
use airfair_sim::ids::{NodeIx, PortIx};
use airfair_sim::measure::summary::RunResult;
use airfair_sim::observe::capture::{CaptureSpec, Columns};
use airfair_sim::record::FrameKind;
use airfair_sim::spec::{Countdown, TxopEnd};
use airfair_units::{Span, Time};
use airfair_wire::ieee80211::{Addresses, Fcs, Frame};
use airfair_wire::pcapng::{Block, Direction, LinkType, Packet};
use airfair_wire::{Arp, EtherType, Ethernet, Ipv4, LlcSnap, MacAddr, Radiotap, Udp};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The capture files by node, and the rows in the parts in which they were handed out.
fn watched(world: &mut World, step: Span) -> (BTreeMap<u32, Vec<u8>>, Vec<Columns>) {
    let watch = everything(world);
    world.capture(watch);
    let (mut files, mut rows) = (BTreeMap::<u32, Vec<u8>>::new(), Vec::new());
    while world.now() < world.end() {
        world.advance(world.now().saturating_add(step));
        for (node, bytes) in world.take_captures(1) {
            files.entry(node.0).or_default().extend(bytes);
        }
        rows.extend(world.take_frames(1));
    }
    (files, rows)
}

/// Times and numbers of the rows of one event at one station (all if none is given).
fn rows(parts: &[Columns], event: &str, station: Option<i64>) -> Vec<(i64, i64, i64, i64)> {
    let mut found = Vec::new();
    for c in parts {
        for i in 0..c.len() {
            if c.labels.events[c.event[i] as usize] == event && station.is_none_or(|s| c.station[i] == s) {
                found.push((c.time_ns[i], c.frame[i], c.kind[i], c.bytes[i]));
            }
        }
    }
    found
}

/// Checks an IP packet to its last byte; there may be padding behind it.
fn check_ip(bytes: &[u8]) -> Result<(), TestCaseError> {
    let (ip, payload) = Ipv4::decode(bytes).expect("an IPv4 packet");
    let (udp, data) = Udp::decode(payload).expect("these worlds have no other transport");
    prop_assert_eq!(udp.verify(ip.source, ip.destination, data), Ok(()));
    prop_assert!(data.iter().all(|&byte| byte == 0));
    Ok(())
}

/// Checks a frame to its last byte; returns its kind, length and receiver.
fn check_frame(packet: &Packet<'_>) -> Result<(FrameKind, i64, MacAddr), TestCaseError> {
    let (header, bytes) = Radiotap::decode(packet.data.get()).expect("a radiotap header");
    let flags = header.flags.expect("it is always there");
    prop_assert_eq!((flags.fcs, flags.bad_fcs), (true, packet.crc_error));
    prop_assert_eq!(Fcs::check(bytes).is_err(), packet.crc_error);
    let whole = Frame::decode_without_fcs(&bytes[..bytes.len() - Fcs::wire_len()]).expect("an 802.11 frame");
    let (kind, receiver) = match whole {
        Frame::Rts(rts) => (FrameKind::Rts, rts.receiver),
        Frame::Cts(cts) => (FrameKind::Cts, cts.receiver),
        Frame::Ack(ack) => (FrameKind::Ack, ack.receiver),
        Frame::CfEnd(cf_end) => (FrameKind::CfEnd, cf_end.receiver),
        Frame::Data { header, body } => {
            assert!(matches!(header.addresses, Addresses::Direct { .. }));
            let (llc, rest) = LlcSnap::decode(body).expect("LLC");
            match llc.ether_type {
                EtherType::ARP => assert!(Arp::decode(rest).is_ok()),
                _ => check_ip(rest)?,
            }
            let receiver = header.addresses.receiver();
            (if receiver.is_broadcast() { FrameKind::Broadcast } else { FrameKind::Data }, receiver)
        }
    };
    Ok((kind, bytes.len() as i64, receiver))
}

/// Reads a file: the links of its interfaces, and its packets.
fn read(file: &[u8]) -> (Vec<LinkType>, Vec<Packet<'_>>) {
    let (mut links, mut packets) = (Vec::new(), Vec::new());
    let mut left = file;
    while let (Some(block), rest) = Block::decode(left).expect("a block") {
        match block {
            Block::Section(_) => assert_eq!(left.len(), file.len(), "it comes first"),
            Block::Interface(interface) => links.push(interface.link_type),
            Block::Packet(packet) => packets.push(packet),
            Block::Names(names) => assert!(!names.ipv4.is_empty()),
        }
        left = rest;
    }
    (links, packets)
}

/// The file of a node against what its station has counted and what the rows say.
fn check_file(file: &[u8], node: usize, result: &RunResult, parts: &[Columns]) -> Result<(), TestCaseError> {
    let (links, packets) = read(file);
    prop_assert!(packets.windows(2).all(|pair| pair[0].time_ns <= pair[1].time_ns), "in the order of time");
    let mut sent = Vec::new();
    let (mut received, mut bad) = ([0; FrameKind::ALL.len()], 0);
    let mut own = None;
    for packet in &packets {
        prop_assert_eq!(packet.original_len as usize, packet.data.get().len(), "nothing is cut");
        match links[packet.interface as usize] {
            LinkType::RADIOTAP => {
                let (kind, bytes, receiver) = check_frame(packet)?;
                if packet.direction == Direction::Outbound {
                    sent.push((packet.time_ns as i64, kind as i64, bytes));
                } else if packet.crc_error {
                    bad += 1;
                } else {
                    // The radio is the first interface: 02:00, then the node's number.
                    let mine = own.get_or_insert_with(|| MacAddr([2, 0, 0, 0, 0, rank_of(node, result)]));
                    let counts = receiver == *mine || receiver.is_broadcast();
                    received[kind as usize] += u64::from(counts);
                }
            }
            LinkType::ETHERNET => {
                let (header, rest) = Ethernet::decode(packet.data.get()).expect("an Ethernet header");
                prop_assert_eq!(header.ether_type, EtherType::IPV4);
                check_ip(rest)?;
            }
            _ => check_ip(packet.data.get())?,
        }
    }
    let counters = &result.stations[node].counters;
    let sent_rows = rows(parts, "sent", Some(node as i64));
    let sent_rows: Vec<(i64, i64, i64)> =
        sent_rows.iter().map(|&(time, _, kind, bytes)| (time, kind, bytes)).collect();
    prop_assert_eq!(&sent, &sent_rows, "the lengths are those that the medium has used");
    prop_assert_eq!(sent.len() as u64, counters.sent.iter().sum::<u64>());
    prop_assert_eq!(received, counters.received);
    // Each frame lost with an error at its end (too weak, interference, noise) is captured; frames for others are additional.
    prop_assert!(bad >= counters.lost[6..].iter().sum::<u64>());
    Ok(())
}

/// n0, n1, n2, n10: names in natural order are numbers from 1 on.
fn rank_of(node: usize, result: &RunResult) -> u8 {
    let number = |name: &str| name[1..].parse::<u8>().unwrap();
    number(&result.stations[node].node) + 1
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn what_is_seen_is_what_was_counted(drawn in draw(), seed in any::<u64>(), ethernet in any::<bool>()) {
        let mut spec = build(&drawn, Time(150_000_000), Span::from_millis(200));
        spec.headers.wired = if ethernet { 18 } else { 0 };
        let mut plain = make(&spec, seed);
        drive::to_end(&mut plain);
        let mut world = make(&spec, seed);
        let (files, parts) = watched(&mut world, Span::from_secs(1));
        let result = world.result();
        prop_assert_eq!(format!("{result:?}"), format!("{:?}", plain.result()), "looking changes nothing");
        prop_assert_eq!(files.len(), spec.nodes.len());
        for (&node, file) in &files {
            check_file(file, node as usize, &result, &parts)?;
        }
        let count = |event: &str| rows(&parts, event, None).len() as u64;
        let counted = |of: &dyn Fn(&airfair_sim::measure::summary::StationCounters) -> u64| {
            result.stations.iter().map(|s| of(&s.counters)).sum::<u64>()
        };
        prop_assert_eq!(count("sent"), result.transmissions);
        prop_assert_eq!(count("received"), counted(&|c| c.received.iter().sum()));
        prop_assert_eq!(count("lost"), counted(&|c| c.lost.iter().sum()));
        prop_assert_eq!(count("no-cts"), counted(&|c| c.no_cts));
        prop_assert_eq!(count("no-ack"), counted(&|c| c.no_ack));
        prop_assert_eq!(count("given-up"), counted(&|c| c.given_up));
        prop_assert_eq!(count("delivered"), result.ends.delivered);
        prop_assert_eq!(count("dropped"), result.drops.values().sum::<u64>());

        // The same run in small steps.
        let (same_files, same_parts) = watched(&mut make(&spec, seed), Span(777_777));
        prop_assert!(files == same_files);
        let times = |parts: &[Columns]| parts.iter().flat_map(|c| c.time_ns.clone()).collect::<Vec<_>>();
        prop_assert_eq!(times(&parts), times(&same_parts));
        prop_assert!(times(&parts).is_sorted());
    }
}

/// Cut frames keep their length, and a part of the run keeps what lies in it.
#[test]
fn captures_are_cut_as_asked() {
    let spec = chain(dot11b(250.0, 550.0), 2, 200.0, saturating(1000), 1);
    let mut world = make(&spec, 1);
    let cut = CaptureSpec {
        interfaces: vec![PortIx(1)],
        snap_len: 100,
        errors: false,
        rows: true,
        node: Some(NodeIx(0)),
        from: Time(300_000_000),
        until: Time(400_000_000),
    };
    world.capture(cut);
    drive::to_end(&mut world);
    let files = world.take_captures(1);
    assert_eq!(files.iter().map(|file| file.0.0).collect::<Vec<_>>(), [1]);
    let (_, packets) = read(&files[0].1);
    assert!(packets.len() > 50);
    let within = |time: u64| (300_000_000..400_000_000).contains(&time);
    assert!(packets.iter().all(|packet| within(packet.time_ns) && packet.data.get().len() <= 100));
    let long: Vec<u32> = packets.iter().map(|packet| packet.original_len).filter(|&len| len > 100).collect();
    // Radiotap of a sent frame 26 + 1 for retries, of a received one 24; MAC 24, LLC 8, IP 20, UDP 8, 1000, FCS 4.
    assert!(!long.is_empty() && long.iter().all(|&len| len == 27 + 1064 || len == 24 + 1064), "{long:?}");
    let columns = world.take_frames(1).unwrap();
    assert!(columns.time_ns.iter().all(|&time| within(time as u64)));
    let concerns = |i: usize| [columns.node[i], columns.from[i], columns.to[i]].contains(&0);
    assert!((0..columns.len()).all(concerns));
    assert!(columns.len() > 50);
}

/// An interface has the name of the radio, whatever its categories are called: one name may be the end of another.
#[test]
fn categories_share_an_interface_of_the_name_of_their_radio() {
    let names = ["b", "a/b", "/b", "default"];
    for ordinary in 0..names.len() {
        let mut radio = dot11b(250.0, 550.0);
        let mut edca = edca(Countdown::Standard, TxopEnd::Silent);
        edca.category_of_dscp = [ordinary as u8; 64];
        for (category, name) in edca.categories.iter_mut().zip(names) {
            category.name = name.to_string();
        }
        radio.mac.edca = Some(edca);
        let spec = chain(radio, 1, 200.0, saturating(1000), 1);
        let mut world = make(&spec, 1);
        assert_eq!(world.queues().len(), 2 * names.len());
        let (files, _) = watched(&mut world, Span::from_millis(500));
        assert_eq!(files.len(), 2);
        for (&node, bytes) in &files {
            let (mut left, mut found) = (&bytes[..], Vec::new());
            while let (Some(block), rest) = Block::decode(left).expect("a block") {
                if let Block::Interface(interface) = block {
                    found.push(interface.name.get().to_string());
                }
                left = rest;
            }
            assert_eq!(found, [format!("{}:default", spec.nodes[node as usize].id)]);
        }
    }
}
