//! XCP-b's router: the change of the queue in place of a capacity. The numbers of the laws are ours (see the scheme's page).

use airfair_schemes::ParamValue::{self, Choice, Integer};
use airfair_schemes::places::Header;
use airfair_units::Rate;

use super::rig::{Router, near, wire};
use super::xcp::{change, packet};

/// q is the queue at the end of an interval.
const END: (&str, ParamValue) = ("queue", Choice("end"));

/// phi of an interval of 100 ms, bytes.
fn phi(router: &Router) -> f64 {
    router.gauge("change_bps") * 0.1 / 8.0
}

/// An interval of 100 ms that ends with a queue of `waiting` bytes.
fn interval(router: &mut Router, waiting: u64) -> f64 {
    router.burst(10, &packet(100, 10_000));
    router.waiting = waiting;
    router.pass(100);
    phi(router)
}

/// kappa is 3,000 bytes. Empty once: -0.4 * 0 - 0.226 * (0 - 3,000) = 678. From 0 to 10,000: -4,000 - 0.226 * 7,000 = -5,582.
/// From 10,000 to 4,000: +2,400 - 226 = 2,174.
#[test]
fn on_a_busy_link_the_change_of_the_queue_counts() {
    let mut router = Router::slow("xcp-b", &[END]);
    near(interval(&mut router, 0), 678.0);
    near(interval(&mut router, 10_000), -5582.0);
    near(interval(&mut router, 4_000), 2174.0);
    assert!(change(&router.burst(1, &packet(100, 10_000))) > 200.0);
}

/// If the queue is empty twice in a row: 0.1 of a buffer of 50 packets, 5,000 bytes, until packets wait again.
#[test]
fn on_an_idle_link_a_part_of_the_buffer_is_distributed() {
    let mut router = Router::slow("xcp-b", &[END]);
    near(interval(&mut router, 0), 678.0);
    near(interval(&mut router, 0), 5000.0);
    near(interval(&mut router, 0), 5000.0);
    near(interval(&mut router, 3_000), -1200.0);
    near(interval(&mut router, 0), 1200.0 + 678.0);
    let mut hasty = Router::slow("xcp-b", &[END, ("patience", Integer(1))]);
    near(interval(&mut hasty, 0), 5000.0);
}

/// A full queue does not grow; drops count as growth. -0.4 * 8,000 - 0.226 * 47,000.
#[test]
fn drops_count_as_growth() {
    let mut router = Router::slow("xcp-b", &[END]);
    interval(&mut router, 50_000);
    (0..8).for_each(|_| router.hop.on_drop(1000));
    near(interval(&mut router, 50_000), -3200.0 - 10_622.0);
}

/// XCP-b does not use the rate of the link; its header is that of XCP.
#[test]
fn no_rate_and_the_header_of_xcp() {
    let changes = [1, 1000].map(|mbps| {
        let mut router = Router::new("xcp-b", &[END], &wire(Rate::from_mbps(mbps)));
        interval(&mut router, 10_000)
    });
    assert_eq!(changes[0], changes[1]);
    let xcp = Router::slow("xcp", &[]);
    assert_eq!(Router::slow("xcp-b", &[END]).hop.header().name, xcp.hop.header().name);
    let mut blind = Router::slow("xcp-b", &[END]);
    assert_eq!(blind.burst(1, &Header::default()), Header::default());
}

/// By default q is the minimum of the interval: 10,000 bytes only at its end count as 0. The minimum of the next interval is 6,000:
/// -0.4 * 6,000 - 0.226 * 3,000.
#[test]
fn a_burst_is_no_standing_queue() {
    let mut router = Router::slow("xcp-b", &[]);
    near(interval(&mut router, 10_000), 678.0);
    router.waiting = 6_000;
    near(interval(&mut router, 9_000), -2400.0 - 678.0);
    near(router.gauge("standing_queue_bytes"), 6_000.0);
    router.waiting = 0;
    near(interval(&mut router, 9_000), 2400.0 + 678.0);
    router.waiting = 0;
    near(interval(&mut router, 9_000), 5000.0);
}
