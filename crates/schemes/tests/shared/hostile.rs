//! Hostile neighbours at a part of a scheme: 100,000 events, of which each may allocate so much, and all together may keep so much.
//! Allocations are counted, not time.

use airfair_schemes::fuzz::Target;
use airfair_units::fuzz::Input;
use airfair_units::random::{Purpose, Stream};
use allocation_counter::measure;

/// The dearest event, and what all have left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Worst {
    /// Most allocations of an event.
    pub allocations: u64,
    /// Most bytes that an event has allocated.
    pub bytes: u64,
    /// Most bytes that were kept after an event.
    pub kept: i64,
    /// Most work of an event, where it is counted.
    pub work: u64,
    /// All work.
    pub total: u64,
}

/// Drives a target by drawn bytes.
pub fn drive(target: &mut dyn Target, steps: usize) -> Worst {
    let mut input = Input::Drawn(Stream::new(1, "hostile", Purpose::Agent));
    let (mut worst, mut kept) = (Worst::default(), 0);
    for _ in 0..steps {
        let before = target.work();
        let info = measure(|| target.step(&mut input));
        kept += info.bytes_current;
        worst.allocations = worst.allocations.max(info.count_total);
        worst.bytes = worst.bytes.max(info.bytes_total);
        worst.kept = worst.kept.max(kept);
        worst.work = worst.work.max(target.work() - before);
    }
    worst.total = target.work();
    worst
}
