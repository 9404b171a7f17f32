//! RFC 9438 by hand. A loss at 100 segments leaves 70 of them, W_max = 100 and K = cbrt(30/0.4) = 4.217163 s.

use airfair_schemes::ParamValue::{self, Bytes as Size, Flag, Number};
use airfair_schemes::places::CongestionCause::{FastLoss, LinkDrop, Mark, Timeout};
use airfair_schemes::places::{Acked, Congestion, FlowSetup};
use airfair_units::Bytes;

use super::{Flow, MSS, ack, ms, range, setup};

/// A flow with a window of `segments` just after a loss; its smoothed round-trip time is 100 ms.
fn lost_at(params: &[(&str, ParamValue)], segments: u64) -> Flow {
    let setup = FlowSetup { initial_window: Bytes(segments * MSS), rtt: Some(ms(100)), ..setup() };
    let mut flow = Flow::new("cubic", params, &setup);
    flow.congestion(FastLoss, segments * MSS);
    flow
}

/// The same flow after the acknowledgement that starts the epoch.
fn begun(params: &[(&str, ParamValue)]) -> Flow {
    let mut flow = lost_at(params, 100);
    // W_est = 70 + 0.529412/70 = 70.007563 > W_cubic(0) = 70.
    assert_eq!(flow.ack(1000), 70_007);
    flow
}

#[test]
fn slow_start_is_renos() {
    let mut flow = Flow::new("cubic", &[], &setup());
    assert_eq!(flow.ack(1000), 11_000);
    assert_eq!(flow.ack(2500), 12_000);
    assert_eq!(flow.acked(Acked { in_recovery: true, ..ack(1000) }), 12_000);
    assert_eq!(flow.acked(Acked { window_limited: false, ..ack(1000) }), 12_000);
    assert_eq!(flow.acked(Acked { cumulative: Bytes(0), ..ack(1000) }), 12_000);
    assert_eq!(flow.threshold(), 65_535 << 14);
    assert!(flow.law.allowance(flow.now).rate.is_none());
}

#[test]
fn a_loss_leaves_seven_tenths_of_what_is_in_flight() {
    let mut flow = lost_at(&[], 100);
    assert_eq!((flow.window(), flow.threshold()), (70_000, 70_000));
    assert_eq!(flow.congestion(FastLoss, 50_001), 35_000, "of FlightSize, not of cwnd");
    assert_eq!(flow.congestion(FastLoss, 1000), 2000, "a loss leaves two segments");
    assert_eq!(flow.threshold(), 2000);
    assert_eq!(flow.congestion(Mark, 2000), 1400, "a mark leaves one");
    assert_eq!(flow.congestion(Mark, 1000), 1000);
    assert_eq!(flow.threshold(), 2000);
    assert_eq!(flow.congestion(FastLoss, 100_000), 1000, "never raised");
    assert_eq!(flow.threshold(), 70_000);
    assert_eq!(lost_at(&[("beta", Number(0.5))], 100).window(), 50_000);
    let mut flow = lost_at(&[], 100);
    assert_eq!(flow.congestion(LinkDrop, 10_000), 70_000);
}

#[test]
fn in_the_concave_region_each_segment_adds_a_windowth_of_the_distance() {
    let mut flow = begun(&[]);
    // W_cubic(2) = 100 - 0.4 * 2.217163^3 = 95.640; target W_cubic(2.1) = 96.204029.
    // 70.007563 + (96.204029 - 70.007563)/70.007563 = 70.381758.
    assert_eq!(flow.after(ms(2000)).ack(1000), 70_381);
    // Two segments at once increase the window twice as much: 70.381758 + 2 * 25.822271/70.381758 = 71.115539.
    assert_eq!(flow.ack(2000), 71_115);
}

