//! The rows of `compare --json`: statistics over the seeds, computed here so that the same runs give the same bytes.
//!
//! Differences are paired by seed: schemes share their seeds, so an effect of a seed on all of them cancels.

use std::collections::{BTreeMap, BTreeSet};

use airfair_sim::measure::statistics::{self, OptimumShares, estimate, median, optimum_shares, share};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize, Serializer};

use crate::contract::json;
use crate::error::input_error;
use crate::precision::{Precision, Target};
use crate::verdict::BesideRow;

/// The part of a run that is read. Numbers may be missing: a run without deliveries has no delay, one of an older version may lack keys.
#[derive(Deserialize)]
struct Run {
    scheme: String,
    seed: u64,
    flows: Vec<Flow>,
    jain_index: Option<f64>,
    log_utility: f64,
    aggregate_goodput_bps: f64,
    min_goodput_bps: f64,
    starved_flows: f64,
    mean_delay_s: Option<f64>,
    p99_delay_s: Option<f64>,
    rtt_s: Option<f64>,
    retransmissions: Option<f64>,
    loss_ratio: Option<f64>,
    completion_s: Option<f64>,
    drops: Option<BTreeMap<String, u64>>,
    stations: Option<Vec<Station>>,
    #[serde(default)]
    window_jain: Vec<Window>,
    warnings: Vec<String>,
    perf: Perf,
    /// Shares of the best rates, where a comparison has these; within, none if no flow that has traffic has a best rate.
    #[serde(skip)]
    optimum: Option<Option<OptimumShares>>,
}

/// A number of a whole run.
type OfRun = fn(&Run) -> Option<f64>;

/// The numbers of a row, in the order in which they are written.
const NUMBERS: [(&str, OfRun); 14] = [
    ("jain_index", |r| r.jain_index),
    ("log_utility", |r| Some(r.log_utility)),
    ("aggregate_goodput_bps", |r| Some(r.aggregate_goodput_bps)),
    ("min_goodput_bps", |r| Some(r.min_goodput_bps)),
    ("starved_flows", |r| Some(r.starved_flows)),
    ("mean_flow_delay_s", |r| r.over_flows(|f| f.mean_delay_s)),
    ("p99_flow_delay_s", |r| r.over_flows(|f| f.p99_delay_s)),
    ("mean_flow_loss_ratio", |r| r.over_flows(|f| f.loss_ratio)),
    ("mean_delay_s", |r| r.mean_delay_s),
    ("p99_delay_s", |r| r.p99_delay_s),
    ("rtt_s", |r| r.rtt_s),
    ("retransmissions", |r| r.retransmissions),
    ("loss_ratio", |r| r.loss_ratio),
    ("completion_s", |r| r.completion_s),
];

/// Further numbers of a row, where a comparison has the best rates.
const OPTIMUM_NUMBERS: [(&str, OfRun); 2] = [
    ("optimum_share_min", |r| Some(r.optimum??.least)),
    ("optimum_share_total", |r| Some(r.optimum??.total)),
];

#[derive(Deserialize)]
struct Flow {
    id: String,
    goodput_bps: f64,
    offered_bytes: Option<u64>,
    delivered_bytes: Option<u64>,
    delivered_packets: Option<f64>,
    mean_delay_s: Option<f64>,
    p99_delay_s: Option<f64>,
    rtt_s: Option<f64>,
    retransmissions: Option<f64>,
    loss_ratio: Option<f64>,
    completion_s: Option<f64>,
    files: Option<Files>,
    forwarding: Option<Forwarding>,
    #[serde(skip)]
    max_min_bps: Option<f64>,
}

impl Flow {
    /// Goodput and best rate of a flow that has traffic and such a rate.
    fn beside_optimum(&self) -> Option<(f64, f64)> {
        Some((self.goodput_bps, self.max_min_bps?)).filter(|_| self.has_traffic())
    }

    /// As a result has it.
    fn has_traffic(&self) -> bool {
        self.offered_bytes != Some(0) || self.delivered_bytes != Some(0)
    }
}

/// Further numbers of a flow's row, where a comparison has the best rates.
const OPTIMUM_FLOW_NUMBERS: [(&str, OfFlow); 1] =
    [("optimum_share", |f| f.beside_optimum().map(|(rate, best)| rate / best))];

