//! Whole IP packets: five-tuples, classes, the way through extension headers, and changes in place.
//!
//! The packets are those of Linux 6.18 between two hosts with ECN, checksums computed by the kernel. Packets that were changed by hand got
//! their checksums from a program of its own, over the whole segment, and were checked with Wireshark's dissector; numbers of flows come
//! from OpenSSL's SIPHASH.

use airfair_wire::congestion::{Congestion, Fields, Rates};
use airfair_wire::five_tuple::{Class, FiveTuple};
use airfair_wire::ip::{self, Ip};
use airfair_wire::ipv4::{Dscp, Ecn, Fragment, Protocol};
use airfair_wire::ipv6::{FlowLabel, Ipv6, MOST_EXTENSIONS};
use airfair_wire::tcp::{self, Options, SchemeOption, Timestamps};
use airfair_wire::{DecodeError, EtherType, Expected, Header, Ipv4Addr, Ipv6Addr, Tcp, Udp};

/// TCP over IPv6: SYN, data ("hello", ECT(0)), its acknowledgement, FIN.
const SYN: &str = "6001500400280640 fd000000000000000000000000000001 fd000000000000000000000000000002 \
                   9a3e1389d359b40800000000a0c2fb402dc10000 0204053c0402080a5fc68fbe000000000103030a";
const DATA: &str = "6021500400250640 fd000000000000000000000000000001 fd000000000000000000000000000002 \
                    9a3e1389d359b40935a352fe8018003feca10000 0101080a5fc68fbe498c551b 68656c6c6f";
const ACK: &str = "600843d600200640 fd000000000000000000000000000002 fd000000000000000000000000000001 \
                   13899a3e35a352fed359b40e80100040307b0000 0101080a498c551b5fc68fbe";
const FIN: &str = "6001500400200640 fd000000000000000000000000000001 fd000000000000000000000000000002 \
                   9a3e1389d359b40e35a352fe8011003f30150000 0101080a5fc69024498c551b";
/// The same over IPv4: data, acknowledgement.
const DATA_4: &str = "4502003925eb4000400600d00a0000010a000002 da9213897e336a8ae6faf96480180040a0740000 \
                      0101080aff8e607be2c6841c 68656c6c6f";
const ACK_4: &str = "45000034799a40004006ad270a0000020a000001 1389da92e6faf9647e336a8f80100040e44e0000 \
                     0101080ae2c6841cff8e607b";
/// UDP over IPv6, EF and ECT(0): "hello"; "hop" after hop-by-hop and destination options; the headers of the fragments of 1,536 bytes.
const UDP: &str = "6ba8936b000d1140 fd000000000000000000000000000001 fd000000000000000000000000000002 \
                   ea4b138a000dc427 68656c6c6f";
const OPTIONS: &str = "6ba8936b001b0040 fd000000000000000000000000000001 fd000000000000000000000000000002 \
                       3c00010400000000 1100010400000000 ea4b138a000b2f8e 686f70";
const FIRST: &str = "6ba8936b05502c40 fd000000000000000000000000000001 fd000000000000000000000000000002 \
                     11000001a47ec897 ea4b138a06087a85";
const SECOND: &str = "6ba8936b00c82c40 fd000000000000000000000000000001 fd000000000000000000000000000002 \
                      11000548a47ec897";

const HOST_1: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);
const HOST_2: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);
const V4: EtherType = EtherType::IPV4;
const V6: EtherType = EtherType::IPV6;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn read(ether_type: EtherType, packet: &[u8]) -> Ip<'_> {
    Ip::decode(ether_type, packet).unwrap().expect("an IP packet")
}

/// The five-tuple, in words, and the class.
fn summary(ether_type: EtherType, packet: &[u8]) -> (String, Class) {
    let packet = read(ether_type, packet);
    let FiveTuple { source, destination, protocol, source_port, destination_port } = FiveTuple::new(&packet);
    let text = format!("{source} {source_port} > {destination} {destination_port} {}", protocol.0);
    (text, Class::new(&packet))
}

#[test]
fn ipv6_headers_of_linux() {
    let bytes = hex(UDP);
    let (header, payload) = Ipv6::decode(&bytes).unwrap();
    let expected = Ipv6 {
        dscp: Dscp::new(46).unwrap(),
        ecn: Ecn::Ect0,
        flow_label: FlowLabel::new(0x8_936b).unwrap(),
        ..Ipv6::new(Protocol::UDP, HOST_1, HOST_2, 13)
    };
    assert_eq!((header, payload), (expected, &bytes[40..]));
    let mut encoded = [0; 40];
    assert_eq!(header.encode(&mut encoded), Ok(40));
    assert_eq!(encoded, bytes[..40]);
    // Padding by the link is no payload.
    let mut padded = bytes.clone();
    padded.resize(64, 0);
    assert_eq!(Ipv6::decode(&padded), Ok((header, &bytes[40..])));

    let error = |offset, expected| Err(DecodeError { header: Header::Ipv6, offset, expected });
    let version = Expected::Value { field: "version", wanted: "6", found: 4 };
    padded[0] = 0x4b;
    assert_eq!(Ipv6::decode(&padded), error(0, version));
    assert_eq!(Ipv6::decode(&bytes[..39]), error(0, Expected::Bytes { needed: 40, available: 39 }));
    assert_eq!(Ipv6::decode(&bytes[..52]), error(40, Expected::Bytes { needed: 13, available: 12 }));
}

