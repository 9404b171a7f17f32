//! Calls of the hooks of a Python object: each call acquires the interpreter, and an exception ends the run.

use airfair_schemes::places::{self, DropReason, Ecn, MarkReason, PacketClass, QueueView};
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::context::{Context, Effects, Place};
use crate::error::input_error;
use crate::hosted::{Origin, Raised};
use crate::interned::reason;

/// A class of `airfair.scheme`, looked up once.
macro_rules! class {
    ($py:expr, $name:literal) => {{
        static CLASS: pyo3::sync::PyOnceLock<Py<pyo3::types::PyType>> = pyo3::sync::PyOnceLock::new();
        CLASS.import($py, "airfair.scheme", $name)
    }};
}
pub(super) use class;

/// A Python object that fills a place of one world.
pub(super) struct Hooks {
    object: Py<PyAny>,
    context: Py<Context>,
    raised: Raised,
    scheme: &'static str,
    place: Place,
}

impl Hooks {
    /// Wraps the object of a factory, which must be an instance of the place's base class.
    pub fn new(
        object: &Bound<'_, PyAny>,
        base: &Bound<'_, PyType>,
        place: Place,
        raised: &Raised,
        scheme: &'static str,
    ) -> PyResult<Self> {
        if !object.is_instance(base)? {
            let expected = base.name()?;
            let given = match object.cast::<PyType>() {
                Ok(class) => format!("the class {}", class.name()?),
                Err(_) => object.repr()?.to_string(),
            };
            let problem = format!("{given} stands here; expected an instance of {expected}");
            return Err(input_error(format!("scheme {scheme}: {problem}")));
        }
        let context = Context::at(object.py(), place)?;
        Ok(Self { object: object.clone().unbind(), context, raised: raised.clone(), scheme, place })
    }

    /// True if the object's class overrides a hook: the base class's hooks do nothing and are not called.
    pub fn has(object: &Bound<'_, PyAny>, base: &Bound<'_, PyType>, hook: &str) -> PyResult<bool> {
        Ok(!object.get_type().getattr(hook)?.is(&base.getattr(hook)?))
    }

    /// Calls a hook with a context. Once anything was raised nothing is called any more and `inert` is the answer.
    pub fn call<T, E: Effects>(
        &self,
        context: &mut places::Context<'_, E>,
        inert: T,
        hook: impl FnOnce(&Bound<'_, PyAny>, &Bound<'_, Context>) -> PyResult<T>,
    ) -> T {
        let before = self.raised.any();
        let answer = self.attached(inert, |object| {
            let own = self.context.bind(object.py());
            Context::lend(own, context)?;
            let answer = hook(object, own);
            Context::give_back(own, context)?;
            answer
        });
        if !before && self.raised.any() {
            // The world knows the flow of a source, and `Hosted::check` adds it to the note.
            context.out.fail();
        }
        answer
    }

    /// Calls a hook that has no context.
    pub fn attached<T>(&self, inert: T, hook: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> T {
        if self.raised.any() {
            return inert;
        }
        match Python::try_attach(|py| hook(self.object.bind(py))) {
            Some(Ok(answer)) => answer,
            Some(Err(error)) => {
                let now = Python::attach(|py| self.context.try_borrow(py).ok().map(|context| context.now()));
                let origin = Origin { scheme: self.scheme, of_source: self.place == Place::Source, now };
                self.raised.set(error, Some(origin));
                inert
            }
            // The interpreter is ending, and with it the run.
            None => inert,
        }
    }

    /// Ends the run because of an answer that no hook may give.
    pub fn refuse(&self, problem: &str) {
        self.raised.set(input_error(format!("scheme {}: {problem}", self.scheme)), None);
    }

    /// True if anything was raised in this world.
    pub fn ended(&self) -> bool {
        self.raised.any()
    }

    /// The error about an answer of the wrong kind. `hook` is the place and the hook, such as `Aqm.on_enqueue`.
    pub fn wrong(&self, hook: &str, answer: &Bound<'_, PyAny>, expected: &str) -> PyErr {
        self.bad_answer(hook, answer, &format!("; expected {expected}"))
    }

    /// The decision of a hook about a packet; `None` for an answer of another type.
    pub fn decision(&self, hook: &str, answer: &Bound<'_, PyAny>) -> PyResult<Option<Decision>> {
        let refused =
            |error: PyErr| self.bad_answer(hook, answer, &format!(": {}", error.value(answer.py())));
        Decision::read(answer).map_err(refused)
    }

    fn bad_answer(&self, hook: &str, answer: &Bound<'_, PyAny>, problem: &str) -> PyErr {
        let given = answer.repr().map_or_else(|_| "?".to_string(), |text| text.to_string());
        let written = self.written(answer.py(), hook).unwrap_or_default();
        input_error(format!("{written}scheme {}: {hook} returned {given}{problem}", self.scheme))
    }

    /// Where a hook is written, for the beginning of a message.
    fn written(&self, py: Python<'_>, hook: &str) -> PyResult<String> {
        let method = hook.rsplit('.').next().unwrap_or(hook);
        let code = self.object.bind(py).getattr(method)?.getattr("__code__")?;
        let (file, line) = (code.getattr("co_filename")?, code.getattr("co_firstlineno")?);
        Ok(format!("{file}:{line}: "))
    }
}

/// A packet as Python sees it.
pub(super) fn packet<'py>(py: Python<'py>, p: &places::Packet) -> PyResult<Bound<'py, PyAny>> {
    let class = match p.class {
        PacketClass::Data => "data",
        PacketClass::Ack => "ack",
        PacketClass::Control => "control",
    };
    let ecn = match p.ecn {
        Ecn::NotEct => "not-ect",
        Ecn::Ect => "ect",
        Ecn::Ce => "ce",
    };
    let fields =
        (p.id.0, p.flow.0, p.destination.0, p.next_hop.0, p.bytes, class, ecn, p.enqueued.as_nanos());
    class!(py, "Packet")?.call1(fields)
}

/// How full a queue is, as Python sees it.
pub(super) fn view<'py>(py: Python<'py>, v: &QueueView) -> PyResult<Bound<'py, PyAny>> {
    class!(py, "QueueView")?.call1((v.packets, v.bytes, v.limit_packets))
}

/// A decision of Python about a packet.
pub(super) enum Decision {
    /// `None`.
    Accept,
    /// `Drop(reason)`.
    Drop(DropReason),
    /// `Mark(reason)`.
    Mark(MarkReason),
    /// `Displaced(packet, reason)`.
    Displaced(u32, DropReason),
}

impl Decision {
    /// `None` if it is nothing of the kind.
    pub fn read(answer: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let py = answer.py();
        let why = || reason(&answer.getattr("reason")?.extract::<String>()?);
        Ok(if answer.is_none() {
            Some(Self::Accept)
        } else if answer.is_instance(class!(py, "Drop")?)? {
            Some(Self::Drop(DropReason(why()?)))
        } else if answer.is_instance(class!(py, "Mark")?)? {
            Some(Self::Mark(MarkReason(why()?)))
        } else if answer.is_instance(class!(py, "Displaced")?)? {
            Some(Self::Displaced(answer.getattr("packet")?.getattr("id")?.extract()?, DropReason(why()?)))
        } else {
            None
        })
    }
}
