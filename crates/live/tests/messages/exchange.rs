//! Round trips, restarts, and the replacement of keys.

use airfair_live::messages::{LARGEST_PACKET, LARGEST_PAYLOAD, Limits, Opened, Reason, Session, TooLong};
use airfair_schemes::places::NodeId;

use crate::air::{converse, hears, keys, meet, millis, node, node_with, reason, seconds};

#[test]
fn messages_to_one_and_to_everyone() {
    let (mut a, mut b) = (node(1, 1), node(2, 2));
    meet(&mut a, &mut b, seconds(1));
    let largest = vec![7; LARGEST_PAYLOAD];
    for (to, payload) in
        [(None, &b""[..]), (Some(NodeId(2)), b"text"), (Some(NodeId(3)), b"other"), (None, &largest)]
    {
        let packet = a.seal(to, payload).expect("fits");
        assert!(packet.len() <= LARGEST_PACKET);
        let expected = Opened::Message { from: NodeId(1), to_me: to == Some(NodeId(2)), to, payload };
        assert_eq!(b.open(&packet, seconds(2)), expected);
    }
    assert_eq!(a.seal(None, &vec![0; LARGEST_PAYLOAD + 1]), Err(TooLong { length: LARGEST_PAYLOAD + 1 }));
    let packet = b.seal(None, b"back").expect("fits");
    assert!(hears(&mut a, &packet, seconds(2)));
    let heard: Vec<_> = b.neighbours(seconds(2)).map(|heard| (heard.id, heard.last, heard.key)).collect();
    assert_eq!(heard, [(NodeId(1), seconds(2), Some("one"))]);
    let counts = b.counts();
    assert_eq!((counts.messages, counts.challenges, counts.replies, counts.proven), (4, 1, 1, 1));
}

/// Both directions at once: challenges cross.
#[test]
fn two_nodes_that_start_together() {
    let (mut a, mut b) = (node(1, 1), node(2, 2));
    let (from_a, from_b) = (a.seal(None, b"").expect("short"), b.seal(None, b"").expect("short"));
    let Opened::Reply(by_b) = b.open(&from_a, millis(0)) else { panic!("a challenge") };
    let Opened::Reply(by_a) = a.open(&from_b, millis(0)) else { panic!("a challenge") };
    let Opened::Reply(reply_a) = a.open(&by_b, millis(1)) else { panic!("a reply") };
    let Opened::Reply(reply_b) = b.open(&by_a, millis(1)) else { panic!("a reply") };
    assert_eq!(reason(&mut a, &reply_b, millis(2)), Some(Reason::Proven));
    assert_eq!(reason(&mut b, &reply_a, millis(2)), Some(Reason::Proven));
}

/// Lost challenges and replies are made up for by the next message, at most 300 ms later.
#[test]
fn losses_delay_only() {
    for lost in 1..4 {
        let (mut a, mut b) = (node(1, 1), node(2, 2));
        let mut packet = a.seal(None, b"").expect("short");
        for step in 0..lost {
            let at = if step % 2 == 0 { &mut b } else { &mut a };
            let Opened::Reply(reply) = at.open(&packet, millis(0)) else { panic!("a reply") };
            packet = reply;
        }
        let again = a.seal(None, b"").expect("short");
        assert!(!matches!(b.open(&again, millis(299)), Opened::Reply(_)), "one challenge in 300 ms");
        for now in [300, 600] {
            for _ in 0..2 {
                let message = a.seal(None, b"").expect("short");
                converse(&mut a, &mut b, message, millis(now));
                let message = b.seal(None, b"").expect("short");
                converse(&mut b, &mut a, message, millis(now));
            }
        }
        let (to_b, to_a) = (a.seal(None, b"").expect("short"), b.seal(None, b"").expect("short"));
        assert!(hears(&mut b, &to_b, millis(700)) && hears(&mut a, &to_a, millis(700)), "{lost}");
    }
}

/// A restarted node is heard after one round trip, and hears; nothing recorded is accepted by either, then or before.
#[test]
fn restarts_need_neither_clock_nor_disk() {
    for which in [false, true] {
        let (mut a, mut b) = (node(1, 1), node(2, 2));
        let mut recorded = meet(&mut a, &mut b, seconds(1));
        for _ in 0..50 {
            let packet = a.seal(None, b"data").expect("short");
            assert!(hears(&mut b, &packet, seconds(2)));
            recorded.push(packet);
            let packet = b.seal(Some(NodeId(1)), b"data").expect("short");
            assert!(hears(&mut a, &packet, seconds(2)));
            recorded.push(packet);
        }
        let mut restarted = if which { node(1, 11) } else { node(2, 12) };
        let mut other = if which { b } else { a };
        let mut now = 10_000;
        let refuse = |node: &mut Session, now: u64| {
            for packet in &recorded {
                let opened = node.open(packet, millis(now));
                assert!(!matches!(opened, Opened::Message { .. } | Opened::Nothing(Reason::Proven)));
            }
        };
        refuse(&mut restarted, now);
        refuse(&mut other, now);
        now += 400;
        let first = restarted.seal(None, b"").expect("short");
        let packets = converse(&mut restarted, &mut other, first, millis(now));
        assert!(packets.len() <= 4);
        let packet = restarted.seal(None, b"new").expect("short");
        assert!(hears(&mut other, &packet, millis(now)), "one round trip");
        now += 400;
        let first = other.seal(None, b"").expect("short");
        if !hears(&mut restarted, &first, millis(now)) {
            let again = other.seal(None, b"").expect("short");
            converse(&mut other, &mut restarted, again, millis(now + 400));
        }
        let packet = other.seal(None, b"new").expect("short");
        assert!(hears(&mut restarted, &packet, millis(now + 400)));
        refuse(&mut restarted, now + 800);
        refuse(&mut other, now + 800);
        recorded.extend(packets);
        for packet in &recorded {
            assert!(
                !hears(&mut restarted, packet, millis(now + 1000))
                    && !hears(&mut other, packet, millis(now + 1000))
            );
        }
    }
}

