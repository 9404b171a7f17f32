//! The source of a flow: the law of its window and rate.

use airfair_units::{Bytes, Rate, Span, Time};

use super::{Header, HeaderKind, Interface, SourceContext, Timer};

/// The setup of a source, before the first segment or datagram of its flow leaves.
#[derive(Debug, Clone, Copy)]
pub struct FlowSetup {
    /// Largest payload of a segment (RFC 9293's effective send MSS without options); for UDP the mean payload of a datagram.
    pub mss: Bytes,
    /// The headers of a packet with payload, from IP's header to the law's own, as the host counts them.
    pub headers: Bytes,
    /// The initial window that the flow may use (RFC 5681, 3390, 6928).
    pub initial_window: Bytes,
    /// Largest window that the source may grow to (the sender's buffer); for UDP the largest number, since there is no window.
    pub window_limit: Bytes,
    /// Round-trip time measured by the connection set-up, if there was one.
    pub rtt: Option<Span>,
    /// The SYN or its answer was lost: the window starts at one segment (RFC 5681 section 3.1).
    pub syn_lost: bool,
    /// Nominal rate of the link to the first hop, or where no route is known of the node's fastest, if the host knows it: a larger rate of
    /// the flow has no use.
    pub link: Option<Rate>,
}

/// A segment with payload left the source.
#[derive(Debug, Clone, Copy)]
pub struct Sent {
    /// Payload.
    pub bytes: Bytes,
    /// In flight after it; 0 for UDP, which does not know.
    pub in_flight: Bytes,
    /// True if it repeats earlier data.
    pub retransmission: bool,
}

/// The delivery rate while one segment was in flight (draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateSample {
    /// Payload delivered over the interval.
    pub delivered: Bytes,
    /// The longer of its send and its acknowledgement interval.
    pub interval: Span,
    /// The source had nothing more to send when the segment left.
    pub app_limited: bool,
}

impl RateSample {
    /// The delivered bytes over the interval.
    #[must_use]
    pub fn rate(&self) -> Rate {
        let bits = u128::from(self.delivered.get()) * 8 * 1_000_000_000;
        Rate(u64::try_from(bits / u128::from(self.interval.as_nanos().max(1))).unwrap_or(u64::MAX))
    }
}

/// An acknowledgement arrived that acknowledges something new, cumulatively or selectively.
#[derive(Debug, Clone, Copy)]
pub struct Acked {
    /// Newly acknowledged payload, cumulative and selective.
    pub bytes: Bytes,
    /// Payload below the cumulative acknowledgement that this one adds.
    pub cumulative: Bytes,
    /// Payload found lost since the last call.
    pub lost: Bytes,
    /// In flight before this acknowledgement was counted.
    pub prior_in_flight: Bytes,
    /// In flight after it.
    pub in_flight: Bytes,
    /// Round-trip time of the newest segment acknowledged, if it may be measured (Karn).
    pub rtt: Option<Span>,
    /// Delivery rate of the newest segment acknowledged.
    pub rate_sample: Option<RateSample>,
    /// A round trip has ended with this acknowledgement: data that was sent after the end of the last one is acknowledged.
    pub round_ended: bool,
    /// The window was full since the last acknowledgement: only then may it grow.
    pub window_limited: bool,
    /// Lost data is being repaired: the window does not grow (fast recovery, not slow start after a time-out).
    pub in_recovery: bool,
    /// When the newest segment acknowledged was sent.
    pub sent_at: Time,
}

/// The cause of a congestion event; causes are never merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CongestionCause {
    /// Loss found by duplicate acknowledgements or SACK.
    FastLoss,
    /// The retransmission timer expired.
    Timeout,
    /// The receiver echoed a congestion mark.
    Mark,
    /// The node's own link layer dropped a packet.
    LinkDrop,
}

/// A congestion event; at most one a round trip for each cause but `Timeout`.
#[derive(Debug, Clone, Copy)]
pub struct Congestion {
    /// The cause.
    pub cause: CongestionCause,
    /// In flight when it was noticed: RFC 5681's FlightSize, what is sent and not cumulatively acknowledged.
    pub in_flight: Bytes,
    /// Of that, in the network by the transport's estimate (RFC 6675's pipe).
    pub pipe: Bytes,
    /// A time-out of a segment that a time-out has sent again before: ssthresh stays (RFC 5681 section 3.1, equation 4).
    pub repeated: bool,
}

/// A time-out or fast retransmit has proved spurious: nothing was lost (RFC 3522, RFC 3708).
#[derive(Debug, Clone, Copy)]
pub struct Spurious {
    /// `Timeout` or `FastLoss`: the cause of the last such event that was not a repeated one, which is taken back.
    pub cause: CongestionCause,
    /// In flight now: RFC 5681's FlightSize.
    pub in_flight: Bytes,
    /// Payload below the cumulative acknowledgement that the acknowledgement adds with which this was detected.
    pub acked: Bytes,
}

/// The source was silent for longer than a retransmission time-out and is about to send again (RFC 5681 section 4.1).
#[derive(Debug, Clone, Copy)]
pub struct Idle {
    /// The length of the silence.
    pub span: Span,
    /// The retransmission time-out.
    pub rto: Span,
}

/// Packets that wait at a node for a destination.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Of all flows.
    pub all: u32,
    /// Of flows that begin at the node: without those that it passes on.
    pub own: u32,
    /// The interface at which they wait; none without a route.
    pub at: Option<Interface>,
    /// When nodes that starve called last, as far as the queue there knows ([`LabelledQueue::calls`](super::LabelledQueue::calls)).
    pub calls: Calls,
}

