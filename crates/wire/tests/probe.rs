//! Probes of delivery ratios against bytes laid out by hand after the table of fields, and for any values.

use airfair_wire::Header;
use airfair_wire::probe::{Heard, List, Probe};
use proptest::prelude::*;

fn heard(list: &[(u32, u8)]) -> impl Iterator<Item = Heard> + '_ {
    list.iter().map(|&(node, ratio)| Heard { node, ratio })
}

#[test]
fn bytes_by_hand() {
    let lists = vec![
        List::new(7, 0x0102, 0x0304, heard(&[(8, 255), (0xfffe_fdfc, 179)])),
        List::new(0x0a0b_0c0d, 9, 0, heard(&[])),
    ];
    let probe = Probe::new(0x0506, lists);
    let bytes = [
        0x13, 5, 6, 2, 0, 0, 0, 7, 1, 2, 3, 4, 2, 0, 0, 0, 8, 255, 0xff, 0xfe, 0xfd, 0xfc, 179, 0x0a, 0x0b,
        0x0c, 0x0d, 0, 9, 0, 0, 0,
    ];
    let mut encoded = [0xee; 33];
    assert_eq!((probe.encode(&mut encoded), probe.wire_len()), (Ok(32), 32));
    assert_eq!((&encoded[..32], encoded[32]), (&bytes[..], 0xee));
    assert_eq!(Probe::decode(&encoded), Ok((probe.clone(), &[0xee][..])));
    assert!(probe.encode(&mut encoded[..31]).is_err());
    for short in 0..32 {
        let error = Probe::decode(&bytes[..short]).unwrap_err();
        assert!(error.header == Header::Probe && error.offset <= short, "{error}");
    }
    let other = Probe::decode(&[0x12, 0, 0, 0]).unwrap_err();
    assert_eq!(other.to_string(), "delivery probe, byte 0: version and type: expected 0x13, found 0x12");
    assert!(Probe::is_one(bytes[0]) && !Probe::is_one(0x12));
}

#[test]
fn what_is_too_long_is_cut() {
    let many = (0..300).map(|node| Heard { node, ratio: 1 });
    assert_eq!(List::new(1, 2, 3, many).heard().len(), 255);
    assert_eq!(Probe::new(0, vec![List::new(1, 2, 3, heard(&[])); 300]).lists().len(), 255);
    assert_eq!(List::len_with(3), List::new(1, 2, 3, heard(&[(1, 1), (2, 2), (3, 3)])).wire_len());
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(
        sequence: u16,
        lists in proptest::collection::vec(any::<(u32, u16, u16, Vec<(u32, u8)>)>(), 0..20),
        rest in proptest::collection::vec(any::<u8>(), 0..5),
    ) {
        let lists = lists.iter().map(|(node, version, age, list)| List::new(*node, *version, *age, heard(list)));
        let probe = Probe::new(sequence, lists.collect());
        let mut bytes = vec![0; probe.wire_len()];
        prop_assert_eq!(probe.encode(&mut bytes), Ok(probe.wire_len()));
        bytes.extend(&rest);
        prop_assert_eq!(Probe::decode(&bytes), Ok((probe, &rest[..])));
    }
}
