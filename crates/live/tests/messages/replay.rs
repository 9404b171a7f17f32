//! Recorded packets, and packets in another order.

use airfair_live::messages::{Opened, Reason, Session};
use airfair_schemes::places::NodeId;

use crate::air::{Random, converse, hears, meet, millis, node, reason, seconds};

#[test]
fn each_packet_once() {
    let (mut a, mut b) = (node(1, 1), node(2, 2));
    let mut recorded = meet(&mut a, &mut b, seconds(0));
    for at in 0..300 {
        let packet = a.seal((at % 2 == 0).then_some(NodeId(2)), b"data").expect("short");
        assert!(hears(&mut b, &packet, millis(at * 20)));
        assert_eq!(reason(&mut b, &packet, millis(at * 20)), Some(Reason::Replay));
        assert_eq!(reason(&mut a, &packet, millis(at * 20)), Some(Reason::OwnPacket));
        recorded.push(packet);
    }
    for packet in &recorded {
        for node in [&mut a, &mut b] {
            let reason = reason(node, packet, seconds(10));
            assert!(matches!(reason, Some(Reason::Replay | Reason::OwnPacket)), "{reason:?}");
        }
    }
}

#[test]
fn another_order_within_the_window() {
    let mut random = Random(5);
    let (mut a, mut b) = (node(1, 1), node(2, 2));
    meet(&mut a, &mut b, seconds(0));
    for round in 1..50 {
        let mut packets: Vec<_> = (0..64).map(|_| a.seal(None, b"data").expect("short")).collect();
        for at in (1..packets.len()).rev() {
            packets.swap(at, random.below(at + 1));
        }
        assert!(packets.iter().all(|packet| hears(&mut b, packet, seconds(round))));
        assert!(!packets.iter().any(|packet| hears(&mut b, packet, seconds(round))));
    }
    // 127 later ones may overtake a packet, not 128.
    for (later, is_heard) in [(127, true), (128, false)] {
        let late = a.seal(None, b"late").expect("short");
        for at in 0..later {
            let packet = a.seal(None, b"data").expect("short");
            assert!(hears(&mut b, &packet, seconds(100 + later + at)));
        }
        assert_eq!(hears(&mut b, &late, seconds(400)), is_heard);
    }
}

/// A packet of the new start that came before its reply stays unheard, as the one that led to the challenge does.
#[test]
fn packets_before_the_reply_are_not_accepted() {
    let (mut a, mut b) = (node(1, 1), node(2, 2));
    let early: Vec<_> = (0..5).map(|_| a.seal(None, b"early").expect("short")).collect();
    meet(&mut a, &mut b, seconds(0));
    for packet in &early {
        assert_eq!(reason(&mut b, packet, seconds(0)), Some(Reason::Replay));
    }
}

/// Replies prove an index while their nonce is younger than 30 s, to the node that made it, once.
#[test]
fn replies_are_accepted_once_and_for_a_short_time() {
    for (later, is_accepted) in [(0, true), (29_999, true), (30_000, false), (100_000, false)] {
        let (mut a, mut b) = (node(1, 1), node(2, 2));
        let message = a.seal(None, b"").expect("short");
        let Opened::Reply(challenge) = b.open(&message, millis(0)) else { panic!("a challenge") };
        let Opened::Reply(reply) = a.open(&challenge, millis(0)) else { panic!("a reply") };
        assert_eq!(reason(&mut node(3, 3), &reply, millis(later)), Some(Reason::NotForMe));
        b.open(&reply, millis(later));
        assert_eq!(b.neighbours(millis(later)).count() == 1, is_accepted, "{later}");
        // A start of the same name that has not made the nonce.
        let mut again = node(2, 22);
        again.open(&reply, millis(later));
        assert_eq!(again.neighbours(millis(later)).count(), 0);
    }
}

/// Recorded replies of an earlier start, to nonces that were never used up.
#[test]
fn old_replies_after_a_restart() {
    let (mut a, mut b) = (node(1, 1), node(2, 2));
    let mut recorded = Vec::new();
    for at in 0..10 {
        let message = a.seal(None, b"").expect("short");
        let Opened::Reply(challenge) = b.open(&message, millis(at * 300)) else { panic!("a challenge") };
        let Opened::Reply(reply) = a.open(&challenge, millis(at * 300)) else { panic!("a reply") };
        recorded.extend([message, challenge, reply]);
    }
    let mut a2 = node(1, 3);
    for packet in &recorded {
        assert!(!matches!(b.open(packet, millis(30_000)), Opened::Message { .. }));
        a2.open(packet, millis(30_000));
    }
    assert_eq!(b.neighbours(millis(30_000)).count(), 0, "no nonce is that old");
    meet_after(&mut a2, &mut b, 61_000);
    for packet in &recorded {
        assert!(!hears(&mut b, packet, millis(61_500)) && !hears(&mut a2, packet, millis(61_500)));
    }
    let packet = a2.seal(None, b"data").expect("short");
    assert!(hears(&mut b, &packet, millis(4600)), "the new start is heard all the time");
}

fn meet_after(a: &mut Session, b: &mut Session, from: u64) {
    for at in 0..3 {
        let message = a.seal(None, b"").expect("short");
        converse(a, b, message, millis(from + at * 300));
    }
    assert_eq!(b.neighbours(millis(from)).count(), 1);
}

/// Packets of an earlier start are challenged now and then; the neighbour stays heard, and its window stays.
#[test]
fn recorded_packets_of_an_earlier_start_disturb_nobody() {
    let (mut old, mut b) = (node(1, 1), node(2, 2));
    let recorded: Vec<_> = (0..1000).map(|_| old.seal(None, b"old").expect("short")).collect();
    let mut a = node(1, 11);
    meet(&mut a, &mut b, seconds(0));
    let mut challenges = 0;
    for (at, packet) in recorded.iter().enumerate() {
        let now = millis(1000 + at as u64 * 10);
        if let Opened::Reply(challenge) = b.open(packet, now) {
            challenges += 1;
            // The neighbour answers with its present index, which is known.
            let Opened::Reply(reply) = a.open(&challenge, now) else { panic!("a reply") };
            assert_eq!(reason(&mut b, &reply, now), Some(Reason::Unexpected));
        }
        let packet = a.seal(None, b"data").expect("short");
        assert!(hears(&mut b, &packet, now) && !hears(&mut b, &packet, now));
    }
    assert!(challenges <= 34, "{challenges} in 10 s");
}
