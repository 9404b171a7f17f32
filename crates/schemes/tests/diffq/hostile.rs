//! Hostile trailers at DiffQ's queue, and hostile calls at its agents.

use airfair_schemes::fuzz::{Agents, Queues, default_scheme, scheme};

use crate::hostile_driver::drive;

#[test]
fn any_trailers_cost_bounded_work() {
    let worst = drive(&mut Queues::new(&*scheme("diffq")), 100_000);
    println!("{worst:?}");
    assert!(worst.allocations > 2 && worst.allocations < 500, "{worst:?}");
    // The driver bounds the work of each call.
    assert!(worst.total > 10_000, "{worst:?}");
    assert!(worst.bytes < 200_000 && worst.kept < 1_000_000, "{worst:?}");
}

#[test]
fn any_calls_cost_bounded_work() {
    let worst = drive(&mut Agents::new(&*default_scheme("diffq")).unwrap(), 100_000);
    println!("{worst:?}");
    // Most of what is allocated is the driver's, which forges messages.
    assert!(worst.total > 1_000 && worst.allocations < 500, "{worst:?}");
    assert!(worst.bytes < 200_000 && worst.kept < 1_000_000, "{worst:?}");
}
