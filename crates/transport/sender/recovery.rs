//! Counters of loss detection and fast recovery (RFC 5681 section 3.2, RFC 6582, RFC 6675, RFC 6937).

use airfair_schemes::places::Allowance;
use airfair_units::Time;

use super::State;
use super::peer::Peer;
use super::stream::Stream;
use crate::prr::Prr;
use crate::scoreboard::{AckResult, Scoreboard};
use crate::{PartialAckTimer, TcpConfig};

/// State of loss detection and of a recovery.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Recovery {
    /// Number of consecutive duplicate acknowledgements.
    pub(super) dupacks: u32,
    /// Without SACK: bytes beyond the first segment that have arrived according to duplicate acknowledgements, whichever they are.
    arrived: u64,
    /// Bytes sent by limited transmit (RFC 3042): not part of FlightSize (RFC 5681 section 3.2, step 2).
    pub(super) limited: u64,
    /// `recover` of RFC 6582 and RecoveryPoint of RFC 6675, exclusive: SND.NXT at the detection of a loss.
    pub(super) point: u64,
    /// Bytes that fast recovery without SACK adds to the law's window; partial acknowledgements can make it negative.
    inflation: i64,
    /// True if a partial acknowledgement has restarted the timer in this recovery.
    partial_seen: bool,
    /// True if a segment must be retransmitted whatever the window is.
    pub(super) head_due: bool,
    /// RescueRxt of RFC 6675, exclusive.
    pub(super) rescue: u64,
    /// Proportional rate reduction during a recovery, and the window that it set last, bytes.
    prr: Option<(Prr, u64)>,
    /// Payload assumed lost since the last notification of the law, bytes.
    pub(super) lost_unreported: u64,
    /// True if fast recovery has ended and the law is not notified yet.
    pub(super) end_unreported: bool,
}

impl Recovery {
    /// Without SACK each duplicate acknowledgement indicates that a segment beyond the first has arrived, but not which one; so the first
    /// of the segments acknowledged afterwards was missing, and the rest was counted already. Linux counts in this way
    /// (`tcp_add_reno_sack`, `tcp_remove_reno_sacks`), but resets the count at a time-out. `missing`: payload of the first segment before
    /// this acknowledgement up to `una`.
    #[inline(always)]
    pub(super) fn count_duplicates(
        &mut self,
        (duplicate, missing, una): (bool, u64, u64),
        (state, mss): (State, u32),
        board: &Scoreboard,
        result: &mut AckResult,
    ) {
        if duplicate && state != State::Loss {
            let new = u64::from(mss).min(beyond_first(board).saturating_sub(self.arrived));
            self.arrived += new;
            result.delivered += new;
        } else if result.cumulative > 0 {
            if self.arrived == 0 {
                result.delivered = result.cumulative;
                return;
            }
            // Retransmissions after a time-out may have been counted by duplicates too.
            let repaired = state == State::Loss && una >= self.point;
            let counted = result.cumulative - if repaired { 0 } else { missing.min(result.cumulative) };
            let left = self.arrived.saturating_sub(counted).min(beyond_first(board));
            let left = left.max(self.arrived.saturating_sub(result.cumulative));
            result.delivered = result.cumulative - (self.arrived - left);
            self.arrived = left;
        }
    }

    /// Payload in the network as laws receive it, bytes: pipe of RFC 6675, without SACK less the segments behind duplicates. After a
    /// time-out all outstanding data are retransmitted.
    #[inline(always)]
    pub(super) fn pipe(&self, state: State, board: &Scoreboard) -> u64 {
        let arrived = if state == State::Loss { 0 } else { self.arrived };
        board.pipe().saturating_sub(arrived)
    }

    /// Earliest departure of the segment behind a duplicate acknowledgement: of n segments that have arrived beyond the first one, the
    /// newest is the n-th or a later one. None if none has arrived.
    #[cold]
    #[inline(never)]
    pub(super) fn newest_sent_at(&self, board: &Scoreboard, mss: u32) -> Option<Time> {
        let nth =
            usize::try_from(self.arrived.div_ceil(u64::from(mss).max(1))).ok().filter(|&nth| nth > 0)?;
        board.get(nth).map(|segment| segment.snapshot.sent_at)
    }

