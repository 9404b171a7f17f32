//! XCP, XCP-b and RCP over a network: what their papers promise on one bottleneck.

use crate::support::wires::*;
use crate::support::{dot11b, flow, world};
use airfair_schemes::ParamValue;
use airfair_sim::World;
use airfair_sim::measure::statistics::jain_index;
use airfair_sim::measure::summary::RunResult;
use airfair_sim::spec::*;
use airfair_transport::{InitialWindow, TcpConfig};
use airfair_units::{Span, Time};

/// 960 bytes, less the scheme's header, in packets of 1000.
fn plain() -> TcpConfig {
    TcpConfig {
        mss: 960,
        initial_window: InitialWindow::Segments(2),
        delayed_ack: None,
        sack: false,
        window_limit: 1 << 40,
        receive_window: 1 << 40,
        ..TcpConfig::default()
    }
}

/// A flow for each round-trip time in ms, 10 ms apart, over a bottleneck with a queue of its product with 100 ms.
fn dumbbell(mbps: u64, round_trips: &[u64], seconds: u64) -> WorldSpec {
    let mut spec = world(dot11b(100.0, 200.0), seconds);
    spec.headers = HeaderSpec { udp: 8, tcp: Some(20), ip: 20, llc: 0, mac: 0, wired: 0 };
    spec.warmup = Span::from_secs(seconds / 2);
    let packets = (mbps * 25 / 2) as u32;
    let (left, right) = (wired(&mut spec, "left"), wired(&mut spec, "right"));
    spec.links.push(link((left, right), mbps, ms(5), packets));
    for (i, &rtt) in round_trips.iter().enumerate() {
        let (source, sink) = (wired(&mut spec, &format!("s{i}")), wired(&mut spec, &format!("d{i}")));
        spec.links.push(link((source, left), 1000, ms(rtt / 2 - 5), 100_000));
        spec.links.push(link((right, sink), 1000, Span::ZERO, 100_000));
        flow(&mut spec, &format!("f{i}"), source, sink, Traffic::Endless);
        let flow = &mut spec.flows[i];
        (flow.transport, flow.start) = (tcp(plain()), Time(i as u64 * 10_000_000));
    }
    spec
}

fn run(spec: &WorldSpec, scheme: &str, params: &[(&str, ParamValue)], check: bool) -> RunResult {
    let mut world = World::new(spec, scheme, built(scheme, params), 1).unwrap();
    if check {
        world.check_headers();
    }
    finished(world)
}

/// Share of a link of `mbps` used for payload of 1000-byte packets, Jain's index, and the mean number of packets that wait at the
/// bottleneck.
fn judge(result: &RunResult, mbps: u64) -> (f64, f64, f64) {
    let header = if result.scheme == "rcp" { 16.0 } else { 20.0 };
    let rates: Vec<f64> = result.flows.iter().map(|flow| flow.goodput_bps).collect();
    let queue = result.queues.iter().find(|q| q.node == "left" && q.towards == "right").unwrap();
    let used = rates.iter().sum::<f64>() / (mbps as f64 * 1e6 * (960.0 - header) / 1000.0);
    (used, jain_index(&rates).unwrap(), queue.mean_packets)
}

const SCHEMES: [&str; 3] = ["xcp", "xcp-b", "rcp"];

/// One flow, ten, and a hundred, of 100 ms each.
#[test]
fn the_link_is_full_and_shared_and_the_queue_short() {
    for (flows, mbps) in [(1, 150), (10, 150), (100, 150)] {
        for scheme in SCHEMES {
            let result = run(&dumbbell(mbps, &vec![100; flows], 14), scheme, &[], false);
            let (used, jain, queue) = judge(&result, mbps);
            println!("{scheme}, {flows} flows: used {used:.4}, Jain {jain:.4}, {queue:.1} packets wait");
            assert!(used > 0.95, "{scheme}, {flows} flows: {used}");
            assert!(jain > 0.99, "{scheme}, {flows} flows: {jain}");
            assert!(queue < 100.0, "{scheme}, {flows} flows: {queue}");
            // Under RCP a new flow gets the same rate while others use the whole link: the first ones may overflow the queue.
            let dropped: u64 = result.drops.values().sum();
            assert!(
                dropped == 0 || scheme == "rcp" && dropped < 10_000,
                "{scheme}, {flows} flows: {dropped}"
            );
            assert_eq!(result.flows.iter().map(|flow| flow.fallbacks).sum::<u64>(), 0);
        }
    }
}

/// Round-trip times from 20 to 320 ms: the shares of rates are equal all the same.
#[test]
fn far_flows_get_as_much_as_near_ones() {
    for scheme in SCHEMES {
        let result = run(&dumbbell(50, &[20, 40, 80, 160, 320], 40), scheme, &[], false);
        let (used, jain, queue) = judge(&result, 50);
        println!("{scheme}: used {used:.4}, Jain {jain:.4}, {queue:.1} packets wait");
        assert!(used > 0.95 && jain > 0.98, "{scheme}: {used} {jain}");
    }
}

/// Five hundred flows get 1.9 packets each per round trip. Paced at one rate they form the same bursts in each round trip, and RCP counts
/// the queue of a burst as a standing queue.
#[test]
fn many_flows_share_too() {
    for (scheme, least) in SCHEMES.into_iter().zip([0.95, 0.95, 0.88]) {
        let mut spec = dumbbell(75, &[100; 500], 10);
        for (i, flow) in spec.flows.iter_mut().enumerate() {
            flow.start = Time(i as u64 * 1_000_000);
        }
        let result = run(&spec, scheme, &[], false);
        let (used, jain, queue) = judge(&result, 75);
        println!("{scheme}: used {used:.4}, Jain {jain:.4}, {queue:.1} packets wait, {:?}", result.drops);
        assert!(used > least && jain > 0.95, "{scheme}: {used} {jain}");
    }
}

/// Headers that become bytes at every hop change nothing.
#[test]
fn bytes_carry_all_that_counts() {
    let spec = dumbbell(20, &[30, 60, 90], 6);
    for scheme in SCHEMES {
        let (plain, checked) = (run(&spec, scheme, &[], false), run(&spec, scheme, &[], true));
        assert!(plain.flows[0].delivered_bytes > 1_000_000);
        assert_eq!(format!("{plain:?}"), format!("{checked:?}"), "{scheme}");
    }
}

/// The ways of ns-2 fill the link as well.
#[test]
fn xcps_other_ways_work() {
    use ParamValue::{Choice, Flag, Number};
    let spec = dumbbell(50, &[100; 5], 10);
    for param in [
        ("feedback_at", Choice("departure")),
        ("budgets", Flag(true)),
        ("per_packet", Flag(true)),
        ("xi_factor", Number(1.1)),
    ] {
        let (used, jain, queue) = judge(&run(&spec, "xcp", &[param], false), 50);
        println!("{param:?}: used {used:.4}, Jain {jain:.4}, {queue:.1} packets wait");
        assert!(used > 0.95 && jain > 0.99 && queue < 100.0, "{param:?}: {used} {jain} {queue}");
    }
}
