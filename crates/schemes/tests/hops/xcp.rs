//! XCP's router [Katabi, Handley, Rohrs, section 3.5].

use airfair_schemes::ParamValue::{Choice, Flag, Number};
use airfair_schemes::places::{Backlog, FlowId, Header, PacketClass, Passage};
use airfair_schemes::xcp::header::{self, Sending};
use airfair_units::{Rate, Span, Time};
use proptest::prelude::*;

use super::{PACKET, Router, near, wire};

/// A packet of a flow with this round-trip time and this window, which takes whatever it is given.
pub fn packet(rtt_ms: u32, window: u32) -> Header {
    let rtt_us = rtt_ms * 1000;
    let inverse_rate = (u64::from(rtt_us) * 1_000_000 / u64::from(window)) as u32;
    let mut header = Header::default();
    header::request(&mut header, Some(Sending { rtt_us, inverse_rate }), i32::MAX);
    header
}

/// The change of the window in a header, bytes.
pub fn change(header: &Header) -> f64 {
    f64::from(header::delta(header)) / 256.0
}

/// phi, bytes.
fn phi(router: &Router) -> f64 {
    router.gauge("change_bps") * router.gauge("interval_s") / 8.0
}

/// 100 packets in 100 ms are y = 10^6 bytes/s of C = 18.75 10^6: phi = 0.4 * 0.1 * 17.75 10^6 = 710,000 bytes. Nothing is shuffled:
/// 0.1 * 10^5 is less. Each of 100 equal packets brings 7,100.
#[test]
fn spare_capacity_is_handed_out() {
    let mut router = Router::new("xcp", &[], &wire(Rate::from_mbps(150)));
    let first = router.burst(100, &packet(100, 10_000));
    assert_eq!(change(&first), 0.0, "nothing is known in the first interval");
    router.pass(100);
    near(phi(&router), 710_000.0);
    near(router.gauge("input_bps"), 8e6);
    near(change(&router.burst(1, &packet(100, 10_000))), 7100.0);
}

/// Two flows of 10^5 bytes/s, with 50 and 200 ms: d = 125 ms, phi = 0.4 * 0.125 * (18.75 - 0.2) 10^6 = 927,500 bytes, and
/// 20 packets X s = 10^-5 * 10^3 s, xi_p = 927,500/(0.125 * 0.2): the one gets xi_p * 0.05 * 0.01 = 18,550 bytes, the other four times
/// that, which is the same change of rate.
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

/// The link is full and 20,000 bytes stand: phi = -0.226 * 20,000 = -4,520, shuffled is 0.1 * 10^5 - 4,520 = 5,480. Of 100 packets with
/// one window each is given 54.8 and loses 100 bytes.
#[test]
fn a_standing_queue_is_drained_and_traffic_shuffled() {
    let mut router = Router::slow("xcp", &[]);
    router.waiting = 20_000;
    router.pass(100);
    router.burst(100, &packet(100, 10_000));
    router.pass(100);
    near(phi(&router), -4520.0);
    // With four times the window, and with a quarter, X is a quarter, and four times: 54.8/4 - 100 and 4 * 54.8 - 100.
    for (window, expected) in [(10_000, -45.2), (40_000, -86.3), (2_500, 119.2)] {
        let change = change(&router.burst(1, &packet(100, window)));
        assert!((change - expected).abs() < 1.0 / 256.0, "{window}: {change} instead of {expected}");
    }
}

/// The queue stood at 20,000 bytes, but for a moment: with one of 500 it has not stood longer than that. Clock: 50 ms.
#[test]
fn what_stands_is_the_least_of_half_a_round_trip() {
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

/// Shuffled traffic sums to nothing: y = C, no queue. Three flows with other windows and round-trip times, a round trip each.
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
    // 0.1 of 10^6 bytes/s are moved; a change of a window is right to 1/256 byte.
    assert!(rates.abs() < 100.0 / 256.0 * 20.0, "{rates}");
}

/// SYN, acknowledgements and strangers are traffic, and that is all.
#[test]
fn who_knows_no_round_trip_time_gets_nothing() {
    let mut router = Router::slow("xcp", &[]);
    let mut syn = Header::default();
    header::request(&mut syn, None, 5000);
    assert_eq!(header::delta(&syn), 0);
    syn.fields[2] = 5000;
    router.burst(20, &syn);
    router.arrive(None, 10_000);
    router.pass(100);
    near(router.gauge("input_bps"), 2.4e6);
    // phi is 0.4 * 0.1 * 0.7 10^6, and there was nobody to divide it among.
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

/// A router lowers what another has granted, and never raises it.
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

/// With budgets, 100 packets' worth is handed out and no more; without, as much as there are packets.
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
        // What the sender does not want stays for others.
        router.pass(100);
        let mut modest = packet(100, 10_000);
        modest.fields[2] = 0;
        for _ in 0..150 {
            assert_eq!(change(&router.burst(1, &modest)), 0.0);
        }
        assert!(change(&router.burst(1, &packet(100, 10_000))) > 1000.0);
    }
}

