//! The transport with a rate, and the headers and reports of ATP and EXACT, byte for byte.

use airfair_wire::rate::{Arrivals, Block, Data};
use airfair_wire::{atp, exact};

#[test]
fn data() {
    let data = Data { number: 0x0102_0304, sent: 0x0506_0708 };
    let mut bytes = [0; 8];
    assert_eq!(data.encode(&mut bytes), Ok(8));
    assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(Data::decode(&[1, 2, 3, 4, 5, 6, 7, 8, 9]), Ok((data, &[9][..])));
    assert!(Data::decode(&bytes[..7]).is_err());
}

#[test]
fn arrivals() {
    let blocks = [Block { first: 9, end: 11 }, Block { first: 12, end: 13 }];
    let arrivals = Arrivals::new(7, 12, 0x0001_0000, 255, blocks.into_iter());
    let expected = [
        0, 0, 0, 7, 0, 0, 0, 12, 0, 1, 0, 0, 2, // next, sent, held, two blocks
        0, 0, 0, 9, 0, 0, 0, 11, 0, 0, 0, 12, 0, 0, 0, 13,
    ];
    let mut bytes = [0; 29];
    assert_eq!((arrivals.wire_len(), arrivals.encode(&mut bytes)), (29, Ok(29)));
    assert_eq!(bytes, expected);
    assert_eq!(Arrivals::decode(&bytes), Ok((arrivals, &[][..])));
    assert_eq!(arrivals.blocks(), blocks);
    assert!(Arrivals::decode(&expected[..28]).is_err());
    let mut many = expected;
    many[12] = 21;
    let error = Arrivals::decode(&many).unwrap_err().to_string();
    assert!(error.contains("at most 20"), "{error}");
}

/// The first blocks that fit: at most 20, and no more than the room holds.
#[test]
fn arrivals_are_bounded() {
    let blocks = || (0..100).map(|i| Block { first: 2 * i, end: 2 * i + 1 });
    let all = |room| Arrivals::new(0, 0, 0, room, blocks());
    assert_eq!((all(1000).blocks().len(), all(1000).wire_len()), (20, 173));
    assert_eq!((all(28).blocks().len(), all(29).blocks().len(), all(0).wire_len()), (1, 2, 13));
    assert_eq!(all(29).blocks()[1], Block { first: 2, end: 3 });
}

#[test]
fn atp_stamp_and_feedback() {
    let stamp = atp::Stamp { probe: true, supported: 2, unsupported: 1, delay: 12_345 };
    let mut bytes = [0; 8];
    assert_eq!(stamp.encode(&mut bytes), Ok(8));
    assert_eq!(bytes, [0x11, 1, 2, 1, 0, 0, 0x30, 0x39]);
    assert_eq!(atp::Stamp::decode(&bytes), Ok((stamp, &[][..])));
    bytes[1] = 2;
    let error = atp::Stamp::decode(&bytes).unwrap_err().to_string();
    assert!(error.contains("0 or 1"), "{error}");
    let feedback = atp::Feedback { number: 0x0203, rate: 150_000 };
    assert_eq!(feedback.encode(&mut bytes), Ok(8));
    assert_eq!(bytes, [0x12, 0, 2, 3, 0, 2, 0x49, 0xf0]);
    assert_eq!(atp::Feedback::decode(&bytes), Ok((feedback, &[][..])));
    assert!(atp::Stamp::decode(&bytes).is_err() && atp::Feedback::decode(&bytes[..7]).is_err());
}

#[test]
fn exact_stamp_and_feedback() {
    let stamp = exact::Stamp {
        supported: 3,
        unsupported: 0,
        explicit_rate: 0x0100_0000,
        current_rate: 0x0000_0200,
        sequence: 77,
    };
    let mut bytes = [0; 16];
    assert_eq!(stamp.encode(&mut bytes), Ok(16));
    assert_eq!(bytes, [0x11, 0, 3, 0, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 77]);
    assert_eq!(exact::Stamp::decode(&bytes), Ok((stamp, &[][..])));
    let feedback = exact::Feedback { explicit_rate: 5, sequence: 6 };
    assert_eq!(feedback.encode(&mut bytes), Ok(12));
    assert_eq!(bytes[..12], [0x12, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 6]);
    assert_eq!(exact::Feedback::decode(&bytes[..12]), Ok((feedback, &[][..])));
    assert!(exact::Stamp::decode(&bytes).is_err() && exact::Feedback::decode(&bytes[..11]).is_err());
}
