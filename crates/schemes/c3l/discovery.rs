//! Counts of the broadcasts of a node's neighbours (§III-B).
//!
//! Each node broadcasts HELLOs as its data are sent, and probes at the lowest rate with 3 dB more power, which reach as far as it
//! interferes. The part of a neighbour's HELLOs that arrives is the delivery ratio of the link from it.
//!
//! Readings:
//! - The ratio is taken over the last `window` sequence numbers, or over those since the first that was heard.
//! - Sequence numbers do not tell that a neighbour has become silent: a broadcast that is half an interval late counts as lost. So a
//!   neighbour that has left is forgotten after `window` intervals.
//! - A number that is 64 or more behind the last one is that of a node that has started anew.
//! - What is counted changes all the time. The list for the controller changes, and gets a new version, if a neighbour comes or goes, or if
//!   a ratio differs from the listed one by `step` or more, or has become 0 or 1.

use alloc::vec::Vec;

use airfair_units::{Span, Time};

use crate::places::NodeId;

/// The parameters of discovery at a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiscoveryConfig {
    /// Sequence numbers over which a ratio is taken, 1 to 64.
    pub window: u32,
    /// Time between two broadcasts of a kind.
    pub interval: Span,
    /// Most neighbours that a node counts; the one that was heard longest ago gives way.
    pub most: usize,
    /// Difference of a ratio from the listed one that changes the list.
    pub step: f64,
}

impl Default for DiscoveryConfig {
    fn default() -> Self {
        Self { window: 20, interval: Span::from_secs(1), most: 64, step: 0.1 }
    }
}

/// The two broadcasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broadcast {
    /// As data are sent: who hears it is a communication neighbour.
    Hello,
    /// At the lowest rate with 3 dB more power: who hears it is an interference neighbour.
    Probe,
}

/// A node's report of a neighbour to the controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbour {
    /// The neighbour.
    pub node: NodeId,
    /// Part of its HELLOs that arrive, in 255ths.
    pub hellos: u8,
    /// Part of its probes that arrive, in 255ths.
    pub probes: u8,
}

/// A ratio in 255ths as a number.
#[must_use]
pub fn ratio(of_255: u8) -> f64 {
    f64::from(of_255) / 255.0
}

/// The broadcasts of a kind from a neighbour.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    last: u16,
    /// Bit i: the broadcast i before the last one was heard. 0: none ever was.
    heard: u64,
    /// Broadcasts since the first one that was heard, at most 64.
    known: u32,
    at: Time,
}

/// Sequence numbers whose reception is stored.
const STORED: u32 = u64::BITS;

impl Count {
    fn hear(&mut self, sequence: u16, now: Time) {
        let ahead = sequence.wrapping_sub(self.last);
        let behind = u32::from(self.last.wrapping_sub(sequence));
        if self.heard == 0 || (ahead >= 1 << 15 && behind >= STORED) {
            *self = Self { last: sequence, heard: 1, known: 1, at: now };
        } else if ahead < 1 << 15 {
            self.pass(u32::from(ahead));
            self.heard |= 1;
            (self.last, self.at) = (sequence, now);
        } else if behind < self.known {
            self.heard |= 1 << behind;
        }
    }

    /// Broadcasts were sent and not heard.
    fn pass(&mut self, count: u32) {
        self.heard = self.heard.checked_shl(count).unwrap_or(0);
        self.known = self.known.saturating_add(count).min(STORED);
    }

    /// The part that arrived of the last `window`, in 255ths.
    fn ratio(&self, config: &DiscoveryConfig, now: Time) -> u8 {
        let mut counted = *self;
        let interval = config.interval.as_nanos().max(1);
        let silent = now.since(self.at).as_nanos();
        counted.pass(((silent.saturating_add(interval / 2) / interval).saturating_sub(1)).min(64) as u32);
        let window = config.window.clamp(1, STORED);
        let recent = counted.heard & (u64::MAX >> (STORED - window));
        let of = counted.known.min(window).max(1);
        // Rounded to the nearest; one that was heard is never 0.
        let rounded = (recent.count_ones() * 255 + of / 2) / of;
        rounded as u8
    }
}

