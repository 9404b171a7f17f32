//! The load of the air [LBM §2.2; §4 for the other measures].

use airfair_units::{Bytes, Rate, Span};

use crate::link_values::LinkValues;
use crate::places::{LinkUse, NodeId};
use crate::words;

words! {
    /// The definition of the load.
    pub enum Measure {
        /// Bits of IP packets, as a share of the radio's rate.
        Utilisation = "utilisation",
        /// Packets, as a share of the radio's rate in packets of `mean_packet`.
        Packets = "packets",
        /// Mean time as the MAC's first packet, as a multiple of `access_scale`.
        Access = "access",
    }
}

/// The measurement of the load of an interface's air.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// The definition of the load.
    pub measure: Measure,
    /// The size of a packet, for [`Measure::Packets`].
    pub mean_packet: Bytes,
    /// The time that is a load of 1, for [`Measure::Access`].
    pub access_scale: Span,
    /// The radio's nominal rate, or the mean rate of its links (`LinkRates`).
    pub rate: Rate,
    /// True if received packets are left out.
    pub downlink_only: bool,
}

/// Most links of an access point: as many stations as it can tell apart (association identifiers, IEEE 802.11 clause 9.4.1.8).
const MOST_LINKS: usize = 2007;

/// The rates of the links on which a law has chosen one.
#[derive(Debug, Clone)]
pub struct LinkRates(LinkValues<Rate>);

impl Default for LinkRates {
    fn default() -> Self {
        Self(LinkValues::new(MOST_LINKS))
    }
}

impl LinkRates {
    /// A link has this rate from now on.
    pub fn set(&mut self, neighbour: NodeId, rate: Rate) {
        self.0.set(neighbour, rate, |_| false);
    }

    /// Only these neighbours are left.
    pub fn keep(&mut self, neighbours: &[NodeId]) {
        self.0.keep(neighbours);
    }

    /// The rate of the radio: the harmonic mean over its links, at which equally many bits on each link need the time that they need at
    /// their own rates. None without links.
    #[must_use]
    pub fn mean(&self) -> Option<Rate> {
        let rates = self.0.iter();
        let links = rates.len() as f64;
        let seconds_per_bit: f64 = rates.map(|rate| 1.0 / rate.as_bps().max(1) as f64).sum();
        (links > 0.0).then(|| Rate((links / seconds_per_bit + 0.5) as u64))
    }
}

impl Load {
    /// rho of an interval, 0 or more; 0 for an interval without length or packets.
    #[must_use]
    pub fn of(&self, interval: Span, link: &LinkUse) -> f64 {
        let both = |sent: u64, received: u64| (sent + if self.downlink_only { 0 } else { received }) as f64;
        let bits = match self.measure {
            Measure::Utilisation => 8.0 * both(link.sent_bytes, link.received_bytes),
            Measure::Packets => {
                8.0 * self.mean_packet.0 as f64 * both(link.sent_packets, link.received_packets)
            }
            Measure::Access => {
                let all = link.sent_packets as f64 * self.access_scale.0 as f64;
                return if all > 0.0 { link.access.0 as f64 / all } else { 0.0 };
            }
        };
        let possible = self.rate.as_bps() as f64 * interval.as_secs_f64();
        if possible > 0.0 { bits / possible } else { 0.0 }
    }
}
