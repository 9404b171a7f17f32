//! The sender's part: it sends at the rate that it was given [RCP §3].

use airfair_units::{Bytes, Rate, Time};

use super::header::{self, KIND};
use crate::explicit::{Fallback, Rtt, RttChoice};
use crate::places::{
    Acked, Allowance, Congestion, CongestionCause, FlowSetup, Header, HeaderKind, Idle, Source, SourceContext,
};

/// The constants of a sender.
#[derive(Debug, Clone, Copy)]
pub struct SenderConfig {
    /// The rate that it asks for, bytes/s.
    pub request: u32,
    /// What may be in flight, as a multiple of what the rate fills in a round trip, in 1/256; `None`: no limit.
    pub window: Option<u32>,
    /// Which round-trip time counts for that.
    pub rtt: RttChoice,
}

/// RCP's sender.
#[derive(Debug, Clone)]
pub struct Sender {
    config: SenderConfig,
    mss: u64,
    rtt: Rtt,
    /// The last feedback, bytes/s; `None`: there was none since the start, a time-out or a silence.
    granted: Option<u32>,
    /// Until the first feedback, bytes.
    initial: u64,
    fallback: Fallback,
}

impl Sender {
    /// A sender that has heard nothing.
    #[must_use]
    pub fn new(config: SenderConfig) -> Self {
        let rtt = Rtt::new(config.rtt);
        Self { config, mss: 1, rtt, granted: None, initial: 1, fallback: Fallback::default() }
    }

    /// What may be in flight, bytes; `None`: no limit.
    fn window(&self) -> Option<u64> {
        let Some(rate) = self.granted else { return Some(self.initial) };
        let times = u64::from(self.config.window?);
        Some((self.rtt.times(rate).saturating_mul(times) / 256).max(2 * self.mss))
    }

    /// Nothing is known any more: one segment asks.
    fn ask_again(&mut self) {
        (self.granted, self.initial) = (None, self.mss);
    }
}

impl Source for Sender {
    fn on_start(&mut self, setup: &FlowSetup, context: &mut SourceContext<'_>) {
        self.mss = setup.mss.get().max(1);
        self.initial = if setup.syn_lost { self.mss } else { setup.initial_window.get().max(self.mss) };
        setup.rtt.into_iter().for_each(|rtt| self.rtt.observe(rtt));
        self.fallback.on_start(setup, context);
    }

    fn on_acked(&mut self, acked: &Acked, context: &mut SourceContext<'_>) {
        acked.rtt.into_iter().for_each(|rtt| self.rtt.observe(rtt));
        let granted = self.window().unwrap_or(u64::MAX);
        self.fallback.on_acked(acked, granted, context);
    }

    fn on_congestion(&mut self, congestion: &Congestion, context: &mut SourceContext<'_>) {
        if congestion.cause == CongestionCause::Timeout {
            self.ask_again();
        }
        self.fallback.on_congestion(congestion, context);
    }

    fn on_recovered(&mut self, in_flight: Bytes, context: &mut SourceContext<'_>) {
        self.fallback.on_recovered(in_flight, context);
    }

    fn on_idle(&mut self, idle: &Idle, context: &mut SourceContext<'_>) {
        self.ask_again();
        self.fallback.on_idle(idle, context);
    }

    fn header(&self) -> Option<&'static HeaderKind> {
        Some(&KIND)
    }

    fn stamp(&mut self, header: &mut Header, _now: Time) {
        header::request(header, self.rtt.us(), self.config.request);
    }

    fn on_feedback(&mut self, header: &Header, context: &mut SourceContext<'_>) {
        if let Some(rate) = header::feedback(header) {
            self.granted = Some(rate);
        }
        let window = self.window().unwrap_or_else(|| self.rtt.times(self.granted.unwrap_or(0)));
        self.fallback.hear(header.missed, window, context);
    }

    fn fell_back(&self) -> bool {
        self.fallback.fell_back()
    }

    fn allowance(&self, now: Time) -> Allowance {
        let window = match (self.window(), self.fallback.window(now)) {
            (Some(own), Some(other)) => Some(own.min(other)),
            (own, other) => own.or(other),
        };
        let rate = self.granted.map(|rate| Rate(8 * u64::from(rate)));
        Allowance { window: window.map(Bytes), rate, quantum: None }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.fallback.ssthresh()
    }
}
