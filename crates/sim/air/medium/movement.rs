//! Stations that move: refreshes of their positions, and updates of the lists of hearers.
//!
//! A refresh moves a node to the present point of its path. A refresh changes the node's own lists and its entries in the lists of stations
//! within the farthest reach, before or after the move; these are found by the distance to every station. No other list is touched.
//!
//! A frame on the air keeps its hearers and their powers. So the update of a transmitting station's list waits until the frame has ended at
//! all hearers (4 us for every 1.2 km after its end at the sender). If the station transmits another frame at that time, the update waits
//! for the end of that frame at the sender; if its passes over distant bands are still to come, the new list is stored elsewhere, and the
//! old one stays, by its index, until its last pass is done. (A packet that is received in such a late pass is unknown to the new list.
//! This happens only with a sender that does not wait for responses from that distance.)

use airfair_units::Time;

use crate::engine::Agenda;
use crate::event::{EventKind, Order, class, rank};
use crate::ids::{StationIx, Table};
use crate::spec::{MovementSpec, Propagation};

use super::hearers::{
    Band, Hearer, Hearers, cut_into_bands, distance, entry_by_distance, farthest_reach, place,
};
use super::path::Path;
use super::phy::PhyKind;
use super::radio::flag;
use super::{Medium, StationSpec};

/// State of the movement of a world, beside the lists.
#[derive(Debug)]
pub(crate) struct Movement {
    nodes: Vec<Moving>,
    /// Specifications of all stations, with their positions at their last refreshes.
    stations: Vec<StationSpec>,
    /// Largest distance at which stations hear each other, m.
    reach: f64,
    /// Pending changes of each station's list.
    due: Table<StationIx, PendingChanges>,
    /// Region of the arrays that each station's list occupies.
    regions: Table<StationIx, Region>,
    /// Old lists that passes may still visit: end of use, ns, and region.
    kept: Vec<(u64, Region)>,
    entries: FreeRegions,
    bands: FreeRegions,
    /// Number of lists renewed so far.
    pub renewed: u64,
    list: Vec<Hearer>,
    cuts: Vec<Band>,
    fresh: EntryCache,
}

/// Entries of all other stations in the list of station `of`, computed once per refresh. Between radios of one kind both directions are
/// equal, so they also serve as the entries of `of` in the lists of the others.
#[derive(Debug, Default)]
struct EntryCache {
    of: Option<StationIx>,
    by: Table<StationIx, Option<Hearer>>,
}

/// A node that moves.
#[derive(Debug)]
struct Moving {
    path: Path,
    stations: Vec<StationIx>,
    rank: u32,
}

/// Pending changes of a station's list.
#[derive(Debug, Default)]
struct PendingChanges {
    /// The transmitter has moved: all entries change.
    whole: bool,
    /// Hearers that have moved.
    hearers: Vec<StationIx>,
    /// The change waits for the end of a transmission; its event is on the agenda.
    waits: bool,
}

