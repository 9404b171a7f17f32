//! The sender of a connection, which opens it. Its parts own their fields and speak by values; the sender itself holds what several of them
//! take part in.
//!
//! | file | contents |
//! |---|---|
//! | `ack` | acknowledgements: what they deliver, measure, and show as lost |
//! | `output` | the next segment, its time, and what limits it |
//! | `offload` | packets of several segments, which PSH ends |
//! | `stream` | the application's data and their sequence numbers |
//! | `peer` | options that the handshake has agreed on, and the receiver's window |
//! | `handshake` | the SYN |
//! | `recovery` | counters of loss detection and fast recovery |
//! | `timers` | deadlines |
//! | `undo` | time-outs and fast retransmits that may prove spurious |
//! | `stats` | counters |

mod ack;
mod handshake;
mod offload;
mod output;
mod peer;
mod recovery;
mod stats;
mod stream;
mod timers;
mod undo;

use alloc::boxed::Box;

use airfair_schemes::places::{
    Congestion, CongestionCause, FlowSetup, Header, PartialAck, Source, SourceContext, Timer,
};
use airfair_units::{Bytes, Rate, Span, Time};

use crate::delivery::DeliveryRate;
use crate::ecn::Reductions;
use crate::pacing::Pacer;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::{SharedConfig, TickMode};
use handshake::Handshake;
use offload::Offload;
use recovery::Recovery;
use stream::Stream;
use timers::Timers;
use undo::{Undo, Undoing};

pub use output::{Departure, Limit};
pub use peer::Peer;
pub use stats::SenderStats;

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

/// Round-trip times of a connection, and the resulting time-out (RFC 6298).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundTrips {
    /// Smoothed round-trip time; none before the first measurement.
    pub smoothed: Option<Span>,
    /// Variation of the round-trip time.
    pub variation: Span,
    /// Shortest round-trip time measured.
    pub smallest: Option<Span>,
    /// Retransmission time-out, back-off included.
    pub time_out: Span,
    /// Doublings of the time-out. They stay until a segment that was sent once is acknowledged (RFC 6298 section 5, Karn), also when
    /// acknowledgements of retransmissions have brought the connection on. At its upper bound the time-out doubles no more.
    pub doublings: u32,
}

/// The sender of a connection's data, which opens the connection.
pub struct Sender {
    config: SharedConfig,
    law: Box<dyn Source>,
    state: State,
    stream: Stream,
    peer: Peer,
    board: Scoreboard,
    recovery: Recovery,
    timers: Timers,
    rtt: RttEstimator,
    delivery: DeliveryRate,
    pacer: Pacer,
    offload: Offload,
    reductions: Reductions,
    undoing: Undoing,
    handshake: Handshake,
    stats: SenderStats,
    /// Last departure of payload.
    last_sent: Time,
    /// Data below were sent in a flight that filled the window.
    full_to: u64,
    /// See [`Sender::is_spent`].
    spent: bool,
    /// True if a probe of the closed window must be sent.
    probe_due: bool,
    /// True if an acknowledgement must be sent.
    ack_due: bool,
}

impl Sender {
    /// A sender before opening. Values out of range are clamped.
    #[must_use]
    pub fn new(config: impl Into<SharedConfig>, law: Box<dyn Source>) -> Self {
        let config = config.into();
        Self {
            law,
            state: State::Closed,
            stream: Stream::new(config.send_buffer.is_some()),
            peer: Peer::new(&config),
            board: Scoreboard::new(),
            recovery: Recovery::default(),
            timers: Timers::default(),
            rtt: RttEstimator::new(&config),
            delivery: DeliveryRate::default(),
            pacer: Pacer::default(),
            offload: Offload::default(),
            reductions: Reductions::default(),
            undoing: Undoing::default(),
            handshake: Handshake::default(),
            stats: SenderStats::default(),
            config,
            last_sent: Time::ZERO,
            full_to: 0,
            spent: false,
            probe_due: false,
            ack_due: false,
        }
    }

    /// Opens the connection: [`Sender::poll`] returns the SYN, or data at once without handshake. Only the first call has an effect.
    pub fn open(&mut self, context: &mut SourceContext<'_>) {
        if self.state != State::Closed {
            return;
        }
        if self.config.tick_mode == TickMode::Bsd {
            // All connections of a host share one clock, and hosts' clocks have different phases. Here each connection draws its own phase:
            // two of one host then time out apart, which is a smaller error than all hosts of a network timing out together.
            let tick = self.config.tick.0;
            self.rtt.set_phase(Span((context.random.uniform() * tick as f64) as u64).min(Span(tick - 1)));
        }
        if self.config.handshake {
            self.state = State::SynSent;
            self.handshake.due = true;
            return;
        }
        self.peer.assume(&self.config);
        self.establish(None, false, context);
    }

