//! The end that opens a connection and sends.

mod ack;
mod handshake;
mod limit;
mod loss;
mod output;
mod stats;
mod timers;

use alloc::boxed::Box;

use airfair_schemes::places::{
    Allowance, Congestion, CongestionCause, Header, HeaderKind, Source, SourceContext,
};
use airfair_units::{Bytes, Rate, Span, Time};

use crate::delivery::DeliveryRate;
use crate::ecn::Reductions;
use crate::pacing::Pacer;
use crate::prr::Prr;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::{Segment, SharedConfig};

pub use limit::Limit;
pub use stats::SenderStats;

/// Most payload that an application may write, bytes: no sequence number can overflow.
const ENDLESS: u64 = 1 << 62;

/// Where a sender is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not opened.
    Closed,
    /// The SYN waits for its answer.
    SynSent,
    /// Data may flow and nothing is believed to be lost.
    Open,
    /// Fast recovery.
    Recovery,
    /// What was outstanding at a time-out is sent again.
    Loss,
    /// Given up after too many time-outs.
    Failed,
}

/// The active opener of a connection and the sender of its data.
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

    /// SND.UNA: the first sequence number that is not acknowledged.
    una: u64,
    /// SND.NXT: the next new sequence number. It never goes back: what is sent again is marked in the scoreboard.
    next: u64,
    /// The sequence number after the highest that a window probe has carried.
    probed_to: u64,
    /// Payload handed over by the application, bytes.
    written: u64,
    /// The application hands over no more.
    closed: bool,
    /// Largest payload of a segment, options subtracted, bytes: RFC 5681's SMSS.
    mss: u32,
    /// SND.WND, bytes.
    peer_window: u64,
    /// Max(SND.WND), bytes.
    largest_window: u64,
    /// Both ends can do selective acknowledgements.
    sack: bool,
    /// Both ends can do timestamps.
    timestamps: bool,
    /// Both ends can do ECN.
    ecn: bool,
    /// The last timestamp received.
    ts_recent: u32,

    /// Duplicate acknowledgements in a row.
    dupacks: u32,
    /// Without SACK: what duplicate acknowledgements stand for, which has arrived beyond the first segment, nobody knows which, bytes.
    arrived: u64,
    /// Sent because of them before they were three (RFC 3042), bytes: not part of FlightSize (RFC 5681 section 3.2, step 2).
    limited: u64,
    /// RFC 6582's recover and RFC 6675's RecoveryPoint, exclusive: the next sequence number when a loss was noticed.
    recover: u64,
    /// What fast recovery without SACK adds to the law's window, bytes; partial acknowledgements can make it negative.
    inflation: i64,
    /// A partial acknowledgement has restarted the timer in this recovery.
    partial_seen: bool,
    /// A segment is to be sent again whatever the window says.
    repair_now: bool,
    /// RFC 6675's RescueRxt, exclusive.
    rescue: u64,
    /// Proportional rate reduction, while it acts, and the window that it set last, bytes.
    prr: Option<(Prr, u64)>,
    /// Payload believed to be lost since the law was last told, bytes.
    lost_untold: u64,
    /// Fast recovery has ended and the law was not told yet.
    recovered_untold: bool,

    /// When the retransmission timer expires.
    rto_at: Option<Time>,
    /// Time-outs since something was last acknowledged.
    expiries: u32,
    /// When the receiver's closed window is probed.
    persist_at: Option<Time>,
    /// Probes since the window was last open.
    persists: u32,
    /// When pacing lets the next segment leave.
    paced_until: Option<Time>,
    /// See [`Sender::is_spent`].
    spent: bool,
    /// A segment whose round-trip time is measured: its end and when it left.
    timing: Option<(u64, Time)>,
    /// When payload left last.
    last_sent: Time,
    /// Everything below was sent in a flight that filled the window.
    full_to: u64,
    /// A SYN is due.
    syn_due: bool,
    /// A probe of the closed window is due.
    probe_due: bool,
    /// An acknowledgement is due.
    ack_due: bool,
    /// The moment of the first SYN, unless another was sent.
    syn_at: Option<Time>,
}

impl Sender {
    /// A sender that is not opened yet. Values outside their range are brought into it.
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
            repair_now: false,
            rescue: 0,
            prr: None,
            lost_untold: 0,
            recovered_untold: false,
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

    /// The application hands over `bytes` more. After [`Sender::close`] it has no effect.
    pub fn write(&mut self, bytes: u64) {
        if !self.closed {
            self.written = self.written.saturating_add(bytes).min(ENDLESS);
        }
    }

    /// The application hands over data that never end.
    pub fn write_endless(&mut self) {
        self.write(ENDLESS);
    }

    /// The application hands over no more.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// The application takes back what has not left yet and hands over no more.
    pub fn stop(&mut self) {
        // A byte that probed a closed window has left too.
        let left_to = self.next.max(self.probed_to);
        self.written = self.written.min(left_to.saturating_sub(1));
        self.closed = true;
    }

    /// The own node's link layer gave up the packet whose first sequence number is `seq`. The law is told, once a window of
    /// data; repair is left to the rules of TCP.
    pub fn on_link_drop(&mut self, seq: u64, context: &mut SourceContext<'_>) {
        let outstanding = (self.una..self.next).contains(&seq) && !self.board.is_empty();
        if outstanding && self.reductions.on_link_drop(seq, self.next) {
            let (flight, pipe) = (self.board.payload(), self.pipe());
            self.tell_congestion(CongestionCause::LinkDrop, flight, pipe, false, context);
        }
    }

