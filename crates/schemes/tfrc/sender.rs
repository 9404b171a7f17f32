//! The sender's part: the allowed rate from reports, and its fall without reports [RFC 5348 §4].

use alloc::vec::Vec;

use airfair_units::{Bytes, Rate, Span, Time, math};

use super::equation::Path;
use super::header::{self, DATA, Data, Report};
use crate::places::{Allowance, FlowSetup, Header, HeaderKind, Sent, Source, SourceContext, Timer};

/// The nofeedback timer.
pub(crate) const NO_FEEDBACK: Timer = Timer(1);

/// The nofeedback timer's first setting, before a round-trip time is known [§4.2].
const FIRST_NO_FEEDBACK: Span = Span::from_secs(2);

/// The part of X_recv that is left when data is lost in an interval in which the sender was limited by its data [§4.3].
const LOSS_IN_LIMITED: f64 = 0.85;

/// The constants of a sender.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SenderConfig {
    /// t_mbi, the longest time between two packets [§4.3], s.
    pub longest_gap: f64,
    /// b of the equation [§3.1].
    pub per_ack: f64,
    /// The least t_RTO of the equation [§3.1], s.
    pub least_rto: f64,
    /// q, the weight of the old round-trip time in the mean [§4.3].
    pub rtt_weight: f64,
    /// q2, the weight of the old mean root of the round-trip time [§4.5]; `None`: oscillations are not reduced.
    pub root_weight: Option<f64>,
    /// Packets can be marked.
    pub ecn: bool,
}

/// TFRC's sender. Rates are in bytes/s.
#[derive(Debug, Clone)]
pub struct TfrcSender {
    config: SenderConfig,
    /// s, R and the equation's constants; R is 0 while it is unknown.
    path: Path,
    /// X, the allowed rate.
    allowed: f64,
    /// X_Bps, the rate of the equation after the last report.
    by_equation: f64,
    /// W_init, bytes, and W_init/R: the least rate in slow start, also `recover_rate`.
    initial_window: f64,
    initial_rate: f64,
    /// tld, when the rate was doubled last; `None` before the first report.
    doubled: Option<Time>,
    /// X_recv_set with the times of its values.
    received: Vec<(Time, f64)>,
    /// p of the last report.
    loss: f64,
    /// R_sqmean, and its ratio to the root of the last sample.
    root_mean: f64,
    root_ratio: f64,
    /// Number of the next packet.
    sequence: u32,
    last_sent: Option<(Time, Bytes)>,
    /// The earliest time at which the pacing lets the next packet leave.
    due: Time,
    /// False if the sender has been idle since the nofeedback timer was set.
    sent: bool,
    limits: Limits,
}

/// When the sender used its whole allowed rate [§8.2.1].
#[derive(Debug, Clone, Copy, Default)]
struct Limits {
    /// Time of sending of the packet that the last report named, and the time of that report; `None` before the first.
    reported: Option<Time>,
    report_at: Option<Time>,
    /// The first such times after `reported` and after `report_at`, in whole us as reports have them.
    paced: [Option<Time>; 2],
}

impl Limits {
    /// A packet leaves as early as the pacing allows.
    fn on_paced(&mut self, now: Time) {
        let at = Some(header::moment(header::us(now), now));
        // `None`, no such time yet or no report yet, is before any time.
        if self.paced[0] <= self.reported {
            self.paced[0] = at;
        } else if self.paced[1] <= self.report_at {
            self.paced[1] = at;
        }
    }

    /// A report names a packet that was sent at `sent`. Returns true if the sender was limited by its data, and not by the allowed rate,
    /// in the whole interval that the report covers.
    fn on_report(&mut self, sent: Time, now: Time) -> bool {
        let covered = |at: &Time| self.reported < Some(*at) && *at <= sent;
        let limited = !self.paced.iter().flatten().any(covered);
        self.reported = Some(sent);
        self.report_at = Some(now);
        if self.paced[0].is_none_or(|at| at <= sent) && self.paced[1].is_some_and(|at| at > sent) {
            self.paced = [self.paced[1], None];
        }
        limited
    }
}

