//! DiffQ's trailer: what the sender of each frame tells its neighbours. The paper names the fields and where they stand, at the end of the
//! packet [Warrier, Ha, Wason, Rhee, §5.3, figure 4]; this layout is ours.

use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};

/// DiffQ's trailer: 16 bytes.
///
/// | bytes | field |
/// |---|---|
/// | 1 | version 1 in the upper half, type of the packet in the lower: [`Type`] |
/// | 1 | interfaces that have written the trailer so far |
/// | 2 | size of the queue of the packet's destination at the sender of the frame, packets |
/// | 4 | flow |
/// | 4 | time of the first transmission, us |
/// | 4 | sequence number |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Trailer {
    /// What the packet is.
    pub kind: Type,
    /// Interfaces that have written the trailer so far. Where this is less than the hops that IP has counted, the sender of the frame has
    /// no DiffQ, and the size is that of an earlier node.
    pub written: u8,
    /// Size of the queue of the packet's destination at the sender of the frame, packets.
    pub queue: u16,
    /// Flow, a number that its source has chosen.
    pub flow: u32,
    /// Time at which the source sent the packet, us.
    pub sent_us: u32,
    /// Sequence number of the packet in its flow and direction.
    pub sequence: u32,
}

/// Type of the packet: the flow's routing decides what a node does with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Data of a flow whose packets have one next hop.
    Data,
    /// An acknowledgement of such a flow.
    Ack,
    /// A packet with a list of forwarders.
    SourceRouted,
}

const VERSION: u8 = 1;

impl Type {
    const fn code(self) -> u8 {
        match self {
            Self::Data => 1,
            Self::Ack => 2,
            Self::SourceRouted => 3,
        }
    }
}

impl Trailer {
    /// Length on the wire, bytes.
    pub const fn wire_len(&self) -> usize {
        16
    }

    /// Encodes the trailer to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        Writer::new(Header::DiffQ, buffer, self.wire_len())?
            .put([VERSION << 4 | self.kind.code(), self.written])
            .put(self.queue.to_be_bytes())
            .put(self.flow.to_be_bytes())
            .put(self.sent_us.to_be_bytes())
            .put(self.sequence.to_be_bytes());
        Ok(self.wire_len())
    }

    /// Decodes a trailer; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, another version, or an unknown type.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::DiffQ, bytes);
        let at = reader.clone();
        let [first, written] = reader.array()?;
        let kind = match first {
            0x11 => Type::Data,
            0x12 => Type::Ack,
            0x13 => Type::SourceRouted,
            _ => {
                let expected = "0x11 (data), 0x12 (acknowledgement) or 0x13 (source-routed)";
                return Err(at.fail(Expected::value("version and type", expected, &[first])));
            }
        };
        let trailer = Self {
            kind,
            written,
            queue: reader.u16_be()?,
            flow: reader.u32_be()?,
            sent_us: reader.u32_be()?,
            sequence: reader.u32_be()?,
        };
        Ok((trailer, reader.rest()))
    }
}
