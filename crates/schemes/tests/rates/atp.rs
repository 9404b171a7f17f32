//! ATP: its parts by hand, and the law alone at one node (docs/schemes/atp.md has the table).

use std::collections::VecDeque;

use airfair_schemes::ParamValue::{self, Choice, Number, Span as Duration};
use airfair_schemes::atp::header::{STAMP, delay, is_probe};
use airfair_schemes::places::{
    Backlog, Capability, Finished, FlowId, Header, Hop, Interface, Medium, NodeId, PacketClass, Passage,
    ReportBytes, Wants,
};
use airfair_schemes::{Params, Scheme, find};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Rate, Span, Time};
use airfair_wire::atp::Feedback;

use super::{Flow, at, hop_start, secs};

fn scheme(set: &[(&str, ParamValue)]) -> Box<dyn Scheme> {
    let params = Params(set.iter().map(|&(name, value)| (name.to_string(), value)).collect());
    (find("atp").unwrap().build)(&params).unwrap()
}

fn node(set: &[(&str, ParamValue)], interface: &Interface) -> Box<dyn Hop> {
    let mut hop = scheme(set).hop(interface).unwrap();
    hop_start(&mut *hop);
    hop
}

fn passage(bytes: u32, backlog: u64) -> Passage {
    let backlog = Backlog { packets: (backlog / 1000) as u32, bytes: backlog };
    Passage { bytes, flow: FlowId(1), next_hop: NodeId(2), class: PacketClass::Data, backlog }
}

fn finished(waited: Span, access: Span) -> Finished {
    Finished {
        bytes: 1000,
        flow: FlowId(1),
        next_hop: NodeId(2),
        class: PacketClass::Data,
        acknowledged: true,
        waited,
        access,
    }
}

const fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

/// The delay that a node stamps on a packet, µs.
fn stamped(hop: &mut dyn Hop, probe: bool, now: Time) -> u128 {
    let mut header = Header { fields: [0, u32::from(probe), 0, 0], ..Header::default() };
    hop.on_departure(&passage(1000, 0), Some(&mut header), now);
    delay(&header).map_or(0, |delay| u128::from(delay.as_nanos() / 1000))
}

/// Averages with weight 1/4 for a new value; the sum of both is stamped.
#[test]
fn a_node_stamps_the_sum_of_its_averages() {
    let mut hop = node(&[], &Interface::radio(50));
    hop.on_finished(&finished(ms(0), ms(4)), at(10));
    assert_eq!(stamped(&mut *hop, false, at(10)), 4000);
    hop.on_finished(&finished(ms(8), ms(12)), at(20));
    assert_eq!(stamped(&mut *hop, false, at(20)), 2000 + 6000);
    hop.on_finished(&finished(ms(2), ms(2)), at(30));
    assert_eq!(stamped(&mut *hop, false, at(30)), 2000 + 5000);
    // Packets that the MAC has given up count with their time.
    hop.on_finished(&Finished { acknowledged: false, ..finished(ms(2), ms(25)) }, at(40));
    assert_eq!(stamped(&mut *hop, false, at(40)), 2000 + 10_000);
    let gauges = hop.gauges();
    assert_eq!(gauges, [("wait_s", 0.002), ("service_s", 0.01)]);
}

/// A packet in each sum of the averages: 1000 bytes in 8 ms are 1 Mbit/s. Before the first a packet takes its time at the link's rate.
#[test]
fn the_rate_that_a_node_stamps() {
    let mut hop =
        node(&[], &Interface { medium: Medium::Wire, rate: Rate(8_000_000), ..Interface::radio(50) });
    assert_eq!(hop.stamped_rate(FlowId(1), 1000), Some(Rate(8_000_000)));
    hop.on_finished(&finished(ms(2), ms(6)), at(10));
    assert_eq!(hop.stamped_rate(FlowId(1), 1000), Some(Rate(1_000_000)));
    assert_eq!(hop.stamped_rate(FlowId(7), 500), Some(Rate(500_000)));
}

