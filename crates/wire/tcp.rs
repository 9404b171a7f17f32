//! TCP over IPv4 and IPv6 [RFC 9293 §3.1], with the options of RFC 9293, RFC 2018 and RFC 7323.

use crate::checksum::Checksum;
use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};
use crate::ipv4::Protocol;
use crate::pseudo_header::Address;
use options::Walk;

mod options;
mod rewrite;
mod scheme;

pub use options::{Options, SackBlock, SackBlocks, Timestamps, WindowScale};
pub use rewrite::{insert_scheme, limit_mss, set_ece, set_scheme, set_window};
pub use scheme::SchemeOption;

/// The length of a header without options, bytes.
const BASE: usize = 20;
/// Offset of the checksum, bytes.
const CHECKSUM_AT: usize = 16;

/// The control bits [RFC 9293 §3.1, RFC 3168 §6.1]. The three reserved bits are ignored on reception and sent as zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags {
    /// NS of RFC 3540 (historic), the same bit as AE of Accurate ECN [RFC 8311 §3.1].
    pub ns: bool,
    /// CWR: the sender has reduced its window.
    pub cwr: bool,
    /// ECE: echo of a congestion mark; in a SYN: support of ECN.
    pub ece: bool,
    /// URG: the urgent pointer is valid.
    pub urg: bool,
    /// ACK: the acknowledgement number is valid.
    pub ack: bool,
    /// PSH: to be delivered at once.
    pub psh: bool,
    /// RST: the connection is reset.
    pub rst: bool,
    /// SYN: the first byte has the sequence number after this one.
    pub syn: bool,
    /// FIN: no more data follow.
    pub fin: bool,
}

impl Flags {
    /// The bits in the order of the field, NS in bit 8.
    const fn bits(self) -> u16 {
        (self.ns as u16) << 8
            | (self.cwr as u16) << 7
            | (self.ece as u16) << 6
            | (self.urg as u16) << 5
            | (self.ack as u16) << 4
            | (self.psh as u16) << 3
            | (self.rst as u16) << 2
            | (self.syn as u16) << 1
            | self.fin as u16
    }

    const fn from_bits(bits: u16) -> Self {
        Self {
            ns: bits & 1 << 8 != 0,
            cwr: bits & 1 << 7 != 0,
            ece: bits & 1 << 6 != 0,
            urg: bits & 1 << 5 != 0,
            ack: bits & 1 << 4 != 0,
            psh: bits & 1 << 3 != 0,
            rst: bits & 1 << 2 != 0,
            syn: bits & 1 << 1 != 0,
            fin: bits & 1 != 0,
        }
    }
}

/// The TCP header: 20 bytes and those of its options.
///
/// Unknown options are skipped, and known ones are encoded in one order with one padding; so the header of a foreign segment may encode to
/// other bytes than received, and its checksum is checked over the segment itself: see [`Self::verify`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tcp {
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// Sequence number of the first byte of the payload, or of the SYN.
    pub sequence: u32,
    /// The next expected sequence number; valid if ACK is set.
    pub acknowledgement: u32,
    /// The control bits.
    pub flags: Flags,
    /// Receive window, bytes before scaling [RFC 7323 §2.2].
    pub window: u16,
    /// Checksum over pseudo-header, header and payload.
    pub checksum: u16,
    /// End of urgent data, bytes after `sequence`; valid if URG is set.
    pub urgent: u16,
    /// Options after the 20 bytes.
    pub options: Options,
}

impl Tcp {
    /// A header without acknowledgement, flags, window, options and checksum.
    pub const fn new(source_port: u16, destination_port: u16, sequence: u32) -> Self {
        Self {
            source_port,
            destination_port,
            sequence,
            acknowledgement: 0,
            flags: Flags::from_bits(0),
            window: 0,
            checksum: 0,
            urgent: 0,
            options: Options::NONE,
        }
    }

    /// The header with the checksum for these addresses and this payload; `None` if the segment does not fit into an IP packet.
    pub fn with_payload<A: Address>(self, source: A, destination: A, payload: &[u8]) -> Option<Self> {
        let mut space = [0; BASE + Options::MAX_LEN];
        let unsigned = Self { checksum: 0, ..self };
        let len = unsigned.encode(&mut space).ok()?;
        let header = space.get(..len)?;
        let sum = pseudo_header(source, destination, len + payload.len())?.with(header).with(payload);
        Some(Self { checksum: sum.finish(), ..self })
    }

