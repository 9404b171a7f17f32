//! Processing of acknowledgements (RFC 9293 section 3.10.7.4; RFC 5681 section 3; RFC 6298 section 5): what they deliver and measure, and
//! the losses, marks and spurious retransmissions that they show (RFC 5681 section 3.2, RFC 6582, RFC 6675, RFC 3168, RFC 4015).

use airfair_schemes::places::{Acked, CongestionCause, PartialAck, SourceContext, Spurious};
use airfair_units::{Bytes, Span, Time};

use super::peer::Peer;
use super::undo::Undo;
use super::{Sender, State};
use crate::Segment;
use crate::scoreboard::{AckResult, Newest};

impl Sender {
    /// Handles a segment of the receiver. Unacceptable segments are ignored.
    #[inline]
    pub fn on_segment(&mut self, segment: &Segment, context: &mut SourceContext<'_>) {
        match self.state {
            State::Closed | State::Failed => {}
            State::SynSent => self.on_syn_ack(segment, context),
            // A repeated SYN-ACK: our acknowledgement of the first was lost (RFC 9293 section 3.10.7.4).
            _ if segment.flags.syn => self.ack_due = true,
            _ if !segment.flags.ack || segment.ack < self.stream.una => {}
            // Data that were never sent are acknowledged: the reply is an acknowledgement (RFC 9293 section 3.10.7.4).
            _ if segment.ack > self.stream.next.max(self.stream.probed_to) => self.ack_due = true,
            _ => self.on_ack(segment, context),
        }
    }

    /// Handles a segment that arrives in SYN-SENT (RFC 9293 section 3.10.7.3).
    #[cold]
    #[inline(never)]
    fn on_syn_ack(&mut self, segment: &Segment, context: &mut SourceContext<'_>) {
        if !segment.flags.syn || !segment.flags.ack || segment.ack != 1 || self.stream.next != 1 {
            return;
        }
        self.peer.agree(&self.config, segment);
        // A retransmitted SYN is not measured (Karn), unless timestamps identify the answered one.
        let rtt = match self.handshake.sent_at {
            Some(at) => Some(context.now.since(at)),
            None => {
                let stamps = segment.timestamps.filter(|_| self.peer.timestamps);
                stamps.and_then(|stamps| Peer::echoed_rtt(stamps, context.now))
            }
        };
        self.ack_due = true;
        let counted = rtt.map(|rtt| self.rtt.measured(context.now, rtt, &self.config));
        self.establish(rtt.zip(counted), self.handshake.has_lost(), context);
    }

