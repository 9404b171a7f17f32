//! draft-cardwell-iccrg-bbr-congestion-control-00 by hand: a path of 8 Mbit/s and 100 ms, so a bandwidth-delay product of
//! 100 kB; send quantum 2 segments, so a target of gain * 100 kB + 6 kB.

use airfair_schemes::ParamValue::{Integer, Span as Length};
use airfair_schemes::places::CongestionCause::{FastLoss, LinkDrop, Mark, Timeout};
use airfair_schemes::places::{Acked, Congestion, FlowSetup, PartialAck, RateSample};
use airfair_units::{Bytes, Span, Time};

use super::{Flow, ack, ms, range, setup};

/// A sample of `mbps` Mbit/s.
fn sample(mbps: u64) -> Option<RateSample> {
    Some(RateSample { delivered: Bytes(mbps * 1000), interval: ms(8), app_limited: false })
}

fn limited(mbps: u64) -> Option<RateSample> {
    sample(mbps).map(|s| RateSample { app_limited: true, ..s })
}

/// An acknowledgement of a segment, of data sent a round trip ago, with 60 kB in flight.
fn steady(flow: &Flow) -> Acked {
    Acked {
        rtt: Some(ms(100)),
        rate_sample: sample(8),
        prior_in_flight: Bytes(60_000),
        in_flight: Bytes(59_000),
        sent_at: Time(flow.now.as_nanos() - 100_000_000),
        ..ack(1000)
    }
}

fn start_of(params: &[(&str, airfair_schemes::ParamValue)], limit: u64, seed: u64) -> Flow {
    let setup = FlowSetup { rtt: Some(ms(100)), window_limit: Bytes(limit), ..setup() };
    Flow::with_seed("bbr", params, &setup, seed)
}

fn start() -> Flow {
    start_of(&[], 1 << 40, 1)
}

/// One round trip with this sample.
fn round(flow: &mut Flow, rate_sample: Option<RateSample>) {
    flow.after(ms(100));
    let acked = Acked { round_ended: true, rate_sample, ..steady(flow) };
    flow.acked(acked);
}

/// A flow in Drain: the fourth round without growth has ended with 200 kB in flight.
fn drain_of(params: &[(&str, airfair_schemes::ParamValue)], seed: u64) -> Flow {
    let mut flow = start_of(params, 1 << 40, seed);
    for _ in 0..4 {
        flow.after(ms(100));
        let acked = Acked { round_ended: true, in_flight: Bytes(200_000), ..steady(&flow) };
        flow.acked(acked);
    }
    flow
}

/// A flow that has just entered ProbeBW; at 8 Mbit/s its pacing rate identifies the phase.
fn probing(seed: u64) -> Flow {
    let mut flow = drain_of(&[], seed);
    let acked = steady(&flow);
    flow.acked(acked);
    flow
}

/// A flow in the first phase of ProbeBW, whose gain is 5/4.
fn raised() -> Flow {
    let mut flow = (1..100).map(probing).find(|f| f.rate() == 10_000_000).expect("chance");
    // As much in flight as the target allows.
    for _ in 0..300 {
        let acked = Acked { prior_in_flight: Bytes(0), ..steady(&flow) };
        flow.acked(acked);
    }
    assert_eq!((flow.window(), flow.rate()), (206_000, 10_000_000));
    flow
}

#[test]
fn the_first_rate_is_the_initial_window_in_a_round_trip() {
    let flow = start();
    // 2.885 * 10 kB / 100 ms.
    assert_eq!((flow.window(), flow.rate(), flow.quantum()), (10_000, 2_308_000, 2000));
    assert_eq!(Flow::new("bbr", &[], &setup()).rate(), 230_800_000, "or in 1 ms");
    let lost = Flow::new("bbr", &[], &FlowSetup { syn_lost: true, rtt: Some(ms(100)), ..setup() });
    assert_eq!((lost.window(), lost.rate(), lost.quantum()), (1000, 230_800, 1000));
    assert_eq!(start_of(&[], 4500, 1).window(), 4500);
    assert_eq!(start_of(&[], 500, 1).window(), 1000);
    assert!(flow.law.ssthresh().is_none());
    assert_eq!(flow.law.partial_ack(), PartialAck::RepairsNext);
}

