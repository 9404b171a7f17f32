//! Packets from outside, at links: the next hop is the caller's, ends and flow are what schemes see, and every tag ends once.

use std::collections::BTreeMap;

use crate::support::rig::by_matrix;
use crate::support::wires::*;
use crate::support::*;
use airfair_schemes::places::{Ecn, FlowId, Header, HeaderKind, PacketClass};
use airfair_schemes::{ParamValue, Scheme};
use airfair_sim::engine::drive::Steppable;
use airfair_sim::ids::{NodeIx, PortIx};
use airfair_sim::observe::capture::CaptureSpec;
use airfair_sim::spec::*;
use airfair_sim::{Egress, Fate, Injection, PacketBytes, PortEnd, World};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Rate, Span, Time};
use airfair_wire::pcapng::Block;

/// Three nodes with radios, 100 m apart: all hear each other. The last one has a wire to a fourth node.
fn scene() -> WorldSpec {
    let mut spec = chain(dot11b(250.0, 550.0), 2, 100.0, saturating(500), 1);
    spec.flows.clear();
    let other = wired(&mut spec, "far");
    spec.links.push(link((2, other), 10, ms(1), 5));
    spec
}

fn make_with(spec: &WorldSpec, scheme: Box<dyn Scheme>, name: &str) -> World {
    World::new(spec, name, scheme, 1).unwrap()
}

fn droptail(spec: &WorldSpec) -> World {
    make_with(spec, built("droptail", &[]), "droptail")
}

/// The port of a node's radio; of its wire.
fn radio(world: &World, node: u32) -> PortIx {
    world.ports_of(NodeIx(node))[0].0
}

fn wire(world: &World, node: u32) -> PortIx {
    let ports = world.ports_of(NodeIx(node));
    ports.iter().find(|(_, end)| matches!(end, PortEnd::Wire(_))).expect("it has a wire").0
}

fn packet(from: u32, to: u32, tag: u64) -> Injection {
    Injection::new(NodeIx(from), NodeIx(to), 1000, tag)
}

fn until(world: &mut World, at: u64) -> Vec<Egress> {
    world.advance(Time(at));
    world.drain_outputs()
}

/// The next hop is the caller's: node 1 hands the packet out and passes nothing on, though it is not the packet's destination.
#[test]
fn a_packet_leaves_at_its_next_hop() {
    let mut world = droptail(&scene());
    let (from, by) = (radio(&world, 0), radio(&world, 1));
    world.inject(packet(0, 2, 7).at_port(from, Some(NodeIx(1))), Time(1_000_000)).unwrap();
    let out = until(&mut world, 900_000_000);
    // 192 + 754 us at 11 Mbit/s for 1036 bytes, and 334 ns for 100 m.
    let at = Time(1_000_000 + 192_000 + 754_000 + 334);
    let expected = Egress {
        at,
        tag: 7,
        node: NodeIx(1),
        port: Some(by),
        ecn: Ecn::NotEct,
        echo: false,
        header: None,
        fate: Fate::Arrived,
        last: true,
    };
    assert_eq!(out, [expected]);
    let ends = world.result().ends;
    assert_eq!((ends.made, ends.delivered), (1, 1));
}

/// 10 Mbit/s, 1 ms: 1000 bytes and the framing of a wire take 0.8 ms and more. The other end of the wire is the port by which it arrives.
#[test]
fn a_wire_has_one_receiver() {
    let mut world = droptail(&scene());
    let (from, by) = (wire(&world, 2), wire(&world, 3));
    world.inject(packet(2, 0, 1).at_port(from, Some(NodeIx(3))), Time(0)).unwrap();
    world.inject(packet(2, 0, 2).at_port(from, None), Time(0)).unwrap();
    let out = until(&mut world, 900_000_000);
    let seen: Vec<_> = out.iter().map(|o| (o.tag, o.node, o.port, o.fate, o.last)).collect();
    let arrived = |tag| (tag, NodeIx(3), Some(by), Fate::Arrived, true);
    assert_eq!(seen, [arrived(1), arrived(2)]);
    assert!(out[0].at >= Time(1_800_000) && out[0].at < Time(1_900_000), "{}", out[0].at);
    let ends = world.result().ends;
    assert_eq!((ends.made, ends.delivered), (2, 2), "a wire has no broadcasts");
}

