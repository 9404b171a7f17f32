//! The sizes of neighbours' destination queues, as far as their frames were heard (§4).
//!
//! The paper keeps a size until the next frame. Reading: a size counts for `expiry` and is 0 before it was heard and after that, because a
//! neighbour whose queue has become empty by a loss, or that has left, says nothing any more, and its last size would hold back its
//! upstream neighbours for ever. The price: a neighbour that is starved of the air is silent too, and counts as empty then.
//!
//! Every labelled frame that a station decodes enters the table, and a station in a dense mesh hears more pairs of neighbour and
//! destination than the table has places. So a size is found by hashing, and the list by age makes room without a search. Names can be
//! forged so that all fall into one bucket; therefore a bucket has room for [`MOST_IN_BUCKET`].

use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;

use airfair_units::{Span, Time};

use crate::places::NodeId;

/// The size of a neighbour's queue for a destination, and when it was heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    destination: NodeId,
    neighbour: NodeId,
    packets: u32,
    /// Place of the next size of the same bucket.
    next: u32,
    heard: Time,
    /// Places of the sizes that were heard before and after.
    older: u32,
    newer: u32,
}

/// No place.
const NONE: u32 = u32::MAX;

/// Most sizes in a bucket, of which there are as many as sizes: of honest names, so many never meet (once in 10^13 buckets).
pub const MOST_IN_BUCKET: usize = 16;

/// The sizes of the queues of a node's neighbours, as heard: at most `capacity` sizes, of which the one heard longest ago gives way to a
/// new one.
#[derive(Debug, Clone)]
pub struct Backlogs {
    sizes: Vec<Size>,
    /// Place of the first size of each bucket; a power of two of them, as many as sizes at least.
    buckets: Vec<u32>,
    oldest: u32,
    newest: u32,
    capacity: usize,
    expiry: Span,
    /// Sizes looked at so far.
    looked_at: Cell<u64>,
}

impl Backlogs {
    /// An empty table.
    #[must_use]
    pub const fn new(capacity: usize, expiry: Span) -> Self {
        Self {
            sizes: Vec::new(),
            buckets: Vec::new(),
            oldest: NONE,
            newest: NONE,
            capacity,
            expiry,
            looked_at: Cell::new(0),
        }
    }

    /// Sizes that calls have looked at so far.
    #[must_use]
    pub const fn looked_at(&self) -> u64 {
        self.looked_at.get()
    }

    fn look(&self, sizes: usize) {
        self.looked_at.set(self.looked_at.get() + sizes as u64);
    }

    fn bucket(&self, neighbour: NodeId, destination: NodeId) -> usize {
        // Fibonacci hashing: the upper half of the product is mixed well.
        let key = u64::from(destination.0) << 32 | u64::from(neighbour.0);
        let mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        mixed as usize & self.buckets.len().wrapping_sub(1)
    }

    fn find(&self, neighbour: NodeId, destination: NodeId) -> Option<u32> {
        let mut place = *self.buckets.get(self.bucket(neighbour, destination))?;
        while let Some(size) = self.sizes.get(place as usize) {
            self.look(1);
            if (size.neighbour, size.destination) == (neighbour, destination) {
                return Some(place);
            }
            place = size.next;
        }
        None
    }

    /// Takes a size out of the list by age.
    fn unlink(&mut self, place: u32) {
        let Size { older, newer, .. } = self.sizes[place as usize];
        match self.sizes.get_mut(older as usize) {
            Some(size) => size.newer = newer,
            None => self.oldest = newer,
        }
        match self.sizes.get_mut(newer as usize) {
            Some(size) => size.older = older,
            None => self.newest = older,
        }
    }

    /// Puts a size to the newest end of the list by age.
    fn link(&mut self, place: u32) {
        let before = core::mem::replace(&mut self.newest, place);
        (self.sizes[place as usize].older, self.sizes[place as usize].newer) = (before, NONE);
        match self.sizes.get_mut(before as usize) {
            Some(size) => size.newer = place,
            None => self.oldest = place,
        }
    }