#[test]
fn the_send_quantum_follows_the_rate() {
    // In Startup the rate is 2.885 times the sample.
    let of = |bits: u64| {
        let setup = FlowSetup { initial_window: Bytes(1), rtt: Some(Span::from_secs(1000)), ..setup() };
        let mut flow = Flow::new("bbr", &[], &setup);
        let sample = RateSample { delivered: Bytes(bits), interval: Span::from_secs(8), app_limited: false };
        flow.acked(Acked { rate_sample: Some(sample), ..ack(1000) });
        (flow.rate(), flow.quantum())
    };
    assert_eq!(of(415_944), (1_199_998, 1000));
    assert_eq!(of(415_945), (1_200_001, 2000), "from 1.2 Mbit/s");
    assert_eq!(of(8_318_890), (23_999_997, 2000));
    assert_eq!(of(8_318_892), (24_000_003, 3000), "from 24 Mbit/s: what leaves in 1 ms");
    assert_eq!(of(400_000_000), (1_154_000_000, 65_536), "at most 64 kB");
    let big = FlowSetup { mss: Bytes(9000), rtt: Some(ms(1)), ..setup() };
    assert_eq!(Flow::new("bbr", &[], &big).rate(), 230_800_000);
    assert_eq!(Flow::new("bbr", &[], &big).quantum(), 28_850);
    let big = FlowSetup { mss: Bytes(90_000), initial_window: Bytes(90_000), rtt: Some(ms(10)), ..setup() };
    assert_eq!(Flow::new("bbr", &[], &big).quantum(), 90_000, "at least a segment");
}

#[test]
fn startup_raises_rate_and_window() {
    let mut flow = start();
    round(&mut flow, sample(1));
    // 2.885 * 1 Mbit/s; BDP 12.5 kB, target 2.885 * 12.5 + 6 = 42.06 kB.
    assert_eq!((flow.rate(), flow.window()), (2_885_000, 11_000));
    round(&mut flow, limited(8));
    assert_eq!((flow.rate(), flow.window()), (23_080_000, 12_000), "a larger sample counts, limited or not");
    round(&mut flow, limited(4));
    assert_eq!(flow.rate(), 23_080_000, "a smaller one of an idle application does not");
    round(&mut flow, None);
    assert_eq!((flow.rate(), flow.window()), (23_080_000, 14_000));
    round(&mut flow, Some(RateSample { delivered: Bytes(0), ..sample(1).unwrap() }));
    assert_eq!(flow.rate(), 23_080_000);
}

#[test]
fn before_the_pipe_is_full_the_window_stops_at_the_target() {
    let mut flow = start();
    flow.after(ms(100));
    // 1 Mbit/s: target 42.062 kB. With less than the initial window delivered, the window grows beyond the target.
    let first = Acked { rate_sample: sample(1), bytes: Bytes(9999), ..steady(&flow) };
    flow.acked(Acked { bytes: Bytes(5000), ..first });
    assert_eq!(flow.acked(Acked { bytes: Bytes(35_000), ..first }), 50_000);
    assert_eq!(flow.acked(first), 50_000, "above the target it stays");
    let mut flow = start();
    flow.after(ms(100));
    // 40 kbit/s: BDP 500 B, target 2.885 * 500 + 6000.
    let slow = RateSample { delivered: Bytes(40), interval: ms(8), app_limited: false };
    let acked = Acked { rate_sample: Some(slow), bytes: Bytes(4000), ..steady(&flow) };
    assert_eq!(flow.acked(acked), 14_000, "4 kB delivered");
    assert_eq!(flow.acked(acked), 18_000, "8 kB");
    assert_eq!(flow.acked(Acked { bytes: Bytes(2000), ..acked }), 18_000, "10 kB: no longer fewer");
}