    /// Opens the connection for data; `rtt`: round-trip time of the SYN, if it may be measured, exact and in ticks.
    fn establish(&mut self, rtt: Option<(Span, Span)>, syn_lost: bool, context: &mut SourceContext<'_>) {
        self.state = State::Open;
        (self.stream.una, self.stream.next) = (1, 1);
        if let Some(size) = self.config.buffer(self.peer.mss) {
            self.stream.fill(size);
        }
        self.timers.rto_at = None;
        self.timers.expiries = 0;
        self.last_sent = context.now;
        let of_law = self.law.header().map_or(0, |kind| kind.wire_len);
        self.peer.establish(of_law);
        if let Some((exact, counted)) = rtt {
            self.rtt.observe(exact);
            self.rtt.sample(counted, 1, &self.config);
        }
        if syn_lost {
            self.rtt.raise_after_syn_loss(&self.config);
        }
        let mss = Bytes(u64::from(self.peer.mss));
        // RFC 5681 section 3.1: after a lost SYN the initial window is one segment.
        let initial_window = if syn_lost { mss } else { self.config.initial_window.bytes(self.peer.mss) };
        let window_limit = Bytes(self.config.window_limit);
        let rtt = rtt.map(|(exact, _)| self.rtt.law_rtt(exact, &self.config));
        let headers = Bytes(u64::from(self.config.headers) + u64::from(of_law));
        self.law.on_start(
            &FlowSetup { mss, headers, initial_window, window_limit, rtt, syn_lost, link: None },
            context,
        );
    }

    /// Adds `bytes` of the application's data; the largest number means data without end. No effect after [`Sender::close`].
    pub fn write(&mut self, bytes: u64) {
        self.stream.write(bytes, self.config.buffer(self.peer.mss));
    }

    /// Ends the application's data.
    pub fn close(&mut self) {
        self.stream.close();
    }

    /// Withdraws the data that were not sent yet, and ends the application's data.
    pub fn stop(&mut self) {
        self.stream.stop();
    }

    /// The own node's link layer has given up the packet whose first sequence number is `seq`. The law is notified once per window of data;
    /// retransmission follows TCP's rules.
    pub fn on_link_drop(&mut self, seq: u64, context: &mut SourceContext<'_>) {
        let outstanding = (self.stream.una..self.stream.next).contains(&seq) && !self.board.is_empty();
        if outstanding && self.reductions.on_link_drop(seq, self.stream.next) {
            let (flight, pipe) = (self.board.payload(), self.pipe());
            self.notify_congestion(CongestionCause::LinkDrop, flight, pipe, false, context);
        }
    }

