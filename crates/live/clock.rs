//! The clock of a daemon.

use airfair_units::Time;
use rustix::time::{ClockId, clock_gettime};

/// A clock that never steps back.
pub trait Clock {
    /// The time since the machine has started, sleep included.
    fn boot(&self) -> Time;
}

/// The kernel's boot clock. It goes on while the machine sleeps, so that what holds until a moment does not outlast a sleep.
#[derive(Debug, Clone, Copy, Default)]
pub struct BootClock;

impl Clock for BootClock {
    fn boot(&self) -> Time {
        let now = clock_gettime(ClockId::Boottime);
        Time(now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64)
    }
}
