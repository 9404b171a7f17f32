//! Fairness per window of time: Jain's index of the flows' goodput in each window, for several window lengths.
//!
//! A window is an interval between the warm-up's end and the end of the run; windows of one length are consecutive, and only complete ones
//! count. A flow counts in a window if it is *active* in all of it: started by its beginning, and at its end neither stopped nor, for a
//! single file, complete. A source of several files or of a constant rate is active from its start to its stop, also while it has no data
//! to send. A window with fewer than two active flows has no fairness, and one in which no flow has a byte delivered is *empty*: both are
//! left out, the latter are counted.

use airfair_units::{Span, Time};

use super::{Observer, WorldView};
use crate::measure::samples::FlowProgress;
use crate::measure::statistics::jain_index;

/// Jain's index over the windows of one length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowFairness {
    /// Length of a window.
    pub window: Span,
    /// Windows that count.
    pub windows: u64,
    /// Windows with two or more active flows, none of which had a byte delivered.
    pub empty: u64,
    /// Mean of the index; `None` if no window counts.
    pub mean: Option<f64>,
    /// The index that is not exceeded by a tenth of the windows (nearest rank).
    pub p10: Option<f64>,
    /// The smallest index.
    pub min: Option<f64>,
}

/// Windows of one length.
#[derive(Debug)]
struct Windows {
    length: Span,
    /// Start of the present window, and the bytes of each flow by then.
    since: Time,
    then: Vec<u64>,
    /// End of the present window; the warm-up's end before the first one.
    next: Time,
    indices: Vec<f64>,
    empty: u64,
}

impl Windows {
    fn close(&mut self, flows: &[FlowProgress]) {
        let active = |f: &FlowProgress| f.start <= self.since && f.stop >= self.next && !f.complete;
        let mut shares: Vec<f64> = flows
            .iter()
            .zip(&self.then)
            .filter(|(f, _)| active(f))
            .map(|(f, then)| (f.delivered_bytes - then) as f64)
            .collect();
        if shares.len() < 2 {
            return;
        }
        // Sorted, so that the sum does not depend on the order of the flows in a file.
        shares.sort_by(f64::total_cmp);
        match jain_index(&shares) {
            Some(index) => self.indices.push(index),
            None => self.empty += 1,
        }
    }

    fn finish(mut self) -> WindowFairness {
        let n = self.indices.len();
        let mean = (n > 0).then(|| self.indices.iter().sum::<f64>() / n as f64);
        self.indices.sort_by(f64::total_cmp);
        WindowFairness {
            window: self.length,
            windows: n as u64,
            empty: self.empty,
            mean,
            p10: self.indices.get(n.div_ceil(10).saturating_sub(1)).copied(),
            min: self.indices.first().copied(),
        }
    }
}

/// Observer that measures fairness in windows of several lengths.
#[derive(Debug)]
pub(crate) struct Fairness(Vec<Windows>);

impl Fairness {
    /// Windows of these lengths from `start` on, the end of the warm-up, which must lie ahead. A length of zero counts as one nanosecond.
    pub(crate) fn new(start: Time, lengths: &[Span]) -> Self {
        let windows = |&length: &Span| Windows {
            length: length.max(Span(1)),
            since: start,
            then: Vec::new(),
            next: start,
            indices: Vec::new(),
            empty: 0,
        };
        Self(lengths.iter().map(windows).collect())
    }

    /// Results in the order of the lengths.
    pub(crate) fn finish(self) -> Vec<WindowFairness> {
        self.0.into_iter().map(Windows::finish).collect()
    }
}

impl Observer for Fairness {
    fn next_moment(&self) -> Time {
        self.0.iter().map(|windows| windows.next).min().unwrap_or(Time::NEVER)
    }

    fn moment_reached(&mut self, world: &WorldView<'_>) {
        if world.now < self.next_moment() {
            return;
        }
        let flows = world.progress();
        for windows in &mut self.0 {
            if world.now < windows.next {
                continue;
            }
            if windows.next > windows.since {
                windows.close(&flows);
            }
            windows.then.clear();
            windows.then.extend(flows.iter().map(|f| f.delivered_bytes));
            windows.since = windows.next;
            let next = windows.next.saturating_add(windows.length);
            // A window that exceeds the end of the run does not count.
            windows.next = if next <= world.run.end { next } else { Time::NEVER };
        }
    }
}
