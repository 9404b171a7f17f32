//! A world that may host schemes written in Python, and the exception that ended it.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use airfair_sim::World;
use pyo3::prelude::*;

use crate::error::SchemeError;

/// The first exception of a world's Python code. Hooks answer the simulator with decisions, so an exception waits here until the
/// slice ends; meanwhile the hooks of this world are not called and nothing is sent.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Inner>);

#[derive(Default)]
struct Inner {
    any: AtomicBool,
    error: Mutex<Option<PyErr>>,
    run: Option<Run>,
}

/// What an exception tells of the run that it ended.
pub(crate) struct Run {
    pub seed: u64,
    /// The flow over TCP, where there is only one: a law is not told whose it is.
    pub flow: Option<String>,
}

impl Raised {
    /// For the code of a run.
    pub fn in_run(run: Run) -> Self {
        Self(Arc::new(Inner { run: Some(run), ..Inner::default() }))
    }

    /// Keeps an exception, if it is the first, with a note that says where in the run it was raised: by a law if `of_source`, at
    /// `now` ns.
    pub fn set_noted(&self, error: PyErr, scheme: &str, of_source: bool, now: Option<u64>) {
        let mut note = format!("in scheme {scheme}");
        if let Some(run) = &self.0.run {
            if let Some(flow) = run.flow.as_ref().filter(|_| of_source) {
                note += &format!(", flow {flow}");
            }
            if let Some(now) = now {
                note += &format!(", at {} s", now as f64 / 1e9);
            }
            note += &format!(", seed {}", run.seed);
        }
        // An exception that takes no note is told without.
        Python::attach(|py| _ = error.value(py).call_method1("add_note", (note,)));
        self.set(error);
    }

    /// Keeps an exception, if it is the first.
    pub fn set(&self, error: PyErr) {
        self.0.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.0.any.store(true, Ordering::Release);
    }

    /// Whether there is one.
    pub fn any(&self) -> bool {
        self.0.any.load(Ordering::Acquire)
    }

    /// Raises it.
    pub fn check(&self) -> PyResult<()> {
        if !self.any() {
            return Ok(());
        }
        Python::attach(|py| match &*self.0.error.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error.clone_ref(py)),
            None => Ok(()),
        })
    }
}

/// A world and what its Python code has raised.
pub(crate) struct Hosted {
    pub world: World,
    pub raised: Raised,
}

impl Hosted {
    /// Raises what a hook has raised: the world is of no use any more.
    pub fn check(&self) -> PyResult<()> {
        self.raised.check()?;
        // Schemes are code, be they written in Python or in Rust: what is wrong with one is not the caller's input.
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
