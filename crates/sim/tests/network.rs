//! Above the MAC: ARP, wired links, routes, nodes with several interfaces, packets from outside.

use crate::support::rig::*;
use crate::support::wires::*;
use crate::support::*;
use airfair_routing::shortest::Metric;
use airfair_sim::World;
use airfair_sim::engine::drive::{self, Steppable};
use airfair_sim::ids::{NodeIx, StationIx};
use airfair_sim::measure::summary::RunResult;
use airfair_sim::record::FrameKind::{Ack, Broadcast, Data};
use airfair_sim::record::Record;
use airfair_sim::spec::*;
use airfair_sim::{Fate, Injection};
use airfair_transport::TcpConfig;
use airfair_units::{Bytes, Db, Dbm, Rate, Span, Time};

fn packet(from: u32, to: u32, bytes: u32, tag: u64) -> Injection {
    Injection::new(NodeIx(from), NodeIx(to), bytes, tag)
}

/// Packets of 1500 B that enter at 1 ms; what became of them: when, which, why dropped.
fn inject(world: &mut World, from: u32, to: u32, count: u32) {
    for tag in 0..count.into() {
        world.inject(packet(from, to, 1500, tag), Time(1_000_000)).unwrap();
    }
}

fn ends(world: &mut World) -> Vec<(u64, u64, Option<&'static str>)> {
    let end = world.end();
    world.advance(end);
    let dropped = |fate| if let Fate::Dropped(reason) = fate { Some(reason) } else { None };
    world.drain_outputs().iter().map(|output| (output.at.0, output.tag, dropped(output.fate))).collect()
}

/// Nodes in a row, joined by links.
fn cable(seconds: u64, links: &[LinkSpec]) -> WorldSpec {
    let mut spec = world(dot11b(250.0, 550.0), seconds);
    for i in 0..=links.len() {
        wired(&mut spec, &format!("w{i}"));
    }
    spec.links = links.to_vec();
    spec
}

fn matrix_world(seconds: u64, names: &[&str], gains: &[(usize, usize, f64)]) -> WorldSpec {
    let mut spec = world(by_matrix(dot11b(400.0, 550.0)), seconds);
    for name in names {
        node(&mut spec, name, 0.0, 0.0);
    }
    spec.gains = gains.iter().map(|&(from, to, dbm)| GainSpec { from, to, gain: Db(dbm - 15.0) }).collect();
    spec
}

fn cold(spec: &mut WorldSpec, waiting: u32) {
    spec.arp = ArpSpec { prefilled: false, waiting_packets: waiting, retry: Span::from_secs(1), attempts: 3 };
}

/// Request 28 + 36 = 64 B: 192 + 512 = 704 us at 1 Mbit/s; reply 192 + 47 = 239 us at 11 Mbit/s; then the packets in order.
#[test]
fn arp_asks_first_and_keeps_the_order() {
    let mut spec = world(no_back_off(dot11b(400.0, 550.0)), 1);
    node(&mut spec, "a", 0.0, 0.0);
    node(&mut spec, "b", 300.0, 0.0);
    cold(&mut spec, 3);
    let mut world = make(&spec, 1);
    world.start_trace();
    inject(&mut world, 0, 1, 3);
    let ends = ends(&mut world);
    let expected = [
        (Broadcast, 0, 1_000_000, 1_704_000),
        // + 1001 + DIFS 50000.
        (Data, 1, 1_755_001, 1_994_001),
        (Ack, 0, 2_005_002, 2_309_002),
        // DIFS after its own ACK.
        (Data, 0, 2_359_002, 3_669_002),
        (Ack, 1, 3_680_003, 3_984_003),
        (Data, 0, 4_035_004, 5_345_004),
        (Ack, 1, 5_356_005, 5_660_005),
        (Data, 0, 5_711_006, 7_021_006),
        (Ack, 1, 7_032_007, 7_336_007),
    ];
    assert_eq!(story(&world.take_trace()), expected);
    assert_eq!(ends, [(3_670_003, 0, None), (5_346_005, 1, None), (7_022_007, 2, None)]);
}

