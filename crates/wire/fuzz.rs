//! Fuzzer entry points: each accepts any bytes, and panics only if a guarantee of this crate is violated.
//!
//! The guarantees: no bytes make a decoder panic; a decoded value encodes to bytes that decode to an equal value and an equal rest;
//! encoding needs `wire_len()` bytes and fails with fewer; an error's offset is within the bytes. Since random bytes hardly ever have a
//! valid checksum, it is corrected for a second try.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Debug;

use crate::address::{IpAddr, Ipv4Addr};
use crate::airtime::Announcement;
use crate::aodv;
use crate::atp;
use crate::c3l;
use crate::checksum::Checksum;
use crate::congestion::Congestion;
use crate::diffq;
use crate::dsdv;
use crate::error::{DecodeError, EncodeError};
use crate::ethernet::EtherType;
use crate::exact;
use crate::exor::Exor;
use crate::five_tuple::{Class, FiveTuple};
use crate::ieee80211::{Ack, CfEnd, Cts, DataHeader, Fcs, Frame, FrameControl, Rts};
use crate::ip::{self, Ip};
use crate::ipv4::{Dscp, Ecn, Fragment, Protocol};
use crate::ipv6::MOST_EXTENSIONS;
use crate::more;
use crate::nred::Ncn;
use crate::olsr;
use crate::pcapng::Block;
use crate::probe::Probe;
use crate::rate;
use crate::tcp::{self, SchemeOption};
use crate::{Arp, Ethernet, Ipv4, Ipv6, LlcSnap, Radiotap, Tcp, Udp};

type Decode<T> = fn(&[u8]) -> Result<(T, &[u8]), DecodeError>;
type Encode<T> = fn(&T, &mut [u8]) -> Result<usize, EncodeError>;

/// Decodes, encodes and decodes again.
fn round_trip<T: PartialEq + Debug>(
    data: &[u8],
    wire_len: fn(&T) -> usize,
    encode: Encode<T>,
    decode: Decode<T>,
) {
    let (value, rest) = match decode(data) {
        Ok(decoded) => decoded,
        Err(error) => return assert!(error.offset <= data.len(), "{error} points beyond {data:02x?}"),
    };
    let len = wire_len(&value);
    let mut bytes = vec![0; len + rest.len()];
    assert_eq!(encode(&value, &mut bytes), Ok(len), "encoding {value:?}");
    let (header, tail) = bytes.split_at_mut(len);
    tail.copy_from_slice(rest);
    assert!(encode(&value, &mut header[1..]).is_err(), "{value:?} fits into less than its length");
    encode(&value, header).expect("it fitted before");
    assert_eq!(decode(&bytes), Ok((value, rest)));
}

/// Every 802.11 frame, with the FCS found, with a right one, and without.
pub fn fuzz_ieee80211(data: &[u8]) {
    round_trip(data, |_| FrameControl::wire_len(), FrameControl::encode, FrameControl::decode);
    round_trip(data, DataHeader::wire_len, DataHeader::encode, DataHeader::decode);
    whole_frame(data);
    let mut sealed = data.to_vec();
    if Fcs::seal(&mut sealed).is_ok() {
        assert!(Fcs::check(&sealed).is_ok());
        whole_frame(&sealed);
    }
    if let Ok(frame) = Frame::decode_without_fcs(data) {
        let mut bytes = vec![0; frame.wire_len()];
        assert_eq!(frame.encode(&mut bytes), Ok(frame.wire_len()));
        assert_eq!(Frame::decode(&bytes), Ok(frame));
        assert!(frame.encode(&mut bytes[1..]).is_err());
    }
}

