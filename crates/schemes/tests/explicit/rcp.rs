//! RCP [Dukkipati and others, section 3].

use airfair_schemes::ParamValue::{self, Number, Rate as Speed, Span as Duration};
use airfair_schemes::places::CongestionCause::{FastLoss, Timeout};
use airfair_schemes::places::{Header, Interface};
use airfair_schemes::rcp::header;
use airfair_units::{Rate, Span};

use super::rig::{Flow, MSS, Router, ms, near, refuses, setup, wire};

fn packet(rtt_ms: u32) -> Header {
    let mut header = Header::default();
    header::request(&mut header, rtt_ms * 1000, u32::MAX);
    header
}

/// R, bytes/s.
fn rate(router: &Router) -> f64 {
    router.gauge("rate_bps") / 8.0
}

/// T = 10 ms, d = 100 ms.
const TENTH: [(&str, ParamValue); 1] = [("first_rtt", ParamValue::Span(Span(100_000_000)))];

/// R starts at 0.05 C = 50,000 bytes/s. y = C/2, no queue: R (1 + 0.1 * 0.4 * 0.5) = 51,000. y = 2 C and a queue of 20,000 bytes:
/// R (1 + 0.1 (-0.4 - 0.2)) = 47,940.
#[test]
fn the_rate_follows_spare_capacity_and_queue() {
    let mut router = Router::slow("rcp", &TENTH);
    assert_eq!(router.burst(5, &packet(100)).fields[1], 50_000);
    router.pass(10);
    near(rate(&router), 51_000.0);
    near(router.gauge("input_bps"), 4e6);
    assert_eq!(router.burst(20, &packet(100)).fields[1], 51_000);
    router.waiting = 20_000;
    router.pass(10);
    near(rate(&router), 47_940.0);
    let mut modest = packet(100);
    header::request(&mut modest, 100_000, 30_000);
    assert_eq!(router.burst(1, &modest).fields[1], 30_000, "the grant is at most the request");
}

/// With gamma = 0.5 a half-full link has no spare capacity; with a queue of 5,000 bytes R (1 - 0.1 * 0.05/0.5).
#[test]
fn gamma_is_the_target_utilisation() {
    let mut router = Router::slow("rcp", &[TENTH[0], ("gamma", Number(0.5))]);
    router.burst(5, &packet(100));
    router.pass(10);
    near(rate(&router), 50_000.0);
    router.burst(5, &packet(100));
    router.waiting = 5000;
    router.pass(10);
    near(rate(&router), 49_500.0);
}

/// d is 200 ms at first. Ten packets of 100 ms: gain T/d * R/C * 100/200 = 0.05 * 0.05 * 0.5, d = 199.875 ms; y = C, and a queue
/// of 5,000 bytes: R (1 - 0.01/0.199875 * 5,000/0.199875/10^6). Packets of 300 ms: gain 0.01/d alone.
#[test]
fn the_mean_round_trip_time_rises_faster_than_it_falls() {
    let mut router = Router::slow("rcp", &[]);
    router.burst(10, &packet(100));
    router.waiting = 5000;
    router.pass(10);
    near(router.gauge("rtt_s"), 0.199_875);
    near(rate(&router), 50_000.0 * (1.0 - 0.01 / 0.199_875 * 5000.0 / 0.199_875 / 1e6));
    router.burst(10, &packet(300));
    router.pass(10);
    near(router.gauge("rtt_s"), 0.199_875 + 0.01 / 0.199_875 * (0.3 - 0.199_875));
    // SYNs have no round-trip time.
    let before = router.gauge("rtt_s");
    router.burst(10, &packet(0));
    router.pass(10);
    assert_eq!(router.gauge("rtt_s"), before);
    router.burst(10, &packet(300));
    router.burst(10, &packet(0));
    router.pass(10);
    near(router.gauge("rtt_s"), before + 0.01 / before * (0.3 - before));
}

/// R is never below 1,000 bytes in 100 ms and never above C; a new rate of the wire bounds R at once.
#[test]
fn the_rate_has_bounds() {
    let mut router = Router::slow("rcp", &TENTH);
    router.waiting = 10_000_000;
    router.pass(100);
    near(rate(&router), 10_000.0);
    router.waiting = 0;
    router.pass(5000);
    near(rate(&router), 1e6);
    router.hop.on_rate(Rate::from_mbps(4));
    near(rate(&router), 5e5);
    let mut aimed = Router::slow("rcp", &[("gamma", Number(0.95))]);
    aimed.pass(10_000);
    near(rate(&aimed), 0.95e6);
    // A packet per round trip exceeds the capacity.
    let mut thin = Router::new("rcp", &TENTH, &wire(Rate(8_000)));
    thin.pass(100);
    near(rate(&thin), 1000.0);
}

