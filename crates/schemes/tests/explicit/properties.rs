//! Properties of every scheme under arbitrary input.

use airfair_schemes::ParamValue::{self, Choice, Flag};
use airfair_schemes::places::CongestionCause::{FastLoss, LinkDrop, Mark, Timeout};
use airfair_schemes::places::{CongestionCause, FlowSetup, Header};
use airfair_schemes::qfcp;
use airfair_schemes::xcp::header::{SenderState, request};
use airfair_units::{Rate, Span, Time};
use proptest::prelude::*;

use super::headers::{KINDS, bytes};
use super::rig::{Flow, MSS, PACKET, Router, lowered, setup, wire};
use super::xcp::{change, packet};

/// Schemes with parameters that select other branches of their routers.
const SORTS: [(&str, &[(&str, ParamValue)]); 8] = [
    ("qfcp", &[]),
    ("qfcp", &[("capacity", Choice("probed"))]),
    ("xcp", &[]),
    ("xcp", &[("budgets", Flag(true))]),
    ("xcp", &[("feedback_at", Choice("departure"))]),
    ("xcp-b", &[]),
    ("xcp-b", &[("budgets", Flag(true))]),
    ("rcp", &[]),
];

/// Senders; XCP-b uses the sender of XCP.
const SENDERS: [(&str, &[(&str, ParamValue)]); 4] =
    [("qfcp", &[]), ("qfcp", &[("paced", Flag(true))]), ("xcp", &[]), ("rcp", &[])];

const CAUSES: [CongestionCause; 4] = [FastLoss, Timeout, Mark, LinkDrop];

/// An event at a router.
#[derive(Debug, Clone)]
enum Event {
    /// A packet of this size, bytes, with its header if present.
    Arrives(u32, Option<Header>),
    ComesIn(u32, Option<Header>),
    Leaves(u32, Option<Header>),
    IsDropped(u32),
    /// The queue's new length, bytes.
    Waits(u64),
    /// Passage of time, ns.
    TimePasses(u64),
    /// The wire's new rate, bit/s.
    Rate(u64),
}

/// Arbitrary fields, or fields similar to those of flows.
fn header() -> impl Strategy<Value = Header> {
    let plain = (any::<u8>(), any::<u8>(), any::<[u32; 4]>())
        .prop_map(|(supported, unsupported, fields)| Header { supported, unsupported, fields });
    let likely = (1u32..2_000_000, 1u32..100_000_000).prop_map(|(rtt_us, inverse_rate)| {
        let mut header = Header::default();
        request(&mut header, Some(SenderState { rtt_us, inverse_rate }), i32::MAX);
        header
    });
    let greedy = (0u32..2_000_000).prop_map(|rtt_us| {
        let mut header = Header::default();
        qfcp::header::request(&mut header, rtt_us, u32::MAX);
        header
    });
    prop_oneof![plain, likely, greedy]
}

fn event() -> impl Strategy<Value = Event> {
    let packet = || (any::<u32>(), prop::option::of(header()));
    prop_oneof![
        4 => packet().prop_map(|(bytes, header)| Event::Arrives(bytes, header)),
        1 => packet().prop_map(|(bytes, header)| Event::ComesIn(bytes, header)),
        1 => packet().prop_map(|(bytes, header)| Event::Leaves(bytes, header)),
        1 => any::<u32>().prop_map(Event::IsDropped),
        2 => (0u64..u64::MAX / 2).prop_map(Event::Waits),
        3 => (0u64..2_000_000_000).prop_map(Event::TimePasses),
        1 => (0u64..20_000_000_000).prop_map(Event::TimePasses),
        1 => (1_000u64..u64::MAX).prop_map(Event::Rate),
    ]
}

/// Calls a router's hook with a header, and checks that the router does not raise the request and changes no other field. Returns the
/// header after the call.
fn checked_hook(
    router: &mut Router,
    before: Option<Header>,
    hook: impl FnOnce(&mut Router, Option<&mut Header>),
) -> Result<Option<Header>, TestCaseError> {
    let mut after = before;
    hook(router, after.as_mut());
    if let (Some(before), Some(mut after)) = (before, after) {
        let kind = router.hop.header();
        let at = lowered(kind);
        let (wished, granted) = (before.fields[at], after.fields[at]);
        let is_change = kind.name == "xcp";
        let raised = if is_change { granted.cast_signed() > wished.cast_signed() } else { granted > wished };
        prop_assert!(!raised, "{granted} instead of {wished}");
        after.fields[at] = wished;
        prop_assert_eq!(after, before);
    }
    Ok(after)
}

/// The rate that a router grants, bytes/s; `None` if it grants changes.
fn rate(router: &Router) -> Option<f64> {
    let gauges = router.hop.gauges();
    let found = gauges.iter().find(|gauge| ["fair_share_bps", "rate_bps"].contains(&gauge.0));
    found.map(|gauge| gauge.1 / 8.0)
}