fn whole_frame(data: &[u8]) {
    round_trip(data, |_| Rts::wire_len(), Rts::encode, Rts::decode);
    round_trip(data, |_| Cts::wire_len(), Cts::encode, Cts::decode);
    round_trip(data, |_| Ack::wire_len(), Ack::encode, Ack::decode);
    round_trip(data, |_| CfEnd::wire_len(), CfEnd::encode, CfEnd::decode);
    match Frame::decode(data) {
        Ok(frame) => {
            let mut bytes = vec![0; frame.wire_len()];
            assert_eq!(frame.encode(&mut bytes), Ok(data.len()));
            assert_eq!(Frame::decode(&bytes), Ok(frame));
        }
        Err(error) => assert!(error.offset <= data.len()),
    }
}

/// LLC/SNAP.
pub fn fuzz_llc(data: &[u8]) {
    round_trip(data, |_| LlcSnap::wire_len(), LlcSnap::encode, LlcSnap::decode);
}

/// Ethernet.
pub fn fuzz_ethernet(data: &[u8]) {
    round_trip(data, |_| Ethernet::wire_len(), Ethernet::encode, Ethernet::decode);
}

/// ARP.
pub fn fuzz_arp(data: &[u8]) {
    round_trip(data, |_| Arp::wire_len(), Arp::encode, Arp::decode);
}

/// IPv4, with the checksum found and with a right one.
pub fn fuzz_ipv4(data: &[u8]) {
    round_trip(data, |_| Ipv4::wire_len(), Ipv4::encode, Ipv4::decode);
    round_trip(&repaired_ipv4(data), |_| Ipv4::wire_len(), Ipv4::encode, Ipv4::decode);
}

/// The bytes with a right checksum of IPv4, if they are long enough.
fn repaired_ipv4(data: &[u8]) -> Vec<u8> {
    let header_len = usize::from(data.first().unwrap_or(&0) & 0x0f) * 4;
    let mut repaired = data.to_vec();
    if let Some(header) = repaired.get_mut(..header_len.max(Ipv4::wire_len())) {
        header[10..12].fill(0);
        let checksum = Checksum::new().with(header).finish();
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
    }
    repaired
}

/// IPv6 and its extension headers.
pub fn fuzz_ipv6(data: &[u8]) {
    round_trip(data, |_| Ipv6::wire_len(), Ipv6::encode, Ipv6::decode);
    let Ok((header, payload)) = Ipv6::decode(data) else { return };
    let transport = header.transport(payload);
    assert!(payload.ends_with(transport.bytes));
    let passed = payload.len() - transport.bytes.len();
    // A header has 2,048 bytes at most.
    assert!(passed.is_multiple_of(8) && passed <= MOST_EXTENSIONS * 2048, "{passed} bytes passed");
}

/// Each version of IP with the packet as that version, of IPv4 also with a right checksum.
fn packets(data: &[u8]) -> [(EtherType, Vec<u8>); 3] {
    [
        (EtherType::IPV4, data.to_vec()),
        (EtherType::IPV4, repaired_ipv4(data)),
        (EtherType::IPV6, data.to_vec()),
    ]
}

/// Five-tuples, classes and numbers of flows.
pub fn fuzz_five_tuple(data: &[u8]) {
    for (ether_type, packet) in packets(data) {
        let read = match Ip::decode(ether_type, &packet) {
            Ok(read) => read.expect("both types are of IP"),
            Err(error) => {
                assert!(error.offset <= data.len());
                continue;
            }
        };
        assert!(packet[read.transport_at..].starts_with(read.transport));
        let tuple = FiveTuple::new(&read);
        assert_eq!(tuple.source.is_ipv4(), tuple.destination.is_ipv4());
        assert!(tuple.flow(0) < u32::MAX && tuple.reversed().flow(u64::MAX) < u32::MAX);
        assert_eq!(tuple.reversed().reversed(), tuple);
        if read.fragment == Fragment::Later {
            assert_eq!((tuple.source_port, tuple.destination_port), (0, 0));
        }
        if Class::new(&read) == Class::Acknowledgement {
            assert!((20..=60).contains(&read.transport.len()) && read.protocol == Protocol::TCP);
        }
    }
}

