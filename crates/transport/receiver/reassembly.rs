//! Which data have arrived: everything below a number, and runs beyond it (RFC 2018 section 4).

use alloc::collections::VecDeque;

use crate::SackBlocks;

/// Data `[left, right)` ahead of a gap.
#[derive(Debug, Clone, Copy)]
struct Run {
    left: u64,
    right: u64,
    /// Grows with each segment: the run that was touched last has the largest.
    touched: u64,
}

/// What a segment brought.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Inserted {
    /// Something was new.
    pub(crate) any: bool,
    /// The first part that was not (RFC 2883).
    pub(crate) twice: Option<(u64, u64)>,
}

/// The data that have arrived. Runs do not touch each other and are in order.
#[derive(Debug)]
pub(crate) struct Reassembly {
    /// RCV.NXT.
    next: u64,
    /// In a ring: gaps close at the front, and after a burst of losses there are thousands.
    runs: VecDeque<Run>,
    touches: u64,
    /// The sequence number after the FIN, once one came.
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

    /// Payload in order, bytes: the SYN and the FIN do not count.
    pub(crate) fn delivered(&self) -> u64 {
        self.next - 1 - u64::from(self.is_finished())
    }

    /// Whether something has arrived ahead of a gap.
    pub(crate) fn has_gap(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Whether the FIN and everything before it has arrived.
    pub(crate) fn is_finished(&self) -> bool {
        self.end == Some(self.next)
    }

    /// The sequence number after what a segment brings whose payload ends before `right`: the FIN takes a number too, and nothing lies
    /// beyond it. A FIN below what has arrived, or another than the first, is none.
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

    /// Data `[left, right)` arrived, and with them the FIN if `fin`.
    pub(crate) fn insert(&mut self, left: u64, right: u64, fin: bool) -> Inserted {
        let mut news = Inserted::default();
        if self.is_finished() {
            return news;
        }
        let right = self.end_of(right, fin);
        if left >= right {
            return news;
        }
        if left < self.next {
            news.twice = Some((left, right.min(self.next)));
        }
        let (mut from, mut to) = (left.max(self.next), right);
        if from >= to {
            return news;
        }
        // The runs that it touches become one with it.
        let first = self.runs.partition_point(|run| run.right < from);
        let last = self.runs.partition_point(|run| run.left <= to);
        let mut touching = self.runs.range(first..last);
        news.any = !touching.clone().any(|run| run.left <= from && run.right >= to);
        if let Some(run) = touching.clone().find(|run| run.left < to && run.right > from) {
            news.twice.get_or_insert((run.left.max(from), run.right.min(to)));
        }
        let begin = touching.clone().next().map_or(from, |run| run.left.min(from));
        let end = touching.next_back().map_or(to, |run| run.right.max(to));
        (from, to) = (begin, end);
        if from == self.next {
            self.next = to;
            self.runs.drain(first..last);
            return news;
        }
        self.touches += 1;
        let run = Run { left: from, right: to, touched: self.touches };
        if first < last {
            self.runs[first] = run;
            self.runs.drain(first + 1..last);
        } else {
            self.runs.insert(first, run);
        }
        news
    }

    /// Fills `blocks` up to `most` with runs, the one touched last first.
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
