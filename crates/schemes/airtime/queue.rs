//! A queue for each neighbour, with the rate that the agent has set, and in it a queue for each flow, served in turn.
//!
//! As HTB with a class for each neighbour and `fq_codel`'s turns in each would do it in a kernel: a flow's packets do not wait behind those
//! of others that fill the same class. Over the limit the longest queue of a flow loses its first packet.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec;
use alloc::vec::Vec;

use airfair_units::{Bytes, Time};

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

    fn charge(&mut self, bytes: u32, now: Time) {
        let bytes = u64::from(bytes) + u64::from(self.rate.overhead);
        self.empty_at = self.empty_at.max(now).saturating_add(self.rate.rate.time_for(Bytes(bytes)));
    }
}

/// The allocator's queue.
#[derive(Debug, Clone)]
pub struct AirtimeQueue {
    limit_packets: u32,
    links: BTreeMap<NodeId, LinkQueue>,
    /// Neighbours with packets, the one whose turn is first.
    turns: VecDeque<NodeId>,
    buckets: BTreeMap<NodeId, Bucket>,
    /// The packet that `peek` has named.
    head: Option<Packet>,
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
            buckets: BTreeMap::new(),
            head: None,
            packets: 0,
            bytes: 0,
        }
    }

    /// The time from which on packets to a neighbour may leave.
    fn ready_at(&self, neighbour: NodeId) -> Time {
        self.buckets.get(&neighbour).map_or(Time::ZERO, Bucket::ready_at)
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
            if let (Some(packet), Some(bucket)) = (packet, self.buckets.get_mut(&neighbour)) {
                bucket.charge(packet.bytes, now);
            }
            return packet;
        }
        None
    }

    /// Removes the first packet of the longest queue of a flow.
    fn shed(&mut self) -> Option<Packet> {
        let lengths = self.links.iter().flat_map(|(&neighbour, link)| {
            link.flows.iter().map(move |of| (of.packets.len(), neighbour, of.flow))
        });
        let (_, neighbour, flow) = lengths.max()?;
        let link = self.links.get_mut(&neighbour)?;
        let at = link.flows.iter().position(|of| of.flow == flow)?;
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
            self.head = self.next(context.now);
        }
        self.head.map(|packet| Head { packet, priority: Priority(0) })
    }

    fn commit(&mut self) -> Option<Packet> {
        let packet = self.head.take()?;
        self.packets -= 1;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    fn view(&self) -> QueueView {
        QueueView { packets: self.packets, bytes: self.bytes, limit_packets: self.limit_packets }
    }

    fn apply(&mut self, setting: Setting, _now: Time) {
        let Setting::LinkRate { neighbour, rate } = setting else { return };
        if rate.rate.as_bps() == 0 {
            self.buckets.remove(&neighbour);
            return;
        }
        let room = self.buckets.len() < MOST_RATES;
        if let Some(bucket) = self.buckets.get_mut(&neighbour) {
            bucket.rate = rate;
        } else if room {
            self.buckets.insert(neighbour, Bucket { rate, empty_at: Time::ZERO });
        }
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        let waiting: u32 =
            self.links.values().flat_map(|link| &link.flows).map(|of| of.packets.len() as u32).sum();
        vec![("waiting", f64::from(waiting))]
    }

    fn show(&self, see: &mut dyn FnMut(&Packet)) {
        self.head.iter().for_each(&mut *see);
        self.links.values().flat_map(|link| &link.flows).flat_map(|of| &of.packets).for_each(see);
    }
}

impl WaitingQueue for AirtimeQueue {
    fn wakes_at(&self, now: Time) -> Option<Time> {
        let waiting = self.turns.iter().map(|&neighbour| self.ready_at(neighbour));
        waiting.min().filter(|&at| at > now && self.head.is_none())
    }
}
