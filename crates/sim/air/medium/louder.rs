//! Frames that are sent with another power than the radio's own: each sender of such frames has a second list of hearers, a scaled copy of
//! its list, which the passes over the hearers visit as any other.
//!
//! A copy has the hearers of the list, whatever its factor: those that are left out of the list as too weak stay left out, and so do those
//! that fading leaves out at present. It is made when such a frame starts, unless it holds already.

use std::ops::Range;

use airfair_units::Db;

use super::hearers::{BAND_NS, Band, Hearer, class_of, cut_into_bands};
use super::{MOST_POWER, Medium};
use crate::ids::StationIx;

/// The copy of a sender's list: its regions of the flat arrays ([`super::hearers::Hearers`]) as start and capacity.
#[derive(Debug, Clone, Copy)]
struct Scaled {
    sender: StationIx,
    entries: (u32, u32),
    bands: (u32, u32),
    /// Number of bands.
    count: u32,
    /// Power above the radio's own, hundredths of a dB.
    louder: i16,
    /// End of the last frame at its last hearer, ns.
    busy_until: u64,
}

/// The copies of a world, in the order in which they were first needed.
#[derive(Debug, Default)]
pub(super) struct Louder {
    copies: Vec<Scaled>,
    list: Vec<Hearer>,
    cuts: Vec<Band>,
}

/// A region of `count` entries at the end of `all`, with room for a power of two.
fn allocate<T: Copy>(count: usize, all: &mut Vec<T>, empty: T) -> (u32, u32) {
    let (first, size) = (all.len(), count.max(1).next_power_of_two());
    all.resize(first + size, empty);
    (first as u32, size as u32)
}

impl Medium {
    /// The bands of a frame that has another power than the radio's own.
    #[cold]
    pub(crate) fn louder_bands(&self, sender: StationIx) -> Range<usize> {
        let copy = self.louder.copies.iter().find(|copy| copy.sender == sender);
        copy.map_or(0..0, |copy| copy.bands.0 as usize..(copy.bands.0 + copy.count) as usize)
    }

    /// Scales the powers of a sender's hearers for a frame from `start` to `end` with another power than the radio's own. A frame that starts
    /// before the last such frame has ended at all hearers has the powers of that frame.
    #[cold]
    #[inline(never)]
    pub(super) fn make_louder(&mut self, sender: StationIx, louder: i16, (start, end): (u64, u64)) {
        let holds = self.varying.is_none() && self.movement.is_none();
        let Self { louder: Louder { copies, list, cuts }, hearers, stations, kinds, .. } = self;
        let known = copies.iter().position(|copy| copy.sender == sender);
        let as_before = |copy: &Scaled| copy.busy_until > start || holds && copy.louder == louder;
        if !known.is_some_and(|at| as_before(&copies[at])) {
            let factor = Db(f64::from(louder) / 100.0).to_linear();
            let mode = kinds[usize::from(stations[sender].radio.kind)].data_mode;
            let key = |hearer: &Hearer| {
                let kind = &kinds[usize::from(stations[hearer.id].radio.kind)];
                (u64::from(hearer.delay) / BAND_NS, class_of(hearer.power, kind))
            };
            list.clear();
            for band in &hearers.bands[hearers.bands_of(sender)] {
                list.extend(hearers.list[band.first as usize..band.end as usize].iter().map(|hearer| {
                    let power = ((hearer.power as f64 * factor).min(MOST_POWER) as u64).max(1);
                    let kind = &kinds[usize::from(stations[hearer.id].radio.kind)];
                    Hearer { power, bound: kind.interference_bound(power, mode), ..*hearer }
                }));
            }
            list.sort_unstable_by_key(|hearer| (key(hearer), hearer.id));
            cuts.clear();
            cut_into_bands(list, 0, key, cuts);
            let at = known.unwrap_or_else(|| {
                let nothing =
                    Scaled { sender, entries: (0, 0), bands: (0, 0), count: 0, louder, busy_until: 0 };
                copies.push(nothing);
                copies.len() - 1
            });
            let copy = &mut copies[at];
            if copy.entries.1 < list.len() as u32 {
                copy.entries = allocate(list.len(), &mut hearers.list, Hearer::NONE);
                hearers.notes.resize(hearers.list.len(), 0);
            }
            if copy.bands.1 < cuts.len() as u32 {
                copy.bands = allocate(cuts.len(), &mut hearers.bands, Band::default());
            }
            (copy.count, copy.louder) = (cuts.len() as u32, louder);
            let first = copy.entries.0;
            hearers.list[first as usize..first as usize + list.len()].copy_from_slice(list);
            for (place, cut) in (copy.bands.0 as usize..).zip(cuts.iter()) {
                hearers.bands[place] = Band {
                    first: first + cut.first,
                    decodable_end: first + cut.decodable_end,
                    sensed_end: first + cut.sensed_end,
                    end: first + cut.end,
                    offset: cut.offset,
                };
            }
        }
        let last =
            self.hearers.bands[self.louder_bands(sender)].last().map_or(0, |band| u64::from(band.offset));
        if let Some(copy) = self.louder.copies.iter_mut().find(|copy| copy.sender == sender) {
            copy.busy_until = copy.busy_until.max(end + last + BAND_NS);
        }
    }
}
