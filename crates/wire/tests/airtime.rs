//! The airtime allocator's announcement, byte for byte.

use airfair_wire::airtime::{Announcement, Link, State};

#[test]
fn an_announcement() {
    let own = Link { from: 0, to: 0x0102_0304, used: 0x8000, flows: 3, state: State::Short };
    let heard = Link { from: 5, to: 6, used: 1, flows: 0, state: State::Lends };
    let said = Announcement::new(9, [own].into_iter(), [heard].into_iter());
    let expected = [
        0x11, 1, 1, 0, 0, 0, 0, 9, // head: one link of its own, one other, node 9
        1, 2, 3, 4, 0x80, 0, 3, 2, // to, used, flows, short
        0, 0, 0, 5, 0, 0, 0, 6, 0, 1, 0, 0, // from, to, used, flows, lends
    ];
    let mut bytes = [0; 28];
    assert_eq!((said.wire_len(), said.encode(&mut bytes)), (28, Ok(28)));
    assert_eq!(bytes, expected);
    assert_eq!(Announcement::decode(&bytes), Ok((said.clone(), &[][..])));
    // A link of the sender is from the sender.
    assert_eq!(said.own()[0], Link { from: 9, ..own });
    assert_eq!((said.node(), said.heard()), (9, &[heard][..]));
    let wrong = |at: usize, byte: u8| {
        let mut bytes = expected;
        bytes[at] = byte;
        Announcement::decode(&bytes).unwrap_err().to_string()
    };
    assert!(wrong(0, 0x12).contains("version and type"), "{}", wrong(0, 0x12));
    assert!(wrong(1, 33).contains("at most 32 of its own"), "{}", wrong(1, 33));
    assert!(wrong(15, 3).contains("0, 1 or 2"), "{}", wrong(15, 3));
    assert!(Announcement::decode(&expected[..27]).is_err());
}

/// More links than fit are left out, the last ones.
#[test]
fn an_announcement_is_bounded() {
    let links = || (0..100).map(|to| Link { to, ..Link::default() });
    let said = Announcement::new(1, links(), links());
    assert_eq!((said.own().len(), said.heard().len(), said.wire_len()), (32, 64, 8 + 256 + 768));
}
