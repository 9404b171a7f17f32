//! The sender of a connection, which opens it.

mod ack;
mod handshake;
mod limit;
mod loss;
mod output;
mod stats;
mod timers;
mod undo;

use alloc::boxed::Box;

use airfair_schemes::places::{
    Allowance, Congestion, CongestionCause, Header, HeaderKind, Source, SourceContext,
};
use airfair_units::{Bytes, Rate, Span, Time};

use crate::delivery::DeliveryRate;
use crate::ecn::Reductions;
use crate::pacing::Pacer;
use crate::prr::Prr;
use crate::rtt::{Before, RttEstimator};
use crate::scoreboard::Scoreboard;
use crate::{Segment, SharedConfig};
use undo::Undo;

pub use limit::Limit;
pub use stats::SenderStats;

/// Largest payload that an application may write, bytes: no sequence number overflows.
const ENDLESS: u64 = 1 << 62;

/// State of a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not opened.
    Closed,
    /// The SYN was sent and is not answered.
    SynSent,
    /// Data may be sent, and no loss is assumed.
    Open,
    /// Fast recovery.
    Recovery,
    /// Data that were outstanding at a time-out are retransmitted.
    Loss,
    /// Given up after too many time-outs.
    Failed,
}

/// The sender of a connection's data, which opens the connection.
pub struct Sender {
    config: SharedConfig,
    law: Box<dyn Source>,
    state: State,
    board: Scoreboard,
    rtt: RttEstimator,
    delivery: DeliveryRate,
    pacer: Pacer,
    reductions: Reductions,
    stats: SenderStats,

    /// SND.UNA: the first unacknowledged sequence number.
    una: u64,
    /// SND.NXT: the next new sequence number. It never decreases: retransmissions are marked in the scoreboard.
    next: u64,
    /// Sequence number after the highest one in a window probe.
    probed_to: u64,
    /// Payload provided by the application, bytes.
    written: u64,
    /// The sequence number up to which the send buffer has room; the largest number if it is unlimited.
    filled: u64,
    /// True if the application provides no more data.
    closed: bool,
    /// Largest payload of a segment, options subtracted, bytes: SMSS of RFC 5681.
    mss: u32,
    /// SND.WND, bytes.
    peer_window: u64,
    /// Max(SND.WND), bytes.
    largest_window: u64,
    /// True if both ends support selective acknowledgements.
    sack: bool,
    /// True if both ends support timestamps.
    timestamps: bool,
    /// True if both ends support ECN.
    ecn: bool,
    /// The last timestamp received.
    ts_recent: u32,

    /// Number of consecutive duplicate acknowledgements.
    dupacks: u32,
    /// Without SACK: bytes beyond the first segment that have arrived according to duplicate acknowledgements, whichever they are.
    arrived: u64,
    /// Bytes sent by limited transmit (RFC 3042): not part of FlightSize (RFC 5681 section 3.2, step 2).
    limited: u64,
    /// `recover` of RFC 6582 and RecoveryPoint of RFC 6675, exclusive: SND.NXT at the detection of a loss.
    recover: u64,
    /// Bytes that fast recovery without SACK adds to the law's window; partial acknowledgements can make it negative.
    inflation: i64,
    /// True if a partial acknowledgement has restarted the timer in this recovery.
    partial_seen: bool,
    /// True if a segment must be retransmitted whatever the window is.
    retransmit_head_now: bool,
    /// RescueRxt of RFC 6675, exclusive.
    rescue: u64,
    /// Proportional rate reduction during a recovery, and the window that it set last, bytes.
    prr: Option<(Prr, u64)>,
    /// Payload assumed lost since the last notification of the law, bytes.
    lost_unreported: u64,
    /// True if fast recovery has ended and the law is not notified yet.
    recovery_end_unreported: bool,
    /// The last time-out or fast retransmit, while it may prove spurious.
    undo: Option<Box<Undo>>,
    /// Timestamp clock at the first retransmission since the last time-out or fast retransmit before which none was outstanding.
    resent_since: Option<u32>,
    /// After a spurious time-out: the averages before it, and SND.NXT at its detection. Measurements of data beyond adapt the time-out.
    settling: Option<(Before, u64)>,

