//! Limit of events per second.

use alloc::collections::VecDeque;

use airfair_units::{Span, Time};

const SECOND: Span = Span::from_secs(1);

/// Allows at most a number of events in any second.
#[derive(Debug)]
pub(super) struct RateLimit {
    most: usize,
    passed: VecDeque<Time>,
}

impl RateLimit {
    pub(super) fn new(most: u32) -> Self {
        Self { most: most as usize, passed: VecDeque::new() }
    }

    /// Time at which the next event is allowed.
    pub(super) fn free_at(&self) -> Time {
        if self.most == 0 {
            return Time::NEVER;
        }
        let full = self.passed.len() >= self.most;
        self.passed.front().filter(|_| full).map_or(Time::ZERO, |first| first.saturating_add(SECOND))
    }

    /// Records an event if it is allowed.
    pub(super) fn pass(&mut self, now: Time) -> bool {
        let free = self.free_at() <= now;
        if free {
            if self.passed.len() >= self.most {
                self.passed.pop_front();
            }
            self.passed.push_back(now);
        }
        free
    }
}
