//! Reason for which a sender sends nothing more now, for `explain`; computing it changes nothing.

use airfair_units::{Bytes, Time};

use super::{Sender, State};

/// The limit of a sender that has been polled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// The connection is not open yet, or has failed.
    Handshake,
    /// The application has provided no more data, or has not refilled the send buffer yet, or Nagle's algorithm holds a segment that is
    /// not full.
    Application,
    /// The law's congestion window is full, or new data wait after a mark.
    Window,
    /// The window is full at its configured maximum: the law would allow more.
    WindowLimit,
    /// The receiver's window is full.
    PeerWindow,
    /// The time of the next paced segment has not come.
    Pacing,
    /// No limit: there is data that may be sent.
    Nothing,
}

impl Sender {
    /// The limit as of the last poll.
    #[must_use]
    pub fn limit(&self, now: Time) -> Limit {
        if matches!(self.state, State::Closed | State::SynSent | State::Failed) {
            return Limit::Handshake;
        }
        if self.paced_until.is_some() {
            return Limit::Pacing;
        }
        if self.reductions.hold.is_some() {
            return Limit::Window;
        }
        let allowance = self.law.allowance(now);
        let window = || {
            let law = allowance.window.map_or(u64::MAX, Bytes::get);
            if law > self.config.window_limit { Limit::WindowLimit } else { Limit::Window }
        };
        if self.state != State::Open && self.board.has_lost() {
            return if self.retransmit_head_now || self.fits(self.mss, &allowance) {
                Limit::Nothing
            } else {
                window()
            };
        }
        let left = self.buffered().saturating_sub(self.next);
        let wanted = left.min(u64::from(self.mss));
        let usable = self.una.saturating_add(self.peer_window).saturating_sub(self.next);
        if left == 0 || self.config.nagle && wanted < u64::from(self.mss) && self.una < self.next {
            Limit::Application
        } else if usable < wanted {
            Limit::PeerWindow
        } else if !self.fits(wanted as u32, &allowance) {
            window()
        } else {
            Limit::Nothing
        }
    }
}