/// With room for one waiting packet the oldest ones are dropped.
#[test]
fn arp_keeps_the_newest_packets() {
    let mut spec = world(no_back_off(dot11b(400.0, 550.0)), 1);
    node(&mut spec, "a", 0.0, 0.0);
    node(&mut spec, "b", 300.0, 0.0);
    cold(&mut spec, 1);
    let mut world = make(&spec, 1);
    inject(&mut world, 0, 1, 3);
    let queue = Some("arp-queue");
    assert_eq!(ends(&mut world), [(1_000_000, 0, queue), (1_000_000, 1, queue), (3_670_003, 2, None)]);
}

/// `j` leaves gaps of SIFS 10 + ACK 304 + DIFS 50 = 364 us at `t`, too short for a request of 704 us: three requests, a second
/// and up to 10 ms apart, and as long after the last one the packet is given up. Broadcasts are not repeated by the MAC.
#[test]
fn arp_gives_up() {
    let gains = [both(0, 1, -60.0), both(2, 3, -60.0), [(2, 1, -60.0); 2]].concat();
    let mut spec = matrix_world(4, &["s", "t", "j", "k"], &gains);
    let mut jammer = no_back_off(spec.radios[0].clone());
    jammer.name = "jammer".into();
    spec.radios.push(jammer);
    spec.nodes[2].radios = vec![1];
    flow(&mut spec, "noise", 2, 3, saturating(1500));
    cold(&mut spec, 1);
    // The jammer and its peer know each other after their first packets.
    let mut world = make(&spec, 1);
    world.start_trace();
    inject(&mut world, 0, 1, 1);
    let (end, _, reason) = ends(&mut world)[0];
    let times = [&starts(&world.take_trace(), 0)[..], &[end]].concat();
    assert_eq!((times.len(), times[0], reason), (4, 1_000_000, Some("arp-failed")));
    let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| (1_000_000_000..=1_010_000_000).contains(gap)), "{gaps:?}");
}

/// Two nodes request each other's address at the same time, and receive neither request; they do not repeat at the same time.
#[test]
fn arp_asks_again_apart() {
    let mut spec = world(dot11b(400.0, 550.0), 5);
    node(&mut spec, "a", 0.0, 0.0);
    node(&mut spec, "b", 300.0, 0.0);
    flow(&mut spec, "f", 0, 1, saturating(1500));
    flow(&mut spec, "g", 1, 0, saturating(1500));
    cold(&mut spec, 1);
    let mut world = make(&spec, 1);
    drive::to_end(&mut world);
    assert!(world.result().flows.iter().all(|flow| flow.delivered_packets > 100));
}

/// A source that always has more to send meets an unknown neighbour.
#[test]
fn a_saturating_source_waits_for_arp() {
    let mut spec = chain(dot11b(400.0, 550.0), 1, 300.0, saturating(1472), 1);
    cold(&mut spec, 1);
    let result = run(&spec, 1);
    assert!(result.flows[0].delivered_packets > 400);
    assert_eq!(
        result.ends.made,
        result.ends.delivered
            + result.ends.queued
            + result.ends.in_mac
            + result.ends.dropped.values().sum::<u64>()
    );
}

/// 1500 B at 10 Mbit/s take 1.2 ms, with 5 ms of delay; packets are sent without a gap.
#[test]
fn a_wired_link_serialises_and_delays() {
    let mut world = make(&cable(1, &[link((0, 1), 10, us(5000), 50)]), 1);
    inject(&mut world, 0, 1, 3);
    assert_eq!(ends(&mut world), [(7_200_000, 0, None), (8_400_000, 1, None), (9_600_000, 2, None)]);
}