/// Radios call when packets leave and when the link has finished with them; wires need neither.
#[test]
fn calls_at_radios_only() {
    let atp = scheme(&[]);
    let radio = atp.wants(&Interface::radio(50));
    assert!(radio.has(Capability::Departures) && radio.has(Capability::AccessTimes));
    assert_eq!(
        atp.wants(&Interface { medium: Medium::Wire, rate: Rate(1_000_000), ..Interface::radio(50) }),
        Wants::NONE
    );
    let exact = (find("exact").unwrap().build)(&Params::default()).unwrap();
    assert!(exact.wants(&Interface::radio(50)).has(Capability::AccessTimes));
    assert_eq!(
        exact.wants(&Interface { medium: Medium::Wire, rate: Rate(1_000_000), ..Interface::radio(50) }),
        Wants::NONE
    );
}

/// A packet without a stamp has no delay, and only a probe is one: in the bytes too.
#[test]
fn a_header_in_bytes() {
    assert_eq!(delay(&Header::default()), None);
    for probe in [false, true] {
        let header = Header { fields: [1234, u32::from(probe), 0, 0], ..Header::default() };
        assert_eq!(is_probe(&header), probe);
        let mut bytes = vec![0; STAMP.wire_len as usize];
        assert_eq!((STAMP.encode)(&header, &mut bytes), Some(STAMP.wire_len as usize));
        assert_eq!((STAMP.decode)(&bytes), Some(header));
    }
}

/// The largest delay of the path stays in the header; other packets go without.
#[test]
fn the_slowest_node_counts() {
    let mut hop = node(&[], &Interface::radio(50));
    hop.on_finished(&finished(ms(1), ms(4)), at(10));
    for (before, after) in [(3000, 5000), (7000, 7000)] {
        let mut header = Header { fields: [before, 0, 0, 0], ..Header::default() };
        hop.on_departure(&passage(1000, 0), Some(&mut header), at(10));
        assert_eq!(header.fields[0], after);
    }
    hop.on_departure(&passage(1000, 0), None, at(11));
}

/// A node without a sample has the time of the packet at the link's rate: 1000 B at 2 Mbit/s are 4 ms. Idle for a second it stamps probes
/// with three times its delay, and no other packets.
#[test]
fn an_idle_node_counts_on_contention() {
    let mut hop = node(&[], &Interface::radio(50));
    assert_eq!(stamped(&mut *hop, true, at(5)), 12_000);
    assert_eq!(stamped(&mut *hop, true, at(6)), 4000, "it has sent");
    assert_eq!(stamped(&mut *hop, true, at(1005)), 4000, "999 ms");
    assert_eq!(stamped(&mut *hop, true, at(2005)), 12_000);
    assert_eq!(stamped(&mut *hop, false, at(4000)), 4000);
    hop.on_finished(&finished(ms(1), ms(5)), at(4500));
    assert_eq!(stamped(&mut *hop, true, at(5400)), 6000, "the end of a transmission counts, too");
    let mut hop = node(&[("probe_factor", Number(1.0)), ("idle", Duration(ms(100)))], &Interface::radio(50));
    assert_eq!(stamped(&mut *hop, true, at(5)), 4000);
}

/// At a wire of 8 Mbit/s a byte takes a microsecond: what waits and the packet are known at the arrival.
#[test]
fn a_wire_is_known_in_advance() {
    let wire = Interface { medium: Medium::Wire, rate: Rate::from_mbps(8), ..Interface::radio(50) };
    let mut hop = node(&[("alpha", Number(0.0))], &wire);
    let mut header = Header { fields: [0, 1, 0, 0], ..Header::default() };
    hop.on_arrival(&passage(1000, 3000), Some(&mut header), at(1));
    assert_eq!(delay(&header), Some(ms(4)), "not three times");
    hop.on_rate(Rate::from_mbps(4));
    let mut header = Header::default();
    hop.on_arrival(&passage(1000, 0), Some(&mut header), at(2));
    assert_eq!(delay(&header), Some(ms(2)));
    hop.on_departure(&passage(1000, 0), Some(&mut header), at(3));
    assert_eq!(delay(&header), Some(ms(2)));
}

fn carrying(delay_us: u32, probe: bool) -> Header {
    Header { fields: [delay_us, u32::from(probe), 0, 0], ..Header::default() }
}

