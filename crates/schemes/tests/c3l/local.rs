//! Figure 12's first bar: bandwidth as a node estimates it, and its time as flows divide it.

use airfair_schemes::c3l::local::bandwidth::{Bandwidth, BandwidthConfig, LocalFlow, share_time};
use airfair_schemes::c3l::shares::Requirement::{Finite, Infinite};
use airfair_units::{Bytes, Rate, Span};
use proptest::prelude::*;

/// 1000 B in 8 ms are 1 Mbit/s; then one in 4 ms: 1 + 0.1 (2 - 1) = 1.1 Mbit/s.
#[test]
fn bandwidth_is_an_average() {
    let config = BandwidthConfig::default();
    let mut link = Bandwidth::new();
    assert_eq!(link.get(), None);
    let near =
        |link: &Bandwidth, wanted: f64| assert!((link.get().unwrap() - wanted).abs() < 1e-3, "{link:?}");
    link.delivered(&config, Bytes(1000), Span::from_millis(8));
    near(&link, 1e6);
    link.delivered(&config, Bytes(1000), Span::from_millis(4));
    near(&link, 1.1e6);
    // 500 B in 4 ms: the same bandwidth if nothing is added to packets; with 500 B of overhead less for packets of 1048 B: 1048 B and 500
    // take 1.548 times of 1000: 6.192 ms, 1.354 Mbit/s.
    let mut short = Bandwidth::new();
    short.delivered(&config, Bytes(500), Span::from_millis(4));
    near(&short, 1e6);
    let overhead = BandwidthConfig { overhead: Bytes(500), ..config };
    let mut short = Bandwidth::new();
    short.delivered(&overhead, Bytes(500), Span::from_millis(4));
    near(&short, 8.384e6 / 6.192);
    let mut none = Bandwidth::new();
    none.delivered(&config, Bytes(0), Span::ZERO);
    assert!(none.get().unwrap().is_finite());
}

fn shared(flows: &[LocalFlow], time: f64) -> Vec<f64> {
    let mut rates = Vec::new();
    share_time(flows, time, Rate(50), &mut rates);
    rates.into_iter().map(|rate| (rate * 1e6).round() / 1e6).collect()
}

/// Next hops of 1000 and 500: x/1000 + x/500 = 1: 333.3 each. If the first requires 150, it gets 200 (0.2 of the time), and the other 400.
#[test]
fn a_node_s_time_is_shared_at_equal_rates() {
    let fast = LocalFlow { requirement: Infinite, bandwidth: 1000.0 };
    let slow = LocalFlow { requirement: Infinite, bandwidth: 500.0 };
    assert_eq!(shared(&[fast, slow], 1.0), [333.333333, 333.333333]);
    assert_eq!(shared(&[fast, slow], 0.5), [166.666667, 166.666667]);
    let finite = |rate, flow: LocalFlow| LocalFlow { requirement: Finite(Rate(rate)), ..flow };
    assert_eq!(shared(&[finite(150, fast), slow], 1.0), [200.0, 400.0]);
    assert_eq!(shared(&[slow, finite(150, fast)], 1.0), [400.0, 200.0]);
    assert_eq!(shared(&[finite(400, fast), slow], 1.0), [333.333333, 333.333333]);
    assert_eq!(shared(&[finite(150, fast), finite(150, slow)], 1.0), [200.0, 200.0], "both finite: a rest");
    // 100 takes 0.1, 150 takes 0.3, and 0.6 are left for 1000.
    assert_eq!(shared(&[fast, finite(100, slow), finite(50, fast)], 1.0), [600.0, 150.0, 100.0]);
    let none = LocalFlow { requirement: Infinite, bandwidth: 0.0 };
    assert_eq!(shared(&[none, fast], 1.0), [0.0, 1000.0]);
    assert_eq!(shared(&[fast], f64::NAN), [0.0]);
    assert_eq!(shared(&[], 1.0), [0.0; 0]);
    let mut rates = vec![7.0; 3];
    share_time(&[none, fast], 1.0, Rate(0), &mut rates);
    assert_eq!(rates, [0.0, 1000.0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// The node's time is enough, and no flow has more than what it requires and δ.
    #[test]
    fn a_node_s_time_is_enough(
        flows in prop::collection::vec((0u64..3_000_000, any::<bool>(), 1e3f64..1e7), 1..12),
    ) {
        let flow = |&(rate, finite, bandwidth): &(u64, bool, f64)| {
            LocalFlow { requirement: if finite { Finite(Rate(rate)) } else { Infinite }, bandwidth }
        };
        let flows: Vec<LocalFlow> = flows.iter().map(flow).collect();
        let mut rates = Vec::new();
        share_time(&flows, 1.0, Rate(1000), &mut rates);
        let used: f64 = rates.iter().zip(&flows).map(|(rate, flow)| rate / flow.bandwidth).sum();
        prop_assert!(used <= 1.0 + 1e-12);
        if flows.iter().any(|flow| flow.requirement == Infinite) {
            prop_assert!(used >= 1.0 - 1e-9, "{}", used);
        }
        let mut back: Vec<LocalFlow> = flows.clone();
        back.reverse();
        let mut reversed = Vec::new();
        share_time(&back, 1.0, Rate(1000), &mut reversed);
        reversed.reverse();
        prop_assert_eq!(rates, reversed);
    }
}
