//! A timing wheel for the near future with a heap for the rest; its order is exactly that of a heap.
//!
//! 4,096 buckets of 2^13 ns (8 us, about a slot of 802.11g) cover 33 ms: most frames, time-outs and back-offs. A bucket is a list in a
//! slab. When the wheel reaches a bucket, its events move to a small heap, `current`, which sorts them; events pushed for that bucket or an
//! earlier time go there directly. Events beyond the horizon are kept in `far` and compared at every pop instead of being moved.

use super::heap::Heap4;
use super::{EventOwner, EventQueue, NoDeferral};
use crate::event::Event;

const BUCKET_BITS: u32 = 13;
const BUCKETS: usize = 4096;
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Place {
    event: Event,
    next: u32,
}

/// Bitmap of occupied buckets, and a bitmap of its non-zero words.
#[derive(Debug)]
struct Occupied {
    words: [u64; BUCKETS / 64],
    summary: u64,
}

impl Occupied {
    #[inline(always)]
    fn set(&mut self, index: usize) {
        self.words[index / 64] |= 1 << (index % 64);
        self.summary |= 1 << (index / 64);
    }

    #[inline(always)]
    fn clear(&mut self, index: usize) {
        let word = &mut self.words[index / 64];
        *word &= !(1 << (index % 64));
        if *word == 0 {
            self.summary &= !(1 << (index / 64));
        }
    }

    /// The next occupied bucket after an empty one, in circular order; none if all are empty.
    #[inline(always)]
    fn next_after(&self, here: usize) -> Option<usize> {
        let word = here / 64;
        // The rest of its word, then whole words by the summary, the first word last.
        let rest = self.words[word] & (!1 << (here % 64));
        let found = if rest != 0 {
            word * 64 + rest.trailing_zeros() as usize
        } else {
            let later = self.summary & (!1 << word);
            let w = if later != 0 { later.trailing_zeros() } else { self.summary.trailing_zeros() } as usize;
            // The summary of an empty wheel has no bit: there is no such word.
            w * 64 + self.words.get(w)?.trailing_zeros() as usize
        };
        Some(found % BUCKETS)
    }
}

/// Bucket of a time, if it is later than the present one (`now`, an absolute number) and within the horizon.
#[inline(always)]
fn bucket_for(time: u64, now: u64) -> Option<usize> {
    let bucket = time >> BUCKET_BITS;
    // One comparison suffices, since earlier numbers wrap round.
    (bucket.wrapping_sub(now).wrapping_sub(1) < BUCKETS as u64 - 1).then_some(bucket as usize % BUCKETS)
}

/// The event queue that the simulator uses.
#[derive(Debug)]
pub struct Wheel {
    heads: [u32; BUCKETS],
    occupied: Occupied,
    places: Vec<Place>,
    /// First place without an event: there is always one, in which the next pushed event is built.
    free: u32,
    /// Absolute number of the bucket that `current` holds.
    bucket: u64,
    current: Heap4,
    far: Heap4,
    /// Time of the first event in `far`, `u64::MAX` if there is none.
    far_time: u64,
}

impl Default for Wheel {
    fn default() -> Self {
        let mut wheel = Self {
            heads: [NONE; BUCKETS],
            occupied: Occupied { words: [0; BUCKETS / 64], summary: 0 },
            places: Vec::new(),
            free: NONE,
            bucket: 0,
            current: Heap4::default(),
            far: Heap4::default(),
            far_time: u64::MAX,
        };
        wheel.grow();
        wheel
    }
}

impl Wheel {
    /// The next occupied bucket after the current one.
    #[inline(always)]
    fn next_bucket(&self) -> Option<usize> {
        self.occupied.next_after(self.bucket as usize % BUCKETS)
    }

    /// Moves the next occupied bucket into `current`.
    #[inline]
    fn advance(&mut self, owner: &impl EventOwner) -> bool {
        let Some(index) = self.next_bucket() else { return false };
        let mut at = std::mem::replace(&mut self.heads[index], NONE);
        self.occupied.clear(index);
        while at != NONE {
            let Place { event, next } = self.places[at as usize];
            self.bucket = event.time >> BUCKET_BITS;
            self.places[at as usize].next = self.free;
            self.free = at;
            self.current.push(event);
            at = next;
        }
        owner.prefetch(self.current.events());
        true
    }

