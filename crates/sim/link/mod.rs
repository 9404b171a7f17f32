//! Wired links: packets are serialised, propagate for a delay, and may be lost on the way.
//!
//! [`Links`] owns both directions of every link; a direction is called a *wire*. A wire either keeps its own queue, or sends packets from a
//! queue of its node; [`Links::keeps_queue`] distinguishes the two, and callers need to know no more:
//!
//! - A wire with its own queue accepts or refuses each packet at once ([`Links::offer`]). Sources that wait for room schedule an event for
//!   the next departure ([`Links::wake_at_departure`]).
//! - Any other wire is given the next packet of its node's queue when it is idle ([`Links::is_idle`], [`Links::send`]); an event notifies
//!   its node when it becomes free ([`Links::wake`]).
//!
//! The events of a wire ([`EventKind::WireArrival`], [`EventKind::WireFree`], [`EventKind::RateChange`]) return values: the packet that has
//! arrived or was lost, and its node. Later events are returned as a [`ScheduledEvent`], which the caller schedules.

mod fifo;
mod timetable;
mod wire;

use airfair_schemes::places::Backlog;
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Rate, Span, Time};

use crate::event::{EventKind, Order, ScheduledEvent, class, rank};
use crate::ids::{CopyRef, NodeIx, PortIx, Table, WireIx};
use crate::packet::Packet;
use crate::record::{Record, Records};
use crate::spec::LinkSpec;
use timetable::{Timetable, first_waiting};
use wire::{InFlight, Losses, Wire};

/// Memory of a packet on a wire: 40 bytes in the wire's list, 88 of the packet and its copy, 144 of a segment, 20 of a scheme's header, 8
/// in the lists of free places; lists that grow have room for half as many again.
const BYTES_PER_PACKET: u64 = 450;

/// A packet offered to a wire.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfferedPacket {
    pub packet: CopyRef,
    /// Size as an IP packet, bytes.
    pub bytes: u32,
    /// True if it carries transport payload.
    pub has_payload: bool,
}

impl OfferedPacket {
    /// A copy of a packet, as a wire sees it.
    #[inline(always)]
    pub(crate) fn of(packet: &Packet, copy: CopyRef) -> Self {
        Self { packet: copy, bytes: packet.bytes, has_payload: packet.length > 0 }
    }
}

/// Answer of a wire to an offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OfferResult {
    /// The packet is accepted; its arrival is to be scheduled unless an earlier one is pending.
    Accepted(Option<ScheduledEvent>),
    /// The queue is full.
    Full,
}

/// End of a packet's way on a wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WireEnd {
    pub packet: CopyRef,
    /// Node at the far end.
    pub node: NodeIx,
    /// True if the packet was lost on the way.
    pub lost: bool,
    /// See [`Links::note_onward`].
    pub onward: Option<(NodeIx, WireIx)>,
}

/// Result of the event that a wire is free, or that a packet has left its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FreeWire {
    /// Port of the wire.
    pub port: PortIx,
    /// True if the wire keeps its own queue; otherwise it needs the next packet now.
    pub keeps_queue: bool,
}

/// Times at which a packet leaves its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Departure {
    /// Time at which the first bit leaves.
    pub begin: Time,
    /// Time at which the last bit has left.
    pub end: Time,
    pub packet: CopyRef,
}

/// State of a wire at a moment, without packets in a queue of its node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WireView {
    /// Packets that wait in the wire's own queue.
    pub waiting: u64,
    /// Packets in transmission or propagation.
    pub on_the_way: u64,
    /// Packets that have left the wire's own queue, and the sum of their times in it.
    pub left: u64,
    pub waited: Span,
}

/// All wired links. Link *i* is the wires 2 *i* (from its first end to its second) and 2 *i* + 1.
#[derive(Debug)]
pub(crate) struct Links {
    wires: Table<WireIx, Wire>,
    /// Bytes that a wire adds to each packet.
    framing: u32,
    /// Memory for packets on all wires together.
    memory: Bytes,
    /// The packets need more memory than there is: the run has ended.
    pub is_full: bool,
    /// Records of accepted packets, if the world is observed.
    pub records: Records,
}

/// The wire of the opposite direction of the same link.
pub(crate) const fn opposite(wire: WireIx) -> WireIx {
    WireIx(wire.0 ^ 1)
}

/// Index of a wire's link in the specification.
pub(crate) const fn link_of(wire: WireIx) -> usize {
    wire.ix() / 2
}

