//! The source of a flow: how much may be in flight, and how fast.

use airfair_units::{Bytes, Rate, Span, Time};

use super::{Context, Header};

/// A segment left the source.
#[derive(Debug, Clone, Copy)]
pub struct Sent {
    /// Payload.
    pub bytes: Bytes,
    /// In flight after it.
    pub in_flight: Bytes,
    /// It repeats earlier data.
    pub retransmission: bool,
}

/// An acknowledgement arrived.
#[derive(Debug, Clone, Copy)]
pub struct Acked {
    /// Newly acknowledged payload, cumulative and selective.
    pub bytes: Bytes,
    /// In flight after it.
    pub in_flight: Bytes,
    /// Round-trip time of the newest segment acknowledged, if it may be measured (Karn).
    pub rtt: Option<Span>,
    /// Delivery rate over the last round, computed once by the transport.
    pub delivery_rate: Option<Rate>,
    /// The source had nothing more to send while this was in flight.
    pub app_limited: bool,
    /// A round trip has ended with this acknowledgement.
    pub round_ended: bool,
    /// When the newest segment acknowledged was sent.
    pub sent_at: Time,
}

/// Why a source is told of congestion: separate causes, never merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CongestionCause {
    /// Loss found by duplicate acknowledgements or SACK.
    FastLoss,
    /// The retransmission timer expired.
    Timeout,
    /// The receiver echoed a congestion mark.
    Mark,
    /// The own node's link layer gave a packet up.
    LinkDrop,
}

/// A congestion event; at most one a round trip for each cause but `Timeout`.
#[derive(Debug, Clone, Copy)]
pub struct Congestion {
    /// Its cause.
    pub cause: CongestionCause,
    /// In flight when it was noticed.
    pub in_flight: Bytes,
}

/// What a source may do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Most payload in flight; `None`: no limit of the scheme's.
    pub window: Option<Bytes>,
    /// Pacing rate of payload; `None`: not paced.
    pub rate: Option<Rate>,
}

/// A window law or rate law. Loss recovery is not its business: the transport repairs, the source sets the pace.
pub trait Source: Send {
    /// A segment left.
    fn on_sent(&mut self, _sent: &Sent, _context: &mut Context<'_>) {}

    /// An acknowledgement arrived.
    fn on_acked(&mut self, acked: &Acked, context: &mut Context<'_>);

    /// Congestion was noticed.
    fn on_congestion(&mut self, congestion: &Congestion, context: &mut Context<'_>);

    /// The receiver echoed the header that routers wrote (XCP, RCP, QFCP, C3L).
    fn on_feedback(&mut self, _header: &Header, _context: &mut Context<'_>) {}

    /// Packets of this flow that wait in the node's own queue (DiffQ).
    fn on_own_queue(&mut self, _packets: u32, _context: &mut Context<'_>) {}

    /// A timer fired.
    fn on_timer(&mut self, _timer: super::Timer, _context: &mut Context<'_>) {}

    /// Fills the scheme's header of a segment about to leave.
    fn stamp(&mut self, _header: &mut Header) {}

    /// What is allowed now.
    fn allowance(&self, now: Time) -> Allowance;
}