/// Every node that receives a broadcast has a copy; the sender's network says when no further one will come.
#[test]
fn a_broadcast_reaches_each_receiver() {
    let mut world = droptail(&scene());
    let port = radio(&world, 1);
    world.inject(packet(1, 1, 5).at_port(port, None), Time(0)).unwrap();
    let out = until(&mut world, 900_000_000);
    let seen: Vec<_> = out.iter().map(|o| (o.node.0, o.port, o.fate, o.last)).collect();
    let by = |node| Some(radio(&world, node));
    assert_eq!(seen.len(), 3);
    for node in [0, 2] {
        assert!(seen[..2].contains(&(node, by(node), Fate::Arrived, false)), "{seen:?}");
    }
    assert_eq!(seen[2], (1, Some(port), Fate::Ended, true));
    let ends = world.result().ends;
    assert_eq!((ends.made, ends.delivered), (0, 0), "a broadcast has no one end");
}

/// A loss above the MAC is said for each copy.
#[test]
fn a_copy_of_a_broadcast_that_is_lost_is_said() {
    let mut spec = scene();
    spec.radios[0].packet_loss = 1.0;
    let mut world = droptail(&spec);
    let port = radio(&world, 1);
    world.inject(packet(1, 1, 5).at_port(port, None), Time(0)).unwrap();
    let out = until(&mut world, 900_000_000);
    let seen: Vec<_> = out.iter().map(|o| (o.node.0, o.port, o.fate, o.last)).collect();
    let lost = |node| (node, None, Fate::Dropped("packet-loss"), false);
    assert!(seen[..2].contains(&lost(0)) && seen[..2].contains(&lost(2)), "{seen:?}");
    assert_eq!(seen[2..], [(1, Some(port), Fate::Ended, true)]);
}

/// A node without a radio receives no frame, and no port of another node's is its way.
#[test]
fn a_next_hop_needs_a_radio() {
    let mut world = droptail(&scene());
    let port = radio(&world, 0);
    let error = world.inject(packet(0, 3, 1).at_port(port, Some(NodeIx(3))), Time(0)).unwrap_err();
    assert_eq!(error, "node far has no radio");
    let error = world.inject(packet(0, 3, 1).at_port(port, Some(NodeIx(0))), Time(0)).unwrap_err();
    assert_eq!(error, "node 0 is no next hop of its own");
}

/// A third node 4 km away hears the frame 13 us later than the second: nothing arrives in between, and the driver sleeps.
#[test]
fn a_far_hearer_keeps_no_driver_awake() {
    let mut spec = world(dot11b(9_000.0, 20_000.0), 1);
    [0.0, 100.0, 4_000.0].iter().enumerate().for_each(|(i, &x)| {
        node(&mut spec, &format!("n{i}"), x, 0.0);
    });
    let mut world = droptail(&spec);
    let port = radio(&world, 0);
    world.inject(packet(0, 1, 7).at_port(port, Some(NodeIx(1))), Time(0)).unwrap();
    let mut rounds = 0;
    while let Some(at) = world.next_output().filter(|&at| at < Time(20_000_000)) {
        let next = world.next_deadline().unwrap();
        assert!(at >= next && at >= world.now(), "{at}, next {next}");
        world.advance(at.saturating_add(Span(1)));
        rounds += 1;
    }
    assert_eq!(world.drain_outputs().iter().filter(|o| o.fate == Fate::Arrived).count(), 1);
    assert!(rounds < 40, "{rounds} rounds for one packet");
}

/// A receiver out of reach: seven or four attempts, then the packet ends where it was sent.
#[test]
fn a_packet_that_the_mac_gives_up_ends_at_its_sender() {
    let mut spec = scene();
    spec.nodes[2].position = [5_000.0, 0.0, 0.0];
    let mut world = droptail(&spec);
    let port = radio(&world, 0);
    world.inject(packet(0, 2, 3).at_port(port, Some(NodeIx(2))), Time(0)).unwrap();
    let out = until(&mut world, 900_000_000);
    let seen: Vec<_> = out.iter().map(|o| (o.tag, o.node.0, o.port, o.fate, o.last)).collect();
    assert_eq!(seen, [(3, 0, None, Fate::Dropped("retry-limit"), true)]);
}

