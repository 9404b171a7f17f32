//! Max-min fair allocation among links, at the controller (§III-C).
//!
//! The most constraining clique is that with the smallest ratio of residual capacity to unassigned one-hop sub-flows. All flows that pass
//! it and have no rate yet get this ratio, on all of their links, which lowers the residuals of other cliques; and so on until all flows
//! have a rate. A flow that passes several links of a clique counts once for each.
//!
//! Readings:
//! - A clique shares time, not bits: a sub-flow takes `cost` of it, seconds per bit, which is 1/C of its link, and all flows that a clique
//!   assigns at once get the same rate, not the same time. With equal links this is the paper's count of sub-flows.
//! - The share of a link is the sum of the rates of its flows: what other flows leave over at a link is no part of its share.
//! - Without demands all flows take what they get (§III-C knows none). A finite demand, if a caller has one (§III-E estimates them), stops
//!   its flow there, and the others divide the rest.
//! - Ties go to the clique that the list of cliques has first, which is an order of links and not of their numbers.
//!
//! A flow's row of cliques is added up once. Cliques stand in a heap by a lower bound of their ratio, which only grows while flows get
//! rates elsewhere: a clique is looked at again when it comes first. So a clique costs as much as it has flows, whatever the number of
//! rounds, and the time grows linearly. Nothing is allocated for a problem that is no larger than an earlier one.

use alloc::collections::BinaryHeap;
use alloc::collections::binary_heap::PeekMut;
use alloc::vec::Vec;

use airfair_optimum::{Cliques, LeastFirst};

/// The smallest and the largest number of a kind that is not 0: products and quotients of three of them are neither 0 nor infinite.
const SMALLEST: f64 = 1e-60;
const LARGEST: f64 = 1e60;

/// Part of a sum below which what is left of it after subtractions is added up anew.
const LEAST_LEFT: f64 = 1e-3;

/// Which cliques each link is in, and how much its use counts there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Constraints {
    /// Where the row of each link begins, and where the last one ends.
    starts: Vec<u32>,
    cliques: Vec<u32>,
    weights: Vec<f64>,
    count: usize,
}

impl Constraints {
    /// The constraints of a list of cliques. `weight` says how much a link's use counts in a clique, given the links of the clique: 1, or
    /// more where the link inhibits another ([`super::capacity::CapacityConfig::weight`]).
    #[must_use]
    pub fn new(cliques: &Cliques, mut weight: impl FnMut(u32, &[u32]) -> f64) -> Self {
        let links = cliques.iter().flatten().max().map_or(0, |&link| link as usize + 1);
        let mut constraints = Self { count: cliques.len(), ..Self::default() };
        constraints.starts.resize(links + 1, 0);
        for &link in cliques.iter().flatten() {
            constraints.starts[link as usize + 1] += 1;
        }
        for link in 0..links {
            constraints.starts[link + 1] += constraints.starts[link];
        }
        let mut next = constraints.starts.clone();
        let members = constraints.starts[links] as usize;
        constraints.cliques.resize(members, 0);
        constraints.weights.resize(members, 0.0);
        for (clique, members) in (0..).zip(cliques.iter()) {
            for &link in members {
                let at = next[link as usize] as usize;
                next[link as usize] += 1;
                constraints.cliques[at] = clique;
                constraints.weights[at] = usable(weight(link, members));
            }
        }
        constraints
    }

    /// Number of cliques.
    #[must_use]
    pub const fn clique_count(&self) -> usize {
        self.count
    }

    /// The cliques of a link, ascending, with the weight of its use in each; none for an unknown link.
    pub fn of(&self, link: u32) -> impl ExactSizeIterator<Item = (u32, f64)> + '_ {
        let range = match (self.starts.get(link as usize), self.starts.get(link as usize + 1)) {
            (Some(&start), Some(&end)) => start as usize..end as usize,
            _ => 0..0,
        };
        self.cliques[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }
}

