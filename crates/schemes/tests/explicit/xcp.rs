//! XCP [Katabi, Handley, Rohrs, sections 3.2 and 3.5].

use airfair_schemes::ParamValue::{Choice, Flag, Number, Rate as Speed, Span as Duration};
use airfair_schemes::places::CongestionCause::{FastLoss, LinkDrop, Mark, Timeout};
use airfair_schemes::places::{Capability, FlowSetup, Header, Interface};
use airfair_schemes::xcp::header::{self, SenderState, delta, sender_state};
use airfair_units::Rate;

use super::rig::{Flow, MSS, PACKET, Router, ms, near, refuses, setup, wire};

/// A packet of a flow with this round-trip time and this window, with the largest possible request.
pub fn packet(rtt_ms: u32, window: u32) -> Header {
    let rtt_us = rtt_ms * 1000;
    let inverse_rate = (u64::from(rtt_us) * 1_000_000 / u64::from(window)) as u32;
    let mut header = Header::default();
    header::request(&mut header, Some(SenderState { rtt_us, inverse_rate }), i32::MAX);
    header
}

/// The change of the window in a header, bytes.
pub fn change(header: &Header) -> f64 {
    f64::from(delta(header)) / 256.0
}

/// phi, bytes.
fn phi(router: &Router) -> f64 {
    router.gauge("change_bps") * router.gauge("interval_s") / 8.0
}

/// 100 packets in 100 ms are y = 10^6 bytes/s of C = 18.75 10^6: phi = 0.4 * 0.1 * 17.75 10^6 = 710,000 bytes. No traffic is shuffled:
/// 0.1 * 10^5 is less than phi. Each of 100 equal packets receives 7,100.
#[test]
fn spare_capacity_is_distributed() {
    let mut router = Router::new("xcp", &[], &wire(Rate::from_mbps(150)));
    let first = router.burst(100, &packet(100, 10_000));
    assert_eq!(change(&first), 0.0, "nothing is known in the first interval");
    router.pass(100);
    near(phi(&router), 710_000.0);
    near(router.gauge("input_bps"), 8e6);
    near(change(&router.burst(1, &packet(100, 10_000))), 7100.0);
}

/// Two flows of 10^5 bytes/s, with 50 and 200 ms: d = 125 ms, phi = 0.4 * 0.125 * (18.75 - 0.2) 10^6 = 927,500 bytes, and
/// 20 packets X s = 10^-5 * 10^3 s, xi_p = 927,500/(0.125 * 0.2): a packet of the first flow receives xi_p * 0.05 * 0.01 = 18,550 bytes,
/// one of the second four times as much: the same change of rate.
#[test]
fn all_flows_gain_the_same_rate() {
    let mut router = Router::new("xcp", &[], &wire(Rate::from_mbps(150)));
    let (short, long) = (packet(50, 5000), packet(200, 20_000));
    router.burst(10, &short);
    router.burst(10, &long);
    router.pass(100);
    near(router.gauge("interval_s"), 0.125);
    near(phi(&router), 927_500.0);
    near(change(&router.burst(1, &short)), 18_550.0);
    near(change(&router.burst(1, &long)), 74_200.0);
}

/// The link is full with a standing queue of 20,000 bytes: phi = -0.226 * 20,000 = -4,520, and 0.1 * 10^5 - 4,520 = 5,480 bytes are
/// shuffled. Each of 100 packets with the same window gains 54.8 and loses 100 bytes.
#[test]
fn a_standing_queue_is_drained_and_traffic_shuffled() {
    let mut router = Router::slow("xcp", &[]);
    router.waiting = 20_000;
    router.pass(100);
    router.burst(100, &packet(100, 10_000));
    router.pass(100);
    near(phi(&router), -4520.0);
    // X is a quarter for four times the window, and fourfold for a quarter of it: 54.8/4 - 100 and 4 * 54.8 - 100.
    for (window, expected) in [(10_000, -45.2), (40_000, -86.3), (2_500, 119.2)] {
        let change = change(&router.burst(1, &packet(100, window)));
        assert!((change - expected).abs() < 1.0 / 256.0, "{window}: {change} instead of {expected}");
    }
}

