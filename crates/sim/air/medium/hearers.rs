//! Lists of hearers: for each transmitter the stations that receive power from it, in one flat array.
//!
//! A transmitter's list is cut into bands of propagation delay, 4 us wide. All effects of a transmission in a band are applied in one pass
//! at the band's offset; within 1.2 km there is one band, without an event of its own. Inside a band decodable hearers come first, then
//! those that only sense the signal, then those for which it is noise.

use airfair_units::{Db, Dbm};

use super::StationSpec;
use super::phy::PhyKind;
use super::propagation;
use crate::ids::{StationIx, Table};
use crate::spec::{GainSpec, Propagation};

/// One hearer of one transmitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Hearer {
    /// The hearing station.
    pub id: StationIx,
    /// Propagation delay, ns.
    pub delay: u32,
    /// Received power, aW.
    pub power: u64,
    /// Under [`crate::spec::ErrorModel::Threshold`] a frame in an exchange of the sender's nominal mode is received if interference stays
    /// below this, aW; 0: it never is, or a draw decides. For another mode: [`super::Medium::next_hearer_of`].
    pub bound: u64,
}

impl Hearer {
    /// Placeholder for array entries that belong to no list.
    pub(crate) const NONE: Self = Self { id: StationIx(0), delay: 0, power: 0, bound: 0 };
}

/// One band of a transmitter's hearers: indices into the flat array.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Band {
    pub first: u32,
    pub decodable_end: u32,
    pub sensed_end: u32,
    pub end: u32,
    /// Time from the start or end of the transmission to the band's pass, ns.
    pub offset: u32,
}

/// Width of a band, ns. Shorter than a SIFS, so that a response is never due before its band's pass.
pub(crate) const BAND_NS: u64 = 4_000;

/// The lists of all transmitters.
#[derive(Debug, Default, Clone)]
pub(crate) struct Hearers {
    pub list: Vec<Hearer>,
    /// By entry, owned by the MAC: the last sequence number that the hearer has received from the transmitter, plus one, by which the
    /// hearer recognises duplicates; 0: none. The number stays with its pair of stations when a list is renewed, also if they do not
    /// hear each other for a while.
    pub last_sequence: Vec<u32>,
    pub bands: Vec<Band>,
    /// Range of bands of each station.
    pub bands_of: Table<StationIx, (u32, u32)>,
}

impl Hearers {
    /// Indices of a transmitter's bands.
    #[inline]
    pub(crate) fn bands_of(&self, station: StationIx) -> std::ops::Range<usize> {
        let (first, end) = self.bands_of[station];
        first as usize..end as usize
    }

    /// Entries of the flat array.
    #[inline(always)]
    pub(crate) fn entries(&self, range: std::ops::Range<u32>) -> &[Hearer] {
        &self.list[range.start as usize..range.end as usize]
    }

    /// Replaces a transmitter's bands, for the time of a call, by others of the array. Returns the earlier ones.
    pub(crate) fn replace_bands(
        &mut self,
        station: StationIx,
        bands: std::ops::Range<usize>,
    ) -> std::ops::Range<usize> {
        let earlier = self.bands_of(station);
        self.bands_of[station] = (bands.start as u32, bands.end as u32);
        earlier
    }

    /// Computes every list. Stations on different channels do not hear each other.
    pub(crate) fn build(stations: &[StationSpec], kinds: &[PhyKind], gains: &[GainSpec]) -> Self {
        let mut measured: Vec<(u32, Hearer)> = Vec::new();
        let matrix = |s: &StationSpec| s.propagation == Propagation::Matrix;
        for gain in gains {
            for (i, from) in stations.iter().enumerate().filter(|(_, s)| s.node == gain.from && matrix(s)) {
                for (j, to) in stations.iter().enumerate().filter(|(_, s)| s.node == gain.to) {
                    if i != j && kinds[usize::from(from.kind)].channel == kinds[usize::from(to.kind)].channel
                    {
                        let dbm = from.tx_power.0 + gain.gain.0;
                        let heard = entry(stations, kinds, (i, j), dbm, known_distance(from, to));
                        measured.extend(heard.map(|heard| (i as u32, heard)));
                    }
                }
            }
        }
        measured.sort_unstable_by_key(|&(from, h)| {
            (from, place(&h, stations[from as usize].best_fade(), stations, kinds))
        });
        let mut measured = measured.into_iter().peekable();
        let cells = Cells::new(stations);
        let mut hearers = Self::default();
        let mut row: Vec<Hearer> = Vec::new();
        for (i, station) in stations.iter().enumerate() {
            let best = station.best_fade();
            while let Some((_, heard)) = measured.next_if(|&(from, _)| from as usize == i) {
                row.push(heard);
            }
            if !matrix(station) {
                row.extend(cells.near(station).filter_map(|j| entry_by_distance(stations, kinds, i, j)));
            }
            row.sort_unstable_by_key(|h| place(h, best, stations, kinds));
            row.dedup_by_key(|h| h.id);
            let (first_band, first) = (hearers.bands.len() as u32, hearers.list.len() as u32);
            hearers.list.append(&mut row);
            let key = |h: &Hearer| band_and_class(h, best, stations, kinds);
            cut_into_bands(&hearers.list[first as usize..], first, key, &mut hearers.bands);
            hearers.bands_of.push((first_band, hearers.bands.len() as u32));
        }
        hearers.list.shrink_to_fit();
        hearers.last_sequence = vec![0; hearers.list.len()];
        hearers.bands.shrink_to_fit();
        hearers
    }