    /// Expiry of the retransmission timer.
    rto_at: Option<Time>,
    /// Time-outs since the last new acknowledgement.
    expiries: u32,
    /// Time of the next probe of the receiver's closed window.
    persist_at: Option<Time>,
    /// Probes since the window was last open.
    persists: u32,
    /// Time at which pacing allows the next segment.
    paced_until: Option<Time>,
    /// See [`Sender::is_spent`].
    spent: bool,
    /// The segment whose round-trip time is measured: its end and its departure.
    timing: Option<(u64, Time)>,
    /// Last departure of payload.
    last_sent: Time,
    /// Data below were sent in a flight that filled the window.
    full_to: u64,
    /// True if a SYN must be sent.
    syn_due: bool,
    /// True if a probe of the closed window must be sent.
    probe_due: bool,
    /// True if an acknowledgement must be sent.
    ack_due: bool,
    /// Departure of the first SYN, unless it was retransmitted.
    syn_at: Option<Time>,
}

impl Sender {
    /// A sender before opening. Values out of range are clamped.
    #[must_use]
    pub fn new(config: impl Into<SharedConfig>, law: Box<dyn Source>) -> Self {
        let config = config.into();
        Self {
            law,
            state: State::Closed,
            board: Scoreboard::default(),
            rtt: RttEstimator::new(&config),
            delivery: DeliveryRate::default(),
            pacer: Pacer::default(),
            reductions: Reductions::default(),
            stats: SenderStats::default(),
            una: 0,
            next: 0,
            probed_to: 0,
            written: 0,
            filled: if config.send_buffer.is_some() { 0 } else { u64::MAX },
            closed: false,
            mss: config.mss,
            config,
            peer_window: 0,
            largest_window: 0,
            sack: false,
            timestamps: false,
            ecn: false,
            ts_recent: 0,
            dupacks: 0,
            arrived: 0,
            limited: 0,
            recover: 0,
            inflation: 0,
            partial_seen: false,
            retransmit_head_now: false,
            rescue: 0,
            prr: None,
            lost_unreported: 0,
            recovery_end_unreported: false,
            undo: None,
            resent_since: None,
            settling: None,
            rto_at: None,
            expiries: 0,
            persist_at: None,
            persists: 0,
            paced_until: None,
            spent: false,
            timing: None,
            last_sent: Time::ZERO,
            full_to: 0,
            syn_due: false,
            probe_due: false,
            ack_due: false,
            syn_at: None,
        }
    }

    /// Adds `bytes` of the application's data. No effect after [`Sender::close`].
    pub fn write(&mut self, bytes: u64) {
        if !self.closed {
            if let Some(size) = self.send_buffer()
                && self.end() <= self.filled
            {
                // No data waits for room: these may use all that there is.
                self.filled = self.una.saturating_add(size);
            }
            self.written = self.written.saturating_add(bytes).min(ENDLESS);
        }
    }

    /// Adds unlimited data.
    pub fn write_endless(&mut self) {
        self.write(ENDLESS);
    }

    /// Ends the application's data.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Withdraws the data that were not sent yet, and ends the application's data.
    pub fn stop(&mut self) {
        // A byte that has probed a closed window was sent too.
        let left_to = self.next.max(self.probed_to);
        self.written = self.written.min(left_to.saturating_sub(1));
        self.closed = true;
    }

    /// The own node's link layer has given up the packet whose first sequence number is `seq`. The law is notified once per window of data;
    /// retransmission follows TCP's rules.
    pub fn on_link_drop(&mut self, seq: u64, context: &mut SourceContext<'_>) {
        let outstanding = (self.una..self.next).contains(&seq) && !self.board.is_empty();
        if outstanding && self.reductions.on_link_drop(seq, self.next) {
            let (flight, pipe) = (self.board.payload(), self.pipe());
            self.notify_congestion(CongestionCause::LinkDrop, flight, pipe, false, context);
        }
    }