    /// Starts a recovery of which the first segment is `head_end` long, with `flight` bytes outstanding. `keeps_point`: plain Reno, which
    /// sets its recovery point only at a time-out.
    pub(super) fn begin(
        &mut self,
        (stream, head_end): (&Stream, u64),
        (flight, keeps_point): (u64, bool),
        peer: &Peer,
        config: &TcpConfig,
    ) {
        self.partial_seen = false;
        if peer.sack {
            self.point = stream.next;
            self.rescue = head_end;
            self.prr = config.prr.then(|| (Prr::new(flight), 0));
        } else {
            // RFC 5681 section 3.2, step 3: the segments behind the duplicates have left the network.
            self.inflation = i64::from(config.dupack_threshold) * i64::from(peer.mss);
            if !keeps_point || config.fast_retransmit_once {
                self.point = stream.next;
            }
        }
    }

    /// Ends fast recovery, by success or by a time-out.
    pub(super) fn end(&mut self) {
        self.head_due = false;
        self.prr = None;
    }

    /// A duplicate acknowledgement in fast recovery without SACK: a segment has left the network (RFC 5681 section 3.2, step 4). This is
    /// also num_dupACK of QFCP, equation 5.
    pub(super) fn inflate(&mut self, mss: u32) {
        self.inflation = self.inflation.saturating_add(i64::from(mss));
    }

    /// Deflates the window at a partial acknowledgement (RFC 6582 section 3.2, step 3): by the acknowledged bytes, less a segment for the
    /// retransmission.
    pub(super) fn deflate(&mut self, acked: u64, mss: u32) {
        let (acked, mss) = (i64::try_from(acked).unwrap_or(i64::MAX), i64::from(mss));
        self.inflation = self.inflation.saturating_sub(acked);
        if acked >= mss {
            self.inflation = self.inflation.saturating_add(mss);
        }
    }

    /// True if a partial acknowledgement restarts the retransmission timer.
    pub(super) fn partial_ack_restarts(&mut self, timer: PartialAckTimer) -> bool {
        let first = !core::mem::replace(&mut self.partial_seen, true);
        first || timer == PartialAckTimer::SlowButSteady
    }

    /// Bytes were sent.
    #[inline(always)]
    pub(super) fn on_sent(&mut self, bytes: u64) {
        if let Some((prr, _)) = &mut self.prr {
            prr.on_sent(bytes);
        }
    }

    /// Applies RFC 6937 after each acknowledgement in recovery; `aim`: window of the law.
    #[inline(always)]
    pub(super) fn reduce(&mut self, delivered: u64, pipe: u64, aim: impl FnOnce() -> u64, mss: u32) {
        if let Some((prr, window)) = &mut self.prr {
            *window = prr.window(delivered, pipe, aim(), u64::from(mss));
        }
    }

    /// The congestion window with the additions of recovery, bytes.
    #[inline(always)]
    pub(super) fn window(&self, state: State, allowance: &Allowance, peer: &Peer, config: &TcpConfig) -> u64 {
        if state == State::Recovery || self.dupacks > 0 {
            return self.changed_window(state, allowance, peer, config);
        }
        config.within_limit(allowance)
    }

    /// [`Self::window`] after duplicate acknowledgements.
    #[cold]
    #[inline(never)]
    fn changed_window(&self, state: State, allowance: &Allowance, peer: &Peer, config: &TcpConfig) -> u64 {
        let window = config.within_limit(allowance);
        match (state, &self.prr) {
            // Where the law has no window, none is reduced.
            (State::Recovery, Some((_, window))) if allowance.window.is_some() => *window,
            (State::Recovery, _) => window.saturating_add_signed(self.inflation),
            // RFC 3042: up to two segments beyond the window; with SACK the scoreboard releases as much.
            (State::Open, _) if config.limited_transmit && !peer.sack => {
                window.saturating_add(u64::from(self.dupacks.min(2)) * u64::from(peer.mss))
            }
            _ => window,
        }
    }
}

/// Payload outstanding beyond the first segment, bytes.
fn beyond_first(board: &Scoreboard) -> u64 {
    let first = board.head().map_or(0, |head| u64::from(head.payload));
    board.payload().saturating_sub(first)
}
