//! A controller written in Python.

use airfair_schemes::places::{Controller, ControllerContext, ControllerSetup, NodeId, Timer};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::agent::numbers;
use super::context::Place;
use super::hooks::{Hooks, class};
use crate::hosted::Raised;

pub(super) struct PythonController {
    hooks: Hooks,
    on_timer: bool,
}

impl PythonController {
    pub fn new(object: &Bound<'_, PyAny>, raised: &Raised, scheme: &'static str) -> PyResult<Self> {
        let base = class!(object.py(), "Controller")?;
        let hooks = Hooks::new(object, base, Place::Controller, raised, scheme)?;
        Ok(Self { hooks, on_timer: Hooks::has(object, base, "on_timer")? })
    }
}

impl Controller for PythonController {
    fn on_start(&mut self, setup: &ControllerSetup<'_>, context: &mut ControllerContext<'_>) {
        self.hooks.call(context, (), |object, context| {
            let py = object.py();
            let setup =
                class!(py, "ControllerSetup")?.call1((setup.node.0, numbers(py, setup.neighbours)?))?;
            object.call_method1("on_start", (setup, context)).map(|_| ())
        });
    }

    fn on_message(&mut self, from: NodeId, bytes: &[u8], context: &mut ControllerContext<'_>) {
        self.hooks.call(context, (), |object, context| {
            let data = PyBytes::new(object.py(), bytes);
            object.call_method1("on_message", (from.0, data, context)).map(|_| ())
        });
    }

    fn on_timer(&mut self, timer: Timer, context: &mut ControllerContext<'_>) {
        if self.on_timer {
            self.hooks.call(context, (), |object, context| {
                object.call_method1("on_timer", (timer.0, context)).map(|_| ())
            });
        }
    }
}
