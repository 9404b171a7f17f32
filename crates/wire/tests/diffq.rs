//! DiffQ's trailer against bytes laid out by hand after its table of fields.

use airfair_wire::diffq::{Trailer, Type};
use airfair_wire::{DecodeError, Expected, Header};

const TRAILER: Trailer = Trailer {
    kind: Type::Data,
    written: 3,
    queue: 258,
    flow: 0x0a0b_0c0d,
    sent_us: 1_000_000,
    sequence: 0xfffe_fdfc,
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
    let zeros = Trailer { written: 0, queue: 0, flow: 0, sent_us: 0, sequence: 0, ..TRAILER };
    let all = u32::MAX;
    let ones = Trailer { written: 255, queue: 65_535, flow: all, sent_us: all, sequence: all, ..TRAILER };
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
