//! Packets that wait for a route: first in, first out, limited in number and time [RFC 3561 section 6.3].

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

/// Waiting packets of a node.
#[derive(Debug)]
pub(super) struct Buffer {
    most: usize,
    time: Span,
    /// In order of arrival, which is also that of `until`.
    waiting: VecDeque<Waiting>,
}

impl Buffer {
    pub(super) fn new(most: u32, time: Span) -> Self {
        Self { most: most.max(1) as usize, time, waiting: VecDeque::new() }
    }

    /// Adds a waiting packet; returns the oldest one if it is dropped because too many wait.
    pub(super) fn add(&mut self, packet: u64, to: Ipv4Addr, now: Time) -> Option<u64> {
        self.waiting.push_back(Waiting { packet, to, until: now.saturating_add(self.time) });
        if self.waiting.len() > self.most { self.waiting.pop_front().map(|w| w.packet) } else { None }
    }

    /// Removes the packets that wait for a route to `to`, in order of arrival.
    pub(super) fn take_waiting_for(&mut self, to: Ipv4Addr) -> Vec<u64> {
        let taken = self.waiting.iter().filter(|w| w.to == to).map(|w| w.packet).collect();
        self.waiting.retain(|w| w.to != to);
        taken
    }

    /// Removes a packet that has waited too long.
    pub(super) fn expired(&mut self, now: Time) -> Option<u64> {
        let old = self.waiting.front().is_some_and(|w| w.until <= now);
        if old { self.waiting.pop_front().map(|w| w.packet) } else { None }
    }

    /// Time at which the next packet has waited too long.
    pub(super) fn deadline(&self) -> Time {
        self.waiting.front().map_or(Time::NEVER, |w| w.until)
    }

    /// All waiting packets.
    pub(super) fn packets(&self) -> impl Iterator<Item = u64> + '_ {
        self.waiting.iter().map(|w| w.packet)
    }
}
