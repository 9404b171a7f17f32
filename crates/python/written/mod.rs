//! Schemes written in Python: `airfair.register` adds a class to the registry, beside the built-in schemes.
//!
//! Each world builds its own objects. A hook holds the interpreter while it runs; an exception ends the run ([`Raised`]).

mod agent;
mod aqm;
mod context;
mod controller;
mod forwarder;
mod hooks;
mod queue;
mod source;

use std::sync::{Arc, Mutex, PoisonError};

use airfair_schemes::droptail::DropTail;
use airfair_schemes::places::{
    Agent, Aqm, Capability, Controller, Interface, Medium, OutputQueue, Priority, Source, Wants,
};
use airfair_schemes::{
    Build, Carrier, ParamDoc, ParamError, ParamKind, ParamRole, ParamValue, Params, Registry, Scheme,
    SchemeEntry,
};
use airfair_units::{Bytes, Quantity, Rate, Span};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::input_error;
use crate::hosted::{Origin, Raised};
use crate::interned::interned;

pub(crate) use context::{Context, Random};

/// A registered class.
struct Definition {
    class: Py<PyAny>,
    name: &'static str,
    about: &'static str,
    origin: &'static str,
    places: Vec<&'static str>,
    params: Vec<ParamDoc>,
}

static REGISTERED: Mutex<Vec<Arc<Definition>>> = Mutex::new(Vec::new());

/// The registered classes; the lock is not held while Python code runs.
fn registered() -> Vec<Arc<Definition>> {
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The built-in schemes and those of Python, for one world or one reading: exceptions of their code are kept in `raised`.
pub(crate) fn schemes(raised: &Raised) -> Registry {
    let known = Registry::built_in().clone();
    registered().iter().fold(known, |known, definition| known.with_accepted(definition.entry(raised)))
}

/// The expected values of a kind of parameter, for messages.
const fn expected(kind: ParamKind) -> &'static str {
    match kind {
        ParamKind::Span => Span::EXPECTED,
        ParamKind::Rate => Rate::EXPECTED,
        ParamKind::Bytes => Bytes::EXPECTED,
        ParamKind::Number => "a number",
        ParamKind::Integer => "a whole number, 0 or more",
        ParamKind::Flag => "true or false",
        ParamKind::Choice(_) => "one of its words",
    }
}

/// A parameter as Python declares it: name, kind, default, least, most, documentation.
type Declared = (String, String, String, String, String, String);

/// The declaration of a parameter.
fn param((name, kind, default, low, high, doc): &Declared) -> PyResult<ParamDoc> {
    let kind = match kind.as_str() {
        "time" => ParamKind::Span,
        "rate" => ParamKind::Rate,
        "size" => ParamKind::Bytes,
        "number" => ParamKind::Number,
        "integer" => ParamKind::Integer,
        "flag" => ParamKind::Flag,
        _ => return Err(input_error(format!("parameter \"{name}\": no such kind: \"{kind}\""))),
    };
    let value = |text: &str| {
        kind.parse(text).ok_or_else(|| {
            let expected = expected(kind);
            input_error(format!("parameter \"{name}\": \"{text}\" cannot be read; expected {expected}"))
        })
    };
    let range = if kind == ParamKind::Flag { None } else { Some([value(low)?, value(high)?]) };
    Ok(ParamDoc {
        name: interned(name)?,
        doc: interned(doc)?,
        // Those of a scheme in a file are all the author's: none is listed apart.
        role: ParamRole::Paper,
        kind,
        default: value(default)?,
        range,
        needs: None,
    })
}

/// A value in Python: nanoseconds, bit/s, bytes, a number, a truth.
fn put(value: ParamValue, name: &str, into: &Bound<'_, PyDict>) -> PyResult<()> {
    match value {
        ParamValue::Span(v) => into.set_item(name, v.0),
        ParamValue::Rate(v) => into.set_item(name, v.0),
        ParamValue::Bytes(v) => into.set_item(name, v.0),
        ParamValue::Number(v) => into.set_item(name, v),
        ParamValue::Integer(v) => into.set_item(name, v),
        ParamValue::Flag(v) => into.set_item(name, v),
        ParamValue::Choice(v) => into.set_item(name, v),
    }
}

impl Definition {
    fn entry(self: &Arc<Self>, raised: &Raised) -> SchemeEntry {
        let (definition, raised) = (Arc::clone(self), raised.clone());
        SchemeEntry {
            name: self.name,
            about: self.about,
            source: self.origin,
            places: self.places.clone().into(),
            carriers: &[Carrier::Tcp],
            params: self.params.clone().into(),
            presets: &[],
            brings: &[],
            build: Build::Closure(Arc::new(move |params| definition.build(params, &raised))),
        }
    }

    fn build(self: &Arc<Self>, params: &Params, raised: &Raised) -> Result<Box<dyn Scheme>, ParamError> {
        let none = || ParamError::new("", "its Python code has failed");
        if raised.any() {
            return Err(none());
        }
        let built = Python::try_attach(|py| {
            let values = PyDict::new(py);
            for param in &self.params {
                match params.value(param) {
                    Ok(value) => put(value, param.name, &values)?,
                    Err(refused) => return Ok(Err(refused)),
                }
            }
            let built = self.class.bind(py).call_method1("_build", (values,))?;
            if let Ok((name, problem)) = built.extract::<(String, String)>() {
                return Ok(Err(ParamError::new(interned(&name)?, &problem)));
            }
            Ok(Ok(built.unbind()))
        });
        match built {
            Some(Ok(object)) => {
                let (definition, raised) = (Arc::clone(self), raised.clone());
                object.map(|object| Box::new(Written { object, definition, raised }) as Box<dyn Scheme>)
            }
            Some(Err(error)) => {
                raised.set(error, None);
                Err(none())
            }
            None => Err(none()),
        }
    }
}

