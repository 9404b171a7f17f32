//! Packets that wait for a route: first in, first out, limited in number and time.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::Ipv4Addr;

/// Limits of a buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Largest number of packets; at least one waits in any case.
    pub packets: u32,
    /// Largest number of packets for one destination, likewise.
    pub per_destination: u32,
    /// Largest time for which a packet waits.
    pub time: Span,
}

#[derive(Debug)]
struct Waiting {
    packet: u64,
    to: Ipv4Addr,
    until: Time,
}

/// Waiting packets of a node.
#[derive(Debug)]
pub(crate) struct Buffer {
    limits: Limits,
    /// In order of arrival, which is also that of `until`.
    waiting: VecDeque<Waiting>,
}

impl Buffer {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, waiting: VecDeque::new() }
    }

    /// Adds a waiting packet; returns the packet that is dropped because too many wait: the oldest one for the same destination, or of all.
    pub(crate) fn add(&mut self, packet: u64, to: Ipv4Addr, now: Time) -> Option<u64> {
        self.waiting.push_back(Waiting { packet, to, until: now.saturating_add(self.limits.time) });
        let oldest = if self.waiting.iter().filter(|w| w.to == to).count()
            > at_least_one(self.limits.per_destination)
        {
            self.waiting.iter().position(|w| w.to == to)
        } else {
            (self.waiting.len() > at_least_one(self.limits.packets)).then_some(0)
        };
        self.waiting.remove(oldest?).map(|w| w.packet)
    }

    /// Removes the packets that wait for a route to `to`, in order of arrival.
    pub(crate) fn take_waiting_for(&mut self, to: Ipv4Addr) -> Vec<u64> {
        let taken = self.waiting.iter().filter(|w| w.to == to).map(|w| w.packet).collect();
        self.waiting.retain(|w| w.to != to);
        taken
    }

    /// Removes a packet that has waited too long.
    pub(crate) fn expired(&mut self, now: Time) -> Option<u64> {
        let old = self.waiting.front().is_some_and(|w| w.until <= now);
        if old { self.waiting.pop_front().map(|w| w.packet) } else { None }
    }

    /// Time at which the next packet has waited too long.
    pub(crate) fn deadline(&self) -> Time {
        self.waiting.front().map_or(Time::NEVER, |w| w.until)
    }

    /// All waiting packets.
    pub(crate) fn packets(&self) -> impl Iterator<Item = u64> + '_ {
        self.waiting.iter().map(|w| w.packet)
    }
}

const fn at_least_one(limit: u32) -> usize {
    if limit == 0 { 1 } else { limit as usize }
}
