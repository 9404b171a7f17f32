//! A timing wheel for the near future with a heap for the rest, in exactly the order of a heap.
//!
//! 4,096 buckets of 2^13 ns (8 us, about a slot of 802.11g) cover 33 ms: frames, time-outs and back-offs fall inside. A bucket is
//! a list in a slab. When the wheel reaches a bucket, its events move to a small heap, `current`, which sorts them; events
//! pushed for that bucket or before go there directly. Events beyond the horizon wait in `far` and are compared at every
//! pop instead of being moved.

use super::Pending;
use super::heap::Heap4;
use crate::event::Event;

const BUCKET_BITS: u32 = 13;
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
    /// Time of the first event in `far`, the largest number if there is none.
    far_time: u64,
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
            far_time: u64::MAX,
        }
    }
}

impl Wheel {
    /// The next occupied bucket after the current one, as an absolute number.
    #[inline(always)]
    fn next_bucket(&self) -> Option<u64> {
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
            // No bit is set in the summary of an empty wheel: there is no such word.
            w * 64 + self.occupied.get(w)?.trailing_zeros() as usize
        };
        let ahead = (found.wrapping_sub(here)) & (BUCKETS - 1);
        Some(self.bucket + ahead as u64)
    }

    /// The wheel turns to a bucket, whose events have been or will be taken out.
    #[inline(always)]
    fn leave(&mut self, bucket: u64, index: usize) {
        self.bucket = bucket;
        self.heads[index] = NONE;
        let word = &mut self.occupied[index / 64];
        *word &= !(1 << (index % 64));
        if *word == 0 {
            self.summary &= !(1 << (index / 64));
        }
    }

    /// Moves the next occupied bucket into `current`.
    #[inline]
    fn advance(&mut self, mut soon: impl FnMut(&[Event])) -> bool {
        let Some(bucket) = self.next_bucket() else { return false };
        let index = (bucket as usize) & (BUCKETS - 1);
        let mut at = self.heads[index];
        self.leave(bucket, index);
        while at != NONE {
            let Slot { event, next } = self.slots[at as usize];
            self.slots[at as usize].next = self.free;
            self.free = at;
            self.current.push(event);
            at = next;
        }
        soon(self.current.events());
        true
    }

    /// Whether the next event lies in `far`; `None` if there is no event.
    #[inline(always)]
    fn next_is_far(&mut self, mut soon: impl FnMut(&[Event])) -> Option<bool> {
        loop {
            if let Some(near) = self.current.first() {
                if near.time != self.far_time {
                    return Some(self.far_time < near.time);
                }
                return Some(self.far.first().is_some_and(|far| far.key() < near.key()));
            }
            if !self.advance(&mut soon) {
                return if self.far.first().is_some() { Some(true) } else { None };
            }
        }
    }

    /// Makes room for more events; the free list was empty.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let first = self.slots.len();
        let more = first.max(64);
        self.slots.extend((1..=more).map(|i| Slot { event: Event::NONE, next: (first + i) as u32 }));
        if let Some(last) = self.slots.last_mut() {
            last.next = NONE;
        }
        self.free = first as u32;
    }

    #[cold]
    #[inline(never)]
    fn push_far(&mut self, event: Event) {
        self.far.push(event);
        self.far_time = self.far.first().map_or(u64::MAX, |e| e.time);
    }

    /// An event for the bucket that is being emptied, or before it.
    #[inline(never)]
    fn push_current(&mut self, event: Event) {
        self.current.push(event);
    }

    #[cold]
    #[inline(never)]
    fn pop_far(&mut self, limit: u64) -> Option<Event> {
        let event = self.far.pop_before(limit, |_| {});
        if let Some(event) = event
            && self.summary == 0
            && self.current.is_empty()
        {
            // The wheel is empty: it turns to the present, so that what follows finds it near.
            self.bucket = event.time >> BUCKET_BITS;
        }
        self.far_time = self.far.first().map_or(u64::MAX, |e| e.time);
        event
    }
}

impl Pending for Wheel {
    #[inline(always)]
    fn push(&mut self, event: Event) {
        let bucket = event.time >> BUCKET_BITS;
        if bucket <= self.bucket {
            self.push_current(event);
        } else if bucket - self.bucket < BUCKETS as u64 {
            if self.free == NONE {
                self.grow();
            }
            let index = (bucket as usize) & (BUCKETS - 1);
            let at = self.free;
            let place = &mut self.slots[at as usize];
            self.free = place.next;
            *place = Slot { event, next: self.heads[index] };
            self.heads[index] = at;
            self.occupied[index / 64] |= 1 << (index % 64);
            self.summary |= 1 << (index / 64);
        } else {
            self.push_far(event);
        }
    }

    #[inline(always)]
    fn pop_before(&mut self, limit: u64, soon: impl FnMut(&[Event])) -> Option<Event> {
        // The usual case first: the next bucket holds one event, and it is the next of all.
        if self.current.is_empty()
            && let Some(bucket) = self.next_bucket()
        {
            let index = (bucket as usize) & (BUCKETS - 1);
            let at = self.heads[index];
            if let Some(slot) = self.slots.get_mut(at as usize)
                && slot.next == NONE
                && slot.event.time < self.far_time
            {
                if slot.event.time >= limit {
                    return None;
                }
                slot.next = self.free;
                self.free = at;
                self.leave(bucket, index);
                return Some(self.slots[at as usize].event);
            }
        }
        if self.next_is_far(soon)? { self.pop_far(limit) } else { self.current.pop_before(limit, |_| {}) }
    }

    #[inline]
    fn next_time(&mut self) -> Option<u64> {
        let far = self.next_is_far(|_| {})?;
        if far { Some(self.far_time) } else { self.current.next_time() }
    }

    fn len(&self) -> usize {
        let mut free = 0;
        let mut at = self.free;
        while let Some(slot) = self.slots.get(at as usize) {
            free += 1;
            at = slot.next;
        }
        self.current.len() + self.far.len() + self.slots.len() - free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A long silence ends with an event from beyond the horizon: what follows it is near, and must not wait in the heap.
    #[test]
    fn after_a_long_silence_the_wheel_is_used_again() {
        let event = |time| Event { time, ..Event::NONE };
        let mut wheel = Wheel::default();
        wheel.push(event(1_000_000_000));
        assert_eq!(wheel.far.len(), 1);
        assert_eq!(wheel.pop().map(|e| e.time), Some(1_000_000_000));
        wheel.push(event(1_000_300_000));
        assert!(wheel.far.is_empty());
        assert_eq!(wheel.pop().map(|e| e.time), Some(1_000_300_000));
        assert!(wheel.is_empty());
    }
}