    fn on_ack(&mut self, segment: &Segment, context: &mut SourceContext<'_>) {
        let now = context.now;
        self.stats.acks += 1;
        let prior_in_flight = self.pipe();
        let missing = self.board.head().map_or(0, |head| u64::from(head.payload));
        let prior = (self.board.payload(), prior_in_flight);
        let was_full = self.stream.una < self.full_to;
        let advance = segment.ack > self.stream.una;
        // RFC 5681 section 2: data are outstanding, no payload, no FIN, no new acknowledgement, and an unchanged window.
        let duplicate = !advance
            && !self.board.is_empty()
            && segment.sequence_len() == 0
            && segment.window == self.peer.window;

        let mut result = AckResult::default();
        self.board.acknowledge(segment.ack, &mut result);
        if self.peer.sack {
            for &(left, right) in segment.sack.as_slice() {
                self.board.sack(left, right, &mut result);
            }
        }
        self.stream.acknowledge(segment.ack);
        if let Some(size) = self.config.buffer(self.peer.mss) {
            self.stream.fill(size);
        }
        if !self.peer.sack {
            let (signs, peer) = ((duplicate, missing, segment.ack), (self.state, self.peer.mss));
            self.recovery.count_duplicates(signs, peer, &self.board, &mut result);
        }
        self.peer.set_window(segment.window);
        self.timers.on_window(segment.window);
        // An open window ends the probing.
        self.probe_due &= segment.window == 0;
        self.stats.bytes_acked += result.cumulative;

        let rtt = self.measure(advance, segment, result.newest.as_ref(), now);
        let (rate_sample, round_ended) = match &result.newest {
            Some(newest) => {
                let smallest = self.rtt.smallest();
                self.delivery.on_delivered(now, result.delivered, &newest.snapshot, smallest)
            }
            None => {
                self.delivery.on_unknown(now, result.delivered);
                (None, false)
            }
        };
        if advance {
            self.timers.expiries = 0;
            self.restart_timer(now);
        }
        let marked = self.peer.ecn && segment.flags.ece;
        if marked {
            self.on_mark(prior, context);
        }
        let restored = self.undoing.is_watching()
            && self
                .undoing
                .detect((advance, self.stream.una), segment, &self.peer)
                .is_some_and(|undo| self.respond(&undo, result.cumulative, segment, context));
        // The window does not grow by an acknowledgement that echoes a mark (RFC 3168 section 6.1.2), nor by one that restores it.
        let may_grow = was_full & !marked & !restored;
        let was_in_recovery = self.state == State::Recovery;
        self.on_loss_signals(advance, duplicate, &result, context);
        let in_recovery = was_in_recovery || self.state == State::Recovery;

        if result.delivered > 0 || result.cumulative > 0 {
            let acked = Acked {
                bytes: Bytes(result.delivered),
                cumulative: Bytes(result.cumulative),
                lost: Bytes(core::mem::take(&mut self.recovery.lost_unreported)),
                prior_in_flight: Bytes(prior_in_flight),
                in_flight: Bytes(self.pipe()),
                rtt,
                rate_sample,
                round_ended,
                window_limited: may_grow,
                in_recovery,
                sent_at: match &result.newest {
                    Some(newest) => newest.snapshot.sent_at,
                    None => self.recovery.newest_sent_at(&self.board, self.peer.mss).unwrap_or(now),
                },
            };
            self.law.on_acked(&acked, context);
        }
        self.notify_recovered(context);
        let (law, config) = (&self.law, &self.config);
        let aim = || config.within_limit(&law.allowance(now));
        self.recovery.reduce(result.delivered, self.board.pipe(), aim, self.peer.mss);
    }

    /// Measures round-trip times: for the time-out, and of the newest segment for the law.
    #[inline(always)]
    fn measure(
        &mut self,
        advance: bool,
        segment: &Segment,
        newest: Option<&Newest>,
        now: Time,
    ) -> Option<Span> {
        if let Some(sent_at) = self.rtt.timed(self.stream.una)
            && !self.peer.timestamps
        {
            let rtt = self.rtt.measured(now, now.since(sent_at), &self.config);
            self.undoing.sample(&mut self.rtt, (rtt, 1), self.stream.una, &self.config);
        }
        if self.peer.timestamps
            && let Some(stamps) = segment.timestamps
        {
            self.peer.note(stamps);
            // RFC 7323 section 4.1: only acknowledgements of new data measure; section 4.2: weighted by the expected number in a round.
            if advance && let Some(rtt) = Peer::echoed_rtt(stamps, now) {
                let per_round = self.board.payload().div_ceil(2 * u64::from(self.peer.mss));
                let rtt = self.rtt.measured(now, rtt, &self.config);
                self.undoing.sample(&mut self.rtt, (rtt, per_round), self.stream.una, &self.config);
            }
        }
        let newest = newest.filter(|newest| newest.once)?;
        let rtt = now.since(newest.snapshot.sent_at);
        // Not in ticks: it bounds the intervals of delivery rates, which are exact.
        self.rtt.observe(rtt);
        self.stats.round_trips += 1;
        self.stats.round_trip_ns += rtt.as_nanos();
        Some(self.rtt.law_rtt(rtt, &self.config))
    }

