//! A TCP segment by its fields; `airfair-wire` encodes it.

use airfair_schemes::places::Ecn;
use airfair_units::Time;

/// Largest number of SACK blocks in a header (RFC 2018 section 3); three beside timestamps.
const MOST_BLOCKS: usize = 4;

/// Control bits (RFC 9293 section 3.1, RFC 3168 section 6.1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags {
    /// Synchronise: the first segment of a direction.
    pub syn: bool,
    /// The acknowledgement field is valid.
    pub ack: bool,
    /// No more data follow.
    pub fin: bool,
    /// ECN echo.
    pub ece: bool,
    /// Congestion window reduced.
    pub cwr: bool,
    /// Push: no more data of the sender's present burst follow.
    pub psh: bool,
}

/// The timestamps option (RFC 7323 section 3), in ticks of a millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval.
    pub value: u32,
    /// TSecr.
    pub echo: u32,
}

impl Timestamps {
    /// The timestamp clock at `now`: milliseconds that wrap (RFC 7323 section 5.4 allows 1 ms to 1 s).
    #[must_use]
    pub fn clock(now: Time) -> u32 {
        (now.as_nanos() / 1_000_000) as u32
    }
}

/// SACK blocks `[left, right)`, the most recent first (RFC 2018 section 4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u64, u64); MOST_BLOCKS],
    count: u8,
}

impl SackBlocks {
    /// Adds a block if there is room; false if there is none.
    pub fn push(&mut self, left: u64, right: u64) -> bool {
        let Some(place) = self.blocks.get_mut(usize::from(self.count)) else { return false };
        *place = (left, right);
        self.count += 1;
        true
    }

    /// The blocks.
    #[must_use]
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// A segment. Sequence numbers have 64 bits and do not wrap: the SYN is number 0, the first byte of data 1. On the wire they are truncated
/// to 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// First sequence number.
    pub seq: u64,
    /// Bytes of payload.
    pub payload: u32,
    /// The next sequence number that the sender of this segment expects.
    pub ack: u64,
    /// Receive window, bytes, unscaled.
    pub window: u64,
    /// Control bits.
    pub flags: Flags,
    /// ECN bits of its IP header.
    pub ecn: Ecn,
    /// Timestamps option.
    pub timestamps: Option<Timestamps>,
    /// SACK option.
    pub sack: SackBlocks,
    /// Maximum segment size option, on a SYN.
    pub mss: Option<u16>,
    /// Window scale option, on a SYN.
    pub window_scale: Option<u8>,
    /// SACK permitted option, on a SYN.
    pub sack_permitted: bool,
}

impl Segment {
    /// A segment without payload and options that acknowledges up to `ack`.
    #[must_use]
    pub fn bare(seq: u64, ack: u64, window: u64) -> Self {
        Self {
            seq,
            payload: 0,
            ack,
            window,
            flags: Flags { ack: true, ..Flags::default() },
            ecn: Ecn::NotEct,
            timestamps: None,
            sack: SackBlocks::default(),
            mss: None,
            window_scale: None,
            sack_permitted: false,
        }
    }

    /// Length of the TCP header with its options, padded to whole words, bytes (RFC 9293 section 3.1; options 2, 3, 4, 5, 8).
    #[must_use]
    pub fn header_len(&self) -> u32 {
        let mut options = 0;
        if self.mss.is_some() {
            options += 4;
        }
        if self.window_scale.is_some() {
            options += 3;
        }
        if self.timestamps.is_some() {
            // SACK-permitted takes the place of their padding.
            options += 12;
        } else if self.sack_permitted {
            options += 2;
        }
        let blocks = u32::from(self.sack.count);
        if blocks > 0 {
            options += 4 + 8 * blocks;
        }
        20 + options.div_ceil(4) * 4
    }

    /// Number of sequence numbers that it occupies: payload, SYN and FIN.
    #[must_use]
    pub fn sequence_len(&self) -> u64 {
        u64::from(self.payload) + u64::from(self.flags.syn) + u64::from(self.flags.fin)
    }

    /// The sequence number after its last one.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.seq.saturating_add(self.sequence_len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_as_long_as_on_the_wire() {
        let plain = Segment::bare(1, 1, 0);
        assert_eq!(plain.header_len(), 20);
        let stamp = Some(Timestamps { value: 0, echo: 0 });
        assert_eq!(Segment { timestamps: stamp, ..plain }.header_len(), 32);
        // MSS 4, SACK permitted and timestamps 12, window scale 3 and one of padding.
        let syn = Segment { mss: Some(1460), window_scale: Some(7), sack_permitted: true, ..plain };
        assert_eq!(Segment { timestamps: stamp, ..syn }.header_len(), 40);
        assert_eq!(syn.header_len(), 32, "4 + 3 + 2, padded to 12");
        let mut sack = SackBlocks::default();
        for n in 0..4 {
            assert!(sack.push(2 * n, 2 * n + 1));
        }
        assert!(!sack.push(9, 10), "there is room for four");
        assert_eq!(sack.as_slice(), [(0, 1), (2, 3), (4, 5), (6, 7)]);
        assert_eq!(Segment { sack, ..plain }.header_len(), 56);
    }

    #[test]
    fn control_bits_take_sequence_numbers() {
        let flags = Flags { syn: true, fin: true, ..Flags::default() };
        let segment = Segment { payload: 10, flags, ..Segment::bare(5, 1, 0) };
        assert_eq!((segment.sequence_len(), segment.end()), (12, 17));
        assert_eq!(Segment { seq: u64::MAX, ..segment }.end(), u64::MAX);
    }

    #[test]
    fn the_timestamp_clock_counts_milliseconds_and_wraps() {
        assert_eq!(Timestamps::clock(Time(1_999_999)), 1);
        assert_eq!(Timestamps::clock(Time((1 << 32) * 1_000_000 + 5_000_000)), 5);
    }
}