/// Changes of packets in place: what is refused changes no byte, and checksums that were right stay so.
pub fn fuzz_rewrite(data: &[u8]) {
    for (ether_type, mut packet) in packets(data) {
        repair_tcp(ether_type, &mut packet);
        let valid = verifies(ether_type, &packet);
        let changed = |change: &dyn Fn(&mut [u8]) -> Result<bool, DecodeError>| {
            let mut after = packet.clone();
            let result = change(&mut after);
            assert!(
                result == Ok(true) || after == packet,
                "{result:?} changes {packet:02x?} to {after:02x?}"
            );
            assert_eq!(verifies(ether_type, &after), valid, "{packet:02x?} became {after:02x?}");
            let differ = packet.iter().zip(&after).filter(|(old, new)| old != new).count();
            (result == Ok(true)).then_some((after, differ))
        };
        let read = |packet: &[u8]| Ip::decode(ether_type, packet).ok().flatten().map(|ip| (ip.dscp, ip.ecn));
        if let Some((after, differ)) = changed(&|packet| ip::set_ce(ether_type, packet)) {
            let (dscp, ecn) = read(&packet).expect("it was decoded");
            assert!(ecn != Ecn::NotEct && differ <= 3);
            assert_eq!(read(&after), Some((dscp, Ecn::Ce)));
        }
        for dscp in [Dscp::saturating(0), Dscp::MAX, Dscp::saturating(0x15)] {
            if let Some((after, differ)) = changed(&|packet| ip::set_dscp(ether_type, packet, dscp)) {
                assert!(differ <= 4);
                assert_eq!(read(&after), read(&packet).map(|(_, ecn)| (dscp, ecn)));
            }
        }
        let segment = |packet: &[u8]| {
            let ip = Ip::decode(ether_type, packet).ok().flatten()?;
            Tcp::decode(ip.transport).ok().map(|(header, _)| Tcp { checksum: 0, ..header })
        };
        if let Some((after, differ)) = changed(&|packet| tcp::set_ece(ether_type, packet)) {
            assert!(differ <= 3);
            let header = segment(&packet).expect("it was decoded");
            assert!(header.flags.ack && !header.flags.syn);
            let flags = tcp::Flags { ece: true, ..header.flags };
            assert_eq!(segment(&after), Some(Tcp { flags, ..header }));
        }
        for option in [&[0xff; 8][..], &[0; 16], &[0x55; 20]].into_iter().filter_map(SchemeOption::new) {
            if let Some((after, differ)) = changed(&|packet| tcp::set_scheme(ether_type, packet, option)) {
                assert!(differ <= 2 + option.wire_len() - 4);
                let header = segment(&packet).expect("it was decoded");
                assert_eq!(
                    segment(&after),
                    Some(Tcp { options: header.options.with_scheme(option), ..header })
                );
            }
        }
    }
}

/// True if the packet holds a whole segment of TCP with a right checksum.
fn verifies(ether_type: EtherType, packet: &[u8]) -> bool {
    let Ok(Some(ip)) = Ip::decode(ether_type, packet) else { return false };
    ip.protocol == Protocol::TCP
        && match (ip.source, ip.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => Tcp::verify(source, destination, ip.transport),
            (IpAddr::V6(source), IpAddr::V6(destination)) => Tcp::verify(source, destination, ip.transport),
            _ => unreachable!("both addresses are of one version"),
        }
        .is_ok()
}

/// Corrects the checksum of the segment, if the packet holds one.
fn repair_tcp(ether_type: EtherType, packet: &mut [u8]) {
    let Ok(Some(ip)) = Ip::decode(ether_type, packet) else { return };
    if ip.protocol != Protocol::TCP || ip.transport.len() < 20 {
        return;
    }
    let mut segment = ip.transport.to_vec();
    segment[16..18].fill(0);
    let len = segment.len() as u16;
    let sum = match (ip.source, ip.destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            Checksum::new().with(&source.octets()).with(&destination.octets())
        }
        (source, destination) => [source, destination].into_iter().fold(Checksum::new(), |sum, address| {
            if let IpAddr::V6(address) = address { sum.with(&address.octets()) } else { sum }
        }),
    };
    let sum = sum.with(&[0, Protocol::TCP.0]).with(&len.to_be_bytes()).with(&segment);
    let at = ip.transport_at + 16;
    packet[at..at + 2].copy_from_slice(&sum.finish().to_be_bytes());
}

