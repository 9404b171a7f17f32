//! A world that may host schemes written in Python, and the exception that ended it.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use airfair_sim::World;
use pyo3::prelude::*;

/// The first exception of a world's Python code. Hooks answer the simulator with decisions, so an exception waits here until the
/// slice ends; meanwhile the hooks of this world are not called and nothing is sent.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Inner>);

#[derive(Default)]
struct Inner {
    any: AtomicBool,
    error: Mutex<Option<PyErr>>,
}

impl Raised {
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
        self.raised.check()
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
