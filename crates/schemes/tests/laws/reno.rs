//! RFC 5681, 3465 and 6582 by hand, for `reno` and `newreno`.

use airfair_schemes::ParamValue::{Bytes as Size, Flag, Integer, Number};
use airfair_schemes::places::CongestionCause::{FastLoss, LinkDrop, Mark, Timeout};
use airfair_schemes::places::{Acked, Congestion, FlowSetup, PartialAck};
use airfair_units::Bytes;

use super::{Flow, MSS, ack, build, range, setup};

/// A flow in congestion avoidance with a window of `segments`, which is also ssthresh.
fn avoiding(name: &str, params: &[(&str, airfair_schemes::ParamValue)], segments: u64) -> Flow {
    let setup = FlowSetup { initial_window: Bytes(2 * segments * MSS), ..setup() };
    let mut flow = Flow::new(name, params, &setup);
    assert_eq!(flow.congestion(FastLoss, 2 * segments * MSS), segments * MSS);
    assert_eq!(flow.threshold(), segments * MSS);
    flow
}

#[test]
fn the_first_window_is_the_initial_window() {
    let of = |setup: FlowSetup| Flow::new("reno", &[], &setup).window();
    assert_eq!(of(setup()), 10_000);
    assert_eq!(of(FlowSetup { syn_lost: true, ..setup() }), 1000, "RFC 5681 section 3.1: one segment");
    assert_eq!(of(FlowSetup { window_limit: Bytes(4500), ..setup() }), 4500);
    assert_eq!(of(FlowSetup { window_limit: Bytes(500), ..setup() }), 1000, "never below a segment");
    assert_eq!(of(FlowSetup { initial_window: Bytes(500), ..setup() }), 1000);
    let flow = Flow::new("reno", &[], &setup());
    assert_eq!(flow.threshold(), 65_535 << 14, "the largest window that TCP can advertise");
    let allowance = flow.law.allowance(flow.now);
    assert_eq!((allowance.rate, allowance.quantum), (None, None));
}

#[test]
fn slow_start_adds_what_is_acknowledged_up_to_a_segment() {
    let mut flow = Flow::new("reno", &[], &setup());
    assert_eq!(flow.ack(1000), 11_000);
    assert_eq!(flow.ack(300), 11_300, "ACK division gains nothing");
    assert_eq!(flow.ack(2500), 12_300, "equation 2: at most SMSS");
    let mut flow = Flow::new("reno", &[("abc_limit", Integer(2))], &setup());
    assert_eq!(flow.ack(2500), 12_000, "RFC 3465: at most L SMSS");
    assert_eq!(flow.ack(1500), 13_500);
}

#[test]
fn slow_start_ends_at_the_threshold() {
    let size = Size(Bytes(11_000));
    let mut flow = Flow::new("reno", &[("initial_ssthresh", size)], &setup());
    assert_eq!(flow.ack(1000), 11_000);
    assert_eq!(flow.ack(1000), 11_090, "1000 * 1000 / 11000 = 90: avoidance when they are equal");
}

#[test]
fn the_window_grows_only_when_it_was_the_limit_and_nothing_is_repaired() {
    let mut flow = Flow::new("reno", &[], &setup());
    assert_eq!(flow.acked(Acked { window_limited: false, ..ack(1000) }), 10_000);
    assert_eq!(flow.acked(Acked { in_recovery: true, ..ack(1000) }), 10_000);
    assert_eq!(flow.acked(Acked { cumulative: Bytes(0), ..ack(1000) }), 10_000, "only SACKed");
    let mut flow = avoiding("reno", &[], 5);
    assert_eq!(flow.acked(Acked { cumulative: Bytes(0), ..ack(1000) }), 5000);
    assert_eq!(flow.acked(Acked { window_limited: false, ..ack(1000) }), 5000);
}

