//! Advances a world: in slices that a signal can end, or paced by the wall clock.

use std::cell::{Cell, RefCell};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use airfair_sim::engine::drive::{self, Clock, Lateness, Steppable, Wake};
use airfair_units::{Span, Time};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::arguments::{SchemeName, Seed, arguments};
use crate::contract;
use crate::error::input_error;
use crate::hosted::Hosted;
use crate::scenario::Scenario;

arguments! {
    StopArgument(Py<Stop>) = "stop", "a Stop";
    Lengths(Vec<u64>) = "lengths_ns", "whole numbers of nanoseconds, 0 or more";
}

/// Wall time between two checks for signals, about.
pub(crate) const SLICE: Duration = Duration::from_millis(20);
/// Simulated time of the first slice.
const FIRST_SLICE: Span = Span::from_millis(1);

/// Events of the longest slice, about: those of one moment have no bound, and a signal must not wait for their end.
const MOST_EVENTS: u64 = 1 << 20;

/// Simulated time of the longest slice: a quiet start must not make the first busy slice endless.
const LONGEST_SLICE: Span = Span::from_secs(1);

/// A request to end, shared by runs: only the main thread receives signals, so runs in other threads check this flag.
#[pyclass(frozen, module = "airfair._core")]
#[derive(Default)]
pub(crate) struct Stop(AtomicBool);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// From now on every run that was given this ends with KeyboardInterrupt.
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Raises `KeyboardInterrupt` if a signal has come or `stop` is set.
pub(crate) fn check(stop: Option<&Stop>) -> PyResult<()> {
    if stop.is_some_and(|s| s.0.load(Ordering::Relaxed)) {
        return Err(PyKeyboardInterrupt::new_err("stopped"));
    }
    Python::attach(|py| py.check_signals())
}

/// A look at signals from a computation that is no run: whenever [`SLICE`] has passed.
pub(crate) struct Signals {
    checked: Cell<Instant>,
    raised: Ended,
}

impl Signals {
    /// None has come yet.
    pub fn new() -> Self {
        Self { checked: Cell::new(Instant::now()), raised: Ended::default() }
    }

    /// True if a signal has come whose handler raises an exception.
    pub fn raised(&self) -> bool {
        if self.raised.borrow().is_none() && self.checked.get().elapsed() >= SLICE {
            self.checked.set(Instant::now());
            *self.raised.borrow_mut() = check(None).err();
        }
        self.raised.borrow().is_some()
    }

    /// Raises this exception.
    pub fn raise(self) -> PyResult<()> {
        self.raised.into_inner().map_or(Ok(()), Err)
    }
}

/// Lengths of the slices of all runs of the process, in turn; none: slices follow the wall clock.
static LENGTHS: RwLock<Vec<Span>> = RwLock::new(Vec::new());

/// Advances the runs that begin from now on in slices of these lengths, in turn; without lengths, in slices that follow the wall clock
/// again. For tests: nothing that a run writes may depend on its slices.
#[pyfunction]
pub(crate) fn fix_slices(lengths_ns: Lengths) {
    let lengths = lengths_ns.0.into_iter().map(|length| Span(length.max(1))).collect();
    *LENGTHS.write().unwrap_or_else(PoisonError::into_inner) = lengths;
}

/// Slices of simulated time in which a world is advanced, each of about the same work.
pub(crate) struct Slices {
    work: Duration,
    length: Span,
    /// Lengths that do not follow the work ([`fix_slices`]).
    fixed: std::iter::Cycle<std::vec::IntoIter<Span>>,
}

impl Slices {
    /// Slices whose computation takes from half to twice this time.
    pub fn of(work: Duration) -> Self {
        let fixed = LENGTHS.read().unwrap_or_else(PoisonError::into_inner).clone();
        Self { work, length: FIRST_SLICE, fixed: fixed.into_iter().cycle() }
    }

    /// Advances by one slice, at most until then, and adapts the length to the work. Raises the exception of a hook.
    pub fn advance(&mut self, world: &mut Hosted, until: Time) -> PyResult<()> {
        let began = Instant::now();
        self.length = self.fixed.next().unwrap_or(self.length);
        let end = world.now().saturating_add(self.length).min(until);
        // The caller goes on until the world is there.
        world.advance_part(end, MOST_EVENTS);
        let took = began.elapsed();
        if took < self.work / 2 {
            self.length = Span(self.length.0.saturating_mul(2)).min(LONGEST_SLICE);
        } else if took > self.work * 2 {
            self.length = Span((self.length.0 / 2).max(1));
        }
        world.check()
    }
}

