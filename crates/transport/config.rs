//! Parameters of a connection: choices that the RFCs leave open, and rules that can be switched off.

use alloc::sync::Arc;
use core::ops::Deref;

use airfair_schemes::places::Allowance;
use airfair_units::{Bytes, Span};

/// The largest window that the header field can express without scaling, bytes.
const LARGEST_FIELD: u64 = 65_535;

/// Initial window of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InitialWindow {
    /// A fixed number of segments.
    Segments(u32),
    /// About 4380 bytes: two to four segments (RFC 3390 section 1, RFC 5681 section 3.1).
    Rfc3390,
    /// Ten segments, at most 14600 bytes or two segments (RFC 6928 section 2).
    Rfc6928,
}

impl InitialWindow {
    /// The initial window for segments of `mss` bytes.
    #[must_use]
    pub fn bytes(self, mss: u32) -> Bytes {
        let mss = u64::from(mss);
        Bytes(match self {
            Self::Segments(count) => u64::from(count.max(1)) * mss,
            Self::Rfc3390 => (4 * mss).min((2 * mss).max(4380)),
            Self::Rfc6928 => (10 * mss).min((2 * mss).max(14600)),
        })
    }
}

/// Rule of a receiver for delayed acknowledgements (RFC 5681 section 4.2, RFC 9293 section 3.8.6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DelayedAck {
    /// Segments after which an acknowledgement is sent at the latest; the RFCs allow two.
    pub segments: u32,
    /// Time after which an acknowledgement is sent at the latest; the RFCs allow 500 ms.
    pub timeout: Span,
    /// Number of first segments of a connection that are acknowledged at once, as in Linux; the RFCs have no such rule.
    pub quick: u32,
    /// True if `quick` segments are acknowledged at once again when data in order come after a time-out's time without any, and when data
    /// come a second time: `tcp_event_data_recv` and `tcp_enter_quickack_mode` of Linux.
    pub requick: bool,
    /// True if a full segment with PSH and a segment that is not full are acknowledged at once where the application has read everything:
    /// `tcp_measure_rcv_mss` and `tcp_cleanup_rbuf` of Linux.
    pub pushed: bool,
}

impl DelayedAck {
    /// The RFCs' rule: an acknowledgement after `segments`, and after `timeout`.
    #[must_use]
    pub const fn after(segments: u32, timeout: Span) -> Self {
        Self { segments, timeout, quick: 0, requick: false, pushed: false }
    }
}

/// Effect of partial acknowledgements on the retransmission timer (RFC 6582 section 3.2, step 3; the names: RFC 3782 section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartialAckTimer {
    /// Only the first one in a recovery restarts it: many losses end in a time-out.
    Impatient,
    /// Each one restarts it: one loss is repaired per round trip, however many there are.
    SlowButSteady,
}

/// Effect of the clock granularity on round-trip times and timers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TickMode {
    /// Measured times and time-outs are rounded up to whole ticks; a timer expires at its own time.
    RoundUp,
    /// The slow timer of 4.4BSD (`tcp_slowtimo`, `tcp_xmit_timer`): timers expire at ticks only, one of n ticks at the n-th from now and so
    /// up to a tick early; a round-trip time is the number of ticks in it, which may be zero.
    Bsd,
}

