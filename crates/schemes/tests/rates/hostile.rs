//! Hostile headers and reports at ATP's and EXACT's ends and hops.

use airfair_schemes::fuzz::{Ends, Hops, default_scheme};

use crate::hostile_driver::drive;

/// Ends keep numbers, no tables.
#[test]
fn any_headers_and_reports_cost_bounded_work_at_ends() {
    for name in ["atp", "exact"] {
        let worst = drive(&mut Ends::new(&*default_scheme(name)).unwrap(), 100_000);
        println!("{name} {worst:?}");
        assert!(worst.allocations > 0 && worst.allocations < 20, "{name} {worst:?}");
        assert!(worst.bytes < 20_000 && worst.kept < 100_000, "{name} {worst:?}");
    }
}

/// ATP's hop keeps two averages; EXACT's tables have 64 neighbours and 256 flows, of which each packet costs one pass.
#[test]
fn any_headers_cost_bounded_work_at_hops() {
    for (name, most) in [("atp", 5_000), ("exact", 100_000)] {
        let worst = drive(&mut Hops::new(&*default_scheme(name)).unwrap(), 100_000);
        println!("{name} {worst:?}");
        assert!(worst.allocations < 20 && worst.bytes < 40_000, "{name} {worst:?}");
        assert!(worst.kept < most, "{name} {worst:?}");
    }
}