#[test]
fn without_a_round_trip_time_the_target_is_the_initial_window() {
    let mut flow = Flow::new("bbr", &[], &setup());
    let acked = Acked { rate_sample: sample(8), bytes: Bytes(10_000), ..ack(1000) };
    assert_eq!(flow.acked(acked), 10_000, "10 kB delivered, and 10 kB of window are not below the target");
    assert_eq!(flow.acked(Acked { rtt: Some(ms(100)), ..acked }), 20_000, "with one it is 294 kB");
}

#[test]
fn three_rounds_without_a_quarter_more_fill_the_pipe() {
    let rates = |samples: &[Option<RateSample>]| {
        let mut flow = start();
        samples.iter().for_each(|&s| round(&mut flow, s));
        flow.rate()
    };
    let startup = |mbps: u64| mbps * 2_885_000;
    assert_eq!(rates(&[sample(8); 3]), startup(8));
    assert!(rates(&[sample(8); 4]) < startup(8), "the first sets the level, three do not exceed it");
    assert_eq!(rates(&[sample(8), sample(8), sample(8), sample(10), sample(10), sample(10)]), startup(10));
    assert!(rates(&[sample(8), sample(8), sample(8), sample(9)]) < startup(9), "9 < 1.25 * 8");
    assert!(rates(&[sample(8), sample(8), sample(9), sample(9)]) < startup(9));
    assert_eq!(rates(&[sample(8), limited(8), limited(8), limited(8), sample(8), sample(8)]), startup(8));
    assert_eq!(rates(&[sample(8), None, None, None, sample(8), sample(8)]), startup(8));
    // Only the ends of rounds count.
    let mut flow = start();
    for _ in 0..10 {
        let acked = steady(&flow);
        flow.acked(acked);
    }
    assert_eq!(flow.rate(), startup(8));
}

#[test]
fn drain_empties_the_queue_of_startup() {
    let mut flow = drain_of(&[], 1);
    assert_eq!(flow.rate(), 8_000_000 * 1000 / 2885, "2.77 Mbit/s");
    assert_eq!(flow.quantum(), 2000);
    // Until no more than the bandwidth-delay product and three quanta, 106 kB, are in flight.
    let acked = Acked { in_flight: Bytes(106_001), ..steady(&flow) };
    flow.acked(acked);
    assert_eq!(flow.rate(), 8_000_000 * 1000 / 2885);
    flow.acked(Acked { in_flight: Bytes(106_000), ..acked });
    assert!(flow.rate() >= 8_000_000);
    // The window does not shrink meanwhile: up to 2.885 * 100 + 6 kB.
    let mut flow = drain_of(&[], 1);
    let acked = Acked { in_flight: Bytes(200_000), bytes: Bytes(1_000_000), ..steady(&flow) };
    assert_eq!(flow.acked(acked), 294_500);
}

#[test]
fn probing_begins_in_any_phase_but_that_of_three_quarters() {
    let mut quiet = [0; 8];
    for seed in 1..=70 {
        let mut flow = probing(seed);
        assert!([8_000_000, 10_000_000].contains(&flow.rate()), "never 3/4: {}", flow.rate());
        // From phase 2 there are six round trips at gain 1 to the next 5/4, from phase 7 one, from phase 0 none.
        let trips = (0..7).take_while(|_| {
            let still = flow.rate() == 8_000_000;
            flow.after(ms(101));
            let acked = steady(&flow);
            flow.acked(acked);
            still
        });
        quiet[trips.count()] += 1;
    }
    assert!(quiet[..7].iter().all(|n| (3..=20).contains(n)) && quiet[7] == 0, "one in seven each: {quiet:?}");
}

