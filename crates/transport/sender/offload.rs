//! Packets of segmentation offload: several segments that the kernel handles as one until they leave. Here they only place PSH.

use airfair_units::{Rate, Span};

/// The largest packet, bytes (`GSO_LEGACY_MAX_SIZE`).
const LARGEST: u64 = 65_536;
/// Segments of a packet at any rate, if there are so many (`tcp_min_tso_segs`).
const LEAST: u64 = 2;

/// The packet that is being sent.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Offload {
    /// Segments of it that are still to be sent.
    left: u64,
    several: bool,
}

impl Offload {
    /// Segments that a packet should have (`tcp_tso_autosize`): what the pacing rate sends in about 1 ms, and to a near host more, by half
    /// for each 512 us of the shortest round-trip time. Without a rate the packet is as large as possible.
    pub(super) fn goal(rate: Option<Rate>, shortest: Option<Span>, mss: u32) -> u64 {
        let steady = rate.map_or(LARGEST, |rate| (rate.0 / 8) >> 10);
        let halvings = shortest.map_or(u64::MAX, |span| (span.as_nanos() / 1000) >> 9);
        let near = if halvings < 32 { LARGEST >> halvings } else { 0 };
        ((steady + near).min(LARGEST) / u64::from(mss).max(1)).max(LEAST)
    }

    /// A new segment departs; `segments`: the size of a packet that begins now. True if it ends a packet of several.
    pub(super) fn on_new(&mut self, segments: impl FnOnce() -> u64) -> bool {
        if self.left == 0 {
            self.left = segments().max(1);
            self.several = self.left > 1;
        }
        self.left -= 1;
        self.left == 0 && self.several
    }

    /// A retransmission departs, which is a packet of its own.
    pub(super) fn on_retransmission(&mut self) {
        self.left = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_has_two_segments_at_low_rates_and_more_to_a_near_host() {
        let goal =
            |mbps: u64, ms| Offload::goal(Some(Rate(mbps * 1_000_000)), Some(Span::from_millis(ms)), 1448);
        assert_eq!(
            [goal(5, 100), goal(5, 4), goal(5, 3), goal(5, 2)],
            [2, 2, 2, 6],
            "65536 / 2^(ms / 0.512)"
        );
        assert_eq!(goal(1000, 100), 45, "1 Gbit/s fills a packet in 1 ms");
        assert_eq!(goal(100, 100), 8);
        assert_eq!(Offload::goal(None, None, 1448), 45);
    }

    #[test]
    fn the_last_segment_of_several_ends_a_packet() {
        let mut offload = Offload::default();
        let ends = [3, 9, 9, 1, 2, 9].map(|n| offload.on_new(|| n));
        assert_eq!(ends, [false, false, true, false, false, true]);
        assert!(!offload.on_new(|| 2));
        offload.on_retransmission();
        assert!(!offload.on_new(|| 2), "a packet begins anew");
    }
}