/// Flows with their routes.
#[derive(Debug, Clone, Default)]
pub struct Flows {
    ranks: Vec<u64>,
    demands: Vec<f64>,
    ends: Vec<u32>,
    hops: Vec<u32>,
    /// Air that flows take beside their data: where the entries of each end, links, seconds for each bit of data.
    answer_ends: Vec<u32>,
    answers: Vec<(u32, f64)>,
}

impl Flows {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all flows and keeps the memory.
    pub fn clear(&mut self) {
        self.ranks.clear();
        self.demands.clear();
        self.ends.clear();
        self.hops.clear();
        self.answer_ends.clear();
        self.answers.clear();
    }

    /// Adds a flow over these links; returns its index. `rank`: its place in the order of computation, a number made from its name, so that
    /// results do not depend on the order of flows; no two flows have the same. `demand`: bit/s, `INFINITY` if it takes what it gets.
    pub fn push(&mut self, rank: u64, demand: f64, hops: impl IntoIterator<Item = u32>) -> usize {
        self.hops.extend(hops);
        self.ends.push(self.hops.len() as u32);
        self.answer_ends.push(self.answers.len() as u32);
        self.demands.push(if demand == f64::INFINITY { demand } else { usable(demand) });
        self.ranks.push(rank);
        self.ranks.len() - 1
    }

    /// The flow that was added last also takes air of this link in the other direction: `time` for each bit of its data, seconds.
    pub fn answered(&mut self, link: u32, time: f64) {
        self.answers.push((link, usable(time)));
        if let Some(end) = self.answer_ends.last_mut() {
            *end = self.answers.len() as u32;
        }
    }

    /// Air that a flow takes beside its data: link, and seconds for each bit of data.
    #[must_use]
    pub fn answers(&self, flow: usize) -> &[(u32, f64)] {
        self.answers.get(row(&self.answer_ends, flow)).unwrap_or_default()
    }

    /// Number of flows.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.ranks.len()
    }

    /// True if there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }

    /// The links of a flow, from its source on.
    #[must_use]
    pub fn hops(&self, flow: usize) -> &[u32] {
        let start = if flow == 0 { 0 } else { self.ends[flow - 1] };
        &self.hops[start as usize..self.ends[flow] as usize]
    }
}

/// The limit that decides the rate of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The clique that assigned the rate.
    Clique(u32),
    /// The flow gets its demand.
    Demand,
    /// No link of the flow is in a clique, and it has no demand: its rate is infinite.
    Nothing,
}

/// The result.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Assignment {
    /// Rate of each flow, bit/s.
    pub rates: Vec<f64>,
    /// The limit of each flow.
    pub limits: Vec<Limit>,
    /// Share of each link, bit/s: the sum of the rates of its sub-flows.
    pub links: Vec<f64>,
}

/// Computes allocations, and keeps its memory from one to the next.
#[derive(Debug, Clone, Default)]
pub struct Allocator {
    /// Flows in the order of ranks.
    order: Vec<u32>,
    /// Rows of flows in this order: cliques, and the time that a bit of the flow takes of each.
    row_ends: Vec<u32>,
    row_cliques: Vec<u32>,
    row_costs: Vec<f64>,
    /// Columns: the flows of each clique, as places in the order.
    column_ends: Vec<u32>,
    column_flows: Vec<u32>,
    /// For each clique, the cost that the current flow has so far, or 0.
    adding: Vec<f64>,
    cliques: Vec<Clique>,
    demands: Vec<(f64, u32)>,
    /// Cliques by their ratio, or a lower bound.
    heap: Vec<LeastFirst>,
    /// Rates in the order of ranks; negative: none yet.
    rates: Vec<f64>,
    assignment: Assignment,
    steps: u64,
}

/// A clique while rates are assigned.
#[derive(Debug, Clone, Copy)]
struct Clique {
    /// Capacity that no assigned flow has.
    residual: f64,
    /// Sum of the costs of unassigned flows, and this sum when it was last added up.
    weight: f64,
    added: f64,
    /// Number of unassigned flows.
    unassigned: u32,
}

