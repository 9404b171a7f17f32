//! The two filters of BBR's model: the largest delivery rate of some rounds, the smallest round-trip time of some seconds.

use alloc::collections::VecDeque;

use airfair_units::{Span, Time};

/// Largest of the values of the last `rounds` rounds (`BBR.BtlBwFilter`, section 4.1.1). Exact: it keeps the values that may
/// still become the largest with their rounds, in falling order: at most `rounds` of them.
#[derive(Debug, Clone)]
pub struct MaxOfRounds {
    rounds: u64,
    candidates: VecDeque<(u64, u64)>,
}

impl MaxOfRounds {
    pub const fn new(rounds: u64) -> Self {
        Self { rounds, candidates: VecDeque::new() }
    }

    /// Adds a value of `round` and removes values that are older than the window.
    pub fn add(&mut self, round: u64, value: u64) {
        while self.candidates.back().is_some_and(|&(_, old)| old <= value) {
            self.candidates.pop_back();
        }
        self.candidates.push_back((round, value));
        while self.candidates.front().is_some_and(|&(old, _)| round.saturating_sub(old) >= self.rounds) {
            self.candidates.pop_front();
        }
    }

    /// The largest value; 0 before the first.
    pub fn get(&self) -> u64 {
        self.candidates.front().map_or(0, |&(_, value)| value)
    }
}

/// Smallest round-trip time (`BBR.RTprop`, section 4.1.2.3) and when it was measured.
#[derive(Debug, Clone)]
pub struct MinRtt {
    window: Span,
    value: Option<Span>,
    stamp: Time,
}

impl MinRtt {
    pub const fn new(window: Span) -> Self {
        Self { window, value: None, stamp: Time::ZERO }
    }

    /// Sets the first value, measured by the connection's set-up.
    pub fn start(&mut self, rtt: Option<Span>, now: Time) {
        self.value = rtt;
        self.stamp = now;
    }

    /// Adds a measurement; returns whether the value before it was older than the window.
    pub fn add(&mut self, rtt: Option<Span>, now: Time) -> bool {
        let expired = now > self.stamp.saturating_add(self.window);
        if let Some(rtt) = rtt
            && (expired || self.value.is_none_or(|value| rtt <= value))
        {
            self.value = Some(rtt);
            self.stamp = now;
        }
        expired
    }

    /// Treats the value as measured now.
    pub fn refresh(&mut self, now: Time) {
        self.stamp = now;
    }

    pub const fn get(&self) -> Option<Span> {
        self.value
    }
}