    /// Restarts the retransmission timer by RFC 6298 sections 5.2 and 5.3; in fast recovery without SACK, RFC 6582 section 3.2, step 3.
    #[inline(always)]
    fn restart_timer(&mut self, now: Time) {
        let outstanding = !self.board.is_empty();
        let partial =
            self.state == State::Recovery && !self.peer.sack && self.stream.una < self.recovery.point;
        if outstanding && partial && !self.recovery.partial_ack_restarts(self.config.partial_ack_timer) {
            return;
        }
        self.timers.restart_retransmission(outstanding, &self.rtt, now, &self.config);
    }

    /// Handles an echoed mark (RFC 3168 section 6.1.2). The flight is the one before this acknowledgement, which experienced the
    /// congestion.
    #[inline(never)]
    fn on_mark(&mut self, (flight, pipe): (u64, u64), context: &mut SourceContext<'_>) {
        let one_segment = self.window(context.now) <= u64::from(self.peer.mss);
        if self.reductions.on_echo(self.stream.una, self.stream.next) {
            self.stats.ecn_reductions += 1;
            self.undoing.keep_reduction();
            self.notify_congestion(CongestionCause::Mark, flight, pipe, false, context);
            if one_segment {
                // The window cannot fall below one segment: the timer limits the rate instead.
                let wait = self.rtt.expiry(context.now, &self.config);
                self.reductions.hold = Some(wait);
                self.timers.rto_at = self.timers.rto_at.map(|_| wait);
            }
        }
    }

    /// Handles signs of loss, after the update of the scoreboard.
    #[inline(always)]
    fn on_loss_signals(
        &mut self,
        advance: bool,
        duplicate: bool,
        result: &AckResult,
        context: &mut SourceContext<'_>,
    ) {
        if advance {
            self.recovery.dupacks = 0;
            self.recovery.limited = 0;
            if self.state != State::Open {
                self.on_advance_in_recovery(result.cumulative);
            }
        }
        if result.sacked && self.state != State::Loss {
            let lost = self.board.mark_lost(self.config.dupack_threshold, self.peer.mss);
            self.count_lost(lost);
        }
        // RFC 6675 section 2: with SACK, an acknowledgement with a new block is a duplicate, whatever else it does.
        if if self.peer.sack { result.sacked } else { duplicate } {
            self.on_duplicate(context);
        }
    }

    /// `acked` bytes are newly acknowledged during a recovery or after a time-out.
    #[inline(never)]
    fn on_advance_in_recovery(&mut self, acked: u64) {
        let repaired = self.stream.una >= self.recovery.point;
        match self.state {
            State::Recovery if repaired || self.ends_at_partial_ack() => {
                self.state = State::Open;
                self.recovery.end();
                self.recovery.end_unreported = true;
            }
            // RFC 6582 section 3.2, step 3: the next hole is retransmitted.
            State::Recovery if !self.peer.sack => {
                self.retransmit_head();
                // QFCP, equation 5: num_dupACK returns to zero only when all data sent before the loss are acknowledged.
                if self.law.partial_ack() != PartialAck::RepairsUndeflated {
                    self.recovery.deflate(acked, self.peer.mss);
                }
            }
            State::Loss if repaired => self.state = State::Open,
            _ => {}
        }
    }

    /// Notifies the law of the end of fast recovery: after the acknowledgement that ended it, but before a new recovery starts. Without
    /// SACK with FlightSize (RFC 6582 section 3.2, step 3), which duplicates do not reduce.
    fn notify_recovered(&mut self, context: &mut SourceContext<'_>) {
        if core::mem::take(&mut self.recovery.end_unreported) {
            self.law.on_recovered(Bytes(self.board.pipe()), context);
        }
    }

    #[inline(never)]
    fn on_duplicate(&mut self, context: &mut SourceContext<'_>) {
        self.stats.duplicate_acks += 1;
        if self.state == State::Recovery {
            // With SACK the scoreboard counts what has left the network.
            if !self.peer.sack {
                self.recovery.inflate(self.peer.mss);
            }
            return;
        }
        self.recovery.dupacks = self.recovery.dupacks.saturating_add(1);
        let enough = self.recovery.dupacks >= self.config.dupack_threshold;
        if self.peer.sack {
            // RFC 6675 section 5, steps 1 and 2; section 5.1: not before all data retransmitted after a time-out are acknowledged.
            if (enough || self.board.head_is_lost()) && self.stream.una >= self.recovery.point {
                self.begin_recovery(context);
            }
        } else if enough && self.stream.una > self.recovery.point {
            // RFC 6582 section 3.2, step 2: more than `recover` is acknowledged; otherwise the duplicates may be caused by our own
            // retransmissions.
            self.begin_recovery(context);
        }
    }