#[test]
fn the_gains_go_round() {
    let mut flow = raised();
    let mut seen = Vec::new();
    for _ in 0..9 {
        seen.push(flow.rate() / 1_000_000);
        flow.after(ms(101));
        // More in flight than 5/4 of the product and three quanta, or than the product: neither phase ends early or late.
        let acked = Acked { prior_in_flight: Bytes(131_000), ..steady(&flow) };
        flow.acked(acked);
    }
    assert_eq!(seen, [10, 6, 8, 8, 8, 8, 8, 8, 10]);
    assert_eq!(flow.window(), 206_000, "cwnd_gain 2");
}

#[test]
fn the_phase_of_five_quarters_ends_full_or_at_a_loss() {
    let next = |prior: u64, lost: u64, wait: u64| {
        let mut flow = raised();
        flow.after(ms(wait));
        let acked = Acked { prior_in_flight: Bytes(prior), lost: Bytes(lost), ..steady(&flow) };
        flow.acked(acked);
        flow.rate()
    };
    assert_eq!(next(130_999, 0, 101), 10_000_000, "not yet 5/4 * 100 + 6 kB");
    assert_eq!(next(131_000, 0, 101), 6_000_000);
    assert_eq!(next(0, 1, 101), 6_000_000);
    assert_eq!(next(131_000, 1, 100), 10_000_000, "not yet a round-trip time");
}

#[test]
fn the_phase_of_three_quarters_ends_empty_or_after_a_round_trip_time() {
    let next = |prior: u64, wait: u64| {
        let mut flow = raised();
        flow.after(ms(101));
        let acked = Acked { prior_in_flight: Bytes(131_000), ..steady(&flow) };
        flow.acked(acked);
        assert_eq!(flow.rate(), 6_000_000);
        flow.after(ms(wait));
        let acked = Acked { prior_in_flight: Bytes(prior), ..steady(&flow) };
        flow.acked(acked);
        flow.rate()
    };
    assert_eq!(next(106_001, 50), 6_000_000);
    assert_eq!(next(106_000, 50), 8_000_000);
    assert_eq!(next(106_001, 100), 6_000_000);
    assert_eq!(next(106_001, 101), 8_000_000);
}

#[test]
fn a_phase_of_one_lasts_a_round_trip_time() {
    let mut flow = (1..100).map(probing).find(|f| f.rate() == 8_000_000).expect("chance");
    // The phases with gain 1 do not depend on the bytes in flight: ten acknowledgements in a round-trip time, no phase.
    for _ in 0..10 {
        flow.after(ms(10));
        let acked = Acked { prior_in_flight: Bytes(200_000), ..steady(&flow) };
        flow.acked(acked);
        assert_eq!(flow.rate(), 8_000_000);
    }
}

#[test]
fn the_largest_rate_of_ten_rounds_counts() {
    let mut flow = raised();
    round(&mut flow, sample(16));
    assert_eq!(flow.rate(), 20_000_000);
    for _ in 0..9 {
        round(&mut flow, sample(8));
        assert_eq!(flow.rate(), 20_000_000, "phase 0 lasts, since too little is in flight");
    }
    round(&mut flow, sample(8));
    assert_eq!(flow.rate(), 10_000_000);
    // A sample without delivered bytes is ignored.
    for _ in 0..20 {
        round(&mut flow, Some(RateSample { delivered: Bytes(0), ..sample(1).unwrap() }));
    }
    assert_eq!(flow.rate(), 10_000_000);
    let mut flow = start_of(&[("bw_rounds", Integer(2))], 1 << 40, 1);
    let startup = |mbps: u64| mbps * 2_885_000;
    round(&mut flow, sample(16));
    round(&mut flow, sample(8));
    round(&mut flow, sample(8));
    assert_eq!(flow.rate(), startup(16), "before the pipe is full the rate only rises");
    round(&mut flow, sample(8));
    assert!(flow.rate() <= 10_000_000, "but the filter has forgotten");
}