/// At 7 Mbit/s a packet takes 1714285.71 ns: three take 5142857.14; framing of 38 B is added if configured.
#[test]
fn a_wired_link_loses_nothing_by_rounding() {
    let mut spec = cable(1, &[link((0, 1), 7, us(0), 50)]);
    let mut world = make(&spec, 1);
    inject(&mut world, 0, 1, 3);
    assert_eq!(ends(&mut world), [(2_714_285, 0, None), (4_428_571, 1, None), (6_142_857, 2, None)]);
    spec.headers.wired = 38;
    spec.links[0].rate = Rate::from_mbps(10);
    let mut world = make(&spec, 1);
    inject(&mut world, 0, 1, 1);
    assert_eq!(ends(&mut world), [(2_230_400, 0, None)]);
}

/// 1500 B at 10 Mbit/s take 1.2 ms, at 5 Mbit/s 2.4 ms, at 15 Mbit/s 0.8 ms. The rate is halved at 1.5 ms, during the first packet (1.0 to
/// 2.2 ms), which keeps its rate; the second takes 2.4 ms, to 4.6 ms. At that moment the rate becomes 15 Mbit/s: the others take 0.8 ms
/// each.
#[test]
fn a_wired_link_changes_its_rate_between_packets() {
    let change = |us: u64, mbps| RateChange { at: Time(us * 1000), rate: Rate::from_mbps(mbps) };
    let mut wire = link((0, 1), 10, us(5000), 50);
    wire.rate_changes = vec![change(1500, 5), change(4600, 15)];
    let spec = cable(1, &[wire]);
    let expected = [7_200_000, 9_600_000, 10_400_000, 11_200_000];
    for (from, to) in [(0, 1), (1, 0)] {
        let mut world = make(&spec, 1);
        inject(&mut world, from, to, 4);
        let arrivals: Vec<_> = ends(&mut world).into_iter().map(|(at, _, dropped)| (at, dropped)).collect();
        assert_eq!(arrivals, expected.map(|at| (at, None)));
        // The same run in steps that end before, at and after each change.
        let mut world = make(&spec, 1);
        inject(&mut world, from, to, 4);
        let step = |tenths: u64| {
            world.advance(Time(tenths * 100_000));
            world.drain_outputs().into_iter().map(|output| output.at.0).collect::<Vec<_>>()
        };
        assert_eq!((1..=200).flat_map(step).collect::<Vec<_>>(), expected);
    }
}

/// At 7 Mbit/s 1500 B take 1714285.71 ns, at 21 Mbit/s 571428.57 ns: the rounding error of the first packet's end, 5/7 of a nanosecond, is
/// carried over the change, so that three packets end after 2857142.86 ns.
#[test]
fn a_change_of_rate_loses_nothing_by_rounding() {
    let mut wire = link((0, 1), 7, us(0), 50);
    wire.rate_changes = vec![RateChange { at: Time(1_000_001), rate: Rate::from_mbps(21) }];
    let mut world = make(&cable(1, &[wire]), 1);
    inject(&mut world, 0, 1, 3);
    assert_eq!(ends(&mut world), [(2_714_285, 0, None), (3_285_714, 1, None), (3_857_142, 2, None)]);
}

/// A source that always has more keeps the link busy: 10 s at 8 Mbit/s, 10 s at 4, 10 s at 16 carry 35 MB, but for headers
/// (28 of 1000 B), the delay, and what is under way. Changes to the same rate change nothing.
#[test]
fn a_link_carries_its_rate_over_time() {
    let change =
        |seconds: u64, mbps| RateChange { at: Time(seconds * 1_000_000_000), rate: Rate::from_mbps(mbps) };
    let mut wire = link((0, 1), 8, us(1000), 50);
    wire.rate_changes = vec![change(10, 4), change(20, 16)];
    let mut spec = cable(30, &[wire]);
    flow(&mut spec, "f", 0, 1, saturating(972));
    let result = run(&spec, 1);
    let bytes = result.flows[0].delivered_bytes as f64 / 0.972;
    assert!((bytes / 35e6 - 1.0).abs() < 2e-4, "{bytes}");
    spec.links[0].rate_changes = vec![change(10, 8), change(20, 8)];
    let same = run(&spec, 1);
    spec.links[0].rate_changes.clear();
    let none = run(&spec, 1);
    assert_eq!((same.flows, same.ends, same.queues), (none.flows, none.ends, none.queues));
}

