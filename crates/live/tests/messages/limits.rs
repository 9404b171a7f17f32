//! Floods: work and memory are bounded, and neighbours stay heard.

use airfair_live::messages::{Limits, Opened, Reason, Session};
use airfair_schemes::places::NodeId;
use airfair_units::Span;

use crate::air::{Random, converse, hears, meet, millis, node, node_with, reason, seconds};

/// Sets the sender of a packet, which its MAC then does not fit.
fn forge(packet: &[u8], sender: u32) -> Vec<u8> {
    let mut forged = packet.to_vec();
    forged[12..16].copy_from_slice(&sender.to_be_bytes());
    forged
}

/// A million packets in 10 s from random nodes with a right tag: a known neighbour is heard, the work is bounded, nothing is kept or sent.
#[test]
fn forged_packets_of_strangers_do_not_silence_a_neighbour() {
    let mut random = Random(9);
    let (mut a, mut b) = (node(1, 1), node(2, 2));
    meet(&mut a, &mut b, seconds(0));
    let model = a.seal(None, b"data").expect("short");
    let before = b.counts();
    let mut forged = model.clone();
    let mut heard = 0;
    for at in 0..1_000_000_u64 {
        let now = millis(1000 + at / 100);
        forged[12..16].copy_from_slice(&(random.number() as u32 | 4).to_be_bytes());
        random.fill(&mut forged[20..36]);
        assert!(matches!(b.open(&forged, now), Opened::Nothing(Reason::BadMac | Reason::UnknownLimit)));
        if at % 10_000 == 0 {
            let packet = a.seal(None, b"data").expect("short");
            heard += u32::from(hears(&mut b, &packet, now));
        }
    }
    assert_eq!(heard, 100);
    let counts = b.counts();
    assert!(counts.verified - before.verified <= 11 * 1024 + 100, "{}", counts.verified);
    assert_eq!((counts.challenges, counts.replies), (before.challenges, before.replies));
    assert_eq!((b.neighbours(seconds(11)).count(), b.challenged()), (1, 0));
}

/// An attacker that forges packets of one neighbour, with its index and future counters, takes the part of that neighbour, not of others.
#[test]
fn forged_packets_of_one_neighbour_do_not_silence_another() {
    let (mut a, mut b, mut c) = (node(1, 1), node(2, 2), node(3, 3));
    meet(&mut a, &mut b, seconds(0));
    meet(&mut c, &mut b, seconds(0));
    let before = b.counts().verified;
    let mut forged = a.seal(None, b"data").expect("short");
    for at in 0..100_000_u64 {
        let now = millis(1000 + at / 100);
        forged[28..36].copy_from_slice(&(at + 1000).to_be_bytes());
        assert!(matches!(b.open(&forged, now), Opened::Nothing(Reason::BadMac | Reason::NeighbourLimit)));
        if at % 1000 == 0 {
            let packet = c.seal(None, b"data").expect("short");
            assert!(hears(&mut b, &packet, now));
        }
    }
    assert!(b.counts().verified - before <= 2 * 1024 + 200);
    let packet = a.seal(None, b"data").expect("short");
    assert!(
        hears(&mut b, &packet, seconds(3)),
        "heard as soon as that ends; the forged counters left no trace"
    );
}

/// A new node under a flood of forged packets: the reply to the challenge has a part of the limit for itself.
#[test]
fn a_challenged_node_gets_through_a_flood() {
    let (mut a, mut b) = (node(1, 1), node(2, 2));
    let message = a.seal(None, b"").expect("short");
    let Opened::Reply(challenge) = b.open(&message, seconds(1)) else { panic!("a challenge") };
    for sender in 10..100_010 {
        let now = seconds(1);
        assert!(matches!(b.open(&forge(&message, sender), now), Opened::Nothing(_)));
    }
    let Opened::Reply(reply) = a.open(&challenge, seconds(1)) else { panic!("a reply") };
    assert!(matches!(b.open(&reply, seconds(1)), Opened::Reply(_)));
    assert_eq!(b.neighbours(seconds(1)).count(), 1);
}

/// A node with a key that sends too much.
#[test]
fn messages_of_a_neighbour_are_limited() {
    let (mut a, mut b, mut c) = (node(1, 1), node(2, 2), node(3, 3));
    meet(&mut a, &mut b, seconds(0));
    meet(&mut c, &mut b, seconds(0));
    let mut heard = 0;
    for at in 0..10_000 {
        let packet = a.seal(None, b"data").expect("short");
        heard += u32::from(hears(&mut b, &packet, millis(1000 + at)));
    }
    assert!((1000..=1100).contains(&heard), "{heard} in 10 s");
    assert_eq!(
        b.counts().of(Reason::MessageLimit) + b.counts().of(Reason::NeighbourLimit),
        10_000 - u64::from(heard)
    );
    let packet = c.seal(None, b"data").expect("short");
    assert!(hears(&mut b, &packet, seconds(11)));
}

