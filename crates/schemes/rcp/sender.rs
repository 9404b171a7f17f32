//! The sender's part: it sends at the granted rate [RCP §3].

use airfair_units::{Bytes, Rate, Span};

use super::header::{self, KIND};
use crate::explicit::{ExplicitSender, Rtt, RttChoice};
use crate::places::{Allowance, CongestionCause, FlowSetup, Header, HeaderKind};

/// The constants of a sender.
#[derive(Debug, Clone, Copy)]
pub struct SenderConfig {
    /// The rate that it requests, bytes/s.
    pub request: u32,
    /// The window as a multiple of the product of rate and round-trip time, in 1/256; `None`: no limit.
    pub window: Option<u32>,
    /// The round-trip time that counts for that.
    pub rtt: RttChoice,
}

/// RCP's sender.
#[derive(Debug, Clone)]
pub struct RcpSender {
    config: SenderConfig,
    mss: u64,
    rtt: Rtt,
    /// The last feedback, bytes/s; `None`: none since the start, a time-out or a silence.
    granted: Option<u32>,
    /// The window before the first feedback, bytes.
    initial: u64,
}

impl RcpSender {
    /// A sender before its first feedback.
    #[must_use]
    pub fn new(config: SenderConfig) -> Self {
        let rtt = Rtt::new(config.rtt);
        Self { config, mss: 1, rtt, granted: None, initial: 1 }
    }

    /// The window of a granted rate in bytes; `None`: no limit.
    fn window(&self, granted: Option<u32>) -> Option<u64> {
        let Some(rate) = granted else { return Some(self.initial) };
        let times = u64::from(self.config.window?);
        Some((self.rtt.times(rate).saturating_mul(times) / 256).max(2 * self.mss))
    }

    /// Forgets the granted rate: one segment requests another.
    fn request_anew(&mut self) {
        (self.granted, self.initial) = (None, self.mss);
    }
}

impl ExplicitSender for RcpSender {
    const HEADER: &'static HeaderKind = &KIND;

    fn on_start(&mut self, setup: &FlowSetup) {
        self.mss = setup.mss.get().max(1);
        self.initial = if setup.syn_lost { self.mss } else { setup.initial_window.get().max(self.mss) };
    }

    fn on_rtt(&mut self, rtt: Span) {
        self.rtt.observe(rtt);
    }

    fn on_congestion(&mut self, cause: CongestionCause) {
        if cause == CongestionCause::Timeout {
            self.request_anew();
        }
    }

    fn on_idle(&mut self) {
        self.request_anew();
    }

    fn stamp(&mut self, header: &mut Header) {
        header::request(header, self.rtt.us(), self.config.request);
    }

    fn window_after(&self, header: &Header) -> u64 {
        let granted = header::feedback(header).or(self.granted);
        self.window(granted).unwrap_or_else(|| self.rtt.times(granted.unwrap_or(0)))
    }

    fn on_feedback(&mut self, header: &Header, _tcp: Option<u64>) {
        self.granted = header::feedback(header).or(self.granted);
    }

    fn allowance(&self, tcp: Option<u64>) -> Allowance {
        let window = self.window(self.granted).into_iter().chain(tcp).min();
        let rate = self.granted.map(|rate| Rate(8 * u64::from(rate)));
        Allowance { window: window.map(Bytes), rate, quantum: None }
    }
}
