//! IPv4 [RFC 791], with the DSCP and ECN fields of RFC 2474 and RFC 3168.

use crate::address::Ipv4Addr;
use crate::checksum::Checksum;
use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};

/// The length of a header without options, bytes.
const BASE: u16 = 20;
const DONT_FRAGMENT: u16 = 0x4000;
const MORE_FRAGMENTS: u16 = 0x2000;

bounded! {
    /// Differentiated services codepoint, 6 bits [RFC 2474 §3].
    Dscp(u8) <= 63
}

bounded! {
    /// Fragment offset in units of 8 bytes, 13 bits [RFC 791 §3.1].
    FragmentOffset(u16) <= 8191
}

bounded! {
    /// Bytes after a header of 20 bytes; the Total Length field is 16 bits [RFC 791 §3.1].
    PayloadLen(u16) <= u16::MAX - BASE
}

/// Explicit congestion notification [RFC 3168 §5].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// 00: the transport does not support ECN.
    #[default]
    NotEct,
    /// 01: ECT(1).
    Ect1,
    /// 10: ECT(0).
    Ect0,
    /// 11: congestion experienced.
    Ce,
}

impl Ecn {
    /// The two bits of the field.
    pub const fn bits(self) -> u8 {
        match self {
            Self::NotEct => 0b00,
            Self::Ect1 => 0b01,
            Self::Ect0 => 0b10,
            Self::Ce => 0b11,
        }
    }

    /// The codepoint of the two lower bits of `bits`.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            _ => Self::Ce,
        }
    }
}

/// The part of a datagram that a packet carries. Only a whole datagram and its first fragment hold the transport's
/// header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fragment {
    /// All of the datagram.
    #[default]
    Whole,
    /// The first fragment.
    First,
    /// A fragment after the first.
    Later,
}

impl Fragment {
    /// The part that begins at this offset, in any unit, and is followed by more fragments or not.
    pub(crate) const fn new(offset: u16, more: bool) -> Self {
        match (offset, more) {
            (0, false) => Self::Whole,
            (0, true) => Self::First,
            _ => Self::Later,
        }
    }
}

/// The protocol of the payload, or the kind of the next header of IPv6, as assigned by IANA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Protocol(
    /// The field's value.
    pub u8,
);

impl Protocol {
    /// IPv6's hop-by-hop options [RFC 8200 §4.3].
    pub const HOP_BY_HOP: Self = Self(0);
    /// ICMP [RFC 792].
    pub const ICMP: Self = Self(1);
    /// TCP [RFC 9293].
    pub const TCP: Self = Self(6);
    /// UDP [RFC 768].
    pub const UDP: Self = Self(17);
    /// DCCP [RFC 4340].
    pub const DCCP: Self = Self(33);
    /// IPv6's routing header [RFC 8200 §4.4].
    pub const ROUTING: Self = Self(43);
    /// IPv6's fragment header [RFC 8200 §4.5].
    pub const FRAGMENT: Self = Self(44);
    /// ICMPv6 [RFC 4443].
    pub const ICMPV6: Self = Self(58);
    /// Nothing follows [RFC 8200 §4.7].
    pub const NO_NEXT: Self = Self(59);
    /// IPv6's destination options [RFC 8200 §4.6].
    pub const DESTINATION_OPTIONS: Self = Self(60);
    /// SCTP [RFC 9260].
    pub const SCTP: Self = Self(132);
    /// UDP-Lite [RFC 3828].
    pub const UDP_LITE: Self = Self(136);
    /// For experiments [RFC 3692 §2.1].
    pub const EXPERIMENTAL_1: Self = Self(253);
    /// For experiments [RFC 3692 §2.1].
    pub const EXPERIMENTAL_2: Self = Self(254);
}

/// The IPv4 header without options: 20 bytes. Options are checked for length and skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ipv4 {
    /// Differentiated services codepoint of the packet.
    pub dscp: Dscp,
    /// ECN capability, or a congestion mark.
    pub ecn: Ecn,
    /// Bytes after the header, options excluded.
    pub payload_len: PayloadLen,
    /// Identifies the fragments of a datagram [RFC 6864].
    pub identification: u16,
    /// DF: routers must not fragment.
    pub dont_fragment: bool,
    /// MF: not the last fragment.
    pub more_fragments: bool,
    /// Offset of this fragment in its datagram, units of 8 bytes.
    pub fragment_offset: FragmentOffset,
    /// TTL: hops left.
    pub ttl: u8,
    /// Protocol of the payload.
    pub protocol: Protocol,
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
}