/// RFC 8200 §8.1: the checksums of TCP and UDP over IPv6, as the kernel has computed them.
#[test]
fn checksums_over_ipv6() {
    for (text, source, destination) in
        [(SYN, HOST_1, HOST_2), (DATA, HOST_1, HOST_2), (ACK, HOST_2, HOST_1), (FIN, HOST_1, HOST_2)]
    {
        let bytes = hex(text);
        assert_eq!(Tcp::verify(source, destination, &bytes[40..]), Ok(()));
        let (header, payload) = Tcp::decode(&bytes[40..]).unwrap();
        let blank = Tcp { checksum: 0, ..header };
        assert_eq!(blank.with_payload(source, destination, payload), Some(header));
        let next = Ipv6Addr::from_bits(source.to_bits() + 0x1_0000);
        assert!(Tcp::verify(next, destination, &bytes[40..]).is_err());
    }
    let bytes = hex(UDP);
    let (header, payload) = Udp::decode(&bytes[40..]).unwrap();
    assert_eq!(header.verify(HOST_1, HOST_2, payload), Ok(()));
    assert_eq!(header.with_payload(HOST_1, HOST_2, payload), Some(header));
    // Without a checksum: valid over IPv4 only.
    let bare = Udp { checksum: None, ..header };
    let missing = Expected::Checksum { computed: 0xc427, found: 0 };
    let error = DecodeError { header: Header::Udp, offset: 6, expected: missing };
    assert_eq!(bare.verify(HOST_1, HOST_2, payload), Err(error));
    assert_eq!(bare.verify(Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST, payload), Ok(()));
    // A segment may be 20 bytes longer than over IPv4.
    let header = Tcp::new(1, 2, 3);
    assert!(header.with_payload(HOST_1, HOST_2, &vec![0; 65_515]).is_some());
    assert_eq!(header.with_payload(HOST_1, HOST_2, &vec![0; 65_516]), None);
}

#[test]
fn five_tuples_and_classes_of_linux() {
    let data = "fd00::1 39486 > fd00::2 5001 6";
    for (ether_type, text, tuple, class) in [
        (V6, SYN, data, Class::Data),
        (V6, DATA, data, Class::Data),
        (V6, FIN, data, Class::Data),
        (V6, ACK, "fd00::2 5001 > fd00::1 39486 6", Class::Acknowledgement),
        (V4, DATA_4, "10.0.0.1 55954 > 10.0.0.2 5001 6", Class::Data),
        (V4, ACK_4, "10.0.0.2 5001 > 10.0.0.1 55954 6", Class::Acknowledgement),
        (V6, UDP, "fd00::1 59979 > fd00::2 5002 17", Class::Data),
        (V6, OPTIONS, "fd00::1 59979 > fd00::2 5002 17", Class::Data),
    ] {
        let mut bytes = hex(text);
        assert_eq!(summary(ether_type, &bytes), (tuple.into(), class), "{text}");
        // Padding of an Ethernet frame is no data.
        bytes.resize(bytes.len() + 6, 0);
        assert_eq!(summary(ether_type, &bytes), (tuple.into(), class), "{text}, padded");
    }
    let bytes = hex(OPTIONS);
    let packet = read(V6, &bytes);
    assert_eq!((packet.transport_at, packet.transport), (56, &bytes[56..]));
    assert_eq!((packet.dscp.get(), packet.ecn), (46, Ecn::Ect0));
    let bytes = hex(DATA_4);
    let packet = read(V4, &bytes);
    assert_eq!((packet.transport_at, packet.transport), (20, &bytes[20..]));
    assert_eq!((packet.dscp.get(), packet.ecn, packet.fragment), (0, Ecn::Ect0, Fragment::Whole));
    assert_eq!(Ip::decode(EtherType::ARP, &bytes), Ok(None));
    assert_eq!(
        Ip::decode(V6, &bytes).unwrap_err().to_string(),
        "IPv6 header, byte 0: version: expected 6, found 0x4"
    );
}

/// The payload is the bytes 0 to 255, six times.
#[test]
fn fragments_of_linux() {
    let payload = |from, to| (from..to).map(|at: usize| at as u8);
    let mut first = hex(FIRST);
    first.extend(payload(0, 1344));
    assert_eq!(summary(V6, &first).0, "fd00::1 59979 > fd00::2 5002 17");
    assert_eq!(read(V6, &first).fragment, Fragment::First);
    let mut second = hex(SECOND);
    second.extend(payload(1344, 1536));
    assert_eq!(summary(V6, &second).0, "fd00::1 0 > fd00::2 0 17");
    assert_eq!((read(V6, &second).fragment, read(V6, &second).transport_at), (Fragment::Later, 48));
    // The kernel's checksum covers both.
    let mut datagram = first.split_off(48);
    datagram.extend(&second[48..]);
    let (header, payload) = Udp::decode(&datagram).unwrap();
    assert_eq!((header.verify(HOST_1, HOST_2, payload), payload.len()), (Ok(()), 1536));
}

