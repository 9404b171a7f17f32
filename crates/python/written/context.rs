//! The context of a hook: time, random numbers, effects.

use airfair_schemes::places;
use airfair_units::Time;
use airfair_units::random::{Purpose, Stream};
use pyo3::prelude::*;

use crate::arguments::{At, Bound32, Now, PacketNumber, Reason, Seed, StreamName, TimerNumber};
use crate::error::{SchemeError, input_error};
use crate::interned::reason;

/// The place of a context, which determines the effects that are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A program's own, for tests of hooks: all effects.
    Any,
    Source,
    Queue,
    Aqm,
}

/// The random stream of a scheme at one place: the simulator's, so that the same seed gives the same run.
#[pyclass(module = "airfair.scheme")]
pub(crate) struct Random(pub Stream);

#[pymethods]
impl Random {
    /// A stream of its own, for tests.
    #[new]
    #[pyo3(
        signature = (seed=Seed(1), name=StreamName("test".to_string())),
        text_signature = "(seed=1, name='test')"
    )]
    fn new(seed: Seed, name: StreamName) -> Self {
        Self(Stream::new(seed.0, &name.0, Purpose::Queue))
    }

    /// The next 32 bits.
    fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// The next 64 bits.
    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A whole number below `bound`, every one equally likely; 0 for a bound of 0.
    fn below(&mut self, bound: Bound32) -> u32 {
        self.0.below(bound.0)
    }

    /// A number from 0 up to, but not, 1.
    fn uniform(&mut self) -> f64 {
        self.0.uniform()
    }
}

/// Packets and reasons.
type Named = Vec<(u32, &'static str)>;

/// The context of a hook: the present, a random stream, and the effects that it requests.
#[pyclass(module = "airfair.scheme")]
pub(crate) struct Context {
    /// The present, ns since the start of the run.
    #[pyo3(get, set)]
    now: u64,
    random: Py<Random>,
    place: Place,
    timers: Vec<(u16, u64)>,
    dropped: Named,
    marked: Named,
}

/// Effects of a place, as requested by Python. The context has refused effects that the place does not have.
pub(crate) trait Effects {
    /// Moves the requested effects to the place.
    fn accept(&mut self, asked: &mut Context);

    /// Notifies the place's host that Python's code has raised an exception.
    fn fail(&mut self) {}
}

impl Effects for places::AqmEffects {
    fn accept(&mut self, _asked: &mut Context) {}
}

impl Effects for places::QueueEffects {
    fn accept(&mut self, asked: &mut Context) {
        let dropped =
            asked.dropped.drain(..).map(|(id, why)| (places::PacketId(id), places::DropReason(why)));
        self.dropped.extend(dropped);
        let marked = asked.marked.drain(..).map(|(id, why)| (places::PacketId(id), places::MarkReason(why)));
        self.marked.extend(marked);
    }
}

impl Effects for places::SourceEffects {
    fn accept(&mut self, asked: &mut Context) {
        self.timers.extend(asked.timers.drain(..).map(|(timer, at)| (places::Timer(timer), Time(at))));
    }

    fn fail(&mut self) {
        self.failed = true;
    }
}

impl Context {
    /// When its hook was called last, ns.
    pub const fn now(&self) -> u64 {
        self.now
    }

    pub fn at(py: Python<'_>, place: Place) -> PyResult<Py<Self>> {
        let random = Py::new(py, Random(Stream::of_hash(0, 0, Purpose::Queue)))?;
        let (timers, dropped, marked) = Default::default();
        Py::new(py, Self { now: 0, random, place, timers, dropped, marked })
    }

    /// Lends the simulator's stream to Python until [`Context::give_back`].
    pub fn lend<E>(this: &Bound<'_, Self>, context: &mut places::Context<'_, E>) -> PyResult<()> {
        let mut own = this.try_borrow_mut()?;
        own.now = context.now.as_nanos();
        std::mem::swap(&mut own.random.bind(this.py()).try_borrow_mut()?.0, context.random);
        Ok(())
    }

    /// Takes the random stream back and passes the effects on.
    pub fn give_back<E: Effects>(
        this: &Bound<'_, Self>,
        context: &mut places::Context<'_, E>,
    ) -> PyResult<()> {
        let mut own = this.try_borrow_mut()?;
        std::mem::swap(&mut own.random.bind(this.py()).try_borrow_mut()?.0, context.random);
        context.out.accept(&mut own);
        Ok(())
    }

    fn only(&self, place: Place, what: &str) -> PyResult<()> {
        if self.place == place || self.place == Place::Any {
            return Ok(());
        }
        Err(SchemeError::new_err(format!(
            "Context.{what} goes with a {place:?}, not with a {:?}",
            self.place
        )))
    }
}

#[pymethods]
impl Context {
    /// A context for tests of hooks.
    #[new]
    #[pyo3(
        signature = (now=Now(0), *, seed=Seed(1), name=StreamName("test".to_string())),
        text_signature = "(now=0, *, seed=1, name='test')"
    )]
    fn new(py: Python<'_>, now: Now, seed: Seed, name: StreamName) -> PyResult<Self> {
        let random = Py::new(py, Random::new(seed, name))?;
        let (timers, dropped, marked) = Default::default();
        Ok(Self { now: now.0, random, place: Place::Any, timers, dropped, marked })
    }

    /// The scheme's own random stream at this place.
    #[getter]
    fn random(&self, py: Python<'_>) -> Py<Random> {
        self.random.clone_ref(py)
    }

    /// Sets timer number `timer` (0 to 65535) of a source to `at`, ns since the start of the run; an earlier setting of the same timer
    /// counts no more.
    fn set_timer(&mut self, timer: TimerNumber, at: At) -> PyResult<()> {
        let (timer, at) = (timer.0, at.0);
        self.only(Place::Source, "set_timer")?;
        if at <= self.now {
            return Err(input_error(format!("a timer at {at} ns: expected later than now, {} ns", self.now)));
        }
        self.timers.push((timer, at));
        Ok(())
    }

    /// Reports that the queue has dropped a packet (its `id`) that it stored.
    fn drop(&mut self, packet: PacketNumber, why: Reason) -> PyResult<()> {
        self.only(Place::Queue, "drop")?;
        self.dropped.push((packet.0, reason(&why.0)?));
        Ok(())
    }

    /// Marks a packet (its `id`) that the queue stores.
    fn mark(&mut self, packet: PacketNumber, why: Reason) -> PyResult<()> {
        self.only(Place::Queue, "mark")?;
        self.marked.push((packet.0, reason(&why.0)?));
        Ok(())
    }

    /// Timers that were set and not yet passed on: numbers and times, ns.
    #[getter]
    fn timers(&self) -> Vec<(u16, u64)> {
        self.timers.clone()
    }

    /// Packets dropped and why.
    #[getter]
    fn dropped(&self) -> Named {
        self.dropped.clone()
    }

    /// Packets marked and why.
    #[getter]
    fn marked(&self) -> Named {
        self.marked.clone()
    }
}
