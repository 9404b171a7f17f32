//! One hop of the explained flow: shares of its station's or wire's time.

use std::collections::BTreeMap;

use super::attempts::AttemptCounts;
use super::levels::Levels;
use super::station::{Activity, ActivityIntervals, Holder, ObservedStation, Precedence};
use super::view::Owner;
use super::wire::Wire;
use super::{CategoryTime, HoldTime, Shares};
use crate::ids::{FlowIx, NodeIx, StationIx};
use crate::observe::paths;

/// Sender of a hop.
#[derive(Debug)]
pub(super) enum HopSender {
    /// A station, by its index among the observed ones, and the station that receives.
    Station(usize, StationIx),
    /// A wire.
    Wire(Wire),
}

/// The packet whose turn it is on a hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// No packet of the flow is here.
    None,
    /// The flow's packet is the first of a category.
    Own(u8),
    /// Another packet precedes the flow's in a category.
    Other(Owner, u8),
    /// No packet is in the MAC: the flow's wait for what is said, the neighbour's address or their queue.
    Outside(Activity),
}

/// Times in which others prevented a station from sending.
#[derive(Debug, Default)]
pub(super) struct HoldTimes<K> {
    pub by: BTreeMap<K, HoldTime>,
    pub overlapped: u64,
}

impl<K: Ord + Copy> HoldTimes<K> {
    fn add(&mut self, doing: Activity, holders: impl Iterator<Item = K>, ns: u64) {
        let mut keys: Vec<K> = holders.collect();
        keys.sort_unstable();
        keys.dedup();
        let alone = keys.len() == 1;
        for key in keys {
            let held = self.by.entry(key).or_default();
            match doing {
                Activity::Nav => held.nav += ns,
                Activity::Eifs => held.eifs += ns,
                _ if alone => held.alone += ns,
                _ => held.joint += ns,
            }
        }
        self.overlapped += if alone { 0 } else { ns };
    }
}

/// One hop of the flow.
#[derive(Debug)]
pub(super) struct ObservedHop {
    pub ends: paths::PathHop,
    /// Owner of the flow's packets on this hop.
    own: Owner,
    pub sends: HopSender,
    /// Category in whose queue the flow's packets wait; none if one queue serves several categories.
    category: Option<u8>,
    /// The activity that the flow's packets wait for while the MAC has none of them.
    outside: Activity,
    /// Time for which the flow's packets had a turn in each category, ns; empty unless the station has several.
    pub in_category: BTreeMap<u8, u64>,
    /// Precedence of other categories of the station.
    pub categories: BTreeMap<u8, CategoryTime>,
    /// Number of the flow's packets here: in the queue, waiting for an address, or in the MAC.
    pub here: u32,
    /// When the last of them left, ns.
    pub left: u64,
    turn: Turn,
    pub observed: u64,
    pub no_packet: u64,
    pub own_turn: Shares,
    pub others_turn: Shares,
    pub behind: BTreeMap<Owner, u64>,
    pub nodes: HoldTimes<Option<NodeIx>>,
    pub flows: HoldTimes<Option<FlowIx>>,
    pub trials: AttemptCounts,
    pub levels: Levels,
    /// Packets of the flow dropped by the queue here.
    pub dropped: u64,
    /// Packets in that queue at these drops, summed.
    pub full_of: BTreeMap<Owner, u64>,
}

impl ObservedHop {
    /// `category`: the category in whose queue the flow's packets wait, if that is known. `holds`: the queue may hold packets back
    /// although the link is free.
    pub fn new(
        ends: paths::PathHop,
        own: Owner,
        sends: HopSender,
        category: Option<u8>,
        holds: bool,
    ) -> Self {
        Self {
            ends,
            own,
            sends,
            category,
            outside: if holds { Activity::Held } else { Activity::Address },
            in_category: BTreeMap::new(),
            categories: BTreeMap::new(),
            here: 0,
            left: 0,
            turn: Turn::None,
            observed: 0,
            no_packet: 0,
            own_turn: Shares::default(),
            others_turn: Shares::default(),
            behind: BTreeMap::new(),
            nodes: HoldTimes::default(),
            flows: HoldTimes::default(),
            trials: AttemptCounts::default(),
            levels: Levels::default(),
            dropped: 0,
            full_of: BTreeMap::new(),
        }
    }

