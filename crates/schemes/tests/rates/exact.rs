//! EXACT: its parts by hand.

use airfair_schemes::ParamValue::{self, Choice, Number};
use airfair_schemes::exact::header::{STAMP, current_rate, explicit_rate, sequence};
use airfair_schemes::exact::{Bandwidths, Demand, Share, level};
use airfair_schemes::places::{
    Backlog, Finished, FlowId, Header, Hop, Interface, Medium, NodeId, PacketClass, Passage,
};
use airfair_schemes::{Params, Scheme, find};
use airfair_units::{Rate, Span, Time};
use airfair_wire::exact::Feedback;

use super::{Flow, at, hop_start};

fn scheme(set: &[(&str, ParamValue)]) -> Box<dyn Scheme> {
    let params = Params(set.iter().map(|&(name, value)| (name.to_string(), value)).collect());
    (find("exact").unwrap().build)(&params).unwrap()
}

const fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

/// 8 Mbit/s: a byte takes a microsecond.
fn radio() -> Interface {
    Interface { rate: Rate::from_mbps(8), ..Interface::radio(50) }
}

fn router(set: &[(&str, ParamValue)], interface: &Interface) -> Box<dyn Hop> {
    let mut hop = scheme(set).hop(interface).unwrap();
    hop_start(&mut *hop);
    hop
}

const NEAR: NodeId = NodeId(7);
const FAR: NodeId = NodeId(8);

/// The rate that a packet of 1000 B of a flow is told, bytes/s; its source states `current`.
fn told(hop: &mut dyn Hop, flow: u32, to: NodeId, current: u32, now: Time) -> u32 {
    let mut header = Header { fields: [u32::MAX, current, 0, 0], ..Header::default() };
    let passage = Passage {
        bytes: 1000,
        flow: FlowId(flow),
        next_hop: to,
        class: PacketClass::Data,
        backlog: Backlog::default(),
    };
    hop.on_arrival(&passage, Some(&mut header), now);
    explicit_rate(&header)
}

/// A packet of 1000 B was sent, `access` after it was the first.
fn finish(hop: &mut dyn Hop, flow: u32, to: NodeId, access: Span, class: PacketClass, now: Time) {
    let finished = Finished {
        bytes: 1000,
        flow: FlowId(flow),
        next_hop: to,
        class,
        acknowledged: true,
        waited: Span::ZERO,
        access,
    };
    hop.on_finished(&finished, now);
}

/// A packet of 1000 B takes 1 ms on the link. The time beyond its bits is averaged, so that a packet of another size has its own bandwidth.
#[test]
fn the_bandwidth_of_a_neighbour() {
    let mut all = Bandwidths::new(Rate::from_mbps(8));
    assert_eq!(all.to(NEAR, 1000, at(0)), 1e6, "the link's rate");
    all.on_success(NEAR, 1000, ms(5), at(0));
    assert_eq!(all.to(NEAR, 1000, at(0)), 200_000.0);
    assert_eq!(all.to(NEAR, 4000, at(0)), 500_000.0, "4 ms and 4 ms beyond");
    // A tenth of a new one: 4 ms and a tenth of 10 ms.
    all.on_success(NEAR, 1000, ms(15), at(1));
    assert!((all.to(NEAR, 1000, at(1)) - 1000.0 / 0.006).abs() < 1.0);
    // 10 s without a success: as clean air, in which packets took 4 ms beyond their bits at least.
    assert_eq!(all.to(NEAR, 1000, at(10_001)), 200_000.0);
    assert_eq!(all.to(FAR, 1000, at(10_001)), 200_000.0);
    // After that the first counts whole again.
    all.on_success(NEAR, 1000, ms(3), at(20_000));
    assert!((all.to(NEAR, 1000, at(20_000)) - 1000.0 / 0.003).abs() < 1.0);
}

