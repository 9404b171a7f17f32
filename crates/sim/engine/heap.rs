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
        let n = self.events.len();
        let mut i = 0;
        loop {
            let first = 4 * i + 1;
            if first >= n {
                break;
            }
            let mut least = first;
            let mut least_key = self.events[first].key();
            for child in first + 1..n.min(first + 4) {
                let key = self.events[child].key();
                if key < least_key {
                    least = child;
                    least_key = key;
                }
            }
            if event.key() <= least_key {
                break;
            }
            self.events[i] = self.events[least];
            i = least;
        }
        self.events[i] = event;
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