    /// Verifies the checksum of a whole segment, header and payload, with the addresses of its packet.
    ///
    /// # Errors
    /// Bytes that are no TCP segment, or do not fit into an IP packet, or have a wrong checksum.
    pub fn verify<A: Address>(source: A, destination: A, segment: &[u8]) -> Result<(), DecodeError> {
        let (header, _) = Self::decode(segment)?;
        let error = |offset, expected| DecodeError { header: Header::Tcp, offset, expected };
        let Some(sum) = pseudo_header(source, destination, segment.len()) else {
            let most = usize::from(A::MOST_PAYLOAD);
            return Err(error(most, Expected::End { trailing: segment.len() - most }));
        };
        let sum = sum.with(segment);
        if sum.finish() == 0 {
            return Ok(());
        }
        // The sum without the field: subtraction is addition of the complement [RFC 1624 §3].
        let computed = sum.with(&(!header.checksum).to_be_bytes()).finish().into();
        Err(error(CHECKSUM_AT, Expected::Checksum { computed, found: header.checksum.into() }))
    }

    /// Length on the wire: 20 bytes and those of the options, a multiple of 4.
    pub const fn wire_len(&self) -> usize {
        BASE + self.options.wire_len()
    }

    /// Writes the header to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let len = self.wire_len();
        let offset_and_flags = u16::from(self.options.words() + 5) << 12 | self.flags.bits();
        let writer = Writer::new(Header::Tcp, buffer, len)?
            .put(self.source_port.to_be_bytes())
            .put(self.destination_port.to_be_bytes())
            .put(self.sequence.to_be_bytes())
            .put(self.acknowledgement.to_be_bytes())
            .put(offset_and_flags.to_be_bytes())
            .put(self.window.to_be_bytes())
            .put(self.checksum.to_be_bytes())
            .put(self.urgent.to_be_bytes());
        self.options.write(writer);
        Ok(len)
    }

    /// Reads the header and returns its payload. The checksum needs the packet's addresses: see [`Self::verify`].
    ///
    /// # Errors
    /// Too few bytes for the header, a data offset below 5 words, or an option with an invalid length.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let start = Reader::new(Header::Tcp, bytes);
        let mut reader = start.clone();
        reader.need(BASE)?;
        let (source_port, destination_port) = (reader.u16_be()?, reader.u16_be()?);
        let (sequence, acknowledgement) = (reader.u32_be()?, reader.u32_be()?);
        let at_offset = reader.clone();
        let offset_and_flags = reader.u16_be()?;
        let words = offset_and_flags >> 12;
        let Some(options_len) = (usize::from(words) * 4).checked_sub(BASE) else {
            return Err(at_offset.fail(Expected::value(
                "data offset",
                "at least 5 words",
                &words.to_be_bytes(),
            )));
        };
        start.need(BASE + options_len)?;
        let (window, checksum, urgent) = (reader.u16_be()?, reader.u16_be()?, reader.u16_be()?);
        let options = Options::read(Walk::new(reader.clone().limited(options_len)?))?;
        reader.skip(options_len)?;
        let header = Self {
            source_port,
            destination_port,
            sequence,
            acknowledgement,
            flags: Flags::from_bits(offset_and_flags),
            window,
            checksum,
            urgent,
            options,
        };
        Ok((header, reader.rest()))
    }
}

/// The options of a segment's header.
fn options_of(segment: &[u8]) -> Result<Walk<'_>, DecodeError> {
    let (_, payload) = Tcp::decode(segment)?;
    let mut reader = Reader::new(Header::Tcp, segment);
    reader.skip(BASE)?;
    Ok(Walk::new(reader.limited(segment.len() - payload.len() - BASE)?))
}

/// The sum over addresses, protocol and length of a segment; `None` if it does not fit into an IP packet.
fn pseudo_header<A: Address>(source: A, destination: A, len: usize) -> Option<Checksum> {
    let len = u16::try_from(len).ok().filter(|&len| len <= A::MOST_PAYLOAD)?;
    Some(A::pseudo_header(source, destination, Protocol::TCP, len))
}
