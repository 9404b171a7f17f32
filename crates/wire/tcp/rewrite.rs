//! Changes of a TCP segment in place, within the packet that carries it, with its checksum kept right [RFC 1624].
//!
//! The checksum has to be complete: where an adapter is to compute it (checksum offload), the field holds another number until then. A
//! wrong checksum stays wrong. Segments with a signature are not changed: MD5's covers the flags [RFC 2385], that of TCP-AO options too
//! [RFC 5925].

use super::congestion::CongestionOption;
use super::{CHECKSUM_AT, Tcp};
use crate::checksum;
use crate::error::DecodeError;
use crate::ethernet::EtherType;
use crate::ip::Ip;
use crate::ipv4::{Fragment, Protocol};

/// Offset of data offset and flags, bytes.
const FLAGS_AT: usize = 12;
const ECE: u8 = 1 << 6;
const MD5: u8 = 19;
const AUTHENTICATION: u8 = 29;

/// Sets ECN-Echo in the segment of the IP packet in the payload of an Ethernet frame [RFC 3168 §6.1.3]. True if the flag is set now;
/// false, and no byte is changed, where the flag would have another meaning or none: no TCP header, SYN (where it negotiates ECN), RST, no
/// ACK, or a signature.
///
/// No single packet shows if the connection has negotiated ECN: without, its sender ignores the flag. With Accurate ECN the flag is a bit
/// of a counter, and must not be set.
///
/// # Errors
/// As [`Ip::decode`] and [`Tcp::decode`]; no byte is changed.
pub fn set_ece(ether_type: EtherType, packet: &mut [u8]) -> Result<bool, DecodeError> {
    let Some((at, segment)) = segment(ether_type, packet)? else { return Ok(false) };
    let (header, _) = Tcp::decode(segment)?;
    let &[offset, flags] = segment.get(FLAGS_AT..).and_then(<[u8]>::first_chunk).unwrap_or(&[0; 2]);
    if !header.flags.ack || header.flags.syn || header.flags.rst || options(segment)?.signed {
        return Ok(false);
    }
    checksum::replace(
        packet.get_mut(at..).unwrap_or_default(),
        FLAGS_AT,
        &[offset, flags | ECE],
        CHECKSUM_AT,
    );
    Ok(true)
}

/// Replaces the congestion header in the segment of the IP packet in the payload of an Ethernet frame. True if the segment holds this
/// option now; false, and no byte is changed, if it has no option of that scheme before one of another, or at an odd offset, or has a
/// signature.
///
/// The offset has to be even since the checksum is a sum of words; that of [`Tcp::encode`] and of Linux is a multiple of 4.
///
/// # Errors
/// As [`Ip::decode`] and [`Tcp::decode`]; no byte is changed.
pub fn set_congestion(
    ether_type: EtherType,
    packet: &mut [u8],
    option: CongestionOption,
) -> Result<bool, DecodeError> {
    let Some((at, segment)) = segment(ether_type, packet)? else { return Ok(false) };
    let found = options(segment)?;
    let Some((offset, old)) = found.congestion else { return Ok(false) };
    if old.wire_len() != option.wire_len() || !offset.is_multiple_of(2) || found.signed {
        return Ok(false);
    }
    let mut bytes = [0; 20];
    let len = option.encode(&mut bytes).unwrap_or_default();
    let field = bytes.get(..len).unwrap_or_default();
    checksum::replace(packet.get_mut(at..).unwrap_or_default(), offset, field, CHECKSUM_AT);
    Ok(true)
}

/// The segment of a packet that holds a TCP header, and its offset from the packet's first byte.
fn segment(ether_type: EtherType, packet: &[u8]) -> Result<Option<(usize, &[u8])>, DecodeError> {
    let found = Ip::decode(ether_type, packet)?;
    let found = found.filter(|ip| ip.protocol == Protocol::TCP && ip.fragment != Fragment::Later);
    Ok(found.map(|ip| (ip.transport_at, ip.transport)))
}

/// The options that decide about a change.
struct Found {
    /// The segment is signed.
    signed: bool,
    /// The first congestion header, with its offset from the segment's first byte.
    congestion: Option<(usize, CongestionOption)>,
}

fn options(segment: &[u8]) -> Result<Found, DecodeError> {
    let mut found = Found { signed: false, congestion: None };
    let mut walk = super::options_of(segment)?;
    while let Some(option) = walk.next()? {
        found.signed |= matches!(option.kind, MD5 | AUTHENTICATION);
        if found.congestion.is_none() {
            found.congestion = option.congestion().map(|congestion| (option.offset, congestion));
        }
    }
    Ok(found)
}
