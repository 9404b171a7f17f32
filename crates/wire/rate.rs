//! The transport with a rate: the number of each datagram, and what the receiver's reports say of arrivals. Its formats are ours.
//!
//! All numbers are in network byte order. Numbers of datagrams count modulo 2^32.

use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};

/// The header of a datagram with data: 8 bytes, before the header of the flow's law.
///
/// | bytes | field |
/// |---|---|
/// | 4 | number of the datagram in its flow, from 0; the same when its data are sent again |
/// | 4 | time of this transmission by the sender's clock, µs modulo 2^32 |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Data {
    /// The number of the datagram.
    pub number: u32,
    /// The time of this transmission, µs modulo 2^32.
    pub sent: u32,
}

impl Data {
    /// Length on the wire: 8 bytes.
    pub const fn wire_len() -> usize {
        8
    }

    /// Encodes the header to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        Writer::new(Header::Rate, buffer, Self::wire_len())?
            .put(self.number.to_be_bytes())
            .put(self.sent.to_be_bytes());
        Ok(Self::wire_len())
    }

    /// Decodes a header; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Rate, bytes);
        let data = Self { number: reader.u32_be()?, sent: reader.u32_be()? };
        Ok((data, reader.rest()))
    }
}

/// Datagrams that have arrived in a row: those from `first` on, below `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Block {
    /// The number of the first.
    pub first: u32,
    /// The number after the last.
    pub end: u32,
}

/// The arrivals of a flow, at the front of each report of its receiver: 13 bytes and 8 for each block. The report of the flow's law
/// follows.
///
/// | bytes | field |
/// |---|---|
/// | 4 | number of the first datagram that has not arrived |
/// | 4 | time stamp of the datagram that arrived last |
/// | 4 | time since its arrival, µs |
/// | 1 | number of blocks, at most 20 |
/// | 8 each | first datagram of a block, and the one after its last |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Arrivals {
    /// The number of the first datagram that has not arrived.
    pub next: u32,
    /// The time stamp ([`Data::sent`]) of the datagram that arrived last.
    pub sent: u32,
    /// The time since its arrival, µs.
    pub held: u32,
    blocks: [Block; Arrivals::MOST_BLOCKS],
    len: u8,
}

impl Arrivals {
    /// The largest number of blocks: that of ATP (Sundaresan, Anantharaman, Hsieh, Sivakumar, IEEE TMC 4(6), 2005; from memory).
    pub const MOST_BLOCKS: usize = 20;

    /// Length without blocks, bytes.
    const FIXED: usize = 13;

    /// The arrivals with the first of these blocks that fit into `room` bytes, at most [`Self::MOST_BLOCKS`].
    pub fn new(next: u32, sent: u32, held: u32, room: usize, blocks: impl Iterator<Item = Block>) -> Self {
        let mut arrivals = Self { next, sent, held, ..Self::default() };
        let most = room.saturating_sub(Self::FIXED) / 8;
        for (place, block) in arrivals.blocks.iter_mut().zip(blocks).take(most) {
            *place = block;
            arrivals.len += 1;
        }
        arrivals
    }

    /// The blocks above `next`, in the order of their numbers.
    pub fn blocks(&self) -> &[Block] {
        self.blocks.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// Length on the wire, bytes.
    pub const fn wire_len(&self) -> usize {
        Self::FIXED + 8 * self.len as usize
    }

    /// Encodes the arrivals to the front of `buffer` and returns their length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let mut writer = Writer::new(Header::Rate, buffer, self.wire_len())?
            .put(self.next.to_be_bytes())
            .put(self.sent.to_be_bytes())
            .put(self.held.to_be_bytes())
            .put([self.len]);
        for block in self.blocks() {
            writer = writer.put(block.first.to_be_bytes()).put(block.end.to_be_bytes());
        }
        Ok(self.wire_len())
    }

    /// Decodes arrivals; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, or more than [`Self::MOST_BLOCKS`] blocks.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Rate, bytes);
        let (next, sent, held) = (reader.u32_be()?, reader.u32_be()?, reader.u32_be()?);
        let at = reader.clone();
        let len = reader.u8()?;
        let mut arrivals = Self { next, sent, held, len, ..Self::default() };
        let Some(blocks) = arrivals.blocks.get_mut(..usize::from(len)) else {
            return Err(at.fail(Expected::value("number of blocks", "at most 20", &[len])));
        };
        for block in blocks {
            *block = Block { first: reader.u32_be()?, end: reader.u32_be()? };
        }
        Ok((arrivals, reader.rest()))
    }
}