/// The queue held 20,000 bytes, except for one moment with 500: the standing queue is 500. Clock: 50 ms.
#[test]
fn the_standing_queue_is_the_minimum_of_half_a_round_trip() {
    let mut router = Router::slow("xcp", &[]);
    router.waiting = 20_000;
    router.pass(100);
    near(router.gauge("standing_queue_bytes"), 20_000.0);
    router.pass(10);
    router.waiting = 500;
    router.arrive(None, PACKET);
    router.waiting = 20_000;
    router.pass(40);
    near(router.gauge("standing_queue_bytes"), 500.0);
    router.pass(50);
    near(router.gauge("standing_queue_bytes"), 20_000.0);
}

/// The sum of shuffled traffic is zero: y = C, no queue. Three flows with different windows and round-trip times, a round trip each.
#[test]
fn shuffling_moves_rates_and_keeps_their_sum() {
    let mut router = Router::slow("xcp", &[]);
    let flows = [(50, 5_000, 10), (100, 60_000, 60), (200, 60_000, 30)];
    let mut rates = 0.0;
    for round in 0..2 {
        for (rtt, window, packets) in flows {
            for _ in 0..packets {
                let mut header = packet(rtt, window);
                router.arrive(Some(&mut header), PACKET);
                rates += f64::from(round) * change(&header) * 1000.0 / f64::from(rtt);
            }
        }
        router.pass(100);
    }
    // 0.1 of 10^6 bytes/s are moved; a change of a window has a resolution of 1/256 byte.
    assert!(rates.abs() < 100.0 / 256.0 * 20.0, "{rates}");
}

/// SYNs, acknowledgements and packets of other schemes count as traffic, but receive no feedback.
#[test]
fn packets_without_a_round_trip_time_gain_nothing() {
    let mut router = Router::slow("xcp", &[]);
    let mut syn = Header::default();
    header::request(&mut syn, None, 5000);
    assert_eq!(delta(&syn), 0);
    syn.fields[2] = 5000;
    router.burst(20, &syn);
    router.arrive(None, 10_000);
    router.pass(100);
    near(router.gauge("input_bps"), 2.4e6);
    // phi is 0.4 * 0.1 * 0.7 10^6, and no packet had a round-trip time, so that none receives a part.
    near(phi(&router), 28_000.0);
    assert_eq!(change(&router.burst(1, &packet(100, 10_000))), 0.0);
    assert_eq!(change(&router.burst(1, &syn)), 0.0);
    router.pass(100);
    assert!(change(&router.burst(1, &packet(100, 10_000))) > 1000.0);
    router.pass(1000);
    assert_eq!(
        change(&router.burst(1, &packet(100, 10_000))),
        0.0,
        "a silent interval is followed by nothing"
    );
}

/// Negative feedback: y of 100 packets and 100 SYNs is 2 C, the standing queue 20,000 bytes: phi = -0.04 * 10^6 - 4,520 = -44,520, whose
/// amount exceeds h. Only the 100 packets lose, 445.2 bytes each.
#[test]
fn packets_without_a_round_trip_time_lose_nothing() {
    let mut router = Router::slow("xcp", &[("budgets", Flag(true))]);
    router.waiting = 20_000;
    router.pass(100);
    router.burst(100, &packet(100, 10_000));
    router.burst(100, &Header::default());
    router.pass(100);
    near(phi(&router), -44_520.0);
    let change = change(&router.burst(1, &packet(100, 10_000)));
    assert!((change + 445.2).abs() < 1.0 / 256.0, "{change}");
}

/// A router lowers the grant of another router, and never raises it.
#[test]
fn the_least_change_of_the_path_counts() {
    let mut router = Router::new("xcp", &[], &wire(Rate::from_mbps(150)));
    router.burst(100, &packet(100, 10_000));
    router.pass(100);
    for (before, after) in [(100.0, 100.0), (-3.0, -3.0), (8000.0, 7100.0)] {
        let mut header = packet(100, 10_000);
        header.fields[2] = ((before * 256.0) as i32).cast_unsigned();
        router.arrive(Some(&mut header), PACKET);
        near(change(&header), after);
    }
}

/// With budgets, feedback for 100 packets is distributed and no more; without, each packet receives its share.
#[test]
fn budgets_end() {
    for (budgets, packets) in [(false, 150.0), (true, 100.0)] {
        let mut router = Router::new("xcp", &[("budgets", Flag(budgets))], &wire(Rate::from_mbps(150)));
        router.burst(100, &packet(100, 10_000));
        router.pass(100);
        let mut sum = 0.0;
        for _ in 0..150 {
            sum += change(&router.burst(1, &packet(100, 10_000)));
        }
        near(sum, packets * 7100.0);
        // Feedback that a sender does not request remains for other packets.
        router.pass(100);
        let mut modest = packet(100, 10_000);
        modest.fields[2] = 0;
        for _ in 0..150 {
            assert_eq!(change(&router.burst(1, &modest)), 0.0);
        }
        assert!(change(&router.burst(1, &packet(100, 10_000))) > 1000.0);
    }
}

