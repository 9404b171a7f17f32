//! Losses above the MAC: a packet that a radio has received and acknowledged for its node does not get any further.

use airfair_units::random::{Purpose, Stream};

use crate::ids::{StationIx, Table};

/// What is lost at the stations of a world.
#[derive(Default)]
pub(crate) struct PacketLosses {
    /// The probability and what it is drawn from; empty if no radio loses packets.
    of: Table<StationIx, Option<(f64, Stream)>>,
}

impl PacketLosses {
    /// Of the stations' names and probabilities. A stream each: what one loses does not depend on what another receives.
    pub fn new(stations: impl Iterator<Item = (String, f64)>, seed: u64) -> Self {
        let stream = |(name, loss): (String, f64)| {
            (loss > 0.0).then(|| (loss, Stream::new(seed, &name, Purpose::LinkLoss)))
        };
        let of: Table<StationIx, _> = stations.map(stream).collect();
        Self { of: if of.iter().any(Option::is_some) { of } else { Table::default() } }
    }

    /// Whether any station loses packets.
    pub fn any(&self) -> bool {
        !self.of.is_empty()
    }

    /// Whether the packet that a station has just received is lost.
    pub fn strikes(&mut self, station: StationIx) -> bool {
        match self.of.get_mut(station) {
            Some(Some((loss, random))) => random.uniform() < *loss,
            _ => false,
        }
    }
}
