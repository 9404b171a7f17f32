//! Cliques of conflict graphs and fair rates.
//!
//! Flows and resources are lists; the rank of each is its index.

use airfair_optimum as optimum;
use airfair_optimum::{Binding, ConflictGraph, Flow, Problem, ProblemBuilder, WaterFilling};
use pyo3::prelude::*;

use crate::error::input_error;

/// Most vertices: the matrix of neighbours has 313 MB then.
const MOST_VERTICES: u32 = 50_000;

/// Weight, demand (`None`: no limit), and the cost at each resource.
type FlowOfPython = (f64, Option<f64>, Vec<(u32, f64)>);

/// All maximal cliques, and whether these are all.
#[pyfunction]
#[pyo3(signature = (vertices, edges, limit=optimum::DEFAULT_LIMIT), text_signature = "(vertices, edges, limit=1000000)")]
pub(crate) fn maximal_cliques(
    py: Python<'_>,
    vertices: u32,
    edges: Vec<(u32, u32)>,
    limit: usize,
) -> PyResult<(Vec<Vec<u32>>, bool)> {
    py.detach(|| {
        let listing = optimum::maximal_cliques(&graph(vertices, &edges)?, limit);
        Ok((listing.cliques().iter().map(<[u32]>::to_vec).collect(), listing.is_complete()))
    })
}

/// Max-min fair rates, and for each flow the resource that limits it (`None`: its demand).
#[pyfunction]
pub(crate) fn max_min_rates(
    py: Python<'_>,
    capacities: Vec<f64>,
    flows: Vec<FlowOfPython>,
) -> PyResult<(Vec<f64>, Vec<Option<u32>>)> {
    py.detach(|| {
        let mut filling = WaterFilling::new();
        let fair = filling.solve(&problem(&capacities, &flows)?);
        let resource = |binding: &Binding| match binding {
            Binding::Resource(resource) => Some(*resource),
            Binding::Demand => None,
        };
        Ok((fair.rates.clone(), fair.bindings.iter().map(resource).collect()))
    })
}

/// Proportionally fair rates, the prices of resources, and the gap that is proved.
#[pyfunction]
pub(crate) fn proportional_rates(
    py: Python<'_>,
    capacities: Vec<f64>,
    flows: Vec<FlowOfPython>,
) -> PyResult<(Vec<f64>, Vec<f64>, f64)> {
    py.detach(|| {
        let found = optimum::proportional(&problem(&capacities, &flows)?);
        let found = found.map_err(|error| input_error(error.to_string()))?;
        Ok((found.rates, found.prices, found.gap))
    })
}

/// Sets of links with the time that each has.
type Schedule = Vec<(Vec<u32>, f64)>;

/// Max-min fair rates that a schedule reaches, and the schedule: sets of links and their shares of the time.
#[pyfunction]
pub(crate) fn time_shared_rates(
    py: Python<'_>,
    capacities: Vec<f64>,
    edges: Vec<(u32, u32)>,
    flows: Vec<FlowOfPython>,
) -> PyResult<(Vec<f64>, Schedule)> {
    py.detach(|| {
        let graph = graph(capacities.len() as u32, &edges)?;
        let found = optimum::time_shared(&graph, &problem(&capacities, &flows)?);
        let found = found.map_err(|error| input_error(error.to_string()))?;
        Ok((found.rates, found.schedule))
    })
}

fn graph(vertices: u32, edges: &[(u32, u32)]) -> PyResult<ConflictGraph> {
    if vertices > MOST_VERTICES {
        return Err(input_error(format!("{vertices} vertices; expected at most {MOST_VERTICES}")));
    }
    let mut graph = ConflictGraph::with_vertices(vertices);
    for (i, &(a, b)) in edges.iter().enumerate() {
        graph.add_edge(a, b).map_err(|error| input_error(format!("edge {i}: {error}")))?;
    }
    Ok(graph)
}

fn problem(capacities: &[f64], flows: &[FlowOfPython]) -> PyResult<Problem> {
    let mut builder = ProblemBuilder::new();
    for (rank, &capacity) in (0..).zip(capacities) {
        builder.resource(rank, capacity);
    }
    for (rank, (weight, demand, costs)) in (0..).zip(flows) {
        let demand = demand.unwrap_or(f64::INFINITY);
        builder.flow(Flow { rank, weight: *weight, demand, costs });
    }
    builder.build().map_err(|error| input_error(error.to_string()))
}
