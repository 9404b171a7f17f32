//! Observers of a run. Observers do not change a run, and no part of a world knows them: parts append [records](crate::record) to lists,
//! and the event loop passes these to the observers.
//!
//! | part | contents |
//! |---|---|
//! | `trace` | records as text |
//! | `capture` | frames as bytes and as rows |
//! | `states` | back-off, NAV and EIFS of stations as intervals |
//! | `explain` | explanation of a flow's throughput |
//! | `inhibition` | inhibited links, found and actual |
//! | `series` | counters at the end of each interval |
//! | `windows` | fairness of windows of time |
//! | `results`, `snapshot` | results of a run, counters at a moment |
//! | `describe`, `paths` | descriptions of packets, and their paths |

pub mod capture;
pub(crate) mod describe;
pub mod explain;
mod inhibition;
pub(crate) mod paths;
mod results;
pub mod series;
mod snapshot;
pub mod states;
pub(crate) mod trace;
pub mod windows;

use crate::ids::NodeIx;
use airfair_units::{Dbm, Time};

use crate::air::Air;
use crate::node::Network;
use crate::record::{Names, Record, Records, Trace};
use capture::Capture;
use explain::Explainer;
use series::Sampler;
use states::States;
use trace::Tracer;
use windows::Fairness;

/// An observer of a run. A new observer implements this trait and has a field in [`Observers`].
///
/// A run is advanced in steps whose lengths follow the wall clock. So an observer is called after events and at the moments that it has
/// named, and nowhere else.
pub(crate) trait Observer {
    /// Called for each record of an event, after the event: `world` is the state then. `at` is the time of the record: on the air it may
    /// differ from the present by up to a propagation delay.
    fn record(&mut self, _at: Time, _record: &Record, _world: &WorldView<'_>) {}

    /// Called after an event and all its records. Until the next event only time changes.
    fn event_done(&mut self, _world: &WorldView<'_>) {}

    /// The next time at which [`Observer::moment_reached`] must be called, even without an event.
    fn next_moment(&self) -> Time {
        Time::NEVER
    }

    /// Called at the next moment of any observer, when all events before the present are done. Afterwards the observer's own next moment
    /// lies ahead.
    fn moment_reached(&mut self, _world: &WorldView<'_>) {}
}

/// Names and settings of a run, for its results.
#[derive(Debug)]
pub(crate) struct RunInfo {
    pub names: Names,
    /// Name of the radio of each station, and its transmit power.
    pub radios: Vec<String>,
    pub tx_power: Vec<Dbm>,
    pub scheme: String,
    /// Schemes of nodes that have their own, and the window laws of flows that use them, by index in the specification.
    pub own_schemes: Vec<(usize, String)>,
    pub own_laws: Vec<(usize, String)>,
    pub seed: u64,
    pub warmup: Time,
    pub end: Time,
    /// Warnings from the specification alone.
    pub warnings: Vec<String>,
}

impl RunInfo {
    /// The scheme of a node's interfaces.
    pub fn scheme_of(&self, node: NodeIx) -> &str {
        let own = self.own_schemes.iter().find(|own| own.0 == node.ix());
        own.map_or(&self.scheme, |own| &own.1)
    }
}

/// A world as observers read it.
#[derive(Clone, Copy)]
pub(crate) struct WorldView<'a> {
    pub now: Time,
    pub air: &'a Air,
    pub network: &'a Network,
    pub run: &'a RunInfo,
    /// Number of events handled.
    pub events: u64,
}

/// Observers of a world.
#[derive(Default)]
pub(crate) struct Observers {
    pub trace: Option<Tracer>,
    pub capture: Option<Box<Capture>>,
    pub states: Option<Box<States>>,
    pub explain: Option<Box<Explainer>>,
    pub series: Option<Sampler>,
    pub fairness: Option<Fairness>,
    /// Records of the present event.
    happened: Trace,
}

impl Observers {
    fn all_mut(&mut self) -> impl Iterator<Item = &mut dyn Observer> {
        let Self { trace, capture, states, explain, series, fairness, happened: _ } = self;
        let list: [Option<&mut dyn Observer>; 6] = [
            explain.as_deref_mut().map(|observer| observer as _),
            capture.as_deref_mut().map(|observer| observer as _),
            states.as_deref_mut().map(|observer| observer as _),
            trace.as_mut().map(|observer| observer as _),
            series.as_mut().map(|observer| observer as _),
            fairness.as_mut().map(|observer| observer as _),
        ];
        list.into_iter().flatten()
    }

    /// Collects the records of a part from the present event. To be called for lower parts first.
    pub(crate) fn collect(&mut self, records: &mut Records) {
        self.happened.extend(records.drain());
    }

    /// Gives the records of the present event to the observers.
    pub(crate) fn event_done(&mut self, world: &WorldView<'_>) {
        let mut happened = std::mem::take(&mut self.happened);
        for observer in self.all_mut() {
            for (at, record) in &happened {
                observer.record(*at, record, world);
            }
            observer.event_done(world);
        }
        happened.clear();
        self.happened = happened;
    }

    /// The next time at which an observer must be called.
    pub(crate) fn next_moment(&mut self) -> Time {
        self.all_mut().map(|observer| observer.next_moment()).min().unwrap_or(Time::NEVER)
    }

    /// Notifies the observers that a moment is reached which one of them has named.
    pub(crate) fn moment_reached(&mut self, world: &WorldView<'_>) {
        self.all_mut().for_each(|observer| observer.moment_reached(world));
    }
}