/// Both directions at once, each with its own queue.
#[test]
fn a_wired_link_is_full_duplex() {
    let mut world = make(&cable(1, &[link((0, 1), 10, us(5000), 50)]), 1);
    world.inject(packet(0, 1, 1500, 0), Time(1_000_000)).unwrap();
    world.inject(packet(1, 0, 1500, 1), Time(1_000_000)).unwrap();
    let mut ends = ends(&mut world);
    ends.sort_unstable();
    assert_eq!(ends, [(7_200_000, 0, None), (7_200_000, 1, None)]);
}

/// Ten packets arrive at w1 every 1.2 ms; each takes 12 ms onwards. The first is sent at once (2.2 ms), five wait; when it has left (14.2
/// ms), all ten have arrived: four were dropped on arrival, the packets 6..9.
#[test]
fn a_full_wired_queue_drops_what_comes() {
    let mut world = make(&cable(1, &[link((0, 1), 10, us(0), 50), link((1, 2), 1, us(0), 5)]), 1);
    world.start_trace();
    inject(&mut world, 0, 2, 10);
    let (mut dropped, mut delivered) = (vec![], vec![]);
    for (at, tag, reason) in ends(&mut world) {
        match reason {
            Some(reason) => dropped.push((at, tag, reason)),
            None => delivered.push((at, tag)),
        }
    }
    let expected: Vec<_> = (0..6).map(|i| (2_200_000 + 12_000_000 * (i + 1), i)).collect();
    assert_eq!(delivered, expected);
    let full = "queue-full";
    assert_eq!(
        dropped,
        [(9_400_000, 6, full), (10_600_000, 7, full), (11_800_000, 8, full), (13_000_000, 9, full)]
    );
    let dropped = |r: &&(Time, Record)| matches!(r.1, Record::Dropped { node: NodeIx(1), flow: None, .. });
    assert_eq!(world.take_trace().iter().filter(dropped).count(), 4);
}

/// A loss probability of 0.2 over 20000 packets: 4000 lost, standard error sqrt(20000 x 0.2 x 0.8) = 56.6.
#[test]
fn a_wired_link_loses_what_it_is_told() {
    let mut wire = link((0, 1), 100, us(1000), 50);
    wire.loss = 0.2;
    let mut spec = cable(200, &[wire]);
    let traffic = Traffic::ConstantRate { rate: Rate(800_000), packet: Bytes(1000), gap_jitter: 0.0 };
    flow(&mut spec, "f", 0, 1, traffic);
    for seed in 1..=3 {
        let result = run(&spec, seed);
        assert_eq!(result.ends.made, 20_000);
        let lost = result.ends.dropped["wire-loss"];
        assert!(lost.abs_diff(4000) <= 283, "{lost}");
        assert_eq!(result.ends.delivered + lost + result.ends.on_wire, 20_000);
    }
}

/// Every seventh of 20 packets, counted separately in each direction; packets without payload do not count.
#[test]
fn a_wired_link_loses_every_seventh_packet() {
    let mut wire = link((0, 1), 100, us(1000), 50);
    wire.loss_every = 7;
    let mut spec = cable(2, &[wire]);
    let traffic = Traffic::ConstantRate { rate: Rate(80_000), packet: Bytes(1000), gap_jitter: 0.0 };
    flow(&mut spec, "there", 0, 1, traffic.clone());
    flow(&mut spec, "back", 1, 0, traffic);
    let mut world = make(&spec, 1);
    world.start_trace();
    world.advance(world.end());
    let lost: Vec<_> = world
        .take_trace()
        .into_iter()
        .filter_map(|(_, record)| match record {
            Record::Dropped { flow: Some(flow), sequence, reason: "wire-loss", .. } => {
                Some((flow.0, sequence))
            }
            _ => None,
        })
        .collect();
    assert_eq!(lost.len(), 4, "{lost:?}");
    for flow in 0..2 {
        let numbers: Vec<_> = lost.iter().filter(|l| l.0 == flow).map(|l| l.1).collect();
        assert_eq!(numbers[1] - numbers[0], 7, "{lost:?}");
    }
}

