//! Chains of wires: what a packet meets on them is known when it enters the first, so that only its arrival at the end of the last
//! is an event.
//!
//! A wire with a timetable *follows* another if all its packets come from there and nothing else does: then they come in order, at
//! moments that are known ahead. A wire *passes* its packets on if each goes on over a wire that follows it. The far side of a
//! bottleneck that many share is such a chain, and the whole path where there is one source.
//!
//! What is counted stays what it would be: a packet has come to a wire once the present has passed its [`InFlight::entered`]. A drop
//! ahead of time is an event of that time ([`super::kinds::NO_ROOM`]). Hops on the way are told of arrivals late but in order, with
//! the moment and the backlog that each had, before anything else looks at them: their timers, the packet at the end of the chain,
//! the end of a step. No packet may enter from outside, and nobody may want to see each event.

use std::collections::VecDeque;

use airfair_schemes::places::{Backlog, DropReason};

use super::hops::HopHost;
use super::wire::{Direction, InFlight};
use super::{Behind, Net};
use crate::event::What;
use crate::ids::{PacketRef, WireIx};

/// A wire's place in a chain.
#[derive(Debug, Default)]
pub(crate) struct Chained {
    /// The wire that all its packets come from.
    pub follows: Option<u32>,
    /// All its packets go on over wires that follow it: no event tells of their arrivals.
    pub passes: bool,
    /// Wires before it in the chain.
    pub before: u16,
    /// A hop stands at it or before it in the chain, not counting the chain's first.
    pub lags: bool,
    /// Arrivals that its hop was not told of yet.
    untold: VecDeque<Untold>,
}

/// An arrival at a hop.
#[derive(Debug, Clone, Copy)]
struct Untold {
    at: u64,
    packet: u64,
    backlog: Backlog,
    /// It finds no room.
    dropped: bool,
}

impl Chained {
    /// Whether a hop can be told of an arrival that is to come: what was to be told before was, and nothing else happens to it before.
    #[inline(always)]
    pub(super) fn can_be_told(&self, at: u64, host: &HopHost) -> bool {
        self.follows.is_none() || (at < host.quiet_until && self.untold.is_empty())
    }

    /// An arrival of which the hop is to be told later.
    #[inline(never)]
    pub(super) fn tell_later(&mut self, at: u64, packet: u64, backlog: Backlog) {
        self.untold.push_back(Untold { at, packet, backlog, dropped: false });
    }
}

/// Where the packets of a wire come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Feeder {
    Nobody,
    Wire(u32),
    /// Sources at its node, radios, or several wires.
    Others,
}

impl Direction {
    /// Whether a packet of `in_flight` has come to this wire before the present.
    pub(super) fn has_come(&self, packet: &InFlight, now: u64) -> bool {
        self.chained.follows.is_none() || packet.entered < now
    }

    /// Packets that have been given to the timetable and are not sent yet, and how long they will have waited.
    pub(super) fn still_to_leave(&self, now: u64) -> (u64, u64) {
        let sent = |packet: &&InFlight| packet.begin <= now && self.has_come(packet, now);
        let waits = self.in_flight.iter().rev().take_while(|packet| !sent(packet));
        waits.fold((0, 0), |(packets, waited), p| (packets + 1, waited + p.begin - p.entered))
    }

    /// Packets that have arrived before the present are forgotten, where no event did that.
    #[inline(always)]
    pub(super) fn forget(&mut self, now: u64) {
        while self.in_flight.front().is_some_and(|packet| packet.arrival < now) {
            self.forget_first();
        }
        if self.in_flight.is_empty() {
            // The next one goes where memory was used last.
            self.in_flight.clear();
        }
    }

    /// What waits on the timetable after all that happens at `now`, if there is a timetable.
    pub(super) fn backlog_at(&mut self, now: u64) -> Option<Backlog> {
        if self.chained.follows.is_none() {
            return self.backlog(now);
        }
        let begun = self.in_flight.partition_point(|packet| packet.begin <= now);
        let come = self.in_flight.partition_point(|packet| packet.entered <= now);
        Some(self.waiting(begun..come.max(begun)))
    }

    /// Whether it may be a link of a chain: its packets' moments are known ahead, and nothing happens to them.
    fn is_plain(&self) -> bool {
        self.timetable.is_some() && !self.watched
    }
}

impl Net {
    /// From now on, at time 0, wires are chained where they can be. Not where packets may come to wires that no flow sends over:
    /// those from outside, and messages of agents.
    pub(crate) fn chain_wires(&mut self) {
        if self.wires.is_empty() || self.injected > 0 || !self.agents.is_empty() {
            return;
        }
        let steps = self.steps();
        let (feeders, ends) = self.feeders(&steps);
        let follows = |wire: usize| match feeders[wire] {
            Feeder::Wire(from) if self.wires[wire].is_plain() => Some(from),
            _ => None,
        };
        let mut passes: Vec<bool> =
            self.wires.iter().zip(&ends).map(|(wire, &ends)| wire.is_plain() && !ends).collect();
        // A wire does not pass its packets on if one of those that it leads to gets packets from elsewhere too.
        for (wire, onward) in steps.iter().filter_map(|&(from, to)| from.zip(to)) {
            passes[wire as usize] &= follows(onward as usize) == Some(wire);
        }
        let follows: Vec<Option<u32>> =
            (0..self.wires.len()).map(|wire| follows(wire).filter(|&from| passes[from as usize])).collect();
        for wire in 0..self.wires.len() {
            let earlier = std::iter::successors(Some(wire as u32), |&w| follows[w as usize]);
            let (mut before, mut lags) = (0, false);
            for w in earlier {
                before += u16::from(follows[w as usize].is_some());
                lags |= follows[w as usize].is_some() && self.wires[w as usize].hop;
            }
            let chained = &mut self.wires[wire].chained;
            *chained =
                Chained { follows: follows[wire], passes: passes[wire], before, lags, ..Chained::default() };
        }
        self.lagging =
            (0..self.wires.len() as u32).filter(|&w| self.wires[w as usize].chained.lags).collect();
    }