    /// True if all written data are acknowledged, the FIN too if there is one, and the application has ended its data.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.stream.is_done(self.config.fin)
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
        self.config.within_limit(&self.law.allowance(now))
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
        let mut window = self.config.within_limit(&allowance);
        let ssthresh = self.law.ssthresh().map_or(0, Bytes::get);
        if window < ssthresh {
            let initial = self.config.initial_window.bytes(self.peer.mss).get();
            window = window.min(self.outstanding().saturating_mul(2).max(initial));
        }
        let percent = if window < ssthresh / 2 { 200 } else { 120 };
        let round_trip = u128::from(self.rtt.smoothed()?.as_nanos().max(1));
        let bits = u128::from(window.max(self.outstanding())) * 8 * percent / 100;
        Some(Rate(u64::try_from(bits * 1_000_000_000 / round_trip).unwrap_or(u64::MAX)))
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
        self.stream.una
    }

    /// The next new sequence number: SND.NXT.
    #[must_use]
    pub fn next_sequence(&self) -> u64 {
        self.stream.next
    }

    /// The options that were agreed with the receiver, and its window.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Round-trip times, and the time-out.
    #[must_use]
    pub fn round_trips(&self) -> RoundTrips {
        let (rtt, all) = (&self.rtt, self.rtt.backoffs());
        let time_out = rtt.rto_after(all, &self.config);
        let doublings = (0..all).find(|&fewer| rtt.rto_after(fewer, &self.config) == time_out).unwrap_or(all);
        let (smoothed, variation, smallest) = (rtt.smoothed(), rtt.variation(), rtt.smallest());
        RoundTrips { smoothed, variation, smallest, time_out, doublings }
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

    /// The window law, for its timers, its own queue and the headers of its packets. Poll afterwards.
    pub fn law_mut(&mut self) -> &mut dyn Source {
        self.law.as_mut()
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

    /// The next time at which [`Sender::on_timer`] must be called; valid until the next call that changes the sender.
    #[inline(always)]
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.timers.deadline(self.reductions.hold)
    }

    /// The time at which the retransmission timer expires, if it runs, and the number of its expiries since the last acknowledgement of
    /// new data.
    #[must_use]
    pub fn retransmission_timer(&self) -> Option<(Time, u32)> {
        self.timers.rto_at.map(|at| (at, self.timers.expiries))
    }

    /// Handles a deadline; before it the call has no effect.
    pub fn on_timer(&mut self, context: &mut SourceContext<'_>) {
        let expired = self.timers.expire(&mut self.reductions.hold, context.now);
        if expired.persist {
            self.probe_due = true;
            self.timers.probe_again(&self.rtt, context.now, &self.config);
        }
        if expired.retransmission {
            let gives_up = match self.state {
                State::SynSent => !self.handshake.repeats(self.stats.syns, self.config.syn_retries),
                _ => !self.board.is_empty() && self.timers.gives_up(context.now, &self.config),
            };
            if gives_up {
                // RFC 9293 section 3.8.3, R2.
                self.state = State::Failed;
                self.timers.stop();
                self.reductions.hold = None;
            } else if self.state == State::SynSent {
                self.rtt.back_off();
            } else {
                self.on_timeout(context);
            }
        }
    }

    /// RFC 6298 sections 5.4 to 5.6, RFC 5681 section 3.1, RFC 6582 section 4, RFC 6675 section 5.1.
    fn on_timeout(&mut self, context: &mut SourceContext<'_>) {
        if self.board.is_empty() {
            return;
        }
        let rto = self.rtt.expiry(context.now, &self.config).since(context.now);
        self.timers.count_expiry(rto, context.now, &self.config);
        self.stats.timeouts += 1;
        let repeated = self.board.head().is_some_and(|head| head.timed_out);
        let (flight, pipe) = (self.board.payload(), self.pipe());
        let again = self.remember(CongestionCause::Timeout, repeated);
        self.notify_congestion(CongestionCause::Timeout, flight, pipe, repeated, context);
        self.board.mark_all_lost(again);
        self.count_lost(pipe);
        self.state = State::Loss;
        self.recovery.end();
        self.recovery.point = self.stream.next;
        self.rtt.end_timing();
        self.reductions.on_reduced(self.stream.next);
        if self.law.doubles_timer() {
            self.rtt.back_off();
        }
        self.timers.rto_at = Some(self.rtt.expiry(context.now, &self.config));
    }

    /// Hands the law its timer. If the law no longer doubles time-outs, one that was doubled starts anew without that.
    pub fn on_law_timer(&mut self, timer: Timer, context: &mut SourceContext<'_>) {
        self.law.on_timer(timer, context);
        if self.rtt.backoffs() > 0 && !self.law.doubles_timer() {
            self.rtt.restore_backoffs(0);
            let expiry = self.rtt.expiry(context.now, &self.config);
            self.timers.rto_at = self.timers.rto_at.map(|at| at.min(expiry));
        }
    }

    /// Remembers the state before a time-out or a fast retransmit, before the law is notified. Returns true if it is a time-out that
    /// belongs to the one before it.
    fn remember(&mut self, cause: CongestionCause, repeated: bool) -> bool {
        if !self.config.undo {
            return false;
        }
        if repeated {
            return self.undoing.continues(cause);
        }
        let counts = cause == CongestionCause::FastLoss && self.config.undo_earlier_copies;
        self.undoing.remember(Undo {
            cause,
            from: self.stream.una,
            to: self.stream.next,
            state: self.state,
            recover: self.recovery.point,
            lost_unreported: self.recovery.lost_unreported,
            backoffs: self.rtt.backoffs(),
            rtt: self.rtt.before(&self.config),
            reductions: self.reductions,
            resent_at: None,
            unreported: if counts { self.board.repeated() } else { 0 },
            compared: false,
            reduced: true,
        });
        false
    }

    /// Counts payload that is assumed lost.
    fn count_lost(&mut self, bytes: u64) {
        self.recovery.lost_unreported = self.recovery.lost_unreported.saturating_add(bytes);
        self.stats.bytes_lost += bytes;
    }

    /// Payload in the network as laws receive it, bytes.
    #[inline(always)]
    fn pipe(&self) -> u64 {
        self.recovery.pipe(self.state, &self.board)
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

    /// True for plain Reno (RFC 5681 section 3.2, step 6).
    fn ends_at_partial_ack(&self) -> bool {
        !self.peer.sack && self.law.partial_ack() == PartialAck::EndsRecovery
    }
}