/// Region of the arrays that a station's list and its bands occupy: start and capacity.
#[derive(Debug, Clone, Copy)]
struct Region {
    entries: (u32, u32),
    bands: (u32, u32),
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

impl Medium {
    /// Starts the movement of the nodes that have a path in `spec`. `stations`: those that the medium was created with.
    ///
    /// # Errors
    /// Names the path that contradicts itself.
    pub(crate) fn start_movement(
        &mut self,
        spec: &MovementSpec,
        stations: &[StationSpec],
        seed: u64,
        agenda: &mut Agenda,
    ) -> Result<(), String> {
        if spec.paths.is_empty() {
            return Ok(());
        }
        let mut nodes: Vec<Moving> = Vec::with_capacity(spec.paths.len());
        for path in &spec.paths {
            let own: Vec<(usize, &StationSpec)> =
                stations.iter().enumerate().filter(|s| s.1.node == path.node).collect();
            let Some(&(_, first)) = own.first() else {
                return Err(format!("the movement of node number {}: it has no radio", path.node));
            };
            let fail = |problem: &str| format!("the movement of node {}: it {problem}", first.node_id);
            if own.iter().any(|s| s.1.propagation == Propagation::Matrix) {
                return Err(fail("contradicts the measured gains of its radio"));
            }
            let read = Path::new(path, spec).map_err(|problem| fail(&problem))?;
            if read.position(0) != first.position {
                return Err(fail("does not begin where the node stands"));
            }
            let rank = rank(seed, &first.node_id);
            if let Some(at) = read.next(0) {
                agenda.push(Time(at), Order::new(class::MOVE, rank), EventKind::Move(nodes.len() as u32));
            }
            nodes.push(Moving {
                path: read,
                stations: own.iter().map(|s| StationIx(s.0 as u32)).collect(),
                rank,
            });
        }
        let region = |station: StationIx| {
            let (first, end) = self.hearers.bands_of[station];
            let bands = &self.hearers.bands[first as usize..end as usize];
            let entries = bands.first().map_or((0, 0), |b| (b.first, bands[bands.len() - 1].end - b.first));
            Region { entries, bands: (first, end - first) }
        };
        self.movement = Some(Box::new(Movement {
            nodes,
            reach: farthest_reach(stations),
            due: stations.iter().map(|_| PendingChanges::default()).collect(),
            regions: self.stations.places().map(region).collect(),
            stations: stations.to_vec(),
            kept: Vec::new(),
            entries: FreeRegions::default(),
            bands: FreeRegions::default(),
            renewed: 0,
            list: Vec::new(),
            cuts: Vec::new(),
            fresh: EntryCache { of: None, by: stations.iter().map(|_| None).collect() },
        }));
        Ok(())
    }

    /// Handles the refresh of a moving node.
    #[cold]
    #[inline(never)]
    pub(crate) fn moved(&mut self, node: u32, agenda: &mut Agenda) {
        let Some(mut movement) = self.movement.take() else { return };
        let moved = movement.refresh(node, agenda);
        for own in moved.own {
            for station in movement.affected_stations(own, moved.from, &self.kinds) {
                if !movement.due[station].waits {
                    self.renew_when_silent(&mut movement, station, false, agenda);
                }
            }
            movement.fresh.of = None;
        }
        self.movement = Some(movement);
    }

    /// Handles the deferred renewal of a station's list. The station may be transmitting again; then the renewal is deferred once more.
    pub(crate) fn renewal_due(&mut self, station: StationIx, agenda: &mut Agenda) {
        let Some(mut movement) = self.movement.take() else { return };
        movement.due[station].waits = false;
        self.renew_when_silent(&mut movement, station, true, agenda);
        self.movement = Some(movement);
    }

    /// Renews a station's list, or defers it until its frame has ended and, unless `waited`, has ended at all hearers.
    fn renew_when_silent(
        &mut self,
        movement: &mut Movement,
        station: StationIx,
        waited: bool,
        agenda: &mut Agenda,
    ) {
        let sender = &self.stations[station];
        let frame_end = sender.optional.transmit_until;
        let bands = &self.hearers.bands[self.hearers.bands_of(station)];
        let silent = frame_end + bands.last().map_or(0, |band| u64::from(band.offset));
        let until = match sender.radio.has(flag::TRANSMITTING) {
            true if waited => frame_end,
            false if waited || agenda.now.0 >= silent => {
                self.renew(movement, station, (agenda.now.0 < silent).then_some(silent), agenda.now.0);
                return;
            }
            _ => silent,
        };
        movement.due[station].waits = true;
        let order = sender.order(class::MOVE);
        agenda.push(Time(until), order, EventKind::Renew(station));
    }

