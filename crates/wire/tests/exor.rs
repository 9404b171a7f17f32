//! ExOR's header against bytes laid out by hand after its table of fields, and for any values.

use airfair_wire::exor::{BatchMap, Exor, ExorView, Fragment, Head, Nodes};
use airfair_wire::{Flow, Header};
use proptest::prelude::*;

fn header(packet: Option<u8>) -> Exor {
    let nodes = Nodes::new(&[9, 0x0102_0304]).unwrap();
    let head = Head { flow: 7, batch: 8, rank: 1, fragment: Fragment { number: 4, size: 10 }, nodes };
    Exor::new(head, packet, BatchMap::new(vec![0, 1, 1]).unwrap()).unwrap()
}

const BYTES: [u8; 26] = [0x11, 0, 0, 0, 7, 0, 0, 0, 8, 3, 2, 1, 4, 10, 2, 0, 0, 0, 9, 1, 2, 3, 4, 0, 1, 1];

#[test]
fn bytes_by_hand() {
    for (packet, byte) in [(Some(2), 2), (Some(0), 0), (None, 255)] {
        let (header, mut bytes) = (header(packet), BYTES);
        bytes[10] = byte;
        let mut encoded = [0xee; 27];
        assert_eq!((header.encode(&mut encoded), header.wire_len()), (Ok(26), 26));
        assert_eq!((&encoded[..26], encoded[26]), (&bytes[..], 0xee));
        assert_eq!(Exor::decode(&encoded), Ok((header.clone(), &[0xee][..])));
        assert!(header.encode(&mut encoded[..25]).is_err());
        assert_eq!((header.packet(), header.map().ranks()), (packet, &[0, 1, 1][..]));
    }
    for short in 0..26 {
        let error = Exor::decode(&BYTES[..short]).unwrap_err();
        assert!(error.header == Header::Exor && error.offset <= short, "{error}");
    }
}

#[test]
fn what_is_no_header() {
    for (place, byte) in [(0, 0x12), (9, 0), (9, 101), (10, 3), (10, 254), (14, 1), (14, 65)] {
        let mut bytes = [0; 500];
        bytes[..26].copy_from_slice(&BYTES);
        bytes[place] = byte;
        let error = Exor::decode(&bytes).unwrap_err();
        assert_eq!((error.header, error.offset), (Header::Exor, if place == 0 { 0 } else { 9 }));
    }
    let head = header(None).head;
    assert!(Exor::new(head, Some(3), BatchMap::new(vec![1; 3]).unwrap()).is_none());
    assert_eq!([1, 2, 64, 65].map(|n| Nodes::new(&vec![1; n]).is_some()), [false, true, true, false]);
    assert_eq!([0, 1, 100, 101].map(|n| BatchMap::new(vec![1; n]).is_some()), [false, true, true, false]);
}

#[test]
fn ranks_of_nodes() {
    let nodes = Nodes::new(&[9, 3, 4]).unwrap();
    assert_eq!([9, 3, 4, 5].map(|node| nodes.view().rank(node)), [Some(0), Some(1), Some(2), None]);
    assert_eq!([0, 1, 2, 3].map(|rank| nodes.view().get(rank)), [Some(9), Some(3), Some(4), None]);
    assert_eq!(nodes.view().flow(7), Flow { flow: 7, source: 4, destination: 9 });
    assert_eq!((nodes.view().len(), nodes.view().shared()), (3, nodes.clone()));
    let mut map = BatchMap::new(vec![2, 2]).unwrap();
    map.ranks_mut()[1] = 0;
    assert_eq!(map.ranks(), [2, 0]);
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(
        ids: [u32; 2],
        bytes: [u8; 3],
        nodes in proptest::collection::vec(any::<u32>(), 2..=64),
        map in proptest::collection::vec(any::<u8>(), 1..=100),
        packet: Option<u8>,
        rest in proptest::collection::vec(any::<u8>(), 0..5),
    ) {
        let packet = packet.map(|packet| packet % map.len() as u8);
        let [rank, number, size] = bytes;
        let nodes = Nodes::new(&nodes).unwrap();
        let head = Head { flow: ids[0], batch: ids[1], rank, fragment: Fragment { number, size }, nodes };
        let header = Exor::new(head, packet, BatchMap::new(map).unwrap()).unwrap();
        let mut bytes = vec![0; header.wire_len()];
        prop_assert_eq!(header.encode(&mut bytes), Ok(header.wire_len()));
        bytes.extend(&rest);
        prop_assert_eq!(ExorView::decode(&bytes), Ok((header.view(), &rest[..])));
        prop_assert_eq!(Exor::decode(&bytes), Ok((header, &rest[..])));
    }
}