impl Ipv4 {
    /// A whole datagram: best effort, not ECN-capable, TTL 64 (the default that IANA lists), DF set so that
    /// the identification has no meaning [RFC 6864 §4.1].
    pub const fn new(
        protocol: Protocol,
        source: Ipv4Addr,
        destination: Ipv4Addr,
        payload_len: PayloadLen,
    ) -> Self {
        Self {
            dscp: Dscp::saturating(0),
            ecn: Ecn::NotEct,
            payload_len,
            identification: 0,
            dont_fragment: true,
            more_fragments: false,
            fragment_offset: FragmentOffset::saturating(0),
            ttl: 64,
            protocol,
            source,
            destination,
        }
    }

    /// The part of the datagram that the packet carries.
    pub const fn fragment(&self) -> Fragment {
        Fragment::new(self.fragment_offset.get(), self.more_fragments)
    }

    /// Length on the wire: 20 bytes.
    pub const fn wire_len() -> usize {
        BASE as usize
    }

    /// Writes the header, its checksum included, to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let mut fields = [0; Self::wire_len()];
        self.write(&mut fields, 0)?;
        self.write(buffer, Checksum::new().with(&fields).finish())
    }

    fn write(&self, buffer: &mut [u8], checksum: u16) -> Result<usize, EncodeError> {
        let flags = if self.dont_fragment { DONT_FRAGMENT } else { 0 }
            | if self.more_fragments { MORE_FRAGMENTS } else { 0 };
        Writer::new(Header::Ipv4, buffer, Self::wire_len())?
            .put([0x45, self.dscp.get() << 2 | self.ecn.bits()])
            .put((BASE + self.payload_len.get()).to_be_bytes())
            .put(self.identification.to_be_bytes())
            .put((flags | self.fragment_offset.get()).to_be_bytes())
            .put([self.ttl, self.protocol.0])
            .put(checksum.to_be_bytes())
            .put(self.source.octets())
            .put(self.destination.octets());
        Ok(Self::wire_len())
    }

    /// Reads the header, skips its options and returns its payload, without padding by the link.
    ///
    /// # Errors
    /// Too few bytes for the header or its payload, another version than 4, impossible lengths, a wrong
    /// checksum.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Ipv4, bytes);
        reader.need(Self::wire_len())?;
        let start = reader.clone();
        let first = reader.u8()?;
        if first >> 4 != 4 {
            return Err(start.fail(Expected::value("version", "4", &[first >> 4])));
        }
        let header_len = u16::from(first & 0x0f) * 4;
        if header_len < BASE {
            return Err(start.fail(Expected::value("header length", "at least 5 words", &[first & 0x0f])));
        }
        start.need(usize::from(header_len))?;
        let traffic_class = reader.u8()?;
        let at_total = reader.clone();
        let total = reader.u16_be()?;
        let identification = reader.u16_be()?;
        let flags = reader.u16_be()?;
        let [ttl, protocol] = reader.array()?;
        let at_checksum = reader.clone();
        let found = reader.u16_be()?;
        let (source, destination) = (reader.ipv4()?, reader.ipv4()?);
        reader.skip(usize::from(header_len - BASE))?;

        let sum = Checksum::new().with(bytes.get(..usize::from(header_len)).unwrap_or_default());
        if sum.finish() != 0 {
            let computed = without(sum, found).finish();
            return Err(
                at_checksum.fail(Expected::Checksum { computed: computed.into(), found: found.into() })
            );
        }
        let Some(payload_len) = total.checked_sub(header_len).and_then(PayloadLen::new) else {
            let wanted = "at least the header's";
            return Err(at_total.fail(Expected::value("total length", wanted, &total.to_be_bytes())));
        };
        let payload_size = usize::from(payload_len.get());
        reader.need(payload_size)?;
        let payload = reader.rest().get(..payload_size).unwrap_or_default();
        let header = Self {
            dscp: Dscp::saturating(traffic_class >> 2),
            ecn: Ecn::from_bits(traffic_class),
            payload_len,
            identification,
            dont_fragment: flags & DONT_FRAGMENT != 0,
            more_fragments: flags & MORE_FRAGMENTS != 0,
            fragment_offset: FragmentOffset::saturating(flags & FragmentOffset::MAX.get()),
            ttl,
            protocol: Protocol(protocol),
            source,
            destination,
        };
        Ok((header, payload))
    }
}

/// The sum without one 16-bit field: subtraction is addition of the complement [RFC 1624 §3].
fn without(sum: Checksum, field: u16) -> Checksum {
    sum.with(&(!field).to_be_bytes())
}