/// The time of packets that were given up counts with the next success, once; without a success the average stays.
#[test]
fn packets_that_are_given_up_cost_their_time() {
    let mut all = Bandwidths::new(Rate::from_mbps(8));
    all.on_given_up(NEAR, ms(30));
    assert_eq!(all.to(NEAR, 1000, at(0)), 1e6);
    all.on_success(NEAR, 1000, ms(5), at(1));
    assert!((all.to(NEAR, 1000, at(1)) - 1000.0 / 0.035).abs() < 1.0);
    all.on_given_up(NEAR, ms(40));
    all.on_given_up(NEAR, ms(40));
    // 34 ms and a tenth of 84 - 34.
    all.on_success(NEAR, 1000, ms(5), at(2));
    assert!((all.to(NEAR, 1000, at(2)) - 1000.0 / 0.040).abs() < 1.0);
}

/// Sixteen packets bring the bandwidth to a neighbour four fifths of the way to a new one.
#[test]
fn sixteen_packets_follow_a_change() {
    let mut all = Bandwidths::new(Rate::from_mbps(8));
    (0..100).for_each(|_| all.on_success(NEAR, 1000, ms(5), at(1)));
    (0..16).for_each(|_| all.on_success(NEAR, 1000, ms(55), at(2)));
    let beyond = 1e6 / all.to(NEAR, 1000, at(2)) - 1.0;
    assert!((44.0..45.0).contains(&beyond), "{beyond} of 4 to 54 ms");
}

/// However many neighbours there are, 64 are stored; the one that was used longest ago gives way.
#[test]
fn the_table_of_neighbours_is_bounded() {
    let mut all = Bandwidths::new(Rate::from_mbps(8));
    for node in 0..65 {
        all.on_success(NodeId(node), 1000, ms(5), at(u64::from(node)));
    }
    // The first has gone: it counts as clean air, which took 1 ms less.
    all.on_success(NodeId(100), 1000, ms(4), at(65));
    assert_eq!(all.to(NodeId(0), 1000, at(65)), 250_000.0, "forgotten");
    assert_eq!(all.to(NodeId(1), 1000, at(65)), 250_000.0, "forgotten for the last one");
    assert_eq!(all.to(NodeId(2), 1000, at(65)), 200_000.0);
    assert_eq!(all.to(NodeId(64), 1000, at(65)), 200_000.0);
}

/// Two flows that want all, over links of 1.0 and 0.1 MB/s: equal parts of the time are half of each bandwidth; equal rates take as much
/// time together: r (1 + 10) = 1 MB/s.
#[test]
fn two_readings_of_the_division() {
    let all = |bandwidth: f64| Demand { rate: 1e9, bandwidth };
    assert_eq!(level(Share::Time, 1.0, 1e6, &[all(1e5)]), 5e5);
    assert_eq!(level(Share::Time, 1.0, 1e5, &[all(1e6)]), 5e4);
    let equal = 1e6 / 11.0;
    assert!((level(Share::Rate, 1.0, 1e6, &[all(1e5)]) - equal).abs() < 1e-6);
    assert!((level(Share::Rate, 1.0, 1e5, &[all(1e6)]) - equal).abs() < 1e-6);
    // Of half of the time half.
    assert_eq!(level(Share::Time, 0.5, 1e6, &[all(1e5)]), 2.5e5);
    assert_eq!(level(Share::Time, 1.0, 1e6, &[]), 1e6);
}

/// Others leave what they do not want: parts of the time 0.1 and 0.3 of three; by rates 0.1 and 0.3 MB/s.
#[test]
fn others_take_no_more_than_they_want() {
    let others = |rates: [f64; 2]| rates.map(|rate| Demand { rate, bandwidth: 1e6 });
    for share in [Share::Time, Share::Rate] {
        let level = |rates| level(share, 1.0, 1e6, &others(rates));
        assert!((level([1e5, 3e5]) - 6e5).abs() < 1e-6, "{share:?}");
        assert!((level([1e5, 9e5]) - 4.5e5).abs() < 1e-6);
        assert!((level([9e5, 1e5]) - 4.5e5).abs() < 1e-6, "in any order");
        assert!((level([1.0 / 3.0 * 1e6, 1e6]) - 1e6 / 3.0).abs() < 1e-3);
    }
}