#[test]
fn the_window_is_bound_by_its_target_when_the_pipe_is_full() {
    let mut flow = raised();
    assert_eq!(flow.ack(1000), 206_000);
    // A shorter round-trip time lowers the window at once: 2 * 50 + 6 kB.
    let acked = Acked { rtt: Some(ms(50)), ..steady(&flow) };
    assert_eq!(flow.acked(acked), 106_000);
    // An equal or longer round-trip time does not change the window.
    assert_eq!(flow.acked(Acked { rtt: Some(ms(70)), ..acked }), 106_000);
    // The window grows back by the delivered bytes.
    let mut flow = raised();
    flow.congestion(Timeout, 0);
    assert_eq!(flow.ack(500), 4000, "at least four segments");
    assert_eq!(flow.ack(1500), 5500);
}

#[test]
fn the_window_keeps_to_its_limit() {
    let mut flow = start_of(&[], 12_500, 1);
    for _ in 0..20 {
        round(&mut flow, sample(8));
    }
    assert_eq!(flow.window(), 12_500);
}

#[test]
fn a_loss_conserves_packets_for_a_round_trip() {
    let mut flow = raised();
    flow.after(ms(10));
    let loss =
        Congestion { cause: FastLoss, in_flight: Bytes(206_000), pipe: Bytes(150_000), repeated: false };
    assert_eq!(flow.congested(loss), 151_000, "what is in the network and one segment");
    let sent_at = flow.now;
    let repair = Acked { in_flight: Bytes(150_000), in_recovery: true, ..steady(&flow) };
    assert_eq!(flow.acked(repair), 151_000);
    assert_eq!(flow.acked(Acked { lost: Bytes(10_000), in_flight: Bytes(139_000), ..repair }), 141_000);
    assert_eq!(flow.acked(Acked { in_flight: Bytes(145_000), bytes: Bytes(2000), ..repair }), 147_000);
    flow.after(ms(90));
    assert_eq!(flow.acked(Acked { sent_at: Time(sent_at.as_nanos() - 1), ..repair }), 151_000, "sent before");
    // A round trip later the window grows by the delivered bytes.
    assert_eq!(flow.acked(Acked { sent_at, in_flight: Bytes(100_000), ..repair }), 152_000);
    assert_eq!(
        flow.acked(Acked { lost: Bytes(5000), in_flight: Bytes(100_000), sent_at, ..repair }),
        148_000
    );
    assert_eq!(flow.recovered(100_000), 206_000, "the window from before the loss");
}

#[test]
fn recovery_cuts_to_one_segment_at_least() {
    let mut flow = raised();
    let loss = Congestion { cause: FastLoss, in_flight: Bytes(206_000), pipe: Bytes(0), repeated: false };
    assert_eq!(flow.congested(loss), 1000);
    let repair = Acked { bytes: Bytes(0), in_flight: Bytes(0), in_recovery: true, ..steady(&flow) };
    assert_eq!(
        flow.acked(Acked { lost: Bytes(50_000), ..repair }),
        1000,
        "not four while packets are conserved"
    );
    // Outside of recovery a loss does not reduce the window.
    let mut flow = raised();
    let acked = Acked { lost: Bytes(50_000), ..steady(&flow) };
    assert_eq!(flow.acked(acked), 206_000);
}

