//! How a flow fares beside the others of its run.

use crate::measure::summary::RunResult;
use crate::spec::Traffic;

/// How a flow fares: its goodput measured by the mean goodput of the run's flows, or by what it asks for if that is less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// There is no route to its destination.
    Unreachable,
    /// Its application has had nothing to send in the time that counts.
    Silent,
    /// Starved, by the result contract ([`crate::measure::summary::FlowResult::is_starved`]).
    Starved,
    /// Below 10 %.
    NearlyStarved,
    /// Below two thirds.
    Behind,
    /// At least as much.
    Fair,
    /// Its application asks for no more than it gets.
    Content,
}

impl Standing {
    /// Its name in results.
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

/// What a flow's application asks for, bit/s, if it sets a rate.
pub(super) fn offered_bps(traffic: &Traffic) -> Option<f64> {
    match traffic {
        Traffic::ConstantRate { rate, .. } | Traffic::Poisson { rate, .. } => Some(rate.as_bps() as f64),
        _ => None,
    }
}

/// `asks_for_more`: its TCP was seldom left without data by its application.
pub(super) fn standing(
    result: &RunResult,
    flow: usize,
    offered_bps: Option<f64>,
    asks_for_more: bool,
) -> Standing {
    let f = &result.flows[flow];
    let mean = result.mean_goodput_bps();
    if !f.has_traffic() {
        return Standing::Silent;
    }
    if f.is_starved(mean) {
        return Standing::Starved;
    }
    // A tenth less may be chance, or what is still on its way.
    let got_all = offered_bps.is_some_and(|offered| f.goodput_bps >= 0.9 * offered);
    let finished = f.completion_s.is_some()
        || f.files.as_ref().is_some_and(|files| files.finished as f64 >= 0.9 * files.started as f64);
    if got_all || finished || !asks_for_more {
        return Standing::Content;
    }
    let due = offered_bps.map_or(mean, |offered| offered.min(mean));
    match f.goodput_bps / due {
        share if share < 0.1 => Standing::NearlyStarved,
        share if share < 2.0 / 3.0 => Standing::Behind,
        _ => Standing::Fair,
    }
}