    /// Memory of the lists, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.list.capacity() * (size_of::<Hearer>() + size_of::<u32>())
            + self.bands.capacity() * size_of::<Band>()
    }

    /// The entry of a hearer in a transmitter's list, decodable or not.
    pub(crate) fn find(&self, from: StationIx, to: StationIx) -> Option<Hearer> {
        self.find_in(self.bands_of(from), to)
    }

    /// The entry of a hearer in these bands.
    pub(crate) fn find_in(&self, bands: std::ops::Range<usize>, to: StationIx) -> Option<Hearer> {
        bands
            .flat_map(|b| self.bands[b].first..self.bands[b].end)
            .map(|e| self.list[e as usize])
            .find(|h| h.id == to)
    }

    /// Hearers that can decode a transmitter's frames.
    pub(crate) fn decodable(&self, from: StationIx) -> impl Iterator<Item = Hearer> + '_ {
        self.bands_of(from)
            .flat_map(|b| self.bands[b].first..self.bands[b].decodable_end)
            .map(|e| self.list[e as usize])
    }
}

/// Class of a signal at a hearer: 0 if it can be decoded, 1 if it is only sensed, 2 if it is noise.
#[inline]
pub(crate) fn class_of(power: u64, kind: &PhyKind) -> u8 {
    match power {
        p if p >= kind.preamble_detect => 0,
        p if p >= kind.energy_detect => 1,
        _ => 2,
    }
}

/// Class of a hearer whose signal is left out of the passes at present.
pub(crate) const LEFT_OUT: u8 = 3;

/// Band and class of a hearer in a list of its transmitter, by the greatest power that fading gives it. `best`: greatest factor of the
/// transmitter's fading.
pub(crate) fn band_and_class(
    hearer: &Hearer,
    best: f64,
    stations: &[StationSpec],
    kinds: &[PhyKind],
) -> (u64, u8) {
    let kind = &kinds[usize::from(stations[hearer.id.ix()].kind)];
    // The product is exact without fading: no power is above 1e15 aW.
    (u64::from(hearer.delay) / BAND_NS, class_of((hearer.power as f64 * best) as u64, kind))
}

/// Sort key of a hearer in a list: its band, its class, its number.
pub(crate) fn place(
    hearer: &Hearer,
    best: f64,
    stations: &[StationSpec],
    kinds: &[PhyKind],
) -> (u64, u8, StationIx) {
    let (band, class) = band_and_class(hearer, best, stations, kinds);
    (band, class, hearer.id)
}

/// Cuts a transmitter's sorted list, which begins at index `first` of the array, into bands. `key`: band and class of an entry.
pub(crate) fn cut_into_bands(
    list: &[Hearer],
    first: u32,
    key: impl Fn(&Hearer) -> (u64, u8),
    bands: &mut Vec<Band>,
) {
    let mut at = 0;
    while let Some(hearer) = list.get(at) {
        let number = key(hearer).0;
        let mut count = [0u32; 4];
        while let Some((_, class)) = list.get(at).map(&key).filter(|&(band, _)| band == number) {
            count[usize::from(class)] += 1;
            at += 1;
        }
        let end = first + at as u32 - count[usize::from(LEFT_OUT)];
        let sensed_end = end - count[2];
        let decodable_end = sensed_end - count[1];
        let offset = (number * BAND_NS) as u32;
        bands.push(Band { first: decodable_end - count[0], decodable_end, sensed_end, end, offset });
    }
}

/// The entry of station `to` in the list of station `from` by their distance. None if both are the same, on different channels, if the
/// signal is too weak, or if the transmitter's gains are measured.
pub(crate) fn entry_by_distance(
    stations: &[StationSpec],
    kinds: &[PhyKind],
    from: usize,
    to: usize,
) -> Option<Hearer> {
    let (sender, receiver) = (&stations[from], &stations[to]);
    if from == to
        || kinds[usize::from(sender.kind)].channel != kinds[usize::from(receiver.kind)].channel
        || sender.propagation == Propagation::Matrix
    {
        return None;
    }
    let d = distance(sender.position, receiver.position);
    let shadow = propagation::shadowing(&sender.propagation, &sender.node_id, &receiver.node_id);
    let dbm = sender.tx_power.0 + propagation::gain_at(&sender.propagation, d).0 + shadow.0;
    entry(stations, kinds, (from, to), dbm, d)
}

