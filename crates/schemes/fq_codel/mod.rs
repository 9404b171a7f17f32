//! FQ-CoDel: a queue per flow, served in turn by bytes, flows with little to send first, with CoDel in each.
//!
//! RFC 8290 (Høiland-Jørgensen, `McKenney`, Täht, Gettys, Dumazet, "The Flow Queue CoDel Packet Scheduler and Active Queue
//! Management Algorithm", 2018), section 4. It fills one place, the queue; its limit is the interface's `queue_packets`.
//!
//! | symbol | here | unit | default |
//! |---|---|---|---|
//! | flows | `flows` | queues | 1024 |
//! | quantum | `quantum` | bytes | 1514 |
//! | drop batch | `drop_batch` | packets | 64 |
//! | deficit | the bytes that a queue may still send in this round | bytes | starts at a quantum |
//! | TARGET, INTERVAL, MAXPACKET | `target`, `interval`, `mtu` | | those of CoDel |
//!
//! - A packet joins the queue that the hash of its flow selects; an inactive queue becomes the last of the new ones, with
//!   a deficit of one quantum (section 4.1).
//! - Over the limit, packets are dropped from the head of the queue with most bytes, until half of its bytes or a batch
//!   of packets are gone (section 4.1; the loop is Linux's).
//! - The first of the new queues is served, or the first of the old ones if there are none. Without a positive deficit it
//!   gets a quantum and becomes the last of the old ones. Its packets leave through CoDel. When it is empty, a new
//!   queue becomes the last of the old ones, an old one inactive (section 4.2).
//!
//! Readings:
//! - A flow is the pair of flow and destination, so that data and acknowledgements of one connection are two, as with the
//!   RFC's five-tuple. The hash is salted with 64 bits that the first packet draws.
//! - CoDel's test for a small queue counts the bytes of the flow's own queue, as in the RFC; Linux counts all of them.
//! - A packet's turn and CoDel's verdict are decided when `peek` first names it; it stays the head until `commit`, and a
//!   packet that is put back is neither judged nor charged again.
//! - `ecn` is off by default, as in CoDel; Linux has it on.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use airfair_units::random::Stream;
use airfair_units::{Bytes, Time};

use crate::codel::{self, CoDelParameters};
use crate::params;
use crate::params::{ParamError, Params};
use crate::places::{
    DropReason, Ecn, Enqueued, Head, Packet, Priority, Queue, QueueContext, QueueEffects, QueueView, Verdict,
};

params! {
    /// The parameters of FQ-CoDel.
    pub(crate) struct FqCoDelParameters {
        ..codel: CoDelParameters;
        /// queues that flows are hashed to; flows of one queue share its service (RFC 8290 section 5.2)
        paper flows: u64 = 1024, in 1..=65_536;
        /// bytes that a queue may send in a round (RFC 8290 section 5.2); smaller values favour small packets
        paper quantum: Bytes = Bytes(1514), in Bytes(64)..=Bytes(1 << 20);
        /// most packets dropped at once from the longest queue when all of them are over the limit; 1 drops as drop-tail does
        paper drop_batch: u64 = 64, in 1..=65_536;
    }
}

/// Packets and bytes that are stored.
#[derive(Debug, Clone, Copy, Default)]
struct Stored {
    packets: u32,
    bytes: u64,
}

impl Stored {
    fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.bytes);
    }

    fn remove(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.bytes);
    }
}

/// The queue of the flows of one hash value.
#[derive(Debug, Clone, Default)]
struct FlowQueue {
    packets: VecDeque<Packet>,
    /// The sum of their bytes.
    bytes: u64,
    /// Bytes that it may send before its turn ends; below zero by less than a packet.
    deficit: i64,
    /// The queue is in one of the two lists.
    active: bool,
    codel: codel::State,
}

impl FlowQueue {
    fn push(&mut self, packet: Packet) {
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
    }

    fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }
}

/// The queue of FQ-CoDel.
#[derive(Debug, Clone)]
pub struct FqCoDel {
    settings: CoDelParameters,
    flows: u32,
    /// Bytes a round.
    quantum: i64,
    /// Packets at most in one drop.
    drop_batch: usize,
    limit_packets: u32,
    /// The salt of the hash, drawn by the first packet.
    salt: Option<u64>,
    /// For each hash value the index of its queue, once a packet has arrived.
    buckets: Vec<Option<u32>>,
    queues: Vec<FlowQueue>,
    /// Queues that became active in this round, and the others that are active.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    /// The packet that `peek` has named.
    head: Option<Packet>,
    /// All packets, the head included.
    stored: Stored,
}

impl FqCoDel {
    /// An empty queue that takes up to `limit_packets`.
    ///
    /// # Errors
    /// A parameter out of its range.
    pub fn from_params(params: &Params, limit_packets: u32) -> Result<Self, ParamError> {
        let set = FqCoDelParameters::read(params)?;
        Ok(Self {
            settings: set.codel.checked()?,
            flows: set.flows as u32,
            quantum: set.quantum.get() as i64,
            drop_batch: set.drop_batch as usize,
            limit_packets,
            salt: None,
            buckets: Vec::new(),
            queues: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            head: None,
            stored: Stored::default(),
        })
    }

