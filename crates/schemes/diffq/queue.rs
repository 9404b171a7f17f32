//! DiffQ at an interface: destination queues, scheduling, and what it tells and hears (§4.1, *Forwarder Algorithm*; §5).

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use airfair_units::{Span, Time};

use super::backlogs::Backlogs;
use super::calls::HeardCalls;
use super::destinations::{DestinationQueue, Destinations};
use super::scheduler::{Candidate, Rank, Scheduler};
use super::trailer;
use crate::places::{
    Calls, DropReason, Ecn, Enqueued, Head, Header, HeaderKind, Heard, LabelledQueue, MarkReason, NodeId,
    Packet, PacketClass, PacketId, Priority, Queue, QueueContext, QueueView, Setting, WaitingQueue,
};
use crate::words;

/// The reason of a mark.
const LONG_QUEUE: MarkReason = MarkReason("long-queue");

words! {
    /// Which size a trailer announces.
    pub enum Announced {
        /// The queue without the packet that carries the trailer: a deviation, since with that packet a queue whose last packet leaves
        /// would announce 1 until the size expires.
        After = "after",
        /// The queue with the packet that carries the trailer, as the pseudo-code of §4.1 has it.
        Before = "before",
    }
}

/// The constants of the queue at an interface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueueConfig {
    /// Which queue is served, and with which priority.
    pub scheduler: Scheduler,
    /// See [`Announced`].
    pub announced: Announced,
    /// Packets in a destination queue from which on arrivals are marked, if they can be.
    pub mark_above: Option<u32>,
    /// Most packets of destination queues that the radio holds.
    pub in_radio: usize,
    /// Most packets that are not DiffQ's; while the queue is free, most packets, beside as many without a route.
    pub limit_packets: u32,
    /// The time after a call for which the queue is DiffQ's: before and after it is *free*, first in, first out, as if there were no
    /// DiffQ. Zero: nobody calls, and it is never free.
    pub calls: Span,
    /// While the queue is free destinations take turns, instead of first in, first out: where it serves several access categories, a
    /// call would wait behind downloads.
    pub takes_turns: bool,
}

/// A packet that `peek` has named.
#[derive(Debug, Clone, Copy)]
enum Named {
    /// The first packet for a destination, with its next hop then and the rank of its queue. A route that changes before `commit` changes
    /// neither.
    For(Packet, Rank),
    /// The first packet that is not DiffQ's.
    Plain,
}

/// In [`DiffQ::passed`], beside a bit for each level: packets that are not DiffQ's.
const PLAIN: u32 = 1 << 31;

/// The queue.
#[derive(Debug, Clone)]
pub struct DiffQ {
    config: QueueConfig,
    destinations: Destinations,
    backlogs: Backlogs,
    /// Packets that are not DiffQ's: first in, first out, level 0 (§5.2: returned to the stack). With the turn at which each has arrived.
    plain: VecDeque<(u64, Packet)>,
    plain_bytes: u64,
    /// When `plain` was served last.
    plain_served: u64,
    /// Packets of destination queues that have left for the radio and that it has not finished.
    in_radio: Vec<PacketId>,
    named: Option<Named>,
    /// The last answer of `peek` and its time, until something changes.
    answer: Option<(Time, Option<Head>)>,
    /// The queues that were passed over for that answer: levels, and [`PLAIN`].
    passed: u32,
    /// Counts what arrives and what leaves.
    turn: u64,
    /// Rank of the destination queue that a packet left last.
    last: Option<Rank>,
    /// Destination queues that were compared.
    compared: u64,
    /// Calls of nodes that starve, where nodes call.
    calls: Option<HeardCalls>,
    /// The queue was free when it was last used.
    free: bool,
}

impl DiffQ {
    /// An empty queue that stores up to `sizes` of neighbours' queues.
    #[must_use]
    pub fn new(config: QueueConfig, backlogs: Backlogs) -> Self {
        Self {
            config,
            destinations: Destinations::default(),
            backlogs,
            plain: VecDeque::new(),
            plain_bytes: 0,
            plain_served: 0,
            in_radio: vec![],
            named: None,
            answer: None,
            passed: 0,
            turn: 0,
            last: None,
            compared: 0,
            calls: (config.calls > Span::ZERO).then(HeardCalls::default),
            free: config.calls > Span::ZERO,
        }
    }

    /// The time at which the queue becomes free, if nobody calls before; `None` if nobody has called yet, or nobody can.
    fn free_at(&self) -> Option<Time> {
        Some(self.calls.as_ref()?.newest()?.saturating_add(self.config.calls))
    }

    /// Takes note of the time: the queue may have become free.
    fn look_at(&mut self, now: Time) {
        self.free = self.calls.is_some() && self.free_at().is_none_or(|at| at <= now);
    }