impl Links {
    /// Creates the links between nodes with these names. `ports`: port of each wire.
    /// `framing`: bytes that a wire adds to each packet. `memory`: that of packets on all wires together.
    pub(crate) fn new(
        links: &[LinkSpec],
        names: &[&str],
        ports: &[PortIx],
        (framing, memory): (u32, Bytes),
        seed: u64,
    ) -> Self {
        let sides = links.iter().enumerate().flat_map(|(i, link)| [(i, link, 0), (i, link, 1)]);
        let wire = |(i, link, side): (usize, &LinkSpec, usize)| {
            let (from, to) = (link.ends[side], link.ends[1 - side]);
            let name = format!("{}>{}#{}", names[from], names[to], parallel_index(links, i));
            let number = WireIx((2 * i + side) as u32);
            let losses = Losses {
                probability: link.loss,
                every: link.loss_every,
                since: 0,
                random: Stream::new(seed, &name, Purpose::LinkLoss),
            };
            let ends = (NodeIx(from as u32), NodeIx(to as u32));
            let mut wire = Wire::new(
                number,
                ports[number.ix()],
                ends,
                (link.rate, link.delay),
                losses,
                rank(seed, &name),
            );
            wire.rate_changes = !link.rate_changes.is_empty();
            wire
        };
        Self {
            wires: sides.map(wire).collect(),
            framing,
            memory,
            is_full: false,
            records: Records::default(),
        }
    }

