//! The rows of `compare --json`: statistics over the seeds, computed here so that the same runs give the same bytes.

use airfair_sim::measure::statistics::{self, estimate};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use crate::contract::json;
use crate::error::input_error;

/// What is read of a run.
#[derive(Deserialize)]
struct Run {
    scheme: String,
    seed: u64,
    flows: Vec<Flow>,
    jain_index: f64,
    log_utility: f64,
    aggregate_goodput_bps: f64,
    min_goodput_bps: f64,
    starved_flows: f64,
    warnings: Vec<String>,
    perf: Perf,
}

#[derive(Deserialize)]
struct Flow {
    id: String,
    goodput_bps: f64,
}

#[derive(Deserialize)]
struct Perf {
    events: u64,
    transmissions: u64,
    wall_s: f64,
    peak_rss_bytes: u64,
}

#[derive(Serialize)]
struct Row<'a> {
    scheme: &'a str,
    runs: usize,
    #[serde(flatten)]
    numbers: Numbers,
    /// The scheme that `difference` is a difference to.
    baseline: &'a str,
    difference: Numbers,
    flows: Vec<FlowRow<'a>>,
    seeds: Vec<u64>,
    warnings: Vec<&'a str>,
    perf: PerfRow,
}

#[derive(Serialize)]
struct Numbers {
    jain_index: Estimate,
    log_utility: Estimate,
    aggregate_goodput_bps: Estimate,
    min_goodput_bps: Estimate,
    starved_flows: Estimate,
}

#[derive(Serialize)]
struct FlowRow<'a> {
    id: &'a str,
    goodput_bps: Estimate,
    difference: Estimate,
}

/// What all runs of the row cost together; `peak_rss_bytes` is the largest.
#[derive(Serialize)]
struct PerfRow {
    events: u64,
    transmissions: u64,
    wall_s: f64,
    peak_rss_bytes: u64,
}

#[derive(Serialize)]
struct Estimate {
    mean: f64,
    ci95: Option<f64>,
}

impl From<statistics::Estimate> for Estimate {
    fn from(e: statistics::Estimate) -> Self {
        Self { mean: e.mean, ci95: e.ci95 }
    }
}

/// Mean and interval of one number of every run. There is at least one run.
fn over(runs: &[Run], number: impl Fn(&Run) -> f64) -> PyResult<Estimate> {
    let values: Vec<f64> = runs.iter().map(number).collect();
    estimate(&values).map(Estimate::from).ok_or_else(|| input_error("no runs to summarise".to_string()))
}

/// Mean and interval of the differences between two groups, run by run: they share their seeds.
fn between(runs: &[Run], first: &[Run], number: impl Fn(&Run) -> f64) -> PyResult<Estimate> {
    let values: Vec<f64> = runs.iter().zip(first).map(|(a, b)| number(a) - number(b)).collect();
    estimate(&values).map(Estimate::from).ok_or_else(|| input_error("no runs to summarise".to_string()))
}

fn numbers(of: impl Fn(fn(&Run) -> f64) -> PyResult<Estimate>) -> PyResult<Numbers> {
    Ok(Numbers {
        jain_index: of(|r| r.jain_index)?,
        log_utility: of(|r| r.log_utility)?,
        aggregate_goodput_bps: of(|r| r.aggregate_goodput_bps)?,
        min_goodput_bps: of(|r| r.min_goodput_bps)?,
        starved_flows: of(|r| r.starved_flows)?,
    })
}

fn read(texts: &[String]) -> PyResult<Vec<Run>> {
    let mut runs = texts
        .iter()
        .map(|t| {
            serde_json::from_str::<Run>(t).map_err(|e| input_error(format!("not the result of a run: {e}")))
        })
        .collect::<PyResult<Vec<_>>>()?;
    runs.sort_by_key(|r| r.seed);
    Ok(runs)
}

/// Whether every run of every group can be compared with that of the first group that has its place.
fn comparable(groups: &[Vec<Run>]) -> bool {
    let Some(first) = groups.first().filter(|g| !g.is_empty()) else { return groups.is_empty() };
    let ids = |r: &Run| r.flows.iter().map(|f| f.id.clone()).collect::<Vec<_>>();
    let flows = ids(&first[0]);
    groups.iter().all(|g| {
        g.len() == first.len()
            && g.windows(2).all(|w| w[0].seed < w[1].seed)
            && g.iter()
                .zip(first)
                .all(|(a, b)| a.seed == b.seed && a.scheme == g[0].scheme && ids(a) == flows)
    })
}

fn row<'a>(runs: &'a [Run], first: &'a [Run]) -> PyResult<Row<'a>> {
    let flows = runs[0].flows.iter().enumerate().map(|(i, flow)| {
        let goodput = |r: &Run| r.flows[i].goodput_bps;
        Ok(FlowRow {
            id: &flow.id,
            goodput_bps: over(runs, goodput)?,
            difference: between(runs, first, goodput)?,
        })
    });
    let mut warnings: Vec<&str> = Vec::new();
    for warning in runs.iter().flat_map(|r| &r.warnings) {
        if !warnings.contains(&warning.as_str()) {
            warnings.push(warning);
        }
    }
    Ok(Row {
        scheme: &runs[0].scheme,
        runs: runs.len(),
        numbers: numbers(|n| over(runs, n))?,
        baseline: &first[0].scheme,
        difference: numbers(|n| between(runs, first, n))?,
        flows: flows.collect::<PyResult<_>>()?,
        seeds: runs.iter().map(|r| r.seed).collect(),
        warnings,
        perf: PerfRow {
            events: runs.iter().map(|r| r.perf.events).sum(),
            transmissions: runs.iter().map(|r| r.perf.transmissions).sum(),
            wall_s: runs.iter().map(|r| r.perf.wall_s).sum(),
            peak_rss_bytes: runs.iter().map(|r| r.perf.peak_rss_bytes).max().unwrap_or(0),
        },
    })
}

/// Rows of `compare --json`, one for each group of runs (JSON of `Scenario.run`): a group is a scheme, all groups have
/// the same seeds and flows, and differences are to the first.
#[pyfunction]
pub(crate) fn summarise(py: Python<'_>, groups: Vec<Vec<String>>) -> PyResult<String> {
    py.detach(|| {
        let groups = groups.iter().map(|g| read(g)).collect::<PyResult<Vec<_>>>()?;
        if !comparable(&groups) {
            let problem = "expected runs of one scenario, a group for each scheme, all with the same seeds";
            return Err(input_error(problem.to_string()));
        }
        json(&groups.iter().map(|g| row(g, &groups[0])).collect::<PyResult<Vec<_>>>()?)
    })
}