/// A budget of 7,100 bytes for each of 100 packets suffices for 200 packets that request half.
#[test]
fn budgets_shrink_by_the_granted_amount() {
    let mut router = Router::new("xcp", &[("budgets", Flag(true))], &wire(Rate::from_mbps(150)));
    router.burst(100, &packet(100, 10_000));
    router.pass(100);
    let mut modest = packet(100, 10_000);
    modest.fields[2] = 3550 * 256;
    let sum: f64 = (0..250).map(|_| change(&router.burst(1, &modest))).sum();
    near(sum, 710_000.0);
}

/// Of 10^5 bytes/s of shuffled traffic each of 100 packets gains as much as it loses; for further packets both budgets are empty.
#[test]
fn shuffled_budgets_end_together() {
    let mut router = Router::slow("xcp", &[("budgets", Flag(true))]);
    router.burst(100, &packet(100, 10_000));
    router.pass(100);
    for _ in 0..150 {
        let change = change(&router.burst(1, &packet(100, 10_000)));
        assert!(change.abs() < 0.1, "{change}");
    }
}

/// Weighted by bytes, a packet of 500 receives half as much as a packet of 1000; weighted by packets, as much.
#[test]
fn packets_may_count_alike() {
    for (alike, part) in [(false, 0.5), (true, 1.0)] {
        let mut router = Router::new("xcp", &[("per_packet", Flag(alike))], &wire(Rate::from_mbps(150)));
        router.burst(100, &packet(100, 10_000));
        router.pass(100);
        let (large, mut small) = (router.burst(1, &packet(100, 10_000)), packet(100, 10_000));
        router.arrive(Some(&mut small), 500);
        near(change(&large), 7100.0);
        near(change(&small), part * 7100.0);
    }
}

/// On an idle link the change is alpha C in a round trip. The capacity is the rate of a wire; of a radio the parameter's, or its nominal
/// rate.
#[test]
fn the_capacity_of_each_interface() {
    let [radio, ..] = Interface::all_kinds();
    let known = [("radio_capacity", Speed(Rate::from_mbps(1)))];
    for (params, at, mbps) in
        [(&known[..], wire(Rate::from_mbps(8)), 8.0), (&known, radio, 1.0), (&[], radio, 2.0)]
    {
        let mut router = Router::new("xcp", params, &at);
        router.pass(100);
        near(router.gauge("change_bps"), 0.4e6 * mbps);
    }
}

/// d stays within its bounds, which may be equal but not cross. Rates are those that headers can carry.
#[test]
fn parameters_have_bounds() {
    for scheme in ["xcp", "xcp-b"] {
        let bounds = [("min_interval", Duration(ms(70))), ("max_interval", Duration(ms(70)))];
        near(Router::slow(scheme, &bounds).gauge("interval_s"), 0.07);
        let bad = [
            // Above the largest one.
            ("min_interval", Duration(ms(20_000))),
            ("first_interval", Duration(ms(100_001))),
            ("request", Speed(Rate(8 << 32))),
            ("gamma", Number(1.1)),
        ];
        refuses(scheme, &bad);
    }
    refuses("xcp", &[("radio_capacity", Speed(Rate(8 << 32)))]);
    // 2^32 - 1 bytes/s in 100 ms are more than a window holds.
    let mut greedy = Flow::started("xcp", &[("request", Speed(Rate(8 * u64::from(u32::MAX))))]);
    assert_eq!(delta(&greedy.stamp()), 99_000 * 256);
}

/// A factor on both xi; with feedback at departure the header is unchanged on arrival. Only this variant subscribes to departures, whose
/// hooks cost time.
#[test]
fn the_variants_of_ns2() {
    let params = [("xi_factor", Number(1.1)), ("feedback_at", Choice("departure"))];
    let mut router = Router::new("xcp", &params, &wire(Rate::from_mbps(150)));
    assert!(
        router.wants.has(Capability::Departures)
            && !Router::slow("xcp", &[]).wants.has(Capability::Departures)
    );
    router.burst(100, &packet(100, 10_000));
    router.pass(100);
    let mut header = router.burst(1, &packet(100, 10_000));
    assert_eq!(delta(&header), i32::MAX);
    router.depart(Some(&mut header), PACKET);
    near(change(&header), 7810.0);
}

