//! EXACT's header and its receiver's report. The paper [Chen, Nahrstedt, Vaidya, WCNC 2004; UIUCDCS-R-2002-2286] names what they say and,
//! as far as it could be read, no formats; these are ours.
//!
//! All numbers are in network byte order, rates in bytes/s of IP packets.

use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Header};

/// Version 1 in the upper half, the type in the lower.
const STAMP: u8 = 0x11;
const FEEDBACK: u8 = 0x12;

/// The header of a flow's data: 16 bytes.
///
/// | bytes | field |
/// |---|---|
/// | 1 | 0x11 |
/// | 1 | 0, ignored |
/// | 1 | nodes that have stamped the packet |
/// | 1 | nodes that it has passed without |
/// | 4 | explicit rate: the rate that the flow wants, then the smallest that a node allows |
/// | 4 | current rate, at which the source sends |
/// | 4 | sequence number |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// Nodes that have stamped the packet.
    pub supported: u8,
    /// Nodes that it has passed without.
    pub unsupported: u8,
    /// The smallest rate that a node allows so far, bytes/s.
    pub explicit_rate: u32,
    /// The rate at which the source sends, bytes/s.
    pub current_rate: u32,
    /// Sequence number in the flow, modulo 2^32.
    pub sequence: u32,
}

impl Stamp {
    /// Length on the wire: 16 bytes.
    pub const fn wire_len() -> usize {
        16
    }

    /// Encodes the header to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        Writer::new(Header::Exact, buffer, Self::wire_len())?
            .put([STAMP, 0, self.supported, self.unsupported])
            .put(self.explicit_rate.to_be_bytes())
            .put(self.current_rate.to_be_bytes())
            .put(self.sequence.to_be_bytes());
        Ok(Self::wire_len())
    }

    /// Decodes a header; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, or another version or type.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Exact, bytes);
        reader.literal([STAMP], "version and type", "0x11 (stamp)")?;
        let [_reserved, supported, unsupported] = reader.array()?;
        let stamp = Self {
            supported,
            unsupported,
            explicit_rate: reader.u32_be()?,
            current_rate: reader.u32_be()?,
            sequence: reader.u32_be()?,
        };
        Ok((stamp, reader.rest()))
    }
}

/// The report of a flow's receiver, for each packet: 12 bytes.
///
/// | bytes | field |
/// |---|---|
/// | 1 | 0x12 |
/// | 3 | 0, ignored |
/// | 4 | explicit rate of the packet with the largest sequence number so far |
/// | 4 | its sequence number |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Feedback {
    /// The smallest rate that a node on the path allows, bytes/s.
    pub explicit_rate: u32,
    /// The largest sequence number that has arrived.
    pub sequence: u32,
}

impl Feedback {
    /// Length on the wire: 12 bytes.
    pub const fn wire_len() -> usize {
        12
    }

    /// Encodes the report to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        Writer::new(Header::Exact, buffer, Self::wire_len())?
            .put([FEEDBACK, 0, 0, 0])
            .put(self.explicit_rate.to_be_bytes())
            .put(self.sequence.to_be_bytes());
        Ok(Self::wire_len())
    }

    /// Decodes a report; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, or another version or type.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Exact, bytes);
        reader.literal([FEEDBACK], "version and type", "0x12 (feedback)")?;
        reader.skip(3)?;
        Ok((Self { explicit_rate: reader.u32_be()?, sequence: reader.u32_be()? }, reader.rest()))
    }
}
