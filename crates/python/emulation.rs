//! Emulation: a world between real stacks.

use pyo3::prelude::*;

#[cfg(target_os = "linux")]
mod linux {
    use std::path::{Path, PathBuf};

    use airfair_emulate::counters::DriverFault;
    use airfair_emulate::live::LiveSpec;
    use airfair_emulate::node::Stack;
    use airfair_emulate::program::ProgramSpec;
    use airfair_emulate::report::{FlowCounts, Row};
    use airfair_emulate::source::Sources;
    use airfair_emulate::{Options, Report, control, emulate};
    use airfair_schemes::SchemeEntry;
    use airfair_sim::measure::summary::FlowResult;
    use airfair_sim::observe::series::Series;
    use airfair_units::{Span, Time};
    use pyo3::exceptions::PyKeyboardInterrupt;
    use pyo3::{PyErr, PyResult, Python};
    use serde::Deserialize;

    use crate::drive::{Stop, check};
    use crate::error::input_error;
    use crate::hosted::{Hosted, Raised};

    /// A request, as JSON.
    #[derive(Debug, Default, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub(crate) struct Request {
        programs: Vec<Program>,
        pub(crate) flows: bool,
        own_routing: bool,
        congestion_control: Option<String>,
        ecn: bool,
        duration_s: Option<f64>,
        live: Option<PathBuf>,
        metrics: Option<u16>,
        driver_fault: Option<String>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Program {
        node: String,
        command: Vec<String>,
        #[serde(default)]
        ends_run: bool,
        #[serde(default)]
        at_s: f64,
        until_s: Option<f64>,
        output: Option<PathBuf>,
    }

    /// The longest run, seconds: a day.
    const LONGEST_S: f64 = 86_400.0;

    impl Request {
        /// Reads a request.
        pub fn read(text: &str) -> PyResult<Self> {
            let request: Self =
                serde_json::from_str(text).map_err(|error| input_error(format!("request: {error}")))?;
            let times = request.programs.iter().flat_map(|of| [Some(of.at_s), of.until_s]);
            let wrong =
                times.chain([request.duration_s]).flatten().find(|of| !(0.0..=LONGEST_S).contains(of));
            let expected = format!("expected seconds from 0 to {LONGEST_S}");
            wrong.map_or(Ok(()), |wrong| Err(input_error(format!("request: {wrong}: {expected}"))))?;
            request.fault()?;
            Ok(request)
        }

        /// The length of the run; none: that of the scenario.
        pub fn duration(&self) -> Option<Span> {
            let ends = self.programs.iter().any(|program| program.ends_run);
            let seconds = self.duration_s.or(ends.then_some(LONGEST_S))?;
            Some(Span((seconds * 1e9) as u64))
        }

        /// The fault of the counters that nodes are served.
        fn fault(&self) -> PyResult<Option<DriverFault>> {
            let Some(word) = &self.driver_fault else { return Ok(None) };
            let found = DriverFault::WORDS.iter().find(|(known, _)| known == word);
            let known = DriverFault::WORDS.map(|(known, _)| format!("\"{known}\"")).join(", ");
            let unknown = || input_error(format!("driver_fault: \"{word}\": expected one of {known}"));
            found.map(|&(_, fault)| Some(fault)).ok_or_else(unknown)
        }

        fn options(self, seed: u64, captures: bool, interval: Span) -> Options {
            let driver_fault = self.fault().unwrap_or_default();
            let time = |seconds: f64| Time((seconds * 1e9) as u64);
            let program = |of: Program| ProgramSpec {
                node: of.node,
                command: of.command,
                ends_run: of.ends_run,
                at: time(of.at_s),
                until: of.until_s.map(time),
                output: of.output,
            };
            Options {
                programs: self.programs.into_iter().map(program).collect(),
                own_routing: self.own_routing,
                stack: Stack { congestion_control: self.congestion_control, ecn: self.ecn },
                seed,
                captures,
                interval,
                live: LiveSpec { lines: self.live, port: self.metrics },
                driver_fault,
            }
        }
    }