fn rate_of(report: &ReportBytes) -> u32 {
    Feedback::decode(report.as_slice()).unwrap().0.rate
}

/// The average of the delays with weight 1/4 for a new one; its inverse is reported: 10 ms are 100 packets/s.
#[test]
fn a_receiver_reports_the_inverse_of_the_average() {
    let mut flow = Flow::new(&*scheme(&[]), None, 1, at(0));
    let first = flow.arrive(carrying(10_000, true), at(5));
    assert_eq!(first.iter().map(rate_of).collect::<Vec<_>>(), [100_000], "at once");
    assert!(flow.arrive(carrying(10_000, false), at(6)).is_empty());
    assert!(flow.arrive(carrying(50_000, false), at(7)).is_empty());
    let due = flow.receiver_timers[0].1;
    assert!(due > at(5) && due <= Time(1_005_000_001), "a part of an epoch: {due}");
    let reports = flow.fire(due);
    assert_eq!(reports.iter().map(rate_of).collect::<Vec<_>>(), [50_000], "20 ms");
    assert_eq!(flow.receiver_timers[0].1, due + ms(1000), "then whole epochs");
    // No packet in an epoch: no report, and the epochs go on.
    assert!(flow.fire(due + ms(1000)).is_empty());
    assert_eq!(flow.receiver_timers[0].1, due + ms(2000));
    // A probe is reported at once.
    assert!(flow.arrive(carrying(20_000, false), at(9000)).is_empty());
    assert_eq!(flow.arrive(carrying(20_000, true), at(9001)).len(), 1);
    let mut largest = Flow::new(&*scheme(&[("collate", Choice("largest"))]), None, 1, at(0));
    largest.arrive(carrying(10_000, true), at(5));
    for delay in [40_000, 10_000, 20_000] {
        largest.arrive(carrying(delay, false), at(6));
    }
    let due = largest.receiver_timers[0].1;
    assert_eq!(largest.fire(due).iter().map(rate_of).collect::<Vec<_>>(), [25_000]);
}

fn feedback(number: u16, per_second: f64) -> Vec<u8> {
    let mut bytes = vec![0; 8];
    Feedback { number, rate: (per_second * 1000.0) as u32 }.encode(&mut bytes).unwrap();
    bytes
}

/// The three phases: a smaller rate at once, one within a tenth changes nothing, a larger one by a fifth.
#[test]
fn a_source_follows_reports() {
    let mut flow = Flow::new(&*scheme(&[]), None, 1, at(0));
    assert_eq!(flow.packets_per_second(at(0)), 1.0, "a probe an epoch");
    assert!(is_probe(&flow.leave(at(0))));
    assert_eq!(STAMP.wire_len, 8);
    let mut follow = |number: u16, rate: f64| {
        flow.report(&feedback(number, rate), at(100 * u64::from(number)));
        (flow.packets_per_second(at(0)) * 1000.0).round() / 1000.0
    };
    assert_eq!(follow(1, 100.0), 100.0, "the first at once");
    assert_eq!(follow(2, 150.0), 110.0, "a fifth of the rise");
    assert_eq!(follow(3, 120.9), 110.0, "within a tenth");
    assert_eq!(follow(4, 121.1), 112.22);
    assert_eq!(follow(5, 112.0), 112.0, "less, at once");
    assert_eq!(follow(4, 50.0), 112.0, "an old report");
    assert_eq!(follow(6, 0.0), 1.0, "a packet an epoch at least");
    assert_eq!(follow(7, 1001.0), 201.0);
    assert!(!is_probe(&flow.leave(at(800))));
    for wrong in [&[][..], &[0x12], &[0x13, 0, 0, 9, 0, 0, 0, 1]] {
        flow.report(wrong, at(900));
    }
    assert_eq!(flow.packets_per_second(at(0)), 201.0);
}