/// A rate beyond the field's range is granted as the largest rate, not as the value for "no limit": 0.05 of 125 GB/s.
#[test]
fn a_grant_is_never_the_value_for_no_limit() {
    let mut router = Router::new("rcp", &TENTH, &wire(Rate::from_mbps(1_000_000)));
    assert_eq!(router.burst(1, &packet(100)).fields[1], u32::MAX - 1);
}

/// R starts at a twentieth of C. C is the rate of a wire; of a radio the parameter's, or its nominal rate.
#[test]
fn the_capacity_of_each_interface() {
    let [radio, ..] = Interface::all_kinds();
    let known = [("radio_capacity", Speed(Rate::from_mbps(1)))];
    for (params, at, mbps) in
        [(&known[..], wire(Rate::from_mbps(8)), 8.0), (&known, radio, 1.0), (&[], radio, 2.0)]
    {
        near(Router::new("rcp", params, &at).gauge("rate_bps"), 0.05e6 * mbps);
    }
}

/// Bounds of T may be equal but not cross. Rates are those that headers can carry.
#[test]
fn parameters_have_bounds() {
    let bounds = [("slot", Duration(ms(70))), ("min_interval", Duration(ms(70)))];
    near(Router::slow("rcp", &bounds).gauge("interval_s"), 0.07);
    let bad = [
        // Above the slot.
        ("min_interval", Duration(ms(11))),
        ("first_rtt", Duration(ms(100_001))),
        ("request", Speed(Rate(8 << 32))),
        ("radio_capacity", Speed(Rate(8 << 32))),
        ("window", Number(-1.0)),
        ("gamma", Number(1.1)),
    ];
    refuses("rcp", &bad);
    let mut greedy = Flow::new("rcp", &[("request", Speed(Rate(8 * u64::from(u32::MAX - 1))))]);
    assert_eq!(greedy.stamp().fields[1], u32::MAX - 1);
}

/// T is a hundredth of a second, or d if d is less; at least 1 ms.
#[test]
fn the_interval_is_the_smaller_one() {
    for (rtt_ms, interval) in [(1000, 0.01), (5, 0.005), (1, 0.001)] {
        let router = Router::slow("rcp", &[("first_rtt", ParamValue::Span(ms(rtt_ms)))]);
        near(router.gauge("interval_s"), interval);
    }
    let mut router = Router::slow("rcp", &[]);
    // Half of the link is used: R rises to C, and d falls as fast as possible.
    for _ in 0..10_000 {
        router.burst(1, &packet(2));
        router.pass(2);
    }
    near(router.gauge("interval_s"), 0.002);
}

/// Data are sent at the rate echoed in the SYN+ACK. The window is twice the product of rate and round-trip time, at least two segments.
#[test]
fn a_flow_sends_at_the_granted_rate() {
    let mut flow = Flow::new("rcp", &[]);
    assert_eq!(flow.stamp().fields, [0, u32::MAX, 0, 0]);
    flow.echo(50_000);
    assert_eq!(flow.start(&setup()), 10_000);
    assert_eq!(flow.pace(), Some(Rate(400_000)));
    assert_eq!(flow.stamp().fields, [100_000, u32::MAX, 0, 0]);
    assert_eq!(flow.ack(Some(ms(180))), 11_000, "7/8 of 100 ms and 1/8 of 180 ms are 110 ms");
    assert_eq!(flow.echo(5_000), 2 * MSS);
    assert_eq!(flow.echo(0), 2 * MSS, "an acknowledgement without a grant changes nothing");
    assert_eq!(flow.pace(), Some(Rate(40_000)));
    let mut free = Flow::started("rcp", &[("window", Number(0.0))]);
    assert_eq!(free.window(), 10 * MSS, "without handshake the initial window carries the request");
    assert_eq!(free.pace(), None);
    assert_eq!(free.echo(1_000_000), u64::MAX);
    assert_eq!(free.pace(), Some(Rate::from_mbps(8)));
}

/// Losses do not change the rate; after a time-out or an idle period one segment carries a request.
#[test]
fn losses_do_not_change_the_rate() {
    let mut flow = Flow::started("rcp", &[]);
    flow.echo(100_000);
    assert_eq!(flow.congestion(FastLoss), 20_000);
    assert_eq!(flow.congestion(Timeout), MSS);
    assert_eq!(flow.pace(), None);
    assert_eq!(flow.echo(100_000), 20_000);
    assert_eq!(flow.idle(), MSS);
}

/// If an interface does not support RCP, TCP's window limits the flow beside the rate.
#[test]
fn a_router_without_support_causes_the_fallback_to_tcp() {
    let mut flow = Flow::started("rcp", &[]);
    flow.echo(100_000);
    assert_eq!(flow.echo_past(2, 100_000), 10_000, "half of 20,000");
    assert!(flow.law.fell_back());
    assert_eq!(flow.echo(100_000), 20_000);
}