#[test]
fn a_second_loss_keeps_the_window_that_is_restored() {
    let mut flow = raised();
    let loss =
        Congestion { cause: FastLoss, in_flight: Bytes(206_000), pipe: Bytes(150_000), repeated: false };
    flow.congested(loss);
    assert_eq!(flow.congested(Congestion { pipe: Bytes(100_000), ..loss }), 101_000);
    assert_eq!(flow.congestion(Timeout, 0), 1000);
    let acked = Acked { in_flight: Bytes(0), ..steady(&flow) };
    assert_eq!(flow.acked(acked), 4000, "a time-out ends packet conservation");
    assert_eq!(flow.recovered(0), 206_000);
    // After recovery the window of that time counts.
    let mut flow = raised();
    flow.congested(loss);
    flow.recovered(0);
    let acked = Acked { rtt: Some(ms(50)), ..steady(&flow) };
    assert_eq!(flow.acked(acked), 106_000);
    flow.congested(loss);
    assert_eq!(flow.recovered(0), 151_000, "a loss with more in the pipe than the window had");
    let mut flow = raised();
    flow.congested(loss);
    flow.recovered(0);
    let acked = Acked { rtt: Some(ms(50)), ..steady(&flow) };
    flow.acked(acked);
    flow.congested(Congestion { pipe: Bytes(10_000), ..loss });
    assert_eq!(flow.recovered(0), 106_000);
    let acked = Acked { in_flight: Bytes(0), ..steady(&flow) };
    assert_eq!(flow.acked(acked), 106_000, "conservation has ended");
}

#[test]
fn a_time_outs_recovery_ends_when_what_was_outstanding_is_acknowledged() {
    let mut flow = raised();
    assert_eq!(flow.congestion(Timeout, 3000), 1000);
    assert_eq!(flow.ack(1000), 4000);
    assert_eq!(flow.acked(Acked { cumulative: Bytes(0), ..ack(5000) }), 9000, "selectively acknowledged");
    assert_eq!(flow.ack(1000), 10_000);
    assert_eq!(flow.ack(1000), 206_000, "restored");
    // A fast recovery after it has its own end.
    flow.congestion(Timeout, 3000);
    flow.ack(1000);
    flow.congestion(FastLoss, 10_000);
    assert_eq!(flow.acked(Acked { in_flight: Bytes(5000), ..ack(5000) }), 11_000);
    assert_eq!(flow.recovered(0), 206_000);
    // The end reported by the transport ends the recovery.
    flow.congestion(Timeout, 3000);
    assert_eq!(flow.recovered(0), 206_000);
    flow.acked(Acked { rtt: Some(ms(50)), ..steady(&flow) });
    assert_eq!(flow.ack(3000), 106_000);
    let loss = Congestion { cause: FastLoss, in_flight: Bytes(1), pipe: Bytes(10_000), repeated: false };
    assert_eq!(flow.congested(loss), 11_000);
    assert_eq!(
        flow.acked(Acked { in_flight: Bytes(9000), ..ack(3000) }),
        12_000,
        "a new conservation is not ended by it"
    );
}

#[test]
fn a_round_trip_needs_data_that_arrived() {
    let mut flow = raised();
    let loss =
        Congestion { cause: FastLoss, in_flight: Bytes(206_000), pipe: Bytes(150_000), repeated: false };
    flow.congested(loss);
    let sent_at = flow.now;
    let known = Acked { bytes: Bytes(0), in_flight: Bytes(155_000), sent_at, ..steady(&flow) };
    assert_eq!(flow.acked(known), 155_000, "still conserving");
    assert_eq!(
        flow.acked(Acked { bytes: Bytes(1), in_flight: Bytes(170_000), ..known }),
        155_001,
        "no longer"
    );
}

#[test]
fn marks_and_link_drops_are_not_heeded() {
    let mut flow = raised();
    assert_eq!(flow.congestion(Mark, 206_000), 206_000);
    assert_eq!(flow.congestion(LinkDrop, 206_000), 206_000);
}

/// A flow whose smallest round-trip time was last measured 10 s ago, just before ProbeRTT.
fn stale() -> Flow {
    let mut flow = raised();
    flow.after(ms(10_000));
    let acked = Acked { rtt: Some(ms(101)), ..steady(&flow) };
    assert_eq!(flow.acked(acked), 206_000, "10 s are not more than 10 s");
    flow.after(ms(1));
    flow
}