/// Advances to a moment, or to the end if that comes first. Called without the interpreter.
pub(crate) fn advance(world: &mut Hosted, until: Time, stop: Option<&Stop>) -> PyResult<()> {
    advance_with(world, until, &|_| Ok(()), stop)
}

/// The same; `hand_over` is called after every slice.
pub(crate) fn advance_with(
    world: &mut Hosted,
    until: Time,
    hand_over: &dyn Fn(&mut Hosted) -> PyResult<()>,
    stop: Option<&Stop>,
) -> PyResult<()> {
    let until = until.min(world.end());
    let mut slices = Slices::of(SLICE);
    check(stop)?;
    while world.now() < until {
        slices.advance(world, until)?;
        hand_over(world)?;
        check(stop)?;
    }
    Ok(())
}

/// The exception that ended a paced run early.
type Ended = RefCell<Option<PyErr>>;

/// A world that no longer advances once the run has been ended.
struct Stoppable<'a> {
    world: &'a mut Hosted,
    ended: &'a Ended,
}

impl Steppable for Stoppable<'_> {
    fn advance(&mut self, until: Time) {
        while self.ended.borrow().is_none() {
            let arrived = self.world.advance_part(until, MOST_EVENTS);
            *self.ended.borrow_mut() = self.world.check().and_then(|()| check(None)).err();
            if arrived {
                return;
            }
        }
    }

    fn now(&self) -> Time {
        self.world.now()
    }

    fn next_deadline(&mut self) -> Option<Time> {
        if self.ended.borrow().is_some() { None } else { self.world.next_deadline() }
    }

    fn end(&self) -> Time {
        self.world.end()
    }
}

/// The wall clock, which checks for signals whenever [`SLICE`] has passed.
struct Wall<'a> {
    start: Instant,
    checked: Instant,
    ended: &'a Ended,
}

impl Wall<'_> {
    fn check_signals(&mut self) {
        if self.checked.elapsed() >= SLICE && self.ended.borrow().is_none() {
            self.checked = Instant::now();
            *self.ended.borrow_mut() = check(None).err();
        }
    }
}

impl Clock for Wall<'_> {
    fn now(&mut self) -> Time {
        Time(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// Nothing comes from outside: a wait ends in time, or with the run.
    fn wait(&mut self, until: Time) -> Wake {
        self.check_signals();
        while self.ended.borrow().is_none() {
            let left = until.since(self.now());
            if left == Span::ZERO {
                break;
            }
            thread::sleep(Duration::from_nanos(left.0).min(SLICE));
            self.check_signals();
        }
        Wake::Due
    }
}

fn paced(world: &mut Hosted, speed: f64) -> PyResult<Lateness> {
    let ended = Ended::default();
    let start = Instant::now();
    let mut clock = Wall { start, checked: start, ended: &ended };
    let lateness = drive::paced(&mut Stoppable { world, ended: &ended }, &mut clock, speed);
    match ended.into_inner() {
        Some(error) => Err(error),
        None => Ok(lateness),
    }
}

/// Speeds of a paced run: a second of it takes between a microsecond and twelve days.
const SPEEDS: RangeInclusive<f64> = 1e-6..=1e6;

/// Runs a scenario paced by the wall clock, `speed` times as fast. The result is that of `Scenario.run`, with
/// `perf.lateness` added: how late each deadline was acted on, also returned alone.
#[pyfunction]
#[pyo3(
    signature = (scenario, scheme=None, seed=Seed(1), speed=1.0),
    text_signature = "(scenario, scheme=None, seed=1, speed=1.0)"
)]
pub(crate) fn run_paced(
    py: Python<'_>,
    scenario: &Scenario,
    scheme: Option<SchemeName>,
    seed: Seed,
    speed: f64,
) -> PyResult<(String, String)> {
    if !SPEEDS.contains(&speed) {
        let (slowest, fastest) = SPEEDS.into_inner();
        return Err(input_error(format!("speed {speed}: expected a number from {slowest} to {fastest}")));
    }
    py.detach(|| {
        let began = Instant::now();
        let form = scenario.form(scheme.as_ref())?;
        let mut world = form.world(seed.0)?;
        let lateness = contract::Lateness::from(&paced(&mut world, speed)?);
        let result = contract::write(&form.scenario, &world, began.elapsed(), Some(&lateness), &[])?;
        Ok((result, contract::json(&lateness)?))
    })
}