    /// The same settings, empty, for another interface.
    pub(crate) fn for_limit(&self, limit_packets: u32) -> Self {
        Self { limit_packets, ..self.clone() }
    }

    /// The index of the queue of a packet's flow; the first packet of a hash value creates the queue.
    fn queue_of(&mut self, packet: &Packet, random: &mut Stream) -> u32 {
        let salt = *self.salt.get_or_insert_with(|| random.next_u64());
        if self.buckets.is_empty() {
            self.buckets = vec![None; self.flows as usize];
        }
        let hash = mix(salt ^ (u64::from(packet.flow.0) << 32 | u64::from(packet.destination.0)));
        let bucket = &mut self.buckets[(hash % u64::from(self.flows)) as usize];
        *bucket.get_or_insert_with(|| {
            self.queues.push(FlowQueue::default());
            self.queues.len() as u32 - 1
        })
    }

    /// Drops from the head of the queue with most bytes; of two equal ones from the one whose turn comes first.
    fn shed(&mut self, out: &mut QueueEffects) {
        let mut fattest = None;
        let mut most = 0;
        for &i in self.new.iter().chain(&self.old) {
            let bytes = self.queues[i as usize].bytes;
            if fattest.is_none() || bytes > most {
                fattest = Some(i);
                most = bytes;
            }
        }
        let Some(i) = fattest else { return };
        let queue = &mut self.queues[i as usize];
        let keep = most - most / 2;
        for _ in 0..self.drop_batch {
            let Some(packet) = queue.pop() else { return };
            self.stored.remove(&packet);
            out.dropped.push((packet.id, DropReason::QUEUE_FULL));
            if queue.bytes <= keep {
                return;
            }
        }
    }

    /// Removes the next packet from its queue. Packets that CoDel drops or marks on the way are named among the effects.
    fn dequeue(&mut self, now: Time, out: &mut QueueEffects) -> Option<Packet> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let i = *list.front()?;
            let queue = &mut self.queues[i as usize];
            if queue.deficit <= 0 {
                queue.deficit += self.quantum;
                list.pop_front();
                self.old.push_back(i);
                continue;
            }
            let Some(mut packet) = queue.pop() else {
                list.pop_front();
                queue.active = is_new;
                if is_new {
                    self.old.push_back(i);
                }
                continue;
            };
            match queue.codel.decide(&self.settings, &packet, queue.bytes, now) {
                Verdict::Pass | Verdict::Echo(_) => {}
                Verdict::Mark(reason) => {
                    packet.ecn = Ecn::Ce;
                    out.marked.push((packet.id, reason));
                }
                Verdict::Drop(reason) => {
                    self.stored.remove(&packet);
                    out.dropped.push((packet.id, reason));
                    continue;
                }
            }
            queue.deficit -= i64::from(packet.bytes);
            return Some(packet);
        }
    }
}

impl Queue for FqCoDel {
    fn enqueue(&mut self, packet: Packet, context: &mut QueueContext<'_>) -> Enqueued {
        let i = self.queue_of(&packet, context.random);
        let queue = &mut self.queues[i as usize];
        queue.push(packet);
        self.stored.add(&packet);
        if !queue.active {
            queue.active = true;
            queue.deficit = self.quantum;
            self.new.push_back(i);
        }
        if self.stored.packets > self.limit_packets {
            self.shed(context.out);
            // The arrival is the last of its queue: if that is empty now, it was dropped last.
            if self.queues[i as usize].packets.is_empty() {
                context.out.dropped.pop();
                return Enqueued::Refused(DropReason::QUEUE_FULL);
            }
        }
        Enqueued::Stored
    }

    fn peek(&mut self, context: &mut QueueContext<'_>) -> Option<Head> {
        if self.head.is_none() {
            self.head = self.dequeue(context.now, context.out);
        }
        self.head.map(|packet| Head { packet, priority: Priority(0) })
    }

    fn commit(&mut self) -> Option<Packet> {
        let packet = self.head.take()?;
        self.stored.remove(&packet);
        Some(packet)
    }

    fn show(&self, see: &mut dyn FnMut(&Packet)) {
        self.queues.iter().flat_map(|queue| &queue.packets).chain(&self.head).for_each(see);
    }

    fn view(&self) -> QueueView {
        QueueView {
            packets: self.stored.packets,
            bytes: self.stored.bytes,
            limit_packets: self.limit_packets,
        }
    }
}

/// The finaliser of `SplitMix64` (Steele, Lea, Flood, 2014): every bit of the input moves half of the output's.
const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    /// The published first numbers of `SplitMix64` for the seeds 0 and 1234567: the finaliser applied to seed plus golden ratio.
    #[test]
    fn the_hash_is_the_published_one() {
        let golden = 0x9e37_79b9_7f4a_7c15_u64;
        assert_eq!(super::mix(golden), 0xe220_a839_7b1d_cdaf);
        assert_eq!(super::mix(1_234_567 + golden), 6_457_827_717_110_365_317);
    }
}