    /// Rank of a destination queue, with its first packet; none without a route.
    fn rank(&self, queue: &DestinationQueue, now: Time) -> Option<(Rank, Packet)> {
        let head = queue.head()?;
        let candidate = Candidate {
            own: queue.len(),
            next: self.backlogs.size(head.next_hop, queue.destination, now),
            is_ack: head.class == PacketClass::Ack,
            served: queue.served,
        };
        let rank = self.config.scheduler.rank(&candidate);
        if self.free {
            let turn = if self.config.takes_turns { queue.served } else { queue.arrived() };
            return Some((rank.in_order_of(turn), head));
        }
        Some((rank, head))
    }

    /// True if the radio may take a packet of a destination queue: of a free queue as many as it likes.
    const fn has_room(&self) -> bool {
        self.free || self.in_radio.len() < self.config.in_radio
    }

    /// The destination queue to serve, if the radio may take a packet of one: its rank and its first packet.
    fn first(&self, now: Time) -> Option<(Rank, Packet)> {
        if !self.has_room() {
            return None;
        }
        let ranks = self.destinations.iter().filter_map(|queue| self.rank(queue, now));
        let may_leave = |rank: &Rank| !rank.is_held && self.passed & 1 << rank.level == 0;
        ranks.filter(|(rank, _)| may_leave(rank)).max_by_key(|(rank, _)| *rank)
    }

    /// Names the packet that is sent next, with its level.
    fn choose(&mut self, now: Time) -> Option<Head> {
        self.compared += u64::from(self.destinations.totals().0);
        let first = self.first(now);
        let plain = self.plain.front().copied().filter(|_| self.passed & PLAIN == 0);
        let plain_turn = plain
            .filter(|_| self.free && !self.config.takes_turns)
            .map_or(self.plain_served, |(arrived, _)| arrived);
        let plain = plain.map(|(_, packet)| packet);
        let (named, packet, level) = match (first, plain) {
            // Both would go at level 0, or the queue is free: packets that are not DiffQ's are one more queue that takes its turn, whatever
            // their number.
            (Some((rank, packet)), Some(other)) if rank.level == 0 || self.free => {
                if rank.turn() > plain_turn {
                    (Named::Plain, other, 0)
                } else {
                    (Named::For(packet, rank), packet, rank.level)
                }
            }
            (Some((rank, packet)), _) => (Named::For(packet, rank), packet, rank.level),
            (None, Some(packet)) => (Named::Plain, packet, 0),
            (None, None) => {
                self.named = None;
                return None;
            }
        };
        self.named = Some(named);
        Some(Head { packet, priority: Priority(level) })
    }
}

impl Queue for DiffQ {
    fn enqueue(&mut self, mut packet: Packet, context: &mut QueueContext<'_>) -> Enqueued {
        self.answer = None;
        self.look_at(context.now);
        if let Some(calls) = &mut self.calls {
            calls.queued(&packet, context.now);
        }
        self.turn += 1;
        let waiting = self.destinations.len_of(packet.destination);
        let view = self.backlog_to(packet.destination, packet.labelled);
        if view.packets >= view.limit_packets {
            return Enqueued::Refused(DropReason::QUEUE_FULL);
        }
        if !packet.labelled {
            self.plain.push_back((self.turn, packet));
            self.plain_bytes += u64::from(packet.bytes);
            return Enqueued::Stored;
        }
        if self.config.mark_above.is_some_and(|most| waiting >= most) && packet.ecn == Ecn::Ect {
            packet.ecn = Ecn::Ce;
            context.out.marked.push((packet.id, LONG_QUEUE));
        }
        self.destinations.push(packet, self.turn);
        Enqueued::Stored
    }

    fn peek(&mut self, context: &mut QueueContext<'_>) -> Option<Head> {
        if let Some((_, head)) = self.answer.filter(|(at, _)| *at == context.now) {
            return head;
        }
        self.passed = 0;
        self.look_at(context.now);
        let head = self.choose(context.now);
        self.answer = Some((context.now, head));
        head
    }

    fn commit(&mut self) -> Option<Packet> {
        self.answer = None;
        self.turn += 1;
        match self.named.take()? {
            Named::For(packet, rank) => {
                self.destinations.pop(packet.destination, self.turn)?;
                self.in_radio.push(packet.id);
                self.last = Some(rank);
                Some(packet)
            }
            Named::Plain => {
                let (_, packet) = self.plain.pop_front()?;
                self.plain_bytes -= u64::from(packet.bytes);
                self.plain_served = self.turn;
                Some(packet)
            }
        }
    }

    fn view(&self) -> QueueView {
        let (queues, packets, bytes) = self.destinations.totals();
        // In a free queue packets that wait for a route leave the others their room, once: lost routes do not make it longer without end.
        let of_queues = if self.free {
            self.destinations.without_route().min(self.config.limit_packets)
        } else {
            queues * self.config.scheduler.quantiser.depth
        };
        QueueView {
            packets: packets + self.plain.len() as u32,
            bytes: bytes + self.plain_bytes,
            limit_packets: self.config.limit_packets + of_queues,
        }
    }

