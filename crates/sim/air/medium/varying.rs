//! Gains that vary while nodes rest: fading, and measured gains that change at given moments.
//!
//! Each station has two lists of hearers: one with the powers without fading ([`Varying::unfaded`]), which change with gains and
//! positions, and one with the powers of its last frame ([`Medium::hearers`](super::Medium)), which passes visit. The second list is
//! renewed when a frame starts and the powers of the last frame no longer hold: a frame keeps the gains of its start, and nothing happens
//! at the end of a block in which no frame starts. A list of powers without fading contains every station that hears the transmitter at
//! the best fade.
//!
//! Frames that are still on their way to distant hearers keep the lists of their starts ([`Regions`]).

use airfair_units::Time;
use airfair_units::random::name_hash;

use super::hearers::{BAND_NS, Hearer, Hearers, LEFT_OUT, class_of, entry, known_distance};
use super::phy::PhyKind;
use super::propagation::hash_of_pair;
use super::radio::Station;
use super::regions::Regions;
use super::{MOST_POWER, StationSpec};
use crate::engine::Agenda;
use crate::event::{EventKind, Order, class, rank};
use crate::ids::{StationIx, Table};
use crate::spec::{FadingSpec, GainChangeSpec, Propagation};

/// State of the gains that vary in a world.
#[derive(Debug)]
pub(super) struct Varying {
    /// Lists with present powers without fading, in classes by the best fade.
    pub unfaded: Hearers,
    /// Storage of the lists with the powers of the last frames.
    regions: Regions,
    stations: Table<StationIx, Varied>,
    /// Equally likely factors of each kind's fading; empty without fading.
    levels: Vec<Vec<f64>>,
    changes: Vec<Change>,
    seed: u64,
    list: Vec<Hearer>,
    /// Number of changes of gains so far.
    pub changed: u64,
}

/// A station whose gains vary.
#[derive(Debug)]
struct Varied {
    fading: Option<FadingSpec>,
    /// Greatest factor of its fading.
    best: f64,
    kind: u8,
    /// Hash of its name, and the position of the name among all names.
    name: (u64, u32),
    /// Signals below this are left out at this station, aW.
    cutoff: u64,
    /// End of the time for which the powers of its last frame hold, ns.
    valid_until: u64,
}

/// A change of a measured gain: the new entry of the second station in the list of the first one, for each pair of radios.
#[derive(Debug)]
struct Change {
    entries: Vec<(StationIx, StationIx, Option<Hearer>)>,
    /// Interval of repetition, ns.
    every: Option<u64>,
    /// Rank of the direction: changes of one moment have an order that no file has set.
    rank: u32,
}

impl Varying {
    /// The variation of gains in a world, or none if no gain varies. Schedules the first event of each change.
    pub fn new(
        stations: &[StationSpec],
        kinds: &[PhyKind],
        hearers: &Hearers,
        changes: &[GainChangeSpec],
        seed: u64,
        agenda: &mut Agenda,
    ) -> Option<Box<Self>> {
        if changes.is_empty() && stations.iter().all(|s| s.fading.is_none()) {
            return None;
        }
        let mut by_name: Vec<usize> = (0..stations.len()).collect();
        by_name.sort_by(|&a, &b| stations[a].name.cmp(&stations[b].name));
        let mut orders = vec![0; stations.len()];
        for (order, &station) in (0..).zip(&by_name) {
            orders[station] = order;
        }
        let varied = stations.iter().zip(&orders).map(|(s, &order)| Varied {
            fading: s.fading,
            best: s.best_fade(),
            kind: s.kind,
            name: (name_hash(&s.name), order),
            cutoff: s.cutoff.to_attowatts().0,
            valid_until: 0,
        });
        let mut levels = vec![Vec::new(); kinds.len()];
        for s in stations {
            if let Some(fading) = s.fading.filter(|_| levels[usize::from(s.kind)].is_empty()) {
                levels[usize::from(s.kind)] = fading.levels();
            }
        }
        let all: Vec<Change> = changes.iter().map(|c| Change::new(c, stations, kinds, seed)).collect();
        for (number, (change, spec)) in (0..).zip(all.iter().zip(changes)) {
            agenda.push(spec.at, Order::new(class::GAIN_CHANGE, change.rank), EventKind::GainChange(number));
        }
        Some(Box::new(Self {
            unfaded: hearers.clone(),
            regions: Regions::new(hearers),
            stations: varied.collect(),
            levels,
            changes: all,
            seed,
            list: Vec::new(),
            changed: 0,
        }))
    }

    /// True if the powers of a station's last frame do not hold for a frame that starts now.
    #[inline]
    pub fn is_stale(&self, station: StationIx, now: u64) -> bool {
        self.stations[station].valid_until <= now
    }

    /// The powers of a station have changed: its next frame has other powers.
    pub fn set_stale(&mut self, station: StationIx) {
        self.stations[station].valid_until = 0;
    }

    /// Storage of the lists with the powers of the last frames.
    pub fn regions_mut(&mut self) -> &mut Regions {
        &mut self.regions
    }

    /// Largest delay to a hearer that a change of gains may bring, ns.
    pub fn max_delay_of_changes(&self) -> u64 {
        let entries = self.changes.iter().flat_map(|change| &change.entries);
        entries.filter_map(|entry| entry.2).map(|heard| u64::from(heard.delay)).max().unwrap_or(0)
    }

    /// Greatest factor of a station's fading.
    pub fn best(&self, station: StationIx) -> f64 {
        self.stations[station].best
    }

