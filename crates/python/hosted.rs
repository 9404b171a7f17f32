//! A world that may host schemes written in Python, and the exception that ended it.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use airfair_sim::World;
use airfair_sim::engine::drive::Steppable;
use airfair_units::Time;
use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;

use crate::error::{SchemeError, input_error};

/// The first exception of a world's Python code. Hooks answer the simulator with decisions, so an exception waits here until the
/// slice ends; meanwhile the hooks of this world are not called and nothing is sent.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Inner>);

#[derive(Default)]
struct Inner {
    any: AtomicBool,
    kept: Mutex<Option<Kept>>,
    run: Option<Run>,
}

/// An exception, and its origin until a note about the origin was added to it.
struct Kept {
    error: PyErr,
    origin: Option<Origin>,
}

/// The code that has raised an exception.
pub(crate) struct Origin {
    pub scheme: &'static str,
    /// It is a law's, and has a flow.
    pub of_source: bool,
    /// When, ns.
    pub now: Option<u64>,
}

/// The run that an exception ended, for its note.
pub(crate) struct Run {
    pub seed: u64,
    /// The flow over TCP, where there is only one.
    pub flow: Option<String>,
}

impl Raised {
    /// For the code of a run.
    pub fn in_run(run: Run) -> Self {
        Self(Arc::new(Inner { run: Some(run), ..Inner::default() }))
    }

    /// Keeps an exception, if it is the first. If it has an origin, a note will say where in the run it was raised.
    pub fn set(&self, error: PyErr, origin: Option<Origin>) {
        let error = no_exit(error);
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(Kept { error, origin });
        self.0.any.store(true, Ordering::Release);
    }

    /// True if there is one.
    pub fn any(&self) -> bool {
        self.0.any.load(Ordering::Acquire)
    }

    /// Raises it.
    pub fn check(&self) -> PyResult<()> {
        self.check_in(|| None)
    }

    /// Raises the exception. A law does not know its flow: the world may know the `flow`.
    fn check_in<'a>(&self, flow: impl FnOnce() -> Option<&'a str>) -> PyResult<()> {
        if !self.any() {
            return Ok(());
        }
        Python::attach(|py| match &mut *self.0.kept.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(Kept { error, origin }) => {
                if let Some(origin) = origin.take() {
                    // An exception that accepts no note is raised without one.
                    _ = error.value(py).call_method1("add_note", (self.note(&origin, flow()),));
                }
                Err(error.clone_ref(py))
            }
            None => Ok(()),
        })
    }

    fn note(&self, origin: &Origin, flow: Option<&str>) -> String {
        let mut note = format!("in scheme {}", origin.scheme);
        if let Some(run) = &self.0.run {
            if let Some(flow) = flow.or(run.flow.as_deref()).filter(|_| origin.of_source) {
                note += &format!(", flow {flow}");
            }
            if let Some(now) = origin.now {
                note += &format!(", at {} s", now as f64 / 1e9);
            }
            note += &format!(", seed {}", run.seed);
        }
        note
    }
}

/// A scheme that calls `sys.exit` is mistaken: it must not end the program, and with it other runs, without a word.
fn no_exit(error: PyErr) -> PyErr {
    Python::attach(|py| {
        if !error.is_instance_of::<PySystemExit>(py) {
            return error;
        }
        let code = error.value(py).getattr("code").and_then(|code| code.repr()).map(|code| code.to_string());
        let told = format!(
            "sys.exit({}) in a scheme; expected that it returns, or raises an error",
            code.unwrap_or_default()
        );
        let mistake = SchemeError::new_err(told);
        // A traceback that cannot be kept is less than the error.
        _ = mistake.value(py).setattr("__traceback__", error.traceback(py));
        // The error has read its value before: only a new one has the traceback.
        PyErr::from_value(mistake.value(py).clone().into_any())
    })
}

/// A world, and the exception that its Python code has raised.
pub(crate) struct Hosted {
    pub world: World,
    pub raised: Raised,
}

impl Hosted {
    /// Raises the exception of a hook, if there is one: the world is not usable after it.
    pub fn check(&self) -> PyResult<()> {
        self.raised.check_in(|| self.world.faulty_flow())?;
        self.world.memory_full().map_or(Ok(()), |problem| Err(input_error(problem)))?;
        // Schemes are code, in Python or in Rust: a mistake in one is not an error of the caller's input.
        self.world.fault().map_or(Ok(()), |fault| Err(SchemeError::new_err(fault)))
    }
}

impl Deref for Hosted {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl DerefMut for Hosted {
    fn deref_mut(&mut self) -> &mut World {
        &mut self.world
    }
}

impl AsMut<World> for Hosted {
    fn as_mut(&mut self) -> &mut World {
        &mut self.world
    }
}

/// Between real stacks: whoever drives it checks for exceptions.
impl Steppable for Hosted {
    fn advance(&mut self, until: Time) {
        self.world.advance(until);
    }

    fn now(&self) -> Time {
        self.world.now()
    }

    fn next_deadline(&mut self) -> Option<Time> {
        self.world.next_deadline()
    }

    fn next_output(&mut self) -> Option<Time> {
        self.world.next_output()
    }

    fn is_stuck(&self) -> bool {
        self.raised.any() || self.world.is_stuck()
    }

    fn end(&self) -> Time {
        self.world.end()
    }
}
