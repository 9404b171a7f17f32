//! The Neighborhood Congestion Notification of NRED [Xu, Gerla, Qi, Shu, MobiCom 2003, §5.2]: packet type,
//! normalizedP_b, lifetime. The paper names the fields and not their sizes; these are ours.

use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Header};

/// The packet type of an NCN.
const TYPE: u8 = 1;

/// A notification: 8 bytes, the payload of a UDP datagram.
///
/// | bytes | field |
/// |---|---|
/// | 1 | packet type, 1 |
/// | 1 | reserved, 0; ignored |
/// | 2 | lifetime, ms |
/// | 4 | normalizedP_b as a fraction of 2^32 - 1 |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ncn {
    /// normalizedP_b; `u32::MAX` is 1.
    pub normalized: u32,
    /// Validity, milliseconds.
    pub lifetime_ms: u16,
}

impl Ncn {
    /// Length on the wire: 8 bytes.
    pub const fn wire_len() -> usize {
        8
    }

    /// Encodes the notification to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        Writer::new(Header::Ncn, buffer, Self::wire_len())?
            .put([TYPE, 0])
            .put(self.lifetime_ms.to_be_bytes())
            .put(self.normalized.to_be_bytes());
        Ok(Self::wire_len())
    }

    /// Decodes a notification; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, or another packet type.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Ncn, bytes);
        reader.need(Self::wire_len())?;
        reader.literal([TYPE], "packet type", "1 (NCN)")?;
        let _reserved = reader.u8()?;
        let lifetime_ms = reader.u16_be()?;
        let normalized = reader.u32_be()?;
        Ok((Self { normalized, lifetime_ms }, reader.rest()))
    }
}
