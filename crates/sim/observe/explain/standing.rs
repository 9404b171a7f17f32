//! Category of a flow's share beside the others of its run.

use crate::measure::summary::{FilesResult, FlowResult, RunResult};
use crate::spec::Traffic;

/// Category of a flow's goodput, relative to a reference: the mean goodput of the run's flows, or the flow's offered load if that is less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// No route to the flow's destination exists, or none was found.
    Unreachable,
    /// The flow's application had no data to send in the explained time.
    Silent,
    /// Starved by the result contract ([`crate::measure::summary::FlowResult::is_starved`]).
    Starved,
    /// Below 10 % of the reference.
    NearlyStarved,
    /// Below two thirds of the reference.
    Behind,
    /// At least two thirds of the reference.
    Fair,
    /// The flow's offered load is delivered.
    Content,
}

impl Standing {
    /// Name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Silent => "silent",
            Self::Starved => "starved",
            Self::NearlyStarved => "nearly-starved",
            Self::Behind => "behind",
            Self::Fair => "fair",
            Self::Content => "content",
        }
    }
}

/// Offered load of a flow's application, bit/s, if it sets a rate.
pub(super) fn offered_bps(traffic: &Traffic) -> Option<f64> {
    match traffic {
        Traffic::ConstantRate { rate, .. } | Traffic::Poisson { rate, .. } => Some(rate.as_bps() as f64),
        _ => None,
    }
}

/// The flows of a run with which one of them is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compared {
    /// Their mean goodput, bit/s; 0 without flows.
    pub mean_goodput_bps: f64,
    /// Their number.
    pub flows: usize,
}

impl Compared {
    /// The flows with traffic; with static routes those that have a route, since the others take nothing from anybody. Where a protocol
    /// finds routes, a flow of which nothing arrives may have had one.
    #[must_use]
    pub fn of(result: &RunResult, has_static_routes: bool) -> Self {
        let is_routed = |flow: &&FlowResult| !has_static_routes || flow.hops.is_some();
        let flows = result.flows.iter().filter(|flow| flow.has_traffic()).filter(is_routed).count();
        // Of the other flows nothing has arrived.
        Self { mean_goodput_bps: result.aggregate_goodput_bps() / flows.max(1) as f64, flows }
    }
}

/// Category of a flow. `is_backlogged`: its application seldom left its TCP without data.
pub(super) fn standing(
    result: &RunResult,
    flow: usize,
    compared: Compared,
    offered_bps: Option<f64>,
    is_backlogged: bool,
) -> Standing {
    let f = &result.flows[flow];
    if !f.has_traffic() {
        return Standing::Silent;
    }
    if f.is_starved(result.mean_goodput_bps()) {
        return Standing::Starved;
    }
    if is_content(f, offered_bps) || !is_backlogged {
        return Standing::Content;
    }
    match share(f, compared.mean_goodput_bps, offered_bps) {
        share if share < 0.1 => Standing::NearlyStarved,
        share if share < 2.0 / 3.0 => Standing::Behind,
        _ => Standing::Fair,
    }
}

/// Goodput of a flow as a share of the mean goodput of those with which it is compared, or of its offered load if that is less; infinite
/// if the offered load is delivered.
#[must_use]
pub fn share_of_due(compared: Compared, flow: &FlowResult, traffic: &Traffic) -> f64 {
    let offered = offered_bps(traffic);
    let share = share(flow, compared.mean_goodput_bps, offered);
    if is_content(flow, offered) { f64::INFINITY } else { share }
}

fn share(flow: &FlowResult, mean_bps: f64, offered_bps: Option<f64>) -> f64 {
    let due = offered_bps.map_or(mean_bps, |offered| offered.min(mean_bps));
    if due > 0.0 { flow.goodput_bps / due } else { 0.0 }
}

/// True if the offered load was delivered. A tenth less may be chance, or packets on their way.
fn is_content(flow: &FlowResult, offered_bps: Option<f64>) -> bool {
    let got_all = offered_bps.is_some_and(|offered| flow.goodput_bps >= 0.9 * offered);
    let many = |files: &FilesResult| files.finished as f64 >= 0.9 * files.started as f64;
    got_all || flow.completion_s.is_some() || flow.files.as_ref().is_some_and(many)
}