    /// True if the next event is in `far`; `None` if there is no event.
    #[inline(always)]
    fn next_is_far(&mut self, owner: &impl EventOwner) -> Option<bool> {
        loop {
            if let Some(near) = self.current.first() {
                if near.time != self.far_time {
                    return Some(self.far_time < near.time);
                }
                return Some(self.far.first().is_some_and(|far| far.key() < near.key()));
            }
            if !self.advance(owner) {
                return if self.far.first().is_some() { Some(true) } else { None };
            }
        }
    }

    /// Adds places for more events when no place is free.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let first = self.places.len();
        let more = first.max(64);
        self.places.extend((1..=more).map(|i| Place { event: Event::NONE, next: (first + i) as u32 }));
        if let Some(last) = self.places.last_mut() {
            last.next = NONE;
        }
        self.free = first as u32;
    }

    #[cold]
    #[inline(never)]
    fn push_far(&mut self, at: u32) {
        self.far.push(self.places[at as usize].event);
        self.far_time = self.far.first().map_or(u64::MAX, |e| e.time);
    }

    /// Moves the event in a free place to `current` or `far`: its bucket is the present one, an earlier one, or beyond the horizon.
    #[inline(never)]
    fn push_outside_bucket(&mut self, at: u32) {
        let event = &self.places[at as usize].event;
        if event.time >> BUCKET_BITS <= self.bucket {
            self.current.push(*event);
        } else {
            self.push_far(at);
        }
    }

    #[cold]
    #[inline(never)]
    fn pop_far(&mut self, limit: u64) -> Option<Event> {
        let event = self.far.pop_before(limit);
        if let Some(event) = event
            && self.occupied.summary == 0
            && self.current.is_empty()
        {
            // The wheel is empty: it advances to the present, so that later events are near.
            self.bucket = event.time >> BUCKET_BITS;
        }
        self.far_time = self.far.first().map_or(u64::MAX, |e| e.time);
        event
    }
}

impl EventQueue for Wheel {
    #[inline(always)]
    fn push(&mut self, event: Event) {
        let at = self.free;
        let place = &mut self.places[at as usize];
        place.event = event;
        let Some(index) = bucket_for(event.time, self.bucket) else { return self.push_outside_bucket(at) };
        self.free = place.next;
        place.next = std::mem::replace(&mut self.heads[index], at);
        self.occupied.set(index);
        if self.free == NONE {
            self.grow();
        }
    }

    fn pop_before(&mut self, limit: u64) -> Option<Event> {
        self.pop_due(limit, &mut NoDeferral)
    }

    #[inline(always)]
    fn pop_due(&mut self, limit: u64, owner: &mut impl EventOwner) -> Option<Event> {
        loop {
            // The common case first: the next bucket holds one event, which is the next of all.
            if self.current.is_empty()
                && let Some(index) = self.next_bucket()
            {
                let at = self.heads[index];
                if let Some(place) = self.places.get_mut(at as usize)
                    && place.next == NONE
                    && place.event.time < self.far_time
                {
                    let event = place.event;
                    if event.time >= limit {
                        return None;
                    }
                    let bucket = event.time >> BUCKET_BITS;
                    self.bucket = bucket;
                    self.heads[index] = NONE;
                    self.occupied.clear(index);
                    let time = owner.due(&event);
                    // A deferred event usually keeps its place.
                    if time > event.time
                        && let Some(later) = bucket_for(time, bucket)
                    {
                        place.event.time = time;
                        place.next = std::mem::replace(&mut self.heads[later], at);
                        self.occupied.set(later);
                        continue;
                    }
                    place.next = std::mem::replace(&mut self.free, at);
                    if time <= event.time {
                        return Some(event);
                    }
                    place.event.time = time;
                    self.push_outside_bucket(at);
                    continue;
                }
            }
            let far = self.next_is_far(owner)?;
            let event = if far { self.pop_far(limit) } else { self.current.pop_before(limit) }?;
            let time = owner.due(&event);
            if time <= event.time {
                return Some(event);
            }
            self.push(Event { time, ..event });
        }
    }

    #[inline]
    fn next_time(&mut self) -> Option<u64> {
        let far = self.next_is_far(&NoDeferral)?;
        if far { Some(self.far_time) } else { self.current.next_time() }
    }

    fn len(&self) -> usize {
        let mut free = 0;
        let mut at = self.free;
        while let Some(place) = self.places.get(at as usize) {
            free += 1;
            at = place.next;
        }
        self.current.len() + self.far.len() + self.places.len() - free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A long silence ends with an event from beyond the horizon: later events are near, and must not go to the heap.
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
