//! MORE's header, in front of every coded packet, and its acknowledgement of a batch. The paper names what they hold [Chachulski, Jennings,
//! Katti, Katabi, §3]; this layout is ours.
//!
//! All numbers are in network byte order.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};
pub use crate::flow::Flow;

/// Version 1 in the upper half, the type in the lower.
const CODED: u8 = 0x11;
const ACKNOWLEDGEMENT: u8 = 0x12;

/// A packet of MORE, by its first byte.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// The header of a coded packet; the payload follows.
    Coded(Coded),
    /// A batch has been decoded.
    Acknowledgement(Acknowledgement),
}

impl Message {
    /// Length on the wire, bytes.
    pub fn wire_len(&self) -> usize {
        match self {
            Self::Coded(coded) => coded.wire_len(),
            Self::Acknowledgement(_) => Acknowledgement::wire_len(),
        }
    }

    /// Encodes the message to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        match self {
            Self::Coded(coded) => coded.encode(buffer),
            Self::Acknowledgement(acknowledgement) => acknowledgement.encode(buffer),
        }
    }

    /// Decodes a message; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, another version or type, or a field that no message has.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        match bytes.first() {
            Some(&ACKNOWLEDGEMENT) => {
                Acknowledgement::decode(bytes).map(|(value, rest)| (Self::Acknowledgement(value), rest))
            }
            _ => Coded::decode(bytes).map(|(coded, rest)| (Self::Coded(coded), rest)),
        }
    }
}

/// Transmissions, in parts of 1/1024: at most 64, less a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Credit(pub u16);

impl Credit {
    /// Parts of a transmission.
    pub const PARTS: u16 = 1024;

    /// The nearest credit to a number of transmissions; 0 for what is no number.
    pub fn of(transmissions: f64) -> Self {
        // A cast of a number that does not fit gives the nearest that does.
        Self((transmissions * f64::from(Self::PARTS) + 0.5) as u16)
    }

    /// Transmissions.
    pub fn transmissions(self) -> f64 {
        f64::from(self.0) / f64::from(Self::PARTS)
    }
}

/// A forwarder in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Forwarder {
    /// The node.
    pub node: u32,
    /// The credit that the node earns by a packet from a node farther from the destination.
    pub credit: Credit,
}

impl Forwarder {
    /// Length on the wire, bytes.
    const LEN: usize = 6;

    fn put(self) -> [u8; Self::LEN] {
        let ([a, b, c, d], [e, f]) = (self.node.to_be_bytes(), self.credit.0.to_be_bytes());
        [a, b, c, d, e, f]
    }

    const fn read([a, b, c, d, e, f]: [u8; Self::LEN]) -> Self {
        Self { node: u32::from_be_bytes([a, b, c, d]), credit: Credit(u16::from_be_bytes([e, f])) }
    }
}

/// A list of forwarders where it stands in a header, the one nearest to the destination first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForwardersView<'a>(&'a [[u8; Forwarder::LEN]]);

impl<'a> ForwardersView<'a> {
    /// Number of forwarders.
    pub const fn len(self) -> usize {
        self.0.len()
    }

    /// True if there are none.
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The forwarders.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Forwarder> + use<'a> {
        self.0.iter().map(|&bytes| Forwarder::read(bytes))
    }

    /// The forwarder at a place.
    pub fn get(self, place: usize) -> Option<Forwarder> {
        self.0.get(place).map(|&bytes| Forwarder::read(bytes))
    }

    /// A list of its own.
    pub fn shared(self) -> Forwarders {
        Forwarders(self.0.into())
    }
}

/// A list of forwarders, as it stands in a header; a copy shares it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Forwarders(Arc<[[u8; Forwarder::LEN]]>);

impl Default for Forwarders {
    fn default() -> Self {
        Self(Arc::new([]))
    }
}

impl Forwarders {
    /// The longest list.
    pub const MOST: usize = 64;

    /// A list of the first [`Self::MOST`] of these.
    pub fn new(forwarders: impl Iterator<Item = Forwarder>) -> Self {
        Self(forwarders.take(Self::MOST).map(Forwarder::put).collect())
    }

    /// The list.
    pub fn view(&self) -> ForwardersView<'_> {
        ForwardersView(&self.0)
    }
}

/// The header of a coded packet: 19 bytes, 6 for each forwarder and one for each native of the batch.
///
/// | bytes | field |
/// |---|---|
/// | 1 | 0x11 |
/// | 1 | natives of the batch, 1 to 255 |
/// | 1 | number of forwarders, at most 64 |
/// | 4 each | flow, source, destination |
/// | 4 | batch |
/// | 6 each | forwarder: node, 4 bytes; credit in 1/1024 transmissions, 2 |
/// | 1 each | coefficient of a native |
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Coded {
    /// The flow.
    pub flow: Flow,
    /// Counts the batches of the flow.
    pub batch: u32,
    /// Who forwards.
    pub forwarders: Forwarders,
    vector: Vec<u8>,
}

