//! The report on a run: counts, lateness, and the verdict.

use airfair_sim::engine::drive::Lateness;
use airfair_units::Span;

use crate::bridge::Counts;

/// A delivery in a run that kept up is not later than this, but for one in a hundred.
pub const KEPT_UP: Span = Span::from_millis(1);

/// A run.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Seconds that the run has taken.
    pub wall_s: f64,
    /// Seconds that it took to make the nodes.
    pub set_up_s: f64,
    /// Lateness of deliveries.
    pub lateness: Lateness,
    /// Counts of frames.
    pub counts: Counts,
    /// Frames that the kernel has dropped at devices.
    pub device_drops: u64,
    /// Looks of the clock, and those of them that were too late to take frames.
    pub looks: (u64, u64),
    /// The reason why the emulator has no priority before other processes, if it has none.
    pub no_priority: Option<String>,
    /// True if the user has ended it.
    pub interrupted: bool,
    /// Programs with their exit status; none: it was still running at the end.
    pub programs: Vec<(String, String, Option<i32>)>,
}

impl Report {
    /// Faults of the emulation: frames that were lost without a cause in the scenario.
    #[must_use]
    pub const fn faults(&self) -> u64 {
        self.device_drops + self.counts.not_written + self.counts.too_many
    }

    /// True if the numbers of the run are those of the scenario: one delivery in a hundred at most was later than [`KEPT_UP`], and no
    /// frame was lost by a fault.
    #[must_use]
    pub fn kept_up(&self) -> bool {
        self.lateness.quantile(0.99) <= KEPT_UP && self.looks.1 == 0 && self.faults() == 0
    }
}
