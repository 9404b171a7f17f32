//! The transport with a rate: the number of each datagram, and what the receiver's reports say of arrivals. Its formats are ours.
//!
//! All numbers are in network byte order. Numbers of datagrams count modulo 2^32.

use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};

/// The header of a datagram with data: 8 bytes in front of the payload.
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

/// The arrivals of a flow, at the front of each report of its receiver: 14 bytes, and 8 for each block, or 4 and the bytes of a map. The
/// report of the flow's law follows.
///
/// | bytes | field |
/// |---|---|
/// | 4 | number of the first datagram that has not arrived |
/// | 4 | time stamp of the datagram that arrived last |
/// | 4 | time since its arrival, µs |
/// | 1 | number of blocks, at most 20 |
/// | 1 | bytes of a map, at most 200; 0 beside blocks |
/// | 8 each | first datagram of a block, and the one after its last |
/// | 4 | of a map: number of its first datagram |
/// | 1 each | of a map: a bit for each datagram from that on, the highest of a byte first; 1: it has arrived |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arrivals {
    /// The number of the first datagram that has not arrived.
    pub next: u32,
    /// The time stamp ([`Data::sent`]) of the datagram that arrived last.
    pub sent: u32,
    /// The time since its arrival, µs.
    pub held: u32,
    blocks: [Block; Arrivals::MOST_BLOCKS],
    len: u8,
    from: u32,
    map: [u8; Arrivals::MOST_MAP],
    mapped: u8,
}

impl Arrivals {
    /// The largest number of blocks: that of ATP (Sundaresan, Anantharaman, Hsieh, Sivakumar, IEEE TMC 4(6), 2005; from memory).
    pub const MOST_BLOCKS: usize = 20;

    /// The most bytes of a map. Ours: after a burst of losses twenty blocks are too few, and a receiver may report once a second.
    pub const MOST_MAP: usize = 200;

    /// Length without blocks and map, bytes.
    const FIXED: usize = 14;

    const fn empty(next: u32, sent: u32, held: u32) -> Self {
        let none = Block { first: 0, end: 0 };
        let (blocks, map) = ([none; Self::MOST_BLOCKS], [0; Self::MOST_MAP]);
        Self { next, sent, held, blocks, len: 0, from: 0, map, mapped: 0 }
    }

    /// The arrivals with these blocks, in the order of their numbers; `None` if there are more than [`Self::MOST_BLOCKS`], or than fit into
    /// `room` bytes: then maps have them.
    pub fn with_blocks(
        next: u32,
        sent: u32,
        held: u32,
        room: usize,
        mut blocks: impl Iterator<Item = Block>,
    ) -> Option<Self> {
        let mut arrivals = Self::empty(next, sent, held);
        let most = room.saturating_sub(Self::FIXED) / 8;
        for (place, block) in arrivals.blocks.iter_mut().take(most).zip(&mut blocks) {
            *place = block;
            arrivals.len += 1;
        }
        blocks.next().is_none().then_some(arrivals)
    }

    /// The arrivals with a map from the datagram `from` on, of which `arrived` tells by its distance from that; as long as fits into `room`
    /// bytes, and no longer than for `count` datagrams.
    pub fn with_map(
        (next, sent, held): (u32, u32, u32),
        room: usize,
        (from, count): (u32, usize),
        arrived: impl Fn(usize) -> bool,
    ) -> Self {
        let mut arrivals = Self::empty(next, sent, held);
        let most = room.saturating_sub(Self::FIXED + 4).min(Self::MOST_MAP).min(count.div_ceil(8));
        (arrivals.from, arrivals.mapped) = (from, most as u8);
        for (byte, at) in arrivals.map.iter_mut().take(most).zip(0..) {
            *byte = (0..8).fold(0, |byte, bit| byte << 1 | u8::from(arrived(8 * at + bit)));
        }
        arrivals
    }

    /// The blocks above `next`, in the order of their numbers; none beside a map.
    pub fn blocks(&self) -> &[Block] {
        self.blocks.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// The number of the map's first datagram.
    pub const fn from(&self) -> u32 {
        self.from
    }

    /// The map: for each of the datagrams from [`Self::from`] on, true if it has arrived; empty beside blocks.
    pub fn map(&self) -> impl Iterator<Item = bool> + '_ {
        let bytes = self.map.get(..usize::from(self.mapped)).unwrap_or_default();
        bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte & 0x80 >> bit != 0))
    }

    /// Length on the wire, bytes.
    pub const fn wire_len(&self) -> usize {
        let from = if self.mapped > 0 { 4 } else { 0 };
        Self::FIXED + 8 * self.len as usize + from + self.mapped as usize
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
            .put([self.len, self.mapped]);
        for block in self.blocks() {
            writer = writer.put(block.first.to_be_bytes()).put(block.end.to_be_bytes());
        }
        if self.mapped > 0 {
            let map = self.map.get(..usize::from(self.mapped)).unwrap_or_default();
            writer.put(self.from.to_be_bytes()).put_slice(map);
        }
        Ok(self.wire_len())
    }

    /// Decodes arrivals; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, more than [`Self::MOST_BLOCKS`] blocks, or a map that is too long or stands beside blocks.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Rate, bytes);
        let mut arrivals = Self::empty(reader.u32_be()?, reader.u32_be()?, reader.u32_be()?);
        let at = reader.clone();
        arrivals.len = reader.u8()?;
        let Some(blocks) = arrivals.blocks.get_mut(..usize::from(arrivals.len)) else {
            return Err(at.fail(Expected::value("number of blocks", "at most 20", &[arrivals.len])));
        };
        let at = reader.clone();
        arrivals.mapped = reader.u8()?;
        if arrivals.len > 0 && arrivals.mapped > 0 {
            return Err(at.fail(Expected::value("bytes of a map", "0 beside blocks", &[arrivals.mapped])));
        }
        if usize::from(arrivals.mapped) > Self::MOST_MAP {
            return Err(at.fail(Expected::value("bytes of a map", "at most 200", &[arrivals.mapped])));
        }
        for block in blocks {
            *block = Block { first: reader.u32_be()?, end: reader.u32_be()? };
        }
        if arrivals.mapped > 0 {
            arrivals.from = reader.u32_be()?;
        }
        if let Some(map) = arrivals.map.get_mut(..usize::from(arrivals.mapped)) {
            map.copy_from_slice(reader.slice(usize::from(arrivals.mapped))?);
        }
        Ok((arrivals, reader.rest()))
    }
}
