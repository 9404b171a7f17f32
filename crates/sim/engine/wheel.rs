//! A timing wheel for the near future with a heap for the rest, in exactly the order of a heap.
//!
//! 4,096 buckets of 2^14 ns (16 us, about a slot) cover 67 ms: frames, time-outs and back-offs fall inside. A bucket is
//! a list in a slab. When the wheel reaches a bucket, its events move to a small heap, `current`, which sorts them; events
//! pushed for that bucket or before go there directly. Events beyond the horizon wait in `far` and are compared at every
//! pop instead of being moved.

use super::heap::Heap4;
use super::{Event, Pending};

const BUCKET_BITS: u32 = 14;
const BUCKETS: usize = 4096;
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Slot {
    event: Event,
    next: u32,
}

/// The event queue that the simulator uses.
#[derive(Debug)]
pub struct Wheel {
    heads: Box<[u32; BUCKETS]>,
    /// A bit for each bucket that holds events, and a bit for each such word.
    occupied: [u64; BUCKETS / 64],
    summary: u64,
    slots: Vec<Slot>,
    free: u32,
    /// Absolute number of the bucket that `current` stands for.
    bucket: u64,
    current: Heap4,
    far: Heap4,
    len: usize,
}

impl Default for Wheel {
    fn default() -> Self {
        Self {
            heads: Box::new([NONE; BUCKETS]),
            occupied: [0; BUCKETS / 64],
            summary: 0,
            slots: Vec::new(),
            free: NONE,
            bucket: 0,
            current: Heap4::default(),
            far: Heap4::default(),
            len: 0,
        }
    }
}

impl Wheel {
    /// The next occupied bucket after the current one, as an absolute number.
    #[inline]
    fn next_bucket(&self) -> Option<u64> {
        if self.summary == 0 {
            return None;
        }
        let here = (self.bucket as usize) & (BUCKETS - 1);
        let start = (here + 1) & (BUCKETS - 1);
        let (word, bit) = (start / 64, start % 64);
        // The rest of the first word, then whole words round the wheel by the summary.
        let rest = self.occupied[word] & (!0u64 << bit);
        let found = if rest != 0 {
            word * 64 + rest.trailing_zeros() as usize
        } else {
            let later = if word == 63 { 0 } else { self.summary & (!0u64 << (word + 1)) };
            let w = if later != 0 { later.trailing_zeros() } else { self.summary.trailing_zeros() } as usize;
            w * 64 + self.occupied[w].trailing_zeros() as usize
        };
        let ahead = (found.wrapping_sub(here)) & (BUCKETS - 1);
        Some(self.bucket + ahead as u64)
    }

    /// Moves the next occupied bucket into `current`.
    #[inline]
    fn advance(&mut self) -> bool {
        let Some(bucket) = self.next_bucket() else { return false };
        self.bucket = bucket;
        let index = (bucket as usize) & (BUCKETS - 1);
        let mut at = self.heads[index];
        self.heads[index] = NONE;
        self.occupied[index / 64] &= !(1 << (index % 64));
        if self.occupied[index / 64] == 0 {
            self.summary &= !(1 << (index / 64));
        }
        while at != NONE {
            let Slot { event, next } = self.slots[at as usize];
            self.slots[at as usize].next = self.free;
            self.free = at;
            self.current.push(event);
            at = next;
        }
        true
    }

    /// Whether the next event lies in `far`; `None` if there is no event.
    #[inline]
    fn next_is_far(&mut self) -> Option<bool> {
        if self.current.first().is_none() {
            self.advance();
        }
        match (self.current.first(), self.far.first()) {
            (Some(near), Some(far)) => Some(far.key() < near.key()),
            (Some(_), None) => Some(false),
            (None, Some(_)) => Some(true),
            (None, None) => None,
        }
    }
}

impl Pending for Wheel {
    #[inline]
    fn push(&mut self, event: Event) {
        self.len += 1;
        let bucket = event.time >> BUCKET_BITS;
        if bucket <= self.bucket {
            self.current.push(event);
        } else if bucket - self.bucket < BUCKETS as u64 {
            let index = (bucket as usize) & (BUCKETS - 1);
            let slot = Slot { event, next: self.heads[index] };
            let at = if self.free == NONE {
                self.slots.push(slot);
                (self.slots.len() - 1) as u32
            } else {
                let at = self.free;
                self.free = self.slots[at as usize].next;
                self.slots[at as usize] = slot;
                at
            };
            self.heads[index] = at;
            self.occupied[index / 64] |= 1 << (index % 64);
            self.summary |= 1 << (index / 64);
        } else {
            self.far.push(event);
        }
    }

    #[inline]
    fn pop_before(&mut self, limit: u64) -> Option<Event> {
        let far = self.next_is_far()?;
        let event = if far { self.far.pop_before(limit) } else { self.current.pop_before(limit) };
        self.len -= usize::from(event.is_some());
        event
    }

    #[inline]
    fn next_time(&mut self) -> Option<u64> {
        let far = self.next_is_far()?;
        if far { self.far.next_time() } else { self.current.next_time() }
    }

    fn len(&self) -> usize {
        self.len
    }
}
