//! An agent written in Python.

use airfair_schemes::places::{self, Agent, AgentContext, NodeId, NodeSample, Timer};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use super::context::Place;
use super::hooks::{Hooks, class, view};
use crate::hosted::Raised;

pub(super) struct PythonAgent {
    hooks: Hooks,
    on_neighbours: bool,
    on_sample: bool,
    on_message: bool,
    on_controller: bool,
    on_timer: bool,
}

impl PythonAgent {
    pub fn new(object: &Bound<'_, PyAny>, raised: &Raised, scheme: &'static str) -> PyResult<Self> {
        let base = class!(object.py(), "Agent")?;
        let hooks = Hooks::new(object, base, Place::Agent, raised, scheme)?;
        let has = |hook| Hooks::has(object, base, hook);
        Ok(Self {
            hooks,
            on_neighbours: has("on_neighbours")?,
            on_sample: has("on_sample")?,
            on_message: has("on_message")?,
            on_controller: has("on_controller")?,
            on_timer: has("on_timer")?,
        })
    }

    fn notify(
        &self,
        context: &mut AgentContext<'_>,
        hook: &str,
        subject: impl FnOnce(Python<'_>) -> PyResult<Bound<'_, PyAny>>,
    ) {
        self.hooks.call(context, (), |object, context| {
            object.call_method1(hook, (subject(object.py())?, context)).map(|_| ())
        });
    }
}

/// Nodes as a tuple of their numbers.
pub(super) fn numbers<'py>(py: Python<'py>, nodes: &[NodeId]) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, nodes.iter().map(|node| node.0))
}

/// A sample as Python sees it.
fn sample<'py>(py: Python<'py>, s: &NodeSample<'_>) -> PyResult<Bound<'py, PyAny>> {
    let a = &s.airtime;
    let airtime = class!(py, "Airtime")?.call1((a.transmit.0, a.receive.0, a.busy.0, a.nav.0, a.idle.0))?;
    let link = |l: &places::LinkSample| {
        let fields = (l.neighbour.0, l.waiting, l.arrived, l.sent, l.attempts, l.given_up, l.bytes);
        class!(py, "LinkSample")?.call1(fields)
    };
    let flow = |f: &places::FlowSample| {
        class!(py, "FlowSample")?.call1((
            f.flow.0,
            f.from.0,
            f.to.0,
            f.neighbour.0,
            f.packets,
            f.bytes,
            f.stated.map(|rate| rate.0),
        ))
    };
    let links = PyTuple::new(py, s.links.iter().map(link).collect::<PyResult<Vec<_>>>()?)?;
    let flows = PyTuple::new(py, s.flows.iter().map(flow).collect::<PyResult<Vec<_>>>()?)?;
    let answer = |a: &places::AnswerSample| {
        class!(py, "AnswerSample")?.call1((a.flow.0, a.neighbour.0, a.packets, a.bytes))
    };
    let answers = PyTuple::new(py, s.answers.iter().map(answer).collect::<PyResult<Vec<_>>>()?)?;
    let (interval, own, queue) = (s.interval.0, s.receive_own.0, view(py, &s.queue)?);
    class!(py, "NodeSample")?
        .call1((interval, airtime, own, s.retries, s.traffic, s.set_up, queue, links, flows, answers))
}

impl Agent for PythonAgent {
    fn on_start(&mut self, setup: &places::AgentSetup<'_>, context: &mut AgentContext<'_>) {
        self.notify(context, "on_start", |py| {
            let fields = (setup.node.0, setup.rate.0, numbers(py, setup.neighbours)?);
            class!(py, "AgentSetup")?.call1(fields)
        });
    }

    fn on_neighbours(&mut self, neighbours: &[NodeId], context: &mut AgentContext<'_>) {
        if self.on_neighbours {
            self.notify(context, "on_neighbours", |py| Ok(numbers(py, neighbours)?.into_any()));
        }
    }

    fn on_sample(&mut self, seen: &NodeSample<'_>, context: &mut AgentContext<'_>) {
        if self.on_sample {
            self.notify(context, "on_sample", |py| sample(py, seen));
        }
    }

    fn on_message(&mut self, from: NodeId, bytes: &[u8], to_me: bool, context: &mut AgentContext<'_>) {
        if self.on_message {
            self.hooks.call(context, (), |object, context| {
                let data = PyBytes::new(object.py(), bytes);
                object.call_method1("on_message", (from.0, data, to_me, context)).map(|_| ())
            });
        }
    }

    fn on_controller(&mut self, here: bool, context: &mut AgentContext<'_>) {
        if self.on_controller {
            self.hooks.call(context, (), |object, context| {
                object.call_method1("on_controller", (here, context)).map(|_| ())
            });
        }
    }

    fn on_timer(&mut self, timer: Timer, context: &mut AgentContext<'_>) {
        if self.on_timer {
            self.notify(context, "on_timer", |py| Ok(timer.0.into_pyobject(py)?.into_any()));
        }
    }
}
