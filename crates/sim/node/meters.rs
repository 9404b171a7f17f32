//! What a radio's link does with packets of flows, for an agent or somebody who records: how many bytes go both ways, and how long
//! a packet takes from its arrival in the queue to the MAC's acknowledgement. Stations that nobody asks about have no meter.

use std::collections::VecDeque;

use airfair_schemes::places::LinkUse;
use airfair_units::Time;

use crate::air::{Msdu, Outcome};
use crate::ids::{PacketRef, StationIx, Table};

/// The meters of a world.
#[derive(Default)]
pub(crate) struct Meters {
    /// Empty if nobody asks.
    of: Table<StationIx, Option<Box<Meter>>>,
}

/// The meter of a station.
#[derive(Default)]
struct Meter {
    /// Packets in the MAC's hands, in the order in which it took them.
    in_mac: VecDeque<InMac>,
    /// When the MAC has ended with its last packet.
    free_at: Time,
    totals: LinkTotals,
}

struct InMac {
    packet: PacketRef,
    enqueued: Time,
    taken: Time,
}

/// What a link has carried since its meter was set up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LinkTotals {
    pub used: LinkUse,
    /// Squares of the delays of the packets sent, ns², added up.
    pub delay_squares: u128,
}

impl Meters {
    /// Whether any station has one.
    #[inline(always)]
    pub fn any(&self) -> bool {
        !self.of.is_empty()
    }

    /// Sets one up, unless it is there.
    pub fn add(&mut self, station: StationIx, stations: usize) {
        if self.of.is_empty() {
            self.of = (0..stations).map(|_| None).collect();
        }
        self.of[station].get_or_insert_default();
    }

    fn at(&mut self, station: StationIx) -> Option<&mut Meter> {
        self.of.get_mut(station)?.as_deref_mut()
    }

    /// A packet of a flow was received.
    pub fn received(&mut self, station: StationIx, bytes: u32) {
        if let Some(meter) = self.at(station) {
            meter.totals.used.received_packets += 1;
            meter.totals.used.received_bytes += u64::from(bytes);
        }
    }

    /// The MAC has taken a packet of a flow from the queue.
    #[inline(never)]
    pub fn taken(&mut self, station: StationIx, packet: PacketRef, enqueued: Time, now: Time) {
        if let Some(meter) = self.at(station) {
            meter.in_mac.push_back(InMac { packet, enqueued, taken: now });
        }
    }

    /// The MAC has ended with a packet.
    #[inline(never)]
    pub fn ended(&mut self, station: StationIx, msdu: &Msdu, outcome: Outcome, now: Time) {
        let Some(meter) = self.at(station) else { return };
        let free_at = std::mem::replace(&mut meter.free_at, now);
        let Some(at) = meter.in_mac.iter().position(|taken| taken.packet == msdu.packet) else { return };
        let Some(ended) = meter.in_mac.remove(at).filter(|_| outcome == Outcome::Delivered) else { return };
        let delay = now.since(ended.enqueued);
        let used = &mut meter.totals.used;
        used.sent_packets += 1;
        used.sent_bytes += u64::from(msdu.bytes);
        used.delay += delay;
        used.access += now.since(ended.taken.max(free_at));
        meter.totals.delay_squares += u128::from(delay.0) * u128::from(delay.0);
    }

    /// What a station's link has carried, if it has a meter.
    pub fn totals(&self, station: StationIx) -> Option<LinkTotals> {
        Some(self.of.get(station)?.as_ref()?.totals)
    }
}