/// Mean waiting time on a link of 1 Mbit/s with Poisson arrivals of mean 1000 B, load 0.5: service S = 8 ms.
/// M/M/1: rho S / (1 - rho) = 8 ms (sizes are rounded up to a byte: 8.012 ms); M/D/1: half of 8 ms.
///
/// 200000 packets: the standard error of the M/M/1 mean is 5.4 / sqrt(200000) = 1.2 %.
#[test]
fn queues_on_a_wired_link_wait_as_theory_says() {
    for (exponential_sizes, service_ms, waiting_ms) in [(true, 8.004, 8.012), (false, 8.0, 4.0)] {
        let mut spec = cable(3200, &[link((0, 1), 1, us(0), 100_000)]);
        spec.headers = HeaderSpec { udp: 0, tcp: None, ip: 0, llc: 0, mac: 0, wired: 0 };
        let traffic = Traffic::Poisson { rate: Rate(500_000), packet: Bytes(1000), exponential_sizes };
        flow(&mut spec, "f", 0, 1, traffic);
        let result = run(&spec, 7);
        assert!(result.ends.made.abs_diff(200_000) < 2300, "five standard errors: {}", result.ends.made);
        let waiting = result.flows[0].mean_delay_s().unwrap() * 1e3 - service_ms;
        assert!((waiting / waiting_ms - 1.0).abs() < 0.05, "{exponential_sizes} {waiting}");
    }
}

/// A wireless hop of 300 m, then a cable: DATA 1000000..2310000, + 1001, 1500 B at 100 Mbit/s 120000, delay 1000000.
#[test]
fn from_the_air_to_the_wire() {
    let mut spec = world(dot11b(400.0, 550.0), 1);
    node(&mut spec, "a", 0.0, 0.0);
    node(&mut spec, "gate", 300.0, 0.0);
    wired(&mut spec, "server");
    spec.links.push(link((1, 2), 100, us(1000), 50));
    let mut world = make(&spec, 1);
    inject(&mut world, 0, 2, 1);
    assert_eq!(ends(&mut world), [(3_431_001, 0, None)]);
    // And back: 1000000 + 120000 + 1000000 at the gate, 1310000 on the air, 1001 on the way.
    let mut world = make(&spec, 1);
    inject(&mut world, 2, 0, 1);
    assert_eq!(ends(&mut world), [(3_431_001, 0, None)]);
}

/// The hops of a flow that delivers nothing are those of its static route, before its start too; without a route there are none.
#[test]
fn a_flow_that_delivers_nothing_has_the_hops_of_its_route() {
    let cut = LinkSpec { loss: 1.0, ..link((1, 2), 10, us(10), 50) };
    let mut spec = cable(1, &[link((0, 1), 10, us(10), 50), cut, link((2, 3), 10, us(10), 50)]);
    wired(&mut spec, "alone");
    for (id, to) in [("far", 3), ("near", 1), ("nowhere", 4)] {
        let rate = Rate(100_000);
        flow(&mut spec, id, 0, to, Traffic::ConstantRate { rate, packet: Bytes(500), gap_jitter: 0.0 });
    }
    let hops = |result: &RunResult| -> Vec<(u64, Option<u16>)> {
        result.flows.iter().map(|f| (f.delivered_packets.min(1), f.hops)).collect()
    };
    assert_eq!(hops(&make(&spec, 1).result()), [(0, Some(3)), (0, Some(1)), (0, None)]);
    assert_eq!(hops(&run(&spec, 1)), [(0, Some(3)), (1, Some(1)), (0, None)]);
}

/// Three nodes; `a` and `c` hear each other at `dbm` in noise of -95 dBm, both hear `b` well.
pub(crate) fn short_cut(dbm: f64) -> WorldSpec {
    let gains = [both(0, 1, -60.0), both(1, 2, -60.0), both(0, 2, dbm)].concat();
    let mut spec = matrix_world(5, &["a", "b", "c"], &gains);
    spec.radios[0].phy.preamble_detect = Dbm(-100.0);
    spec.radios[0].phy.energy_detect = Dbm(-100.0);
    spec.radios[0].phy.noise = Dbm(-95.0);
    spec.radios[0].phy.lock_sinr = Db(0.0);
    spec.radios[0].phy.error_model = ErrorModel::WorstSinr;
    flow(&mut spec, "f", 0, 2, saturating(1472));
    spec
}

