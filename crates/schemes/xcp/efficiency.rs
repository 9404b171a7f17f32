//! The efficiency controller [XCP §3.5.1]: by how much all traffic together shall change in a round trip.

use airfair_units::Span;

/// What a control interval has shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// How long it was, s.
    pub seconds: f64,
    /// d: the mean round-trip time, s.
    pub rtt: f64,
    /// Bytes that have arrived, those that were dropped included.
    pub arrived: u64,
    /// Of those, dropped.
    pub dropped: u64,
    /// Q: the queue that has stood all the time of the last queue interval, or of this one where there is none, bytes.
    pub standing: u64,
    /// What waits at its end, bytes.
    pub backlog: u64,
}

/// A law for phi.
pub trait Efficiency: Send {
    /// phi: bytes by which all traffic shall change in a round-trip time.
    fn change(&mut self, seen: &Seen) -> f64;

    /// The interval over which a standing queue is looked for, with this mean round-trip time, s, and this backlog, bytes. `None`: the
    /// control interval itself.
    fn queue_interval(&self, rtt: f64, backlog: u64) -> Option<Span>;

    /// The link has another rate, bytes/s.
    fn set_rate(&mut self, bytes_per_second: f64);
}

/// XCP's: `phi = alpha d (C - y) - beta Q`.
#[derive(Debug, Clone)]
pub struct Known {
    /// alpha.
    pub alpha: f64,
    /// beta.
    pub beta: f64,
    /// C, bytes/s.
    pub capacity: f64,
    /// Least queue interval.
    pub least_queue_interval: Span,
}

impl Efficiency for Known {
    fn change(&mut self, seen: &Seen) -> f64 {
        let spare = self.capacity - seen.arrived as f64 / seen.seconds;
        self.alpha * seen.rtt * spare - self.beta * seen.standing as f64
    }

    /// Half of the round trip without its queue.
    fn queue_interval(&self, rtt: f64, backlog: u64) -> Option<Span> {
        let half = (rtt - backlog as f64 / self.capacity) / 2.0;
        Some(Span((half * 1e9) as u64).max(self.least_queue_interval))
    }

    fn set_rate(&mut self, bytes_per_second: f64) {
        self.capacity = bytes_per_second;
    }
}
