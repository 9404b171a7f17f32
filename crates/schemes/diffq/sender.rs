//! Source rate control (§4.1, *Source Rate Control*): the rate of a source by the length of its own destination queue.
//!
//! Readings:
//! - The law runs every `interval` (10 ms). The printed law has no interval; α = 0.01 (§6.1) has no unit: here Mbit/s a step, so that a
//!   source gains 1 Mbit/s a second.
//! - *rate = rate/β* with β = 0.5 would double the rate, so it is multiplied by β: the text calls the law AIMD.
//! - The printed law halves the rate at every step while the queue is long. Here a decrease is repeated after `hold` (100 ms) at the
//!   earliest: a queue of 25 packets needs that long to react.
//! - The log utility of Chen, Low, Chiang, Doyle (2006) and of Kelly (1998), whom §4.1 names: rate = V/q maximises V log(rate) − q rate.
//!   V is such that a queue of `threshold` packets gives `log_rate`.
//! - Marks (ours): over TCP with ECN, an echoed mark (`mark_above`) is a decrease too, so that queues on the way limit a source before its
//!   own queue does.
//! - The printed law adds α whether the rate is used or not: a TCP source that waits for its window or a time-out then gains a rate which
//!   it has never sent at. `only_used` (ours) adds α only while the source sends at its rate.
//! - A source sends at least a packet a second (ours), so that its queue, and with it the law, never comes to a stand. A smaller
//!   `rate_start` is raised to that: with packets of 1460 B a source begins with 11.7 kbit/s instead of 10 kbit/s.
//! - *Source Rate Control()* is a procedure without a clock. `steps = "packets"` calls it for each packet that the source sends, new or
//!   repeated: a flow that is held back then gains little, a free one much. The queue is that of the last `interval`.

use airfair_units::{Bytes, Rate, Span, Time};

use super::trailer;
use super::window::PathWindow;
use crate::places::{
    Acked, Allowance, Congestion, CongestionCause, FlowSetup, Header, HeaderKind, Idle, Sent, Source, SourceContext,
    Spurious, Timer, Waiting,
};
use crate::words;

words! {
    /// The law of the rate.
    pub enum Law {
        /// Additive increase, multiplicative decrease (*Source Rate Control*).
        Aimd = "aimd",
        /// The rate that maximises the sum of the logarithms of the flows' rates.
        Log = "log",
    }
}

words! {
    /// The events that call the law.
    pub enum Steps {
        /// The clock, once an interval.
        Interval = "interval",
        /// Each packet that the source sends.
        Packets = "packets",
    }
}

/// The step of the law.
const STEP: Timer = Timer(1);

/// The constants of a source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SenderConfig {
    /// See [`Law`].
    pub law: Law,
    /// See [`Steps`].
    pub steps: Steps,
    /// QUEUE_THRESH, packets.
    pub threshold: u32,
    /// α, bit/s a step.
    pub alpha: f64,
    /// β.
    pub beta: f64,
    /// Time between two steps.
    pub interval: Span,
    /// Least time between two decreases.
    pub hold: Span,
    /// First and largest rate, bit/s.
    pub rates: [f64; 2],
    /// The rate grows only while the source sends at it.
    pub only_used: bool,
    /// own
    pub own_only: bool,
    /// exp
    pub entry: bool,
    /// exp
    pub alpha_share: f64,
    /// exp
    pub gain: f64,
    /// exp
    pub alpha_hops: bool,
    /// exp
    pub sojourn: f64,
    /// exp
    pub quiet: Span,
    /// Rate of the log utility with a queue of `threshold` packets, bit/s.
    pub log_rate: f64,
}

/// The rate of a source by the law.
#[derive(Debug, Clone)]
pub struct SourceRate {
    config: SenderConfig,
    /// Bit/s of payload.
    rate: f64,
    /// Least rate, bit/s.
    least: f64,
    /// exp
    alpha: f64,
    /// Packets that wait for the destination at this node.
    backlog: u32,
    /// Time of the last decrease.
    decreased: Option<Time>,
    /// Time and size of the last packet.
    last: Option<(Time, Bytes)>,
}

impl SourceRate {
    /// The rate before a flow starts.
    #[must_use]
    pub const fn new(config: SenderConfig) -> Self {
        Self { config, rate: config.rates[0], least: 1.0, alpha: config.alpha, backlog: 0, decreased: None, last: None }
    }

    /// The flow starts: its packets have this size, and it sends one a second at least.
    pub fn start(&mut self, packet: Bytes) {
        self.least = (packet.get() * 8) as f64;
        self.rate = self.rate.max(self.least);
    }

    /// The rate, bit/s.
    #[must_use]
    pub const fn bps(&self) -> f64 {
        self.rate
    }

    /// Multiplies the rate by β, unless that was done a short time ago.
    fn decrease(&mut self, now: Time) {
        if self.decreased.is_none_or(|at| now.since(at) >= self.config.hold) {
            self.rate = (self.rate * self.config.beta).max(self.least);
            self.decreased = Some(now);
        }
    }

    /// True if the source sends at its rate: the last packet's time at this rate is not over for longer than two steps.
    fn is_used(&self, now: Time) -> bool {
        self.last.is_some_and(|(at, bytes)| {
            let gap = Rate((self.rate as u64).max(1)).time_for(bytes);
            now <= at.saturating_add(gap) + self.config.interval + self.config.interval
        })
    }

