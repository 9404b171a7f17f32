//! A world that is stepped by hand.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use airfair_sim::Injected;
use airfair_sim::engine::drive::Surface;
use airfair_sim::ids::NodeIx;
use airfair_units::Time;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::contract;
use crate::drive;
use crate::error::{input_error, unknown};
use crate::hosted::Hosted;
use crate::scenario::Scenario;

/// Largest IP packet.
const LARGEST_PACKET: u32 = 65_535;

/// A world at time 0, to be advanced step by step. Times are nanoseconds.
#[pyclass(frozen, module = "airfair")]
pub(crate) struct World {
    scenario: Arc<airfair_scenario::Scenario>,
    nodes: BTreeMap<String, u32>,
    end: Time,
    state: Mutex<State>,
    /// The thread that advances it: a hook or a signal handler that it calls must not wait for it.
    advancing: Mutex<Option<ThreadId>>,
}

struct State {
    world: Hosted,
    wall: Duration,
}

impl World {
    /// Called without the interpreter: a thread that waits here must not keep the others from finishing.
    fn state(&self) -> PyResult<MutexGuard<'_, State>> {
        if *self.advancing() == Some(thread::current().id()) {
            return Err(PyRuntimeError::new_err("the world is being advanced"));
        }
        Ok(self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn advancing(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.advancing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn node(&self, name: &str) -> PyResult<u32> {
        self.nodes
            .get(name)
            .copied()
            .ok_or_else(|| unknown("node", name, self.nodes.keys().map(String::as_str)))
    }
}

#[pymethods]
impl World {
    /// Sets a world up. Raises `InputError` for an unknown scheme.
    #[new]
    #[pyo3(signature = (scenario, scheme=None, seed=1))]
    fn new(py: Python<'_>, scenario: &Scenario, scheme: Option<&str>, seed: u64) -> PyResult<Self> {
        py.detach(|| {
            let began = Instant::now();
            let world = scenario.world(scheme, seed)?;
            Ok(Self {
                scenario: Arc::clone(&scenario.0),
                nodes: world.names().nodes.iter().cloned().zip(0..).collect(),
                end: world.end(),
                state: Mutex::new(State { world, wall: began.elapsed() }),
                advancing: Mutex::new(None),
            })
        })
    }

    /// Lets everything happen that happens before `until_ns`, and makes that the present; the run's end is the limit.
    fn advance(&self, py: Python<'_>, until_ns: u64) -> PyResult<()> {
        py.detach(|| {
            let until = Time(until_ns).min(self.end);
            let mut slices = drive::Slices::of(drive::SLICE);
            loop {
                // A signal handler may look at this very world: nothing is held while signals are asked for.
                drive::check(None)?;
                let mut state = self.state()?;
                if state.world.now() >= until {
                    return Ok(());
                }
                let began = Instant::now();
                *self.advancing() = Some(thread::current().id());
                let advanced = slices.advance(&mut state.world, until);
                *self.advancing() = None;
                state.wall += began.elapsed();
                advanced?;
            }
        })
    }

    /// When the next thing happens, or None if nothing is to come. `advance(next_deadline() + 1)` lets it happen.
    fn next_deadline(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        py.detach(|| Ok(self.state()?.world.next_deadline().map(Time::as_nanos)))
    }

    /// Lets an IP packet of `size` bytes enter at node `source`, now or at a later time; `tag` is the caller's number
    /// for it, which `drain_outputs` gives back. Raises `InputError` if a node does not exist or the time has passed.
    #[pyo3(signature = (source, destination, size, tag, at_ns=None))]
    fn inject(
        &self,
        py: Python<'_>,
        source: &str,
        destination: &str,
        size: u32,
        tag: u32,
        at_ns: Option<u64>,
    ) -> PyResult<()> {
        let (from, to) = (NodeIx(self.node(source)?), NodeIx(self.node(destination)?));
        if !(1..=LARGEST_PACKET).contains(&size) {
            return Err(input_error(format!("a packet of {size} bytes: expected 1 to {LARGEST_PACKET}")));
        }
        py.detach(|| {
            let world = &mut self.state()?.world;
            let at = at_ns.map_or(world.now(), Time);
            world.inject(Injected { from, to, bytes: size, tag }, at).map_err(input_error)
        })
    }

    /// Injected packets that have ended since the last call: (time in ns, tag, why it was dropped or None if it arrived).
    fn drain_outputs(&self, py: Python<'_>) -> PyResult<Vec<(u64, u32, Option<&'static str>)>> {
        py.detach(|| {
            let outputs = self.state()?.world.drain_outputs();
            Ok(outputs.into_iter().map(|o| (o.at.0, o.tag, o.dropped)).collect())
        })
    }

    /// From now on files that end are kept one by one for `take_completions`.
    fn keep_completions(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| {
            self.state()?.world.keep_completions();
            Ok(())
        })
    }

    /// Files that ended since the last call, in the order of their ends: (number of the flow in `Scenario.flows`, start in ns,
    /// bytes, duration in ns).
    fn take_completions(&self, py: Python<'_>) -> PyResult<Vec<(usize, u64, u64, u64)>> {
        py.detach(|| {
            let completions = self.state()?.world.take_completions();
            Ok(completions
                .into_iter()
                .map(|(flow, c)| (flow.ix(), c.start.0, c.bytes, c.duration.0))
                .collect())
        })
    }

    /// The numbers up to the present: the result contract as JSON.
    fn result(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| {
            let state = self.state()?;
            state.world.check()?;
            contract::write(&self.scenario, &state.world, state.wall, None, &[])
        })
    }

    /// The present, ns.
    #[getter]
    fn now_ns(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| Ok(self.state()?.world.now().as_nanos()))
    }

    /// The end of the run, ns.
    #[getter]
    fn end_ns(&self) -> u64 {
        self.end.as_nanos()
    }
}
