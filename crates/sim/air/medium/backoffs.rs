//! Back-offs of the access categories of a station (EDCA, 802.11-2016 10.22.2), counted on one grid of slots.
//!
//! A station has one countdown ([`Radio`](super::radio::Radio)): its deadline is that of the category which comes first. All categories
//! count slots from the same moment, the least AIFS of the table after the medium has become idle; a category with a longer AIFS waits for
//! some slots (`wait`) before its own slots count. When the medium becomes busy, each category loses the slot boundaries that it has
//! passed, and every category waits for its whole AIFS again.

/// The largest number of categories of a station.
pub(crate) const MOST_CATEGORIES: usize = 8;

/// Back-offs of the categories of a station; unused at stations of the DCF. Sets of categories are words of one bit each, bit 0 for the
/// lowest priority. One cache line.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub(crate) struct Backoffs {
    /// Slots left of each category's back-off.
    slots: [u16; MOST_CATEGORIES],
    /// Slots until the back-off of a category counts in the present idle period: the rest of its AIFS.
    wait: [u16; MOST_CATEGORIES],
    /// Back-off of a category that waits for immediate access, if the medium becomes busy before.
    reserve: [u16; MOST_CATEGORIES],
    /// Slots by which the AIFS of a category exceeds the least AIFS of the station's table.
    offsets: [u8; MOST_CATEGORIES],
    /// Categories whose back-off is counting or frozen.
    active: u8,
    /// Categories of these that have a packet to send; the others count a post-backoff.
    contending: u8,
    /// Categories that wait for immediate access.
    immediate: u8,
    /// Categories whose back-off is the reserve.
    interrupted: u8,
    /// True if the boundary at the end of an AIFS counts (10.22.2.4); DCF counts from the end of the first slot after it.
    counts_aifs: bool,
}

/// Bit of a category.
const fn bit(category: usize) -> u8 {
    1 << category
}

/// Categories of a set, the lowest priority first.
#[derive(Debug, Clone, Copy)]
struct Members(u8);

const fn members(set: u8) -> Members {
    Members(set)
}

impl Iterator for Members {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let category = self.0.trailing_zeros() as usize;
        // Removes the lowest bit.
        self.0 &= self.0.wrapping_sub(1);
        (category < MOST_CATEGORIES).then_some(category)
    }
}

impl DoubleEndedIterator for Members {
    #[inline(always)]
    fn next_back(&mut self) -> Option<usize> {
        let category = self.0.checked_ilog2()?;
        self.0 ^= 1 << category;
        Some(category as usize)
    }
}

impl Backoffs {
    /// No back-offs. `offsets`: see [`Backoffs::offsets`]; `counts_aifs`: see the field.
    pub(crate) fn new(offsets: [u8; MOST_CATEGORIES], counts_aifs: bool) -> Self {
        Self { offsets, counts_aifs, ..Self::default() }
    }

    /// True if no back-off is counting or frozen.
    pub(crate) const fn is_empty(&self) -> bool {
        self.active == 0
    }

    /// True if a category has a packet to send.
    pub(crate) const fn contends(&self) -> bool {
        self.contending != 0
    }

    /// True if the back-off of a category is counting or frozen.
    pub(crate) const fn is_active(&self, category: usize) -> bool {
        self.active & bit(category) != 0
    }

    /// The slot boundary at which a category's back-off ends, counted from the start of the count.
    fn end(&self, category: usize) -> u16 {
        self.wait[category].saturating_add(self.slots[category])
    }

    /// Slots until a category's back-off counts, and slots of the back-off; none if it is neither counting nor frozen.
    pub(crate) fn left(&self, category: usize) -> Option<(u16, u16)> {
        self.is_active(category).then(|| (self.wait[category], self.slots[category]))
    }

    /// The boundary that ends the station's countdown: the first at which a category transmits, else that at which the last post-backoff
    /// ends. None without a back-off.
    pub(crate) fn next(&self) -> Option<u16> {
        if self.contends() {
            members(self.contending).map(|category| self.end(category)).min()
        } else {
            members(self.active).map(|category| self.end(category)).max()
        }
    }

