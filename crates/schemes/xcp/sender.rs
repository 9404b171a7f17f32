//! XCP's sender: its window changes by the feedback of routers [XCP §3.2], and at a loss as TCP's.

use airfair_units::{Bytes, Span};

use super::header::{self, KIND, LONGEST_RTT_US, PARTS, SenderState};
use crate::explicit::{ExplicitSender, Rtt, RttChoice};
use crate::places::{Allowance, CongestionCause, FlowSetup, Header, HeaderKind};

/// The largest window, bytes.
const LARGEST: u64 = 1 << 40;

/// The constants of a sender.
#[derive(Debug, Clone, Copy)]
pub struct SenderConfig {
    /// The rate that it requests, bytes/s; `None`: what its largest window allows.
    pub request: Option<u32>,
    /// The round-trip time that counts.
    pub rtt: RttChoice,
}

/// XCP's sender.
#[derive(Debug, Clone)]
pub struct XcpSender {
    config: SenderConfig,
    mss: u64,
    initial: u64,
    limit: u64,
    /// The congestion window, 1/256 byte.
    window: u64,
    rtt: Rtt,
}

impl XcpSender {
    /// A sender before its first feedback.
    #[must_use]
    pub fn new(config: SenderConfig) -> Self {
        let rtt = Rtt::new(config.rtt);
        Self { config, mss: 1, initial: 1, limit: 1, window: PARTS, rtt }
    }

    /// The congestion window, bytes.
    const fn bytes(&self) -> u64 {
        self.window / PARTS
    }

    /// Sets cwnd, 1/256 byte: at least one segment, at most the limit.
    fn set(&mut self, parts: u64) {
        self.window = parts.clamp(self.mss * PARTS, self.limit * PARTS);
    }

    /// The change that a packet requests, 1/256 byte: all packets of a window together request the missing part.
    fn request(&self) -> i32 {
        let target = self.config.request.map_or(self.limit, |rate| self.rtt.times(rate).min(self.limit));
        let window = self.bytes().cast_signed();
        let missing = target.cast_signed() - window;
        // Windows are below 2^40, segments below 2^16.
        let packet = missing * self.mss.cast_signed() / window.max(1);
        let parts = packet.saturating_mul(PARTS.cast_signed());
        parts.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
    }
}

impl ExplicitSender for XcpSender {
    const HEADER: &'static HeaderKind = &KIND;

    fn on_start(&mut self, setup: &FlowSetup) {
        self.mss = setup.mss.get().clamp(1, 1 << 16);
        self.limit = setup.window_limit.get().clamp(self.mss, LARGEST);
        self.initial = if setup.syn_lost { self.mss } else { setup.initial_window.get() };
        self.initial = self.initial.clamp(self.mss, self.limit);
        self.set(self.initial * PARTS);
    }

    fn on_rtt(&mut self, rtt: Span) {
        self.rtt.observe(rtt);
    }

    fn on_congestion(&mut self, cause: CongestionCause) {
        match cause {
            CongestionCause::FastLoss | CongestionCause::Mark => self.set(self.window / 2),
            CongestionCause::Timeout => self.set(0),
            CongestionCause::LinkDrop => {}
        }
    }

    fn on_idle(&mut self) {
        self.set(self.window.min(self.initial * PARTS));
    }

    fn stamp(&mut self, header: &mut Header) {
        let us = self.rtt.us().min(LONGEST_RTT_US);
        let inverse = u64::from(us) * 1_000_000 * PARTS / self.window;
        let inverse_rate = u32::try_from(inverse).unwrap_or(u32::MAX);
        let sender_state = (us > 0).then_some(SenderState { rtt_us: us, inverse_rate });
        header::request(header, sender_state, self.request());
    }

    fn window_after(&self, _header: &Header) -> u64 {
        self.bytes()
    }

    fn on_feedback(&mut self, header: &Header, tcp: Option<u64>) {
        match tcp {
            // The routers with support do not see the whole path: their grants alone are no limit.
            Some(window) => self.set(window.saturating_mul(PARTS)),
            None => self.set(self.window.saturating_add_signed(i64::from(header::feedback(header)))),
        }
    }

    fn allowance(&self, tcp: Option<u64>) -> Allowance {
        Allowance { window: Some(Bytes(tcp.unwrap_or(self.bytes()))), rate: None, quantum: None }
    }
}
