//! Headers as bytes, and what receivers do with them.

use airfair_schemes::places::{Header, HeaderKind};
use airfair_schemes::{rcp, xcp};
use proptest::prelude::*;

fn through(kind: &HeaderKind, header: &Header) -> Option<Header> {
    let mut bytes = vec![0; kind.wire_len as usize];
    let len = (kind.encode)(header, &mut bytes).expect("room");
    assert_eq!(len, bytes.len(), "{}: the header costs what it says", kind.name);
    (kind.decode)(&bytes)
}

proptest! {
    /// Whatever the fields are, they come back.
    #[test]
    fn headers_come_back(spoken in any::<u8>(), missed in any::<u8>(), fields in any::<[u32; 4]>()) {
        let header = Header { spoken, missed, fields };
        prop_assert_eq!(through(&xcp::header::KIND, &header), Some(header));
        let [a, b, c, _] = fields;
        let rates = Header { fields: [a, b, c, 0], ..header };
        prop_assert_eq!(through(&rcp::header::KIND, &header), Some(rates));
    }

    /// Any bytes are read or refused.
    #[test]
    fn bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        for kind in [&xcp::header::KIND, &rcp::header::KIND] {
            if let Some(header) = (kind.decode)(&bytes) {
                prop_assert_eq!(through(kind, &header), Some(header));
            }
        }
    }
}

/// The changes of packets that share an acknowledgement add up; nothing is told twice.
#[test]
fn changes_add_up_until_they_are_told() {
    let kind = &xcp::header::KIND;
    let mut kept = Header::default();
    let arrived = |delta: i32| Header { spoken: 3, missed: 1, fields: [1, 2, delta.cast_unsigned(), 9] };
    for delta in [700, -200, 56] {
        (kind.keep)(&mut kept, &arrived(delta));
    }
    assert_eq!((kind.answer)(&mut kept), Header { spoken: 0, missed: 1, fields: [0, 0, 0, 556] });
    assert_eq!((kind.answer)(&mut kept).fields, [0; 4]);
    for _ in 0..3 {
        (kind.keep)(&mut kept, &arrived(i32::MAX));
    }
    assert_eq!(xcp::header::feedback(&(kind.answer)(&mut kept)), i32::MAX);
}
