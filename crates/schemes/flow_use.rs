//! The use that flows make of an interface, window by window, in a table of bounded size.

use alloc::collections::BTreeMap;

use crate::places::FlowId;

/// Most flows of an interface; of more, those that use least share one entry's fate: they are forgotten.
const MOST_FLOWS: usize = 1024;

/// Below this many bytes a window a flow counts as gone.
const LEAST: f64 = 1.0;

/// A flow's bytes in the present window, their moving average over windows, and a value that belongs to it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Entry<T> {
    window: u64,
    average: f64,
    value: T,
}

/// Bytes of each flow, averaged over windows with a weight of one half, and a value for each flow that is computed from them once a window.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FlowUse<T> {
    flows: BTreeMap<FlowId, Entry<T>>,
}

impl<T> Default for FlowUse<T> {
    fn default() -> Self {
        Self { flows: BTreeMap::new() }
    }
}

impl<T: Copy + Default> FlowUse<T> {
    /// Adds a packet of a flow, and returns the flow's value; None for a flow that had no packet before the present window.
    #[inline]
    pub(crate) fn add(&mut self, flow: FlowId, bytes: u32) -> Option<T> {
        if let Some(entry) = self.flows.get_mut(&flow) {
            entry.window += u64::from(bytes);
            return (entry.average > 0.0).then_some(entry.value);
        }
        if self.flows.len() >= MOST_FLOWS {
            let use_of = |(&flow, entry): (&FlowId, &Entry<T>)| (entry.window, flow);
            let least = self.flows.iter().map(use_of).min();
            least.map(|(_, least)| self.flows.remove(&least));
        }
        self.flows.insert(flow, Entry { window: bytes.into(), ..Entry::default() });
        None
    }

    /// Ends a window: averages move, flows without use are forgotten, and `value` computes each flow's value from its average and the mean of
    /// all averages.
    pub(crate) fn end_window(&mut self, value: impl Fn(f64, f64) -> T) {
        self.flows.retain(|_, entry| {
            let seen = core::mem::take(&mut entry.window) as f64;
            // The first window of a flow is its average.
            entry.average = if entry.average > 0.0 { f64::midpoint(entry.average, seen) } else { seen };
            entry.average >= LEAST
        });
        let mean = self.sum() / self.flows.len().max(1) as f64;
        for entry in self.flows.values_mut() {
            entry.value = value(entry.average, mean);
        }
    }

    /// The sum of the averages.
    pub(crate) fn sum(&self) -> f64 {
        self.flows.values().map(|entry| entry.average).sum()
    }

    /// The sum of the squares of the averages.
    pub(crate) fn sum_of_squares(&self) -> f64 {
        self.flows.values().map(|entry| entry.average * entry.average).sum()
    }
}
