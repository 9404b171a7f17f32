//! The efficiency controller without a capacity: the speed of the queue shows the spare capacity.

use airfair_units::Span;

use crate::xcp::{Efficiency, Observed};

/// The law of XCP-b for phi.
#[derive(Debug, Clone)]
pub struct Blind {
    /// The constant alpha.
    pub alpha: f64,
    /// The constant beta.
    pub beta: f64,
    /// True if q is the least queue of an interval instead of the queue at its end.
    pub least: bool,
    /// kappa: the target of the queue, bytes.
    pub target: f64,
    /// chi B: the change that is granted while the link is idle, bytes.
    pub idle_change: f64,
    /// n: the number of intervals in a row in which q has to be 0 before the link counts as idle.
    pub patience: u32,
    /// q of the last interval, bytes.
    pub before: u64,
    /// Intervals in a row with q = 0.
    pub empty: u32,
}

impl Efficiency for Blind {
    fn change(&mut self, seen: &Observed) -> f64 {
        let queue = if self.least { seen.standing } else { seen.backlog };
        self.empty = if queue == 0 { self.empty.saturating_add(1) } else { 0 };
        // What was dropped would stand in a larger queue.
        let growth = queue as f64 + seen.dropped as f64 - self.before as f64;
        self.before = queue;
        if self.empty >= self.patience {
            return self.idle_change;
        }
        // While the queue is not empty, its growth in a second is y - C.
        let spare = -growth / seen.seconds;
        self.alpha * seen.rtt * spare - self.beta * (queue as f64 - self.target)
    }

    fn queue_interval(&self, _rtt: f64, _backlog: u64) -> Option<Span> {
        None
    }

    fn set_rate(&mut self, _bytes_per_second: f64) {}
}
