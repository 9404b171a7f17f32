//! Losses above the MAC: a packet that a radio has received and acknowledged for its node does not get any further.

use crate::ids::CopyRef;
use airfair_units::random::{Purpose, Stream};

use super::{Net, drop_reason};

/// What is lost at the stations of a world.
#[derive(Default)]
pub(super) struct PacketLosses {
    /// By station, the probability and what it is drawn from; empty if no radio loses packets.
    of: Vec<Option<(f64, Stream)>>,
}

impl PacketLosses {
    /// Of the stations' names and probabilities. A stream each: what one loses does not hang on what another receives.
    pub(super) fn new(stations: impl Iterator<Item = (String, f64)>, seed: u64) -> Self {
        let stream = |(name, loss): (String, f64)| {
            (loss > 0.0).then(|| (loss, Stream::new(seed, &name, Purpose::LinkLoss)))
        };
        let of: Vec<_> = stations.map(stream).collect();
        Self { of: if of.iter().any(Option::is_some) { of } else { Vec::new() } }
    }

    /// Whether any station loses packets.
    pub(super) fn any(&self) -> bool {
        !self.of.is_empty()
    }

    /// Whether the packet that a station has just received is lost.
    fn strikes(&mut self, station: u32) -> bool {
        match self.of.get_mut(station as usize) {
            Some(Some((loss, random))) => random.uniform() < *loss,
            _ => false,
        }
    }
}

impl Net {
    /// A packet was received: whether it is lost above the MAC. Nothing else at its node learns of it then.
    pub(super) fn loses_received(&mut self, station: u32, copy: CopyRef, now: u64) -> bool {
        let lost = self.packet_losses.strikes(station);
        if lost {
            self.drop_packet(self.node_of_station[station as usize], copy, drop_reason::PACKET_LOSS, now);
        }
        lost
    }
}