/// Further numbers of a flow's row, where forwarders carry a flow of the comparison; none for what they have not sent.
const FORWARDING_NUMBERS: [(&str, OfFlow); 2] = [
    ("broadcasts_per_packet", |f| {
        let of = f.forwarding.as_ref()?;
        // A forwarder need not tell what nodes hold, as one that sends packets as they are.
        let new = if of.innovative > 0.0 { of.innovative } else { f.delivered_packets? };
        (new > 0.0).then(|| of.broadcasts / new)
    }),
    ("late_share", |f| {
        let of = f.forwarding.as_ref().filter(|of| of.broadcasts + of.late > 0.0)?;
        Some(of.late / (of.broadcasts + of.late))
    }),
];

#[derive(Deserialize)]
struct Forwarding {
    broadcasts: f64,
    late: f64,
    innovative: f64,
}

#[derive(Deserialize)]
struct Files {
    mean_completion_s: Option<f64>,
}

/// A number of a flow of a run.
type OfFlow = fn(&Flow) -> Option<f64>;

/// The numbers of a flow's row, in the order in which they are written.
const FLOW_NUMBERS: [(&str, OfFlow); 7] = [
    ("goodput_bps", |f| Some(f.goodput_bps)),
    ("mean_delay_s", |f| f.mean_delay_s),
    ("p99_delay_s", |f| f.p99_delay_s),
    ("rtt_s", |f| f.rtt_s),
    ("retransmissions", |f| f.retransmissions),
    ("loss_ratio", |f| f.loss_ratio),
    ("completion_s", |f| f.completion_s.or_else(|| f.files.as_ref()?.mean_completion_s)),
];

#[derive(Deserialize)]
struct Station {
    node: String,
    radio: String,
    airtime_ns: Airtime,
}

/// Nanoseconds.
#[derive(Deserialize)]
struct Airtime {
    transmit: u64,
    receive: u64,
    busy: u64,
    nav: u64,
    idle: u64,
}

impl Airtime {
    fn share(&self, state: fn(&Self) -> u64) -> f64 {
        let all = self.transmit + self.receive + self.busy + self.nav + self.idle;
        if all == 0 { 0.0 } else { state(self) as f64 / all as f64 }
    }
}

#[derive(Deserialize)]
struct Window {
    window_s: f64,
    mean: Option<f64>,
    p10: Option<f64>,
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
    /// None for the first scheme.
    #[serde(skip_serializing_if = "Option::is_none")]
    beside: Option<BesideRow>,
    /// Values of the scenario that only this row has; none if it has none of its own.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    settings: &'a [String],
    flows: Vec<FlowRow<'a>>,
    seeds: Vec<u64>,
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    window_jain: Vec<WindowRow>,
    /// None where runs lack the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    drops: Option<BTreeMap<&'a str, Option<Estimate>>>,
    /// None where there are no such flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<ContentRow<'a>>,
    /// None where runs lack the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<Vec<ChannelRow<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    precision: Option<Precision>,
    perf: PerfRow,
}

/// Estimates by name, in their order; none where no run has the number.
pub(crate) struct Numbers(Vec<(&'static str, Option<Estimate>)>);

impl Numbers {
    /// The estimate of this name, if there is such a name.
    pub fn get(&self, name: &str) -> Option<&Option<Estimate>> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, estimate)| estimate)
    }
}

impl Serialize for Numbers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, estimate)| (name, estimate)))
    }
}

#[derive(Serialize)]
pub(crate) struct FlowRow<'a> {
    pub id: &'a str,
    #[serde(flatten)]
    pub numbers: Numbers,
    pub difference: Numbers,
}

/// Flows whose offered load is below their fair share and is delivered, with every scheme and seed, and Jain's index of the others.
#[derive(Serialize)]
struct ContentRow<'a> {
    flows: Vec<&'a str>,
    jain_index: Option<Estimate>,
}

/// Jain's index in windows of one length; none where no run has a window that counts.
#[derive(Serialize)]
pub(crate) struct WindowRow {
    pub window_s: f64,
    /// Of the means of the runs.
    pub jain_index: Option<Estimate>,
    /// Of the value that a tenth of a run's windows do not exceed.
    p10: Option<Estimate>,
    /// Of the means, to the first scheme.
    difference: Option<Estimate>,
}

/// Shares of time of a radio in its five states, over the whole run.
#[derive(Serialize)]
struct ChannelRow<'a> {
    node: &'a str,
    radio: &'a str,
    transmit: Option<Estimate>,
    receive: Option<Estimate>,
    busy: Option<Estimate>,
    nav: Option<Estimate>,
    idle: Option<Estimate>,
}

/// The cost of all runs of the row together; `peak_rss_bytes` is the largest.
#[derive(Serialize)]
struct PerfRow {
    events: u64,
    transmissions: u64,
    wall_s: f64,
    peak_rss_bytes: u64,
}