#[test]
fn avoidance_adds_a_segment_a_window() {
    let mut flow = avoiding("reno", &[], 5);
    assert_eq!(flow.ack(1000), 5200, "equation 3: 1000 * 1000 / 5000");
    assert_eq!(flow.ack(1000), 5392, "1000 * 1000 / 5200 = 192.3");
    assert_eq!(flow.ack(2000), 5577, "per acknowledgement, not per byte: 185.5");
    // A tenth of a byte each: the remainder of the division is kept, until a loss.
    let tiny = FlowSetup { mss: Bytes(10), initial_window: Bytes(2000), ..setup() };
    let mut flow = Flow::new("reno", &[], &tiny);
    assert_eq!(flow.congestion(FastLoss, 2000), 1000);
    assert_eq!((0..9).map(|_| flow.ack(10)).max(), Some(1000));
    assert_eq!(flow.ack(10), 1001);
    assert_eq!((0..9).map(|_| flow.ack(10)).max(), Some(1001));
    flow.congestion(FastLoss, 2000);
    assert_eq!((0..9).map(|_| flow.ack(10)).max(), Some(1000));
}

#[test]
fn byte_counting_adds_a_segment_when_a_window_is_acknowledged() {
    let mut flow = avoiding("reno", &[("byte_counting", Flag(true))], 5);
    assert_eq!((0..4).map(|_| flow.ack(1000)).max(), Some(5000));
    assert_eq!(flow.ack(1000), 6000);
    assert_eq!(flow.ack(12_500), 7000, "one segment an acknowledgement; 6500 bytes are left over");
    assert_eq!(flow.ack(400), 7000);
    assert_eq!(flow.ack(100), 8000, "6500 + 500");
    flow.ack(7900);
    assert_eq!(flow.congestion(FastLoss, 8000), 4000);
    assert_eq!(flow.ack(1000), 4000, "a reduction forgets what was counted");
    assert_eq!(flow.ack(2900), 4000);
    assert_eq!(flow.congestion(LinkDrop, 4000), 4000);
    assert_eq!(flow.ack(100), 5000, "a link drop does not");
}

#[test]
fn a_loss_or_mark_halves_what_is_in_flight() {
    for cause in [FastLoss, Mark] {
        let mut flow = Flow::new("reno", &[], &setup());
        assert_eq!(flow.congestion(cause, 9001), 4500);
        assert_eq!(flow.threshold(), 4500, "equation 4: FlightSize / 2, not cwnd / 2");
        assert_eq!(flow.congestion(cause, 3000), 2000, "at least two segments");
        assert_eq!(flow.threshold(), 2000);
    }
    let mut flow = Flow::new("reno", &[], &setup());
    assert_eq!(flow.congestion(LinkDrop, 10_000), 10_000);
    assert_eq!(flow.threshold(), 65_535 << 14);
}

#[test]
fn a_time_out_leaves_one_segment() {
    let mut flow = Flow::new("reno", &[], &setup());
    assert_eq!(flow.congestion(Timeout, 10_000), 1000);
    assert_eq!(flow.threshold(), 5000);
    let again = Congestion { cause: Timeout, in_flight: Bytes(1000), pipe: Bytes(1000), repeated: true };
    assert_eq!(flow.ack(1000), 2000);
    assert_eq!(flow.congested(again), 1000);
    assert_eq!(flow.threshold(), 5000, "section 3.1: held when the timer expires again");
    assert_eq!((0..4).map(|_| flow.ack(1000)).last(), Some(5000), "slow start up to ssthresh");
    assert_eq!(flow.ack(1000), 5200);
    assert_eq!(flow.congestion(Timeout, 1000), 1000);
    assert_eq!(flow.threshold(), 2000);
}

#[test]
fn each_time_out_sets_ssthresh_if_configured() {
    for name in ["reno", "newreno"] {
        let each = [("each_timeout_halves", Flag(true))];
        let mut flow = Flow::new(name, &each, &setup());
        assert_eq!(flow.congestion(Timeout, 10_000), 1000);
        assert_eq!(flow.threshold(), 5000);
        let again =
            Congestion { cause: Timeout, in_flight: Bytes(10_000), pipe: Bytes(1000), repeated: true };
        assert_eq!(flow.congested(again), 1000);
        assert_eq!(flow.threshold(), 2000, "half of a window of one segment, at least two");
        let lost = FlowSetup { syn_lost: true, ..setup() };
        assert_eq!(Flow::new(name, &each, &lost).threshold(), 2000);
        assert_eq!(Flow::new(name, &[], &lost).threshold(), 65_535 << 14);
    }
}

