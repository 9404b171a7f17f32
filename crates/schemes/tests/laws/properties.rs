//! Properties of every law under arbitrary events.

use airfair_schemes::places::{
    Acked, Congestion, CongestionCause, FlowSetup, Idle, RateSample, Sent, Spurious,
};
use airfair_units::{Bytes, Span, Time};
use proptest::prelude::*;

use super::Flow;

#[derive(Debug, Clone)]
enum Event {
    Wait(u64),
    Acked(Acked),
    Congestion(Congestion),
    Sent(Sent),
    Spurious(Spurious),
    Recovered(u64),
    Idle(u64),
}

/// Usual sizes, and sizes that should never occur.
fn size() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0u64..200_000, 2 => 0u64..1 << 40, 1 => any::<u64>(), 1 => Just(u64::MAX)]
}

fn rtt() -> impl Strategy<Value = Option<Span>> {
    proptest::option::of(size().prop_map(|n| Span(n.saturating_mul(1000))))
}

fn acked() -> impl Strategy<Value = Acked> {
    let sizes = (size(), size(), prop_oneof![3 => Just(0), 1 => size()], size(), size());
    let sample = proptest::option::of((size(), size(), any::<bool>()));
    (sizes, rtt(), sample, any::<[bool; 2]>(), proptest::bool::weighted(0.8), size()).prop_map(
        |((bytes, cumulative, lost, prior, in_flight), rtt, sample, flags, window_limited, sent_at)| Acked {
            bytes: Bytes(bytes),
            cumulative: Bytes(cumulative),
            lost: Bytes(lost),
            prior_in_flight: Bytes(prior),
            in_flight: Bytes(in_flight),
            rtt,
            rate_sample: sample.map(|(delivered, interval, app_limited)| RateSample {
                delivered: Bytes(delivered),
                interval: Span(interval),
                app_limited,
            }),
            round_ended: flags[0],
            window_limited,
            in_recovery: flags[1],
            sent_at: Time(sent_at),
        },
    )
}

fn congestion() -> impl Strategy<Value = Congestion> {
    use CongestionCause::{FastLoss, LinkDrop, Mark, Timeout};
    let cause = prop_oneof![Just(FastLoss), Just(Timeout), Just(Mark), Just(LinkDrop)];
    (cause, size(), size(), any::<bool>()).prop_map(|(cause, in_flight, pipe, repeated)| Congestion {
        cause,
        in_flight: Bytes(in_flight),
        pipe: Bytes(pipe),
        repeated,
    })
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        2 => size().prop_map(|n| Event::Wait(n.saturating_mul(1000))),
        8 => acked().prop_map(Event::Acked),
        2 => congestion().prop_map(Event::Congestion),
        2 => (size(), size(), any::<bool>()).prop_map(|(bytes, in_flight, retransmission)| {
            Event::Sent(Sent { bytes: Bytes(bytes), in_flight: Bytes(in_flight), retransmission })
        }),
        1 => (any::<bool>(), size(), size()).prop_map(|(timeout, in_flight, acked)| {
            let cause = if timeout { CongestionCause::Timeout } else { CongestionCause::FastLoss };
            Event::Spurious(Spurious { cause, in_flight: Bytes(in_flight), acked: Bytes(acked) })
        }),
        1 => size().prop_map(Event::Recovered),
        1 => size().prop_map(Event::Idle),
    ]
}

fn flow_setup() -> impl Strategy<Value = FlowSetup> {
    let mss = prop_oneof![4 => 1u64..9000, 1 => Just(0u64), 1 => any::<u64>()];
    (mss, size(), size(), rtt(), any::<bool>()).prop_map(|(mss, initial, limit, rtt, syn_lost)| FlowSetup {
        mss: Bytes(mss),
        headers: Bytes(40),
        initial_window: Bytes(initial),
        window_limit: Bytes(limit.max(mss).max(1)),
        rtt,
        syn_lost,
        link: None,
    })
}

/// Runs the events; returns the allowance after each.
fn run(name: &str, setup: &FlowSetup, events: &[Event]) -> Result<Vec<[u64; 4]>, TestCaseError> {
    run_on(name, &mut Flow::new(name, &[], setup), setup, events)
}

