//! The laws alone on ideal paths: losses at fixed distances, and a bottleneck with an endless queue.

use std::collections::VecDeque;

use airfair_schemes::ParamValue::{self, Flag};
use airfair_schemes::places::CongestionCause::FastLoss;
use airfair_schemes::places::{Acked, FlowSetup, RateSample};
use airfair_units::{Bytes, Rate, Span, Time};

use super::{Flow, MSS, ack, ms, setup};

/// Average window in segments, over time, when one of `every` segments is lost and each round-trip time is `rtt`.
/// Acknowledgements cover `stretch` segments.
fn average(name: &str, params: &[(&str, ParamValue)], rtt: Span, every: u64, guess: u64) -> f64 {
    let stretch = if guess < 1000 { 1 } else { guess / 50 };
    let start = FlowSetup { initial_window: Bytes(guess * MSS), ..setup() };
    let mut flow = Flow::new(name, params, &start);
    let (mut area, mut duration) = (0.0, 0.0);
    for epoch in 0..12 {
        // A loss, and the round trip of its retransmission.
        let window = flow.congestion(FastLoss, flow.window());
        flow.after(rtt).acked(Acked { in_recovery: true, ..ack(window) });
        flow.recovered(window);
        let mut segments = window / MSS;
        let mut sums = (window as f64 * rtt.as_secs_f64(), rtt.as_secs_f64());
        while segments < every {
            let window = flow.window();
            let step = Span(rtt.as_nanos() * stretch * MSS / window);
            flow.after(step).acked(Acked { rtt: Some(rtt), ..ack(stretch * MSS) });
            segments += stretch;
            sums = (sums.0 + window as f64 * step.as_secs_f64(), sums.1 + step.as_secs_f64());
        }
        if epoch >= 6 {
            area += sums.0;
            duration += sums.1;
        }
    }
    area / duration / MSS as f64
}

/// A row of RFC 9438's tables 1 and 2: round-trip time in ms, segments per loss, average window of Reno and of CUBIC with C of
/// 0.04, 0.4 and 4, in segments. The text computes them (Reno's 1.2/sqrt(p), CUBIC's equation 6).
type Row = (u64, u64, u64, [u64; 3]);

const TABLES: [Row; 14] = [
    (100, 100, 12, [12, 12, 12]),
    (100, 1_000, 38, [38, 38, 59]),
    (100, 10_000, 120, [120, 187, 333]),
    (100, 100_000, 379, [593, 1054, 1874]),
    (100, 1_000_000, 1200, [3332, 5926, 10_538]),
    (100, 10_000_000, 3795, [18_740, 33_325, 59_261]),
    (100, 100_000_000, 12_000, [105_383, 187_400, 333_250]),
    (10, 100, 12, [12, 12, 12]),
    (10, 1_000, 38, [38, 38, 38]),
    (10, 10_000, 120, [120, 120, 120]),
    (10, 100_000, 379, [379, 379, 379]),
    (10, 1_000_000, 1200, [1200, 1200, 1874]),
    (10, 10_000_000, 3795, [3795, 5926, 10_538]),
    (10, 100_000_000, 12_000, [18_740, 33_325, 59_261]),
];

fn check(what: &str, measured: f64, expected: u64) {
    println!("{what}: {measured:.1} (RFC 9438: {expected})");
    let ratio = measured / expected as f64;
    assert!((0.85..1.15).contains(&ratio), "{what}: {measured:.1} instead of {expected}");
}

#[test]
fn reno_has_the_average_window_of_the_table() {
    for (rtt, every, reno, _) in TABLES.into_iter().take(7) {
        let params = [("byte_counting", Flag(every > 100_000))];
        let what = format!("reno, {rtt} ms, 1/{every}");
        check(&what, average("reno", &params, ms(rtt), every, reno), reno);
    }
}

#[test]
fn cubic_has_the_average_window_of_the_tables() {
    for (rtt, every, _, cubic) in TABLES {
        for (c, expected) in [0.04, 0.4, 4.0].into_iter().zip(cubic) {
            // One flow alone: without fast convergence (section 4.7).
            let params = [("c", ParamValue::Number(c)), ("fast_convergence", Flag(false))];
            let what = format!("cubic, C {c}, {rtt} ms, 1/{every}");
            check(&what, average("cubic", &params, ms(rtt), every, expected), expected);
        }
    }
}

/// State of a segment in transit.
struct InFlight {
    acked_at: Time,
    sent_at: Time,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    queued: f64,
}

/// Results of a flow over a bottleneck without losses.
#[derive(Debug)]
struct Shares {
    /// Throughput, bit/s.
    rate: f64,
    /// Mean queue length at the arrival of a segment, segments.
    queued: f64,
    least_in_flight: usize,
    most_in_flight: usize,
}