#[derive(Serialize, Clone, Copy)]
pub(crate) struct Estimate {
    pub mean: f64,
    pub ci95: Option<f64>,
    /// How many runs have the number, where not all have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<usize>,
}

/// Mean and interval of the values that there are; none where there is none.
fn over(values: impl Iterator<Item = Option<f64>>) -> Option<Estimate> {
    let all: Vec<Option<f64>> = values.collect();
    let have: Vec<f64> = all.iter().copied().flatten().collect();
    let statistics::Estimate { mean, ci95 } = estimate(&have)?;
    Some(Estimate { mean, ci95, runs: (have.len() < all.len()).then_some(have.len()) })
}

/// Mean and interval of a number.
fn mean(runs: &[Run], number: impl Fn(&Run) -> Option<f64>) -> Option<Estimate> {
    over(runs.iter().map(number))
}

/// Mean and interval of the differences between two groups, run by run: they share their seeds.
fn between(runs: &[Run], first: &[Run], number: impl Fn(&Run) -> Option<f64>) -> Option<Estimate> {
    over(runs.iter().zip(first).map(|(a, b)| Some(number(a)? - number(b)?)))
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

/// True if every run of every group can be compared with that of the first group that has its place.
fn comparable(groups: &[Vec<Run>]) -> bool {
    let Some(first) = groups.first().filter(|g| !g.is_empty()) else { return groups.is_empty() };
    let radios = |r: &Run| {
        let list = r.stations.as_ref()?;
        Some(list.iter().map(|s| (s.node.clone(), s.radio.clone())).collect::<Vec<_>>())
    };
    let same = |a: &Run, b: &Run| {
        a.flows.iter().map(|f| &f.id).eq(b.flows.iter().map(|f| &f.id))
            && a.window_jain.iter().map(|w| w.window_s).eq(b.window_jain.iter().map(|w| w.window_s))
            && radios(a) == radios(b)
    };
    groups.iter().all(|g| {
        g.len() == first.len()
            && g.windows(2).all(|w| w[0].seed < w[1].seed)
            && g.iter()
                .zip(first)
                .all(|(a, b)| a.seed == b.seed && a.scheme == g[0].scheme && same(a, &first[0]))
    })
}

fn window(runs: &[Run], first: &[Run], i: usize) -> WindowRow {
    let of = |r: &Run| r.window_jain[i].mean;
    WindowRow {
        window_s: runs[0].window_jain[i].window_s,
        jain_index: mean(runs, of),
        p10: mean(runs, |r| r.window_jain[i].p10),
        difference: between(runs, first, of),
    }
}

/// Drops by reason; none where a run lacks them.
fn drops(runs: &[Run]) -> Option<BTreeMap<&str, Option<Estimate>>> {
    let told = runs.iter().map(|r| r.drops.as_ref()).collect::<Option<Vec<_>>>()?;
    let reasons: BTreeSet<&str> = told.iter().flat_map(|drops| drops.keys().map(String::as_str)).collect();
    let count = |r: &Run, reason| Some(r.drops.as_ref()?.get(reason).copied().unwrap_or(0) as f64);
    Some(reasons.into_iter().map(|reason| (reason, mean(runs, |r| count(r, reason)))).collect())
}

/// Radio states of every radio; none where a run lacks them.
fn channel(runs: &[Run]) -> Option<Vec<ChannelRow<'_>>> {
    let told = runs.iter().map(|r| r.stations.as_deref()).collect::<Option<Vec<_>>>()?;
    let row = |i: usize| {
        let share = |state: fn(&Airtime) -> u64| {
            mean(runs, |r| Some(r.stations.as_ref()?[i].airtime_ns.share(state)))
        };
        ChannelRow {
            node: &told[0][i].node,
            radio: &told[0][i].radio,
            transmit: share(|a| a.transmit),
            receive: share(|a| a.receive),
            busy: share(|a| a.busy),
            nav: share(|a| a.nav),
            idle: share(|a| a.idle),
        }
    };
    Some((0..told[0].len()).map(row).collect())
}

/// Up to a tenth of the offered load may be missing by chance, or be on its way: as in `explain`.
const ALL_ASKED_FOR: f64 = 0.9;

impl Run {
    /// True if a flow's offered load is below the mean goodput of the flows with traffic, and is delivered.
    fn is_content(&self, flow: &Flow, mean_bps: f64) -> bool {
        let (Some(offered), Some(delivered)) = (flow.offered_bytes, flow.delivered_bytes) else {
            return false;
        };
        delivered > 0 && delivered as f64 >= ALL_ASKED_FOR * offered as f64 && flow.goodput_bps < mean_bps
    }