/// Where ACKs are lost only, the packet has arrived, and is not called lost as well.
#[test]
fn a_packet_without_ack_arrives_once() {
    let mut spec = chain(by_matrix(dot11b(400.0, 550.0)), 1, 100.0, saturating(500), 1);
    spec.flows.clear();
    spec.gains = vec![GainSpec { from: 0, to: 1, gain: airfair_units::Db(-70.0) }];
    let mut world = droptail(&spec);
    let port = radio(&world, 0);
    world.inject(packet(0, 1, 3).at_port(port, Some(NodeIx(1))), Time(0)).unwrap();
    let out = until(&mut world, 900_000_000);
    let seen: Vec<_> = out.iter().map(|o| (o.node.0, o.fate, o.last)).collect();
    assert_eq!(seen, [(1, Fate::Arrived, true)]);
    assert!(world.air().counters(airfair_sim::ids::StationIx(0)).no_ack > 1, "it was sent again");
}

/// Two flows from outside and one of the simulator's meet in one queue of FQ-CoDel: each has a third of the link.
#[test]
fn flows_from_outside_and_inside_share_one_queue() {
    let mut spec = chain(dot11b(250.0, 550.0), 1, 100.0, saturating(972), 2);
    let rate = Rate::from_mbps(16);
    spec.flows[0].traffic = Traffic::ConstantRate { rate, packet: Bytes(972), gap_jitter: 0.0 };
    let mut world = make_with(&spec, built("fq-codel", &[]), "fq-codel");
    let port = radio(&world, 0);
    for i in 0..3900 {
        let flow = FlowId(40 + (i % 2) as u32);
        let packet = Injection { flow, ..packet(0, 1, i) }.at_port(port, Some(NodeIx(1)));
        world.inject(packet, Time(i * 500_000)).unwrap();
    }
    let mut arrived = BTreeMap::new();
    for output in until(&mut world, 2_000_000_000) {
        *arrived.entry(output.tag % 2).or_insert(0) += u32::from(output.fate == Fate::Arrived);
    }
    let inside = world.result().flows[0].delivered_packets;
    let counts = [arrived[&0], arrived[&1], inside as u32];
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(*least > 300 && most - least <= least / 20 + 2, "{counts:?}");
}

/// DSCP decides the access category, as for packets of flows.
#[test]
fn dscp_decides_the_category() {
    let mut spec = scene();
    spec.radios[0] =
        with_edca(spec.radios[0].clone(), random_world::edca(Countdown::Standard, TxopEnd::Silent));
    let mut world = droptail(&spec);
    let port = radio(&world, 0);
    for tag in 0..40 {
        let dscp = if tag < 20 { 8 } else { 46 };
        let packet = Injection { dscp, ..packet(0, 1, tag) }.at_port(port, Some(NodeIx(1)));
        world.inject(packet, Time(0)).unwrap();
    }
    let out = until(&mut world, 900_000_000);
    let first: Vec<_> = out.iter().take(15).map(|output| output.tag).collect();
    assert!(first.iter().filter(|&&tag| tag >= 20).count() >= 12, "{first:?}");
    assert_eq!(out.len(), 40);
}

/// RED marks what can be marked and drops the rest.
#[test]
fn marks_come_out_in_the_ecn_field() {
    let mut world = make_with(&scene(), built("red", &[("ecn", ParamValue::Flag(true))]), "red");
    let port = radio(&world, 0);
    for tag in 0..1800 {
        let ecn = if tag % 2 == 0 { Ecn::Ect } else { Ecn::NotEct };
        let packet = Injection { ecn, ..packet(0, 1, tag) }.at_port(port, Some(NodeIx(1)));
        world.inject(packet, Time(tag * 500_000)).unwrap();
    }
    let out = until(&mut world, 900_000_000);
    let marked = out.iter().filter(|o| o.ecn == Ecn::Ce && o.fate == Fate::Arrived).count();
    let dropped = |capable| {
        let is = |o: &&Egress| (o.tag.is_multiple_of(2)) == capable && matches!(o.fate, Fate::Dropped(_));
        out.iter().filter(is).count()
    };
    assert!(marked > 10 && dropped(false) > 10, "{marked} marked, {} dropped", dropped(false));
    assert!(out.iter().all(|o| o.tag % 2 == 0 || o.ecn == Ecn::NotEct));
}

static QFCP: HeaderKind = airfair_schemes::qfcp::header::KIND;