impl TfrcSender {
    /// A sender before its flow starts.
    #[must_use]
    pub fn new(config: SenderConfig) -> Self {
        let SenderConfig { least_rto, per_ack, .. } = config;
        Self {
            config,
            path: Path { segment: 1.0, rtt: 0.0, least_rto, per_ack },
            allowed: 0.0,
            by_equation: f64::INFINITY,
            initial_window: 1.0,
            initial_rate: 0.0,
            doubled: None,
            received: Vec::new(),
            loss: 0.0,
            root_mean: 0.0,
            root_ratio: 1.0,
            sequence: 0,
            last_sent: None,
            due: Time::ZERO,
            sent: false,
            limits: Limits::default(),
        }
    }

    /// s/t_mbi, the least rate.
    fn least(&self) -> f64 {
        self.path.segment / self.config.longest_gap
    }

    /// X_inst, the rate at which packets leave [§4.5], bytes/s.
    #[must_use]
    pub fn rate(&self) -> f64 {
        (self.allowed * self.root_ratio).max(self.least())
    }

    /// X_inst as hosts pace by it: in whole bit/s, at least one.
    fn paced_rate(&self) -> Rate {
        Rate(((self.rate() * 8.0) as u64).max(1))
    }

    /// Moves `due` after a change of the rate. A sender whose packet has been due, and has not left, is limited by its data since then,
    /// unless the new rate makes it wait.
    fn move_due(&mut self, now: Time) {
        let Some((at, bytes)) = self.last_sent else { return };
        let due = at.saturating_add(self.paced_rate().time_for(bytes));
        self.due = if due > now { due } else { self.due.min(now) };
    }

    /// The longer of 4 R and the time of two packets [§4.3, step 3].
    fn no_feedback(&self) -> Span {
        let seconds = (4.0 * self.path.rtt).max(2.0 * self.path.segment / self.allowed);
        Span((seconds * 1e9) as u64)
    }

    fn set_timer(&mut self, after: Span, context: &mut SourceContext<'_>) {
        self.sent = false;
        context.out.timers.push((NO_FEEDBACK, context.now.saturating_add(after)));
    }

    /// The largest value of X_recv_set.
    fn most_received(&self) -> f64 {
        self.received.iter().map(|value| value.1).fold(0.0, f64::max)
    }

    /// Update X_recv_set [§4.3]: the values of the last two round-trip times.
    fn update_received(&mut self, received: f64, now: Time) {
        let two = Span((2.0 * self.path.rtt * 1e9) as u64);
        self.received.retain(|value| now.since(value.0) <= two);
        self.received.push((now, received));
    }

    /// Maximize X_recv_set [§4.3]: its largest value alone, without the initial infinite one.
    fn maximize_received(&mut self, received: f64, now: Time) {
        self.received.retain(|value| value.1.is_finite());
        self.received.push((now, received));
        let most = self.most_received();
        self.received.clear();
        self.received.push((now, most));
    }

    /// The limit by the receive rate: of a report in which the sender was limited by its data, and of another [§4.3, step 4].
    fn receive_limit(&mut self, report: &Report, data_limited: bool, now: Time) -> f64 {
        if !data_limited {
            self.update_received(report.received, now);
            return 2.0 * self.most_received();
        }
        if report.loss > self.loss {
            self.received.iter_mut().for_each(|value| value.1 /= 2.0);
            self.maximize_received(LOSS_IN_LIMITED * report.received, now);
            return self.most_received();
        }
        self.maximize_received(report.received, now);
        2.0 * self.most_received()
    }

    /// The allowed rate after a report or an expiry [§4.3, step 4].
    fn set_allowed(&mut self, receive_limit: f64, now: Time) {
        if self.loss > 0.0 {
            self.by_equation = self.path.rate(self.loss);
            self.allowed = self.by_equation.min(receive_limit).max(self.least());
        } else if self.doubled.is_some_and(|at| now.since(at).as_secs_f64() >= self.path.rtt) {
            self.allowed = (2.0 * self.allowed).min(receive_limit).max(self.initial_rate);
            self.doubled = Some(now);
        }
    }

