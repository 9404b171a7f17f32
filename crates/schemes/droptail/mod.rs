//! Drop-tail: a first-in first-out queue that refuses packets that arrive when it is full.
//!
//! The baseline of all five papers. It fills one place, the queue, and has no parameter: the limit is the interface's
//! `queue_packets`.

use alloc::collections::VecDeque;

use crate::places::{DropReason, Enqueued, Head, Packet, Priority, Queue, QueueContext, QueueView};

/// A first-in first-out queue of bounded length.
#[derive(Debug)]
pub struct DropTail {
    packets: VecDeque<Packet>,
    bytes: u64,
    limit_packets: u32,
}

impl DropTail {
    /// An empty queue that takes up to `limit_packets`.
    #[must_use]
    pub const fn new(limit_packets: u32) -> Self {
        Self { packets: VecDeque::new(), bytes: 0, limit_packets }
    }
}

impl Queue for DropTail {
    #[inline]
    fn enqueue(&mut self, packet: Packet, _context: &mut QueueContext<'_>) -> Enqueued {
        if self.packets.len() >= self.limit_packets as usize {
            return Enqueued::Refused(DropReason::QUEUE_FULL);
        }
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
        Enqueued::Stored
    }

    #[inline]
    fn peek(&mut self, _context: &mut QueueContext<'_>) -> Option<Head> {
        self.packets.front().map(|&packet| Head { packet, priority: Priority(0) })
    }

    #[inline]
    fn commit(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front();
        self.bytes -= packet.map_or(0, |p| u64::from(p.bytes));
        packet
    }

    #[inline]
    fn pop(&mut self, _context: &mut QueueContext<'_>) -> Option<Packet> {
        self.commit()
    }

    fn tail_drop(&self) -> Option<u32> {
        Some(self.limit_packets)
    }

    fn show(&self, see: &mut dyn FnMut(&Packet)) {
        self.packets.iter().for_each(see);
    }

    #[inline]
    fn view(&self) -> QueueView {
        QueueView { packets: self.packets.len() as u32, bytes: self.bytes, limit_packets: self.limit_packets }
    }
}
