//! The round-trip time that a sender writes into headers and multiplies rates by.

use airfair_units::Span;

use crate::words;

words! {
    /// The round-trip time that counts.
    pub enum RttChoice {
        /// Smoothed, each sample with a weight of 1/8 (RFC 6298 section 2.3).
        Smoothed = "smoothed",
        /// The last sample.
        Latest = "latest",
        /// The least sample: the path without its queues.
        Least = "least",
    }
}

/// A sender's round-trip time.
#[derive(Debug, Clone, Copy)]
pub struct Rtt {
    choice: RttChoice,
    ns: u64,
}

impl Rtt {
    /// A round-trip time without a sample.
    #[must_use]
    pub const fn new(choice: RttChoice) -> Self {
        Self { choice, ns: 0 }
    }

    /// Adds a sample.
    pub fn observe(&mut self, sample: Span) {
        let sample = sample.0.max(1);
        self.ns = match self.choice {
            _ if self.ns == 0 => sample,
            RttChoice::Smoothed => self.ns - self.ns / 8 + sample / 8,
            RttChoice::Latest => sample,
            RttChoice::Least => self.ns.min(sample),
        };
    }

    /// The round-trip time; `None` before the first sample.
    #[must_use]
    pub fn get(&self) -> Option<Span> {
        (self.ns > 0).then_some(Span(self.ns))
    }

    /// Whole microseconds, as headers carry it: 0 before the first sample, 1 at least after it.
    #[must_use]
    pub fn us(&self) -> u32 {
        if self.ns == 0 { 0 } else { u32::try_from((self.ns / 1000).max(1)).unwrap_or(u32::MAX) }
    }

    /// The product of a rate and the round-trip time, bytes.
    #[must_use]
    pub fn times(&self, bytes_per_second: u32) -> u64 {
        if let Some(product) = u64::from(bytes_per_second).checked_mul(self.ns) {
            return product / 1_000_000_000;
        }
        // Wide numbers are slow to divide, and needed only for Gbit/s over many seconds.
        let bytes = u128::from(bytes_per_second) * u128::from(self.ns) / 1_000_000_000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}