    /// Takes a size out of its bucket.
    fn leave_bucket(&mut self, place: u32) {
        let Size { neighbour, destination, next, .. } = self.sizes[place as usize];
        let bucket = self.bucket(neighbour, destination);
        let mut before = self.buckets[bucket];
        if before == place {
            self.buckets[bucket] = next;
            return;
        }
        while let Some(size) = self.sizes.get_mut(before as usize) {
            if size.next == place {
                size.next = next;
                return;
            }
            before = size.next;
        }
    }

    /// The size that was heard longest ago of those in a bucket, if that is full.
    fn oldest_of_full(&self, bucket: usize) -> Option<u32> {
        let (mut place, mut count, mut oldest) = (*self.buckets.get(bucket)?, 0, None);
        while let Some(size) = self.sizes.get(place as usize) {
            // Of equal times that of the size that has been in the bucket for longest.
            if oldest.is_none_or(|(heard, _)| size.heard <= heard) {
                oldest = Some((size.heard, place));
            }
            (place, count) = (size.next, count + 1);
        }
        self.look(count);
        oldest.filter(|_| count >= MOST_IN_BUCKET).map(|(_, place)| place)
    }

    fn enter_bucket(&mut self, place: u32) {
        let Size { neighbour, destination, .. } = self.sizes[place as usize];
        let bucket = self.bucket(neighbour, destination);
        self.sizes[place as usize].next = core::mem::replace(&mut self.buckets[bucket], place);
    }

    /// A place for a new size: one that was never used, or that of the oldest size, of its bucket if that is full.
    fn place_for(&mut self, size: Size) -> Option<u32> {
        let of_bucket = self.oldest_of_full(self.bucket(size.neighbour, size.destination));
        if of_bucket.is_some() || self.sizes.len() >= self.capacity {
            let place = of_bucket.unwrap_or(self.oldest);
            if place == NONE {
                return None;
            }
            self.unlink(place);
            self.leave_bucket(place);
            self.sizes[place as usize] = size;
            return Some(place);
        }
        self.sizes.push(size);
        if self.sizes.len() > self.buckets.len() {
            self.buckets = vec![NONE; self.sizes.len().next_power_of_two().max(16)];
            self.look(self.sizes.len());
            // The new size enters its bucket as each does.
            (0..self.sizes.len() as u32 - 1).for_each(|place| self.enter_bucket(place));
        }
        Some(self.sizes.len() as u32 - 1)
    }

    /// A frame of a neighbour says how many packets wait there for a destination.
    pub fn hear(&mut self, neighbour: NodeId, destination: NodeId, packets: u32, now: Time) {
        if let Some(place) = self.find(neighbour, destination) {
            let size = &mut self.sizes[place as usize];
            (size.packets, size.heard) = (packets, now);
            if place != self.newest {
                self.unlink(place);
                self.link(place);
            }
            return;
        }
        let size = Size { destination, neighbour, packets, next: NONE, heard: now, older: NONE, newer: NONE };
        if let Some(place) = self.place_for(size) {
            self.enter_bucket(place);
            self.link(place);
        }
    }

    /// The packets that wait at a neighbour for a destination, as far as known now, and the time at which that expires: 0 at the
    /// destination itself (§4), and where nothing is known.
    #[must_use]
    pub fn fresh(&self, neighbour: NodeId, destination: NodeId, now: Time) -> Option<(u32, Time)> {
        if neighbour == destination {
            return None;
        }
        let size = &self.sizes[self.find(neighbour, destination)? as usize];
        (now.since(size.heard) < self.expiry).then(|| (size.packets, size.heard + self.expiry))
    }

    /// The packets of [`Self::fresh`].
    #[must_use]
    pub fn size(&self, neighbour: NodeId, destination: NodeId, now: Time) -> u32 {
        self.fresh(neighbour, destination, now).map_or(0, |known| known.0)
    }

    /// Number of sizes that are stored.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.sizes.len()
    }

    /// True if no size is stored.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }
}
