//! Reno: slow start and congestion avoidance, half the window at a loss, one segment at a time-out.
//!
//! Source: Allman, Paxson, Blanton, "TCP Congestion Control", RFC 5681 (2009); appropriate byte counting: RFC 3465;
//! the end of fast recovery: RFC 6582 section 3.2; spurious losses: RFC 4015; marks: RFC 3168 section 6.1.2. Places: the source.
//!
//! | symbol | here | unit |
//! |---|---|---|
//! | cwnd, ssthresh | `Window` | bytes of payload |
//! | SMSS | `Window::mss` | bytes |
//! | FlightSize | `Congestion::in_flight` | bytes sent and not cumulatively acknowledged |
//! | N | `Acked::cumulative` | bytes newly acknowledged, cumulatively |
//! | L | `abc_limit` | segments |
//!
//! The window that is inflated during fast recovery (RFC 5681 section 3.2, steps 3 to 5) belongs to the transport; this
//! law keeps cwnd at ssthresh meanwhile.
//!
//! Deviations: equation 3 keeps what its division leaves over, instead of rounding 0 up to a byte: a window of any size grows by
//! one segment a round trip. A loss or a mark never raises cwnd; the text would set it to two segments even when it is one.
//! A drop of the own link layer ([`CongestionCause::LinkDrop`]) has no effect until the transport finds it as a loss.

mod window;

use airfair_units::{Bytes, Time};

use crate::params;
use crate::params::{ParamError, Params};
use crate::places::{
    Acked, Allowance, Congestion, CongestionCause, FlowSetup, Idle, PartialAck, Source, SourceContext,
    Spurious,
};

pub(crate) use window::{Window, WindowParameters};

params! {
    /// The parameters of Reno, which NewReno has as well.
    pub(crate) struct Common {
        ..window: WindowParameters;
        /// congestion avoidance counts acknowledged bytes and adds one SMSS for each cwnd of them (RFC 3465; RFC 5681 recommends it);
        /// without it each acknowledgement adds SMSS*SMSS/cwnd (RFC 5681 equation 3), the form of the simulators that papers used, which
        /// grows half as fast when acknowledgements are delayed
        reading byte_counting: bool = false;
        /// most segments that one acknowledgement adds in slow start, L of RFC 3465: 1 is RFC 5681 equation 2, 2 makes up for delayed
        /// acknowledgements; after a time-out it is 1 until ssthresh is reached (RFC 3465 section 2.3)
        paper abc_limit: u64 = 1, in 1..=64;
        /// each time-out sets ssthresh, also one of a segment that the timer sent before, and that of a SYN, as in ns-2: since the window
        /// is one segment by then, ssthresh falls to two; without it such a time-out holds ssthresh (RFC 5681 section 3.1)
        reading each_timeout_halves: bool = false;
        /// a time-out sets ssthresh to half of FlightSize, the most that RFC 2581 and RFC 5681 allow (equation 3, equation 4), also in
        /// fast recovery, where each duplicate acknowledgement has let a segment out; without it to half of the window if that is less,
        /// as in ns-2
        reading flight_at_timeout: bool = false;
        /// a mark halves the window down to one segment, as in ns-2, where new data waits for the timer at the next mark (RFC 3168
        /// section 6.1.2); without it down to two, the least ssthresh (RFC 5681 equation 4), as in Linux
        reading mark_to_one: bool = false;
    }
}

/// The growth of the window, as a part of Reno's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Growth {
    /// Growth in congestion avoidance: 1 is Reno's.
    pub avoidance: f64,
    /// Growth in slow start, in [`PARTS`]; `None`: Reno's.
    pub slow_start: Option<u64>,
}

impl Growth {
    /// Reno's.
    const FULL: Self = Self { avoidance: 1.0, slow_start: None };
}

/// The parts in which [`Growth::slow_start`] counts.
pub(crate) const PARTS: u64 = 1 << 16;

/// The law of Reno and, with its answer to a partial acknowledgement, of NewReno; with a smaller growth, of TCP-FeW.
#[derive(Debug, Clone)]
pub struct Reno {
    byte_counting: bool,
    abc_limit: u64,
    each_timeout_halves: bool,
    flight_at_timeout: bool,
    mark_to_one: bool,
    partial_ack: PartialAck,
    growth: Growth,
    /// In congestion avoidance: growth for an acknowledged window, bytes in [`PARTS`], what earlier ones have left of a byte, and the
    /// numerator of equation 3.
    step: u64,
    left: u64,
    numerator: u64,
    window: Window,
    /// With byte counting: bytes acknowledged in congestion avoidance that have not raised cwnd yet (`bytes_acked` of RFC
    /// 3465). Without: what equation 3 left over, in bytes times cwnd.
    counted: u64,
    /// True if the slow start after a time-out has not reached ssthresh yet.
    after_timeout: bool,
}

