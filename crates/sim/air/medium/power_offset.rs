//! Frames that are sent with another power than the radio's own: each sender of such frames has a second list of hearers, a scaled copy of
//! its list, which the passes over the hearers visit as any other.
//!
//! A copy has the hearers of the list, whatever its factor: those that are left out of the list as too weak stay left out, and so do those
//! that fading leaves out at present. It is made when such a frame starts, unless it holds already.

use std::ops::Range;

use airfair_units::Db;

use super::MOST_POWER;
use super::frame::Frame;
use super::hearers::{BAND_NS, Band, Hearer, Hearers, class_of, cut_into_bands};
use super::phy::PhyKind;
use super::radio::Station;
use crate::ids::{StationIx, Table};

/// A copy of a sender's list: its regions of the flat arrays ([`super::hearers::Hearers`]) as start and capacity.
#[derive(Debug, Clone, Copy)]
struct Scaled {
    sender: StationIx,
    entries: (u32, u32),
    bands: (u32, u32),
    /// Number of bands.
    count: u32,
    /// Power above the radio's own, hundredths of a dB.
    power_offset: i16,
    /// Start of the last frame, and its end at its last hearer, ns.
    used_at: u64,
    busy_until: u64,
}

impl Scaled {
    const fn new(sender: StationIx) -> Self {
        Self { sender, entries: (0, 0), bands: (0, 0), count: 0, power_offset: 0, used_at: 0, busy_until: 0 }
    }

    /// Indices of its bands.
    fn range(&self) -> Range<usize> {
        self.bands.0 as usize..(self.bands.0 + self.count) as usize
    }
}

/// The copies of a world, in the order in which they were first needed.
#[derive(Debug, Default)]
pub(super) struct OffsetLists {
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

impl OffsetLists {
    /// The bands of the last frame of a sender that was sent with another power.
    pub fn bands(&self, sender: StationIx) -> Range<usize> {
        let copies = self.copies.iter().filter(|copy| copy.sender == sender);
        copies.max_by_key(|copy| copy.used_at).map_or(0..0, Scaled::range)
    }

    /// Scales the powers of the hearers of a frame with another power than its radio's own, and returns its bands. `fixed`: gains do not
    /// change during the run. A copy whose last frame is still on its way to distant hearers stays as it is.
    #[cold]
    #[inline(never)]
    pub fn prepare(
        &mut self,
        frame: &Frame,
        fixed: bool,
        hearers: &mut Hearers,
        stations: &Table<StationIx, Station>,
        kinds: &[PhyKind],
    ) -> Range<usize> {
        let Frame { sender, power_offset, start, end, .. } = *frame;
        let place = |suits: &dyn Fn(&Scaled) -> bool| {
            self.copies.iter().position(|copy| copy.sender == sender && suits(copy))
        };
        let known = place(&|copy| fixed && copy.power_offset == power_offset);
        let at = known.or_else(|| place(&|copy| copy.busy_until <= start)).unwrap_or(self.copies.len());
        if known.is_none() {
            if at == self.copies.len() {
                self.copies.push(Scaled::new(sender));
            }
            self.scale(sender, power_offset, hearers, stations, kinds);
            self.store(at, hearers);
        }
        let bands = self.copies[at].range();
        let last = hearers.bands[bands.clone()].last().map_or(0, |band| u64::from(band.offset));
        let copy = &mut self.copies[at];
        (copy.power_offset, copy.used_at, copy.busy_until) = (power_offset, start, end + last + BAND_NS);
        bands
    }

    /// The hearers of a sender with their scaled powers, in order and cut into bands.
    fn scale(
        &mut self,
        sender: StationIx,
        power_offset: i16,
        hearers: &Hearers,
        stations: &Table<StationIx, Station>,
        kinds: &[PhyKind],
    ) {
        let Self { list, cuts, .. } = self;
        let factor = Db(f64::from(power_offset) / 100.0).to_linear();
        let kind = |station: StationIx| &kinds[usize::from(stations[station].radio.kind)];
        let mode = kind(sender).nominal_mode;
        let key =
            |hearer: &Hearer| (u64::from(hearer.delay) / BAND_NS, class_of(hearer.power, kind(hearer.id)));
        list.clear();
        for band in &hearers.bands[hearers.bands_of(sender)] {
            list.extend(hearers.list[band.first as usize..band.end as usize].iter().map(|hearer| {
                let power = ((hearer.power as f64 * factor).min(MOST_POWER) as u64).max(1);
                Hearer { power, bound: kind(hearer.id).interference_bound(power, mode), ..*hearer }
            }));
        }
        list.sort_unstable_by_key(|hearer| (key(hearer), hearer.id));
        cuts.clear();
        cut_into_bands(list, 0, key, cuts);
    }

    /// Stores the scaled hearers in the flat arrays.
    fn store(&mut self, at: usize, hearers: &mut Hearers) {
        let Self { copies, list, cuts } = self;
        let copy = &mut copies[at];
        if copy.entries.1 < list.len() as u32 {
            copy.entries = allocate(list.len(), &mut hearers.list, Hearer::NONE);
            hearers.last_sequence.resize(hearers.list.len(), 0);
        }
        if copy.bands.1 < cuts.len() as u32 {
            copy.bands = allocate(cuts.len(), &mut hearers.bands, Band::default());
        }
        copy.count = cuts.len() as u32;
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
}
