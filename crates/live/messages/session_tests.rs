//! Tests that set what takes too long to come by itself.

use super::*;

fn session(me: u32, mut draw: u8) -> Session {
    let secret: Vec<u8> = (0..32).collect();
    let keys = Keys::new(&[("one", &secret)]).expect("a key");
    Session::new(NodeId(me), b"mesh", keys, Limits::default(), move |bytes| {
        draw = draw.wrapping_add(1);
        bytes.fill(draw);
    })
}

fn exchange(from: &mut Session, to: &mut Session, first: Vec<u8>, now: Time) -> usize {
    let (mut packet, mut packets) = (first, 0);
    let mut at_to = true;
    loop {
        packets += 1;
        let node = if at_to { &mut *to } else { &mut *from };
        match node.open(&packet, now) {
            Opened::Reply(reply) => packet = reply,
            _ => return packets,
        }
        at_to = !at_to;
    }
}

/// At the last counter a new index is drawn, and proven as after a restart.
#[test]
fn counters_do_not_overflow() {
    let (mut a, mut b) = (session(1, 0), session(2, 100));
    a.counter = u64::MAX - 4;
    let first = a.seal(None, b"").expect("short");
    assert_eq!(exchange(&mut a, &mut b, first, Time(0)), 4);
    let index = a.index;
    let last: Vec<_> = (0..2).map(|_| a.seal(None, b"last").expect("short")).collect();
    assert_eq!((a.index, a.counter), (index, u64::MAX));
    for packet in &last {
        assert!(matches!(b.open(packet, Time(1)), Opened::Message { payload: b"last", .. }));
    }
    let first = a.seal(None, b"first").expect("short");
    assert_eq!((a.index == index, a.counter, a.counts.new_indices), (false, 1, 1));
    let later = Time(1_000_000_000);
    assert_eq!(exchange(&mut a, &mut b, first, later), 3, "challenge and reply; this direction only");
    let packet = a.seal(None, b"again").expect("short");
    assert!(matches!(b.open(&packet, later), Opened::Message { payload: b"again", .. }));
    for packet in &last {
        assert!(matches!(b.open(packet, later), Opened::Nothing(Reason::NotHeardYet) | Opened::Reply(_)));
    }
}

/// Both kinds of sums of the limits stay below the whole.
#[test]
fn parts_of_the_limit_add_up() {
    for neighbours in [0, 1, 64, 100, 4096, usize::MAX] {
        let limits = Limits { neighbours, per_second: 0, messages: 0, ..Limits::default() }.bounded();
        let quarter = limits.per_second as usize / 4;
        assert!(limits.neighbours >= 1 && limits.neighbours <= MOST_NEIGHBOURS && limits.messages == 1);
        assert!(quarter / (2 * limits.neighbours) >= 2 && 2 * quarter / limits.neighbours >= 8);
    }
}

#[test]
fn debugging_output_has_no_keys() {
    let text = format!("{:?}", session(1, 0));
    assert_eq!(text, "Session { me: NodeId(1), neighbours: 0, .. }");
}
