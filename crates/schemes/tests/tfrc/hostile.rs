//! Hostile data and reports at both ends of a flow.

use airfair_schemes::fuzz::{Ends, scheme};

use crate::hostile_driver::drive;

/// Source and receiver keep numbers and a history of at most 64 intervals, no tables; a gap in the numbers of packets adds at most 128
/// losses, however long. So memory bounds what an event does.
#[test]
fn any_headers_cost_bounded_work() {
    let worst = drive(&mut Ends::new(&*scheme("tfrc")).unwrap(), 100_000);
    println!("{worst:?}");
    assert!(worst.allocations > 0 && worst.allocations < 100, "{worst:?}");
    assert!(worst.bytes < 20_000 && worst.kept < 100_000, "{worst:?}");
}