/// RFC 791 §3.1: four NOPs make the header 24 bytes long. The sum grows by 0100 + 0004 + 0101 + 0101, then by 00b8.
#[test]
fn options_of_ipv4() {
    let header = "46000038799a40004006aa210a0000020a000001 01010101";
    let mut packet = [hex(header), hex(ACK_4).split_off(20)].concat();
    assert_eq!(summary(V4, &packet), ("10.0.0.2 5001 > 10.0.0.1 55954 6".into(), Class::Acknowledgement));
    assert_eq!(read(V4, &packet).transport_at, 24);
    assert_eq!(ip::set_dscp(V4, &mut packet, Dscp::new(46).unwrap()), Ok(true));
    assert_eq!(packet[..24], hex("46b80038799a40004006a9690a0000020a000001 01010101"));
    assert_eq!(tcp::set_ece(V4, &mut packet), Ok(true));
    assert_eq!(packet[24..], hex("1389da92e6faf9647e336a8f80500040e40e0000 0101080ae2c6841cff8e607b"));
}

/// IPv4, RFC 791 §3.2: MF and offset; an acknowledgement in a fragment counts as data.
#[test]
fn fragments_of_ipv4() {
    for (flags, ports, fragment) in [
        (0x0000, "5001 > 10.0.0.1 55954", Fragment::Whole),
        (0x2000, "5001 > 10.0.0.1 55954", Fragment::First),
        (0x2001, "0 > 10.0.0.1 0", Fragment::Later),
        (0x0001, "0 > 10.0.0.1 0", Fragment::Later),
    ] {
        let bytes = hex(ACK_4);
        let (header, payload) = airfair_wire::Ipv4::decode(&bytes).unwrap();
        let header = airfair_wire::Ipv4 {
            dont_fragment: false,
            more_fragments: flags & 0x2000 != 0,
            fragment_offset: airfair_wire::ipv4::FragmentOffset::new(flags & 0x1fff).unwrap(),
            ..header
        };
        let mut packet = vec![0; 20];
        header.encode(&mut packet).unwrap();
        packet.extend(payload);
        let whole = if fragment == Fragment::Whole { Class::Acknowledgement } else { Class::Data };
        assert_eq!(summary(V4, &packet), (format!("10.0.0.2 {ports} 6"), whole), "{flags:04x}");
        assert_eq!(read(V4, &packet).fragment, fragment);
        let kept = packet.clone();
        assert_eq!(tcp::set_ece(V4, &mut packet), Ok(fragment != Fragment::Later));
        assert_eq!(packet == kept, fragment == Fragment::Later);
    }
}

/// Which flags, with or without data, make an acknowledgement: RFC 9293 §3.4, SYN and FIN occupy sequence numbers.
#[test]
fn acknowledgements() {
    for (flags, class) in [
        (0x10, Class::Acknowledgement),
        (0x50, Class::Acknowledgement),
        (0xd8, Class::Acknowledgement),
        (0x00, Class::Data),
        (0x02, Class::Data),
        (0x12, Class::Data),
        (0x11, Class::Data),
        (0x14, Class::Data),
    ] {
        for (text, without_data) in [(ACK, true), (DATA, false)] {
            let mut bytes = hex(text);
            bytes[53] = flags;
            let class = if without_data { class } else { Class::Data };
            assert_eq!(summary(V6, &bytes).1, class, "{flags:02x}");
        }
    }
    // A data offset of 4 words, of 15 words beyond the segment, and a header that is cut.
    for offset in [0x40, 0xf0] {
        let mut bytes = hex(ACK);
        bytes[52] = offset;
        assert_eq!(summary(V6, &bytes).1, Class::Data);
    }
    for (len, ports) in [
        (13, "5001 > fd00::1 39486"),
        (4, "5001 > fd00::1 39486"),
        (3, "0 > fd00::1 0"),
        (0, "0 > fd00::1 0"),
    ] {
        let mut bytes = hex(ACK);
        bytes[5] = len;
        assert_eq!(summary(V6, &bytes), (format!("fd00::2 {ports} 6"), Class::Data));
    }
}

/// A packet with these extension headers (kind, bytes from the second on), then TCP with ports 1 and 2.
fn extended(chain: &[(u8, &str)]) -> Vec<u8> {
    let kinds: Vec<u8> = chain.iter().map(|&(kind, _)| kind).chain([6]).collect();
    let mut payload = Vec::new();
    for (&next, (_, rest)) in kinds[1..].iter().zip(chain) {
        payload.push(next);
        payload.extend(hex(rest));
    }
    payload.extend(hex("00010002 00000000 00000000 50100000 00000000"));
    let header = Ipv6::new(Protocol(kinds[0]), HOST_1, HOST_2, payload.len() as u16);
    let mut bytes = vec![0; 40];
    header.encode(&mut bytes).unwrap();
    bytes.extend(payload);
    bytes
}

