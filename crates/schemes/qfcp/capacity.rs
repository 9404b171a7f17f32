//! The capacity of an output link (§II, equation 4): configured, or probed by what the link carries.

/// What a control interval tells of the link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observed {
    /// What the link has carried, bytes/s.
    pub output: f64,
    /// Whether a packet has waited all the time: the least queue was one packet or more.
    pub busy: bool,
    /// Whether anything was carried at all.
    pub used: bool,
}

/// C.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Capacity {
    /// It is known, bytes/s.
    Configured(f64),
    /// It is found out.
    Probed {
        /// The present estimate, bytes/s.
        estimate: f64,
        /// alpha: growth in an interval in which the link was idle at times.
        alpha: f64,
        /// The estimate never exceeds this, bytes/s.
        ceiling: f64,
        /// Whether it also grows in intervals in which nothing was carried.
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

    /// The wire has another rate: what is configured follows, what is probed will be found.
    pub fn set_rate(&mut self, bytes_per_second: f64) {
        match self {
            Self::Configured(rate) => *rate = bytes_per_second,
            Self::Probed { ceiling, .. } => *ceiling = bytes_per_second,
        }
    }
}
