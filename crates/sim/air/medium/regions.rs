//! Regions of the flat arrays of hearers: where each station's list is stored, so that a list can be replaced during a run.

use std::collections::BTreeMap;

use crate::ids::{StationIx, Table};

use super::hearers::{Band, Hearer, Hearers, cut_into_bands};

/// Region of the arrays that a station's list and its bands occupy: start and capacity.
#[derive(Debug, Clone, Copy)]
struct Region {
    entries: (u32, u32),
    bands: (u32, u32),
    /// Length of the list.
    length: u32,
}

/// An old list that passes may still visit.
#[derive(Debug)]
struct Kept {
    station: StationIx,
    /// End of its use, ns.
    until: u64,
    region: Region,
}

/// Free regions, by the binary logarithm of their capacity.
#[derive(Debug, Default)]
struct FreeRegions([Vec<(u32, u32)>; 32]);

impl FreeRegions {
    fn release(&mut self, room: (u32, u32)) {
        if room.1 > 0 {
            self.0[room.1.ilog2() as usize].push(room);
        }
    }

    /// Allocates a region for `count` entries; if none is free, at the end of `all`, which grows by `empty`.
    fn allocate<T: Copy>(&mut self, count: usize, all: &mut Vec<T>, empty: T) -> (u32, u32) {
        let size = count.max(1).next_power_of_two();
        self.0[size.ilog2() as usize..].iter_mut().find_map(Vec::pop).unwrap_or_else(|| {
            let first = all.len();
            all.resize(first + size, empty);
            (first as u32, size as u32)
        })
    }
}

/// Storage of the lists of a [`Hearers`].
#[derive(Debug, Default)]
pub(crate) struct Regions {
    of: Table<StationIx, Region>,
    /// Old lists that passes may still visit.
    kept: Vec<Kept>,
    entries: FreeRegions,
    bands: FreeRegions,
    cuts: Vec<Band>,
    seen: Vec<(StationIx, u32)>,
    /// Notes, other than 0, of pairs (transmitter, hearer) that are in no list now: they may hear each other again before the last retry.
    out_of_reach: BTreeMap<(StationIx, StationIx), u32>,
}

impl Regions {
    /// The regions of lists as [`Hearers::build`] stores them.
    pub(crate) fn new(hearers: &Hearers) -> Self {
        let region = |&(first, end): &(u32, u32)| {
            let bands = &hearers.bands[first as usize..end as usize];
            let entries = bands.first().map_or((0, 0), |b| (b.first, bands[bands.len() - 1].end - b.first));
            Region { entries, bands: (first, end - first), length: entries.1 }
        };
        Self { of: hearers.bands_of.iter().map(region).collect(), ..Self::default() }
    }

    /// Indices of a station's list.
    pub(crate) fn list(&self, station: StationIx) -> std::ops::Range<usize> {
        let Region { entries: (first, _), length, .. } = self.of[station];
        first as usize..(first + length) as usize
    }

    /// Replaces a station's list by one that is in order; `key` gives each entry's band and class. Passes visit the old list until `kept`.
    pub(crate) fn replace(
        &mut self,
        hearers: &mut Hearers,
        station: StationIx,
        list: &[Hearer],
        key: impl Fn(&Hearer) -> (u64, u8),
        (kept, now): (Option<u64>, u64),
    ) {
        let old = self.list(station);
        // Sequence numbers stay with their pairs of stations, also while a pair is out of reach.
        self.seen.clear();
        self.seen.extend(old.map(|at| (hearers.list[at].id, hearers.last_sequence[at])));
        self.seen.sort_unstable();
        let Self { of, kept: kept_lists, entries, bands, cuts, seen, out_of_reach } = self;
        let region = &mut of[station];
        kept_lists.retain(|&Kept { until, region, .. }| {
            let over = until < now;
            if over {
                entries.release(region.entries);
                bands.release(region.bands);
            }
            !over
        });
        cuts.clear();
        cut_into_bands(list, 0, key, cuts);
        let fits = list.len() <= region.entries.1 as usize && cuts.len() <= region.bands.1 as usize;
        if kept.is_some() || !fits {
            match kept {
                Some(until) => kept_lists.push(Kept { station, until, region: *region }),
                None => {
                    entries.release(region.entries);
                    bands.release(region.bands);
                }
            }
            *region = Region {
                entries: entries.allocate(list.len(), &mut hearers.list, Hearer::NONE),
                bands: bands.allocate(cuts.len(), &mut hearers.bands, Band::default()),
                length: 0,
            };
            hearers.last_sequence.resize(hearers.list.len(), 0);
        }
        region.length = list.len() as u32;
        let (first, band) = (region.entries.0, region.bands.0);
        for (at, hearer) in (first as usize..).zip(list) {
            hearers.list[at] = *hearer;
            hearers.last_sequence[at] = match seen.binary_search_by_key(&hearer.id, |s| s.0) {
                Ok(i) => std::mem::take(&mut seen[i].1),
                Err(_) => out_of_reach.remove(&(station, hearer.id)).unwrap_or(0),
            };
        }
        for &(id, sequence) in seen.iter().filter(|(_, sequence)| *sequence != 0) {
            out_of_reach.insert((station, id), sequence);
        }
        for (at, cut) in (band as usize..).zip(&*cuts) {
            let Band { first: a, decodable_end: b, sensed_end: c, end: d, offset } = *cut;
            hearers.bands[at] = Band {
                first: first + a,
                decodable_end: first + b,
                sensed_end: first + c,
                end: first + d,
                offset,
            };
        }
        hearers.bands_of[station] = (band, band + cuts.len() as u32);
    }

    /// Stores the last sequence number of a pair in all lists of the transmitter: those that replaced the list whose late pass set it.
    pub(crate) fn set_last_sequence(
        &mut self,
        hearers: &mut Hearers,
        (from, to): (StationIx, StationIx),
        sequence: u32,
    ) {
        let now = self.of[from];
        let kept = self.kept.iter().filter(|kept| kept.station == from).map(|kept| kept.region);
        for Region { entries: (first, _), length, .. } in kept.chain([now]) {
            let list = first as usize..(first + length) as usize;
            if let Some(at) = list.clone().find(|&at| hearers.list[at].id == to) {
                hearers.last_sequence[at] = sequence;
            } else if list.start == now.entries.0 as usize {
                self.out_of_reach.insert((from, to), sequence);
            }
        }
    }
}
