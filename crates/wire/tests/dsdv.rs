//! DSDV's update against bytes laid out by hand after docs/dsdv.md.

use airfair_wire::dsdv::{Entry, PORT, Update};
use airfair_wire::{DecodeError, EncodeError, Expected, Header, Ipv4Addr};

const OWN: Entry = Entry { destination: Ipv4Addr::new(10, 0, 0, 1), hops: 1, number: 0x0102_0304 };
const BROKEN: Entry = Entry { destination: Ipv4Addr::new(10, 0, 2, 3), hops: 300, number: 0x1122_3345 };
const BYTES: [u8; 24] =
    [10, 0, 0, 1, 0, 0, 0, 1, 1, 2, 3, 4, 10, 0, 2, 3, 0, 0, 0x01, 0x2c, 0x11, 0x22, 0x33, 0x45];

#[test]
fn entries_follow_each_other_without_a_header() {
    assert_eq!(PORT, 269);
    let update = Update::new(&[OWN, BROKEN]).unwrap();
    assert_eq!(update.wire_len(), 24);
    let mut bytes = [0xee; 25];
    assert_eq!(update.encode(&mut bytes), Ok(24));
    assert_eq!(bytes[..24], BYTES);
    assert_eq!(bytes[24], 0xee);
    assert_eq!(Update::decode(&BYTES), Ok((update.clone(), &[][..])));
    assert_eq!(update.entries().collect::<Vec<_>>(), [OWN, BROKEN]);
    assert!(matches!(update.encode(&mut bytes[..23]), Err(EncodeError { .. })));
}

#[test]
fn a_part_of_an_entry_is_left_over() {
    for len in 12..24 {
        let (update, rest) = Update::decode(&BYTES[..len]).unwrap();
        assert_eq!(update.entries().collect::<Vec<_>>(), [OWN]);
        assert_eq!(rest, &BYTES[12..len]);
    }
    for len in 0..12 {
        let expected = Expected::Bytes { needed: 12, available: len };
        assert_eq!(
            Update::decode(&BYTES[..len]),
            Err(DecodeError { header: Header::Dsdv, offset: 0, expected })
        );
    }
}

#[test]
fn an_update_has_an_entry() {
    assert_eq!(Update::new(&[]), None);
    assert_eq!(12 * Update::MOST + 28, 1492, "another entry would not fit into 1500 bytes of IP");
}