/// A flow that always has data, over a bottleneck of `rate` with an endless queue and `delay` there and back. Measured
/// over the time from `from` to `until`.
fn bottleneck(name: &str, rate: Rate, delay: Span, from: Span, until: Span) -> Shares {
    let mut flow = Flow::new(name, &[], &FlowSetup { rtt: Some(delay), ..setup() });
    let start = flow.now;
    let serve = rate.time_for(Bytes(MSS));
    let mut path: VecDeque<InFlight> = VecDeque::new();
    let (mut link_free, mut next_send) = (start, start);
    let (mut delivered, mut delivered_at, mut first_sent) = (0u64, start, start);
    let (mut round_until, mut limited) = (0u64, true);
    let mut shares = Shares { rate: 0.0, queued: 0.0, least_in_flight: usize::MAX, most_in_flight: 0 };
    let (mut bytes, mut arrived) = (0u64, 0u64);
    loop {
        let allowance = flow.law.allowance(flow.now);
        let room = (path.len() as u64 + 1) * MSS <= allowance.window.unwrap().get();
        limited |= !room;
        let acked_at = path.front().map_or(Time::NEVER, |s| s.acked_at);
        let measured = flow.now.since(start) > from;
        if room && next_send.max(flow.now) < acked_at {
            flow.now = next_send.max(flow.now);
            if path.is_empty() {
                (first_sent, delivered_at) = (flow.now, flow.now);
            }
            let queued = link_free.since(flow.now).as_secs_f64() / serve.as_secs_f64();
            link_free = link_free.max(flow.now) + serve;
            path.push_back(InFlight {
                acked_at: link_free + delay,
                sent_at: flow.now,
                delivered,
                delivered_at,
                first_sent,
                queued,
            });
            flow.sent(MSS, path.len() as u64 * MSS, false);
            next_send = flow.now + allowance.rate.map_or(Span(0), |r| r.time_for(Bytes(MSS)));
        } else {
            flow.now = acked_at;
            if flow.now.since(start) > until {
                shares.rate = bytes as f64 * 8.0 / (until - from).as_secs_f64();
                shares.queued /= arrived as f64;
                return shares;
            }
            let before = path.len() as u64 * MSS;
            let s = path.pop_front().unwrap();
            delivered += MSS;
            let round_ended = s.delivered >= round_until;
            if round_ended {
                round_until = delivered;
            }
            let interval = flow.now.since(s.delivered_at).max(s.sent_at.since(s.first_sent));
            (delivered_at, first_sent) = (flow.now, s.sent_at);
            let sample =
                RateSample { delivered: Bytes(delivered - s.delivered), interval, app_limited: false };
            flow.acked(Acked {
                prior_in_flight: Bytes(before),
                in_flight: Bytes(before - MSS),
                rtt: Some(flow.now.since(s.sent_at)),
                rate_sample: Some(sample),
                round_ended,
                window_limited: limited,
                sent_at: s.sent_at,
                ..ack(MSS)
            });
            limited = false;
            if measured {
                bytes += MSS;
                arrived += 1;
                shares.queued += s.queued;
                shares.least_in_flight = shares.least_in_flight.min(path.len() + 1);
                shares.most_in_flight = shares.most_in_flight.max(path.len() + 1);
            }
        }
    }
}

#[test]
fn vegas_fills_the_path_and_queues_one_to_three_segments() {
    // 8 Mbit/s and 50 ms: 51 segments with the one in service.
    let got = bottleneck("vegas", Rate::from_mbps(8), ms(50), Span::from_secs(5), Span::from_secs(30));
    println!("vegas: {got:?}");
    assert!(got.rate > 7.99e6, "{got:?}");
    assert!((1.0..=3.0).contains(&got.queued), "{got:?}");
}

#[test]
fn bbr_fills_the_path_with_a_short_queue_and_empties_it_every_ten_seconds() {
    // Startup's queue is drained within a second; then one ProbeRTT of about 250 ms in ten seconds.
    let got = bottleneck("bbr", Rate::from_mbps(8), ms(50), Span::from_secs(2), Span::from_secs(22));
    println!("bbr: {got:?}");
    assert!(got.rate > 0.95 * 8e6, "{got:?}");
    assert!(got.queued < 10.0, "a fifth of the bandwidth-delay product: {got:?}");
    assert!(got.least_in_flight <= 4, "{got:?}");
    assert!(got.most_in_flight <= 2 * 51 + 6, "two bandwidth-delay products and three quanta: {got:?}");
}