/// A window of 5 segments, ten in flight: duplicate acknowledgements have permitted the others. RFC 5681 equation 4 allows half of ten.
#[test]
fn a_time_out_in_recovery_halves_flight_size_if_configured() {
    for name in ["reno", "newreno"] {
        for (flight, threshold) in [(false, 2500), (true, 5000)] {
            let mut flow = Flow::new(name, &[("flight_at_timeout", Flag(flight))], &setup());
            assert_eq!(flow.congestion(FastLoss, 10_000), 5000);
            assert_eq!(flow.congestion(Timeout, 10_000), 1000);
            assert_eq!(flow.threshold(), threshold);
        }
    }
}

/// RFC 3168: with the parameter set, marks halve the window down to one segment; a loss leaves two segments, and ssthresh is never less.
#[test]
fn marks_reduce_the_window_to_one_segment_if_configured() {
    for (to_one, after) in [(false, [2000, 2000, 2000]), (true, [1500, 1000, 1000])] {
        let mut flow = Flow::new("newreno", &[("mark_to_one", Flag(to_one))], &setup());
        flow.congestion(FastLoss, 6000);
        let windows = [3000, 1500, 1000].map(|in_flight| flow.congestion(Mark, in_flight));
        assert_eq!((windows, flow.threshold()), (after, 2000));
    }
    let mut flow = Flow::new("newreno", &[("mark_to_one", Flag(true))], &setup());
    assert_eq!(flow.congestion(FastLoss, 3000), 2000, "only marks");
}

/// In fast recovery duplicate acknowledgements permit more than the window: 8000 bytes of window after a halving, 40,000
/// outstanding. Half of the window is less than half of FlightSize.
#[test]
fn a_time_out_in_recovery_halves_the_window_and_not_what_inflation_let_out() {
    let mut flow = Flow::new("newreno", &[], &setup());
    assert_eq!(flow.congestion(FastLoss, 16_000), 8000);
    assert_eq!(flow.congestion(Timeout, 40_000), 1000);
    assert_eq!(flow.threshold(), 4000);
}

#[test]
fn after_a_time_out_slow_start_adds_one_segment_until_it_ends() {
    let mut flow = Flow::new("reno", &[("abc_limit", Integer(2))], &setup());
    flow.congestion(Timeout, 6000);
    assert_eq!(flow.ack(2000), 2000, "RFC 3465 section 2.3");
    assert_eq!(flow.ack(2000), 3000);
    flow.ack(1000);
    assert_eq!(flow.congestion(FastLoss, 40_000), 3333);
    assert_eq!(flow.ack(2000), 5333, "avoidance came between");
}

#[test]
fn a_loss_never_raises_the_window() {
    let mut flow = Flow::new("reno", &[], &setup());
    flow.congestion(Timeout, 10_000);
    assert_eq!(flow.congestion(FastLoss, 10_000), 1000);
    assert_eq!(flow.threshold(), 5000);
}

#[test]
fn recovery_ends_with_ssthresh_or_with_what_is_in_flight() {
    for in_flight in [0, 2500, 9000] {
        assert_eq!(avoiding("reno", &[], 5).recovered(in_flight), 5000, "RFC 5681 section 3.2 step 6");
    }
    for (in_flight, window) in [(0, 2000), (500, 2000), (2500, 3500), (9000, 5000)] {
        assert_eq!(
            avoiding("newreno", &[], 5).recovered(in_flight),
            window,
            "RFC 6582 section 3.2 step 3 (1)"
        );
    }
    let mut flow = avoiding("newreno", &[], 5);
    flow.recovered(0);
    assert_eq!(flow.ack(1000), 3000, "then slow start up to ssthresh");
}

#[test]
fn a_silence_restarts_with_the_initial_window() {
    let mut flow = Flow::new("reno", &[], &setup());
    flow.ack(1000);
    assert_eq!(flow.idle(), 10_000, "section 4.1: min(IW, cwnd)");
    assert_eq!(flow.congestion(FastLoss, 10_000), 5000);
    assert_eq!(flow.idle(), 5000);
    let mut flow = Flow::new("reno", &[], &FlowSetup { syn_lost: true, ..setup() });
    flow.ack(1000);
    assert_eq!(flow.idle(), 1000, "the initial window was one segment");
}

