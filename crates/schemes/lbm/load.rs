//! How much the air carries in both directions together [LBM §2.2; §4 for the other measures].

use airfair_units::{Bytes, Rate, Span};

use crate::places::LinkUse;

/// What the load is measured by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// Bits of IP packets, as a share of the radio's rate.
    Utilisation,
    /// Packets, as a share of the radio's rate in packets of this size.
    Packets(Bytes),
    /// Mean time as the MAC's first packet, as a multiple of this.
    Access(Span),
}

impl Measure {
    /// Their names, in the order of the variants.
    pub const WORDS: [&str; 3] = ["utilisation", "packets", "access"];

    /// The measure of that name, with the size of a packet and the scale of the delay.
    #[must_use]
    pub fn named(word: &str, mean_packet: Bytes, access_scale: Span) -> Self {
        match word {
            "packets" => Self::Packets(mean_packet),
            "access" => Self::Access(access_scale),
            _ => Self::Utilisation,
        }
    }
}

/// Measures the load of an interface's air.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// By what.
    pub measure: Measure,
    /// The radio's nominal rate.
    pub rate: Rate,
    /// Leave out what is received.
    pub downlink_only: bool,
}

impl Load {
    /// rho of an interval, 0 or more; 0 for an interval without length or packets.
    #[must_use]
    pub fn of(&self, interval: Span, link: &LinkUse) -> f64 {
        let both = |sent: u64, received: u64| (sent + if self.downlink_only { 0 } else { received }) as f64;
        let bits = match self.measure {
            Measure::Utilisation => 8.0 * both(link.sent_bytes, link.received_bytes),
            Measure::Packets(size) => 8.0 * size.0 as f64 * both(link.sent_packets, link.received_packets),
            Measure::Access(scale) => {
                let all = link.sent_packets as f64 * scale.0 as f64;
                return if all > 0.0 { link.access.0 as f64 / all } else { 0.0 };
            }
        };
        let possible = self.rate.as_bps() as f64 * interval.as_secs_f64();
        if possible > 0.0 { bits / possible } else { 0.0 }
    }
}