/// A router of QFCP writes its fair rate into the header of a packet from outside; the header comes out with the packet.
#[test]
fn headers_are_rewritten_on_their_way() {
    let mut world = make_with(&scene(), built("qfcp", &[]), "qfcp");
    let port = wire(&world, 2);
    let header = Header { fields: [u32::MAX; 4], ..Header::default() };
    for tag in 0..50 {
        let flow = FlowId(1);
        let packet = Injection { header: Some((&QFCP, header)), flow, ..packet(2, 3, tag) };
        world.inject(packet.at_port(port, Some(NodeIx(3))), Time(tag * 4_000_000)).unwrap();
    }
    let out = until(&mut world, 900_000_000);
    let last = out.last().and_then(|output| output.header).expect("it has its header");
    assert_eq!((out.len(), last.supported), (50, 1), "one output interface");
    assert!(last.fields != header.fields, "the router has written its rate: {last:?}");
}

/// A wrong packet is refused when it is given, not when it is due.
#[test]
fn wrong_packets_are_refused_by_what_is_wrong() {
    let mut world = droptail(&scene());
    let port = radio(&world, 0);
    let wire = wire(&world, 2);
    let right = || packet(0, 1, 0).at_port(port, Some(NodeIx(1)));
    let mut refused = |packet: Injection| world.inject(packet, Time(1)).unwrap_err();
    for (packet, problem) in [
        (packet(0, 9, 0), "there are 4 nodes"),
        (packet(0, 1, 0).at_port(port, Some(NodeIx(9))), "there are 4 nodes"),
        (packet(0, 1, 0).at_port(PortIx(9), None), "port 9 belongs to no node"),
        (packet(2, 0, 0).at_port(wire, Some(NodeIx(1))), "the wire of port 3 leads to node far"),
        (Injection { size: 0, ..right() }, "a packet of 0 bytes: expected 1 to 65535"),
        (Injection { size: 65_536, ..right() }, "a packet of 65536 bytes: expected 1 to 65535"),
        (Injection { dscp: 64, ..right() }, "DSCP 64: expected a number below 64"),
        (
            Injection { class: PacketClass::Control, ..right() },
            "a packet from outside is data or an acknowledgement, not a control packet",
        ),
        (
            Injection { size: 8, header: Some((&QFCP, Header::default())), ..right() },
            "a packet of 8 bytes has no room for its header",
        ),
    ] {
        assert_eq!(refused(packet), problem);
    }
}

/// A run may have no flows and no end: it goes on as long as packets enter.
#[test]
fn a_run_may_have_no_end() {
    let mut spec = scene();
    spec.duration = Span(u64::MAX);
    let mut world = droptail(&spec);
    let port = radio(&world, 0);
    let year = 31_557_600_000_000_000;
    assert_eq!(world.next_output(), None);
    world.inject(packet(0, 1, 1).at_port(port, Some(NodeIx(1))), Time(year)).unwrap();
    let out = until(&mut world, year + 1_000_000_000);
    assert_eq!((out.len(), world.now()), (1, Time(year + 1_000_000_000)));
    assert_eq!(world.end(), Time::NEVER);
    assert_eq!(world.result().ends.delivered, 1);
}

/// The bytes of a packet are in the captures of its sender and its receiver, with the EtherType that was given.
#[test]
fn captures_have_the_real_bytes() {
    let mut world = droptail(&scene());
    let ports = [radio(&world, 0), radio(&world, 1)];
    let watch = CaptureSpec {
        interfaces: ports.to_vec(),
        snap_len: 0,
        errors: true,
        rows: false,
        node: None,
        from: Time::ZERO,
        until: Time::NEVER,
    };
    world.capture(watch);
    let real: Vec<u8> = (0..=255).collect();
    let bytes = Some(PacketBytes { ethertype: 0x86dd, bytes: real.clone().into() });
    let packet = Injection { size: 300, bytes, ..packet(0, 1, 1) };
    world.inject(packet.at_port(ports[0], Some(NodeIx(1))), Time(1_000)).unwrap();
    world.advance(Time(1_000_000_000));
    let files = world.take_captures(1);
    assert_eq!(files.len(), 2);
    for (node, file) in files {
        let mut rest = &file[..];
        let mut found = 0;
        while let (Some(block), left) = Block::decode(rest).unwrap() {
            rest = left;
            let Block::Packet(captured) = block else { continue };
            let frame = captured.data.get();
            // LLC/SNAP with the EtherType, the bytes, and zeros up to the size; then the FCS.
            let llc = [0xaa, 0xaa, 3, 0, 0, 0, 0x86, 0xdd];
            if let Some(at) = frame.windows(8).position(|window| window == llc) {
                let packet = &frame[at + 8..frame.len() - 4];
                assert_eq!((packet.len(), &packet[..256]), (300, &real[..]), "node {}", node.0);
                assert!(packet[256..].iter().all(|&byte| byte == 0));
                found += 1;
            }
        }
        assert_eq!(found, 1, "node {}", node.0);
    }
}

