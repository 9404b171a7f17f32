//! The exact rates that a schedule can reach for a few links: at each moment a set of links without conflicts is active, and the sets
//! share the time.
//!
//! The inequalities of cliques are the same as this in perfect graphs and weaker in others: in a cycle of five links the cliques allow
//! each link half of the time, and a schedule gives each two fifths.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::cliques::{Cliques, maximal_cliques};
use crate::graph::ConflictGraph;
use crate::problem::{Problem, RANGE};
use crate::simplex::{self, Vertex};

/// Most links: 12 have at most 3^4 = 81 maximal independent sets (J. Moon, L. Moser, "On cliques in graphs", Israel Journal of
/// Mathematics 3, 1965).
pub const MAX_LINKS: usize = 12;

/// Parts of a price nearer to 0 are rounding; the largest is about 1.
const NO_PRICE: f64 = 1e-9;

/// Max-min fair rates and the schedule that reaches them.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeShared {
    /// Rate of each flow.
    pub rates: Vec<f64>,
    /// Sets of links that are active together, each with its share of the time, above 0. The sum of shares is at most 1.
    pub schedule: Vec<(Vec<u32>, f64)>,
}

/// Why there are no rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeSharingError {
    /// More than [`MAX_LINKS`].
    TooManyLinks(usize),
    /// The resources of the problem are not the vertices of the graph.
    NotTheLinks {
        /// Resources of the problem.
        resources: usize,
        /// Vertices of the graph.
        vertices: usize,
    },
    /// Rounding has made a linear program unsolvable: capacities or costs differ by too many orders of magnitude.
    Unsolvable,
}

impl fmt::Display for TimeSharingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyLinks(links) => write!(f, "{links} links; expected at most {MAX_LINKS}"),
            Self::NotTheLinks { resources, vertices } => write!(
                f,
                "{resources} resources and {vertices} vertices; expected resource i to be vertex i of the graph"
            ),
            Self::Unsolvable => {
                f.write_str("rounding prevents a solution; expected numbers nearer to one another")
            }
        }
    }
}

impl core::error::Error for TimeSharingError {}

/// Computes max-min fair rates under time sharing. Resource i of `problem` is the link that vertex i of `graph` stands for; its capacity
/// is what the link carries in a unit of time if it is always active. Rates are accurate to about 1e-9, relatively, if weights, costs and
/// capacities lie within four orders of magnitude each; to about 1e-4 beyond, or there is no solution.
///
/// Levels rise together as in water filling. A linear program finds how far; the flows whose links have a price then are stopped by
/// every schedule.
///
/// # Errors
///
/// There are too many links, graph and problem do not fit, or rounding prevents a solution.
pub fn time_shared(graph: &ConflictGraph, problem: &Problem) -> Result<TimeShared, TimeSharingError> {
    let links = problem.resource_count();
    if links > MAX_LINKS {
        return Err(TimeSharingError::TooManyLinks(links));
    }
    let vertices = graph.vertices().count();
    if links != vertices || links != graph.number_bound() {
        return Err(TimeSharingError::NotTheLinks { resources: links, vertices });
    }
    // At most 81: never incomplete.
    let listing = maximal_cliques(&graph.complement(), usize::MAX);
    let sets = listing.cliques();
    let mut rising = Rising::new(problem);
    let mut shares = Vec::new();
    while !rising.done() {
        shares = rising.round(problem, sets)?;
    }
    let mut rates = vec![0.0; problem.flow_count()];
    for (i, &f) in problem.flows.given.iter().enumerate() {
        rates[f as usize] = rising.rates[i].unwrap_or(0.0);
    }
    let schedule = sets.iter().zip(shares).filter(|(_, share)| *share > 0.0);
    Ok(TimeShared { rates, schedule: schedule.map(|(set, share)| (set.to_vec(), share)).collect() })
}

/// Flows by place, with the rates of those that have stopped.
struct Rising {
    rates: Vec<Option<f64>>,
}