/// Parameters of a connection, the same for sender and receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpConfig {
    /// Maximum segment size as announced in the option: the payload of a segment without options, bytes, 1..=65535. A segment with
    /// timestamps carries 12 bytes less (RFC 9293 section 3.7.1, RFC 6691).
    pub mss: u32,
    /// Bytes that a host adds to the payload of a segment below the law's header: IP's and TCP's headers, its options included. Only for
    /// laws that count whole packets.
    pub headers: u32,
    /// Initial window of a connection.
    pub initial_window: InitialWindow,
    /// Largest congestion window, bytes: the sender's buffer.
    pub window_limit: u64,
    /// The sender's buffer, bytes: payload sent and not acknowledged, and payload to be sent. The application, once it has filled the
    /// buffer, writes again when a third of it is free, as under Linux (`sk_stream_write_space`). `None`: unlimited.
    pub send_buffer: Option<u64>,
    /// The receiver's buffer, bytes.
    pub receive_window: u64,
    /// True if the announced window begins with 64 KiB and grows with what the application reads in a round trip, up to `receive_window`:
    /// `tcp_rcv_space_adjust` and `tcp_grow_window` of Linux. A segment that lets it grow is acknowledged at once.
    pub window_tuning: bool,
    /// Delayed acknowledgements; `None`: each segment is acknowledged at once.
    pub delayed_ack: Option<DelayedAck>,
    /// Retransmission time-out before the first measurement (RFC 6298 section 2.1).
    pub initial_rto: Span,
    /// Retransmission time-out at the start of data after a lost SYN, if it was lower (RFC 6298 section 5.7).
    pub rto_after_syn_loss: Span,
    /// Lower bound of the retransmission time-out (RFC 6298 section 2.4).
    pub min_rto: Span,
    /// True if `min_rto` is the least distance of the time-out from the smoothed round-trip time instead of the least time-out: in Linux
    /// (`tcp_rtt_estimator`) it bounds the variation. Only with [`TickMode::RoundUp`].
    pub min_rto_beyond_rtt: bool,
    /// Upper bound of the retransmission time-out, back-off included (RFC 6298 section 2.5).
    pub max_rto: Span,
    /// Clock granularity, G in RFC 6298.
    pub tick: Span,
    /// Effect of the clock granularity on the sender's round-trip times and timers.
    pub tick_mode: TickMode,
    /// Selective acknowledgements and the recovery that uses them (RFC 2018, RFC 6675).
    pub sack: bool,
    /// True if the receiver reports duplicate data (RFC 2883); needs `sack`.
    pub duplicate_sack: bool,
    /// True if new data are sent for the first two duplicate acknowledgements (limited transmit, RFC 3042).
    pub limited_transmit: bool,
    /// Proportional rate reduction during recovery with SACK, slow-start reduction bound (RFC 6937); needs `sack`.
    /// A law without a window is not limited.
    pub prr: bool,
    /// True if a time-out or fast retransmit is undone that proves spurious: by timestamps (RFC 3522), or by the receiver's reports of
    /// duplicate data (RFC 3708); the response is that of RFC 4015. Without both nothing proves it.
    pub undo: bool,
    /// True if copies that an earlier recovery has sent, and that are on their way when a fast retransmit begins, do not prove it spurious,
    /// as in Linux (`tcp_init_undo`, `retrans_stamp`); needs `undo`. RFC 3522 and RFC 3708 know no earlier copies.
    pub undo_earlier_copies: bool,
    /// Timestamps (RFC 7323 section 3).
    pub timestamps: bool,
    /// Shift of the window field, 0..=14; 0: the option is not sent (RFC 7323 section 2).
    pub window_scale: u8,
    /// Largest window that a SYN or SYN-ACK announces, bytes: at most 65,535, since its field is never scaled (RFC 7323 section 2.2).
    /// `None`: the whole window, as if no header bounded it.
    pub syn_window: Option<u64>,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: bool,
    /// True if connections are set up by SYNs; otherwise they are open at once, with the options that both ends support.
    pub handshake: bool,
    /// True if the law is notified of idle times longer than a time-out (RFC 5681 section 4.1).
    pub idle_restart: bool,
    /// Nagle's algorithm: a segment that is not full waits until all earlier data are acknowledged (RFC 9293 section 3.7.4).
    pub nagle: bool,
    /// True if a closing sender sends a FIN.
    pub fin: bool,
    /// True if PSH ends the application's data and each packet of several segments that segmentation offload cuts, as in Linux
    /// (`__tcp_transmit_skb`). Departures are the same.
    pub push: bool,
    /// Number of duplicate acknowledgements that indicate a loss (RFC 5681 section 3.2: three).
    pub dupack_threshold: u32,
    /// True if plain Reno also uses `recover` (RFC 6582 section 3.2, step 2): a second loss in a window of data for which a fast retransmit
    /// was made waits for the timer. NewReno always does; RFC 5681 has no such rule.
    pub fast_retransmit_once: bool,
    /// Effect of partial acknowledgements on the retransmission timer.
    pub partial_ack_timer: PartialAckTimer,
    /// Number of retransmissions of a SYN before the sender gives up; `None`: unlimited.
    pub syn_retries: Option<u32>,
    /// Number of consecutive time-outs that retransmit; the next one ends the connection (RFC 9293 section 3.8.3, R2), though not
    /// before the time that so many take with timers that double, or 100 s. `None`: unlimited.
    pub retries: Option<u32>,
}

