//! Nonces and the limits of challenges and replies.

use airfair_live::messages::{LARGEST_PAYLOAD, Limits, Opened, Reason, Session};
use airfair_schemes::places::NodeId;

use crate::air::{converse, hears, meet, millis, node, node_with, reason, seconds};

fn reply(node: &mut Session, packet: &[u8], now: u64) -> Vec<u8> {
    match node.open(packet, millis(now)) {
        Opened::Reply(reply) => reply,
        other => panic!("{other:?} in place of a reply"),
    }
}

fn message(node: &mut Session) -> Vec<u8> {
    node.seal(None, b"data").expect("short")
}

/// A challenge that was answered is given to the next start of its addressee: that reply proves nothing.
#[test]
fn a_nonce_proves_one_index() {
    let mut b = node(2, 2);
    for round in 0..4 {
        let now = 1000 * round;
        let mut a = node(1, 100 + round);
        let first = message(&mut a);
        let packets = converse(&mut a, &mut b, first, millis(now));
        assert_eq!(b.counts().proven, round + 1);
        let again = reply(&mut node(1, 200 + round), &packets[1], now + 10);
        assert!(!matches!(b.open(&again, millis(now + 10)), Opened::Nothing(Reason::Proven)));
        assert_eq!(b.counts().proven, round + 1);
        assert!(hears(&mut b, &message(&mut a), millis(now + 20)), "the index that was proven stays");
    }
}

/// The same after a recorded packet has led to a challenge, which the neighbour has answered with its known index.
#[test]
fn a_nonce_that_a_known_neighbour_repeats_is_used_up() {
    let (mut old, mut a, mut b) = (node(1, 3), node(1, 1), node(2, 2));
    let recorded = message(&mut old);
    meet(&mut a, &mut b, millis(0));
    let challenge = reply(&mut b, &recorded, 400);
    let answer = reply(&mut a, &challenge, 400);
    assert_eq!(reason(&mut b, &answer, millis(400)), Some(Reason::Unexpected));
    let again = reply(&mut node(1, 4), &challenge, 500);
    b.open(&again, millis(500));
    assert_eq!(b.counts().proven, 1);
    assert!(hears(&mut b, &message(&mut a), millis(600)));
}

/// A message that carries the nonce is no reply.
#[test]
fn messages_prove_nothing() {
    let (mut a, mut b) = (node(1, 1), node(2, 2));
    let challenge = reply(&mut b, &message(&mut a), 0);
    let nonce = challenge[36..52].to_vec();
    let packet = a.seal(Some(NodeId(2)), &nonce).expect("short");
    assert_eq!(reason(&mut b, &packet, millis(1)), Some(Reason::NotHeardYet));
    assert_eq!((b.counts().proven, b.neighbours(millis(1)).count()), (0, 0));
}

/// Round trips much longer than the time between challenges, as those of a node that starves: a reply is taken within 30 s.
#[test]
fn slow_replies() {
    for (seconds, is_taken) in [(0, true), (1, true), (9, true), (12, true), (29, true), (30, false)] {
        let (mut a, mut b) = (node(1, 1), node(2, 2));
        let first = reply(&mut b, &message(&mut a), 0);
        for at in 1..=seconds {
            reply(&mut b, &message(&mut a), 1000 * at);
        }
        let slow = reply(&mut a, &first, 1000 * seconds);
        b.open(&slow, millis(1000 * seconds));
        assert_eq!(b.counts().proven == 1, is_taken, "{seconds} s");
    }
}

/// Challenges of ten starts of one node at once: one reply in 100 ms.
#[test]
fn replies_are_limited() {
    let mut a = node(1, 1);
    let challenges: Vec<_> =
        (0..10).map(|seed| reply(&mut node(2, 50 + seed), &message(&mut a), 0)).collect();
    for (now, replies) in [(0, 1), (99, 1), (100, 2), (150, 2), (200, 3)] {
        for challenge in &challenges {
            a.open(challenge, millis(now));
        }
        assert_eq!(a.counts().replies, replies, "{now} ms");
        assert!(a.counts().challenges <= 1);
    }
    assert!(a.counts().of(Reason::NotHeardYet) > 0);
    // A known neighbour: its recorded packets make it challenge, and this node answers now and then.
    let mut old: Vec<_> = (0..5).map(|seed| node(1, 70 + seed)).collect();
    let mut b = node(2, 2);
    meet(&mut a, &mut b, seconds(2));
    let before = a.counts().replies;
    for (at, old) in old.iter_mut().enumerate() {
        let challenge = reply(&mut b, &message(old), 3000 + 300 * at as u64);
        a.open(&challenge, millis(5000));
    }
    assert_eq!((a.counts().replies - before, a.counts().of(Reason::RecentlyAnswered)), (1, 4));
}

