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

/// Every other datagram from 2 on, of which 28 bytes hold one block: 14 bytes of a map hold the next 112 datagrams, from 1 on.
#[test]
fn a_map_holds_what_blocks_do_not() {
    let blocks = || (1..100).map(|i| Block { first: 2 * i, end: 2 * i + 1 });
    let arrivals = Arrivals::new(0, 0, 0, 28, blocks());
    assert_eq!((arrivals.blocks().len(), arrivals.wire_len()), (0, 28));
    let map: Vec<bool> = arrivals.map().collect();
    assert_eq!(map.len(), 112);
    assert!((1..=112).all(|number| map[number - 1] == (number % 2 == 0)));
    let mut bytes = [0; 28];
    assert_eq!(arrivals.encode(&mut bytes), Ok(28));
    assert_eq!(bytes[..16], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 14, 0x55, 0x55]);
    assert_eq!(Arrivals::decode(&bytes), Ok((arrivals, &[][..])));
    // Numbers count modulo 2^32.
    let arrivals = Arrivals::new(u32::MAX, 0, 0, 16, [Block { first: 1, end: 3 }].into_iter());
    assert_eq!(arrivals.map().take(4).collect::<Vec<_>>(), [false, true, true, false]);
    bytes[13] = 201;
    let error = Arrivals::decode(&bytes).unwrap_err().to_string();
    assert!(error.contains("at most 200"), "{error}");
}

/// Twenty blocks at most, then a map of at most 200 bytes, and no more than the room holds.
#[test]
fn arrivals_are_bounded() {
    let blocks = |count: u32| (1..=count).map(|i| Block { first: 2 * i, end: 2 * i + 1 });
    let all = |count, room| Arrivals::new(0, 0, 0, room, blocks(count));
    assert_eq!((all(20, 1000).blocks().len(), all(20, 1000).wire_len()), (20, 174));
    assert_eq!((all(21, 1000).blocks().len(), all(21, 1000).wire_len()), (0, 214));
    assert_eq!((all(1, 22).blocks().len(), all(1, 21).wire_len(), all(9, 0).wire_len()), (1, 21, 14));
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