/// Many nodes with the key: those that are heard stay, the tables stay small.
#[test]
fn memory_is_bounded_and_neighbours_stay() {
    let mut b = node(2, 2);
    let mut known: Vec<Session> = (0..64).map(|me| node(1000 + me, u64::from(me))).collect();
    for other in &mut known {
        meet(other, &mut b, seconds(0));
    }
    let mut challenges = 0;
    for me in 0..100_000_u32 {
        let now = millis(1000 + u64::from(me));
        let mut stranger = node(10_000 + me, 1_000_000 + u64::from(me));
        let first = stranger.seal(None, b"").expect("short");
        converse(&mut stranger, &mut b, first, now);
        challenges += u32::from(stranger.counts().replies > 0);
        if me % 500 == 0 {
            for other in &mut known {
                let packet = other.seal(None, b"data").expect("short");
                assert!(hears(&mut b, &packet, now));
            }
        }
        assert!(b.challenged() <= 64);
    }
    assert_eq!((b.neighbours(seconds(101)).count(), b.counts().evicted, challenges), (64, 0, 0));
}

/// Many nodes with the key that answer, or do not, while there is room: as many as there are places at a time.
#[test]
fn memory_is_bounded_while_neighbours_come_and_go() {
    let limits = Limits { kept: Span::from_secs(1), forgotten: Span::from_secs(4), ..Limits::default() };
    let mut b = node_with(2, 2, &["one"], limits);
    let mut most = (0, 0);
    for me in 0..100_000_u32 {
        let now = millis(u64::from(me) * 10);
        let mut stranger = node(10_000 + me, 1_000_000 + u64::from(me));
        let first = stranger.seal(None, b"").expect("short");
        if me % 3 == 0 {
            b.open(&first, now);
        } else {
            converse(&mut stranger, &mut b, first, now);
        }
        let heard = b.neighbours(now).count();
        assert!(heard <= 64 && b.challenged() <= 64);
        most = (heard.max(most.0), b.challenged().max(most.1));
    }
    assert_eq!(most, (64, 64));
    assert!(b.counts().evicted > 50_000, "{:?}", b.counts());
}

/// Challenged nodes that never answer give room to others after a second, and never take that of neighbours.
#[test]
fn places_of_challenged_nodes_are_given_on() {
    let limits = Limits { neighbours: 4, ..Limits::default() };
    let mut b = node_with(2, 2, &["one"], limits);
    let mut a = node(1, 1);
    meet(&mut a, &mut b, seconds(0));
    let silent = |b: &mut Session, me: u32, now| {
        let packet = node(me, u64::from(me)).seal(None, b"").expect("short");
        matches!(b.open(&packet, now), Opened::Reply(_))
    };
    assert!((10..14).all(|me| silent(&mut b, me, seconds(1))));
    assert_eq!(b.challenged(), 4);
    assert!(!silent(&mut b, 14, millis(1999)));
    assert!(silent(&mut b, 14, millis(2000)));
    assert_eq!((b.challenged(), b.neighbours(seconds(2)).count()), (4, 1));
    let mut c = node(3, 3);
    meet(&mut c, &mut b, millis(2000));
    assert_eq!((b.challenged(), b.neighbours(seconds(2)).count()), (3, 2));
}

/// The longest silent neighbour gives room, but none that was heard within a minute; after five minutes it is forgotten.
#[test]
fn silent_neighbours_give_room() {
    let limits = Limits { neighbours: 2, ..Limits::default() };
    let mut b = node_with(2, 2, &["one"], limits);
    let mut others: Vec<Session> = (10..14).map(|me| node(me, u64::from(me))).collect();
    let ids = |b: &Session, now| b.neighbours(now).map(|heard| heard.id.0).collect::<Vec<_>>();
    meet(&mut others[0], &mut b, seconds(0));
    meet(&mut others[1], &mut b, seconds(10));
    let packet = others[2].seal(None, b"").expect("short");
    assert_eq!(reason(&mut b, &packet, seconds(59)), Some(Reason::NoRoom));
    meet(&mut others[2], &mut b, seconds(60));
    assert_eq!(ids(&b, seconds(60)), [11, 12]);
    let packet = others[1].seal(None, b"").expect("short");
    assert!(hears(&mut b, &packet, seconds(61)));
    meet(&mut others[3], &mut b, seconds(121));
    assert_eq!((ids(&b, seconds(121)), b.counts().evicted), (vec![11, 13], 2));
    assert_eq!(ids(&b, seconds(361)), [13]);
    assert_eq!(ids(&b, seconds(421)), [0_u32; 0]);
    assert_eq!(Span::from_secs(300), limits.forgotten);
    assert_eq!(b.neighbours(seconds(421)).next().map(|heard| heard.id), None::<NodeId>);
}