/// RFC 8200 §4: the length of an extension header counts 8 bytes beyond the first 8; §4.3: hop-by-hop options come first; RFC 6946: a
/// fragment of offset 0 without others is a whole datagram.
#[test]
fn extension_headers() {
    const EIGHT: &str = "00 000000000000";
    const SIXTEEN: &str = "01 000000000000 0000000000000000";
    const ATOMIC: &str = "00 0000 00000007";
    const BEGIN: &str = "00 0001 00000007";
    const LATER: &str = "00 0009 00000007";
    let at = |chain: &[(u8, &str)]| {
        let bytes = extended(chain);
        let packet = read(V6, &bytes);
        (packet.protocol.0, packet.fragment, packet.transport_at)
    };
    assert_eq!(at(&[]), (6, Fragment::Whole, 40));
    assert_eq!(
        at(&[(0, EIGHT), (60, EIGHT), (43, SIXTEEN), (44, ATOMIC), (60, EIGHT)]),
        (6, Fragment::Whole, 88)
    );
    assert_eq!(at(&[(44, BEGIN)]), (6, Fragment::First, 48));
    assert_eq!(at(&[(44, BEGIN), (44, ATOMIC)]), (6, Fragment::First, 56), "still a part");
    // After a later fragment no header follows, whatever its kind.
    assert_eq!(at(&[(44, LATER), (60, EIGHT)]), (60, Fragment::Later, 48));
    assert_eq!(at(&[(60, EIGHT), (0, EIGHT)]), (0, Fragment::Whole, 48), "not first");
    // The length byte of a fragment header is reserved.
    assert_eq!(at(&[(44, "ff 0000 00000007")]), (6, Fragment::Whole, 48));
    // Authentication, encryption, mobility, no next header.
    for kind in [51, 50, 135, 59] {
        assert_eq!(at(&[(60, EIGHT), (kind, EIGHT)]), (kind, Fragment::Whole, 48));
    }
    // Longer than the packet: not passed.
    assert_eq!(at(&[(60, EIGHT), (43, "05 000000000000")]), (43, Fragment::Whole, 48));
    let cut = |len: usize| {
        let mut bytes = extended(&[(60, EIGHT), (43, EIGHT)]);
        bytes.truncate(40 + len);
        bytes[5] = len as u8;
        let packet = read(V6, &bytes);
        (packet.protocol.0, packet.transport.len())
    };
    assert_eq!([cut(16), cut(15), cut(8), cut(7), cut(0)], [(6, 0), (43, 7), (43, 0), (60, 7), (60, 0)]);
    // The ninth is not passed.
    for (count, protocol) in [(MOST_EXTENSIONS, 6), (MOST_EXTENSIONS + 1, 60), (100, 60)] {
        let at = at(&vec![(60, EIGHT); count]);
        assert_eq!(at, (protocol, Fragment::Whole, 40 + 8 * MOST_EXTENSIONS), "{count}");
    }
}

/// The numbers of OpenSSL 3.0.19: `openssl mac -macopt hexkey:SEED.. -macopt size:8 SIPHASH`, read as little-endian, modulo 2^32 - 1.
#[test]
fn numbers_of_flows() {
    let tuple = |ether_type, text| FiveTuple::new(&read(ether_type, &hex(text)));
    let seeds = [0, 1, 0x0123_4567_89ab_cdef];
    let (v6, v4) = (tuple(V6, DATA), tuple(V4, DATA_4));
    assert_eq!(seeds.map(|seed| v6.flow(seed)), [852_618_917, 1_193_908_798, 1_435_023_592]);
    assert_eq!(seeds.map(|seed| v6.reversed().flow(seed)), [1_148_180_934, 3_479_224_478, 2_786_875_538]);
    assert_eq!(seeds.map(|seed| v4.flow(seed)), [34_644_236, 3_383_589_885, 1_027_833_217]);
    assert_eq!(tuple(V6, ACK), v6.reversed());
    assert_eq!(tuple(V4, ACK_4), v4.reversed());
    assert_eq!(v4.reversed().reversed(), v4);
    // Version 6 is part of the number: an IPv4 address written as an IPv6 one is another.
    let mapped = FiveTuple {
        source: Ipv4Addr::new(10, 0, 0, 1).to_ipv6_mapped().into(),
        destination: Ipv4Addr::new(10, 0, 0, 2).to_ipv6_mapped().into(),
        ..v4
    };
    assert_ne!(mapped.flow(0), v4.flow(0));
}

