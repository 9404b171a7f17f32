//! Vegas: keeps a few segments in the path's queues, found by comparing the rate expected without queues with the actual one.
//!
//! Source: Brakmo, Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC 13(8), 1995,
//! sections III-B and III-C. Places: the source.
//!
//! | symbol | here | unit |
//! |---|---|---|
//! | W | cwnd, `Window` | bytes of payload |
//! | BaseRTT | `base_rtt` | ns, the smallest measured |
//! | RTT | `RoundRtt` | ns, of one round trip |
//! | Diff | `Vegas::queued` | segments: (W/BaseRTT - W/RTT) BaseRTT = W (RTT - BaseRTT)/RTT |
//! | alpha, beta, gamma | parameters | segments |
//!
//! Once a round trip: avoidance adds a segment when Diff < alpha and removes one when Diff > beta. Slow start doubles in every
//! second round trip; at the end of the others, in which the window was constant and the rates can be compared, it ends if
//! Diff > gamma, and the window loses an eighth.
//!
//! Readings: thresholds in segments, as in all implementations (the paper also gives them in kB/s); a whole segment at
//! the round trip's end rather than spread over the next one; RTT is the round trip's smallest sample, but in slow start its
//! last one, since those before are of segments sent while the window still grew (the paper times one segment); no change at all
//! in a round trip without a measurement; ssthresh falls with the window so that slow start does not begin again, and the window
//! keeps two segments, both as in Linux. The round-trip time of the SYN is no BaseRTT: on a slow link it is shorter than that of
//! any data segment.
//!
//! Deviations: losses are found by the host TCP, not by the paper's fine-grained timer; a loss never raises cwnd.

use airfair_units::{Bytes, Span, Time};

use crate::params;
use crate::params::{ParamError, Params};
use crate::places::{
    Acked, Allowance, Congestion, CongestionCause, FlowSetup, Idle, Source, SourceContext, Spurious,
};
use crate::reno::{Window, WindowParameters};

params! {
    /// The parameters of Vegas.
    pub(crate) struct VegasParameters {
        ..window: WindowParameters;
        /// the window grows while fewer segments than this are queued; ns-2: 1, Linux: 2
        paper alpha: f64 = 1.0, in 0.0..=1e6;
        /// the window shrinks while more segments than this are queued; ns-2: 3, Linux: 4
        paper beta: f64 = 3.0, in 0.0..=1e6;
        /// slow start ends when more segments than this are queued; ns-2 and Linux: 1
        paper gamma: f64 = 1.0, in 0.0..=1e6;
        /// a round trip's RTT is the mean of its samples (ns-2) instead of the smallest (Linux, which so leaves out what delayed
        /// acknowledgements add; in slow start the last)
        reading mean_rtt: bool = false;
        /// what a loss or mark leaves of FlightSize: 0.5 as in Reno, whose recovery is used; the paper's own is 0.75
        reading loss_factor: f64 = 0.5, in 0.0..=1.0;
    }
}

/// The samples of the present round trip.
#[derive(Debug, Clone, Copy, Default)]
struct RoundRtt {
    least: Option<Span>,
    last: Span,
    sum: u128,
    count: u64,
}

impl RoundRtt {
    fn add(&mut self, rtt: Span) {
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        self.last = rtt;
        self.sum += u128::from(rtt.as_nanos());
        self.count += 1;
    }

    /// The round trip's RTT in ns: the mean, the last sample or the smallest one.
    fn value(&self, mean: bool, last: bool) -> Option<f64> {
        let least = self.least?;
        Some(match (mean, last) {
            (true, _) => self.sum as f64 / self.count as f64,
            (false, true) => self.last.as_nanos() as f64,
            (false, false) => least.as_nanos() as f64,
        })
    }
}

/// The law of Vegas.
#[derive(Debug, Clone)]
pub struct Vegas {
    alpha: f64,
    beta: f64,
    gamma: f64,
    mean_rtt: bool,
    loss_factor: f64,
    window: Window,
    base_rtt: Option<Span>,
    round: RoundRtt,
    /// True if slow start doubles the window in this round trip; in the next the window is constant.
    growing: bool,
}