#[test]
fn the_round_trip_time_is_probed_after_ten_seconds() {
    let mut flow = stale();
    let acked = Acked { rtt: Some(ms(101)), in_flight: Bytes(50_000), ..steady(&flow) };
    assert_eq!((flow.acked(acked), flow.rate()), (4000, 8_000_000));
    flow.after(ms(50));
    assert_eq!(flow.acked(Acked { in_flight: Bytes(4001), ..acked }), 4000);
    // Four segments in flight from here on; both 200 ms and a round trip have to pass.
    flow.after(ms(50));
    let reached = flow.now;
    let low = Acked { in_flight: Bytes(4000), ..acked };
    flow.acked(low);
    flow.after(ms(200));
    assert_eq!(flow.acked(Acked { sent_at: reached, ..low }), 4000, "200 ms are not more than 200 ms");
    flow.after(ms(1));
    assert_eq!(
        flow.acked(Acked { sent_at: Time(reached.as_nanos() - 1), ..low }),
        4000,
        "not yet a round trip"
    );
    // Restored: 206 kB, bound by 2 * BDP of 101 ms + 6 kB = 208 kB, plus the acknowledged segment.
    assert_eq!(flow.acked(Acked { sent_at: reached, ..low }), 207_000);
    assert!(flow.rate() == 8_000_000 || flow.rate() == 10_000_000, "back in ProbeBW");
    // The stamp is new: another ten seconds.
    flow.after(ms(10_000));
    assert_eq!(flow.acked(Acked { rtt: Some(ms(150)), ..acked }), 208_000);
    flow.after(ms(1));
    assert_eq!(flow.acked(Acked { rtt: Some(ms(150)), ..acked }), 4000);
}

#[test]
fn a_new_smallest_round_trip_time_puts_the_probe_off() {
    let mut flow = stale();
    flow.now = Time(flow.now.as_nanos() - 1_000_000);
    let acked = steady(&flow);
    flow.acked(acked);
    flow.after(ms(10_000));
    assert_eq!(flow.acked(Acked { rtt: Some(ms(101)), ..acked }), 206_000, "as small as the smallest");
}

#[test]
fn lengths_of_the_probe_are_parameters() {
    let params = [("rtt_window", Length(ms(1000))), ("probe_rtt", Length(ms(50)))];
    let mut flow = drain_of(&params, 1);
    let acked = steady(&flow);
    flow.acked(acked);
    flow.after(ms(1001));
    let reached = flow.now;
    let low = Acked { rtt: Some(ms(101)), in_flight: Bytes(3000), ..acked };
    flow.acked(low);
    assert_eq!(flow.window(), 4000);
    flow.after(ms(51));
    assert!(flow.acked(Acked { sent_at: reached, ..low }) > 4000);
}

#[test]
fn rates_of_data_sent_while_probing_do_not_lower_the_estimate() {
    let mut flow = stale();
    let entered = flow.now;
    let low = Acked { rtt: Some(ms(101)), in_flight: Bytes(4000), ..steady(&flow) };
    flow.acked(low);
    // 30 rounds of a tenth of the rate, sent in ProbeRTT: the filter keeps 8 Mbit/s.
    for _ in 0..30 {
        flow.after(ms(5));
        flow.acked(Acked { rate_sample: sample(1), round_ended: true, sent_at: entered, ..low });
    }
    assert_eq!(flow.rate(), 8_000_000);
    // Segments sent before ProbeRTT: their samples count as soon as ten rounds have passed.
    for _ in 0..10 {
        flow.acked(Acked {
            rate_sample: sample(1),
            round_ended: true,
            sent_at: Time(entered.as_nanos() - 1),
            ..low
        });
    }
    assert_eq!(flow.rate(), 1_000_000);
    // Segments sent in ProbeRTT and acknowledged after it do not count; 40 rounds later, segments sent after it do.
    let mut flow = stale();
    flow.acked(low);
    let last = flow.after(ms(200)).now;
    flow.acked(Acked { sent_at: last, rate_sample: None, ..low });
    flow.after(ms(1));
    flow.acked(Acked { sent_at: last, rate_sample: None, ..low });
    let left = flow.now;
    let rates: Vec<u64> = [last, Time(left.as_nanos() + 1)]
        .into_iter()
        .map(|sent_at| {
            for _ in 0..10 {
                flow.after(ms(1));
                flow.acked(Acked { rate_sample: sample(1), round_ended: true, sent_at, ..low });
            }
            flow.rate()
        })
        .collect();
    assert!(rates[0] >= 6_000_000 && rates[1] <= 1_250_000, "{rates:?}");
}

