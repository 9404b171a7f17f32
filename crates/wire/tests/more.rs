//! MORE's packets against bytes laid out by hand after their tables of fields, and for any values.

use airfair_wire::Header;
use airfair_wire::more::{Acknowledgement, Coded, Credit, Flow, Forwarder, Forwarders, Message};
use proptest::prelude::*;

const FLOW: Flow = Flow { flow: 0x0102_0304, source: 5, destination: 6 };

fn coded() -> Coded {
    let list =
        [(7, 0x0667), (0xfffe_fdfc, 0)].map(|(node, credit)| Forwarder { node, credit: Credit(credit) });
    Coded::new(FLOW, 9, Forwarders::new(list.into_iter()), vec![10, 11, 12]).unwrap()
}

const CODED: [u8; 34] = [
    0x11, 3, 2, 1, 2, 3, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 9, 0, 0, 0, 7, 0x06, 0x67, 0xff, 0xfe, 0xfd,
    0xfc, 0, 0, 10, 11, 12,
];
const ACKNOWLEDGEMENT: [u8; 17] = [0x12, 1, 2, 3, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 9];

#[test]
fn bytes_by_hand() {
    let acknowledgement = Acknowledgement { flow: FLOW, batch: 9 };
    let both = [
        (Message::Coded(coded()), &CODED[..]),
        (Message::Acknowledgement(acknowledgement), &ACKNOWLEDGEMENT[..]),
    ];
    for (message, bytes) in both {
        let len = bytes.len();
        let mut encoded = vec![0xee; len + 1];
        assert_eq!((message.encode(&mut encoded), message.wire_len()), (Ok(len), len));
        assert_eq!((&encoded[..len], encoded[len]), (bytes, 0xee));
        assert_eq!(Message::decode(&encoded), Ok((message.clone(), &[0xee][..])));
        assert!(message.encode(&mut encoded[..len - 1]).is_err());
        for short in 0..len {
            let error = Message::decode(&bytes[..short]).unwrap_err();
            assert!(error.header == Header::More && error.offset <= short, "{error}");
        }
    }
}

#[test]
fn what_is_no_packet() {
    for (place, byte) in [(0, 0x10), (0, 0x13), (0, 0x21), (1, 0), (2, 65)] {
        let mut bytes = CODED;
        bytes[place] = byte;
        let error = Message::decode(&bytes).unwrap_err();
        assert_eq!((error.header, error.offset), (Header::More, 0));
    }
    assert!(Acknowledgement::decode(&CODED).is_err() && Coded::decode(&ACKNOWLEDGEMENT).is_err());
    let new = |natives| Coded::new(FLOW, 0, Forwarders::default(), vec![1; natives]);
    assert_eq!([0, 1, 255, 256].map(|natives| new(natives).is_some()), [false, true, true, false]);
    let many = (0..70).map(|node| Forwarder { node, credit: Credit(1) });
    let list = Forwarders::new(many);
    assert_eq!((list.view().len(), list.view().get(63).map(|forwarder| forwarder.node)), (64, Some(63)));
}

#[test]
fn credits_are_rounded() {
    assert_eq!([1.6, 0.0004, 0.0005, 63.9999].map(|c| Credit::of(c).0), [1638, 0, 1, 65_535]);
    assert_eq!([-1.0, 1e9, f64::NAN, f64::INFINITY].map(|c| Credit::of(c).0), [0, 65_535, 0, 65_535]);
    assert_eq!(Credit(512).transmissions(), 0.5);
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(
        ids: [u32; 4],
        list in proptest::collection::vec(any::<(u32, u16)>(), 0..=64),
        vector in proptest::collection::vec(any::<u8>(), 1..=255),
        rest in proptest::collection::vec(any::<u8>(), 0..5),
    ) {
        let [flow, source, destination, batch] = ids;
        let flow = Flow { flow, source, destination };
        let list = list.into_iter().map(|(node, credit)| Forwarder { node, credit: Credit(credit) });
        let coded = Coded::new(flow, batch, Forwarders::new(list.clone()), vector.clone()).unwrap();
        prop_assert_eq!(coded.vector(), &vector[..]);
        prop_assert!(coded.forwarders.view().iter().eq(list));
        for message in [Message::Coded(coded), Message::Acknowledgement(Acknowledgement { flow, batch })] {
            let mut bytes = vec![0; message.wire_len()];
            prop_assert_eq!(message.encode(&mut bytes), Ok(message.wire_len()));
            bytes.extend(&rest);
            prop_assert_eq!(Message::decode(&bytes), Ok((message, &rest[..])));
        }
    }
}
