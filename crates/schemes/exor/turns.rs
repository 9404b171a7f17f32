//! Whose turn it is: after the source's first packets the destination's, then by rank down to the source, and again.
//!
//! A node learns from headers who sends, and how many packets are left of that turn. Its own turn begins when those have had their time,
//! and each node in between the time of a few packets: five for a node of which nothing was heard. So a node that is not heard, or has
//! nothing to send, costs time and stops nobody.
//!
//! Readings:
//! - Nodes hear different parts of a turn, and measure different times of a packet. One that is heard again, or heard behind the node's own
//!   turn, before that has begun, has passed the node over: the node's turn begins when it would have. Otherwise a destination that does
//!   not hear the source would wait for it again and again, while forwarders and source take turns.
//!
//! The time of a packet is measured between two packets of a turn, and averaged: nine tenths of the old value stay.

use airfair_units::{Span, Time};
use airfair_wire::exor::Fragment;

/// The parameters of turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TurnsConfig {
    /// Part of the old value that stays in the average.
    pub keeps: f64,
    /// Packets that a node in between is given.
    pub silent: u32,
    /// Time of a packet before one was measured.
    pub packet: Span,
}

impl Default for TurnsConfig {
    fn default() -> Self {
        Self { keeps: 0.9, silent: 5, packet: Span::from_millis(2) }
    }
}

/// The forwarding timer of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Turns {
    config: TurnsConfig,
    me: u8,
    nodes: u8,
    /// Nanoseconds.
    packet: f64,
    /// Whose turn it was last, and when that ends.
    last: u8,
    ends: Time,
    /// The node has been passed over since.
    over: bool,
    /// The packet heard last: rank, number in its fragment, time.
    heard: Option<(u8, u8, Time)>,
}

impl Turns {
    /// A timer of the node of a rank among so many, which has just let its turn pass.
    #[must_use]
    pub fn new(config: TurnsConfig, me: u8, nodes: u8, now: Time) -> Self {
        let nodes = nodes.max(1);
        let me = me.min(nodes - 1);
        let packet = config.packet.as_nanos() as f64;
        Self { config, me, nodes, packet, last: me, ends: now, over: false, heard: None }
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
        let earlier = self
            .heard
            .filter(|&(before, number, _)| before == rank && number < fragment.number && self.last == rank);
        if let Some((_, number, at)) = earlier {
            let between = now.since(at).as_nanos() as f64 / f64::from(fragment.number - number);
            self.packet = self.config.keeps * self.packet + (1.0 - self.config.keeps) * between;
        }
        self.heard = Some((rank, fragment.number, now));
        self.over = self.steps(rank) >= self.steps(self.last) && (self.over || earlier.is_none());
        if !self.over {
            let left = fragment.size.saturating_sub(fragment.number).saturating_sub(1);
            (self.last, self.ends) = (rank, now.saturating_add(self.packets(left.into())));
        }
    }

    /// Nodes that have their turn after that of a rank and before this node.
    const fn steps(&self, rank: u8) -> u8 {
        (self.me + self.nodes - 1 - rank % self.nodes) % self.nodes
    }

    /// The node's own turn has ended, or it has let it pass.
    pub const fn passed(&mut self, now: Time) {
        (self.last, self.ends, self.over) = (self.me, now, false);
    }

    /// The node's own turn is now.
    pub const fn due(&mut self, now: Time) {
        (self.last, self.ends, self.over) = ((self.me + self.nodes - 1) % self.nodes, now, false);
    }

    /// When the node's own turn begins.
    #[must_use]
    pub fn begins(&self) -> Time {
        let steps = self.steps(self.last);
        self.ends.saturating_add(self.packets(u32::from(steps).saturating_mul(self.config.silent)))
    }
}
