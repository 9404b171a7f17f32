//! A queue for each neighbour, with the rate that the agent has set, and in it a queue for each flow, served in turn.
//!
//! As HTB with a class for each neighbour and `fq_codel`'s turns in each would do it in a kernel: a flow's packets do not wait behind those
//! of others that fill the same class. Over the limit the longest queue of a flow loses its first packet.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec;
use alloc::vec::Vec;

use airfair_units::{Bytes, Span, Time};

use crate::link_values::LinkValues;
use crate::places::{
    DropReason, Enqueued, FlowId, Head, LinkRate, NodeId, Packet, Priority, Queue, QueueContext, QueueView,
    Setting, WaitingQueue,
};

/// Bytes that a flow may send in its turn.
const QUANTUM: i64 = 1514;

/// Most neighbours with a rate: an agent has no more.
const MOST_RATES: usize = 64;

/// The packets of a flow to one neighbour.
#[derive(Debug, Clone)]
struct FlowQueue {
    flow: FlowId,
    packets: VecDeque<Packet>,
    deficit: i64,
}

/// The packets to a neighbour.
#[derive(Debug, Clone, Default)]
struct LinkQueue {
    /// Flows with packets, the one whose turn is first.
    flows: VecDeque<FlowQueue>,
}

impl LinkQueue {
    fn push(&mut self, packet: Packet) {
        match self.flows.iter_mut().find(|of| of.flow == packet.flow) {
            Some(of) => of.packets.push_back(packet),
            None => self.flows.push_back(FlowQueue {
                flow: packet.flow,
                packets: VecDeque::from([packet]),
                deficit: QUANTUM,
            }),
        }
    }

    fn pop(&mut self) -> Option<Packet> {
        loop {
            let first = self.flows.front_mut()?;
            if first.deficit <= 0 {
                first.deficit += QUANTUM;
                self.flows.rotate_left(1);
                continue;
            }
            let packet = first.packets.pop_front()?;
            first.deficit -= i64::from(packet.bytes);
            if first.packets.is_empty() {
                self.flows.pop_front();
            }
            return Some(packet);
        }
    }
}

/// A token bucket by the time at which it would be empty: a packet may leave when that is no more than the burst ahead.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    rate: LinkRate,
    empty_at: Time,
}

impl Bucket {
    /// The time from which on a packet may leave.
    fn ready_at(&self) -> Time {
        let burst = self.rate.rate.time_for(Bytes(self.rate.burst.into()));
        Time(self.empty_at.0.saturating_sub(burst.0))
    }

    /// With another rate from now on: what the packets that have left owe is a number of bytes.
    fn changed(self, rate: LinkRate, now: Time) -> Self {
        let owed = u128::from(self.empty_at.since(now).0) * u128::from(self.rate.rate.as_bps());
        let owed = owed / u128::from(rate.rate.as_bps().max(1));
        Self { rate, empty_at: now.saturating_add(Span(u64::try_from(owed).unwrap_or(u64::MAX))) }
    }

    /// After a packet of this size.
    fn charged(self, bytes: u32, now: Time) -> Self {
        let bytes = u64::from(bytes) + u64::from(self.rate.overhead);
        let time = self.rate.rate.time_for(Bytes(bytes));
        Self { empty_at: self.empty_at.max(now).saturating_add(time), ..self }
    }
}

/// The allocator's queue.
#[derive(Debug, Clone)]
pub struct AirtimeQueue {
    limit_packets: u32,
    links: BTreeMap<NodeId, LinkQueue>,
    /// Neighbours with packets, the one whose turn is first.
    turns: VecDeque<NodeId>,
    buckets: LinkValues<Bucket>,
    /// The packet that `peek` has named, and when.
    head: Option<(Packet, Time)>,
    packets: u32,
    bytes: u64,
}

impl AirtimeQueue {
    /// An empty queue that takes up to `limit_packets`.
    #[must_use]
    pub const fn new(limit_packets: u32) -> Self {
        Self {
            limit_packets,
            links: BTreeMap::new(),
            turns: VecDeque::new(),
            buckets: LinkValues::new(MOST_RATES),
            head: None,
            packets: 0,
            bytes: 0,
        }
    }

    /// The time from which on packets to a neighbour may leave.
    fn ready_at(&self, neighbour: NodeId) -> Time {
        self.buckets.get(neighbour).map_or(Time::ZERO, Bucket::ready_at)
    }