/// An attacker that has overheard a challenge forges replies: few are verified, and others are not affected.
#[test]
fn forged_replies_are_limited() {
    let (mut a, mut b, mut c) = (node(1, 1), node(2, 2), node(3, 3));
    let challenge = reply(&mut b, &message(&mut a), 0);
    let mut forged = reply(&mut a, &challenge, 0);
    forged[60] ^= 1;
    let before = b.counts().verified;
    for at in 0..10_000_u64 {
        forged[28..36].copy_from_slice(&at.to_be_bytes());
        let reason = reason(&mut b, &forged, millis(at / 10));
        assert!(matches!(reason, Some(Reason::BadMac | Reason::NeighbourLimit)));
    }
    assert!(b.counts().verified - before <= 16, "{}", b.counts().verified);
    meet(&mut c, &mut b, seconds(1));
}

/// Packets that name their receiver as the sender are unknown ones.
#[test]
fn packets_of_the_own_name_are_limited() {
    let (mut a, mut copy) = (node(1, 1), node(1, 2));
    let own = message(&mut a);
    for _ in 0..10_000 {
        assert_eq!(reason(&mut a, &own, seconds(1)), Some(Reason::OwnPacket));
    }
    assert_eq!(a.counts().verified, 0);
    let other = message(&mut copy);
    for at in 0..10_000 {
        let expected = if at < 1024 { Reason::OwnName } else { Reason::UnknownLimit };
        assert_eq!(reason(&mut a, &other, seconds(1)), Some(expected));
    }
    assert_eq!((a.counts().verified, a.counts().new_indices), (1024, 0));
    let mut forged = own.clone();
    forged[28] ^= 1;
    assert_eq!(
        reason(&mut a, &forged, seconds(2)),
        Some(Reason::BadMac),
        "a counter of the own index not yet used"
    );
    assert_eq!(a.counts().new_indices, 0);
}

#[test]
fn other_versions_and_longer_packets() {
    let (mut a, mut b) = (node(1, 1), node(2, 2));
    meet(&mut a, &mut b, seconds(0));
    let mut packet = message(&mut a);
    packet[3] = 2;
    assert_eq!(reason(&mut b, &packet, seconds(0)), Some(Reason::Version));
    let mut packet = a.seal(None, &[0; LARGEST_PAYLOAD]).expect("fits");
    packet.push(0);
    packet[6..8].copy_from_slice(&(LARGEST_PAYLOAD as u16 + 1).to_be_bytes());
    assert_eq!(reason(&mut b, &packet, seconds(0)), Some(Reason::Malformed));
}

/// A silent neighbour is forgotten to the nanosecond if it sends, and within a second otherwise.
#[test]
fn silent_neighbours_are_forgotten() {
    let (mut a, mut b, mut c) = (node(1, 1), node(2, 2), node(3, 3));
    meet(&mut a, &mut b, seconds(0));
    meet(&mut c, &mut b, seconds(1));
    assert!(hears(&mut b, &message(&mut c), millis(299_900)));
    assert!(matches!(b.open(&message(&mut a), millis(300_000)), Opened::Reply(_)), "challenged");
    assert_eq!(b.counts().forgotten, 1);
    meet(&mut a, &mut b, seconds(301));
    assert!(hears(&mut b, &message(&mut c), seconds(500)));
    assert!(hears(&mut b, &message(&mut c), seconds(601)));
    assert_eq!(b.counts().forgotten, 2);
}

/// Of the challenged nodes, the one that was first gives room.
#[test]
fn the_oldest_challenge_gives_room() {
    let limits = Limits { neighbours: 2, ..Limits::default() };
    let mut b = node_with(2, 2, &["one"], limits);
    let mut others: Vec<_> = [30, 20, 10].map(|me| node(me, u64::from(me))).into();
    let challenges: Vec<_> = others
        .iter_mut()
        .enumerate()
        .map(|(at, other)| reply(&mut b, &message(other), at as u64 * 900))
        .collect();
    for (at, is_proven) in [(0, false), (1, true), (2, true)] {
        let before = b.counts().proven;
        let answer = reply(&mut others[at], &challenges[at], 1850);
        b.open(&answer, millis(1850));
        assert_eq!(b.counts().proven > before, is_proven, "{at}");
    }
}

/// Two nodes whose names have the same number, at a third one: each of them has to prove itself anew whenever the other one was heard
/// before, and loses that message. Each takes the other one for a node of its own name.
#[test]
fn two_nodes_of_one_number_are_heard_by_turns() {
    let (mut first, mut second, mut other) = (node(1, 1), node(1, 2), node(2, 3));
    let (mut sent, mut heard) = ([0; 2], [0; 2]);
    for round in 0..200 {
        for (at, node) in [&mut first, &mut second].into_iter().enumerate() {
            // In three of four rounds only one of them speaks.
            if round % 4 != 3 && round / 4 % 2 != at as u64 {
                continue;
            }
            let now = millis(1_000 * round + 500 * at as u64);
            let packet = message(node);
            sent[at] += 1;
            let before = other.counts().messages;
            converse(node, &mut other, packet, now);
            heard[at] += other.counts().messages - before;
        }
    }
    assert_eq!((sent, heard), ([125; 2], [75; 2]));
    assert_eq!(other.counts().proven, 100, "once at each change of the speaker, whose message is lost");
    let packet = message(&mut first);
    assert_eq!(reason(&mut second, &packet, seconds(200)), Some(Reason::OwnName));
}
