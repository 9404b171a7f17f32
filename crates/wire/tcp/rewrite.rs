//! Changes of a TCP segment in place, within the packet that carries it, with its checksum kept right [RFC 1624].
//!
//! The checksum has to be complete: where an adapter is to compute it (checksum offload), the field holds another number until then. A
//! wrong checksum stays wrong. Segments with a signature are not changed: MD5's covers the flags [RFC 2385], that of TCP-AO options too
//! [RFC 5925].

use alloc::vec::Vec;

use super::{BASE, CHECKSUM_AT, Options, SchemeOption, Tcp};
use crate::checksum;
use crate::error::DecodeError;
use crate::ethernet::EtherType;
use crate::ip::Ip;
use crate::ipv4::{Fragment, Protocol};

/// Offset of data offset and flags, bytes.
const FLAGS_AT: usize = 12;
/// Offset of the window, bytes.
const WINDOW_AT: usize = 14;
/// Offsets in the headers of IP: the length of an IPv4 packet and its checksum, the length after the header of an IPv6 packet, bytes.
const IPV4_LENGTH_AT: usize = 2;
const IPV4_CHECKSUM_AT: usize = 10;
const IPV6_LENGTH_AT: usize = 4;
/// The longest option with the header of a scheme, bytes.
const MOST_OPTION: usize = SchemeOption::LONGEST + 4;
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

/// Replaces the header of a scheme in the segment of the IP packet in the payload of an Ethernet frame. True if the segment holds this
/// option now; false, and no byte is changed, if it has no option of the same length and sense, or at an odd offset, or has a signature.
///
/// The offset has to be even since the checksum is a sum of words; that of [`Tcp::encode`] and of Linux is a multiple of 4.
///
/// # Errors
/// As [`Ip::decode`] and [`Tcp::decode`]; no byte is changed.
pub fn set_scheme(
    ether_type: EtherType,
    packet: &mut [u8],
    option: SchemeOption,
) -> Result<bool, DecodeError> {
    let Some((at, segment)) = segment(ether_type, packet)? else { return Ok(false) };
    let found = options(segment)?;
    let Some((offset, old)) = found.scheme else { return Ok(false) };
    let other = old.answers() != option.answers() || old.wire_len() != option.wire_len();
    if other || !offset.is_multiple_of(2) || found.signed {
        return Ok(false);
    }
    let mut bytes = [0; MOST_OPTION];
    let len = option.encode(&mut bytes).unwrap_or_default();
    let field = bytes.get(..len).unwrap_or_default();
    checksum::replace(packet.get_mut(at..).unwrap_or_default(), offset, field, CHECKSUM_AT);
    Ok(true)
}

