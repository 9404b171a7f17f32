//! Segments that TCP packets carry. Each is stored once, when its packet is made, and is read where it lies.

use airfair_transport::Segment;

use crate::ids::ConnectionRef;

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
    carried: Vec<CarriedSegment>,
}

impl Segments {
    /// Stores the segment of the packet at an index.
    #[inline(always)]
    pub(crate) fn store(&mut self, at: usize, segment: &Segment, connection: ConnectionRef, forward: bool) {
        if at >= self.carried.len() {
            self.grow(at);
        }
        self.carried[at] = CarriedSegment { segment: *segment, connection, forward };
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, at: usize) {
        let segment = Segment::bare(0, 0, 0);
        let none = CarriedSegment { segment, connection: ConnectionRef::NONE, forward: false };
        self.carried.resize(at + 1, none);
    }

    /// Sets ECN-Echo in the acknowledgement at an index; not in a SYN, where the flag negotiates ECN (RFC 3168, 6.1.1). True if it was set.
    pub(crate) fn echo(&mut self, at: usize) -> bool {
        let Some(CarriedSegment { segment, .. }) = self.carried.get_mut(at) else { return false };
        let flags = &mut segment.flags;
        let sets = flags.ack && !flags.syn && !flags.ece;
        flags.ece |= sets;
        sets
    }

    /// Connection of the segment that the packet at an index carries, or carried last.
    #[inline]
    pub(crate) fn connection(&self, at: usize) -> Option<ConnectionRef> {
        self.carried.get(at).map(|carried| carried.connection)
    }

    /// First byte of the segment at an index or, without data, the acknowledged byte: lower 32 bits.
    pub(crate) fn sequence(&self, at: usize) -> u32 {
        let number = |segment: &Segment| if segment.payload > 0 { segment.seq } else { segment.ack } as u32;
        self.carried.get(at).map_or(0, |carried| number(&carried.segment))
    }

    /// Segment that the packet at an index carries, or carried last, with the ECN bits of its departure.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&CarriedSegment> {
        self.carried.get(at)
    }

    /// The same, to be changed.
    #[inline(always)]
    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut CarriedSegment> {
        self.carried.get_mut(at)
    }
}

#[cfg(test)]
mod tests {
    use airfair_schemes::places::Ecn;
    use airfair_transport::{Flags, SackBlocks, Timestamps};

    use super::*;

    /// [`crate::link`] counts as much memory for a packet on a wire.
    #[test]
    fn a_carried_segment_takes_at_most_144_bytes() {
        assert!(size_of::<CarriedSegment>() <= 144, "{}", size_of::<CarriedSegment>());
    }

    /// The flag is set once in an acknowledgement, and never in a SYN, where it has another meaning, nor in data without ACK.
    #[test]
    fn an_acknowledgement_is_made_to_echo() {
        let mut cargo = Segments::default();
        let flags = |ack, syn| Flags { syn, ack, fin: false, ece: false, cwr: false, psh: false };
        for (i, (ack, syn, set)) in
            [(true, false, true), (true, true, false), (false, false, false)].into_iter().enumerate()
        {
            let segment = Segment { flags: flags(ack, syn), ..Segment::bare(7, 8, 9) };
            cargo.store(i, &segment, ConnectionRef::NONE, false);
            assert_eq!(cargo.echo(i), set);
            assert_eq!(cargo.get(i).unwrap().segment.flags.ece, set);
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
        let flags = Flags { syn: true, ack: true, fin: true, ece: true, cwr: true, psh: true };
        let flagged = Segment { flags, ecn: Ecn::Ce, ..plain };
        let mut cargo = Segments::default();
        let id = ConnectionRef { place: 3, generation: 4 };
        for segment in [plain, syn, plain, stamped, flagged, syn, stamped] {
            cargo.store(2, &segment, id, true);
            let carried = cargo.get(2).unwrap();
            assert_eq!(carried.segment, segment);
            assert_eq!((carried.connection, carried.forward), (id, true));
            assert_eq!(cargo.sequence(2), 7 + u32::from(segment.payload == 0));
        }
        assert!(cargo.get(3).is_none());
    }
}
