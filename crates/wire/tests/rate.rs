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
    let arrivals = Arrivals::with_blocks(7, 12, 0x0001_0000, 255, blocks.into_iter()).unwrap();
    let expected = [
        0, 0, 0, 7, 0, 0, 0, 12, 0, 1, 0, 0, 2, 0, // next, sent, held, two blocks, no map
        0, 0, 0, 9, 0, 0, 0, 11, 0, 0, 0, 12, 0, 0, 0, 13,
    ];
    let mut bytes = [0; 30];
    assert_eq!((arrivals.wire_len(), arrivals.encode(&mut bytes)), (30, Ok(30)));
    assert_eq!(bytes, expected);
    assert_eq!(Arrivals::decode(&bytes), Ok((arrivals, &[][..])));
    assert_eq!((arrivals.blocks(), arrivals.map().count()), (&blocks[..], 0));
    assert!(Arrivals::decode(&expected[..29]).is_err());
    let wrong = |at: usize, byte: u8| {
        let mut bytes = expected;
        bytes[at] = byte;
        Arrivals::decode(&bytes).unwrap_err().to_string()
    };
    assert!(wrong(12, 21).contains("at most 20"), "{}", wrong(12, 21));
    assert!(wrong(13, 1).contains("0 beside blocks"), "{}", wrong(13, 1));
}

/// Every other datagram from 9 on: a map of two bytes has those from 9 to 24.
#[test]
fn a_map_of_arrivals() {
    let arrivals = Arrivals::with_map((7, 12, 3), 20, (9, 100), |at| at % 2 == 0);
    assert_eq!((arrivals.blocks().len(), arrivals.from(), arrivals.wire_len()), (0, 9, 20));
    let map: Vec<bool> = arrivals.map().collect();
    assert!(map.len() == 16 && map.iter().enumerate().all(|(at, &arrived)| arrived == (at % 2 == 0)));
    let mut bytes = [0; 20];
    assert_eq!(arrivals.encode(&mut bytes), Ok(20));
    assert_eq!(bytes, [0, 0, 0, 7, 0, 0, 0, 12, 0, 0, 0, 3, 0, 2, 0, 0, 0, 9, 0xaa, 0xaa]);
    assert_eq!(Arrivals::decode(&bytes), Ok((arrivals, &[][..])));
    assert!(Arrivals::decode(&bytes[..19]).is_err());
    bytes[13] = 201;
    let error = Arrivals::decode(&bytes).unwrap_err().to_string();
    assert!(error.contains("at most 200"), "{error}");
}

/// Twenty blocks at most, a map of at most 200 bytes, no more than the room holds, and none that says nothing.
#[test]
fn arrivals_are_bounded() {
    let blocks = |count: u32| (1..=count).map(|i| Block { first: 2 * i, end: 2 * i + 1 });
    let all =
        |count, room| Arrivals::with_blocks(0, 0, 0, room, blocks(count)).map(|arrivals| arrivals.wire_len());
    assert_eq!((all(20, 1000), all(21, 1000)), (Some(174), None));
    assert_eq!((all(1, 22), all(1, 21), all(0, 0)), (Some(22), None, Some(14)));
    let map = |room, count| Arrivals::with_map((0, 0, 0), room, (1, count), |_| true).wire_len();
    assert_eq!((map(1000, 5000), map(1000, 17), map(21, 5000), map(0, 10)), (218, 21, 21, 14));
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