    fn apply(&mut self, setting: Setting, now: Time) {
        if let (Setting::Starving(starving), Some(calls)) = (setting, &mut self.calls) {
            calls.heard(starving, now);
            (self.free, self.answer) = (false, None);
        }
        if let Setting::Backlog { neighbour, destination, packets } = setting {
            self.answer = None;
            self.backlogs.hear(
                neighbour,
                destination,
                packets.min(self.config.scheduler.quantiser.depth),
                now,
            );
        }
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        let last = |value: fn(&Rank) -> f64| self.last.as_ref().map_or(f64::NAN, value);
        vec![
            ("differential", last(|rank| rank.differential as f64)),
            ("level", last(|rank| f64::from(rank.level))),
            ("destinations", f64::from(self.destinations.totals().0)),
            ("known_sizes", self.backlogs.len() as f64),
        ]
    }

    fn show(&self, see: &mut dyn FnMut(&Packet)) {
        self.plain.iter().for_each(|(_, packet)| see(packet));
        self.destinations.show(see);
    }
}

impl WaitingQueue for DiffQ {
    fn wakes_at(&self, now: Time) -> Option<Time> {
        if self.free || !self.config.scheduler.holds() || !self.has_room() {
            return None;
        }
        let held = self.destinations.iter().filter_map(|queue| {
            let (_, head) = self.rank(queue, now).filter(|(rank, _)| rank.is_held)?;
            self.backlogs.fresh(head.next_hop, head.destination, now)
        });
        let expires = held.map(|(_, expires)| expires).min()?;
        Some(self.free_at().filter(|&at| at > now).map_or(expires, |at| at.min(expires)))
    }
}

impl LabelledQueue for DiffQ {
    fn pass_over(&mut self, context: &mut QueueContext<'_>) -> Option<Head> {
        self.passed |= match self.named? {
            Named::For(_, rank) => 1 << rank.level,
            Named::Plain => PLAIN,
        };
        let head = self.choose(context.now);
        self.answer = head.map(|head| (context.now, Some(head)));
        head
    }

    fn header(&self) -> &'static HeaderKind {
        &trailer::KIND
    }

    fn stamp(&mut self, packet: &Packet, header: &mut Header, now: Time) {
        let left = self.destinations.len_of(packet.destination);
        let size = match self.config.announced {
            Announced::After => left,
            Announced::Before => left + 1,
        };
        let limiting = if self.free { 0 } else { size };
        trailer::write(header, packet, (size, limiting), now);
    }

    fn differential(&self) -> Option<i64> {
        self.last.map(|rank| rank.differential)
    }

    fn on_heard(&mut self, heard: &Heard<'_>, now: Time) -> bool {
        self.answer = None;
        // No queue is longer than the limit, whatever its node says.
        let packets = trailer::queue(heard.header).min(self.config.scheduler.quantiser.depth);
        self.backlogs.hear(heard.from, heard.destination, packets, now);
        !self.free && self.config.scheduler.holds() && self.has_room() && self.destinations.totals().1 > 0
    }

    fn on_finished(&mut self, packet: PacketId) {
        self.answer = None;
        if let Some(at) = self.in_radio.iter().position(|&other| other == packet) {
            self.in_radio.swap_remove(at);
        }
    }

    fn on_routes(&mut self, next_hop: &mut dyn FnMut(NodeId) -> Option<NodeId>) {
        self.answer = None;
        self.destinations.set_routes(next_hop);
    }

    fn withdraw(&mut self, destination: NodeId) -> Option<Packet> {
        self.answer = None;
        if matches!(self.named, Some(Named::For(packet, _)) if packet.destination == destination) {
            self.named = None;
        }
        self.turn += 1;
        self.destinations.pop(destination, self.turn)
    }

    fn backlogs(&self, see: &mut dyn FnMut(NodeId, u32)) {
        self.destinations.iter().for_each(|queue| see(queue.destination, queue.len()));
    }

    fn backlog_to(&self, destination: NodeId, labelled: bool) -> QueueView {
        if self.free {
            return self.view();
        }
        if !labelled {
            let packets = self.plain.len() as u32;
            return QueueView { packets, bytes: self.plain_bytes, limit_packets: self.config.limit_packets };
        }
        let (packets, bytes) = self.destinations.view_of(destination);
        QueueView { packets, bytes, limit_packets: self.config.scheduler.quantiser.depth }
    }

    fn without_route(&self) -> u32 {
        self.destinations.without_route()
    }

    fn own_backlog_to(&self, destination: NodeId, labelled: bool) -> u32 {
        if labelled {
            self.destinations.own_of(destination)
        } else {
            self.plain.iter().filter(|(_, packet)| packet.own).count() as u32
        }
    }

    fn calls(&self) -> Calls {
        self.calls.as_ref().map_or_else(Calls::default, HeardCalls::last)
    }

    fn work(&self) -> u64 {
        self.backlogs.looked_at() + self.compared
    }
}
