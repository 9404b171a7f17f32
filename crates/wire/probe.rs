//! A probe of delivery ratios, which carries what nodes have counted of each other's probes. After De Couto, Aguayo, Bicket, Morris,
//! "A High-Throughput Path Metric for Multi-Hop Wireless Routing" (MobiCom 2003), whose probes name the neighbours that the sender has
//! heard; this layout, and lists of other nodes, are ours.
//!
//! All numbers are in network byte order. What follows the lists fills the probe up to the size of data.

use alloc::vec::Vec;

use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};

/// Version 1 in the upper half, the type in the lower; 1 and 2 are packets of MORE.
const PROBE: u8 = 0x13;

/// A neighbour in a list, and the part of its probes that the list's node has received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Heard {
    /// The neighbour.
    pub node: u32,
    /// The part, in 255ths.
    pub ratio: u8,
}

impl Heard {
    /// Length on the wire, bytes.
    pub const fn wire_len() -> usize {
        5
    }
}

/// The neighbours of which a node hears probes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct List {
    /// The node.
    pub node: u32,
    /// Counts its lists, modulo 2^16.
    pub version: u16,
    /// Time since the node has made the list, in hundredths of a second.
    pub age: u16,
    heard: Vec<Heard>,
}

impl List {
    /// The most neighbours.
    pub const MOST: usize = 255;

    /// A list of the first [`Self::MOST`] of these.
    pub fn new(node: u32, version: u16, age: u16, heard: impl Iterator<Item = Heard>) -> Self {
        Self { node, version, age, heard: heard.take(Self::MOST).collect() }
    }

    /// The neighbours.
    pub fn heard(&self) -> &[Heard] {
        &self.heard
    }

    /// Length on the wire of a list of so many neighbours, bytes.
    pub const fn len_with(neighbours: usize) -> usize {
        9 + Heard::wire_len() * neighbours
    }

    /// Length on the wire, bytes.
    pub fn wire_len(&self) -> usize {
        Self::len_with(self.heard.len())
    }

    fn decode(reader: &mut Reader) -> Result<Self, DecodeError> {
        let (node, version, age) = (reader.u32_be()?, reader.u16_be()?, reader.u16_be()?);
        let count = reader.u8()?;
        reader.need(Heard::wire_len() * usize::from(count))?;
        let mut heard = Vec::with_capacity(count.into());
        for _ in 0..count {
            heard.push(Heard { node: reader.u32_be()?, ratio: reader.u8()? });
        }
        Ok(Self { node, version, age, heard })
    }
}

/// A probe: 4 bytes, and for each list 9 and 5 for each of its neighbours.
///
/// | bytes | field |
/// |---|---|
/// | 1 | 0x13 |
/// | 2 | sequence number |
/// | 1 | number of lists |
/// | 9 and more each | list: node, 4 bytes; version, 2; age in 1/100 s, 2; number of neighbours, 1; of each its node, 4, and ratio, 1 |
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Probe {
    /// Counts the probes of its sender, modulo 2^16.
    pub sequence: u16,
    lists: Vec<List>,
}

impl Probe {
    /// The most lists.
    pub const MOST: usize = 255;

    /// A probe with the first [`Self::MOST`] of these lists.
    pub fn new(sequence: u16, lists: Vec<List>) -> Self {
        let mut lists = lists;
        lists.truncate(Self::MOST);
        Self { sequence, lists }
    }

    /// The lists.
    pub fn lists(&self) -> &[List] {
        &self.lists
    }

    /// Length on the wire without any list, bytes.
    pub const fn empty_len() -> usize {
        4
    }

    /// Length on the wire, bytes; what fills it up is not counted.
    pub fn wire_len(&self) -> usize {
        self.lists.iter().fold(Self::empty_len(), |sum, list| sum + list.wire_len())
    }

    /// True if a message that begins with this byte is a probe.
    pub const fn is_one(first: u8) -> bool {
        first == PROBE
    }

    /// Encodes the probe to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let mut writer = Writer::new(Header::Probe, buffer, self.wire_len())?
            .put([PROBE])
            .put(self.sequence.to_be_bytes())
            .put([self.lists.len() as u8]);
        for List { node, version, age, heard } in &self.lists {
            writer = writer
                .put(node.to_be_bytes())
                .put(version.to_be_bytes())
                .put(age.to_be_bytes())
                .put([heard.len() as u8]);
            for Heard { node, ratio } in heard {
                writer = writer.put(node.to_be_bytes()).put([*ratio]);
            }
        }
        Ok(self.wire_len())
    }

    /// Decodes a probe; returns the bytes that follow, which fill it up.
    ///
    /// # Errors
    /// Too few bytes, or another version or type.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Probe, bytes);
        let at = reader.clone();
        let first = reader.u8()?;
        if first != PROBE {
            return Err(at.fail(Expected::value("version and type", "0x13", &[first])));
        }
        let (sequence, count) = (reader.u16_be()?, reader.u8()?);
        let mut lists = Vec::new();
        for _ in 0..count {
            lists.push(List::decode(&mut reader)?);
        }
        Ok((Self { sequence, lists }, reader.rest()))
    }
}
