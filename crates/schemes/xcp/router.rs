//! XCP at an output interface: sums over a control interval, two controllers at its end, a share of the result into each packet.

use alloc::vec;
use alloc::vec::Vec;

use airfair_units::{Rate, Span, Time};

use super::efficiency::{Efficiency, Observed};
use super::fairness::{Fairness, FairnessConfig};
use super::header::{self, KIND};
use crate::places::{Backlog, Header, HeaderKind, Hop, HopContext, Passage, Timer};

/// The end of a control interval.
const INTERVAL: Timer = Timer(0);
/// The end of an interval over which a standing queue is measured.
const QUEUE: Timer = Timer(1);

/// The constants of a router, without those of phi.
#[derive(Debug, Clone, Copy)]
pub struct RouterConfig {
    /// The division of the change among packets.
    pub fairness: FairnessConfig,
    /// d before a packet has reported its round-trip time, and after an interval in which none has.
    pub first_interval: Span,
    /// Bounds of d.
    pub intervals: (Span, Span),
    /// True if packets get their share when they leave the queue instead of when they arrive.
    pub at_departure: bool,
}

/// XCP beside an output interface, with a law for phi.
#[derive(Debug, Clone)]
pub struct XcpRouter<E> {
    config: RouterConfig,
    efficiency: E,
    fairness: Fairness,
    /// d, which is also the length of the present interval.
    interval: Span,
    began: Time,
    arrived: u64,
    dropped: u64,
    /// The least backlog since the queue interval began, bytes.
    least: u64,
    standing: u64,
    /// Values of the last interval, for gauges: phi in bytes, y in bytes/s.
    phi: f64,
    input: f64,
}

impl<E: Efficiency> XcpRouter<E> {
    /// A router before its first packet.
    #[must_use]
    pub fn new(config: RouterConfig, efficiency: E) -> Self {
        let (least, most) = config.intervals;
        Self {
            efficiency,
            fairness: Fairness::new(config.fairness),
            interval: config.first_interval.max(least).min(most),
            began: Time::ZERO,
            arrived: 0,
            dropped: 0,
            least: 0,
            standing: 0,
            phi: 0.0,
            input: 0.0,
            config,
        }
    }

    fn seconds(&self) -> f64 {
        self.interval.0 as f64 / 1e9
    }

    /// Ends a control interval: d, Q, phi and both xi of the next one.
    fn end_interval(&mut self, backlog: Backlog, context: &mut HopContext<'_>) {
        let seconds = context.now.since(self.began).0.max(1) as f64 / 1e9;
        let (least, most) = self.config.intervals;
        let mean = self.fairness.mean_rtt().map(|s| Span((s * 1e9) as u64));
        self.interval = mean.unwrap_or(self.config.first_interval).max(least).min(most);
        let rtt = self.seconds();
        if self.efficiency.queue_interval(rtt, backlog.bytes).is_none() {
            self.end_queue_interval(backlog, context);
        }
        let (arrived, dropped) = (core::mem::take(&mut self.arrived), core::mem::take(&mut self.dropped));
        let (standing, backlog) = (self.standing, backlog.bytes);
        self.phi = self.efficiency.change(&Observed { seconds, rtt, arrived, dropped, standing, backlog });
        self.input = arrived as f64 / seconds;
        self.fairness.end_interval(self.phi, rtt, seconds);
        self.began = context.now;
        context.out.timers.push((INTERVAL, context.now.saturating_add(self.interval)));
    }

    /// Ends a queue interval: Q is its least backlog; the next end is scheduled.
    fn end_queue_interval(&mut self, backlog: Backlog, context: &mut HopContext<'_>) {
        self.standing = self.least.min(backlog.bytes);
        self.least = backlog.bytes;
        if let Some(next) = self.efficiency.queue_interval(self.seconds(), backlog.bytes) {
            context.out.timers.push((QUEUE, context.now.saturating_add(next)));
        }
    }
}

impl<E: Efficiency> Hop for XcpRouter<E> {
    fn header(&self) -> &'static HeaderKind {
        &KIND
    }

    fn on_start(&mut self, context: &mut HopContext<'_>) {
        self.began = context.now;
        context.out.timers.push((INTERVAL, context.now.saturating_add(self.interval)));
        self.end_queue_interval(Backlog::default(), context);
    }

    #[inline]
    fn on_arrival(&mut self, passage: &Passage, header: Option<&mut Header>, _now: Time) {
        self.arrived += u64::from(passage.bytes);
        self.least = self.least.min(passage.backlog.bytes);
        let Some(header) = header else { return };
        if let Some(sender_state) = header::sender_state(header) {
            self.fairness.count(sender_state, passage.bytes);
        }
        if !self.config.at_departure {
            self.fairness.stamp(header, passage.bytes);
        }
    }

    fn on_departure(&mut self, passage: &Passage, header: Option<&mut Header>, _now: Time) {
        if let Some(header) = header.filter(|_| self.config.at_departure) {
            self.fairness.stamp(header, passage.bytes);
        }
    }

    fn on_drop(&mut self, bytes: u32) {
        self.dropped += u64::from(bytes);
    }

    fn on_rate(&mut self, rate: Rate) {
        self.efficiency.set_rate(rate.as_bps() as f64 / 8.0);
    }

    fn on_timer(&mut self, timer: Timer, backlog: Backlog, context: &mut HopContext<'_>) {
        match timer {
            INTERVAL => self.end_interval(backlog, context),
            _ => self.end_queue_interval(backlog, context),
        }
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("change_bps", 8.0 * self.phi / self.seconds()),
            ("input_bps", 8.0 * self.input),
            ("interval_s", self.seconds()),
            ("standing_queue_bytes", self.standing as f64),
        ]
    }
}