#[test]
fn a_probe_before_the_pipe_is_full_leads_back_to_startup() {
    let mut flow = start();
    round(&mut flow, sample(8));
    flow.after(ms(10_001));
    let low = Acked { rtt: Some(ms(101)), in_flight: Bytes(0), ..steady(&flow) };
    assert_eq!(flow.acked(low), 4000);
    let reached = flow.now;
    flow.after(ms(201));
    flow.acked(Acked { sent_at: reached, bytes: Bytes(1_000_000), ..low });
    assert_eq!(flow.rate(), 23_080_000);
    assert_eq!(
        flow.window(),
        1_011_000,
        "below the target it grows by what is delivered, from the 11 kB of before"
    );
}

#[test]
fn a_restart_from_idle_paces_at_the_estimate_and_puts_the_probe_off() {
    // In ProbeBW after an idle period: gain 1, whatever the phase.
    let mut flow = raised();
    assert_eq!(flow.after(ms(20_000)).idle(), 206_000, "cwnd stays");
    assert_eq!(flow.rate(), 8_000_000);
    let acked = Acked { rtt: Some(ms(101)), prior_in_flight: Bytes(0), in_flight: Bytes(0), ..steady(&flow) };
    // No ProbeRTT: the idle period has emptied the queue. The round-trip time counts: 2 * 101 + 6 = 208 kB.
    assert_eq!(flow.acked(acked), 207_000);
    assert_eq!(flow.rate(), 10_000_000);
    // After the next ten seconds ProbeRTT starts.
    flow.after(ms(10_001));
    assert_eq!(flow.acked(Acked { rtt: Some(ms(102)), ..acked }), 4000);
    assert_eq!(flow.idle(), 4000);
}

#[test]
fn data_into_an_empty_path_restart_only_an_idle_application() {
    let sent = |app_limited: bool, in_flight: u64, retransmission: bool| {
        let mut flow = raised();
        let acked = Acked { rate_sample: if app_limited { limited(8) } else { sample(8) }, ..steady(&flow) };
        flow.acked(acked);
        flow.sent(1000, in_flight, retransmission);
        flow.rate()
    };
    assert_eq!(sent(true, 1000, false), 8_000_000);
    assert_eq!(sent(true, 2000, false), 10_000_000, "something was in flight");
    assert_eq!(sent(false, 1000, false), 10_000_000, "paced, not idle");
    assert_eq!(sent(true, 1000, true), 10_000_000, "a repair");
    let mut flow = start();
    flow.idle();
    assert_eq!(flow.rate(), 2_308_000, "only in ProbeBW");
    let mut flow = drain_of(&[], 1);
    flow.idle();
    assert_eq!(flow.rate(), 8_000_000 * 1000 / 2885);
}

#[test]
fn parameters_have_ranges() {
    range("bbr", "bw_rounds", &[Integer(1), Integer(1000)], &[Integer(0), Integer(1001)]);
    range(
        "bbr",
        "rtt_window",
        &[Length(Span(1)), Length(ms(3_600_000))],
        &[Length(Span(0)), Length(ms(3_600_001)), Integer(1)],
    );
    range("bbr", "probe_rtt", &[Length(Span(1)), Length(ms(60_000))], &[Length(Span(0)), Length(ms(60_001))]);
}

#[test]
fn a_spurious_time_out_restores_the_window() {
    let mut flow = probing(1);
    let window = flow.window();
    assert_eq!(flow.congestion(Timeout, window), 1000);
    assert_eq!(flow.spurious(Timeout, window, 0), window);
}
