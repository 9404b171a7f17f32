//! Loss as acknowledgements show it: fast retransmit and fast recovery (RFC 5681 section 3.2, RFC 6582, RFC 6675, RFC 6937).

use airfair_schemes::places::{CongestionCause, PartialAck, SourceContext};

use airfair_units::Bytes;

use super::{Sender, State};
use crate::PartialAckTimer;
use crate::prr::Prr;
use crate::scoreboard::News;

impl Sender {
    /// After the scoreboard was brought up to date.
    pub(super) fn on_loss_signals(
        &mut self,
        advance: bool,
        duplicate: bool,
        news: &News,
        context: &mut SourceContext<'_>,
    ) {
        if advance {
            self.dupacks = 0;
            self.limited = 0;
            match self.state {
                State::Recovery if self.una >= self.recover || self.ends_at_partial_ack() => {
                    self.leave_recovery(State::Open);
                    self.recovered_untold = true;
                }
                State::Recovery if !self.sack => self.on_partial_ack(news.cumulative),
                State::Loss if self.una >= self.recover => self.state = State::Open,
                _ => {}
            }
        }
        if news.sacked && self.state != State::Loss {
            let lost = self.board.mark_lost(self.config.dupack_threshold, self.mss);
            self.count_lost(lost);
        }
        // RFC 6675 section 2: with SACK, what tells something new is a duplicate, whatever else it does.
        if if self.sack { news.sacked } else { duplicate } {
            self.stats.duplicate_acks += 1;
            self.on_duplicate(context);
        }
    }

    /// Without SACK each duplicate acknowledgement tells that a segment beyond the first has arrived, though not which; so the first of
    /// what is acknowledged afterwards was missing, and the rest was counted. Linux counts so (`tcp_add_reno_sack`,
    /// `tcp_remove_reno_sacks`), but forgets at a time-out what it has counted. `missing`: payload of the first segment before this
    /// acknowledgement.
    pub(super) fn count_duplicates(&mut self, duplicate: bool, missing: u64, news: &mut News) {
        let first = self.board.head().map_or(0, |head| u64::from(head.payload));
        let beyond = self.board.payload().saturating_sub(first);
        if duplicate && self.state != State::Loss {
            let new = u64::from(self.mss).min(beyond.saturating_sub(self.arrived));
            self.arrived += new;
            news.delivered += new;
        } else if news.cumulative > 0 {
            // What a time-out has sent again may have been duplicates' too.
            let repaired = self.state == State::Loss && self.una >= self.recover;
            let counted = news.cumulative - if repaired { 0 } else { missing.min(news.cumulative) };
            let left = self.arrived.saturating_sub(counted).min(beyond);
            let left = left.max(self.arrived.saturating_sub(news.cumulative));
            news.delivered = news.cumulative - (self.arrived - left);
            self.arrived = left;
        }
    }

    /// Tells the law that fast recovery has ended: after the acknowledgement that ended it, but before a new one begins. Without SACK
    /// with FlightSize (RFC 6582 section 3.2, step 3): duplicates take nothing from it.
    pub(super) fn tell_recovered(&mut self, context: &mut SourceContext<'_>) {
        if core::mem::take(&mut self.recovered_untold) {
            self.law.on_recovered(Bytes(self.board.pipe()), context);
        }
    }

    /// Whether the law is plain Reno (RFC 5681 section 3.2, step 6).
    fn ends_at_partial_ack(&self) -> bool {
        !self.sack && self.law.partial_ack() == PartialAck::EndsRecovery
    }

    fn on_duplicate(&mut self, context: &mut SourceContext<'_>) {
        if self.state == State::Recovery {
            // RFC 5681 section 3.2, step 4: a segment has left the network. With SACK the scoreboard knows. This is also num_dupACK of
            // QFCP, equation 5.
            if !self.sack {
                self.inflation = self.inflation.saturating_add(i64::from(self.mss));
            }
            return;
        }
        self.dupacks = self.dupacks.saturating_add(1);
        let enough = self.dupacks >= self.config.dupack_threshold;
        if self.sack {
            // RFC 6675 section 5, steps 1 and 2; section 5.1: not before all is acknowledged that a time-out sent again.
            if (enough || self.board.head_is_lost()) && self.una >= self.recover {
                self.begin_recovery(context);
            }
        } else if enough && self.una > self.recover {
            // RFC 6582 section 3.2, step 2: more than `recover` is acknowledged, or the duplicates may be the echo of our own
            // retransmissions.
            self.begin_recovery(context);
        }
    }

    fn begin_recovery(&mut self, context: &mut SourceContext<'_>) {
        let Some(head) = self.board.head().copied() else { return };
        self.tell_recovered(context);
        let flight = self.board.payload();
        // RFC 3168 section 6.1.2: a window of data is answered once, by whichever sign comes first.
        if !self.reductions.marked_since(head.seq) {
            let (counted, pipe) = (flight.saturating_sub(self.limited), self.pipe());
            self.tell_congestion(CongestionCause::FastLoss, counted, pipe, false, context);
            self.reductions.on_reduced(self.next);
        }
        self.stats.fast_recoveries += 1;
        self.state = State::Recovery;
        self.partial_seen = false;
        self.timing = None;
        self.board.forget_resent();
        self.repair_head();
        if self.sack {
            self.recover = self.next;
            self.rescue = head.end();
            self.prr = self.config.prr.then(|| (Prr::new(flight), 0));
        } else {
            // RFC 5681 section 3.2, step 3: the segments that the duplicates stand for have left the network.
            self.inflation = i64::from(self.config.dupack_threshold) * i64::from(self.mss);
            // Plain Reno knows no `recover` but the one of a time-out, unless it is told to.
            if !self.ends_at_partial_ack() || self.config.fast_retransmit_once {
                self.recover = self.next;
            }
        }
    }

    /// RFC 6582 section 3.2, step 3, partial acknowledgements: the next hole is sent again, and the window is deflated by what
    /// was acknowledged, less a segment for the one that leaves.
    fn on_partial_ack(&mut self, acked: u64) {
        self.repair_head();
        // QFCP, equation 5: num_dupACK falls to zero when all data is acknowledged that was sent before the loss, no earlier.
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

    /// Whether a partial acknowledgement restarts the retransmission timer.
    pub(super) fn partial_ack_restarts(&mut self) -> bool {
        let first = !core::mem::replace(&mut self.partial_seen, true);
        first || self.config.partial_ack_timer == PartialAckTimer::SlowButSteady
    }

    /// Fast recovery has ended, by success or by a time-out.
    pub(super) fn leave_recovery(&mut self, to: State) {
        self.state = to;
        self.repair_now = false;
        self.prr = None;
    }

    /// The first outstanding segment leaves next, whatever the window says.
    fn repair_head(&mut self) {
        let lost = self.board.lose_head();
        self.count_lost(lost);
        self.repair_now = true;
    }

    pub(super) fn count_lost(&mut self, bytes: u64) {
        self.lost_untold = self.lost_untold.saturating_add(bytes);
        self.stats.bytes_lost += bytes;
    }
}
