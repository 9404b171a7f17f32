//! Proportionally fair rates: the sum over flows of weight times logarithm of the rate is largest (F. Kelly, A. Maulloo, D. Tan, "Rate
//! control for communication networks", Journal of the Operational Research Society 49(3), 1998).
//!
//! The optimum is characterised by a price λ(q) for each resource and μ(f) for each demand: with y(f) = Σ cost(f, q) λ(q) + μ(f),
//! `rate(f) y(f) = weight(f)`, and a price is above 0 only where the resource is full or the demand is met. An interior-point method
//! follows `rate y = weight`, `λ (capacity - used) = τ`, `μ (demand - rate) = τ` while τ falls to 0 (target following: B. Jansen, C. Roos,
//! T. Terlaky, J.-Ph. Vial, "Primal-dual target-following algorithms for linear programming", Annals of Operations Research 62, 1996;
//! here the targets of flows are their weights). Each step solves a dense system with a row for each flow.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use airfair_units::math;

use crate::cholesky;
use crate::maxmin::WaterFilling;
use crate::problem::Problem;

/// Most flows: the dense matrix has 32 MB then, and a step takes seconds.
pub const MAX_FLOWS: usize = 2000;

/// Gap at which the search ends, as a part of the smallest weight: the rate of that flow is accurate, too.
const ENOUGH: f64 = 1e-12;

/// Largest gap of a result.
const ACCEPTED: f64 = 1e-9;

const MAX_STEPS: usize = 200;

/// Constraints of a step between two looks at whether the caller wants the search to go on.
const BETWEEN_LOOKS: usize = 4096;

/// A proportionally fair allocation and what proves that there is none that is much better.
#[derive(Debug, Clone, PartialEq)]
pub struct Proportional {
    /// Rate of each flow. All constraints are satisfied, except for rounding.
    pub rates: Vec<f64>,
    /// Price of each resource: how much the sum of weight times ln(rate) would grow with a unit of capacity.
    pub prices: Vec<f64>,
    /// Upper bound of what the optimal allocation has more, in the sum of weight times ln(rate), divided by the sum of weights; at most
    /// 1e-9, usually below 1e-12. Where W is the sum of weights, the rate of a flow differs from its optimal rate by no more than
    /// sqrt(2 gap W / weight), relatively, and usually by far less.
    pub gap: f64,
}

/// Why there is no allocation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ProportionalError {
    /// More than [`MAX_FLOWS`].
    TooManyFlows(usize),
    /// A flow gets nothing in any allocation (a capacity or the demand is 0), and ln 0 is no number.
    NoRate {
        /// Index of the flow.
        flow: u32,
    },
    /// The search ended with a gap above 1e-9. Costs or weights that differ by many orders of magnitude can cause this.
    NotConverged {
        /// The gap, as in [`Proportional`].
        gap: f64,
    },
    /// The caller wanted no more of it.
    Stopped,
}

impl fmt::Display for ProportionalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyFlows(flows) => write!(f, "{flows} flows; expected at most {MAX_FLOWS}"),
            Self::NoRate { flow } => {
                write!(
                    f,
                    "flow {flow}: no allocation gives a rate above 0; expected a capacity and demand above 0"
                )
            }
            Self::NotConverged { gap } => {
                write!(f, "the search ended {gap:e} from the optimum; expected 1e-9")
            }
            Self::Stopped => write!(f, "the search was stopped"),
        }
    }
}

impl core::error::Error for ProportionalError {}

/// Computes the proportionally fair allocation of a problem.
///
/// # Errors
///
/// There are too many flows, a flow cannot have a rate above 0, or the search did not come close enough to the optimum.
pub fn proportional(problem: &Problem) -> Result<Proportional, ProportionalError> {
    proportional_until(problem, &|| false)
}

