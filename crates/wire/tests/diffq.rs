//! DiffQ's trailer and messages against bytes laid out by hand after their tables of fields.

use airfair_wire::diffq::{Call, Sizes, Trailer, Type};
use airfair_wire::{DecodeError, Expected, Header};

const TRAILER: Trailer = Trailer {
    kind: Type::Data,
    written: 3,
    queue: 258,
    flow: 0x0a0b_0c0d,
    sent_us: 1_000_000,
    longest: 0xfffe,
    number: 0xfdfc,
};
const BYTES: [u8; 16] =
    [0x11, 3, 0x01, 0x02, 0x0a, 0x0b, 0x0c, 0x0d, 0x00, 0x0f, 0x42, 0x40, 0xff, 0xfe, 0xfd, 0xfc];

#[test]
fn sixteen_bytes() {
    for (kind, first) in [(Type::Data, 0x11), (Type::Ack, 0x12), (Type::SourceRouted, 0x13)] {
        let trailer = Trailer { kind, ..TRAILER };
        let mut bytes = BYTES;
        bytes[0] = first;
        let mut encoded = [0xee; 17];
        assert_eq!(trailer.encode(&mut encoded), Ok(16));
        assert_eq!((&encoded[..16], encoded[16]), (&bytes[..], 0xee));
        assert_eq!(Trailer::decode(&encoded), Ok((trailer, &[0xee][..])), "bytes that follow are returned");
        assert_eq!(Trailer::decode(&bytes), Ok((trailer, &[][..])));
        assert_eq!(trailer.wire_len(), 16);
    }
    assert!(TRAILER.encode(&mut [0; 15]).is_err());
}

#[test]
fn smallest_and_largest_fields() {
    let zeros = Trailer { written: 0, queue: 0, flow: 0, sent_us: 0, longest: 0, number: 0, ..TRAILER };
    let all = u32::MAX;
    let half = u16::MAX;
    let ones = Trailer {
        written: 255,
        queue: half,
        flow: all,
        sent_us: all,
        longest: half,
        number: half,
        ..TRAILER
    };
    for (trailer, byte) in [(zeros, 0), (ones, 0xff)] {
        let mut encoded = [0; 16];
        trailer.encode(&mut encoded).unwrap();
        assert_eq!((encoded[0], &encoded[1..]), (0x11, &[byte; 15][..]));
        assert_eq!(Trailer::decode(&encoded), Ok((trailer, &[][..])));
    }
}

/// Every first byte but three, and every length below 16: the error points into the bytes.
#[test]
fn what_is_no_trailer() {
    for first in (0..=255).filter(|first| !(0x11..=0x13).contains(first)) {
        let mut bytes = BYTES;
        bytes[0] = first;
        let error = Trailer::decode(&bytes).unwrap_err();
        assert_eq!((error.header, error.offset), (Header::DiffQ, 0));
    }
    for len in 0..16 {
        let error = Trailer::decode(&BYTES[..len]).unwrap_err();
        let DecodeError { header, offset, expected } = error;
        assert_eq!(header, Header::DiffQ);
        assert!(matches!(expected, Expected::Bytes { .. }) && offset <= len, "{error}");
    }
}

#[test]
fn sizes_of_queues() {
    let message = Sizes::new([(0x0102_0304, 5), (9, 0xfffe)].into_iter());
    let bytes = [0x14, 2, 1, 2, 3, 4, 0, 5, 0, 0, 0, 9, 0xff, 0xfe];
    let mut encoded = [0xee; 15];
    assert_eq!((message.encode(&mut encoded), message.wire_len()), (Ok(14), 14));
    assert_eq!((&encoded[..14], encoded[14]), (&bytes[..], 0xee));
    assert_eq!(Sizes::decode(&encoded), Ok((message.clone(), &[0xee][..])));
    assert!(message.encode(&mut encoded[..13]).is_err());
    assert_eq!(Sizes::decode(&[0x14, 0]), Ok((Sizes::default(), &[][..])));
    for len in 0..14 {
        let error = Sizes::decode(&bytes[..len]).unwrap_err();
        assert!(error.header == Header::DiffQ && error.offset <= len);
    }
    for first in [0x11, 0x13, 0x15, 0x24, 0x04] {
        assert!(Sizes::decode(&[first, 0]).is_err());
    }
}

/// 200 sizes: 1202 bytes.
#[test]
fn a_message_has_at_most_200_sizes() {
    let message = Sizes::new((0..201).map(|n| (n, 1)));
    assert_eq!((message.iter().count(), message.wire_len()), (200, 1202));
    let mut bytes = [0; 1208];
    message.encode(&mut bytes).unwrap();
    assert_eq!(Sizes::decode(&bytes[..1202]), Ok((message, &[][..])));
    bytes[1] = 201;
    assert!(Sizes::decode(&bytes).is_err());
}

/// The number of the node that starves.
#[test]
fn calls() {
    let call = Call { node: 0x0102_0304 };
    let mut encoded = [0xee; 6];
    assert_eq!(call.encode(&mut encoded), Ok(5));
    assert_eq!(encoded, [0x15, 1, 2, 3, 4, 0xee]);
    assert_eq!(Call::decode(&encoded), Ok((call, &[0xee][..])));
    assert!(call.encode(&mut encoded[..4]).is_err());
    for len in 0..5 {
        let error = Call::decode(&encoded[..len]).unwrap_err();
        assert!(error.header == Header::DiffQ && error.offset <= len);
    }
    for first in [0x11, 0x14, 0x16, 0x25, 0x05] {
        assert!(Call::decode(&[first, 0, 0, 0, 1]).is_err());
    }
}
