//! A queue whose items lie in one piece, so that they are a slice, and that adding and taking one costs no wrap around the end of a ring.

/// Items in the order in which they were added.
#[derive(Debug)]
pub(super) struct Fifo<T> {
    /// The items, after those that were taken; without items there are none of either kind.
    items: Vec<T>,
    taken: usize,
}

impl<T: Copy> Fifo<T> {
    /// No items.
    pub(super) const fn new() -> Self {
        Self { items: Vec::new(), taken: 0 }
    }

    /// All items.
    #[inline(always)]
    pub(super) fn as_slice(&self) -> &[T] {
        self.items.get(self.taken..).unwrap_or_default()
    }

    /// Number of items.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.items.len() - self.taken
    }

    /// True if there are no items.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The item at an index.
    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> Option<&T> {
        self.items.get(self.taken + at)
    }

    /// The last item.
    #[inline(always)]
    pub(super) fn last(&self) -> Option<&T> {
        self.items.last()
    }

    /// The first item.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<&T> {
        self.items.get(self.taken)
    }

    /// Adds an item after all others.
    #[inline(always)]
    pub(super) fn push(&mut self, item: T) {
        if self.items.len() == self.items.capacity() {
            self.make_room();
        }
        self.items.push(item);
    }

    /// Removes the first item.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<T> {
        let item = *self.items.get(self.taken)?;
        self.taken += 1;
        if self.taken == self.items.len() {
            self.items.clear();
            self.taken = 0;
        }
        Some(item)
    }

    /// Removes the places of taken items, if they are half of all; then each item moves once at most for an item that was taken.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        if self.taken > self.items.len() / 2 {
            self.items.drain(..self.taken);
            self.taken = 0;
        } else {
            self.items.reserve(self.items.len().max(4));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The same as a ring of the standard library, whatever is added and taken, in no more than four times the room that it needs.
        #[test]
        fn first_in_first_out(steps in proptest::collection::vec(0u8..8, 0..400), adding in 2u8..7) {
            let (mut fifo, mut ring, mut most) = (Fifo::new(), VecDeque::new(), 4);
            for (i, step) in steps.into_iter().enumerate() {
                if step < adding {
                    fifo.push(i);
                    ring.push_back(i);
                } else {
                    prop_assert_eq!(fifo.pop(), ring.pop_front());
                }
                most = most.max(ring.len());
                prop_assert_eq!(fifo.as_slice(), ring.make_contiguous());
                prop_assert_eq!((fifo.len(), fifo.is_empty()), (ring.len(), ring.is_empty()));
                prop_assert_eq!((fifo.first(), fifo.last()), (ring.front(), ring.back()));
                (0..=ring.len()).try_for_each(|at| {
                    prop_assert_eq!(fifo.get(at), ring.get(at));
                    Ok(())
                })?;
                prop_assert!(fifo.items.capacity() <= 4 * most);
            }
        }
    }
}
