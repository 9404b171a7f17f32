//! Meters of radio links, for agents and observers: bytes of flows in both directions, and the time of a packet from its arrival in the
//! queue to the MAC's acknowledgement. Stations without such an agent or observer have no meter.

use std::collections::VecDeque;

use airfair_schemes::places::{Finished, FlowId, LinkUse, PacketClass};
use airfair_units::Time;

use crate::air::{Msdu, Outcome};
use crate::ids::{PacketRef, StationIx, Table};

/// The meters of a world.
#[derive(Default)]
pub(crate) struct Meters {
    /// Empty if no meter is needed.
    of: Table<StationIx, Option<Box<Meter>>>,
}

/// The meter of a station.
#[derive(Default)]
struct Meter {
    /// Packets in the MAC, in the order in which it dequeued them.
    in_mac: VecDeque<InMac>,
    /// Time at which the MAC finished its last packet.
    free_at: Time,
    totals: LinkTotals,
}

struct InMac {
    packet: PacketRef,
    flow: FlowId,
    class: PacketClass,
    enqueued: Time,
    dequeued: Time,
}

/// Totals of a link since its meter was added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LinkTotals {
    pub used: LinkUse,
    /// Sum of the squares of the delays of sent packets, ns².
    pub delay_squares: u128,
}

impl Meters {
    /// True if any station has a meter, or the ends of packets are told.
    #[inline(always)]
    pub fn any(&self) -> bool {
        !self.of.is_empty()
    }

    /// From now on the ends of packets are told, also if no station has a meter.
    pub fn expect(&mut self, stations: usize) {
        if self.of.is_empty() {
            self.of = (0..stations).map(|_| None).collect();
        }
    }

    /// Adds a meter to a station, unless it has one.
    pub fn add(&mut self, station: StationIx, stations: usize) {
        self.expect(stations);
        self.of[station].get_or_insert_default();
    }

    fn at(&mut self, station: StationIx) -> Option<&mut Meter> {
        self.of.get_mut(station)?.as_deref_mut()
    }

    /// Counts a received packet of a flow.
    pub fn on_received(&mut self, station: StationIx, bytes: u32) {
        if let Some(meter) = self.at(station) {
            meter.totals.used.received_packets += 1;
            meter.totals.used.received_bytes += u64::from(bytes);
        }
    }

    /// Registers a packet of a flow that the MAC has dequeued.
    #[inline(never)]
    pub fn on_dequeued(
        &mut self,
        station: StationIx,
        packet: PacketRef,
        (flow, class): (FlowId, PacketClass),
        enqueued: Time,
        now: Time,
    ) {
        if let Some(meter) = self.at(station) {
            meter.in_mac.push_back(InMac { packet, flow, class, enqueued, dequeued: now });
        }
    }

    /// Removes and returns a packet that the MAC has finished; counts it if it was acknowledged.
    #[inline(never)]
    pub fn on_finished(
        &mut self,
        station: StationIx,
        msdu: &Msdu,
        outcome: Outcome,
        now: Time,
    ) -> Option<Finished> {
        let meter = self.at(station)?;
        let free_at = std::mem::replace(&mut meter.free_at, now);
        let at = meter.in_mac.iter().position(|in_mac| in_mac.packet == msdu.packet)?;
        let InMac { flow, class, enqueued, dequeued, .. } = meter.in_mac.remove(at)?;
        let (access, acknowledged) = (now.since(dequeued.max(free_at)), outcome == Outcome::Delivered);
        if acknowledged {
            let delay = now.since(enqueued);
            let used = &mut meter.totals.used;
            used.sent_packets += 1;
            used.sent_bytes += u64::from(msdu.bytes);
            used.delay += delay;
            used.access += access;
            meter.totals.delay_squares += u128::from(delay.0) * u128::from(delay.0);
        }
        Some(Finished { bytes: msdu.bytes, flow, class, acknowledged, access })
    }

    /// Totals of a station's link, if it has a meter.
    pub fn totals(&self, station: StationIx) -> Option<LinkTotals> {
        Some(self.of.get(station)?.as_ref()?.totals)
    }
}
