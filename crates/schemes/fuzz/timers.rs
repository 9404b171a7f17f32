//! Timers that a part has set.

use alloc::collections::BTreeMap;

use airfair_units::Time;

use super::MOST_EFFECTS;
use crate::places::Timer;

/// Timers that have been set.
#[derive(Default)]
pub(super) struct Timers(BTreeMap<u16, Time>);

impl Timers {
    pub(super) fn set(&mut self, timers: &[(Timer, Time)]) {
        assert!(timers.len() <= MOST_EFFECTS, "{} timers at once", timers.len());
        self.0.extend(timers.iter().map(|&(timer, at)| (timer.0, at)));
    }

    /// A timer that is due, with its time.
    pub(super) fn take_due(&mut self, now: Time) -> Option<(Timer, Time)> {
        let (&timer, &at) =
            self.0.iter().filter(|(_, at)| **at <= now).min_by_key(|&(timer, at)| (*at, *timer))?;
        self.0.remove(&timer);
        Some((Timer(timer), at))
    }
}
