//! The sender of an explicit-rate scheme with TCP's law beside it: a decorator that makes a [`Source`] of an [`ExplicitSender`].

use airfair_units::{Bytes, Span, Time};

use super::Fallback;
use crate::places::{
    Acked, Allowance, Congestion, CongestionCause, FlowSetup, Header, HeaderKind, Idle, PartialAck, Source,
    SourceContext, Spurious,
};

/// The part of a sender that keeps to the grants of routers; all windows in bytes.
pub trait ExplicitSender: Send {
    /// The header of its packets.
    const HEADER: &'static HeaderKind;

    /// The connection is established.
    fn on_start(&mut self, setup: &FlowSetup);

    /// A sample of the round-trip time.
    fn on_rtt(&mut self, rtt: Span);

    /// Congestion is detected; the scheme decides whether its window shrinks.
    fn on_congestion(&mut self, cause: CongestionCause);

    /// The source is about to send after a silence.
    fn on_idle(&mut self) {}

    /// Fills the empty header of a packet that leaves.
    fn stamp(&mut self, header: &mut Header);

    /// The window with which TCP's law goes on when this feedback shows a router without support.
    fn window_after(&self, header: &Header) -> u64;

    /// The feedback of an acknowledgement; `tcp` is the window of TCP's law while it is in charge.
    fn on_feedback(&mut self, header: &Header, tcp: Option<u64>);

    /// The window, rate and quantum that are allowed; `tcp` as above.
    fn allowance(&self, tcp: Option<u64>) -> Allowance;

    /// The transport's answer to a partial acknowledgement while TCP's law is not in charge.
    fn partial_ack(&self) -> PartialAck {
        PartialAck::RepairsNext
    }
}

/// An [`ExplicitSender`] and its [`Fallback`] as one source.
#[derive(Debug, Clone)]
pub struct WithFallback<S> {
    sender: S,
    fallback: Fallback,
    /// While TCP's law is in charge, only one packet in this time carries a header; 0: all do.
    asks_every: Span,
    /// The time of the last packet with a header since TCP's law is in charge.
    asked: Option<Time>,
}

impl<S> WithFallback<S> {
    /// A source that follows `sender`; while feedback counts interfaces without support it runs TCP's law as well and passes its window to
    /// [`ExplicitSender::allowance`].
    pub fn new(sender: S) -> Self {
        Self { sender, fallback: Fallback::default(), asks_every: Span::ZERO, asked: None }
    }

    /// True if congestion takes no grant: TCP's law alone answers it, and the next feedback may be as far off as `asks_every`.
    fn keeps_grant(&self) -> bool {
        self.asks_every > Span::ZERO && self.fallback.is_active()
    }

    /// The same source with this fallback, under which one packet in `asks_every` carries a header.
    #[must_use]
    pub fn falling_back(self, fallback: Fallback, asks_every: Span) -> Self {
        Self { fallback, asks_every, ..self }
    }
}

impl<S: ExplicitSender> Source for WithFallback<S> {
    fn on_start(&mut self, setup: &FlowSetup, context: &mut SourceContext<'_>) {
        self.sender.on_start(setup);
        setup.rtt.into_iter().for_each(|rtt| self.sender.on_rtt(rtt));
        self.fallback.on_start(setup, context);
    }

    fn on_acked(&mut self, acked: &Acked, context: &mut SourceContext<'_>) {
        acked.rtt.into_iter().for_each(|rtt| self.sender.on_rtt(rtt));
        let granted = self.sender.allowance(Some(u64::MAX)).window.map_or(u64::MAX, Bytes::get);
        self.fallback.on_acked(acked, granted, context);
    }

    fn on_congestion(&mut self, congestion: &Congestion, context: &mut SourceContext<'_>) {
        if self.keeps_grant() {
            // The path may have changed: the next packet asks.
            self.asked = self.asked.filter(|_| congestion.cause != CongestionCause::Timeout);
        } else {
            self.sender.on_congestion(congestion.cause);
        }
        self.fallback.on_congestion(congestion, context);
    }

    fn on_spurious(&mut self, spurious: &Spurious, context: &mut SourceContext<'_>) {
        self.fallback.on_spurious(spurious, context);
    }

    fn on_recovered(&mut self, in_flight: Bytes, context: &mut SourceContext<'_>) {
        self.fallback.on_recovered(in_flight, context);
    }

    fn on_idle(&mut self, idle: &Idle, context: &mut SourceContext<'_>) {
        self.sender.on_idle();
        self.fallback.on_idle(idle, context);
    }

    fn header(&self) -> Option<&'static HeaderKind> {
        Some(S::HEADER)
    }

    fn carries_header(&mut self, now: Time) -> bool {
        if !self.fallback.is_active() {
            self.asked = None;
            return true;
        }
        let asks = self.asked.is_none_or(|asked| now >= asked.saturating_add(self.asks_every));
        if asks {
            self.asked = Some(now);
        }
        asks
    }

    fn stamp(&mut self, header: &mut Header, _now: Time) {
        self.sender.stamp(header);
    }

    fn on_feedback(&mut self, header: &Header, context: &mut SourceContext<'_>) {
        self.fallback.on_feedback(header.unsupported, self.sender.window_after(header), context);
        self.sender.on_feedback(header, self.fallback.window(context.now));
    }

    fn fell_back(&self) -> bool {
        self.fallback.fell_back()
    }

    fn allowance(&self, now: Time) -> Allowance {
        self.sender.allowance(self.fallback.window(now))
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.fallback.ssthresh()
    }

    fn partial_ack(&self) -> PartialAck {
        if self.fallback.is_active() { PartialAck::RepairsNext } else { self.sender.partial_ack() }
    }
}
