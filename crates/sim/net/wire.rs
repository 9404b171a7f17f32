//! Wired links: each direction sends one packet after the other and delivers it a delay later.
//!
//! Behind a drop-tail queue a packet's departure is known when it arrives: when the packets before it have been sent. Such a
//! direction keeps a [`Timetable`] instead of a queue, and no event tells when the link is free for the next packet.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use airfair_schemes::places::{Backlog, DropReason};
use airfair_units::Rate;
use airfair_units::random::Stream;

use super::hops::passage;
use super::{Behind, Net, Port, QueueTotals, Taken, class, drop_reason};
use crate::engine::Agenda;
use crate::event::{Order, What};
use crate::ids::{PortIx, WireIx};
use crate::node::backpressure::Waiter;

/// A packet on its way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InFlight {
    /// When it came to the interface.
    pub entered: u64,
    /// When its first bit leaves.
    pub begin: u64,
    pub arrival: u64,
    pub packet: u64,
    /// It will not arrive: what it meets at the far end is its loss.
    pub lost: bool,
}

/// What captured wires have sent: one list for all, so that nobody has to go round them after each event.
pub(crate) type Sent = Arc<Mutex<Vec<(u32, InFlight)>>>;

/// What stands for a drop-tail queue before a wire: packets of `in_flight` whose first bit has not left are those that wait.
#[derive(Debug)]
pub(crate) struct Timetable {
    /// Most packets that wait.
    limit: usize,
    /// So many of `in_flight` had begun when it was last looked at.
    begun: usize,
    /// Packets that have entered, and how long they will have waited.
    entered: u64,
    wait_ns: u64,
}

/// How long the last size took to send, and the rest of the division: most packets of a direction have one size.
#[derive(Debug, Default)]
struct LastSize {
    bytes: u64,
    span: u64,
    rest: u64,
}