    /// True if its sender's queue may hold packets back although the link is free.
    pub fn may_hold_back(&self) -> bool {
        self.outside == Activity::Held
    }

    pub fn is_forward(&self) -> bool {
        matches!(self.own, Owner::Flow(_, true))
    }

    /// True if the first packet of a category in a station's MAC is the flow's on this hop.
    pub fn is_own(&self, station: &ObservedStation, category: u8) -> bool {
        matches!(self.sends, HopSender::Station(_, peer) if station.has(category, self.own, peer))
    }

    /// Updates the turn after an event.
    pub fn observe(&mut self, station: &ObservedStation) {
        // Also when the next hop has the packet already: only the ACK is missing.
        let own = station.by_precedence().find(|&category| self.is_own(station, category));
        let category = self.category.unwrap_or_else(|| station.leading());
        self.turn = match (own, station.owner(category)) {
            (Some(category), _) => Turn::Own(category),
            _ if self.here == 0 => Turn::None,
            (None, Some(owner)) => Turn::Other(owner, category),
            (None, None) => Turn::Outside(self.outside),
        };
    }

    /// The category of the packet whose turn it is, if the station's present activity concerns the flow.
    pub fn concerns(&self) -> Option<u8> {
        match self.turn {
            Turn::Own(category) | Turn::Other(_, category) => Some(category),
            Turn::None | Turn::Outside(_) => None,
        }
    }

    /// Counts an internal collision of the station at which a packet in `category` has lost to `winner`.
    pub fn on_internal_collision(
        &mut self,
        station: &ObservedStation,
        (category, winner): (u8, u8),
        given_up: bool,
    ) {
        if self.is_own(station, category) {
            let time = self.categories.entry(winner).or_default();
            time.collisions += 1;
            time.given_up += u64::from(given_up);
        }
    }

    /// Adds `ns` of the station's time.
    pub fn add(&mut self, ns: u64, station: &ObservedStation, stretches: &ActivityIntervals) {
        self.observed += ns;
        if let Some(category) = self.concerns().filter(|_| station.category_count() > 1) {
            *self.in_category.entry(category).or_default() += ns;
            let others = stretches.list.iter().filter(|stretch| stretch.doing == Activity::Category);
            let others: u64 = others.map(|stretch| stretch.ns).sum();
            if others > 0 {
                let (by, why) = station.precedes(category);
                let time = self.categories.entry(by).or_default();
                *match why {
                    Precedence::Access => &mut time.access,
                    Precedence::Txop => &mut time.txop,
                    Precedence::Collision => &mut time.collision,
                } += others;
            }
        }
        let owner = match self.turn {
            Turn::None => {
                self.no_packet += ns;
                return;
            }
            Turn::Outside(waits) => {
                self.own_turn[waits as usize] += ns;
                return;
            }
            Turn::Own(_) => None,
            Turn::Other(owner, _) => Some(owner),
        };
        if let Some(owner) = owner {
            *self.behind.entry(owner).or_default() += ns;
        }
        for stretch in &stretches.list {
            let shares = if owner.is_some() { &mut self.others_turn } else { &mut self.own_turn };
            shares[stretch.doing as usize] += stretch.ns;
            if let (Activity::Busy, Turn::Own(category)) = (stretch.doing, self.turn) {
                let level = (station.category_count() > 1).then_some(category);
                self.levels.on_busy(level, stretch.ns, stretch.outranked);
            }
            if matches!(stretch.doing, Activity::Busy | Activity::Nav | Activity::Eifs) {
                let holders = &stretches.holders[stretch.holders.clone()];
                self.nodes.add(stretch.doing, holders.iter().map(|h| h.node), stretch.ns);
                self.flows.add(stretch.doing, holders.iter().map(Holder::flow), stretch.ns);
            }
        }
    }

    /// Adds the wire's time from `from` to `until`.
    pub fn add_wire(&mut self, from: u64, until: u64) {
        let HopSender::Wire(wire) = &self.sends else { return };
        self.observed += until - from;
        let queued = self.here > wire.own_in_flight();
        wire.add_activities(from, until, self.own, queued, |turn, ns| match turn {
            None => self.no_packet += ns,
            Some(owner) if owner == self.own => self.own_turn[Activity::Transmit as usize] += ns,
            Some(owner) => {
                self.others_turn[Activity::Transmit as usize] += ns;
                *self.behind.entry(owner).or_default() += ns;
            }
        });
    }
}
