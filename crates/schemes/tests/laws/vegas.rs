//! Brakmo and Peterson by hand. A window of W segments and a round-trip time RTT over a BaseRTT of 100 ms has
//! Diff = W (RTT - 100)/RTT segments queued: with 125 ms a fifth of W.

use airfair_schemes::ParamValue::{self, Bytes as Size, Flag, Number};
use airfair_schemes::places::CongestionCause::{FastLoss, LinkDrop, Mark, Timeout};
use airfair_schemes::places::{Acked, Congestion, FlowSetup};
use airfair_units::{Bytes, Span};

use super::{Flow, MSS, ack, ms, range, setup};

/// The acknowledgement that ends a round trip of `rtt` ms and delivers nothing in order.
fn end(rtt: u64) -> Acked {
    Acked { cumulative: Bytes(0), rtt: Some(ms(rtt)), round_ended: true, ..ack(1000) }
}

/// A flow in congestion avoidance with a window of `segments` that has measured 100 ms.
fn avoiding(params: &[(&str, ParamValue)], segments: u64) -> Flow {
    let mut all = vec![("initial_ssthresh", Size(Bytes(2 * MSS)))];
    all.extend_from_slice(params);
    let mut flow = Flow::new("vegas", &all, &FlowSetup { initial_window: Bytes(segments * MSS), ..setup() });
    // 100 ms, in recovery: the BaseRTT is updated, the window is not.
    assert_eq!(flow.acked(Acked { in_recovery: true, ..end(100) }), segments * MSS);
    flow
}

#[test]
fn avoidance_keeps_between_alpha_and_beta() {
    assert_eq!(avoiding(&[], 10).acked(end(100)), 11_000, "Diff 0 < 1");
    assert_eq!(avoiding(&[], 4).acked(end(125)), 5000, "Diff 0.8 < 1");
    assert_eq!(avoiding(&[], 5).acked(end(125)), 5000, "Diff 1");
    assert_eq!(avoiding(&[], 10).acked(end(125)), 10_000, "Diff 2");
    assert_eq!(avoiding(&[], 15).acked(end(125)), 15_000, "Diff 3");
    assert_eq!(avoiding(&[], 16).acked(end(125)), 15_000, "Diff 3.2 > 3");
    let linux = [("alpha", Number(2.0)), ("beta", Number(4.0))];
    assert_eq!(avoiding(&linux, 9).acked(end(125)), 10_000, "Diff 1.8 < 2");
    assert_eq!(avoiding(&linux, 16).acked(end(125)), 16_000, "Diff 3.2");
    assert_eq!(avoiding(&linux, 21).acked(end(125)), 20_000, "Diff 4.2 > 4");
}

#[test]
fn avoidance_decides_once_a_round_trip() {
    let mut flow = avoiding(&[], 10);
    assert_eq!(flow.acked(Acked { rtt: Some(ms(100)), ..ack(1000) }), 10_000);
    assert_eq!(flow.acked(end(125)), 11_000, "the smallest sample of the round trip: Diff 0");
    assert_eq!(flow.acked(end(125)), 11_000, "a new round trip: Diff 2.2");
    assert_eq!(flow.acked(Acked { rtt: None, ..end(0) }), 11_000, "nothing measured, nothing changed");
}

#[test]
fn a_round_trip_may_count_by_its_mean() {
    // 120 and 180 ms: the mean of 150 ms has Diff 10/3 > 3, the smallest 10/6.
    for (mean, window) in [(true, 9000), (false, 10_000)] {
        let mut flow = avoiding(&[("mean_rtt", Flag(mean))], 10);
        flow.acked(Acked { rtt: Some(ms(180)), ..ack(1000) });
        assert_eq!(flow.acked(end(120)), window);
    }
}

