//! The router's part: one rate R for all flows of an output interface [RCP §3].

use alloc::vec;
use alloc::vec::Vec;

use airfair_units::{Rate, Span, Time};

use super::header::{self, KIND};
use crate::places::{Backlog, Header, HeaderKind, Hop, HopContext, Passage, Timer};

/// The end of a control interval.
const INTERVAL: Timer = Timer(0);

/// The constants of a router.
#[derive(Debug, Clone, Copy)]
pub struct RouterConfig {
    /// The constant alpha.
    pub alpha: f64,
    /// The constant beta.
    pub beta: f64,
    /// The constant gamma: the target, as a part of the capacity.
    pub target: f64,
    /// Largest T.
    pub slot: Span,
    /// Least T and d.
    pub least_interval: Span,
    /// d before a packet has reported its round-trip time.
    pub first_rtt: Span,
    /// R at the start, as a part of C.
    pub initial_share: f64,
    /// The least value of R times d, bytes.
    pub least: f64,
}

/// RCP beside an output interface.
#[derive(Debug, Clone)]
pub struct RcpRouter {
    config: RouterConfig,
    /// C, bytes/s.
    capacity: f64,
    /// R, bytes/s, and as headers carry it.
    rate: f64,
    stamped: u32,
    /// d, s.
    rtt: f64,
    began: Time,
    /// Bytes that have arrived in the interval; of those whose round-trip time is known, the sum, and that with the time, us.
    arrived: u64,
    timed: u64,
    rtt_bytes: u128,
    /// Values of the last interval, for gauges.
    input: f64,
}

impl RcpRouter {
    /// A router before its first packet; the capacity of its link in bytes/s.
    #[must_use]
    pub fn new(config: RouterConfig, capacity: f64) -> Self {
        let mut router = Self {
            config,
            capacity,
            rate: 0.0,
            stamped: 0,
            rtt: config.first_rtt.max(config.least_interval).as_secs_f64(),
            began: Time::ZERO,
            arrived: 0,
            timed: 0,
            rtt_bytes: 0,
            input: 0.0,
        };
        router.set(config.initial_share * capacity);
        router
    }

    /// The control interval T.
    fn interval(&self) -> Span {
        Span((self.rtt * 1e9) as u64).min(self.config.slot).max(self.config.least_interval)
    }

    /// Sets R within its bounds; where they cross, the capacity of the link is the bound.
    fn set(&mut self, rate: f64) {
        let most = (self.config.target * self.capacity).max(1.0);
        self.rate = rate.clamp((self.config.least / self.rtt).min(most), most);
        // Below "all that there is".
        self.stamped = (self.rate as u32).clamp(1, u32::MAX - 1);
    }

    /// d moves by `T/d` towards the mean of the interval, and by less where that is smaller: one short flow among many shall not
    /// shorten the interval.
    fn average_rtt(&mut self, seconds: f64) {
        if self.timed == 0 {
            return;
        }
        let mean = self.rtt_bytes as f64 / self.timed as f64 / 1e6;
        let shrink = if mean < self.rtt { self.rate / self.capacity * mean / self.rtt } else { 1.0 };
        let gain = (seconds / self.rtt * shrink).min(1.0);
        self.rtt = (self.rtt + gain * (mean - self.rtt)).max(self.config.least_interval.as_secs_f64());
    }

    /// Ends a control interval: d, then R by the law. Length in seconds, backlog in bytes.
    fn end_interval(&mut self, seconds: f64, queue: f64) {
        self.average_rtt(seconds);
        self.input = self.arrived as f64 / seconds;
        let RouterConfig { alpha, beta, target, .. } = self.config;
        let capacity = target * self.capacity;
        let change = alpha * (capacity - self.input) - beta * queue / self.rtt;
        self.set(self.rate * (1.0 + seconds / self.rtt * change / capacity));
        (self.arrived, self.timed, self.rtt_bytes) = (0, 0, 0);
    }
}

impl Hop for RcpRouter {
    fn header(&self) -> &'static HeaderKind {
        &KIND
    }

    fn on_start(&mut self, context: &mut HopContext<'_>) {
        self.began = context.now;
        context.out.timers.push((INTERVAL, context.now.saturating_add(self.interval())));
    }

    #[inline]
    fn on_arrival(&mut self, passage: &Passage, header: Option<&mut Header>, _now: Time) {
        let bytes = u64::from(passage.bytes);
        self.arrived += bytes;
        let Some(header) = header else { return };
        if let Some(rtt) = header::rtt_us(header) {
            self.timed += bytes;
            self.rtt_bytes += u128::from(bytes) * u128::from(rtt);
        }
        header::grant(header, self.stamped);
    }

    fn on_rate(&mut self, rate: Rate) {
        self.capacity = rate.as_bps() as f64 / 8.0;
        self.set(self.rate);
    }

    fn on_timer(&mut self, _timer: Timer, backlog: Backlog, context: &mut HopContext<'_>) {
        let seconds = context.now.since(self.began).0.max(1) as f64 / 1e9;
        self.end_interval(seconds, backlog.bytes as f64);
        self.began = context.now;
        context.out.timers.push((INTERVAL, context.now.saturating_add(self.interval())));
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("input_bps", 8.0 * self.input),
            ("interval_s", self.interval().as_secs_f64()),
            ("rate_bps", 8.0 * self.rate),
            ("rtt_s", self.rtt),
        ]
    }
}