/// Of 10^5 bytes/s that are shuffled each of 100 packets is given as much as it loses; for more packets nothing is left on either side.
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

/// Counted by bytes a packet of 500 gets half of one of 1000; counted by packets, the same.
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

/// A factor on both xi; and feedback at departure leaves the header alone on arrival.
#[test]
fn the_other_ways_of_ns2() {
    let params = [("xi_factor", Number(1.1)), ("feedback_at", Choice("departure"))];
    let mut router = Router::new("xcp", &params, &wire(Rate::from_mbps(150)));
    assert!(router.hop.heeds_departures());
    router.burst(100, &packet(100, 10_000));
    router.pass(100);
    let mut header = router.burst(1, &packet(100, 10_000));
    assert_eq!(header::delta(&header), i32::MAX);
    let backlog = Backlog::default();
    let passage = Passage { bytes: PACKET, flow: FlowId(0), class: PacketClass::Data, backlog };
    router.hop.on_departure(&passage, Some(&mut header), router.now);
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

/// What may come from the wire: anything, or something near to what flows send.
fn any_header() -> impl Strategy<Value = Header> {
    let plain = (any::<u8>(), any::<u8>(), any::<[u32; 4]>()).prop_map(|(spoken, missed, fields)| Header {
        spoken,
        missed,
        fields,
    });
    let likely = (1u32..2_000_000, 1u32..100_000_000).prop_map(|(rtt_us, inverse_rate)| {
        let mut header = Header::default();
        header::request(&mut header, Some(Sending { rtt_us, inverse_rate }), i32::MAX);
        header
    });
    prop_oneof![plain, likely]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// No header, size, backlog or gap makes a router stumble or grant more than was asked for.
    #[test]
    fn anything_may_come(
        scheme in prop_oneof![Just("xcp"), Just("xcp-b")],
        budgets in any::<bool>(),
        mbps in 1u64..100_000,
        events in prop::collection::vec(
            (any_header(), any::<u32>(), 0u64..u64::MAX / 2, 0u64..20_000_000_000), 1..60),
    ) {
        let mut router = Router::new(scheme, &[("budgets", Flag(budgets))], &wire(Rate::from_mbps(mbps)));
        for (header, bytes, waiting, gap) in events {
            let mut granted = header;
            router.waiting = waiting;
            router.arrive(Some(&mut granted), bytes);
            router.hop.on_drop(bytes);
            prop_assert!(header::delta(&granted) <= header::delta(&header));
            prop_assert_eq!(granted.fields[..2].to_vec(), header.fields[..2].to_vec());
            router.until(router.now.saturating_add(Span(gap)));
            let interval = router.gauge("interval_s");
            prop_assert!((0.001..=10.0).contains(&interval), "{interval}");
        }
    }

    /// What an interval hands out, as rates, is phi/d, if the same packets come again: whatever their windows and round-trip
    /// times. 1/512 byte of each is lost in rounding.
    #[test]
    fn an_interval_hands_out_phi(
        flows in prop::collection::vec((10u32..500, 2_000u32..1_000_000, 1u32..40), 1..10),
        waiting in 0u64..100_000,
    ) {
        let mut router = Router::slow("xcp", &[]);
        router.waiting = waiting;
        router.pass(100);
        let mut sum = 0.0;
        let mut slack = 0.0;
        let interval = router.now;
        for round in 0..2 {
            router.until(if round == 0 { interval } else { Time(interval.0 + 100_000_000) });
            for &(rtt, window, packets) in &flows {
                for _ in 0..packets {
                    let mut header = packet(rtt, window);
                    router.arrive(Some(&mut header), PACKET);
                    if round == 1 {
                        sum += change(&header) * 1000.0 / f64::from(rtt);
                        slack += 1000.0 / f64::from(rtt) / 256.0;
                    }
                }
            }
        }
        let change = router.gauge("change_bps") / 8.0;
        prop_assert!((sum - change).abs() <= slack + 1e-6 * change.abs(), "{sum} {change}");
    }
}