/// Runs the events on a flow; returns the allowance after each.
fn run_on(
    name: &str,
    flow: &mut Flow,
    setup: &FlowSetup,
    events: &[Event],
) -> Result<Vec<[u64; 4]>, TestCaseError> {
    let mut trace = Vec::new();
    for event in events {
        match event {
            Event::Wait(ns) => flow.now = flow.now.saturating_add(Span(*ns)),
            Event::Acked(acked) => {
                flow.acked(*acked);
            }
            Event::Congestion(congestion) => {
                flow.congested(*congestion);
            }
            Event::Sent(sent) => flow.hook(|law, context| law.on_sent(sent, context)),
            Event::Spurious(spurious) => flow.hook(|law, context| law.on_spurious(spurious, context)),
            Event::Recovered(in_flight) => {
                flow.recovered(*in_flight);
            }
            Event::Idle(span) => {
                let idle = Idle { span: Span(*span), rto: Span(*span) };
                flow.hook(|law, context| law.on_idle(&idle, context));
            }
        }
        let allowance = flow.law.allowance(flow.now);
        let window = allowance.window.map_or(0, Bytes::get);
        prop_assert!(window >= setup.mss.get(), "{name}: {window} below a segment after {event:?}");
        prop_assert!(window <= setup.window_limit.get(), "{name}: {window} above its limit after {event:?}");
        prop_assert!(allowance.rate.is_none_or(|r| r.as_bps() > 0), "{name}: rate 0 after {event:?}");
        prop_assert!(allowance.quantum.is_none_or(|q| q >= setup.mss), "{name}: quantum after {event:?}");
        let ssthresh = flow.law.ssthresh().map_or(0, Bytes::get);
        let rate = allowance.rate.map_or(0, |r| r.as_bps());
        trace.push([window, ssthresh, rate, allowance.quantum.map_or(0, Bytes::get)]);
    }
    Ok(trace)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn the_window_keeps_between_a_segment_and_its_limit_and_runs_repeat(
        setup in flow_setup(), events in prop::collection::vec(event(), 0..80)
    ) {
        for name in ["reno", "newreno", "vegas", "cubic", "bbr"] {
            let first = run(name, &setup, &events)?;
            prop_assert_eq!(first, run(name, &setup, &events)?, "{} differs", name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    /// The window after an undo is at least that of now, and at most the larger of that and the one before the event.
    #[test]
    fn what_was_spurious_restores_no_more_than_there_was(
        setup in flow_setup(),
        before in prop::collection::vec(event(), 0..40),
        event in congestion(),
        since in prop::collection::vec(acked(), 0..4),
        in_flight in size(),
        bytes in size(),
    ) {
        prop_assume!(matches!(event.cause, CongestionCause::FastLoss | CongestionCause::Timeout));
        for name in ["reno", "newreno", "vegas", "cubic", "few"] {
            let mut flow = Flow::new(name, &[], &setup);
            run_on(name, &mut flow, &setup, &before)?;
            let (window, threshold) = (flow.window(), flow.threshold());
            flow.congested(Congestion { repeated: false, ..event });
            for acked in &since {
                flow.acked(*acked);
            }
            let left = flow.window();
            let restored = flow.spurious(event.cause, in_flight, bytes);
            prop_assert!((left..=window.max(left)).contains(&restored), "{name}: {left}, {restored} of {window}");
            prop_assert!(flow.threshold() <= threshold.max(window), "{name}");
            // It is taken back once.
            prop_assert_eq!(flow.spurious(event.cause, u64::MAX, u64::MAX), restored, "{}", name);
        }
    }
}

#[test]
fn a_law_that_has_not_started_bears_every_call() {
    for name in ["reno", "newreno", "vegas", "cubic", "bbr"] {
        let none =
            FlowSetup { mss: Bytes(0), initial_window: Bytes(0), window_limit: Bytes(0), ..super::setup() };
        let mut flow = Flow::new(name, &[], &none);
        flow.law = super::build(name, &[]).ok().unwrap();
        flow.ack(1000);
        for cause in [CongestionCause::FastLoss, CongestionCause::Timeout, CongestionCause::Mark] {
            flow.congestion(cause, 0);
            flow.ack(0);
            flow.recovered(0);
        }
        flow.sent(0, 0, false);
        assert_eq!(flow.idle(), 1, "{name}: a byte of window");
    }
}
