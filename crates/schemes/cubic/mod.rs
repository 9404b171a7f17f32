//! CUBIC: the window follows a cubic function of the time since the last congestion, flat around the window of that time.
//!
//! Source: Xu, Ha, Rhee, Goel, Eggert, "CUBIC for Fast and Long-Distance Networks", RFC 9438 (2023), section 4.
//! Places: the source.
//!
//! | symbol | here | unit |
//! |---|---|---|
//! | cwnd | `Window`, with `fraction` | bytes; segments in the equations |
//! | W_max | `w_max` | segments |
//! | cwnd_prior | `cwnd_prior` | segments |
//! | cwnd_epoch, t_epoch, K, W_est | `Epoch` | segments, time, s, segments |
//! | RTT | `srtt` | ns, smoothed (RFC 6298 equation 2.3) |
//! | C | `c` | segments/s^3 |
//! | alpha_cubic, beta_cubic | `alpha`, `beta` | 1 |
//!
//! Readings, where the text leaves a choice:
//! - the increase of sections 4.4 and 4.5 is (target - cwnd)/cwnd for each segment acknowledged, as W_est's is, so that delayed
//!   acknowledgements do not slow the growth;
//! - slow start ends when cwnd reaches ssthresh (section 4.10 continues it while they are equal: one step more after each loss);
//! - section 4.3 sets cwnd to W_est; cwnd never falls by this rule;
//! - an epoch begins with the first acknowledgement of congestion avoidance, also after a silence (section 4.2: t leaves out
//!   the times in which the application was the limit); if cwnd exceeds W_max by then, it becomes W_max and K is 0.
//!
//! Deviations: slow start is RFC 5681's, not `HyStart++` (section 4.10, SHOULD);
//! a loss never raises cwnd; at a time-out FlightSize counts as at most cwnd, as in Reno here. Floats come from
//! `airfair_units::math` and the four operations only.

use airfair_units::{Bytes, Span, Time, math};

use crate::params;
use crate::params::{ParamError, Params};
use crate::places::{
    Acked, Allowance, Congestion, CongestionCause, FlowSetup, Idle, Sent, Source, SourceContext, Spurious,
};
use crate::reno::{Window, WindowParameters};

params! {
    /// The parameters of CUBIC.
    pub(crate) struct CubicParameters {
        ..window: WindowParameters;
        /// C in segments/s^3, how fast the window grows far from W_max; RFC 9438 section 5.1 weighs 0.4 against Reno
        paper c: f64 = 0.4, in 1e-6..=1e6;
        /// beta_cubic, what a congestion event leaves of FlightSize (RFC 9438 section 4.6)
        paper beta: f64 = 0.7, in 0.01..=0.99;
        /// a flow that could not reach its former W_max sets it still lower to make room for new flows (RFC 9438 section 4.7, SHOULD; off
        /// where a flow is alone)
        paper fast_convergence: bool = true;
        /// the window is at least W_est, Reno's (RFC 9438 section 4.3); ns-3.37's CUBIC has no such region: with short round trips its
        /// window hardly grows for seconds after a loss
        paper reno_friendly: bool = true;
    }
}

/// A stage of congestion avoidance.
#[derive(Debug, Clone, Copy)]
struct Epoch {
    /// t_epoch, advanced by the times that do not count.
    start: Time,
    /// K in s.
    k: f64,
    /// W_est in segments.
    w_est: f64,
}

/// The state that a congestion event changes beside the window.
#[derive(Debug, Clone, Copy)]
struct Shape {
    w_max: f64,
    cwnd_prior: f64,
    epoch: Option<Epoch>,
    after_timeout: bool,
}

/// The law of CUBIC.
#[derive(Debug, Clone)]
pub struct Cubic {
    c: f64,
    beta: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    window: Window,
    /// The part of cwnd below a byte.
    fraction: f64,
    w_max: f64,
    cwnd_prior: f64,
    epoch: Option<Epoch>,
    /// The next stage follows a time-out: W_max is its first window.
    after_timeout: bool,
    /// Before the last time-out, unless it was a repeated one, or fast retransmit.
    before: Option<Shape>,
    srtt: Option<Span>,
    /// The last time at which data was acknowledged, or at which sending began anew.
    last: Time,
}

