//! The capacity of an output link (§II, equation 4): configured, or probed by the traffic that the link carries.

/// The observations of a control interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observed {
    /// The rate that the link has carried, bytes/s.
    pub output: f64,
    /// True if the link counts as busy: the least queue was one packet or more, or a packet was dropped (`drops_are_busy`).
    pub busy: bool,
    /// True if the link has carried any packet.
    pub used: bool,
}

/// The capacity C.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Capacity {
    /// The configured rate, bytes/s.
    Configured(f64),
    /// The rate that probing finds.
    Probed {
        /// The present estimate, bytes/s.
        estimate: f64,
        /// alpha: growth in an interval in which the link was idle at times.
        alpha: f64,
        /// The estimate never exceeds this, bytes/s.
        ceiling: f64,
        /// True if the estimate also grows in intervals without traffic.
        when_unused: bool,
    },
}

impl Capacity {
    /// The present value, bytes/s.
    #[must_use]
    pub const fn bytes_per_second(&self) -> f64 {
        match *self {
            Self::Configured(rate) => rate,
            Self::Probed { estimate, .. } => estimate,
        }
    }

    /// A control interval has ended: equation 4.
    pub fn update(&mut self, observed: &Observed) {
        let Self::Probed { estimate, alpha, ceiling, when_unused } = self else { return };
        if observed.busy {
            *estimate = observed.output;
        } else if observed.used || *when_unused {
            *estimate *= 1.0 + *alpha;
        }
        *estimate = estimate.clamp(1.0, ceiling.max(1.0));
    }

    /// Sets a configured capacity, or the ceiling of a probed one, to the new rate of the wire.
    pub fn set_rate(&mut self, bytes_per_second: f64) {
        match self {
            Self::Configured(rate) => *rate = bytes_per_second,
            Self::Probed { ceiling, .. } => *ceiling = bytes_per_second,
        }
    }
}
