//! XCP-b's router: the speed of the queue in the place of a capacity. The laws' numbers are ours (see the scheme's page).

use airfair_schemes::ParamValue::Integer;
use airfair_schemes::places::Header;
use airfair_units::Rate;

use super::xcp::{change, packet};
use super::{Router, near, wire};

/// phi of an interval of 100 ms, bytes.
fn phi(router: &Router) -> f64 {
    router.gauge("change_bps") * 0.1 / 8.0
}

/// An interval of 100 ms that ends with so many bytes waiting.
fn interval(router: &mut Router, waiting: u64) -> f64 {
    router.burst(10, &packet(100, 10_000));
    router.waiting = waiting;
    router.pass(100);
    phi(router)
}

/// kappa is 3,000 bytes. Empty once: -0.4 * 0 - 0.226 * (0 - 3,000) = 678. From 0 to 10,000: -4,000 - 0.226 * 7,000 = -5,582.
/// From 10,000 to 4,000: +2,400 - 226 = 2,174.
#[test]
fn busy_the_speed_of_the_queue_counts() {
    let mut router = Router::slow("xcp-b", &[]);
    near(interval(&mut router, 0), 678.0);
    near(interval(&mut router, 10_000), -5582.0);
    near(interval(&mut router, 4_000), 2174.0);
    assert!(change(&router.burst(1, &packet(100, 10_000))) > 200.0);
}

/// Empty twice in a row, of a buffer of 50 packets 0.1: 5,000 bytes; until something waits again.
#[test]
fn idle_a_part_of_the_buffer_is_handed_out() {
    let mut router = Router::slow("xcp-b", &[]);
    near(interval(&mut router, 0), 678.0);
    near(interval(&mut router, 0), 5000.0);
    near(interval(&mut router, 0), 5000.0);
    near(interval(&mut router, 3_000), -1200.0);
    near(interval(&mut router, 0), 1200.0 + 678.0);
    let mut hasty = Router::slow("xcp-b", &[("patience", Integer(1))]);
    near(interval(&mut hasty, 0), 5000.0);
}

/// A full queue does not grow: what it drops tells. -0.4 * 8,000 - 0.226 * 47,000.
#[test]
fn drops_count_as_growth() {
    let mut router = Router::slow("xcp-b", &[]);
    interval(&mut router, 50_000);
    (0..8).for_each(|_| router.hop.on_drop(1000));
    near(interval(&mut router, 50_000), -3200.0 - 10_622.0);
}

/// The rate of the link is not asked for, and its header is XCP's.
#[test]
fn blind_and_related() {
    let changes = [1, 1000].map(|mbps| {
        let mut router = Router::new("xcp-b", &[], &wire(Rate::from_mbps(mbps)));
        interval(&mut router, 10_000)
    });
    assert_eq!(changes[0], changes[1]);
    let xcp = Router::slow("xcp", &[]);
    assert_eq!(Router::slow("xcp-b", &[]).hop.header().name, xcp.hop.header().name);
    let mut blind = Router::slow("xcp-b", &[]);
    assert_eq!(blind.burst(1, &Header::default()), Header::default());
}
