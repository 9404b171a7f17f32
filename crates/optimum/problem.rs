//! Allocation problems: resources with capacities, flows that use them.
//!
//! For each resource q: the sum over flows f of `cost(f, q) * rate(f)` is at most `capacity(q)`; each rate is at most the flow's demand.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::ops::RangeInclusive;

use crate::cliques::{Cliques, Membership};
use crate::sum::Sum;

/// Numbers that are not 0 have to be in this range, so that no product or quotient of them overflows.
pub const RANGE: RangeInclusive<f64> = 1e-60..=1e60;

/// A flow as a caller describes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flow<'c> {
    /// Place in the order of computation; no other flow may have this rank. A hash of the flow's name makes results independent of the
    /// order of flows to the last bit.
    pub rank: u64,
    /// Share in comparison with other flows, above 0. Usually 1.
    pub weight: f64,
    /// Rate that the flow does not exceed, at least 0; `INFINITY` if nothing but resources limits the flow.
    pub demand: f64,
    /// Resources (as the builder numbers them) with the amount of each that a unit of rate takes. Those of one resource are summed; a
    /// cost of 0 is as none.
    pub costs: &'c [(u32, f64)],
}

/// Why there is no problem to solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ProblemError {
    /// A number that cannot be used.
    Number {
        /// The owner of the number: "flow" or "resource".
        of: &'static str,
        /// Index of the flow or resource.
        index: u32,
        /// The meaning of the number.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// A flow has a cost at a resource that does not exist.
    NoResource {
        /// Index of the flow.
        flow: u32,
        /// The resource.
        resource: u32,
    },
    /// Two flows, or two resources, have the same rank.
    SameRank {
        /// "flow" or "resource".
        of: &'static str,
        /// The rank.
        rank: u64,
    },
    /// A flow has neither a finite demand nor a cost.
    Unlimited {
        /// Index of the flow.
        flow: u32,
    },
    /// A flow or resource that does not exist was to be changed.
    NoSuch {
        /// "flow" or "resource".
        of: &'static str,
        /// The index.
        index: u32,
    },
}

impl fmt::Display for ProblemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number { of, index, what, value } => {
                let or = match *what {
                    "weight" => "",
                    "demand" => ", 0 or infinity",
                    _ => ", or 0",
                };
                write!(f, "{of} {index}: {what} {value:e}; expected a number from 1e-60 to 1e60{or}")
            }
            Self::NoResource { flow, resource } => {
                write!(f, "flow {flow}: there is no resource {resource}")
            }
            Self::SameRank { of, rank } => write!(f, "two {of}s have rank {rank}; expected different ranks"),
            Self::Unlimited { flow } => {
                write!(f, "flow {flow} has no limit; expected a finite demand or a cost above 0")
            }
            Self::NoSuch { of, index } => write!(f, "there is no {of} {index}"),
        }
    }
}

impl core::error::Error for ProblemError {}

/// Collects resources and flows.
#[derive(Debug, Clone, Default)]
pub struct ProblemBuilder {
    /// Rank and capacity.
    resources: Vec<(u64, f64)>,
    /// Rank, weight and demand.
    flows: Vec<(u64, f64, f64)>,
    /// Where the costs of each flow end.
    ends: Vec<usize>,
    costs: Vec<(u32, f64)>,
}

impl ProblemBuilder {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a resource; returns its index. No other resource may have the rank: see [`Flow::rank`].
    pub fn resource(&mut self, rank: u64, capacity: f64) -> u32 {
        self.resources.push((rank, capacity));
        self.resources.len() as u32 - 1
    }

    /// Adds a resource for each clique; ranks follow the order of the cliques. As the first resources they have the indices of the
    /// cliques, which [`Self::routed_flow`] needs.
    pub fn cliques(&mut self, cliques: &Cliques, capacity: f64) {
        for i in 0..cliques.len() {
            self.resource(i as u64, capacity);
        }
    }