#[test]
fn the_convex_region_continues_above_w_max() {
    let mut flow = begun(&[]);
    // target W_cubic(5.1) = 100 + 0.4 * 0.882837^3 = 100.275230: 70.007563 + 30.267667/70.007563 = 70.439912.
    assert_eq!(flow.after(ms(5000)).ack(1000), 70_439);
}

#[test]
fn the_target_is_at_most_half_above_the_window() {
    let mut flow = begun(&[]);
    assert_eq!(flow.after(ms(10_000)).ack(1000), 70_507, "70.007563 + 0.5");
}

#[test]
fn a_target_below_the_window_changes_nothing() {
    let mut flow = begun(&[]);
    assert_eq!(flow.after(ms(2000)).ack(1_000_000), 96_204, "W_cubic(2.1)");
    // srtt = 7/8 * 100 ms: W_cubic(2.0875) = 100 - 0.4 * 2.129663^3 = 96.136.
    assert_eq!(flow.acked(Acked { rtt: Some(ms(0)), ..ack(1_000_000) }), 96_204);
}

#[test]
fn an_acknowledgement_of_more_than_the_window_reaches_the_target() {
    let mut flow = begun(&[]);
    assert_eq!(flow.after(ms(2000)).ack(1_000_000), 96_204);
}

#[test]
fn the_smoothed_round_trip_time_sets_how_far_the_target_lies_ahead() {
    let mut flow = begun(&[]);
    // srtt = 7/8 * 100 + 1/8 * 900 = 200 ms: target W_cubic(2.2) = 100 - 0.4 * 2.017163^3 = 96.716886, reached at once by an
    // acknowledgement of a whole window.
    assert_eq!(flow.after(ms(2000)).acked(Acked { rtt: Some(ms(900)), ..ack(1_000_000) }), 96_716);
    // Without a round-trip time from the set-up the first sample is the smoothed time.
    let mut flow = Flow::new("cubic", &[], &FlowSetup { initial_window: Bytes(100_000), ..setup() });
    flow.congestion(FastLoss, 100_000);
    flow.ack(1000);
    assert_eq!(flow.after(ms(2000)).acked(Acked { rtt: Some(ms(200)), ..ack(1_000_000) }), 96_716);
}

#[test]
fn c_sets_the_pace() {
    // K = cbrt(30/4) = 1.957434; target W_cubic(0.6) = 100 - 4 * 1.357434^3 = 89.994876.
    // 70.007563 + 19.987313/70.007563 = 70.293064.
    let mut flow = begun(&[("c", Number(4.0))]);
    assert_eq!(flow.after(ms(500)).ack(1000), 70_293);
}

#[test]
fn without_the_reno_friendly_region_the_window_is_the_cubic_one() {
    let plain = [("reno_friendly", Flag(false))];
    let mut flow = lost_at(&plain, 100);
    // Target W_cubic(0.1) = 100 - 0.4 * 4.117163^3 = 72.084022: 70 + 2.084022/70 = 70.029772.
    assert_eq!(flow.ack(1000), 70_029);
    // K = cbrt(3/0.4) = 1.957434, target W_cubic(0.1) = 10 - 0.4 * 1.857434^3 = 7.436689: 7 + 0.436689/7 = 7.062384, where
    // W_est is 7.075630.
    assert_eq!(lost_at(&plain, 10).ack(1000), 7062);
    assert_eq!(lost_at(&[], 10).ack(1000), 7075);
}

#[test]
fn below_reno_the_window_is_renos() {
    // alpha_cubic = 3 * 0.3/1.7 = 0.529412 segments a window until W_est reaches cwnd_prior, here 10, then 1.
    let mut flow = lost_at(&[], 10);
    let mut steps = Vec::new();
    for _ in 0..60 {
        let before = flow.window();
        let after = flow.ack(1000);
        steps.push((after - before) as f64 * before as f64 / 1e6);
    }
    assert!((steps[0] - 0.529).abs() < 0.01, "{steps:?}");
    assert!((steps[45] - 0.529).abs() < 0.01, "{steps:?}");
    let reached = steps.iter().position(|&s| s > 0.9).expect("Reno's slope");
    // 7 -> 10 takes (100 - 49)/2/0.529412 = 48.2 acknowledgements.
    assert!((48..=50).contains(&reached), "{reached}");
    assert!((steps[59] - 1.0).abs() < 0.01, "{steps:?}");
}

