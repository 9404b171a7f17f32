//! The format of a datagram. All numbers are big-endian; the rest of the payload, up to the size that the user chose, is zero.
//!
//! | bytes | meaning |
//! |---|---|
//! | 0-3 | `AFLD` |
//! | 4 | version, 1 |
//! | 5 | kind: 0 data, 1 end, 2 probe |
//! | 6-7 | zero |
//! | 8-15 | run: a random number, one for each flow |
//! | 16-23 | sequence number, from 0; of an end: the number of data datagrams that were sent |
//! | 24-31 | CLOCK_MONOTONIC of the sender when the datagram was given to the kernel, nanoseconds |
//! | 32-39 | hash of the sender's boot id: times of two ends are comparable if it is the same; 0: unknown |
//!
//! A probe only finds out whether somebody listens; it is not counted.

/// Bytes of the header, and of the smallest datagram.
pub const HEADER: usize = 40;

/// Bytes of the largest payload of UDP over IPv4.
pub const MOST: usize = 65_507;

const MAGIC: [u8; 4] = *b"AFLD";
const VERSION: u8 = 1;

/// Numbers from here on are in no real datagram: at a million a second a flow would need 146,000 years.
const MOST_SEQUENCE: u64 = 1 << 62;

/// The purpose of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One of the flow's packets.
    Data,
    /// The end of the flow, repeated as it may be lost.
    End,
    /// A question whether somebody listens.
    Probe,
}

/// The header of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The purpose.
    pub kind: Kind,
    /// The flow.
    pub run: u64,
    /// The sequence number; of an end the number of packets.
    pub sequence: u64,
    /// The time of sending, nanoseconds.
    pub sent_at: u64,
    /// A hash of the boot id, or 0.
    pub boot: u64,
}

impl Header {
    /// The header as bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = VERSION;
        bytes[5] = match self.kind {
            Kind::Data => 0,
            Kind::End => 1,
            Kind::Probe => 2,
        };
        for (at, number) in [(8, self.run), (16, self.sequence), (24, self.sent_at), (32, self.boot)] {
            bytes[at..at + 8].copy_from_slice(&number.to_be_bytes());
        }
        bytes
    }

    /// The header of a datagram; none if the datagram is not one of this format.
    #[must_use]
    pub fn decode(datagram: &[u8]) -> Option<Self> {
        let header: &[u8; HEADER] = datagram.first_chunk()?;
        if header[..4] != MAGIC || header[4] != VERSION || header[6..8] != [0, 0] {
            return None;
        }
        let kind = match header[5] {
            0 => Kind::Data,
            1 => Kind::End,
            2 => Kind::Probe,
            _ => return None,
        };
        let number = |at: usize| header[at..].first_chunk().map(|bytes| u64::from_be_bytes(*bytes));
        let sequence = number(16)?;
        (sequence < MOST_SEQUENCE).then_some(Self {
            kind,
            run: number(8)?,
            sequence,
            sent_at: number(24)?,
            boot: number(32)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER_OF_7: Header = Header { kind: Kind::End, run: 0x0102, sequence: 7, sent_at: 9, boot: 3 };

    #[test]
    fn the_bytes_are_those_of_the_table() {
        let bytes = HEADER_OF_7.encode();
        assert_eq!(bytes[..8], *b"AFLD\x01\x01\0\0");
        assert_eq!(bytes[8..24], [0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 7]);
        assert_eq!(bytes[24..], [0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 3]);
        assert_eq!(Header::decode(&bytes), Some(HEADER_OF_7));
    }

    #[test]
    fn other_bytes_are_no_header() {
        let right = HEADER_OF_7.encode();
        assert_eq!(Header::decode(&right[..HEADER - 1]), None);
        for (at, byte) in [(0, b'B'), (4, 0), (4, 2), (5, 3), (6, 1), (7, 1), (16, 0x40)] {
            let mut wrong = right;
            wrong[at] = byte;
            assert_eq!(Header::decode(&wrong), None, "byte {at}");
        }
    }
}