    /// Adds a flow; returns its index.
    pub fn flow(&mut self, flow: Flow<'_>) -> u32 {
        self.costs.extend_from_slice(flow.costs);
        self.finish_flow(flow.rank, flow.weight, flow.demand)
    }

    /// Adds a flow that uses links, each with a cost (seconds per bit), and so all cliques of these links; returns its index. The
    /// `costs` of the flow are by link.
    pub fn routed_flow(&mut self, flow: Flow<'_>, membership: &Membership) -> u32 {
        for &(link, cost) in flow.costs {
            self.costs.extend(membership.of(link).iter().map(|&clique| (clique, cost)));
        }
        self.finish_flow(flow.rank, flow.weight, flow.demand)
    }

    fn finish_flow(&mut self, rank: u64, weight: f64, demand: f64) -> u32 {
        self.ends.push(self.costs.len());
        self.flows.push((rank, weight, demand));
        self.flows.len() as u32 - 1
    }

    /// Checks everything and sorts by rank.
    ///
    /// # Errors
    ///
    /// A number is out of range, a resource does not exist, ranks are equal, or a flow has no limit.
    pub fn build(&self) -> Result<Problem, ProblemError> {
        let resources = Order::of("resource", self.resources.iter().map(|resource| resource.0))?;
        let flows = Order::of("flow", self.flows.iter().map(|flow| flow.0))?;
        let mut problem = Problem { resources, flows, ..Problem::default() };
        for &q in &problem.resources.given {
            problem.capacity.push(check("resource", q, "capacity", self.resources[q as usize].1)?);
        }
        let mut row: Vec<(u32, f64)> = Vec::new();
        problem.by_flow.starts.push(0);
        for &f in &problem.flows.given {
            let (_, weight, demand) = self.flows[f as usize];
            problem.weight.push(check("flow", f, "weight", weight)?);
            problem.demand.push(check("flow", f, "demand", demand)?);
            let start = if f == 0 { 0 } else { self.ends[f as usize - 1] };
            row.clear();
            for &(resource, cost) in &self.costs[start..self.ends[f as usize]] {
                let Some(&q) = problem.resources.place.get(resource as usize) else {
                    return Err(ProblemError::NoResource { flow: f, resource });
                };
                if check("flow", f, "cost", cost)? > 0.0 {
                    row.push((q, cost));
                }
            }
            // Costs of a resource are summed from the smallest, whatever their order.
            row.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            if row.is_empty() && demand == f64::INFINITY {
                return Err(ProblemError::Unlimited { flow: f });
            }
            problem.by_flow.push_row(&row);
        }
        problem.by_resource = problem.by_flow.transposed(problem.capacity.len());
        for q in 0..problem.capacity.len() {
            let mut sum = Sum::default();
            for (f, cost) in problem.by_resource.row(q) {
                sum.add(cost * problem.weight[f as usize]);
            }
            problem.weighted.push(sum);
        }
        Ok(problem)
    }
}

fn check(of: &'static str, index: u32, what: &'static str, value: f64) -> Result<f64, ProblemError> {
    let extra = match what {
        "weight" => false,
        "demand" => value == 0.0 || value == f64::INFINITY,
        _ => value == 0.0,
    };
    if extra || RANGE.contains(&value) {
        // Without the sign of a zero.
        Ok(value + 0.0)
    } else {
        Err(ProblemError::Number { of, index, what, value })
    }
}

/// The order by rank: all computation is in this order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Order {
    /// Index as given, by place.
    pub(crate) given: Vec<u32>,
    /// Place, by index as given.
    pub(crate) place: Vec<u32>,
}

impl Order {
    fn of(of: &'static str, ranks: impl Iterator<Item = u64>) -> Result<Self, ProblemError> {
        let mut sorted: Vec<(u64, u32)> = ranks.zip(0..).collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(ProblemError::SameRank { of, rank: pair[0].0 });
        }
        let mut place = vec![0; sorted.len()];
        for (i, &(_, given)) in sorted.iter().enumerate() {
            place[given as usize] = i as u32;
        }
        Ok(Self { given: sorted.iter().map(|&(_, given)| given).collect(), place })
    }
}