/// UDP, with the checksum found and with a right one.
pub fn fuzz_udp(data: &[u8]) {
    round_trip(data, |_| Udp::wire_len(), Udp::encode, Udp::decode);
    let Ok((header, payload)) = Udp::decode(data) else { return };
    let (source, destination) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
    if let Err(error) = header.verify(source, destination, payload) {
        assert!(error.offset <= data.len());
    }
    let right = header.with_payload(source, destination, payload).expect("what was decoded is not too long");
    assert_eq!(right.verify(source, destination, payload), Ok(()));
}

/// TCP, with the checksum found and with a right one; the header of a scheme as an option.
pub fn fuzz_tcp(data: &[u8]) {
    round_trip(data, SchemeOption::wire_len, SchemeOption::encode, SchemeOption::decode);
    round_trip(data, Tcp::wire_len, Tcp::encode, Tcp::decode);
    let (source, destination) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
    if let Err(error) = Tcp::verify(source, destination, data) {
        assert!(error.offset <= data.len());
    }
    let Ok((header, payload)) = Tcp::decode(data) else { return };
    assert!(header.wire_len() <= 60 && header.wire_len() % 4 == 0);
    let Some(right) = header.with_payload(source, destination, payload) else { return };
    let mut segment = vec![0; right.wire_len()];
    right.encode(&mut segment).expect("the buffer has its length");
    segment.extend(payload);
    assert_eq!(Tcp::verify(source, destination, &segment), Ok(()));
}

/// Radiotap.
pub fn fuzz_radiotap(data: &[u8]) {
    round_trip(data, Radiotap::wire_len, Radiotap::encode, Radiotap::decode);
}

/// The blocks of a capture file, one after the other.
pub fn fuzz_pcapng(data: &[u8]) {
    let mut left = data;
    while !left.is_empty() {
        let (block, rest) = match Block::decode(left) {
            Ok(read) => read,
            Err(error) => return assert!(error.offset <= left.len(), "{error} points beyond {left:02x?}"),
        };
        left = rest;
        let Some(block) = block else { return assert!(rest.is_empty()) };
        let mut bytes = vec![0; block.wire_len()];
        assert_eq!(block.encode(&mut bytes), Ok(bytes.len()));
        assert_eq!(Block::decode(&bytes), Ok((Some(block.clone()), &[][..])));
        assert!(block.encode(&mut bytes[1..]).is_err());
    }
}

/// The airtime allocator's announcement.
pub fn fuzz_airtime(data: &[u8]) {
    round_trip(data, Announcement::wire_len, Announcement::encode, Announcement::decode);
}

/// NRED's notification.
pub fn fuzz_nred(data: &[u8]) {
    round_trip(data, |_| Ncn::wire_len(), Ncn::encode, Ncn::decode);
}

/// AODV's messages.
pub fn fuzz_aodv(data: &[u8]) {
    round_trip(data, aodv::Message::wire_len, aodv::Message::encode, aodv::Message::decode);
}

/// DSDV's update.
pub fn fuzz_dsdv(data: &[u8]) {
    round_trip(data, dsdv::Update::wire_len, dsdv::Update::encode, dsdv::Update::decode);
}

/// OLSR's packets.
pub fn fuzz_olsr(data: &[u8]) {
    round_trip(data, olsr::Packet::wire_len, olsr::Packet::encode, olsr::Packet::decode);
}

/// The header of explicit-rate schemes.
pub fn fuzz_congestion(data: &[u8]) {
    round_trip(data, Congestion::wire_len, Congestion::encode, Congestion::decode);
}

