//! The sender's part (§II, equations 3 and 5, duplicates and time-outs): the window is the product of the granted rate and the
//! round-trip time.

use airfair_units::{Bytes, Rate, Span};

use super::header::{self, KIND};
use crate::explicit::{ExplicitSender, Rtt, RttChoice};
use crate::places::{Allowance, CongestionCause, FlowSetup, Header, HeaderKind, PartialAck};

/// The constants of a sender.
#[derive(Debug, Clone, Copy)]
pub struct SenderConfig {
    /// The rate that it requests, bytes/s.
    pub request: u32,
    /// The round-trip time that counts.
    pub rtt: RttChoice,
    /// True if segments leave at the granted rate instead of as acknowledgements arrive.
    pub paced: bool,
    /// True if its packets state how many interfaces of the path are without support.
    pub states_support: bool,
    /// The answer to a partial acknowledgement.
    pub partial_ack: PartialAck,
}

/// QFCP's sender.
#[derive(Debug, Clone)]
pub struct QfcpSender {
    config: SenderConfig,
    mss: u64,
    rtt: Rtt,
    /// The last feedback, bytes/s; 0: none since the start or since a time-out.
    granted: u32,
    /// The window before the first feedback, bytes.
    initial: u64,
    /// Interfaces of the path without support, by the last feedback.
    unsupported: u8,
}

impl QfcpSender {
    /// A sender before its first feedback.
    #[must_use]
    pub fn new(config: SenderConfig) -> Self {
        let rtt = Rtt::new(config.rtt);
        Self { config, mss: 1, rtt, granted: 0, initial: 1, unsupported: 0 }
    }

    /// Equation 3, bytes. Equation 5 adds num_dupACK in fast recovery: the transport does it (`airfair-transport`,
    /// `sender/loss.rs` and `sender/output.rs`), as [`PartialAck`] says.
    fn window(&self, granted: u32) -> u64 {
        if granted == 0 { self.initial } else { self.rtt.times(granted).max(self.mss) }
    }

    /// The granted rate, at least a segment in a round trip, as in equation 3: a sender that sends nothing would get no new grant. None
    /// before a grant or a round-trip time is known: the window is then a segment, and a pace of next to nothing would hold the flow for
    /// minutes.
    fn pace(&self) -> Option<Rate> {
        let rtt = self.rtt.get().filter(|_| self.granted > 0)?;
        Some(Rate((8 * u64::from(self.granted)).max(8_000_000_000 * self.mss / rtt.0.max(1))))
    }
}

impl ExplicitSender for QfcpSender {
    const HEADER: &'static HeaderKind = &KIND;

    fn on_start(&mut self, setup: &FlowSetup) {
        self.mss = setup.mss.get().max(1);
        self.initial = setup.initial_window.get().max(self.mss);
    }

    fn on_rtt(&mut self, rtt: Span) {
        self.rtt.observe(rtt);
    }

    /// A loss slows down no sender whose routers support the scheme; after a time-out, when no router is heard, the window is one segment
    /// until the next feedback.
    fn on_congestion(&mut self, cause: CongestionCause) {
        if cause == CongestionCause::Timeout {
            (self.granted, self.initial) = (0, self.mss);
        }
    }

    fn stamp(&mut self, header: &mut Header) {
        header::request(header, self.rtt.us(), self.config.request);
        if self.config.states_support {
            header.unsupported = self.unsupported;
        }
    }

    fn window_after(&self, header: &Header) -> u64 {
        self.window(header::feedback(header).unwrap_or(self.granted))
    }

    fn on_feedback(&mut self, header: &Header, _tcp: Option<u64>) {
        self.unsupported = header.unsupported;
        if let Some(rate) = header::feedback(header) {
            self.granted = rate;
        }
    }

    fn allowance(&self, tcp: Option<u64>) -> Allowance {
        let window = self.window(self.granted).min(tcp.unwrap_or(u64::MAX));
        // TCP's law, where it is in charge, is clocked by acknowledgements.
        let paced = self.config.paced && tcp.is_none();
        Allowance { window: Some(Bytes(window)), rate: self.pace().filter(|_| paced), quantum: None }
    }

    fn partial_ack(&self) -> PartialAck {
        self.config.partial_ack
    }
}