/// Random worlds: radios near and far from each other, some nodes with two of them, wires; queues that overflow, an AQM that marks.
fn random_scene(random: &mut Stream) -> (WorldSpec, &'static str) {
    let nodes = 2 + random.below(4);
    let mut radio = dot11b(250.0, 550.0);
    radio.queue.packets = 1 + random.below(8);
    radio.packet_loss = if random.below(3) == 0 { 0.2 } else { 0.0 };
    radio.mac.rts_threshold = Bytes(if random.below(2) == 0 { 0 } else { 2347 });
    let mut spec = world(radio.clone(), 1);
    let second = RadioSpec { name: "second".into(), channel: 6, ..radio };
    spec.radios.push(second);
    for i in 0..nodes {
        node(&mut spec, &format!("n{i}"), f64::from(random.below(900)), f64::from(random.below(200)));
        if random.below(3) == 0 {
            spec.nodes[i as usize].radios.push(1);
        }
    }
    for i in 1..nodes as usize {
        if random.below(3) == 0 {
            spec.links.push(link((i - 1, i), 10, us(random.below(2000).into()), 1 + random.below(4)));
        }
    }
    let schemes = ["droptail", "red", "fq-codel", "nred", "diffq-rc"];
    (spec, schemes[random.below(schemes.len() as u32) as usize])
}

/// Drives random packets through random worlds, in random steps: every tag ends exactly once, arrivals before it are of broadcasts only,
/// and nothing arrives before the time that `next_output` has named.
fn drive_random(worlds: u64, packets: u64) {
    let mut arrived = 0;
    for seed in 0..worlds {
        let mut random = Stream::new(seed, "outside", Purpose::Placement);
        let (spec, scheme) = random_scene(&mut random);
        let mut world = make_with(&spec, built(scheme, &[]), scheme);
        let nodes = spec.nodes.len() as u32;
        let mut last = vec![0_u32; packets as usize];
        let mut broadcast = vec![false; packets as usize];
        let mut given = 0;
        let mut earliest = Time::ZERO;
        while given < packets || world.next_deadline().is_some_and(|at| at < world.end()) {
            if given < packets && random.below(3) > 0 {
                let from = random.below(nodes);
                let ports = world.ports_of(NodeIx(from));
                let (port, end) = ports[random.below(ports.len() as u32) as usize];
                let next = match (random.below(4), end) {
                    (0, _) => None,
                    (_, PortEnd::Wire(far)) => Some(far),
                    (_, PortEnd::Radio(_)) => Some(NodeIx((from + 1 + random.below(nodes - 1)) % nodes)),
                };
                let at_node = random.below(5) == 0;
                let packet = Injection {
                    size: 40 + random.below(1460),
                    flow: FlowId(random.below(5)),
                    ecn: if random.below(2) == 0 { Ecn::Ect } else { Ecn::NotEct },
                    dscp: random.below(64) as u8,
                    ..packet(from, random.below(nodes), given)
                };
                let packet = if at_node { packet } else { packet.at_port(port, next) };
                broadcast[given as usize] = !at_node && next.is_none() && matches!(end, PortEnd::Radio(_));
                let at = world.now() + Span(u64::from(random.below(2_000_000)));
                world.inject(packet, at).unwrap();
                given += 1;
                earliest = Time::ZERO;
            } else {
                let step = Span(1 + u64::from(random.below(3_000_000)));
                world.advance(world.now().saturating_add(step).min(world.end()));
                let outputs = world.drain_outputs();
                for output in outputs {
                    let tag = output.tag as usize;
                    assert_eq!(last[tag], 0, "seed {seed}: {output:?} after its end");
                    last[tag] += u32::from(output.last);
                    if output.fate == Fate::Arrived {
                        arrived += 1;
                        assert!(output.at >= earliest, "seed {seed}: {output:?} before {earliest}");
                    }
                    assert!(output.last || broadcast[tag], "seed {seed}: {output:?}");
                }
                earliest = world.next_output().unwrap_or(Time::NEVER);
            }
        }
        assert!(last.iter().all(|&ends| ends == 1), "seed {seed}: {last:?}");
    }
    assert!(arrived > worlds * packets / 4, "{arrived} of {worlds} times {packets}");
}

#[test]
fn each_tag_ends_exactly_once() {
    drive_random(2_000, 50);
}