/// DiffQ's trailer and messages.
pub fn fuzz_diffq(data: &[u8]) {
    round_trip(data, diffq::Trailer::wire_len, diffq::Trailer::encode, diffq::Trailer::decode);
    round_trip(data, diffq::Sizes::wire_len, diffq::Sizes::encode, diffq::Sizes::decode);
    round_trip(data, |_| diffq::Call::WIRE_LEN, diffq::Call::encode, diffq::Call::decode);
}

/// C3L's messages and header.
pub fn fuzz_c3l(data: &[u8]) {
    round_trip(data, c3l::Message::wire_len, c3l::Message::encode, c3l::Message::decode);
    round_trip(data, |_| c3l::Stamp::wire_len(), c3l::Stamp::encode, c3l::Stamp::decode);
    round_trip(data, c3l::Hello::wire_len, c3l::Hello::encode, c3l::Hello::decode);
    round_trip(data, c3l::Report::wire_len, c3l::Report::encode, c3l::Report::decode);
    round_trip(data, c3l::Allocation::wire_len, c3l::Allocation::encode, c3l::Allocation::decode);
    round_trip(data, |_| c3l::Feedback::wire_len(), c3l::Feedback::encode, c3l::Feedback::decode);
    round_trip(data, |_| c3l::Word::wire_len(), c3l::Word::encode, c3l::Word::decode);
}

/// MORE's packets.
pub fn fuzz_more(data: &[u8]) {
    round_trip(data, more::Message::wire_len, more::Message::encode, more::Message::decode);
    round_trip(data, more::Coded::wire_len, more::Coded::encode, more::Coded::decode);
    let acknowledgement = (more::Acknowledgement::encode, more::Acknowledgement::decode);
    round_trip(data, |_| more::Acknowledgement::wire_len(), acknowledgement.0, acknowledgement.1);
}

/// ExOR's header.
pub fn fuzz_exor(data: &[u8]) {
    round_trip(data, Exor::wire_len, Exor::encode, Exor::decode);
}

/// Probes of delivery ratios.
pub fn fuzz_probe(data: &[u8]) {
    round_trip(data, Probe::wire_len, Probe::encode, Probe::decode);
}

/// The transport with a rate: its header and the arrivals in its reports.
pub fn fuzz_rate(data: &[u8]) {
    round_trip(data, |_| rate::Data::wire_len(), rate::Data::encode, rate::Data::decode);
    round_trip(data, rate::Arrivals::wire_len, rate::Arrivals::encode, rate::Arrivals::decode);
}

/// ATP's header and report.
pub fn fuzz_atp(data: &[u8]) {
    round_trip(data, |_| atp::Stamp::wire_len(), atp::Stamp::encode, atp::Stamp::decode);
    round_trip(data, |_| atp::Feedback::wire_len(), atp::Feedback::encode, atp::Feedback::decode);
}

/// EXACT's header and report.
pub fn fuzz_exact(data: &[u8]) {
    round_trip(data, |_| exact::Stamp::wire_len(), exact::Stamp::encode, exact::Stamp::decode);
    round_trip(data, |_| exact::Feedback::wire_len(), exact::Feedback::encode, exact::Feedback::decode);
}

/// Every format, on the same bytes.
pub fn fuzz_all(data: &[u8]) {
    fuzz_ieee80211(data);
    fuzz_llc(data);
    fuzz_ethernet(data);
    fuzz_arp(data);
    fuzz_ipv4(data);
    fuzz_ipv6(data);
    fuzz_five_tuple(data);
    fuzz_rewrite(data);
    fuzz_udp(data);
    fuzz_tcp(data);
    fuzz_radiotap(data);
    fuzz_pcapng(data);
    fuzz_airtime(data);
    fuzz_nred(data);
    fuzz_aodv(data);
    fuzz_dsdv(data);
    fuzz_olsr(data);
    fuzz_congestion(data);
    fuzz_diffq(data);
    fuzz_c3l(data);
    fuzz_more(data);
    fuzz_exor(data);
    fuzz_probe(data);
    fuzz_rate(data);
    fuzz_atp(data);
    fuzz_exact(data);
}