/// A lone flow is told the bandwidth, two that send as told half of it each; one that sends less leaves the rest, with a tenth to grow.
#[test]
fn a_router_divides_its_time() {
    let mut hop = router(&[], &radio());
    assert_eq!(told(&mut *hop, 1, NEAR, 1000, at(0)), 1_000_000);
    finish(&mut *hop, 1, NEAR, ms(2), PacketClass::Data, at(2));
    assert_eq!(told(&mut *hop, 1, NEAR, 1_000_000, at(150)), 500_000, "a new measurement after 100 ms");
    assert_eq!(told(&mut *hop, 2, NEAR, 1000, at(151)), 250_000, "a new flow at once");
    assert_eq!(told(&mut *hop, 1, NEAR, 500_000, at(152)), 500_000 - 1100, "while the other sends little");
    assert_eq!(told(&mut *hop, 2, NEAR, 250_000, at(260)), 250_000);
    assert_eq!(told(&mut *hop, 1, NEAR, 250_000, at(260)), 250_000, "275 kB/s is more than half");
    assert_eq!(hop.stated_rate(FlowId(2)), Some(Rate(2_000_000)));
    assert_eq!(hop.stated_rate(FlowId(3)), None);
    // What it would stamp, whatever the size of packets: a flow has been told it with its last packet.
    assert_eq!(hop.stamped_rate(FlowId(2), 1000), Some(Rate(2_000_000)));
    assert_eq!(hop.stamped_rate(FlowId(3), 1000), None);
    // Flow 2 stops: after a second it counts no more.
    assert_eq!(told(&mut *hop, 1, NEAR, 250_000, at(1260)), 250_000, "1000 ms");
    assert_eq!(told(&mut *hop, 1, NEAR, 250_000, at(1361)), 500_000);
}

/// A flow with a packet each 600 ms lives for five of its intervals.
#[test]
fn slow_flows_live_longer() {
    let mut hop = router(&[], &radio());
    for n in 0..3 {
        told(&mut *hop, 1, NEAR, 2_000_000, at(600 * n));
    }
    let fast = |hop: &mut dyn Hop, now: u64| told(hop, 2, NEAR, 1_000_000, at(now));
    assert_eq!(fast(&mut *hop, 1300), 500_000);
    assert_eq!(fast(&mut *hop, 4200), 500_000, "3000 ms after its last packet");
    assert_eq!(fast(&mut *hop, 4301), 1_000_000);
}

/// A flow that has moved to another next hop has the bandwidth to that from its next packet on.
#[test]
fn a_new_next_hop_counts_at_once() {
    let mut hop = router(&[], &radio());
    finish(&mut *hop, 9, FAR, ms(10), PacketClass::Data, at(1));
    assert_eq!(told(&mut *hop, 1, FAR, 1000, at(2)), 100_000);
    finish(&mut *hop, 9, NEAR, ms(2), PacketClass::Data, at(3));
    assert_eq!(told(&mut *hop, 1, NEAR, 1000, at(4)), 500_000);
}

/// To a neighbour of a tenth of the bandwidth: half of that by time, as much as the other by rate.
#[test]
fn a_router_divides_time_or_rates() {
    for (share, near, far) in [("time", 500_000, 50_000), ("rate", 90_909, 90_909)] {
        let mut hop = router(&[("share", Choice(share))], &radio());
        finish(&mut *hop, 1, NEAR, ms(1), PacketClass::Data, at(0));
        finish(&mut *hop, 2, FAR, ms(10), PacketClass::Data, at(0));
        told(&mut *hop, 1, NEAR, near, at(1));
        assert_eq!(told(&mut *hop, 2, FAR, far, at(2)), far, "{share}");
        assert_eq!(told(&mut *hop, 1, NEAR, near, at(3)), near, "{share}");
    }
}

/// A wire has its rate, whatever is measured, and the new one when that changes. Packets that are no data are not stamped.
#[test]
fn wires_have_their_rate() {
    let wire = Interface { medium: Medium::Wire, ..radio() };
    let mut hop = router(&[], &wire);
    finish(&mut *hop, 1, NEAR, ms(9), PacketClass::Data, at(0));
    assert_eq!(told(&mut *hop, 1, NEAR, 1000, at(1)), 1_000_000);
    hop.on_rate(Rate::from_mbps(4));
    assert_eq!(told(&mut *hop, 1, NEAR, 1000, at(2)), 500_000);
    let mut header = Header { fields: [9_000_000, 0, 0, 0], ..Header::default() };
    let passage = Passage {
        bytes: 1000,
        flow: FlowId(1),
        next_hop: NEAR,
        class: PacketClass::Ack,
        backlog: Backlog::default(),
    };
    hop.on_arrival(&passage, Some(&mut header), at(3));
    assert_eq!(explicit_rate(&header), 9_000_000);
}

