//! ATP's header and its receiver's report. The paper [Sundaresan, Anantharaman, Hsieh, Sivakumar, MobiHoc 2003; IEEE TMC 4(6), 2005] names
//! what they say and, as far as it could be read, no formats; these are ours.
//!
//! All numbers are in network byte order.

use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};

/// Version 1 in the upper half, the type in the lower.
const STAMP: u8 = 0x11;
const FEEDBACK: u8 = 0x12;

/// The header of a flow's data: 8 bytes.
///
/// | bytes | field |
/// |---|---|
/// | 1 | 0x11 |
/// | 1 | 1 for a probe, which a source sends while it does not know its path; else 0 |
/// | 1 | nodes that have stamped the packet |
/// | 1 | nodes that it has passed without |
/// | 4 | largest delay of a node so far, µs |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// The source does not know its path.
    pub probe: bool,
    /// Nodes that have stamped the packet.
    pub supported: u8,
    /// Nodes that it has passed without.
    pub unsupported: u8,
    /// The largest sum of queueing and transmission delay of a node so far, µs; 0 before the first.
    pub delay: u32,
}

impl Stamp {
    /// Length on the wire: 8 bytes.
    pub const fn wire_len() -> usize {
        8
    }

    /// Encodes the header to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        Writer::new(Header::Atp, buffer, Self::wire_len())?
            .put([STAMP, u8::from(self.probe), self.supported, self.unsupported])
            .put(self.delay.to_be_bytes());
        Ok(Self::wire_len())
    }

    /// Decodes a header; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, another version or type, or a probe that is neither 0 nor 1.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Atp, bytes);
        reader.literal([STAMP], "version and type", "0x11 (stamp)")?;
        let at = reader.clone();
        let probe = match reader.u8()? {
            0 => false,
            1 => true,
            other => return Err(at.fail(Expected::value("probe", "0 or 1", &[other]))),
        };
        let [supported, unsupported] = reader.array()?;
        Ok((Self { probe, supported, unsupported, delay: reader.u32_be()? }, reader.rest()))
    }
}

/// The report of a flow's receiver, every epoch: 8 bytes.
///
/// | bytes | field |
/// |---|---|
/// | 1 | 0x12 |
/// | 1 | 0, ignored |
/// | 2 | number of the report |
/// | 4 | rate, packets in 1000 s |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Feedback {
    /// Counts the reports of the flow, modulo 2^16.
    pub number: u16,
    /// The rate that the path carries, packets in 1000 s.
    pub rate: u32,
}

impl Feedback {
    /// Length on the wire: 8 bytes.
    pub const fn wire_len() -> usize {
        8
    }

    /// Encodes the report to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        Writer::new(Header::Atp, buffer, Self::wire_len())?
            .put([FEEDBACK, 0])
            .put(self.number.to_be_bytes())
            .put(self.rate.to_be_bytes());
        Ok(Self::wire_len())
    }

    /// Decodes a report; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, or another version or type.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Atp, bytes);
        reader.literal([FEEDBACK], "version and type", "0x12 (feedback)")?;
        let _reserved = reader.u8()?;
        Ok((Self { number: reader.u16_be()?, rate: reader.u32_be()? }, reader.rest()))
    }
}
