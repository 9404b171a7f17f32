//! An IP packet of either version: what both headers say, the way to the transport's header, and changes of ECN and DSCP in place.

use crate::address::IpAddr;
use crate::checksum;
use crate::error::DecodeError;
use crate::ethernet::EtherType;
use crate::ipv4::{Dscp, Ecn, Fragment, Ipv4, Protocol};
use crate::ipv6::Ipv6;

/// Offset of the checksum in an IPv4 header, bytes.
const IPV4_CHECKSUM_AT: usize = 10;

/// An IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ip<'a> {
    /// Source address.
    pub source: IpAddr,
    /// Destination address, of the same version.
    pub destination: IpAddr,
    /// Differentiated services codepoint of the packet.
    pub dscp: Dscp,
    /// ECN capability, or a congestion mark.
    pub ecn: Ecn,
    /// The transport. Over IPv6 see [`crate::ipv6::Transport::protocol`].
    pub protocol: Protocol,
    /// The part of the datagram that the packet carries.
    pub fragment: Fragment,
    /// Offset of the transport's header from the packet's first byte, bytes.
    pub transport_at: usize,
    /// The transport's header and all that follows, without padding by the link.
    pub transport: &'a [u8],
}

impl<'a> Ip<'a> {
    /// Reads the IP packet in the payload of an Ethernet frame; `None` where the type is neither that of IPv4 nor that of IPv6.
    ///
    /// # Errors
    /// As [`Ipv4::decode`] and [`Ipv6::decode`]. Bytes that are no valid transport's header are no error.
    pub fn decode(ether_type: EtherType, packet: &'a [u8]) -> Result<Option<Self>, DecodeError> {
        match ether_type {
            EtherType::IPV4 => {
                let (header, transport) = Ipv4::decode(packet)?;
                Ok(Some(Self {
                    source: header.source.into(),
                    destination: header.destination.into(),
                    dscp: header.dscp,
                    ecn: header.ecn,
                    protocol: header.protocol,
                    fragment: header.fragment(),
                    transport_at: 4 * usize::from(packet.first().map_or(0, |first| first & 0x0f)),
                    transport,
                }))
            }
            EtherType::IPV6 => {
                let (header, payload) = Ipv6::decode(packet)?;
                let transport = header.transport(payload);
                Ok(Some(Self {
                    source: header.source.into(),
                    destination: header.destination.into(),
                    dscp: header.dscp,
                    ecn: header.ecn,
                    protocol: transport.protocol,
                    fragment: transport.fragment,
                    transport_at: Ipv6::wire_len() + payload.len() - transport.bytes.len(),
                    transport: transport.bytes,
                }))
            }
            _ => Ok(None),
        }
    }
}

/// Marks the IP packet in the payload of an Ethernet frame as having met congestion [RFC 3168 §5], where its transport supports ECN. True
/// if the packet is marked now; false, and no byte is changed, if its transport has no ECN or it is no IP packet.
///
/// The checksum of IPv4 is updated, transports' checksums do not cover the field.
///
/// # Errors
/// As [`Ip::decode`]; no byte is changed.
pub fn set_ce(ether_type: EtherType, packet: &mut [u8]) -> Result<bool, DecodeError> {
    let Some((dscp, ecn)) = traffic_class(ether_type, packet)? else { return Ok(false) };
    match ecn {
        Ecn::NotEct => return Ok(false),
        Ecn::Ce => {}
        Ecn::Ect0 | Ecn::Ect1 => set_traffic_class(ether_type, packet, dscp, Ecn::Ce),
    }
    Ok(true)
}

/// Lowers the largest packet that a router announces in the payload of an Ethernet frame: ICMP's "fragmentation needed" [RFC 1191 §4], and
/// "packet too big" [RFC 4443 §3.2], which goes no lower than IPv6's least. True if it announces less now; false, and no byte is changed,
/// if it is no such message.
///
/// # Errors
/// As [`Ip::decode`]; no byte is changed.
pub fn lower_mtu(ether_type: EtherType, packet: &mut [u8], by: u16) -> Result<bool, DecodeError> {
    const LEAST: u16 = 1280;
    let Some(Ip { protocol, fragment, transport_at, transport, .. }) = Ip::decode(ether_type, packet)? else {
        return Ok(false);
    };
    let (at, least) = match (protocol, transport) {
        (Protocol(1), [3, 4, ..]) => (6, 0),
        (Protocol(58), [2, 0, ..]) => (6, LEAST),
        _ => return Ok(false),
    };
    let Some(&mtu) = transport.get(at..).and_then(<[u8]>::first_chunk) else { return Ok(false) };
    let mtu = u16::from_be_bytes(mtu);
    let lower = mtu.saturating_sub(by).max(least);
    if fragment != Fragment::Whole || lower >= mtu {
        return Ok(false);
    }
    // The checksum begins at the third byte of both.
    checksum::replace(packet.get_mut(transport_at..).unwrap_or_default(), at, &lower.to_be_bytes(), 2);
    Ok(true)
}

/// Sets the DSCP of the IP packet in the payload of an Ethernet frame [RFC 2474 §3]; the ECN field is kept. False, and no byte is changed,
/// if it is no IP packet.
///
/// # Errors
/// As [`Ip::decode`]; no byte is changed.
pub fn set_dscp(ether_type: EtherType, packet: &mut [u8], dscp: Dscp) -> Result<bool, DecodeError> {
    let Some((_, ecn)) = traffic_class(ether_type, packet)? else { return Ok(false) };
    set_traffic_class(ether_type, packet, dscp, ecn);
    Ok(true)
}

/// Reads no more than the fixed header: extension headers cannot hide a packet from marks.
fn traffic_class(ether_type: EtherType, packet: &[u8]) -> Result<Option<(Dscp, Ecn)>, DecodeError> {
    Ok(match ether_type {
        EtherType::IPV4 => Some(Ipv4::decode(packet).map(|(header, _)| (header.dscp, header.ecn))?),
        EtherType::IPV6 => Some(Ipv6::decode(packet).map(|(header, _)| (header.dscp, header.ecn))?),
        _ => None,
    })
}

/// Writes both fields of a packet that has been decoded; of another one nothing.
fn set_traffic_class(ether_type: EtherType, packet: &mut [u8], dscp: Dscp, ecn: Ecn) {
    let class = dscp.get() << 2 | ecn.bits();
    match (ether_type, &mut *packet) {
        (EtherType::IPV4, &mut [version_and_length, ..]) => {
            checksum::replace(packet, 0, &[version_and_length, class], IPV4_CHECKSUM_AT);
        }
        (EtherType::IPV6, [first, second, ..]) => {
            *first = *first & 0xf0 | class >> 4;
            *second = class << 4 | *second & 0x0f;
        }
        _ => {}
    }
}
