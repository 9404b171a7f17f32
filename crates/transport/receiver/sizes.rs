//! The size of the sender's full segments, as Linux finds it (`tcp_measure_rcv_mss`).

use crate::Segment;

/// Payload of a segment that may be a full one (`TCP_MSS_DEFAULT`), and of one without PSH and FIN (`TCP_MIN_MSS`).
const USUAL: u32 = 536;
const LEAST: u32 = 88;

/// The size of full segments, and of a shorter one that may be full.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SegmentSizes {
    full: u32,
    short: u32,
}

impl Default for SegmentSizes {
    fn default() -> Self {
        Self { full: USUAL, short: 0 }
    }
}

impl SegmentSizes {
    /// Payload of a full segment, bytes.
    pub(crate) fn full(&self) -> u32 {
        self.full
    }

    /// Handles data in order. True if they may be the end of what the sender writes: a full segment with PSH, or one that is not full. Two
    /// shorter segments of one size in a row are full ones of a smaller size.
    pub(crate) fn ends(&mut self, segment: &Segment) -> bool {
        let (payload, flags) = (segment.payload, segment.flags);
        let short = core::mem::take(&mut self.short);
        if payload >= self.full {
            self.full = payload;
            return flags.psh;
        }
        if payload >= USUAL || payload >= LEAST && !flags.psh && !flags.fin {
            self.short = payload;
            if payload == short {
                self.full = payload;
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flags;

    #[test]
    fn full_segments_are_as_large_as_the_largest_or_as_two_in_a_row() {
        let mut sizes = SegmentSizes::default();
        let mut ends = |payload, psh| {
            let flags = Flags { psh, ack: true, ..Flags::default() };
            (sizes.ends(&Segment { payload, flags, ..Segment::bare(1, 1, 0) }), sizes.full())
        };
        assert_eq!(
            [ends(100, false), ends(1448, false), ends(1448, true)],
            [(true, 536), (false, 1448), (true, 1448)]
        );
        assert_eq!(
            [ends(600, false), ends(1448, false), ends(600, true)],
            [(true, 1448), (false, 1448), (true, 1448)]
        );
        assert_eq!([ends(600, true), ends(600, true)], [(false, 600), (true, 600)], "the second in a row");
        assert_eq!([ends(80, false), ends(80, false)], [(true, 600), (true, 600)], "too short to be full");
    }
}