/// No rate above that of the first hop's link: 8 Mbit/s are 1000 packets/s, whatever a report says.
#[test]
fn a_forged_report_raises_no_rate_above_the_link_s() {
    let mut flow = Flow::new(&*scheme(&[]), Some(Rate::from_mbps(8)), 1, at(0));
    for number in 1..20 {
        flow.report(&feedback(number, 4_000_000.0), at(1));
        assert!(flow.packets_per_second(at(1)) <= 1000.0);
    }
    assert_eq!(flow.packets_per_second(at(1)), 1000.0);
}

/// A forged number stops a flow for four epochs at most: the source probes, and then any report counts.
#[test]
fn a_forged_number_holds_until_the_source_probes() {
    let mut flow = Flow::new(&*scheme(&[]), None, 1, at(0));
    flow.report(&feedback(1, 80.0), at(100));
    flow.report(&feedback(30_000, 80.0), at(200));
    let mut rates = vec![];
    for number in 2..9 {
        let now = at(200 + 1000 * (u64::from(number) - 1));
        flow.leave(now);
        while flow.next_timer() <= now {
            let due = flow.next_timer();
            flow.fire(due);
        }
        flow.report(&feedback(number, 90.0), now);
        rates.push(flow.packets_per_second(now));
    }
    assert_eq!(rates, [80.0, 40.0, 20.0, 90.0, 90.0, 90.0, 90.0]);
}

/// A forged delay counts as an epoch at most: the average falls again by a quarter with each packet. A probe begins it anew.
#[test]
fn a_forged_delay_is_forgotten() {
    let mut flow = Flow::new(&*scheme(&[]), None, 1, at(0));
    flow.arrive(carrying(10_000, true), at(5));
    flow.arrive(carrying(u32::MAX, false), at(6));
    for _ in 0..20 {
        flow.arrive(carrying(10_000, false), at(7));
    }
    let due = flow.receiver_timers[0].1;
    let rate = rate_of(&flow.fire(due)[0]);
    assert!(rate > 90_000, "{rate}");
    flow.arrive(carrying(900_000, false), at(2000));
    let reports = flow.arrive(carrying(50_000, true), at(2001));
    assert_eq!(reports.iter().map(rate_of).collect::<Vec<_>>(), [20_000], "the new path's alone");
}

/// Empty epochs halve the rate, the third in a row makes the source probe: 1.5, 2.5 and 3.5 s after the last report.
#[test]
fn a_source_without_reports_probes_again() {
    let mut flow = Flow::new(&*scheme(&[]), None, 1, at(0));
    flow.report(&feedback(1, 80.0), at(100));
    let mut rates = vec![];
    // An epoch in which nothing was sent shows nothing.
    for silent in [false, true, false, false, false] {
        let due = flow.next_timer();
        if !silent {
            flow.leave(Time(due.0 - 1));
        }
        flow.fire(due);
        rates.push((due.0 / 1_000_000, flow.packets_per_second(due)));
    }
    assert_eq!(rates, [(1600, 40.0), (2600, 40.0), (3600, 20.0), (4600, 1.0), (5600, 1.0)]);
    assert!(is_probe(&flow.leave(at(5600))));
    // The report of a probe is taken at once.
    flow.report(&feedback(2, 300.0), at(5700));
    assert_eq!(flow.packets_per_second(at(5700)), 300.0);
}