/// However many flows pass, 256 are stored.
#[test]
fn the_table_of_flows_is_bounded() {
    let mut hop = router(&[], &radio());
    for flow in 0..1000 {
        assert!(told(&mut *hop, flow, NEAR, 1000, Time(u64::from(flow))) > 0);
    }
    assert_eq!(hop.gauges()[0], ("flows", 256.0));
    assert_eq!(hop.stated_rate(FlowId(743)), None, "the oldest gave way");
    assert!(hop.stated_rate(FlowId(744)).is_some());
    assert!(hop.stamped_rate(FlowId(999), 1000).is_some());
    hop.on_rate(Rate(1));
    assert_eq!(hop.stamped_rate(FlowId(999), 1000), None, "to be computed anew");
}

/// The smallest rate of the path stays.
#[test]
fn the_slowest_node_counts() {
    let mut hop = router(&[], &radio());
    let mut header = Header { fields: [300_000, 1000, 0, 0], ..Header::default() };
    let passage = Passage {
        bytes: 1000,
        flow: FlowId(1),
        next_hop: NEAR,
        class: PacketClass::Data,
        backlog: Backlog::default(),
    };
    hop.on_arrival(&passage, Some(&mut header), at(1));
    assert_eq!(explicit_rate(&header), 300_000);
}

fn feedback(explicit_rate: u32, sequence: u32) -> Vec<u8> {
    let mut bytes = vec![0; 12];
    Feedback { explicit_rate, sequence }.encode(&mut bytes).unwrap();
    bytes
}

/// One packet, then a second one after a second; the rate of a report at once, whatever it was.
#[test]
fn a_source_follows_at_once() {
    let mut flow = Flow::new(&*scheme(&[]), Some(Rate::from_mbps(8)), 1, at(0));
    let header = flow.leave(at(0));
    assert_eq!((explicit_rate(&header), current_rate(&header), sequence(&header)), (1_000_000, 1000, 0));
    assert_eq!(STAMP.wire_len, 16);
    assert_eq!(flow.due(at(0)), at(1000));
    flow.report(&feedback(500_000, 0), at(20));
    assert_eq!(flow.packets_per_second(at(20)), 500.0);
    flow.leave(at(20));
    flow.report(&feedback(20_000, 1), at(40));
    assert_eq!(flow.packets_per_second(at(40)), 20.0);
    let header = flow.leave(at(40));
    assert_eq!((current_rate(&header), sequence(&header)), (20_000, 2));
    flow.report(&feedback(900_000, 2), at(60));
    flow.report(&feedback(100, 1), at(61));
    assert_eq!(flow.packets_per_second(at(61)), 900.0, "an old report");
    // Of a packet that has not left; no report.
    for wrong in [feedback(100, 3), feedback(100, 1 << 31), vec![], vec![0x12; 5]] {
        flow.report(&wrong, at(62));
        assert_eq!(flow.packets_per_second(at(62)), 900.0);
    }
    // None above the link's rate, none below a packet a second.
    flow.leave(at(62));
    flow.report(&feedback(u32::MAX, 3), at(70));
    assert_eq!(flow.packets_per_second(at(70)), 1000.0);
    flow.leave(at(70));
    flow.report(&feedback(0, 4), at(80));
    assert_eq!(flow.packets_per_second(at(80)), 1.0);
}

/// The report of a later packet tells nothing of the round-trip time of one that was lost.
#[test]
fn an_outage_does_not_widen_the_safety_window() {
    let mut flow = Flow::new(&*scheme(&[]), Some(Rate::from_mbps(8)), 1, at(0));
    let mut now = 0;
    let answered = |flow: &mut Flow, now: u64| {
        let header = flow.leave(at(now));
        flow.report(&feedback(500_000, sequence(&header)), at(now + 20));
    };
    for _ in 0..20 {
        answered(&mut flow, now);
        now += 30;
    }
    // A packet is lost, and nothing is heard for 30 s; then all is as before.
    flow.leave(at(now));
    now += 30_000;
    for _ in 0..20 {
        answered(&mut flow, now);
        now += 30;
    }
    let mut sent = 0;
    while flow.packets_per_second(at(now)) > 1.0 {
        flow.leave(at(now));
        sent += 1;
        assert!(sent < 100);
    }
    assert_eq!(sent, 24);
}

