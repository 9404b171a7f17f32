//! UDP over IPv4 [RFC 768] and IPv6 [RFC 8200 §8.1].

use core::num::NonZeroU16;

use crate::checksum::Checksum;
use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};
use crate::ipv4::Protocol;
use crate::pseudo_header::Address;

/// The header's length, bytes.
const LEN: u16 = 8;

bounded! {
    /// Bytes after the header; the Length field is 16 bits and counts the header too [RFC 768]. What fits
    /// into an IPv4 packet is less: [`crate::ipv4::PayloadLen::MAX`] minus 8.
    PayloadLen(u16) <= u16::MAX - LEN
}

/// The UDP header: 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Udp {
    /// The sender's port; 0 if no reply is expected.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// Bytes after the header.
    pub payload_len: PayloadLen,
    /// Checksum over pseudo-header, header and payload; `None` if the sender computed none, which only IPv4 permits.
    pub checksum: Option<NonZeroU16>,
}

impl Udp {
    /// A header without a checksum, for use without a payload.
    pub const fn new(source_port: u16, destination_port: u16, payload_len: PayloadLen) -> Self {
        Self { source_port, destination_port, payload_len, checksum: None }
    }

    /// The header with the checksum for these addresses and this payload, whose length replaces `payload_len`; `None` if the payload is
    /// longer than [`PayloadLen::MAX`].
    pub fn with_payload<A: Address>(self, source: A, destination: A, payload: &[u8]) -> Option<Self> {
        let payload_len = u16::try_from(payload.len()).ok().and_then(PayloadLen::new)?;
        let unsigned = Self { payload_len, checksum: None, ..self };
        // A sum of zero is sent as all ones, its equal in one's complement [RFC 768].
        let value = unsigned.sum(source, destination, payload).finish();
        let checksum = NonZeroU16::new(value).unwrap_or(NonZeroU16::MAX);
        Some(Self { checksum: Some(checksum), ..unsigned })
    }

    /// Verifies length and checksum with the addresses and the payload of the packet.
    ///
    /// # Errors
    /// A payload of another length than in the header, or a wrong checksum. Over IPv4 a missing checksum is valid for every payload, over
    /// IPv6 it is an error [RFC 8200 §8.1].
    pub fn verify<A: Address>(&self, source: A, destination: A, payload: &[u8]) -> Result<(), DecodeError> {
        let error = |offset, expected| DecodeError { header: Header::Udp, offset, expected };
        let needed = usize::from(self.payload_len.get());
        if payload.len() < needed {
            let available = payload.len();
            return Err(error(Self::wire_len(), Expected::Bytes { needed, available }));
        }
        if payload.len() > needed {
            return Err(error(Self::wire_len() + needed, Expected::End { trailing: payload.len() - needed }));
        }
        if self.checksum.is_none() && !A::NEEDS_UDP_CHECKSUM {
            return Ok(());
        }
        let found = self.checksum.map_or(0, NonZeroU16::get);
        let sum = self.sum(source, destination, payload);
        if found != 0 && sum.with(&found.to_be_bytes()).finish() == 0 {
            return Ok(());
        }
        let computed = sum.finish().into();
        Err(error(6, Expected::Checksum { computed, found: found.into() }))
    }

    /// The sum over everything but the checksum field [RFC 768: "pseudo header"].
    fn sum<A: Address>(&self, source: A, destination: A, payload: &[u8]) -> Checksum {
        let length = LEN + self.payload_len.get();
        A::pseudo_header(source, destination, Protocol::UDP, length)
            .with(&self.source_port.to_be_bytes())
            .with(&self.destination_port.to_be_bytes())
            .with(&length.to_be_bytes())
            .with(payload)
    }

    /// Length on the wire: 8 bytes.
    pub const fn wire_len() -> usize {
        LEN as usize
    }

    /// Writes the header to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        Writer::new(Header::Udp, buffer, Self::wire_len())?
            .put(self.source_port.to_be_bytes())
            .put(self.destination_port.to_be_bytes())
            .put((LEN + self.payload_len.get()).to_be_bytes())
            .put(self.checksum.map_or(0, NonZeroU16::get).to_be_bytes());
        Ok(Self::wire_len())
    }

    /// Reads the header and returns its payload. The checksum needs the packet's addresses: see
    /// [`Self::verify`].
    ///
    /// # Errors
    /// Too few bytes for the header or its payload, or a length below 8.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Udp, bytes);
        reader.need(Self::wire_len())?;
        let (source_port, destination_port) = (reader.u16_be()?, reader.u16_be()?);
        let at_length = reader.clone();
        let length = reader.u16_be()?;
        let Some(payload_len) = length.checked_sub(LEN).and_then(PayloadLen::new) else {
            return Err(at_length.fail(Expected::value("length", "at least 8", &length.to_be_bytes())));
        };
        let checksum = NonZeroU16::new(reader.u16_be()?);
        let payload_size = usize::from(payload_len.get());
        reader.need(payload_size)?;
        let payload = reader.rest().get(..payload_size).unwrap_or_default();
        Ok((Self { source_port, destination_port, payload_len, checksum }, payload))
    }
}
