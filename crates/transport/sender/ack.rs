//! Processing of acknowledgements (RFC 9293 section 3.10.7.4; RFC 5681 section 3; RFC 6298 section 5).

use airfair_schemes::places::{Acked, CongestionCause, RateSample, SourceContext};
use airfair_units::{Bytes, Span, Time};

use super::{Sender, State};
use crate::Segment;
use crate::scoreboard::{AckResult, Newest};

impl Sender {
    /// Handles a segment of the receiver. Unacceptable segments are ignored.
    pub fn on_segment(&mut self, segment: &Segment, context: &mut SourceContext<'_>) {
        match self.state {
            State::Closed | State::Failed => {}
            State::SynSent => self.on_syn_ack(segment, context),
            // A repeated SYN-ACK: our acknowledgement of the first was lost (RFC 9293 section 3.10.7.4).
            _ if segment.flags.syn => self.ack_due = true,
            _ if !segment.flags.ack || segment.ack < self.una => {}
            // Data that were never sent are acknowledged: the reply is an acknowledgement (RFC 9293 section 3.10.7.4).
            _ if segment.ack > self.next.max(self.probed_to) => self.ack_due = true,
            _ => self.on_ack(segment, context),
        }
    }

    fn on_ack(&mut self, segment: &Segment, context: &mut SourceContext<'_>) {
        let now = context.now;
        self.stats.acks += 1;
        let prior_in_flight = self.pipe();
        let missing = self.board.head().map_or(0, |head| u64::from(head.payload));
        let prior = (self.board.payload(), prior_in_flight);
        let was_full = self.una < self.full_to;
        let advance = segment.ack > self.una;
        // RFC 5681 section 2: data are outstanding, no payload, no FIN, no new acknowledgement, and an unchanged window.
        let duplicate = !self.board.is_empty()
            && segment.sequence_len() == 0
            && !advance
            && segment.window == self.peer_window;

        let mut result = AckResult::default();
        self.board.acknowledge(segment.ack, &mut result);
        if self.sack {
            for &(left, right) in segment.sack.as_slice() {
                self.board.sack(left, right, &mut result);
            }
        }
        self.una = segment.ack;
        self.next = self.next.max(self.una);
        self.fill_buffer();
        if !self.sack {
            self.count_duplicates(duplicate, missing, &mut result);
        }
        self.update_window(segment.window);
        self.stats.bytes_acked += result.cumulative;

        let rtt = self.measure(advance, segment, result.newest, now);
        let (rate_sample, round_ended) = self.sample_rate(&result, now);
        if advance {
            self.expiries = 0;
            self.restart_timer(now);
        }
        let marked = self.ecn && segment.flags.ece;
        if marked {
            self.on_mark(prior, context);
        }
        let restored =
            self.undo.is_some() && self.detect_spurious(advance, result.cumulative, segment, context);
        // The window does not grow by an acknowledgement that echoes a mark (RFC 3168 section 6.1.2), nor by one that restores it.
        let may_grow = was_full & !marked & !restored;
        let was_in_recovery = self.state == State::Recovery;
        self.on_loss_signals(advance, duplicate, &result, context);
        let in_recovery = was_in_recovery || self.state == State::Recovery;

        if result.delivered > 0 || result.cumulative > 0 {
            let acked = Acked {
                bytes: Bytes(result.delivered),
                cumulative: Bytes(result.cumulative),
                lost: Bytes(core::mem::take(&mut self.lost_unreported)),
                prior_in_flight: Bytes(prior_in_flight),
                in_flight: Bytes(self.pipe()),
                rtt,
                rate_sample,
                round_ended,
                window_limited: may_grow,
                in_recovery,
                sent_at: result
                    .newest
                    .map_or_else(|| self.duplicate_sent_at(now), |newest| newest.snapshot.sent_at),
            };
            self.law.on_acked(&acked, context);
        }
        self.notify_recovered(context);
        self.reduce_proportionally(result.delivered, now);
    }

    /// Earliest departure of the segment behind a duplicate acknowledgement: of n segments that have arrived beyond the first one, the
    /// newest is the n-th or a later one.
    fn duplicate_sent_at(&self, now: Time) -> Time {
        let nth = self.arrived.div_ceil(u64::from(self.mss).max(1));
        let segment = usize::try_from(nth).ok().filter(|&nth| nth > 0).and_then(|nth| self.board.get(nth));
        segment.map_or(now, |segment| segment.snapshot.sent_at)
    }

