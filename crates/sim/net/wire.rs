//! Wired links: each direction sends one packet after the other and delivers it a delay later.

use std::collections::VecDeque;

use airfair_units::random::Stream;

use super::{Net, class, drop_reason, kinds};
use crate::engine::{Agenda, Order};

/// A packet on its way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InFlight {
    pub arrival: u64,
    pub packet: u64,
    /// It will not arrive: what it meets at the far end is its loss.
    pub lost: bool,
}

/// One direction of a wired link. It has at most two events pending: the arrival of the oldest packet in flight and, while
/// packets wait, the moment when the link is free for the next one.
#[derive(Debug)]
pub(crate) struct Direction {
    /// Port of the sending node.
    pub port: u32,
    /// Node at the far end.
    pub to: u32,
    pub rate_bps: u64,
    pub delay: u64,
    pub loss: f64,
    /// Every so many-th packet with payload is lost; 0: none.
    pub loss_every: u32,
    /// Packets with payload since the last one that was lost for its number.
    since_loss: u32,
    pub random: Stream,
    pub rank: u32,
    /// The last packet's last bit leaves then.
    free_at: u64,
    /// An event for that moment is pending.
    pub waiting: bool,
    /// Packets being sent and in flight, in the order of their arrivals.
    pub in_flight: VecDeque<InFlight>,
    /// What the last packet's end was early by, in units of 1 ns / rate: nothing is lost by rounding.
    remainder: u64,
}

impl Direction {
    pub(crate) fn new(
        port: u32,
        to: u32,
        rate_bps: u64,
        delay: u64,
        loss: f64,
        random: Stream,
        rank: u32,
    ) -> Self {
        Self {
            port,
            to,
            rate_bps,
            delay,
            loss,
            loss_every: 0,
            since_loss: 0,
            random,
            rank,
            free_at: 0,
            waiting: false,
            in_flight: VecDeque::new(),
            remainder: 0,
        }
    }

    /// Whether a packet may leave now.
    #[inline]
    pub(crate) fn is_free(&self, now: u64) -> bool {
        self.free_at <= now && !self.waiting
    }

    /// Packets wait: an event comes when the link, whose number is `wire`, is free.
    fn wait(&mut self, wire: u32, agenda: &mut Agenda) {
        if !self.waiting {
            self.waiting = true;
            agenda.push(self.free_at, Order::new(class::WIRE, self.rank), kinds::WIRE_FREE, wire, 0, 0);
        }
    }

    /// A packet leaves from `begin` on. Returns when it arrives, if no other arrives before it.
    #[inline]
    fn send(&mut self, packet: u64, bytes: u64, payload: u32, begin: u64) -> Option<(u64, Order)> {
        self.free_at = begin + self.serialise(bytes, begin == self.free_at);
        let lost = self.loses(payload);
        let arrival = self.free_at + self.delay;
        let first = self.in_flight.is_empty();
        self.in_flight.push_back(InFlight { arrival, packet, lost });
        first.then(|| (arrival, Order::new(class::WIRE, self.rank)))
    }

    /// Whether the next packet is lost on the way.
    fn loses(&mut self, payload: u32) -> bool {
        let mut lost = self.loss > 0.0 && self.random.uniform() < self.loss;
        if self.loss_every > 0 && payload > 0 {
            self.since_loss += 1;
            if self.since_loss == self.loss_every {
                self.since_loss = 0;
                lost = true;
            }
        }
        lost
    }

    /// How long `bytes` take, in whole ns; the rest is carried over while the link stays busy.
    pub(crate) fn serialise(&mut self, bytes: u64, back_to_back: bool) -> u64 {
        if !back_to_back {
            self.remainder = 0;
        }
        // No packet has a gigabyte: the product fits.
        let total = bytes.min(1 << 30) * 8_000_000_000 + self.remainder;
        self.remainder = total % self.rate_bps;
        total / self.rate_bps
    }
}

impl Net {
    /// A packet finds nothing waiting and the link free: it leaves at once.
    pub(super) fn pass_by(&mut self, port: u32, wire: u32, handle: u64, now: u64) {
        let Some(packet) = self.packets.get_mut(handle) else { return };
        packet.enqueued = now;
        let (bytes, payload) = (u64::from(packet.bytes + self.headers.wired), packet.payload);
        self.has_left(port, handle, 0);
        if let Some((arrival, order)) = self.wires[wire as usize].send(handle, bytes, payload, now) {
            self.later(arrival, order, kinds::WIRE_ARRIVAL, wire, 0, 0);
        }
    }

    /// A wired link may have something to send: the next packet leaves if the link is free, or an event is set for then.
    pub(crate) fn kick_wire(&mut self, wire: u32, agenda: &mut Agenda) {
        let now = agenda.now;
        let link = &mut self.wires[wire as usize];
        let port = link.port;
        if link.free_at > now {
            link.wait(wire, agenda);
            return;
        }
        let Some((handle, queued)) = self.take(port, now) else { return };
        let payload = self.packets.get(handle).map_or(0, |p| p.payload);
        let bytes = u64::from(queued.bytes + self.headers.wired);
        // A packet that came by air is here a propagation delay after the pass that handed it up.
        let begin = now.max(queued.enqueued.as_nanos());
        if let Some((arrival, order)) = self.wires[wire as usize].send(handle, bytes, payload, begin) {
            agenda.push(arrival, order, kinds::WIRE_ARRIVAL, wire, 0, 0);
        }
        self.room(port, now);
        if self.ports[port as usize].queue.view().packets > 0 {
            self.wires[wire as usize].wait(wire, agenda);
        }
    }

    pub(super) fn wire_free(&mut self, wire: u32, agenda: &mut Agenda) {
        self.wires[wire as usize].waiting = false;
        self.kick_wire(wire, agenda);
    }

    pub(super) fn wire_arrival(&mut self, wire: u32, now: u64, agenda: &mut Agenda) {
        let link = &mut self.wires[wire as usize];
        let Some(InFlight { packet: handle, lost, .. }) = link.in_flight.pop_front() else { return };
        let node = link.to;
        if let Some(next) = link.in_flight.front() {
            agenda.push(next.arrival, Order::new(class::WIRE, link.rank), kinds::WIRE_ARRIVAL, wire, 0, 0);
        }
        if lost {
            let node = self.ports[self.wires[wire as usize].port as usize].node;
            self.drop_packet(node, handle, drop_reason::WIRE_LOSS, now);
            return;
        }
        if let Some(packet) = self.packets.get_mut(handle) {
            packet.hops += 1;
        }
        self.forward(node, handle, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airfair_units::random::Purpose;

    #[test]
    fn nothing_is_lost_by_rounding() {
        let random = Stream::new(1, "x", Purpose::LinkLoss);
        let mut link = Direction::new(0, 1, 3_000_000_000, 0, 0.0, random, 0);
        // 1 byte at 3 Gbit/s takes 8/3 ns: three of them take 8 ns.
        let times: Vec<u64> = (0..3).map(|i| link.serialise(1, i > 0)).collect();
        assert_eq!(times.iter().sum::<u64>(), 8, "{times:?}");
        assert_eq!(times, [2, 3, 3]);
        // After an idle time counting starts anew.
        assert_eq!(link.serialise(1, false), 2);
    }
}