/// 65,536 flows that differ in one port: about 0.5 pairs of one number, and each bit set in half of them: 6 standard deviations are 768.
#[test]
fn numbers_of_flows_are_spread() {
    let tuple = FiveTuple::new(&read(V4, &hex(DATA_4)));
    let numbers: Vec<u32> =
        (0..=u16::MAX).map(|source_port| FiveTuple { source_port, ..tuple }.flow(7)).collect();
    for bit in 0..32 {
        let set = numbers.iter().filter(|&&number| number >> bit & 1 != 0).count();
        assert!((32_000..33_536).contains(&set), "bit {bit}: {set}");
    }
    let mut distinct = numbers;
    distinct.sort_unstable();
    distinct.dedup();
    assert!(distinct.len() >= 65_530, "{} distinct", distinct.len());
    assert!(distinct.last().is_some_and(|&last| last < u32::MAX));
}

/// RFC 3168 §5: ECT(0) and ECT(1) may become CE, Not-ECT never.
#[test]
fn congestion_marks() {
    let marked = hex("4503003925eb4000400600cf0a0000010a000002 da9213897e336a8ae6faf96480180040a0740000 \
                      0101080aff8e607be2c6841c 68656c6c6f");
    let mut packet = hex(DATA_4);
    assert_eq!(ip::set_ce(V4, &mut packet), Ok(true));
    assert_eq!(packet, marked);
    assert_eq!(ip::set_ce(V4, &mut packet), Ok(true));
    assert_eq!(packet, marked, "marked already");
    let mut packet = hex(ACK_4);
    assert_eq!(ip::set_ce(V4, &mut packet), Ok(false));
    assert_eq!(packet, hex(ACK_4), "Not-ECT");

    for (second, result, after) in
        [(0x21, true, 0x31), (0x11, true, 0x31), (0x31, true, 0x31), (0x01, false, 0x01)]
    {
        let mut packet = hex(DATA);
        packet[1] = second;
        let expected = [&[0x60, after], &packet[2..]].concat();
        assert_eq!(ip::set_ce(V6, &mut packet), Ok(result));
        assert_eq!(packet, expected);
        assert_eq!(read(V6, &packet).ecn == Ecn::Ce, result);
    }
    // No chain of extension headers hides a packet from marks.
    let mut packet = extended(&[(60, "00 000000000000"); 50]);
    packet[1] |= 0x20;
    assert_eq!(ip::set_ce(V6, &mut packet), Ok(true));
    // What is no IP packet, or a broken one, is not changed.
    let mut packet = hex(DATA_4);
    assert_eq!(ip::set_ce(EtherType::ARP, &mut packet), Ok(false));
    assert!(ip::set_ce(V6, &mut packet).is_err());
    assert_eq!(packet, hex(DATA_4));
    packet[8] -= 1;
    assert!(matches!(ip::set_ce(V4, &mut packet).unwrap_err().expected, Expected::Checksum { .. }));
    assert!(ip::set_ce(V4, &mut []).is_err() && ip::set_ce(V6, &mut []).is_err());
}

#[test]
fn codepoints_of_services() {
    let [default, expedited] = [0, 46].map(|code| Dscp::new(code).unwrap());
    let mut packet = hex(DATA_4);
    assert_eq!(ip::set_dscp(V4, &mut packet, expedited), Ok(true));
    let expected = hex("45ba003925eb4000400600180a0000010a000002");
    assert_eq!((&packet[..20], &packet[20..]), (&expected[..], &hex(DATA_4)[20..]), "EF, still ECT(0)");
    assert_eq!(ip::set_dscp(V4, &mut packet, default), Ok(true));
    assert_eq!(packet, hex(DATA_4), "and back");
    let mut packet = hex(UDP);
    assert_eq!(ip::set_dscp(V6, &mut packet, default), Ok(true));
    assert_eq!(
        (&packet[..4], &packet[4..]),
        (&hex("6028936b")[..], &hex(UDP)[4..]),
        "ECT(0), the flow label kept"
    );
    assert_eq!(ip::set_dscp(EtherType::ARP, &mut packet, expedited), Ok(false));
}

/// RFC 3168 §6.1.3 and, for SYN, §6.1.1.
#[test]
fn echoes_of_marks() {
    let mut packet = hex(ACK);
    assert_eq!(tcp::set_ece(V6, &mut packet), Ok(true));
    let expected = hex("13899a3e35a352fed359b40e80500040303b0000 0101080a498c551b5fc68fbe");
    assert_eq!((&packet[..40], &packet[40..]), (&hex(ACK)[..40], &expected[..]));
    assert_eq!(tcp::set_ece(V6, &mut packet), Ok(true));
    assert_eq!(&packet[40..], expected, "set already");
    let mut packet = hex(ACK_4);
    assert_eq!(tcp::set_ece(V4, &mut packet), Ok(true));
    let expected = hex("1389da92e6faf9647e336a8f80500040e40e0000 0101080ae2c6841cff8e607b");
    assert_eq!((&packet[..20], &packet[20..]), (&hex(ACK_4)[..20], &expected[..]));

    let refused = |ether_type, packet: Vec<u8>, why| {
        let mut changed = packet.clone();
        assert_eq!(tcp::set_ece(ether_type, &mut changed), Ok(false), "{why}");
        assert_eq!(changed, packet, "{why}");
    };
    refused(V6, hex(SYN), "SYN");
    refused(V6, hex(UDP), "UDP");
    refused(EtherType::ARP, hex(ACK), "no IP");
    for (flags, why) in [(0x14, "RST"), (0x12, "SYN and ACK"), (0x08, "no ACK")] {
        let mut packet = hex(DATA);
        packet[53] = flags;
        refused(V6, packet, why);
    }
    // A signature in place of the timestamps: MD5's kind, and TCP-AO's.
    for kind in [19, 29] {
        let mut packet = hex(ACK);
        packet[62] = kind;
        refused(V6, packet, "signed");
    }
    // A broken header of TCP is an error.
    let mut packet = hex(ACK);
    packet[52] = 0x40;
    assert_eq!(tcp::set_ece(V6, &mut packet).unwrap_err().header, Header::Tcp);
}

