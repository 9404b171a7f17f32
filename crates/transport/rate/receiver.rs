//! The receiver: what has arrived, in order and beyond gaps.

use alloc::collections::VecDeque;

use airfair_units::Time;
use airfair_wire::rate::{Arrivals, Block, Data};

use super::MOST_OUTSTANDING;

/// A datagram at the receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrived {
    /// It had not arrived before.
    pub new: bool,
    /// Bytes that are in order now and were not before, for the application.
    pub delivered: u64,
}

/// A datagram that has not arrived.
const MISSING: u32 = u32::MAX;

/// The receiver of a flow: data reach the application in order, once.
#[derive(Debug, Default)]
pub struct Receiver {
    /// Number of the first datagram that has not arrived.
    next: u32,
    /// Bytes of the datagrams from `next` on, [`MISSING`] where one has not arrived; empty, or the first is missing and the last is not.
    ahead: VecDeque<u32>,
    /// Time stamp and time of the last arrival.
    last: (u32, Time),
    duplicates: u64,
}

impl Receiver {
    /// Datagrams that arrived although they had arrived before.
    #[must_use]
    pub const fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// A datagram arrives, in whatever order the network delivers. One further beyond the first gap than a sender may be is ignored.
    pub fn on_data(&mut self, Data { number, sent }: Data, bytes: u32, now: Time) -> Arrived {
        let bytes = bytes.min(MISSING - 1);
        let beyond = number.wrapping_sub(self.next);
        let nothing = Arrived { new: false, delivered: 0 };
        if beyond >= 1 << 31 {
            self.last = (sent, now);
            self.duplicates += 1;
            return nothing;
        }
        let place = beyond as usize;
        if place >= MOST_OUTSTANDING {
            return nothing;
        }
        self.last = (sent, now);
        if place > 0 || !self.ahead.is_empty() {
            if self.ahead.len() <= place {
                self.ahead.resize(place + 1, MISSING);
            }
            if self.ahead[place] != MISSING {
                self.duplicates += 1;
                return nothing;
            }
            self.ahead[place] = bytes;
            let mut delivered = 0;
            while let Some(bytes) = self.ahead.front().copied().filter(|&bytes| bytes != MISSING) {
                self.ahead.pop_front();
                self.next = self.next.wrapping_add(1);
                delivered += u64::from(bytes);
            }
            return Arrived { new: true, delivered };
        }
        self.next = self.next.wrapping_add(1);
        Arrived { new: true, delivered: u64::from(bytes) }
    }

    /// The arrivals for the front of a report, of which they may have `room` bytes; where a map is too short for them, those for the front
    /// of further ones, by `part` from 0 on; `None`: there are no more. The time since the last one is cut at 2^32 - 1 µs.
    #[must_use]
    pub fn arrivals(&self, part: usize, room: usize, now: Time) -> Option<Arrivals> {
        let (sent, at) = self.last;
        let held = u32::try_from(now.since(at).as_nanos() / 1000).unwrap_or(u32::MAX);
        let blocks = Blocks { next: self.next, ahead: &self.ahead, at: 0 };
        if let Some(arrivals) = Arrivals::with_blocks(self.next, sent, held, room, blocks) {
            return (part == 0).then_some(arrivals);
        }
        // The first missing one needs no bit. What a report has no room for, the next one has.
        let first = 1 + part * Arrivals::MOST_MAP * 8;
        let count = self.ahead.len().checked_sub(first).filter(|&count| count > 0)?;
        let from = self.next.wrapping_add(first as u32);
        let arrived = |at: usize| self.ahead.get(first + at).is_some_and(|&bytes| bytes != MISSING);
        Some(Arrivals::with_map((self.next, sent, held), room, (from, count), arrived))
    }
}

/// The blocks of datagrams beyond the first missing one.
#[derive(Clone, Copy)]
struct Blocks<'a> {
    next: u32,
    ahead: &'a VecDeque<u32>,
    at: usize,
}

impl Iterator for Blocks<'_> {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        let arrived = |at: usize| self.ahead.get(at).is_some_and(|&bytes| bytes != MISSING);
        let first = (self.at..self.ahead.len()).find(|&at| arrived(at))?;
        let end = (first..self.ahead.len()).find(|&at| !arrived(at)).unwrap_or(self.ahead.len());
        self.at = end;
        let number = |at: usize| self.next.wrapping_add(at as u32);
        Some(Block { first: number(first), end: number(end) })
    }
}
