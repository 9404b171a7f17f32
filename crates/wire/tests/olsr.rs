//! OLSR's packets against bytes laid out by hand after the figures of RFC 3626 sections 3.3, 6.1 and 9.1; tshark names the same fields
//! (tests/test_captures.py).

use airfair_wire::olsr::{
    Body, Group, Hello, LinkCode, LinkType, Message, NeighbourType, Other, PORT, Packet, Rated, Tc, Vtime,
};
use airfair_wire::{DecodeError, Expected, Header, Ipv4Addr};

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const C: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 3);

fn check(packet: &Packet, bytes: &[u8]) {
    assert_eq!(packet.wire_len(), bytes.len());
    let mut encoded = vec![0xee; bytes.len()];
    assert_eq!(packet.encode(&mut encoded), Ok(bytes.len()));
    assert_eq!(encoded, bytes, "{packet:?}");
    assert_eq!(Packet::decode(bytes), Ok((packet.clone(), &[][..])));
    let trailed = [bytes, &[1, 2, 3]].concat();
    assert_eq!(Packet::decode(&trailed), Ok((packet.clone(), &[1, 2, 3][..])));
    for len in 0..bytes.len() {
        assert!(Packet::decode(&bytes[..len]).is_err(), "{len} bytes of {packet:?}");
    }
}

fn message(body: Body) -> Message {
    Message { validity: Vtime(0x86), originator: A, ttl: 255, hops: 3, sequence: 0x1234, body }
}

fn packet(messages: &[Message]) -> Packet {
    Packet::new(0x0102, messages.to_vec()).unwrap()
}

const SYMMETRIC: LinkCode = LinkCode::new(LinkType::Symmetric, NeighbourType::Symmetric);
const RELAY: LinkCode = LinkCode::new(LinkType::Symmetric, NeighbourType::Relay);
const HEARD: LinkCode = LinkCode::new(LinkType::Asymmetric, NeighbourType::Not);

fn hello() -> Message {
    let group = |code, neighbours: &[Ipv4Addr]| Group { code, neighbours: neighbours.to_vec() };
    let groups = vec![group(RELAY, &[B]), group(HEARD, &[A, C]), group(LinkCode(3), &[])];
    message(Body::Hello(Hello { interval: Vtime(0x05), willingness: 3, groups }))
}

const HELLO: [u8; 40] = [
    1, 0x86, 0, 40, 10, 0, 0, 1, 255, 3, 0x12, 0x34, // message header
    0, 0, 0x05, 3, // reserved, Htime, willingness
    10, 0, 0, 8, 10, 0, 0, 2, // MPR_NEIGH, SYM_LINK
    1, 0, 0, 12, 10, 0, 0, 1, 10, 0, 2, 3, // NOT_NEIGH, ASYM_LINK
    3, 0, 0, 4, // LOST_LINK, nobody
];

const TC: [u8; 24] =
    [2, 0x86, 0, 24, 10, 0, 0, 1, 255, 3, 0x12, 0x34, 0xab, 0xcd, 0, 0, 10, 0, 0, 2, 10, 0, 2, 3];

fn tc() -> Message {
    message(Body::Tc(Tc { number: 0xabcd, neighbours: vec![B, C] }))
}

#[test]
fn packets_with_several_messages() {
    assert_eq!(PORT, 698);
    check(&packet(&[]), &[0, 4, 1, 2]);
    check(&packet(&[hello()]), &[&[0, 44, 1, 2][..], &HELLO].concat());
    check(&packet(&[tc(), hello()]), &[&[0, 68, 1, 2][..], &TC, &HELLO].concat());
    assert_eq!((packet(&[tc()]).sequence(), packet(&[tc()]).messages().len()), (0x0102, 1));
    assert_eq!(packet(&[tc()]).into_messages(), [tc()]);
    // 255 TC of 24 bytes and one with 59,400 bytes of neighbours fit; one neighbour more does not.
    let with = |count: usize| {
        let large = message(Body::Tc(Tc { number: 1, neighbours: vec![A; count] }));
        Packet::new(1, [vec![tc(); 255], vec![large]].concat())
    };
    assert_eq!(with(14848).map(|packet| packet.wire_len()), Some(65_532));
    assert!(with(14849).is_none());
}

#[test]
fn messages_with_qualities() {
    let rated = |address, quality, neighbour_quality| Rated { address, quality, neighbour_quality };
    let group = Group { code: SYMMETRIC, neighbours: vec![rated(B, 255, 128)] };
    let hello = Body::RatedHello(Hello { interval: Vtime(5), willingness: 7, groups: vec![group] });
    let tc = Body::RatedTc(Tc { number: 1, neighbours: vec![rated(B, 255, 128), rated(C, 0, 1)] });
    let bytes = [
        &[0, 64, 1, 2][..],
        &[201, 0x86, 0, 28, 10, 0, 0, 1, 255, 3, 0x12, 0x34, 0, 0, 5, 7],
        &[6, 0, 0, 12, 10, 0, 0, 2, 255, 128, 0, 0],
        &[202, 0x86, 0, 32, 10, 0, 0, 1, 255, 3, 0x12, 0x34, 0, 1, 0, 0],
        &[10, 0, 0, 2, 255, 128, 0, 0, 10, 0, 2, 3, 0, 1, 0, 0],
    ]
    .concat();
    check(&packet(&[message(hello), message(tc)]), &bytes);
}

