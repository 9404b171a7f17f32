//! Connection establishment (RFC 9293 section 3.5): the SYN and its repetitions.

use airfair_units::Time;

use crate::{Flags, Segment, TcpConfig, Timestamps};

/// State of the SYN.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Handshake {
    /// True if a SYN must be sent.
    pub(super) due: bool,
    /// Departure of the first SYN, unless it was retransmitted.
    pub(super) sent_at: Option<Time>,
}

impl Handshake {
    /// The SYN is sent for the `times`-th time.
    pub(super) fn on_sent(&mut self, times: u64, now: Time) {
        self.due = false;
        self.sent_at = (times == 1).then_some(now);
    }

    /// The SYN was not answered in time (RFC 6298 sections 5.5 and 5.7): true if it is sent again, unless that was done `most` times. Its
    /// transmission restarts the timer.
    pub(super) fn repeats(&mut self, times: u64, most: Option<u32>) -> bool {
        self.due = most.is_none_or(|most| times <= u64::from(most));
        self.due
    }

    /// True if the SYN was retransmitted, or never sent.
    pub(super) fn has_lost(&self) -> bool {
        self.sent_at.is_none()
    }

    /// The SYN with all options that this end supports (RFC 9293 section 3.7.1).
    #[cold]
    pub(super) fn syn(config: &TcpConfig, now: Time) -> Segment {
        let ecn = config.ecn;
        Segment {
            window: config.syn_announced_window(config.whole_window(config.window_scale)),
            // RFC 3168 section 6.1.1: ECE and CWR on a SYN announce that this end supports ECN.
            flags: Flags { syn: true, ece: ecn, cwr: ecn, ..Flags::default() },
            timestamps: config.timestamps.then(|| Timestamps { value: Timestamps::clock(now), echo: 0 }),
            mss: Some(config.mss as u16),
            window_scale: (config.window_scale > 0).then_some(config.window_scale),
            sack_permitted: config.sack,
            ..Segment::bare(0, 0, 0)
        }
    }
}
