//! Max-min fair rates by water filling: the level of all flows rises until a resource is full or a demand is met; the flows concerned
//! keep their rates, the others rise on.
//!
//! D. Bertsekas, R. Gallager, "Data Networks", 2nd edition 1992, section 6.5.2; with weights, a flow's rate is its weight times the
//! level. An allocation is max-min fair exactly if each flow has met its demand or has a bottleneck: a full resource at which no other
//! flow has a higher level.
//!
//! Instead of visiting every resource in every round, the search keeps resources in a heap by the level at which they fill if no more
//! flows stop elsewhere. When a flow stops below this level, the level rises; an old value is therefore a lower bound, and a resource is
//! looked at again only when its lower bound is the smallest value. A resource costs as much as it has flows, whatever the number of
//! rounds.

use alloc::collections::BinaryHeap;
use alloc::collections::binary_heap::PeekMut;
use alloc::vec::Vec;

use crate::heap_entry::LeastFirst;
use crate::problem::Problem;
use crate::sum::Sum;

/// The reason why a flow has no higher rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// The flow has all that it asks for.
    Demand,
    /// This resource is full, and no flow that uses it has a higher level. Of several that are full at once, the one that filled first;
    /// of equals the one with the lowest rank.
    Resource(u32),
}

/// Rates, by flow.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Allocation {
    /// Rate of each flow.
    pub rates: Vec<f64>,
    /// The limit of each flow.
    pub bindings: Vec<Binding>,
}

/// Part of a sum below which what is left after subtractions is added up anew: costs of a resource may differ by more than the digits of
/// a sum.
const LEAST_LEFT: f64 = 1e-12;

/// Computes max-min fair allocations. The memory is kept from problem to problem: nothing is allocated for a problem that is no larger
/// than an earlier one.
#[derive(Debug, Clone, Default)]
pub struct WaterFilling {
    /// Resources by the level at which they fill, or a lower bound.
    heap: Vec<LeastFirst>,
    /// Flows with finite demands, by level of the demand.
    demands: Vec<(f64, u32)>,
    fixed: Vec<bool>,
    state: Vec<State>,
    /// Rates, in the order of ranks.
    rates: Vec<f64>,
    allocation: Allocation,
}

/// A resource while flows stop.
#[derive(Debug, Clone, Copy)]
struct State {
    /// Sum of cost times weight over the flows that still rise.
    weighted: Sum,
    /// This sum when it was last added up.
    added: f64,
    /// Capacity without the cost times rate of the others.
    left: Sum,
    /// Number of flows that still rise.
    rising: usize,
}

impl WaterFilling {
    /// Ready for any problem.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Computes the max-min fair allocation. Rates are accurate to about 1e-12, relatively: a resource can be overfull by that much.
    pub fn solve(&mut self, problem: &Problem) -> &Allocation {
        let flows = problem.flow_count();
        self.fixed.clear();
        self.fixed.resize(flows, false);
        self.state.clear();
        self.state.extend(problem.weighted.iter().enumerate().map(|(q, &weighted)| State {
            weighted,
            added: weighted.value(),
            left: Sum::from(problem.capacity[q]),
            rising: problem.by_resource.row(q).len(),
        }));
        self.rates.clear();
        self.rates.resize(flows, 0.0);
        self.allocation.bindings.clear();
        self.allocation.bindings.resize(flows, Binding::Demand);
        self.demands.clear();
        let levels = problem.demand.iter().zip(&problem.weight).map(|(demand, weight)| demand / weight);
        self.demands.extend(levels.zip(0..).filter(|(level, _)| level.is_finite()));
        self.demands.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut heap = core::mem::take(&mut self.heap);
        heap.clear();
        let levels = problem.capacity.iter().zip(&problem.weighted);
        let levels = levels.map(|(capacity, weighted)| capacity / weighted.value());
        let used = levels.zip(&self.state).zip(0..).filter(|((_, state), _)| state.rising > 0);
        heap.extend(used.map(|((level, _), resource)| LeastFirst { value: level, number: resource }));
        let mut heap = BinaryHeap::from(heap);
        self.fill(problem, &mut heap);
        self.heap = heap.into_vec();
        self.allocation.rates.clear();
        self.allocation.rates.extend(problem.flows.place.iter().map(|&place| self.rates[place as usize]));
        &self.allocation
    }

    fn fill(&mut self, problem: &Problem, heap: &mut BinaryHeap<LeastFirst>) {
        let mut rising = problem.flow_count();
        let mut next_demand = 0;
        while rising > 0 {
            while self.demands.get(next_demand).is_some_and(|&(_, f)| self.fixed[f as usize]) {
                next_demand += 1;
            }
            let demand = self.demands.get(next_demand);
            let first = heap.peek_mut();
            if let Some(&(level, f)) = demand
                && first.as_ref().is_none_or(|first| level <= first.value)
            {
                drop(first);
                self.stop(problem, f as usize, problem.demand[f as usize], Binding::Demand);
                self.count(problem, f as usize);
                rising -= 1;
                continue;
            }
            // A flow that still rises has a demand or a resource.
            let Some(mut first) = first else { return };
            let q = first.number as usize;
            let state = &self.state[q];
            if state.rising == 0 {
                PeekMut::pop(first);
                continue;
            }
            let left = state.left.value();
            let level = if left > 0.0 { left / state.weighted.value() } else { 0.0 };
            if level > first.value {
                first.value = level;
                continue;
            }
            // Nobody needs the sums after the last flows.
            let last = state.rising == rising;
            let level = PeekMut::pop(first).value;
            let binding = Binding::Resource(problem.resources.given[q]);
            for (f, _) in problem.by_resource.row(q) {
                let f = f as usize;
                if !self.fixed[f] {
                    self.stop(problem, f, problem.weight[f] * level, binding);
                    if !last {
                        self.count(problem, f);
                    }
                    rising -= 1;
                }
            }
        }
    }

    fn stop(&mut self, problem: &Problem, f: usize, rate: f64, binding: Binding) {
        self.fixed[f] = true;
        self.rates[f] = rate;
        self.allocation.bindings[problem.flows.given[f] as usize] = binding;
    }

    /// Counts a flow that has stopped at its resources.
    fn count(&mut self, problem: &Problem, f: usize) {
        let (rate, weight) = (self.rates[f], problem.weight[f]);
        for (q, cost) in problem.by_flow.row(f) {
            let state = &mut self.state[q as usize];
            state.rising -= 1;
            state.weighted.add(-cost * weight);
            state.left.add(-cost * rate);
            if state.rising > 0 && state.weighted.value() < LEAST_LEFT * state.added {
                let mut sum = Sum::default();
                for (rising, cost) in problem.by_resource.row(q as usize) {
                    if !self.fixed[rising as usize] {
                        sum.add(cost * problem.weight[rising as usize]);
                    }
                }
                state.weighted = sum;
                state.added = sum.value();
            }
        }
    }
}
