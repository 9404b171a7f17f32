//! Whose turn it is: after the source's first packets the destination's, then by rank down to the source, and again.
//!
//! A node learns from headers who sends, and how many packets are left of that turn. Its own turn begins when those have had their time,
//! and each node in between the time of a few packets: five for a node of which nothing was heard. So a node that is not heard, or has
//! nothing to send, costs time and stops nobody.
//!
//! The time of a packet is measured between two packets of a turn, and averaged: nine tenths of the old value stay.

use airfair_units::{Span, Time};
use airfair_wire::exor::Fragment;

/// The parameters of turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Config {
    /// Part of the old value that stays in the average.
    pub keeps: f64,
    /// Packets that a node in between is given.
    pub silent: u32,
    /// Time of a packet before one was measured.
    pub packet: Span,
}

impl Default for Config {
    fn default() -> Self {
        Self { keeps: 0.9, silent: 5, packet: Span::from_millis(2) }
    }
}

/// The forwarding timer of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Turns {
    config: Config,
    me: u8,
    nodes: u8,
    /// Nanoseconds.
    packet: f64,
    /// Whose turn it was last, and when that ends.
    last: u8,
    ends: Time,
    /// The packet heard last: rank, number in its fragment, time.
    heard: Option<(u8, u8, Time)>,
}

impl Turns {
    /// A timer of the node of a rank among so many, whose turn is now.
    #[must_use]
    pub fn new(config: Config, me: u8, nodes: u8, now: Time) -> Self {
        let nodes = nodes.max(1);
        let before = (me.min(nodes - 1) + nodes - 1) % nodes;
        let packet = config.packet.as_nanos() as f64;
        Self { config, me, nodes, packet, last: before, ends: now, heard: None }
    }

    /// The time of a packet.
    #[must_use]
    pub fn packet(&self) -> Span {
        Span::from_nanos(self.packet as u64)
    }

    fn packets(&self, number: u32) -> Span {
        Span::from_nanos((self.packet * f64::from(number)) as u64)
    }

    /// A packet of another node was heard.
    pub fn heard(&mut self, rank: u8, fragment: Fragment, now: Time) {
        if rank >= self.nodes || rank == self.me {
            return;
        }
        if let Some((before, number, at)) = self.heard
            && before == rank
            && number < fragment.number
            && self.last == rank
        {
            let between = now.since(at).as_nanos() as f64 / f64::from(fragment.number - number);
            self.packet = self.config.keeps * self.packet + (1.0 - self.config.keeps) * between;
        }
        self.heard = Some((rank, fragment.number, now));
        let left = fragment.size.saturating_sub(fragment.number).saturating_sub(1);
        (self.last, self.ends) = (rank, now.saturating_add(self.packets(left.into())));
    }

    /// The node's own turn has ended, or it has let it pass.
    pub fn passed(&mut self, now: Time) {
        (self.last, self.ends) = (self.me, now);
    }

    /// When the node's own turn begins.
    #[must_use]
    pub fn begins(&self) -> Time {
        let steps = (self.me + self.nodes - 1 - self.last % self.nodes) % self.nodes;
        self.ends.saturating_add(self.packets(u32::from(steps) * self.config.silent))
    }
}
