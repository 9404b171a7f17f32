//! One hop of the explained flow: shares of its station's or wire's time.

use std::collections::BTreeMap;

use super::attempts::AttemptCounts;
use super::station::{Activity, ActivityIntervals, Holder, Station};
use super::view::Owner;
use super::wire::Wire;
use super::{HoldTime, Shares};
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
    Own,
    /// Another packet precedes the flow's.
    Other(Owner),
    /// The flow's packets wait for the neighbour's address.
    Address,
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
pub(super) struct Hop {
    pub ends: paths::Hop,
    /// Owner of the flow's packets on this hop.
    own: Owner,
    pub sends: HopSender,
    /// Number of the flow's packets here: in the queue, waiting for an address, or in the MAC.
    pub here: u32,
    turn: Turn,
    pub observed: u64,
    pub no_packet: u64,
    pub own_turn: Shares,
    pub others_turn: Shares,
    pub behind: BTreeMap<Owner, u64>,
    pub nodes: HoldTimes<Option<NodeIx>>,
    pub flows: HoldTimes<Option<FlowIx>>,
    pub trials: AttemptCounts,
    /// Packets of the flow dropped by the queue here.
    pub dropped: u64,
    /// Packets in that queue at these drops, summed.
    pub full_of: BTreeMap<Owner, u64>,
}

impl Hop {
    pub fn new(ends: paths::Hop, own: Owner, sends: HopSender) -> Self {
        Self {
            ends,
            own,
            sends,
            here: 0,
            turn: Turn::None,
            observed: 0,
            no_packet: 0,
            own_turn: Shares::default(),
            others_turn: Shares::default(),
            behind: BTreeMap::new(),
            nodes: HoldTimes::default(),
            flows: HoldTimes::default(),
            trials: AttemptCounts::default(),
            dropped: 0,
            full_of: BTreeMap::new(),
        }
    }

    pub fn is_forward(&self) -> bool {
        matches!(self.own, Owner::Flow(_, true))
    }

    /// True if the packet in a station's MAC is the flow's on this hop.
    pub fn is_own(&self, station: &Station) -> bool {
        matches!(self.sends, HopSender::Station(_, peer) if station.has(self.own, peer))
    }

    /// Updates the turn after an event.
    pub fn observe(&mut self, station: &Station) {
        self.turn = match station.owner() {
            // Also when the next hop has the packet already: only the ACK is missing.
            _ if self.is_own(station) => Turn::Own,
            _ if self.here == 0 => Turn::None,
            Some(owner) => Turn::Other(owner),
            None => Turn::Address,
        };
    }

    /// True if the station's present activity concerns the flow.
    pub fn is_concerned(&self) -> bool {
        matches!(self.turn, Turn::Own | Turn::Other(_))
    }

    /// Adds `ns` of the station's time.
    pub fn add(&mut self, ns: u64, stretches: &ActivityIntervals) {
        self.observed += ns;
        let owner = match self.turn {
            Turn::None => {
                self.no_packet += ns;
                return;
            }
            Turn::Address => {
                self.own_turn[Activity::Address as usize] += ns;
                return;
            }
            Turn::Own => None,
            Turn::Other(owner) => Some(owner),
        };
        if let Some(owner) = owner {
            *self.behind.entry(owner).or_default() += ns;
        }
        for stretch in &stretches.list {
            let shares = if owner.is_some() { &mut self.others_turn } else { &mut self.own_turn };
            shares[stretch.doing as usize] += stretch.ns;
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