    /// A sample of the round-trip time [§4.3, steps 1 and 2; §4.5].
    fn observe_rtt(&mut self, sample: f64, now: Time) {
        let root = math::sqrt(sample);
        if self.doubled.is_none() {
            self.path.rtt = sample;
            self.root_mean = root;
            // §4.2: the first report ends the rate of one packet a second.
            self.initial_rate = self.initial_window / sample;
            self.allowed = self.initial_rate;
            self.doubled = Some(now);
        } else {
            let old = self.config.rtt_weight;
            self.path.rtt = old * self.path.rtt + (1.0 - old) * sample;
            // W_init/R follows R.
            self.initial_rate = self.initial_window / self.path.rtt;
        }
        if let Some(old) = self.config.root_weight {
            self.root_mean = old * self.root_mean + (1.0 - old) * root;
            self.root_ratio = self.root_mean / root;
        }
    }

    /// The nofeedback timer has expired [§4.4].
    fn on_silence(&mut self, now: Time) {
        let received = self.most_received();
        let idle = !self.sent;
        let recover = self.initial_rate;
        let slow = if self.loss > 0.0 { received < recover } else { self.allowed < 2.0 * recover };
        if self.doubled.is_none() {
            if !idle {
                self.allowed = (self.allowed / 2.0).max(self.least());
            }
        } else if slow && idle {
            // A slow sender that was idle keeps its rate.
        } else if self.loss == 0.0 {
            self.allowed = (self.allowed / 2.0).max(self.least());
        } else if self.by_equation > 2.0 * received {
            self.update_limits(received, now);
        } else {
            self.update_limits(self.by_equation / 2.0, now);
        }
    }

    /// Update_Limits [§4.4].
    fn update_limits(&mut self, limit: f64, now: Time) {
        let limit = limit.max(self.least());
        self.received.clear();
        self.received.push((now, limit / 2.0));
        self.set_allowed(limit, now);
    }
}

impl Source for TfrcSender {
    fn on_start(&mut self, setup: &FlowSetup, context: &mut SourceContext<'_>) {
        self.path.segment = setup.mss.get().max(1) as f64;
        self.initial_window = setup.initial_window.get().max(1) as f64;
        self.allowed = self.path.segment;
        self.received.push((context.now, f64::INFINITY));
        self.set_timer(FIRST_NO_FEEDBACK, context);
    }

    fn on_sent(&mut self, sent: &Sent, context: &mut SourceContext<'_>) {
        let now = context.now;
        if self.last_sent.is_none() || now <= self.due {
            self.limits.on_paced(now);
        }
        self.last_sent = Some((now, sent.bytes));
        self.due = now.saturating_add(self.paced_rate().time_for(sent.bytes));
        self.sent = true;
    }

    fn header(&self) -> Option<&'static HeaderKind> {
        Some(&DATA)
    }

    fn stamp(&mut self, header: &mut Header, now: Time) {
        let rtt = self.doubled.map(|_| Span((self.path.rtt * 1e9) as u64));
        header.fields = Data { sequence: self.sequence, sent_us: header::us(now), rtt }.fields();
        self.sequence = self.sequence.wrapping_add(1);
    }

    fn ecn_capable(&self) -> bool {
        self.config.ecn
    }

    fn on_report(&mut self, report: &[u8], context: &mut SourceContext<'_>) {
        let Some(report) = Report::decode(report) else { return };
        let now = context.now;
        let sent = header::moment(report.sent_us, now);
        // Reports that were overtaken say nothing new.
        if Some(sent) < self.limits.reported {
            return;
        }
        let sample = now.since(sent).0.saturating_sub(report.delay.0).max(1000);
        self.observe_rtt(sample as f64 / 1e9, now);
        let timer = self.no_feedback();
        let data_limited = self.limits.on_report(sent, now);
        let limit = self.receive_limit(&report, data_limited, now);
        self.loss = report.loss;
        self.set_allowed(limit, now);
        self.move_due(now);
        self.set_timer(timer, context);
    }

    fn on_timer(&mut self, timer: Timer, context: &mut SourceContext<'_>) {
        if timer == NO_FEEDBACK {
            self.on_silence(context.now);
            self.move_due(context.now);
            let after = self.no_feedback();
            self.set_timer(after, context);
        }
    }

    fn allowance(&self, _now: Time) -> Allowance {
        Allowance { window: None, rate: Some(self.paced_rate()), quantum: None }
    }
}