/// Checks the bounds of a router's state; a timer for the next interval is always set.
fn in_bounds(name: &str, router: &Router, capacity: f64) -> Result<(), TestCaseError> {
    prop_assert!(router.due().1 > router.now);
    prop_assert!(router.hop.gauges().iter().all(|gauge| gauge.1.is_finite()), "{:?}", router.hop.gauges());
    let (least, most) = match name {
        "qfcp" => (0.01, 10.0),
        "rcp" => (0.001, 0.01),
        _ => (0.001, 10.0),
    };
    let interval = router.gauge("interval_s");
    prop_assert!((least..=most).contains(&interval), "{interval}");
    if let Some(rate) = rate(router) {
        let capacity = capacity.max(1.0);
        let most = if name == "qfcp" { f64::from(u32::MAX) - 1.0 } else { capacity };
        let least =
            if name == "qfcp" { 1.0 } else { (f64::from(PACKET) / router.gauge("rtt_s")).min(capacity) };
        prop_assert!((least * 0.999_999..=most).contains(&rate), "{rate}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    /// No header, size, backlog, gap or rate leads a router outside of its bounds.
    #[test]
    fn a_router_stands_anything(
        (name, params) in prop::sample::select(SORTS.to_vec()),
        mbps in 1u64..100_000,
        events in prop::collection::vec(event(), 1..60),
    ) {
        let mut bps = mbps * 1_000_000;
        let mut router = Router::new(name, params, &wire(Rate(bps)));
        for event in events {
            match event {
                Event::Arrives(bytes, before) => {
                    let after = checked_hook(&mut router, before, |router, header| router.arrive(header, bytes))?;
                    if let (Some(rate), Some(before), Some(after)) = (rate(&router), before, after) {
                        // The value for "no limit" is no rate.
                        let rate = (rate as u32).min(u32::MAX - 1);
                        prop_assert_eq!(after.fields[1], before.fields[1].min(rate));
                    }
                }
                Event::ComesIn(bytes, header) => {
                    checked_hook(&mut router, header, |router, header| router.receive(header, bytes))?;
                }
                Event::Leaves(bytes, header) => {
                    checked_hook(&mut router, header, |router, header| router.depart(header, bytes))?;
                }
                Event::IsDropped(bytes) => router.hop.on_drop(bytes),
                Event::Waits(bytes) => router.waiting = bytes,
                Event::TimePasses(ns) => router.until(router.now.saturating_add(Span(ns))),
                Event::Rate(other) => {
                    bps = other;
                    router.hop.on_rate(Rate(bps));
                }
            }
            in_bounds(name, &router, bps as f64 / 8.0)?;
        }
    }

    /// The sum of an interval's changes of XCP, as rates, is phi/d if the same packets arrive again, for any windows and round-trip
    /// times. Rounding changes each by up to 1/512 byte.
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

    /// For any feedback a sender's window is at least a segment, and at most its limit if it has one.
    #[test]
    fn a_sender_stands_anything(
        (name, params) in prop::sample::select(SENDERS.to_vec()),
        handshake: bool,
        events in prop::collection::vec((any::<u8>(), any::<u8>(), any::<u32>(), any::<u64>()), 1..60),
    ) {
        let mut flow = Flow::new(name, params);
        if handshake {
            flow.echo(events[0].2);
        }
        flow.start(&FlowSetup { rtt: None, ..setup() });
        for (what, unsupported, word, ns) in events {
            let window = match what % 10 {
                0 | 1 => flow.echo(word),
                2 => flow.echo_past(unsupported, word),
                3 => flow.ack(None),
                // Up to 18 minutes.
                4 => flow.ack(Some(Span(ns >> 24))),
                5 => flow.recovered(u64::from(word)),
                6 => flow.idle(),
                _ => flow.congestion(CAUSES[usize::from(unsupported) % CAUSES.len()]),
            };
            prop_assert!(window >= MSS);
            prop_assert!(name != "xcp" || window <= setup().window_limit.get());
            prop_assert!(flow.pace().is_none_or(|rate| rate > Rate(0)));
            let kind = flow.law.header().expect("it speaks with routers");
            let header = flow.stamp();
            prop_assert_eq!((kind.decode)(&bytes(kind, &header)), Some(header));
        }
    }

    /// Every header decodes from its bytes to the same value.
    #[test]
    fn headers_come_back(supported: u8, unsupported: u8, fields: [u32; 4]) {
        for kind in KINDS {
            let bytes = bytes(kind, &Header { supported, unsupported, fields });
            // Headers of rates have three fields.
            let last = if kind.wire_len == 16 { 0 } else { fields[3] };
            let fields = [fields[0], fields[1], fields[2], last];
            prop_assert_eq!((kind.decode)(&bytes), Some(Header { supported, unsupported, fields }));
        }
    }

    /// Any bytes are decoded or refused without a panic.
    #[test]
    fn bytes_do_no_harm(mut any in prop::collection::vec(any::<u8>(), 0..40), first in 0x10u8..0x15) {
        // Random bytes would rarely have the right version.
        any.iter_mut().take(1).for_each(|byte| *byte = if *byte < 200 { first } else { *byte });
        for kind in KINDS {
            if let Some(header) = (kind.decode)(&any) {
                prop_assert_eq!((kind.decode)(&bytes(kind, &header)), Some(header));
            }
        }
    }
}