#[test]
fn other_messages_are_kept() {
    let other = Other::new(4, vec![10, 0, 0, 0, 255, 0, 0, 0]).unwrap();
    assert_eq!(other.kind(), 4);
    let bytes = [0, 24, 1, 2, 4, 0x86, 0, 20, 10, 0, 0, 1, 255, 3, 0x12, 0x34, 10, 0, 0, 0, 255, 0, 0, 0];
    check(&packet(&[message(Body::Other(other))]), &bytes);
    let empty = Body::Other(Other::new(250, vec![]).unwrap());
    let bytes = [0, 16, 1, 2, 250, 0x86, 0, 12, 10, 0, 0, 1, 255, 3, 0x12, 0x34];
    check(&packet(&[message(empty)]), &bytes);
    for decoded in [1, 2, 201, 202] {
        assert_eq!(Other::new(decoded, vec![]), None);
    }
}

#[test]
fn reserved_bytes_are_ignored() {
    let mut bytes = [&[0, 68, 1, 2][..], &TC, &HELLO].concat();
    for reserved in [4 + 14, 4 + 15, 28 + 12, 28 + 13, 28 + 17] {
        bytes[reserved] = 0xff;
    }
    assert_eq!(Packet::decode(&bytes), Ok((packet(&[tc(), hello()]), &[][..])));
}

#[test]
fn lengths_that_contradict_each_other() {
    let error = |bytes: &[u8], offset, expected| {
        let found = Packet::decode(bytes);
        assert_eq!(found, Err(DecodeError { header: Header::Olsr, offset, expected }));
    };
    let value = |field, wanted, found| Expected::Value { field, wanted, found };
    error(&[0, 3, 1, 2], 0, value("Packet Length", "at least 4", 3));
    let with = |at: usize, byte: u8| {
        let mut bytes = [&[0, 68, 1, 2][..], &TC, &HELLO].concat();
        bytes[at] = byte;
        bytes
    };
    error(&with(1, 69), 4, Expected::Bytes { needed: 65, available: 64 });
    error(&with(4 + 3, 11), 6, value("Message Size", "at least 12", 11));
    error(&with(4 + 3, 65), 16, Expected::Bytes { needed: 53, available: 52 });
    // One byte less for the TC: its last address lacks a byte.
    error(&with(4 + 3, 23), 24, Expected::Bytes { needed: 4, available: 3 });
    error(&with(28 + 19, 3), 46, value("Link Message Size", "at least 4", 3));
    error(&with(28 + 19, 6), 48, Expected::Bytes { needed: 4, available: 2 });
    error(&with(28 + 19, 25), 48, Expected::Bytes { needed: 21, available: 20 });
    // A message that ends within its own header.
    error(&[0, 8, 1, 2, 1, 0x86, 0, 4], 4, Expected::Bytes { needed: 12, available: 4 });
}

/// RFC 3626 section 18.3: 2, 6 and 15 s, and the smallest and largest times, by hand: (1 + a/16) 2^b / 16.
#[test]
fn times_in_one_byte() {
    let s = 1_000_000_000;
    for (byte, ns) in [(0x05, 2 * s), (0x86, 6 * s), (0xe7, 15 * s), (0x00, s / 16), (0xff, 3968 * s)] {
        assert_eq!((Vtime(byte).nanoseconds(), Vtime::at_least(ns)), (ns, Vtime(byte)));
    }
    assert_eq!(Vtime::at_least(0), Vtime(0));
    assert_eq!(Vtime::at_least(u64::MAX), Vtime(0xff));
    assert_eq!(Vtime::at_least(3968 * s + 1), Vtime(0xff));
    // The next longer time: 2 s and 1/8 of 1 s follow one another.
    assert_eq!(Vtime::at_least(2 * s + 1), Vtime(0x15));
    assert_eq!(Vtime(0x15).nanoseconds(), 2_125_000_000);
    // Between the exponents: 31/16 and 2.
    assert_eq!((Vtime::at_least(1_937_500_000), Vtime::at_least(1_937_500_001)), (Vtime(0xf4), Vtime(0x05)));
    for byte in 0..=u8::MAX {
        assert_eq!(Vtime::at_least(Vtime(byte).nanoseconds()), Vtime(byte));
    }
}

/// RFC 3626 section 6.1.1.
#[test]
fn link_codes() {
    use LinkType::{Asymmetric, Lost, Symmetric, Unspecified};
    use NeighbourType::{Not, Relay};
    let codes = [(Unspecified, Not, 0), (Asymmetric, Not, 1), (Symmetric, Relay, 10), (Lost, Relay, 11)];
    for (link, neighbour, code) in codes {
        assert_eq!(LinkCode::new(link, neighbour), LinkCode(code));
        assert_eq!(LinkCode(code).kinds(), Some((link, neighbour)));
    }
    assert_eq!(LinkCode(4).kinds(), Some((Unspecified, NeighbourType::Symmetric)));
    // A symmetric link to no neighbour, an unknown kind of neighbour, and codes above 15.
    for invalid in [2, 12, 15, 16, 0x82, 255] {
        assert_eq!(LinkCode(invalid).kinds(), None, "{invalid}");
    }
}