/// The data packet with QFCP's header as an option after the timestamps, and with XCP's; the checksums are right.
const QFCP: &str = "6021500400390640 fd000000000000000000000000000001 fd000000000000000000000000000002 \
                    9a3e1389d359b40935a352fed018003f61e20000 0101080a5fc68fbe498c551b \
                    fe144146 11060200 00004e20 000186a0 00001388 68656c6c6f";
const XCP: &str = "60215004003d0640 fd000000000000000000000000000001 fd000000000000000000000000000002 \
                    9a3e1389d359b40935a352fee018003fe2e70000 0101080a5fc68fbe498c551b \
                    fe184146 13060200 000186a0 0000d055 fffffd44 00000100 68656c6c6f";

fn of(fields: Fields) -> SchemeOption {
    let header = Congestion { next: 6, supported: 2, unsupported: 0, fields };
    let mut bytes = vec![0; header.wire_len()];
    header.encode(&mut bytes).unwrap();
    SchemeOption::new(&bytes).unwrap()
}

fn qfcp(request: u32) -> SchemeOption {
    of(Fields::Qfcp(Rates { rtt_us: 20_000, request, feedback: 5_000 }))
}

fn xcp(delta: i32) -> SchemeOption {
    of(Fields::Xcp { rtt_us: 100_000, inverse_rate: 53_333, delta, reverse: 256 })
}

#[test]
fn headers_of_schemes_among_the_options() {
    let timestamps = Timestamps { value: 0x5fc6_8fbe, echo: 0x498c_551b };
    for (text, option) in [(QFCP, qfcp(100_000)), (XCP, xcp(-700))] {
        let bytes = hex(text);
        assert_eq!(Tcp::verify(HOST_1, HOST_2, &bytes[40..]), Ok(()));
        let (header, payload) = Tcp::decode(&bytes[40..]).unwrap();
        assert_eq!(header.options, Options::NONE.with_timestamps(timestamps).with_scheme(option));
        assert_eq!((header.options.scheme(), payload), (Some(option), &b"hello"[..]));
        let mut encoded = vec![0; header.wire_len()];
        assert_eq!(header.encode(&mut encoded), Ok(bytes.len() - 45));
        assert_eq!(encoded, bytes[40..bytes.len() - 5]);
    }
}

/// The request lowered by a router: the option's field and the checksum change, no other byte.
#[test]
fn headers_of_schemes_rewritten() {
    for (text, option, at, field) in
        [(QFCP, qfcp(8_000), 84, 0x1f40_u32), (XCP, xcp(-1_000), 88, 0xffff_fc18)]
    {
        let mut packet = hex(text);
        assert_eq!(tcp::set_scheme(V6, &mut packet, option), Ok(true));
        assert_eq!(Tcp::verify(HOST_1, HOST_2, &packet[40..]), Ok(()));
        let mut expected = hex(text);
        expected[56..58].copy_from_slice(&packet[56..58]);
        expected[at..at + 4].copy_from_slice(&field.to_be_bytes());
        assert_eq!(packet, expected);
    }
    let refused = |text: &str, change: fn(&mut Vec<u8>), why| {
        let mut packet = hex(text);
        change(&mut packet);
        let kept = packet.clone();
        assert_eq!(tcp::set_scheme(V6, &mut packet, qfcp(1)), Ok(false), "{why}");
        assert_eq!(packet, kept, "{why}");
    };
    refused(DATA, |_| {}, "no option");
    refused(XCP, |_| {}, "of another length");
    refused(QFCP, |packet| packet[75] ^= 1, "another experiment's");
    refused(QFCP, |packet| packet[72] = 253, "another kind");
    refused(QFCP, |packet| packet[62] = 19, "signed with MD5");
    refused(QFCP, |packet| packet[62] = 29, "signed with TCP-AO");
    refused(UDP, |_| {}, "UDP");
    // One NOP before the timestamps, one after the option: at an odd offset.
    refused(
        QFCP,
        |packet| {
            packet.remove(60);
            packet.insert(91, 1);
        },
        "odd offset",
    );
}

