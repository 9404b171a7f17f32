//! Undo of spurious retransmissions: their detection by timestamps (RFC 3522) and by duplicate SACK (RFC 3708), and the response to them
//! (RFC 4015).

use alloc::boxed::Box;

use airfair_schemes::places::CongestionCause;
use airfair_units::{Span, Time};

use super::State;
use super::peer::Peer;
use crate::ecn::Reductions;
use crate::rtt::{Before, RttEstimator};
use crate::{Segment, TcpConfig, Timestamps};

/// A time-out or fast retransmit that may prove spurious, and the state before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Undo {
    pub(super) cause: CongestionCause,
    /// SND.UNA and SND.NXT at the event.
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) state: State,
    pub(super) recover: u64,
    pub(super) lost_unreported: u64,
    pub(super) backoffs: u32,
    pub(super) rtt: Before,
    pub(super) reductions: Reductions,
    /// Timestamp clock at the first retransmission: RetransmitTS of RFC 3522.
    pub(super) resent_at: Option<u32>,
    /// Payload sent again that the receiver has not reported as a duplicate, bytes.
    pub(super) unreported: u64,
    /// True after the first acknowledgement of new data: only that one is compared by its timestamp.
    pub(super) compared: bool,
    /// True if the law has reduced its window for this event, and for no mark since.
    pub(super) reduced: bool,
}

/// Events that may prove spurious, and the consequences if one does.
#[derive(Debug, Default)]
pub(super) struct Undoing {
    /// The last time-out or fast retransmit, while it may prove spurious.
    undo: Option<Box<Undo>>,
    /// Timestamp clock at the first retransmission since the last time-out or fast retransmit before which none was outstanding.
    resent_since: Option<u32>,
    /// After a spurious time-out: the averages before it, and SND.NXT at its detection. Measurements of data beyond adapt the time-out.
    settling: Option<(Before, u64)>,
}

impl Undoing {
    /// A repeated time-out belongs to the one before it. Returns true if that is remembered: without the state before the first one nothing
    /// can be restored.
    pub(super) fn continues(&mut self, cause: CongestionCause) -> bool {
        self.undo = self.undo.take().filter(|undo| undo.cause == cause);
        self.undo.is_some()
    }

    /// Remembers the state before a time-out or a fast retransmit, before the law is notified.
    ///
    /// Copies that an earlier recovery has sent (`undo.unreported`) may be on their way when another fast retransmit begins, for a segment
    /// that was lost. Then their arrival does not prove it spurious: the timestamp that is compared is that of the first of them
    /// (`retrans_stamp` of Linux), and as many reports of duplicates more are needed (`tcp_init_undo`).
    pub(super) fn remember(&mut self, undo: Undo) {
        if undo.unreported == 0 {
            self.resent_since = None;
        }
        self.undo = Some(Undo { resent_at: self.resent_since, ..undo }.into());
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

    /// True if an event may prove spurious.
    #[inline(always)]
    pub(super) fn is_watching(&self) -> bool {
        self.undo.is_some()
    }

    /// Handles an acknowledgement up to `una`. Returns the event if it proves spurious.
    #[cold]
    #[inline(never)]
    pub(super) fn detect(
        &mut self,
        (advance, una): (bool, u64),
        segment: &Segment,
        peer: &Peer,
    ) -> Option<Box<Undo>> {
        let undo = self.undo.as_mut()?;
        let mut spurious = false;
        if advance && !core::mem::replace(&mut undo.compared, true) {
            spurious = match (undo.resent_at, segment.timestamps) {
                // Nothing was sent again.
                (None, _) => true,
                (Some(at), Some(stamps)) => peer.timestamps && (stamps.echo.wrapping_sub(at) as i32) < 0,
                _ => false,
            };
        }
        if peer.sack && undo.unreported > 0 {
            let reported = duplicate(segment, undo.from, undo.to);
            undo.unreported = undo.unreported.saturating_sub(reported);
            spurious |= undo.unreported == 0;
        }
        if spurious {
            return self.undo.take();
        }
        if una > undo.to {
            self.undo = None;
        }
        None
    }

    /// A time-out was spurious: the first measurement of data beyond `next` adapts the time-out to `before`.
    pub(super) fn settle_after(&mut self, before: Before, next: u64) {
        self.settling = Some((before, next));
    }

    /// Adds a measurement of the round-trip time of data up to `una`, one of `per_round` in a round trip, to the time-out. After a spurious
    /// time-out the first measurement of data sent since adapts the time-out.
    pub(super) fn sample(
        &mut self,
        estimator: &mut RttEstimator,
        (rtt, per_round): (Span, u64),
        una: u64,
        config: &TcpConfig,
    ) {
        match self.settling.take_if(|&mut (_, end)| una > end) {
            Some((before, _)) => estimator.settle(&before, rtt, config),
            None => estimator.sample(rtt, per_round, config),
        }
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
