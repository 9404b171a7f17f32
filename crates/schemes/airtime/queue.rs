//! A queue for each neighbour, with the rate that the agent has set, and in it a queue for each flow, served in turn.
//!
//! As HTB with a class for each neighbour and `fq_codel`'s turns in each would do it in a kernel: a flow's packets do not wait behind those
//! of others that fill the same class. Over the limit the longest queue of a flow loses its first packet.

use alloc::collections::VecDeque;
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

impl FlowQueue {
    fn bytes(&self) -> u64 {
        self.packets.iter().map(|packet| u64::from(packet.bytes)).sum()
    }
}

/// The packets to a neighbour, one at least.
#[derive(Debug, Clone)]
struct LinkQueue {
    neighbour: NodeId,
    /// Flows with packets, the one whose turn is first.
    flows: VecDeque<FlowQueue>,
}

/// Room of queues that have become empty, for the next ones.
#[derive(Debug, Clone, Default)]
struct Spare {
    links: Vec<VecDeque<FlowQueue>>,
    flows: Vec<VecDeque<Packet>>,
}

impl LinkQueue {
    fn push(&mut self, packet: Packet, spare: &mut Spare) {
        if let Some(of) = self.flows.iter_mut().find(|of| of.flow == packet.flow) {
            of.packets.push_back(packet);
            return;
        }
        let mut packets = spare.flows.pop().unwrap_or_default();
        packets.push_back(packet);
        self.flows.push_back(FlowQueue { flow: packet.flow, packets, deficit: QUANTUM });
    }

    /// The next packet; none if there is none.
    fn pop(&mut self, spare: &mut Spare) -> Option<Packet> {
        loop {
            let first = self.flows.front_mut()?;
            if first.deficit <= 0 {
                first.deficit += QUANTUM;
                self.flows.rotate_left(1);
                continue;
            }
            let packet = first.packets.pop_front()?;
            first.deficit -= i64::from(packet.bytes);
            self.drop_empty(0, spare);
            return Some(packet);
        }
    }

    /// Removes a flow's queue if it is empty.
    fn drop_empty(&mut self, at: usize, spare: &mut Spare) {
        if self.flows[at].packets.is_empty()
            && let Some(of) = self.flows.remove(at)
        {
            spare.flows.push(of.packets);
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

/// The time from which on packets to a neighbour may leave.
fn ready_at(buckets: &LinkValues<Bucket>, neighbour: NodeId) -> Time {
    buckets.get(neighbour).map_or(Time::ZERO, Bucket::ready_at)
}

/// The allocator's queue.
#[derive(Debug, Clone)]
pub struct AirtimeQueue {
    limit_packets: u32,
    /// Queues with packets, the one whose turn is first.
    links: VecDeque<LinkQueue>,
    spare: Spare,
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
            links: VecDeque::new(),
            spare: Spare { links: Vec::new(), flows: Vec::new() },
            buckets: LinkValues::new(MOST_RATES),
            head: None,
            packets: 0,
            bytes: 0,
        }
    }

    fn next(&mut self, now: Time) -> Option<Packet> {
        for _ in 0..self.links.len() {
            let first = self.links.front_mut()?;
            let packet = if ready_at(&self.buckets, first.neighbour) > now {
                None
            } else {
                first.pop(&mut self.spare)
            };
            self.links.rotate_left(1);
            if packet.is_some() {
                self.drop_empty(self.links.len() - 1);
                return packet;
            }
        }
        None
    }

    /// Removes the queue of a link if it is empty.
    fn drop_empty(&mut self, at: usize) {
        if self.links[at].flows.is_empty()
            && let Some(of) = self.links.remove(at)
        {
            self.spare.links.push(of.flows);
        }
    }

    /// Removes the first packet of the flow with most bytes; of several the one whose turn is last.
    fn shed(&mut self) -> Option<Packet> {
        let lengths = self.links.iter().enumerate().flat_map(|(link, queue)| {
            queue.flows.iter().enumerate().map(move |(flow, of)| (of.bytes(), (link, flow)))
        });
        let (_, (link, flow)) = lengths.max_by_key(|&(bytes, _)| bytes)?;
        let packet = self.links[link].flows[flow].packets.pop_front();
        self.links[link].drop_empty(flow, &mut self.spare);
        self.drop_empty(link);
        packet
    }
}

impl Queue for AirtimeQueue {
    fn enqueue(&mut self, packet: Packet, _context: &mut QueueContext<'_>) -> Enqueued {
        if self.limit_packets == 0 {
            return Enqueued::Refused(DropReason::QUEUE_FULL);
        }
        let at = self.links.iter().position(|link| link.neighbour == packet.next_hop);
        let at = at.unwrap_or_else(|| {
            let flows = self.spare.links.pop().unwrap_or_default();
            self.links.push_back(LinkQueue { neighbour: packet.next_hop, flows });
            self.links.len() - 1
        });
        self.links[at].push(packet, &mut self.spare);
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
        let waits = |of: NodeId| self.links.iter().any(|link| link.neighbour == of);
        self.buckets.set(neighbour, bucket, waits);
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        let waiting: u32 =
            self.links.iter().flat_map(|link| &link.flows).map(|of| of.packets.len() as u32).sum();
        vec![("waiting", f64::from(waiting))]
    }

    fn show(&self, see: &mut dyn FnMut(&Packet)) {
        self.head.iter().for_each(|(packet, _)| see(packet));
        self.links.iter().flat_map(|link| &link.flows).flat_map(|of| &of.packets).for_each(see);
    }
}

impl WaitingQueue for AirtimeQueue {
    fn wakes_at(&self, now: Time) -> Option<Time> {
        let waiting = self.links.iter().map(|link| ready_at(&self.buckets, link.neighbour));
        waiting.min().filter(|&at| at > now && self.head.is_none())
    }
}