/// The entry of station `to` in the list of station `from`, whose signal arrives with `dbm`; none if even the best fade leaves it below the
/// receiver's cutoff.
pub(crate) fn entry(
    stations: &[StationSpec],
    kinds: &[PhyKind],
    (from, to): (usize, usize),
    dbm: f64,
    distance: f64,
) -> Option<Hearer> {
    let (sender, receiver) = (&stations[from], &stations[to]);
    let best = sender.fading.as_ref().map_or(0.0, |fading| fading.best().0);
    (dbm + best >= receiver.cutoff.0 && dbm.is_finite()).then(|| {
        // At most 1 mW: no real receiver gets more, and the sum of 18,000 such signals does not overflow.
        let power = Dbm(dbm.min(0.0)).to_attowatts().0.max(1);
        let delay = propagation::delay_ns(distance).min(u64::from(u32::MAX)) as u32;
        let bound = kinds[usize::from(receiver.kind)]
            .interference_bound(power, kinds[usize::from(sender.kind)].nominal_mode);
        Hearer { id: StationIx(to as u32), delay, power, bound }
    })
}

/// Distance between two stations with a measured gain, m; 0 where the position of either is unknown, so that a guess causes no delay.
pub(crate) fn known_distance(a: &StationSpec, b: &StationSpec) -> f64 {
    if a.located && b.located { distance(a.position, b.position) } else { 0.0 }
}

/// Distance between two positions, m.
pub(crate) fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    let d = [0, 1, 2].map(|i| a[i] - b[i]);
    (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt()
}

/// Largest distance at which any station's signal can be received by any other, m; zero without a model by distance.
pub(crate) fn farthest_reach(stations: &[StationSpec]) -> f64 {
    let weakest = stations.iter().map(|to| to.cutoff.0).fold(f64::INFINITY, f64::min);
    stations
        .iter()
        .filter(|s| s.propagation != Propagation::Matrix)
        .map(|from| {
            // Stations of one kind share all parameters: the search below is made once per distinct value.
            let best = from.fading.as_ref().map_or(0.0, |fading| fading.best().0);
            (from.tx_power.0 + best, weakest, &from.propagation)
        })
        .fold((Vec::<(f64, f64, &Propagation)>::new(), 0.0f64), |(mut seen, mut most), item| {
            if !seen.contains(&item) {
                most = most.max(propagation::reach(item.2, Db(item.1 - item.0)));
                seen.push(item);
            }
            (seen, most)
        })
        .1
}

/// Stations by the cells of a grid. Cells are as wide as the farthest reach, so all hearers of a station are in its cell or in an adjacent
/// one.
pub(crate) struct Cells {
    size: f64,
    by_cell: Vec<([i64; 2], usize)>,
}

impl Cells {
    pub(crate) fn new(stations: &[StationSpec]) -> Self {
        let extent =
            stations.iter().flat_map(|s| [s.position[0].abs(), s.position[1].abs()]).fold(1.0, f64::max);
        // Cells are no smaller than keeps the indices in range.
        let mut cells =
            Self { size: farthest_reach(stations).max(extent / 1e6).max(1.0), by_cell: Vec::new() };
        cells.by_cell = stations.iter().enumerate().map(|(i, s)| (cells.of(s), i)).collect();
        cells.by_cell.sort_unstable();
        cells
    }

    /// The cell of a station.
    pub(crate) fn of(&self, station: &StationSpec) -> [i64; 2] {
        [0, 1].map(|axis| (station.position[axis] / self.size).floor() as i64)
    }

    /// Stations in a station's cell and in adjacent cells, by columns.
    fn columns(&self, station: &StationSpec) -> [&[([i64; 2], usize)]; 3] {
        let [x, y] = self.of(station);
        [x - 1, x, x + 1].map(|column| {
            let from = self.by_cell.partition_point(|&(c, _)| c < [column, y - 1]);
            let to = self.by_cell.partition_point(|&(c, _)| c <= [column, y + 1]);
            &self.by_cell[from..to]
        })
    }

    /// Candidates for hearing a station, itself among them.
    pub(crate) fn near(&self, station: &StationSpec) -> impl Iterator<Item = usize> {
        self.columns(station).into_iter().flatten().map(|&(_, i)| i)
    }

    /// Number of candidates for hearing a station.
    pub(crate) fn count_near(&self, station: &StationSpec) -> u64 {
        self.columns(station).iter().map(|column| column.len() as u64).sum()
    }
}
