//! What a radio's link does with packets of flows, for an agent or somebody who records: how many bytes go both ways, and how long
//! a packet takes from its arrival in the queue to the MAC's acknowledgement. Stations that nobody asks about have no meter.

use std::collections::VecDeque;

use airfair_schemes::places::{LinkUse, PacketClass};
use airfair_units::Span;

use super::Net;
use crate::air::Outcome;
use crate::ids::PacketRef;

/// The meters of a world.
#[derive(Default)]
pub(super) struct Meters {
    /// By station; empty if nobody asks.
    of: Vec<Option<Box<Meter>>>,
}

/// The meter of a station.
#[derive(Default)]
struct Meter {
    /// Packets in the MAC's hands, in the order in which it took them.
    in_mac: VecDeque<InMac>,
    /// When the MAC has ended with its last packet.
    free_at: u64,
    totals: LinkTotals,
}

struct InMac {
    packet: PacketRef,
    enqueued: u64,
    taken: u64,
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
    pub(super) fn any(&self) -> bool {
        !self.of.is_empty()
    }

    /// Sets one up, unless it is there.
    pub(super) fn add(&mut self, station: u32, stations: usize) {
        self.of.resize_with(stations, || None);
        self.of[station as usize].get_or_insert_default();
    }

    /// A packet of a flow was received.
    pub(super) fn received(&mut self, station: u32, bytes: u32) {
        if let Some(Some(meter)) = self.of.get_mut(station as usize) {
            meter.totals.used.received_packets += 1;
            meter.totals.used.received_bytes += u64::from(bytes);
        }
    }

    pub(super) fn totals(&self, station: u32) -> Option<LinkTotals> {
        Some(self.of.get(station as usize)?.as_ref()?.totals)
    }
}

impl Net {
    fn meter(&mut self, station: u32) -> Option<&mut Meter> {
        self.meters.of.get_mut(station as usize)?.as_deref_mut()
    }

    /// The MAC has taken a packet from the queue.
    #[inline(never)]
    pub(super) fn meter_taken(
        &mut self,
        station: u32,
        packet: PacketRef,
        class: PacketClass,
        enqueued: u64,
        now: u64,
    ) {
        if let Some(meter) = self.meter(station).filter(|_| class != PacketClass::Control) {
            meter.in_mac.push_back(InMac { packet, enqueued, taken: now });
        }
    }

    /// The MAC has ended with a packet.
    #[inline(never)]
    pub(super) fn meter_ended(
        &mut self,
        station: u32,
        packet: PacketRef,
        bytes: u32,
        outcome: Outcome,
        now: u64,
    ) {
        let Some(meter) = self.meter(station) else { return };
        let free_at = std::mem::replace(&mut meter.free_at, now);
        let Some(at) = meter.in_mac.iter().position(|p| p.packet == packet) else { return };
        let Some(ended) = meter.in_mac.remove(at).filter(|_| outcome == Outcome::Delivered) else { return };
        let delay = now.saturating_sub(ended.enqueued);
        let used = &mut meter.totals.used;
        used.sent_packets += 1;
        used.sent_bytes += u64::from(bytes);
        used.delay = Span(used.delay.0 + delay);
        used.access = Span(used.access.0 + now.saturating_sub(ended.taken.max(free_at)));
        meter.totals.delay_squares += u128::from(delay) * u128::from(delay);
    }

    /// Every radio's link is measured from now on; the run stays the same.
    pub(crate) fn measure_links(&mut self) {
        let stations = self.node_of_station.len();
        for station in 0..stations as u32 {
            self.meters.add(station, stations);
        }
        self.heeds_received = true;
    }
}
