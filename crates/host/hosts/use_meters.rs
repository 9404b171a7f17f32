//! Meters of the use of radio links, for agents and observers: bytes of flows in both directions, and the time of a packet from its arrival
//! in the queue to the MAC's acknowledgement. Radios without such an agent or observer have no meter.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use airfair_schemes::places::{Finished, FlowId, LinkUse, NodeId, PacketClass};
use airfair_units::{Span, Time};

use crate::table::{Ix, Table};

/// Most packets of a radio's MAC that are followed: with more the oldest is forgotten, whose end was not told.
const MOST_IN_MAC: usize = 1 << 12;

/// The meters of a network.
pub struct UseMeters<R: Ix> {
    /// Empty if no meter is needed.
    of: Table<R, Option<Box<Meter>>>,
}

impl<R: Ix> Default for UseMeters<R> {
    fn default() -> Self {
        Self { of: Table::default() }
    }
}

/// The meter of a radio.
#[derive(Default)]
struct Meter {
    /// Packets in the MAC, in the order in which it dequeued them.
    in_mac: VecDeque<InMac>,
    /// Time at which the MAC finished its last packet.
    free_at: Time,
    totals: LinkTotals,
}

struct InMac {
    /// The network's number of the packet.
    packet: u64,
    flow: FlowId,
    class: PacketClass,
    enqueued: Time,
    dequeued: Time,
}

/// Totals of a link since its meter was added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkTotals {
    /// Packets, bytes, and sums of times.
    pub used: LinkUse,
    /// Sum of the squares of the delays of sent packets, ns².
    pub delay_squares: u128,
}

impl<R: Ix> UseMeters<R> {
    /// Adds a meter to a radio, unless it has one.
    pub fn add(&mut self, radio: R, radios: usize) {
        if self.of.is_empty() {
            self.of = (0..radios).map(|_| None).collect();
        }
        self.of[radio].get_or_insert_default();
    }

    fn at(&mut self, radio: R) -> Option<&mut Meter> {
        self.of.get_mut(radio)?.as_deref_mut()
    }

    /// Counts a received packet of a flow.
    pub fn on_received(&mut self, radio: R, bytes: u32) {
        if let Some(meter) = self.at(radio) {
            meter.totals.used.received_packets += 1;
            meter.totals.used.received_bytes += u64::from(bytes);
        }
    }

    /// Registers a packet of a flow, by its number, that the MAC has dequeued.
    #[inline(never)]
    pub fn on_dequeued(
        &mut self,
        radio: R,
        packet: u64,
        (flow, class): (FlowId, PacketClass),
        enqueued: Time,
        now: Time,
    ) {
        if let Some(meter) = self.at(radio) {
            if meter.in_mac.len() >= MOST_IN_MAC {
                meter.in_mac.pop_front();
            }
            meter.in_mac.push_back(InMac { packet, flow, class, enqueued, dequeued: now });
        }
    }

    /// Removes and returns a packet of `bytes` that the MAC has finished; counts it if it was acknowledged. None without a meter, of a
    /// broadcast, which has no next hop, and of a packet that is not known, a message for example; that has used the MAC, too.
    #[inline(never)]
    pub fn on_finished(
        &mut self,
        radio: R,
        packet: u64,
        (bytes, next_hop, acknowledged): (u32, Option<NodeId>, bool),
        now: Time,
    ) -> Option<Finished> {
        let meter = self.at(radio)?;
        let free_at = core::mem::replace(&mut meter.free_at, now);
        let at = meter.in_mac.iter().position(|in_mac| in_mac.packet == packet)?;
        let InMac { flow, class, enqueued, dequeued, .. } = meter.in_mac.remove(at)?;
        let access = now.since(dequeued.max(free_at));
        if acknowledged {
            let delay = now.since(enqueued);
            let used = &mut meter.totals.used;
            used.sent_packets += 1;
            used.sent_bytes += u64::from(bytes);
            used.delay += delay;
            used.access += access;
            meter.totals.delay_squares += u128::from(delay.0) * u128::from(delay.0);
        }
        let waited = Span(now.since(enqueued).0.saturating_sub(access.0));
        Some(Finished { bytes, flow, next_hop: next_hop?, class, acknowledged, waited, access })
    }

    /// Totals of a radio's link, if it has a meter.
    #[must_use]
    pub fn totals(&self, radio: R) -> Option<LinkTotals> {
        Some(self.of.get(radio)?.as_ref()?.totals)
    }
}