    /// The mean over the flows that have the number, each of which counts once.
    fn over_flows(&self, number: OfFlow) -> Option<f64> {
        let mut values: Vec<f64> = self.flows.iter().filter_map(number).collect();
        values.sort_by(f64::total_cmp); // sums do not depend on the order of the file
        estimate(&values).map(|over| over.mean)
    }

    /// Adds the shares of these max-min rates, by flow. A rate of zero has no shares.
    fn add_optimum(&mut self, max_min_bps: &BTreeMap<String, f64>) {
        for flow in &mut self.flows {
            flow.max_min_bps = max_min_bps.get(&flow.id).copied().filter(|&best| best > 0.0);
        }
        let flows: Vec<(f64, f64)> = self.flows.iter().filter_map(Flow::beside_optimum).collect();
        self.optimum = Some(optimum_shares(&flows));
    }

    fn mean_goodput_bps(&self) -> f64 {
        self.aggregate_goodput_bps / self.flows.iter().filter(|f| f.has_traffic()).count().max(1) as f64
    }
}

/// For each flow: true if the flow is content in all runs of all groups.
fn content(groups: &[Vec<Run>]) -> Vec<bool> {
    let Some(first) = groups.first().and_then(|group| group.first()) else { return Vec::new() };
    let mut content = vec![true; first.flows.len()];
    for run in groups.iter().flatten() {
        let mean = run.mean_goodput_bps();
        for (content, flow) in content.iter_mut().zip(&run.flows) {
            *content &= run.is_content(flow, mean);
        }
    }
    content
}

fn content_row<'a>(runs: &'a [Run], content: &[bool]) -> Option<ContentRow<'a>> {
    let among = |run: &'a Run, wanted: bool| {
        run.flows.iter().zip(content).filter(move |(_, content)| **content == wanted).map(|(flow, _)| flow)
    };
    let flows: Vec<&str> = among(&runs[0], true).map(|flow| flow.id.as_str()).collect();
    let others = |run: &'a Run| -> Vec<f64> {
        let traffic = among(run, false).filter(|flow| flow.has_traffic());
        let mut goodputs: Vec<f64> = traffic.map(|flow| flow.goodput_bps).collect();
        goodputs.sort_by(f64::total_cmp); // sums do not depend on the order of the file
        goodputs
    };
    let jain_index = over(runs.iter().map(|run| statistics::jain_index(&others(run))));
    (!flows.is_empty()).then_some(ContentRow { flows, jain_index })
}

fn row<'a>(
    runs: &'a [Run],
    first: &'a [Run],
    settings: &'a [String],
    content: &[bool],
    forwarded: bool,
    wanted: Option<&Target>,
) -> PyResult<Row<'a>> {
    let forwarding_numbers = if forwarded { &FORWARDING_NUMBERS[..] } else { &[] };
    let (optimum_numbers, optimum_flow_numbers) = match runs[0].optimum {
        Some(_) => (&OPTIMUM_NUMBERS[..], &OPTIMUM_FLOW_NUMBERS[..]),
        None => Default::default(),
    };
    let flows = runs[0].flows.iter().enumerate().map(|(i, flow)| {
        let each = |of: &dyn Fn(OfFlow) -> Option<Estimate>| {
            let all = FLOW_NUMBERS.iter().chain(forwarding_numbers).chain(optimum_flow_numbers);
            Numbers(all.map(|&(name, number)| (name, of(number))).collect())
        };
        FlowRow {
            id: &flow.id,
            numbers: each(&|number| mean(runs, |r| number(&r.flows[i]))),
            difference: each(&|number| between(runs, first, |r| number(&r.flows[i]))),
        }
    });
    let flows: Vec<FlowRow<'_>> = flows.collect();
    let each = |of: &dyn Fn(OfRun) -> Option<Estimate>| {
        let all = NUMBERS.iter().chain(optimum_numbers);
        Numbers(all.map(|&(name, number)| (name, of(number))).collect())
    };
    let numbers = each(&|number| mean(runs, number));
    let difference = each(&|number| between(runs, first, number));
    let beside = (!std::ptr::eq(runs, first)).then(|| BesideRow::of(&flows, &numbers, &difference));
    let windows: Vec<WindowRow> = (0..runs[0].window_jain.len()).map(|i| window(runs, first, i)).collect();
    let mut warnings: Vec<String> = Vec::new();
    for warning in runs.iter().flat_map(|r| &r.warnings) {
        if !warnings.contains(warning) {
            warnings.push(warning.clone());
        }
    }
    let precision = wanted.map(|w| w.reached(&numbers, &flows, &windows)).transpose()?;
    warnings.extend(precision.as_ref().and_then(|p| p.warning(&runs[0].scheme, runs.len())));
    if runs.len() == 2 {
        // Student's t: 12.7 standard errors with two values, 2.8 with five.
        warnings.push("2 seeds are too few: a 95 % interval is 12.7 standard errors wide on each side; with 5 it is 2.8".to_string());
    }
    Ok(Row {
        scheme: &runs[0].scheme,
        runs: runs.len(),
        numbers,
        baseline: &first[0].scheme,
        difference,
        beside,
        settings,
        flows,
        seeds: runs.iter().map(|r| r.seed).collect(),
        warnings,
        window_jain: windows,
        drops: drops(runs),
        content: content_row(runs, content),
        channel: channel(runs),
        precision,
        perf: PerfRow {
            events: runs.iter().map(|r| r.perf.events).sum(),
            transmissions: runs.iter().map(|r| r.perf.transmissions).sum(),
            wall_s: runs.iter().map(|r| r.perf.wall_s).sum(),
            peak_rss_bytes: runs.iter().map(|r| r.perf.peak_rss_bytes).max().unwrap_or(0),
        },
    })
}

