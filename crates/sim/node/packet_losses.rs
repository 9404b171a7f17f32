//! Losses above the MAC: a packet that a radio has received and acknowledged is lost at its node.

use airfair_units::random::{Purpose, Stream};

use crate::ids::{StationIx, Table};

/// Packet losses of all stations.
#[derive(Default)]
pub(crate) struct PacketLosses {
    /// Probability of a loss and its random stream; empty if no radio loses packets.
    of: Table<StationIx, Option<(f64, Stream)>>,
}

impl PacketLosses {
    /// `stations`: names and probabilities. Each station has its own stream: its losses do not depend on what others receive.
    pub fn new(stations: impl Iterator<Item = (String, f64)>, seed: u64) -> Self {
        let stream = |(name, loss): (String, f64)| {
            (loss > 0.0).then(|| (loss, Stream::new(seed, &name, Purpose::LinkLoss)))
        };
        let of: Table<StationIx, _> = stations.map(stream).collect();
        Self { of: if of.iter().any(Option::is_some) { of } else { Table::default() } }
    }

    /// True if any station loses packets.
    pub fn any(&self) -> bool {
        !self.of.is_empty()
    }

    /// Draws whether the packet that a station has just received is lost.
    pub fn draw_loss(&mut self, station: StationIx) -> bool {
        match self.of.get_mut(station) {
            Some(Some((loss, random))) => random.uniform() < *loss,
            _ => false,
        }
    }
}
