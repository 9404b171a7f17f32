//! Undo of spurious retransmissions: their detection by timestamps (RFC 3522) and by duplicate SACK (RFC 3708), and the response to them
//! (RFC 4015).

use airfair_schemes::places::{CongestionCause, SourceContext, Spurious};
use airfair_units::{Bytes, Time};

use super::{Sender, State};
use crate::ecn::Reductions;
use crate::rtt::Before;
use crate::{Segment, Timestamps};

/// A time-out or fast retransmit that may prove spurious, and the state before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Undo {
    cause: CongestionCause,
    /// SND.UNA and SND.NXT at the event.
    from: u64,
    to: u64,
    state: State,
    recover: u64,
    lost_unreported: u64,
    backoffs: u32,
    rtt: Before,
    reductions: Reductions,
    /// Timestamp clock at the first retransmission: RetransmitTS of RFC 3522.
    resent_at: Option<u32>,
    /// Payload sent again that the receiver has not reported as a duplicate, bytes.
    unreported: u64,
    /// True after the first acknowledgement of new data: only that one is compared by its timestamp.
    compared: bool,
    /// True if the law has reduced its window for this event, and for no mark since.
    reduced: bool,
}

impl Sender {
    /// Remembers the state before a time-out or a fast retransmit, before the law is notified. A repeated time-out belongs to the one
    /// before it. Returns true if it does.
    ///
    /// Copies that an earlier recovery has sent may be on their way when another fast retransmit begins, for a segment that was lost.
    /// With `undo_earlier_copies` their arrival does not prove it spurious: the timestamp that is compared is that of the first of them
    /// (`retrans_stamp` of Linux), and as many reports of duplicates more are needed (`tcp_init_undo`).
    pub(super) fn remember(&mut self, cause: CongestionCause, repeated: bool) -> bool {
        if !self.config.undo {
            return false;
        }
        if repeated {
            // Without the state before the first one nothing can be restored.
            self.undo = self.undo.take().filter(|undo| undo.cause == cause);
            return self.undo.is_some();
        }
        let earlier = if cause == CongestionCause::FastLoss && self.config.undo_earlier_copies {
            self.board.repeated()
        } else {
            0
        };
        if earlier == 0 {
            self.resent_since = None;
        }
        let undo = Undo {
            cause,
            from: self.una,
            to: self.next,
            state: self.state,
            recover: self.recover,
            lost_unreported: self.lost_unreported,
            backoffs: self.rtt.backoffs(),
            rtt: self.rtt.before(&self.config),
            reductions: self.reductions,
            resent_at: self.resent_since,
            unreported: earlier,
            compared: false,
            reduced: true,
        };
        self.undo = Some(undo.into());
        false
    }

    /// The window stays as it is if the event proves spurious: the law was not notified of it, or has reduced its window for a mark since.
    pub(super) fn keep_reduction(&mut self) {
        if let Some(undo) = &mut self.undo {
            undo.reduced = false;
        }
    }

    /// Records a retransmission.
    pub(super) fn note_resent(&mut self, payload: u32, now: Time) {
        let clock = Timestamps::clock(now);
        self.resent_since.get_or_insert(clock);
        if let Some(undo) = &mut self.undo {
            undo.resent_at.get_or_insert(clock);
            undo.unreported = undo.unreported.saturating_add(u64::from(payload));
        }
    }

    /// Handles an acknowledgement of `acked` bytes, after the update of scoreboard and round-trip time and before signs of loss.
    /// Returns true if the law has restored its window.
    #[cold]
    #[inline(never)]
    pub(super) fn detect_spurious(
        &mut self,
        advance: bool,
        acked: u64,
        segment: &Segment,
        context: &mut SourceContext<'_>,
    ) -> bool {
        let Some(undo) = &mut self.undo else { return false };
        let mut spurious = false;
        if advance && !core::mem::replace(&mut undo.compared, true) {
            spurious = match (undo.resent_at, segment.timestamps) {
                // Nothing was sent again.
                (None, _) => true,
                (Some(at), Some(stamps)) => self.timestamps && (stamps.echo.wrapping_sub(at) as i32) < 0,
                _ => false,
            };
        }
        if self.sack && undo.unreported > 0 {
            let reported = duplicate(segment, undo.from, undo.to);
            undo.unreported = undo.unreported.saturating_sub(reported);
            spurious |= undo.unreported == 0;
        }
        if spurious {
            return self.respond(acked, segment, context);
        }
        if self.una > undo.to {
            self.undo = None;
        }
        false
    }

    /// The response to a spurious time-out or fast retransmit (RFC 4015). Segments that only the event has declared lost are in flight
    /// again, and transmission continues with new data. Returns true if the law has restored its window.
    fn respond(&mut self, acked: u64, segment: &Segment, context: &mut SourceContext<'_>) -> bool {
        let Some(undo) = self.undo.take() else { return false };
        let timeout = undo.cause == CongestionCause::Timeout;
        if timeout {
            self.stats.spurious_timeouts += 1;
        } else {
            self.stats.spurious_recoveries += 1;
        }
        if self.state != State::Open {
            self.board.restore(!timeout);
            // An earlier loss is repaired as before; fast recovery goes on without the counters of rate reduction.
            let repairs = undo.state != State::Open && self.una < undo.recover;
            self.end_recovery(if repairs { undo.state } else { State::Open });
            if repairs {
                self.recover = undo.recover;
            } else if self.sack {
                self.recover = self.una;
            }
            // Else `recover` stays: duplicates of what was sent again start no fast retransmit (RFC 6582 section 3.2, step 2).
            (self.dupacks, self.limited) = (0, 0);
            if !timeout {
                self.recovery_end_unreported = true;
                self.notify_recovered(context);
            }
        }
        self.lost_unreported = self.lost_unreported.min(undo.lost_unreported);
        if timeout {
            self.rtt.restore_backoffs(undo.backoffs);
            self.settling = Some((undo.rtt, self.next));
        }
        self.rto_at = (!self.board.is_empty()).then(|| self.rtt.expiry(context.now, &self.config));
        // RFC 4015: an echoed mark keeps the reduced window.
        let restores = undo.reduced && !(self.ecn && segment.flags.ece);
        if restores {
            self.reductions.withdraw(&undo.reductions);
            let (in_flight, acked) = (Bytes(self.board.payload()), Bytes(acked));
            self.law.on_spurious(&Spurious { cause: undo.cause, in_flight, acked }, context);
        }
        restores
    }
}

/// Bytes of the duplicate that a segment reports (RFC 2883 section 4: its first block, below the cumulative acknowledgement or within the
/// second block), as far as they lie in `[from, to)`.
fn duplicate(segment: &Segment, from: u64, to: u64) -> u64 {
    let mut blocks = segment.sack.as_slice().iter().copied();
    let Some((left, right)) = blocks.next() else { return 0 };
    let within = |(from, to): (u64, u64)| from <= left && right <= to;
    if right <= segment.ack || blocks.next().is_some_and(within) {
        right.min(to).saturating_sub(left.max(from))
    } else {
        0
    }
}
