//! The window of a source over TCP by its path (ours): DiffQ-TCP has none (§6.1), and what a source without one has sent fills the relays.
//!
//! | quantity | here |
//! |---|---|
//! | alpha, packets of the flow that wait on the way | `WindowConfig::segments` |
//! | W = W baseRTT / RTT + alpha, once a round trip (FAST TCP, equation 3 with gamma = 1) | [`PathWindow::round_over`] |
//!
//! Source: Wei, Jin, Low, Hegde, "FAST TCP: Motivation, Architecture, Algorithms, Performance", IEEE/ACM Transactions on Networking 14(6),
//! 2006, of which the paper cites the version of INFOCOM 2004 for its wired rivals.

use airfair_units::{Bytes, Span};

use crate::places::{
    Acked, Allowance, Congestion, FlowSetup, Header, Idle, Source, SourceContext, Spurious,
};
use crate::reno::Reno;

use super::trailer;

/// The constants of the window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowConfig {
    /// Packets of the flow that wait on the way; 0: there is no window.
    pub segments: u32,
    /// exp
    pub per_hop: f64,
    /// exp
    pub least: f64,
    /// exp
    pub mixed: bool,
}

/// The window.
#[derive(Debug, Clone)]
pub struct PathWindow {
    config: WindowConfig,
    mss: f64,
    bytes: f64,
    base: Option<Span>,
    round: Option<Span>,
    /// Hops with DiffQ's queues and hops without, as the receiver has counted them.
    hops: Option<(u8, u8)>,
    /// The law of paths without DiffQ.
    wired: Reno,
    /// exp
    cap: f64,
    entry: Option<u32>,
}

impl PathWindow {
    pub fn new(config: WindowConfig, wired: Reno) -> Self {
        Self { config, mss: 1.0, bytes: 1.0, base: None, round: None, hops: None, wired, cap: f64::MAX, entry: None }
    }

    /// True on a path where no queue is DiffQ's.
    pub fn steps_aside(&self) -> bool {
        matches!(self.hops, Some((0, _)))
    }

    pub fn radio_hops(&self) -> u8 {
        self.hops.map_or(1, |(radio, _)| radio.max(1))
    }

    fn by_tcp(&self) -> bool {
        match self.hops {
            Some((0, _)) => true,
            Some((_, 0)) | None => false,
            Some(_) => self.config.mixed,
        }
    }

    fn alpha(&self) -> f64 {
        let hops = self.hops.map_or(1, |(radio, _)| radio);
        (f64::from(self.config.segments) + self.config.per_hop * f64::from(hops.saturating_sub(1))).max(1.0) * self.mss
    }

    pub fn start(&mut self, setup: &FlowSetup, context: &mut SourceContext<'_>) {
        self.mss = setup.mss.get() as f64;
        self.bytes = self.alpha().max(self.config.least*self.mss);
        self.wired.on_start(setup, context);
    }

    pub fn feedback(&mut self, header: &Header, entry: u32) {
        let hops = trailer::echoed_hops(header);
        if hops != (0, 0) {
            self.hops = Some(hops);
            self.entry = Some(self.entry.map_or(entry, |least| least.min(entry)));
        }
    }

    pub fn acked(&mut self, acked: &Acked, context: &mut SourceContext<'_>) {
        if self.by_tcp() {
            self.wired.on_acked(acked, context);
        }
        if let Some(rtt) = acked.rtt {
            self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
            self.round = Some(self.round.map_or(rtt, |least| least.min(rtt)));
        }
        if acked.round_ended && self.by_tcp() {
            let now = self.wired_window();
            let excess = f64::from(self.entry.take().unwrap_or(0)) * self.mss - self.alpha();
            if excess > 0.0 {
                self.cap = (now.min(self.cap) - (excess / 2.0).max(self.mss)).max(self.config.least * self.mss);
            } else if self.cap < now {
                self.cap += self.mss;
            }
        }
        if acked.round_ended {
            if let (Some(base), Some(round)) = (self.base, self.round.take()) {
                let kept = self.bytes * (base.as_nanos() as f64) / (round.as_nanos().max(1) as f64);
                let next = kept + self.alpha();
                let next = if acked.window_limited { next.min(2.0 * self.bytes) } else { next.min(self.bytes) };
                self.bytes = next.max(self.alpha()).max(self.config.least*self.mss);
            }
        }
    }

    pub fn congestion(&mut self, congestion: &Congestion, context: &mut SourceContext<'_>) {
        if self.by_tcp() {
            self.wired.on_congestion(congestion, context);
        }
    }

    pub fn spurious(&mut self, spurious: &Spurious, context: &mut SourceContext<'_>) {
        if self.by_tcp() {
            self.wired.on_spurious(spurious, context);
        }
    }

    pub fn recovered(&mut self, in_flight: Bytes, context: &mut SourceContext<'_>) {
        if self.by_tcp() {
            self.wired.on_recovered(in_flight, context);
        }
    }

    pub fn idle(&mut self, idle: &Idle, context: &mut SourceContext<'_>) {
        if self.by_tcp() {
            self.wired.on_idle(idle, context);
        }
    }

    fn wired_window(&self) -> f64 {
        self.wired.allowance(airfair_units::Time::ZERO).window.map_or(f64::MAX, |window| window.get() as f64)
    }

    pub fn allowance(&self, rate: Option<airfair_units::Rate>, now: airfair_units::Time) -> Allowance {
        if self.steps_aside() {
            return self.wired.allowance(now);
        }
        let bytes = if self.by_tcp() {
            self.wired_window().min(self.cap).max(self.config.least * self.mss)
        } else {
            self.bytes
        };
        Allowance { window: Some(Bytes(bytes as u64)), rate, quantum: None }
    }
}
