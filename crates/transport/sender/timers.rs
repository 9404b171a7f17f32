//! Timers: retransmission (RFC 6298 section 5), persist (RFC 9293 section 3.8.6.1), pacing, and the wait after a mark.

use airfair_schemes::places::{CongestionCause, SourceContext};
use airfair_units::Time;

use super::{Sender, State};
use crate::earliest;

impl Sender {
    /// The next time at which [`Sender::on_timer`] must be called; valid until the next call that changes the sender.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        earliest([self.rto_at, self.persist_at, self.paced_until, self.reductions.hold])
    }

    /// The time at which the retransmission timer expires, if it runs, and the number of its expiries since the last acknowledgement of
    /// new data.
    #[must_use]
    pub const fn retransmission_timer(&self) -> Option<(Time, u32)> {
        match self.rto_at {
            Some(at) => Some((at, self.expiries)),
            None => None,
        }
    }

    /// Doublings of the time-out. They stay until a segment that was sent once is acknowledged (RFC 6298 section 5, Karn), also when
    /// acknowledgements of retransmissions have brought the connection on.
    #[must_use]
    pub fn doublings(&self) -> u32 {
        let all = self.rtt.backoffs();
        let present = self.rtt.rto_after(all, &self.config);
        // At its upper bound the time-out doubles no more.
        (0..all).find(|&fewer| self.rtt.rto_after(fewer, &self.config) == present).unwrap_or(all)
    }

    /// Handles a deadline; before it the call has no effect.
    pub fn on_timer(&mut self, context: &mut SourceContext<'_>) {
        let now = context.now;
        let due = |at: &mut Option<Time>| at.take_if(|at| *at <= now).is_some();
        due(&mut self.paced_until);
        due(&mut self.reductions.hold);
        if due(&mut self.persist_at) {
            self.on_persist(now);
        }
        if due(&mut self.rto_at) {
            if self.state == State::SynSent { self.on_syn_timeout() } else { self.on_timeout(context) }
        }
    }

    /// RFC 6298 sections 5.5 and 5.7; the transmission of the SYN restarts the timer.
    fn on_syn_timeout(&mut self) {
        if self.config.syn_retries.is_some_and(|most| self.stats.syns > u64::from(most)) {
            return self.fail();
        }
        self.rtt.back_off();
        self.syn_due = true;
    }

    /// RFC 6298 sections 5.4 to 5.6, RFC 5681 section 3.1, RFC 6582 section 4, RFC 6675 section 5.1.
    fn on_timeout(&mut self, context: &mut SourceContext<'_>) {
        if self.board.is_empty() {
            return;
        }
        if self.config.retries.is_some_and(|most| self.expiries >= most) {
            return self.fail();
        }
        self.expiries = self.expiries.saturating_add(1);
        self.stats.timeouts += 1;
        let repeated = self.board.head().is_some_and(|head| head.timed_out);
        let (flight, pipe) = (self.board.payload(), self.pipe());
        let again = self.remember(CongestionCause::Timeout, repeated);
        self.notify_congestion(CongestionCause::Timeout, flight, pipe, repeated, context);
        self.board.mark_all_lost(again);
        self.count_lost(pipe);
        self.end_recovery(State::Loss);
        self.recover = self.next;
        self.timing = None;
        self.reductions.on_reduced(self.next);
        self.rtt.back_off();
        self.rto_at = Some(self.rtt.expiry(context.now, &self.config));
    }

    /// The window is still closed: sends a probe, and schedules the next after twice the time.
    fn on_persist(&mut self, now: Time) {
        self.probe_due = true;
        self.persists = self.persists.saturating_add(1);
        self.persist_at = Some(self.rtt.expiry_after(self.persists, now, &self.config));
    }

    /// Fails the connection (RFC 9293 section 3.8.3, R2).
    fn fail(&mut self) {
        self.state = State::Failed;
        (self.rto_at, self.persist_at, self.paced_until, self.reductions.hold) = (None, None, None, None);
    }
}
