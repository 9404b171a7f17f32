//! Ethernet [IEEE 802.3-2018 clause 3].

use crate::address::MacAddr;
use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};

/// Type of a payload: a Length/Type field used as a type, so at least 1536 [IEEE 802.3-2018 clause 3.2.6].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EtherType(u16);

impl EtherType {
    /// IPv4 [RFC 894].
    pub const IPV4: Self = Self(0x0800);
    /// ARP [RFC 826].
    pub const ARP: Self = Self(0x0806);
    /// IPv6 [RFC 2464].
    pub const IPV6: Self = Self(0x86dd);
    /// Local Experimental EtherType 1, for protocols under test [IEEE 802-2014 clause 9.2.3].
    pub const EXPERIMENTAL_1: Self = Self(0x88b5);
    /// Local Experimental EtherType 2 [IEEE 802-2014 clause 9.2.3].
    pub const EXPERIMENTAL_2: Self = Self(0x88b6);

    /// `None` below 1536, where the field is a length.
    pub const fn new(value: u16) -> Option<Self> {
        if value >= 1536 { Some(Self(value)) } else { None }
    }

    /// The field's value.
    pub const fn get(self) -> u16 {
        self.0
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = reader.clone();
        let value = reader.u16_be()?;
        Self::new(value)
            .ok_or_else(|| at.fail(Expected::value("EtherType", "at least 0x600", &value.to_be_bytes())))
    }
}

/// The Ethernet header: 14 bytes. The FCS that an adapter adds and removes is not part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ethernet {
    /// Receiving station.
    pub destination: MacAddr,
    /// Sending station.
    pub source: MacAddr,
    /// Type of the payload.
    pub ether_type: EtherType,
}

impl Ethernet {
    /// Length on the wire: 14 bytes.
    pub const fn wire_len() -> usize {
        2 * MacAddr::wire_len() + 2
    }

    /// Writes the header to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        Writer::new(Header::Ethernet, buffer, Self::wire_len())?
            .put(self.destination.0)
            .put(self.source.0)
            .put(self.ether_type.0.to_be_bytes());
        Ok(Self::wire_len())
    }

    /// Reads the header; returns what follows, padding included.
    ///
    /// # Errors
    /// Too few bytes, or an IEEE 802.3 length in place of a type.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Ethernet, bytes);
        reader.need(Self::wire_len())?;
        let header = Self {
            destination: reader.mac()?,
            source: reader.mac()?,
            ether_type: EtherType::read(&mut reader)?,
        };
        Ok((header, reader.rest()))
    }
}