    /// True if all written data are acknowledged, the FIN too if there is one, and the application has ended its data.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.closed && self.una >= self.end() + u64::from(self.config.fin)
    }

    /// Counters since the creation.
    #[must_use]
    pub fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// The sender's state.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Congestion window of the law within its maximum, bytes, without the inflation of fast recovery.
    #[must_use]
    pub fn window(&self, now: Time) -> u64 {
        self.within_limit(&self.law.allowance(now))
    }

    /// Pacing rate: the law's own, by which segments are sent. Without one, an estimate that delays no segment and only serves the
    /// host's local queue limit: Linux's (`tcp_update_pacing_rate` in `net/ipv4/tcp_input.c`), a window per smoothed round-trip time,
    /// times 2 below half of the slow-start threshold, else times 1.2. `None` before the first measured round-trip time, or if the law has
    /// neither a rate nor a window.
    ///
    /// In slow start the window counts at most as twice the bytes in flight, or as the initial window. Linux's window grows no further
    /// there (`tcp_is_cwnd_limited` in `include/net/tcp.h`: below `2 * max_packets_out`). RFC 5681 has no such rule: a law's window may be
    /// far larger than its used part, since segments filled their own node's queue, and would fill that queue again. Linux uses the largest
    /// number in flight in a round trip; here the present number is used, as the largest includes the queue too.
    #[must_use]
    pub fn pacing_rate(&self, now: Time) -> Option<Rate> {
        let allowance = self.law.allowance(now);
        if allowance.rate.is_some() {
            return allowance.rate;
        }
        allowance.window?;
        let mut window = self.within_limit(&allowance);
        let ssthresh = self.ssthresh().unwrap_or(0);
        if window < ssthresh {
            let initial = self.config.initial_window.bytes(self.mss).get();
            window = window.min(self.outstanding().saturating_mul(2).max(initial));
        }
        let percent = if window < ssthresh / 2 { 200 } else { 120 };
        let round_trip = u128::from(self.smoothed_rtt()?.as_nanos().max(1));
        let bits = u128::from(window.max(self.outstanding())) * 8 * percent / 100;
        Some(Rate(u64::try_from(bits * 1_000_000_000 / round_trip).unwrap_or(u64::MAX)))
    }

    /// A window of the law clamped to its maximum, bytes.
    fn within_limit(&self, allowance: &Allowance) -> u64 {
        allowance.window.map_or(u64::MAX, Bytes::get).min(self.config.window_limit)
    }

    /// Slow-start threshold, bytes, if the law has one.
    #[must_use]
    pub fn ssthresh(&self) -> Option<u64> {
        self.law.ssthresh().map(Bytes::get)
    }

    /// Payload in the network, bytes: pipe of RFC 6675. Without SACK it falls only by cumulative acknowledgements.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.board.pipe()
    }

    /// Payload sent and not cumulatively acknowledged, bytes: FlightSize of RFC 5681.
    #[must_use]
    pub fn outstanding(&self) -> u64 {
        self.board.payload()
    }

    /// The first unacknowledged sequence number: SND.UNA.
    #[must_use]
    pub fn unacknowledged(&self) -> u64 {
        self.una
    }

    /// The next new sequence number: SND.NXT.
    #[must_use]
    pub fn next_sequence(&self) -> u64 {
        self.next
    }

    /// The last window announced by the receiver, bytes.
    #[must_use]
    pub fn peer_window(&self) -> u64 {
        self.peer_window
    }

    /// True if ECN was negotiated: the sender reacts to ECN-Echo.
    #[must_use]
    pub fn uses_ecn(&self) -> bool {
        self.ecn
    }

    /// Largest payload of a segment, options subtracted, bytes.
    #[must_use]
    pub fn mss(&self) -> u32 {
        self.mss
    }

    /// Smoothed round-trip time (RFC 6298); none before the first measurement.
    #[must_use]
    pub fn smoothed_rtt(&self) -> Option<Span> {
        self.rtt.smoothed()
    }

    /// Variation of the round-trip time (RFC 6298).
    #[must_use]
    pub fn rtt_variation(&self) -> Span {
        self.rtt.variation()
    }

    /// Shortest round-trip time measured.
    #[must_use]
    pub fn min_rtt(&self) -> Option<Span> {
        self.rtt.smallest()
    }

    /// Retransmission time-out, back-off included.
    #[must_use]
    pub fn rto(&self) -> Span {
        self.rtt.rto(&self.config)
    }

    /// Payload delivered, cumulatively or selectively, bytes.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.delivery.delivered()
    }

    /// The window law.
    #[must_use]
    pub fn law(&self) -> &dyn Source {
        self.law.as_ref()
    }

    /// The window law, for its timers, its own queue and routers' headers. Poll afterwards.
    pub fn law_mut(&mut self) -> &mut dyn Source {
        self.law.as_mut()
    }

    /// Header of an explicit-rate scheme that its packets carry.
    #[must_use]
    pub fn header(&self) -> Option<&'static HeaderKind> {
        self.law.header()
    }

    /// Fills the header of a segment that is sent now.
    pub fn stamp(&mut self, header: &mut Header, now: Time) {
        self.law.stamp(header, now);
    }

    /// Handles the header that the receiver has echoed from routers. To be called before [`Sender::on_segment`] for the segment that
    /// carries it.
    pub fn on_header(&mut self, header: &Header, context: &mut SourceContext<'_>) {
        if !matches!(self.state, State::Closed | State::Failed) {
            self.law.on_feedback(header, context);
        }
    }

    /// True if the running sums equal a recount.
    #[doc(hidden)]
    #[must_use]
    pub fn sums_are_right(&self) -> bool {
        self.board.recount() == (self.board.payload(), self.board.pipe(), self.board.sacked())
    }

    /// The sequence number after the last byte written.
    fn end(&self) -> u64 {
        1 + self.written
    }

    /// The sequence number after the last byte that the send buffer has room for.
    fn buffered(&self) -> u64 {
        self.end().min(self.filled)
    }

    /// The send buffer in whole segments, bytes; none if it is unlimited.
    fn send_buffer(&self) -> Option<u64> {
        let mss = u64::from(self.mss);
        self.config.send_buffer.map(|size| (size / mss).max(1).saturating_mul(mss))
    }

    /// The application fills the send buffer, if at least half as much is free as is used (Linux: `sk_stream_is_writeable`).
    fn fill_buffer(&mut self) {
        let Some(size) = self.send_buffer() else { return };
        let used = self.buffered().saturating_sub(self.una);
        if size.saturating_sub(used) >= used / 2 {
            self.filled = self.una.saturating_add(size);
        }
    }

    /// Payload in the network as laws receive it, bytes: pipe of RFC 6675, without SACK less the segments behind duplicates. After a
    /// time-out all outstanding data are retransmitted.
    fn pipe(&self) -> u64 {
        let arrived = if self.state == State::Loss { 0 } else { self.arrived };
        self.board.pipe().saturating_sub(arrived)
    }

    /// Notifies the law of congestion with `flight` bytes outstanding, `pipe` of them in the network.
    fn notify_congestion(
        &mut self,
        cause: CongestionCause,
        flight: u64,
        pipe: u64,
        repeated: bool,
        context: &mut SourceContext<'_>,
    ) {
        let (in_flight, pipe) = (Bytes(flight), Bytes(pipe));
        self.law.on_congestion(&Congestion { cause, in_flight, pipe, repeated }, context);
    }

    /// An acknowledgement of all received data: the reverse direction carries nothing but its SYN.
    fn bare(&self, now: Time) -> Segment {
        let mut segment = Segment::bare(self.next, 1, self.config.receive_window);
        if self.timestamps {
            segment.timestamps = Some(self.timestamps_now(now));
        }
        segment
    }
}
