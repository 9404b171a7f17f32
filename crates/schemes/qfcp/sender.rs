//! The sender's part (§II, equations 3 and 5, duplicates and time-outs): the window is what the granted rate fills in a round trip.

use airfair_units::{Bytes, Rate, Time};

use super::header::{self, KIND};
use crate::explicit::{Fallback, Rtt, RttChoice};
use crate::places::{
    Acked, Allowance, Congestion, CongestionCause, FlowSetup, Header, HeaderKind, Idle, PartialAck, Source,
    SourceContext,
};

/// The constants of a sender.
#[derive(Debug, Clone, Copy)]
pub struct SenderConfig {
    /// The rate that it asks for, bytes/s.
    pub request: u32,
    /// Which round-trip time counts.
    pub rtt: RttChoice,
    /// Whether segments leave at the granted rate instead of as acknowledgements let them.
    pub paced: bool,
    /// What a partial acknowledgement leaves of the number of duplicates.
    pub partial_ack: PartialAck,
}

/// QFCP's sender.
#[derive(Debug, Clone)]
pub struct Sender {
    config: SenderConfig,
    mss: u64,
    rtt: Rtt,
    /// The last feedback, bytes/s; 0: there was none since the start or since a time-out.
    granted: u32,
    /// Of a connection without handshake, until the first feedback.
    initial: u64,
    fallback: Fallback,
}

impl Sender {
    /// A sender that has heard nothing.
    #[must_use]
    pub fn new(config: SenderConfig) -> Self {
        let rtt = Rtt::new(config.rtt);
        Self { config, mss: 1, rtt, granted: 0, initial: 1, fallback: Fallback::default() }
    }

    /// Equation 3, bytes. Equation 5's duplicates are what the transport adds in fast recovery.
    fn granted_window(&self) -> u64 {
        if self.granted == 0 { self.initial } else { self.rtt.times(self.granted).max(self.mss) }
    }

    /// The granted rate, but a segment in a round trip at least, as equation 3 has it: who sends nothing hears of no better rate.
    fn pace(&self) -> Rate {
        let least = self.rtt.get().map_or(0, |rtt| 8_000_000_000 * self.mss / rtt.0.max(1));
        Rate((8 * u64::from(self.granted)).max(least))
    }
}

impl Source for Sender {
    fn on_start(&mut self, setup: &FlowSetup, context: &mut SourceContext<'_>) {
        self.mss = setup.mss.get().max(1);
        self.initial = setup.initial_window.get().max(self.mss);
        setup.rtt.into_iter().for_each(|rtt| self.rtt.observe(rtt));
        self.fallback.on_start(setup, context);
    }

    fn on_acked(&mut self, acked: &Acked, context: &mut SourceContext<'_>) {
        acked.rtt.into_iter().for_each(|rtt| self.rtt.observe(rtt));
        let granted = self.granted_window();
        self.fallback.on_acked(acked, granted, context);
    }

    /// A loss slows down nobody whose routers speak; after a time-out, when nothing is heard of them, the window is one segment
    /// until the next feedback.
    fn on_congestion(&mut self, congestion: &Congestion, context: &mut SourceContext<'_>) {
        if congestion.cause == CongestionCause::Timeout {
            (self.granted, self.initial) = (0, self.mss);
        }
        self.fallback.on_congestion(congestion, context);
    }

    fn on_recovered(&mut self, in_flight: Bytes, context: &mut SourceContext<'_>) {
        self.fallback.on_recovered(in_flight, context);
    }

    fn on_idle(&mut self, idle: &Idle, context: &mut SourceContext<'_>) {
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
            self.granted = rate;
        }
        let window = self.granted_window();
        self.fallback.hear(header.missed, window, context);
    }

    fn fell_back(&self) -> bool {
        self.fallback.fell_back()
    }

    fn allowance(&self, now: Time) -> Allowance {
        let granted = self.granted_window();
        let window = self.fallback.window(now).map_or(granted, |window| window.min(granted));
        let paced = self.config.paced && self.granted > 0;
        Allowance { window: Some(Bytes(window)), rate: paced.then(|| self.pace()), quantum: None }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.fallback.ssthresh()
    }

    fn partial_ack(&self) -> PartialAck {
        if self.fallback.is_active() { PartialAck::RepairsNext } else { self.config.partial_ack }
    }
}