impl Vegas {
    /// The law that these parameters describe.
    ///
    /// # Errors
    /// A value that is out of its range, or alpha above beta.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        let set = VegasParameters::read(params)?;
        if set.beta < set.alpha {
            return Err(ParamError::above("alpha", "beta"));
        }
        Ok(Self {
            alpha: set.alpha,
            beta: set.beta,
            gamma: set.gamma,
            mean_rtt: set.mean_rtt,
            loss_factor: set.loss_factor,
            window: Window::new(set.window.initial_ssthresh),
            base_rtt: None,
            round: RoundRtt::default(),
            growing: true,
        })
    }

    /// Diff in segments: the data in queues, by the round trip that has ended; `None` without a measurement.
    fn queued(&self) -> Option<f64> {
        let rtt = self.round.value(self.mean_rtt, self.window.in_slow_start())?.max(1.0);
        let base = self.base_rtt?.as_nanos() as f64;
        Some(self.window.size() as f64 * (rtt - base) / rtt / self.window.mss() as f64)
    }

    /// The decision at the end of a round trip.
    fn decide(&mut self, may_grow: bool) {
        let Some(queued) = self.queued() else { return };
        let mss = self.window.mss();
        if self.window.in_slow_start() {
            if self.growing {
                self.growing = false;
            } else if queued > self.gamma {
                self.shrink(self.window.size() / 8);
            } else {
                self.growing = true;
            }
        } else if queued > self.beta {
            self.shrink(mss);
        } else if queued < self.alpha && may_grow {
            self.window.grow(mss);
        }
    }

    /// Reduces the window by this many bytes, down to two segments, and ends slow start.
    fn shrink(&mut self, bytes: u64) {
        let floor = self.window.mss().saturating_mul(2).min(self.window.size());
        self.window.set(self.window.size().saturating_sub(bytes).max(floor));
        self.window.set_threshold(self.window.threshold().min(self.window.size()));
    }
}

impl Source for Vegas {
    fn on_start(&mut self, setup: &FlowSetup, _context: &mut SourceContext<'_>) {
        self.window.start(setup);
    }

    fn on_acked(&mut self, acked: &Acked, _context: &mut SourceContext<'_>) {
        if let Some(rtt) = acked.rtt {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
            self.round.add(rtt);
        }
        if !acked.in_recovery {
            if acked.window_limited && self.growing && self.window.in_slow_start() {
                self.window.slow_start(acked.cumulative.get(), 1);
            }
            if acked.round_ended {
                self.decide(acked.window_limited);
            }
        }
        if acked.round_ended {
            self.round = RoundRtt::default();
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion, _context: &mut SourceContext<'_>) {
        let left = |bytes: u64| (bytes as f64 * self.loss_factor) as u64;
        let flight = congestion.in_flight.get();
        self.window.remember(congestion);
        match congestion.cause {
            CongestionCause::FastLoss | CongestionCause::Mark => {
                self.window.set_threshold(left(flight));
                self.window.set(self.window.size().min(self.window.threshold()));
            }
            CongestionCause::Timeout => {
                if !congestion.repeated {
                    // In fast recovery more is outstanding than the window, as in Reno.
                    self.window.set_threshold(left(flight.min(self.window.size())));
                }
                self.window.collapse();
                self.growing = true;
            }
            CongestionCause::LinkDrop => {}
        }
    }

    fn on_spurious(&mut self, spurious: &Spurious, _context: &mut SourceContext<'_>) {
        self.window.restore(spurious);
    }

    fn on_idle(&mut self, _idle: &Idle, _context: &mut SourceContext<'_>) {
        self.window.restart();
        self.growing = true;
    }

    fn allowance(&self, _now: Time) -> Allowance {
        self.window.allowance()
    }

    fn ssthresh(&self) -> Option<Bytes> {
        Some(Bytes(self.window.threshold()))
    }
}