/// A forged number in the header of data does not stop a flow: the source knows what it has sent.
#[test]
fn a_forged_number_stops_nothing() {
    let mut flow = Flow::new(&*scheme(&[]), Some(Rate::from_mbps(8)), 1, at(0));
    for n in 0..100 {
        let header = flow.leave(at(10 * n));
        let forged = Header { fields: [9, 9, 1 << 30, 0], ..header };
        let [_, current, number, _] = header.fields;
        let allowed = Header { fields: [500_000, current, number, 0], ..header };
        for header in [forged, allowed] {
            for report in flow.arrive(header, at(10 * n + 1)) {
                flow.report(report.as_slice(), at(10 * n + 2));
            }
        }
        assert_eq!(flow.packets_per_second(at(10 * n + 2)), 500.0);
    }
}

/// Round trips of 20 ms at 500 packets/s: twice ten packets and four may be on their way. Then one a second, until a report comes.
#[test]
fn the_safety_window_stops_a_source_without_reports() {
    let mut flow = Flow::new(&*scheme(&[]), Some(Rate::from_mbps(8)), 1, at(0));
    flow.leave(at(0));
    flow.report(&feedback(500_000, 0), at(20));
    let mut sent = 0;
    let mut now = at(20);
    while flow.packets_per_second(now) > 1.0 {
        now += ms(2);
        flow.leave(now);
        sent += 1;
        assert!(sent < 100);
    }
    assert_eq!(sent, 24);
    let header = flow.leave(now + ms(1000));
    assert_eq!(current_rate(&header), 1000, "it states that");
    flow.report(&feedback(400_000, sequence(&header)), now + ms(1100));
    assert_eq!(flow.packets_per_second(now), 400.0);
    // A wider window.
    let mut flow = Flow::new(&*scheme(&[("safety", Number(4.0))]), None, 1, at(0));
    flow.leave(at(0));
    flow.report(&feedback(500_000, 0), at(20));
    for _ in 0..43 {
        flow.leave(at(21));
    }
    assert_eq!(flow.packets_per_second(at(21)), 500.0);
    flow.leave(at(21));
    assert_eq!(flow.packets_per_second(at(21)), 1.0);
}

/// Each packet is reported, with its own rate and number: the source knows which is the newest.
#[test]
fn a_receiver_reports_each_packet() {
    let mut flow = Flow::new(&*scheme(&[]), None, 1, at(0));
    let header = |rate: u32, sequence: u32| Header { fields: [rate, 0, sequence, 0], ..Header::default() };
    let mut read = |rate, sequence| {
        let reports = flow.arrive(header(rate, sequence), at(1));
        let (feedback, rest) = Feedback::decode(reports[0].as_slice()).unwrap();
        assert!(reports.len() == 1 && rest.is_empty());
        (feedback.explicit_rate, feedback.sequence)
    };
    assert_eq!(read(100, 0), (100, 0));
    assert_eq!(read(300, 2), (300, 2));
    assert_eq!(read(200, 1), (200, 1), "overtaken");
    assert_eq!(read(50, 1 << 30), (50, 1 << 30), "forged");
}

/// A router charges packets that were given up only where it is to.
#[test]
fn a_router_may_charge_what_was_given_up() {
    for (charges, expected) in [(false, 500_000), (true, 1_000_000 / 12)] {
        let flag = ParamValue::Flag(charges);
        let mut hop = router(&[("charges_given_up", flag)], &radio());
        let lost = Finished {
            bytes: 1000,
            flow: FlowId(1),
            next_hop: NEAR,
            class: PacketClass::Data,
            acknowledged: false,
            waited: Span::ZERO,
            access: ms(10),
        };
        hop.on_finished(&lost, at(0));
        finish(&mut *hop, 1, NEAR, ms(2), PacketClass::Data, at(1));
        assert_eq!(told(&mut *hop, 1, NEAR, 1000, at(2)), expected);
    }
}
