//! Emulation: a world between real stacks.

use pyo3::prelude::*;

#[cfg(target_os = "linux")]
mod linux {
    use std::path::{Path, PathBuf};

    use airfair_emulate::live::LiveSpec;
    use airfair_emulate::node::Stack;
    use airfair_emulate::program::ProgramSpec;
    use airfair_emulate::{Options, control, emulate};
    use airfair_units::{Span, Time};
    use pyo3::exceptions::PyKeyboardInterrupt;
    use pyo3::{PyErr, PyResult, Python};
    use serde::Deserialize;

    use crate::drive::{Stop, check};
    use crate::error::input_error;
    use crate::hosted::Hosted;

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
            Ok(request)
        }

        /// The length of the run; none: that of the scenario.
        pub fn duration(&self) -> Option<Span> {
            let ends = self.programs.iter().any(|program| program.ends_run);
            let seconds = self.duration_s.or(ends.then_some(LONGEST_S))?;
            Some(Span((seconds * 1e9) as u64))
        }

        fn options(self, seed: u64, captures: bool) -> Options {
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
                live: LiveSpec { lines: self.live, port: self.metrics },
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
        (seed, captures): (u64, bool),
        hand_over: &dyn Fn(&mut Hosted) -> PyResult<()>,
        stop: Option<&Stop>,
    ) -> PyResult<serde_json::Value> {
        let mut ended: Option<PyErr> = None;
        let mut goes_on = |world: &mut Hosted| {
            let looked = hand_over(world).and_then(|()| world.check()).and_then(|()| check(stop));
            ended = looked.err();
            if ended.is_some() {
                write_line("airfair: ending the run");
            }
            ended.is_none()
        };
        let options = request.options(seed, captures);
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
        serde_json::to_value(report).map_err(|error| input_error(error.to_string()))
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
}

#[cfg(target_os = "linux")]
pub(crate) use linux::{Request, run};

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
