//! The clock, and waits that a user may end.

use std::io;

use rustix::event::{PollFd, Timespec, poll};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

/// The longest time after which a wait looks whether the user has asked for the end, nanoseconds.
const LOOK: u64 = 100_000_000;

/// A time that is never reached.
pub const NEVER: u64 = u64::MAX;

/// CLOCK_MONOTONIC, nanoseconds.
#[must_use]
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A hash of the boot id, by which two ends find out that they have one clock; 0 where the system has none.
#[must_use]
pub fn boot() -> u64 {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map_or(0, |id| airfair_units::random::name_hash(id.trim()))
}

/// The user's request for the end, as a function that says whether there is one.
pub struct Stop<'a> {
    look: &'a mut dyn FnMut() -> bool,
    next: u64,
    /// True once there was a request.
    pub requested: bool,
}

impl std::fmt::Debug for Stop<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stop").field("requested", &self.requested).finish_non_exhaustive()
    }
}

impl<'a> Stop<'a> {
    /// Requests that this function finds.
    pub fn new(look: &'a mut dyn FnMut() -> bool) -> Self {
        Self { look, next: 0, requested: false }
    }

    /// True if the user has asked for the end; looks at most every 100 ms.
    pub fn due(&mut self, now: u64) -> bool {
        if now >= self.next && !self.requested {
            self.next = now + LOOK;
            self.requested = (self.look)();
        }
        self.requested
    }

    /// Waits until a descriptor is ready, until a time, or until it is time to look for a request again, and says whether a descriptor is
    /// ready.
    ///
    /// # Errors
    /// As the kernel says; a signal is none.
    pub fn poll(&mut self, of: &mut [PollFd<'_>], until: u64) -> io::Result<bool> {
        let wait = until.min(self.next).saturating_sub(now());
        let timeout =
            Timespec { tv_sec: (wait / 1_000_000_000) as i64, tv_nsec: (wait % 1_000_000_000) as i64 };
        match poll(of, Some(&timeout)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => {
                self.next = 0;
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until a time; false if the user has asked for the end before.
    ///
    /// # Errors
    /// As the kernel says.
    pub fn sleep(&mut self, until: u64) -> io::Result<bool> {
        loop {
            let now = now();
            if self.due(now) {
                return Ok(false);
            }
            if now >= until {
                return Ok(true);
            }
            self.poll(&mut [], until)?;
        }
    }
}

/// While it lives, waits of this thread end when they are due, and not up to 50 us later.
#[derive(Debug)]
pub struct Exact {
    #[cfg(target_os = "linux")]
    before: Option<std::num::NonZeroU64>,
}

impl Exact {
    /// From now on.
    #[must_use]
    pub fn new() -> Self {
        #[cfg(target_os = "linux")]
        {
            use rustix::thread::{current_timer_slack, set_current_timer_slack};
            let before = current_timer_slack().ok().and_then(std::num::NonZeroU64::new);
            _ = set_current_timer_slack(std::num::NonZeroU64::new(1));
            Self { before }
        }
        #[cfg(not(target_os = "linux"))]
        Self {}
    }
}

impl Default for Exact {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Exact {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        if self.before.is_some() {
            _ = rustix::thread::set_current_timer_slack(self.before);
        }
    }
}
