//! The frame check sequence [IEEE 802.11-2016 clause 9.2.4.8].

use crate::cursor::Reader;
use crate::error::{DecodeError, EncodeError, Expected, Header};

/// The standard's generator polynomial, its bits reversed because the low bit of each byte is sent first.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// Remainders of all byte values.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            remainder = if remainder & 1 == 1 { remainder >> 1 ^ POLYNOMIAL } else { remainder >> 1 };
            bit += 1;
        }
        table[byte] = remainder;
        byte += 1;
    }
    table
};

/// The 32-bit CRC over all fields of the header and the body, the same as Ethernet's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fcs(
    /// The CRC as a number.
    pub u32,
);

impl Fcs {
    /// Length on the wire: 4 bytes.
    pub const fn wire_len() -> usize {
        4
    }

    /// The FCS of a frame given without its last four bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let crc = bytes.iter().fold(u32::MAX, |crc, &byte| {
            let [low, ..] = crc.to_le_bytes();
            TABLE[usize::from(low ^ byte)] ^ crc >> 8
        });
        Self(!crc)
    }

    /// Bytes of the FCS in transmission order.
    pub const fn to_bytes(self) -> [u8; 4] {
        self.0.to_le_bytes()
    }

    /// Writes the FCS of all preceding bytes into the last four bytes of `frame`; returns the frame's length, bytes.
    ///
    /// # Errors
    /// Where `frame` has fewer than four bytes.
    pub fn seal(frame: &mut [u8]) -> Result<usize, EncodeError> {
        let len = frame.len();
        match frame.split_last_chunk_mut::<{ Self::wire_len() }>() {
            Some((covered, field)) => {
                *field = Self::of(covered).to_bytes();
                Ok(len)
            }
            None => Err(EncodeError { header: Header::Fcs, needed: Self::wire_len(), available: len }),
        }
    }

    /// Checks the last four bytes of a frame and returns the bytes before them.
    ///
    /// # Errors
    /// Fewer than four bytes, or a wrong FCS; the offset counts from the start of the frame.
    pub fn check(frame: &[u8]) -> Result<&[u8], DecodeError> {
        let Some((covered, field)) = frame.split_last_chunk::<{ Self::wire_len() }>() else {
            let expected = Expected::Bytes { needed: Self::wire_len(), available: frame.len() };
            return Err(Reader::new(Header::Fcs, frame).fail(expected));
        };
        let (computed, found) = (Self::of(covered).0, u32::from_le_bytes(*field));
        if computed == found {
            return Ok(covered);
        }
        let expected = Expected::Checksum { computed, found };
        Err(DecodeError { header: Header::Fcs, offset: covered.len(), expected })
    }
}

#[cfg(test)]
mod tests {
    use super::Fcs;

    /// The check value of CRC-32 (ISO-HDLC, IEEE 802.3) in every catalogue of CRCs.
    #[test]
    fn crc32_check_value() {
        assert_eq!(Fcs::of(b"123456789"), Fcs(0xcbf4_3926));
    }

    /// The residue of a receiver's CRC over data and FCS: the complement of c704dd7b, bits reversed.
    #[test]
    fn residue() {
        let mut frame = *b"any bytes at all, then room for the FCS: ....";
        assert_eq!(Fcs::seal(&mut frame), Ok(45));
        assert_eq!(Fcs::of(&frame), Fcs(0x2144_df1c));
        assert_eq!(Fcs::check(&frame), Ok(&b"any bytes at all, then room for the FCS: "[..]));
    }
}
