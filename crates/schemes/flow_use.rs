//! The use that flows make of an interface, window by window, in a table of bounded size.

use alloc::collections::BTreeMap;

use crate::places::{Direction, FlowId};

/// Most flows of an interface; of more, those that use least share one entry's fate: they are forgotten.
const MOST_FLOWS: usize = 1024;

/// Below this many bytes a window a flow counts as gone.
const LEAST: f64 = 1.0;

/// A flow's bytes in the present window, outgoing and incoming, their moving average over windows, and a value that belongs to it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Entry<T> {
    window: [u64; 2],
    average: f64,
    value: T,
}

/// Bytes of each flow in the direction in which it has more, so that a packet that is passed on counts once, averaged over windows with a
/// weight of one half, and a value for each flow that is computed from them once a window.
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
    pub(crate) fn add(&mut self, flow: FlowId, direction: Direction, bytes: u32) -> Option<T> {
        if !self.flows.contains_key(&flow) && self.flows.len() >= MOST_FLOWS {
            let use_of = |(&flow, entry): (&FlowId, &Entry<T>)| (entry.window.into_iter().max(), flow);
            let least = self.flows.iter().map(use_of).min();
            least.map(|(_, least)| self.flows.remove(&least));
        }
        let entry = self.flows.entry(flow).or_default();
        let [outgoing, incoming] = &mut entry.window;
        *if direction == Direction::Outgoing { outgoing } else { incoming } += u64::from(bytes);
        (entry.average > 0.0).then_some(entry.value)
    }

    /// Ends a window: averages move, flows without use are forgotten, and `value` computes each flow's value from its average and the mean of
    /// all averages.
    pub(crate) fn end_window(&mut self, value: impl Fn(f64, f64) -> T) {
        self.flows.retain(|_, entry| {
            let [outgoing, incoming] = core::mem::take(&mut entry.window);
            let seen = outgoing.max(incoming) as f64;
            // The first window of a flow is its average.
            entry.average = if entry.average > 0.0 { f64::midpoint(entry.average, seen) } else { seen };
            entry.average >= LEAST
        });
        let sum: f64 = self.flows.values().map(|entry| entry.average).sum();
        let mean = sum / self.flows.len().max(1) as f64;
        for entry in self.flows.values_mut() {
            entry.value = value(entry.average, mean);
        }
    }
}