#[test]
fn the_smallest_round_trip_ever_is_the_base() {
    let mut flow = avoiding(&[], 10);
    assert_eq!(flow.acked(Acked { window_limited: false, ..end(50) }), 10_000);
    assert_eq!(flow.acked(end(80)), 9000, "Diff 10 * 30/80 = 3.75");
    // The round-trip time of the SYN does not count.
    let slow = FlowSetup { rtt: Some(Span(1)), ..setup() };
    let mut flow = Flow::new("vegas", &[("initial_ssthresh", Size(Bytes(2000)))], &slow);
    assert_eq!(flow.acked(end(100)), 11_000);
}

#[test]
fn growth_needs_a_full_window_and_no_recovery() {
    assert_eq!(avoiding(&[], 10).acked(Acked { window_limited: false, ..end(100) }), 10_000);
    assert_eq!(
        avoiding(&[], 16).acked(Acked { window_limited: false, ..end(125) }),
        15_000,
        "shrinking does not"
    );
    let mut flow = avoiding(&[], 16);
    assert_eq!(flow.acked(Acked { in_recovery: true, ..end(125) }), 16_000);
    assert_eq!(flow.acked(Acked { rtt: None, ..end(0) }), 16_000, "the samples went with their round trip");
}

#[test]
fn the_window_shrinks_to_two_segments_and_no_further() {
    let eager = [("alpha", Number(0.5)), ("beta", Number(0.5)), ("gamma", Number(0.2))];
    let mut flow = avoiding(&eager, 3);
    assert_eq!(flow.acked(end(200)), 2000);
    assert_eq!(flow.acked(end(200)), 2000);
    assert_eq!(flow.threshold(), 2000);
    assert_eq!(flow.acked(end(100)), 3000, "still avoidance");
    flow.congestion(Timeout, 2000);
    assert_eq!(flow.acked(end(200)), 1000, "the growing round trip of slow start");
    assert_eq!(flow.acked(end(200)), 1000, "one segment is not raised to two");
}

#[test]
fn the_threshold_follows_the_window_down() {
    let mut flow = Flow::new("vegas", &[], &setup());
    flow.congestion(FastLoss, 20_000);
    assert_eq!((flow.window(), flow.threshold()), (10_000, 10_000));
    flow.acked(Acked { in_recovery: true, ..end(100) });
    assert_eq!(flow.acked(end(200)), 9000);
    assert_eq!(flow.threshold(), 9000);
    assert_eq!(flow.acked(end(100)), 10_000, "avoidance: by one segment");
    assert_eq!(flow.threshold(), 9000);
}

#[test]
fn slow_start_doubles_every_second_round_trip() {
    let mut flow = Flow::new("vegas", &[], &FlowSetup { initial_window: Bytes(2000), ..setup() });
    assert_eq!(flow.ack(1000), 3000);
    assert_eq!(
        flow.acked(Acked { rtt: Some(ms(100)), round_ended: true, ..ack(2000) }),
        4000,
        "at most SMSS"
    );
    for _ in 0..3 {
        assert_eq!(flow.ack(1000), 4000, "stands still");
    }
    assert_eq!(flow.acked(end(100)), 4000);
    assert_eq!(flow.ack(500), 4500, "grows again");
    assert_eq!(flow.acked(Acked { window_limited: false, ..ack(1000) }), 4500);
    assert_eq!(flow.acked(Acked { in_recovery: true, ..ack(1000) }), 4500);
    assert_eq!(flow.acked(Acked { cumulative: Bytes(0), ..ack(1000) }), 4500);
}

#[test]
fn slow_start_ends_when_more_than_gamma_is_queued() {
    let start = |segments: u64| {
        let mut flow =
            Flow::new("vegas", &[], &FlowSetup { initial_window: Bytes(segments * MSS), ..setup() });
        assert_eq!(flow.acked(end(100)), segments * MSS, "the first round trip grows");
        flow
    };
    let mut flow = start(8);
    assert_eq!(flow.acked(end(125)), 7000, "Diff 1.6 > 1: an eighth less");
    assert_eq!(flow.threshold(), 7000);
    assert_eq!(flow.ack(1000), 7000, "avoidance");
    assert_eq!(flow.acked(end(100)), 8000);
    let mut flow = start(5);
    assert_eq!(flow.acked(end(125)), 5000, "Diff 1");
    assert_eq!(flow.ack(1000), 6000);
    assert_eq!(flow.acked(end(200)), 6000, "a growing round trip is not compared");
    assert_eq!(flow.acked(end(200)), 5250, "the next is");
    let mut flow = start(8);
    assert_eq!(flow.acked(Acked { rtt: None, ..end(0) }), 8000);
    assert_eq!(flow.ack(1000), 8000, "not compared without a measurement: it still stands");
}

