//! Timers: retransmission (RFC 6298 section 5), persist (RFC 9293 section 3.8.6.1), and pacing. A timer that does not run has no time; the
//! wait after a mark is with the marks ([`Reductions`](crate::ecn::Reductions)).

use airfair_units::{Rate, Span, Time};

use crate::TcpConfig;
use crate::earliest;
use crate::pacing::Pacer;
use crate::rtt::RttEstimator;

/// The least time until a connection is given up, unless timers that double end it earlier (RFC 1122 section 4.2.3.5).
const PATIENCE: Span = Span::from_secs(100);

/// The time of the `retries` time-outs that follow one of `rto`, each twice as long as the last, up to `max_rto`; less a tenth, since
/// timers that double may be rounded down.
fn doubled(rto: Span, config: &TcpConfig) -> Span {
    let (mut sum, mut next) = (0_u64, rto.as_nanos().max(1).saturating_mul(2) / 10 * 9);
    for left in (1..=u64::from(config.retries.unwrap_or(0))).rev() {
        if next >= config.max_rto.as_nanos() {
            return Span(sum.saturating_add(left.saturating_mul(config.max_rto.as_nanos())));
        }
        (sum, next) = (sum.saturating_add(next), next.saturating_mul(2));
    }
    Span(sum)
}

/// Deadlines of a sender.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Timers {
    /// Expiry of the retransmission timer.
    pub(super) rto_at: Option<Time>,
    /// Time-outs since the last new acknowledgement.
    pub(super) expiries: u32,
    /// The earliest time at which their number ends the connection.
    patient_until: Time,
    /// Time of the next probe of the receiver's closed window.
    pub(super) persist_at: Option<Time>,
    /// Probes since the window was last open.
    persists: u32,
    /// Time at which pacing allows the next segment.
    pub(super) paced_until: Option<Time>,
}

/// Timers that have expired.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expired {
    pub(super) persist: bool,
    pub(super) retransmission: bool,
}

impl Timers {
    /// The first deadline; `hold`: end of the wait after a mark.
    #[inline(always)]
    pub(super) fn deadline(&self, hold: Option<Time>) -> Option<Time> {
        earliest([self.rto_at, self.persist_at, self.paced_until, hold])
    }

    /// Ends the timers that have expired, and the wait after a mark.
    pub(super) fn expire(&mut self, hold: &mut Option<Time>, now: Time) -> Expired {
        let due = |at: &mut Option<Time>| at.take_if(|at| *at <= now).is_some();
        due(&mut self.paced_until);
        due(hold);
        Expired { persist: due(&mut self.persist_at), retransmission: due(&mut self.rto_at) }
    }

    /// The retransmission timer has expired; `rto`: its length, before the next one is made longer.
    ///
    /// RFC 9293 section 3.8.3 lets R2 be a time or a number, and RFC 1122 section 4.2.3.5 asks for 100 s at least. A number stands for the
    /// time that it takes with timers that double: where the law of the connection does not double them (`Source::doubles_timer`), so many
    /// of them pass in seconds, and end nothing before that time, or before 100 s.
    pub(super) fn count_expiry(&mut self, rto: Span, now: Time, config: &TcpConfig) {
        if self.expiries == 0 {
            self.patient_until = now.saturating_add(doubled(rto, config).min(PATIENCE));
        }
        self.expiries = self.expiries.saturating_add(1);
    }

    /// Have data been repeated in vain as often, and for as long, as the connection lasts?
    pub(super) fn gives_up(&self, now: Time, config: &TcpConfig) -> bool {
        config.retries.is_some_and(|most| self.expiries >= most) && now >= self.patient_until
    }

    /// The retransmission timer starts, unless it runs (RFC 6298 section 5.1).
    #[inline(always)]
    pub(super) fn start_retransmission(&mut self, rtt: &RttEstimator, now: Time, config: &TcpConfig) {
        self.rto_at.get_or_insert_with(|| rtt.expiry(now, config));
    }

    /// The retransmission timer starts anew (RFC 6298 section 5.3); without data outstanding it ends (section 5.2).
    #[inline(always)]
    pub(super) fn restart_retransmission(
        &mut self,
        outstanding: bool,
        rtt: &RttEstimator,
        now: Time,
        config: &TcpConfig,
    ) {
        self.rto_at = outstanding.then(|| rtt.expiry(now, config));
    }

    /// Probing ends: new data were sent.
    #[inline(always)]
    pub(super) fn end_probing(&mut self) {
        self.persist_at = None;
        self.persists = 0;
    }

    /// Starts the persist timer, unless it runs.
    pub(super) fn start_probing(&mut self, rtt: &RttEstimator, now: Time, config: &TcpConfig) {
        if self.persist_at.is_none() {
            self.persist_at = Some(rtt.expiry(now, config));
        }
    }

    /// The window is still closed: the next probe comes after twice the time.
    pub(super) fn probe_again(&mut self, rtt: &RttEstimator, now: Time, config: &TcpConfig) {
        self.persists = self.persists.saturating_add(1);
        self.persist_at = Some(rtt.expiry_after(self.persists, now, config));
    }

    /// The receiver has announced a window. If its open part is too small to use, polling sets the persist timer again.
    #[inline(always)]
    pub(super) fn on_window(&mut self, window: u64) {
        if window > 0 {
            self.end_probing();
        } else {
            // A receiver that answers may keep its window closed indefinitely (RFC 9293 section 3.8.6.1).
            self.expiries = 0;
        }
    }

    /// Returns `None` if pacing at `rate` delays `payload` bytes, until a time that is kept.
    #[inline(always)]
    pub(super) fn pace(&mut self, pacer: &Pacer, payload: u32, rate: Option<Rate>, now: Time) -> Option<()> {
        let Some(rate) = rate else { return Some(()) };
        let Err(until) = pacer.check(now, u64::from(payload), rate) else { return Some(()) };
        self.paced_until = Some(until).filter(|&until| until < Time::NEVER);
        None
    }

    /// Ends all timers.
    pub(super) fn stop(&mut self) {
        (self.rto_at, self.persist_at, self.paced_until) = (None, None, None);
    }
}