impl Reno {
    /// The law that these parameters describe.
    ///
    /// # Errors
    /// A value that is out of its range.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        Ok(Self::new(&Common::read(params)?, PartialAck::EndsRecovery))
    }

    /// Reno's law with this answer to a partial acknowledgement.
    pub(crate) const fn new(set: &Common, partial_ack: PartialAck) -> Self {
        Self {
            byte_counting: set.byte_counting,
            abc_limit: set.abc_limit,
            each_timeout_halves: set.each_timeout_halves,
            flight_at_timeout: set.flight_at_timeout,
            mark_to_one: set.mark_to_one,
            partial_ack,
            growth: Growth::FULL,
            step: 0,
            left: 0,
            numerator: 0,
            window: Window::new(set.window.initial_ssthresh),
            counted: 0,
            after_timeout: false,
        }
    }

    /// The same law with another growth.
    pub(crate) const fn with_growth(mut self, growth: Growth) -> Self {
        self.growth = growth;
        self
    }

    /// Takes over from another law: congestion avoidance from this window on, bytes.
    pub(crate) fn resume_from(&mut self, window: u64) {
        let window = window.max(self.window.mss());
        self.window.set(window);
        self.window.set_threshold(window);
        self.window.forget();
    }

    /// Takes over from a law that has not met congestion: slow start from this window on, bytes.
    pub(crate) fn start_from(&mut self, window: u64) {
        self.window.set(window);
        self.window.forget();
    }

    /// Congestion avoidance: about one SMSS for each window that is acknowledged.
    fn avoid(&mut self, acked: u64) {
        let cwnd = self.window.size();
        if self.byte_counting {
            self.counted = self.counted.saturating_add(acked);
            if self.counted >= cwnd {
                self.counted -= cwnd;
                self.left += self.step;
                self.window.grow(self.left / PARTS);
                self.left %= PARTS;
            }
        } else {
            // RFC 5681 equation 3, with what the division leaves over.
            self.counted = self.counted.saturating_add(self.numerator);
            self.window.grow(self.counted / cwnd);
            self.counted %= cwnd;
        }
    }
}

impl Source for Reno {
    fn on_start(&mut self, setup: &FlowSetup, _context: &mut SourceContext<'_>) {
        self.window.start(setup);
        let mss = self.window.mss();
        // A float becomes an integer by saturation; up to 2^26 bytes the square is exact.
        self.step = (mss as f64 * self.growth.avoidance * PARTS as f64) as u64;
        self.numerator = (mss as f64 * mss as f64 * self.growth.avoidance) as u64;
        if self.each_timeout_halves && setup.syn_lost {
            self.window.set_threshold(0);
        }
    }

    fn on_acked(&mut self, acked: &Acked, _context: &mut SourceContext<'_>) {
        let bytes = acked.cumulative.get();
        if bytes == 0 || acked.in_recovery || !acked.window_limited {
            return;
        }
        if self.window.in_slow_start() {
            let limit = if self.after_timeout { 1 } else { self.abc_limit };
            match self.growth.slow_start {
                None => self.window.slow_start(bytes, limit),
                Some(parts) => {
                    let most = self.window.mss().saturating_mul(limit);
                    self.counted = self.counted.saturating_add(bytes.min(most).saturating_mul(parts));
                    self.window.grow(self.counted / PARTS);
                    self.counted %= PARTS;
                }
            }
        } else {
            self.after_timeout = false;
            self.avoid(bytes);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion, _context: &mut SourceContext<'_>) {
        let half = congestion.in_flight.get() / 2;
        self.window.remember(congestion);
        match congestion.cause {
            CongestionCause::FastLoss | CongestionCause::Mark => {
                self.window.set_threshold(half);
                let to_one = self.mark_to_one && congestion.cause == CongestionCause::Mark;
                let least = if to_one { half } else { self.window.threshold() };
                self.window.set(self.window.size().min(least));
            }
            CongestionCause::Timeout => {
                if self.each_timeout_halves || !congestion.repeated {
                    // In fast recovery more is outstanding than the window: each duplicate acknowledgement has let a segment
                    // out. RFC 5681 equation 4 is an upper bound ("no more than").
                    let most = if self.flight_at_timeout { half } else { self.window.size() / 2 };
                    self.window.set_threshold(half.min(most));
                }
                self.window.collapse();
                self.after_timeout = true;
            }
            CongestionCause::LinkDrop => return,
        }
        self.counted = 0;
    }

    fn on_spurious(&mut self, spurious: &Spurious, _context: &mut SourceContext<'_>) {
        self.window.restore(spurious);
        self.after_timeout = false;
        self.counted = 0;
    }

    fn on_recovered(&mut self, in_flight: Bytes, _context: &mut SourceContext<'_>) {
        // A recovery that a partial acknowledgement ends leaves with cwnd = ssthresh (RFC 5681 section 3.2 step 6). After a longer one
        // little may be in flight, and ssthresh would be a burst: RFC 6582 section 3.2 step 3, the first choice.
        if self.partial_ack != PartialAck::EndsRecovery {
            let mss = self.window.mss();
            let flight = in_flight.get().max(mss).saturating_add(mss);
            self.window.set(self.window.size().min(flight));
        }
    }

    fn on_idle(&mut self, _idle: &Idle, _context: &mut SourceContext<'_>) {
        self.window.restart();
    }

    fn allowance(&self, _now: Time) -> Allowance {
        self.window.allowance()
    }

    fn ssthresh(&self) -> Option<Bytes> {
        Some(Bytes(self.window.threshold()))
    }

    fn partial_ack(&self) -> PartialAck {
        self.partial_ack
    }
}