    fn step(&mut self, now: Time) {
        let alpha = self.alpha;
        let SenderConfig { law, threshold, rates: [_, most], log_rate, .. } = self.config;
        let long = self.backlog > threshold;
        match law {
            Law::Aimd if long => self.decrease(now),
            Law::Aimd if self.config.only_used && !self.is_used(now) => {}
            Law::Aimd if self.config.gain > 0.0 && self.decreased.is_none_or(|at| now.since(at) >= self.config.quiet) => {
                self.rate += (self.config.gain * self.rate).max(alpha);
            }
            Law::Aimd => self.rate += alpha,
            Law::Log => self.rate = log_rate * f64::from(threshold.max(1)) / f64::from(self.backlog.max(1)),
        }
        self.rate = self.rate.min(most).max(self.least);
    }

    /// So many packets wait for the destination.
    pub const fn set_backlog(&mut self, packets: u32) {
        self.backlog = packets;
    }

    /// A packet was sent.
    pub fn sent(&mut self, packet: Bytes, now: Time) {
        self.last = Some((now, packet));
        if self.config.steps == Steps::Packets {
            self.step(now);
        }
    }

    /// The interval is over.
    pub fn interval_over(&mut self, now: Time) {
        if self.config.steps == Steps::Interval {
            self.step(now);
        }
    }
}

/// A source, over TCP or UDP.
#[derive(Debug, Clone)]
pub struct DiffQSender {
    rate: SourceRate,
    window: Option<PathWindow>,
    entry: u32,
    paced: bool,
    patience: Span,
    since: Option<Time>,
    /// Number of the next packet.
    sequence: u32,
}

impl DiffQSender {
    /// A source before its flow starts.
    #[must_use]
    pub const fn new(config: SenderConfig) -> Self {
        Self { rate: SourceRate::new(config), window: None, entry: 0, paced: true, patience: Span::ZERO, since: None, sequence: 0 }
    }

    /// A source with a window.
    #[must_use]
    pub const fn with_window(config: SenderConfig, window: Option<PathWindow>) -> Self {
        Self { rate: SourceRate::new(config), window, entry: 0, paced: true, patience: Span::ZERO, since: None, sequence: 0 }
    }
}

impl Source for DiffQSender {
    fn on_start(&mut self, setup: &FlowSetup, context: &mut SourceContext<'_>) {
        self.rate.start(setup.mss);
        if let Some(window) = &mut self.window {
            window.start(setup, context);
        }
        context.out.timers.push((STEP, context.now + self.rate.config.interval));
    }

    fn header(&self) -> Option<&'static HeaderKind> {
        Some(&trailer::KIND)
    }

    fn stamp(&mut self, header: &mut Header, _: Time) {
        trailer::number(header, self.sequence);
        self.sequence = self.sequence.wrapping_add(1);
    }

    fn on_feedback(&mut self, header: &Header, _: &mut SourceContext<'_>) {
        if let Some(window) = &mut self.window {
            window.feedback(header, trailer::echoed_entry(header));
        }
        self.entry = trailer::echoed_entry(header);
    }

    fn on_acked(&mut self, acked: &Acked, context: &mut SourceContext<'_>) {
        if let Some(window) = &mut self.window {
            window.acked(acked, context);
        }
    }

    fn on_spurious(&mut self, spurious: &Spurious, context: &mut SourceContext<'_>) {
        if let Some(window) = &mut self.window {
            window.spurious(spurious, context);
        }
    }

    fn on_recovered(&mut self, in_flight: Bytes, context: &mut SourceContext<'_>) {
        if let Some(window) = &mut self.window {
            window.recovered(in_flight, context);
        }
    }

    fn on_idle(&mut self, idle: &Idle, context: &mut SourceContext<'_>) {
        if let Some(window) = &mut self.window {
            window.idle(idle, context);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion, context: &mut SourceContext<'_>) {
        if let Some(window) = &mut self.window {
            window.congestion(congestion, context);
        }
        if congestion.cause == CongestionCause::Mark && self.rate.config.law == Law::Aimd {
            self.rate.decrease(context.now);
        }
    }

    fn on_sent(&mut self, sent: &Sent, context: &mut SourceContext<'_>) {
        self.rate.sent(sent.bytes, context.now);
    }

    fn goes_by_own_queue(&self) -> bool {
        self.window.is_none() || self.paced
    }

    fn on_own_queue(&mut self, waiting: Waiting) {
        let config = self.rate.config;
        let mut packets = if config.own_only { waiting.own } else { waiting.all };
        if let Some(link) = waiting.link {
            if config.entry && !link.is_radio() {
                packets = packets.max(self.entry);
            }
            if config.alpha_share > 0.0 {
                let hops = if config.alpha_hops { self.window.as_ref().map_or(1, PathWindow::radio_hops) } else { 1 };
                let part = link.rate.0 as f64 / 11e6;
                self.rate.alpha = config.alpha * part * (link.rate.0.isqrt() as f64 / 3316.0) * f64::from(hops);
            }
            self.paced = link.is_radio() && !self.window.as_ref().is_some_and(PathWindow::steps_aside);
            if config.sojourn > 0.0 && link.is_radio() {
                let packet = link.rate.time_for(Bytes(1500));
                self.patience = Span((packet.as_nanos() as f64 * config.sojourn) as u64);
                self.since = waiting.own_since;
            }
        }
        self.rate.set_backlog(packets);
    }

    fn on_timer(&mut self, timer: Timer, context: &mut SourceContext<'_>) {
        if self.patience > Span::ZERO && self.since.is_none_or(|since| context.now.since(since) <= self.patience) {
            self.rate.set_backlog(0);
        }
        self.rate.interval_over(context.now);
        context.out.timers.push((timer, context.now + self.rate.config.interval));
    }

    fn allowance(&self, now: Time) -> Allowance {
        let rate = Rate(self.rate.bps() as u64);
        match &self.window {
            Some(window) => window.allowance(Some(rate).filter(|_| self.paced), now),
            None => Allowance { window: None, rate: Some(rate), quantum: None },
        }
    }
}
