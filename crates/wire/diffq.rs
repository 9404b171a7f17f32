//! DiffQ's trailer: what the sender of each frame tells its neighbours; and two messages that are not the paper's: sizes of queues in a
//! frame of their own, and the call of a node that starves. The paper names the fields and where they stand, at the end of the packet
//! [Warrier, Ha, Wason, Rhee, §5.3, figure 4]; this layout is ours, and so is the field `written`.

use alloc::vec::Vec;

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
/// | 2 | longest queue of the packet's destination on its way, packets; of an acknowledgement: on the way of the data |
/// | 2 | sequence number; of an acknowledgement: hops of the data's path with DiffQ and without, a byte each |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Trailer {
    /// The kind of the packet.
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
    /// Longest queue of the packet's destination on its way so far, packets; of an acknowledgement: on the way of the data.
    pub longest: u16,
    /// Sequence number of the packet in its flow; of an acknowledgement: hops of the data's path, those with DiffQ in the upper byte and
    /// those without in the lower.
    pub number: u16,
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
            .put(self.longest.to_be_bytes())
            .put(self.number.to_be_bytes());
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
            longest: reader.u16_be()?,
            number: reader.u16_be()?,
        };
        Ok((trailer, reader.rest()))
    }
}

/// The call of a node that starves, as a broadcast: 5 bytes.
///
/// | bytes | field |
/// |---|---|
/// | 1 | version 1 in the upper half, 5 in the lower |
/// | 4 | the node |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The node that starves.
    pub node: u32,
}

impl Call {
    /// Length on the wire, bytes.
    pub const WIRE_LEN: usize = 5;

    /// Encodes the call to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::WIRE_LEN`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        Writer::new(Header::DiffQ, buffer, Self::WIRE_LEN)?
            .put([VERSION << 4 | 5])
            .put(self.node.to_be_bytes());
        Ok(Self::WIRE_LEN)
    }

    /// Decodes a call; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, or another version or message.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::DiffQ, bytes);
        let at = reader.clone();
        let [first] = reader.array()?;
        if first != VERSION << 4 | 5 {
            return Err(at.fail(Expected::value("version and message", "0x15 (a call)", &[first])));
        }
        let call = Self { node: reader.u32_be()? };
        Ok((call, reader.rest()))
    }
}

/// Sizes of a node's destination queues, as a broadcast of its own: 2 bytes and 6 for each size.
///
/// | bytes | field |
/// |---|---|
/// | 1 | version 1 in the upper half, 4 in the lower |
/// | 1 | number of sizes |
/// | 6 each | destination, a number of 4 bytes; size in packets, 2 bytes |
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sizes(Vec<(u32, u16)>);

impl Sizes {
    /// The largest number of sizes in a message: with headers it fits into an Ethernet frame.
    pub const MOST: usize = 200;

    /// The first [`Self::MOST`] of these destinations with their sizes.
    pub fn new(sizes: impl Iterator<Item = (u32, u16)>) -> Self {
        Self(sizes.take(Self::MOST).collect())
    }

    /// Destinations with their sizes.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u16)> {
        self.0.iter().copied()
    }

    /// Length on the wire, bytes.
    pub const fn wire_len(&self) -> usize {
        2 + 6 * self.0.len()
    }

    /// Encodes the message to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let mut writer =
            Writer::new(Header::DiffQ, buffer, self.wire_len())?.put([VERSION << 4 | 4, self.0.len() as u8]);
        for (destination, packets) in &self.0 {
            writer = writer.put(destination.to_be_bytes()).put(packets.to_be_bytes());
        }
        Ok(self.wire_len())
    }

    /// Decodes a message; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, another version or type, or more than [`Self::MOST`] sizes.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::DiffQ, bytes);
        let at = reader.clone();
        let [first, count] = reader.array()?;
        if first != VERSION << 4 | 4 || usize::from(count) > Self::MOST {
            let expected = "0x14 and at most 200 sizes";
            return Err(at.fail(Expected::value("version, type and number", expected, &[first, count])));
        }
        let mut sizes = Vec::with_capacity(count.into());
        for _ in 0..count {
            sizes.push((reader.u32_be()?, reader.u16_be()?));
        }
        Ok((Self(sizes), reader.rest()))
    }
}