impl Coded {
    /// A header; `None` where the vector has no coefficient, or more than 255.
    pub fn new(flow: Flow, batch: u32, forwarders: Forwarders, vector: Vec<u8>) -> Option<Self> {
        (1..=255).contains(&vector.len()).then_some(Self { flow, batch, forwarders, vector })
    }

    /// Coefficients of the natives, 1 to 255.
    pub fn vector(&self) -> &[u8] {
        &self.vector
    }

    /// Length on the wire, bytes.
    pub fn wire_len(&self) -> usize {
        19 + Forwarder::LEN * self.forwarders.0.len() + self.vector.len()
    }

    /// Encodes the header to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let list = &self.forwarders.0;
        let writer = Writer::new(Header::More, buffer, self.wire_len())?.put([
            CODED,
            self.vector.len() as u8,
            list.len() as u8,
        ]);
        let writer = self.flow.put(writer).put(self.batch.to_be_bytes());
        writer.put_slice(list.as_flattened()).put_slice(&self.vector);
        Ok(self.wire_len())
    }

    /// The header, without copies of its lists.
    pub fn view(&self) -> CodedView<'_> {
        let Self { flow, batch, forwarders, vector } = self;
        CodedView { flow: *flow, batch: *batch, forwarders: forwarders.view(), vector }
    }

    /// Decodes a header; returns the bytes that follow.
    ///
    /// # Errors
    /// Those of [`CodedView::decode`].
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let (CodedView { flow, batch, forwarders, vector }, rest) = CodedView::decode(bytes)?;
        Ok((Self { flow, batch, forwarders: forwarders.shared(), vector: vector.to_vec() }, rest))
    }
}

/// The header of a coded packet where it stands: every node that hears one reads it, and few keep anything of its lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodedView<'a> {
    /// The flow.
    pub flow: Flow,
    /// Counts the batches of the flow.
    pub batch: u32,
    /// Who forwards.
    pub forwarders: ForwardersView<'a>,
    vector: &'a [u8],
}

impl<'a> CodedView<'a> {
    /// Coefficients of the natives, 1 to 255.
    pub const fn vector(&self) -> &'a [u8] {
        self.vector
    }

    /// Reads a header; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, another version or type, no natives, or more than [`Forwarders::MOST`] forwarders.
    pub fn decode(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), DecodeError> {
        let mut reader = Reader::new(Header::More, bytes);
        let at = reader.clone();
        let [first, natives, count] = reader.array()?;
        if first != CODED || natives == 0 || usize::from(count) > Forwarders::MOST {
            let expected = "0x11, at least 1 native and at most 64 forwarders";
            return Err(at.fail(Expected::value("type and numbers", expected, &[first, natives, count])));
        }
        let flow = Flow::decode(&mut reader)?;
        let batch = reader.u32_be()?;
        let forwarders = Forwarder::LEN * usize::from(count);
        reader.need(forwarders + usize::from(natives))?;
        let (forwarders, _) = reader.slice(forwarders)?.as_chunks();
        let vector = reader.slice(natives.into())?;
        Ok((Self { flow, batch, forwarders: ForwardersView(forwarders), vector }, reader.rest()))
    }
}

/// The destination's word that it has decoded a batch: 17 bytes.
///
/// | bytes | field |
/// |---|---|
/// | 1 | 0x12 |
/// | 4 each | flow, source, destination: of the flow, not of this packet |
/// | 4 | batch |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Acknowledgement {
    /// The flow.
    pub flow: Flow,
    /// The batch; those before need not be sent any more either.
    pub batch: u32,
}

impl Acknowledgement {
    /// Length on the wire, bytes.
    pub const fn wire_len() -> usize {
        17
    }

    /// Encodes the acknowledgement to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let writer = Writer::new(Header::More, buffer, Self::wire_len())?.put([ACKNOWLEDGEMENT]);
        self.flow.put(writer).put(self.batch.to_be_bytes());
        Ok(Self::wire_len())
    }

    /// Decodes an acknowledgement; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, another version or type.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::More, bytes);
        reader.literal([ACKNOWLEDGEMENT], "version and type", "0x12")?;
        Ok((Self { flow: Flow::decode(&mut reader)?, batch: reader.u32_be()? }, reader.rest()))
    }
}
