//! BBR, version 1: a model of the path, its bottleneck's rate and its round-trip time without queues, sets rate and window.
//!
//! Source: Cardwell, Cheng, Hassas Yeganeh, Jacobson, "BBR Congestion Control",
//! draft-cardwell-iccrg-bbr-congestion-control-00 (2017), whose sections are cited. Places: the source. It needs pacing
//! and delivery-rate samples from the transport.
//!
//! | symbol | here | unit |
//! |---|---|---|
//! | BBR.BtlBw | `bottleneck` | bit/s of payload, largest of 10 rounds |
//! | BBR.RTprop | `rt_prop` | ns, smallest of 10 s |
//! | BBR.pacing_rate, BBR.send_quantum | `pacing_rate`, `Bbr::quantum` | bit/s, bytes |
//! | BBR.pacing_gain, BBR.cwnd_gain | `Gain` | 1 |
//! | cwnd, BBR.prior_cwnd | `cwnd`, `prior_cwnd` | bytes of payload |
//! | packets_in_flight | `Acked::in_flight` | bytes |
//!
//! Integers throughout: a gain is a fraction.
//!
//! Readings:
//! - "one round trip" of packet conservation (section 4.2.3.4) and of ProbeRTT (section 4.3.5) has passed when data are
//!   acknowledged that were sent after its beginning;
//! - samples of data sent in ProbeRTT count as limited by the application, as the draft has the transport mark them;
//! - cwnd is saved before ProbeRTT is entered (the draft's order would keep an older value);
//! - a restart from idle is a silence of more than a retransmission time-out, or data sent into an empty path when
//!   the last sample was limited by the application; the draft uses a mark of the transport;
//! - a time-out's recovery ends when everything is acknowledged that was outstanding.
//!
//! Deviations: congestion marks and drops of the own link layer have no effect (the draft has neither); a rate is never 0.

mod filters;

use airfair_units::{Bytes, Rate, Span, Time};

use crate::params;
use crate::params::{ParamError, Params};
use crate::places::{
    Acked, Allowance, Congestion, CongestionCause, FlowSetup, Idle, Sent, Source, SourceContext, Spurious,
};

use filters::{MaxOfRounds, MinRtt};

params! {
    /// The parameters of BBR.
    pub(crate) struct BbrParameters {
        /// length of the filter of delivery rates in round trips, BtlBwFilterLen: longer than a gain cycle of eight (section 4.1.1)
        paper bw_rounds: u64 = 10, in 1..=1000;
        /// length of the filter of round-trip times, RTpropFilterLen, and time without a new minimum until ProbeRTT, ProbeRTTInterval;
        /// flows that share a queue must agree on it (section 4.3.5)
        paper rtt_window: Span = Span::from_secs(10), in Span(1)..=Span::from_secs(3600);
        /// least time with four segments in flight, ProbeRTTDuration: long enough for flows to do so together (section 4.3.5)
        paper probe_rtt: Span = Span::from_millis(200), in Span(1)..=Span::from_secs(60);
    }
}

/// A gain as a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Gain(u64, u64);

impl Gain {
    /// A gain of 1.
    const ONE: Self = Self(1, 1);
    /// BBRHighGain, 2/ln 2: the least that doubles the rate every round (section 4.3.2.1).
    const HIGH: Self = Self(2885, 1000);
    /// The inverse, which empties the queue of Startup in one round (section 4.3.3).
    const DRAIN: Self = Self(1000, 2885);
    /// cwnd_gain of ProbeBW: room for acknowledgements that come late or together (section 4.3.4.1).
    const TWO: Self = Self(2, 1);

    /// The product of the gain and `value`.
    fn of(self, value: u64) -> u64 {
        let product = u128::from(value) * u128::from(self.0) / u128::from(self.1);
        u64::try_from(product).unwrap_or(u64::MAX)
    }
}

/// Pacing gains of the eight phases of ProbeBW (section 4.3.4.1).
const CYCLE: [Gain; 8] =
    [Gain(5, 4), Gain(3, 4), Gain::ONE, Gain::ONE, Gain::ONE, Gain::ONE, Gain::ONE, Gain::ONE];

/// BBR.state (section 4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Doubles the rate every round until the pipe is full.
    Startup,
    /// Empties the queue that Startup made.
    Drain,
    /// Cycles through the gains; the phase and the time at which it began.
    ProbeBw { phase: usize, since: Time },
    /// Four segments in flight; the time at which that was reached.
    ProbeRtt { since: Option<Time> },
}

