//! Emulation: a world between real stacks.

use pyo3::prelude::*;

#[cfg(target_os = "linux")]
mod linux {
    use airfair_emulate::node::Stack;
    use airfair_emulate::program::ProgramSpec;
    use airfair_emulate::{Options, Report, emulate, emulation};
    use airfair_units::Span;
    use serde::Serialize;

    use crate::error::input_error;
    use crate::hosted::Hosted;
    use pyo3::PyResult;

    /// The answer of the process of the emulation.
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Answer {
        Failed { error: String },
        Ran(Box<Emulation>),
    }

    /// A run.
    #[derive(Serialize)]
    struct Emulation {
        wall_s: f64,
        set_up_s: f64,
        kept_up: bool,
        faults: u64,
        lateness: Lateness,
        frames: Frames,
        device_drops: u64,
        looks: u64,
        refused_looks: u64,
        no_priority: Option<String>,
        interrupted: bool,
        programs: Vec<Program>,
    }

    #[derive(Serialize)]
    struct Lateness {
        deliveries: u64,
        p50_s: f64,
        p99_s: f64,
        p999_s: f64,
        worst_s: f64,
    }

    #[derive(Serialize)]
    struct Frames {
        read: u64,
        to_groups: u64,
        written: u64,
        marked: u64,
        unknown_station: u64,
        refused: u64,
        too_many: u64,
        not_written: u64,
        dropped: std::collections::BTreeMap<&'static str, u64>,
    }

    #[derive(Serialize)]
    struct Program {
        node: String,
        command: String,
        status: Option<i32>,
    }

    impl From<Report> for Emulation {
        fn from(report: Report) -> Self {
            let late = |span: Span| span.as_secs_f64();
            let lateness = Lateness {
                deliveries: report.lateness.steps(),
                p50_s: late(report.lateness.quantile(0.5)),
                p99_s: late(report.lateness.quantile(0.99)),
                p999_s: late(report.lateness.quantile(0.999)),
                worst_s: late(report.lateness.worst()),
            };
            let (kept_up, faults) = (report.kept_up(), report.faults());
            let counts = report.counts;
            Self {
                wall_s: report.wall_s,
                set_up_s: report.set_up_s,
                kept_up,
                faults,
                lateness,
                frames: Frames {
                    read: counts.read,
                    to_groups: counts.groups,
                    written: counts.written,
                    marked: counts.marked,
                    unknown_station: counts.unknown_station,
                    refused: counts.refused,
                    too_many: counts.too_many,
                    not_written: counts.not_written,
                    dropped: counts.dropped,
                },
                device_drops: report.device_drops,
                looks: report.looks.0,
                refused_looks: report.looks.1,
                no_priority: report.no_priority,
                interrupted: report.interrupted,
                programs: report
                    .programs
                    .into_iter()
                    .map(|(node, command, status)| Program { node, command, status })
                    .collect(),
            }
        }
    }

    /// Emulates a world in a process of its own; the answer as JSON.
    pub fn run(mut world: Hosted, options: &Options) -> PyResult<String> {
        let run = || {
            let answer = match emulate(&mut world, options, &mut |line| eprintln!("{line}")) {
                Ok(report) => Answer::Ran(Box::new(report.into())),
                Err(error) => Answer::Failed { error },
            };
            serde_json::to_vec(&answer).unwrap_or_default()
        };
        let answer = emulation::in_own_process(run).map_err(|error| input_error(error.to_string()))?;
        String::from_utf8(answer).ok().filter(|text| !text.is_empty()).ok_or_else(|| {
            input_error("the process of the emulation has ended without an answer".to_string())
        })
    }

    /// The options of a run.
    pub fn options(
        programs: Vec<(String, Vec<String>, bool)>,
        own_routing: bool,
        congestion_control: Option<String>,
        ecn: bool,
        seed: u64,
    ) -> Options {
        let programs = programs
            .into_iter()
            .map(|(node, command, ends_run)| ProgramSpec { node, command, ends_run })
            .collect();
        Options { programs, own_routing, stack: Stack { congestion_control, ecn }, seed }
    }

    pub use airfair_emulate::emulation::missing;
}

#[cfg(target_os = "linux")]
pub(crate) use linux::{options, run};

/// The first thing that this machine or this user lacks for an emulation, in one line; None if all is there.
#[pyfunction]
pub(crate) fn emulation_lacks() -> Option<String> {
    #[cfg(target_os = "linux")]
    return linux::missing();
    #[cfg(not(target_os = "linux"))]
    return Some("emulation needs Linux: its stacks are the kernel's".to_string());
}
