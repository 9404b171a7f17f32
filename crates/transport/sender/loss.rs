//! Loss detection by acknowledgements: fast retransmit and fast recovery (RFC 5681 section 3.2, RFC 6582, RFC 6675, RFC 6937).

use airfair_schemes::places::{CongestionCause, PartialAck, SourceContext};

use airfair_units::Bytes;

use super::{Sender, State};
use crate::PartialAckTimer;
use crate::prr::Prr;
use crate::scoreboard::AckResult;

impl Sender {
    /// Handles signs of loss, after the update of the scoreboard.
    pub(super) fn on_loss_signals(
        &mut self,
        advance: bool,
        duplicate: bool,
        result: &AckResult,
        context: &mut SourceContext<'_>,
    ) {
        if advance {
            self.dupacks = 0;
            self.limited = 0;
            match self.state {
                State::Recovery if self.una >= self.recover || self.ends_at_partial_ack() => {
                    self.end_recovery(State::Open);
                    self.recovery_end_unreported = true;
                }
                State::Recovery if !self.sack => self.on_partial_ack(result.cumulative),
                State::Loss if self.una >= self.recover => self.state = State::Open,
                _ => {}
            }
        }
        if result.sacked && self.state != State::Loss {
            let lost = self.board.mark_lost(self.config.dupack_threshold, self.mss);
            self.count_lost(lost);
        }
        // RFC 6675 section 2: with SACK, an acknowledgement with a new block is a duplicate, whatever else it does.
        if if self.sack { result.sacked } else { duplicate } {
            self.stats.duplicate_acks += 1;
            self.on_duplicate(context);
        }
    }

    /// Without SACK each duplicate acknowledgement indicates that a segment beyond the first has arrived, but not which one; so the first
    /// of the segments acknowledged afterwards was missing, and the rest was counted already. Linux counts in this way
    /// (`tcp_add_reno_sack`, `tcp_remove_reno_sacks`), but resets the count at a time-out. `missing`: payload of the first segment before
    /// this acknowledgement.
    pub(super) fn count_duplicates(&mut self, duplicate: bool, missing: u64, result: &mut AckResult) {
        let first = self.board.head().map_or(0, |head| u64::from(head.payload));
        let beyond = self.board.payload().saturating_sub(first);
        if duplicate && self.state != State::Loss {
            let new = u64::from(self.mss).min(beyond.saturating_sub(self.arrived));
            self.arrived += new;
            result.delivered += new;
        } else if result.cumulative > 0 {
            // Retransmissions after a time-out may have been counted by duplicates too.
            let repaired = self.state == State::Loss && self.una >= self.recover;
            let counted = result.cumulative - if repaired { 0 } else { missing.min(result.cumulative) };
            let left = self.arrived.saturating_sub(counted).min(beyond);
            let left = left.max(self.arrived.saturating_sub(result.cumulative));
            result.delivered = result.cumulative - (self.arrived - left);
            self.arrived = left;
        }
    }

    /// Notifies the law of the end of fast recovery: after the acknowledgement that ended it, but before a new recovery starts. Without
    /// SACK with FlightSize (RFC 6582 section 3.2, step 3), which duplicates do not reduce.
    pub(super) fn notify_recovered(&mut self, context: &mut SourceContext<'_>) {
        if core::mem::take(&mut self.recovery_end_unreported) {
            self.law.on_recovered(Bytes(self.board.pipe()), context);
        }
    }

    /// True for plain Reno (RFC 5681 section 3.2, step 6).
    fn ends_at_partial_ack(&self) -> bool {
        !self.sack && self.law.partial_ack() == PartialAck::EndsRecovery
    }

    fn on_duplicate(&mut self, context: &mut SourceContext<'_>) {
        if self.state == State::Recovery {
            // RFC 5681 section 3.2, step 4: a segment has left the network. With SACK the scoreboard counts it. This is also num_dupACK of
            // QFCP, equation 5.
            if !self.sack {
                self.inflation = self.inflation.saturating_add(i64::from(self.mss));
            }
            return;
        }
        self.dupacks = self.dupacks.saturating_add(1);
        let enough = self.dupacks >= self.config.dupack_threshold;
        if self.sack {
            // RFC 6675 section 5, steps 1 and 2; section 5.1: not before all data retransmitted after a time-out are acknowledged.
            if (enough || self.board.head_is_lost()) && self.una >= self.recover {
                self.begin_recovery(context);
            }
        } else if enough && self.una > self.recover {
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
            let (counted, pipe) = (flight.saturating_sub(self.limited), self.pipe());
            self.notify_congestion(CongestionCause::FastLoss, counted, pipe, false, context);
            self.reductions.on_reduced(self.next);
        } else {
            self.keep_reduction();
        }
        self.stats.fast_recoveries += 1;
        self.state = State::Recovery;
        self.partial_seen = false;
        self.timing = None;
        self.board.clear_resent();
        self.retransmit_head();
        if self.sack {
            self.recover = self.next;
            self.rescue = head.end();
            self.prr = self.config.prr.then(|| (Prr::new(flight), 0));
        } else {
            // RFC 5681 section 3.2, step 3: the segments behind the duplicates have left the network.
            self.inflation = i64::from(self.config.dupack_threshold) * i64::from(self.mss);
            // Plain Reno sets `recover` only at a time-out, unless configured otherwise.
            if !self.ends_at_partial_ack() || self.config.fast_retransmit_once {
                self.recover = self.next;
            }
        }
    }

    /// Handles a partial acknowledgement (RFC 6582 section 3.2, step 3): the next hole is retransmitted, and the window is deflated by the
    /// acknowledged bytes, less a segment for the retransmission.
    fn on_partial_ack(&mut self, acked: u64) {
        self.retransmit_head();
        // QFCP, equation 5: num_dupACK returns to zero only when all data sent before the loss are acknowledged.
        if self.law.partial_ack() == PartialAck::RepairsUndeflated {
            return;
        }
        let acked = i64::try_from(acked).unwrap_or(i64::MAX);
        let mss = i64::from(self.mss);
        self.inflation = self.inflation.saturating_sub(acked);
        if acked >= mss {
            self.inflation = self.inflation.saturating_add(mss);
        }
    }

    /// True if a partial acknowledgement restarts the retransmission timer.
    pub(super) fn partial_ack_restarts(&mut self) -> bool {
        let first = !core::mem::replace(&mut self.partial_seen, true);
        first || self.config.partial_ack_timer == PartialAckTimer::SlowButSteady
    }

    /// Ends fast recovery, by success or by a time-out.
    pub(super) fn end_recovery(&mut self, to: State) {
        self.state = to;
        self.retransmit_head_now = false;
        self.prr = None;
    }

    /// Retransmits the first outstanding segment next, whatever the window is.
    fn retransmit_head(&mut self) {
        let lost = self.board.mark_head_lost();
        self.count_lost(lost);
        self.retransmit_head_now = true;
    }

    pub(super) fn count_lost(&mut self, bytes: u64) {
        self.lost_unreported = self.lost_unreported.saturating_add(bytes);
        self.stats.bytes_lost += bytes;
    }
}