    /// Updates SND.WND (RFC 9293 section 3.10.7.4). An open window ends the probing.
    fn update_window(&mut self, window: u64) {
        self.peer_window = window;
        self.largest_window = self.largest_window.max(window);
        if window > 0 {
            self.persists = 0;
            self.probe_due = false;
            // If the open part is too small to use, polling sets the timer again.
            self.persist_at = None;
        } else {
            // A receiver that answers may keep its window closed indefinitely (RFC 9293 section 3.8.6.1).
            self.expiries = 0;
        }
    }

    /// Measures round-trip times: for the time-out, and of the newest segment for the law.
    fn measure(
        &mut self,
        advance: bool,
        segment: &Segment,
        newest: Option<Newest>,
        now: Time,
    ) -> Option<Span> {
        if let Some((_, sent_at)) = self.timing.filter(|&(end, _)| self.una >= end) {
            self.timing = None;
            if !self.timestamps {
                let rtt = self.rtt.measured(now, now.since(sent_at), &self.config);
                self.sample_rtt(rtt, 1);
            }
        }
        if let Some(stamps) = segment.timestamps.filter(|_| self.timestamps) {
            // Serial arithmetic: the clock wraps (RFC 7323 section 4.3).
            if (stamps.value.wrapping_sub(self.ts_recent) as i32) > 0 {
                self.ts_recent = stamps.value;
            }
            // RFC 7323 section 4.1: only acknowledgements of new data measure; section 4.2: weighted by the expected number in a round.
            if advance && let Some(rtt) = self.echoed_rtt(stamps, now) {
                let per_round = self.board.payload().div_ceil(2 * u64::from(self.mss));
                let rtt = self.rtt.measured(now, rtt, &self.config);
                self.sample_rtt(rtt, per_round);
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

    /// Adds a measurement of the round-trip time to the time-out.
    #[inline(always)]
    fn sample_rtt(&mut self, rtt: Span, per_round: u64) {
        if self.settling.is_none() || !self.settle(rtt) {
            self.rtt.sample(rtt, per_round, &self.config);
        }
    }

    /// Adapts the time-out after a spurious one, if the measurement is of data sent since; returns true if it is.
    #[cold]
    #[inline(never)]
    fn settle(&mut self, rtt: Span) -> bool {
        let una = self.una;
        let settled = self.settling.take_if(|&mut (_, end)| una > end);
        if let Some((before, _)) = &settled {
            self.rtt.settle(before, rtt, &self.config);
        }
        settled.is_some()
    }

    fn sample_rate(&mut self, result: &AckResult, now: Time) -> (Option<RateSample>, bool) {
        let Some(newest) = result.newest else {
            self.delivery.on_unknown(now, result.delivered);
            return (None, false);
        };
        self.delivery.on_delivered(now, result.delivered, &newest.snapshot, self.rtt.smallest())
    }

    /// Restarts the retransmission timer by RFC 6298 sections 5.2 and 5.3; in fast recovery without SACK, RFC 6582 section 3.2, step 3.
    fn restart_timer(&mut self, now: Time) {
        if self.board.is_empty() {
            self.rto_at = None;
            return;
        }
        let partial = self.state == State::Recovery && !self.sack && self.una < self.recover;
        if partial && !self.partial_ack_restarts() {
            return;
        }
        self.rto_at = Some(self.rtt.expiry(now, &self.config));
    }

    /// Handles an echoed mark (RFC 3168 section 6.1.2). The flight is the one before this acknowledgement, which experienced the
    /// congestion.
    fn on_mark(&mut self, (flight, pipe): (u64, u64), context: &mut SourceContext<'_>) {
        let one_segment = self.window(context.now) <= u64::from(self.mss);
        if self.reductions.on_echo(self.una, self.next) {
            self.stats.ecn_reductions += 1;
            self.keep_reduction();
            self.notify_congestion(CongestionCause::Mark, flight, pipe, false, context);
            if one_segment {
                // The window cannot fall below one segment: the timer limits the rate instead.
                let wait = self.rtt.expiry(context.now, &self.config);
                self.reductions.hold = Some(wait);
                self.rto_at = self.rto_at.map(|_| wait);
            }
        }
    }

    /// Applies RFC 6937 after each acknowledgement in recovery.
    fn reduce_proportionally(&mut self, delivered: u64, now: Time) {
        let (pipe, aim) = (self.board.pipe(), self.window(now));
        if let Some((prr, window)) = &mut self.prr {
            *window = prr.window(delivered, pipe, aim, u64::from(self.mss));
        }
    }
}
