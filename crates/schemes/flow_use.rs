//! The use that flows make of an interface, window by window, in a table of bounded size.

use alloc::collections::BTreeMap;

use crate::places::{Direction, FlowId};

/// Most flows of an interface: a new one takes the place of the one that has least in the present window.
const MOST_FLOWS: usize = 1024;

/// Below this many bytes a window a flow counts as gone.
const LEAST: f64 = 1.0;

/// A flow's bytes in the present window, outgoing and incoming, their moving average over windows, and a value that belongs to it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Entry<T> {
    window: [u64; 2],
    average: f64,
    /// True if an acknowledgement of the flow has passed.
    answered: bool,
    /// Windows in a row without a packet.
    silent: u32,
    value: T,
}

/// Bytes of each flow in the direction in which it has more, so that a packet that is passed on counts once, averaged over windows with a
/// weight of one half, and a value for each flow that is computed from them once a window.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FlowUse<T> {
    flows: BTreeMap<FlowId, Entry<T>>,
    /// Windows for which a silent flow is kept at least.
    kept: u32,
}

impl<T> Default for FlowUse<T> {
    fn default() -> Self {
        Self::keeping(0)
    }
}

impl<T> FlowUse<T> {
    /// An empty table that keeps a flow for this many silent windows, though its average be nothing.
    pub(crate) const fn keeping(windows: u32) -> Self {
        Self { flows: BTreeMap::new(), kept: windows }
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

    /// An acknowledgement of a flow that is in the table has passed.
    #[inline]
    pub(crate) fn answer(&mut self, flow: FlowId) {
        if let Some(entry) = self.flows.get_mut(&flow) {
            entry.answered = true;
        }
    }

    /// True if an acknowledgement of the flow has passed since it came into the table.
    #[inline]
    pub(crate) fn answered(&self, flow: FlowId) -> bool {
        self.flows.get(&flow).is_some_and(|entry| entry.answered)
    }

    /// Adds the bytes of a flow in a window, outgoing and incoming.
    pub(crate) fn add_bytes(&mut self, flow: FlowId, bytes: [u32; 2]) {
        self.add(flow, Direction::Outgoing, bytes[0]);
        self.add(flow, Direction::Incoming, bytes[1]);
    }

    /// A flow's value; None for a flow that had no packet before the present window.
    pub(crate) fn value(&self, flow: FlowId) -> Option<T> {
        self.flows.get(&flow).filter(|entry| entry.average > 0.0).map(|entry| entry.value)
    }

    /// Ends a window: averages move, flows without use are forgotten, and `value` computes each flow's value from its average and the mean
    /// of all averages.
    pub(crate) fn end_window(&mut self, value: impl Fn(f64, f64) -> T) {
        let kept = self.kept;
        self.flows.retain(|_, entry| {
            let [outgoing, incoming] = core::mem::take(&mut entry.window);
            let seen = outgoing.max(incoming) as f64;
            // The first window of a flow is its average.
            entry.average = if entry.average > 0.0 { f64::midpoint(entry.average, seen) } else { seen };
            entry.silent = if seen > 0.0 { 0 } else { entry.silent.saturating_add(1) };
            entry.average >= LEAST || entry.silent < kept
        });
        let sum: f64 = self.flows.values().map(|entry| entry.average).sum();
        let mean = sum / self.flows.len().max(1) as f64;
        for entry in self.flows.values_mut() {
            entry.value = value(entry.average, mean);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{Incoming, Outgoing};

    fn shares(flows: &mut FlowUse<f64>) -> [Option<f64>; 2] {
        flows.end_window(|average, mean| average / mean);
        [0, 1].map(|flow| flows.flows.get(&FlowId(flow)).map(|entry| entry.value))
    }

    /// 3000 B that are received and passed on count once, and beside 1000 B are one and a half times the mean of 2000. A window later the
    /// averages are (3000 + 1000)/2 and (1000 + 5000)/2.
    #[test]
    fn a_flow_counts_in_the_direction_in_which_it_has_more() {
        let mut flows = FlowUse::default();
        assert_eq!(flows.add(FlowId(0), Incoming, 3000), None, "nothing is known yet");
        flows.add(FlowId(0), Outgoing, 2999);
        flows.add(FlowId(1), Outgoing, 1000);
        assert_eq!(shares(&mut flows), [Some(1.5), Some(0.5)]);
        assert_eq!(flows.add(FlowId(0), Incoming, 1000), Some(1.5));
        flows.add(FlowId(1), Incoming, 5000);
        assert_eq!(shares(&mut flows), [Some(0.8), Some(1.2)]);
    }

    /// 2000 B are 1000 after a silent window and below 1 after eleven.
    #[test]
    fn a_silent_flow_is_forgotten() {
        let mut flows = FlowUse::default();
        flows.add(FlowId(0), Incoming, 2000);
        for _ in 0..11 {
            assert_eq!(shares(&mut flows), [Some(1.0), None]);
        }
        assert_eq!(shares(&mut flows), [None, None]);
    }

    /// Where flows are kept for twenty silent windows, one with 2000 B before counts in the mean until then, with next to nothing.
    #[test]
    fn a_silent_flow_is_kept() {
        let mut flows = FlowUse::keeping(20);
        flows.add(FlowId(0), Incoming, 2000);
        shares(&mut flows);
        for _ in 0..19 {
            flows.add(FlowId(1), Incoming, 1000);
            assert!(shares(&mut flows)[0].is_some());
        }
        assert!(shares(&mut flows)[0].is_none());
    }

    /// A flow is answered from its first acknowledgement on, until the table forgets it; one that is not in the table cannot be.
    #[test]
    fn an_answer_lasts_as_long_as_the_flow() {
        let mut flows = FlowUse::default();
        flows.answer(FlowId(0));
        flows.add(FlowId(0), Incoming, 2000);
        assert!(!flows.answered(FlowId(0)));
        flows.answer(FlowId(0));
        (0..11).for_each(|_| _ = shares(&mut flows));
        assert!(flows.answered(FlowId(0)) && !flows.answered(FlowId(1)));
        shares(&mut flows);
        flows.add(FlowId(0), Incoming, 2000);
        assert!(!flows.answered(FlowId(0)));
    }

    /// A hundred thousand flows of a packet each, beside one with more: the table ends, and keeps the larger one.
    #[test]
    fn the_table_has_an_end() {
        let mut flows = FlowUse::<f64>::default();
        flows.add(FlowId(0), Incoming, 1500);
        (1..100_000).for_each(|flow| _ = flows.add(FlowId(flow), Outgoing, 40));
        assert_eq!(flows.flows.len(), MOST_FLOWS);
        assert!(flows.flows.contains_key(&FlowId(0)));
    }
}
