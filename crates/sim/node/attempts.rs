//! Data frames of the packets that a station has finished, for stations whose links are counted.

use airfair_host::LinkCounters;

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

/// Packets of each radio link since they are counted, as a driver counts those of its stations: by sender and, ascending, receiver.
#[derive(Debug, Default)]
pub(crate) struct LinkCounts(Table<StationIx, Vec<(StationIx, LinkCounters)>>);

impl LinkCounts {
    /// Counts a packet of these bytes that a station has finished, after so many data frames.
    pub fn count(
        &mut self,
        (from, to): (StationIx, StationIx),
        (bytes, frames, acknowledged): (u32, u64, bool),
    ) {
        while self.0.len() <= from.ix() {
            self.0.push(Vec::new());
        }
        let links = &mut self.0[from];
        let at = links.binary_search_by_key(&to, |link| link.0).unwrap_or_else(|at| {
            links.insert(at, (to, LinkCounters::default()));
            at
        });
        let counters = &mut links[at].1;
        counters.attempts += frames;
        if acknowledged {
            counters.sent += 1;
            counters.bytes += u64::from(bytes);
        } else {
            counters.given_up += 1;
        }
    }

    /// The links over which a station has sent, with their counters.
    pub fn of(&self, station: StationIx) -> &[(StationIx, LinkCounters)] {
        self.0.get(station).map_or(&[], Vec::as_slice)
    }
}
