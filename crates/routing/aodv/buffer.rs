//! Packets that wait for a route: first in, first out, not too many, not too long [RFC 3561 section 6.3].

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::Ipv4Addr;

#[derive(Debug)]
struct Waiting {
    packet: u64,
    to: Ipv4Addr,
    until: Time,
}

/// The packets of a node that wait.
#[derive(Debug)]
pub(super) struct Buffer {
    most: usize,
    time: Span,
    /// In the order of arrival, so of `until`.
    waiting: VecDeque<Waiting>,
}

impl Buffer {
    pub(super) fn new(most: u32, time: Span) -> Self {
        Self { most: most.max(1) as usize, time, waiting: VecDeque::new() }
    }

    /// A packet waits; the oldest one goes if there are too many.
    pub(super) fn add(&mut self, packet: u64, to: Ipv4Addr, now: Time) -> Option<u64> {
        self.waiting.push_back(Waiting { packet, to, until: now.saturating_add(self.time) });
        if self.waiting.len() > self.most { self.waiting.pop_front().map(|w| w.packet) } else { None }
    }

    /// Takes out what waits for a route to `to`, in the order of arrival.
    pub(super) fn take(&mut self, to: Ipv4Addr) -> Vec<u64> {
        let taken = self.waiting.iter().filter(|w| w.to == to).map(|w| w.packet).collect();
        self.waiting.retain(|w| w.to != to);
        taken
    }

    /// Takes out one that has waited too long.
    pub(super) fn expired(&mut self, now: Time) -> Option<u64> {
        let old = self.waiting.front().is_some_and(|w| w.until <= now);
        if old { self.waiting.pop_front().map(|w| w.packet) } else { None }
    }

    /// When the next one has waited too long.
    pub(super) fn deadline(&self) -> Time {
        self.waiting.front().map_or(Time::NEVER, |w| w.until)
    }

    /// Everything that waits.
    pub(super) fn packets(&self) -> impl Iterator<Item = u64> + '_ {
        self.waiting.iter().map(|w| w.packet)
    }
}