/// A configuration shared by connections, with all values in range.
#[derive(Debug, Clone)]
pub struct SharedConfig(Arc<TcpConfig>);

impl From<&TcpConfig> for SharedConfig {
    fn from(config: &TcpConfig) -> Self {
        Self(Arc::new(config.bounded()))
    }
}

impl From<&Self> for SharedConfig {
    fn from(shared: &Self) -> Self {
        shared.clone()
    }
}

impl Deref for SharedConfig {
    type Target = TcpConfig;

    #[inline]
    fn deref(&self) -> &TcpConfig {
        &self.0
    }
}

impl Default for TcpConfig {
    fn default() -> Self {
        Self::RFC
    }
}

impl TcpConfig {
    /// Values of current RFCs, without ECN, Nagle's algorithm, timestamps, D-SACK, PRR and undo.
    pub const RFC: Self = Self {
        mss: 1460,
        headers: 40,
        initial_window: InitialWindow::Rfc6928,
        window_limit: 1 << 30,
        send_buffer: None,
        receive_window: 4 << 20,
        window_tuning: false,
        delayed_ack: Some(DelayedAck::after(2, Span::from_millis(200))),
        initial_rto: Span::from_secs(1),
        rto_after_syn_loss: Span::from_secs(3),
        min_rto: Span::from_secs(1),
        min_rto_beyond_rtt: false,
        max_rto: Span::from_secs(60),
        tick: Span::from_nanos(1),
        tick_mode: TickMode::RoundUp,
        sack: true,
        duplicate_sack: false,
        limited_transmit: true,
        prr: false,
        undo: false,
        undo_earlier_copies: true,
        timestamps: false,
        window_scale: 7,
        syn_window: Some(LARGEST_FIELD),
        ecn: false,
        handshake: true,
        idle_restart: true,
        nagle: false,
        fin: true,
        push: false,
        dupack_threshold: 3,
        fast_retransmit_once: false,
        partial_ack_timer: PartialAckTimer::Impatient,
        syn_retries: Some(6),
        retries: None,
    };

    /// The configuration with every value clamped to its range.
    #[must_use]
    pub(crate) fn bounded(mut self) -> Self {
        self.mss = self.mss.clamp(1, 65_535);
        self.window_limit = self.window_limit.clamp(1, 1 << 62);
        // RFC 7323 section 2.3: a shift above 14 counts as 14.
        self.window_scale = self.window_scale.min(14);
        // A smaller buffer would be announced as zero for ever.
        self.receive_window = self.receive_window.clamp(1 << self.window_scale, 1 << 62);
        self.syn_window = self.syn_window.map(|window| window.clamp(1, LARGEST_FIELD));
        self.tick = self.tick.max(Span(1));
        self.max_rto = self.max_rto.max(Span(1));
        self.dupack_threshold = self.dupack_threshold.max(1);
        self
    }

    /// The receiver's buffer, rounded down to what a window field with shift `scale` can express, bytes (RFC 7323 section 2.2).
    pub(crate) fn whole_window(&self, scale: u8) -> u64 {
        (self.receive_window >> scale).min(LARGEST_FIELD) << scale
    }

    /// The window that a SYN or SYN-ACK announces, bytes.
    pub(crate) fn syn_announced_window(&self, window: u64) -> u64 {
        self.syn_window.map_or(window, |most| window.min(most))
    }

    /// A window of a law clamped to its maximum, bytes.
    #[inline(always)]
    pub(crate) fn within_limit(&self, allowance: &Allowance) -> u64 {
        allowance.window.map_or(u64::MAX, Bytes::get).min(self.window_limit)
    }

    /// The send buffer in whole segments of `mss` bytes, bytes; none if it is unlimited.
    #[inline(always)]
    pub(crate) fn buffer(&self, mss: u32) -> Option<u64> {
        let mss = u64::from(mss);
        self.send_buffer.map(|size| (size / mss).max(1).saturating_mul(mss))
    }

    /// `span` rounded up to whole ticks.
    pub(crate) fn ticks(&self, span: Span) -> Span {
        let tick = self.tick.0.max(1);
        Span(span.0.div_ceil(tick).saturating_mul(tick))
    }
}
