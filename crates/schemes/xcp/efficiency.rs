//! The efficiency controller [XCP §3.5.1]: the change of all traffic together in a round trip.

use airfair_units::Span;

/// The observations of a control interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observed {
    /// The length of the interval, s.
    pub seconds: f64,
    /// d: the mean round-trip time, s.
    pub rtt: f64,
    /// Bytes that have arrived, those that were dropped included.
    pub arrived: u64,
    /// The dropped ones of those.
    pub dropped: u64,
    /// Q: the queue that has stood during the whole last queue interval, or this control interval where there is none, bytes.
    pub standing: u64,
    /// The backlog at the end of the control interval, bytes.
    pub backlog: u64,
}

/// A law for phi.
pub trait Efficiency: Send {
    /// phi: bytes by which all traffic shall change in a round-trip time.
    fn change(&mut self, seen: &Observed) -> f64;

    /// The interval over which a standing queue is measured, with this mean round-trip time, s, and this backlog, bytes. `None`: the
    /// control interval itself.
    fn queue_interval(&self, rtt: f64, backlog: u64) -> Option<Span>;

    /// The rate of the link has changed, bytes/s.
    fn set_rate(&mut self, bytes_per_second: f64);
}

/// Least time over which a queue has to stand in order to count; checked against ns-2.35.
const LEAST_QUEUE_INTERVAL: Span = Span::from_millis(2);

/// The law of XCP: `phi = alpha d (C - y) - beta Q`.
#[derive(Debug, Clone)]
pub struct KnownCapacity {
    /// The constant alpha.
    pub alpha: f64,
    /// The constant beta.
    pub beta: f64,
    /// The capacity C, bytes/s.
    pub capacity: f64,
}

impl Efficiency for KnownCapacity {
    fn change(&mut self, seen: &Observed) -> f64 {
        let spare = self.capacity - seen.arrived as f64 / seen.seconds;
        self.alpha * seen.rtt * spare - self.beta * seen.standing as f64
    }

    /// Half of the round trip without its queue.
    fn queue_interval(&self, rtt: f64, backlog: u64) -> Option<Span> {
        let half = (rtt - backlog as f64 / self.capacity) / 2.0;
        Some(Span((half * 1e9) as u64).max(LEAST_QUEUE_INTERVAL))
    }

    fn set_rate(&mut self, bytes_per_second: f64) {
        self.capacity = bytes_per_second;
    }
}
