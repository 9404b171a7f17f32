//! Segments that TCP packets carry: one cache line each, since every hop of a packet touches it.

use airfair_schemes::places::Ecn;
use airfair_transport::{Flags, SackBlocks, Segment, Timestamps};

use crate::ids::ConnectionRef;

/// No place among the rare options.
const NONE: u32 = u32::MAX;

/// A segment without its rare options.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct SegmentLine {
    seq: u64,
    ack: u64,
    window: u64,
    connection: ConnectionRef,
    timestamps: Timestamps,
    payload: u32,
    /// Place of this line's rare options, once it has had any.
    rare: u32,
    flags: Flags,
    has_timestamps: bool,
    has_rare: bool,
    forward: bool,
}

/// TCP options that few segments have.
#[derive(Debug, Clone, Copy)]
struct RareOptions {
    sack: SackBlocks,
    mss: Option<u16>,
    window_scale: Option<u8>,
    sack_permitted: bool,
}

/// A segment with its connection and direction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CarriedSegment {
    pub segment: Segment,
    pub connection: ConnectionRef,
    /// True from the sender to the receiver.
    pub forward: bool,
}

/// Segments by the index of their packet.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    lines: Vec<SegmentLine>,
    rare: Vec<RareOptions>,
}

impl SegmentLine {
    const EMPTY: Self = Self {
        seq: 0,
        ack: 0,
        window: 0,
        connection: ConnectionRef::NONE,
        timestamps: Timestamps { value: 0, echo: 0 },
        payload: 0,
        rare: NONE,
        flags: Flags { syn: false, ack: false, fin: false, ece: false, cwr: false },
        has_timestamps: false,
        has_rare: false,
        forward: false,
    };
}

impl Segments {
    /// Stores the segment of the packet at an index.
    #[inline]
    pub(crate) fn store_segment(
        &mut self,
        at: usize,
        segment: &Segment,
        connection: ConnectionRef,
        forward: bool,
    ) {
        if at >= self.lines.len() {
            self.lines.resize(at + 1, SegmentLine::EMPTY);
        }
        let line = &mut self.lines[at];
        let has_rare = !segment.sack.as_slice().is_empty()
            || segment.mss.is_some()
            || segment.window_scale.is_some()
            || segment.sack_permitted;
        *line = SegmentLine {
            seq: segment.seq,
            ack: segment.ack,
            window: segment.window,
            connection,
            timestamps: segment.timestamps.unwrap_or(Timestamps { value: 0, echo: 0 }),
            payload: segment.payload,
            rare: line.rare,
            flags: segment.flags,
            has_timestamps: segment.timestamps.is_some(),
            has_rare,
            forward,
        };
        if has_rare {
            self.store_rare_options(at, segment);
        }
    }

    #[inline(never)]
    fn store_rare_options(&mut self, at: usize, segment: &Segment) {
        let &Segment { sack, mss, window_scale, sack_permitted, .. } = segment;
        let rare = RareOptions { sack, mss, window_scale, sack_permitted };
        let line = &mut self.lines[at];
        match self.rare.get_mut(line.rare as usize) {
            Some(place) => *place = rare,
            None => {
                line.rare = self.rare.len() as u32;
                self.rare.push(rare);
            }
        }
    }

    /// Sets ECN-Echo in the acknowledgement at an index; not in a SYN, where the flag negotiates ECN (RFC 3168, 6.1.1). True if it was set.
    pub(crate) fn echo(&mut self, at: usize) -> bool {
        let Some(SegmentLine { flags, .. }) = self.lines.get_mut(at) else { return false };
        let sets = flags.ack && !flags.syn && !flags.ece;
        flags.ece |= sets;
        sets
    }

    /// Connection of the segment that the packet at an index carries, or carried last.
    #[inline]
    pub(crate) fn connection(&self, at: usize) -> Option<ConnectionRef> {
        self.lines.get(at).map(|line| line.connection)
    }

    /// First byte of the segment at an index or, without data, the acknowledged byte: lower 32 bits.
    pub(crate) fn sequence(&self, at: usize) -> u32 {
        self.lines.get(at).map_or(0, |line| if line.payload > 0 { line.seq } else { line.ack } as u32)
    }

    /// Segment that the packet at an index carries, or carried last, with the ECN bits of its IP header.
    #[inline]
    pub(crate) fn get(&self, at: usize, ecn: Ecn) -> Option<CarriedSegment> {
        let line = self.lines.get(at)?;
        let segment = Segment {
            payload: line.payload,
            flags: line.flags,
            ecn,
            timestamps: line.has_timestamps.then_some(line.timestamps),
            ..Segment::bare(line.seq, line.ack, line.window)
        };
        let mut carried = CarriedSegment { segment, connection: line.connection, forward: line.forward };
        if line.has_rare {
            let RareOptions { sack, mss, window_scale, sack_permitted } = self.rare[line.rare as usize];
            carried.segment = Segment { sack, mss, window_scale, sack_permitted, ..carried.segment };
        }
        Some(carried)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_line() {
        assert_eq!(size_of::<SegmentLine>(), 64);
    }

    /// The flag is set once in an acknowledgement, and never in a SYN, where it has another meaning, nor in data without ACK.
    #[test]
    fn an_acknowledgement_is_made_to_echo() {
        let mut cargo = Segments::default();
        let flags = |ack, syn| Flags { syn, ack, fin: false, ece: false, cwr: false };
        for (i, (ack, syn, set)) in
            [(true, false, true), (true, true, false), (false, false, false)].into_iter().enumerate()
        {
            let segment = Segment { flags: flags(ack, syn), ..Segment::bare(7, 8, 9) };
            cargo.store_segment(i, &segment, ConnectionRef::NONE, false);
            assert_eq!(cargo.echo(i), set);
            assert_eq!(cargo.get(i, Ecn::NotEct).unwrap().segment.flags.ece, set);
            assert!(!cargo.echo(i), "once");
        }
        assert!(!cargo.echo(3), "nothing is there");
    }

    /// A segment is read as it was stored, whatever the place has held before.
    #[test]
    fn a_segment_comes_out_as_it_went_in() {
        let plain = Segment { payload: 960, ..Segment::bare(7, 8, 9) };
        let syn = Segment { mss: Some(960), window_scale: Some(3), sack_permitted: true, ..plain };
        let mut sack = SackBlocks::default();
        assert!(sack.push(100, 200));
        let stamped = Segment { sack, timestamps: Some(Timestamps { value: 1, echo: 2 }), ..plain };
        let flags = Flags { syn: true, ack: true, fin: true, ece: true, cwr: true };
        let flagged = Segment { flags, ecn: Ecn::Ce, ..plain };
        let mut cargo = Segments::default();
        let id = ConnectionRef { place: 3, generation: 4 };
        for segment in [plain, syn, plain, stamped, flagged, syn, stamped] {
            cargo.store_segment(2, &segment, id, true);
            let carried = cargo.get(2, segment.ecn).unwrap();
            assert_eq!(carried.segment, segment);
            assert_eq!((carried.connection, carried.forward), (id, true));
        }
        assert_eq!(cargo.rare.len(), 1, "a place is used again");
        assert!(cargo.get(3, Ecn::NotEct).is_none());
    }
}