/// When nodes that starve called last ([`Setting::Starving`](super::Setting::Starving)). `None`: never.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Calls {
    /// Nodes near here to which no flow of the node goes.
    pub near: Option<Time>,
    /// The node itself, or one to which a flow of it goes.
    pub for_us: Option<Time>,
}

/// The present limits of a source. UDP has no window and no bursts: of its limits only the rate counts, and without a rate nothing leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Most payload in flight; `None`: the scheme sets no limit.
    pub window: Option<Bytes>,
    /// Pacing rate of payload; `None`: not paced.
    pub rate: Option<Rate>,
    /// Most payload that leaves at once when paced; `None`: one segment.
    pub quantum: Option<Bytes>,
}

/// The transport's answer, without SACK, to an acknowledgement of a part of the lost data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartialAck {
    /// Fast recovery ends (Reno, RFC 5681).
    EndsRecovery,
    /// The next hole is sent again, and the window is deflated (NewReno, RFC 6582).
    RepairsNext,
    /// The next hole is sent again, and the window keeps the segments that duplicates have added until all data is acknowledged
    /// (QFCP §II, equation 5).
    RepairsUndeflated,
}

/// A window law or rate law. The transport repairs losses; the source sets the window and the rate.
///
/// The order of calls over TCP: `on_start` once; then, for each acknowledgement, `on_congestion` for the congestion that it reveals
/// before `on_acked` for the data that it acknowledges; before both `on_spurious`, if it takes congestion back; `on_recovered` when all
/// data is acknowledged that was outstanding when the loss was noticed.
///
/// Over UDP ([`Scheme::udp`](crate::Scheme::udp)): `on_start` once; `stamp` and `on_sent` for each datagram; `on_report` for each report
/// of the flow's [`Receiver`](super::Receiver) that arrives; `on_timer`. Nothing is acknowledged, and nothing is repaired.
pub trait Source: Send {
    /// The connection is established, or the flow over UDP starts; data may leave.
    fn on_start(&mut self, setup: &FlowSetup, context: &mut SourceContext<'_>);

    /// A segment or datagram with payload left.
    fn on_sent(&mut self, _sent: &Sent, _context: &mut SourceContext<'_>) {}

    /// An acknowledgement of something new arrived. TCP only.
    fn on_acked(&mut self, _acked: &Acked, _context: &mut SourceContext<'_>) {}

    /// Congestion was noticed. TCP only.
    fn on_congestion(&mut self, _congestion: &Congestion, _context: &mut SourceContext<'_>) {}

    /// The last time-out or fast retransmit was spurious; without an effect here the window stays as congestion left it. TCP only.
    fn on_spurious(&mut self, _spurious: &Spurious, _context: &mut SourceContext<'_>) {}

    /// Fast recovery has ended; `in_flight` is what is left.
    fn on_recovered(&mut self, _in_flight: Bytes, _context: &mut SourceContext<'_>) {}

    /// The source is about to send after a silence.
    fn on_idle(&mut self, _idle: &Idle, _context: &mut SourceContext<'_>) {}

    /// The header that its packets carry (XCP, RCP, QFCP, C3L, TFRC, DiffQ). Called once.
    fn header(&self) -> Option<&'static HeaderKind> {
        None
    }

    /// False if the packet about to leave goes without the header, and is smaller by it; `stamp` is then not called. The receiver's
    /// acknowledgements carry one only after packets with one. TCP only.
    fn carries_header(&mut self, _now: Time) -> bool {
        true
    }

    /// Fills the header of a packet about to leave, which is empty.
    fn stamp(&mut self, _header: &mut Header, _now: Time) {}

    /// Packets that wait at the node for the flow's destination: called before each `on_timer`, if the scheme wants
    /// [`Capability::OwnQueue`](super::Capability::OwnQueue).
    fn on_own_queue(&mut self, _waiting: &Waiting) {}

    /// True if the law goes by the queue that it reads, which may then fill; false: the host's own limits hold. Called after each
    /// `on_own_queue`.
    fn goes_by_own_queue(&self) -> bool {
        true
    }

    /// True if datagrams of the flow can be marked (ECT). UDP only; TCP negotiates ECN.
    fn ecn_capable(&self) -> bool {
        false
    }

    /// The receiver echoed the header that routers wrote: called for each acknowledgement, the SYN's and duplicates included, before
    /// the other hooks of the acknowledgement. TCP only.
    fn on_feedback(&mut self, _header: &Header, _context: &mut SourceContext<'_>) {}

    /// A report of the flow's receiver arrived: any bytes, in whatever order the network delivers. UDP only.
    fn on_report(&mut self, _report: &[u8], _context: &mut SourceContext<'_>) {}

    /// True if the source has followed TCP's law because a router did not support its scheme.
    fn fell_back(&self) -> bool {
        false
    }

    /// A timer fired.
    fn on_timer(&mut self, _timer: Timer, _context: &mut SourceContext<'_>) {}

    /// The limits at the time `now`.
    fn allowance(&self, now: Time) -> Allowance;

    /// Slow-start threshold, for traces: `None` where the law has none.
    fn ssthresh(&self) -> Option<Bytes> {
        None
    }

    /// False if a time-out does not double the next one: a source that was granted a rate may use it for what is lost, too. RFC 6298
    /// section 5.5 doubles because the sender does not know what its path carries. TCP only. After a timer of the law, a time-out that was
    /// doubled before ends as if it had not been.
    fn doubles_timer(&self) -> bool {
        true
    }

    /// The transport's answer to a partial acknowledgement without SACK.
    fn partial_ack(&self) -> PartialAck {
        PartialAck::RepairsNext
    }
}