/// Fewest hops takes the direct link that loses about half of the frames; ETX goes round: 1 / (df dr) is at least 1 / 0.6^2
/// = 2.8, two good links cost 2. The received power is the first one, in steps of 0.1 dB, at which the ratio is above 0.3.
#[test]
fn etx_avoids_a_lossy_short_cut() {
    let ratio =
        |dbm: f64| make(&short_cut(dbm), 1).air().reach().delivery_ratio(StationIx(0), StationIx(2), 1500);
    let dbm = (0..200).map(|i| -95.0 + f64::from(i) / 10.0).find(|&dbm| ratio(dbm) > 0.3).unwrap();
    let ratio = ratio(dbm);
    assert!(ratio < 0.6, "{ratio}");
    let mut spec = short_cut(dbm);
    let direct = run(&spec, 1);
    assert_eq!(direct.flows[0].hops, Some(1));
    spec.routing = RoutingSpec::Static(Metric::Etx);
    let round = run(&spec, 1);
    assert_eq!(round.flows[0].hops, Some(2));
    assert!(round.flows[0].goodput_bps > direct.flows[0].goodput_bps);
    // Random losses are losses by noise: no other station was transmitting.
    let lost = direct.stations[2].counters.lost;
    let interference = lost[7];
    assert!(lost[8] > 100 && interference == 0, "{lost:?}");
    // The share that gets through is the ratio that the route was chosen by: 4 standard errors of about 1500 frames.
    let (sent, received) = (direct.stations[0].counters.sent[2], direct.stations[2].counters.received[2]);
    assert!((received as f64 / sent as f64 - ratio).abs() < 0.055, "{received} {sent} {ratio}");
}

/// One channel: the two hops take turns. Two channels: the relay receives on one and sends on the other.
#[test]
fn a_relay_with_two_radios_does_not_disturb_itself() {
    let mut spec = chain(dot11b(250.0, 550.0), 2, 200.0, saturating(1472), 5);
    let shared = run(&spec, 1).flows[0].goodput_bps;
    let mut second = spec.radios[0].clone();
    second.name = "second".into();
    second.channel = 6;
    spec.radios.push(second);
    spec.nodes[1].radios = vec![0, 1];
    spec.nodes[2].radios = vec![1];
    let result = run(&spec, 1);
    let split = result.flows[0].goodput_bps;
    let single = run(&chain(dot11b(250.0, 550.0), 1, 200.0, saturating(1472), 5), 1).flows[0].goodput_bps;
    assert!(split > 0.97 * single && split < 1.01 * single, "{split} {single}");
    assert!(shared < 0.55 * single, "{shared} {single}");
    let radios: Vec<_> = result.stations.iter().map(|s| (s.node.as_str(), s.radio.as_str())).collect();
    assert_eq!(radios, [("0", "default"), ("1", "default"), ("1", "second"), ("2", "second")]);
    // The second channel never hears the first.
    assert_eq!(result.stations[3].counters.received[2], result.flows[0].delivered_packets);
}

/// Of several interfaces the one with the fewest hops is used: the cable is direct, the radio path has three hops.
#[test]
fn the_shorter_interface_is_used() {
    let mut spec = chain(dot11b(250.0, 550.0), 3, 200.0, saturating(1472), 1);
    spec.links.push(link((0, 3), 10, us(0), 50));
    let result = run(&spec, 1);
    assert_eq!((result.flows[0].hops, result.transmissions), (Some(1), 0));
    // 1500 B in 1.2 ms: the last of 833 packets is under way at the end.
    assert_eq!((result.ends.delivered, result.ends.on_wire), (833, 1));
}