#[test]
fn slow_start_looks_at_the_last_sample_of_the_round_trip() {
    for (params, window) in [(&[][..], 7000), (&[("mean_rtt", Flag(true))], 8000)] {
        let mut flow = Flow::new("vegas", params, &FlowSetup { initial_window: Bytes(8000), ..setup() });
        flow.acked(end(100));
        // Two round-trip times of segments sent while the window grew; Diff 1.6 by the last, 8 * 8.3/108.3 = 0.6 by the mean.
        flow.acked(Acked { rtt: Some(ms(100)), ..ack(0) });
        flow.acked(Acked { rtt: Some(ms(100)), ..ack(0) });
        assert_eq!(flow.acked(end(125)), window);
    }
}

#[test]
fn slow_start_stops_at_the_threshold() {
    let mut flow = Flow::new("vegas", &[("initial_ssthresh", Size(Bytes(10_000)))], &setup());
    assert_eq!(flow.ack(1000), 10_000);
}

#[test]
fn losses_are_renos() {
    for cause in [FastLoss, Mark] {
        let mut flow = Flow::new("vegas", &[], &setup());
        assert_eq!(flow.congestion(cause, 9001), 4500);
        assert_eq!(flow.threshold(), 4500);
        assert_eq!(flow.congestion(cause, 40_000), 4500, "never raised");
        let mut flow = Flow::new("vegas", &[("loss_factor", Number(0.75))], &setup());
        assert_eq!(flow.congestion(cause, 8000), 6000, "the paper's own");
    }
    let mut flow = Flow::new("vegas", &[], &setup());
    assert_eq!(flow.congestion(LinkDrop, 10_000), 10_000);
    assert_eq!(flow.threshold(), 65_535 << 14);
    flow.acked(end(100));
    assert_eq!(flow.congestion(Timeout, 10_000), 1000);
    assert_eq!(flow.threshold(), 5000);
    assert_eq!(flow.ack(1000), 2000, "slow start begins with a growing round trip");
    let again = Congestion { cause: Timeout, in_flight: Bytes(2000), pipe: Bytes(0), repeated: true };
    assert_eq!(flow.congested(again), 1000);
    assert_eq!(flow.threshold(), 5000);
    assert!(flow.law.allowance(flow.now).rate.is_none());
    let mut flow = Flow::new("vegas", &[], &setup());
    flow.congestion(Timeout, 30_000);
    assert_eq!(flow.threshold(), 5000, "of the window: in fast recovery more than that is outstanding");
}

#[test]
fn a_silence_restarts_slow_start() {
    let mut flow = Flow::new("vegas", &[], &setup());
    flow.ack(1000);
    flow.acked(end(100));
    assert_eq!(flow.idle(), 10_000);
    assert_eq!(flow.ack(1000), 11_000);
}

#[test]
fn parameters_have_ranges() {
    let numbers = |low: f64, high: f64| {
        ([Number(low), Number(high)], [Number(low - 0.1), Number(high + 1.0), Flag(true)])
    };
    for (name, low, high) in
        [("alpha", 0.0, 3.0), ("beta", 1.0, 1e6), ("gamma", 0.0, 1e6), ("loss_factor", 0.0, 1.0)]
    {
        let (good, bad) = numbers(low, high);
        if name == "alpha" {
            range("vegas", name, &good, &[Number(-0.1), Number(f64::NAN)]);
        } else {
            range("vegas", name, &good, &bad);
        }
    }
    range("vegas", "mean_rtt", &[Flag(true)], &[Number(1.0)]);
    range("vegas", "initial_ssthresh", &[Size(Bytes(1))], &[Size(Bytes(0))]);
}