    /// Rebuilds a station's list from present positions. Passes visit the old list until `kept`.
    fn renew(&mut self, movement: &mut Movement, station: StationIx, kept: Option<u64>, now: u64) {
        let Self { hearers, kinds, neighbours_changed, .. } = self;
        if kept.is_none() && movement.renew_in_place(station, hearers, kinds) {
            return;
        }
        let Movement { stations, due, regions, entries, bands, list, cuts, fresh, .. } = movement;
        let due = &mut due[station];
        let region = &mut regions[station];
        let old_bands = hearers.bands_of(station);
        let length = hearers.bands[old_bands.clone()].last().map_or(0, |band| band.end - region.entries.0);
        let old = region.entries.0 as usize..(region.entries.0 + length) as usize;
        let heard_by = |to: StationIx| fresh.entry(stations, kinds, station, to);
        list.clear();
        if due.whole {
            let near = |&to: &StationIx| {
                let (from, there) = (stations[station.ix()].position, stations[to.ix()].position);
                to != station && distance(from, there) <= movement.reach
            };
            list.extend(fresh.by.places().filter(near).filter_map(heard_by));
        } else {
            due.hearers.sort_unstable();
            due.hearers.dedup();
            list.extend(
                hearers.list[old.clone()].iter().filter(|h| due.hearers.binary_search(&h.id).is_err()),
            );
            list.extend(due.hearers.iter().copied().filter_map(heard_by));
        }
        due.whole = false;
        due.hearers.clear();
        list.sort_unstable_by_key(|h| place(h, stations, kinds));
        if hearers.list[old.clone()] == list[..] {
            return;
        }
        movement.renewed += 1;
        // Notes stay with their pairs of stations; a new pair has none.
        let mut seen: Vec<(StationIx, u32)> =
            old.clone().map(|at| (hearers.list[at].id, hearers.notes[at])).collect();
        seen.sort_unstable();
        let decodable = |hearers: &Hearers| {
            let mut ids: Vec<StationIx> = hearers.decodable(station).map(|h| h.id).collect();
            ids.sort_unstable();
            ids
        };
        let neighbours = decodable(hearers);

        movement.kept.retain(|&(until, region)| {
            let over = until < now;
            if over {
                entries.release(region.entries);
                bands.release(region.bands);
            }
            !over
        });
        cuts.clear();
        cut_into_bands(list, 0, stations, kinds, cuts);
        let fits = list.len() <= region.entries.1 as usize && cuts.len() <= region.bands.1 as usize;
        if kept.is_some() || !fits {
            match kept {
                Some(until) => movement.kept.push((until, *region)),
                None => {
                    entries.release(region.entries);
                    bands.release(region.bands);
                }
            }
            *region = Region {
                entries: entries.allocate(list.len(), &mut hearers.list, Hearer::NONE),
                bands: bands.allocate(cuts.len(), &mut hearers.bands, Band::default()),
            };
            hearers.notes.resize(hearers.list.len(), 0);
        }
        let (first, band) = (region.entries.0, region.bands.0);
        for (at, hearer) in (first as usize..).zip(&*list) {
            hearers.list[at] = *hearer;
            let known = seen.binary_search_by_key(&hearer.id, |s| s.0);
            hearers.notes[at] = known.map_or(0, |i| seen[i].1);
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
        let now_near = decodable(hearers);
        if now_near != neighbours {
            neighbours_changed.push(station);
        }
    }

    /// Number of lists of hearers that movement has changed so far.
    #[must_use]
    pub fn renewed_lists(&self) -> u64 {
        self.movement.as_ref().map_or(0, |m| m.renewed)
    }

    /// Upper bound of the delay from a frame's end to its end at any hearer, for all positions, ns; 0 in a world without movement.
    pub(crate) fn max_delay_with_movement(&self) -> u64 {
        self.movement.as_ref().map_or(0, |m| super::propagation::delay_ns(m.reach))
    }

    /// Position of a station at its last refresh, m; none in a world without movement.
    #[must_use]
    pub fn position(&self, station: StationIx) -> Option<[f64; 3]> {
        self.movement.as_ref().map(|m| m.stations[station.ix()].position)
    }

    /// Number of stations whose lists wait for the end of a frame.
    #[must_use]
    pub fn lists_waiting(&self) -> usize {
        self.movement.as_ref().map_or(0, |m| m.due.iter().filter(|due| due.waits).count())
    }
}

/// Result of a refresh.
struct Moved {
    own: Vec<StationIx>,
    /// Position before the refresh, m.
    from: [f64; 3],
}

impl Movement {
    /// Moves a node to its present position.
    fn refresh(&mut self, node: u32, agenda: &mut Agenda) -> Moved {
        let moving = &self.nodes[node as usize];
        if let Some(at) = moving.path.next(agenda.now.0) {
            agenda.push(Time(at), Order::new(class::MOVE, moving.rank), EventKind::Move(node));
        }
        let there = moving.path.position(agenda.now.0);
        let own = moving.stations.clone();
        let mut from = there;
        for &station in &own {
            from = std::mem::replace(&mut self.stations[station.ix()].position, there);
        }
        Moved { own, from }
    }