#[test]
fn no_route_is_said_and_counted() {
    let mut spec = chain(dot11b(250.0, 550.0), 1, 2000.0, saturating(1472), 1);
    let cbr = Traffic::ConstantRate { rate: Rate(80_000), packet: Bytes(1000), gap_jitter: 0.0 };
    flow(&mut spec, "g", 0, 1, cbr);
    let result = run(&spec, 1);
    assert_eq!(result.warnings.len(), 2);
    // One packet of the saturating source says it once, the other one's ten are dropped one by one.
    assert_eq!(result.ends.dropped["no-route"], 11);
    assert_eq!(result.ends.made, 11);
}

/// Time to live [RFC 791 section 3.2]: each router takes one away, and drops what has none left. So a packet with a TTL of n reaches a
/// host n hops away and no further; over the air, by wires with a timetable and by wires without.
#[test]
fn a_packet_lives_for_as_many_hops_as_its_source_says() {
    let cbr = Traffic::ConstantRate { rate: Rate(80_000), packet: Bytes(1000), gap_jitter: 0.0 };
    let wires = |slow: bool| {
        let links = [0, 1, 2].map(|i| {
            let mut link = link((i, i + 1), 10, us(0), 50);
            if slow {
                link.rate_changes.push(RateChange { at: Time(500_000_000), rate: Rate::from_mbps(20) });
            }
            link
        });
        let mut spec = cable(1, &links);
        flow(&mut spec, "f", 0, 3, cbr.clone());
        spec
    };
    let mut segments = wires(false);
    segments.flows[0].transport = tcp(TcpConfig::default());
    for (mut spec, from) in [
        (wires(false), "w0"),
        (wires(true), "w0"),
        (segments, "w0"),
        (chain(dot11b(250.0, 550.0), 3, 200.0, cbr, 1), "0"),
    ] {
        spec.hop_limit = 3;
        let arrives = run(&spec, 1);
        assert_eq!((arrives.flows[0].hops, arrives.ends.dropped.get("hop-limit")), (Some(3), None));
        assert_eq!(arrives.warnings, [""; 0]);
        spec.hop_limit = 2;
        let ends = run(&spec, 1);
        assert_eq!((ends.flows[0].delivered_packets, ends.ends.delivered), (0, 0));
        assert!(ends.ends.made > 0 && ends.ends.dropped["hop-limit"] == ends.ends.made, "{:?}", ends.ends);
        let to = from.replace('0', "3");
        let warning = format!(
            "flow f: no packet is delivered: the route from {from} to {to} has 3 hops, and the hop limit is 2; expected a greater \
             routing.hop_limit"
        );
        for warnings in [make(&spec, 1).result().warnings, ends.warnings] {
            assert_eq!(warnings, [warning.as_str()]);
        }
    }
}

#[test]
fn packets_from_outside() {
    let mut spec = chain(dot11b(400.0, 550.0), 1, 300.0, saturating(1000), 1);
    spec.flows.clear();
    let mut world = make(&spec, 1);
    assert!(world.inject(packet(0, 2, 100, 0), Time::ZERO).is_err(), "no such node");
    world.advance(Time(5_000_000));
    assert!(world.inject(packet(0, 1, 100, 0), Time(4_999_999)).is_err(), "that has passed");
    world.inject(packet(0, 1, 1500, 7), Time(5_000_000)).unwrap();
    world.inject(packet(1, 1, 1500, 8), Time(5_000_000)).unwrap();
    assert!(world.drain_outputs().is_empty(), "nothing has happened yet");
    assert_eq!(world.next_deadline(), Some(Time(5_000_000)));
    let out = ends(&mut world);
    // To itself at once; over the air 1310000 + 1001 later.
    assert_eq!(out, [(5_000_000, 8, None), (6_311_001, 7, None)]);
    assert!(world.drain_outputs().is_empty(), "told once");
    assert_eq!(world.now(), Time(1_000_000_000));
}