/// A number that cannot spoil a sum: 0, or from [`SMALLEST`] to [`LARGEST`].
fn usable(number: f64) -> f64 {
    if number > 0.0 { number.clamp(SMALLEST, LARGEST) } else { 0.0 }
}

/// The range of a row, given where rows end.
fn row(ends: &[u32], at: usize) -> core::ops::Range<usize> {
    let start = if at == 0 { 0 } else { ends[at - 1] };
    start as usize..ends[at] as usize
}

impl Allocator {
    /// Ready for any problem.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Assigns rates. `capacity`: of each clique, in seconds of air per second, 1 if the clique has all that a lone link has; missing ones
    /// are 0. `cost`: of each link, seconds per bit. A link without a number in `cost`, or with 0, takes no air and has no limit. Numbers
    /// below 0 and NaN count as 0.
    pub fn solve(
        &mut self,
        constraints: &Constraints,
        capacity: &[f64],
        cost: &[f64],
        flows: &Flows,
    ) -> &Assignment {
        self.order.clear();
        self.order.extend(0..flows.len() as u32);
        self.order.sort_unstable_by_key(|&flow| (flows.ranks[flow as usize], flow));
        self.cliques.clear();
        let capacities =
            (0..constraints.count).map(|clique| usable(capacity.get(clique).copied().unwrap_or(0.0)));
        self.cliques.extend(capacities.map(|capacity| Clique {
            residual: capacity,
            weight: 0.0,
            added: 0.0,
            unassigned: 0,
        }));
        self.add_rows(constraints, cost, flows);
        self.add_columns();
        self.assignment.limits.clear();
        self.assignment.limits.resize(flows.len(), Limit::Nothing);
        self.rates.clear();
        self.rates.resize(flows.len(), -1.0);
        self.fill(flows);
        self.assignment.rates.clear();
        self.assignment.rates.resize(flows.len(), 0.0);
        self.assignment.links.clear();
        self.assignment.links.resize(cost.len(), 0.0);
        for (place, &flow) in self.order.iter().enumerate() {
            let rate = self.rates[place];
            self.assignment.rates[flow as usize] = rate;
            for &link in flows.hops(flow as usize) {
                if let Some(share) = self.assignment.links.get_mut(link as usize) {
                    *share += rate;
                }
            }
        }
        &self.assignment
    }

    /// The last result.
    #[must_use]
    pub const fn assignment(&self) -> &Assignment {
        &self.assignment
    }

    /// The steps that the last result has cost: pairs of a hop and a clique of its link, looks at the clique that comes first, and flows
    /// of cliques that were added up anew.
    #[must_use]
    pub const fn steps(&self) -> u64 {
        self.steps
    }

    fn add_rows(&mut self, constraints: &Constraints, cost: &[f64], flows: &Flows) {
        self.row_ends.clear();
        self.row_cliques.clear();
        self.row_costs.clear();
        self.adding.clear();
        self.adding.resize(constraints.count, 0.0);
        self.steps = 0;
        for &flow in &self.order {
            let start = self.row_cliques.len();
            let cost = |&link: &u32| (link, usable(cost.get(link as usize).copied().unwrap_or(0.0)));
            let hops = flows.hops(flow as usize).iter().map(cost);
            for (link, cost) in hops.chain(flows.answers(flow as usize).iter().copied()) {
                let cliques = constraints.of(link);
                self.steps += cliques.len() as u64;
                for (clique, weight) in cliques {
                    let taken = weight * cost;
                    let sum = &mut self.adding[clique as usize];
                    if *sum <= 0.0 && taken > 0.0 {
                        self.row_cliques.push(clique);
                    }
                    *sum += taken;
                }
            }
            self.row_cliques[start..].sort_unstable();
            for &clique in &self.row_cliques[start..] {
                let taken = core::mem::take(&mut self.adding[clique as usize]);
                self.row_costs.push(taken);
                let state = &mut self.cliques[clique as usize];
                state.weight += taken;
                state.unassigned += 1;
            }
            self.row_ends.push(self.row_cliques.len() as u32);
        }
    }

