//! RCP's router [Dukkipati and others, section 3].

use airfair_schemes::ParamValue::{self, Number};
use airfair_schemes::places::Header;
use airfair_schemes::rcp::header;
use airfair_units::{Rate, Span, Time};
use proptest::prelude::*;

use super::{PACKET, Router, ms, near, wire};

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

/// R starts at 0.05 C = 50,000 bytes/s. y = C/2, no queue: R (1 + 0.1 * 0.4 * 0.5) = 51,000. y = 2 C and 20,000 bytes wait:
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
    assert_eq!(router.burst(1, &modest).fields[1], 30_000, "nobody is given more than was asked for");
}

/// d is 200 ms at first. Ten packets of 100 ms: gain T/d * R/C * 100/200 = 0.05 * 0.05 * 0.5, d = 199.875 ms; y = C, and 5,000 bytes
/// wait: R (1 - 0.01/0.199875 * 5,000/0.199875/10^6). Packets of 300 ms: gain 0.01/d alone.
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
    let before = router.gauge("rtt_s");
    router.burst(10, &packet(0));
    router.pass(10);
    assert_eq!(router.gauge("rtt_s"), before, "SYN do not know any");
}

/// Never below 1,000 bytes in 100 ms, never above C; the wire's new rate bounds it at once.
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
    // A packet in a round trip is more than the link has.
    let mut thin = Router::new("rcp", &TENTH, &wire(Rate(8_000)));
    thin.pass(100);
    near(rate(&thin), 1000.0);
}

/// T is a hundredth of a second, or d where that is less; 1 ms at least.
#[test]
fn the_interval_is_the_smaller_one() {
    for (rtt_ms, interval) in [(1000, 0.01), (5, 0.005), (1, 0.001)] {
        let router = Router::slow("rcp", &[("first_rtt", ParamValue::Span(ms(rtt_ms)))]);
        near(router.gauge("interval_s"), interval);
    }
    let mut router = Router::slow("rcp", &[]);
    // Half of the link: R rises to C, and d falls as fast as it may.
    for _ in 0..10_000 {
        router.burst(1, &packet(2));
        router.pass(2);
    }
    near(router.gauge("interval_s"), 0.002);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever comes, R stays between a packet in d and C, and nobody is given more than was asked for.
    #[test]
    fn anything_may_come(
        mbps in 1u64..30_000,
        events in prop::collection::vec(
            (any::<[u32; 4]>(), any::<u32>(), 0u64..u64::MAX / 2, 0u64..2_000_000_000), 1..60),
    ) {
        let mut router = Router::new("rcp", &[], &wire(Rate::from_mbps(mbps)));
        for (fields, bytes, waiting, gap) in events {
            let mut header = Header { spoken: 0, missed: 0, fields };
            router.waiting = waiting;
            router.arrive(Some(&mut header), bytes);
            prop_assert!(header.fields[1] <= fields[1]);
            prop_assert_eq!(header.fields[0], fields[0]);
            router.until(Time(router.now.0 + gap));
            let capacity = mbps as f64 * 1e6 / 8.0;
            let least = (f64::from(PACKET) / router.gauge("rtt_s")).min(capacity);
            let rate = rate(&router);
            prop_assert!((least * 0.999_999..=capacity).contains(&rate), "{rate}");
        }
    }
}