/// One direction of a wired link. It has at most two events pending: the arrival of the oldest packet in flight and, while
/// packets wait in a queue or sources wait for room, the moment when the next one leaves.
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
    loss_every: u32,
    /// One of both is set, or the wire is captured: each packet is looked at.
    pub(super) watched: bool,
    /// Where what is sent is kept, if the wire is captured, and its number there.
    sent: Option<Box<(Sent, u32)>>,
    /// A hop stands at its port.
    pub hop: bool,
    /// Packets with payload since the last one that was lost for its number.
    since_loss: u32,
    pub random: Stream,
    pub rank: u32,
    pub timetable: Option<Timetable>,
    /// Where its last packet went on, by another wire: the destination and that wire. Routes do not change.
    onward: Option<(u32, u32)>,
    /// The last packet's last bit leaves then.
    free_at: u64,
    /// An event for that moment is pending.
    pub waiting: bool,
    /// Packets being sent and in flight, in the order of their arrivals.
    pub in_flight: VecDeque<InFlight>,
    /// What the last packet's end was early by, in units of 1 ns / rate: nothing is lost by rounding.
    remainder: u64,
    last_size: LastSize,
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
            watched: loss > 0.0,
            sent: None,
            hop: false,
            since_loss: 0,
            random,
            rank,
            timetable: None,
            onward: None,
            free_at: 0,
            waiting: false,
            in_flight: VecDeque::new(),
            remainder: 0,
            last_size: LastSize::default(),
        }
    }

    /// Every so many-th packet with payload is lost; 0: none.
    pub(crate) fn lose_every(&mut self, packets: u32) {
        self.loss_every = packets;
        self.watched = self.loss > 0.0 || packets > 0;
    }

    /// From now on what is sent is kept there, under the wire's number.
    pub(crate) fn capture(&mut self, sent: Sent, wire: u32) {
        self.watched = true;
        self.sent = Some(Box::new((sent, wire)));
    }

    /// A timetable takes the place of a queue of at most `limit` packets.
    pub(crate) fn set_timetable(&mut self, limit: u32) {
        self.timetable = Some(Timetable { limit: limit as usize, begun: 0, entered: 0, wait_ns: 0 });
    }

    /// Packets of the timetable that wait.
    pub(crate) fn waiting_packets(&self, now: u64) -> impl Iterator<Item = &InFlight> {
        let from = match &self.timetable {
            None => self.in_flight.len(),
            Some(timetable) => timetable.begun,
        };
        self.in_flight.range(from..).filter(move |packet| packet.begin > now)
    }

    /// The oldest packet is there no more.
    #[inline(always)]
    pub(super) fn forget_first(&mut self) -> Option<InFlight> {
        if let Some(timetable) = &mut self.timetable {
            timetable.begun = timetable.begun.saturating_sub(1);
        }
        self.in_flight.pop_front()
    }

    /// Packets that are being sent and on their way.
    pub(crate) fn on_the_way(&self, now: u64) -> usize {
        if self.timetable.is_none() {
            return self.in_flight.len();
        }
        self.in_flight.iter().filter(|packet| packet.begin <= now).count()
    }

    /// Packets that have been given to the timetable and are not sent yet, and how long they will have waited.
    fn still_to_leave(&self, now: u64) -> (u64, u64) {
        let waits = self.in_flight.iter().rev().take_while(|packet| packet.begin > now);
        waits.fold((0, 0), |(packets, waited), p| (packets + 1, waited + p.begin - p.entered))
    }

    /// What waits on the timetable, if there is one. Moments must not go back.
    pub(super) fn backlog(&mut self, now: u64) -> Option<Backlog> {
        let timetable = self.timetable.as_mut()?;
        if self.free_at <= now {
            return Some(Backlog::default());
        }
        while self.in_flight.get(timetable.begun).is_some_and(|packet| packet.begin <= now) {
            timetable.begun += 1;
        }
        let (Some(first), Some(last)) = (self.in_flight.get(timetable.begun), self.in_flight.back()) else {
            return Some(Backlog::default());
        };
        let packets = self.in_flight.len() - timetable.begun;
        // Moments are whole nanoseconds: the nearest byte is the right one. Wide numbers are slow to divide, and needed only where
        // seconds of many Gbit/s wait.
        let end = last.arrival - self.delay;
        let (span, half, unit) = (end - first.begin, 4_000_000_000, 8_000_000_000);
        let bytes = match span.checked_mul(self.rate_bps).and_then(|bits| bits.checked_add(half)) {
            Some(bits) => bits / unit,
            None => {
                let bits = u128::from(span) * u128::from(self.rate_bps) + u128::from(half);
                (bits / u128::from(unit)) as u64
            }
        };
        Some(Backlog { packets: packets as u32, bytes })
    }

    /// Whether as many packets wait as may.
    #[inline]
    fn is_full(&mut self, now: u64) -> bool {
        let Some(timetable) = &mut self.timetable else { return false };
        // What left long ago matters only when it could make room.
        if self.in_flight.len() - timetable.begun < timetable.limit {
            return false;
        }
        while self.in_flight.get(timetable.begun).is_some_and(|packet| packet.begin <= now) {
            timetable.begun += 1;
        }
        self.in_flight.len() - timetable.begun >= timetable.limit
    }

    /// Packets wait: an event comes when the link, whose number is `wire`, is free.
    fn wait(&mut self, wire: u32, agenda: &mut Agenda) {
        if !self.waiting {
            self.waiting = true;
            agenda.push(self.free_at, self.free_order(), What::WireFree(WireIx(wire)));
        }
    }

    /// The order of the event that it is free.
    fn free_order(&self) -> Order {
        Order::new(class::WIRE_FREE, self.rank)
    }

    /// The order of arrivals at its end.
    #[inline]
    pub(super) fn order(&self) -> Order {
        Order::new(class::WIRE, self.rank)
    }

    /// A packet that came at `entered` leaves from `begin` on. Returns when it arrives, and whether no other arrives before it.
    #[inline(always)]
    fn send(&mut self, packet: u64, bytes: u64, payload: u32, entered: u64, begin: u64) -> (u64, bool) {
        self.free_at = begin + self.serialise(bytes, begin == self.free_at);
        let arrival = self.free_at + self.delay;
        let mut lost = false;
        if self.watched {
            lost = self.look_at(InFlight { entered, begin, arrival, packet, lost }, payload);
        }
        let first = self.in_flight.is_empty();
        self.in_flight.push_back(InFlight { entered, begin, arrival, packet, lost });
        (arrival, first)
    }

    /// Whether the next packet is lost on the way; it is kept if the wire is captured.
    #[inline(never)]
    fn look_at(&mut self, packet: InFlight, payload: u32) -> bool {
        let lost = self.loses(payload);
        if let Some((sent, wire)) = self.sent.as_deref() {
            let packet = InFlight { lost, ..packet };
            sent.lock().unwrap_or_else(PoisonError::into_inner).push((*wire, packet));
        }
        lost
    }

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

    /// From now on packets leave at another rate; the one that is being sent keeps its pace.
    fn set_rate(&mut self, rate_bps: u64) {
        // Still the same part of a nanosecond, in units of the new rate.
        let remainder = u128::from(self.remainder) * u128::from(rate_bps) / u128::from(self.rate_bps);
        self.remainder = remainder as u64;
        self.rate_bps = rate_bps;
        self.last_size = LastSize::default();
    }

    /// How long `bytes` take, in whole ns; the rest is carried over while the link stays busy.
    pub(crate) fn serialise(&mut self, bytes: u64, back_to_back: bool) -> u64 {
        if !back_to_back {
            self.remainder = 0;
        }
        if bytes != self.last_size.bytes {
            // No packet has a gigabyte: the product fits.
            let total = bytes.min(1 << 30) * 8_000_000_000;
            self.last_size = LastSize { bytes, span: total / self.rate_bps, rest: total % self.rate_bps };
        }
        let rest = self.last_size.rest + self.remainder;
        let whole = rest >= self.rate_bps;
        self.remainder = if whole { rest - self.rate_bps } else { rest };
        self.last_size.span + u64::from(whole)
    }
}