    /// Each step of each flow's packets, both ways: the wire that they come by, and the one that they go on by.
    fn steps(&self) -> Vec<(Option<u32>, Option<u32>)> {
        let mut steps = Vec::new();
        for flow in 0..self.flows.len() as u32 {
            for forward in [true, false] {
                let mut last = None;
                for hop in self.hops_of(flow, forward).iter().take(usize::from(self.hop_limit)) {
                    let next = match hop.behind {
                        Behind::Wire(wire) => Some(wire),
                        Behind::Station(_) => None,
                    };
                    steps.push((std::mem::replace(&mut last, next), next));
                }
                steps.push((last, None));
            }
        }
        steps
    }

    /// Who feeds each wire, and whether packets end or leave the wires at its far end.
    fn feeders(&self, steps: &[(Option<u32>, Option<u32>)]) -> (Vec<Feeder>, Vec<bool>) {
        let mut feeders = vec![Feeder::Nobody; self.wires.len()];
        let mut ends = vec![false; self.wires.len()];
        for &step in steps {
            match step {
                (from, Some(wire)) => {
                    let from = from.map_or(Feeder::Others, Feeder::Wire);
                    let feeder = &mut feeders[wire as usize];
                    *feeder = if [Feeder::Nobody, from].contains(feeder) { from } else { Feeder::Others };
                }
                (Some(wire), None) => ends[wire as usize] = true,
                (None, None) => {}
            }
        }
        (feeders, ends)
    }

    /// Hops at a wire and at those before it in its chain are told of what has come before a moment.
    #[inline(always)]
    pub(super) fn catch_up(&mut self, wire: u32, before: u64) {
        let mut at = Some(wire);
        while let Some(wire) = at {
            let chained = &self.wires[wire as usize].chained;
            if chained.untold.front().is_some_and(|untold| untold.at < before) {
                self.tell(wire, before);
                return;
            }
            at = chained.follows;
        }
    }

    /// The same for the wire behind a port.
    pub(super) fn catch_up_at(&mut self, port: u32, before: u64) {
        if let Behind::Wire(wire) = self.ports[port as usize].behind {
            self.catch_up(wire, before);
        }
    }

    /// What [`Net::catch_up`] does where there is something to tell.
    #[inline(never)]
    fn tell(&mut self, wire: u32, before: u64) {
        if let Some(from) = self.wires[wire as usize].chained.follows {
            self.tell(from, before);
        }
        self.tell_here(wire, before);
    }

    fn tell_here(&mut self, wire: u32, before: u64) {
        let (port, framing) = (self.wires[wire as usize].port, self.headers.wired);
        let untold = |net: &mut Self| {
            let untold = &mut net.wires[wire as usize].chained.untold;
            untold.front().is_some_and(|untold| untold.at < before).then(|| untold.pop_front()).flatten()
        };
        while let Some(Untold { at, packet, backlog, dropped }) = untold(self) {
            self.meet_hop(port, packet, backlog, framing, at);
            if dropped {
                self.tell_drop(port, packet);
            }
        }
    }

    /// After a timer: the hop at a port is told of what comes before the next, if those before it in the chain were told.
    pub(super) fn go_ahead(&mut self, port: u32) {
        let at = &self.ports[port as usize];
        let (Behind::Wire(wire), Some(host)) = (at.behind, &at.hop) else { return };
        let (chained, quiet_until) = (&self.wires[wire as usize].chained, host.quiet_until);
        let mut earlier = std::iter::successors(chained.follows, |&w| self.wires[w as usize].chained.follows);
        if chained.follows.is_some() && earlier.all(|w| self.wires[w as usize].chained.untold.is_empty()) {
            self.tell_here(wire, quiet_until);
        }
    }

    /// A step begins that ends at a moment.
    pub(crate) fn begin_step(&mut self, end: u64) {
        self.step_end = end;
        for i in 0..self.lagging.len() {
            let port = self.wires[self.lagging[i] as usize].port;
            self.ports[port as usize].hop.iter_mut().for_each(|host| host.stay_quiet(end));
        }
    }

    /// All hops are told of what has come before a moment.
    pub(crate) fn catch_up_all(&mut self, before: u64) {
        for i in 0..self.lagging.len() {
            self.catch_up(self.lagging[i], before);
        }
    }

    /// A packet finds no room at a wire, now or, in a chain, at a moment that is known ahead.
    #[inline(never)]
    pub(super) fn find_no_room(&mut self, wire: u32, handle: u64, at: u64) {
        let link = &mut self.wires[wire as usize];
        let (port, chained) = (link.port, &mut link.chained);
        let Some(from) = chained.follows else {
            self.drop_at(port, handle, DropReason::QUEUE_FULL.0, at);
            return;
        };
        match chained.untold.back_mut().filter(|untold| untold.packet == handle) {
            Some(untold) => untold.dropped = true,
            None => self.tell_drop(port, handle),
        }
        let order = self.wires[from as usize].order();
        self.later(at, order, What::NoRoom { wire: WireIx(wire), packet: PacketRef(handle) });
    }

    /// The time of a drop that was known ahead has come.
    #[inline(never)]
    pub(crate) fn drop_in_chain(&mut self, wire: u32, handle: u64, now: u64) {
        // Told now, or its packet is gone.
        self.catch_up(wire, now + 1);
        let node = self.ports[self.wires[wire as usize].port as usize].node;
        self.drop_packet(node, handle, DropReason::QUEUE_FULL.0, now);
    }
}