    /// Writes a line to standard error, which may be closed or full.
    fn write_line(line: &str) {
        use std::io::Write;
        _ = writeln!(std::io::stderr(), "{line}");
    }

    /// Emulates a world; the report. `hand_over` is called several times a second.
    pub(crate) fn run(
        world: &mut Hosted,
        request: Request,
        (seed, captures, interval): (u64, bool, Span),
        hand_over: &dyn Fn(&mut Hosted) -> PyResult<()>,
        stop: Option<&Stop>,
    ) -> PyResult<Report> {
        let mut ended: Option<PyErr> = None;
        let mut goes_on = |world: &mut Hosted| {
            let looked = hand_over(world).and_then(|()| world.check()).and_then(|()| check(stop));
            ended = looked.err();
            if ended.is_some() {
                write_line("airfair: ending the run");
            }
            ended.is_none()
        };
        let options = request.options(seed, captures, interval);
        let report = emulate(world, &options, &mut goes_on, &mut |line| write_line(line));
        let report = report.map_err(input_error)?;
        // A signal may have come as the run ended: Ctrl-C ends its programs too.
        let ended = ended.or_else(|| world.check().err()).or_else(|| check(stop).err());
        // The user's end of a run is no error: its results are those until then.
        if let Some(error) =
            ended.filter(|of| !Python::attach(|py| of.is_instance_of::<PyKeyboardInterrupt>(py)))
        {
            return Err(error);
        }
        hand_over(world)?;
        Ok(report)
    }

    /// The flows of the stacks that carry data, in the form of simulated ones. Nobody measures their delays: a packet enters the world anew
    /// at each relay.
    pub(crate) fn flows_of(report: &Report) -> Vec<FlowResult> {
        let rows = report.flows.iter().zip(&report.counts).filter(|(_, counts)| counts.has_data);
        let result = |(row, counts): (&Row, &FlowCounts)| FlowResult {
            id: row.id.clone(),
            src: row.src.clone(),
            dst: row.dst.clone(),
            offered_bytes: counts.offered_bytes,
            goodput_bps: row.goodput_bps,
            delivered_bytes: counts.measured.bytes,
            sent_packets: counts.measured.sent,
            delivered_packets: counts.measured.packets,
            dropped_packets: counts.measured.dropped,
            retransmissions: counts.measured.repeated,
            ..FlowResult::default()
        };
        rows.map(result).collect()
    }

