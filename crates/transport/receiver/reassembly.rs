//! Reassembly: data below the next expected number, and runs beyond it (RFC 2018 section 4).

use alloc::collections::VecDeque;

use crate::SackBlocks;

/// Data `[left, right)` beyond a gap.
#[derive(Debug, Clone, Copy)]
struct Run {
    left: u64,
    right: u64,
    /// Number of the last segment that extended it: the run extended last has the largest.
    touched: u64,
}

/// Result of an insertion.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Inserted {
    /// True if some data were new.
    pub(crate) any: bool,
    /// First part that was not new (RFC 2883).
    pub(crate) duplicate: Option<(u64, u64)>,
}

/// Data that have arrived. Runs are in order and not adjacent.
#[derive(Debug)]
pub(crate) struct Reassembly {
    /// RCV.NXT.
    next: u64,
    /// A ring, since gaps close at the front, and after a burst of losses there are thousands of runs.
    runs: VecDeque<Run>,
    touches: u64,
    /// Sequence number after the FIN, once that has arrived.
    end: Option<u64>,
}

impl Default for Reassembly {
    fn default() -> Self {
        Self { next: 1, runs: VecDeque::new(), touches: 0, end: None }
    }
}

impl Reassembly {
    /// RCV.NXT: the next sequence number expected.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Payload in order, bytes, without SYN and FIN.
    pub(crate) fn delivered(&self) -> u64 {
        self.next - 1 - u64::from(self.is_finished())
    }

    /// True if data beyond a gap have arrived.
    pub(crate) fn has_gap(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Bytes between the next expected and the last that has arrived.
    pub(crate) fn beyond(&self) -> u64 {
        self.runs.back().map_or(0, |run| run.right - self.next)
    }

    /// True if the FIN and everything before it has arrived.
    pub(crate) fn is_finished(&self) -> bool {
        self.end == Some(self.next)
    }

    /// The sequence number after a segment whose payload ends before `right`: the FIN takes a number, and nothing lies beyond it. A FIN
    /// below data that have arrived, or one different from the first, is ignored.
    fn end_of(&mut self, right: u64, fin: bool) -> u64 {
        if fin && self.end.is_none() {
            let arrived = self.runs.back().map_or(self.next, |run| run.right);
            self.end = right.checked_add(1).filter(|_| right >= arrived);
        }
        match self.end {
            Some(end) if fin && end - 1 == right => end,
            Some(end) => right.min(end - 1),
            None => right,
        }
    }

    /// Inserts data `[left, right)`, with a FIN after them if `fin`.
    pub(crate) fn insert(&mut self, left: u64, right: u64, fin: bool) -> Inserted {
        let mut inserted = Inserted::default();
        if self.is_finished() {
            return inserted;
        }
        let right = self.end_of(right, fin);
        if left >= right {
            return inserted;
        }
        if left < self.next {
            inserted.duplicate = Some((left, right.min(self.next)));
        }
        let (mut from, mut to) = (left.max(self.next), right);
        if from >= to {
            return inserted;
        }
        if self.runs.is_empty() && from == self.next {
            inserted.any = true;
            self.next = to;
            return inserted;
        }
        // Runs that overlap or adjoin it are merged with it.
        let first = self.runs.partition_point(|run| run.right < from);
        let last = self.runs.partition_point(|run| run.left <= to);
        let mut touching = self.runs.range(first..last);
        inserted.any = !touching.clone().any(|run| run.left <= from && run.right >= to);
        if let Some(run) = touching.clone().find(|run| run.left < to && run.right > from) {
            inserted.duplicate.get_or_insert((run.left.max(from), run.right.min(to)));
        }
        let begin = touching.clone().next().map_or(from, |run| run.left.min(from));
        let end = touching.next_back().map_or(to, |run| run.right.max(to));
        (from, to) = (begin, end);
        if from == self.next {
            self.next = to;
            self.runs.drain(first..last);
            return inserted;
        }
        self.touches += 1;
        let run = Run { left: from, right: to, touched: self.touches };
        if first < last {
            self.runs[first] = run;
            self.runs.drain(first + 1..last);
        } else {
            self.runs.insert(first, run);
        }
        inserted
    }

    /// Fills `blocks` with up to `most` runs, the one extended last first.
    pub(crate) fn report(&self, most: usize, blocks: &mut SackBlocks) {
        let mut before = u64::MAX;
        while blocks.as_slice().len() < most {
            let older = self.runs.iter().filter(|run| run.touched < before);
            let Some(run) = older.max_by_key(|run| run.touched) else { return };
            blocks.push(run.left, run.right);
            before = run.touched;
        }
    }
}
