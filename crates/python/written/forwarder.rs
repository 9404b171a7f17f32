//! A forwarder written in Python.

use airfair_schemes::places::{
    self, Agent, AgentContext, DeliveryRatios, FlowId, Forwarder, ForwarderContext, HeardBroadcast, Made,
    NativePacket, NodeId, NodeSample, Priority, Timer,
};
use airfair_units::Time;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use super::agent::{PythonAgent, numbers};
use super::context::Place;
use super::hooks::{Hooks, class};
use crate::hosted::Raised;

/// Most bytes of a broadcast, as an IP packet.
const LONGEST: usize = 65_535;

pub(super) struct PythonForwarder {
    agent: PythonAgent,
    /// With the effects of a forwarder; those of `agent` have an agent's.
    hooks: Hooks,
    levels: u8,
    on_delivery_ratios: bool,
}

impl PythonForwarder {
    pub fn new(
        object: &Bound<'_, PyAny>,
        raised: &Raised,
        scheme: &'static str,
        levels: u8,
    ) -> PyResult<Self> {
        let base = class!(object.py(), "Forwarder")?;
        let hooks = Hooks::new(object, base, Place::Forwarder, raised, scheme)?;
        let on_delivery_ratios = Hooks::has(object, base, "on_delivery_ratios")?;
        Ok(Self { agent: PythonAgent::new(object, raised, scheme)?, hooks, levels, on_delivery_ratios })
    }

    /// The answer of `make`.
    fn made(&self, answer: &Bound<'_, PyAny>) -> PyResult<Option<Made>> {
        if answer.is_none() {
            return Ok(None);
        }
        let fits = |made: &Made| {
            !made.header.is_empty() && made.header.len().saturating_add(made.content as usize) <= LONGEST
        };
        let made = answer.is_instance(class!(answer.py(), "Made")?)?.then(|| read(answer).ok().filter(fits));
        made.flatten().map(Some).ok_or_else(|| {
            let expected =
                "None or Made with numbers from 0, a header of at least one byte, and at most 65535 bytes";
            self.hooks.wrong("Forwarder.make", answer, expected)
        })
    }
}

/// A `Made` of Python.
fn read(made: &Bound<'_, PyAny>) -> PyResult<Made> {
    let number = |field: &str| -> PyResult<u32> { made.getattr(field)?.extract() };
    let header = made.getattr("header")?.extract()?;
    Ok(Made { flow: FlowId(number("flow")?), batch: number("batch")?, header, content: number("content")? })
}

impl Agent for PythonForwarder {
    fn on_start(&mut self, setup: &places::AgentSetup<'_>, context: &mut AgentContext<'_>) {
        self.agent.on_start(setup, context);
    }

    fn on_neighbours(&mut self, neighbours: &[NodeId], context: &mut AgentContext<'_>) {
        self.agent.on_neighbours(neighbours, context);
    }

    fn on_sample(&mut self, sample: &NodeSample<'_>, context: &mut AgentContext<'_>) {
        self.agent.on_sample(sample, context);
    }

    fn on_message(&mut self, from: NodeId, bytes: &[u8], to_me: bool, context: &mut AgentContext<'_>) {
        self.agent.on_message(from, bytes, to_me, context);
    }

    fn on_controller(&mut self, here: bool, context: &mut AgentContext<'_>) {
        self.agent.on_controller(here, context);
    }

    fn on_timer(&mut self, timer: Timer, context: &mut AgentContext<'_>) {
        self.agent.on_timer(timer, context);
    }

    fn forwarder(&mut self) -> Option<&mut dyn Forwarder> {
        Some(self)
    }
}

impl Forwarder for PythonForwarder {
    fn on_delivery_ratios(&mut self, ratios: &DeliveryRatios, context: &mut ForwarderContext<'_>) {
        if !self.on_delivery_ratios {
            return;
        }
        context.out.checked = Some("Forwarder.on_delivery_ratios");
        self.hooks.call(context, (), |object, context| {
            let py = object.py();
            let count = ratios.nodes.len();
            let row = |from| PyTuple::new(py, (0..count).map(|to| ratios.between(from, to)));
            let rows = PyTuple::new(py, (0..count).map(row).collect::<PyResult<Vec<_>>>()?)?;
            let ratios = (numbers(py, &ratios.nodes)?, rows, context);
            object.call_method1("on_delivery_ratios", ratios).map(|_| ())
        });
    }

    fn room(&self, flow: FlowId, to: NodeId) -> u32 {
        self.hooks.attached(0, |object| {
            let answer = object.call_method1("room", (flow.0, to.0))?;
            answer
                .extract()
                .map_err(|_| self.hooks.wrong("Forwarder.room", &answer, "a whole number, 0 to 4294967295"))
        })
    }

    fn on_packet(&mut self, packet: &NativePacket, context: &mut ForwarderContext<'_>) {
        let NativePacket { flow, to, number, bytes } = *packet;
        context.out.checked = Some("Forwarder.on_packet");
        self.hooks.call(context, (), |object, context| {
            let packet = class!(object.py(), "NativePacket")?.call1((flow.0, to.0, number, bytes))?;
            object.call_method1("on_packet", (packet, context)).map(|_| ())
        });
    }

    fn on_heard(&mut self, heard: &HeardBroadcast<'_>, context: &mut ForwarderContext<'_>) {
        let HeardBroadcast { from, header, content } = *heard;
        context.out.checked = Some("Forwarder.on_heard");
        self.hooks.call(context, (), |object, context| {
            let py = object.py();
            let heard = class!(py, "HeardBroadcast")?.call1((from.0, PyBytes::new(py, header), content))?;
            object.call_method1("on_heard", (heard, context)).map(|_| ())
        });
    }

    fn ready(&self, now: Time) -> Option<Priority> {
        self.hooks.attached(None, |object| {
            let answer = object.call_method1("ready", (now.as_nanos(),))?;
            match answer.extract::<Option<u8>>() {
                Ok(level) if level.is_none_or(|level| level < self.levels) => Ok(level.map(Priority)),
                _ => {
                    let expected = format!("None or a level below Scheme.levels, {}", self.levels);
                    Err(self.hooks.wrong("Forwarder.ready", &answer, &expected))
                }
            }
        })
    }

    fn make(&mut self, context: &mut ForwarderContext<'_>) -> Option<Made> {
        context.out.checked = Some("Forwarder.make");
        self.hooks.call(context, None, |object, context| self.made(&object.call_method1("make", (context,))?))
    }
}