    /// Warnings to consider before using the numbers of an emulation.
    pub(crate) fn warnings_of(report: &Report) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(edges) = report.edges {
            if edges.evicted > 0 {
                found.push(format!(
                    "{} connections went on without the scheme's sources: too many were open at once",
                    edges.evicted
                ));
            }
            if edges.fallbacks > 0 {
                found.push(format!(
                    "{} flows fell back to TCP's law: a router on their way does not support the scheme",
                    edges.fallbacks
                ));
            }
        }
        if report.series_cut {
            found.push("flow_series ends early: too many flows and intervals".to_string());
        }
        if report.packets_of_other_flows > 0 {
            found.push(format!(
                "{} packets belong to flows beyond the first 1024, which are not told apart",
                report.packets_of_other_flows
            ));
        }
        found
    }

    /// Appends the flows of the stacks that carry data to the series of a run, which has rows of `simulated` flows for each interval.
    pub(crate) fn append_series(series: &mut Series, report: &Report, simulated: usize) {
        let stacks: Vec<&FlowCounts> = report.counts.iter().filter(|counts| counts.has_data).collect();
        let old = std::mem::take(&mut series.flows);
        let new = &mut series.flows;
        for interval in 0..series.end_s.len() {
            let rows = interval * simulated..(interval + 1) * simulated;
            new.delivered_bytes.extend_from_slice(&old.delivered_bytes[rows.clone()]);
            new.delivered_packets.extend_from_slice(&old.delivered_packets[rows.clone()]);
            new.sent_packets.extend_from_slice(&old.sent_packets[rows.clone()]);
            new.retransmissions.extend_from_slice(&old.retransmissions[rows.clone()]);
            new.window_bytes.extend_from_slice(&old.window_bytes[rows.clone()]);
            new.rtt_s.extend_from_slice(&old.rtt_s[rows]);
            for counts in &stacks {
                let (first, of) = &counts.intervals;
                let of = interval.checked_sub(*first).and_then(|at| of.get(at)).copied().unwrap_or_default();
                new.delivered_bytes.push(of.bytes);
                new.delivered_packets.push(of.packets);
                new.sent_packets.push(of.sent);
                new.retransmissions.push(of.repeated);
                new.window_bytes.push(f64::NAN);
                new.rtt_s.push(f64::NAN);
            }
        }
    }

    /// Sockets of the user's runs.
    pub(crate) fn sockets() -> PyResult<Vec<(u32, PathBuf)>> {
        control::sockets().map_err(|error| input_error(error.to_string()))
    }

    /// Runs a command in a node of the run behind a socket.
    pub(crate) fn execute(socket: &Path, node: &str, command: &[String]) -> PyResult<i32> {
        control::execute(socket, node, command).map_err(input_error)
    }

    pub(crate) use airfair_emulate::lacks::lacks;

    /// Names of the schemes whose sources over TCP act at the edge of the stacks.
    pub(crate) fn at_the_edge() -> Vec<&'static str> {
        let known = crate::written::schemes(&Raised::default());
        let acts = |entry: &&SchemeEntry| {
            let scheme = (entry.build)(&entry.defaults()).ok();
            let kind = scheme.and_then(|scheme| scheme.source()).and_then(|source| source.header());
            kind.and_then(|kind| Sources::new(kind, 0)).is_some()
        };
        known.entries().iter().filter(acts).map(|entry| entry.name).collect()
    }
}

#[cfg(target_os = "linux")]
pub(crate) use linux::{Request, append_series, flows_of, run, warnings_of};

use crate::arguments::{FilePath, NodeName, arguments};

arguments! {
    Words(Vec<String>) = "command", "a program and its arguments";
}

/// The first thing that this machine or this user lacks for an emulation, in one line; None if all is there.
#[pyfunction]
pub(crate) fn emulation_lacks(py: Python<'_>) -> Option<String> {
    #[cfg(target_os = "linux")]
    return py.detach(linux::lacks);
    #[cfg(not(target_os = "linux"))]
    {
        _ = py;
        Some("emulation needs Linux: its stacks are the kernel's".to_string())
    }
}

/// Names of the schemes whose sources over TCP act at the edge of the stacks: the emulator runs them there.
#[pyfunction]
pub(crate) fn sources_at_edge() -> Vec<&'static str> {
    #[cfg(target_os = "linux")]
    return linux::at_the_edge();
    #[cfg(not(target_os = "linux"))]
    Vec::new()
}

/// The emulations of this user that run: the number of the process, and the socket.
#[pyfunction]
pub(crate) fn emulations(py: Python<'_>) -> PyResult<Vec<(u32, std::path::PathBuf)>> {
    #[cfg(target_os = "linux")]
    return py.detach(linux::sockets);
    #[cfg(not(target_os = "linux"))]
    {
        _ = py;
        Ok(Vec::new())
    }
}

/// Runs a command in a node of the emulation with this socket, in this terminal and folder; its exit status.
#[pyfunction]
#[pyo3(text_signature = "(path, node, command)")]
pub(crate) fn execute_in(py: Python<'_>, path: FilePath, node: NodeName, command: Words) -> PyResult<i32> {
    #[cfg(target_os = "linux")]
    return py.detach(|| linux::execute(path.0.as_ref(), &node.0, &command.0));
    #[cfg(not(target_os = "linux"))]
    {
        _ = (py, path, node, command);
        Err(crate::error::input_error("emulation needs Linux: its stacks are the kernel's".to_string()))
    }
}
