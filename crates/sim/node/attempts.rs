//! Data frames of the packets that a station has finished, for stations whose links are counted.

use crate::ids::{StationIx, Table};

/// Data frames that a station's categories had sent when they finished their last packets.
#[derive(Debug, Default)]
pub(crate) struct Attempts(Table<StationIx, [u64; 8]>);

impl Attempts {
    /// The data frames of a packet of a category that is finished now; `frames`: that the category has sent so far.
    pub fn of_finished(&mut self, station: StationIx, category: u8, frames: u64) -> u64 {
        while self.0.len() <= station.ix() {
            self.0.push([0; 8]);
        }
        let last = &mut self.0[station][usize::from(category) % 8];
        frames - std::mem::replace(last, frames)
    }
}