#[test]
fn the_window_keeps_to_its_limit() {
    for params in [&[][..], &[("initial_ssthresh", Size(Bytes(1)))], &[("byte_counting", Flag(true))]] {
        let limited = FlowSetup { window_limit: Bytes(10_050), ..setup() };
        let mut flow = Flow::new("reno", params, &limited);
        assert_eq!(flow.ack(1000), 10_050);
        assert_eq!(flow.ack(10_050), 10_050);
    }
}

#[test]
fn a_partial_acknowledgement_is_answered_by_name() {
    assert_eq!(build("reno", &[]).ok().unwrap().partial_ack(), PartialAck::EndsRecovery);
    assert_eq!(build("newreno", &[]).ok().unwrap().partial_ack(), PartialAck::RepairsNext);
}

#[test]
fn newreno_has_the_window_of_reno() {
    let mut flow = avoiding("newreno", &[("byte_counting", Flag(true)), ("abc_limit", Integer(2))], 5);
    assert_eq!(flow.ack(5000), 6000);
    flow.congestion(Timeout, 9000);
    assert_eq!(flow.ack(2000), 2000);
    let mut flow = Flow::new("newreno", &[("abc_limit", Integer(2))], &setup());
    assert_eq!(flow.ack(2000), 12_000);
    let mut flow = Flow::new("newreno", &[("initial_ssthresh", Size(Bytes(5000)))], &setup());
    assert_eq!(flow.ack(1000), 10_100);
}

#[test]
fn parameters_have_ranges() {
    for name in ["reno", "newreno"] {
        range(name, "abc_limit", &[Integer(1), Integer(64)], &[Integer(0), Integer(65), Number(1.0)]);
        range(name, "initial_ssthresh", &[Size(Bytes(1))], &[Size(Bytes(0)), Integer(1)]);
        range(name, "byte_counting", &[Flag(true)], &[Integer(1)]);
        range(name, "each_timeout_halves", &[Flag(true)], &[Integer(1)]);
        range(name, "flight_at_timeout", &[Flag(true)], &[Integer(1)]);
        range(name, "mark_to_one", &[Flag(true)], &[Integer(1)]);
    }
}

/// RFC 4015: the window is what is in flight and what the acknowledgement has released, up to the initial window; slow start leads back
/// to the flight of before.
#[test]
fn a_spurious_time_out_is_taken_back() {
    let mut flow = avoiding("reno", &[], 20);
    assert_eq!(flow.congestion(Timeout, 20_000), 1000);
    assert_eq!(flow.threshold(), 10_000);
    assert_eq!(flow.spurious(Timeout, 18_000, 2000), 20_000);
    assert_eq!(flow.threshold(), 20_000);
    assert_eq!(flow.ack(1000), 20_050, "congestion avoidance goes on");
    // The initial window of this flow is 40 segments; a burst of more is not released.
    let mut flow = Flow::new("reno", &[], &setup());
    for _ in 0..40 {
        flow.ack(1000);
    }
    flow.congestion(Timeout, 50_000);
    assert_eq!(flow.spurious(Timeout, 5000, 45_000), 15_000);
    assert_eq!(flow.threshold(), 65_535 << 14, "the flow was in slow start");
    assert_eq!(flow.ack(1000), 16_000);
}

#[test]
fn repeated_time_outs_are_taken_back_together() {
    let mut flow = avoiding("reno", &[("each_timeout_halves", Flag(true))], 20);
    flow.congestion(Timeout, 20_000);
    let again = Congestion { cause: Timeout, in_flight: Bytes(20_000), pipe: Bytes(1000), repeated: true };
    flow.congested(again);
    assert_eq!(flow.threshold(), 2000);
    assert_eq!(flow.spurious(Timeout, 19_000, 1000), 20_000);
    assert_eq!(flow.threshold(), 20_000);
}

#[test]
fn a_spurious_fast_retransmit_is_taken_back() {
    let mut flow = avoiding("newreno", &[], 20);
    flow.congestion(FastLoss, 20_000);
    assert_eq!(flow.window(), 10_000);
    assert_eq!(flow.recovered(3000), 4000);
    assert_eq!(flow.spurious(FastLoss, 3000, 17_000), 20_000);
    assert_eq!(flow.threshold(), 20_000);
    // A mark is no loss: the state before it is not remembered.
    flow.congestion(Mark, 20_000);
    assert_eq!(flow.spurious(FastLoss, 20_000, 1000), 10_000);
}
