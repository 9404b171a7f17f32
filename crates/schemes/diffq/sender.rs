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
//! - α has no unit and no scale. `alpha_by = "link"` (ours) takes it as that of a radio of 11 Mbit/s, and (rate / 11 Mbit/s)^1.5 as much at
//!   another first hop: in equilibrium a source finds its queue too long α / ((1 − β) · bits of a packet) times a second, whatever its
//!   rate, and a fast radio carries more packets between two such times (measured: one α for 2 and 54 Mbit/s starves or wastes).
//! - So small an α needs minutes to fill a free path. A source whose last decrease was `quiet` ago, or that had none, gains the part `gain`
//!   of its rate instead, if that is more (ours; 0: never).
//! - Q_i(F) of a node that also passes packets for F on (`counts`): as printed all its packets count, so that the relay's own flow falls to
//!   nothing beside a flow that it passes on. "own" (ours) counts the packets of flows that begin at the node, and only while they are more
//!   than those that it passes on: a relay's own packet waits behind those, which is no sign that it has sent too much.
//! - Over UDP no window bounds what waits, and nobody repairs what is lost: `slack` packets more may wait there, and α may be another
//!   (`udp_alpha`; ours).
//! - With `calls` a source is limited only for that time after a node near it has called because it starves (ours). It gives way at once:
//!   it begins at [`GIVEN_WAY`] of the first hop's rate. And where the caller starves for want of its packets, or is its own node, a
//!   time-out does not double the next one: a sender that waits for half a minute would never find out that the air is free.
//! - *Source Rate Control()* is a procedure without a clock. `steps = "packets"` calls it for each packet that the source sends, new or
//!   repeated: a flow that is held back then gains little, a free one much. The queue is that of the last `interval`.

use airfair_units::{Bytes, Rate, Span, Time};

use super::trailer;
use super::window::PathWindow;
use crate::places::{
    Acked, Allowance, Calls, Congestion, CongestionCause, FlowSetup, Header, HeaderKind, Idle, Sent, Source,
    SourceContext, Spurious, Timer, Waiting,
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

words! {
    /// The packets that a source's law counts in its own queue.
    pub enum Counts {
        /// All that wait at the node for the flow's destination (*Source Rate Control*).
        All = "all",
        /// Those of flows that begin at the node, if they are more than those that it passes on.
        Own = "own",
    }
}

words! {
    /// The scale of α.
    pub enum AlphaBy {
        /// The same everywhere.
        Fixed = "fixed",
        /// By the rate of the first hop: α is that of [`USUAL_RATE`].
        Link = "link",
    }
}

/// The rate of the first hop at which α is as given with [`AlphaBy::Link`].
pub const USUAL_RATE: Rate = Rate(11_000_000);

/// (rate / 11 Mbit/s)^1.5.
fn link_factor(rate: Rate) -> f64 {
    // In thousandths, so that the whole root of a slow rate is exact enough; without floating-point roots, which no_std lacks.
    let root = |rate: Rate| rate.0.saturating_mul(1_000_000).isqrt() as f64;
    (rate.0 as f64 / USUAL_RATE.0 as f64) * (root(rate) / root(USUAL_RATE))
}

/// Intervals over which the rate of a source that is not limited is averaged.
const RECENT: f64 = 10.0;

/// Largest part of the first hop's rate at which a source begins that was not limited before.
pub const GIVEN_WAY: f64 = 0.05;

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
    /// See [`Counts`].
    pub counts: Counts,
    /// α, bit/s a step.
    pub alpha: f64,
    /// See [`AlphaBy`].
    pub alpha_by: AlphaBy,
    /// The part of its rate that a source gains in a step once its last decrease is `quiet` ago; 0: never.
    pub gain: f64,
    /// See `gain`.
    pub quiet: Span,
    /// Time for which the source is limited after a call of a node that starves; zero: always.
    pub limited_for: Span,
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
    /// α at the present first hop, bit/s a step.
    alpha: f64,
    /// Packets that count in the queue for the destination at this node.
    backlog: u32,
    /// Time of the last decrease.
    decreased: Option<Time>,
    /// Time and size of the last packet.
    last: Option<(Time, Bytes)>,
    /// The first hop is a radio of this rate, and when its queue has heard calls last.
    radio: Option<(Rate, Calls)>,
    /// Nobody has called of late, and the source is not limited.
    free: bool,
    /// A node has called that starves for want of the source's packets.
    hurries: bool,
    /// Bits sent in this interval, and bit/s sent of late.
    bits: f64,
    recent: f64,
}