    fn next(&mut self, now: Time) -> Option<Packet> {
        for _ in 0..self.turns.len() {
            let neighbour = self.turns.pop_front()?;
            if self.ready_at(neighbour) > now {
                self.turns.push_back(neighbour);
                continue;
            }
            let Some(link) = self.links.get_mut(&neighbour) else { continue };
            let packet = link.pop();
            if link.flows.is_empty() {
                self.links.remove(&neighbour);
            } else {
                self.turns.push_back(neighbour);
            }
            return packet;
        }
        None
    }

    /// Removes the first packet of the flow with most bytes; of several the one whose turn is last.
    fn shed(&mut self) -> Option<Packet> {
        let in_turn =
            self.turns.iter().filter_map(|neighbour| Some((*neighbour, self.links.get(neighbour)?)));
        let lengths = in_turn.flat_map(|(neighbour, link)| {
            let bytes = |of: &FlowQueue| of.packets.iter().map(|packet| u64::from(packet.bytes)).sum::<u64>();
            link.flows.iter().enumerate().map(move |(at, of)| (bytes(of), neighbour, at))
        });
        let (_, neighbour, at) = lengths.max_by_key(|&(bytes, _, _)| bytes)?;
        let link = self.links.get_mut(&neighbour)?;
        let packet = link.flows[at].packets.pop_front();
        if link.flows[at].packets.is_empty() {
            link.flows.remove(at);
        }
        if link.flows.is_empty() {
            self.links.remove(&neighbour);
            self.turns.retain(|&of| of != neighbour);
        }
        packet
    }
}

impl Queue for AirtimeQueue {
    fn enqueue(&mut self, packet: Packet, _context: &mut QueueContext<'_>) -> Enqueued {
        if self.limit_packets == 0 {
            return Enqueued::Refused(DropReason::QUEUE_FULL);
        }
        if !self.links.contains_key(&packet.next_hop) {
            self.turns.push_back(packet.next_hop);
        }
        self.links.entry(packet.next_hop).or_default().push(packet);
        self.packets += 1;
        self.bytes += u64::from(packet.bytes);
        if self.packets <= self.limit_packets {
            return Enqueued::Stored;
        }
        let Some(gone) = self.shed() else { return Enqueued::Stored };
        self.packets -= 1;
        self.bytes -= u64::from(gone.bytes);
        if gone.id == packet.id {
            Enqueued::Refused(DropReason::QUEUE_FULL)
        } else {
            Enqueued::Displaced(gone.id, DropReason::QUEUE_FULL)
        }
    }

    fn peek(&mut self, context: &mut QueueContext<'_>) -> Option<Head> {
        if self.head.is_none() {
            self.head = self.next(context.now).map(|packet| (packet, context.now));
        }
        self.head.map(|(packet, _)| Head { packet, priority: Priority(0) })
    }

    fn commit(&mut self) -> Option<Packet> {
        let (packet, now) = self.head.take()?;
        if let Some(&bucket) = self.buckets.get(packet.next_hop) {
            self.buckets.set(packet.next_hop, bucket.charged(packet.bytes, now), |_| true);
        }
        self.packets -= 1;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    fn view(&self) -> QueueView {
        QueueView { packets: self.packets, bytes: self.bytes, limit_packets: self.limit_packets }
    }

    fn apply(&mut self, setting: Setting, now: Time) {
        let Setting::LinkRate { neighbour, rate } = setting else { return };
        if rate.rate.as_bps() == 0 {
            self.buckets.remove(neighbour);
            return;
        }
        let before = self.buckets.get(neighbour).copied();
        let bucket = before.map_or(Bucket { rate, empty_at: Time::ZERO }, |bucket| bucket.changed(rate, now));
        let waits = |of: NodeId| self.turns.contains(&of);
        self.buckets.set(neighbour, bucket, waits);
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        let waiting: u32 =
            self.links.values().flat_map(|link| &link.flows).map(|of| of.packets.len() as u32).sum();
        vec![("waiting", f64::from(waiting))]
    }

    fn show(&self, see: &mut dyn FnMut(&Packet)) {
        self.head.iter().for_each(|(packet, _)| see(packet));
        self.links.values().flat_map(|link| &link.flows).flat_map(|of| &of.packets).for_each(see);
    }
}

impl WaitingQueue for AirtimeQueue {
    fn wakes_at(&self, now: Time) -> Option<Time> {
        let waiting = self.turns.iter().map(|&neighbour| self.ready_at(neighbour));
        waiting.min().filter(|&at| at > now && self.head.is_none())
    }
}
