//! How wide the intervals of a comparison are, for runs that go on until they are narrow enough.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use serde::Serialize;

use crate::error::input_error;
use crate::summary::{Estimate, FlowRow, Numbers, WindowRow};

/// The precision that a user requests.
pub(crate) struct Target {
    /// Greatest half-width, as a share of the mean.
    pub target: f64,
    /// Of which statistics: keys of a row, `flow.ID`, `window_jain` (of every length).
    pub statistics: Vec<String>,
}

/// The precision that a scheme has reached.
#[derive(Serialize)]
pub(crate) struct Precision {
    target: f64,
    met: bool,
    /// Half-width as a share of the mean; none where the mean is 0 and the interval is not, or where there is no interval because fewer
    /// than two runs have the number.
    relative_ci95: BTreeMap<String, Option<f64>>,
}

fn relative(e: &Estimate) -> Option<f64> {
    let ci95 = e.ci95?;
    if ci95 == 0.0 { Some(0.0) } else { Some(ci95 / e.mean.abs()).filter(|r| r.is_finite()) }
}

impl Target {
    /// How near a scheme has come.
    pub fn reached(
        &self,
        numbers: &Numbers,
        flows: &[FlowRow<'_>],
        windows: &[WindowRow],
    ) -> PyResult<Precision> {
        let mut relative_ci95 = BTreeMap::new();
        for name in &self.statistics {
            if name == "window_jain" && !windows.is_empty() {
                for w in windows {
                    let name = format!("window_jain of {} s", w.window_s);
                    relative_ci95.insert(name, w.jain_index.as_ref().and_then(relative));
                }
                continue;
            }
            let of_flow = |id: &str| flows.iter().find(|f| f.id == id)?.numbers.get("goodput_bps");
            let one = numbers.get(name).or_else(|| name.strip_prefix("flow.").and_then(of_flow));
            let one = one.ok_or_else(|| input_error(format!("there is no statistic \"{name}\"")))?;
            relative_ci95.insert(name.clone(), one.as_ref().and_then(relative));
        }
        let met = relative_ci95.values().all(|r| r.is_some_and(|r| r <= self.target));
        Ok(Precision { target: self.target, met, relative_ci95 })
    }
}

impl Precision {
    /// The warning about a scheme that has not reached the target.
    pub fn warning(&self, scheme: &str, runs: usize) -> Option<String> {
        let missed = self.relative_ci95.iter().filter(|(_, r)| r.is_none_or(|r| r > self.target));
        let percent = |share: f64| format!("{} %", (share * 10_000.0).round() / 100.0);
        let told: Vec<String> = missed
            .map(|(name, r)| match r {
                Some(r) => format!("{} of {name}", percent(*r)),
                None => format!("not known of {name} (its mean is 0, or fewer than two runs have it)"),
            })
            .collect();
        (!told.is_empty()).then(|| {
            let (told, target) = (told.join(", "), percent(self.target));
            format!(
                "{scheme}: after {runs} seeds the half-width of the 95 % interval is {told}, not {target}"
            )
        })
    }
}
