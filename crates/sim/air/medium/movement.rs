//! Stations that move: refreshes of their positions, and updates of the lists of hearers.
//!
//! A refresh moves a node to the present point of its path. A refresh changes the node's own lists and its entries in the lists of stations
//! within the farthest reach, before or after the move; these are found by the distance to every station. No other list is touched.
//!
//! A frame on the air keeps its hearers and their powers. So the update of a transmitting station's list waits until the frame has ended at
//! all hearers (4 us for every 1.2 km after its end at the sender). If the station transmits another frame at that time, the update waits
//! for the end of that frame at the sender; if its passes over distant bands are still to come, the new list is stored elsewhere, and the
//! old one stays, by its index, until its last pass is done. The sequence number of such a late pass is
//! stored in the new list too.

use airfair_units::Time;

use crate::engine::Agenda;
use crate::event::{EventKind, Order, class, rank};
use crate::ids::{StationIx, Table};
use crate::spec::{GainChangeSpec, MovementSpec, Propagation};

use super::hearers::{Hearer, Hearers, band_and_class, distance, entry_by_distance, farthest_reach, place};
use super::path::Path;
use super::phy::PhyKind;
use super::radio::flag;
use super::regions::Regions;
use super::varying::Varying;
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
    /// Number of lists renewed so far.
    pub renewed: u64,
    list: Vec<Hearer>,
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
        self.regions = Regions::new(self.unfaded_hearers());
        self.movement = Some(Box::new(Movement {
            nodes,
            reach: farthest_reach(stations),
            due: stations.iter().map(|_| PendingChanges::default()).collect(),
            stations: stations.to_vec(),
            renewed: 0,
            list: Vec::new(),
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

    /// Starts the variation of gains, if any vary. `stations`, `seed`: those that the medium was created with.
    pub(crate) fn start_variation(
        &mut self,
        changes: &[GainChangeSpec],
        stations: &[StationSpec],
        seed: u64,
        agenda: &mut Agenda,
    ) {
        self.varying = Varying::new(stations, &self.kinds, &self.hearers, changes, seed, agenda);
        if !changes.is_empty() {
            self.regions = Regions::new(&self.hearers);
        }
    }

    /// Handles a change of measured gains.
    #[cold]
    #[inline(never)]
    pub(crate) fn gain_changed(&mut self, change: u32, agenda: &mut Agenda) {
        let Some(varying) = self.varying.as_mut() else { return };
        let changed = varying.change(change, &mut self.regions, &self.kinds, agenda);
        self.neighbours_changed.extend(changed);
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
        if self.varying.is_some() {
            // Frames have lists of their own.
            self.renew(movement, station, None, agenda.now.0);
            return;
        }
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
        let Self { hearers, varying, kinds, neighbours_changed, regions, .. } = self;
        let (hearers, best) = match varying {
            Some(varying) => {
                varying.set_stale(station);
                let best = varying.best(station);
                (&mut varying.unfaded, best)
            }
            None => (hearers, 1.0),
        };
        let old = regions.list(station);
        if kept.is_none() && movement.renew_in_place(station, &mut hearers.list[old.clone()], best, kinds) {
            return;
        }
        let Movement { stations, due, list, fresh, .. } = movement;
        let due = &mut due[station];
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
        list.sort_unstable_by_key(|h| place(h, best, stations, kinds));
        if hearers.list[old] == list[..] {
            return;
        }
        movement.renewed += 1;
        let decodable = |hearers: &Hearers| {
            let mut ids: Vec<StationIx> = hearers.decodable(station).map(|h| h.id).collect();
            ids.sort_unstable();
            ids
        };
        let neighbours = decodable(hearers);
        let key = |h: &Hearer| band_and_class(h, best, stations, kinds);
        regions.replace(hearers, station, list, key, (kept, now));
        if decodable(hearers) != neighbours {
            neighbours_changed.push(station);
        }
    }

    /// Number of lists of hearers that movement has changed so far, and of changes of measured gains.
    #[must_use]
    pub fn renewed_lists(&self) -> u64 {
        let changed = self.varying.as_ref().map_or(0, |v| v.changed);
        changed + self.movement.as_ref().map_or(0, |m| m.renewed)
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
    fn renew_in_place(
        &mut self,
        station: StationIx,
        list: &mut [Hearer],
        best: f64,
        kinds: &[PhyKind],
    ) -> bool {
        let due = &mut self.due[station];
        if due.whole {
            return false;
        }
        let mut changed = false;
        for &hearer in &due.hearers {
            let new = self.fresh.entry(&self.stations, kinds, station, hearer);
            let old = list.iter_mut().find(|h| h.id == hearer);
            match (old, new) {
                (None, None) => {}
                (Some(old), Some(new))
                    if place(old, best, &self.stations, kinds)
                        == place(&new, best, &self.stations, kinds) =>
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
