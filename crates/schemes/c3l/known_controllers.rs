//! The controllers that a node has heard of, and the one that it reports to (ours; §I and §III-A: each gateway can be one).
//!
//! A controller counts its freshness up and says so in its HELLOs; nodes repeat it in theirs with one hop more. Of two words about a
//! controller the fresher one counts, of equals that over fewer hops. A controller whose freshness has not grown for `expiry` is
//! not alive: its nodes report to the next one, or send at rates of their own. Word of it that is no fresher is not believed after that, or
//! neighbours would remind each other of a dead controller for ever: it is forgotten much later than it expires.
//!
//! Freshness is a number of 32 bits and goes round. A controller that starts anew should not start from a smaller one (its clock is a good
//! number): it would be ignored for `forget`.

use alloc::vec::Vec;

use airfair_units::{Span, Time};

use crate::places::NodeId;

/// The parameters of the search for a controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownControllersConfig {
    /// Time without growth after which a controller is not alive.
    pub expiry: Span,
    /// Time without growth after which its freshness is forgotten.
    pub forget: Span,
    /// Most controllers that a node stores; the one that grew longest ago gives way.
    pub most: usize,
    /// Most hops to a controller.
    pub hops: u8,
}

impl Default for KnownControllersConfig {
    fn default() -> Self {
        Self::expiring(Span::from_secs(20))
    }
}

impl KnownControllersConfig {
    /// With this expiry. Freshness is forgotten after 15 times as long, and after 300 s at least: by then no node repeats a word of it.
    #[must_use]
    pub fn expiring(expiry: Span) -> Self {
        let forget = Span(expiry.0.saturating_mul(15)).max(Span::from_secs(300));
        Self { expiry, forget, most: 8, hops: 64 }
    }
}

/// The freshness of a controller: tenths of a second of its clock, which never goes back.
#[must_use]
pub fn freshness(now: Time) -> u32 {
    (now.as_nanos() / 100_000_000) as u32
}

/// The fields of a HELLO about a controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alive {
    /// The controller's node.
    pub controller: NodeId,
    /// The controller's count, modulo 2^32.
    pub freshness: u32,
    /// Hops from the sender of the HELLO to it.
    pub hops: u8,
}

/// A controller of which a node has heard.
#[derive(Debug, Clone, Copy)]
struct Known {
    alive: Alive,
    /// Hops at the last freshness before: what arrives first may have come a longer way.
    hops_before: u8,
    grown: Time,
}

impl Known {
    fn hops(&self) -> u8 {
        self.alive.hops.min(self.hops_before)
    }
}

/// The controllers that a node knows.
#[derive(Debug, Clone)]
pub struct KnownControllers {
    config: KnownControllersConfig,
    /// Sorted by node.
    known: Vec<Known>,
}

impl KnownControllers {
    /// None heard yet.
    #[must_use]
    pub const fn new(config: KnownControllersConfig) -> Self {
        Self { config, known: Vec::new() }
    }

    /// A neighbour's HELLO names a controller.
    pub fn hear(&mut self, word: Alive, now: Time) {
        let hops = word.hops.saturating_add(1);
        if hops <= self.config.hops {
            self.learn(Alive { hops, ..word }, now);
        }
    }

    /// This node is a controller, with this freshness.
    pub fn own(&mut self, controller: NodeId, freshness: u32, now: Time) {
        self.learn(Alive { controller, freshness, hops: 0 }, now);
    }

    fn learn(&mut self, word: Alive, now: Time) {
        let KnownControllersConfig { expiry, forget, most, .. } = self.config;
        self.known.retain(|known| now.since(known.grown) < forget);
        let found = self.known.binary_search_by_key(&word.controller, |known| known.alive.controller);
        match found {
            Ok(at) => {
                let known = &mut self.known[at];
                let ahead = word.freshness.wrapping_sub(known.alive.freshness);
                if (1..1 << 31).contains(&ahead) {
                    // After a silence the way is another.
                    let before = if now.since(known.grown) < expiry { known.alive.hops } else { word.hops };
                    *known = Known { alive: word, hops_before: before, grown: now };
                } else if ahead == 0 {
                    known.alive.hops = known.alive.hops.min(word.hops);
                }
            }
            Err(mut at) => {
                if self.known.len() >= most {
                    let oldest = (0..self.known.len()).min_by_key(|&i| self.known[i].grown);
                    let Some(oldest) = oldest else { return };
                    self.known.remove(oldest);
                    at -= usize::from(oldest < at);
                }
                self.known.insert(at, Known { alive: word, hops_before: word.hops, grown: now });
            }
        }
    }

    /// The controllers that are alive, for this node's HELLO, in the order of their nodes.
    pub fn alive(&self, now: Time) -> impl Iterator<Item = Alive> + '_ {
        let expiry = self.config.expiry;
        let alive = self.known.iter().filter(move |known| now.since(known.grown) < expiry);
        alive.map(|known| Alive { hops: known.hops(), ..known.alive })
    }

    /// The nearest controller that is alive; of equally near ones that of the smallest number.
    #[must_use]
    pub fn nearest(&self, now: Time) -> Option<NodeId> {
        self.alive(now).min_by_key(|alive| alive.hops).map(|alive| alive.controller)
    }
}
