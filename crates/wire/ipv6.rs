//! IPv6 [RFC 8200], with the DSCP and ECN fields of RFC 2474 and RFC 3168, and the way through extension headers to the transport's.

use crate::address::Ipv6Addr;
use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};
use crate::ipv4::{Dscp, Ecn, Fragment, Protocol};

/// The most extension headers that [`Ipv6::transport`] passes. The order that RFC 8200 §4.1 recommends has five of the kinds that it
/// reads: hop-by-hop options, destination options twice, routing, fragment.
pub const MOST_EXTENSIONS: usize = 8;

bounded! {
    /// Flow label, 20 bits [RFC 6437]. 0: the source has set none.
    FlowLabel(u32) <= 0xf_ffff
}

/// The IPv6 header without extension headers: 40 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ipv6 {
    /// Differentiated services codepoint of the packet.
    pub dscp: Dscp,
    /// ECN capability, or a congestion mark.
    pub ecn: Ecn,
    /// Label of the packet's flow.
    pub flow_label: FlowLabel,
    /// Bytes after the header, extension headers included. Jumbograms [RFC 2675], whose length is 0 here, are not read.
    pub payload_len: u16,
    /// The kind of the next header: an extension header or the transport's.
    pub next: Protocol,
    /// Hops left.
    pub hop_limit: u8,
    /// Source address.
    pub source: Ipv6Addr,
    /// Destination address: that of the next listed node, where a routing header lists nodes.
    pub destination: Ipv6Addr,
}

/// The header after the last extension header, and all that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Transport<'a> {
    /// The kind of that header. Where extension headers are cut short or more than [`MOST_EXTENSIONS`], the kind of the first that was not
    /// passed.
    pub protocol: Protocol,
    /// The part of the datagram that the packet carries. In a later fragment no header follows, but data.
    pub fragment: Fragment,
    /// That header and all that follows, to the end of the packet.
    pub bytes: &'a [u8],
}

impl Ipv6 {
    /// A packet with best effort, without ECN and flow label, with the hop limit 64, which IANA lists as default.
    pub const fn new(next: Protocol, source: Ipv6Addr, destination: Ipv6Addr, payload_len: u16) -> Self {
        Self {
            dscp: Dscp::saturating(0),
            ecn: Ecn::NotEct,
            flow_label: FlowLabel::saturating(0),
            payload_len,
            next,
            hop_limit: 64,
            source,
            destination,
        }
    }

    /// Length on the wire: 40 bytes.
    pub const fn wire_len() -> usize {
        40
    }

    /// Writes the header to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let class = u32::from(self.dscp.get() << 2 | self.ecn.bits());
        Writer::new(Header::Ipv6, buffer, Self::wire_len())?
            .put((6 << 28 | class << 20 | self.flow_label.get()).to_be_bytes())
            .put(self.payload_len.to_be_bytes())
            .put([self.next.0, self.hop_limit])
            .put(self.source.octets())
            .put(self.destination.octets());
        Ok(Self::wire_len())
    }

    /// Reads the header and returns its payload, without padding by the link.
    ///
    /// # Errors
    /// Too few bytes for the header or its payload, or another version than 6.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Ipv6, bytes);
        reader.need(Self::wire_len())?;
        let start = reader.clone();
        let first = reader.u32_be()?;
        let [version_and_class, ..] = first.to_be_bytes();
        if version_and_class >> 4 != 6 {
            return Err(start.fail(Expected::value("version", "6", &[version_and_class >> 4])));
        }
        let payload_len = reader.u16_be()?;
        let [next, hop_limit] = reader.array()?;
        let (source, destination) = (reader.ipv6()?, reader.ipv6()?);
        let payload = reader.slice(usize::from(payload_len))?;
        let [class, ..] = (first << 4).to_be_bytes();
        let header = Self {
            dscp: Dscp::saturating(class >> 2),
            ecn: Ecn::from_bits(class),
            flow_label: FlowLabel::saturating(first & FlowLabel::MAX.get()),
            payload_len,
            next: Protocol(next),
            hop_limit,
            source,
            destination,
        };
        Ok((header, payload))
    }

    /// The transport's header in the payload of the packet. Hop-by-hop options (right after the IPv6 header only [RFC 8200 §4.3]), routing
    /// and fragment headers and destination options are passed. Every other kind counts as a transport, encryption and authentication
    /// included.
    pub fn transport<'a>(&self, payload: &'a [u8]) -> Transport<'a> {
        let mut at = Transport { protocol: self.next, fragment: Fragment::Whole, bytes: payload };
        for passed in 0..MOST_EXTENSIONS {
            match at.after_extension(passed == 0) {
                Some(next) => at = next,
                None => break,
            }
        }
        at
    }
}

impl Transport<'_> {
    /// The header after this one, if this one is a whole extension header.
    fn after_extension(self, first: bool) -> Option<Self> {
        // All four kinds have at least 8 bytes. The second is the length in units of 8 bytes without the first 8, but for the fragment
        // header, where it is reserved.
        let [next, length, offset, offset_and_more, ..] = *self.bytes.first_chunk::<8>()?;
        let more_units = match self.protocol {
            Protocol::HOP_BY_HOP if first => length,
            Protocol::ROUTING | Protocol::DESTINATION_OPTIONS => length,
            Protocol::FRAGMENT => 0,
            _ => return None,
        };
        if self.fragment == Fragment::Later {
            return None;
        }
        let mut fragment = self.fragment;
        if self.protocol == Protocol::FRAGMENT {
            let field = u16::from_be_bytes([offset, offset_and_more]);
            fragment = fragment.max(Fragment::new(field >> 3, field & 1 != 0));
        }
        let bytes = self.bytes.get(8 + 8 * usize::from(more_units)..)?;
        Some(Self { protocol: Protocol(next), fragment, bytes })
    }
}