impl Net {
    /// A packet enters the timetable of a link.
    #[inline]
    pub(super) fn enter(&mut self, wire: u32, handle: u64, now: u64) {
        if let Some(arrival) = self.schedule(wire, handle, now) {
            let order = self.wires[wire as usize].order();
            self.later(arrival, order, What::WireArrival(WireIx(wire)));
        }
    }

    /// A packet enters the timetable of a link, or is dropped where as many wait as may. Returns when it arrives, if no other
    /// arrives before it.
    #[inline(never)]
    fn schedule(&mut self, wire: u32, handle: u64, now: u64) -> Option<u64> {
        let packet = self.packets.get(handle)?;
        let payload = packet.length;
        let bytes = packet.bytes + self.headers.wired;
        let link = &mut self.wires[wire as usize];
        if link.hop {
            let backlog = link.backlog(now).unwrap_or_default();
            let (passage, id) = (passage(packet, self.headers.wired, backlog), packet.header);
            if let Some(host) = &mut self.ports[link.port as usize].hop {
                host.meet(&passage, (id, self.packets.header_mut(handle)), &self.kinds_of_header, now);
            }
        }
        let begin = link.free_at.max(now);
        // Where nothing waits there is room.
        if begin > now && link.is_full(now) {
            let port = link.port;
            self.drop_at(port, handle, DropReason::QUEUE_FULL.0, now);
            return None;
        }
        if let Some(timetable) = &mut link.timetable {
            timetable.entered += 1;
            timetable.wait_ns += begin - now;
        }
        let (arrival, first) = link.send(handle, u64::from(bytes), payload, now, begin);
        first.then_some(arrival)
    }

    /// Both directions of a link have another rate from now on.
    #[inline(never)]
    pub(crate) fn link_rate_changes(&mut self, link: u32, rate: Rate) {
        for wire in [2 * link, 2 * link + 1] {
            self.rate_changes(wire, rate.as_bps());
        }
    }

    /// A direction of a link has another rate from now on. A packet that a radio has handed up less than a band of propagation
    /// delays (4 us) ago may have begun a moment later than now, at the old rate.
    pub(super) fn rate_changes(&mut self, wire: u32, rate_bps: u64) {
        let link = &mut self.wires[wire as usize];
        link.set_rate(rate_bps);
        let port = link.port;
        self.tell_rate(port, Rate(rate_bps));
    }

    /// What has left a port's queue or timetable by now.
    pub(super) fn queue_totals(&self, port: u32, now: u64) -> QueueTotals {
        let port = &self.ports[port as usize];
        let mut totals = port.totals;
        if let Behind::Wire(wire) = port.behind
            && let Some(timetable) = &self.wires[wire as usize].timetable
        {
            let (packets, wait_ns) = self.wires[wire as usize].still_to_leave(now);
            totals.left += timetable.entered - packets;
            totals.waited_ns += timetable.wait_ns - wait_ns;
        }
        totals
    }

    /// Packets that wait in a port's queue or on its timetable.
    pub(super) fn queue_packets(&self, port: u32, now: u64) -> u64 {
        let port = &self.ports[port as usize];
        let on_timetable = match port.behind {
            Behind::Wire(wire) => self.wires[wire as usize].waiting_packets(now).count() as u64,
            Behind::Station(_) => 0,
        };
        u64::from(port.queue.view().packets) + on_timetable
    }

    /// Whether a port takes no packet now.
    #[inline]
    pub(super) fn is_full(&mut self, port: u32, now: u64) -> bool {
        if let Some(wire) = self.timetable_of(port) {
            return self.wires[wire as usize].is_full(now);
        }
        let view = self.ports[port as usize].queue.view();
        view.packets >= view.limit_packets
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self, port: u32, now: u64) -> bool {
        self.ports[port as usize].is_empty(&self.wires, now)
    }

