//! An AQM written in Python.

use airfair_schemes::places::{self, Aqm, Direction, QueueView, Setting, Verdict};
use pyo3::prelude::*;

use super::context::Place;
use super::hooks::{Decision, Hooks, class, packet, view};
use crate::hosted::Raised;

pub(super) struct PythonAqm {
    hooks: Hooks,
    on_dequeue: bool,
    on_probability: bool,
}

impl PythonAqm {
    pub fn new(object: &Bound<'_, PyAny>, raised: &Raised, scheme: &'static str) -> PyResult<Self> {
        let base = class!(object.py(), "Aqm")?;
        let hooks = Hooks::new(object, base, Place::Aqm, raised, scheme)?;
        let has = |hook| Hooks::has(object, base, hook);
        Ok(Self { hooks, on_dequeue: has("on_dequeue")?, on_probability: has("on_probability")? })
    }

    fn call(
        &self,
        hook: &str,
        p: &places::Packet,
        queue: &QueueView,
        context: &mut places::AqmContext<'_>,
    ) -> Verdict {
        self.hooks.call(context, Verdict::Pass, |object, context| {
            let py = object.py();
            let answer = object.call_method1(hook, (packet(py, p)?, view(py, queue)?, context))?;
            let hook = format!("Aqm.{hook}");
            match self.hooks.decision(&hook, &answer)? {
                Some(Decision::Accept) => Ok(Verdict::Pass),
                Some(Decision::Drop(reason)) => Ok(Verdict::Drop(reason)),
                Some(Decision::Mark(reason)) => Ok(Verdict::Mark(reason)),
                _ => {
                    let expected = "None to let the packet pass, Drop(reason) or Mark(reason)";
                    Err(self.hooks.wrong(&hook, &answer, expected))
                }
            }
        })
    }
}

impl Aqm for PythonAqm {
    fn on_enqueue(
        &mut self,
        packet: &places::Packet,
        queue: &QueueView,
        context: &mut places::AqmContext<'_>,
    ) -> Verdict {
        self.call("on_enqueue", packet, queue, context)
    }

    fn on_dequeue(
        &mut self,
        packet: &places::Packet,
        queue: &QueueView,
        context: &mut places::AqmContext<'_>,
    ) -> Verdict {
        if self.on_dequeue { self.call("on_dequeue", packet, queue, context) } else { Verdict::Pass }
    }

    fn apply(&mut self, setting: Setting) {
        let Setting::Probability(direction, probability) = setting else { return };
        if self.on_probability {
            let direction = match direction {
                Direction::Outgoing => "outgoing",
                Direction::Incoming => "incoming",
            };
            let p = probability.numerator() as f64 / places::Probability::ONE.numerator() as f64;
            self.hooks
                .attached((), |object| object.call_method1("on_probability", (direction, p)).map(|_| ()));
        }
    }
}