    /// Registers the changes of lists because station `own` has moved away from `from`, and returns the stations of these lists, `own`
    /// among them, in order.
    fn affected_stations(&mut self, own: StationIx, from: [f64; 3], kinds: &[PhyKind]) -> Vec<StationIx> {
        let there = self.stations[own.ix()].position;
        let channel = kinds[usize::from(self.stations[own.ix()].kind)].channel;
        let mut touched = Vec::new();
        self.fresh.of = Some(own);
        for (other, station) in (0..).map(StationIx).zip(&self.stations) {
            self.fresh.by[other] = None;
            if other == own {
                self.due[own].whole = true;
                touched.push(own);
                continue;
            }
            if kinds[usize::from(station.kind)].channel != channel {
                continue;
            }
            let near = distance(there, station.position) <= self.reach;
            if near {
                self.fresh.by[other] = entry_by_distance(&self.stations, kinds, own.ix(), other.ix());
            }
            // Measured gains do not depend on positions.
            if (near || distance(from, station.position) <= self.reach)
                && station.propagation != Propagation::Matrix
            {
                self.due[other].hearers.push(own);
                touched.push(other);
            }
        }
        touched
    }

    /// Updates the entries of a station's list in place if only powers and delays have changed and no hearer's place in the list. Returns
    /// true if that was possible.
    fn renew_in_place(&mut self, station: StationIx, hearers: &mut Hearers, kinds: &[PhyKind]) -> bool {
        let due = &mut self.due[station];
        if due.whole {
            return false;
        }
        let bands = &hearers.bands[hearers.bands_of(station)];
        let list = bands.first().map_or(0..0, |b| b.first as usize..bands[bands.len() - 1].end as usize);
        let mut changed = false;
        for &hearer in &due.hearers {
            let new = self.fresh.entry(&self.stations, kinds, station, hearer);
            let old = hearers.list[list.clone()].iter_mut().find(|h| h.id == hearer);
            match (old, new) {
                (None, None) => {}
                (Some(old), Some(new))
                    if place(old, &self.stations, kinds) == place(&new, &self.stations, kinds) =>
                {
                    changed |= *old != new;
                    *old = new;
                }
                _ => return false,
            }
        }
        due.hearers.clear();
        self.renewed += u64::from(changed);
        true
    }
}

impl EntryCache {
    /// The entry of `to` in the list of `from`.
    fn entry(
        &self,
        stations: &[StationSpec],
        kinds: &[PhyKind],
        from: StationIx,
        to: StationIx,
    ) -> Option<Hearer> {
        if self.of == Some(from) {
            return self.by[to];
        }
        if self.of == Some(to) && stations[from.ix()].kind == stations[to.ix()].kind {
            return self.by[from].map(|heard| Hearer { id: to, ..heard });
        }
        entry_by_distance(stations, kinds, from.ix(), to.ix())
    }
}
