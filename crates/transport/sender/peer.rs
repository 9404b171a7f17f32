//! Options that both ends have agreed on (RFC 9293 section 3.7.1, RFC 7323, RFC 2018, RFC 3168 section 6.1.1), and the receiver's window.

use airfair_units::{Span, Time};

use crate::{Flags, Segment, TcpConfig, Timestamps};

/// Bytes of timestamps in every segment (RFC 7323 appendix A).
const TIMESTAMPS_LEN: u32 = 12;

/// MSS of a peer that announces none (RFC 9293 section 3.7.1).
const DEFAULT_PEER_MSS: u16 = 536;

/// The receiver as the sender sees it.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    /// Largest payload of a segment, options subtracted, bytes: SMSS of RFC 5681.
    pub mss: u32,
    /// True if both ends support selective acknowledgements.
    pub sack: bool,
    /// True if both ends support timestamps.
    pub timestamps: bool,
    /// True if both ends support ECN.
    pub ecn: bool,
    /// The last timestamp received.
    ts_recent: u32,
    /// SND.WND, bytes.
    pub window: u64,
    /// Max(SND.WND), bytes.
    pub largest_window: u64,
    /// Window of the reverse direction, which carries no data, bytes.
    announced: u64,
}

impl Peer {
    /// A receiver that has not answered.
    pub(super) fn new(config: &TcpConfig) -> Self {
        Self {
            mss: config.mss,
            sack: false,
            timestamps: false,
            ecn: false,
            ts_recent: 0,
            window: 0,
            largest_window: 0,
            announced: config.receive_window,
        }
    }

    /// Both ends support the same, without handshake.
    pub(super) fn assume(&mut self, config: &TcpConfig) {
        self.sack = config.sack;
        self.timestamps = config.timestamps;
        self.ecn = config.ecn;
        self.window = config.whole_window(config.window_scale);
    }

    /// Takes the options from the answer to the SYN.
    pub(super) fn agree(&mut self, config: &TcpConfig, answer: &Segment) {
        let Flags { ece, cwr, .. } = answer.flags;
        self.sack = config.sack && answer.sack_permitted;
        self.timestamps = config.timestamps && answer.timestamps.is_some();
        self.ecn = config.ecn && ece && !cwr;
        self.ts_recent = answer.timestamps.map_or(0, |stamps| stamps.value);
        self.window = answer.window;
        let peer_mss = u32::from(answer.mss.unwrap_or(DEFAULT_PEER_MSS));
        self.mss = config.mss.min(peer_mss).max(1);
    }

    /// Data may be sent: options and `of_law` bytes of a scheme's header must fit into the same packet.
    pub(super) fn establish(&mut self, of_law: u32) {
        self.largest_window = self.window;
        if self.timestamps {
            self.mss = self.mss.saturating_sub(TIMESTAMPS_LEN).max(1);
        }
        self.mss = self.mss.saturating_sub(of_law).max(1);
    }

    /// Updates SND.WND (RFC 9293 section 3.10.7.4).
    #[inline(always)]
    pub(super) fn set_window(&mut self, window: u64) {
        self.window = window;
        self.largest_window = self.largest_window.max(window);
    }

    /// Keeps the newest timestamp of the receiver.
    #[inline(always)]
    pub(super) fn note(&mut self, stamps: Timestamps) {
        // Serial arithmetic: the clock wraps (RFC 7323 section 4.3).
        if (stamps.value.wrapping_sub(self.ts_recent) as i32) > 0 {
            self.ts_recent = stamps.value;
        }
    }

    /// Round-trip time from an echoed timestamp (RFC 7323 section 4.1), to a millisecond; none if the echo is later than now.
    pub(super) fn echoed_rtt(stamps: Timestamps, now: Time) -> Option<Span> {
        let elapsed = Timestamps::clock(now).wrapping_sub(stamps.echo);
        (elapsed < 1 << 31).then(|| Span::from_millis(u64::from(elapsed)))
    }

    /// A segment without payload that is sent now: an acknowledgement of all received data, since the reverse direction carries nothing but
    /// its SYN. Timestamps: RFC 7323 section 3.2.
    #[inline(always)]
    pub(super) fn bare(&self, seq: u64, now: Time) -> Segment {
        let mut segment = Segment::bare(seq, 1, self.announced);
        if self.timestamps {
            segment.timestamps = Some(Timestamps { value: Timestamps::clock(now), echo: self.ts_recent });
        }
        segment
    }
}