/// A server with a queue, and a free return path: the part of the time for which it is busy, and the coefficient of variation of the first
/// flow's rate, from 100 s on.
fn alone(flows: usize, service: &dyn Fn(&mut Stream) -> f64, seed: u64) -> (f64, f64) {
    const END: u64 = 400;
    let scheme = scheme(&[]);
    let mut hop = node(&[], &Interface { rate: Rate::from_mbps(8), ..Interface::radio(1_000_000) });
    let mut random = Stream::new(seed, "service", Purpose::Gap);
    // Flows start one after the other within an epoch.
    let starts: Vec<Time> = (0..flows).map(|i| at(1000 * i as u64 / flows as u64)).collect();
    let mut ends: Vec<Flow> =
        (0..flows).map(|i| Flow::new(&*scheme, None, seed * 100 + i as u64, starts[i])).collect();
    let mut queue: VecDeque<(usize, Header, Time)> = VecDeque::new();
    // The packet in service: flow, header, arrival, begin, end.
    let mut serving: Option<(usize, Header, Time, Time, Time)> = None;
    let (mut busy, mut rates, mut sampled) = (0.0, vec![], 100);
    let mut now;
    loop {
        let mut next = serving.map_or(Time::NEVER, |packet| packet.4);
        for (flow, &start) in ends.iter().zip(&starts) {
            next = next.min(flow.due(start)).min(flow.next_timer());
        }
        now = next;
        if now >= at(END * 1000) {
            break;
        }
        if now.0 / 1_000_000_000 > sampled {
            sampled += 1;
            rates.push(ends[0].packets_per_second(now));
        }
        if let Some((flow, header, arrived, begin, end)) = serving.filter(|packet| packet.4 == now) {
            let (waited, access) = (begin.since(arrived), end.since(begin));
            hop.on_finished(&finished(waited, access), now);
            if begin >= at(100_000) {
                busy += access.as_secs_f64();
            }
            serving = None;
            let first = now < at(2000) && ends[flow].receiver_timers.is_empty();
            for report in ends[flow].arrive(header, now) {
                ends[flow].report(report.as_slice(), now);
            }
            // The reports of flows are spread evenly over an epoch.
            if first {
                ends[flow].receiver_timers[0].1 = at(2000 + 1000 * flow as u64 / flows as u64);
            }
        }
        for flow in 0..flows {
            for report in ends[flow].fire(now) {
                ends[flow].report(report.as_slice(), now);
            }
            if ends[flow].due(starts[flow]) <= now {
                let header = ends[flow].leave(now);
                queue.push_back((flow, header, now));
            }
        }
        if serving.is_none()
            && let Some((flow, mut header, arrived)) = queue.pop_front()
        {
            hop.on_departure(&passage(1000, 0), Some(&mut header), now);
            serving = Some((flow, header, arrived, now, now + secs(service(&mut random))));
        }
    }
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let variance = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum::<f64>() / rates.len() as f64;
    (busy / (END - 100) as f64, variance.sqrt() / mean)
}

/// The mean over five seeds.
fn utilisation(flows: usize, service: &dyn Fn(&mut Stream) -> f64) -> (f64, f64) {
    let runs: Vec<_> = (1..=5).map(|seed| alone(flows, service, seed)).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| runs.iter().map(of).sum::<f64>() / 5.0;
    (mean(|run| run.0), mean(|run| run.1))
}

fn exponential(random: &mut Stream) -> f64 {
    random.exponential(0.005)
}

fn backoff(random: &mut Stream) -> f64 {
    0.005 + 20e-6 * f64::from(random.below(32))
}

fn retries(random: &mut Stream) -> f64 {
    let (mut time, mut window) = (0.0, 31);
    loop {
        time += 0.005 + 20e-6 * f64::from(random.below(window + 1));
        if random.uniform() > 0.3 || window >= 1023 {
            return time;
        }
        window = window * 2 + 1;
    }
}

/// The part of the time for which a node is busy that n flows share, by an independent program for the law of the same service times.
#[test]
fn the_law_alone_uses_as_much_of_a_node_as_its_equations_say() {
    type Service = fn(&mut Stream) -> f64;
    let table: [(&str, Service, [f64; 4]); 3] = [
        ("exponential", exponential, [0.55, 0.72, 0.80, 0.84]),
        ("back-off", backoff, [0.94, 0.89, 0.95, 0.83]),
        ("retries", retries, [0.64, 0.79, 0.85, 0.82]),
    ];
    let mut wrong = vec![];
    for (name, service, expected) in table {
        for (flows, expected) in [1, 2, 3, 8].into_iter().zip(expected) {
            let (found, variation) = utilisation(flows, &service);
            println!("{name}, {flows} flows: {found:.3} (expected {expected}), variation {variation:.2}");
            if (found - expected).abs() > 0.03 {
                wrong.push((name, flows, found, expected));
            }
            // The coefficient of variation of a rate: 0.25 to 0.47, and none for one flow without repeated frames.
            let steady = name == "back-off" && flows == 1;
            let range = if steady { 0.0..0.01 } else { 0.2..0.5 };
            assert!(range.contains(&variation), "{name}, {flows} flows: {variation}");
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
