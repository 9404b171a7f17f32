//! TCP-FeW: NewReno with a hundredth of its growth, by hand.

use airfair_schemes::ParamValue::{Flag, Number};
use airfair_schemes::places::CongestionCause::{FastLoss, Timeout};
use airfair_schemes::places::{FlowSetup, PartialAck};
use airfair_units::Bytes;

use super::{Flow, MSS, ack, build, range, setup};

/// A flow in congestion avoidance with a window of two segments.
fn two_segments(params: &[(&str, airfair_schemes::ParamValue)]) -> Flow {
    let mut flow = Flow::new("few", params, &FlowSetup { initial_window: Bytes(4 * MSS), ..setup() });
    assert_eq!(flow.congestion(FastLoss, 4 * MSS), 2 * MSS);
    flow
}

/// The number of round trips, each with as many acknowledgements as the window has whole segments, until the window has three segments.
fn rounds_to_three(mut flow: Flow) -> u32 {
    (1..1000)
        .find(|_| {
            let segments = flow.window() / MSS;
            (0..segments).for_each(|_| {
                flow.ack(MSS);
            });
            flow.window() >= 3 * MSS
        })
        .unwrap()
}

/// From W = 2 one hundred round trips lead to W = 3 where each adds a hundredth of a segment. Two acknowledgements a round trip add
/// 2 a/W, a little less as W nears 3: (3^2 - 2^2)/2 = 2.5 segments of a/W each, that is 250 acknowledgements, 125 round trips.
#[test]
fn from_two_to_three_segments_takes_a_hundred_round_trips() {
    assert_eq!(rounds_to_three(two_segments(&[])), 125);
    assert_eq!(rounds_to_three(two_segments(&[("growth", Number(0.1))])), 13);
    let mut flow = two_segments(&[]);
    // As many acknowledgements as there are segments in the window, fractions included: 100 round trips.
    let mut acknowledged = 0;
    for _ in 0..100 {
        acknowledged += flow.window();
        while acknowledged >= MSS {
            flow.ack(MSS);
            acknowledged -= MSS;
        }
    }
    assert!(flow.window().abs_diff(3 * MSS) <= 10, "{}", flow.window());
}

#[test]
fn a_growth_of_one_is_newreno() {
    let params = [("growth", Number(1.0))];
    let (mut few, mut newreno) = (two_segments(&params), Flow::new("newreno", &[], &setup()));
    newreno.congestion(FastLoss, 4 * MSS);
    for _ in 0..50 {
        assert_eq!(few.ack(700), newreno.ack(700));
    }
    let mut flow = two_segments(&[]);
    assert_eq!(flow.ack(MSS), 2005, "0.01 * 1000 * 1000 / 2000");
    assert_eq!(build("few", &[]).unwrap().partial_ack(), PartialAck::RepairsNext);
}

#[test]
fn byte_counting_adds_a_hundredth_for_a_window() {
    let mut flow = two_segments(&[("byte_counting", Flag(true))]);
    assert_eq!([flow.ack(MSS), flow.ack(MSS)], [2000, 2010]);
    // Parts of a byte add up: 0.1 bytes for each window of two segments.
    let mut slow = two_segments(&[("byte_counting", Flag(true)), ("growth", Number(0.0001))]);
    let windows: Vec<u64> = (0..44).map(|_| slow.ack(MSS)).collect();
    assert_eq!((windows[19], windows[21], windows[43]), (2000, 2001, 2002));
}

#[test]
fn slow_start_is_reno_s_unless_it_is_limited() {
    let start = FlowSetup { initial_window: Bytes(2 * MSS), ..setup() };
    let mut flow = Flow::new("few", &[], &start);
    assert_eq!([flow.ack(MSS), flow.ack(400)], [3000, 3400]);
    let mut flow = Flow::new("few", &[("limit_slow_start", Flag(true))], &start);
    let windows: Vec<u64> = (0..100).map(|_| flow.ack(MSS)).collect();
    assert_eq!(windows[..3], [2009, 2019, 2029], "0.01 in 1/65536 is 655/65536");
    assert_eq!(windows[99], 2000 + 100 * MSS * 655 / 65536);
    flow.congestion(Timeout, 4 * MSS);
    assert_eq!((flow.window(), flow.threshold()), (MSS, 2000));
    assert!(ack(1).window_limited);
}

#[test]
fn losses_are_newreno_s() {
    let mut flow = two_segments(&[]);
    assert_eq!((flow.threshold(), flow.recovered(0)), (2 * MSS, 2 * MSS));
    assert_eq!(flow.congestion(Timeout, 2 * MSS), MSS);
    range("few", "growth", &[Number(0.0001), Number(1.0)], &[Number(0.0), Number(1.5)]);
}