    /// A source waits for room at a port.
    pub(super) fn block(&mut self, port: u32, who: Waiter, now: u64) {
        self.backpressure.block(PortIx(port), who);
        if let Behind::Wire(wire) = self.ports[port as usize].behind {
            self.tell_room(wire, now);
        }
    }

    /// Sources wait for room: an event comes when the next packet of the timetable leaves.
    fn tell_room(&mut self, wire: u32, now: u64) {
        let link = &mut self.wires[wire as usize];
        let next = link.waiting_packets(now).next().map(|packet| packet.begin);
        if let Some(begin) = next.filter(|_| !link.waiting) {
            link.waiting = true;
            let order = link.free_order();
            self.later(begin, order, What::WireFree(WireIx(wire)));
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
        let Some(Taken { handle, queued, payload, of_local_tcp, .. }) = self.take_or_tell(port, now) else {
            return;
        };
        let bytes = u64::from(queued.bytes + self.headers.wired);
        // A packet that came by air is here a propagation delay after the pass that handed it up.
        let entered = queued.enqueued.as_nanos();
        let begin = now.max(entered);
        let link = &mut self.wires[wire as usize];
        if let (arrival, true) = link.send(handle, bytes, payload, entered, begin) {
            agenda.push(arrival, link.order(), What::WireArrival(WireIx(wire)));
        }
        if of_local_tcp {
            self.leaves_by_wire(wire, handle, now);
        }
        self.room(port, now);
        if self.ports[port as usize].queue.view().packets > 0 {
            self.wires[wire as usize].wait(wire, agenda);
        }
    }

    pub(crate) fn wire_free(&mut self, wire: u32, agenda: &mut Agenda) {
        let link = &mut self.wires[wire as usize];
        let port = link.port;
        link.waiting = false;
        if link.timetable.is_none() {
            self.kick_wire(wire, agenda);
            return;
        }
        self.room(port, agenda.now);
        if self.backpressure.anybody_waits(PortIx(port)) {
            self.tell_room(wire, agenda.now);
        }
    }

    pub(crate) fn wire_arrival(&mut self, wire: u32, now: u64, agenda: &mut Agenda) {
        let link = &mut self.wires[wire as usize];
        let Some(InFlight { packet: handle, lost, .. }) = link.forget_first() else { return };
        let node = link.to;
        if let Some(next) = link.in_flight.front() {
            agenda.push(next.arrival, link.order(), What::WireArrival(WireIx(wire)));
        }
        if lost {
            let node = self.ports[self.wires[wire as usize].port as usize].node;
            self.drop_packet(node, handle, drop_reason::WIRE_LOSS, now);
            return;
        }
        let Some(packet) = self.packets.get_mut(handle) else { return };
        packet.hops += 1;
        let (destination, hops) = (packet.destination, packet.hops);
        // The usual way of a router: from wire to wire, without a detour.
        if destination != node
            && hops < self.hop_limit
            && let Some(onward) = self.onward(wire, destination)
        {
            if let Some(arrival) = self.schedule(onward, handle, now) {
                agenda.push(arrival, self.wires[onward as usize].order(), What::WireArrival(WireIx(onward)));
            }
            return;
        }
        self.forward(node, handle, now);
    }

    /// The wire with a timetable by which packets of a wire go on to a destination: mostly the one that the last packet took.
    #[inline(always)]
    fn onward(&mut self, wire: u32, destination: u32) -> Option<u32> {
        match self.wires[wire as usize].onward {
            Some((to, onward)) if to == destination => Some(onward),
            _ => self.find_onward(wire, destination),
        }
    }

    #[inline(never)]
    fn find_onward(&mut self, wire: u32, destination: u32) -> Option<u32> {
        let node = self.wires[wire as usize].to;
        let onward = self.next_hop(node, destination).and_then(|hop| self.timetable_of(hop.port))?;
        self.wires[wire as usize].onward = Some((destination, onward));
        Some(onward)
    }

    /// The wire behind a port, if it has a timetable.
    #[inline]
    pub(super) fn timetable_of(&self, port: u32) -> Option<u32> {
        match self.ports[port as usize].behind {
            Behind::Wire(wire) => self.wires[wire as usize].timetable.is_some().then_some(wire),
            Behind::Station(_) => None,
        }
    }
}

impl Port {
    /// Whether nothing waits here.
    pub(super) fn is_empty(&self, wires: &[Direction], now: u64) -> bool {
        match self.behind {
            Behind::Wire(wire) if wires[wire as usize].timetable.is_some() => {
                wires[wire as usize].waiting_packets(now).next().is_none()
            }
            _ => self.queue.view().packets == 0,
        }
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