/// The same, unless `stop` is true: it is called before each step, and in each after some thousands of constraints.
///
/// # Errors
///
/// As [`proportional`], and `stop` was true.
pub fn proportional_until(
    problem: &Problem,
    stop: &dyn Fn() -> bool,
) -> Result<Proportional, ProportionalError> {
    let flows = problem.flow_count();
    if flows > MAX_FLOWS {
        return Err(ProportionalError::TooManyFlows(flows));
    }
    let mut filling = WaterFilling::new();
    let given = &problem.flows.given;
    let fair = filling.solve(problem);
    if let Some(&flow) = given.iter().find(|&&f| fair.rates[f as usize] <= 0.0) {
        return Err(ProportionalError::NoRate { flow });
    }
    let scale: Vec<f64> = given.iter().map(|&f| fair.rates[f as usize]).collect();
    let scaled = Scaled::new(problem, scale);
    let mut point = scaled.start();
    let least = scaled.weight.iter().copied().fold(1.0, f64::min);
    let mut sigma = 0.1;
    for _ in 0..MAX_STEPS {
        if scaled.gap(&point) <= ENOUGH * least {
            break;
        }
        let Some(length) = scaled.step(&mut point, sigma, stop)? else { break };
        // A short step means that the point is far from the path: back towards the path first.
        sigma = ((1.0 - length) * (1.0 - length)).clamp(0.01, 0.8);
    }
    scaled.make_feasible(&mut point);
    let gap = scaled.gap(&point).max(0.0);
    if gap.is_nan() || gap > ACCEPTED {
        return Err(ProportionalError::NotConverged { gap });
    }
    let mut rates = vec![0.0; flows];
    for (i, &f) in given.iter().enumerate() {
        rates[f as usize] = (point.x[i] * scaled.scale[i]).min(problem.demand[i]);
    }
    let mut prices = vec![0.0; problem.resource_count()];
    for (i, &q) in scaled.resources.iter().enumerate() {
        let price = point.price[i] * scaled.total_weight / problem.capacity[q];
        prices[problem.resources.given[q] as usize] = price;
    }
    Ok(Proportional { rates, prices, gap })
}

/// The problem with max-min fair rates as units of rates, capacities 1, and weights whose sum is 1. Constraints are the resources that
/// are used, then the finite demands (a row of one entry each).
struct Scaled {
    scale: Vec<f64>,
    total_weight: f64,
    weight: Vec<f64>,
    /// The resources, as places of the problem.
    resources: Vec<usize>,
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

/// Rates, free parts of constraints, and prices.
struct Point {
    x: Vec<f64>,
    free: Vec<f64>,
    price: Vec<f64>,
    /// Sum of costs times prices for each flow.
    y: Vec<f64>,
}

impl Scaled {
    fn new(problem: &Problem, scale: Vec<f64>) -> Self {
        let total_weight: f64 = problem.weight.iter().sum();
        let mut scaled = Self {
            weight: problem.weight.iter().map(|weight| weight / total_weight).collect(),
            scale,
            total_weight,
            resources: Vec::new(),
            starts: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
        };
        for (q, capacity) in problem.capacity.iter().enumerate() {
            if problem.by_resource.row(q).len() > 0 {
                scaled.resources.push(q);
                for (f, cost) in problem.by_resource.row(q) {
                    scaled.columns.push(f as usize);
                    scaled.values.push(cost * scaled.scale[f as usize] / capacity);
                }
                scaled.starts.push(scaled.columns.len());
            }
        }
        for (f, &demand) in problem.demand.iter().enumerate() {
            if demand.is_finite() {
                scaled.columns.push(f);
                scaled.values.push(scaled.scale[f] / demand);
                scaled.starts.push(scaled.columns.len());
            }
        }
        scaled
    }

    fn constraints(&self) -> usize {
        self.starts.len() - 1
    }

    fn row(&self, i: usize) -> (&[usize], &[f64]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// Used part of each constraint.
    fn used(&self, x: &[f64]) -> Vec<f64> {
        let sum =
            |(columns, values): (&[usize], &[f64])| columns.iter().zip(values).map(|(&f, a)| a * x[f]).sum();
        (0..self.constraints()).map(|i| sum(self.row(i))).collect()
    }

    /// For each flow, the sum over constraints of its cost times a number of the constraint.
    fn weighted(&self, numbers: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.weight.len()];
        for (i, number) in numbers.iter().enumerate() {
            let (columns, values) = self.row(i);
            for (&f, a) in columns.iter().zip(values) {
                sums[f] += a * number;
            }
        }
        sums
    }