/// Packets from outside are in the queues, but no flow made them: the places still add up.
#[test]
fn packets_from_outside_do_not_upset_the_count() {
    let mut world = make(&cable(1, &[link((0, 1), 1, us(0), 5)]), 1);
    inject(&mut world, 0, 1, 10);
    world.advance(Time(2_000_000));
    let ends = world.result().ends;
    let inside = ends.inside();
    assert_eq!(ends.made, ends.delivered + ends.dropped.values().sum::<u64>() + inside, "{ends:?}");
}

/// 1000 Gbit/s and ten hours: 230 packets a microsecond, none of which arrives. With 450 bytes for each, 10 MB are enough for 22,222.
#[test]
fn packets_on_wires_need_memory() {
    let mut spec = cable(1, &[link((0, 1), 1_000_000, Span::from_secs(36_000), 50)]);
    flow(&mut spec, "f", 0, 1, saturating(512));
    spec.memory_limit = Bytes(10_000_000);
    let mut seen = Vec::new();
    for step in [Span::from_secs(1), Span::from_micros(7)] {
        let mut world = make(&spec, 1);
        while world.now() < world.end() {
            world.advance(world.now().saturating_add(step));
        }
        let problem = world.memory_full().unwrap();
        let (made, limit) = (world.result().flows[0].sent_packets, "10 MB (memory_limit)");
        // The world looks after every 4096 events, of which each makes a packet at most.
        assert!((22_223..=26_400).contains(&made), "{made}");
        assert!(problem.contains(limit) && problem.contains(" of them from w0 to w1"), "{problem}");
        seen.push((made, problem));
    }
    assert_eq!(seen[0], seen[1], "steps decide nothing");
    // Packets that arrive make room: 4096 at a time, 125 ms on the way.
    let mut spec = cable(1, &[link((0, 1), 100, Span::from_millis(125), 50)]);
    flow(&mut spec, "f", 0, 1, saturating(512));
    (spec.memory_limit, spec.duration) = (Bytes(10_000_000), Span::from_secs(2));
    let mut world = make(&spec, 1);
    drive::to_end(&mut world);
    let sent = world.result().flows[0].sent_packets;
    assert!(sent > 40_000 && world.memory_full().is_none(), "{sent}");
    spec = cable(1, &[link((0, 1), 1_000_000, Span::from_secs(36_000), 50)]);
    flow(&mut spec, "f", 0, 1, saturating(512));
    spec.memory_limit = Bytes(4_000_000_000);
    spec.duration = Span::from_micros(500);
    let mut world = make(&spec, 1);
    drive::to_end(&mut world);
    assert!(world.result().flows[0].sent_packets > 100_000);
    assert_eq!(world.memory_full(), None);
}

/// A source whose gaps are all 0 makes packets without end at one moment, which no scenario may ask for: the caller has the loop back. What
/// a run does is the same in parts of a few thousand events as at once.
#[test]
fn a_moment_without_end_gives_the_loop_back() {
    let mut radio = dot11b(250.0, 550.0);
    radio.mac.backpressure = false;
    let mut spec = world(radio, 5);
    let (a, b) = (node(&mut spec, "a", 0.0, 0.0), node(&mut spec, "b", 200.0, 0.0));
    let traffic = Traffic::Poisson { rate: Rate(u64::MAX), packet: Bytes(1), exponential_sizes: false };
    flow(&mut spec, "f", a, b, traffic);
    let mut world = make(&spec, 1);
    let end = world.end();
    for part in 1..4 {
        assert!(!world.advance_part(end, 10_000));
        assert_eq!(world.now(), Time::ZERO);
        assert!(world.events() >= part * 10_000, "{}", world.events());
    }
    spec.flows[0].traffic =
        Traffic::Poisson { rate: Rate(10_000_000), packet: Bytes(100), exponential_sizes: true };
    let results = [u64::MAX, 5_000, 1].map(|most| {
        let mut world = make(&spec, 1);
        let mut parts = 0;
        while !world.advance_part(end, most) {
            parts += 1;
        }
        assert_eq!(world.now(), end);
        assert_eq!(parts > 3, most != u64::MAX, "{most}: {parts}");
        world.result()
    });
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}