/// After its restart a node is refused as long as it draws the index of its former start; neighbours forget it in time.
#[test]
fn an_index_that_is_drawn_again_is_refused_until_it_is_forgotten() {
    let (mut a, mut b) = (node(1, 1), node(2, 2));
    meet(&mut a, &mut b, seconds(0));
    let recorded: Vec<_> = (0..200).map(|_| a.seal(None, b"old").expect("short")).collect();
    for (at, packet) in recorded.iter().enumerate() {
        assert!(hears(&mut b, packet, seconds(at as u64 / 50)));
    }
    let mut again = node(1, 1);
    let packet = again.seal(None, b"new").expect("short");
    assert_eq!(reason(&mut b, &packet, seconds(5)), Some(Reason::Replay));
    // Others have the packets of the former start; a recorded one makes the node draw another index.
    assert_eq!(reason(&mut again, &recorded[199], seconds(6)), Some(Reason::OwnName));
    assert_eq!(again.counts().new_indices, 1);
    let packet = again.seal(None, b"new").expect("short");
    assert_eq!(converse(&mut again, &mut b, packet, seconds(7)).len(), 4);
    let packet = again.seal(None, b"new").expect("short");
    assert!(hears(&mut b, &packet, seconds(7)));
    // Without that: five minutes later.
    let (mut a, mut b) = (node(1, 1), node(2, 2));
    meet(&mut a, &mut b, seconds(0));
    let mut again = node(1, 1);
    let packet = again.seal(None, b"new").expect("short");
    assert_eq!(reason(&mut b, &packet, seconds(299)), Some(Reason::Replay));
    let packet = again.seal(None, b"new").expect("short");
    converse(&mut again, &mut b, packet, seconds(300));
    let packet = again.seal(None, b"new").expect("short");
    assert!(hears(&mut b, &packet, seconds(300)));
    assert_eq!(b.counts().forgotten, 1);
}

/// The new key is added everywhere, moved to the front everywhere, and the old one removed; at each step one node goes first.
#[test]
fn keys_are_replaced_without_a_gap() {
    let steps: [&[&str]; 4] = [&["old"], &["old", "new"], &["new", "old"], &["new"]];
    for first in [0, 1] {
        let mut nodes = [1, 2].map(|me| node_with(me, u64::from(me), steps[0], Limits::default()));
        let [a, b] = &mut nodes;
        meet(a, b, seconds(0));
        let mut recorded = Vec::new();
        for (step, names) in steps.iter().enumerate() {
            for which in [first, 1 - first] {
                nodes[which].set_keys(keys(names));
                for from in [0, 1] {
                    let packet = nodes[from].seal(None, b"data").expect("short");
                    assert!(
                        hears(&mut nodes[1 - from], &packet, seconds(1)),
                        "step {step}, after node {which}"
                    );
                    recorded.push(packet);
                }
            }
        }
        assert!(nodes.iter().all(|node| node.counts().challenges == 1), "sessions stay");
        assert_eq!(nodes[0].neighbours(seconds(1)).next().and_then(|heard| heard.key), Some("new"));
        let [a, _] = &mut nodes;
        assert_eq!(reason(a, &recorded[1], seconds(1)), Some(Reason::UnknownKey));
    }
}

#[test]
fn other_networks_and_keys_are_strangers() {
    let mut b = node(2, 2);
    let mut other_network =
        Session::new(NodeId(1), b"mesh2", keys(&["one"]), Limits::default(), |bytes| bytes.fill(3));
    let packet = other_network.seal(None, b"").expect("short");
    assert_eq!(reason(&mut b, &packet, seconds(0)), Some(Reason::BadMac));
    let mut other_key = node_with(1, 1, &["two"], Limits::default());
    let packet = other_key.seal(None, b"").expect("short");
    assert_eq!(reason(&mut b, &packet, seconds(0)), Some(Reason::UnknownKey));
    assert_eq!((b.counts().challenges, b.counts().replies, b.challenged()), (0, 0, 0));
}