    /// Whether everything written is acknowledged, the FIN too if one is sent, and nothing more will come.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.closed && self.una >= self.end() + u64::from(self.config.fin)
    }

    /// Counters.
    #[must_use]
    pub fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// Where it is.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// The law's congestion window within its limit, bytes, without what fast recovery adds.
    #[must_use]
    pub fn window(&self, now: Time) -> u64 {
        self.within_limit(&self.law.allowance(now))
    }

    /// The rate at which its segments leave: the law's own where it paces. Otherwise Linux's estimate (`tcp_update_pacing_rate` in
    /// `net/ipv4/tcp_input.c`), a window in a smoothed round-trip time: twice that below half of the slow-start threshold, 1.2 times
    /// beyond. `None` before a round trip was measured, or where the law bounds nothing.
    ///
    /// In slow start no more than twice what is in flight, or the initial window, counts as the window. Linux's window grows no further
    /// there (`tcp_is_cwnd_limited` in `include/net/tcp.h`: below `2 * max_packets_out`). RFC 5681 knows no such rule: a law's window may
    /// be far larger than what is used of it, from when its segments filled their own node's queue, and would allow that queue again.
    /// Linux keeps the most that was in flight in a round trip; here it is what is in flight now, as that most has the queue in it too.
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

    /// A window that the law allows, within its limit, bytes.
    fn within_limit(&self, allowance: &Allowance) -> u64 {
        allowance.window.map_or(u64::MAX, Bytes::get).min(self.config.window_limit)
    }

    /// Slow-start threshold, bytes, where the law has one.
    #[must_use]
    pub fn ssthresh(&self) -> Option<u64> {
        self.law.ssthresh().map(Bytes::get)
    }

    /// Payload in the network, bytes: RFC 6675's pipe. Without SACK it falls only by cumulative acknowledgements.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.board.pipe()
    }

    /// Payload sent and not cumulatively acknowledged, bytes: RFC 5681's FlightSize.
    #[must_use]
    pub fn outstanding(&self) -> u64 {
        self.board.payload()
    }

    /// The first sequence number that is not acknowledged: SND.UNA.
    #[must_use]
    pub fn unacknowledged(&self) -> u64 {
        self.una
    }

    /// The next new sequence number: SND.NXT.
    #[must_use]
    pub fn next_sequence(&self) -> u64 {
        self.next
    }

    /// The receiver's window as last announced, bytes.
    #[must_use]
    pub fn peer_window(&self) -> u64 {
        self.peer_window
    }

    /// Whether both ends have agreed on ECN: it heeds ECN-Echo.
    #[must_use]
    pub fn speaks_ecn(&self) -> bool {
        self.ecn
    }

    /// Largest payload of a segment, options subtracted, bytes.
    #[must_use]
    pub fn mss(&self) -> u32 {
        self.mss
    }

    /// Smoothed round-trip time (RFC 6298), once measured.
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

    /// The law.
    #[must_use]
    pub fn law(&self) -> &dyn Source {
        self.law.as_ref()
    }

    /// The law, for its timers and for what it is told of its own queue and by routers. Poll afterwards.
    pub fn law_mut(&mut self) -> &mut dyn Source {
        self.law.as_mut()
    }

    /// The header of an explicit-rate scheme that its packets carry.
    #[must_use]
    pub fn header(&self) -> Option<&'static HeaderKind> {
        self.law.header()
    }

    /// Fills the header of a segment that leaves now.
    pub fn stamp(&mut self, header: &mut Header, now: Time) {
        self.law.stamp(header, now);
    }

    /// What routers wrote, as the receiver echoes it. To be called before [`Sender::on_segment`] for the segment that brought it.
    pub fn on_header(&mut self, header: &Header, context: &mut SourceContext<'_>) {
        if !matches!(self.state, State::Closed | State::Failed) {
            self.law.on_feedback(header, context);
        }
    }

    /// Whether the kept sums equal a recount.
    #[doc(hidden)]
    #[must_use]
    pub fn sums_are_right(&self) -> bool {
        self.board.recount() == (self.board.payload(), self.board.pipe(), self.board.sacked())
    }

    /// The sequence number after the last byte written.
    fn end(&self) -> u64 {
        1 + self.written
    }

    /// Payload in the network as laws are told it, bytes: RFC 6675's pipe, and without SACK less what duplicates stand for. After a
    /// time-out all that is outstanding is sent again.
    fn pipe(&self) -> u64 {
        let arrived = if self.state == State::Loss { 0 } else { self.arrived };
        self.board.pipe().saturating_sub(arrived)
    }

    /// Tells the law of congestion with `flight` bytes outstanding, `pipe` of them in the network.
    fn tell_congestion(
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

    /// An acknowledgement of all that was received: the reverse direction carries nothing but its SYN.
    fn bare(&self, now: Time) -> Segment {
        let mut segment = Segment::bare(self.next, 1, self.config.receive_window);
        if self.timestamps {
            segment.timestamps = Some(self.timestamps_now(now));
        }
        segment
    }
}