    /// Events for the changes of rate of all links.
    pub(crate) fn rate_changes<'a>(
        &'a self,
        links: &'a [LinkSpec],
    ) -> impl Iterator<Item = ScheduledEvent> + 'a {
        links.iter().enumerate().flat_map(|(i, link)| {
            let order = Order::new(class::RATE_CHANGE, self.wires[WireIx(2 * i as u32)].rank());
            let due = move |at, rate| ScheduledEvent {
                at,
                order,
                kind: EventKind::RateChange { link: i as u32, rate },
            };
            link.rate_changes.iter().map(move |change| due(change.at, change.rate))
        })
    }

    /// Lets a wire behind a drop-tail queue of at most `limit` packets keep that queue itself, if no part needs to be notified of
    /// departures. Not for a wire whose rate changes, since it cannot know departures in advance.
    pub(crate) fn keep_queue(&mut self, wire: WireIx, limit: u32) {
        let wire = &mut self.wires[wire];
        wire.timetable = (!wire.rate_changes).then(|| Timetable::new(limit));
    }

    /// From now on no wire keeps a queue itself. To be called before packets wait.
    pub(crate) fn keep_no_queues(&mut self) {
        self.wires.iter_mut().for_each(|wire| wire.timetable = None);
    }

    /// All wires.
    pub(crate) fn places(&self) -> impl Iterator<Item = WireIx> + use<> {
        self.wires.places()
    }

    /// The port of a wire.
    pub(crate) fn port(&self, wire: WireIx) -> PortIx {
        self.wires[wire].port
    }

    /// The node at the far end of a wire.
    pub(crate) fn far_end(&self, wire: WireIx) -> NodeIx {
        self.wires[wire].to
    }

    /// Probability that a packet is lost on a wire.
    pub(crate) fn loss(&self, wire: WireIx) -> f64 {
        self.wires[wire].losses.probability
    }

    /// True if a wire keeps its own queue: packets are offered to it and to no queue of its node.
    #[inline(always)]
    pub(crate) fn keeps_queue(&self, wire: WireIx) -> bool {
        self.wires[wire].timetable.is_some()
    }

    /// True if an event for the time at which a wire becomes free is pending.
    #[inline(always)]
    pub(crate) fn wake_pending(&self, wire: WireIx) -> bool {
        self.wires[wire].wake_pending
    }

    /// Offers a packet to a wire with its own queue.
    #[inline(always)]
    pub(crate) fn offer(&mut self, wire: WireIx, offer: &OfferedPacket, now: Time) -> OfferResult {
        let at = &mut self.wires[wire];
        let begin = at.free_at.max(now);
        if let Some(timetable) = &mut at.timetable
            && !timetable.accepts(&at.in_flight, begin, now)
        {
            return OfferResult::Full;
        }
        OfferResult::Accepted(self.transmit(wire, offer, now, begin))
    }

    /// Sends a packet, which was queued at `accepted`, by an idle wire.
    pub(crate) fn send(
        &mut self,
        wire: WireIx,
        offer: &OfferedPacket,
        accepted: Time,
        now: Time,
    ) -> Option<ScheduledEvent> {
        // A packet received by radio is offered with the time of its last bit, up to a propagation delay after the pass that has indicated
        // it.
        self.transmit(wire, offer, accepted, now.max(accepted))
    }

    #[inline(always)]
    fn transmit(
        &mut self,
        wire: WireIx,
        offer: &OfferedPacket,
        accepted: Time,
        begin: Time,
    ) -> Option<ScheduledEvent> {
        let at = &mut self.wires[wire];
        let (sent, due) = at.send(offer, u64::from(offer.bytes + self.framing), accepted, begin);
        if self.records.are_enabled() {
            let (arrival, InFlight { packet, begin, end, lost, .. }) = (at.arrival(&sent), sent);
            self.records.push(accepted, Record::OnWire { wire, copy: packet, begin, end, arrival, lost });
        }
        due
    }

    /// How many packets may be on wires: as many as fit into the memory for them.
    pub(crate) fn most_packets(&self) -> u64 {
        self.memory.0 / BYTES_PER_PACKET
    }

    /// Packets on all wires.
    pub(crate) fn packets(&self) -> u64 {
        self.wires.iter().map(|wire| wire.in_flight.len() as u64).sum()
    }

    /// The error if packets on wires need more memory than there is. `name`: that of a node.
    pub(crate) fn memory_full(&self, name: impl Fn(NodeIx) -> String) -> String {
        let counted = self.wires.iter().map(|wire| (wire.in_flight.len(), wire));
        let all = self.packets();
        let most = counted.max_by_key(|(count, _)| *count);
        let most = most.map_or_else(String::new, |(count, wire)| {
            format!(", {count} of them from {} to {}", name(wire.from), name(wire.to))
        });
        format!(
            "{all} packets are on wires{most}, and no more fit into the memory for them, {} MB (memory_limit): a lower rate or delay of a \
             link, or less traffic, makes fewer",
            self.memory.0 / 1_000_000
        )
    }

    /// True if a wire without its own queue can start a transmission now.
    pub(crate) fn is_idle(&self, wire: WireIx, now: Time) -> bool {
        self.wires[wire].free_at <= now
    }

    /// Packets wait in the node's queue: returns an event for the time at which the wire is free, unless one is pending.
    pub(crate) fn wake(&mut self, wire: WireIx) -> Option<ScheduledEvent> {
        let wire = &mut self.wires[wire];
        wire.wake_at(wire.free_at)
    }

    /// Sources wait for room: returns an event for the next departure from the wire's own queue, unless one is pending.
    pub(crate) fn wake_at_departure(&mut self, wire: WireIx, now: Time) -> Option<ScheduledEvent> {
        let wire = &mut self.wires[wire];
        wire.timetable.as_ref()?;
        let in_flight = wire.in_flight.as_slice();
        let begin = in_flight.get(first_waiting(in_flight, now))?.begin;
        wire.wake_at(begin)
    }

    /// Handles the event of [`Links::wake`] or [`Links::wake_at_departure`].
    pub(crate) fn on_free(&mut self, wire: WireIx) -> FreeWire {
        let wire = &mut self.wires[wire];
        wire.wake_pending = false;
        FreeWire { port: wire.port, keeps_queue: wire.timetable.is_some() }
    }

    /// The earliest arrival of a packet that is on its way.
    pub(crate) fn next_arrival(&self) -> Option<Time> {
        self.wires.iter().filter_map(|wire| Some(wire.arrival(wire.in_flight.first()?))).min()
    }

    /// The shortest delay of a wire; without wires the longest time that there is.
    pub(crate) fn shortest_delay(&self) -> Span {
        self.wires.iter().map(Wire::delay).min().unwrap_or(Span(u64::MAX))
    }

    /// Handles an arrival event. Returns the packet that has arrived or was lost, and the event of the next arrival.
    #[inline(always)]
    pub(crate) fn on_arrival(&mut self, wire: WireIx) -> (Option<WireEnd>, Option<ScheduledEvent>) {
        let wire = &mut self.wires[wire];
        if let Some(timetable) = &mut wire.timetable {
            timetable.on_first_removed();
        }
        let end = wire.in_flight.pop().map(|InFlight { packet, lost, .. }| {
            let &mut Wire { to: node, onward, .. } = wire;
            WireEnd { packet, node, lost, onward }
        });
        (end, wire.in_flight.first().map(|next| wire.next_arrival(next)))
    }

    /// Keeps the destination of a wire's last packet and the wire by which that packet continues, for the next one. Routes do not change.
    pub(crate) fn note_onward(&mut self, wire: WireIx, destination: NodeIx, onward: WireIx) {
        self.wires[wire].onward = Some((destination, onward));
    }

    /// Handles a change of rate: of both wires of a link. Returns their ports.
    pub(crate) fn on_rate_change(&mut self, link: u32, rate: Rate) -> [PortIx; 2] {
        // A packet that a radio has indicated less than a band of propagation delays (4 us) ago may have started a moment after now, at the
        // old rate.
        [2 * link, 2 * link + 1].map(|wire| {
            let wire = &mut self.wires[WireIx(wire)];
            wire.set_rate(rate);
            wire.port
        })
    }

    /// True if a wire's own queue has no room for a packet now.
    #[inline]
    pub(crate) fn is_full(&mut self, wire: WireIx, now: Time) -> bool {
        let wire = &mut self.wires[wire];
        wire.timetable.as_mut().is_some_and(|timetable| timetable.is_full(&wire.in_flight, now))
    }

    /// True if no packet waits in a wire's own queue.
    pub(crate) fn is_empty(&self, wire: WireIx, now: Time) -> bool {
        let wire = &self.wires[wire];
        wire.timetable.is_none() || wire.in_flight.as_slice().last().is_none_or(|packet| packet.begin <= now)
    }

    /// Backlog of a wire's own queue, framing included; `None` if it has none. `now` may be earlier than that of a previous query or offer,
    /// by less than 4 us (a packet received by radio is handled at the moment of its last bit at the hearer): packets that had started by
    /// the later moment are not counted again.
    #[inline]
    pub(crate) fn backlog(&mut self, wire: WireIx, now: Time) -> Option<Backlog> {
        let wire = &mut self.wires[wire];
        let rate = wire.rate();
        let timetable = wire.timetable.as_mut()?;
        if wire.free_at <= now {
            return Some(Backlog::default());
        }
        Some(timetable.backlog(&wire.in_flight, rate, now))
    }

    /// Departure of a packet from its node, if it is the last one that a wire has accepted.
    #[inline]
    pub(crate) fn departure(&self, wire: WireIx, packet: CopyRef) -> Option<Departure> {
        self.departures(wire).next().filter(|last| last.packet == packet)
    }

    /// Departures of packets that a wire has accepted and not delivered, latest first.
    #[inline]
    pub(crate) fn departures(&self, wire: WireIx) -> impl Iterator<Item = Departure> + '_ {
        let in_flight = self.wires[wire].in_flight.as_slice().iter().rev();
        in_flight.map(|p| Departure { begin: p.begin, end: p.end, packet: p.packet })
    }

    /// Packets in transmission or propagation.
    pub(crate) fn on_the_way(&self, wire: WireIx, now: Time) -> impl Iterator<Item = CopyRef> + '_ {
        let wire = &self.wires[wire];
        wire.in_flight.as_slice().iter().take(self.first_waiting(wire, now)).map(|packet| packet.packet)
    }

    /// Packets that wait in a wire's own queue.
    pub(crate) fn waiting(&self, wire: WireIx, now: Time) -> impl Iterator<Item = CopyRef> + '_ {
        let wire = &self.wires[wire];
        let waiting = wire.in_flight.as_slice().iter().skip(self.first_waiting(wire, now));
        waiting.map(|packet| packet.packet)
    }

    /// State of a wire at a moment.
    pub(crate) fn view(&self, wire: WireIx, now: Time) -> WireView {
        let wire = &self.wires[wire];
        let on_the_way = self.first_waiting(wire, now);
        let departed =
            wire.timetable.as_ref().map(|timetable| timetable.departed(wire.in_flight.as_slice(), now));
        let (left, waited) = departed.unwrap_or_default();
        let waiting = (wire.in_flight.len() - on_the_way) as u64;
        WireView { waiting, on_the_way: on_the_way as u64, left, waited }
    }

    fn first_waiting(&self, wire: &Wire, now: Time) -> usize {
        match wire.timetable {
            Some(_) => first_waiting(wire.in_flight.as_slice(), now),
            None => wire.in_flight.len(),
        }
    }
}

/// Number of this link among those between the same two nodes; only the order in the file distinguishes them.
fn parallel_index(links: &[LinkSpec], i: usize) -> usize {
    let ends = |i: usize| {
        let [a, b] = links[i].ends;
        [a.min(b), a.max(b)]
    };
    (0..i).filter(|&j| ends(j) == ends(i)).count()
}

#[cfg(test)]
mod tests;