impl Cubic {
    /// The law that these parameters describe.
    ///
    /// # Errors
    /// A value that is out of its range.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        let set = CubicParameters::read(params)?;
        Ok(Self {
            c: set.c,
            beta: set.beta,
            fast_convergence: set.fast_convergence,
            reno_friendly: set.reno_friendly,
            window: Window::new(set.window.initial_ssthresh),
            fraction: 0.0,
            w_max: 0.0,
            cwnd_prior: 0.0,
            epoch: None,
            after_timeout: false,
            before: None,
            srtt: None,
            last: Time::ZERO,
        })
    }

    /// alpha_cubic = 3 (1 - beta)/(1 + beta), with which Reno's average window is kept (section 4.3).
    fn alpha(&self) -> f64 {
        3.0 * (1.0 - self.beta) / (1.0 + self.beta)
    }

    /// W_cubic(t) in segments (equation 1), t in s.
    fn w_cubic(&self, epoch: &Epoch, t: f64) -> f64 {
        let past = t - epoch.k;
        self.c * past * past * past + self.w_max
    }

    /// cwnd in segments.
    fn cwnd(&self) -> f64 {
        (self.window.size() as f64 + self.fraction) / self.window.mss() as f64
    }

    /// Begins a stage (section 4.2, equation 2; after a time-out section 4.8; after the first slow start section 4.10).
    fn begin(&mut self, now: Time) -> Epoch {
        let cwnd = self.cwnd();
        if self.after_timeout || cwnd >= self.w_max {
            self.w_max = cwnd;
        }
        self.after_timeout = false;
        Epoch { start: now, k: math::pow((self.w_max - cwnd) / self.c, 1.0 / 3.0), w_est: cwnd }
    }

    /// Congestion avoidance at an acknowledgement of `acked` bytes (sections 4.2 to 4.5).
    fn avoid(&mut self, acked: u64, now: Time) {
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(now));
        let cwnd = self.cwnd();
        let share = (acked as f64 / self.window.mss() as f64 / cwnd).min(1.0);
        // Equation 4; at cwnd_prior Reno's own slope begins.
        epoch.w_est += if epoch.w_est < self.cwnd_prior { self.alpha() * share } else { share };
        let t = now.since(epoch.start).as_secs_f64();
        let grown = if self.reno_friendly && self.w_cubic(&epoch, t) < epoch.w_est {
            cwnd.max(epoch.w_est)
        } else {
            let rtt = self.srtt.map_or(0.0, Span::as_secs_f64);
            let target = self.w_cubic(&epoch, t + rtt).clamp(cwnd, 1.5 * cwnd);
            cwnd + (target - cwnd) * share
        };
        self.epoch = Some(epoch);
        let bytes = grown * self.window.mss() as f64;
        self.window.set(bytes as u64);
        self.fraction = (bytes - self.window.size() as f64).clamp(0.0, 1.0);
    }

    /// Advances the stage's beginning, since the time from `last` until now does not count (section 4.2).
    fn leave_out(&mut self, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start = epoch.start.saturating_add(now.since(self.last));
        }
    }

    /// Remembers the state before a congestion event, for the case that the event proves spurious.
    fn remember(&mut self, congestion: &Congestion) {
        self.window.remember(congestion);
        let lost = matches!(congestion.cause, CongestionCause::FastLoss | CongestionCause::Timeout);
        if lost && !congestion.repeated {
            let Self { w_max, cwnd_prior, epoch, after_timeout, .. } = *self;
            self.before = Some(Shape { w_max, cwnd_prior, epoch, after_timeout });
        }
    }

    /// ssthresh, cwnd_prior and W_max at a congestion event (sections 4.6 and 4.7). Returns ssthresh before its floor, in bytes.
    fn reduce(&mut self, in_flight: Bytes) -> u64 {
        let cwnd = self.cwnd();
        let lowered = self.fast_convergence && cwnd < self.w_max;
        self.w_max = if lowered { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd };
        self.cwnd_prior = cwnd;
        let left = (in_flight.get() as f64 * self.beta) as u64;
        self.window.set_threshold(left);
        left
    }
}

impl Source for Cubic {
    fn on_start(&mut self, setup: &FlowSetup, context: &mut SourceContext<'_>) {
        self.window.start(setup);
        self.srtt = setup.rtt;
        self.last = context.now;
    }

    fn on_sent(&mut self, sent: &Sent, context: &mut SourceContext<'_>) {
        // Nothing was in flight before: until now the application had nothing to send.
        if sent.in_flight == sent.bytes {
            self.leave_out(context.now);
            self.last = context.now;
        }
    }

    fn on_acked(&mut self, acked: &Acked, context: &mut SourceContext<'_>) {
        if let Some(rtt) = acked.rtt {
            let rtt = rtt.as_nanos();
            self.srtt =
                Some(Span(self.srtt.map_or(rtt, |old| old.as_nanos() - old.as_nanos() / 8 + rtt / 8)));
        }
        let bytes = acked.cumulative.get();
        if !acked.window_limited {
            self.leave_out(context.now);
        } else if bytes > 0 && !acked.in_recovery {
            if self.window.in_slow_start() {
                self.window.slow_start(bytes, 1);
            } else {
                self.avoid(bytes, context.now);
            }
        }
        self.last = context.now;
    }

    fn on_congestion(&mut self, congestion: &Congestion, _context: &mut SourceContext<'_>) {
        let mss = self.window.mss();
        self.remember(congestion);
        match congestion.cause {
            CongestionCause::FastLoss | CongestionCause::Mark => {
                let left = self.reduce(congestion.in_flight);
                // Two segments are left by a loss, one by a mark.
                let floor =
                    if congestion.cause == CongestionCause::Mark { mss } else { mss.saturating_mul(2) };
                self.window.set(left.max(floor).min(self.window.size()));
                self.after_timeout = false;
            }
            CongestionCause::Timeout => {
                if !congestion.repeated {
                    // More may be outstanding than the window, when the left edge waits for a repair that was lost: slow start
                    // would lead back to all of it.
                    self.reduce(congestion.in_flight.min(Bytes(self.window.size())));
                }
                self.window.collapse();
                self.after_timeout = true;
            }
            CongestionCause::LinkDrop => return,
        }
        self.fraction = 0.0;
        self.epoch = None;
    }

    /// Section 4.9: the function goes on where it was; the window returns as RFC 4015 has it.
    fn on_spurious(&mut self, spurious: &Spurious, _context: &mut SourceContext<'_>) {
        self.window.restore(spurious);
        if let Some(before) = self.before.take() {
            Shape {
                w_max: self.w_max,
                cwnd_prior: self.cwnd_prior,
                epoch: self.epoch,
                after_timeout: self.after_timeout,
            } = before;
        }
        self.fraction = 0.0;
    }

    fn on_idle(&mut self, _idle: &Idle, _context: &mut SourceContext<'_>) {
        self.window.restart();
        self.fraction = 0.0;
        self.epoch = None;
    }

    fn allowance(&self, _now: Time) -> Allowance {
        self.window.allowance()
    }

    fn ssthresh(&self) -> Option<Bytes> {
        Some(Bytes(self.window.threshold()))
    }
}