/// A neighbour that is counted.
#[derive(Debug, Clone, Copy)]
struct Counted {
    node: NodeId,
    hellos: Count,
    probes: Count,
}

impl Counted {
    fn last_heard(&self) -> Time {
        self.hellos.at.max(self.probes.at)
    }

    fn listed(&self, config: &DiscoveryConfig, now: Time) -> Neighbour {
        let Self { node, hellos, probes } = self;
        Neighbour { node: *node, hellos: hellos.ratio(config, now), probes: probes.ratio(config, now) }
    }
}

/// The neighbours of a node, as the node has heard them.
#[derive(Debug, Clone)]
pub struct Discovery {
    config: DiscoveryConfig,
    /// Sorted by node.
    counted: Vec<Counted>,
    listed: Vec<Neighbour>,
    version: u16,
}

impl Discovery {
    /// Nothing heard yet: version 0 of the list, which is empty.
    #[must_use]
    pub const fn new(config: DiscoveryConfig) -> Self {
        Self { config, counted: Vec::new(), listed: Vec::new(), version: 0 }
    }

    /// A broadcast has arrived.
    pub fn hear(&mut self, from: NodeId, kind: Broadcast, sequence: u16, now: Time) {
        let at = match self.counted.binary_search_by_key(&from, |counted| counted.node) {
            Ok(at) => at,
            Err(at) => {
                let new = Counted { node: from, hellos: Count::default(), probes: Count::default() };
                let Some(at) = self.insert(at, new) else { return };
                at
            }
        };
        let counted = &mut self.counted[at];
        match kind {
            Broadcast::Hello => counted.hellos.hear(sequence, now),
            Broadcast::Probe => counted.probes.hear(sequence, now),
        }
    }

    fn insert(&mut self, at: usize, new: Counted) -> Option<usize> {
        let mut at = at;
        if self.counted.len() >= self.config.most {
            let oldest = (0..self.counted.len()).min_by_key(|&i| self.counted[i].last_heard())?;
            self.counted.remove(oldest);
            at -= usize::from(oldest < at);
        }
        self.counted.insert(at, new);
        Some(at)
    }

    /// Part of a neighbour's broadcasts that arrive now, 0 to 1.
    #[must_use]
    pub fn heard(&self, from: NodeId, kind: Broadcast, now: Time) -> f64 {
        let found = self.counted.binary_search_by_key(&from, |counted| counted.node);
        found.map_or(0.0, |at| {
            let listed = self.counted[at].listed(&self.config, now);
            ratio(if kind == Broadcast::Hello { listed.hellos } else { listed.probes })
        })
    }

    /// Forgets neighbours of which nothing arrives any more, and makes a new list if something has changed; true if so.
    pub fn refresh(&mut self, now: Time) -> bool {
        let config = self.config;
        self.counted.retain(|counted| {
            let listed = counted.listed(&config, now);
            listed.hellos > 0 || listed.probes > 0
        });
        let differ = |a: u8, b: u8| {
            a != b
                && (a.abs_diff(b) >= (config.step * 255.0) as u8
                    || [a, b].iter().any(|&x| x == 0 || x == 255))
        };
        let changed = self.counted.len() != self.listed.len()
            || self.counted.iter().zip(&self.listed).any(|(counted, old)| {
                let new = counted.listed(&config, now);
                new.node != old.node || differ(new.hellos, old.hellos) || differ(new.probes, old.probes)
            });
        if changed {
            self.listed.clear();
            self.listed.extend(self.counted.iter().map(|counted| counted.listed(&config, now)));
            self.version = self.version.wrapping_add(1).max(1);
        }
        changed
    }

    /// The list for the controller, sorted by node, as of the last refresh.
    #[must_use]
    pub fn list(&self) -> &[Neighbour] {
        &self.listed
    }

    /// Counts the changes of the list, modulo 2^16; 0 only before the first.
    #[must_use]
    pub const fn version(&self) -> u16 {
        self.version
    }

    /// Number of neighbours that are counted.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.counted.len()
    }

    /// True if no neighbour is counted.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.counted.is_empty()
    }
}