/// Rows of `compare --json`, one for each group of runs (JSON of `Scenario.run`): a group is a scheme, all groups have
/// the same seeds and flows, and differences are to the first. With a `target`, a share of the mean, each row says how wide the 95 %
/// intervals of the `statistics` are; with `max_min_bps`, rates by flow, each row and flow has its shares of these. `settings`: of each
/// group the values of the scenario that only its runs have; none where all have the same.
#[pyfunction]
#[pyo3(
    signature = (groups, target=None, statistics=Vec::new(), max_min_bps=None, settings=Vec::new()),
    text_signature = "(groups, target=None, statistics=(), max_min_bps=None, settings=())"
)]
pub(crate) fn summarise(
    py: Python<'_>,
    groups: Vec<Vec<String>>,
    target: Option<f64>,
    statistics: Vec<String>,
    max_min_bps: Option<BTreeMap<String, f64>>,
    settings: Vec<Vec<String>>,
) -> PyResult<String> {
    py.detach(|| {
        let wanted = target.map(|target| Target { target, statistics });
        let mut groups = groups.iter().map(|g| read(g)).collect::<PyResult<Vec<_>>>()?;
        if let Some(rates) = &max_min_bps {
            groups.iter_mut().flatten().for_each(|run| run.add_optimum(rates));
        }
        if !comparable(&groups) {
            let problem = "expected runs of one scenario, a group for each scheme, all with the same seeds";
            return Err(input_error(problem.to_string()));
        }
        let content = content(&groups);
        let mut flows = groups.iter().flatten().flat_map(|run| &run.flows);
        let forwarded = flows.any(|flow| flow.forwarding.is_some());
        let rows = groups.iter().enumerate().map(|(i, group)| {
            let own = settings.get(i).map_or(&[][..], Vec::as_slice);
            row(group, &groups[0], own, &content, forwarded, wanted.as_ref())
        });
        json(&rows.collect::<PyResult<Vec<_>>>()?)
    })
}

/// Mean and half-width of the 95 % confidence interval (None for one value) of independent values, at least one.
#[pyfunction(name = "estimate")]
pub(crate) fn estimate_of(values: Vec<f64>) -> PyResult<(f64, Option<f64>)> {
    let e = estimate(&values).ok_or_else(|| input_error("no value: expected at least one".to_string()))?;
    Ok((e.mean, e.ci95))
}

/// A value and the ends of its interval, `None` where there are too few values for one.
type Interval = (f64, Option<(f64, f64)>);

/// The median of independent values, at least one, and the ends of its 95 % confidence interval (None below six values).
#[pyfunction(name = "median")]
pub(crate) fn median_of(values: Vec<f64>) -> PyResult<Interval> {
    let found = median(&values).ok_or_else(|| input_error("no value: expected at least one".to_string()))?;
    Ok((found.value, found.ends))
}

/// The share of hits in independent trials, at least one, and the ends of its 95 % confidence interval (None for one).
#[pyfunction(name = "share")]
pub(crate) fn share_of(hits: u32, trials: u32) -> PyResult<Interval> {
    let found =
        share(hits, trials).ok_or_else(|| input_error("no trial: expected at least one".to_string()))?;
    Ok((found.value, found.ends))
}