impl SourceRate {
    /// The rate before a flow starts.
    #[must_use]
    pub const fn new(config: SenderConfig) -> Self {
        Self {
            config,
            rate: config.rates[0],
            least: 1.0,
            alpha: config.alpha,
            backlog: 0,
            decreased: None,
            last: None,
            radio: None,
            // A flow that begins while somebody calls gives way as others do.
            free: config.limited_for.0 > 0,
            hurries: false,
            bits: 0.0,
            recent: 0.0,
        }
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

    /// Gain of a step.
    fn growth(&self, now: Time) -> f64 {
        let SenderConfig { gain, quiet, .. } = self.config;
        let is_quiet = self.decreased.is_none_or(|at| now.since(at) >= quiet);
        if is_quiet { self.alpha.max(gain * self.rate) } else { self.alpha }
    }

    fn step(&mut self, now: Time) {
        let SenderConfig { law, threshold, rates: [_, most], log_rate, .. } = self.config;
        let long = self.backlog > threshold;
        match law {
            Law::Aimd if long => self.decrease(now),
            Law::Aimd if self.config.only_used && !self.is_used(now) => {}
            Law::Aimd => self.rate += self.growth(now),
            Law::Log => self.rate = log_rate * f64::from(threshold.max(1)) / f64::from(self.backlog.max(1)),
        }
        self.rate = self.rate.min(most).max(self.least);
    }

    /// So many packets wait for the destination.
    pub const fn set_backlog(&mut self, packets: u32) {
        self.backlog = packets;
    }

    /// These packets wait for the destination, at this interface.
    pub fn set_waiting(&mut self, waiting: &Waiting) {
        let passed_on = waiting.all.saturating_sub(waiting.own);
        self.backlog = match self.config.counts {
            Counts::All => waiting.all,
            Counts::Own if waiting.own > passed_on => waiting.own,
            Counts::Own => 0,
        };
        if let (AlphaBy::Link, Some(at)) = (self.config.alpha_by, waiting.at) {
            self.alpha = self.config.alpha * link_factor(at.rate);
        }
        // Without a route what was last known stands.
        if let Some(at) = waiting.at {
            self.radio = Some((at.rate, waiting.calls)).filter(|_| at.is_radio());
        }
    }

    /// A packet was sent.
    pub fn sent(&mut self, packet: Bytes, now: Time) {
        self.last = Some((now, packet));
        self.bits += (packet.get() * 8) as f64;
        if self.config.steps == Steps::Packets && self.free_rate().is_none() {
            self.step(now);
        }
    }

    /// The interval is over.
    pub fn interval_over(&mut self, now: Time) {
        let SenderConfig { limited_for, interval, rates: [first, most], .. } = self.config;
        self.recent += (self.bits / interval.as_secs_f64() - self.recent) / RECENT;
        self.bits = 0.0;
        if let (true, Some((link, last))) = (limited_for > Span::ZERO, self.radio) {
            let of_late = |last: Option<Time>| last.is_some_and(|at| now.since(at) < limited_for);
            let was_free = self.free;
            (self.free, self.hurries) = (!of_late(last.near), of_late(last.for_us));
            if was_free && !self.free {
                self.rate = self.recent.max(first).min(GIVEN_WAY * link.0 as f64).max(self.least);
                self.decreased = Some(now);
            }
        }
        if self.free_rate().is_some() {
            self.rate = self.recent.max(first).min(most).max(self.least);
        } else if self.config.steps == Steps::Interval {
            self.step(now);
        }
    }

    /// The rate of the first hop, if the source is not limited there.
    #[must_use]
    pub fn free_rate(&self) -> Option<Rate> {
        self.radio.filter(|_| self.free).map(|(rate, _)| rate)
    }
}

/// A source, over TCP or UDP.
#[derive(Debug, Clone)]
pub struct DiffQSender {
    rate: SourceRate,
    /// The window, if there is one.
    window: Option<PathWindow>,
    /// False while the flow leaves its node by a wire, or by a path without DiffQ: its own queue there is no sign of congestion, and a
    /// window limits it.
    paced: bool,
    /// Number of the next packet.
    sequence: u32,
}

impl DiffQSender {
    /// A source before its flow starts, with or without a window.
    #[must_use]
    pub const fn new(config: SenderConfig, window: Option<PathWindow>) -> Self {
        Self { rate: SourceRate::new(config), window, paced: true, sequence: 0 }
    }

    /// True if the law of the rate limits the source.
    fn is_limited(&self) -> bool {
        self.paced && self.rate.free_rate().is_none()
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
            window.heard(header);
        }
    }

    fn on_acked(&mut self, acked: &Acked, context: &mut SourceContext<'_>) {
        if let Some(window) = &mut self.window {
            window.acked(acked, context);
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

    fn on_sent(&mut self, sent: &Sent, context: &mut SourceContext<'_>) {
        if self.paced {
            self.rate.sent(sent.bytes, context.now);
        }
    }

    fn on_own_queue(&mut self, waiting: &Waiting) {
        self.rate.set_waiting(waiting);
        if let Some(window) = &self.window {
            self.paced = !window.steps_aside() && waiting.at.is_none_or(|at| at.is_radio());
        }
    }

    fn doubles_timer(&self) -> bool {
        !(self.rate.hurries && self.rate.radio.is_some())
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.window.as_ref().and_then(PathWindow::ssthresh)
    }

    fn goes_by_own_queue(&self) -> bool {
        self.is_limited()
    }

    fn on_timer(&mut self, timer: Timer, context: &mut SourceContext<'_>) {
        self.rate.interval_over(context.now);
        if let Some(window) = &mut self.window {
            window.set_free(self.rate.free_rate().is_some());
        }
        context.out.timers.push((timer, context.now + self.rate.config.interval));
    }

    fn allowance(&self, now: Time) -> Allowance {
        let rate = Rate(self.rate.bps() as u64);
        match &self.window {
            Some(window) => window.allowance(Some(rate).filter(|_| self.is_limited()), now),
            None => {
                Allowance { window: None, rate: Some(self.rate.free_rate().unwrap_or(rate)), quantum: None }
            }
        }
    }
}