    /// Half of the max-min fair rates, which leaves half of each constraint free, and prices in inverse proportion to what is free.
    fn start(&self) -> Point {
        let x = vec![0.5; self.weight.len()];
        let used = self.used(&x);
        let free: Vec<f64> = used.iter().map(|used| 1.0 - used).collect();
        let total: f64 = used.iter().zip(&free).map(|(used, free)| used / free).sum();
        let price: Vec<f64> = free.iter().map(|free| 1.0 / (free * total)).collect();
        let y = self.weighted(&price);
        Point { x, free, price, y }
    }

    /// An upper bound of the gain that is left to the optimum: all terms are at least 0.
    fn gap(&self, point: &Point) -> f64 {
        let slack: f64 = point.price.iter().zip(&point.free).map(|(price, free)| price * free).sum();
        let flows = point.x.iter().zip(&point.y).zip(&self.weight);
        let off: f64 = flows
            .map(|((x, y), weight)| {
                let ratio = x * y / weight;
                weight * minus_ln(ratio)
            })
            .sum();
        slack + off
    }

    /// A Newton step towards the targets, τ being `sigma` times its present mean. Returns the length of the step, at most 1; none if
    /// rounding makes a step impossible.
    fn step(
        &self,
        point: &mut Point,
        sigma: f64,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<f64>, ProportionalError> {
        let (n, m) = (self.weight.len(), self.constraints());
        let mean: f64 =
            point.price.iter().zip(&point.free).map(|(price, free)| price * free).sum::<f64>() / m as f64;
        let tau = sigma * mean;
        let mut matrix = vec![0.0; n * n];
        for f in 0..n {
            matrix[f * n + f] = point.y[f] / point.x[f];
        }
        for i in 0..m {
            if i % BETWEEN_LOOKS == 0 && stop() {
                return Err(ProportionalError::Stopped);
            }
            let (columns, values) = self.row(i);
            let ratio = point.price[i] / point.free[i];
            for (at, (&f, a)) in columns.iter().zip(values).enumerate() {
                let (row, a) = (&mut matrix[f * n..][..n], a * ratio);
                for (&g, b) in columns[..=at].iter().zip(values) {
                    row[g] += a * b;
                }
            }
        }
        let towards: Vec<f64> = point.free.iter().map(|free| tau / free).collect();
        let pull = self.weighted(&towards);
        let mut dx: Vec<f64> = (0..n).map(|f| self.weight[f] / point.x[f] - pull[f]).collect();
        if !cholesky::factor(&mut matrix, n) {
            return Ok(None);
        }
        cholesky::solve(&matrix, n, &mut dx);
        let more = self.used(&dx);
        let step_of_price = |i: usize| towards[i] - point.price[i] + point.price[i] / point.free[i] * more[i];
        let dprice: Vec<f64> = (0..m).map(step_of_price).collect();
        // 0.9 to 0.999 of the way to where a number would be 0; all of it if none would.
        let keep = (1.0 - mean).clamp(0.9, 0.999);
        let mut length = 1.0_f64;
        let falls = point.x.iter().zip(&dx).chain(point.price.iter().zip(&dprice));
        for (value, change) in falls {
            if *change < 0.0 {
                length = length.min(-keep * value / change);
            }
        }
        for (free, more) in point.free.iter().zip(&more) {
            if *more > 0.0 {
                length = length.min(keep * free / more);
            }
        }
        if length.is_nan() || length < 1e-12 {
            return Ok(None);
        }
        let advance = |values: &mut [f64], changes: &[f64], length: f64| {
            values.iter_mut().zip(changes).for_each(|(value, change)| *value += length * change);
        };
        advance(&mut point.x, &dx, length);
        advance(&mut point.free, &more, -length);
        advance(&mut point.price, &dprice, length);
        point.y = self.weighted(&point.price);
        Ok(Some(length))
    }

    /// Removes what rounding has put beyond a constraint, and computes the free parts anew.
    fn make_feasible(&self, point: &mut Point) {
        let most = self.used(&point.x).into_iter().fold(1.0, f64::max);
        point.x.iter_mut().for_each(|x| *x /= most);
        point.free = self.used(&point.x).into_iter().map(|used| 1.0 - used).collect();
    }
}

/// r - 1 - ln r, without cancellation near 1.
fn minus_ln(r: f64) -> f64 {
    let d = r - 1.0;
    if d.abs() < 1e-4 { d * d * (0.5 - d * (1.0 / 3.0 - d * 0.25)) } else { d - math::ln(r) }
}
