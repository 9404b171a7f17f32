//! The airtime allocator's announcement, byte for byte.

use airfair_wire::airtime::{Announcement, Link, State};

#[test]
fn an_announcement() {
    let own = Link { from: 0, to: 0x0102_0304, used: 0x8000, flows: 3, state: State::Short, spoiled: true };
    let heard = Link { from: 5, to: 6, used: 1, flows: 0, state: State::Lends, spoiled: false };
    let far = Link { from: 7, ..heard };
    let said = Announcement::new(9, [own].into_iter(), [heard].into_iter(), [far].into_iter());
    let expected = [
        0x11, 1, 1, 1, 0, 0, 0,
        9, // head: one link of its own, one at a neighbour, one farther away, node 9
        1, 2, 3, 4, 0x80, 0, 3, 0x82, // to, used, flows, short and spoiled
        0, 0, 0, 5, 0, 0, 0, 6, 0, 1, 0, 0, // from, to, used, flows, lends
        0, 0, 0, 7, 0, 0, 0, 6, 0, 1, 0, 0,
    ];
    let mut bytes = [0; 40];
    assert_eq!((said.wire_len(), said.encode(&mut bytes)), (40, Ok(40)));
    assert_eq!(bytes, expected);
    assert_eq!(Announcement::decode(&bytes), Ok((said.clone(), &[][..])));
    // A link of the sender is from the sender.
    assert_eq!(said.own()[0], Link { from: 9, ..own });
    assert_eq!((said.node(), said.heard(), said.far()), (9, &[heard][..], &[far][..]));
    let wrong = |at: usize, byte: u8| {
        let mut bytes = expected;
        bytes[at] = byte;
        Announcement::decode(&bytes).unwrap_err().to_string()
    };
    assert!(wrong(0, 0x12).contains("version and type"), "{}", wrong(0, 0x12));
    assert!(wrong(1, 33).contains("at most 32 of its own"), "{}", wrong(1, 33));
    assert!(wrong(3, 33).contains("32 farther away"), "{}", wrong(3, 33));
    assert!(wrong(15, 3).contains("0, 1 or 2"), "{}", wrong(15, 3));
    assert!(Announcement::decode(&expected[..39]).is_err());
}

/// More links than fit are left out, the last ones.
#[test]
fn an_announcement_is_bounded() {
    let links = || (0..100).map(|to| Link { to, ..Link::default() });
    let said = Announcement::new(1, links(), links(), links());
    assert_eq!((said.own().len(), said.heard().len(), said.far().len()), (32, 64, 32));
    assert_eq!(said.wire_len(), 8 + 256 + 768 + 384);
}
