//! End of §III-A: the reaction of a node to a queue that has built up.

use airfair_schemes::c3l::overload::{Injection, InjectionConfig, Overload, OverloadConfig, first_rate};
use airfair_units::{Rate, Span};

use super::at;

/// The queue at each second of a cycle of 8 s, of a limit of 50 packets.
fn overloaded(config: OverloadConfig, queue: [u32; 8]) -> bool {
    let mut overload = Overload::new();
    for (second, packets) in (0..).zip(queue) {
        overload.observe(packets, Span::from_secs(second), Span::from_secs(8));
    }
    assert_eq!(overload.mean(), queue.iter().sum::<u32>() as f64 / 8.0);
    let judged = overload.judge(&config, 50);
    assert_eq!(overload.mean(), 0.0, "the next cycle starts from nothing");
    judged
}

/// Above 25 packets in the mean; not if the second half has less than 0.9 of the first: 40 and 36 is not falling, 40 and 35.9 would be.
#[test]
fn a_queue_that_has_built_up() {
    let config = OverloadConfig::default();
    assert!(!overloaded(config, [25; 8]));
    assert!(overloaded(config, [25, 25, 25, 26, 25, 25, 25, 25]));
    assert!(!overloaded(config, [0, 50, 0, 0, 50, 0, 0, 0]), "bursts");
    assert!(overloaded(config, [0, 0, 0, 10, 50, 50, 50, 50]), "210 in 8");
    assert!(overloaded(config, [40, 40, 40, 40, 36, 36, 36, 36]));
    assert!(!overloaded(config, [40, 40, 40, 40, 36, 36, 36, 35]));
    assert!(!overloaded(config, [50, 50, 50, 50, 10, 0, 0, 0]));
    assert!(!overloaded(config, [50, 50, 50, 50, 9, 0, 0, 0]), "209 in 8");
    let any = OverloadConfig { falls: 0.0, ..config };
    assert!(overloaded(any, [50, 50, 50, 50, 10, 0, 0, 0]), "a fall does not count");
    // A queue that was only looked at in one half is not falling.
    for since in [0, 6] {
        let mut half = Overload::new();
        half.observe(40, Span::from_secs(since), Span::from_secs(8));
        assert!(half.judge(&config, 50));
    }
    assert!(!Overload::new().judge(&config, 0));
    // One look at 40 and three at 30: 0.75 of it, falling; mean 32.5.
    let mut uneven = Overload::new();
    for (second, packets) in [(0, 40), (4, 30), (5, 30), (6, 30)] {
        uneven.observe(packets, Span::from_secs(second), Span::from_secs(8));
    }
    assert!(!uneven.judge(&config, 50));
    // 3.5 s of 7 s are the second half.
    let mut odd = Overload::new();
    odd.observe(50, Span::from_millis(3499), Span::from_secs(7));
    odd.observe(10, Span::from_millis(3500), Span::from_secs(7));
    assert!(!odd.judge(&config, 50));
}

#[test]
fn injection_is_scaled_until_the_next_allocation() {
    let config = InjectionConfig::default();
    let mut link = Injection::default();
    assert!(!link.observe(&config, 25, 50, at(0)), "at the threshold");
    assert_eq!((link.scale(), link.scaled(Rate(1000))), (1.0, Rate(1000)));
    assert!(link.observe(&config, 26, 50, at(1)));
    assert_eq!((link.scale(), link.scaled(Rate(1001))), (0.9, Rate(900)));
    assert!(!link.observe(&config, 50, 50, at(100_000)), "once");
    assert_eq!(link.scale(), 0.9);
    link.allocated();
    assert_eq!(link.scale(), 1.0);
    assert!(link.observe(&config, 50, 50, at(200_000)));
}

/// Every second while the queue is long: 0.9, 0.81, and no less than 0.75.
#[test]
fn injection_may_be_scaled_again() {
    let config =
        InjectionConfig { again: Some(Span::from_secs(1)), floor: 0.75, ..InjectionConfig::default() };
    let mut link = Injection::default();
    assert!(link.observe(&config, 30, 50, at(0)));
    assert!(!link.observe(&config, 30, 50, at(999)));
    assert!(link.observe(&config, 30, 50, at(1000)));
    assert!((link.scale() - 0.81).abs() < 1e-12);
    assert!(!link.observe(&config, 20, 50, at(2000)));
    assert!(link.observe(&config, 30, 50, at(2500)), "0.75 is not 0.729");
    assert!(!link.observe(&config, 30, 50, at(3500)), "no change");
    assert_eq!(link.scale(), 0.75);
    // A factor of 1 changes nothing, one above 1 neither.
    for factor in [1.0, 2.0] {
        let mut none = Injection::default();
        assert!(!none.observe(&InjectionConfig { factor, ..config }, 30, 50, at(0)));
        assert_eq!(none.scale(), 1.0);
    }
}

#[test]
fn rates_before_the_first_allocation() {
    assert_eq!(first_rate(Rate(1_200_000), 3, 4), Rate(100_000));
    assert_eq!(first_rate(Rate(1_200_000), 0, 0), Rate(1_200_000));
}
