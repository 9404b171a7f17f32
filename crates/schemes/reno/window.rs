//! The state that window laws share: the congestion window and the slow-start threshold, byte-exact, with their bounds, slow start,
//! and the effects of a time-out and of a silence on them (RFC 5681 sections 3.1 and 4.1).

use airfair_units::Bytes;

use crate::params;
use crate::places::{Allowance, Congestion, CongestionCause, FlowSetup, Spurious};

/// The state before a time-out or fast retransmit, bytes.
#[derive(Debug, Clone, Copy)]
struct Before {
    size: u64,
    /// `pipe_prev` of RFC 4015: the larger of FlightSize and ssthresh. FlightSize counts up to the window.
    threshold: u64,
}

/// Congestion window `cwnd` and threshold `ssthresh`, all in bytes of payload.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// SMSS, the sender's largest segment; at least 1.
    mss: u64,
    /// IW, the initial window.
    initial: u64,
    /// The largest window.
    limit: u64,
    /// The congestion window cwnd.
    size: u64,
    ssthresh: u64,
    /// Before the last time-out, unless it was a repeated one, or fast retransmit.
    before: Option<Before>,
}

impl Window {
    /// The window of a flow that has not started: one byte, no segment.
    pub const fn new(initial_ssthresh: Bytes) -> Self {
        Self { mss: 1, initial: 1, limit: 1, size: 1, ssthresh: initial_ssthresh.get(), before: None }
    }

    /// The connection is established. After a SYN was lost the initial window is one segment (RFC 5681 section 3.1).
    pub fn start(&mut self, setup: &FlowSetup) {
        self.mss = setup.mss.get().max(1);
        self.limit = setup.window_limit.get().max(self.mss);
        let initial = if setup.syn_lost { self.mss } else { setup.initial_window.get() };
        self.initial = initial.clamp(self.mss, self.limit);
        self.size = self.initial;
    }

    /// SMSS in bytes.
    pub const fn mss(&self) -> u64 {
        self.mss
    }

    /// cwnd in bytes.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// ssthresh in bytes.
    pub const fn threshold(&self) -> u64 {
        self.ssthresh
    }

    /// Sets cwnd, kept between one segment and the limit.
    pub fn set(&mut self, bytes: u64) {
        self.size = bytes.clamp(self.mss, self.limit);
    }

    /// No congestion event is remembered any more: the window is not the one that it has changed.
    pub fn forget(&mut self) {
        self.before = None;
    }

    /// Raises cwnd, up to the limit.
    pub fn grow(&mut self, bytes: u64) {
        self.set(self.size.saturating_add(bytes));
    }

    /// Sets ssthresh, at least two segments (RFC 5681 equation 4).
    pub fn set_threshold(&mut self, bytes: u64) {
        self.ssthresh = bytes.max(self.mss.saturating_mul(2));
    }

    /// Slow start is used below the threshold; RFC 5681 leaves the choice open when the two are equal: it has ended.
    pub const fn in_slow_start(&self) -> bool {
        self.size < self.ssthresh
    }

    /// Slow start at an acknowledgement of `acked` bytes: `cwnd += min(N, L SMSS)` (RFC 5681 equation 2, where L is 1;
    /// RFC 3465 section 2.2).
    pub fn slow_start(&mut self, acked: u64, segments: u64) {
        self.grow(acked.min(self.mss.saturating_mul(segments)));
    }

    /// The retransmission timer expired: the loss window is one segment (RFC 5681 section 3.1).
    pub fn collapse(&mut self) {
        self.size = self.mss;
    }

    /// Remembers the state before a congestion event, for the case that the event proves spurious. To be called first.
    pub fn remember(&mut self, congestion: &Congestion) {
        let lost = matches!(congestion.cause, CongestionCause::FastLoss | CongestionCause::Timeout);
        if lost && !congestion.repeated {
            let flight = congestion.in_flight.get().min(self.size);
            self.before = Some(Before { size: self.size, threshold: flight.max(self.ssthresh) });
        }
    }

    /// The last time-out or fast retransmit was spurious (RFC 4015): slow start leads back to the data in flight before it, from those in
    /// flight now and what this acknowledgement has released, at most the initial window, so that no burst leaves. The window never
    /// falls, and is not larger than it was before, unless it has grown beyond since.
    pub fn restore(&mut self, spurious: &Spurious) {
        let Some(before) = self.before.take() else { return };
        let released = spurious.acked.get().min(self.initial);
        let size = spurious.in_flight.get().saturating_add(released);
        self.set(size.min(before.size).max(self.size));
        self.ssthresh = before.threshold;
    }

    /// After a silence: the restart window is `min(IW, cwnd)` (RFC 5681 section 4.1).
    pub fn restart(&mut self) {
        self.size = self.size.min(self.initial);
    }

    /// The allowance of a window without pacing.
    pub const fn allowance(&self) -> Allowance {
        Allowance { window: Some(Bytes(self.size)), rate: None, quantum: None }
    }
}
params! {
    /// The parameter of all laws that have a slow-start threshold.
    pub(crate) struct WindowParameters {
        /// slow-start threshold of a new flow; RFC 5681 section 3.1: arbitrarily high, for example the largest window that TCP can
        /// advertise (RFC 7323: 65535 times 2^14)
        operator initial_ssthresh: Bytes = Bytes(1_073_725_440), in Bytes(1)..=Bytes(u64::MAX);
    }
}
