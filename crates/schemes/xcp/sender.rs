//! XCP's sender: its window changes by what routers hand back [XCP §3.2], and at a loss as TCP's.

use airfair_units::{Bytes, Time};

use super::header::{self, KIND, LONGEST_RTT_US, PARTS, Sending};
use crate::explicit::{Fallback, Rtt, RttChoice};
use crate::places::{
    Acked, Allowance, Congestion, CongestionCause, FlowSetup, Header, HeaderKind, Idle, Source, SourceContext,
};

/// No window is larger, bytes.
const LARGEST: u64 = 1 << 40;

/// The constants of a sender.
#[derive(Debug, Clone, Copy)]
pub struct SenderConfig {
    /// The rate that it wishes to reach, bytes/s; `None`: as much as its window may hold.
    pub wish: Option<u32>,
    /// Which round-trip time counts.
    pub rtt: RttChoice,
}

/// XCP's sender.
#[derive(Debug, Clone)]
pub struct Sender {
    config: SenderConfig,
    mss: u64,
    initial: u64,
    limit: u64,
    /// 1/256 byte.
    window: u64,
    rtt: Rtt,
    fallback: Fallback,
}

impl Sender {
    /// A sender that has heard nothing.
    #[must_use]
    pub fn new(config: SenderConfig) -> Self {
        let rtt = Rtt::new(config.rtt);
        Self { config, mss: 1, initial: 1, limit: 1, window: PARTS, rtt, fallback: Fallback::default() }
    }

    /// cwnd, bytes.
    const fn bytes(&self) -> u64 {
        self.window / PARTS
    }

    /// Sets cwnd, 1/256 byte: one segment at least.
    fn set(&mut self, parts: u64) {
        self.window = parts.clamp(self.mss * PARTS, self.limit * PARTS);
    }

    /// What a packet asks for, 1/256 byte: so much that all packets of a window together bring what is wished.
    fn wish(&self) -> i32 {
        let target = self.config.wish.map_or(self.limit, |rate| self.rtt.times(rate).min(self.limit));
        let window = self.bytes().cast_signed();
        let missing = target.cast_signed() - window;
        // Windows are below 2^40, segments below 2^16.
        let packet = missing * self.mss.cast_signed() / window.max(1);
        let parts = packet.saturating_mul(PARTS.cast_signed());
        parts.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
    }
}

impl Source for Sender {
    fn on_start(&mut self, setup: &FlowSetup, context: &mut SourceContext<'_>) {
        self.mss = setup.mss.get().clamp(1, 1 << 16);
        self.limit = setup.window_limit.get().clamp(self.mss, LARGEST);
        self.initial = if setup.syn_lost { self.mss } else { setup.initial_window.get() };
        self.initial = self.initial.clamp(self.mss, self.limit);
        self.set(self.initial * PARTS);
        setup.rtt.into_iter().for_each(|rtt| self.rtt.observe(rtt));
        self.fallback.on_start(setup, context);
    }

    fn on_acked(&mut self, acked: &Acked, context: &mut SourceContext<'_>) {
        acked.rtt.into_iter().for_each(|rtt| self.rtt.observe(rtt));
        self.fallback.on_acked(acked, u64::MAX, context);
    }

    fn on_congestion(&mut self, congestion: &Congestion, context: &mut SourceContext<'_>) {
        match congestion.cause {
            CongestionCause::FastLoss | CongestionCause::Mark => self.set(self.window / 2),
            CongestionCause::Timeout => self.set(0),
            CongestionCause::LinkDrop => {}
        }
        self.fallback.on_congestion(congestion, context);
    }

    fn on_recovered(&mut self, in_flight: Bytes, context: &mut SourceContext<'_>) {
        self.fallback.on_recovered(in_flight, context);
    }

    fn on_idle(&mut self, idle: &Idle, context: &mut SourceContext<'_>) {
        self.set(self.window.min(self.initial * PARTS));
        self.fallback.on_idle(idle, context);
    }

    fn header(&self) -> Option<&'static HeaderKind> {
        Some(&KIND)
    }

    fn stamp(&mut self, header: &mut Header, _now: Time) {
        let us = self.rtt.us().min(LONGEST_RTT_US);
        let inverse = u64::from(us) * 1_000_000 * PARTS / self.window;
        let inverse_rate = u32::try_from(inverse).unwrap_or(u32::MAX);
        let sending = (us > 0).then_some(Sending { rtt_us: us, inverse_rate });
        header::request(header, sending, self.wish());
    }

    fn on_feedback(&mut self, header: &Header, context: &mut SourceContext<'_>) {
        let before = self.bytes();
        self.fallback.hear(header.missed, before, context);
        match self.fallback.window(context.now) {
            // The routers that speak do not see the whole path: what they grant is not enough to go by.
            Some(window) => self.set(window.saturating_mul(PARTS)),
            None => self.set(self.window.saturating_add_signed(i64::from(header::feedback(header)))),
        }
    }

    fn fell_back(&self) -> bool {
        self.fallback.fell_back()
    }

    fn allowance(&self, now: Time) -> Allowance {
        let window = self.fallback.window(now).unwrap_or(self.bytes());
        Allowance { window: Some(Bytes(window)), rate: None, quantum: None }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.fallback.ssthresh()
    }
}