/// The levels of a scheme's forwarders.
fn levels(scheme: &Bound<'_, PyAny>) -> PyResult<u8> {
    let levels = scheme.getattr("levels")?;
    let fits = levels.extract::<u8>().ok().filter(|levels| (1..=8).contains(levels));
    fits.ok_or_else(|| input_error(format!("Scheme.levels: {levels}; expected a whole number, 1 to 8")))
}

/// A scheme that is set up: a Python object that makes others.
struct Written {
    object: Py<PyAny>,
    definition: Arc<Definition>,
    raised: Raised,
}

impl Written {
    /// Calls a factory, if the class has it; an exception ends the run.
    fn make<T>(
        &self,
        place: &str,
        factory: impl FnOnce(&Bound<'_, PyAny>, &'static str) -> PyResult<T>,
    ) -> Option<T> {
        if !self.definition.places.contains(&place) || self.raised.any() {
            return None;
        }
        match Python::try_attach(|py| factory(self.object.bind(py), self.definition.name))? {
            Ok(made) => Some(made),
            Err(error) => {
                let (scheme, of_source) = (self.definition.name, place == "source");
                self.raised.set(error, Some(Origin { scheme, of_source, now: None }));
                None
            }
        }
    }
}

impl Scheme for Written {
    fn queue(&self, interface: &Interface) -> OutputQueue {
        let limit_packets = interface.limit_packets;
        let made = self.make("queue", |object, name| {
            let made = object.call_method1("queue", (limit_packets,))?;
            queue::PythonQueue::new(&made, limit_packets, &self.raised, name)
        });
        match made {
            Some(queue) => OutputQueue::plain(queue),
            None => OutputQueue::plain(DropTail::new(limit_packets)),
        }
    }

    fn aqm(&self, _interface: &Interface) -> Option<Box<dyn Aqm>> {
        let made = self.make("aqm", |object, name| {
            aqm::PythonAqm::new(&object.call_method0("aqm")?, &self.raised, name)
        });
        made.map(|aqm| Box::new(aqm) as Box<dyn Aqm>)
    }

    fn agent(&self, _interface: &Interface) -> Option<Box<dyn Agent>> {
        if self.definition.places.contains(&"forwarder") {
            let made = self.make("forwarder", |object, name| {
                let made = object.call_method0("forwarder")?;
                forwarder::PythonForwarder::new(&made, &self.raised, name, levels(object)?)
            });
            return made.map(|forwarder| Box::new(forwarder) as Box<dyn Agent>);
        }
        let made = self.make("agent", |object, name| {
            agent::PythonAgent::new(&object.call_method0("agent")?, &self.raised, name)
        });
        made.map(|agent| Box::new(agent) as Box<dyn Agent>)
    }

    fn controller(&self) -> Option<Box<dyn Controller>> {
        let made = self.make("controller", |object, name| {
            controller::PythonController::new(&object.call_method0("controller")?, &self.raised, name)
        });
        made.map(|controller| Box::new(controller) as Box<dyn Controller>)
    }

    fn wants(&self, interface: &Interface) -> Wants {
        if interface.medium == Medium::Wire {
            return Wants::NONE;
        }
        let wants = self.make("agent", |object, _| {
            let samples: u64 = object.getattr("sample_interval")?.extract()?;
            let links = object.getattr("samples_links")?.extract()?;
            let overheard = object.getattr("overhears")?.extract()?;
            let wants = Wants::NONE
                .samples_every(Span(samples))
                .and_if(samples > 0, Capability::Airtime)
                .and_if(links, Capability::Links)
                .and_if(overheard, Capability::Overheard)
                .and(&[Capability::TransmitChoice]);
            if !self.definition.places.contains(&"forwarder") {
                return Ok(wants);
            }
            let delivery_ratios = object.getattr("knows_ratios")?.extract()?;
            let priority = Priority(levels(object)?.saturating_sub(1));
            // Flows have one forwarder at a node.
            let wants = wants.and(&[Capability::LoneRadio]).priorities_to(priority);
            Ok(wants.and_if(delivery_ratios, Capability::DeliveryRatios))
        });
        wants.unwrap_or(Wants::NONE)
    }

    fn source(&self) -> Option<Box<dyn Source>> {
        let made = self.make("source", |object, name| {
            source::PythonSource::new(&object.call_method0("source")?, &self.raised, name)
        });
        made.map(|source| Box::new(source) as Box<dyn Source>)
    }
}

/// Adds a scheme to the registry, or replaces the Python scheme of that name. Raises `InputError` for a mistake in its declaration, and
/// the exception of its code when it is built with its defaults.
#[pyfunction]
pub(crate) fn register_scheme(
    scheme: Py<PyAny>,
    name: &str,
    about: &str,
    origin: &str,
    places: Vec<String>,
    params: Vec<Declared>,
) -> PyResult<()> {
    if airfair_scenario::is_key(name) {
        return Err(input_error(format!("scheme \"{name}\": a key of scenarios has this name")));
    }
    let definition = Arc::new(Definition {
        class: scheme,
        name: interned(name)?,
        about: interned(about)?,
        origin: interned(origin)?,
        places: places.iter().map(|p| interned(p)).collect::<PyResult<_>>()?,
        params: params.iter().map(param).collect::<PyResult<_>>()?,
    });
    let raised = Raised::default();
    let checked = Registry::built_in().clone().with(definition.entry(&raised));
    raised.check()?;
    checked.map_err(input_error)?;
    let mut all = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    match all.iter_mut().find(|other| other.name == definition.name) {
        Some(other) => *other = definition,
        None => all.push(definition),
    }
    Ok(())
}
