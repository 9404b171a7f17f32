//! A world that a program advances step by step.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use airfair_sim::Injection;
use airfair_sim::engine::drive::Steppable;
use airfair_sim::ids::NodeIx;
use airfair_units::Time;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::arguments::{AtTime, Destination, PacketSize, SchemeName, Seed, Source, Tag, Until};
use crate::contract;
use crate::drive;
use crate::error::{input_error, unknown};
use crate::hosted::Hosted;
use crate::scenario::ScenarioArgument;

/// Largest IP packet.
const LARGEST_PACKET: u32 = 65_535;

/// A world at time 0, to be advanced step by step. Times that it takes are texts, those that it gives are nanoseconds.
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
    #[pyo3(signature = (scenario, scheme=None, seed=Seed(1)), text_signature = "(scenario, scheme=None, seed=1)")]
    fn new(
        py: Python<'_>,
        scenario: ScenarioArgument,
        scheme: Option<SchemeName>,
        seed: Seed,
    ) -> PyResult<Self> {
        let scenario = scenario.0.get();
        py.detach(|| {
            let began = Instant::now();
            let world = scenario.world(scheme.as_ref(), seed.0)?;
            Ok(Self {
                scenario: Arc::clone(&scenario.0),
                nodes: world.names().nodes.iter().cloned().zip(0..).collect(),
                end: world.end(),
                state: Mutex::new(State { world, wall: began.elapsed() }),
                advancing: Mutex::new(None),
            })
        })
    }

    /// Simulates everything before `until`, a time since the start of the run, and makes that the present; by default, and at most, the
    /// end of the run.
    #[pyo3(signature = (until=None))]
    fn advance(&self, py: Python<'_>, until: Option<Until>) -> PyResult<()> {
        py.detach(|| {
            let until = until.map_or(self.end, |until| Time(until.0)).min(self.end);
            let mut slices = drive::Slices::of(drive::SLICE);
            loop {
                // A signal handler may use this world: no lock is held while signals are checked.
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

    /// The time of the next event, ns, or None if there is none. `advance` simulates it with an `until` that is 1 ns later.
    fn next_deadline_ns(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        py.detach(|| Ok(self.state()?.world.next_deadline().map(Time::as_nanos)))
    }

    /// Sends an IP packet of `size` bytes from node `source`, now or `at` a later time; `tag` is the caller's number
    /// for the packet, which `drain_outputs` gives back. Raises `InputError` if a node does not exist or the time has passed.
    #[pyo3(signature = (source, destination, size, tag, at=None))]
    fn inject(
        &self,
        py: Python<'_>,
        source: Source,
        destination: Destination,
        size: PacketSize,
        tag: Tag,
        at: Option<AtTime>,
    ) -> PyResult<()> {
        let (PacketSize(size), Tag(tag)) = (size, tag);
        let (from, to) = (NodeIx(self.node(&source.0)?), NodeIx(self.node(&destination.0)?));
        if !(1..=LARGEST_PACKET).contains(&size) {
            return Err(input_error(format!("a packet of {size} bytes: expected 1 to {LARGEST_PACKET}")));
        }
        py.detach(|| {
            let world = &mut self.state()?.world;
            let at = at.map_or(world.now(), |at| Time(at.0));
            world.inject(Injection { from, to, bytes: size, tag }, at).map_err(input_error)
        })
    }

    /// Injected packets that were delivered or dropped since the last call: (time in ns, tag, reason of the drop or None).
    fn drain_outputs(&self, py: Python<'_>) -> PyResult<Vec<(u64, u32, Option<&'static str>)>> {
        py.detach(|| {
            let outputs = self.state()?.world.drain_outputs();
            Ok(outputs.into_iter().map(|o| (o.at.0, o.tag, o.dropped)).collect())
        })
    }

    /// Records each completed file from now on, for `take_completions`.
    fn keep_completions(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| {
            self.state()?.world.keep_completions();
            Ok(())
        })
    }

    /// Files that were completed since the last call, in the order of their ends: (number of the flow in `Scenario.flows`, start in ns,
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