/// Rows of a sparse matrix: columns and values.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rows {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Rows {
    /// Adds a row of sorted entries; those of one column are summed.
    fn push_row(&mut self, entries: &[(u32, f64)]) {
        let start = self.columns.len();
        for &(column, value) in entries {
            if self.columns[start..].last() == Some(&column) {
                if let Some(last) = self.values.last_mut() {
                    *last += value;
                }
            } else {
                self.columns.push(column);
                self.values.push(value);
            }
        }
        self.starts.push(self.columns.len());
    }

    fn transposed(&self, columns: usize) -> Self {
        let mut starts = vec![0; columns + 1];
        for &column in &self.columns {
            starts[column as usize + 1] += 1;
        }
        for q in 0..columns {
            starts[q + 1] += starts[q];
        }
        let mut next = starts.clone();
        let mut other =
            Self { starts, columns: vec![0; self.columns.len()], values: vec![0.0; self.columns.len()] };
        for row in 0..self.starts.len().saturating_sub(1) {
            for (column, value) in self.row(row) {
                let at = &mut next[column as usize];
                other.columns[*at] = row as u32;
                other.values[*at] = value;
                *at += 1;
            }
        }
        other
    }

    /// Columns and values of a row.
    pub(crate) fn row(&self, row: usize) -> impl ExactSizeIterator<Item = (u32, f64)> + '_ {
        let range = self.starts[row]..self.starts[row + 1];
        self.columns[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }
}

/// A problem that was checked. Indices of its methods are those that the builder returned.
#[derive(Debug, Clone, Default)]
pub struct Problem {
    pub(crate) flows: Order,
    pub(crate) resources: Order,
    pub(crate) capacity: Vec<f64>,
    pub(crate) weight: Vec<f64>,
    pub(crate) demand: Vec<f64>,
    pub(crate) by_flow: Rows,
    pub(crate) by_resource: Rows,
    /// Sum over flows of cost times weight, for each resource.
    pub(crate) weighted: Vec<Sum>,
}

impl Problem {
    /// Number of flows.
    #[must_use]
    pub fn flow_count(&self) -> usize {
        self.weight.len()
    }

    /// Number of resources.
    #[must_use]
    pub fn resource_count(&self) -> usize {
        self.capacity.len()
    }

    /// Changes the capacity of a resource.
    ///
    /// # Errors
    ///
    /// There is no such resource, or the number is out of range.
    pub fn set_capacity(&mut self, resource: u32, capacity: f64) -> Result<(), ProblemError> {
        let none = ProblemError::NoSuch { of: "resource", index: resource };
        let place = *self.resources.place.get(resource as usize).ok_or(none)?;
        self.capacity[place as usize] = check("resource", resource, "capacity", capacity)?;
        Ok(())
    }

    /// Changes the demand of a flow.
    ///
    /// # Errors
    ///
    /// There is no such flow, the number is out of range, or the flow would have no limit.
    pub fn set_demand(&mut self, flow: u32, demand: f64) -> Result<(), ProblemError> {
        let none = ProblemError::NoSuch { of: "flow", index: flow };
        let place = *self.flows.place.get(flow as usize).ok_or(none)? as usize;
        let demand = check("flow", flow, "demand", demand)?;
        if demand == f64::INFINITY && self.by_flow.row(place).len() == 0 {
            return Err(ProblemError::Unlimited { flow });
        }
        self.demand[place] = demand;
        Ok(())
    }

    /// How much of a resource is used at these rates, by flow; 0 if there is no such resource. Summed in the order of ranks.
    #[must_use]
    pub fn used(&self, resource: u32, rates: &[f64]) -> f64 {
        let Some(&place) = self.resources.place.get(resource as usize) else { return 0.0 };
        let mut sum = Sum::default();
        for (f, cost) in self.by_resource.row(place as usize) {
            let given = self.flows.given[f as usize] as usize;
            sum.add(cost * rates.get(given).copied().unwrap_or(0.0));
        }
        sum.value()
    }
}