#[test]
fn the_window_before_the_loss_is_where_renos_slope_begins() {
    // A loss at two segments leaves two: W_est is at cwnd_prior already.
    let mut flow = lost_at(&[], 2);
    assert_eq!(flow.window(), 2000);
    assert_eq!(flow.ack(1000), 2500);
}

#[test]
fn an_acknowledgement_of_nothing_new_in_order_begins_no_epoch() {
    let mut flow = lost_at(&[], 100);
    assert_eq!(flow.acked(Acked { cumulative: Bytes(0), ..ack(1000) }), 70_000);
    assert_eq!(flow.after(ms(2000)).ack(1000), 70_007, "t = 0");
}

#[test]
fn a_first_slow_start_without_loss_leads_into_the_convex_region() {
    // ssthresh 10 from the beginning: cwnd_prior unset, so alpha is 1; W_max = 10, K = 0.
    let mut flow = Flow::new("cubic", &[("initial_ssthresh", Size(Bytes(10_000)))], &setup());
    assert_eq!(flow.ack(1000), 10_100);
    // t = 3 s: W_cubic = 10 + 0.4 * 27 = 20.8 is more than 1.5 * 10.1: 10.1 + 0.5.
    assert_eq!(flow.after(ms(3000)).ack(1000), 10_600);
}

#[test]
fn fast_convergence_lowers_w_max() {
    // A second loss at 70 segments, below W_max = 100: W_max = 70 * 1.7/2 = 59.5, cwnd = 49.
    let mut flow = lost_at(&[], 100);
    assert_eq!(flow.congestion(FastLoss, 70_000), 49_000);
    assert_eq!(flow.ack(1000), 49_010, "49 + 0.529412/49");
    // K = cbrt(10.5/0.4) = 2.971879; target W_cubic(2.1) = 59.5 - 0.4 * 0.871879^3 = 59.234886.
    // 49.010804 + 10.224082/49.010804 = 49.219413.
    assert_eq!(flow.after(ms(2000)).ack(1000), 49_219);
    // Without it W_max = 70: K = cbrt(21/0.4) = 3.744395; W_cubic(2.1) = 70 - 0.4 * 1.644395^3 = 68.221388.
    // 49.010804 + 19.210584/49.010804 = 49.402770.
    let mut flow = lost_at(&[("fast_convergence", Flag(false))], 100);
    flow.congestion(FastLoss, 70_000);
    flow.ack(1000);
    assert_eq!(flow.after(ms(2000)).ack(1000), 49_402);
    // A second loss at W_max itself does not reduce W_max: at the first loss 200 segments were in flight, so that the window stayed at 100.
    let setup = FlowSetup { initial_window: Bytes(100_000), rtt: Some(ms(100)), ..setup() };
    let mut flow = Flow::new("cubic", &[], &setup);
    assert_eq!(flow.congestion(FastLoss, 200_000), 100_000);
    flow.congestion(FastLoss, 100_000);
    flow.ack(1000);
    assert_eq!(flow.after(ms(2000)).ack(1000), 70_381, "as after one loss");
    // The first loss of a larger window: W_max = 200.
    let mut flow = Flow::new("cubic", &[], &FlowSetup { initial_window: Bytes(200_000), ..setup });
    flow.congestion(FastLoss, 200_000);
    flow.ack(1000);
    // K = cbrt(60/0.4) = 5.313293; W_cubic(2.1) = 200 - 0.4 * 3.213293^3 = 186.728960: 140.003781 + 0.333743.
    assert_eq!(flow.after(ms(2000)).ack(1000), 140_337);
}

