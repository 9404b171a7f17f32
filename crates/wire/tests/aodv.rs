//! AODV's messages against bytes laid out by hand after the figures of RFC 3561 section 5; tshark names the same fields
//! (tests/test_captures.py).

use airfair_wire::aodv::{Message, PORT, PrefixSize, Rerr, Rrep, Rreq, Unreachable};
use airfair_wire::{DecodeError, Expected, Header, Ipv4Addr};

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const D: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 3);

fn check(message: &Message, bytes: &[u8]) {
    assert_eq!(message.wire_len(), bytes.len());
    let mut encoded = vec![0xee; bytes.len()];
    assert_eq!(message.encode(&mut encoded), Ok(bytes.len()));
    assert_eq!(encoded, bytes, "{message:?}");
    assert_eq!(Message::decode(bytes), Ok((message.clone(), &[][..])));
    // An extension that follows remains in the rest (section 9).
    let extended = [bytes, &[1, 4, 0, 0, 3, 0xe8]].concat();
    assert_eq!(Message::decode(&extended), Ok((message.clone(), &extended[bytes.len()..])));
    for len in 0..bytes.len() {
        assert!(Message::decode(&bytes[..len]).is_err(), "{len} bytes of {message:?}");
    }
}

const RREQ: Rreq = Rreq {
    join: false,
    repair: false,
    gratuitous: false,
    destination_only: false,
    hops: 5,
    id: 0x0102_0304,
    destination: D,
    destination_number: Some(0x1122_3344),
    originator: A,
    originator_number: 0x5566_7788,
};

#[test]
fn requests() {
    assert_eq!(PORT, 654);
    let tail = [10, 0, 2, 3, 0x11, 0x22, 0x33, 0x44, 10, 0, 0, 1, 0x55, 0x66, 0x77, 0x88];
    let bytes = |flags: u8| [&[1, flags, 0, 5, 1, 2, 3, 4][..], &tail].concat();
    check(&Message::Rreq(RREQ), &bytes(0));
    check(&Message::Rreq(Rreq { join: true, ..RREQ }), &bytes(0x80));
    check(&Message::Rreq(Rreq { repair: true, ..RREQ }), &bytes(0x40));
    check(&Message::Rreq(Rreq { gratuitous: true, ..RREQ }), &bytes(0x20));
    check(&Message::Rreq(Rreq { destination_only: true, ..RREQ }), &bytes(0x10));
    // U: the number has no meaning, and is sent as 0.
    let mut unknown = bytes(0x08);
    unknown[12..16].fill(0);
    check(&Message::Rreq(Rreq { destination_number: None, ..RREQ }), &unknown);
    // Reserved bits are ignored.
    let mut reserved = bytes(0x07);
    reserved[2] = 0xff;
    assert_eq!(Message::decode(&reserved), Ok((Message::Rreq(RREQ), &[][..])));
}

#[test]
fn replies() {
    let rrep = Rrep {
        repair: false,
        acknowledge: false,
        prefix: PrefixSize::default(),
        hops: 3,
        destination: D,
        destination_number: 0x1122_3344,
        originator: A,
        lifetime_ms: 6000,
    };
    let tail = [10, 0, 2, 3, 0x11, 0x22, 0x33, 0x44, 10, 0, 0, 1, 0, 0, 0x17, 0x70];
    let bytes = |flags: u8, prefix: u8| [&[2, flags, prefix, 3][..], &tail].concat();
    check(&Message::Rrep(rrep), &bytes(0, 0));
    check(&Message::Rrep(Rrep { repair: true, ..rrep }), &bytes(0x80, 0));
    check(&Message::Rrep(Rrep { acknowledge: true, ..rrep }), &bytes(0x40, 0));
    check(&Message::Rrep(Rrep { prefix: PrefixSize::new(24).unwrap(), ..rrep }), &bytes(0, 24));
    assert_eq!(PrefixSize::new(32), None);
    // Nine reserved bits before the prefix.
    assert_eq!(Message::decode(&bytes(0x3f, 0xe0)), Ok((Message::Rrep(rrep), &[][..])));
    check(&Message::RrepAck, &[4, 0]);
}

#[test]
fn errors() {
    let lost = |last: u8, number: u32| Unreachable { destination: [10, 0, 0, last].into(), number };
    let one = Rerr::new(true, &[lost(7, 9)]).unwrap();
    check(&Message::Rerr(one), &[3, 0x80, 0, 1, 10, 0, 0, 7, 0, 0, 0, 9]);
    let two = Rerr::new(false, &[lost(7, 9), lost(8, 0xffff_ffff)]).unwrap();
    assert_eq!(two.unreachable().collect::<Vec<_>>(), [lost(7, 9), lost(8, 0xffff_ffff)]);
    let bytes = [3, 0, 0, 2, 10, 0, 0, 7, 0, 0, 0, 9, 10, 0, 0, 8, 0xff, 0xff, 0xff, 0xff];
    check(&Message::Rerr(two), &bytes);
    // DestCount must be at least 1.
    assert_eq!(Rerr::new(false, &[]), None);
    let expected = Expected::Value { field: "DestCount", wanted: "at least 1", found: 0 };
    let error = DecodeError { header: Header::Aodv, offset: 3, expected };
    assert_eq!(Message::decode(&[3, 0, 0, 0]), Err(error));
    assert!(Rerr::new(false, &[lost(1, 1); 255]).is_some());
    assert_eq!(Rerr::new(false, &[lost(1, 1); 256]), None);
}

#[test]
fn other_types() {
    for kind in [0, 5, 255] {
        let error = Message::decode(&[kind; 64]).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("AODV message, byte 0: type: expected 1 to 4, found {kind:#x}")
        );
    }
    assert!(Message::decode(&[]).is_err());
}
