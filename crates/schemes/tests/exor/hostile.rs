//! Hostile broadcasts and messages at a station.

use airfair_schemes::fuzz::{Agents, scheme};

use crate::hostile_driver::drive;

#[test]
fn any_broadcasts_cost_bounded_work() {
    let worst = drive(&mut Agents::new(&*scheme("exor")).unwrap(), 100_000);
    println!("{worst:?}");
    assert!(worst.allocations > 10 && worst.allocations < 5000, "{worst:?}");
    // The driver bounds the work of each call.
    assert!(worst.total > 10_000, "{worst:?}");
    assert!(worst.bytes < 2_000_000 && worst.kept < 16_000_000, "{worst:?}");
}