#[test]
fn a_time_out_starts_over_from_where_avoidance_begins() {
    let mut flow = Flow::new("cubic", &[], &setup());
    assert_eq!(flow.congestion(Timeout, 10_000), 1000);
    assert_eq!(flow.threshold(), 7000, "section 4.8: beta, not a half");
    let again = Congestion { cause: Timeout, in_flight: Bytes(1000), pipe: Bytes(1000), repeated: true };
    assert_eq!(flow.congested(again), 1000);
    assert_eq!(flow.threshold(), 7000);
    assert_eq!((0..6).map(|_| flow.ack(1000)).last(), Some(7000));
    assert_eq!(flow.ack(1000), 7075, "W_est = 7 + 0.529412/7: cwnd_prior is 10");
    // K = 0 and W_max = 7: W_cubic(1) = 7.4. 7.075630 + 0.324370/7.075630 = 7.121473.
    assert_eq!(flow.after(ms(1000)).ack(1000), 7121);
}

/// A receiver's window of 40,000 bytes fills beyond a hole whose retransmission was lost, while the window is 7000.
#[test]
fn a_time_out_cuts_the_window_and_not_what_is_outstanding_behind_a_hole() {
    let mut flow = lost_at(&[], 10);
    assert_eq!(flow.window(), 7000);
    assert_eq!(flow.congestion(Timeout, 40_000), 1000);
    assert_eq!(flow.threshold(), 4900, "0.7 * 7000");
}

#[test]
fn a_loss_in_the_slow_start_after_a_time_out_is_an_ordinary_one() {
    let mut flow =
        Flow::new("cubic", &[], &FlowSetup { initial_window: Bytes(100_000), rtt: Some(ms(100)), ..setup() });
    flow.congestion(Timeout, 100_000);
    for _ in 0..49 {
        flow.ack(1000);
    }
    // At 50 segments: below W_max = 100, so W_max = 42.5; cwnd = 35.
    assert_eq!(flow.congestion(FastLoss, 50_000), 35_000);
    assert_eq!(flow.ack(1000), 35_015);
    // K = cbrt(7.5/0.4) = 2.656661; W_cubic(1.1) = 42.5 - 0.4 * 1.556661^3 = 40.991143: 35.015126 + 0.170670.
    assert_eq!(flow.after(ms(1000)).ack(1000), 35_185);
}

#[test]
fn time_in_which_the_application_was_the_limit_does_not_count() {
    let mut flow = begun(&[]);
    assert_eq!(flow.after(ms(5000)).acked(Acked { window_limited: false, ..ack(1000) }), 70_007);
    assert_eq!(flow.after(ms(2000)).ack(1000), 70_381, "t = 2 s");
    let mut flow = begun(&[]);
    flow.after(ms(5000)).sent(1000, 1000, false);
    assert_eq!(flow.after(ms(2000)).ack(1000), 70_381, "nothing was in flight for 5 s");
    let mut flow = begun(&[]);
    flow.after(ms(5000)).sent(1000, 2000, false);
    assert_eq!(flow.now.since(airfair_units::Time::ZERO), ms(6000));
    assert_eq!(flow.ack(1000), 70_439, "t = 5 s: something was");
    // The excluded time is excluded once.
    let mut flow = begun(&[]);
    flow.after(ms(3000)).sent(1000, 1000, false);
    flow.after(ms(2000)).acked(Acked { window_limited: false, ..ack(1000) });
    assert_eq!(flow.after(ms(2000)).ack(1000), 70_381);
}

#[test]
fn a_silence_begins_a_new_epoch() {
    let mut flow = begun(&[]);
    assert_eq!(flow.after(ms(5000)).idle(), 70_007, "no more than the initial window");
    // W_max = 100 again, from 70.007: K = 4.216800. The epoch's first acknowledgement: 70.007 + 0.529412/70.007.
    assert_eq!(flow.ack(1000), 70_014);
    // W_cubic(2.1) = 100 - 0.4 * 2.1168^3 = 96.205956: 70.014563 + 26.191393/70.014563 = 70.388649.
    assert_eq!(flow.after(ms(2000)).ack(1000), 70_388);
    let mut flow = Flow::new("cubic", &[], &setup());
    flow.ack(1000);
    assert_eq!(flow.idle(), 10_000);
}