/// The law of BBR.
#[derive(Debug, Clone)]
pub struct Bbr {
    probe_rtt: Span,
    mss: u64,
    initial: u64,
    limit: u64,
    cwnd: u64,
    prior_cwnd: u64,
    pacing_rate: u64,
    state: State,
    bottleneck: MaxOfRounds,
    rt_prop: MinRtt,
    /// BBR.round_count.
    round: u64,
    /// BBR.delivered in bytes.
    delivered: u64,
    filled_pipe: bool,
    /// BBR.full_bw in bit/s.
    full_bw: u64,
    full_bw_count: u8,
    /// A loss or time-out is being repaired.
    recovering: bool,
    /// Of what was outstanding at the last time-out, bytes that are not acknowledged yet.
    outstanding: u64,
    /// When packet conservation began (BBR.packet_conservation).
    conserving: Option<Time>,
    idle_restart: bool,
    /// The last rate sample was limited by the application.
    app_limited: bool,
    /// Begin and end of the last ProbeRTT: the rates of data sent in between are low, though the path may carry more.
    low: Option<(Time, Time)>,
}

impl Bbr {
    /// The law that these parameters describe.
    ///
    /// # Errors
    /// A value that is out of its range.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        let set = BbrParameters::read(params)?;
        Ok(Self {
            probe_rtt: set.probe_rtt,
            mss: 1,
            initial: 1,
            limit: 1,
            cwnd: 1,
            prior_cwnd: 0,
            pacing_rate: 1,
            state: State::Startup,
            bottleneck: MaxOfRounds::new(set.bw_rounds),
            rt_prop: MinRtt::new(set.rtt_window),
            round: 0,
            delivered: 0,
            filled_pipe: false,
            full_bw: 0,
            full_bw_count: 0,
            recovering: false,
            outstanding: 0,
            conserving: None,
            idle_restart: false,
            app_limited: false,
            low: None,
        })
    }

    /// BBR.pacing_gain and BBR.cwnd_gain of a state.
    const fn gains(&self) -> (Gain, Gain) {
        match self.state {
            State::Startup => (Gain::HIGH, Gain::HIGH),
            State::Drain => (Gain::DRAIN, Gain::HIGH),
            State::ProbeBw { phase, .. } => (CYCLE[phase % CYCLE.len()], Gain::TWO),
            State::ProbeRtt { .. } => (Gain::ONE, Gain::ONE),
        }
    }

    /// BBRMinPipeCwnd (section 4.2.3.3).
    const fn min_pipe(&self) -> u64 {
        self.mss.saturating_mul(4)
    }

    /// BBRSetSendQuantum (section 4.2.2) in bytes.
    fn quantum(&self) -> u64 {
        match self.pacing_rate {
            0..1_200_000 => self.mss,
            1_200_000..24_000_000 => self.mss.saturating_mul(2),
            rate => (rate / 8_000).min(65_536).max(self.mss),
        }
    }

    /// BBRInflight (section 4.2.3.2) in bytes.
    fn in_flight(&self, gain: Gain) -> u64 {
        let Some(rtt) = self.rt_prop.get() else { return self.initial };
        let bdp = u128::from(self.bottleneck.get()) * u128::from(rtt.as_nanos()) / 8_000_000_000;
        let bdp = u64::try_from(bdp).unwrap_or(u64::MAX);
        gain.of(bdp).saturating_add(self.quantum().saturating_mul(3))
    }

    /// BBRUpdateBtlBw (section 4.1.1). Returns whether the sample may show that the pipe is full.
    fn update_bottleneck(&mut self, acked: &Acked) -> bool {
        self.round += u64::from(acked.round_ended);
        let Some(sample) = acked.rate_sample else { return false };
        self.app_limited = sample.app_limited;
        let in_probe_rtt = self.low.is_some_and(|(from, until)| (from..=until).contains(&acked.sent_at));
        let limited = sample.app_limited || in_probe_rtt;
        let rate = sample.rate().as_bps();
        if rate > 0 && (rate >= self.bottleneck.get() || !limited) {
            self.bottleneck.add(self.round, rate);
        }
        !limited
    }

    /// BBRCheckCyclePhase (section 4.3.4.3).
    fn check_cycle(&mut self, acked: &Acked, now: Time) {
        let State::ProbeBw { phase, since } = self.state else { return };
        let full_length = self.rt_prop.get().is_some_and(|rtt| now.since(since) > rtt);
        let next = match phase {
            0 => {
                full_length
                    && (acked.lost.get() > 0 || acked.prior_in_flight.get() >= self.in_flight(CYCLE[0]))
            }
            1 => full_length || acked.prior_in_flight.get() <= self.in_flight(Gain::ONE),
            _ => full_length,
        };
        if next {
            self.state = State::ProbeBw { phase: (phase + 1) % CYCLE.len(), since: now };
        }
    }

    /// BBRCheckFullPipe (section 4.3.2.2), once a round: the pipe is full after three rounds without a growth by a quarter.
    fn check_full_pipe(&mut self) {
        let rate = self.bottleneck.get();
        if u128::from(rate) * 4 >= u128::from(self.full_bw) * 5 {
            self.full_bw = rate;
            self.full_bw_count = 0;
            return;
        }
        self.full_bw_count += 1;
        self.filled_pipe = self.full_bw_count >= 3;
    }

    /// BBRCheckDrain (section 4.3.3).
    fn check_drain(&mut self, acked: &Acked, context: &mut SourceContext<'_>) {
        if self.state == State::Startup && self.filled_pipe {
            self.state = State::Drain;
        }
        if self.state == State::Drain && acked.in_flight.get() <= self.in_flight(Gain::ONE) {
            self.enter_probe_bw(context);
        }
    }

    /// BBREnterProbeBW (section 4.3.4.3): any phase but the one of 3/4, by chance (section 4.3.4.2).
    fn enter_probe_bw(&mut self, context: &mut SourceContext<'_>) {
        let phase = (CYCLE.len() - context.random.below(7) as usize) % CYCLE.len();
        self.state = State::ProbeBw { phase, since: context.now };
    }

    /// BBRCheckProbeRTT (section 4.3.5).
    fn check_probe_rtt(&mut self, acked: &Acked, expired: bool, context: &mut SourceContext<'_>) {
        let now = context.now;
        if expired && !self.idle_restart && !matches!(self.state, State::ProbeRtt { .. }) {
            self.save_cwnd();
            self.state = State::ProbeRtt { since: None };
            self.low = Some((now, now));
        }
        self.idle_restart = false;
        let State::ProbeRtt { since } = self.state else { return };
        self.low = self.low.map(|(from, _)| (from, now));
        match since {
            None if acked.in_flight.get() <= self.min_pipe() => {
                self.state = State::ProbeRtt { since: Some(now) };
            }
            // Both 200 ms and a round trip.
            Some(since) if round_trip_since(since, acked) && now > since.saturating_add(self.probe_rtt) => {
                self.rt_prop.refresh(now);
                self.restore_cwnd();
                if self.filled_pipe {
                    self.enter_probe_bw(context);
                } else {
                    self.state = State::Startup;
                }
            }
            _ => {}
        }
    }

    /// BBRSetPacingRateWithGain (section 4.2.1): before the pipe is full the rate only rises.
    fn set_pacing_rate(&mut self, gain: Gain) {
        let rate = gain.of(self.bottleneck.get());
        if self.filled_pipe || rate > self.pacing_rate {
            self.pacing_rate = rate.max(1);
        }
    }

    /// BBRSetCwnd (section 4.2.3.6).
    fn set_cwnd(&mut self, acked: &Acked) {
        let bytes = acked.bytes.get();
        if self.outstanding > 0 {
            self.outstanding = self.outstanding.saturating_sub(acked.cumulative.get());
            if self.outstanding == 0 {
                self.leave_recovery();
            }
        }
        if self.recovering {
            // BBRModulateCwndForRecovery (section 4.2.3.4).
            self.cwnd = self.cwnd.saturating_sub(acked.lost.get()).max(self.mss);
        }
        if self.conserving.is_some_and(|since| round_trip_since(since, acked)) {
            self.conserving = None;
        }
        if self.conserving.is_some() {
            self.cwnd = self.cwnd.max(acked.in_flight.get().saturating_add(bytes));
        } else {
            let target = self.in_flight(self.gains().1);
            let grown = self.cwnd.saturating_add(bytes);
            if self.filled_pipe {
                self.cwnd = grown.min(target);
            } else if self.cwnd < target || self.delivered < self.initial {
                self.cwnd = grown;
            }
            self.cwnd = self.cwnd.max(self.min_pipe());
        }
        if matches!(self.state, State::ProbeRtt { .. }) {
            self.cwnd = self.cwnd.min(self.min_pipe());
        }
        self.bound();
    }

    /// Keeps cwnd between one segment and the limit.
    fn bound(&mut self) {
        self.cwnd = self.cwnd.clamp(self.mss, self.limit);
    }

    /// BBRSaveCwnd (section 4.2.3.4): the last cwnd that neither recovery nor ProbeRTT had cut.
    fn save_cwnd(&mut self) {
        let cut = self.recovering || matches!(self.state, State::ProbeRtt { .. });
        self.prior_cwnd = if cut { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// BBRRestoreCwnd.
    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// Loss recovery has ended (section 4.2.3.4).
    fn leave_recovery(&mut self) {
        self.recovering = false;
        self.outstanding = 0;
        self.conserving = None;
        self.restore_cwnd();
        self.bound();
    }

    /// BBRHandleRestartFromIdle (section 4.3.4.4).
    fn restart_from_idle(&mut self) {
        self.idle_restart = true;
        if matches!(self.state, State::ProbeBw { .. }) {
            self.set_pacing_rate(Gain::ONE);
        }
    }
}

/// True if a round trip has passed since then: data sent later has arrived. An acknowledgement of data that was already known to
/// have arrived does not count.
fn round_trip_since(since: Time, acked: &Acked) -> bool {
    acked.bytes.get() > 0 && acked.sent_at >= since
}

impl Source for Bbr {
    /// BBRInit (section 4.3.1).
    fn on_start(&mut self, setup: &FlowSetup, context: &mut SourceContext<'_>) {
        self.mss = setup.mss.get().max(1);
        self.limit = setup.window_limit.get().max(self.mss);
        let initial = if setup.syn_lost { self.mss } else { setup.initial_window.get() };
        self.initial = initial.clamp(self.mss, self.limit);
        self.cwnd = self.initial;
        self.rt_prop.start(setup.rtt, context.now);
        // BBRInitPacingRate (section 4.2.1): the initial window in a round trip, or in 1 ms.
        let rtt = setup.rtt.unwrap_or(Span::from_millis(1)).as_nanos().max(1);
        let nominal = u128::from(self.initial) * 8_000_000_000 / u128::from(rtt);
        self.pacing_rate = Gain::HIGH.of(u64::try_from(nominal).unwrap_or(u64::MAX)).max(1);
    }

    fn on_sent(&mut self, sent: &Sent, _context: &mut SourceContext<'_>) {
        if sent.in_flight == sent.bytes && !sent.retransmission && self.app_limited {
            self.restart_from_idle();
        }
    }

    /// BBRUpdateOnACK (section 3.5.2).
    fn on_acked(&mut self, acked: &Acked, context: &mut SourceContext<'_>) {
        let now = context.now;
        self.delivered = self.delivered.saturating_add(acked.bytes.get());
        let telling = self.update_bottleneck(acked);
        self.check_cycle(acked, now);
        if telling && acked.round_ended && !self.filled_pipe {
            self.check_full_pipe();
        }
        self.check_drain(acked, context);
        let expired = self.rt_prop.add(acked.rtt, now);
        self.check_probe_rtt(acked, expired, context);
        self.set_pacing_rate(self.gains().0);
        self.set_cwnd(acked);
    }

    /// Recovery by packet conservation (section 4.2.3.4).
    fn on_congestion(&mut self, congestion: &Congestion, context: &mut SourceContext<'_>) {
        match congestion.cause {
            CongestionCause::FastLoss => {
                self.save_cwnd();
                self.recovering = true;
                self.outstanding = 0;
                self.conserving = Some(context.now);
                // At least one segment for the retransmission; the acknowledgement's own bytes come with `on_acked`.
                self.cwnd = congestion.pipe.get().saturating_add(self.mss);
            }
            CongestionCause::Timeout => {
                self.save_cwnd();
                self.recovering = true;
                self.outstanding = congestion.in_flight.get();
                self.conserving = None;
                self.cwnd = self.mss;
            }
            CongestionCause::Mark | CongestionCause::LinkDrop => {}
        }
        self.bound();
    }

    /// The window of before, as at the end of recovery.
    fn on_spurious(&mut self, _spurious: &Spurious, _context: &mut SourceContext<'_>) {
        if self.recovering {
            self.leave_recovery();
        }
    }

    fn on_recovered(&mut self, _in_flight: Bytes, _context: &mut SourceContext<'_>) {
        self.leave_recovery();
    }

    fn on_idle(&mut self, _idle: &Idle, _context: &mut SourceContext<'_>) {
        self.restart_from_idle();
    }

    fn allowance(&self, _now: Time) -> Allowance {
        Allowance {
            window: Some(Bytes(self.cwnd)),
            rate: Some(Rate(self.pacing_rate)),
            quantum: Some(Bytes(self.quantum())),
        }
    }
}
