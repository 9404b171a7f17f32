//! Wired links: each direction sends one packet after the other and delivers it a delay later.

use std::collections::VecDeque;

use airfair_units::random::Stream;

use super::{Net, class, drop_reason, kinds};
use crate::engine::{Agenda, Order};

/// One direction of a wired link. It has at most two events pending: the end of the packet being sent, and the arrival of
/// the oldest packet in flight.
#[derive(Debug)]
pub(crate) struct Direction {
    /// Port of the sending node.
    pub port: u32,
    /// Node at the far end.
    pub to: u32,
    pub rate_bps: u64,
    pub delay: u64,
    pub loss: f64,
    pub random: Stream,
    pub rank: u32,
    /// The packet being sent.
    pub sending: Option<u64>,
    /// Packets in flight with their times of arrival.
    pub in_flight: VecDeque<(u64, u64)>,
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
            random,
            rank,
            sending: None,
            in_flight: VecDeque::new(),
            remainder: 0,
        }
    }

    /// How long `bytes` take, in whole ns; the rest is carried over while the link stays busy.
    pub(crate) fn serialise(&mut self, bytes: u64, back_to_back: bool) -> u64 {
        if !back_to_back {
            self.remainder = 0;
        }
        let total = u128::from(bytes) * 8 * 1_000_000_000 + u128::from(self.remainder);
        let rate = u128::from(self.rate_bps);
        self.remainder = (total % rate) as u64;
        u64::try_from(total / rate).unwrap_or(u64::MAX >> 1)
    }
}

impl Net {
    /// A wired link may have something to send.
    pub(crate) fn kick_wire(&mut self, wire: u32, agenda: &mut Agenda, back_to_back: bool) {
        if self.wires[wire as usize].sending.is_some() {
            return;
        }
        let port = self.wires[wire as usize].port;
        let Some((handle, queued)) = self.take(port, agenda.now) else { return };
        let link = &mut self.wires[wire as usize];
        link.sending = Some(handle);
        let bytes = u64::from(queued.bytes + self.headers.wired);
        // A packet that came by air is here a propagation delay after the pass that handed it up.
        let begin = agenda.now.max(queued.enqueued.as_nanos());
        let free = begin + link.serialise(bytes, back_to_back);
        agenda.push(free, Order::new(class::WIRE, link.rank), kinds::WIRE_FREE, wire, 0, 0);
        self.room(port, agenda.now);
    }

    pub(super) fn wire_free(&mut self, wire: u32, now: u64, agenda: &mut Agenda) {
        let link = &mut self.wires[wire as usize];
        let Some(handle) = link.sending.take() else { return };
        let lost = link.loss > 0.0 && link.random.uniform() < link.loss;
        if lost {
            let node = self.ports[link.port as usize].node;
            self.drop_packet(node, handle, drop_reason::WIRE_LOSS, now);
        } else {
            let arrival = now + link.delay;
            if link.in_flight.is_empty() {
                agenda.push(arrival, Order::new(class::WIRE, link.rank), kinds::WIRE_ARRIVAL, wire, 0, 0);
            }
            link.in_flight.push_back((arrival, handle));
        }
        self.kick_wire(wire, agenda, true);
    }

    pub(super) fn wire_arrival(&mut self, wire: u32, now: u64, agenda: &mut Agenda) {
        let link = &mut self.wires[wire as usize];
        let Some((_, handle)) = link.in_flight.pop_front() else { return };
        let node = link.to;
        if let Some(&(at, _)) = link.in_flight.front() {
            agenda.push(at, Order::new(class::WIRE, link.rank), kinds::WIRE_ARRIVAL, wire, 0, 0);
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
