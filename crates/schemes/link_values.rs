//! Values of links by neighbour, in a table of bounded size.

use alloc::collections::BTreeMap;

use crate::places::NodeId;

/// A value for each neighbour for which one was set: at most `most` of them. A neighbour that is gone is forgotten.
#[derive(Debug, Clone)]
pub(crate) struct LinkValues<T> {
    most: usize,
    /// Values with the number of the call that has set each.
    values: BTreeMap<NodeId, (T, u64)>,
    set: u64,
}

impl<T> LinkValues<T> {
    /// No value; `most`: 1 at least.
    pub(crate) const fn new(most: usize) -> Self {
        Self { most, values: BTreeMap::new(), set: 0 }
    }

    /// The value of a neighbour from now on. In a full table it takes the place of one whose link is not in use, or else of any: of the
    /// one that was set longest ago.
    pub(crate) fn set(&mut self, neighbour: NodeId, value: T, in_use: impl Fn(NodeId) -> bool) {
        if !self.values.contains_key(&neighbour) && self.values.len() >= self.most.max(1) {
            let age = |&(&other, &(_, set)): &(&NodeId, &(T, u64))| (in_use(other), set);
            let least = self.values.iter().min_by_key(age).map(|(&other, _)| other);
            least.map(|least| self.values.remove(&least));
        }
        self.set += 1;
        self.values.insert(neighbour, (value, self.set));
    }

    /// The value of a neighbour, if there is one.
    pub(crate) fn get(&self, neighbour: NodeId) -> Option<&T> {
        self.values.get(&neighbour).map(|(value, _)| value)
    }

    /// Forgets a neighbour.
    pub(crate) fn remove(&mut self, neighbour: NodeId) {
        self.values.remove(&neighbour);
    }

    /// All values, in the order of neighbours.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &T> {
        self.values.values().map(|(value, _)| value)
    }

    /// All values with their neighbours, in the same order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (NodeId, &T)> {
        self.values.iter().map(|(&neighbour, (value, _))| (neighbour, value))
    }

    /// Forgets the values of which this is false.
    pub(crate) fn retain(&mut self, keeps: impl Fn(&T) -> bool) {
        self.values.retain(|_, (value, _)| keeps(value));
    }

    /// Forgets all but these neighbours. True if there were others.
    pub(crate) fn keep(&mut self, neighbours: &[NodeId]) -> bool {
        let before = self.values.len();
        self.values.retain(|neighbour, _| neighbours.contains(neighbour));
        self.values.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A million neighbours, and room for three: the newest, and the one in use.
    #[test]
    fn the_table_has_an_end() {
        let mut table = LinkValues::new(3);
        for neighbour in 0..1_000_000 {
            table.set(NodeId(neighbour), 2 * neighbour, |other| other == NodeId(7));
        }
        assert_eq!(table.iter().copied().collect::<alloc::vec::Vec<_>>(), [14, 1_999_996, 1_999_998]);
        // One that is set again is new; where all are in use, the oldest goes.
        table.set(NodeId(7), 1, |_| true);
        table.set(NodeId(8), 2, |_| true);
        assert_eq!(
            [7, 8, 999_998, 999_999].map(|n| table.get(NodeId(n)).copied()),
            [Some(1), Some(2), None, Some(1_999_998)]
        );
        assert!(
            table.keep(&[NodeId(8), NodeId(9), NodeId(999_999)])
                && !table.keep(&[NodeId(8), NodeId(999_999)])
        );
        assert_eq!((table.get(NodeId(7)), table.iter().len()), (None, 2));
        let mut least = LinkValues::new(0);
        (0..2).for_each(|neighbour| least.set(NodeId(neighbour), neighbour, |_| false));
        assert_eq!(least.iter().len(), 1);
    }
}