    fn add_columns(&mut self) {
        self.column_ends.clear();
        let mut end = 0;
        for state in &mut self.cliques {
            state.added = state.weight;
            // For now where the column starts.
            self.column_ends.push(end);
            end += state.unassigned;
        }
        self.column_flows.resize(end as usize, 0);
        for place in 0..self.order.len() {
            for at in row(&self.row_ends, place) {
                let next = &mut self.column_ends[self.row_cliques[at] as usize];
                self.column_flows[*next as usize] = place as u32;
                *next += 1;
            }
        }
    }

    fn fill(&mut self, flows: &Flows) {
        self.demands.clear();
        for (place, &flow) in self.order.iter().enumerate() {
            let demand = flows.demands[flow as usize];
            if demand < f64::INFINITY {
                self.demands.push((demand, place as u32));
            } else if row(&self.row_ends, place).is_empty() {
                self.rates[place] = f64::INFINITY;
            }
        }
        self.demands.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut heap = core::mem::take(&mut self.heap);
        heap.clear();
        let used = (0..).zip(&self.cliques).filter(|(_, state)| state.unassigned > 0);
        heap.extend(used.map(|(clique, state)| LeastFirst { value: state.ratio(), number: clique }));
        let mut heap = BinaryHeap::from(heap);
        let mut next_demand = 0;
        // The last rate that was assigned: no later one is smaller, but for rounding.
        let mut level: f64 = 0.0;
        loop {
            while self.demands.get(next_demand).is_some_and(|&(_, place)| self.rates[place as usize] >= 0.0) {
                next_demand += 1;
            }
            let demand = self.demands.get(next_demand).copied();
            self.steps += 1;
            let Some(mut first) = heap.peek_mut() else {
                let Some((demand, place)) = demand else { break };
                self.assign(place, demand, Limit::Demand);
                continue;
            };
            let state = self.cliques[first.number as usize];
            if state.unassigned == 0 {
                PeekMut::pop(first);
                continue;
            }
            if let Some((demand, place)) = demand
                && demand <= first.value
            {
                drop(first);
                level = level.max(demand);
                self.assign(place, demand, Limit::Demand);
                continue;
            }
            let ratio = state.ratio();
            if ratio > first.value {
                first.value = ratio;
                continue;
            }
            let clique = PeekMut::pop(first).number;
            level = level.max(ratio);
            for at in row(&self.column_ends, clique as usize) {
                let place = self.column_flows[at];
                if self.rates[place as usize] < 0.0 {
                    self.assign(place, level, Limit::Clique(clique));
                }
            }
        }
        self.heap = heap.into_vec();
    }

    /// Gives a flow its rate, on all of its links.
    fn assign(&mut self, place: u32, rate: f64, limit: Limit) {
        self.rates[place as usize] = rate;
        self.assignment.limits[self.order[place as usize] as usize] = limit;
        for at in row(&self.row_ends, place as usize) {
            let (clique, cost) = (self.row_cliques[at], self.row_costs[at]);
            let state = &mut self.cliques[clique as usize];
            state.unassigned -= 1;
            state.weight -= cost;
            state.residual -= cost * rate;
            if state.unassigned > 0 && state.weight < LEAST_LEFT * state.added {
                self.add_up(clique);
            }
        }
    }

    /// Adds up what unassigned flows take of a clique.
    fn add_up(&mut self, clique: u32) {
        let mut weight = 0.0;
        let column = row(&self.column_ends, clique as usize);
        self.steps += column.len() as u64;
        for at in column {
            let place = self.column_flows[at] as usize;
            if self.rates[place] < 0.0 {
                let range = row(&self.row_ends, place);
                let found = self.row_cliques[range.clone()].binary_search(&clique);
                weight += found.map_or(0.0, |found| self.row_costs[range.start + found]);
            }
        }
        let state = &mut self.cliques[clique as usize];
        (state.weight, state.added) = (weight, weight);
    }
}

impl Clique {
    /// Residual capacity by what the unassigned sub-flows take.
    fn ratio(&self) -> f64 {
        if self.residual > 0.0 { self.residual / self.weight } else { 0.0 }
    }
}
