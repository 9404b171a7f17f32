//! An entry of a heap that returns the least value first.

use core::cmp::Ordering;

/// A numbered thing with its value, for [`BinaryHeap`](alloc::collections::BinaryHeap): the least value comes first, of equal ones the
/// lowest number.
#[derive(Debug, Clone, Copy)]
pub struct LeastFirst {
    /// The key of the order, or a lower bound of the key.
    pub value: f64,
    /// The caller's number of the thing.
    pub number: u32,
}

impl PartialEq for LeastFirst {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for LeastFirst {}

impl Ord for LeastFirst {
    fn cmp(&self, other: &Self) -> Ordering {
        // Reversed, since the heap returns the largest first.
        other.value.total_cmp(&self.value).then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for LeastFirst {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BinaryHeap;

    #[test]
    fn the_least_comes_first_and_of_equals_the_lowest_number() {
        let entries = [(2.0, 0), (-0.0, 9), (0.0, 3), (1.0, 7), (1.0, 2)];
        let mut heap: BinaryHeap<LeastFirst> =
            entries.into_iter().map(|(value, number)| LeastFirst { value, number }).collect();
        let order = [9, 3, 2, 7, 0].map(Some);
        assert_eq!(order.map(|_| heap.pop().map(|least| least.number)), order);
    }
}
