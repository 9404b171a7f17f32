//! Attributes of netlink messages: reading with all lengths checked, and writing.

use std::fmt;

use airfair_units::Span;
use netlink_packet_core::{NLA_F_NESTED, NLA_HEADER_SIZE, NlasIterator};

/// A reply that does not have the form of its protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed(
    /// The part that is wrong, as a clause.
    pub &'static str,
);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// One attribute: a number and a value of known length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attribute<'a> {
    /// The number, without the flags for nesting and byte order.
    pub kind: u16,
    /// The value, without padding.
    pub value: &'a [u8],
}

/// The attributes in some bytes. The first that does not fit is an error, and the last item.
pub(crate) fn attributes(bytes: &[u8]) -> impl Iterator<Item = Result<Attribute<'_>, Malformed>> {
    NlasIterator::new(bytes).map(|item| {
        let item = item.map_err(|_| Malformed("an attribute does not fit into its message"))?;
        let (kind, length) = (item.kind(), usize::from(item.length()));
        let value = item.into_inner().get(NLA_HEADER_SIZE..length);
        Ok(Attribute { kind, value: value.ok_or(Malformed("an attribute is shorter than its header"))? })
    })
}

impl<'a> Attribute<'a> {
    fn array<const N: usize>(&self) -> Result<[u8; N], Malformed> {
        self.value.try_into().map_err(|_| Malformed("an attribute does not have the length of its type"))
    }

    /// A level in dBm: signed, although the header says `u8`.
    pub fn dbm(&self) -> Result<i8, Malformed> {
        self.array().map(i8::from_ne_bytes)
    }

    /// A number of 16 bits.
    pub fn u16(&self) -> Result<u16, Malformed> {
        self.array().map(u16::from_ne_bytes)
    }

    /// A number of 32 bits.
    pub fn u32(&self) -> Result<u32, Malformed> {
        self.array().map(u32::from_ne_bytes)
    }

    /// A number of 64 bits.
    pub fn u64(&self) -> Result<u64, Malformed> {
        self.array().map(u64::from_ne_bytes)
    }

    /// A time in milliseconds, of 64 bits; more than 584 years is `Span(u64::MAX)`.
    pub fn milliseconds(&self) -> Result<Span, Malformed> {
        Ok(Span(self.u64()?.saturating_mul(1_000_000)))
    }

    /// A time in microseconds, of 64 bits; more than 584 years is `Span(u64::MAX)`.
    pub fn microseconds(&self) -> Result<Span, Malformed> {
        Ok(Span(self.u64()?.saturating_mul(1_000)))
    }

    /// A hardware address of 6 bytes.
    pub fn mac(&self) -> Result<[u8; 6], Malformed> {
        self.array()
    }

    /// A text, up to its zero byte if it has one.
    pub fn text(&self) -> Result<&'a str, Malformed> {
        let text = self.value.split(|&byte| byte == 0).next().unwrap_or_default();
        std::str::from_utf8(text).map_err(|_| Malformed("a text is not UTF-8"))
    }

    /// The attributes in the value.
    pub fn nested(&self) -> impl Iterator<Item = Result<Attribute<'a>, Malformed>> {
        attributes(self.value)
    }
}

/// A request under construction.
#[derive(Debug)]
pub(crate) struct Request {
    bytes: Vec<u8>,
}

impl Request {
    /// A message of this type with these flags (`NLM_F_REQUEST` is added), whose payload begins with a fixed header.
    pub fn new(kind: u16, flags: u16, header: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(64);
        bytes.extend([0; 4]);
        bytes.extend(kind.to_ne_bytes());
        bytes.extend((flags | netlink_packet_core::NLM_F_REQUEST).to_ne_bytes());
        bytes.extend([0; 8]);
        bytes.extend(header);
        Self { bytes }
    }

    /// Adds an attribute. Values of requests are far below the 65,531 bytes that an attribute can have; longer ones are cut.
    pub fn with(mut self, kind: u16, value: &[u8]) -> Self {
        let length = value.len().min(usize::from(u16::MAX) - NLA_HEADER_SIZE);
        self.bytes.extend(((length + NLA_HEADER_SIZE) as u16).to_ne_bytes());
        self.bytes.extend((kind & !NLA_F_NESTED).to_ne_bytes());
        self.bytes.extend(&value[..length]);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self
    }

    /// Adds a number of 32 bits.
    pub fn with_u32(self, kind: u16, value: u32) -> Self {
        self.with(kind, &value.to_ne_bytes())
    }

    /// Adds a text with a zero byte at the end.
    pub fn with_text(self, kind: u16, text: &str) -> Self {
        let mut value = text.as_bytes().to_vec();
        value.push(0);
        self.with(kind, &value)
    }

    /// The bytes, with their length and this sequence number.
    pub fn finish(mut self, sequence: u32) -> Vec<u8> {
        let length = self.bytes.len() as u32;
        self.bytes[..4].copy_from_slice(&length.to_ne_bytes());
        self.bytes[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.bytes
    }
}