/// A header that is added: the packet is the one that is made with it, and nothing is added where there is no room.
#[test]
fn headers_of_schemes_added() {
    for (text, option) in [(QFCP, qfcp(100_000)), (XCP, xcp(-700))] {
        let mut frame = [&[7; 14][..], &hex(DATA)].concat();
        assert_eq!(tcp::insert_scheme(V6, &mut frame, 14, option), Ok(true));
        assert_eq!(frame[..14], [7; 14]);
        assert_eq!(frame[14..], hex(text));
        let kept = frame.clone();
        assert_eq!(tcp::insert_scheme(V6, &mut frame, 14, option), Ok(false), "a second one");
        assert_eq!(frame, kept);
    }
    // Over IPv4 its header has a length and a checksum of its own.
    let (from, to) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
    let blocks = [tcp::SackBlock { left: 9, right: 99 }];
    let stamped = Options::NONE.with_timestamps(Timestamps::default());
    for (options, room) in [(Options::NONE, true), (stamped, true), (stamped.with_sack(&blocks), false)] {
        for payload in [&b""[..], b"odd"] {
            let made = |options: Options| {
                let header = Tcp { options, ..Tcp::new(1, 2, 3) };
                let header = header.with_payload::<Ipv4Addr>(from, to, payload).unwrap();
                let mut segment = vec![0; header.wire_len()];
                header.encode(&mut segment).unwrap();
                segment.extend_from_slice(payload);
                let len = airfair_wire::ipv4::PayloadLen::new(segment.len() as u16).unwrap();
                let mut packet = vec![0; 20];
                airfair_wire::ipv4::Ipv4::new(Protocol::TCP, from, to, len).encode(&mut packet).unwrap();
                [packet, segment].concat()
            };
            let mut packet = made(options);
            assert_eq!(tcp::insert_scheme(V4, &mut packet, 0, qfcp(7)), Ok(room));
            assert_eq!(packet, made(if room { options.with_scheme(qfcp(7)) } else { options }));
        }
    }
    for (change, why) in [
        ((|packet| packet[62] = 19) as fn(&mut Vec<u8>), "signed"),
        (|packet| packet[6] = 17, "no TCP"),
        (|packet| packet[6] = 44, "a fragment"),
    ] {
        let mut packet = hex(DATA);
        change(&mut packet);
        let kept = packet.clone();
        assert!(!tcp::insert_scheme(V6, &mut packet, 0, qfcp(7)).unwrap_or(false), "{why}");
        assert_eq!(packet, kept, "{why}");
    }
}

/// A router's message of the largest packet: 1000 B become 980, and the checksum is right; IPv6 goes no lower than 1280.
#[test]
fn largest_packets_of_routers() {
    use airfair_wire::checksum::Checksum;
    let icmp = |kind: u8, code: u8, mtu: u16, sum: Checksum| {
        let mut message = [&[kind, code, 0, 0, 0, 0][..], &mtu.to_be_bytes(), &hex(DATA_4)[..28]].concat();
        let checksum = sum.with(&message).finish();
        message[2..4].copy_from_slice(&checksum.to_be_bytes());
        message
    };
    let mut packet = hex(DATA_4)[..20].to_vec();
    packet[9] = 1;
    let message = icmp(3, 4, 1000, Checksum::new());
    packet[2..4].copy_from_slice(&(20 + message.len() as u16).to_be_bytes());
    packet[10..12].fill(0);
    let checksum = Checksum::new().with(&packet).finish();
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    packet.extend(message);
    assert_eq!(ip::lower_mtu(V4, &mut packet, 20), Ok(true));
    assert_eq!(
        (packet[26..28].to_vec(), Checksum::new().with(&packet[20..]).sum()),
        (vec![0x3, 0xd4], 0xffff)
    );
    packet[21] = 1;
    assert_eq!(ip::lower_mtu(V4, &mut packet, 20), Ok(false), "another message");
    for (mtu, lower) in [(1400, Some(1380_u16)), (1290, Some(1280)), (1280, None)] {
        let mut packet = hex(DATA)[..40].to_vec();
        let message = icmp(2, 0, mtu, Checksum::new());
        packet[4..6].copy_from_slice(&(message.len() as u16).to_be_bytes());
        packet[6] = 58;
        packet.extend(message);
        assert_eq!(ip::lower_mtu(V6, &mut packet, 20), Ok(lower.is_some()));
        let expected = lower.unwrap_or(mtu);
        assert_eq!(packet[46..48], expected.to_be_bytes());
        assert_eq!(Checksum::new().with(&packet[40..]).sum(), 0xffff);
    }
    assert_eq!(ip::lower_mtu(V6, &mut hex(DATA), 20), Ok(false));
}