    /// Equally likely factors of a station's fading; empty without fading.
    pub fn levels(&self, station: StationIx) -> &[f64] {
        &self.levels[usize::from(self.stations[station].kind)]
    }

    /// Renews the powers of a station's signal for a frame that starts now.
    #[cold]
    #[inline(never)]
    pub fn refresh(
        &mut self,
        station: StationIx,
        now: u64,
        hearers: &mut Hearers,
        states: &Table<StationIx, Station>,
        kinds: &[PhyKind],
    ) {
        let last = hearers.bands[hearers.bands_of(station)].last().map_or(0, |band| u64::from(band.offset));
        let silent = states[station].optional.transmit_until + last;
        let kept = (last > 0 && now < silent).then_some(silent);
        let Self { unfaded, stations, list, regions, seed, .. } = self;
        let Varied { fading, name: own, kind: own_kind, .. } = stations[station];
        let block = fading.map_or(0, |fading| fading.block(now));
        let mode = kinds[usize::from(own_kind)].nominal_mode;
        let faded = |hearer: &Hearer| {
            let Some(fading) = fading else { return *hearer };
            let factor = fading.factor(*seed, pair(own, stations[hearer.id].name), block);
            let power = ((hearer.power as f64 * factor).min(MOST_POWER) as u64).max(1);
            let kind = &kinds[usize::from(stations[hearer.id].kind)];
            Hearer { power, bound: kind.interference_bound(power, mode), ..*hearer }
        };
        list.clear();
        let bands = &unfaded.bands[unfaded.bands_of(station)];
        for band in bands {
            list.extend(unfaded.list[band.first as usize..band.end as usize].iter().map(faded));
        }
        let key = |hearer: &Hearer| {
            let heard_by = &stations[hearer.id];
            let class = match hearer.power {
                power if power < heard_by.cutoff => LEFT_OUT,
                power => class_of(power, &kinds[usize::from(heard_by.kind)]),
            };
            (u64::from(hearer.delay) / BAND_NS, class)
        };
        list.sort_unstable_by_key(|h| (key(h), h.id));
        regions.replace(hearers, station, list, key, (kept, now));
        let next = |fading: FadingSpec| (block + 1).saturating_mul(fading.coherence.as_nanos().max(1));
        self.stations[station].valid_until = fading.map_or(u64::MAX, next);
    }

    /// Carries out a change of gains, and returns the stations whose sets of hearers that can decode them have changed. `regions`: storage
    /// of the powers without fading.
    pub fn change(
        &mut self,
        number: u32,
        regions: &mut Regions,
        kinds: &[PhyKind],
        agenda: &mut Agenda,
    ) -> Vec<StationIx> {
        let Self { unfaded, stations, changes, list, .. } = self;
        let change = &changes[number as usize];
        if let Some(every) = change.every {
            let at = Time(agenda.now.0.saturating_add(every));
            agenda.push(at, Order::new(class::GAIN_CHANGE, change.rank), EventKind::GainChange(number));
        }
        let mut neighbours_changed = Vec::new();
        for &(from, to, entry) in &change.entries {
            let best = stations[from].best;
            let key = |h: &Hearer| {
                let kind = &kinds[usize::from(stations[h.id].kind)];
                (u64::from(h.delay) / BAND_NS, class_of((h.power as f64 * best) as u64, kind))
            };
            list.clear();
            list.extend(unfaded.list[regions.list(from)].iter().filter(|h| h.id != to));
            list.extend(entry);
            list.sort_unstable_by_key(|h| (key(h), h.id));
            let decodes = |list: &Hearers| list.decodable(from).any(|h| h.id == to);
            let before = decodes(unfaded);
            regions.replace(unfaded, from, list, key, (None, agenda.now.0));
            if decodes(unfaded) != before {
                neighbours_changed.push(from);
            }
        }
        for at in 0..self.changes[number as usize].entries.len() {
            let from = self.changes[number as usize].entries[at].0;
            self.set_stale(from);
        }
        self.changed += 1;
        neighbours_changed
    }
}

impl Change {
    fn new(change: &GainChangeSpec, stations: &[StationSpec], kinds: &[PhyKind], seed: u64) -> Self {
        let by_matrix = |s: &(usize, &StationSpec)| s.1.propagation == Propagation::Matrix;
        let mut entries = Vec::new();
        for (i, from) in stations_of(stations, change.from).filter(by_matrix) {
            for (j, to) in stations_of(stations, change.to) {
                if i != j && kinds[usize::from(from.kind)].channel == kinds[usize::from(to.kind)].channel {
                    let (dbm, metres) = (from.tx_power.0 + change.gain.0, known_distance(from, to));
                    let heard = entry(stations, kinds, (i, j), dbm, metres);
                    entries.push((StationIx(i as u32), StationIx(j as u32), heard));
                }
            }
        }
        let name = |node| stations_of(stations, node).next().map_or("", |s| s.1.node_id.as_str());
        let rank = rank(seed, &format!("{}>{}", name(change.from), name(change.to)));
        Self { entries, every: change.every.map(|every| every.as_nanos().max(1)), rank }
    }
}

/// The stations of a node, with their numbers.
fn stations_of(stations: &[StationSpec], node: usize) -> impl Iterator<Item = (usize, &StationSpec)> {
    stations.iter().enumerate().filter(move |s| s.1.node == node)
}

/// Hash of an unordered pair of names.
fn pair((one, one_order): (u64, u32), (other, other_order): (u64, u32)) -> u64 {
    let (low, high) = if one_order <= other_order { (one, other) } else { (other, one) };
    hash_of_pair(low, high)
}