    /// The category of highest priority among those that transmit first, if one contends.
    pub(crate) fn first(&self) -> Option<usize> {
        let next = self.next()?;
        members(self.contending).rev().find(|&category| self.end(category) == next)
    }

    /// Sets a category's back-off while no slot is counted.
    pub(crate) fn set(&mut self, category: usize, slots: u16, contending: bool) {
        self.join(category, (self.offsets[category].into(), slots), contending);
    }

    /// Adds a category to the present count, whose own slots count from the boundary `wait` on.
    pub(crate) fn join(&mut self, category: usize, (wait, slots): (u16, u16), contending: bool) {
        self.forget(category);
        self.slots[category] = slots;
        self.wait[category] = wait;
        self.active |= bit(category);
        self.contending |= u8::from(contending) << category;
    }

    /// Adds a category that transmits at the boundary `wait` without a back-off, unless the medium becomes busy before; then its back-off
    /// is `reserve`.
    pub(crate) fn join_immediately(&mut self, category: usize, wait: u16, reserve: u16) {
        self.join(category, (wait, 0), true);
        self.reserve[category] = reserve;
        self.immediate |= bit(category);
    }

    /// A category whose post-backoff counts has a packet to send.
    pub(crate) fn contend(&mut self, category: usize) {
        self.contending |= bit(category) & self.active;
    }

    /// Ends a category's back-off.
    pub(crate) fn forget(&mut self, category: usize) {
        let others = !bit(category);
        self.active &= others;
        self.contending &= others;
        self.immediate &= others;
    }

    /// True, once, if a category's reserve has become its back-off.
    pub(crate) fn take_interrupted(&mut self, category: usize) -> bool {
        let was = self.interrupted & bit(category) != 0;
        self.interrupted &= !bit(category);
        was
    }

    /// The medium becomes busy, or the station itself transmits: `boundaries` slots have been counted since the start of the count.
    pub(crate) fn freeze(&mut self, boundaries: Option<u64>) {
        self.pass(boundaries);
        if self.immediate != 0 {
            for category in members(self.immediate) {
                self.slots[category] = self.reserve[category];
            }
            self.interrupted |= self.immediate;
            self.immediate = 0;
        }
        // By a loop: that becomes one vector instruction.
        for (wait, &offset) in self.wait.iter_mut().zip(&self.offsets) {
            *wait = offset.into();
        }
    }

    /// Passes slot boundaries: that at the start of the count and `boundaries` after it, or none. Post-backoffs that have ended are
    /// removed. Returns the slots by which the start of the count moves if the count goes on.
    pub(crate) fn pass(&mut self, boundaries: Option<u64>) -> u64 {
        let Some(boundaries) = boundaries else { return 0 };
        let passed = boundaries + u64::from(self.counts_aifs);
        let counted = u16::try_from(passed).unwrap_or(u16::MAX);
        for category in members(self.active) {
            if u64::from(self.end(category)) <= boundaries && self.contending & bit(category) == 0 {
                self.active &= !bit(category);
                continue;
            }
            let (wait, slots) = (&mut self.wait[category], &mut self.slots[category]);
            *slots = slots.saturating_sub(counted.saturating_sub(*wait));
            *wait = wait.saturating_sub(counted);
        }
        passed
    }

    /// Slots by which the AIFS of a category exceeds the least AIFS of the station's table.
    pub(crate) fn offset(&self, category: usize) -> u64 {
        self.offsets[category].into()
    }