/// Windows and announced segments, with right checksums.
#[test]
fn windows_and_largest_segments() {
    let mut packet = hex(DATA);
    assert_eq!(tcp::set_window(V6, &mut packet, 0x1234), Ok(true));
    assert_eq!(Tcp::decode(&packet[40..]).unwrap().0.window, 0x1234);
    assert_eq!(Tcp::verify(HOST_1, HOST_2, &packet[40..]), Ok(()));
    let syn = Options::NONE.with_mss(1460).with_window_scale(tcp::WindowScale::MAX);
    let flags = tcp::Flags { syn: true, ..Default::default() };
    let header = Tcp { options: syn, flags, ..Tcp::new(1, 2, 3) };
    let header = header.with_payload(HOST_1, HOST_2, b"").unwrap();
    let mut segment = vec![0; header.wire_len()];
    header.encode(&mut segment).unwrap();
    let mut packet = [&hex(DATA)[..40], &segment].concat();
    packet[4..6].copy_from_slice(&(segment.len() as u16).to_be_bytes());
    for (most, mss) in [(1500, 1460), (1440, 1440), (1, 1)] {
        assert_eq!(tcp::limit_mss(V6, &mut packet, most), Ok(true));
        assert_eq!(Tcp::decode(&packet[40..]).unwrap().0.options.mss(), Some(mss));
        assert_eq!(Tcp::verify(HOST_1, HOST_2, &packet[40..]), Ok(()));
    }
    assert_eq!(tcp::limit_mss(V6, &mut hex(DATA), 1), Ok(false), "no SYN");
    assert_eq!(tcp::set_window(V6, &mut hex(UDP), 1), Ok(false));
}

/// RFC 6994 §3: an option of another experiment is skipped. The first of two is used, in both functions.
#[test]
fn foreign_and_repeated_options() {
    let read = |options: &str| {
        let mut bytes = vec![0; 20];
        bytes.extend(hex(options));
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes[12] = u8::try_from(bytes.len() / 4).unwrap() << 4;
        Tcp::decode(&bytes).map(|(header, _)| header.options.scheme())
    };
    let option = |bytes: &str| SchemeOption::new(&hex(bytes));
    let (one, two) = ("fe0c4146 000186a0 00001388", "fe0c4146 00000001 00001388");
    assert_eq!(read(&format!("{one} {two}")), Ok(option("000186a000001388")));
    assert_eq!(read(&format!("{two} {one}")), Ok(option("0000000100001388")));
    assert_eq!(read(&format!("01 {one}")), Ok(option("000186a000001388")), "read at any offset");
    // Fast Open's ExID; no words; too long; no ExID at all; the other kind for experiments.
    for other in
        ["fe04f989", "fe0a4146 000186a0 0000", "fe044146", "fe02", "fe03 41", "fd0c4146 000186a0 00001388"]
    {
        assert_eq!(read(other), Ok(None), "{other}");
        assert_eq!(read(&format!("{other} {two}")), Ok(option("0000000100001388")), "{other}");
    }
    assert_eq!(read(&format!("fe204146 {}", "0".repeat(56))), Ok(None));
    assert!(read("fe0c4146 000186a0").is_err(), "longer than the header");
}

/// 40 bytes of options: beside timestamps no header leaves room for a SACK block; a SYN has room for all.
#[test]
fn headers_of_schemes_and_other_options() {
    let blocks = [tcp::SackBlock { left: 1, right: 2 }; 4];
    let beside = |option| {
        let options = Options::NONE.with_timestamps(Timestamps::default()).with_scheme(option);
        (options.with_sack(&blocks).sack().len(), options.with_sack(&blocks).wire_len())
    };
    assert_eq!([qfcp(1), xcp(1)].map(beside), [(0, 32), (0, 36)]);
    assert_eq!(Options::NONE.with_sack(&blocks).with_scheme(qfcp(1)).sack().len(), 2);
    let syn = Options::NONE.with_mss(1460).with_sack_permitted().with_window_scale(tcp::WindowScale::MAX);
    assert_eq!(syn.with_timestamps(Timestamps::default()).with_scheme(qfcp(1)).wire_len(), 40);
}

/// The option alone, as a program in the kernel gets and stores it.
#[test]
fn options_of_schemes() {
    let bytes = hex("fe14414611060200 00004e20 000186a0 00001388");
    assert_eq!(SchemeOption::decode(&bytes), Ok((qfcp(100_000), &[][..])));
    let mut encoded = vec![0; 20];
    assert_eq!(qfcp(100_000).encode(&mut encoded), Ok(20));
    assert_eq!(encoded, bytes);
    let answer = hex("fe14414711060200 00004e20 000186a0 00001388");
    let (option, _) = SchemeOption::decode(&answer).unwrap();
    assert_eq!((option, option.answers(), qfcp(1).answers()), (qfcp(100_000).answering(), true, false));
    option.encode(&mut encoded).unwrap();
    assert_eq!(encoded, answer);
    assert_eq!([0, 3, 6, 28].map(|len| SchemeOption::new(&vec![0; len])), [None; 4]);
    let error = SchemeOption::decode(&hex("fe0c0000000186a000001388")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "option of a scheme, byte 0: kind, length and ExID: expected 0xfe, 8 to 28, 0x4146 or 0x4147, found 0xfe0c0000"
    );
}
