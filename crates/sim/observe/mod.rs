//! Observers of a run while it goes on. Nothing here changes what happens, and no part of a world knows of it: parts say
//! what happens in [records](crate::record), which the loop of events takes out and gives to the observers.
//!
//! | part | contents |
//! |---|---|
//! | `trace` | records in words |
//! | `capture` | frames as bytes and as rows |
//! | `explain` | why a flow gets what it gets |
//! | `series` | counters at the end of each interval |
//! | `windows` | fairness of windows of time |
//! | `results`, `snapshot` | the numbers of a run, and of a moment |
//! | `describe`, `paths` | what a packet is, and the way that it goes |

pub mod capture;
pub(crate) mod describe;
pub mod explain;
pub(crate) mod paths;
mod results;
pub mod series;
mod snapshot;
pub(crate) mod trace;
pub mod windows;

use airfair_units::{Dbm, Time};

use crate::air::Air;
use crate::node::Network;
use crate::record::{Names, Record, Records, Trace};
use capture::Capture;
use explain::Explainer;
use series::Sampler;
use trace::Tracer;
use windows::Fairness;

/// One who observes a run. A new observer implements this and has a place in [`Observers`].
pub(crate) trait Observer {
    /// Something has happened in the present event, which is done: `world` is as the event has left it. `at` is when it happened: on the
    /// air that may be up to a propagation delay away from the present.
    fn record(&mut self, _at: Time, _record: &Record, _world: &Observed<'_>) {}

    /// An event is done, and all of its records have been given. Until the next one nothing but time changes.
    fn event_done(&mut self, _world: &Observed<'_>) {}

    /// The next moment at which the observer wants to be called although nothing may happen then.
    fn next_moment(&self) -> Time {
        Time::NEVER
    }

    /// Time has passed until the present, before which all events are done: at each moment that an observer wants, and wherever the world
    /// stops.
    fn time_passed(&mut self, _world: &Observed<'_>) {}
}

/// What a run is, apart from what happens in it: how its results name things.
#[derive(Debug)]
pub(crate) struct Run {
    pub names: Names,
    /// Name of the radio of each station, and its transmit power.
    pub radios: Vec<String>,
    pub tx_power: Vec<Dbm>,
    pub scheme: String,
    /// Schemes of nodes that have their own, and window laws of flows that follow them, by place in the specification.
    pub own_schemes: Vec<(usize, String)>,
    pub own_laws: Vec<(usize, String)>,
    pub seed: u64,
    pub warmup: Time,
    pub end: Time,
    /// Warnings that follow from the specification alone.
    pub warnings: Vec<String>,
}

/// A world as observers see it.
#[derive(Clone, Copy)]
pub(crate) struct Observed<'a> {
    pub now: Time,
    pub air: &'a Air,
    pub network: &'a Network,
    pub run: &'a Run,
    /// Events so far.
    pub events: u64,
}

/// The observers of a world.
#[derive(Default)]
pub(crate) struct Observers {
    pub trace: Option<Tracer>,
    pub capture: Option<Box<Capture>>,
    pub explain: Option<Box<Explainer>>,
    pub series: Option<Sampler>,
    pub fairness: Option<Fairness>,
    /// Records of the present event.
    happened: Trace,
}

impl Observers {
    fn each(&mut self) -> impl Iterator<Item = &mut dyn Observer> {
        let Self { trace, capture, explain, series, fairness, happened: _ } = self;
        let list: [Option<&mut dyn Observer>; 5] = [
            explain.as_deref_mut().map(|observer| observer as _),
            capture.as_deref_mut().map(|observer| observer as _),
            trace.as_mut().map(|observer| observer as _),
            series.as_mut().map(|observer| observer as _),
            fairness.as_mut().map(|observer| observer as _),
        ];
        list.into_iter().flatten()
    }

    /// Takes out what a part has recorded in the present event. Parts that lie below others come first.
    pub(crate) fn take(&mut self, records: &mut Records) {
        self.happened.extend(records.drain());
    }

    /// The present event is done.
    pub(crate) fn event_done(&mut self, world: &Observed<'_>) {
        let mut happened = std::mem::take(&mut self.happened);
        for observer in self.each() {
            for (at, record) in &happened {
                observer.record(*at, record, world);
            }
            observer.event_done(world);
        }
        happened.clear();
        self.happened = happened;
    }

    /// The next moment at which one of them wants to be called.
    pub(crate) fn next_moment(&mut self) -> Time {
        self.each().map(|observer| observer.next_moment()).min().unwrap_or(Time::NEVER)
    }

    /// Time has passed until the present.
    pub(crate) fn time_passed(&mut self, world: &Observed<'_>) {
        self.each().for_each(|observer| observer.time_passed(world));
    }
}