    fn begin_recovery(&mut self, context: &mut SourceContext<'_>) {
        let Some(head) = self.board.head().copied() else { return };
        self.notify_recovered(context);
        let flight = self.board.payload();
        self.remember(CongestionCause::FastLoss, false);
        // RFC 3168 section 6.1.2: one reduction per window of data, for whichever sign comes first.
        if !self.reductions.marked_since(head.seq) {
            let (counted, pipe) = (flight.saturating_sub(self.recovery.limited), self.pipe());
            self.notify_congestion(CongestionCause::FastLoss, counted, pipe, false, context);
            self.reductions.on_reduced(self.stream.next);
        } else {
            self.undoing.keep_reduction();
        }
        self.stats.fast_recoveries += 1;
        self.state = State::Recovery;
        self.rtt.end_timing();
        self.board.clear_resent();
        self.retransmit_head();
        let keeps_point = self.ends_at_partial_ack();
        let ends = (&self.stream, head.end());
        self.recovery.begin(ends, (flight, keeps_point), &self.peer, &self.config);
    }

    /// Retransmits the first outstanding segment next, whatever the window is.
    fn retransmit_head(&mut self) {
        let lost = self.board.mark_head_lost();
        self.count_lost(lost);
        self.recovery.head_due = true;
    }

    /// The response to a spurious time-out or fast retransmit (RFC 4015), after the update of scoreboard and round-trip time and before
    /// signs of loss. Segments that only the event has declared lost are in flight again, and transmission continues with new data.
    /// `acked`: bytes of the acknowledgement. Returns true if the law has restored its window.
    fn respond(
        &mut self,
        undo: &Undo,
        acked: u64,
        segment: &Segment,
        context: &mut SourceContext<'_>,
    ) -> bool {
        let timeout = undo.cause == CongestionCause::Timeout;
        if timeout {
            self.stats.spurious_timeouts += 1;
        } else {
            self.stats.spurious_recoveries += 1;
        }
        if self.state != State::Open {
            self.board.restore(!timeout);
            // An earlier loss is repaired as before; fast recovery goes on without the counters of rate reduction.
            let repairs = undo.state != State::Open && self.stream.una < undo.recover;
            self.state = if repairs { undo.state } else { State::Open };
            self.recovery.end();
            if repairs {
                self.recovery.point = undo.recover;
            } else if self.peer.sack {
                self.recovery.point = self.stream.una;
            }
            // Else the recovery point stays: duplicates of what was sent again start no fast retransmit (RFC 6582 section 3.2, step 2).
            (self.recovery.dupacks, self.recovery.limited) = (0, 0);
            if !timeout {
                self.recovery.end_unreported = true;
                self.notify_recovered(context);
            }
        }
        self.recovery.lost_unreported = self.recovery.lost_unreported.min(undo.lost_unreported);
        if timeout {
            self.rtt.restore_backoffs(undo.backoffs);
            self.undoing.settle_after(undo.rtt, self.stream.next);
        }
        self.timers.restart_retransmission(!self.board.is_empty(), &self.rtt, context.now, &self.config);
        // RFC 4015: an echoed mark keeps the reduced window.
        let restores = undo.reduced && !(self.peer.ecn && segment.flags.ece);
        if restores {
            self.reductions.withdraw(&undo.reductions);
            let (in_flight, acked) = (Bytes(self.board.payload()), Bytes(acked));
            self.law.on_spurious(&Spurious { cause: undo.cause, in_flight, acked }, context);
        }
        restores
    }
}