impl Rising {
    /// Flows that nothing can serve have stopped.
    fn new(problem: &Problem) -> Self {
        let dead = |f: usize| problem.by_flow.row(f).any(|(q, _)| problem.capacity[q as usize] == 0.0);
        Self { rates: (0..problem.flow_count()).map(|f| dead(f).then_some(0.0)).collect() }
    }

    fn done(&self) -> bool {
        self.rates.iter().all(Option::is_some)
    }

    /// For each link the share of the time that stopped flows need, and the share that a unit of level needs.
    fn loads(&self, problem: &Problem) -> (Vec<f64>, Vec<f64>) {
        let (mut fixed, mut slope) =
            (vec![0.0; problem.resource_count()], vec![0.0; problem.resource_count()]);
        for (q, &capacity) in problem.capacity.iter().enumerate().filter(|(_, capacity)| **capacity > 0.0) {
            for (f, cost) in problem.by_resource.row(q) {
                match self.rates[f as usize] {
                    Some(rate) => fixed[q] += cost * rate / capacity,
                    None => slope[q] += cost * problem.weight[f as usize] / capacity,
                }
            }
        }
        (fixed, slope)
    }

    /// Lets the flows rise until at least one stops; returns the shares of the sets.
    fn round(&mut self, problem: &Problem, sets: &Cliques) -> Result<Vec<f64>, TimeSharingError> {
        let (fixed, slope) = self.loads(problem);
        let level_of_demand = |f: usize| problem.demand[f] / problem.weight[f];
        let rising: Vec<usize> = (0..self.rates.len()).filter(|&f| self.rates[f].is_none()).collect();
        let demand = rising.iter().map(|&f| level_of_demand(f)).fold(f64::INFINITY, f64::min);
        let steepest = slope.iter().copied().fold(0.0, f64::max);
        // A level at which the steepest link would be active all the time, so that the program's numbers are at most 1.
        let unit = if steepest > 0.0 { 1.0 / steepest } else { demand.max(*RANGE.start()) };
        let most = (demand / unit).min(2.0);
        let Vertex { value, x, prices } = program(problem, sets, &fixed, &slope, unit, most)?;
        let level = value * unit;
        let met = level >= demand * (1.0 - 1e-12);
        let mut stopped = false;
        for &f in rising.iter().filter(|&&f| met && level_of_demand(f) <= demand) {
            self.rates[f] = Some(problem.demand[f]);
            stopped = true;
        }
        // Parts of links of the price of a level, whose sum is at most 1. A flow stops by its links, not by its own part, which may be
        // tiny.
        let has_price: Vec<bool> =
            prices.iter().zip(&slope).map(|(price, slope)| price * slope * unit > NO_PRICE).collect();
        for &f in &rising {
            let is_held = problem.by_flow.row(f).any(|(q, _)| has_price[q as usize]);
            if self.rates[f].is_none() && is_held {
                self.rates[f] = Some(problem.weight[f] * level);
                stopped = true;
            }
        }
        if stopped { Ok(x[1..].to_vec()) } else { Err(TimeSharingError::Unsolvable) }
    }
}

/// Maximises the level, in units of `unit` and at most `most`: the first variable; the others are the shares of the sets.
fn program(
    problem: &Problem,
    sets: &Cliques,
    fixed: &[f64],
    slope: &[f64],
    unit: f64,
    most: f64,
) -> Result<Vertex, TimeSharingError> {
    let variables = sets.len() + 1;
    let mut matrix = vec![vec![0.0; variables]; slope.len()];
    for (row, slope) in matrix.iter_mut().zip(slope) {
        row[0] = slope * unit;
    }
    for (i, set) in sets.iter().enumerate() {
        for &link in set {
            let place = problem.resources.place[link as usize];
            matrix[place as usize][i + 1] = -1.0;
        }
    }
    let mut bounds: Vec<f64> = fixed.iter().map(|fixed| -fixed).collect();
    let mut all = vec![1.0; variables];
    all[0] = 0.0;
    matrix.push(all);
    bounds.push(1.0);
    let mut objective = vec![0.0; variables];
    objective[0] = 1.0;
    matrix.push(objective.clone());
    bounds.push(most);
    simplex::maximise(&matrix, &bounds, &objective).ok_or(TimeSharingError::Unsolvable)
}