/// Adds the header of a scheme after the options of the segment in a whole frame, whose IP packet begins at `packet_at`; lengths and
/// checksums follow. True if the segment has this option now; false, and no byte is changed, if it has one, no room for it, or a signature,
/// or is a fragment.
///
/// # Errors
/// As [`Ip::decode`] and [`Tcp::decode`]; no byte is changed.
pub fn insert_scheme(
    ether_type: EtherType,
    frame: &mut Vec<u8>,
    packet_at: usize,
    option: SchemeOption,
) -> Result<bool, DecodeError> {
    let packet = frame.get(packet_at..).unwrap_or_default();
    let Some(ip) = Ip::decode(ether_type, packet)? else { return Ok(false) };
    if ip.protocol != Protocol::TCP || ip.fragment != Fragment::Whole {
        return Ok(false);
    }
    let (_, payload) = Tcp::decode(ip.transport)?;
    let (header, whole) = (ip.transport.len() - payload.len(), ip.transport.len());
    let (found, added, transport_at) = (options(ip.transport)?, option.wire_len(), ip.transport_at);
    let length_at = if ether_type == EtherType::IPV4 { IPV4_LENGTH_AT } else { IPV6_LENGTH_AT };
    let word =
        |at: usize| packet.get(at..).and_then(<[u8]>::first_chunk).map(|&word| u16::from_be_bytes(word));
    let (Some(length), Some(offset)) = (word(length_at), word(transport_at + FLAGS_AT)) else {
        return Ok(false);
    };
    let longer = length.checked_add(added as u16);
    let (Some(longer), false, None) = (longer, found.signed, found.scheme) else { return Ok(false) };
    if header + added > BASE + Options::MAX_LEN {
        return Ok(false);
    }
    let mut bytes = [0; MOST_OPTION];
    let len = option.encode(&mut bytes).unwrap_or_default();
    let field = bytes.get(..len).unwrap_or_default();
    // The pseudo-header has the segment's length; the option is new words beside it.
    let words = field.as_chunks().0.iter().map(|&word| (0, u16::from_be_bytes(word)));
    let sum = word(transport_at + CHECKSUM_AT).unwrap_or_default();
    let sum = words
        .chain([(whole as u16, (whole + added) as u16)])
        .fold(sum, |sum, (old, new)| checksum::updated(sum, old, new));
    let end = packet_at + transport_at + header;
    frame.splice(end..end, field.iter().copied());
    let packet = frame.get_mut(packet_at..).unwrap_or_default();
    if ether_type == EtherType::IPV4 {
        checksum::replace(packet, length_at, &longer.to_be_bytes(), IPV4_CHECKSUM_AT);
    } else if let Some(space) = packet.get_mut(length_at..).and_then(<[u8]>::first_chunk_mut) {
        *space = longer.to_be_bytes();
    }
    let segment = packet.get_mut(transport_at..).unwrap_or_default();
    if let Some(space) = segment.get_mut(CHECKSUM_AT..).and_then(<[u8]>::first_chunk_mut) {
        *space = sum.to_be_bytes();
    }
    let offset = offset + ((added as u16 / 4) << 12);
    checksum::replace(segment, FLAGS_AT, &offset.to_be_bytes(), CHECKSUM_AT);
    Ok(true)
}

/// Lowers the largest segment that a SYN announces to `most` bytes, so that there is room for the header of a scheme. True if the segment
/// announces no more now; false, and no byte is changed, if it is no SYN, announces nothing, at an odd offset, or has a signature.
///
/// # Errors
/// As [`Ip::decode`] and [`Tcp::decode`]; no byte is changed.
pub fn limit_mss(ether_type: EtherType, packet: &mut [u8], most: u16) -> Result<bool, DecodeError> {
    let Some((at, segment)) = segment(ether_type, packet)? else { return Ok(false) };
    let (header, _) = Tcp::decode(segment)?;
    let found = options(segment)?;
    let (true, Some((offset, mss)), false) = (header.flags.syn, found.mss, found.signed) else {
        return Ok(false);
    };
    if !offset.is_multiple_of(2) {
        return Ok(false);
    }
    let most = mss.min(most).to_be_bytes();
    checksum::replace(packet.get_mut(at..).unwrap_or_default(), offset + 2, &most, CHECKSUM_AT);
    Ok(true)
}

/// Replaces the window of the segment of the IP packet in the payload of an Ethernet frame, as the field has it: before scaling. True if
/// the segment has this window now; false, and no byte is changed, if there is no TCP header, or a signature.
///
/// # Errors
/// As [`Ip::decode`] and [`Tcp::decode`]; no byte is changed.
pub fn set_window(ether_type: EtherType, packet: &mut [u8], window: u16) -> Result<bool, DecodeError> {
    let Some((at, segment)) = segment(ether_type, packet)? else { return Ok(false) };
    Tcp::decode(segment)?;
    if options(segment)?.signed {
        return Ok(false);
    }
    let segment = packet.get_mut(at..).unwrap_or_default();
    checksum::replace(segment, WINDOW_AT, &window.to_be_bytes(), CHECKSUM_AT);
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
    /// The first header of a scheme, with its offset from the segment's first byte.
    scheme: Option<(usize, SchemeOption)>,
    /// The largest segment that is announced, with the offset of its option.
    mss: Option<(usize, u16)>,
}

fn options(segment: &[u8]) -> Result<Found, DecodeError> {
    let mut found = Found { signed: false, scheme: None, mss: None };
    let mut walk = super::options_of(segment)?;
    while let Some(option) = walk.next()? {
        found.signed |= matches!(option.kind, MD5 | AUTHENTICATION);
        if found.scheme.is_none() {
            found.scheme = option.scheme().map(|scheme| (option.offset, scheme));
        }
        found.mss = option.mss().map(|mss| (option.offset, mss)).or(found.mss);
    }
    Ok(found)
}
