//! The frame trace, line by line, in bounded memory.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use airfair_sim::engine::drive::Steppable;
use airfair_sim::ids::NodeIx;
use airfair_units::Time;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::arguments::{NodeName, SchemeName, Seed, Start, Until};
use crate::drive::{self, Slices};
use crate::error::{input_error, unknown};
use crate::hosted::Hosted;
use crate::scenario::Scenario;

/// Work of a slice: some ten thousand lines are kept at a time.
const SLICE: Duration = Duration::from_millis(1);

/// Lines of a trace, in the order of time.
#[pyclass(frozen, module = "airfair._core")]
pub(crate) struct Trace(Mutex<Lines>);

struct Lines {
    world: Hosted,
    node: Option<u32>,
    from: Time,
    until: Time,
    started: bool,
    slices: Slices,
    lines: VecDeque<String>,
    /// Time of the first event that is not part of the trace since it is too late.
    after: Option<Time>,
}

impl Lines {
    /// Advances the world until there is a line.
    fn next(&mut self) -> PyResult<Option<String>> {
        if !self.started {
            drive::advance(&mut self.world, self.from, None)?;
            self.world.start_trace();
            self.started = true;
        }
        // Lines of the last instant are complete when the world has advanced past it.
        let horizon = self.until.saturating_add(self.world.settling_time()).min(self.world.end());
        while self.lines.is_empty() && self.world.now() < horizon {
            self.advance(horizon)?;
        }
        Ok(self.lines.pop_front())
    }

    /// Advances the world by one slice, at most until then.
    fn advance(&mut self, until: Time) -> PyResult<()> {
        self.slices.advance(&mut self.world, until)?;
        drive::check(None)?;
        let records = self.world.take_trace();
        let names = self.world.names();
        let concerns = |record| self.node.is_none_or(|node| names.concerns(record, NodeIx(node)));
        for (at, record) in records.iter().filter(|(_, record)| concerns(record)) {
            let Some(line) = names.line(*at, record) else { continue };
            if *at < self.until {
                self.lines.push_back(line);
            } else {
                self.after.get_or_insert(*at);
            }
        }
        Ok(())
    }

    /// Time of the first event after the trace, until which the world is advanced; none if no event follows.
    fn following(&mut self) -> PyResult<Option<Time>> {
        while self.next()?.is_some() {}
        while self.after.is_none() && self.world.now() < self.world.end() {
            self.advance(self.world.end())?;
        }
        Ok(self.after)
    }
}

#[pymethods]
impl Trace {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<String>> {
        py.detach(|| self.lines()?.next())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (node, from, until) = py.detach(|| {
            let lines = self.lines()?;
            let name = lines.node.and_then(|node| lines.world.names().nodes.get(node as usize).cloned());
            Ok::<_, PyErr>((name, lines.from, lines.until))
        })?;
        let of_node = node.map_or_else(String::new, |node| format!(" of {node}"));
        Ok(format!("<airfair.trace{of_node} from {from} until {until}: an iterator of lines>"))
    }

    /// Time of the first event after `until`, as text; none if no event follows. The rest of the lines is passed over.
    fn following(&self, py: Python<'_>) -> PyResult<Option<String>> {
        py.detach(|| Ok(self.lines()?.following()?.map(|at| at.to_string())))
    }
}

impl Trace {
    fn lines(&self) -> PyResult<MutexGuard<'_, Lines>> {
        match self.0.try_lock() {
            Ok(lines) => Ok(lines),
            Err(TryLockError::Poisoned(lines)) => Ok(lines.into_inner()),
            // As with a generator: a signal handler or another thread calls during a call.
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err("the trace is being read")),
        }
    }
}

/// Transmissions, receptions, losses with their causes, drops and deliveries of a run, from `start` on and before `until`, of one node
/// or of all. An iterator of lines without line feeds.
#[pyfunction]
#[pyo3(
    signature = (scenario, scheme=None, seed=Seed(1), node=None, start=Start(0), until=None),
    text_signature = "(scenario, scheme=None, seed=1, node=None, start='0 s', until=None)"
)]
pub(crate) fn trace(
    py: Python<'_>,
    scenario: &Scenario,
    scheme: Option<SchemeName>,
    seed: Seed,
    node: Option<NodeName>,
    start: Start,
    until: Option<Until>,
) -> PyResult<Trace> {
    py.detach(|| {
        let form = scenario.form(scheme.as_ref())?;
        let nodes = &form.scenario.spec.nodes;
        let node = node
            .map(|NodeName(name)| {
                nodes
                    .iter()
                    .position(|n| n.id == name)
                    .map(|i| i as u32)
                    .ok_or_else(|| unknown("node", &name, nodes.iter().map(|n| n.id.as_str())))
            })
            .transpose()?;
        let world = form.world(seed.0)?;
        let (from, until) = (Time(start.0), until.map_or(world.end(), |until| Time(until.0)));
        if from >= until {
            return Err(input_error(format!("a trace from {from} until {until} has no time in it")));
        }
        if from >= world.end() {
            return Err(input_error(format!("a trace from {from}: the run ends at {}", world.end())));
        }
        let until = until.min(world.end());
        let lines = VecDeque::new();
        Ok(Trace(Mutex::new(Lines {
            world,
            node,
            from,
            until,
            started: false,
            slices: Slices::of(SLICE),
            lines,
            after: None,
        })))
    })
}