    /// Categories that transmit at the same boundary as `winner`, without it, the highest priority first.
    pub(crate) fn collides_with(&self, winner: usize) -> impl Iterator<Item = usize> + Clone + use<> {
        let (all, end) = (*self, self.end(winner));
        members(self.contending & !bit(winner)).filter(move |&category| all.end(category) == end).rev()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(offsets: &[u8], counts_aifs: bool) -> Backoffs {
        let mut all = [0; MOST_CATEGORIES];
        all[..offsets.len()].copy_from_slice(offsets);
        Backoffs::new(all, counts_aifs)
    }

    /// Categories with an AIFS longer by 0 and 5 slots, 9 and 3 slots to go; the medium becomes busy after boundary 6. By hand: the first
    /// has counted 6 slots (7 where the end of the AIFS counts), the second one slot (two).
    #[test]
    fn each_category_loses_the_boundaries_after_its_aifs() {
        for (counts_aifs, left) in [(false, [3, 2]), (true, [2, 1])] {
            let mut b = of(&[0, 5], counts_aifs);
            b.set(0, 9, true);
            b.set(1, 3, true);
            assert_eq!(b.next(), Some(8));
            assert_eq!(b.first(), Some(1));
            b.freeze(Some(6));
            assert_eq!([b.end(0), b.end(1)], [left[0], left[1] + 5], "it waits for its AIFS again");
        }
    }

    /// Before the start of the count nothing is lost.
    #[test]
    fn a_count_that_has_not_begun_loses_nothing() {
        let mut b = of(&[0, 2], true);
        b.set(1, 4, true);
        b.freeze(None);
        assert_eq!(b.next(), Some(6));
    }

    #[test]
    fn the_highest_of_those_that_end_together_is_first() {
        let mut b = of(&[3, 1, 0, 0], true);
        for (category, slots) in [(0, 0), (1, 2), (2, 3), (3, 4)] {
            b.set(category, slots, true);
        }
        assert_eq!((b.next(), b.first()), (Some(3), Some(2)));
        assert_eq!(b.collides_with(2).collect::<Vec<_>>(), [1, 0]);
        b.forget(2);
        assert_eq!(b.first(), Some(1));
    }

    /// A post-backoff delays nobody: the station's countdown is that of the category with a packet, however many slots others have.
    #[test]
    fn post_backoffs_end_with_the_boundaries() {
        let mut b = of(&[0, 1], true);
        b.set(0, 2, false);
        b.set(1, 9, true);
        assert_eq!(b.next(), Some(10));
        b.freeze(Some(1));
        assert!(b.is_active(0));
        b.freeze(Some(0));
        assert!(!b.is_active(0), "its last slot has passed");
        // Without a packet, the last post-backoff ends the count.
        let mut b = of(&[0, 1], true);
        b.set(0, 2, false);
        b.set(1, 9, false);
        assert_eq!((b.next(), b.first()), (Some(10), None));
        b.contend(0);
        assert_eq!((b.next(), b.first()), (Some(2), Some(0)));
    }

    /// A category that waits for immediate access has its reserve as back-off once the medium becomes busy.
    #[test]
    fn immediate_access_that_is_lost_leaves_a_back_off() {
        let mut b = of(&[0, 2], true);
        b.join_immediately(1, 1, 7);
        assert_eq!(b.next(), Some(1));
        b.freeze(Some(0));
        assert_eq!(b.next(), Some(9));
        assert!(b.take_interrupted(1) && !b.take_interrupted(1));
    }

    proptest! {
        /// A count that is interrupted at no signal, only settled for others to join, ends at the same time; and no count goes below 0.
        #[test]
        fn settling_changes_no_end(
            offsets in proptest::collection::vec(0u8..8, 1..8),
            slots in proptest::collection::vec(0u16..40, 8),
            after in proptest::collection::vec(0u64..6, 0..5),
            counts_aifs: bool,
        ) {
            let mut b = of(&offsets, counts_aifs);
            for (category, &slots) in slots.iter().enumerate().take(offsets.len()) {
                b.set(category, slots, true);
            }
            let ends: Vec<u64> = (0..offsets.len()).map(|category| b.end(category).into()).collect();
            // The start of the count, in slots; boundaries are passed only before the first category ends.
            let mut start = 0;
            for boundary in after {
                let first = u64::from(b.next().unwrap_or(0));
                if boundary < first {
                    start += b.pass(Some(boundary));
                }
                for (category, &end) in ends.iter().enumerate() {
                    prop_assert_eq!(start + u64::from(b.end(category)), end);
                }
            }
        }
    }
}