/// The capacity follows the wire.
#[test]
fn the_wire_may_change() {
    let mut router = Router::slow("xcp", &[]);
    router.hop.on_rate(Rate::from_mbps(150));
    router.burst(100, &packet(100, 10_000));
    router.pass(100);
    near(phi(&router), 710_000.0);
}

/// The receiver echoes a change of the window, bytes.
fn change_by(flow: &mut Flow, bytes: f64) -> u64 {
    flow.echo(((bytes * 256.0) as i32).cast_unsigned())
}

/// The window changes by the echoed feedback, in units of 1/256 byte, whose fractions add up. It is at least one segment and at most the
/// limit.
#[test]
fn the_window_follows_feedback() {
    let mut flow = Flow::started("xcp", &[]);
    assert_eq!(flow.window(), 10_000);
    assert_eq!(change_by(&mut flow, 2500.0), 12_500);
    for _ in 0..100 {
        change_by(&mut flow, -26.0 / 256.0);
    }
    assert_eq!(flow.window(), 12_489, "2,600/256 are 10.2 bytes");
    assert_eq!(change_by(&mut flow, -100_000.0), MSS);
    assert_eq!(change_by(&mut flow, 8_000_000.0), 1_000_000);
    assert_eq!(flow.pace(), None);
}

/// 100 ms over 10,000 bytes are 10^7 ps per byte; each of ten packets requests a tenth of the 990,000 bytes below the limit. Before the
/// first round-trip time there is no request.
#[test]
fn a_packet_carries_its_round_trip_time_and_its_request() {
    let mut flow = Flow::new("xcp", &[]);
    assert_eq!(flow.stamp(), Header::default(), "a SYN");
    flow.start(&FlowSetup { rtt: None, ..setup() });
    assert_eq!(flow.stamp(), Header::default(), "a connection without handshake");
    flow.ack(Some(ms(100)));
    let header = flow.stamp();
    let state = sender_state(&header).expect("a round-trip time");
    assert_eq!((state.rtt_us, state.inverse_rate), (100_000, 10_000_000));
    assert_eq!(delta(&header), 99_000 * 256);
    // 8 Mbit/s are 100,000 bytes in 100 ms.
    let mut modest = Flow::started("xcp", &[("request", Speed(Rate::from_mbps(8)))]);
    assert_eq!(delta(&modest.stamp()), 9000 * 256);
    change_by(&mut modest, 150_000.0);
    assert_eq!(delta(&modest.stamp()), -375 * 256, "60,000 bytes less, by 160 packets");
    // RFC 6298's weights: 7/8 * 100 + 1/8 * 180.
    modest.ack(Some(ms(180)));
    assert_eq!(modest.stamp().fields[0], 110_000);
}

/// The window is halved at a loss or a mark, is one segment after a time-out, and unchanged by a drop of the sender's own link layer;
/// feedback continues. After an idle period the window is the initial one.
#[test]
fn losses_count_as_for_tcp() {
    let mut flow = Flow::started("xcp", &[]);
    change_by(&mut flow, 10_000.0);
    assert_eq!(flow.congestion(LinkDrop), 20_000);
    assert_eq!(flow.congestion(FastLoss), 10_000);
    assert_eq!(flow.congestion(Mark), 5000);
    assert_eq!(flow.congestion(Timeout), MSS);
    assert_eq!(change_by(&mut flow, 40_000.0), 41_000);
    assert_eq!(flow.idle(), 10_000);
}

/// If an interface does not support XCP, TCP's law continues with half of the window, and feedback is ignored; when all interfaces support
/// XCP again, its law continues with that window.
#[test]
fn a_router_without_support_causes_the_fallback_to_tcp() {
    let mut flow = Flow::started("xcp", &[]);
    change_by(&mut flow, 10_000.0);
    assert_eq!(flow.echo_past(1, 256 * 100_000), 10_000);
    assert!(flow.law.fell_back());
    // RFC 5681 equation 3, with cwnd = ssthresh: 1000 * 1000 / 10,000 bytes for an acknowledgement.
    assert_eq!(flow.ack(None), 10_100);
    assert_eq!(flow.echo_past(1, 256 * 500), 10_100);
    assert_eq!(flow.echo(256 * 500), 10_600);
}
