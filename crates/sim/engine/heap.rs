//! A heap with four children a node: fewer levels than a binary one, and the four keys compared share cache lines.

use super::EventQueue;
use crate::event::Event;

/// A 4-ary min-heap of events.
#[derive(Debug, Default)]
pub struct Heap4 {
    events: Vec<Event>,
}

impl Heap4 {
    /// The smallest event.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<&Event> {
        self.events.first()
    }

    /// All events, in no particular order.
    #[inline]
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    fn sift_up(&mut self, mut i: usize) {
        let event = self.events[i];
        while i > 0 {
            let parent = (i - 1) / 4;
            if self.events[parent].key() <= event.key() {
                break;
            }
            self.events[i] = self.events[parent];
            i = parent;
        }
        self.events[i] = event;
    }

    #[inline(always)]
    fn sift_down(&mut self, event: Event) {
        let mut i = 0;
        while let Some(least) = self.least_child(i) {
            if event.key() <= self.events[least].key() {
                break;
            }
            self.events[i] = self.events[least];
            i = least;
        }
        self.events[i] = event;
    }

    /// The smallest child of a place: of four by three comparisons without branches.
    #[inline(always)]
    fn least_child(&self, of: usize) -> Option<usize> {
        let first = 4 * of + 1;
        if let Some([a, b, c, d]) = self.events.get(first..first + 4) {
            let (a, b, c, d) = (a.key(), b.key(), c.key(), d.key());
            let (left, right) = (usize::from(b < a), 2 + usize::from(d < c));
            return Some(first + if c.min(d) < a.min(b) { right } else { left });
        }
        (first..self.events.len()).min_by_key(|&child| self.events[child].key())
    }
}

impl EventQueue for Heap4 {
    #[inline]
    fn push(&mut self, event: Event) {
        self.events.push(event);
        let last = self.events.len() - 1;
        if last > 0 {
            self.sift_up(last);
        }
    }

    #[inline]
    fn pop_before(&mut self, limit: u64) -> Option<Event> {
        if self.events.first()?.time >= limit {
            return None;
        }
        let last = self.events.pop()?;
        if self.events.is_empty() {
            return Some(last);
        }
        let first = self.events[0];
        self.sift_down(last);
        Some(first)
    }

    #[inline]
    fn next_time(&mut self) -> Option<u64> {
        self.first().map(|e| e.time)
    }

    fn len(&self) -> usize {
        self.events.len()
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}