#[test]
fn a_window_above_w_max_becomes_it() {
    // Slow start from 1 past W_max: a loss at 10 leaves W_max 10; then a limit of ssthresh far above.
    let mut flow = Flow::new("cubic", &[], &setup());
    flow.congestion(Timeout, 30_000);
    assert_eq!(flow.threshold(), 7000, "of the window, not of the 30,000 outstanding");
    flow.congestion(Mark, 40_000);
    assert_eq!((flow.window(), flow.threshold()), (1000, 28_000), "W_max is 0.85");
    assert_eq!((0..27).map(|_| flow.ack(1000)).last(), Some(28_000));
    assert_eq!(flow.ack(1000), 28_035, "W_est = 28 + 1/28, above cwnd_prior = 1");
    // W_max = 28, K = 0: W_cubic(2) = 31.2: 28.035714 + 3.164286/28.035714 = 28.148580.
    assert_eq!(flow.after(ms(2000)).ack(1000), 28_148);
}

#[test]
fn the_window_keeps_to_its_limit() {
    let limited = FlowSetup { window_limit: Bytes(10_050), ..setup() };
    let mut flow = Flow::new("cubic", &[], &limited);
    assert_eq!(flow.ack(1000), 10_050);
    let mut flow = Flow::new("cubic", &[("initial_ssthresh", Size(Bytes(1)))], &limited);
    assert_eq!(flow.ack(1000), 10_050);
    assert_eq!(flow.after(ms(60_000)).ack(1000), 10_050);
}

#[test]
fn parts_of_a_byte_add_up() {
    // At 1000 segments W_est grows by half a byte an acknowledgement: 700 of them make 370, not 0.
    let mut flow = lost_at(&[], 1000);
    let before = flow.window();
    for _ in 0..700 {
        flow.ack(1000);
    }
    assert_eq!(before, 700_000);
    assert_eq!(flow.window(), 700_529, "0.529412 segments a window of 700");
}

#[test]
fn parameters_have_ranges() {
    range("cubic", "c", &[Number(0.04), Number(1e6)], &[Number(0.0), Number(1e7), Flag(true)]);
    range("cubic", "beta", &[Number(0.01), Number(0.99)], &[Number(0.0), Number(1.0), Flag(true)]);
    range("cubic", "fast_convergence", &[Flag(false)], &[Number(0.0)]);
    range("cubic", "reno_friendly", &[Flag(false)], &[Number(0.0)]);
    range("cubic", "initial_ssthresh", &[Size(Bytes(1))], &[Size(Bytes(0))]);
}

/// Section 4.9: W_max, K and the time of the epoch are those of before.
#[test]
fn a_spurious_time_out_goes_on_with_the_function_of_before() {
    let [mut flow, mut undisturbed] = [(); 2].map(|()| begun(&[]));
    let window = flow.after(ms(100)).ack(1000);
    assert_eq!(undisturbed.after(ms(100)).ack(1000), window);
    assert_eq!(flow.congestion(Timeout, window), 1000);
    assert_eq!(flow.spurious(Timeout, window - 2000, 2000), window);
    assert_eq!(flow.threshold(), window);
    // The part of the window below a byte is lost.
    let (after, usual) = (flow.after(ms(500)).ack(1000), undisturbed.after(ms(500)).ack(1000));
    assert!(after.abs_diff(usual) <= 1, "{after} {usual}");
    // A fast retransmit likewise.
    flow.congestion(FastLoss, after);
    assert_eq!(flow.spurious(FastLoss, after, 0), after);
}
